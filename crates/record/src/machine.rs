//! The circumstances of a path for comparisons: the machines' calibration and what other programs took of the CPUs; and whether two runs
//! were on the same machines.

use host::{Environment, Taken};
use model::{Circumstances, MachineReadings};
use transport::Ends;

use crate::{PathRun, RunFile};

impl RunFile {
    /// The machines' calibration at the rounds of the path at this index, and what others took of the CPUs meanwhile; for an index beyond
    /// the paths, and where rounds do not record it, what was taken during the run.
    pub fn circumstances(&self, path: usize) -> Circumstances {
        let path = self.paths.get(path);
        let rounds: Vec<Taken> = path.map(|p| p.taken.iter().map(|t| t.taken).collect()).unwrap_or_default();
        let taken = Taken::over(&rounds).or_else(|| self.end.as_ref()?.taken);
        Circumstances {
            started: started(&self.run.started),
            calibrations: path.map(calibrations).unwrap_or_default(),
            programs: taken.map(|t| t.processes).or_else(|| self.end.as_ref()?.cpu_interference),
            stolen: taken.map(|t| t.steal),
            stopped: taken.and_then(|t| t.throttled_share),
        }
    }
}

fn calibrations(path: &PathRun) -> Vec<MachineReadings> {
    let mut found = Vec::new();
    for (side, of) in [("", false), ("far side's ", true)] {
        let readings = || path.rounds.iter().filter_map(|b| if of { b.far_calibration } else { b.calibration });
        let mut add = |what: &str, seconds: Vec<f64>| {
            if !seconds.is_empty() {
                found.push(MachineReadings { what: format!("{side}{what}"), seconds });
            }
        };
        // A single process neither wakes another nor is woken.
        if path.opened.transport.ends() != Ends::Copied {
            add("wake-up round trip", readings().map(|p| p.wake).collect());
            add("cache line round trip", readings().filter_map(|p| p.line).collect());
        }
        add("copy of 64 KiB in the cache", readings().map(|p| p.copy).collect());
    }
    found
}

/// Whether all were measured between the same machines, on the same CPUs with the same settings: only then is a difference of their
/// calibration a change of their speed.
pub fn same_machines<'a>(runs: impl IntoIterator<Item = (&'a RunFile, &'a PathRun)>) -> bool {
    let one = |e: &Environment| {
        let words = [&e.cpu, &e.governor, &e.clock_source, &e.hypervisor].map(Clone::clone);
        (e.hostname.clone(), e.kernel.clone(), words, e.cpus.clone(), e.pinned)
    };
    let mut all = runs.into_iter().map(|(run, path)| (one(&run.run.near), path.opened.far.as_ref().map(one)));
    let Some(first) = all.next() else { return true };
    all.all(|other| other == first)
}

/// The moment that a run file names, seconds since 1970; none where it names none.
fn started(text: &str) -> Option<f64> {
    let moment = humantime::parse_rfc3339_weak(text).ok()?;
    moment.duration_since(std::time::SystemTime::UNIX_EPOCH).ok().map(|d| d.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn readings_are_those_of_the_rounds_and_a_copy_wakes_nobody() {
        let mut file = sample::file();
        assert!(file.circumstances(0).calibrations.is_empty() && file.circumstances(99).calibrations.is_empty());
        for (i, round) in file.paths[0].rounds.iter_mut().enumerate() {
            round.calibration = Some(host::MachineCalibration {
                wake: 1e-5 * (i + 1) as f64,
                line: (i > 0).then_some(1e-7),
                copy: 1e-6,
            });
        }
        file.paths[0].opened.transport = transport::tcp::NAME;
        let rounds = file.paths[0].rounds.len();
        let found = file.circumstances(0).calibrations;
        assert_eq!(found.iter().map(|p| p.seconds.len()).collect::<Vec<_>>(), [rounds, rounds - 1, rounds]);
        file.paths[0].opened.transport = transport::memcpy::NAME;
        assert_eq!(file.circumstances(0).calibrations.len(), 1);
    }

    #[test]
    fn what_was_taken_is_told_of_the_paths_own_rounds_and_of_old_files_in_one() {
        let mut file = sample::file();
        let of = |file: &RunFile| {
            let c = file.circumstances(0);
            (c.programs, c.stolen, c.stopped)
        };
        assert_eq!(of(&file), (Some(0.01), None, None), "a run that did not tell them apart");
        let taken = Taken { processes: 0.02, steal: 0.3, throttled: Some(2), throttled_share: Some(0.1) };
        file.end.as_mut().unwrap().taken = Some(taken);
        assert_eq!(of(&file), (Some(0.02), Some(0.3), Some(0.1)));
        let round = |steal| measure::event::RoundTaken { path: 0, round: 1, taken: Taken { steal, ..taken } };
        file.paths[0].taken = vec![round(0.25), round(0.75)];
        assert_eq!(of(&file).1, Some(0.5));
    }

    #[test]
    fn another_cpu_or_setting_is_another_machine_and_its_load_is_not() {
        let a = sample::file();
        let same = |b: &RunFile| same_machines([(&a, &a.paths[0]), (b, &b.paths[0])]);
        let mut b = a.clone();
        b.run.near.load = Some((9.0, 9.0, 9.0));
        b.run.near.sysctls.insert("net.ipv4.tcp_sack".into(), "0".into());
        assert!(same(&b), "how the network is set says nothing of the CPUs' speed");
        b.run.near.governor = Some("powersave".into());
        assert!(!same(&b));
        b = a.clone();
        b.run.near.pinned = Some(17);
        assert!(!same(&b));
    }
}
