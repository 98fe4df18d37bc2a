//! `--fail-if`: a limit on a comparison, and whether it is kept.

use anyhow::{Result, anyhow, bail};
use model::{Compared, Estimate, Finding};
use report::compare::{APART, IN_ONE_RUN, Judged, MAY_LIE_APART, Named};
use units::Bytes;

/// What a limit is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Metric {
    /// Time of the smallest message.
    Latency,
    /// Time over all sizes together.
    Time,
    /// Time of one size.
    TimeAt(u64),
    /// The highest throughput.
    Throughput,
}

/// A limit on one figure of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    text: String,
    metric: Metric,
    above: bool,
    /// The change at which it begins, as a share: 0.05 is 5% more.
    change: f64,
}

const HOW: &str = "write METRIC>+N% or METRIC<-N%, with METRIC one of latency, time, time@SIZE, throughput";

impl Limit {
    /// Parses `latency>+5%`, `time@64KiB>10%`, `throughput<-5%`.
    pub fn parse(text: &str) -> Result<Self> {
        let refuse = |why: &str| anyhow!("--fail-if '{text}': {why}; {HOW}");
        let at = text.find(['<', '>']).ok_or_else(|| refuse("there is no < or >"))?;
        let above = text.as_bytes()[at] == b'>';
        let metric = match text[..at].trim() {
            "latency" => Metric::Latency,
            "time" => Metric::Time,
            "throughput" => Metric::Throughput,
            other => match other.split_once('@') {
                Some(("time", size)) => Metric::TimeAt(size.parse::<Bytes>().map_err(|e| refuse(&e.to_string()))?.0),
                _ => return Err(refuse(&format!("'{other}' is no metric"))),
            },
        };
        let number = text[at + 1..].trim();
        let percent = number.strip_suffix('%').ok_or_else(|| refuse("the change is not in per cent"))?;
        let change = percent.trim().parse::<f64>().ok().filter(|v| v.is_finite() && v.abs() <= 1e6);
        let change = change.ok_or_else(|| refuse(&format!("'{percent}' is no number")))? / 100.0;
        Ok(Self { text: text.to_owned(), metric, above, change })
    }

