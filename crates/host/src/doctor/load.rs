//! What else runs here: load averages and stolen time.

use units::Share;

use super::Finding;
use crate::{Root, system, watch};

/// Is someone else at work? A measurement needs two CPUs. The load is the whole machine's, which may have more CPUs than the
/// `allowed` ones of this process.
pub(super) fn averages(root: &Root, allowed: usize) -> Finding {
    let name = "load";
    let Some((one, five, fifteen)) = system::load(root) else {
        return Finding::note(name, "the system doesn't say how loaded it is", "make sure that nothing else runs");
    };
    let online = root.cpus("sys/devices/system/cpu/online").map_or(allowed, |cpus| cpus.len());
    let cpus = if online > allowed {
        format!("{allowed} of {online} CPUs may be used")
    } else {
        format!("{allowed} CPUs may be used")
    };
    let found = format!("{one:.2}, {five:.2}, {fifteen:.2} over 1, 5 and 15 minutes; {cpus}");
    let remedy = "stop other programs or wait until they end (top shows them)";
    if one < 0.5 {
        Finding::good(name, found)
    } else if online as f64 - one < 2.0 {
        Finding::warn(name, found, remedy)
    } else if online > allowed {
        Finding::note(name, found, "read the noise below: it says what of this falls on the CPUs that may be used")
    } else {
        Finding::note(name, found, remedy)
    }
}

/// Does the hypervisor give this machine the time it believes it has?
pub(super) fn steal(root: &Root) -> Finding {
    let name = "steal";
    let remedy = "move to a machine of your own, or to one whose CPUs are not shared out twice";
    match watch::steal_share(root) {
        None => Finding::note(name, "the system doesn't count stolen time", "read the noise below"),
        Some(share) => {
            let found = format!("{} of all CPU time since the start was kept by the hypervisor", Share(share));
            if share > 0.01 {
                Finding::warn(name, found, remedy)
            } else if share > 0.001 {
                Finding::note(name, found, remedy)
            } else {
                Finding::good(name, found)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn load_counts_where_it_leaves_fewer_than_two_cpus() {
        let of = |text: &str, cpus| averages(&Fixture::empty().file("proc/loadavg", text).root(), cpus).level;
        assert_eq!(of("0.20 0.20 0.20 1/2 3", 2), Level::Good);
        assert_eq!(of("1.50 0.20 0.20 1/2 3", 2), Level::Warn);
        assert_eq!(of("1.50 0.20 0.20 1/2 3", 8), Level::Note);
        assert_eq!(of("7.50 0.20 0.20 1/2 3", 8), Level::Warn);
        assert_eq!(of("nonsense", 8), Level::Note);
    }

    #[test]
    fn the_load_is_the_machines_and_not_that_of_the_cpus_allowed() {
        let of = |text: &str| {
            let f = Fixture::empty().file("proc/loadavg", text).file("sys/devices/system/cpu/online", "0-63\n");
            averages(&f.root(), 2)
        };
        let elsewhere = of("3.00 0.20 0.20 1/2 3");
        assert!(
            elsewhere.level == Level::Note && elsewhere.found.ends_with("2 of 64 CPUs may be used"),
            "{elsewhere:?}"
        );
        assert!(elsewhere.remedy.unwrap().contains("noise"));
        assert_eq!(of("63.00 0.20 0.20 1/2 3").level, Level::Warn);
    }

    #[test]
    fn stolen_time() {
        let of = |stolen: u64| {
            let text = format!("cpu  0 0 0 {} 0 0 0 {stolen} 0 0\n", 100_000 - stolen);
            steal(&Fixture::empty().file("proc/stat", &text).root()).level
        };
        assert_eq!((of(50), of(500), of(5000)), (Level::Good, Level::Note, Level::Warn));
        assert_eq!(steal(&Fixture::empty().root()).level, Level::Note);
    }
}
