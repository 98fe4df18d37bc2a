//! `pipegauge doctor`.

use anyhow::Result;
use floor::{FloorError, Path, Pattern, Plan, Program};
use host::doctor::{Finding, Level};
use units::Seconds;

use super::peer::FLOOR;
use super::system;
use crate::document::{DoctorDocument, FloorFigure};
use crate::exit::{self, Exit};
use crate::out;

/// Whether this machine is fit to measure: each finding with its remedy, and what the bare floor program reaches here. What a sweep that was
/// killed left changed is put back.
pub fn doctor(json: bool) -> Result<Exit> {
    // First, so that what is looked at is as it was.
    let left = system::examined();
    let findings: Vec<Finding> = host::doctor::examine().into_iter().chain(left).collect();
    let floor = floor_figures();
    let warned = findings.iter().any(|f| matches!(f.level, Level::Warn)) || floor.iter().any(|f| f.latency.is_none());
    let printed = if json {
        out::json(&DoctorDocument::new(findings, floor))
    } else {
        out::text(&table(&findings, &floor)).map_err(Into::into)
    };
    exit::printed(printed, if warned { Exit::Short } else { Exit::Ok })
}

/// A 1-byte ping-pong of the floor program on each of its paths, pinned where a pair of CPUs can be chosen.
fn floor_figures() -> Vec<FloorFigure> {
    let pin = host::choose_pair(&host::allowed_cpus());
    let measure = |path: Path| -> Result<f64, FloorError> {
        let plan = Plan { pin, ..Plan::new(path, Pattern::PingPong, 1) };
        Ok(floor::measure(&Program::this(&[FLOOR])?, &plan)?.seconds_per_iteration() / 2.0)
    };
    Path::ALL
        .into_iter()
        .map(|path| match measure(path) {
            Ok(latency) => FloorFigure { path: path.name(), latency: Some(latency), error: None },
            Err(e) => FloorFigure { path: path.name(), latency: None, error: Some(e.to_string()) },
        })
        .collect()
}

fn table(findings: &[Finding], floor: &[FloorFigure]) -> String {
    let mut text = String::new();
    let width = findings.iter().map(|f| f.name.len()).max().unwrap_or(0).max("floor unix".len());
    let mut line = |level: &str, name: &str, words: &str| {
        text.push_str(&report::text::hanging(&format!("{level:<4}  {name:<width$}  "), words, width + 8, out::prose()));
    };
    for f in findings {
        line(word(&f.level), &f.name, &f.found);
        if let Some(remedy) = &f.remedy {
            line("", "", &format!("-> {remedy}"));
        }
    }
    for f in floor {
        let name = format!("floor {}", f.path);
        let (level, found) = match (&f.latency, &f.error) {
            (Some(latency), _) => {
                ("good", format!("{} for 1 byte, RTT/2, by the bare floor program", Seconds(*latency)))
            }
            (None, error) => ("WARN", error.clone().unwrap_or_default()),
        };
        line(level, &name, &found);
    }
    text
}

fn word(level: &Level) -> &'static str {
    match level {
        Level::Good => "good",
        Level::Note => "note",
        Level::Warn => "WARN",
    }
}
