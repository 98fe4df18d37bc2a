//! `--load` and what belongs to it: which sizes are measured under load, how large loading flows' messages are, and what can be known to
//! be wrong with a load.

use anyhow::{Result, bail};
use measure::event::{PathPlan, Plan};
use measure::load;
use transport::registry;

use super::soak;
use crate::flags::RunFlags;

/// The size that is measured where nobody asked for another: one size, so that its percentiles have all of the time. None of a run
/// without load, and where sizes were asked for.
pub fn sizes(flags: &RunFlags, paths: &[PathPlan]) -> Option<Vec<u64>> {
    (!soak::sizes_asked(flags) && paths.iter().any(|path| path.load.is_some())).then(|| vec![soak::ANSWERED])
}

/// Size of a loading flow's messages: what was asked for, or the default as far as the path carries it; where messages may be lost, what
/// one packet holds.
pub fn size(path: &PathPlan, asked: Option<u64>) -> u64 {
    let fits = |path: &PathPlan| {
        let can = registry::find(path.transport)?.capabilities(&path.settings);
        let packet = if can.reliable { u64::MAX } else { soak::PACKET };
        Some(can.max_block.unwrap_or(u64::MAX).min(packet))
    };
    asked.unwrap_or_else(|| load::SIZE.min(fits(path).unwrap_or(u64::MAX)))
}

/// What is wrong with the load that `flags` ask for, beside what no path can do.
pub fn check(plan: &Plan, flags: &RunFlags) -> Result<()> {
    if !plan.loads() {
        if !flags.load.is_empty() {
            bail!("--load 0 is the idle path alone, which a run without --load measures; name at least 1 loading flow");
        }
        for (flag, given) in
            [("--load-direction", flags.load_direction.is_some()), ("--load-size", flags.load_size.is_some())]
        {
            if given {
                bail!("{flag} is of flows that load the path; add --load N");
            }
        }
    } else {
        if plan.soaks() {
            bail!("a soak holds one connection, and a load needs more; leave out --load or --duration");
        }
        if flags.trace.is_some() {
            bail!("--trace follows one connection: its lines don't say which; leave out --load");
        }
    }
    Ok(())
}

/// What a person should know of the load before the run.
pub fn notes(plan: &Plan) -> Option<String> {
    let shaped = plan.loads() && plan.decorators.shape.is_some();
    shaped.then(|| {
        "--shape slows each connection down by itself: loading flows don't queue with what is measured in it, and only what they share beyond \
         it is under load"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use crate::config::typed::typed as of;

    #[test]
    fn loads_are_refused_where_they_make_no_sense() {
        for (line, says) in [
            ("memcpy --load 2", "there is no path that could be loaded"),
            ("tcp --pattern stream --load 2", "--load is for ping-pong and request"),
            ("tcp --pattern burst --load 2", "--load is for ping-pong and request"),
            ("tcp --pattern bidirectional --load 2", "--load is for ping-pong and request"),
            ("tcp --pattern connect --load 2", "--load is for ping-pong and request"),
            ("tcp --flows 2 --load 2", "several flows load the path themselves"),
            ("tcp --schedule netpipe --load 2", "NetPIPE measures an idle path"),
            ("tcp --duration 10s --load 2", "a soak holds one connection"),
            ("tcp --trace x --load 2", "--trace follows one connection"),
            ("tcp --load 0", "name at least 1 loading flow"),
            ("tcp --load-size 4KiB", "add --load N"),
            ("tcp --load-direction both", "add --load N"),
            ("tcp --load 64 --load-direction both", "at most 127 connections"),
            ("udp --load 1 --load-size 128KiB", "(--load-size)"),
            ("tcp --load 1 --load-size 0", "at least 1 byte"),
        ] {
            let e = format!("{:#}", of(line).err().unwrap_or_else(|| panic!("{line}")));
            assert!(e.contains(says), "{line}: {e}");
        }
        for line in [
            "tcp --load 127",
            "udp --load 2",
            "theory --load 2",
            "shm --load 1 --pattern request",
            "tcp --load 1 --rate 100/s",
        ] {
            assert!(of(line).is_ok(), "{line}: {:#}", of(line).unwrap_err());
        }
    }

    #[test]
    fn one_size_is_measured_under_load_unless_others_are_asked_for() {
        let sizes = |line: &str| of(line).unwrap().plan.sizes;
        assert_eq!(sizes("tcp --load 4"), Some(vec![64]));
        assert_eq!(sizes("tcp --load 4 --sizes 1,4KiB"), Some(vec![1, 4096]));
        assert_eq!((sizes("tcp --load 4 --to 1KiB"), sizes("tcp")), (None, None));
    }

    #[test]
    fn a_shape_that_loading_flows_do_not_share_is_said() {
        let notes = |line: &str| of(line).unwrap().notes.join("\n");
        assert!(notes("tcp --load 1 --shape rate=1Gbit/s").contains("don't queue with what is measured"));
        assert!(!notes("tcp --shape rate=1Gbit/s").contains("queue"));
    }
}
