//! What makes two runs runs of one path: hosts, transport, pattern, and everything asked for that changes figures.

use std::collections::BTreeMap;

use host::Environment;
use measure::earlier::METHOD;
use measure::event::{Plan, Run};
use measure::topology::Role;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use transport::settings::Effective;
use transport::{Ends, Name, Settings};

use measure::event::PathOpened;

/// Fields of a plan that change intervals or sizes but not the figures: runs that differ in these are still runs of one path.
const PASSING: [&str; 14] = [
    "budget",
    "from",
    "patience",
    "pattern",
    "perturb",
    "precise",
    "precision",
    "seed",
    "sizes",
    "step",
    "to",
    "paths",
    "trials",
    "schedule",
];

/// What tells a host from others: names of values, which exist for both sides.
const PLACE: [&str; 6] = ["host", "cpu", "kernel", "governor", "hypervisor", "pinned"];

/// Names and values that two runs of one path have in common.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Key(BTreeMap<String, String>);

impl Key {
    /// Of a path of a run.
    pub fn of(run: &Run, path: &PathOpened) -> Self {
        let mut parts = BTreeMap::new();
        let mut add = |name: &str, value: String| drop(parts.insert(name.to_owned(), value));
        add("transport", path.transport.as_str().to_owned());
        add("pattern", run.plan.pattern.name().to_owned());
        add("schedule", text(&serde_json::to_value(run.plan.schedule).unwrap_or_default()));
        add("method", METHOD.to_string());
        add("build", if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned());
        place("near", &run.near, &mut add);
        match &path.far {
            Some(far) => place("far", far, &mut add),
            None => add("far", "none".to_owned()),
        }
        effective("near", &path.near_effective, &mut add);
        effective("far", &path.far_effective, &mut add);
        asked(&run.plan, run.plan.settings(path.path), &mut add);
        // A rate of the path's own has the key of a run that offers no other.
        if let Some(rate) = run.plan.offered_on(path.path) {
            add("plan.offered", text(&serde_json::to_value(rate).unwrap_or_default()));
        }
        // With one flow the key is that of older runs, which had no others.
        if run.plan.flows(path.path) > 1 {
            add("plan.flows", run.plan.flows(path.path).to_string());
        }
        let topology = run.plan.topology(path.path);
        if topology.has_members() {
            add("plan.flows", topology.counted(run.plan.flows(path.path)));
        }
        // Processes on other hosts than the first of their side.
        let far = path.far.as_ref().map_or("", |far| &far.hostname);
        for (name, role, first) in [("near.members", Role::Near, &*run.near.hostname), ("far.members", Role::Far, far)]
        {
            let elsewhere = path.members.iter().filter(|one| one.role == role && one.environment.is_some());
            let mut hosts: Vec<&str> = elsewhere.map(|one| &*one.host).filter(|host| *host != first).collect();
            hosts.dedup();
            if !hosts.is_empty() {
                add(name, hosts.join(", "));
            }
        }
        if let Some(load) = run.plan.load(path.path) {
            add("plan.load", load.words());
        }
        Self(parts)
    }

    /// Whether runs of the path are kept at all: a modelled link runs on no machine whose states could change.
    pub fn kept(kind: Name) -> bool {
        kind.ends() != Ends::Modelled
    }

    /// Whether both are of paths between the same hosts with the same settings.
    pub fn same_hosts(&self, other: &Self) -> bool {
        let of_hosts = |name: &str| {
            let part = name.strip_prefix("near.").or(name.strip_prefix("far.")).unwrap_or_default();
            ["build", "far"].contains(&name) || PLACE.contains(&part)
        };
        let hosts = |key: &Self| key.0.clone().into_iter().filter(|(name, _)| of_hosts(name)).collect::<Vec<_>>();
        hosts(self) == hosts(other)
    }

    /// A value of it.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Names and values, in order of the names.
    pub fn parts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Sixteen hexadecimal digits that identify it (FNV-1a, 64 bits).
    pub fn id(&self) -> String {
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        for (name, value) in self.parts() {
            for byte in name.bytes().chain([0]).chain(value.bytes()).chain([0]) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
            }
        }
        format!("{hash:016x}")
    }

    /// The name of its file.
    pub(super) fn file(&self) -> String {
        let word = |name| {
            let letters = self.get(name).unwrap_or("path").chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-');
            letters.take(20).collect::<String>()
        };
        format!("{}-{}-{}.jsonl", word("transport"), word("pattern"), self.id())
    }
}

/// Values of a host that change figures, and tell it from others.
fn place(side: &str, e: &Environment, add: &mut impl FnMut(&str, String)) {
    let pinned = e.pinned.map_or("no".to_owned(), |cpu| cpu.to_string());
    let or = |value: &Option<String>| value.clone().unwrap_or_default();
    let values = [e.hostname.clone(), or(&e.cpu), e.kernel.clone(), or(&e.governor), or(&e.hypervisor), pinned];
    for (name, value) in PLACE.into_iter().zip(values) {
        add(&format!("{side}.{name}"), value);
    }
}

/// What took effect on the connections.
fn effective(side: &str, e: &Effective, add: &mut impl FnMut(&str, String)) {
    let bytes = |n: Option<u64>| n.map_or(String::new(), |n| n.to_string());
    add(&format!("{side}.send_buffer"), bytes(e.send_buffer));
    add(&format!("{side}.receive_buffer"), bytes(e.receive_buffer));
    add(&format!("{side}.congestion"), e.congestion.clone().unwrap_or_default());
}

/// Everything else of the plan: a field that is added to it counts unless it is listed in [`PASSING`].
fn asked(plan: &Plan, settings: &Settings, add: &mut impl FnMut(&str, String)) {
    fn walk(name: &str, value: &Value, add: &mut impl FnMut(&str, String)) {
        if PASSING.iter().any(|p| name.rsplit('.').next() == Some(p)) {
            return;
        }
        match value {
            Value::Object(fields) => fields.iter().for_each(|(k, v)| walk(&format!("{name}.{k}"), v, add)),
            Value::Null => {}
            other => add(name, text(other)),
        }
    }
    walk("plan", &serde_json::to_value(plan).unwrap_or_default(), add);
    // As the keys of older runs: two options with their values, whichever transport has them, and the others where they are set.
    for (option, value) in [("nodelay", "true"), ("loss-timeout", "0.2")] {
        add(&kept_as(option), value.to_owned());
    }
    for (option, value) in settings.iter() {
        add(&kept_as(option), text(&serde_json::to_value(value).unwrap_or_default()));
    }
}

/// An option's name in keys.
fn kept_as(option: &str) -> String {
    format!("plan.settings.{}", option.replace('-', "_"))
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
