use measure::event::FlowFigures;
use record::{Analysis, RunFile};

use super::*;
use crate::sample;

/// All points of a path.
fn points(run: &RunFile, path: usize) -> String {
    let mut out = Vec::new();
    super::points(run, path, true, &mut out).expect("memory takes all");
    String::from_utf8(out).expect("text")
}

fn summary(run: &RunFile) -> String {
    super::summary(&Analysis::of(run))
}

fn small() -> RunFile {
    sample::run_of(&sample::MODELS, &[1, 64, 1024, 12_288, 1 << 20], 5, 7)
}

#[test]
fn the_summary_names_time_kinds_and_keeps_to_eighty_columns() {
    let text = summary(&small());
    let head = text.lines().next().unwrap_or("");
    for title in ["path", "time", "latency", "max throughput", "at size", "half power"] {
        assert!(head.contains(title), "{title} is missing in {head:?}");
    }
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line:?}");
    }
    assert!(text.lines().any(|l| l.starts_with("memcpy  copy ")), "{text}");
    assert!(text.lines().any(|l| l.starts_with("tcp     RTT/2 ")), "{text}");
    assert!(!text.contains("NaN"));
    assert_eq!(summary(&sample::costly(small())), text, "what the paths cost stands elsewhere");
}

#[test]
fn what_stands_behind_the_figures_is_told_apart_from_them() {
    let mut run = sample::costly(small());
    run.paths[3].common.shared.moves = stats::Moves { rounds: 30, effective: 30.0, ..stats::Moves::default() };
    let behind = details(&Analysis::of(&run));
    let places: Vec<Option<usize>> =
        ["far side", "rounds", "on this machine", "CPU a transfer"].map(|w| behind.find(w)).to_vec();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?} of {behind}");
    let figures = summary(&run);
    assert!(state(&run).starts_with("tcp: 30 rounds"), "{}", state(&run));
    for line in state(&run).lines().chain(paths(&run).lines()) {
        assert!(!figures.contains(line), "{line} is no figure: {figures}");
    }
    run.run.plan.schedule = measure::event::Schedule::Soak;
    assert!(!details(&Analysis::of(&run)).contains("rounds"), "a soak has none");
}

#[test]
fn the_points_table_tells_every_figure() {
    let mut run = small();
    assert!(!points(&run, 3).contains("on this machine [95%]"), "a column of what is not known");
    let f = &mut run.paths[3].points[0].figures;
    (f.repeat_low, f.repeat_high) = (Some(f.median * 0.8), Some(f.median * 1.3));
    let text = points(&run, 3);
    assert!(text.starts_with("tcp: times are RTT/2\n"), "{text}");
    let row = text.lines().find(|l| l.trim_start().starts_with("12 KiB")).expect("a row");
    assert!(row.ends_with('!'), "the warned point is marked: {row:?}");
    for title in ["median [95%]", "on this machine [95%]", "p99.9", "rounds", "ended"] {
        assert!(text.contains(title), "{title} is missing");
    }
    assert!(!text.contains("lost"), "nothing was lost, so there is no such column");
    assert!(!points(&small(), 0).contains("p99"), "memcpy's iterations were not timed one by one");
    assert_eq!(points(&small(), 9), "The run has 4 paths; there is no path 9.\n");
}

