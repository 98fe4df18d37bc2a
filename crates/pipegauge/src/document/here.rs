//! This host and its peers: documents of `list`, `doctor` and `serve`.

use schemars::JsonSchema;
use serde::Serialize;
use transport::{Capabilities, Settings, Transport, Value};

/// Printed by `list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListDocument {
    /// `pipegauge-list/1`.
    schema: &'static str,
    /// The transports.
    transports: Vec<ListedTransport>,
    /// Modules that were found and can't be used.
    unusable: Vec<Unusable>,
}

/// A module that was found and can't be used.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Unusable {
    /// The name that its file gives it.
    pub name: String,
    /// Its file.
    pub file: String,
    /// Why it can't be used.
    pub why: String,
}

impl ListDocument {
    /// A list.
    pub fn new(transports: Vec<ListedTransport>, unusable: Vec<Unusable>) -> Self {
        Self { schema: "pipegauge-list/1", transports, unusable }
    }
}

/// One transport.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListedTransport {
    /// Its name.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// The file that it was found in; none of one that is built in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// What it is.
    pub summary: &'static str,
    /// Whether it can be used on this host.
    pub available: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
    /// Why it can be measured between this host and another, and not within this host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_within: Option<String>,
    /// What it can do where nothing is set.
    pub capabilities: Capabilities,
    /// What can be set on it.
    pub options: Vec<ListedOption>,
}

/// One option of a transport.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListedOption {
    /// What it is called in `NAME:option=value`.
    pub name: &'static str,
    /// The flags of `run` that set it on every path that has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flag: Option<&'static str>,
    /// What values it takes, in words.
    pub takes: String,
    /// What its numbers are of: bytes, seconds, bits a second, or what a whole number counts. None of a share, and of what is no number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<&'static str>,
    /// The least number that it takes, in that unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<Value>,
    /// The largest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<Value>,
    /// What holds where nobody sets it.
    pub default: &'static str,
    /// What it does.
    pub help: &'static str,
}

impl ListedTransport {
    /// What is known of a transport here.
    pub fn of(transport: &dyn Transport) -> Self {
        let unavailable = transport.availability().err().map(|e| e.to_string());
        let within = || transport.reaches_itself().err().map(|e| e.to_string());
        let not_within = if unavailable.is_none() { within() } else { None };
        let options = transport.options().iter().map(|o| {
            let (least, most) = o.form.bounds();
            ListedOption {
                name: o.name,
                flag: o.flag,
                takes: o.form.words(),
                unit: o.form.unit(),
                least,
                most,
                default: o.default,
                help: o.help,
            }
        });
        Self {
            name: transport.name().as_str(),
            version: transport.version(),
            file: transport.source().map(|file| file.display().to_string()),
            summary: transport.summary(),
            available: unavailable.is_none(),
            unavailable,
            not_within,
            capabilities: transport.capabilities(&Settings::default()),
            options: options.collect(),
        }
    }
}

/// Printed by `module check`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ModuleDocument {
    /// `pipegauge-module/1`.
    schema: &'static str,
    /// The file.
    file: String,
    /// The module's name.
    name: &'static str,
    /// Its version.
    version: &'static str,
    /// What was tried.
    cases: Vec<CheckedCase>,
}

impl ModuleDocument {
    /// What came of a check.
    pub fn new(file: &std::path::Path, name: &'static str, version: &'static str, cases: Vec<CheckedCase>) -> Self {
        Self { schema: "pipegauge-module/1", file: file.display().to_string(), name, version, cases }
    }
}

/// One thing that was tried on a module.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckedCase {
    /// Its name.
    pub name: &'static str,
    /// What was tried.
    pub what: &'static str,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What came of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Outcome {
    /// As it has to be.
    Passed,
    /// Not so.
    Failed {
        /// What was found.
        why: String,
    },
    /// It was not tried.
    Skipped {
        /// Why not.
        why: String,
    },
}

/// Printed by `serve`, one on each line as things happen.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ServeDocument {
    /// `pipegauge-serve/1`.
    pub schema: &'static str,
    /// What happened.
    #[serde(flatten)]
    pub happened: Happened,
}

/// What can happen to `serve`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Happened {
    /// It waits.
    Listening {
        /// Where.
        address: String,
        /// The address as another host reaches it.
        reach: String,
        /// The key that the other host must show.
        key: String,
        /// The line to type there.
        command: String,
    },
    /// A peer with the right key came.
    Met {
        /// Who.
        peer: String,
    },
    /// Somebody was turned away.
    Refused {
        /// Who.
        peer: String,
        /// Why.
        why: String,
    },
    /// A measurement ended.
    Ended {
        /// With whom.
        peer: String,
        /// How.
        how: String,
    },
}

/// Printed by `doctor`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DoctorDocument {
    /// `pipegauge-doctor/1`.
    schema: &'static str,
    /// What was found, each with its remedy.
    findings: Vec<host::doctor::Finding>,
    /// The floor program's figures on this machine, seconds of a 1-byte half round trip.
    floor: Vec<FloorFigure>,
}

impl DoctorDocument {
    /// A diagnosis.
    pub fn new(findings: Vec<host::doctor::Finding>, floor: Vec<FloorFigure>) -> Self {
        Self { schema: "pipegauge-doctor/1", findings, floor }
    }
}

/// The floor of one path.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FloorFigure {
    /// tcp, unix or shm.
    pub path: &'static str,
    /// Seconds of a 1-byte half round trip; none where the floor program could not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<f64>,
    /// Why it could not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
