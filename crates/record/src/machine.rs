//! The circumstances of a path for comparisons: the machines' calibration and what other programs took of the CPUs; and whether two runs
//! were on the same machines.

use std::collections::BTreeSet;

use host::{Environment, Taken};
use measure::event::{HostCalibration, RoundOpened};
use measure::place::Yardstick;
use measure::topology::{MemberOpened, Role};
use model::{Circumstances, MachineReadings};

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
    let far = far_hosts(path);
    let whose = far_names(path, &far);
    for (side, of) in std::iter::once((String::new(), None)).chain(whose.into_iter().zip(far.into_iter().map(Some))) {
        let reading = |round: &RoundOpened| match of {
            None => round.calibration,
            Some(rank) => round.far_calibration_of(rank),
        };
        let readings = || path.rounds.iter().filter_map(reading);
        let mut add = |what: &str, seconds: Vec<f64>| {
            if !seconds.is_empty() {
                found.push(MachineReadings { what: format!("{side}{what}"), seconds });
            }
        };
        let ends = path.opened.transport.ends();
        for yardstick in [Yardstick::Wake, Yardstick::Line, Yardstick::Copy] {
            let of = |read| Yardstick::of(read, ends).find_map(|(one, seconds)| (one == yardstick).then_some(seconds));
            add(yardstick.name(), readings().filter_map(of).collect());
        }
    }
    found
}

/// The far hosts of a path, each by the number of its first far process; at least the first. They are told apart by their names, and where
/// these are alike by what each said of its machine.
fn far_hosts(path: &PathRun) -> Vec<u32> {
    let mut named: Vec<&MemberOpened> = Vec::new();
    let far = path.opened.members.iter().filter(|one| one.role == Role::Far);
    // No path has more; a file may.
    for one in far.take(measure::flows::MOST as usize) {
        if named.iter().all(|other| other.host != one.host) {
            named.push(one);
        }
    }
    let named = named.into_iter().map(|one| one.rank);
    let read = path.rounds.iter().flat_map(|round| &round.other_far_calibrations).map(|of| of.rank);
    let all: BTreeSet<u32> = std::iter::once(HostCalibration::FIRST).chain(named).chain(read).collect();
    all.into_iter().collect()
}

/// Whose yardsticks those of each of these far hosts are: of one host the far side's, of several each host's by its name, and by its number
/// among them where it has no name of its own.
fn far_names(path: &PathRun, hosts: &[u32]) -> Vec<String> {
    if hosts.len() == 1 {
        return vec!["far side's ".to_owned()];
    }
    let names: Vec<&str> = hosts.iter().map(|rank| far_member(path, *rank).map_or("", |one| &one.host)).collect();
    let whose = |(number, name): (usize, &&str)| match names.iter().filter(|other| *other == name).count() {
        1 if !name.is_empty() => format!("far host {name}'s "),
        _ => format!("far host {number}'s "),
    };
    (1..).zip(&names).map(whose).collect()
}

fn far_member(path: &PathRun, rank: u32) -> Option<&MemberOpened> {
    path.opened.members.iter().find(|one| one.role == Role::Far && one.rank == rank)
}

/// Whether all were measured between the same machines, on the same CPUs with the same settings: only then is a difference of their
/// calibration a change of their speed.
pub fn same_machines<'a>(runs: impl IntoIterator<Item = (&'a RunFile, &'a PathRun)>) -> bool {
    let one = |e: &Environment| {
        let words = [&e.cpu, &e.governor, &e.clock_source, &e.hypervisor].map(Clone::clone);
        (e.hostname.clone(), e.kernel.clone(), words, e.cpus.clone(), e.pinned)
    };
    // A member tells its environment where that differs from the path's far side's.
    let far = |path: &PathRun| {
        let of = |rank: u32| {
            let member = far_member(path, rank).filter(|_| rank != HostCalibration::FIRST);
            let seen = member.and_then(|one| one.environment.as_deref()).or(path.opened.far.as_ref());
            (seen.map(one), member.map(|one| one.cpus.clone()))
        };
        far_hosts(path).into_iter().map(of).collect::<Vec<_>>()
    };
    let mut all = runs.into_iter().map(|(run, path)| (one(&run.run.near), far(path)));
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
    use crate::sides::compared;

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

    /// A run of two pairs over two far hosts of these names, the second of which takes twice as long to wake up where it `slows`.
    fn two_far_hosts(names: [&str; 2], slows: bool) -> RunFile {
        let mut file = sample::file();
        let path = &mut file.paths[0];
        let far = path.opened.far.clone().unwrap();
        path.opened.members = (1..)
            .zip(names)
            .map(|(rank, name)| {
                let seen = Environment { hostname: name.into(), ..far.clone() };
                let one = MemberOpened { role: Role::Far, rank, cpus: vec![rank], ..MemberOpened::default() };
                one.seeing(Some(&seen), Some(&far))
            })
            .collect();
        for round in &mut path.rounds {
            let reading = |wake| host::MachineCalibration { wake, line: None, copy: 1e-6 };
            round.calibration = Some(reading(1e-5));
            round.far_calibration = Some(reading(2e-5));
            let calibration = reading(if slows { 6e-5 } else { 3e-5 });
            round.other_far_calibrations = vec![HostCalibration { rank: 2, calibration }];
        }
        file
    }

    #[test]
    fn each_of_several_far_hosts_has_yardsticks_under_its_own_name() {
        let wakes = |file: &RunFile| -> Vec<(String, f64)> {
            let all = file.circumstances(0).calibrations.into_iter();
            all.filter(|r| r.what.ends_with("wake-up round trip")).map(|r| (r.what, r.seconds[0])).collect()
        };
        let of = |text: &str| format!("{text}wake-up round trip");
        assert_eq!(
            wakes(&two_far_hosts(["far", "box"], false)),
            [(of(""), 1e-5), (of("far host far's "), 2e-5), (of("far host box's "), 3e-5)]
        );
        assert_eq!(
            wakes(&two_far_hosts(["box", "box"], false)),
            [(of(""), 1e-5), (of("far host 1's "), 2e-5), (of("far host 2's "), 3e-5)],
            "hosts whose names are alike"
        );
        // What an older version wrote of them: the first one's alone, which has the same name.
        let mut older = two_far_hosts(["far", "box"], false);
        older.paths[0].rounds.iter_mut().for_each(|round| round.other_far_calibrations.clear());
        assert_eq!(wakes(&older), [(of(""), 1e-5), (of("far host far's "), 2e-5)]);
        older.paths[0].opened.members.clear();
        assert_eq!(wakes(&older), [(of(""), 1e-5), (of("far side's "), 2e-5)]);
    }

    #[test]
    fn a_far_host_beyond_the_first_that_slowed_down_is_the_machine_that_moved() {
        let (a, b) = (two_far_hosts(["far", "box"], false), two_far_hosts(["far", "box"], true));
        let found = compared(&[(&a, 0)], &[(&b, 0)]).unwrap().comparison.machine;
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].what == "far host box's wake-up round trip" && (found[0].ratio - 2.0).abs() < 1e-9,
            "{found:?}"
        );
        // Another second host is what is compared, and explains nothing away.
        let c = two_far_hosts(["far", "another"], true);
        assert!(compared(&[(&a, 0)], &[(&c, 0)]).unwrap().comparison.machine.is_empty());
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
