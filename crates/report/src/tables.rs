//! The papers' tables, for any paths: start-up cost and cost by the byte (`seeds/000`, table 1; `seeds/003`, table 1), the bandwidth curve
//! (`seeds/000`, tables 2 and 3), and the highest throughput beside its settings (`seeds/001`, table 1).

mod grid;

pub use grid::{Cell, Setting, SettingsGrid, grids};

use measure::Pattern;
use measure::event::TimeKind;
use model::{BandwidthCurve, Estimate, Fits, LatencyLine, Summary};
use record::{Analysis, PathRun};
use transport::settings::Effective;
use units::{Bytes, Kind};

use crate::misfit::misfit;
use crate::sheet::{self, Table};
use crate::table::{Flush, estimate, start_time};
use crate::words::time_label;

/// A path, as a layer of the tables.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
pub struct Layer {
    /// Its transport, with its run file's name where the same transport comes twice with one pattern.
    pub name: String,
    /// Its transport.
    pub transport: &'static str,
    /// How it was measured.
    pub pattern: Pattern,
    /// Which time its figures are.
    pub time: TimeKind,
    /// What took effect on the near side's connections.
    pub settings: Effective,
    /// Its socket buffer.
    pub buffer: Setting,
    /// Its segment size.
    pub segment: Setting,
    /// Its figures: the actual start-up cost is `latency`, the empirical half-power point `half_power`.
    pub summary: Summary,
    /// The lines and the bandwidth curve.
    pub fits: Fits,
    /// Its throughput is what the path carries: sends followed no schedule (`--rate`), and messages had sizes.
    #[serde(skip)]
    pub carries: bool,
}

