//! NetPIPE's own files, for its plotting scripts and for comparison with old results.

use std::io::{BufWriter, Write};

use measure::event::TimeKind;
use measure::figures;
use measure::pattern::NetPipe;

use super::{ExportError, path_of};
use crate::{PathRun, Point, RunFile};

/// Writes one path as NetPIPE 3.7 writes `np.out`: `"%8d %lf %12.8lf\n"` of bytes, Mbps and seconds. The seconds are the
/// shortest trial's, one way; its Mbps is bits / (seconds * 1024^2), not 10^6; in bidirectional mode bytes are counted in
/// both directions. Round-trip and transaction times have no place in it.
pub fn np(run: &RunFile, path: usize, out: &mut dyn Write) -> Result<(), ExportError> {
    let path = path_of(run, path)?;
    let mut out = BufWriter::new(out);
    for point in usable(path) {
        one_way(run, point, "NetPIPE 3.7's np.out")?;
        let bytes = u128::from(point.size) * u128::from(mode(run).map_or(1, |mode| mode.counts));
        let seconds = point.figures.min;
        let mbps = bytes as f64 * 8.0 / (seconds * 1024.0 * 1024.0);
        writeln!(out, "{bytes:8} {mbps:.6} {seconds:12.8}")?;
    }
    Ok(out.flush()?)
}

/// Writes one path as NetPIPE 5 does: `"%9d %9.3lf %9.3lf %9.3lf %7.2lf\n"` of bytes, average, smallest and largest Gbps
/// (10^9 bits a second) and average microseconds, over the trials that count.
pub fn np5(run: &RunFile, path: usize, out: &mut dyn Write) -> Result<(), ExportError> {
    const FORM: &str = "NetPIPE 5's output";
    let path = path_of(run, path)?;
    let mut out = BufWriter::new(out);
    for point in usable(path) {
        one_way(run, point, FORM)?;
        if mode(run).is_some_and(|mode| !mode.in_five) {
            let (pattern, time) = (run.run.plan.pattern, point.time);
            let why = "what its bytes count there is not documented";
            return Err(ExportError::NoPlace { form: FORM, pattern, time, why });
        }
        let (shortest, longest) = spread(run, path, point);
        let gbps = |seconds: f64| point.size as f64 * 8.0 / seconds / 1e9;
        let mean = point.figures.mean;
        let (bytes, average, low, high) = (point.size, gbps(mean), gbps(longest), gbps(shortest));
        writeln!(out, "{bytes:9} {average:9.3} {low:9.3} {high:9.3} {:7.2}", mean * 1e6)?;
    }
    Ok(out.flush()?)
}

/// Points with a time to divide by: all, unless a file was edited by hand.
fn usable(path: &PathRun) -> impl Iterator<Item = &Point> {
    path.points.iter().filter(|p| p.figures.min > 0.0 && p.figures.mean > 0.0)
}

/// The mode of NetPIPE that measures as the run did; bursts have none, and are written as the time of a message one way.
fn mode(run: &RunFile) -> Option<NetPipe> {
    run.run.plan.pattern.facts().netpipe
}

fn one_way(run: &RunFile, point: &Point, form: &'static str) -> Result<(), ExportError> {
    match point.time {
        TimeKind::HalfRoundTrip | TimeKind::OneWay | TimeKind::Copy | TimeKind::Exchange => Ok(()),
        // All others, those that may come among them.
        _ => Err(ExportError::NoPlace {
            form,
            pattern: run.run.plan.pattern,
            time: point.time,
            why: "its times are one way",
        }),
    }
}

