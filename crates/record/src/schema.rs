//! JSON Schema of what this crate writes, made from the types that write it.

use measure::Event;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::export::Document;

/// JSON Schema (draft 2020-12) of one line of a run file. The committed copy is
/// `crates/record/schema/pipegauge-run-2.schema.json`.
///
/// It describes what this version writes. Readers are more forgiving: they skip kinds of event that they don't know.
pub fn schema() -> Value {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Event>();
    schema.insert("title".into(), "One line of a pipegauge run file".into());
    schema.insert("$id".into(), "urn:pipegauge:run:2".into());
    schema.to_value()
}

/// JSON Schema of the JSON export. The committed copy is `crates/record/schema/pipegauge-export-1.schema.json`.
pub fn export_schema() -> Value {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Document>();
    schema.insert("title".into(), "A run as pipegauge exports it".into());
    schema.insert("$id".into(), "urn:pipegauge:export:1".into());
    schema.to_value()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use jsonschema::Validator;
    use std::path::Path;

    fn current(name: &str, schema: &Value) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema").join(name);
        let now = serde_json::to_string_pretty(schema).unwrap() + "\n";
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            std::fs::write(&path, &now).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            committed == now,
            "schema/{name} is not what the types say; if the change is meant, and an old reader would not misread the file \
             (else raise the schema's number), run: UPDATE_SCHEMA=1 cargo test -p pipegauge-record schema"
        );
    }

    fn lines() -> Vec<Value> {
        sample::events().iter().map(|e| serde_json::to_value(e).unwrap()).collect()
    }

    fn validator() -> Validator {
        jsonschema::validator_for(&schema()).unwrap()
    }

    #[test]
    fn the_committed_schemas_are_current() {
        current("pipegauge-run-2.schema.json", &schema());
        current("pipegauge-export-1.schema.json", &export_schema());
    }

    #[test]
    fn every_line_of_a_run_conforms() {
        let validator = validator();
        for (n, line) in lines().iter().enumerate() {
            let wrong: Vec<String> = validator.iter_errors(line).map(|e| e.to_string()).collect();
            assert!(wrong.is_empty(), "line {}: {wrong:?}\n{line}", n + 1);
        }
    }

    #[test]
    fn a_run_that_gained_a_field_conforms() {
        let mut line = lines().remove(3);
        line["colour"] = "green".into();
        assert!(validator().is_valid(&line));
    }

    #[test]
    fn broken_lines_do_not_conform() {
        let validator = validator();
        let find = |kind: &str| lines().into_iter().find(|l| l["event"] == kind).unwrap();
        let broken: [(&str, &str, Option<Value>); 9] = [
            ("run", "plan", None),
            ("run", "version", Some(1.into())),
            ("path", "transport", Some("carrier pigeon".into())),
            ("block", "planned", Some((-1).into())),
            ("trial", "size", None),
            ("trial", "seconds", Some("fast".into())),
            ("point", "why", Some("bored".into())),
            ("point", "median", Some(Value::Null)),
            ("end", "event", Some("finish".into())),
        ];
        for (kind, field, value) in broken {
            let mut line = find(kind);
            match value {
                Some(v) => line[field] = v,
                None => drop(line.as_object_mut().unwrap().remove(field)),
            }
            assert!(!validator.is_valid(&line), "{kind} with a broken '{field}' passed: {line}");
        }
        for other in [Value::Null, Value::Array(Vec::new()), serde_json::json!({}), serde_json::json!({"event": "run"})]
        {
            assert!(!validator.is_valid(&other), "{other} passed");
        }
    }

    #[test]
    fn every_field_is_described() {
        // The schema is the field table that the crate's documentation points to: a field without words is a hole in it.
        fn undescribed(at: &str, v: &Value, out: &mut Vec<String>) {
            if let Some(fields) = v.get("properties").and_then(Value::as_object) {
                for (name, field) in fields {
                    let known = field.get("description").is_some() || field.get("const").is_some();
                    if !known {
                        out.push(format!("{at}.{name}"));
                    }
                }
            }
            match v {
                Value::Object(o) => o.iter().for_each(|(k, v)| undescribed(&format!("{at}/{k}"), v, out)),
                Value::Array(a) => a.iter().for_each(|v| undescribed(at, v, out)),
                _ => {}
            }
        }
        for schema in [schema(), export_schema()] {
            let mut holes = Vec::new();
            undescribed("", &schema, &mut holes);
            assert!(holes.is_empty(), "fields without a description: {holes:?}");
        }
    }
}
