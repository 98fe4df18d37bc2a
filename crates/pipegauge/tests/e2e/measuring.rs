//! The main job: every path and every pattern, between real processes.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use rustix::net::{SocketType, sockopt};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use super::processes::{all_end, under_way};
use super::support::{Running, SHORT, SHORT_LOUD, Scratch, between_two_processes, json, reliable};

fn points(doc: &serde_json::Value, transport: &str) -> Vec<serde_json::Value> {
    let paths = doc["paths"].as_array().expect("paths");
    let path = paths.iter().find(|p| p["opened"]["transport"] == transport);
    path.unwrap_or_else(|| panic!("no path {transport} in {doc}"))["points"].as_array().expect("points").clone()
}

/// Runs and gives the result document.
fn result(dir: &Scratch, more: &[&str]) -> serde_json::Value {
    let mut args = vec!["run"];
    args.extend(more);
    args.extend(SHORT);
    args.push("--json");
    let said = dir.run(&args);
    assert!(said.measured(), "{said}");
    json(&said.out)
}

#[test]
fn every_transport_measures_and_writes_a_run_file() {
    let dir = Scratch::new();
    let kinds = [&["memcpy"][..], &between_two_processes(), &["theory"]].concat();
    assert!(kinds.len() >= 8, "{kinds:?}");
    let doc = result(&dir, &[&kinds[..], &["-o", "all.run.jsonl"]].concat());
    for kind in kinds {
        let points = points(&doc, kind);
        let sizes: Vec<u64> = points.iter().map(|p| p["size"].as_u64().unwrap()).collect();
        assert_eq!(sizes, [1, 64, 4096], "{kind}");
        for point in points {
            assert!(point["median"].as_f64().unwrap() > 0.0, "{kind}: {point}");
            assert!(point["low"].is_null() && point["high"].is_null(), "two rounds tell no interval: {kind}: {point}");
            assert!(point["seen_low"].as_f64() <= point["seen_high"].as_f64(), "{kind}: {point}");
            assert!(point["trials"].as_u64().unwrap() > 0, "{kind}: {point}");
        }
    }
    assert_eq!(dir.run(&["show", "all.run.jsonl"]).code(), 0);
    assert_eq!(dir.names(), ["all.run.jsonl"]);
}

/// Trials of a run file, as they stand there.
fn trials(dir: &Scratch, file: &str) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(dir.path(file)).unwrap();
    let events = text.lines().map(json);
    events.filter(|e| e["event"] == "trial").collect()
}

/// What the near side's link did, in the words of a trace: operation, bytes, and bytes received in an exchange.
fn operations(dir: &Scratch, trace: &str) -> Vec<(String, u64, Option<u64>)> {
    let text = std::fs::read_to_string(dir.path(trace)).unwrap();
    let lines = text.lines().map(json).filter(|l| ["send", "recv", "exchange"].iter().any(|op| l["op"] == *op));
    lines.map(|l| (l["op"].as_str().unwrap().to_owned(), l["bytes"].as_u64().unwrap(), l["into"].as_u64())).collect()
}

