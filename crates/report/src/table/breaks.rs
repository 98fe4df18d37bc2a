//! Dips and steps in words.

use model::{Break, Breaks, Edge, Fate, Suspect};
use record::Analysis;
use units::{Bytes, Share};

use super::WIDTH;
use crate::text::paragraph;

/// The breaks of each path, a line each, with what lies near them. Empty where no path has one.
pub fn breaks(run: &Analysis<'_>) -> String {
    let mut text = String::new();
    for (i, path) in run.paths.iter().enumerate() {
        let facts = run.facts(i);
        for found in run.breaks(i).all() {
            let near: Vec<String> = model::suspects(&found, &facts).iter().filter(|s| s.near()).map(suspect).collect();
            let beside = if near.is_empty() { String::new() } else { format!("; near it: {}", near.join(", ")) };
            paragraph("", &format!("{}: {}{beside}.", path.opened.name(), found_words(&found)), WIDTH, &mut text);
        }
    }
    if text.is_empty() {
        return text;
    }
    format!("{text}`pipegauge explain RUN` measures again with the suspects moved, one at a time.\n")
}

/// `dip from 60 KiB to 75 KiB (0.10 decades): messages take 1.49 times as long [1.48, 1.50], throughput falls to 67%`.
pub fn found_words(found: &Break) -> String {
    let f = found.factor();
    let times = format!("{} times as long [{}, {}]", digits(f.value), digits(f.low), digits(f.high));
    match found {
        Break::Dip(d) => format!(
            "dip from {} to {} ({:.2} decades): messages take {times}, throughput falls to {}",
            Bytes(d.from.above),
            Bytes(d.to.below),
            d.decades(),
            Share(1.0 / f.value)
        ),
        Break::Step(s) => format!("step {}: messages take {times} from there on", at(s.at)),
    }
}

/// For a curve without breaks: the least depth of a dip that would have been found, and which would not.
pub fn none_found(breaks: &Breaks) -> String {
    let Some(s) = breaks.sight else {
        return "no dip and no step was found, but there may be some: its sizes are too few or too far apart, or its rounds too \
                few for their noise, to show a dip of any width (a longer --budget measures more)"
            .to_owned();
    };
    let wide =
        if s.decades < 0.07 { "a twentieth of a decade".to_owned() } else { format!("{:.1} decades", s.decades) };
    let narrower = if s.decades < 0.07 {
        "narrower or shallower ones may be missed"
    } else {
        "narrower ones may lie between two sizes, and shallower ones be missed"
    };
    let step = match breaks.step_share {
        Some(share) => format!(", a step to {} times as long as well", digits(1.0 + share)),
        None => " (no step surely would)".to_owned(),
    };
    format!(
        "no dip and no step; a dip {wide} wide in which messages take {} times as long would have been found in 9 of 10 places \
         between {} and {}{step}; {narrower}",
        digits(1.0 + s.share),
        Bytes(s.from),
        Bytes(s.to)
    )
}

/// `between 127 B and 131 B`, or `at 131 B` where that is known to a hundredth.
fn at(edge: Edge) -> String {
    let sharp = (edge.above - edge.below) as f64 <= (edge.above as f64 * 0.01).max(1.0);
    if sharp {
        format!("at {}", Bytes(edge.above))
    } else {
        format!("between {} and {}", Bytes(edge.below), Bytes(edge.above))
    }
}

/// `it ends at twice the send buffer (32 KiB)`.
pub fn suspect(s: &Suspect) -> String {
    let times = match s.times {
        0.5 => "half of the ",
        2.0 => "twice the ",
        _ => "the ",
    };
    format!("{times}{} ({})", s.fact.what, Bytes(s.fact.bytes))
}

/// What became of a break, in words.
pub fn fate(fate: &Fate) -> String {
    match fate {
        Fate::Same => "is as it was".to_owned(),
        Fate::Gone => "is gone".to_owned(),
        Fate::Hidden => "can't be told: noise would hide it".to_owned(),
        Fate::Changed { factor } => format!("is {} times deep instead", digits(factor.value)),
        Fate::Moved { to: Break::Dip(d) } => format!("has moved to {} to {}", Bytes(d.from.above), Bytes(d.to.below)),
        Fate::Moved { to: Break::Step(s) } => format!("has moved: it is {}", at(s.at)),
    }
}

/// A factor in three digits, or whole.
pub fn digits(v: f64) -> String {
    match v {
        v if !v.is_finite() => "?".to_owned(),
        v if v >= 1e9 => format!("{v:.2e}"),
        v if v >= 100.0 => units::thousands(v.round() as u64),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Dip, Estimate, Fact, Knob, Sight, Step};

    fn edge(below: u64, above: u64) -> Edge {
        Edge { below, above }
    }

    #[test]
    fn breaks_read_as_sentences() {
        let factor = Estimate { value: 1.5, low: 1.25, high: 12.34 };
        let dip = Dip { from: edge(61_200, 61_440), to: edge(76_800, 77_000), factor };
        assert_eq!(
            found_words(&Break::Dip(dip.clone())),
            "dip from 60 KiB to 75 KiB (0.10 decades): messages take 1.50 times as long [1.25, 12.3], throughput falls to \
             66.7%"
        );
        let step = |below, above| Break::Step(Step { at: edge(below, above), factor });
        assert!(found_words(&step(128, 129)).starts_with("step at 129 B: messages take"));
        assert!(found_words(&step(1000, 1500)).starts_with("step between 1,000 B and 1,500 B:"));
        assert_eq!(fate(&Fate::Moved { to: Break::Dip(dip) }), "has moved to 60 KiB to 75 KiB");
        assert_eq!(fate(&Fate::Moved { to: step(128, 129) }), "has moved: it is at 129 B");
    }

    #[test]
    fn what_a_curve_cannot_show_is_said() {
        let with =
            |sight| Breaks { dips: vec![], steps: vec![], sensitivity: f64::INFINITY, sight, step_share: Some(0.2) };
        assert!(none_found(&with(None)).contains("too far apart"));
        let sight = |decades| Some(Sight { decades, share: 0.5, from: 128, to: 1 << 20 });
        let said = none_found(&with(sight(0.05)));
        assert!(said.contains("a twentieth of a decade wide in which messages take 1.50 times"), "{said}");
        assert!(said.contains("between 128 B and 1 MiB"), "{said}");
        let said = none_found(&with(sight(0.2)));
        assert!(said.contains("0.2 decades wide") && said.contains("between two sizes"), "{said}");
    }

    #[test]
    fn a_suspect_tells_its_multiple() {
        let fact = Fact { knob: Knob::SocketBuffer, what: "send buffer".into(), bytes: 32_768 };
        let s = Suspect { fact, times: 2.0, edge: 65_536, off: 0.0 };
        assert_eq!(suspect(&s), "twice the send buffer (32 KiB)");
    }

    #[test]
    fn a_run_without_breaks_says_nothing() {
        let run = crate::sample::run_of(&crate::sample::MODELS[3..], &[1, 64, 4096], 3, 7);
        assert_eq!(breaks(&Analysis::of(&run)), "");
    }
}
