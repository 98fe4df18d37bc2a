//! Groups from outside: what a run of one measures and tells, what it refuses, and what becomes of it when a member ends.

use rustix::process::Signal;

use super::no_network::isolated;
use super::processes::{children, send, under_way};
use super::support::{LONG, Running, Said, Scratch, binary, skip, until};

fn measured(dir: &Scratch, sizes: &str, repeats: &str, more: &[&str]) -> Said {
    over("multicast:loss-timeout=5s", dir, sizes, repeats, more)
}

fn over(path: &str, dir: &Scratch, sizes: &str, repeats: &str, more: &[&str]) -> Said {
    let mut args = vec!["run", path, "--check", "--sizes", sizes, "--repeats", repeats];
    args.extend(["--trials", "2", "--budget", "60s", "--pin", "none", "--no-html", "--quiet", "-o", "x.run.jsonl"]);
    args.extend(more);
    let said = dir.run(&args);
    assert!(said.measured(), "{more:?}: {said}");
    said
}

fn events(dir: &Scratch) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Its trials after the survey.
fn trials(lines: &[serde_json::Value]) -> impl Iterator<Item = &serde_json::Value> {
    lines.iter().filter(|line| line["event"] == "trial" && line["warmup"] != true)
}

#[test]
fn a_transport_that_is_a_group_casts_to_two_receivers_by_itself() {
    let dir = Scratch::new();
    measured(&dir, "64,4KiB", "300", &[]);
    let lines = events(&dir);
    let plan = &lines.iter().find(|line| line["event"] == "run").unwrap()["plan"];
    assert_eq!((&plan["pattern"], &plan["paths"][0]["topology"]), (&"cast".into(), &"group".into()));
    let trials: Vec<_> = lines.iter().filter(|line| line["event"] == "trial").collect();
    assert!(!trials.is_empty());
    for trial in trials {
        assert_eq!(trial["flows"]["each"].as_array().map(Vec::len), Some(2), "{trial}");
        assert!(trial["median"].as_f64().is_some_and(|median| median > 0.0), "{trial}");
    }
    let shown = dir.run(&["show", "x.run.jsonl", "--points"]);
    for part in
        ["a group of 3 members at once", "times are RTT", "receiving members", "slowest receiving member", "fairness"]
    {
        assert!(shown.out.contains(part), "{part}: {shown}");
    }
    for format in ["csv", "json"] {
        assert!(dir.run(&["export", "x.run.jsonl", "--format", format]).out.contains("group"), "{format}");
    }
    let asked = dir.run(&["ask", "x.run.jsonl", "latency of 64 B"]);
    assert!(asked.code() == 0 && !asked.out.contains("no answer") && asked.out.contains(" us"), "{asked}");
    assert_eq!(dir.run(&["compare", "x.run.jsonl", "x.run.jsonl"]).code(), 0);
}

#[test]
fn groups_of_several_sizes_are_paths_of_one_run_and_a_stream_is_counted_at_each_receiver() {
    let dir = Scratch::new();
    measured(&dir, "64,4KiB", "300", &["--topology", "group", "--members", "2,4"]);
    let labels: Vec<_> =
        events(&dir)[0]["plan"]["paths"].as_array().unwrap().iter().map(|p| p["label"].clone()).collect();
    assert!(
        labels[0].as_str().unwrap().ends_with("group=2") && labels[1].as_str().unwrap().ends_with("group=4"),
        "{labels:?}"
    );
    let shown = dir.run(&["show", "x.run.jsonl"]);
    assert!(shown.out.contains("groups of 2 and 4 members at once"), "{shown}");
    let dir = Scratch::new();
    measured(&dir, "1KiB", "30", &["--pattern", "stream", "--rate", "1Mbit/s"]);
    let lines = events(&dir);
    let trial = lines.iter().rfind(|line| line["event"] == "trial").unwrap();
    assert!(trial["flows"]["each"].as_array().unwrap().iter().all(|flow| flow["sent"].as_f64() > Some(0.0)), "{trial}");
}

