//! What a person can get wrong: each gets a message that says what was found and what to do, and exit code 2, before
//! anything is measured.

use super::support::{SHORT, SHORT_LOUD, Scratch};

fn refused(args: &[&str], words: &[&str]) {
    let dir = Scratch::new();
    let mut all = vec!["run"];
    all.extend(args);
    dir.run(&all).refuses(words);
    assert_eq!(dir.names(), Vec::<String>::new(), "nothing was measured, so nothing may be left behind");
}

#[test]
fn what_has_no_end_is_not_read() {
    let dir = Scratch::new();
    let made = std::process::Command::new("mkfifo").arg(dir.path("fifo")).status().expect("mkfifo");
    assert!(made.success());
    std::fs::write(dir.path("large"), vec![b'1'; 2 << 20]).unwrap();
    dir.run(&["import", "/dev/zero"]).refuses(&["/dev/zero is a device", "regular file"]);
    dir.run(&["import", "fifo"]).refuses(&["fifo is a named pipe"]);
    dir.run(&["import", "large"]).refuses(&["large is larger than 1024 KiB", "np.out of NetPIPE"]);
    for command in ["show", "compare", "layers", "jitter", "explain"] {
        dir.run(&[command, "fifo"]).refuses(&["fifo is a named pipe"]);
        dir.run(&[command, "/dev/zero"]).refuses(&["/dev/zero is a device"]);
    }
    dir.run(&["export", "fifo", "--format", "csv"]).refuses(&["fifo is a named pipe"]);
    for key in ["@fifo", "@/dev/zero"] {
        dir.run(&["run", "tcp", "--peer", "localhost:1", "--key", key]).refuses(&["the key", "name"]);
    }
}

#[test]
fn an_unknown_transport_is_answered_with_those_that_exist() {
    refused(&["tpc"], &["'tpc'", "did you mean tcp?", "shm", "pipegauge list"]);
    refused(&["ktls"], &["'ktls'", "(this ", "there are: memcpy", "pipegauge list"]);
    refused(&["TCP"], &["'TCP'", "did you mean tcp?"]);
}

#[test]
fn a_time_below_nothing_is_answered_with_what_a_time_is() {
    refused(&["tcp", "--budget", "-1s"], &["'--budget <TIME>'", "out of range", "a time lies between 0"]);
    refused(&["tcp", "--precision", "-1%"], &["'--precision <SHARE>'", "out of range"]);
}

#[test]
fn reversed_sizes_are_named_with_both_ends() {
    refused(&["tcp", "--from", "64KiB", "--to", "1KiB"], &["reversed", "64 KiB", "1 KiB", "--from"]);
}

#[test]
fn a_size_of_zero_is_refused() {
    refused(&["tcp", "--from", "0"], &["at least 1 byte"]);
    refused(&["tcp", "--sizes", "0,64"], &["at least 1 byte"]);
}

#[test]
fn a_size_beyond_what_the_transport_carries_is_answered_from_its_capabilities() {
    refused(&["udp", "--to", "1MiB"], &["udp", "at most", "1 MiB"]);
    refused(&["udp", "--sizes", "64,1MiB"], &["udp", "at most", "1 MiB"]);
}

#[test]
fn an_ambiguous_or_broken_unit_is_explained() {
    refused(&["tcp", "--to", "64K"], &["64K", "KiB"]);
    refused(&["tcp", "--to", "big"], &["big"]);
    refused(&["tcp", "--budget", "20"], &["20"]);
    refused(&["tcp", "--precision", "0%"], &["--precision"]);
}

#[test]
fn a_pattern_that_a_transport_cannot_do_is_refused() {
    refused(&["pipe", "--pattern", "connect"], &["pipe", "connect"]);
    refused(&["memcpy", "--pattern", "request"], &["memcpy", "request"]);
    refused(&["udp", "--pattern", "burst"], &["udp", "burst"]);
}

#[test]
fn an_open_loop_needs_a_pattern_with_answers() {
    refused(&["tcp", "--pattern", "stream", "--rate", "1k/s"], &["--rate", "stream", "ping-pong"]);
}