#[test]
fn every_pattern_moves_over_tcp_what_it_says() {
    let dir = Scratch::new();
    let op = |name: &str, bytes| (name.to_owned(), bytes, None);
    // One iteration of each pattern, with a message of 100 bytes.
    let patterns = [
        ("ping-pong", &[][..], vec![op("send", 100), op("recv", 100)]),
        ("stream", &[], vec![op("send", 100)]),
        ("burst", &["--burst", "3"], vec![op("send", 100), op("send", 100), op("send", 100), op("recv", 1)]),
        ("bidirectional", &[], vec![("exchange".to_owned(), 100, Some(100))]),
        ("request", &["--response", "7"], vec![op("send", 100), op("recv", 7)]),
    ];
    for (pattern, more, iteration) in patterns {
        let (file, trace) = (format!("{pattern}.run.jsonl"), format!("{pattern}.trace"));
        let args = ["run", "tcp", "--pattern", pattern, "--sizes", "100", "-o", &file, "--trace", &trace];
        let said = dir.run(&[&args[..], more, &SHORT[2..]].concat());
        assert!(said.measured(), "{said}");
        let did = operations(&dir, &trace);
        assert!(did.len() >= 20 * iteration.len(), "{pattern}: {did:?}");
        assert!(did.chunks(iteration.len()).all(|found| found == iteration), "{pattern}: {did:?}");
        let messages = if pattern == "burst" { 3 } else { 1 };
        for trial in trials(&dir, &file) {
            let (repeats, far) = (trial["repeats"].as_u64().unwrap(), &trial["far"]);
            // Warm-up and timed iterations; only the timed ones are counted here.
            assert!(far["received"].as_u64().unwrap() > repeats * messages, "{pattern}: {trial}");
            assert_eq!(far["received"].as_u64().unwrap() % messages, 0, "{pattern}: {trial}");
            // A stream is timed by its receiver, from its last message of the warm-up on.
            let timed = if pattern == "stream" { repeats * 100 } else { 0 };
            assert_eq!(far["bytes"].as_u64(), Some(timed), "{pattern}: {trial}");
            assert_eq!(far["seconds"].as_f64().unwrap() > 0.0, pattern == "stream", "{pattern}: {trial}");
        }
        let doc = json(&dir.run(&["show", &file, "--json"]).out);
        assert_eq!(doc["header"]["plan"]["pattern"], pattern);
        assert_eq!(points(&doc, "tcp").len(), 1, "{pattern}");
    }
}

/// The far side sends: this side's link receives and, of a burst, asks for it with a byte.
#[test]
fn reversed_patterns_receive_here_over_every_transport() {
    let dir = Scratch::new();
    let kinds = between_two_processes();
    for (pattern, sent) in [("stream", &[][..]), ("burst", &[1])] {
        for kind in kinds.iter().filter(|kind| pattern == "stream" || reliable(kind)) {
            let (file, trace) = (format!("{pattern}-{kind}.run.jsonl"), format!("{pattern}-{kind}.trace"));
            let what = ["run", kind, "--pattern", pattern, "--reverse", "--check", "--sizes", "100", "-o", &file];
            let said = dir.run(&[&what[..], &["--trace", &trace], &SHORT[2..]].concat());
            assert!(said.measured(), "{said}");
            let did = operations(&dir, &trace);
            let bytes = |op: &str| did.iter().filter(|d| d.0 == op).map(|d| d.1).collect::<Vec<_>>();
            assert!(bytes("send").iter().all(|n| sent.contains(n)), "{pattern} {kind}: {:?}", bytes("send"));
            assert_eq!(bytes("send").is_empty(), sent.is_empty(), "{pattern} {kind}");
            assert!(bytes("recv").iter().sum::<u64>() >= 2000, "{pattern} {kind}: {:?}", bytes("recv"));
            let shown = dir.run(&["show", &file]);
            assert!(shown.out.contains(&format!("{pattern} reversed (the far side sends)")), "{shown}");
            let doc = json(&dir.run(&["export", &file, "--format", "json"]).out);
            assert_eq!(doc["paths"][0]["points"][0]["direction"], "to the near side", "{doc}");
        }
    }
}

/// A schedule bounds the sender from above on any machine: no trial offers more than was asked for.
#[test]
fn a_stream_offers_the_rate_that_was_asked_for_and_no_more() {
    let dir = Scratch::new();
    for (name, way) in [("there", &[][..]), ("back", &["--reverse"])] {
        let file = format!("{name}.run.jsonl");
        let what = ["run", "udp", "tcp", "--pattern", "stream", "--rate", "20Mbit/s", "--sizes", "1000", "-o", &file];
        let said = dir.run(&[&what[..], way, &SHORT[2..]].concat());
        assert!(said.measured(), "{said}");
        for trial in trials(&dir, &file) {
            let (repeats, seconds) = (trial["repeats"].as_f64().unwrap(), trial["seconds"].as_f64().unwrap());
            assert!(repeats * 8000.0 / seconds <= 20e6 * 1.001, "{name}: {trial}");
        }
        let shown = dir.run(&["show", &file]);
        for path in ["udp", "tcp"] {
            let title = format!("Loss at the offered rate: {path}, messages of 1,000 B");
            assert!(shown.out.contains(&title) && shown.out.contains("20.0 Mbit/s"), "{shown}");
        }
        let doc = json(&dir.run(&["export", &file, "--format", "json"]).out);
        assert!(doc["paths"][0]["points"][0]["throughput_bits_per_s"].as_f64().unwrap() > 0.0, "{doc}");
    }
}