    /// Judges a comparison by the limit. It fails where the change lies beyond the limit and is itself no chance: its
    /// 95% interval, which holds what runs of one thing differ by, leaves out no change at all. Where nothing tells what runs of one thing
    /// differ by, a change beyond the limit is not judged.
    pub fn judge(&self, named: &Named) -> Result<Judged> {
        let c = &named.comparison;
        let of = |s: &Compared| (format!("time of {}", Bytes(s.size)), s.ratio, s.by_order);
        let (what, ratio, by_order): (String, Estimate, bool) = match self.metric {
            Metric::Latency => of(&c.sizes[0]),
            Metric::Time => ("time over all sizes".to_owned(), c.whole, false),
            Metric::TimeAt(size) => match c.sizes.iter().find(|s| s.size == size) {
                Some(s) => of(s),
                None => {
                    let nearest = c.sizes.iter().min_by_key(|s| s.size.abs_diff(size)).map_or(0, |s| s.size);
                    bail!(
                        "--fail-if '{}': the runs have no size {} in common; the nearest is {}",
                        self.text,
                        Bytes(size),
                        Bytes(nearest)
                    )
                }
            },
            Metric::Throughput => match c.throughput {
                Some(ratio) => ("highest throughput".to_owned(), ratio, false),
                None => bail!("--fail-if '{}': one of the runs has no throughput", self.text),
            },
        };
        let change = ratio.value - 1.0;
        let beyond = if self.above { change > self.change } else { change < self.change };
        let chance = ratio.low <= 1.0 && 1.0 <= ratio.high;
        let percent = |v: f64| match v {
            v if !v.is_finite() => "unbounded".to_owned(),
            // As a percentage a large change hides its size.
            v if v >= 10.0 => format!("{} times", units::thousands((v + 1.0).round() as u64)),
            v => format!("{:+.1}%", v * 100.0),
        };
        let range = match c.few_rounds {
            None if ratio.high.is_finite() => format!(" [{}, {}]", percent(ratio.low - 1.0), percent(ratio.high - 1.0)),
            _ => String::new(),
        };
        // A single size varies more between runs than all together.
        let alone = !(named.judges(ratio) && named.judges(c.whole));
        // A wide interval that goes on beyond the limit passes nothing.
        let farthest = if self.above { ratio.high } else { ratio.low } - 1.0;
        let open = chance
            && model::is_vague(ratio)
            && if self.above { farthest > self.change } else { farthest < self.change };
        let finding = named.finding();
        let apart = format!("beyond the limit in these runs, but {APART}; {IN_ONE_RUN}, or each at least three times");
        let level = format!("beyond the limit, but {MAY_LIE_APART}; {IN_ONE_RUN}");
        let (judged, why) = match (beyond, chance) {
            _ if finding == Finding::Disturbed => (false, "more was taken of the CPUs on one side"),
            _ if finding == Finding::FewRounds => (false, "fewer than four rounds"),
            _ if finding == Finding::NoInterval || !ratio.high.is_finite() => {
                (false, "no interval: too few rounds, or they changed too slowly")
            }
            (true, _) if alone => (false, &*apart),
            _ if finding == Finding::RoundsByChance || by_order => {
                (false, "as many of so few rounds go one way by chance; measure longer (--budget)")
            }
            (true, false) if finding == Finding::WholeAlone => (false, &*level),
            _ if open => (
                false,
                match c.paired {
                    Some(_) => {
                        "the interval reaches beyond the limit and is too wide to tell; measure longer (--budget)"
                    }
                    None => {
                        "the interval reaches beyond the limit and is too wide to tell; measure longer, or both in one run (run --vs)"
                    }
                },
            ),
            (true, true) => match c.paired {
                Some(_) => (true, "beyond the limit but within what chance makes of two sides of one thing in turns"),
                None => (true, "beyond the limit but within what separate runs of one thing differ by"),
            },
            (true, false) => (true, "beyond the limit"),
            _ if alone => (true, "of these runs alone"),
            _ => (true, ""),
        };
        let why = if why.is_empty() { String::new() } else { format!(", {why}") };
        let found = format!("{what}: {}{range}{why}", percent(change));
        Ok(Judged { limit: self.text.clone(), found, failed: judged && beyond && !chance, judged })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{BetweenRuns, Comparison, Paired};

    fn comparison(value: f64, low: f64, high: f64) -> Comparison {
        let ratio = Estimate { value, low, high };
        let size = Compared {
            size: 64,
            first: 1.0,
            second: value,
            ratio,
            effect: 0.0,
            probability: 0.01,
            significant: true,
            by_order: false,
            first_interpolated: false,
            second_interpolated: false,
        };
        Comparison {
            sizes: vec![size],
            left_out: 0,
            unvisited: 0,
            machine: Vec::new(),
            drift: None,
            disturbed: None,
            between: None,
            few_rounds: None,
            seen: None,
            paired: None,
            whole: ratio,
            throughput: Some(Estimate { value: 1.0 / value, low: 1.0 / high, high: 1.0 / low }),
            stretches: Vec::new(),
            crossovers: Vec::new(),
        }
    }

    fn named(comparison: &Comparison, separate: bool) -> Named {
        Named {
            first: "a".into(),
            second: "b".into(),
            runs: (1, 1),
            pattern: measure::Pattern::PingPong,
            separate,
            one_cpu: (false, false),
            comparison: comparison.clone(),
            note: None,
            cpu: Vec::new(),
            differences: Vec::new(),
            limits: Vec::new(),
        }
    }

    fn held(text: &str, c: &Comparison, separate: bool) -> Result<Judged> {
        Limit::parse(text)?.judge(&named(c, separate))
    }

    #[test]
    fn a_change_of_separate_runs_is_judged_only_where_runs_tell_what_chance_does() {
        let slower = comparison(1.5, 1.45, 1.55);
        let said = held("latency>+5%", &slower, true).unwrap();
        assert!(!said.failed && !said.judged && said.found.contains("run --vs"), "{said:?}");
        assert!(said.found.starts_with("time of 64 B: +50.0% [+45.0%, +55.0%], beyond the limit in these"), "{said:?}");
        let within = held("latency>+60%", &slower, true).unwrap();
        assert!(within.judged && !within.failed && within.found.ends_with("of these runs alone"), "{within:?}");
        // How far runs of one thing lie apart is not known, so that nothing lies within it.
        let unsure = held("latency>+5%", &comparison(1.1, 0.95, 1.25), true).unwrap();
        assert!(!unsure.judged && unsure.found.contains("too few runs tell"), "{unsure:?}");
        let known = |degrees| Some(BetweenRuns { spread: 0.02, degrees, runs: 6 });
        let few = Comparison { between: known(2.0), ..slower.clone() };
        assert!(!held("latency>+5%", &few, true).unwrap().judged, "two runs a side");
        let enough = Comparison { between: known(4.0), ..slower };
        // A limit on one size hangs on the level of all.
        for limit in ["time>+5%", "latency>+5%", "time@64>+5%"] {
            let said = held(limit, &enough, true).unwrap();
            assert!(
                !said.judged && said.found.contains("few separate runs of one thing may lie so far apart"),
                "{said:?}"
            );
        }
        let stretch = model::Stretch { from: 64, to: 64, ratio: 1.5, differs: true };
        let differ = Comparison { stretches: vec![stretch], ..enough };
        assert!(held("time>+5%", &differ, true).unwrap().failed);
        assert!(held("latency>+5%", &differ, true).unwrap().failed, "three runs a side");
        assert!(held("latency>+5%", &comparison(6.0, 5.0, 7.0), true).unwrap().failed, "no machine does that");
    }

    #[test]
    fn limits_fail_only_beyond_chance() {
        let failed = |text: &str, c: &Comparison| held(text, c, false).unwrap().failed;
        let slower = comparison(1.1, 1.05, 1.15);
        assert!(failed("latency>+5%", &slower) && failed("time>5%", &slower) && failed("time@64>+5%", &slower));
        assert!(failed("throughput<-5%", &slower) && !failed("throughput>+5%", &slower));
        assert!(!failed("latency>+20%", &slower) && !failed("latency<-5%", &slower));
        let unsure = comparison(1.1, 0.95, 1.25);
        assert!(!failed("latency>+5%", &unsure));
        assert!(held("latency>5%", &unsure, false).unwrap().found.contains("within what separate runs"));
        // Sides in turns whose order may do it, as the verdict says.
        let turns = |rounds| Some(Paired { rounds, differs: rounds > 5, finds: Some(1.0), finds_at_a_size: None });
        let said = held("time>5%", &Comparison { paired: turns(5), ..slower.clone() }, false).unwrap();
        assert!(!said.failed && !said.judged && said.found.contains("of so few rounds go one way"), "{said:?}");
        assert!(failed("time>5%", &Comparison { paired: turns(9), ..slower.clone() }));
        let size = Compared { by_order: true, ..slower.sizes[0] };
        let by_order = Comparison { sizes: vec![size], paired: turns(9), ..slower.clone() };
        assert!(!held("latency>5%", &by_order, false).unwrap().judged);
        let unsure_in_turns = Comparison { paired: turns(9), ..unsure.clone() };
        let said = held("latency>5%", &unsure_in_turns, false).unwrap().found;
        assert!(said.contains("in turns") && !said.contains("separate runs"), "{said}");
        // So wide that a fourfold change would pass.
        for value in [1.11, 0.97] {
            let said = held("time>5%", &comparison(value, 0.36, 3.92), false).unwrap();
            assert!(!said.failed && !said.judged && said.found.contains("too wide to tell"), "{said:?}");
        }
        let far = held("time>400%", &comparison(1.11, 0.36, 3.92), false).unwrap();
        assert!(far.judged && !far.failed, "the whole interval lies within the limit: {far:?}");
        let few = Comparison { few_rounds: Some(3), ..comparison(1.1, 0.0, f64::INFINITY) };
        let said = held("latency>5%", &few, false).unwrap();
        assert!(
            !said.failed && !said.judged && said.found.ends_with("+10.0%, fewer than four rounds"),
            "{}",
            said.found
        );
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_the_way_to_write_it() {
        for bad in ["", "latency", "latency>", "latency>5", "speed>5%", "time@x>5%", "latency>x%", "latency>NaN%"] {
            let said = Limit::parse(bad).unwrap_err().to_string();
            assert!(said.contains("METRIC>+N%") && said.contains(bad), "{bad}: {said}");
        }
        let said = held("time@65>1%", &comparison(1.0, 1.0, 1.0), false).unwrap_err().to_string();
        assert!(said.contains("65 B") && said.contains("64 B"), "{said}");
    }
}
