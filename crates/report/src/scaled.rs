//! Estimates for another wire or another machine, beside what was measured there: table 1 of `seeds/003`.

use measure::event::TimeKind;
use model::scale::{Agreement, Scaled, Target};
use model::{Estimate, LatencyLine};
use units::{BitRate, Bytes, Kind, Share, format::significant};

use crate::misfit::misfit;
use crate::sheet::{self, Table};
use crate::table::{Flush, estimate, start_time};
use crate::words::time_label;

/// Sizes of which a table shows estimate and measurement.
const SHOWN: usize = 8;

/// A path that was scaled.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
pub struct ScaledPath {
    /// Its name.
    pub name: String,
    /// Which time its figures are.
    pub time: TimeKind,
    /// What changes.
    pub target: Target,
    /// The line as measured, taken apart, and the estimate.
    pub scaled: Scaled,
    /// The largest message that was estimated, bytes.
    pub largest: u64,
    /// What was measured there; none where nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<Actual>,
}

/// What a path took at the other end.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
pub struct Actual {
    /// Its name.
    pub name: String,
    /// Its line; none with fewer than three sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<LatencyLine>,
    /// The estimate held against it.
    pub held: Agreement,
    /// Sizes that were measured there, and beyond what the estimate rests on.
    pub left_out: usize,
}

/// What stands below all tables.
const HOW_TO_READ: &str = "In brackets: 95% intervals. ! marks a line that has the wrong shape for the path.";

/// The tables as text, with what `words` say of each path.
pub fn text(paths: &[ScaledPath]) -> String {
    sheet::text(tables(paths), HOW_TO_READ)
}

/// The tables as Markdown.
pub fn markdown(paths: &[ScaledPath]) -> String {
    sheet::markdown(tables(paths), HOW_TO_READ)
}

fn tables(paths: &[ScaledPath]) -> Vec<Table> {
    let sizes = paths.iter().filter(|p| p.actual.is_some()).map(by_size);
    [parts(paths), lines(paths)].into_iter().chain(sizes).collect()
}

/// The measured line, split into wire, memory and CPU.
fn parts(paths: &[ScaledPath]) -> Table {
    use Flush::{Left, Right};
    let mut notes = Vec::new();
    let rows = paths.iter().map(|p| {
        let line = &p.scaled.measured;
        let wire = p.target.wires.map(|w| w.0);
        notes.extend(p.scaled.notes.iter().map(|n| format!("{}: {n}.", p.name)));
        let share = p.scaled.wire_per_byte / line.per_byte.value;
        // A share above all is noise.
        let share = if share < 1.0 { Share(share).to_string() } else { "all".to_owned() };
        vec![
            p.name.clone(),
            time_label(p.time).to_owned(),
            wire.map_or("-".into(), |w| BitRate(w.rate).to_string()),
            estimate(line.per_byte, Kind::SecondsPerByte),
            start_time(line.t0),
            misfit(&line.misfit),
            wire.map_or("-".into(), |_| {
                format!("{}\n({share})", significant(p.scaled.wire_per_byte, Kind::SecondsPerByte))
            }),
            estimate(p.scaled.memory_per_byte, Kind::SecondsPerByte),
            estimate(p.scaled.cpu_per_message, Kind::Seconds),
        ]
    });
    let rows = rows.collect();
    let head = sheet::head(&[
        ("path", Left),
        ("time", Left),
        ("over", Right),
        ("b, per byte", Right),
        ("t0", Right),
        ("misfit", Right),
        ("of b: wire", Right),
        ("memory", Right),
        ("of t0: CPU", Right),
    ]);
    Table {
        title: "As measured: t0 + b B, and what it is taken for".to_owned(),
        head,
        rows,
        notes,
        together: vec![1, 1, 1, 1, 1, 3],
        ..Table::default()
    }
}