#[test]
fn flags_that_change_nothing_are_refused_not_passed_over() {
    refused(&["shm", "--mss", "1400"], &["--mss", "tcp"]);
    refused(&["unix", "-6"], &["-6", "tcp"]);
    refused(&["memcpy", "--fault", "drop=1%"], &["--fault", "tcp"]);
    refused(&["tcp", "shm", "--trace", "x"], &["--trace", "one"]);
    refused(&["tcp", "--burst", "10"], &["--burst", "patterns burst, group and one-sender"]);
    refused(&["tcp", "--response", "10"], &["--response", "request"]);
    refused(&["tcp", "--schedule", "netpipe", "--step", "64"], &["netpipe", "--step"]);
}

#[test]
fn flags_with_a_default_are_answered_too_where_nothing_listens() {
    refused(&["tcp", "--schedule", "netpipe", "--budget", "20s"], &["--budget", "NetPIPE"]);
    refused(&["tcp", "--schedule", "netpipe", "--precision", "5%"], &["--precision", "NetPIPE"]);
    refused(&["tcp", "--sizes", "64", "--perturb", "3"], &["--perturb", "--sizes"]);
    refused(&["tcp", "--step", "64", "--to", "1KiB", "--perturb", "3"], &["--perturb", "--step"]);
    refused(&["memcpy", "--reconnect"], &["--reconnect", "tcp"]);
    refused(&["theory", "memcpy", "--wait", "spin"], &["--wait", "tcp"]);
    refused(&["memcpy", "--patience", "3s"], &["--patience", "tcp"]);
    refused(&["theory", "--cache", "cold"], &["--cache", "memcpy"]);
    refused(&["theory", "--align", "64"], &["--align", "memcpy"]);
    refused(&["theory", "--offset", "0,64"], &["--offset", "memcpy"]);
    refused(&["theory", "--check", "--pattern", "stream"], &["--check", "ping-pong"]);
    refused(&["tcp", "--remote-program", "x"], &["--remote-program", "ssh://"]);
    refused(&["tcp", "--loss-timeout", "1s"], &["--loss-timeout", "udp"]);
    refused(&["udp", "--loss-timeout", "20s"], &["--loss-timeout", "--patience"]);
}

#[test]
fn what_no_far_side_agrees_to_is_refused_before_a_file_is_made() {
    refused(&["tcp", "--patience", "2h"], &["patience", "7200", "3600"]);
    refused(&["unix", "--align", "2GiB"], &["alignment", "2 GiB", "1 GiB"]);
    refused(&["tcp", "--rate", "10000M/s"], &["rate", "1000000000"]);
    refused(&["tcp", "--sockbuf", "4GiB"], &["--sockbuf", "4GiB", "2147483648"]);
    refused(&["tcp", "--congestion", "../x"], &["--congestion", "a word of at most 15"]);
    refused(&["udp", "--patience", "1s", "--loss-timeout", "10us"], &["--loss-timeout", "a time of 100 us to"]);
}

#[test]
fn files_of_one_run_have_names_of_their_own() {
    refused(&["memcpy", "-o", "a.jsonl", "--html", "./a.jsonl"], &["-o", "--html", "same file"]);
    refused(&["tcp", "-o", "a.jsonl", "--trace", "a.jsonl"], &["-o", "--trace", "same file"]);
    refused(&["tcp", "--html", "x", "--trace", "x"], &["--html", "--trace", "same file"]);
}

#[test]
fn a_trace_that_can_not_be_written_is_named_before_anything_is_measured() {
    refused(&["tcp", "--trace", "no-folder/x"], &["--trace", "no-folder/x", "No such file"]);
    refused(&["tcp", "--trace", "."], &["--trace: writing .", "directory"]);
}

#[test]
fn a_report_that_nobody_named_overwrites_nothing() {
    let dir = Scratch::new();
    std::fs::write(dir.path("notes.html"), "mine").unwrap();
    let mut args = vec!["run", "memcpy", "-o", "notes.run.jsonl"];
    args.extend(SHORT_LOUD);
    let said = dir.run(&args);
    assert!(said.measured() && said.out.contains("notes-2.html"), "{said}");
    assert_eq!(std::fs::read_to_string(dir.path("notes.html")).unwrap(), "mine");
}