#[test]
fn a_rate_in_the_wrong_unit_is_answered_with_the_right_one() {
    let dir = Scratch::new();
    for (asked, why) in [
        (&["tcp", "--rate", "10Mbit/s"][..], "--rate 10k/s"),
        (&["tcp", "--pattern", "burst", "--rate", "10Mbit/s"], "--pattern stream"),
        (&["tcp", "--pattern", "stream", "--rate", "10k/s"], "--rate 100Mbit/s"),
        (&["tcp", "--pattern", "stream", "--rate", "1kbit/s", "--sizes", "1MiB"], "--patience"),
        (&["tcp", "--pattern", "stream", "--rate", "fast"], "for a stream bits a second"),
        (&["memcpy", "--pattern", "stream", "--rate", "10Mbit/s"], "leave out --rate"),
        (&["tcp", "--pattern", "stream", "--rate", "10Mbit/s", "--schedule", "netpipe"], "NetPIPE"),
    ] {
        let said = dir.run(&[&["run"], asked].concat());
        assert_eq!(said.code(), 2, "{said}");
        assert!(said.err.contains(why), "{asked:?}: {said}");
    }
}

#[test]
fn what_has_no_direction_is_not_reversed() {
    let dir = Scratch::new();
    for (asked, why) in [
        (&["tcp"][..], "have no direction"),
        (&["tcp", "--pattern", "request"], "have no direction"),
        (&["tcp", "--pattern", "connect"], "have no direction"),
        (&["tcp", "--pattern", "bidirectional"], "stream, burst and post"),
        (&["memcpy", "--pattern", "stream"], "both directions are one"),
        (&["theory", "--pattern", "stream"], "both directions are one"),
        (&["theory", "--pattern", "burst"], "both directions are one"),
    ] {
        let said = dir.run(&[&["run", "--reverse"], asked, &SHORT].concat());
        assert_eq!(said.code(), 2, "{said}");
        assert!(said.err.contains(why), "{asked:?}: {said}");
    }
}

/// Connections that processes of this network namespace have opened (`/proc/net/snmp`).
fn connections_opened() -> u64 {
    let text = std::fs::read_to_string("/proc/net/snmp").unwrap();
    let mut tcp = text.lines().filter(|l| l.starts_with("Tcp:")).map(|l| l.split_whitespace().collect::<Vec<_>>());
    let (names, values) = (tcp.next().unwrap(), tcp.next().unwrap());
    let at = names.iter().position(|n| *n == "ActiveOpens").unwrap();
    values[at].parse().unwrap()
}

#[test]
fn the_connect_pattern_connects_for_each_transaction() {
    let dir = Scratch::new();
    let before = connections_opened();
    let file = dir.measure("x.run.jsonl", &["tcp", "--pattern", "connect"]);
    let opened = connections_opened() - before;
    let trials = trials(&dir, file.file_name().unwrap().to_str().unwrap());
    let transactions: u64 = trials.iter().map(|t| t["far"]["received"].as_u64().unwrap()).sum();
    let repeats: u64 = trials.iter().map(|t| t["repeats"].as_u64().unwrap()).sum();
    assert!(transactions > repeats && repeats > 0, "{trials:?}");
    // Others on this host may open some too.
    assert!(opened >= transactions, "{opened} connections for {transactions} transactions");
}

