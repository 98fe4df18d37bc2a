use proptest::prelude::*;

use super::*;
use crate::{Fold, RunFile, export};

/// As NetPIPE 3.7 wrote it, shortened.
const THREE: &str = "       1 0.827483   0.00000922
       2 1.652905   0.00000923
       3 2.478847   0.00000923
      19 15.706677   0.00000923
    1536 1199.339883   0.00000977
   98304 37500.000000   0.00002000
 8388611 30113.141567   0.00212532
";

/// As 5.x writes it.
const FIVE: &str = "        1     0.001     0.001     0.001    9.22
      128     0.111     0.107     0.113    9.23
    98307    39.987    37.515    54.549   19.67
  8388611    31.250    30.100    32.010 2147.48
";

const TWO: &str = "0.000009\t0.827483\t8\t1\t0.000000\n0.000020\t37500.000000\t786432\t98304\t0.000001\n";

fn fold(events: &[Event]) -> RunFile {
    let mut fold = Fold::new();
    events.iter().for_each(|e| fold.event(e));
    fold.run().unwrap().clone()
}

fn line_of(text: &str) -> (usize, String) {
    match np(text) {
        Err(ImportError::Line { line, what, .. }) => (line, what),
        other => panic!("'{text}' gave {other:?}"),
    }
}

#[test]
fn a_3_7_file_comes_out_of_the_export_byte_for_byte() {
    for pattern in [Pattern::PingPong, Pattern::Stream] {
        let events = np_from(THREE, &Source { pattern: Some(pattern), ..Source::default() }).unwrap();
        let mut out = Vec::new();
        export::np(&fold(&events), 0, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), THREE);
    }
    let even = THREE.lines().filter(|l| l.starts_with("   98304")).map(|l| format!("{l}\n")).collect::<String>();
    let events = np_from(&even, &Source { pattern: Some(Pattern::Bidirectional), ..Source::default() }).unwrap();
    let file = fold(&events);
    assert_eq!(file.paths[0].points[0].size, 49_152, "bytes are doubled in that mode");
    let mut out = Vec::new();
    export::np(&file, 0, &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), even);
}

/// Written by Debian's NetPIPE 3.7.2 (`NPtcp -u 200000`) over loopback.
#[test]
fn a_real_file_comes_out_of_the_export_byte_for_byte() {
    let real = include_str!("../../../testdata/netpipe-3.7.2-tcp.out");
    let mut out = Vec::new();
    export::np(&fold(&np(real).unwrap()), 0, &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), real);
    assert_eq!(real.lines().count(), 91);
}

#[test]
fn the_column_with_more_digits_gives_the_time() {
    let file = fold(&np("1 21.822587 0.00000035\n").unwrap());
    let t = file.paths[0].points[0].figures.min;
    assert!((t - 8.0 / (21.822587 * 1048576.0)).abs() < 1e-20, "{t}");
    let zero = fold(&np("1 3814.697266   0.00000000\n").unwrap());
    assert!((zero.paths[0].points[0].figures.min - 2e-9).abs() < 1e-14);
    let slow = fold(&np("1 0.000001 7.62939453\n").unwrap());
    assert_eq!(slow.paths[0].points[0].figures.min, 7.62939453);
}

#[test]
fn a_5_file_gives_averages_and_its_shortest_where_known() {
    let file = fold(&np(FIVE).unwrap());
    let points = &file.paths[0].points;
    assert_eq!(points.iter().map(|p| p.size).collect::<Vec<_>>(), [1, 128, 98_307, 8_388_611]);
    assert_eq!(points[0].figures.median, 9.22e-6, "0.001 Gbps knows nothing better");
    assert_eq!(points[0].figures.min, 9.22e-6);
    let f = &points[2].figures;
    assert!((f.median - 98_307.0 * 8.0 / 39.987e9).abs() < 1e-15 && (f.min - 98_307.0 * 8.0 / 54.549e9).abs() < 1e-15);
    assert_eq!(points[2].trials.len(), 1);
    assert_eq!(points[2].trials.all()[0].report.repeats, 1);
    assert_eq!(points[2].why, Some(Why::Trials));
    assert!(file.warnings[0].text.contains("NetPIPE 5.x") && file.warnings[0].text.contains("average"));
    assert!(!file.warnings[0].text.contains("rates are not"));
    let doubled = fold(&np("    98307    79.974    75.030   109.098   19.67\n").unwrap());
    assert!(doubled.warnings[0].text.contains("rates are not"), "{:?}", doubled.warnings);
    assert_eq!(doubled.paths[0].points[0].figures.median, 19.67e-6);
}

#[test]
fn a_2_file_is_told_from_a_5_file_by_its_bits() {
    let file = fold(&np(TWO).unwrap());
    assert!(file.warnings[0].text.contains("NetPIPE 2.x"), "{:?}", file.warnings);
    assert_eq!(file.paths[0].points.iter().map(|p| p.size).collect::<Vec<_>>(), [1, 98_304]);
    let (line, what) = line_of("1 2 9 2 5\n");
    assert!(line == 1 && what.contains("neither") && what.contains("8 x column 4"), "{what}");
    let (line, what) = line_of(&format!("{FIVE}{TWO}"));
    assert!(line == 5 && what.contains("2.x's") && what.contains("5.x's"), "{what}");
}