#[test]
fn what_a_stream_and_datagrams_tell_has_columns_of_its_own() {
    let mut run = small();
    assert!(!points(&run, 3).contains("sender") && !points(&run, 3).contains("reordered"));
    let f = &mut run.paths[3].points[2].figures;
    (f.sender_throughput, f.loss, f.reordering) = (Some(12.3e9), 0.02, 0.015);
    f.transactions = Some(34_012.6);
    let text = points(&run, 3);
    for part in
        ["sender", "12.3 Gbit/s", "mean rate", "34,013/s", "lost", "2.0%", "reordered", "1.5%", "p90", "longest"]
    {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
}

#[test]
fn figures_that_are_missing_are_dashes() {
    let mut run = small();
    let f = &mut run.paths[3].points[0].figures;
    (f.min, f.repeat_high, f.high, f.throughput) = (f64::NAN, None, f64::INFINITY, f64::NAN);
    let text = points(&run, 3);
    assert!(!text.contains("NaN") && text.contains(" - "), "{text}");
    run.paths[3].points.clear();
    assert_eq!(points(&run, 3), "tcp: no points.\n");
    assert!(summary(&run).contains("tcp: too few points for these figures."), "{}", summary(&run));
}

#[test]
fn warnings_name_path_and_sizes_and_wrap() {
    let mut run = small();
    let text = warnings(&run);
    assert!(text.starts_with("! tcp, 12 KiB: the messages differ by 34%"), "{text}");
    assert!(text.lines().all(|l| l.chars().count() <= 100));
    run.cut = Some("the last line is not whole".to_owned());
    assert!(warnings(&run).starts_with("! The file ends short: the last line is not whole\n"));
    run.warnings.clear();
    run.cut = None;
    assert_eq!(warnings(&run), "");
}

#[test]
fn the_paths_table_tells_what_took_effect() {
    let text = paths(&small());
    assert!(text.contains("same process") && text.contains("another process"), "{text}");
    assert!(text.contains("send buffer"), "{text}");
    assert!(small().paths[3].opened.transport == transport::tcp::NAME && text.contains("congestion control cubic"));
}

/// Terminal and page show the columns of one table.
#[test]
fn every_column_that_people_see_is_in_the_terminal_and_in_the_page() {
    let mut run = sample::costly(small());
    let again = measure::Tcp { retransmits: 3, ..measure::Tcp::default() };
    run.paths[3].points[0].trials.plain().last_mut().unwrap().report.tcp = Some(again);
    let f = &mut run.paths[3].points[0].figures;
    (f.repeat_low, f.repeat_high) = (Some(f.median * 0.8), Some(f.median * 1.3));
    (f.sender_throughput, f.transactions, f.loss, f.reordering) = (Some(1e9), Some(1e4), 0.1, 0.2);
    (f.quality, f.quips) = (Some(9.0), Some(8e5));
    f.flows = Some(FlowFigures {
        count: 4,
        slowest: 1e9,
        fastest: 2e9,
        fairness: 0.9,
        together: 0.8,
        ..FlowFigures::default()
    });
    f.load = Some(measure::event::LoadFigures { there: Some(3e9), back: Some(2e9) });
    let ways = Box::new([*f, *f]);
    run.paths[3].points[0].ways = Some(ways);
    let load = measure::Load { flows: 4, direction: measure::LoadDirection::Both, size: 4096 };
    run.run.plan.paths[3].load = Some(load);
    let text = points(&run, 3);
    let page = crate::html::page(&[&Analysis::of(&run)]);
    for (column, shown) in record::columns::for_people() {
        // HINT's memory is of no run of messages.
        assert!(text.contains(shown.heading) || column.name == "memory_bytes", "{}:\n{text}", column.name);
        let head = format!("{{\"name\":\"{}\",\"unit\":", column.name);
        assert!(
            page.contains(&head) && page.contains(&format!("\"heading\":\"{}\"", shown.heading)),
            "{}",
            column.name
        );
        assert!(page.contains(&format!("\"{}\":\"", column.name)) || column.name == "memory_bytes", "{}", column.name);
    }
}

/// What `show` prints of models, dips and steps, and what the page says of them, are of one analysis.
#[test]
fn the_page_and_show_say_the_same_of_a_file() {
    let mut run = sample::run_of(&sample::MODELS[2..], &sample::sizes(), 12, 7);
    for point in run.paths[1].points.iter_mut().filter(|p| (20_000..60_000).contains(&p.size)) {
        let f = &mut point.figures;
        (f.median, f.low, f.high, f.throughput) = (3.0 * f.median, 3.0 * f.low, 3.0 * f.high, f.throughput / 3.0);
        point
            .trials
            .plain()
            .iter_mut()
            .for_each(|t| (t.report.median, t.report.seconds) = (3.0 * t.report.median, 3.0 * t.report.seconds));
    }
    let found = Analysis::of(&run);
    let page = crate::html::page(&[&found]).replace("µs", "us");
    let rows = fits(&found);
    for path in 0..run.paths.len() {
        let fit = found.fits(path).expect("models");
        let name = run.paths[path].opened.name();
        let figures = [
            fit.latency.all.as_ref().map(|l| (l.per_byte, units::Kind::SecondsPerByte)),
            fit.bandwidth.as_ref().map(|b| (b.r_max, units::Kind::BitsPerSecond)),
            fit.bandwidth.as_ref().map(|b| (b.n_half, units::Kind::Bytes)),
            fit.saturation.as_ref().map(|s| (s.point, units::Kind::Bytes)),
        ];
        for (e, kind) in figures.into_iter().flatten() {
            let value = units::resolved(e.value, e.low, e.high, kind);
            let value = value.split([' ', '[']).take(2).collect::<Vec<_>>().join(" ");
            let value = value.trim_end_matches(':').to_owned();
            assert!(rows.contains(&value) && page.contains(&value), "{name}: {value}\n{rows}");
        }
        let joined = rows.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(fit.warnings.iter().all(|w| joined.contains(w.as_str()) && page.contains(&crate::svg::xml::escape(w))));
        let marks = crate::overlay::marks(&found, path);
        assert_eq!(marks.len(), found.breaks(path).all().len());
        let said = breaks(&found).lines().filter(|l| l.starts_with(&format!("{name}: "))).count();
        assert_eq!(said, marks.len(), "{name}");
        let written = serde_json::to_string(&marks).expect("JSON");
        assert!(page.contains(&format!("\"marks\":{written}")), "{name}: {written}");
    }
    assert!((0..run.paths.len()).any(|path| !found.breaks(path).is_empty()), "the sample has a dip or a step");
}

#[test]
fn every_table_that_is_shown_keeps_to_eighty_columns() {
    let several = |flows: u32, topology: measure::Topology| {
        let mut run = sample::costly(small());
        for (path, plan) in run.paths.iter_mut().zip(&mut run.run.plan.paths).skip(1) {
            (plan.flows, plan.topology) = (flows, topology);
            path.opened.label = Some(format!("{}:{}={flows}", path.opened.transport, topology.name()));
            path.opened.far.as_mut().unwrap().hostname = "a-host-with-a-long-name.in.a.domain.example.org".to_owned();
            path.opened.near_effective.addresses =
                Some("/tmp/pipegauge-0123456789abcdef0123456789abcdef/meet".to_owned());
            for point in &mut path.points {
                point.time = measure::event::TimeKind::Spacing;
                let f = &mut point.figures;
                f.flows = Some(FlowFigures { fairness: 0.9, slowest: 1e9, fastest: 2e9, ..FlowFigures::default() });
            }
        }
        run
    };
    let runs = [
        sample::run(1),
        sample::costly(small()),
        sample::loaded(&[1, 2, 4], (0, 1)),
        sample::offered(&[(1e6, 0), (1.5e9, 250)]),
        several(4, measure::Topology::Flows),
        several(2, measure::Topology::Pairs),
        several(16, measure::Topology::FanIn),
    ];
    for run in &runs {
        let analysis = Analysis::of(run);
        let mut text = [
            super::paths(run),
            super::summary(&analysis),
            super::load(&analysis),
            super::rates(&analysis),
            super::fits(&analysis),
            super::breaks(&analysis),
            super::machine(&analysis),
            super::trust(run),
            super::details(&analysis),
        ]
        .concat();
        for path in 0..run.paths.len() {
            let mut out = Vec::new();
            super::points(run, path, false, &mut out).unwrap();
            text.push_str(&String::from_utf8(out).unwrap());
        }
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{}: {line:?}\n{text}", line.chars().count());
        }
    }
}

