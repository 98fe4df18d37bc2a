use super::*;
use crate::sample;

fn text() -> Vec<u8> {
    sample::text()
}

fn fails(bytes: &[u8]) -> String {
    read_from(bytes, "f.jsonl").unwrap_err().to_string()
}

#[test]
fn a_whole_file_reads_without_a_word_about_its_end() {
    let file = read_from(&text()[..], "f").unwrap();
    assert_eq!(file.cut, None);
    assert!(file.end.is_some());
    assert_eq!(file.paths.len(), 2);
    assert!(file.paths.iter().all(|p| p.points.windows(2).all(|w| w[0].size < w[1].size)));
}

#[test]
fn a_file_cut_at_any_byte_reads_up_to_its_last_whole_line() {
    let text = text();
    let events = sample::events();
    let header = text.iter().position(|b| *b == b'\n').unwrap();
    for at in 0..text.len() {
        let read = read_from(&text[..at], "f");
        if at < header {
            assert!(matches!(read, Err(ReadError::Empty(_) | ReadError::HeaderCut(_))), "{at}: {read:?}");
            continue;
        }
        let file = read.unwrap_or_else(|e| panic!("cut at {at}: {e}"));
        // A line that lacks nothing but its newline is whole.
        let whole = text[..at + 1].iter().filter(|b| **b == b'\n').count();
        let mut fold = Fold::new();
        events[..whole].iter().for_each(|e| fold.event(e));
        let want = fold.finish().unwrap();
        assert_eq!(file.paths, want.paths, "cut at {at}");
        assert_eq!(file.warnings, want.warnings);
        assert_eq!(file.end, want.end);
        let partial = text[at - 1] != b'\n' && text[at] != b'\n';
        match &file.cut {
            Some(cut) if partial => {
                assert!(cut.contains(&format!("the middle of line {};", whole + 1)), "{at}: {cut}")
            }
            Some(cut) => assert!(cut.contains("no end line"), "{at}: {cut}"),
            None => assert!(!partial && whole == events.len(), "cut at {at} went unsaid"),
        }
    }
}

#[test]
fn other_files_are_named_for_what_they_are() {
    for (bytes, part) in [
        (&b""[..], "is empty"),
        (b"\x1f\x8b\x08\x00junk", "gzip"),
        (b"PAR1....", "Parquet"),
        (b"\x7fELF\x02\x01\x01\x00\x00", "binary data"),
        (b"\xff\xfe\xfd\xfc\xfb", "binary data"),
        (b"<!doctype html><p>", "HTML"),
        (b"       1 0.827143   0.00000922\n", "`pipegauge import`"),
        (b"path,transport,pattern\r\n0,tcp,ping-pong\r\n", "CSV"),
        (b"# TYPE pipegauge_run info\n", "OpenMetrics"),
        (b"hello, world\n", "text that begins with 'hello, world'"),
        (b"[1,2]\n", "text that begins with"),
        (b"{\n \"event\": \"run\"\n}\n", "not one whole JSON object"),
        (b"{\"name\":\"package\"}\n", "not a run's header"),
        (b"{\"schema\":\"pipegauge-export/1\"}\n", "export (JSON)"),
        (b"{\"event\":\"end\",\"at\":1.0}\n", "header, is missing"),
        (b"{\"event\":\"zoo\"}\n", "not a run's header"),
        (b"\n\n{}", "first line is blank"),
    ] {
        let said = fails(bytes);
        assert!(said.contains(part) && said.contains("f.jsonl"), "{bytes:?}: {said}");
    }
}

#[test]
fn another_schema_version_is_refused_with_both_versions() {
    let changed = String::from_utf8(text()).unwrap();
    let two = changed.replacen(SCHEMA, "pipegauge-run/3", 1).replacen("\"version\":\"", "\"version\":\"9.", 1);
    let said = fails(two.as_bytes());
    assert!(said.contains("'pipegauge-run/3'") && said.contains(SCHEMA) && said.contains("pipegauge 9."), "{said}");
    let ten = fails(changed.replacen(SCHEMA, "pipegauge-run/10", 1).as_bytes());
    assert!(ten.contains("'pipegauge-run/10'"), "{ten}");
    read_from(changed.replacen(SCHEMA, "pipegauge-run/2.7", 1).as_bytes(), "f").unwrap();
}