#[test]
fn a_small_socket_buffer_leaves_out_what_it_cannot_carry() {
    let dir = Scratch::new();
    let args = ["run", "seqpacket", "--sockbuf", "16KiB", "--sizes", "64,4KiB,128KiB", "--json"];
    let said = dir.run(&[&args[..], &SHORT[2..]].concat());
    assert!(said.measured(), "{said}");
    let doc = json(&said.out);
    let sizes: Vec<u64> = points(&doc, "seqpacket").iter().map(|p| p["size"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [64, 4096], "{said}");
    let most = doc["paths"][0]["opened"]["capabilities"]["max_block"].as_u64().unwrap();
    assert!(most < 128 << 10, "the file has the link's own limit, not its transport's: {most}");
    assert!(said.out.contains("\"capped\""), "{said}");
}

#[test]
fn an_open_loop_measures_its_percentiles() {
    let dir = Scratch::new();
    let doc = result(&dir, &["tcp", "--rate", "2k/s"]);
    for point in points(&doc, "tcp") {
        let p = &point["percentiles"];
        assert!(p["p90"].as_f64().unwrap() >= p["p50"].as_f64().unwrap(), "{point}");
        assert!(p["max"].as_f64().unwrap() >= p["p90"].as_f64().unwrap(), "{point}");
        assert!(p.get("p99").is_none(), "80 iterations don't tell it: {point}");
    }
}

#[test]
fn path_settings_are_carried_to_both_sides() {
    let dir = Scratch::new();
    let doc =
        result(&dir, &["tcp", "--no-nodelay", "--sockbuf", "64KiB", "-4", "--reconnect", "--check", "--cache", "cold"]);
    let opened = &doc["paths"][0]["opened"];
    for side in ["near_effective", "far_effective"] {
        assert_eq!(opened[side]["nodelay"], false, "{opened}");
        assert!(opened[side]["send_buffer"].as_u64().unwrap() >= 64 << 10, "{opened}");
    }
    assert_eq!(doc["header"]["plan"]["paths"][0]["settings"]["sockbuf"], 64 << 10);
}

/// The connected TCP socket of a process that this test started, to ask the kernel about; none where the system does not hand it
/// out.
fn connected_socket(pid: u32) -> Option<OwnedFd> {
    let handle = pidfd_open(Pid::from_raw(pid.cast_signed())?, PidfdFlags::empty()).ok()?;
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    let numbers = entries.filter_map(|e| e.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let mut sockets = numbers.filter_map(|fd| pidfd_getfd(&handle, fd, PidfdGetfdFlags::empty()).ok());
    sockets.find(|fd| {
        let peer = rustix::net::getpeername(fd).map(|at| at.map(|at| SocketAddr::try_from(at).is_ok()));
        peer == Ok(Some(true)) && sockopt::socket_type(fd) == Ok(SocketType::STREAM)
    })
}

#[test]
fn path_settings_stand_in_the_kernel_on_both_sides() {
    let dir = Scratch::new();
    let set = ["--sockbuf", "64KiB", "--mss", "1000", "--congestion", "reno", "-4"];
    for (given, nodelay) in [(&set[..], true), (&["--no-nodelay"], false), (&[], true)] {
        let _ = std::fs::remove_file(dir.path("x.run.jsonl"));
        let args = [&["run", "tcp", "-o", "x.run.jsonl"][..], given, &super::support::LONG].concat();
        let mut run = Running::start(dir.command(&args));
        // Between two rounds there is no far process, or it has no connection yet.
        let both = super::support::until("the sockets of both sides", || {
            let far = under_way(&mut run, &dir.path("x.run.jsonl"));
            let near = connected_socket(run.pid());
            if near.is_none() && pidfd_open(Pid::from_raw(run.pid().cast_signed())?, PidfdFlags::empty()).is_err() {
                return Some(None);
            }
            Some(Some([near?, connected_socket(far.pid)?]))
        });
        let Some(both) = both else { return super::support::skip("the kernel has no handles of processes (pidfd)") };
        for socket in both {
            assert_eq!(sockopt::tcp_nodelay(&socket), Ok(nodelay), "{given:?}");
            // The kernel doubles what is asked for, for its own needs.
            let buffers = [sockopt::socket_send_buffer_size(&socket), sockopt::socket_recv_buffer_size(&socket)];
            let reno = sockopt::tcp_congestion(&socket).unwrap() == "reno";
            let asked = given.contains(&"--sockbuf");
            assert_eq!(buffers == [Ok(128 << 10); 2], asked, "{given:?}: {buffers:?}");
            assert!(reno || !asked, "{given:?}");
        }
        run.signal(rustix::process::Signal::INT);
        run.end();
    }
    let file = dir.measure("y.run.jsonl", &[&["tcp"][..], &set].concat());
    let doc = json(&dir.run(&["show", file.to_str().unwrap(), "--json"]).out);
    for side in ["near_effective", "far_effective"] {
        let found = &doc["paths"][0]["opened"][side];
        // What TCP's own options take of a segment differs between systems.
        assert!((900..=1000).contains(&found["mss"].as_u64().unwrap()), "{found}");
        assert_eq!((found["send_buffer"].as_u64(), found["congestion"].as_str()), (Some(128 << 10), Some("reno")));
        assert!(found["addresses"].as_str().unwrap().contains("127.0.0.1"), "{found}");
    }
}

#[test]
fn ipv6_measures_where_there_is_one() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        return super::support::skip("this host has no IPv6 loopback");
    }
    let dir = Scratch::new();
    let doc = result(&dir, &["tcp", "udp", "-6"]);
    assert_eq!((points(&doc, "tcp").len(), points(&doc, "udp").len()), (3, 3));
    let said = doc["paths"][0]["opened"]["near_effective"]["addresses"].to_string();
    assert!(said.contains("::1"), "{said}");
}

