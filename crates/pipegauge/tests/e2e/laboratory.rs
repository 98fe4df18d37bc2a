//! `lab`: hosts on this machine that are there for one command, and nothing afterwards.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};

use rustix::process::Signal;

use super::processes::command_line;
use super::support::{Running, Said, Scratch, installed, skip, until};

/// Whether there can be one here: the kernel is asked, not the command under test.
pub fn possible() -> bool {
    let tried = Command::new("unshare").args(["--net", "true"]).stderr(Stdio::null()).status();
    let can = tried.is_ok_and(|status| status.success()) && installed("ip").is_some();
    if !can {
        skip("network namespaces of one's own are not to be had here (unshare --net, ip)");
    }
    can
}

fn sh(dir: &Scratch, flags: &[&str], script: &str) -> Said {
    dir.run(&[&["lab"], flags, &["--", "sh", "-c", script]].concat())
}

/// Names of this host's interfaces and of its namespaces.
fn outside() -> BTreeSet<String> {
    let said =
        |words: &[&str]| String::from_utf8_lossy(&Command::new("ip").args(words).output().unwrap().stdout).into_owned();
    let interfaces = said(&["-br", "link"]);
    let namespaces = said(&["netns", "list"]);
    let lines = interfaces.lines().chain(namespaces.lines());
    lines.filter_map(|line| Some(line.split_whitespace().next()?.to_owned())).collect()
}

#[test]
fn a_pair_of_hosts_has_the_rate_the_packets_and_the_names_that_were_asked_for() {
    let dir = Scratch::new();
    if !possible() {
        return;
    }
    let script = "ip -o link show eth0; tc qdisc show dev eth0; ip netns exec h2 tc qdisc show dev eth0; getent hosts h2 || cat /etc/hosts; echo $H1 $H2 $H2_IPV6; \
                  ip netns list; cat /proc/sys/net/ipv4/tcp_sack; ip netns exec h2 cat /proc/sys/net/ipv4/tcp_sack";
    let said = sh(&dir, &["--rate", "100Mbit/s", "--mtu", "9000", "--sysctl", "net.ipv4.tcp_sack=0"], script);
    assert_eq!(said.code(), 0, "{said}");
    for words in ["mtu 9000", "rate 100Mbit", "h2", "10.77.0.1 10.77.0.2 fd77::2"] {
        assert!(said.out.contains(words), "{words}: {said}");
    }
    assert_eq!(said.out.0.matches("rate 100Mbit").count(), 2, "{said}");
    assert!(said.out.0.ends_with("0\n0\n"), "{said}");
    assert_eq!(fs::read_to_string("/proc/sys/net/ipv4/tcp_sack").unwrap().trim(), "1", "this host's own is as it was");
}

#[test]
fn a_run_goes_from_one_host_to_the_other() {
    let dir = Scratch::new();
    if !possible() {
        return;
    }
    let program = super::support::binary().display().to_string();
    for address in ["h2", "10.77.0.2", "fd77::2"] {
        let file = format!("{}.run.jsonl", address.replace(':', ""));
        let counted = "--sizes 64,64KiB --trials 2 --repeats 5 --pin none --no-html --no-history -q --check";
        let script = format!(
            "{program} run tcp --peer-under 'ip netns exec h2' --peer-address {address} {counted} -o {file}; code=$?; \
             ip -j -s link show eth0 > {file}.json; exit $code"
        );
        let said = sh(&dir, &["--mtu", "4000"], &script);
        assert!(said.measured(), "{address}: {said}");
        let links = super::support::json(&fs::read_to_string(dir.path(&format!("{file}.json"))).unwrap());
        let carried = links[0]["stats64"]["tx"]["bytes"].as_u64().unwrap();
        assert!(carried > 20 * 64 * 1024, "{address}: {carried} bytes went over the link");
    }
}

/// The command under these words of other programs, or nothing where they can't be had here.
fn under(dir: &Scratch, words: &[&str]) -> Option<Said> {
    let tried = Command::new(words[0]).args(&words[1..]).arg("true").stderr(Stdio::null()).status();
    if !tried.is_ok_and(|status| status.success()) {
        skip(&format!("`{}` is not to be had here", words.join(" ")));
        return None;
    }
    let lab = dir.command(&["lab", "--", "ip", "netns", "list"]);
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg(lab.get_program()).args(lab.get_args()).current_dir(dir.path("."));
    Some(Running::start(command).end())
}

#[test]
fn who_lacks_the_rights_gets_them_in_a_user_namespace_or_is_told_why_not() {
    let dir = Scratch::new();
    if !possible() {
        return;
    }
    let without = ["setpriv", "--bounding-set", "-sys_admin"];
    for words in [&without[..], &["unshare", "-Ur"], &["unshare", "-Urn"]] {
        let Some(said) = under(&dir, words) else { continue };
        assert_eq!(said.code(), 0, "{words:?}: {said}");
        assert!(said.out.contains("h1") && said.out.contains("h2"), "{words:?}: {said}");
    }
    let none = "echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --bounding-set -sys_admin \"$@\"";
    if let Some(said) = under(&dir, &["unshare", "-Ur", "sh", "-c", none, "sh"]) {
        said.refuses(&["a laboratory needs namespaces", "unshare --mount", "max_user_namespaces is 0", "sudo"]);
    }
}