/// Whatever a file's strings hold, no reader of it needs to know: not even an export that people paste elsewhere.
#[test]
fn a_strangers_strings_are_cleaned_and_cut_as_they_are_read() {
    let mut events = sample::events();
    let evil = format!("\u{1b}[2J\u{202e}evil\u{7f}{}", "x".repeat(30_000));
    let Event::Run(run) = &mut events[0] else { panic!("a header first") };
    (run.version, run.near.hostname, run.near.kernel) = (evil.clone(), evil.clone(), evil.clone());
    run.command = vec![evil.clone()];
    run.near.sysctls.insert(evil.clone(), evil.clone());
    let warning = Warning { code: evil.clone(), path: None, sizes: Vec::new(), text: evil.clone() };
    events.insert(1, Event::Warning(warning));
    let file: String = events.iter().map(|e| serde_json::to_string(e).unwrap() + "\n").collect();
    let read = read_from(file.as_bytes(), "x").unwrap();
    let mut exported = Vec::new();
    crate::export::openmetrics(&read, &mut exported).unwrap();
    let exported = String::from_utf8(exported).unwrap();
    assert!(!exported.contains(|c| c != '\n' && units::received::odd(c)) && exported.contains("evil"), "{exported}");
    assert!(exported.lines().all(|l| l.chars().count() < 2000));
    let (near, warning) = (&read.run.near, &read.warnings[0]);
    let names = [&read.run.version, &near.hostname, &warning.code]
        .into_iter()
        .chain(near.sysctls.iter().flat_map(|(k, v)| [k, v]));
    for text in names {
        assert!(text.chars().count() <= 403 && !text.contains(units::received::odd), "{text}");
    }
    for text in [&read.run.command[0], &warning.text] {
        assert!(text.chars().count() <= 4003 && !text.contains(units::received::odd), "{text}");
    }
    // The figures are what they were.
    assert_eq!(read.paths[0].points.len(), sample::file().paths[0].points.len());
}

#[test]
fn added_fields_are_passed_over_and_added_kinds_are_skipped_with_a_note() {
    let plain = read_from(&text()[..], "f").unwrap();
    let mut more = String::from_utf8(text()).unwrap().replace("\"event\":", "\"colour\":[1,{\"a\":2}],\"event\":");
    let end = more.rfind("{\"colour\"").unwrap();
    more.insert_str(end, "{\"event\":\"weather\",\"rain\":true}\n{\"event\":\"weather\"}\n\n");
    let mut file = read_from(more.as_bytes(), "f").unwrap();
    let note = file.warnings.pop().unwrap();
    assert_eq!(note.code, "unknown-event");
    assert!(note.text.contains("2 lines of the kind 'weather'"), "{}", note.text);
    assert_eq!(file, plain);
}

#[test]
fn damage_in_the_middle_is_an_error_with_its_line() {
    let good = String::from_utf8(text()).unwrap();
    let long = format!("{{\"event\":\"block\",\"path\":\"{}\"}}", "\u{202e}".repeat(30_000));
    for (bad, part) in [
        ("\u{0}\u{0}\u{0}", "not a JSON object"),
        ("{\"event\":\"trial\",\"path\":0}", "'trial' event"),
        ("{\"event\":\"end\",\"at\":\"soon\"}", "'end' event"),
        ("{\"event\":\"sustained\",\"path\":0}", "'sustained' event"),
        ("{\"event\":\"taken\",\"path\":0}", "'taken' event"),
        (&long, "'block' event"),
        ("{\"no\":1}", "without an 'event'"),
        ("[[[[[[", "not a JSON object"),
    ] {
        let mut lines: Vec<&str> = good.lines().collect();
        lines[4] = bad;
        let said = fails(lines.join("\n").as_bytes());
        assert!(said.contains("damaged at line 5") && said.contains(part), "{said}");
        assert!(said.chars().count() < 400 && !said.contains('\u{202e}'), "{said}");
    }
    let twice = fails(format!("{good}{good}").as_bytes());
    assert!(twice.contains(&format!("begins at line {}", sample::events().len() + 1)), "{twice}");
}

#[test]
fn a_damaged_tail_costs_only_itself() {
    for tail in [&b"\0\0\0\0\0\0\0\0"[..], b"\xff\xfe\n", b"{\"event\":\"trial\"}\n"] {
        let mut bytes = text();
        bytes.extend_from_slice(tail);
        let file = read_from(&bytes[..], "f").unwrap();
        assert_eq!(file.paths, read_from(&text()[..], "f").unwrap().paths);
        assert!(file.cut.is_some(), "{tail:?}");
    }
}

#[test]
fn missing_files_and_directories_are_said_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let said = read(dir.path()).unwrap_err().to_string();
    assert!(said.contains("is a directory"), "{said}");
    let said = read(dir.path().join("none.jsonl")).unwrap_err().to_string();
    assert!(said.contains("none.jsonl") && said.contains("No such file"), "{said}");
}

proptest::proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..400)) {
        let _ = read_from(&bytes[..], "f");
        let mut after_header = sample::text();
        let header = after_header.iter().position(|b| *b == b'\n').unwrap();
        after_header.truncate(header + 1);
        after_header.extend_from_slice(&bytes);
        let _ = read_from(&after_header[..], "f");
    }
}