/// Shortest and longest trial of those that count, seconds of the point's kind.
fn spread(run: &RunFile, path: &PathRun, point: &Point) -> (f64, f64) {
    let counts = point.trials.iter().any(|t| !t.warmup);
    point
        .trials
        .iter()
        .filter(|t| !counts || !t.warmup)
        .filter_map(|t| figures::figures(&run.run.plan, path.opened.transport, &[&*t], &figures::Common::default()))
        .map(|f| f.mean)
        .fold((point.figures.mean, point.figures.mean), |(low, high), t| (low.min(t), high.max(t)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fold, sample};
    use measure::event::{Figures, PointEnded, Why};
    use measure::{Event, Pattern};
    use std::process::Command;

    /// A run with points of these sizes and shortest times and nothing else.
    fn run(pattern: Pattern, time: TimeKind, points: &[(u64, f64)]) -> RunFile {
        let mut fold = Fold::new();
        fold.event(&Event::Run(sample::run(pattern)));
        fold.event(&Event::Path(sample::opened(0, transport::tcp::NAME)));
        for &(size, min) in points {
            let figures = Figures { min, mean: min * 1.25, median: min * 1.2, ..Figures::default() };
            fold.event(&Event::Point(PointEnded { path: 0, size, time, figures, why: Why::Trials }));
        }
        fold.finish().unwrap()
    }

    fn written(run: &RunFile, with: fn(&RunFile, usize, &mut dyn Write) -> Result<(), ExportError>) -> String {
        let mut out = Vec::new();
        with(run, 0, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// printf(1) computes with long doubles, so it is handed every digit of the double, as C's printf would see it.
    fn exact(x: f64) -> String {
        format!("{x:.1074}")
    }

    const POINTS: [(u64, f64); 12] = [
        (1, 9.2234e-6),
        (2, 3.5e-7),
        (3, 1.0 / 3.0),
        (7, 5e-9),
        (8, 1.5e-8),
        (19, 0.000_009_185),
        // Mbps is exactly 1/128: the seventh decimal is a 5 with nothing behind it, and C rounds that to even.
        (1 << 10, 1.0),
        (4096, 1.0 / 512.0),
        (98_307, 2.5e-5),
        (8_388_611, 0.001_234_567_89),
        (123_456_789, 1.25),
        (1 << 33, 12_345.678_912_345),
    ];

    #[test]
    fn np_is_byte_for_byte_what_printf_prints() {
        if Command::new("/usr/bin/printf").arg("x").output().is_err() {
            println!("skipped: no printf(1) here");
            return;
        }
        let text = written(&run(Pattern::PingPong, TimeKind::HalfRoundTrip, &POINTS), np);
        for (line, (bytes, t)) in text.split_inclusive('\n').zip(POINTS) {
            let mbps = (bytes * 8) as f64 / (t * 1024.0 * 1024.0);
            let args = ["%8d %f %12.8f\\n", &bytes.to_string(), &exact(mbps), &exact(t)];
            let c = Command::new("/usr/bin/printf").args(args).env("LC_ALL", "C").output().unwrap();
            assert_eq!(line.as_bytes(), c.stdout, "{bytes} bytes in {t} s: {line}");
        }
        assert_eq!(text.lines().count(), POINTS.len());
    }

    #[test]
    fn np5_is_byte_for_byte_what_printf_prints() {
        if Command::new("/usr/bin/printf").arg("x").output().is_err() {
            println!("skipped: no printf(1) here");
            return;
        }
        let text = written(&run(Pattern::Stream, TimeKind::OneWay, &POINTS), np5);
        for (line, (bytes, t)) in text.split_inclusive('\n').zip(POINTS) {
            let mean = t * 1.25;
            let gbps = exact(bytes as f64 * 8.0 / mean / 1e9);
            let args = ["%9d %9.3f %9.3f %9.3f %7.2f\\n", &bytes.to_string(), &gbps, &gbps, &gbps, &exact(mean * 1e6)];
            let c = Command::new("/usr/bin/printf").args(args).env("LC_ALL", "C").output().unwrap();
            assert_eq!(line.as_bytes(), c.stdout, "{bytes} bytes in {mean} s: {line}");
        }
    }

    #[test]
    fn np_of_a_known_point_reads_as_netpipe_wrote_it() {
        // Printed by C: printf("%8d %lf %12.8lf\n", 1, 8 / (9.22e-6 * 1024 * 1024), 9.22e-6), and likewise.
        let text = written(&run(Pattern::PingPong, TimeKind::HalfRoundTrip, &[(1, 9.22e-6), (98_304, 2.0e-5)]), np);
        assert_eq!(text, "       1 0.827483   0.00000922\n   98304 37500.000000   0.00002000\n");
    }

    #[test]
    fn bidirectional_counts_the_bytes_of_both_directions() {
        let text = written(&run(Pattern::Bidirectional, TimeKind::Exchange, &[(98_304, 2.0e-5)]), np);
        assert_eq!(text, "  196608 75000.000000   0.00002000\n");
    }

    #[test]
    fn np5_spreads_over_the_trials_that_count() {
        let file = sample::file();
        let text = written(&file, np5);
        assert_eq!(text.lines().count(), 4);
        for line in text.lines() {
            let v: Vec<f64> = line.split_whitespace().map(|w| w.parse().unwrap()).collect();
            assert!(v[2] <= v[1] && v[1] <= v[3], "{line}");
        }
        let last: Vec<f64> = text.lines().last().unwrap().split_whitespace().map(|w| w.parse().unwrap()).collect();
        assert!(last[2] < last[3], "trials differ, so must the rates: {text}");
    }

    #[test]
    fn what_has_no_place_is_refused_by_name() {
        for (pattern, time) in [(Pattern::Request, TimeKind::RoundTrip), (Pattern::Connect, TimeKind::Transaction)] {
            let said = np(&run(pattern, time, &[(1, 1e-5)]), 0, &mut Vec::new()).unwrap_err().to_string();
            assert!(said.contains("one way") && said.contains("csv"), "{said}");
        }
        let run = run(Pattern::PingPong, TimeKind::HalfRoundTrip, &[(1, 1e-5)]);
        let said = np(&run, 3, &mut Vec::new()).unwrap_err().to_string();
        assert!(said.contains("no path 3") && said.contains("0 to 0"), "{said}");
    }
}