#[test]
fn what_a_closed_loop_hides_is_charged_by_a_pattern_that_has_a_schedule() {
    let remedy = |run: &record::RunFile| cautions(run).into_iter().find(|c| c.code == "closed-loop").map(|c| c.remedy);
    let mut run = sample::run(1);
    assert_eq!(remedy(&run), Some("--rate N charges the wait"));
    run.run.plan.pattern = measure::Pattern::Burst;
    assert_eq!(remedy(&run), Some("--pattern ping-pong --rate N charges the wait"));
    run.run.plan.paths[1].flows = 2;
    assert_eq!(remedy(&run), Some("--pattern ping-pong --rate N, of one connection, charges the wait"));
    run.run.plan.pattern = measure::Pattern::Cast;
    assert_eq!(remedy(&run), Some(""), "casts have no schedule");
    run.run.plan.pattern = measure::Pattern::PingPong;
    run.paths.iter_mut().for_each(|path| path.opened.capabilities.reliable = false);
    assert_eq!(remedy(&run), Some(""), "paths that may lose messages have no schedule");
}

#[test]
fn rates_of_both_directions_stand_on_one_basis() {
    let mut run = sample::offered(&[(1e8, 0), (4e8, 250)]);
    run.run.plan.both = true;
    for path in &mut run.paths {
        path.points.iter_mut().for_each(|p| p.figures.sender_throughput = None);
    }
    let analysis = Analysis::of(&run);
    let offered: Vec<f64> = analysis.over_rates()[0].rows.iter().map(|row| row.offered).collect();
    assert_eq!(offered, [2e8, 8e8], "what arrives is of both directions, and so is what is offered");
    let text = rates(&analysis);
    assert!(!text.contains("sent  ") && text.contains("200 Mbit/s"), "{text}");
    assert!(
        text.split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .contains("both directions together (--both), each of which")
    );
}