#[test]
fn every_wait_mode_that_shm_and_tcp_name_works() {
    let dir = Scratch::new();
    let list = json(&dir.run(&["list", "--json"]).out);
    for transport in list["transports"].as_array().unwrap() {
        let name = transport["name"].as_str().unwrap();
        if !["shm", "tcp"].contains(&name) {
            continue;
        }
        for wait in transport["capabilities"]["waits"].as_array().unwrap() {
            let doc = result(&dir, &[name, "--wait", wait.as_str().unwrap()]);
            let opened = &doc["paths"][0]["opened"];
            for side in ["near_effective", "far_effective"] {
                assert_eq!(opened[side]["wait"], *wait, "{name}: {opened}");
            }
            // Two sides that spin on one busy CPU are slow enough for the stop rule to leave out the larger sizes.
            assert!(!points(&doc, name).is_empty(), "{name} {wait}");
        }
    }
}

#[test]
fn the_netpipe_schedule_has_netpipes_sizes() {
    let dir = Scratch::new();
    let args = ["run", "theory", "--schedule", "netpipe", "--from", "1", "--to", "8MiB", "--pin", "none", "--no-html"];
    let said = dir.run(&[&args[..], &["--json", "--quiet"]].concat());
    assert!(said.measured(), "{said}");
    let sizes: Vec<u64> = points(&json(&said.out), "theory").iter().map(|p| p["size"].as_u64().unwrap()).collect();
    // NetPIPE 3.7's first sizes, its last, and how many there are up to 8 MiB + 3 (`reference/netpipe.md`).
    assert_eq!(&sizes[..8], &[1, 2, 3, 4, 6, 8, 12, 13]);
    assert_eq!(sizes.last(), Some(&8_388_611));
    assert_eq!(sizes.len(), 124);
}

#[test]
fn a_theoretical_link_measures_what_it_was_told() {
    let dir = Scratch::new();
    let doc = result(&dir, &["theory", "--theory", "latency=25us,rate=1Gbit/s,header=0,packet=1MiB"]);
    for point in points(&doc, "theory") {
        let expected = 25e-6 + point["size"].as_f64().unwrap() * 8.0 / 1e9;
        let found = point["median"].as_f64().unwrap();
        assert!((found / expected - 1.0).abs() < 1e-3, "{point}: expected {expected}");
    }
}

#[test]
fn a_shaped_path_is_as_slow_as_its_shape() {
    let dir = Scratch::new();
    let doc = result(&dir, &["tcp", "--shape", "latency=2ms"]);
    for point in points(&doc, "tcp") {
        // Only a lower bound: how much more a loaded machine takes is its own affair. The shape is on the near side.
        assert!(point["min"].as_f64().unwrap() >= 1e-3, "{point}");
    }
}