#[test]
fn what_is_no_group_and_what_no_group_does_is_refused_before_anything_is_measured() {
    let dir = Scratch::new();
    for (args, says) in [
        (&["tcp", "--topology", "group", "--members", "3"][..], "it has no group"),
        (&["multicast", "--pattern", "ping-pong"], "--pattern stream, cast, group and one-sender"),
        (&["multicast", "--pairs", "2"], "--topology group --members N"),
        (&["multicast", "--pattern", "stream", "--reverse"], "one member casts"),
        (&["multicast", "--to", "1MiB"], "messages of at most 65,491 B"),
        (&["multicast:address=10.0.0.1"], "224.0.0.0 to 239.255.255.255"),
        (&["multicast:address=ff00::1"], "of IPv6 with a scope from 1 on"),
        (&["multicast:address=239.192.80.71", "-6"], "it is of IPv4, and IPv6 was asked for"),
        (&["multicast:address=ff02::5047", "-4"], "it is of IPv6, and IPv4 was asked for"),
        (&["multicast", "-6", "--to", "1MiB"], "messages of at most 65,511 B"),
        (&["multicast", "--peer-address", "localhost"], "--peer-address changes nothing here"),
        (&["multicast:group=1"], "2 to 129 members"),
        (&["multicast:interface=nosuch0"], "interface 'nosuch0'"),
        (&["theory:members=3", "--pattern", "stream"], "only answer"),
        (
            &["strata:stack=TOTAL:FRAG:NAK:COM:udp"],
            "TOTAL needs P8 (semi-synchronous), which nothing below it provides: add MBRSHIP",
        ),
        (&["strata:stack=TOTALLY:MBRSHIP:FRAG:NAK:COM:udp"], "a layer \"TOTALLY\", which there is none of"),
        (&["strata:stack=FRAG:NAK:COM:udp"], "add MBRSHIP"),
        (&["strata:bind=nowhere"], "an IPv4 address of this host"),
        (&["strata", "--pattern", "ping-pong"], "--pattern stream, cast, group and one-sender"),
        (&["strata", "--to", "32MiB"], "messages of at most 16 MiB"),
    ] {
        let said = dir.run(&[&["run"], args, &["--no-html", "-o", "x.run.jsonl"]].concat());
        assert!(said.code() == 2, "{args:?}: {said}");
        said.complains(&[says]);
    }
}

#[test]
fn an_interface_that_does_no_multicast_is_refused() {
    let dir = Scratch::new();
    let Some(mut shell) = isolated("sh") else { return };
    let run = format!(
        "ip link set lo up; ip link add d0 type dummy && ip link set d0 up multicast off || exit 77; \
         '{}' run multicast:interface=d0,ttl=1 --no-history --no-html -o x.run.jsonl",
        binary().display()
    );
    let out = shell.args(["-c", &run]).current_dir(dir.path(".")).output().unwrap();
    if out.status.code() == Some(77) {
        skip("an interface of one's own is not to be had here (ip link add type dummy)");
        return;
    }
    let text = String::from_utf8_lossy(&out.stderr);
    assert!(text.contains("it does no multicast") && out.status.code() == Some(2), "{text}");
}

/// Runs a script that has the command as `$0` in a network of its own with a cable, both ends of which are in it. None where that can't be had.
fn on_a_cable(dir: &Scratch, script: &str) -> Option<std::process::Output> {
    let cable = "ip link set lo up; ip link add v0 type veth peer name v1 || exit 77; \
                 for v in v0 v1; do echo 0 > /proc/sys/net/ipv6/conf/$v/accept_dad; ip link set $v up; done 2>/dev/null; \
                 ip addr add 192.0.2.1/24 dev v0; \
                 for i in $(seq 200); do [ ! -e /proc/net/if_inet6 ] || grep -q '^fe80.* v0$' /proc/net/if_inet6 && break; sleep 0.05; done";
    let mut shell = isolated("sh")?;
    let out =
        shell.arg("-c").arg(format!("{cable}; {script}")).arg(binary()).current_dir(dir.path(".")).output().unwrap();
    if out.status.code() == Some(77) {
        skip("a cable of one's own is not to be had here (ip link add type veth)");
        return None;
    }
    Some(out)
}

