//! Differences between the circumstances of two runs, which may explain a difference of their figures.

use host::Environment;
use measure::{Load, Topology};
use serde_json::Value;
use transport::{Settings, registry};

use crate::{PathRun, RunFile};

/// Something that was not the same.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Difference {
    /// What, as the run file names it: `near.kernel`, `settings.sockbuf`, `far_effective.mss`.
    pub what: String,
    /// In the first run; "absent" where it says nothing.
    pub first: String,
    /// In the second run.
    pub second: String,
}

impl Difference {
    /// What, as a person would say it: `mss, near side`, `kernel of the near host`, `--sockbuf`.
    pub fn words(&self) -> String {
        let (whose, name) = self.what.split_once('.').unwrap_or(("", &self.what));
        // A kernel's setting has a name of its own.
        let said = if name.contains('.') { name.to_owned() } else { name.replace('_', " ") };
        match whose {
            "near_effective" => format!("{said}, near side"),
            "far_effective" => format!("{said}, far side"),
            "near" => format!("{said} of the near host"),
            "far" => format!("{said} of the far host"),
            "settings" => format!("--{}", name.replace('_', "-")),
            "" if name == "far" => "far host".to_owned(),
            "" | "plan" => said,
            _ => format!("{} {said}", whose.replace('_', " ")),
        }
    }
}

/// What changes from run to run and explains nothing: addresses of connections, load at the start, seeds, the time given.
const PASSING: [&str; 7] = ["addresses", "load", "seed", "paths", "budget", "precision", "precise"];

/// What two processes of a run see differently of their hosts: `hostname`, `cpus`, `sysctls.net.core.rmem_max`.
pub fn seen_otherwise(side: &Environment, process: &Environment) -> Vec<Difference> {
    let part = |environment: &Environment| serde_json::to_value(environment).unwrap_or(Value::Null);
    let mut found = Vec::new();
    walk("", &part(side), &part(process), &mut found);
    found.retain(|one| one.what != "pinned");
    found
}

/// Differences between a path of one run and a path of another: what was asked, the hosts, what took effect.
pub fn differences(first: (&RunFile, &PathRun), second: (&RunFile, &PathRun)) -> Vec<Difference> {
    let side = |(run, path): (&RunFile, &PathRun)| {
        let part = |v: serde_json::Result<Value>| v.unwrap_or(Value::Null);
        let topology = run.run.plan.topology(path.opened.path);
        [
            ("transport", part(serde_json::to_value(path.opened.transport))),
            ("version", Value::from(run.run.version.clone())),
            ("plan", part(serde_json::to_value(&run.run.plan))),
            (
                if topology == Topology::Group { "members" } else { topology.several() },
                Value::from(topology.asked(run.run.plan.flows(path.opened.path))),
            ),
            ("topology", Value::from(topology.name())),
            ("loading", part(serde_json::to_value(run.run.plan.load(path.opened.path).map(Load::words)))),
            ("settings", typed(path, run.run.plan.settings(path.opened.path))),
            ("near", part(serde_json::to_value(&run.run.near))),
            ("far", part(serde_json::to_value(&path.opened.far))),
            ("near_effective", part(serde_json::to_value(&path.opened.near_effective))),
            ("far_effective", part(serde_json::to_value(&path.opened.far_effective))),
        ]
    };
    let mut found = Vec::new();
    for ((name, a), (_, b)) in side(first).iter().zip(&side(second)) {
        walk(name, a, b, &mut found);
    }
    found
}

/// Settings as a person types them, with the units that the transport declares.
fn typed(path: &PathRun, settings: &Settings) -> Value {
    let options = registry::find(path.opened.transport).map_or(&[][..], |transport| transport.options());
    let text = |name: &str, value: &transport::Value| {
        let option = options.iter().find(|option| option.name == name);
        option.map_or_else(|| value.to_string(), |option| option.form.text(value))
    };
    settings.iter().map(|(name, value)| (name.to_owned(), Value::from(text(name, value)))).collect()
}

fn walk(name: &str, a: &Value, b: &Value, found: &mut Vec<Difference>) {
    if a == b || PASSING.iter().any(|p| name.rsplit('.').next() == Some(p)) {
        return;
    }
    if let (Value::Object(a), Value::Object(b)) = (a, b) {
        let mut keys: Vec<&String> = a.keys().chain(b.keys()).collect();
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            let of = |map: &serde_json::Map<String, Value>| map.get(key).cloned().unwrap_or(Value::Null);
            let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
            walk(&name, &of(a), &of(b), found);
        }
        return;
    }
    found.push(Difference { what: name.to_owned(), first: text(a), second: text(b) });
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => "absent".to_owned(),
        Value::String(s) => s.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn what_a_process_sees_otherwise_than_its_side_is_named() {
        let side = sample::file().run.near;
        let mut process = Environment { pinned: Some(1), load: None, ..side.clone() };
        assert!(seen_otherwise(&side, &process).is_empty());
        (process.hostname, process.cpus) = ("box".to_owned(), vec![1]);
        let found: Vec<_> = seen_otherwise(&side, &process).into_iter().map(|d| (d.what, d.second)).collect();
        assert_eq!(found, [("cpus".to_owned(), "[1]".to_owned()), ("hostname".to_owned(), "box".to_owned())]);
    }

    #[test]
    fn a_difference_has_words_beside_its_name_in_the_file() {
        let words = |what: &str| Difference { what: what.into(), first: String::new(), second: String::new() }.words();
        assert_eq!(words("near_effective.mss"), "mss, near side");
        assert_eq!(words("far_effective.send_buffer"), "send buffer, far side");
        assert_eq!(words("near.sysctls.net.core.rmem_max"), "sysctls.net.core.rmem_max of the near host");
        assert_eq!(words("settings.sockbuf"), "--sockbuf");
        assert_eq!([words("transport"), words("plan.cache")], ["transport", "cache"]);
    }

    #[test]
    fn only_what_differs_and_could_matter_is_named() {
        let a = sample::file();
        let mut b = a.clone();
        assert!(differences((&a, &a.paths[0]), (&b, &b.paths[0])).is_empty());
        b.run.near.kernel = "another".to_owned();
        b.run.near.load = Some((9.0, 9.0, 9.0));
        b.run.plan.paths[0].settings.set("sockbuf", 4096u64);
        b.run.plan.seed += 1;
        b.run.plan.precise = !b.run.plan.precise;
        b.paths[0].opened.near_effective.addresses = Some("elsewhere".to_owned());
        let found = differences((&a, &a.paths[0]), (&b, &b.paths[0]));
        let names: Vec<&str> = found.iter().map(|d| d.what.as_str()).collect();
        assert_eq!(names, ["settings.sockbuf", "near.kernel"]);
        assert_eq!((found[0].first.as_str(), found[0].second.as_str()), ("absent", "4KiB"));
    }
}
