//! `pipegauge group` from outside: rounds over several stacks, one sender, what is refused, and what is kept when a member ends.

use rustix::process::Signal;
use serde_json::Value;

use super::processes::{children, send, under_way};
use super::support::{Running, Said, Scratch, until};

/// Counted, not timed: the budget only ends what hangs.
const COUNTED: [&str; 12] = [
    "--trials",
    "2",
    "--rounds",
    "40",
    "--budget",
    "60s",
    "--pin",
    "none",
    "--no-html",
    "--quiet",
    "-o",
    "x.run.jsonl",
];
const TOTAL: &str = "TOTAL:MBRSHIP:FRAG:NAK:COM:udp";

fn group(dir: &Scratch, flags: &[&str]) -> Said {
    dir.run(&[&["group"], flags, &COUNTED].concat())
}

fn events(dir: &Scratch) -> Vec<Value> {
    let text = std::fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn of<'a>(lines: &'a [Value], event: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["event"] == event).collect()
}

/// Its trials after the survey. What did not happen is left out of them.
fn trials(lines: &[Value]) -> impl Iterator<Item = &Value> {
    lines.iter().filter(|line| line["event"] == "trial" && line["warmup"] != true)
}

#[test]
fn three_members_measure_several_stacks_in_turns_and_the_reports_tell_them_apart() {
    let dir = Scratch::new();
    let stacks = ["--stack", TOTAL, "--stack", "MBRSHIP:FRAG:NAK:COM:udp", "--stack", "FRAG*10"];
    let said =
        group(&dir, &[&["--members", "3", "--size", "1,2KiB", "--messages", "25", "--check"], &stacks[..]].concat());
    assert!(said.measured(), "{said}");
    let lines = events(&dir);
    let plan = &lines[0]["plan"];
    assert_eq!(
        (&plan["pattern"], &plan["burst"], plan["paths"].as_array().unwrap().len()),
        (&"group".into(), &25.into(), 3)
    );
    for trial in trials(&lines) {
        assert_eq!((&trial["repeats"], &trial["burst"]), (&40.into(), &25.into()), "{trial}");
        assert!(trial.get("lost").is_none(), "{trial}");
        assert!(trial["histogram"].as_array().is_some_and(|each| !each.is_empty()), "each round is timed: {trial}");
    }
    let points = of(&lines, "point");
    assert_eq!(points.len(), 6);
    assert!(points.iter().all(|point| point["time"] == "round"), "{points:?}");
    let shown = dir.run(&["show", "x.run.jsonl", "--points"]);
    for part in [TOTAL, "stack=MBRSHIP:FRAG:NAK:COM:udp", "FRAG*10", "a round of all members", "mean rate"] {
        assert!(shown.out.contains(part), "{part}: {shown}");
    }
    // The first screen: messages a second, seed 002's figure.
    let first = dir.run(&["show", "x.run.jsonl"]);
    assert!(first.out.contains("messages") && first.out.contains("as each member delivers them"), "{first}");
    let layers = dir.run(&["layers", "x.run.jsonl"]);
    assert!(layers.code() == 0 && layers.out.contains("FRAG*10"), "{layers}");
    for form in ["csv", "json"] {
        let out = dir.run(&["export", "x.run.jsonl", "--format", form]);
        assert!(out.code() == 0 && out.out.contains("round") && out.out.contains("FRAG*10"), "{out}");
    }
    let asked = dir.run(&["ask", "x.run.jsonl", "time of 1 B"]);
    assert!(asked.code() == 0 && asked.out.contains("FRAG*10"), "{asked}");
    let asked = dir.run(&["ask", "x.run.jsonl", "how many messages of 1 B per second"]);
    assert!(asked.code() == 0 && asked.out.contains("75 in each round"), "{asked}");
    let asked = dir.run(&["ask", "x.run.jsonl", "1000 messages of 1 B per second"]);
    assert!(asked.out.contains("75 messages of 1 B take"), "{asked}");
    for (drawn, file) in [("plot", "x.svg"), ("plot", "x.html")] {
        assert_eq!(dir.run(&[drawn, "x.run.jsonl", "-o", file]).code(), 0);
        assert!(std::fs::read_to_string(dir.path(file)).unwrap().contains("FRAG*10"), "{file}");
    }
}

