//! `pipegauge schema`.

use anyhow::{Result, bail};

use crate::document::{self, SchemaDocument};
use crate::exit::Exit;
use crate::flags::SchemaFlags;
use crate::out;

/// Names of the forms that crate `record` writes.
const RUN_FILE: &str = "run-file";
const EXPORT_JSON: &str = "export-json";

/// Prints the JSON Schema of the run file's lines, of `export --format json`, or of a command's document; without a name,
/// the names.
pub fn schema(flags: &SchemaFlags, json: bool) -> Result<Exit> {
    let names: Vec<&str> = [RUN_FILE, EXPORT_JSON].into_iter().chain(document::NAMES).collect();
    match flags.name.as_deref() {
        Some(RUN_FILE) => out::json(&record::schema())?,
        Some(EXPORT_JSON) => out::json(&record::schema::export_schema())?,
        Some(name) => match document::schema(name) {
            Some(schema) => out::json(&schema)?,
            None => bail!("no schema is named '{name}'; there are: {}", names.join(", ")),
        },
        None if json => out::json(&SchemaDocument::new(&names))?,
        None => out::text(&names.join("\n"))?,
    }
    Ok(Exit::Ok)
}