/// `seeds/003`, table 1, with the throughput of the largest message beside (the text above it).
fn lines(paths: &[ScaledPath]) -> Table {
    use Flush::{Left, Right};
    let mut rows = Vec::new();
    let mut notes = Vec::new();
    for p in paths {
        let at = p.scaled.at(p.largest);
        let row = |name: &str, which: &str, b, t0, at: Option<Estimate>| {
            vec![
                name.to_owned(),
                which.to_owned(),
                b,
                t0,
                Bytes(p.largest).to_string(),
                at.map_or("-".into(), |e| estimate(e, Kind::Seconds)),
                at.map_or("-".into(), |e| estimate(throughput(p.largest, e), Kind::BitsPerSecond)),
            ]
        };
        let figures = |b: Estimate, t0: Estimate| (estimate(b, Kind::SecondsPerByte), start_time(t0));
        let (b, t0) = figures(p.scaled.per_byte, p.scaled.t0);
        let over = p.target.wires.map_or(String::new(), |(_, to)| format!("\nover {}", BitRate(to.rate)));
        rows.push(row(&format!("{}{over}", p.name), "E", b, t0, at));
        let Some(actual) = &p.actual else { continue };
        let there = actual.held.sizes.iter().find(|s| s.size == p.largest);
        let wrong = actual.line.as_ref().is_some_and(|l| l.misfit.systematic);
        let (b, t0) = actual.line.as_ref().map_or(("-".into(), "-".into()), |l| figures(l.per_byte, l.t0));
        rows.push(row("", if wrong { "A !" } else { "A" }, b, t0, there.map(|s| s.measured)));
        let off = |e: Estimate, a: Option<f64>| a.map_or("-".to_owned(), |a| signed(e.value / a - 1.0));
        rows.push(vec![
            String::new(),
            "E/A - 1".to_owned(),
            off(p.scaled.per_byte, actual.line.as_ref().map(|l| l.per_byte.value)),
            off(p.scaled.t0, actual.line.as_ref().map(|l| l.t0.value)),
            String::new(),
            there.map_or("-".into(), |s| signed(s.off)),
            there.map_or("-".into(), |s| signed(1.0 / (1.0 + s.off) - 1.0)),
        ]);
        notes.push(format!("{}: {}.", p.name, verdict(actual)));
        if actual.left_out > 0 {
            notes.push(format!("{}: sizes beyond what E rests on, left out: {}.", p.name, actual.left_out));
        }
    }
    let head = sheet::head(&[
        ("path", Left),
        ("", Left),
        ("b, per byte", Right),
        ("t0", Right),
        ("a message of", Right),
        ("takes", Right),
        ("throughput", Right),
    ]);
    let title = match paths.iter().any(|p| p.actual.is_some()) {
        true => "Estimated (E) and actual (A) latency t0 + b B",
        false => "Estimated (E) latency t0 + b B",
    };
    Table { title: title.to_owned(), head, rows, notes, names: 2, together: vec![2, 3] }
}

/// Whether the measurement lies within the estimate, in words.
pub fn verdict(actual: &Actual) -> String {
    let h = &actual.held;
    let held = match (h.within, h.judged) {
        (_, 0) => "whether A lies in E's interval is not known: fewer than four rounds have none".to_owned(),
        (all, judged) if all == judged => format!("A lies in E's interval at each of {judged} sizes"),
        (0, judged) => format!("A lies outside E's interval at each of {judged} sizes"),
        (within, judged) => format!("A lies in E's interval at {within} of {judged} sizes"),
    };
    let (typical, worst) = (Share(h.typical), signed(h.worst));
    format!("{held}; E is off by {typical} typically, at most by {worst} ({})", Bytes(h.worst_size))
}

/// Estimate and measurement at some sizes, from the smallest to the largest.
fn by_size(p: &ScaledPath) -> Table {
    use Flush::{Left, Right};
    let all = p.actual.as_ref().map_or(&[][..], |a| &a.held.sizes);
    let last = all.len().saturating_sub(1);
    let mut chosen: Vec<usize> = (0..SHOWN).map(|i| i * last / (SHOWN - 1)).collect();
    chosen.dedup();
    let rows = chosen.iter().filter_map(|i| all.get(*i)).map(|s| {
        let within = match s.within {
            Some(true) => "in",
            Some(false) => "out",
            None => "-",
        };
        // One line a size: a figure and its interval side by side.
        let line = |e| estimate(e, Kind::Seconds).replace("\n(no interval)", "").replace('\n', " ");
        vec![Bytes(s.size).to_string(), line(s.estimated), line(s.measured), signed(s.off), within.to_owned()]
    });
    let rows = rows.collect();
    let head =
        sheet::head(&[("size", Right), ("E", Left), ("A", Left), ("E/A - 1", Right), ("A in E's interval", Left)]);
    Table { title: format!("{}, size by size", p.name), head, rows, ..Table::default() }
}