/// The page that a run writes has its kind of time and messages a second; comparing names messages that differ, and refuses another kind of time.
#[test]
fn a_run_has_a_page_and_is_compared_by_its_messages_and_its_kind_of_time() {
    let dir = Scratch::new();
    let counted = ["--trials", "4", "--repeats", "40", "--budget", "60s", "--pin", "none", "--quiet"];
    let run = |name: &str, flags: &[&str]| {
        let to = ["--stack", TOTAL, "--members", "3", "--sizes", "1,1KiB", "-o", name];
        let said = dir.run(&[&["group"], &to[..], &counted, flags].concat());
        assert!(said.measured(), "{said}");
    };
    run("5.run.jsonl", &["--messages", "5", "--html", "x.html"]);
    run("25.run.jsonl", &["--messages", "25", "--no-html"]);
    run("one.run.jsonl", &["--messages", "5", "--one-sender", "--no-html"]);
    let page = std::fs::read_to_string(dir.path("x.html")).unwrap();
    // Its script knows the words of every run: what is told of this one stands before it.
    let page = &page[..page.find("<script").unwrap_or(page.len())];
    for part in ["a round of all members", "of all who cast, as each member delivers them", "/s<small>", "COM:udp"] {
        assert!(page.contains(part), "{part} is not on the page");
    }
    let compared = dir.run(&["compare", "5.run.jsonl", "25.run.jsonl"]);
    assert!(compared.code() == 0 && compared.out.contains("burst: 5 / 25"), "{compared}");
    let itself = dir.run(&["compare", "5.run.jsonl", "5.run.jsonl"]);
    assert!(itself.code() == 0 && !itself.out.contains("burst"), "{itself}");
    let kinds = ["a round of all members (group)", "one way to the slowest member (one-sender)", "can't be compared"];
    dir.run(&["compare", "5.run.jsonl", "one.run.jsonl"]).refuses(&kinds);
}

#[test]
fn a_stack_over_shared_memory_is_a_path_beside_one_over_udp() {
    let dir = Scratch::new();
    let shm = TOTAL.replace("udp", "shm");
    let said = group(
        &dir,
        &["--members", "4", "--size", "1,20KiB", "--messages", "25", "--check", "--stack", &shm, "--stack", TOTAL],
    );
    assert!(said.measured(), "{said}");
    let lines = events(&dir);
    for trial in trials(&lines) {
        assert!(trial["repeats"] == 40 && trial.get("lost").is_none(), "{trial}");
    }
    assert_eq!(of(&lines, "point").len(), 4);
    for args in [&["show", "x.run.jsonl", "--points"][..], &["export", "x.run.jsonl", "--format", "csv"]] {
        let out = dir.run(args);
        assert!(out.code() == 0 && out.out.contains("COM:shm") && out.out.contains("COM:udp"), "{out}");
    }
    let path = format!("strata:stack={shm}");
    for (flags, says) in [
        (&["--peer", "ssh://nobody@192.0.2.2"][..], "only between processes of one host"),
        (&["--pattern", "cast", "--peer", "ssh://nobody@192.0.2.2"], "a stack that ends in udp"),
    ] {
        let said = dir.run(&[&["run", &path, "--no-html", "-o", "y.run.jsonl"], flags].concat());
        assert!(said.code() == 2, "{said}");
        said.complains(&[says]);
    }
}

#[test]
fn the_price_of_layers_is_told_of_two_stacks_of_one_run() {
    let dir = Scratch::new();
    let paths = ["strata:stack=MBRSHIP:FRAG:NAK:COM:udp", "strata:stack=MBRSHIP:FRAG*10:NAK:COM:udp"];
    let flags = ["--pattern", "group", "--sizes", "1", "--no-html", "--pin", "none", "-q", "-o", "x.run.jsonl"];
    let said =
        dir.run(&[&["run"], &paths[..], &flags, &["--trials", "4", "--repeats", "20", "--budget", "60s"]].concat());
    assert!(said.measured(), "{said}");
    let layers = dir.run(&["layers", "x.run.jsonl"]);
    assert!(layers.code() == 0 && layers.out.contains("FRAG*10"), "{layers}");
}

#[test]
fn one_member_casts_and_the_slowest_other_one_ends_the_time() {
    for path in [
        "strata:stack=TOTAL:MBRSHIP:FRAG:NAK:COM:udp",
        "strata:stack=FC:SEQ:MBRSHIP:FRAG:NAK:COM:udp",
        "strata:stack=TOTAL:MBRSHIP:FRAG:NAK:COM:shm,wait=spin",
        "multicast:loss-timeout=5s",
    ] {
        let dir = Scratch::new();
        let said =
            group(&dir, &[path, "--one-sender", "--sizes", "1,64", "--messages", "3", "--members", "2,4", "--check"]);
        assert!(said.measured(), "{said}");
        let lines = events(&dir);
        assert_eq!(lines[0]["plan"]["pattern"], "one-sender");
        for trial in trials(&lines) {
            assert!(trial["repeats"] == 40 && trial.get("lost").is_none(), "{path}: {trial}");
        }
        let points = of(&lines, "point");
        assert_eq!(points.len(), 4, "{path}");
        for point in points {
            assert_eq!(point["time"], "delivery");
            // What each of the others is delivered.
            let rate = point["size"].as_f64().unwrap() * 3.0 * 8.0 / point["median"].as_f64().unwrap();
            assert!((point["throughput"].as_f64().unwrap() / rate - 1.0).abs() < 0.01, "{point}");
        }
        let shown = dir.run(&["show", "x.run.jsonl", "--points"]);
        assert!(shown.out.contains("one way to the slowest member"), "{shown}");
    }
}