/// A shaper lets its rate pass and no more, but for one message after a stall, on any machine: whatever the receiver finds in its buffer, its
/// sender needed the time.
#[test]
fn a_stream_is_no_faster_than_the_rate_of_its_shape() {
    const RATE: f64 = 1e8;
    let dir = Scratch::new();
    let runs: [(&str, &[&str]); 5] = [
        ("unix", &["--sizes", "1024,65536,1048576", "--budget", "2s"]),
        ("tcp", &["--budget", "2s"]),
        ("tcp", &["--sizes", "1KiB,64KiB", "--trials", "3", "--repeats", "20"]),
        ("tcp", &["--sizes", "64KiB,1MiB", "--trials", "4", "--repeats", "2", "--reverse"]),
        ("unix", &["--from", "32KiB", "--to", "64KiB", "--perturb", "0", "--schedule", "netpipe"]),
    ];
    for (number, (kind, more)) in runs.into_iter().enumerate() {
        let file = format!("{number}.run.jsonl");
        let stream = ["--shape", "rate=100Mbit/s", "--pattern", "stream", "--pin", "none", "--no-html", "-q"];
        let said = dir.run(&[&["run", kind, "-o", &file], &stream[..], more].concat());
        assert!(said.measured(), "{said}");
        let repeats: Vec<(u64, u64)> =
            trials(&dir, &file).iter().map(|t| (t["size"].as_u64().unwrap(), t["repeats"].as_u64().unwrap())).collect();
        let points = points(&json(&dir.run(&["show", &file, "--json"]).out), kind);
        assert!(points.len() >= 2, "{points:?}");
        for point in points {
            let (size, found) = (point["size"].as_u64().unwrap(), point["throughput"].as_f64().unwrap());
            let fewest = repeats.iter().filter(|(of, _)| *of == size).map(|(_, n)| *n).min().unwrap();
            let most = match fewest {
                // A stall of most of what a large message takes.
                0 | 1 if size >= 1 << 20 => 10.0 * RATE,
                0 | 1 => continue,
                n => 1.02 * RATE * n as f64 / (n as f64 - 1.0),
            };
            assert!(found <= most, "{kind} {more:?}: {found} bit/s of trials of {fewest} or more: {point}");
        }
        let said = dir.run(&["ask", &format!("can {kind} do 1 Gbit/s"), &file]);
        assert!(said.out.contains(&format!("{kind}: no")), "{said}");
    }
}

#[test]
fn a_path_slower_than_the_loss_time_out_is_measured_with_a_longer_one() {
    let dir = Scratch::new();
    let args = ["run", "udp", "--shape", "latency=250ms", "--loss-timeout", "5s", "--sizes", "64", "--pin", "none"];
    let said =
        dir.run(&[&args[..], &["--trials", "1", "--repeats", "2", "--no-html", "--json", "--budget", "60s"]].concat());
    assert!(said.measured(), "{said}");
    let points = points(&json(&said.out), "udp");
    assert_eq!(points.len(), 1, "{said}");
    for point in points {
        assert_eq!(point["loss"].as_f64(), Some(0.0), "{point}");
        assert!(point["min"].as_f64().unwrap() >= 0.125, "{point}");
    }
}

#[test]
fn a_trace_has_a_line_for_every_operation() {
    let dir = Scratch::new();
    result(&dir, &["unix", "--trace", "x.trace"]);
    let text = std::fs::read_to_string(dir.path("x.trace")).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().map(json).collect();
    let count = |op: &str| lines.iter().filter(|l| l["op"] == op && l["result"] == "ok").count();
    assert!(count("send") > 60, "three sizes, two messages, ten repeats: {text}");
    assert_eq!(count("send"), count("recv"), "a ping-pong receives what it sends");
    let header =
        std::fs::read_to_string(dir.path(dir.names().iter().find(|n| n.ends_with(".jsonl")).unwrap())).unwrap();
    assert!(!header.contains("\"trace\":"), "a trace is no setting of the path");
}

