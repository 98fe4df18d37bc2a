//! How unsteady each path is, in words and as percentiles over size.

use measure::event::Percentiles;
use model::{Drift, Jitter, Periodic, Source};
use record::Analysis;
use units::format::significant;
use units::{Bytes, Kind, Seconds, resolved};

use super::WIDTH;
use super::breaks::digits;
use super::grid::{Flush, Grid};
use crate::doublings::apart;
use crate::text::paragraph;
use crate::words;

/// The path at this index: its outliers, drift and periods in a sentence each, then its percentiles over size. Only
/// sizes about a factor of two apart are shown; `all` shows each.
pub fn jitter(run: &Analysis<'_>, path: usize, all: bool) -> String {
    let Some(p) = run.paths.get(path) else { return String::new() };
    let name = p.opened.name();
    let mut text = String::new();
    let hidden = run.hidden_by_clock(path).map(|step| {
        format!(
            "iterations are shorter than a step of this machine's clock ({}): whether some took long, and for how long, can't be told",
            Seconds(step)
        )
    });
    for line in hidden.into_iter().chain(sentences(run.jitter(path))) {
        paragraph(&format!("{name}: "), &format!("{line}."), WIDTH, &mut text);
    }
    use Flush::{Left, Right};
    let mut grid = Grid::new(&[
        ("size", Right),
        ("p50", Right),
        ("p90", Right),
        ("p99", Right),
        ("p99.9", Right),
        ("max", Right),
        ("p99 / p50", Right),
        ("", Left),
    ]);
    let timed = p.points.iter().filter(|p| p.figures.percentiles.is_some());
    let shown = if all { timed.collect() } else { apart(timed, |p| p.size) };
    for point in &shown {
        let Some(at) = point.figures.percentiles.as_ref() else { continue };
        let time = |pick: fn(&Percentiles) -> Option<f64>| pick(at).map_or("-".to_owned(), |t| Seconds(t).to_string());
        // A percentile with less than one iteration beyond it is the largest value.
        let few = if point.figures.iterations < 1000 {
            format!("of {} iterations", point.figures.iterations)
        } else {
            String::new()
        };
        grid.row([
            Bytes(point.size).to_string(),
            time(|p| Some(p.p50)),
            time(|p| p.p90),
            time(|p| p.p99),
            time(|p| p.p999),
            time(|p| Some(p.max)),
            at.p99.filter(|_| at.p50 > 0.0).map_or("-".to_owned(), |p99| format!("{}x", digits(p99 / at.p50))),
            few,
        ]);
    }
    if shown.is_empty() {
        text.push_str(&format!("{name}: single iterations were not timed, so there are no percentiles.\n"));
    } else {
        let time = p.points.first().map_or("", |p| words::time_label(p.time));
        text.push_str(&format!("\n{}Percentiles of single iterations ({time}).\n", grid.fitted(WIDTH, &[2])));
    }
    text
}

/// Width of a share's interval that tells nothing of it.
const UNTOLD: f64 = 0.5;

/// Outliers, drift, periods.
fn sentences(j: &Jitter) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(e) = j.outliers {
        let few = e.high - e.low >= UNTOLD;
        // Each end with its unit, as for a drift: "0 [0.0000, 0.0010]" does not look like a share.
        let share = resolved(e.value, e.low, e.high, Kind::Share);
        let share = share
            .split_once('[')
            .map_or(share.clone(), |(value, ends)| format!("{value}[{}", ends.replace(", ", "%, ").replace(']', "%]")));
        lines.push(match few {
            true => {
                "iterations over twice the median of their trial: too few were timed to tell their share".to_owned()
            }
            false => format!("iterations over twice the median of their trial: {share} of all"),
        });
    }
    lines.push(match &j.drift {
        None => {
            "no drift can be told: that takes four rounds at least, one after the other, with times above 0".to_owned()
        }
        Some(d) => drifted(d),
    });
    match (&j.periodic[..], &j.unsearched) {
        (_, Some(why)) => lines.push(format!("no period was looked for: {why}")),
        ([], None) => lines.push(format!("nothing comes back at a period that the run could tell: {}", untold(j))),
        (found, None) => {
            lines.extend(found.iter().map(period));
            lines.push(format!("other periods: {}", untold(j)));
        }
    }
    lines
}

/// How far a path drifted, in words.
pub(super) fn drifted(d: &Drift) -> String {
    let (e, over) = (d.ratio, Seconds(d.seconds));
    if e.low == 1.0 && e.high == 1.0 {
        return format!("no drift: all rounds took the same time, over {over}");
    }
    if !(e.low > 0.0 && e.high <= units::RESOLVED * e.low) {
        return format!("no sure drift: the rounds over {over} tell no change of less than ten times");
    }
    let what = if d.sure() { "all sizes drifted together in this run" } else { "no sure drift" };
    let percent = |ratio: f64| match ratio - 1.0 {
        // Neither more nor less.
        change if change.abs() < 0.0005 => "0.0%".to_owned(),
        change if change.abs() < 10.0 => format!("{:+.1}%", change * 100.0),
        change => format!("+{}", significant(change, Kind::Share)),
    };
    format!("{what}: times changed by {} [{}, {}] over {over}", percent(e.value), percent(e.low), percent(e.high))
}