const COUNTED: &str = "--check --sizes 64,4KiB,60000 --repeats 50 --trials 2 --budget 60s --pin none --no-html --no-history -q -o x.run.jsonl";

#[test]
fn a_group_by_an_interface_other_than_the_loopback_one_loses_nothing() {
    for path in [
        "multicast:interface=v0,loss-timeout=5s",
        "multicast:family=6,loss-timeout=5s",
        "multicast:address=ff02::5047,interface=v0,loss-timeout=5s",
    ] {
        let dir = Scratch::new();
        let over_v6 = path.contains("family=6") || path.contains("ff02");
        let needs = if over_v6 { "[ -e /proc/net/if_inet6 ] || exit 78; " } else { "" };
        let script = format!("{needs}exec \"$0\" run {path} {COUNTED}");
        let Some(out) = on_a_cable(&dir, &script) else { return };
        if out.status.code() == Some(78) {
            skip("groups of IPv6: this kernel has none of it (/proc/net/if_inet6)");
            continue;
        }
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(matches!(out.status.code(), Some(0 | 1)), "{path}: {said}");
        let lines = events(&dir);
        let opened = lines.iter().find(|line| line["event"] == "path").unwrap();
        let at = opened["near_effective"]["addresses"].as_str().unwrap();
        // A group within one interface takes the first.
        let first =
            if path.contains("interface") { " by v0, ttl 0, member 0 of 3" } else { " by v1, ttl 0, member 0 of 3" };
        assert!(at.contains(first), "{at}");
        assert!(trials(&lines).count() >= 6, "{path}: {said}");
        for trial in trials(&lines) {
            assert!(trial.get("lost").is_none() && trial["repeats"] == 50, "{path}: {trial}");
        }
    }
}

/// Linux has no route for groups of IPv6 by the loopback interface: the error says how there is one, and then there is.
#[test]
fn the_loopback_interface_carries_groups_of_ipv6_once_it_has_the_route_that_the_error_names() {
    let dir = Scratch::new();
    let Some(mut shell) = isolated("sh") else { return };
    let run = |path: &str| format!("rm -f x.run.jsonl; \"$0\" run {path} -6 {COUNTED}");
    let (by_itself, asked) = (run("multicast:loss-timeout=5s"), run("multicast:interface=lo,loss-timeout=5s"));
    let script = format!(
        "[ -e /proc/net/if_inet6 ] || exit 78; ip link set lo up; {by_itself} 2> said; cat said >&2; {asked}; \
         eval \"$(grep -o \"ip -6 route add [a-z0-9:/ ]*\" said)\" || exit 79; {by_itself} && {asked}"
    );
    let out = shell.arg("-c").arg(script).arg(binary()).current_dir(dir.path(".")).output().unwrap();
    if out.status.code() == Some(78) {
        return skip("groups of IPv6: this kernel has none of it (/proc/net/if_inet6)");
    }
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(said.matches("Linux routes no group of IPv6 by it ('ip -6 route add").count(), 2, "{said}");
    assert_eq!(said.matches("ip -6 route add").count(), 2, "once each: {said}");
    assert!(matches!(out.status.code(), Some(0 | 1)), "{said}");
    let lines = events(&dir);
    let opened = lines.iter().find(|line| line["event"] == "path").unwrap();
    assert!(opened["near_effective"]["addresses"].as_str().unwrap().starts_with("[ff11::5047%1]:"), "{opened}");
    assert!(trials(&lines).all(|trial| trial.get("lost").is_none()), "{said}");
}

