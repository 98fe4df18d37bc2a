use super::*;
use crate::sample;

fn small() -> record::RunFile {
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
    for part in ["sender", "12.3 Gbit/s", "mean rate", "34013/s", "lost", "2.0%", "reordered", "1.5%", "p90", "longest"]
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
    assert!(text.starts_with("! tcp, 12 KiB: the blocks differ by 34%"), "{text}");
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