/// What can't be found in this run.
fn untold(j: &Jitter) -> String {
    let levels = j.shortest_of_levels.map_or("any of slower trials".to_owned(), |shortest| {
        format!("those of slower trials below {}", Seconds(shortest))
    });
    let rare = match j.longest_of_pauses {
        longest if longest > 0.0 => format!(" or above {}", Seconds(longest)),
        _ => String::new(),
    };
    format!(
        "those of pauses below {}{rare} (trials watched {} of the time, and six pauses must fall into them), {levels}, and any \
         longer than {} can't be told in this run; pauses that come early or late, are left out now and then or keep step with the \
         run's rounds may be missed at any period",
        Seconds(j.shortest),
        units::short(j.watched, Kind::Share),
        Seconds(j.longest)
    )
}

fn period(p: &Periodic) -> String {
    let e = p.period;
    let every = resolved(e.value, e.low, e.high, Kind::Seconds);
    let rate = significant(1.0 / e.value, Kind::PerSecond);
    let or = if p.each_time { "" } else { " (or a whole multiple of that: not each time shows one)" };
    match p.source {
        Source::Pauses => format!(
            "pauses come back every {every}, {rate}{or}: something takes the CPU or the device away at that rhythm (a timer, a \
             poller, a housekeeping task)"
        ),
        Source::Levels => format!(
            "the path is slower for a while every {every}, {rate}: something shares or throttles it at that rhythm (frequency \
             or bandwidth control, a neighbour's work)"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Estimate;

    #[test]
    fn what_was_found_is_said_and_what_was_not_as_well() {
        let e = |value: f64| Estimate { value, low: value * 0.9, high: value * 1.1 };
        let found = Jitter {
            outliers: Some(e(0.01)),
            drift: Some(Drift { ratio: e(1.2), seconds: 11.0 }),
            periodic: vec![
                Periodic { period: e(0.004), source: Source::Pauses, each_time: false, power: 90.0 },
                Periodic { period: e(0.25), source: Source::Levels, each_time: true, power: 90.0 },
            ],
            longest: 2.0,
            longest_of_pauses: 1.0,
            watched: 0.65,
            shortest: 0.001,
            shortest_of_levels: Some(0.05),
            unsearched: None,
        };
        let said = sentences(&found).join("\n");
        for words in [
            "over twice the median",
            "all sizes drifted together in this run: times changed by +20.0%",
            "every 4.00 ms",
            "250 /s",
            "every 250 ms",
        ] {
            assert!(said.contains(words), "{words}: {said}");
        }
        let rare = "of pauses below 1.00 ms or above 1.00 s (trials watched 65% of the time, and six pauses must fall into them)";
        assert!(
            said.contains(rare) && said.contains("those of slower trials below 50.0 ms, and any longer than"),
            "{said}"
        );
        assert!(said.contains(": 1.00% [0.9%, 1.1%] of all"), "{said}");
        let none = Estimate { value: 0.0, low: 0.0, high: 1e-5 };
        let said = sentences(&Jitter { outliers: Some(none), ..Jitter::default() }).join("\n");
        assert!(said.contains(": 0% [0.0000%, 0.0010%] of all"), "{said}");
        let wide = Estimate { value: 0.0, low: 0.0, high: 1.0 };
        let said = sentences(&Jitter { outliers: Some(wide), ..Jitter::default() }).join("\n");
        assert!(said.contains("too few were timed to tell their share") && !said.contains("100%"), "{said}");
        let said = sentences(&Jitter { longest: 2.0, ..Jitter::default() }).join("\n");
        assert!(said.contains("four rounds at least") && said.contains("nothing comes back"), "{said}");
        assert!(said.contains("longer than 2.00 s") && said.contains("can't be told"), "{said}");
        assert!(said.contains("early or late, are left out now and then or keep step"), "{said}");
    }

    #[test]
    fn a_drift_is_said_without_absurd_figures() {
        let said = |value, low, high| drifted(&Drift { ratio: Estimate { value, low, high }, seconds: 10.0 });
        assert_eq!(said(1.0, 0.5, 2.0), "no sure drift: times changed by 0.0% [-50.0%, +100.0%] over 10.0 s");
        for (low, high) in [(0.022, 8.986), (0.01, 36.0), (0.0, 2.0), (0.5, f64::INFINITY)] {
            let said = said(1.0, low, high);
            assert_eq!(said, "no sure drift: the rounds over 10.0 s tell no change of less than ten times");
        }
        assert_eq!(said(1.0, 1.0, 1.0), "no drift: all rounds took the same time, over 10.0 s");
    }

    #[test]
    fn factors_without_bounds_stay_short() {
        for (factor, text) in [(2.514, "2.51"), (25.14, "25.1"), (1_020_674.2, "1,020,674"), (9.98e11, "9.98e11")] {
            assert_eq!(digits(factor), text);
        }
    }

    #[test]
    fn percentiles_of_sizes_a_factor_of_two_apart_or_of_all() {
        let run = crate::sample::run(1);
        let run = Analysis::of(&run);
        let (short, long) = (jitter(&run, 3, false), jitter(&run, 3, true));
        assert!(long.lines().count() >= short.lines().count() && !short.contains("NaN"), "{short}");
        assert_eq!(jitter(&run, 99, true), "");
    }
}