#[test]
fn what_can_not_be_a_group_is_refused_before_anything_starts() {
    let dir = Scratch::new();
    for (flags, says) in [
        (&["--stack", "TOTAL:FRAG:NAK:COM:udp"][..], "add MBRSHIP"),
        (&["--stack", "MBRSHIP:COM:udp"], "a stack needs one NAK above COM"),
        (&["--stack", "FRUG*10"], "FRUG"),
        (&["--stack", "TOTAL:MBRSHIP:FRAG:NAK:COM:udp,FRAG"], "comes several times"),
        (&["--members", "1"], "2..="),
        (&["--messages", "0"], "at least 1 message"),
        (&["tcp"], "it has no group"),
        (&["theory:members=3"], "only answer, and don't cast"),
        (&["theory:members=3", "--one-sender"], "don't tell when a cast was there"),
    ] {
        let said = group(&dir, flags);
        assert!(said.code() == 2, "{flags:?}: {said}");
        said.complains(&[says]);
        assert!(!dir.path("x.run.jsonl").exists(), "{flags:?}");
    }
}

#[test]
fn a_killed_member_is_named_and_what_was_measured_is_kept() {
    for (path, flags, command, says) in [
        ("strata", &[][..], "peer", "far member"),
        ("strata", &["--one-sender"], "peer", "far member"),
        ("strata", &[], "member", "the near process ended"),
        ("strata:stack=TOTAL:MBRSHIP:FRAG:NAK:COM:shm", &[], "peer", "far member"),
        ("multicast", &[], "peer", "far member"),
    ] {
        let dir = Scratch::new();
        let ends = ["--budget", "120s", "--precision", "0.001%", "--pin", "none", "--no-html", "-o", "x.run.jsonl"];
        let args = [&["group", path, "--members", "3", "--sizes", "1,1KiB"], flags, &ends].concat();
        let mut run = Running::start(dir.command(&args));
        under_way(&mut run, &dir.path("x.run.jsonl"));
        let pid = run.pid();
        let victim = until("a process of the run", || children(pid, command).pop());
        send(victim.pid, Signal::KILL);
        let said = run.end();
        assert!(said.code() == 1 || said.code() == 2, "{path} {flags:?} {command}: {said}");
        said.complains(&[says, "signal 9"]);
        assert!(children(pid, "").is_empty(), "{path} {flags:?} {command}");
        let shown = dir.run(&["show", "x.run.jsonl", "--points"]);
        assert!(shown.out.contains(" us") || shown.out.contains(" ms"), "{path} {flags:?} {command}: {shown}");
    }
}

/// Each member has a host of its own: what they cast goes over the links of a bridge, to all of them.
#[test]
fn members_in_hosts_of_their_own_cast_to_each_other_over_the_links_of_a_laboratory() {
    if !super::laboratory::possible() {
        return;
    }
    let apart = "--peer-under 'ip netns exec h2' --peer-under 'ip netns exec h3' --peer-address h2 --peer-address h3";
    for path in [
        format!("--stack {TOTAL}"),
        "--stack MBRSHIP:FRAG:NAK:COM:multicast".to_owned(),
        "multicast:address=239.192.80.71,interface=eth0,ttl=1,loss-timeout=5s".to_owned(),
    ] {
        let dir = Scratch::new();
        let script = format!(
            "'{}' group {path} --members 3 --size 1KiB --messages 5 {apart} {} --no-history; code=$?; \
             for h in h2 h3; do ip -n $h -j -s link show eth0 > $h.json; done; exit $code",
            super::support::binary().display(),
            COUNTED.join(" ")
        );
        let said = dir.run(&["lab", "--hosts", "3", "--", "sh", "-c", &script]);
        assert!(said.measured(), "{path}: {said}");
        let lines = events(&dir);
        assert!(trials(&lines).count() >= 2, "{path}: {said}");
        for trial in trials(&lines) {
            assert!(trial["repeats"] == 40 && trial.get("lost").is_none(), "{path}: {trial}");
        }
        for host in ["h2", "h3"] {
            let link = std::fs::read_to_string(dir.path(&format!("{host}.json"))).unwrap();
            let link: Value = serde_json::from_str(&link).unwrap();
            let stats = &link[0]["stats64"];
            let [sent, got] = ["tx", "rx"].map(|way| stats[way]["bytes"].as_u64().unwrap());
            // Two trials of forty rounds: five messages of this member, and ten of the others.
            assert!(sent > 2 * 40 * 5 * 1024 && got > 2 * 40 * 10 * 1024, "{path}: {host} sent {sent} and got {got}");
        }
    }
}

/// A name leads to IPv6 first, and members have IPv4 addresses.
#[test]
fn an_address_of_ipv6_is_refused_with_what_to_give_instead() {
    let dir = Scratch::new();
    for (address, says) in [("::1", &["IPv4", "--peer-address"][..]), ("fd77::2", &["IPv4", "--peer-address"])] {
        let said = group(&dir, &["--peer-address", address]);
        assert!(said.code() == 2, "{address}: {said}");
        said.complains(says);
        assert!(!said.err.contains("-4"), "nobody asked for it: {said}");
    }
}