/// A token bucket lets pass at once what it saved up: a large message shows its rate, and what smaller ones show above that is said.
#[test]
fn what_a_shapers_bucket_saved_up_is_not_passed_off_as_what_the_link_carries() {
    let dir = Scratch::new();
    if !possible() {
        return;
    }
    let program = super::support::binary().display().to_string();
    for pattern in ["ping-pong", "stream"] {
        let script = format!(
            "{program} run tcp --peer-under 'ip netns exec h2' --peer-address h2 --pattern {pattern} --sizes 4KiB,16KiB,2MiB --trials 2 --repeats 3 \
             --pin none --no-html --no-history -q -o {pattern}.run.jsonl"
        );
        let said = sh(&dir, &["--rate", "100Mbit/s"], &script);
        assert!(said.measured(), "{said}");
        let doc = super::support::json(&dir.run(&["show", &format!("{pattern}.run.jsonl"), "--json"]).out);
        let points = doc["paths"][0]["points"].as_array().unwrap();
        let rate = |point: &serde_json::Value, seconds: &str| {
            let [size, seconds] = [&point["size"], &point[seconds]].map(|value| value.as_f64().unwrap());
            size * 8.0 / seconds
        };
        let last = points.last().unwrap();
        assert!(last["size"] == 2 << 20 && rate(last, "median") < 2e8, "no bucket of 128 KiB holds that: {last}");
        // How fast small ones are is the machine's affair.
        let surely_above = points.iter().any(|p| rate(p, "seen_high") > 1.3 * rate(last, "seen_low"));
        let shown = dir.run(&["show", &format!("{pattern}.run.jsonl"), "--warnings"]);
        let asked = dir.run(&["ask", "can tcp do 1 Gbit/s", &format!("{pattern}.run.jsonl")]);
        assert!(!asked.out.contains("tcp: yes"), "{asked}");
        assert!(!surely_above || shown.out.contains("token bucket"), "{shown}{doc}");
    }
}

#[test]
fn more_hosts_reach_each_other_by_a_bridge() {
    let dir = Scratch::new();
    if !possible() {
        return;
    }
    // Each host's server answers each other's connection.
    let script = "for i in 1 2 3 4; do ip netns exec h$i ip -o -4 address show eth0; done; ip -n switch -o link show master bridge | wc -l";
    let said = sh(&dir, &["--hosts", "4"], script);
    assert!(said.code() == 0 && said.out.contains("10.77.0.4/24") && said.out.0.ends_with("4\n"), "{said}");
    let program = super::support::binary().display().to_string();
    let script = format!(
        "{program} run tcp --peer-under 'ip netns exec h4' --peer-address h4 --sizes 64 --trials 2 --repeats 5 --pin none --no-html --no-history -q -o four.run.jsonl"
    );
    let said = sh(&dir, &["--hosts", "4"], &script);
    assert!(said.measured(), "{said}");
}

#[test]
fn offloads_are_switched_where_ethtool_is() {
    let dir = Scratch::new();
    if !possible() {
        return;
    }
    if installed("ethtool").is_none() {
        dir.run(&["lab", "--offloads", "off", "--", "true"]).refuses(&["ethtool", "apt install ethtool"]);
        skip("ethtool is not installed");
        return;
    }
    let said =
        sh(&dir, &["--offloads", "off", "--offload", "gro=on"], "ethtool -k eth0; ip netns exec h2 ethtool -k eth0");
    assert_eq!(said.code(), 0, "{said}");
    assert_eq!(said.out.0.matches("tcp-segmentation-offload: off").count(), 2, "{said}");
    assert_eq!(said.out.0.matches("generic-receive-offload: on").count(), 2, "{said}");
}