#[test]
fn says_what_the_file_cannot_tell() {
    let events = np(THREE).unwrap();
    let Event::Run(run) = &events[0] else { panic!("no header first") };
    assert_eq!(run.command, ["import"]);
    assert_eq!(run.plan.sizes.as_ref().unwrap().len(), 7);
    let file = fold(&events);
    let text = &file.warnings[0].text;
    assert!(text.contains("which transport") && text.contains("mode") && text.contains("shortest"), "{text}");
    let source = Source {
        transport: Some(transport::unix::NAME),
        pattern: Some(Pattern::PingPong),
        name: Some("np.out".into()),
        started: Some("2020-02-02T02:02:02Z".into()),
    };
    let file = fold(&np_from(THREE, &source).unwrap());
    assert_eq!(file.paths[0].opened.transport, transport::unix::NAME);
    assert_eq!(file.run.command, ["import", "np.out"]);
    assert_eq!(file.run.started, "2020-02-02T02:02:02Z");
    assert!(!file.warnings[0].text.contains("assumed"));
}

#[test]
fn an_import_is_a_run_file_that_reads_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("imported.jsonl");
    let mut writer = crate::Writer::create(&path).unwrap();
    let events = np(THREE).unwrap();
    events.iter().for_each(|e| writer.write(e).unwrap());
    let mut want = fold(&events);
    let read = crate::read(&path).unwrap();
    want.cut = None;
    assert_eq!(read, want);
    assert_eq!(read.paths[0].points.len(), 7);
    assert_eq!(read.curve(0).len(), 7);
}

#[test]
fn malformed_lines_are_named_with_their_number() {
    for (text, line, part) in [
        ("# comment\n\n1 two 3\n", 3, "plain numbers"),
        ("1 -2 3\n", 1, "plain numbers"),
        ("1 inf 3\n", 1, "plain numbers"),
        ("1 nan 3\n", 1, "plain numbers"),
        ("1 1e999 3\n", 1, "plain numbers"),
        ("1 2\n", 1, "integrity mode"),
        ("1 2 3 4\n", 1, "4 columns"),
        ("1\n", 1, "1 columns"),
        ("0 0.827483 0.00000922\n", 1, "whole number above 0"),
        ("1.5 0.827483 0.00000922\n", 1, "whole number above 0"),
        ("1 0.0000000 0.00000922\n", 1, "rate is 0"),
        ("1 0.867644 0.00000922\n", 1, "1024^2"),
        ("0 0 0 0 0\n", 1, "whole number above 0"),
    ] {
        let (at, what) = line_of(text);
        assert!(at == line && what.contains(part), "{text:?}: line {at}: {what}");
    }
    let mixed = format!("{THREE}1 2 3 4 5\n");
    assert_eq!(line_of(&mixed).0, 8);
    assert_eq!(np(""), Err(ImportError::Empty));
    assert_eq!(np("# nothing\n\n"), Err(ImportError::Empty));
    let long = line_of(&"9".repeat(100_000)).1;
    assert!(long.len() < 200);
    let odd =
        np_from("1 0.827483 0.00000922\n", &Source { pattern: Some(Pattern::Bidirectional), ..Source::default() });
    assert!(odd.unwrap_err().to_string().contains("line 1: an odd number"));
    let burst = np_from(THREE, &Source { pattern: Some(Pattern::Burst), ..Source::default() });
    assert!(burst.unwrap_err().to_string().contains("no such mode"));
    let five = np_from(FIVE, &Source { pattern: Some(Pattern::Bidirectional), ..Source::default() });
    assert!(five.unwrap_err().to_string().contains("5.x"));
}

#[test]
fn a_size_measured_twice_is_one_point_of_two_trials() {
    let file = fold(&np("1 0.827483 0.00000922\n1 0.762939 0.00001000\n").unwrap());
    assert_eq!(file.paths[0].points.len(), 1);
    assert_eq!(file.paths[0].points[0].trials.len(), 2);
    assert_eq!(file.paths[0].points[0].figures.trials, 2);
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "\\PC*(\n\\PC*){0,5}") {
        let _ = np(&text);
    }

    #[test]
    fn no_numbers_make_it_panic(text in "([0-9]{0,25}\\.?[0-9]{0,12}(e-?[0-9]{1,9})?[ \t]{0,2}){0,6}(\n[0-9. ]{0,60}){0,3}") {
        if let Ok(events) = np(&text) {
            // What was taken can be written and read: no figure is outside what JSON holds.
            for e in &events {
                let line = serde_json::to_string(e).unwrap();
                prop_assert!(serde_json::from_str::<Event>(&line).is_ok(), "{line}");
            }
        }
    }

    #[test]
    fn what_3_7_writes_is_taken_and_its_time_found(bytes in 1u64..1 << 34, t in 2e-9f64..50.0) {
        let mbps = bytes as f64 * 8.0 / (t * 1024.0 * 1024.0);
        let text = format!("{bytes:8} {mbps:.6} {t:12.8}\n");
        let file = fold(&np(&text).unwrap());
        let got = file.paths[0].points[0].figures.min;
        // Of the two columns the better one: rounded to 1e-8 s, or to 1e-6 Mbps.
        let bound = (0.6e-8 / t).min(0.6e-6 / mbps) + 1e-12;
        prop_assert!((got - t).abs() / t <= bound, "{text}: {got} for {t}");
    }
}