#[test]
fn the_environment_of_both_sides_is_recorded() {
    let dir = Scratch::new();
    let doc = result(&dir, &["tcp"]);
    for environment in [&doc["header"]["near"], &doc["paths"][0]["opened"]["far"]] {
        assert!(!environment["kernel"].as_str().unwrap().is_empty(), "{environment}");
        assert!(!environment["cpus"].as_array().unwrap().is_empty(), "{environment}");
    }
    assert!(doc["header"]["calibration"]["clock_cost_ns"].as_f64().unwrap() > 0.0);
}

#[test]
fn the_default_run_prints_a_graph_a_summary_and_where_the_files_are() {
    let dir = Scratch::new();
    let said = dir.run(&[&["run", "memcpy", "unix"], SHORT_LOUD].concat());
    assert!(said.measured(), "{said}");
    let names = dir.names();
    assert_eq!(names.len(), 2, "{names:?}");
    for name in &names {
        assert!(said.out.contains(name), "{name} is not named in: {said}");
        assert!(name.starts_with("pipegauge-") && (name.ends_with(".html") || name.ends_with(".run.jsonl")), "{name}");
    }
    for word in ["memcpy", "unix", "latency", "half power"] {
        assert!(said.out.contains(word), "{word} is missing in: {said}");
    }
    assert!(said.err.contains("unix: "), "one progress line for each message: {said}");
    assert!(!said.out.0.contains('\u{1b}'), "no colour into a pipe: {said}");
}

#[test]
fn a_budget_ends_a_run_that_never_gets_precise_enough() {
    let dir = Scratch::new();
    let args =
        ["run", "tcp", "--to", "4KiB", "--budget", "0.5s", "--precision", "0.0001%", "--pin", "none", "--no-html"];
    let said = dir.run(&[&args[..], &["--json", "--quiet"]].concat());
    assert!(said.only_imprecise(), "{said}");
    let doc = json(&said.out);
    let points = points(&doc, "tcp");
    assert!(!points.is_empty(), "{doc}");
    assert!(points.iter().all(|p| p["why"] == "budget"), "{points:?}");
    assert!(doc["warnings"].as_array().unwrap().iter().any(|w| w["text"].as_str().unwrap().contains("--budget")));
}

#[test]
fn the_far_side_is_another_process_and_ends_with_the_run() {
    let dir = Scratch::new();
    let args =
        ["run", "tcp", "--sizes", "64", "--perturb", "0", "--budget", "3s", "--precision", "0.001%", "--pin", "none"];
    let mut run = Running::start(dir.command(&[&args[..], &["--no-html", "-o", "x.run.jsonl"]].concat()));
    let far = under_way(&mut run, &dir.path("x.run.jsonl"));
    let said = run.end();
    assert!(said.only_imprecise(), "{said}");
    all_end(&[far]);
}

/// CPUs of each thread of a process, as the kernel lists them: the first thread's, then the others'.
fn allowed(pid: u32) -> Vec<String> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("its threads");
    let mut ids: Vec<u32> = tasks.filter_map(|t| t.ok()?.file_name().to_str()?.parse().ok()).collect();
    ids.sort_unstable();
    let list = |id: &u32| -> Option<String> {
        let status = std::fs::read_to_string(format!("/proc/{pid}/task/{id}/status")).ok()?;
        Some(status.lines().find_map(|l| l.strip_prefix("Cpus_allowed_list:"))?.trim().to_owned())
    };
    ids.iter().filter_map(list).collect()
}

#[test]
fn only_what_measures_stays_on_the_measured_cpus() {
    let here = allowed(std::process::id()).remove(0);
    if !here.contains([',', '-']) {
        return super::support::skip("only one CPU may be used, so nothing is pinned");
    }
    let dir = Scratch::new();
    let args = ["run", "tcp", "--sizes", "64", "--budget", "120s", "--precision", "0.001%", "--no-html"];
    let mut run = Running::start(dir.command(&[&args[..], &["-o", "x.run.jsonl"]].concat()));
    let far = under_way(&mut run, &dir.path("x.run.jsonl"));
    let threads = allowed(far.pid);
    let single = |list: &&String| !list.contains([',', '-']);
    assert_eq!(threads.iter().filter(single).count(), 1, "one thread measures: {threads:?}");
    let others: Vec<&String> = threads.iter().filter(|list| !single(list)).collect();
    assert!(!others.is_empty() && others.iter().all(|list| **list == here), "others run anywhere: {threads:?}");
    run.signal(rustix::process::Signal::INT);
    run.end();
    all_end(&[far]);
}

