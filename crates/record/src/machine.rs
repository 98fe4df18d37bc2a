//! What surrounded a path while it was measured, for comparisons: the machines' pace and what other programs took of them;
//! and whether two runs were on the same machines.

use host::Environment;
use model::{Circumstances, Pace};
use transport::Kind;

use crate::{PathRun, RunFile};

impl RunFile {
    /// What the blocks of the path at this index read of the machines' pace, and what other programs took during the run;
    /// beyond the paths only that.
    pub fn circumstances(&self, path: usize) -> Circumstances {
        let foreign = self.end.as_ref().and_then(|e| e.foreign_cpu);
        Circumstances { paces: self.paths.get(path).map(paces).unwrap_or_default(), foreign }
    }
}

fn paces(path: &PathRun) -> Vec<Pace> {
    let mut found = Vec::new();
    for (side, of) in [("", false), ("far side's ", true)] {
        let readings = || path.blocks.iter().filter_map(|b| if of { b.far_pace } else { b.pace });
        let mut add = |what: &str, seconds: Vec<f64>| {
            if !seconds.is_empty() {
                found.push(Pace { what: format!("{side}{what}"), seconds });
            }
        };
        // One process alone neither wakes nor hears another.
        if path.opened.transport != Kind::Memcpy {
            add("wake-up round trip", readings().map(|p| p.wake).collect());
            add("cache line round trip", readings().filter_map(|p| p.line).collect());
        }
        add("copy of 64 KiB in the cache", readings().map(|p| p.copy).collect());
    }
    found
}

/// Whether all were measured between the same machines, on the same CPUs at the same settings: only then is it their pace
/// that changed, and not they that differ.
pub fn same_machines<'a>(runs: impl IntoIterator<Item = (&'a RunFile, &'a PathRun)>) -> bool {
    let one = |e: &Environment| {
        let words = [&e.cpu, &e.governor, &e.clock_source, &e.hypervisor].map(Clone::clone);
        (e.hostname.clone(), e.kernel.clone(), words, e.cpus.clone(), e.pinned)
    };
    let mut all = runs.into_iter().map(|(run, path)| (one(&run.run.near), path.opened.far.as_ref().map(one)));
    let Some(first) = all.next() else { return true };
    all.all(|other| other == first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn readings_are_those_of_the_blocks_and_a_copy_wakes_nobody() {
        let mut file = sample::file();
        assert!(file.circumstances(0).paces.is_empty() && file.circumstances(99).paces.is_empty());
        for (i, block) in file.paths[0].blocks.iter_mut().enumerate() {
            block.pace = Some(host::Pace { wake: 1e-5 * (i + 1) as f64, line: (i > 0).then_some(1e-7), copy: 1e-6 });
        }
        file.paths[0].opened.transport = Kind::Tcp;
        let blocks = file.paths[0].blocks.len();
        let found = file.circumstances(0).paces;
        assert_eq!(found.iter().map(|p| p.seconds.len()).collect::<Vec<_>>(), [blocks, blocks - 1, blocks]);
        file.paths[0].opened.transport = Kind::Memcpy;
        assert_eq!(file.circumstances(0).paces.len(), 1);
    }

    #[test]
    fn another_cpu_or_setting_is_another_machine_and_its_load_is_not() {
        let a = sample::file();
        let same = |b: &RunFile| same_machines([(&a, &a.paths[0]), (b, &b.paths[0])]);
        let mut b = a.clone();
        b.run.near.load = Some((9.0, 9.0, 9.0));
        b.run.near.sysctls.insert("net.ipv4.tcp_sack".into(), "0".into());
        assert!(same(&b), "how the network is set says nothing of the CPUs' pace");
        b.run.near.governor = Some("powersave".into());
        assert!(!same(&b));
        b = a.clone();
        b.run.near.pinned = Some(17);
        assert!(!same(&b));
    }
}