#[test]
fn a_group_between_two_hosts_of_a_laboratory_goes_over_their_link() {
    if !super::laboratory::possible() {
        return;
    }
    for group in ["address=239.192.80.71", "address=ff02::5047"] {
        let dir = Scratch::new();
        let path = format!("multicast:{group},interface=eth0,ttl=1,loss-timeout=5s");
        let script = format!(
            "'{}' run {path} --peer-under 'ip netns exec h2' --peer-address h2 {COUNTED}; code=$?; ip -j -s link show eth0 > link.json; exit $code",
            binary().display()
        );
        let said = dir.run(&["lab", "--", "sh", "-c", &script]);
        assert!(said.measured(), "{group}: {said}");
        let lines = events(&dir);
        assert!(trials(&lines).count() >= 6, "{group}: {said}");
        for trial in trials(&lines) {
            assert!(trial.get("lost").is_none(), "{group}: {trial}");
        }
        let link: serde_json::Value = serde_json::from_slice(&std::fs::read(dir.path("link.json")).unwrap()).unwrap();
        let carried = link[0]["stats64"]["tx"]["bytes"].as_u64().unwrap();
        assert!(carried > 2 * 50 * 64_000, "{group}: {carried} bytes went over the link");
    }
}

#[test]
fn a_killed_member_ends_the_run_is_named_and_leaves_none() {
    for (path, (command, pattern, says)) in [
        ("member", "cast", "the near process ended"),
        ("peer", "cast", "receiving member"),
        ("peer", "stream", "receiving member"),
    ]
    .into_iter()
    .flat_map(|case| ["multicast", "strata"].map(|path| (path, case)))
    {
        let dir = Scratch::new();
        let mut args = vec!["run", path, "--pattern", pattern, "-o", "x.run.jsonl"];
        args.extend(LONG);
        let mut run = Running::start(dir.command(&args));
        under_way(&mut run, &dir.path("x.run.jsonl"));
        let pid = run.pid();
        let victim = until("a process of the run", || children(pid, command).pop());
        send(victim.pid, Signal::KILL);
        let said = run.end();
        assert!(said.code() == 1 || said.code() == 2, "{command} {pattern}: {said}");
        said.complains(&[says, "signal 9"]);
        assert!(children(pid, "").is_empty(), "{command} {pattern}");
        let text = std::fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
        assert!(text.contains("\"event\":\"trial\"") && text.contains("\"event\":\"end\""), "{command} {pattern}");
    }
}

#[test]
fn a_modelled_group_takes_exactly_its_time() {
    let dir = Scratch::new();
    let path = "theory:latency=10us,rate=8Gbit/s,header=0,packet=1GiB,members=4";
    let said = dir.run(&["run", path, "--pattern", "cast", "--sizes", "1000", "--no-html", "-o", "x.run.jsonl"]);
    assert!(said.measured(), "{said}");
    let lines = events(&dir);
    let trial = lines.iter().rfind(|line| line["event"] == "trial").unwrap();
    // 10 us and 1 us there, 10 us back, and three answers of 4 ns one after another.
    assert_eq!(trial["median"].as_f64().map(|median| (median * 1e9).round()), Some(21_012.0), "{trial}");
    assert_eq!(trial["flows"]["each"].as_array().map(Vec::len), Some(3));
}

#[test]
fn strata_is_a_group_over_the_stack_that_is_written_down() {
    let dir = Scratch::new();
    over(
        "strata:stack=TOTAL:MBRSHIP:FRAG:NAK:COM:udp",
        &dir,
        "1,20KiB",
        "100",
        &["--topology", "group", "--members", "2,3,5"],
    );
    let lines = events(&dir);
    let paths = lines[0]["plan"]["paths"].as_array().unwrap();
    assert_eq!(paths.len(), 3);
    for trial in trials(&lines) {
        assert!(trial.get("lost").is_none(), "{trial}");
        let received = [2, 3, 5][trial["path"].as_u64().unwrap() as usize] - 1;
        let each = trial["flows"]["each"].as_array().map_or(1, Vec::len);
        assert_eq!(each, received, "{trial}");
    }
    let shown = dir.run(&["show", "x.run.jsonl"]);
    assert!(shown.out.contains("stack=TOTAL:MBRSHIP:FRAG:NAK:COM:udp"), "{shown}");
    let dir = Scratch::new();
    over(
        "strata:stack=FC:SEQ:MBRSHIP:FRAG*10:NAK:CRYPT:COM:multicast,wait=spin",
        &dir,
        "1KiB",
        "100",
        &["--pattern", "stream"],
    );
    let listed = dir.run(&["list", "strata"]);
    assert!(listed.out.contains("groups") && listed.out.contains("FRAG*10"), "{listed}");
}