#[test]
fn faults_and_theories_are_checked_before_anything_runs() {
    refused(&["tcp", "--fault", "explode=1"], &["--fault", "explode", "it takes"]);
    refused(&["theory", "--theory", "latency=fast"], &["--theory", "latency", "fast"]);
}

#[test]
fn a_cpu_that_is_not_there_is_named() {
    refused(&["tcp", "--pin", "0,999999"], &["999999", "may use"]);
}

#[test]
fn a_transport_named_twice_is_a_slip() {
    refused(&["tcp", "tcp"], &["tcp", "twice"]);
}

#[test]
fn local_paths_cannot_lead_to_another_host() {
    refused(&["shm", "--peer", "ssh://root@127.0.0.1"], &["shm", "one host"]);
}

#[test]
fn a_peer_is_written_with_its_port_and_a_key() {
    refused(&["tcp", "--peer", "lab2"], &["HOST:PORT", "ssh://"]);
    refused(&["tcp", "--peer", "127.0.0.1:9"], &["key", "pipegauge serve"]);
    refused(&["tcp", "--key", "abc"], &["--peer"]);
    refused(&["tcp", "--peer", "127.0.0.1:9", "--key", "hello"], &["key"]);
    refused(&["tcp", "--peer", "ssh://-oProxyCommand=true"], &["ssh://user@host"]);
}

#[test]
fn a_run_file_that_holds_something_is_not_overwritten() {
    let dir = Scratch::new();
    std::fs::write(dir.path("precious"), "do not lose me").unwrap();
    let mut args = vec!["run", "memcpy", "-o", "precious"];
    args.extend(SHORT);
    dir.run(&args).refuses(&["precious", "exists"]);
    assert_eq!(std::fs::read_to_string(dir.path("precious")).unwrap(), "do not lose me");
}

#[test]
fn a_run_file_in_a_missing_directory_is_named() {
    let dir = Scratch::new();
    let mut args = vec!["run", "memcpy", "-o", "no/such/dir/x.run.jsonl"];
    args.extend(SHORT);
    dir.run(&args).refuses(&["no/such/dir", "No such file"]);
}

#[test]
fn an_unknown_flag_or_command_exits_with_2() {
    let dir = Scratch::new();
    assert_eq!(dir.run(&["run", "tcp", "--fats"]).code(), 2);
    assert_eq!(dir.run(&["measure"]).code(), 2);
    assert_eq!(dir.run::<&str>(&[]).code(), 2);
    dir.run(&["schema", "nonsense"]).refuses(&["nonsense", "run-file"]);
    dir.run(&["man", "nonsense"]).refuses(&["nonsense", "run"]);
}

#[test]
fn what_a_refused_command_line_repeats_is_cut_and_cleaned() {
    let dir = Scratch::new();
    let long = "x".repeat(30_000);
    let escapes = "\u{1b}[31m\u{202e}red\u{7f}\u{9b}2J";
    for word in [&long[..], escapes] {
        for args in [
            &["run", "tcp", "--pattern", word][..],
            &["run", "tcp", "--to", word],
            &["run", "tcp", "--budget", word],
            &["run", "tcp", word],
            &[word],
            &["show", &format!("--{word}")],
            &["ask", "a.run.jsonl", "--arrive", word],
            &["compare", "a", "b", "--fail-if", word],
        ] {
            let said = dir.run(args);
            let all = format!("{}{}", said.out, said.err);
            assert_eq!(said.code(), 2, "{said}");
            assert!(
                all.chars().count() < 6000,
                "{} characters: {}",
                all.chars().count(),
                &args[..args.len() - 1].join(" ")
            );
            assert!(!all.contains(['\u{1b}', '\u{202e}', '\u{7f}', '\u{9b}']), "{all:?}");
            let json = dir.run(&[args, &["--json"]].concat());
            assert!(
                json.out.chars().count() < 6000 && !json.out.0.contains(['\u{1b}', '\u{202e}', '\u{7f}']),
                "{json}"
            );
        }
    }
}