#[test]
fn one_rate_of_one_size_is_told_as_several_are_and_one_over_sizes_is_not() {
    let one_size = |lost| {
        let mut run = sample::offered(&[(1e8, lost)]);
        run.run.plan.sizes = Some(vec![1448]);
        run
    };
    let run = one_size(0);
    let text = rates(&Analysis::of(&run));
    assert!(text.starts_with("Loss at the offered rate: tcp, messages of "), "{text}");
    assert!(text.contains("100 Mbit/s") && text.contains("No message was lost at this rate (0 of "), "{text}");
    let lossy = one_size(250);
    let text = rates(&Analysis::of(&lossy));
    assert!(text.contains("No rate without loss is known. At 100 Mbit/s"), "{text}");
    let mut more = run;
    let mut point = more.paths[0].points[0].clone();
    point.size *= 2;
    more.paths[0].points.push(point);
    assert!(!more.has_rates() && rates(&Analysis::of(&more)).is_empty(), "a curve over sizes is shown as one");
}

#[test]
fn tables_of_long_names_keep_to_eighty_columns() {
    for paths in [1, 3, 12] {
        let mut run = sample::costly(sample::crowd(paths));
        run.paths
            .iter_mut()
            .for_each(|path| path.opened.label = path.opened.label.as_ref().map(|l| format!("{l},mss=1448")));
        let run = Analysis::of(&run);
        for text in [
            summary(&run),
            cpu(&run),
            fits(&run),
            machine(&run),
            grouped(&run, WIDTH, "(whole: --warnings)"),
            trust(&run),
            details(&run),
            warnings(&run),
        ] {
            for line in text.lines() {
                assert!(line.chars().count() <= WIDTH, "{} columns: {line}", line.chars().count());
            }
        }
    }
}
