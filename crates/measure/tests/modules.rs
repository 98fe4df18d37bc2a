//! What modules are refused before anything is measured, as the command knows them: described, and not loaded.

use std::path::Path;

use measure::event::{PathPlan, Plan};
use measure::{Load, LoadDirection, Pattern, Topology, support};
use transport::{Capabilities, Name, OptionSpec, Settings, Transport, registry};

/// A transport that was found in a file.
struct Found;

impl Transport for Found {
    fn name(&self) -> Name {
        Name::literal("found")
    }
    fn source(&self) -> Option<&Path> {
        Some(Path::new("found.so"))
    }
    fn summary(&self) -> &'static str {
        "a module"
    }
    fn spoken(&self) -> &'static [&'static str] {
        &["found"]
    }
    fn capabilities(&self, _: &Settings) -> Capabilities {
        Capabilities::plain()
    }
    fn options(&self) -> &'static [OptionSpec] {
        &[]
    }
}

/// What is said of a plan over the transport of this name.
fn said(transport: &str, plan: &Plan, path: impl FnOnce(PathPlan) -> PathPlan) -> Option<String> {
    registry::modules_by(|name| (name == "found").then_some(Ok(&Found as &dyn Transport)), Vec::new);
    let found = registry::named(transport).unwrap();
    let path = path(PathPlan::from(found.name()));
    support::check(plan, &path, &found.capabilities(&path.settings)).err().map(|e| e.to_string())
}

#[test]
fn a_module_under_load_would_be_measured_without_any() {
    let load = Load { flows: 1, direction: LoadDirection::Same, size: 4096 };
    let loaded = |path| PathPlan { load: Some(load), ..path };
    let why = said("found", &Plan::default(), loaded).unwrap();
    assert!(why.contains("module") && why.contains("--load"), "{why}");
    assert_eq!(said("tcp", &Plan::default(), loaded), None);
}

#[test]
fn a_process_of_a_module_does_not_send_and_receive_at_once_and_pairs_do() {
    let both = Plan { both: true, pattern: Pattern::Stream, ..Plan::default() };
    let why = said("found", &both, |path| path).unwrap();
    assert!(why.contains("--both") && why.contains("--pairs"), "{why}");
    assert_eq!(said("tcp", &both, |path| path), None);
    assert_eq!(said("found", &both, |path| PathPlan { topology: Topology::Pairs, flows: 2, ..path }), None);
    let several = |path| PathPlan { flows: 2, ..path };
    assert_eq!(said("found", &Plan::default(), several), None, "flows have a near process each");
}
