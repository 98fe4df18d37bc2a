//! `--rate` of several rates: a path for each, which sizes they measure, and what can be known to be wrong with them.

use anyhow::{Result, bail};
use measure::Pattern;
use measure::event::PathPlan;

use super::soak;
use crate::flags::{RunFlags, SendRate};

/// Time for each rate where nobody asked for another, seconds: there are many of them.
pub const BUDGET: f64 = 4.0;

/// The one rate of `--rate`, in messages a second; none of several, and of bits.
pub fn messages(flags: &RunFlags) -> Option<f64> {
    match flags.rate.as_ref()?.only()? {
        SendRate::Messages(rate) => Some(rate),
        SendRate::Bits(_) => None,
    }
}

/// The same in bits a second.
pub fn bits(flags: &RunFlags) -> Option<f64> {
    match flags.rate.as_ref()?.only()? {
        SendRate::Bits(bits) => Some(bits),
        SendRate::Messages(_) => None,
    }
}

/// Whether several rates are asked for.
pub fn several(flags: &RunFlags) -> bool {
    flags.rate.as_ref().is_some_and(|rates| rates.only().is_none())
}

/// Whether rates in bits are asked for, one or several: what came of each is told, not a curve over sizes.
pub fn offered(flags: &RunFlags) -> bool {
    bits(flags).is_some() || several(flags)
}

/// Whether a path takes a short time unless another is asked for: one of several rates, or one rate without a curve over sizes.
pub fn short(flags: &RunFlags) -> bool {
    several(flags) || (offered(flags) && !soak::sizes_asked(flags))
}

/// The path at each of several rates; as it is where there is one or none.
pub fn under_rates(path: PathPlan, flags: &RunFlags) -> Vec<PathPlan> {
    let Some(rates) = flags.rate.as_ref().filter(|_| several(flags)) else { return vec![path] };
    let at = |rate: &SendRate| {
        let SendRate::Bits(bits) = *rate else { return None };
        let label = path.label.as_ref().map(|label| format!("{label}:offered={}", typed(bits)));
        Some(PathPlan { label, offered: Some(bits), ..path.clone() })
    };
    rates.all().iter().filter_map(at).collect()
}