/// Bits a second of a message of this size that takes so long.
fn throughput(size: u64, seconds: Estimate) -> Estimate {
    let bits = size as f64 * 8.0;
    if !seconds.high.is_finite() {
        // Only the wire bounds it then, which is not an interval.
        return Estimate { value: bits / seconds.value, low: 0.0, high: f64::INFINITY };
    }
    let at = |s: f64| if s > 0.0 { bits / s } else { f64::INFINITY };
    Estimate { value: at(seconds.value), low: at(seconds.high), high: at(seconds.low) }
}

/// A difference as a share, with its sign.
fn signed(share: f64) -> String {
    format!("{}{}", if share < 0.0 { "" } else { "+" }, Share(share))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::CurvePoint;
    use model::scale::Wire;

    fn curve(rounds: u32, time: impl Fn(f64) -> f64) -> Vec<CurvePoint> {
        [1u64, 64, 1024, 16_384, 61_440]
            .map(|size| {
                let t = time(size as f64) * 1e-6;
                let middle = f64::from(rounds - 1) / 2.0;
                let rounds = (0..rounds).map(|b| (b, t * (1.0 + 0.001 * (f64::from(b) - middle)))).collect();
                CurvePoint::of(size, t, rounds)
            })
            .to_vec()
    }

    /// Emulated copy of `seeds/003`, with the framing that its two lines imply.
    fn path(rounds: u32) -> ScaledPath {
        let sizes = [1, 64, 1024, 16_384, 61_440];
        let wire = |rate| Wire::new(rate, 1.155, 0.0).unwrap();
        let target = Target::wire(wire(155e6), wire(513e6));
        let scaled = Scaled::of(&curve(rounds, |x| 0.0621 * x + 153.0), &target, &sizes, 1).unwrap();
        let there = curve(rounds, |x| 0.0212 * x + 139.0);
        let (line, held) = (LatencyLine::of(&there, 1), Agreement::of(&scaled, &there).unwrap());
        let actual = Some(Actual { name: "there".into(), line, held, left_out: 1 });
        ScaledPath {
            name: "emulated copy".into(),
            time: TimeKind::HalfRoundTrip,
            target,
            scaled,
            largest: 61_440,
            actual,
        }
    }

    #[test]
    fn the_papers_row_is_a_row_here() {
        let text = text(&[path(6)]);
        for word in ["20.5 ns/B", "153 us", "21.2 ns/B", "139 us", "348 Mbit/s", "341 Mbit/s", "155 Mbit/s", "-3.3%"] {
            assert!(text.contains(word), "{word}: {text}");
        }
        assert!(text.contains("A lies outside E's interval") || text.contains("of 5 sizes"), "{text}");
        assert!(text.contains("left out: 1."), "{text}");
        assert!(
            !text.contains("NaN") && crate::text::folded(&text, 80).lines().all(|l| l.chars().count() <= 80),
            "{text}"
        );
        let markdown = markdown(&[path(6)]);
        assert!(markdown.contains("### Estimated (E) and actual (A)") && markdown.contains("|---:|"), "{markdown}");
    }

    #[test]
    fn without_intervals_there_is_no_verdict() {
        let text = text(&[path(1)]);
        assert!(text.contains("not known") && !text.contains("NaN") && !text.contains("inf"), "{text}");
    }

    #[test]
    fn without_a_measurement_there_is_only_the_estimate() {
        let text = text(&[ScaledPath { actual: None, ..path(6) }]);
        assert!(!text.contains("E/A") && !text.contains("size by size"), "{text}");
    }
}