#[test]
fn a_precision_that_was_asked_for_and_missed_falls_short() {
    let dir = Scratch::new();
    let theory = ["run", "theory", "--sizes", "64", "--budget", "1s", "--no-html", "--quiet", "--theory"];
    let noisy = "latency=10us,rate=10Gbit/s,round-noise=5%,seed=1";
    let said = dir.run(&[&theory[..], &[noisy, "-o", "a.run.jsonl"]].concat());
    assert_eq!(said.code(), 0, "a precision that nobody asked for is missed by nobody: {said}");
    assert!(!said.out.contains("precision"), "{said}");
    let said = dir.run(&[&theory[..], &[noisy, "--precision", "1%", "-o", "b.run.jsonl"]].concat());
    assert_eq!(said.code(), 1, "{said}");
    assert!(said.out.contains("less sure than --precision asks for: theory (1 size)"), "{said}");
    let whole = dir.run(&["show", "b.run.jsonl", "--warnings"]);
    assert!(whole.out.contains("did not reach a precision of 1.0%"), "{whole}");
}

#[test]
fn the_picture_comes_first_then_figures_how_far_to_trust_them_and_a_line_for_each_cause() {
    let dir = Scratch::new();
    let noisy = "latency=10us,rate=10Gbit/s,noise=40%,round-noise=30%,seed=1";
    let args = ["run", "theory", "--budget", "1s", "--no-html", "--quiet", "-o", "a.run.jsonl", "--theory", noisy];
    let said = dir.run(&args);
    assert_eq!(said.err, "", "{said}");
    let order = ["Signature graph", "half power", "Trust: ", "! ", "show a.run.jsonl --warnings", "run file"];
    let place = |w: &str| said.out.find(w).unwrap_or_else(|| panic!("{w} is missing in {said}"));
    let places = order.map(place);
    assert!(places.is_sorted(), "{places:?} of {said}");
    // Nothing but the summary's own words stands between the picture and the sentence of trust, and nothing between it and the warnings.
    let between = |from: &str, to: &str| said.out[place(from)..place(to)].lines().skip(1).collect::<Vec<_>>();
    let summary = between("half power", "Trust: ");
    let words = ["theory ", " ", "In brackets", "Half power", "Not resolved"];
    let stray = |l: &&&str| !l.is_empty() && !words.iter().any(|w| l.starts_with(w));
    assert_eq!(summary.iter().find(stray), None, "{said}");
    assert!(summary.len() <= 12, "{said}");
    assert!(!said.out[..place("half power")].contains("rounds"), "what rounds saw comes later: {said}");
    let trust: Vec<&str> = between("Trust: ", "! ").into_iter().filter(|l| !l.is_empty()).collect();
    assert!(trust.iter().all(|l| l.starts_with("  ")), "one sentence: {said}");
    assert!(
        said.out[place("Trust: ")..place("! ")].split_whitespace().any(|word| word == "saw"),
        "which states it holds for: {said}"
    );
    // What stands behind the figures is in `show`, after the same beginning.
    assert!(
        !said.out.contains("CPU a transfer") && said.out.contains("more      pipegauge show a.run.jsonl"),
        "{said}"
    );
    let shown = dir.run(&["show", "a.run.jsonl"]).out;
    let order = ["Signature graph", "half power", "Trust: ", "! ", "far side", "theory: ", "on this machine"];
    let places = order.map(|w| shown.find(w));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?} of {shown}");
    let lines = said.out.lines().filter(|l| l.starts_with("! "));
    let mut causes: Vec<&str> = lines.filter_map(|l| l.split(':').next()).collect();
    let all = causes.len();
    causes.dedup();
    assert_eq!(causes.len(), all, "each cause once: {said}");
}