#[test]
fn the_exit_code_is_the_commands_and_odd_input_is_refused() {
    let dir = Scratch::new();
    for (words, why) in [
        (&["--hosts", "1"][..], "2 to 200 hosts"),
        (&["--mtu", "10"], "--mtu 10"),
        (&["--rate", "0bit/s"], "carries nothing"),
        (&["--rate", "8bit/s"], "from 63bit/s on it can"),
        (&["--rate", "10Tbit/s"], "8.59 Tbit/s at most"),
        (&["--json"], "leave out --json"),
        (&["--burst", "64KiB"], "add --rate"),
        (&["--offload", "gro"], "NAME=on"),
        (&["--sysctl", "kernel.panic=1"], "net.NAME=VALUE"),
    ] {
        dir.run(&[&["lab"], words, &["--", "true"]].concat()).refuses(&[why]);
    }
    let said = dir.run(&["lab", "--hosts", "3", "--mtu", "2000", "--dry-run"]);
    assert!(said.code() == 0 && said.out.contains("ip -n h3 link set eth0 mtu 2000"), "{said}");
    if !possible() {
        return;
    }
    assert_eq!(sh(&dir, &[], "exit 7").code(), 7);
    assert_eq!(sh(&dir, &[], "kill -9 $$").code(), 137);
    let said = dir.run(&["lab", "--", "no-such-program"]);
    assert!(said.code() == 127 && said.err.contains("no-such-program"), "{said}");
    assert_eq!(dir.run(&["lab", "--", "/etc/passwd"]).code(), 126);
    let said = dir.run(&["lab", "--sysctl", "net.no.such=1", "--", "true"]);
    assert!(said.code() == 2 && said.err.contains("net.no.such is no setting that a host"), "{said}");
    let said = dir.run(&["lab", "--sysctl", "net.core.rmem_max=5000", "--", "true"]);
    // Some kernels have one for each namespace.
    assert!(said.code() == 0 || said.err.contains("net.core.rmem_max is no setting that a host"), "{said}");
    let said = dir.run(&["lab", "--sysctl", "net.ipv4.tcp_sack=many", "--", "true"]);
    assert!(said.code() == 2 && said.err.contains("net.ipv4.tcp_sack=many: the system refuses"), "{said}");
    assert!(!said.err.contains("ip netns exec"), "{said}");
}

#[test]
fn nothing_stays_behind_however_it_ends() {
    let dir = Scratch::new();
    if !possible() {
        return;
    }
    let before = outside();
    for signal in [Signal::KILL, Signal::TERM, Signal::HUP, Signal::INT] {
        // What it started in the background is in no process group of the command's.
        let mark = format!("6{}{}", std::process::id(), signal.as_raw());
        let script = format!("setsid sleep {mark} & ip netns exec h2 setsid sleep {mark} & echo ready; sleep {mark}");
        let lab = Running::start(dir.command(&["lab", "--hosts", "3", "--", "sh", "-c", &script]));
        assert_eq!(lab.line().trim(), "ready");
        let sleeping = || {
            let all = fs::read_dir("/proc").unwrap().filter_map(|e| e.ok()?.file_name().to_str()?.parse::<u32>().ok());
            all.filter(|pid| command_line(*pid).contains(&format!("sleep {mark}"))).count()
        };
        until("three sleepers", || (sleeping() >= 3).then_some(()));
        lab.signal(signal);
        drop(lab);
        until("no sleeper", || (sleeping() == 0).then_some(()));
    }
    // Other tests make and remove some at the same time.
    until("no interface more than before", || outside().is_subset(&before).then_some(()));
}

#[test]
fn a_command_that_heeds_no_signal_is_killed_with_all_that_it_started() {
    let dir = Scratch::new();
    if !possible() {
        return;
    }
    for signals in [1, 2] {
        let mark = format!("7{}{signals}", std::process::id());
        let script = format!("trap '' TERM INT HUP; setsid sleep {mark} & echo ready; sleep {mark}");
        let lab = Running::start(dir.command(&["lab", "--", "sh", "-c", &script]));
        assert_eq!(lab.line().trim(), "ready");
        for _ in 0..signals {
            lab.signal(Signal::TERM);
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
        let said = lab.end();
        assert!(said.code() == 137 && said.err.contains("is killed"), "{said}");
        let sleeping = || {
            let all = fs::read_dir("/proc").unwrap().filter_map(|e| e.ok()?.file_name().to_str()?.parse::<u32>().ok());
            all.filter(|pid| command_line(*pid).contains(&format!("sleep {mark}"))).count()
        };
        until("no sleeper", || (sleeping() == 0).then_some(()));
    }
}

#[test]
fn a_laboratory_within_another_is_one_like_any_other() {
    let dir = Scratch::new();
    if !possible() {
        return;
    }
    let own = super::support::binary().display();
    let said = sh(&dir, &[], &format!("{own} lab --hosts 3 -- ip netns list; echo $?; ip netns list | wc -l"));
    assert!(said.code() == 0 && said.out.contains("h3") && said.out.0.ends_with("0\n2\n"), "{said}");
}

#[test]
fn two_laboratories_side_by_side_do_not_meet() {
    let dir = Scratch::new();
    if !possible() {
        return;
    }
    let first = Running::start(dir.command(&["lab", "--mtu", "3000", "--", "sh", "-c", "echo ready; sleep 600"]));
    assert_eq!(first.line().trim(), "ready");
    let said = sh(&dir, &["--mtu", "2000"], "ip -o link show eth0; ip netns list | wc -l");
    assert!(said.code() == 0 && said.out.contains("mtu 2000") && said.out.0.ends_with("2\n"), "{said}");
    first.signal(Signal::TERM);
    drop(first);
}