#[test]
fn two_groups_of_strata_measure_beside_each_other() {
    let dirs = [Scratch::new(), Scratch::new()];
    let stack = "strata:stack=TOTAL:MBRSHIP:FRAG:NAK:COM:multicast";
    std::thread::scope(|s| {
        for dir in &dirs {
            s.spawn(|| over(stack, dir, "64", "200", &[]));
        }
    });
    assert!(dirs.iter().all(|dir| events(dir).iter().any(|line| line["event"] == "trial")));
}

#[test]
fn the_group_pattern_measures_rounds_of_all_members_and_every_report_knows_it() {
    let dir = Scratch::new();
    let more = ["--pattern", "group", "--messages", "5", "--topology", "group", "--members", "2,3"];
    over("strata:stack=TOTAL:MBRSHIP:FRAG:NAK:COM:udp", &dir, "1,1KiB", "50", &more);
    let lines = events(&dir);
    assert_eq!((&lines[0]["plan"]["pattern"], &lines[0]["plan"]["burst"]), (&"group".into(), &5.into()));
    for trial in trials(&lines) {
        assert!(trial.get("lost").is_none() && trial["repeats"] == 50, "{trial}");
    }
    // What each member delivers in a round, its own messages included.
    let points: Vec<_> = lines.iter().filter(|line| line["event"] == "point").collect();
    assert_eq!(points.len(), 4);
    for point in points {
        let members = [2.0, 3.0][point["path"].as_u64().unwrap() as usize];
        let bytes = point["size"].as_f64().unwrap() * 5.0 * members;
        let rate = bytes / point["median"].as_f64().unwrap();
        assert!((point["throughput"].as_f64().unwrap() / rate / 8.0 - 1.0).abs() < 0.01, "{point}");
    }
    let shown = dir.run(&["show", "x.run.jsonl", "--points"]);
    assert!(shown.out.contains("a round of all members"), "{shown}");
    for format in ["csv", "json"] {
        assert!(dir.run(&["export", "x.run.jsonl", "--format", format]).out.contains("group"), "{format}");
    }
    assert_eq!(dir.run(&["compare", "x.run.jsonl", "x.run.jsonl"]).code(), 0);
    assert_eq!(dir.run(&["plot", "x.run.jsonl", "-o", "x.svg"]).code(), 0);
    assert_eq!(dir.run(&["plot", "x.run.jsonl", "-o", "x.html"]).code(), 0);
}

#[test]
fn the_group_pattern_runs_where_nothing_is_promised_but_the_order_of_each_sender() {
    for path in ["multicast:loss-timeout=5s", "strata:stack=MBRSHIP:FRAG:NAK:COM:udp,wait=spin"] {
        let dir = Scratch::new();
        over(path, &dir, "1,4KiB", "50", &["--pattern", "group"]);
        let lines = events(&dir);
        assert_eq!(lines[0]["plan"]["burst"], 1, "one message a round");
        assert!(lines.iter().any(|line| line["event"] == "trial" && line["repeats"] == 50), "{path}");
    }
    let dir = Scratch::new();
    let said = dir.run(&["run", "theory:members=3", "--pattern", "group", "--no-html", "-o", "x.run.jsonl"]);
    said.complains(&["only answer, and don't cast"]);
}