/// A rate as it is typed: with all its digits, as two rates may lie close to each other.
pub fn typed(bits: f64) -> String {
    let units = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let (unit, prefix) = units.into_iter().find(|(unit, _)| bits >= *unit).unwrap_or((1.0, ""));
    let digits = format!("{:.9}", bits / unit);
    format!("{}{prefix}bit/s", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// The size that is measured where nobody asked for another: what fills a packet, or a message of a stream; none without a rate in bits, and where sizes
/// were asked for.
pub fn sizes(flags: &RunFlags, paths: &[PathPlan]) -> Option<Vec<u64>> {
    (!soak::sizes_asked(flags) && offered(flags)).then(|| vec![soak::usual(flags, paths)])
}

/// What is wrong with several rates.
pub fn check(flags: &RunFlags) -> Result<()> {
    let Some(rates) = flags.rate.as_ref().filter(|_| several(flags)) else { return Ok(()) };
    if rates.all().iter().any(|rate| matches!(rate, SendRate::Messages(_))) {
        bail!(
            "--rate takes one rate of messages a second (--rate 10k/s, without a comma in the number); several rates are of a stream, in \
             bits a second each (--pattern stream --rate 10Mbit/s,100Mbit/s, or 10Mbit/s..1Gbit/s)"
        );
    }
    if !Pattern::from(flags.pattern()).facts().unanswered {
        bail!(
            "--rate in bits a second is offered by a pattern without answers ({}); add --pattern stream",
            Pattern::those(|facts| facts.unanswered)
        );
    }
    if flags.vs.is_some() {
        bail!(
            "--vs holds one setting against another, and several rates are paths of their own already; give one --rate"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::config::typed::typed as of;

    fn offered(line: &str) -> Vec<f64> {
        let plan = of(line).unwrap().plan;
        (0..plan.paths.len() as u32).filter_map(|path| plan.offered_on(path)).collect()
    }

    fn names(line: &str) -> Vec<String> {
        of(line).unwrap().plan.paths.iter().map(|path| path.name().to_owned()).collect()
    }

    #[test]
    fn several_rates_are_paths_with_names_of_their_own() {
        let line = "udp --pattern stream --rate 100Mbit/s,1.5Gbit/s";
        assert_eq!(offered(line), [1e8, 1.5e9]);
        assert_eq!(names(line), ["udp:offered=100Mbit/s", "udp:offered=1.5Gbit/s"]);
        assert_eq!(
            names("udp:label=x --pattern stream --rate 1Mbit/s,2Mbit/s"),
            ["x:offered=1Mbit/s", "x:offered=2Mbit/s"]
        );
        assert_eq!(offered("udp --pattern stream --rate 10Mbit/s..1Gbit/s"), [1e7, 2e7, 5e7, 1e8, 2e8, 5e8, 1e9]);
        for people in ["10Mbps", "10Mb/s", "10mbit", "10mbps", "10Mbits/s", "0.01gbps", "10000kb/s", "10Mbit/sec"] {
            assert_eq!(offered(&format!("udp --pattern stream --rate {people}")), [1e7], "{people}");
        }
        assert_eq!(
            offered("udp --pattern stream --rate 1MB/s,10mbps..20Mbps"),
            [8e6, 1e7, 2e7],
            "a byte is eight bits"
        );
        assert_eq!(offered("udp --pattern stream --rate 3Mbit/s..30Mbit/s"), [3e6, 5e6, 1e7, 2e7, 3e7]);
        assert_eq!(
            names("udp --pattern stream --rate 1001Mbit/s,1002Mbit/s"),
            ["udp:offered=1.001Gbit/s", "udp:offered=1.002Gbit/s"]
        );
        assert_eq!(offered("udp --pattern stream --rate 2Mbit/s,1Mbit/s..2Mbit/s"), [2e6, 1e6], "each rate once");
        assert_eq!(
            (offered("tcp --pattern stream --rate 100Mbit/s"), names("tcp --pattern stream --rate 100Mbit/s")),
            (vec![1e8], vec!["tcp".to_owned()])
        );
    }

    #[test]
    fn rates_measure_one_size_in_a_short_time_each_unless_others_are_asked_for() {
        let plan = |line: &str| of(line).unwrap().plan;
        let udp = plan("udp --pattern stream --rate 1Mbit/s,2Mbit/s");
        assert_eq!((udp.sizes, udp.budget), (Some(vec![1448]), 4.0));
        assert_eq!(plan("tcp --pattern stream --rate 1Gbit/s,2Gbit/s").sizes, Some(vec![128 << 10]));
        let asked = plan("udp --pattern stream --rate 1Mbit/s,2Mbit/s --sizes 64,1KiB --budget 1s");
        assert_eq!((asked.sizes, asked.budget), (Some(vec![64, 1024]), 1.0));
        let one = plan("udp --pattern stream --rate 1Mbit/s");
        assert_eq!((one.sizes, one.budget), (Some(vec![1448]), 4.0), "one rate as several");
        let curve = plan("udp --pattern stream --rate 1Mbit/s --to 32KiB");
        assert_eq!((curve.sizes, curve.budget), (None, 12.0), "each size needs its rounds");
        assert_eq!(plan("udp --pattern stream --rate 1Mbit/s --from 1KiB").sizes, None);
        assert_eq!(plan("tcp --rate 1k/s").sizes, None, "answers on a schedule have a curve");
    }

    #[test]
    fn several_rates_are_refused_where_they_make_no_sense() {
        for (line, says) in [
            ("tcp --rate 10k/s,20k/s", "without a comma in the number"),
            ("tcp --rate 1,500/s", "without a comma in the number"),
            ("udp --rate 1Mbit/s,2Mbit/s", "add --pattern stream"),
            ("tcp --rate 1k/s..10k/s", "is a range of messages a second"),
            ("udp --pattern stream --rate 10mb/s", "a byte is eight bits"),
            ("udp --pattern stream --rate 10MBps", "a byte is eight bits"),
            ("udp --pattern stream --rate 1Mbit/s,2k/s", "in bits a second each"),
            ("udp --pattern stream --rate 1Mbit/s,2Mbit/s --duration 10s", "one connection"),
            ("udp --pattern stream --rate 1Mbit/s,2Mbit/s --flows 2", "a schedule is one flow's"),
            ("memcpy --pattern stream --rate 1Mbit/s,2Mbit/s", "nobody offers it a rate"),
            ("udp --pattern stream --rate 1bit/s,1Mbit/s", "raise --patience"),
        ] {
            let e = format!("{:#}", of(line).err().unwrap_or_else(|| panic!("{line}")));
            assert!(e.contains(says), "{line}: {e}");
        }
        for wrong in
            ["2Gbit/s..1Gbit/s", "1Mbit/s..", "1Mbit/s..1k/s", "1Mbit/s..1000000Gbit/s..2", ",", "0bit/s..1Mbit/s"]
        {
            assert!(of(&format!("udp --pattern stream --rate {wrong}")).is_err(), "{wrong}");
        }
    }
}
