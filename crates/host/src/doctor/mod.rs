//! Is this machine fit to measure? Findings, each with its remedy.
//!
//! [`examine`] takes about a third of a second, most of it for the noise measurement. The judgement of each finding is
//! a function of what was read or measured, so that tests can show it a good and a bad machine.

mod cgroup;
mod clock;
mod counters;
mod limits;
mod load;
mod memory;
mod network;
mod noise;
mod processor;

use std::io;
use std::path::Path;
use std::thread::JoinHandle;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Root, allowed_cpus, cpu};

/// How much a finding matters to a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// As it should be.
    Good,
    /// Worth knowing when reading the figures.
    Note,
    /// Likely to spoil figures.
    Warn,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// A short stable name ("governor", "timer-cost", ...).
    pub name: String,
    /// How much it matters.
    pub level: Level,
    /// What was found, in words.
    pub found: String,
    /// What to do about it, where something can be done.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remedy: Option<String>,
}

impl Finding {
    fn good(name: &str, found: impl Into<String>) -> Self {
        Self { name: name.to_owned(), level: Level::Good, found: found.into(), remedy: None }
    }

    fn note(name: &str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { level: Level::Note, remedy: Some(remedy.into()), ..Self::good(name, found) }
    }

    fn warn(name: &str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { level: Level::Warn, ..Self::note(name, found, remedy) }
    }
}

/// What helps where no thread can be started.
const THREADS: &str = "allow more processes and threads: ulimit -u, or the container's pids limit";

/// Starts a thread; an error where there may be no more, which is a thing to report and not to panic over.
fn start<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> io::Result<JoinHandle<T>> {
    let starting = |e: io::Error| io::Error::new(e.kind(), format!("starting a thread: {e}"));
    std::thread::Builder::new().spawn(body).map_err(starting)
}

/// Looks at this machine.
pub fn examine() -> Vec<Finding> {
    let root = Root::system();
    let allowed = allowed_cpus();
    let pair = cpu::choose_pair_of(&root, &allowed);
    // What is read first is not yet disturbed by what is measured below.
    let mut findings = read(&root, &allowed);
    findings.push(processor::pinning(&allowed, processor::try_to_pin(&allowed)));
    findings.push(clock::timer_cost(clock::measure_timer_cost()));
    findings.push(counters::judge(crate::counters::available()));
    findings.push(noise::judge(&noise::measure(pair)));
    findings.push(memory::memfd(memory::try_memfd()));
    findings.push(memory::free_space(memory::measure_free_space(Path::new("."))));
    findings.extend(limits::of_this_process());
    findings
}

/// The findings that come from files below `root` alone, for the CPUs `allowed`.
pub fn read(root: &Root, allowed: &[u32]) -> Vec<Finding> {
    vec![
        load::averages(root, allowed.len()),
        cgroup::cpu_quota(root),
        cgroup::memory_limit(root),
        load::steal(root),
        processor::governor(root, allowed),
        processor::boost(root),
        processor::siblings(root, allowed),
        processor::isolated(root),
        processor::mitigations(root),
        processor::virtual_machine(root),
        clock::source(root),
        memory::huge_pages(root),
        memory::shared_memory(root),
        limits::process_ids(root),
        network::socket_buffers(root),
        network::loopback(root),
        network::ipv6(root),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn a_good_machine_gets_no_warning() {
        let f = Fixture::workstation().file("dev/shm/x", "").file("sys/devices/system/cpu/online", "0-1\n");
        let findings = read(&f.root(), &[0, 1]);
        let bad: Vec<_> = findings.iter().filter(|f| f.level != Level::Good).collect();
        assert!(bad.is_empty(), "{bad:?}");
    }

    #[test]
    fn this_machine_is_looked_at_in_full() {
        let findings = examine();
        let names: BTreeSet<_> = findings.iter().map(|f| f.name.as_str()).collect();
        assert_eq!((findings.len(), names.len()), (25, 25), "{names:?}");
        for finding in &findings {
            assert!(!finding.found.is_empty());
            assert!(finding.level == Level::Good || finding.remedy.is_some(), "{finding:?}");
        }
        let text = serde_json::to_string(&findings).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Finding>>(&text).unwrap(), findings);
    }

    #[test]
    fn a_machine_that_says_nothing_is_still_judged() {
        assert_eq!(read(&Fixture::empty().root(), &[]).len(), 17);
    }
}