/// The paths of named runs that have figures, in their order.
pub fn layers(runs: &[(String, Analysis<'_>)]) -> Vec<Layer> {
    let mut all: Vec<(Layer, &str)> = Vec::new();
    for (file, run) in runs {
        // Flows that share the path don't show the costs of a single transfer.
        let alone = |path: &&PathRun| run.run.plan.alone(path.opened.path);
        for (i, path) in run.paths.iter().enumerate().filter(|(_, path)| alone(path)) {
            let (Some(first), Some(summary), Some(fits)) = (path.points.first(), run.summary(i), run.fits(i)) else {
                continue;
            };
            let (asked, effective) = (run.run.plan.settings(path.opened.path), &path.opened.near_effective);
            let segment = effective.mss.map(u64::from);
            let layer = Layer {
                name: format!("{}{}", path.opened.name(), if run.run.plan.reverse { " reversed" } else { "" }),
                transport: path.opened.transport.as_str(),
                // A setting applies only to the paths that have it.
                buffer: Setting {
                    asked: asked.whole("sockbuf").filter(|_| effective.send_buffer.is_some()),
                    effective: effective.send_buffer,
                },
                segment: Setting { asked: asked.whole("mss").filter(|_| segment.is_some()), effective: segment },
                pattern: run.run.plan.pattern,
                time: first.time,
                settings: effective.clone(),
                summary: summary.clone(),
                fits: fits.clone(),
                carries: run.carries(),
            };
            all.push((layer, file));
        }
    }
    let same = |a: &Layer, b: &Layer| (&a.name, a.pattern) == (&b.name, b.pattern);
    let twice: Vec<bool> = all.iter().map(|(a, _)| all.iter().filter(|(b, _)| same(a, b)).count() > 1).collect();
    (all.into_iter().zip(twice))
        .map(|((layer, file), twice)| match twice {
            true => Layer { name: format!("{} ({file})", layer.name), ..layer },
            false => layer,
        })
        .collect()
}

/// What stands below all tables.
const HOW_TO_READ: &str = "In brackets: 95% intervals. ! marks a model of the wrong shape for the path.";

/// The tables as text.
pub fn text(layers: &[Layer]) -> String {
    sheet::text(tables(layers), HOW_TO_READ)
}

/// The tables as Markdown.
pub fn markdown(layers: &[Layer]) -> String {
    sheet::markdown(tables(layers), HOW_TO_READ)
}

fn tables(layers: &[Layer]) -> Vec<Table> {
    let of = |pattern: Pattern| layers.iter().filter(|l| l.pattern == pattern).collect::<Vec<&Layer>>();
    let mut all = Vec::new();
    for pattern in Pattern::ALL {
        let what = pattern.facts().startup;
        all.extend(what.map(|what| startup(what, &of(*pattern))).into_iter().flatten());
    }
    // Patterns without a start-up cost have only the table of the curve.
    let mut curves = Pattern::ALL.to_vec();
    curves.sort_by_key(|pattern| pattern.facts().startup.is_some());
    for pattern in curves {
        let what = pattern.facts().bandwidth;
        let title = |what| format!("Bandwidth curve y = Rmax x / (N(0.5) + x): least squares of {what}");
        all.extend(what.and_then(|what| bandwidth(title(what), &of(pattern))));
    }
    all.extend(Pattern::ALL.iter().filter_map(|pattern| tuned(*pattern, &of(*pattern))));
    all.extend(grids(layers).iter().map(SettingsGrid::table));
    all
}

/// `seeds/000`, table 1: a table over all sizes, and one of small ones.
fn startup(what: &str, layers: &[&Layer]) -> Vec<Table> {
    use Flush::{Left, Right};
    let of = |which: &str, line: fn(&Fits) -> Option<&LatencyLine>| {
        let row = |layer: &&Layer| {
            let line = line(&layer.fits);
            let s = &layer.summary;
            // The smallest message of several bytes is not the start-up cost itself: its size is shown, too.
            let size = if s.latency_size > 1 { format!(" ({})", Bytes(s.latency_size)) } else { String::new() };
            let actual = estimate(s.latency, Kind::Seconds).replacen('\n', &format!("{size}\n"), 1);
            vec![
                layer.name.clone(),
                time_label(layer.time).to_owned(),
                line.map_or("-".into(), |l| estimate(l.per_byte, Kind::SecondsPerByte)),
                line.map_or("-".into(), |l| start_time(l.t0)),
                actual,
                line.map_or("-".into(), |l| misfit(&l.misfit)),
            ]
        };
        let head = sheet::head(&[
            ("layer", Left),
            ("time", Left),
            ("per byte", Right),
            ("t0", Right),
            ("measured t0", Right),
            ("misfit", Right),
        ]);
        let title = format!("Start-up and per-byte cost, {which}: least squares of {what}");
        Table { title, head, rows: layers.iter().map(row).collect(), ..Table::default() }
    };
    match layers {
        [] => vec![],
        _ => vec![of("all sizes", |f| f.latency.all.as_ref()), of("below 1 KiB", |f| f.latency.small.as_ref())],
    }
}

/// `seeds/000`, tables 2 and 3, with the half-power point that was measured beside the curve's.
fn bandwidth(title: String, layers: &[&Layer]) -> Option<Table> {
    use Flush::{Left, Right};
    let or_none = |e: Option<Estimate>, kind| e.map_or("-".to_owned(), |e| estimate(e, kind));
    let mut notes = Vec::new();
    let rows: Vec<Vec<String>> = layers
        .iter()
        .map(|layer| {
            let curve: Option<&BandwidthCurve> = layer.fits.bandwidth.as_ref();
            if curve.is_some_and(|c| c.n_half.value > layer.summary.max_size as f64) {
                notes.push(format!("{}: N(0.5) lies beyond the fastest size: Rmax is extrapolated.", layer.name));
            }
            vec![
                layer.name.clone(),
                or_none(curve.map(|c| c.r_max), Kind::BitsPerSecond),
                or_none(curve.map(|c| c.n_half), Kind::Bytes),
                carried(layer, or_none(layer.summary.half_power, Kind::Bytes)),
                curve.map_or("-".into(), |c| misfit(&c.misfit)),
            ]
        })
        .collect();
    let head = sheet::head(&[
        ("layer", Left),
        ("Rmax", Right),
        ("N(0.5)", Right),
        ("measured N(0.5)", Right),
        ("misfit", Right),
    ]);
    (!rows.is_empty()).then_some(Table { title, head, rows, notes, ..Table::default() })
}

/// A figure of throughput; none where sends followed a schedule.
fn carried(layer: &Layer, cell: String) -> String {
    if layer.carries { cell } else { "-".to_owned() }
}

/// `seeds/001`, table 1: settings and the highest throughput with them, of the layers of one pattern.
fn tuned(pattern: Pattern, layers: &[&Layer]) -> Option<Table> {
    use Flush::{Left, Right};
    let bytes = |n: Option<u64>| n.map_or(String::new(), |n| Bytes(n).to_string());
    let any = layers.iter().any(|l| l.carries);
    let rows: Vec<Vec<String>> = layers
        .iter()
        .map(|l| {
            let most =
                || [estimate(l.summary.max_throughput, Kind::BitsPerSecond), Bytes(l.summary.max_size).to_string()];
            let mut row = vec![l.name.clone(), bytes(l.settings.send_buffer), bytes(l.settings.mss.map(u64::from))];
            row.extend(any.then(most).into_iter().flatten().map(|cell| carried(l, cell)));
            row.extend([estimate(l.summary.latency, Kind::Seconds), time_label(l.time).to_owned()]);
            row
        })
        .collect();
    let mut titles = vec![("layer", Left), ("buffer", Right), ("segment", Right)];
    titles.extend([("max throughput", Right), ("at size", Right)].into_iter().filter(|_| any));
    titles.extend([("latency", Right), ("time", Left)]);
    let what = if any { "Highest throughput and latency" } else { "Latency" };
    let title = format!("{what}: {}", pattern.name());
    (!rows.is_empty()).then(|| Table { title, head: sheet::head(&titles), rows, ..Table::default() })
}

#[cfg(test)]
mod tests {
    use record::RunFile;

    use super::*;
    use crate::sample;

    fn layers(runs: &[(String, RunFile)]) -> Vec<Layer> {
        super::layers(&runs.iter().map(|(name, run)| (name.clone(), Analysis::of(run))).collect::<Vec<_>>())
    }

    const SIZES: [u64; 8] = [1, 16, 64, 256, 1024, 12_288, 1 << 17, 1 << 20];

    fn run(pattern: Pattern) -> RunFile {
        let mut run = sample::run_of(&sample::MODELS, &SIZES, 5, 7);
        run.run.plan.pattern = pattern;
        run
    }

    #[test]
    fn each_pattern_has_the_tables_that_it_tells_of() {
        let named = |p: Pattern| ("a".to_owned(), run(p));
        let titles = |p| tables(&layers(&[named(p)])).iter().map(|t| t.title.clone()).collect::<Vec<_>>();
        let of = |p| titles(p).join(";");
        assert!(
            of(Pattern::PingPong).contains("below 1 KiB: least squares of round trips;Bandwidth"),
            "{}",
            of(Pattern::PingPong)
        );
        assert!(of(Pattern::Burst).starts_with("Bandwidth curve") && of(Pattern::Burst).contains("bursts"));
        assert!(of(Pattern::Stream).contains("streams") && !of(Pattern::Stream).contains("Start-up"));
        assert!(of(Pattern::Request).contains("requests") && !of(Pattern::Request).contains("Bandwidth"));
        assert!(layers(&[]).is_empty() && tables(&[]).is_empty());
    }

    #[test]
    fn the_rows_are_the_fits_of_every_path() {
        let runs = [("a".to_owned(), run(Pattern::PingPong)), ("b".to_owned(), run(Pattern::Burst))];
        let all = layers(&runs);
        assert_eq!(all.iter().map(|l| l.name.as_str()).collect::<Vec<_>>(), ["memcpy", "shm", "unix", "tcp"].repeat(2));
        let found = tables(&all);
        assert_eq!((found[0].rows.len(), found[1].rows.len()), (4, 4), "all sizes, and small ones");
        let fits = Analysis::of(&runs[0].1).fits(3).cloned().expect("fits");
        let line = fits.latency.all.expect("a line");
        assert_eq!(found[0].rows[3][3], start_time(line.t0));
        // The table of bursts comes before that of round trips.
        assert_eq!(found[3].rows[3][1], estimate(fits.bandwidth.expect("a curve").r_max, Kind::BitsPerSecond));
        let text = text(&all);
        // As a terminal of 80 columns shows it: titles are prose.
        let shown = crate::text::folded(&text, 80);
        assert!(!text.contains("NaN") && shown.lines().all(|l| l.chars().count() <= 80), "{shown}");
        let markdown = markdown(&all);
        assert!(markdown.contains("| tcp | RTT/2 |") && markdown.contains("|---:|"), "{markdown}");
    }

    /// A run of tcp alone with these settings, `None` the system's.
    fn set(sockbuf: Option<u64>, mss: Option<u32>) -> (String, RunFile) {
        let mut run = sample::run_of(&sample::MODELS[3..], &SIZES, 5, 7);
        let settings = &mut run.run.plan.paths[0].settings;
        sockbuf.into_iter().for_each(|bytes| settings.set("sockbuf", bytes));
        mss.into_iter().for_each(|bytes| settings.set("mss", u64::from(bytes)));
        let effective = &mut run.paths[0].opened.near_effective;
        effective.send_buffer = Some(sockbuf.map_or(4 << 20, |b| 2 * b));
        effective.mss = Some(mss.map_or(32_768, |m| m - 12));
        ("a".to_owned(), run)
    }

    #[test]
    fn settings_that_differ_in_both_are_a_grid_with_a_gap_where_nothing_was_measured() {
        let (small, large) = (Some(64 << 10), Some(128 << 10));
        let runs = [set(large, Some(1448)), set(small, Some(1448)), set(small, Some(8948)), set(None, Some(8948))];
        let grid = &grids(&layers(&runs))[0];
        assert_eq!((grid.transport, grid.cells.len()), ("tcp", 4));
        let table = grid.table();
        let titles: Vec<&str> = table.head.iter().map(|h| h.0.as_str()).collect();
        let buffers =
            ["buffer 64 KiB", "latency", "buffer 128 KiB", "latency", "buffer the system's (4 MiB)", "latency"];
        assert_eq!(titles[1..], buffers);
        assert_eq!(table.rows.iter().map(|r| r[0].as_str()).collect::<Vec<_>>(), ["1,448 B", "8,948 B"]);
        let dashes = |row: usize| (1..7).filter(|c| table.rows[row][*c] == "-").collect::<Vec<_>>();
        assert_eq!((dashes(0), dashes(1)), (vec![5, 6], vec![3, 4]));
        let summary = Analysis::of(&runs[1].1).summary(0).cloned().unwrap();
        assert_eq!(table.rows[0][1], estimate(summary.max_throughput, Kind::BitsPerSecond));
        assert_eq!(table.rows[0][2], estimate(summary.latency, Kind::Seconds));
        let text = text(&layers(&runs));
        assert!(text.contains("socket buffers across") && table.notes.is_empty());
        // Three buffers are wider than a terminal: all of them stay, each beside its latency.
        let shown = crate::text::folded(&text, 80);
        assert!(shown.lines().all(|l| l.chars().count() <= 80), "{shown}");
        let heads: Vec<&str> = shown.lines().filter(|l| l.starts_with("segment ")).collect();
        assert!(heads.len() == 2 && heads.iter().all(|l| l.matches("buffer").count() == l.matches("latency").count()));
        assert_eq!(heads.iter().map(|l| l.matches("buffer").count()).sum::<usize>(), 3, "{shown}");
    }

    #[test]
    fn a_grid_needs_both_to_differ_and_says_what_it_leaves_out() {
        let small = Some(64 << 10);
        assert!(grids(&layers(&[set(small, Some(1448)), set(small, Some(8948))])).is_empty());
        assert!(grids(&layers(&[("a".to_owned(), run(Pattern::PingPong))])).is_empty());
        let twice = [set(small, Some(1448)), set(small, Some(1448)), set(None, None)];
        let found = grids(&layers(&twice));
        assert_eq!(found[0].cells[0].runs, 2);
        assert!(found[0].table().notes[0].ends_with("left out: 1."), "{:?}", found[0].table().notes);
    }

    #[test]
    fn a_run_on_a_schedule_has_no_throughput_in_a_table() {
        let mut scheduled = run(Pattern::PingPong);
        scheduled.run.plan.rate = Some(1e4);
        let text = text(&layers(&[("a".to_owned(), scheduled)]));
        assert!(!text.contains("bit/s") && text.contains("latency"), "{text}");
        assert!(!text.contains("throughput"), "a column without a figure: {text}");
    }

    #[test]
    fn one_transport_of_two_runs_bears_their_names() {
        let twice = [("a".to_owned(), run(Pattern::Stream)), ("b".to_owned(), run(Pattern::Stream))];
        let all = layers(&twice);
        assert!(all.iter().any(|l| l.name == "tcp (a)") && all.iter().any(|l| l.name == "tcp (b)"));
    }
}
