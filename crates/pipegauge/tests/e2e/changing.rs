//! Settings of a host that a sweep changes: with consent alone, and put back however it ends. Every change here is made in a network namespace of
//! the test's own.

mod along;
mod killed;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use rustix::process::Signal;

use super::support::{JOURNAL, Running, Said, Scratch, installed, json, skip, until};

/// A network namespace with a pair of interfaces, `eth1` and `eth2`. It goes with the process that holds it.
struct Net {
    dir: Scratch,
    holder: Running,
}

/// A sweep that goes on until something ends it, and changes two settings.
const LONG: [&str; 21] = [
    "sweep",
    "tcp",
    "--over",
    "system.mtu:eth1=2000,9000",
    "--over",
    "system.sysctl:net.ipv4.tcp_sack=0,default",
    "--rounds",
    "1",
    "--budget",
    "200s",
    "--quiet",
    "--output",
    "s",
    "--change-system",
    "--",
    "--sizes",
    "64,4KiB,32KiB",
    "--precision",
    "0.001%",
    "--pin",
    "none",
];
/// Flags of runs that are over in a moment.
const COUNTED: [&str; 9] = ["--", "--sizes", "1,4KiB", "--trials", "2", "--repeats", "4", "--pin", "none"];
/// A sweep that measures nothing and changes nothing: all that it does is to look for what others left.
const NEXT: [&str; 5] = ["sweep", "theory", "--over", "rate=1Gbit/s,2Gbit/s", "--dry-run"];

impl Net {
    /// None where there can be none here, which is said.
    fn new() -> Option<Self> {
        if !super::laboratory::possible() {
            return None;
        }
        if installed("nsenter").is_none() {
            skip("nsenter is not installed");
            return None;
        }
        let made = "ip link set lo up && ip link add eth1 type veth peer name eth2 && ip link set eth1 up && ip link set eth2 up && \
                    ip address add 192.0.2.1/24 dev eth1 && echo ready && exec sleep 3600";
        let mut command = Command::new("unshare");
        command.args(["--net", "--", "sh", "-c", made]);
        let holder = Running::start(command);
        assert_eq!(holder.line().trim(), "ready");
        Some(Self { dir: Scratch::new(), holder })
    }

    /// A command within, under other words.
    fn within(&self, words: &[&str]) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/proc/{}/ns/net", self.holder.pid())).arg("--").args(words);
        command.current_dir(self.dir.path("."));
        command
    }

    /// pipegauge within, under other words.
    fn under(&self, under: &[&str], words: &[&str]) -> Command {
        let own = self.dir.command(words);
        let mut command = self.within(under);
        command.arg(own.get_program()).args(own.get_args());
        for (name, value) in own.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.env_remove("SSH_CONNECTION");
        command
    }

    fn run(&self, words: &[&str]) -> Said {
        Running::start(self.under(&[], words)).end()
    }

    /// What a command within prints.
    fn says(&self, words: &[&str]) -> String {
        let done = self.within(words).output().unwrap();
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    }

    fn mtu(&self) -> u32 {
        self.mtu_of("eth1")
    }

    fn mtu_of(&self, interface: &str) -> u32 {
        let link = json(&self.says(&["ip", "-j", "link", "show", "dev", interface]));
        link[0]["mtu"].as_u64().unwrap() as u32
    }

    /// Switches off one of the features that `tso` is made of, which is off by default on many interfaces; whether it is.
    fn mangles_nothing(&self) -> bool {
        if installed("ethtool").is_none() {
            skip("ethtool is not installed");
            return false;
        }
        let feature = "tx-tcp-mangleid-segmentation";
        let switched = self.within(&["ethtool", "-K", "eth1", feature, "off"]).output().unwrap();
        let off = self.says(&["ethtool", "-k", "eth1"]).lines().any(|line| line.trim() == format!("{feature}: off"));
        if !off {
            skip(&format!(
                "{feature} can't be switched off here: {}",
                String::from_utf8_lossy(&switched.stderr).trim()
            ));
        }
        off
    }

    fn sack(&self) -> String {
        self.says(&["cat", "/proc/sys/net/ipv4/tcp_sack"])
    }

    /// The journals that are there.
    fn journals(&self) -> Vec<PathBuf> {
        let all = fs::read_dir(self.dir.path(JOURNAL.1)).into_iter().flatten();
        all.map(|entry| entry.unwrap().path())
            .filter(|file| file.extension().is_some_and(|end| end == "json"))
            .collect()
    }

    /// The long sweep, in the middle of a run.
    fn sweeping(&self) -> Running {
        let sweep = Running::start(self.under(&[], &LONG));
        until("a changed MTU", || [2000, 9000].contains(&self.mtu()).then_some(()));
        until("a run", || (self.runs() > 0).then_some(()));
        sweep
    }

    fn runs(&self) -> usize {
        let all = fs::read_dir(self.dir.path("s")).into_iter().flatten();
        all.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().ends_with(".run.jsonl")).count()
    }

    /// A sweep was killed in the middle of a run; its journal.
    fn killed(&self) -> PathBuf {
        let sweep = self.sweeping();
        sweep.signal(Signal::KILL);
        drop(sweep);
        assert!([2000, 9000].contains(&self.mtu()), "{}", self.mtu());
        let all = self.journals();
        assert_eq!(all.len(), 1, "{all:?}");
        all[0].clone()
    }

    /// Everything is as it was, and nothing is left to do.
    fn is_as_it_was(&self) {
        assert_eq!((self.mtu(), self.sack().as_str(), self.journals()), (1500, "1", Vec::new()));
    }
}

/// When a process began, in ticks since the system did.
fn began(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap().parse().unwrap()
}

#[test]
fn nothing_is_changed_without_consent_and_the_refusal_says_what_would_be() {
    let Some(net) = Net::new() else { return };
    net.says(&["ip", "route", "add", "default", "via", "192.0.2.9", "dev", "eth1"]);
    let words: Vec<&str> = LONG.iter().copied().filter(|word| *word != "--change-system").collect();
    let mut command = net.under(&[], &words);
    command.env("SSH_CONNECTION", "192.0.2.7 50000 192.0.2.1 22");
    let said = Running::start(command).end();
    said.refuses(&[
        "the MTU of eth1 from 1500 to 2000, 9000",
        "net.ipv4.tcp_sack from 1 to 0",
        "--change-system",
        "eth1 carries the default route of this host",
        "eth1 carries this ssh session (from 192.0.2.7)",
    ]);
    net.is_as_it_was();
    let at = LONG.iter().position(|word| *word == "--").unwrap();
    for words in [&words[..], &LONG[..]] {
        let mut dry = words.to_vec();
        dry.insert(at - 1, "--dry-run");
        let said = net.run(&dry);
        assert_eq!(said.code(), 0, "{said}");
        for part in
            ["4 cells", "the MTU of eth1 from 1500 to 2000, 9000", "net.ipv4.tcp_sack from 1 to 0", "default route"]
        {
            assert!(said.out.contains(part), "{part}: {said}");
        }
        net.is_as_it_was();
    }
    assert_eq!(net.dir.names(), Vec::<String>::new());
    // A file consents to nothing.
    let plan = "transports = ['tcp']\n[[over]]\nname = 'system.mtu:eth1'\nvalues = [2000, 'default']\n";
    fs::write(net.dir.path("plan.toml"), plan).unwrap();
    net.run(&["sweep", "--plan", "plan.toml"]).refuses(&["the MTU of eth1 from 1500 to 2000", "--change-system"]);
    fs::write(net.dir.path("plan.toml"), format!("change-system = true\n{plan}")).unwrap();
    net.run(&["sweep", "--plan", "plan.toml"]).refuses(&["change-system", "plan.toml"]);
    net.run(&[&["sweep", "tcp", "--over", "nodelay=on,off", "--change-system"], &COUNTED[..]].concat())
        .refuses(&["leave it out"]);
    net.is_as_it_was();
}

#[test]
fn settings_are_changed_read_back_recorded_and_put_back() {
    let Some(net) = Net::new() else { return };
    let axes = ["--over", "system.mtu:lo=default,1500", "--over", "system.sysctl:net.ipv4.tcp_sack=0,default"];
    let own = ["sweep", "tcp", "--rounds", "2", "--budget", "60s", "-q", "-o", "s", "--change-system", "--json"];
    let before = net.mtu_of("lo");
    let said = net.run(&[&own[..], &axes, &COUNTED].concat());
    assert_eq!(said.code(), 0, "{said}");
    let doc = json(&said.out);
    assert_eq!(doc["runs"], serde_json::json!([8, 8]));
    for (cell, mtu, sack) in [(0, before, "0"), (1, before, "1"), (2, 1500, "0"), (3, 1500, "1")] {
        let held = serde_json::json!({ "system.mtu:lo": mtu.to_string(), "system.sysctl:net.ipv4.tcp_sack": sack });
        assert_eq!(doc["cells"][cell]["settings"], held, "{cell}");
        for round in ["001", "002"] {
            let file = net.dir.path(&format!("s/cell-000{}-round-{round}.run.jsonl", cell + 1));
            let run = fs::read_to_string(file).unwrap();
            let event = |name: &str| run.lines().map(json).find(|line| line["event"] == name).unwrap();
            assert_eq!(event("run")["near"]["settings"], held);
            // The connection has felt it.
            let mss = event("path")["near_effective"]["mss"].as_u64().unwrap();
            assert_eq!(mss == 1448, mtu == 1500, "{cell}: {mss}");
        }
    }
    assert_eq!(net.mtu_of("lo"), before);
    net.is_as_it_was();
}

/// The setting of an interface with a dot in its name, as that of a VLAN has, and its value.
const DOTTED: &str = "net/ipv4/conf/eth1.7/rp_filter";

impl Net {
    /// An interface with a dot in its name, whose setting has this value.
    fn dotted(&self, value: &str) {
        self.says(&["ip", "link", "add", "eth1.7", "type", "veth", "peer", "name", "eth3"]);
        self.says(&["sh", "-c", &format!("echo {value} >/proc/sys/{DOTTED}")]);
    }

    fn filter(&self) -> String {
        self.says(&["cat", &format!("/proc/sys/{DOTTED}")])
    }
}

#[test]
fn a_setting_of_an_interface_with_a_dot_in_its_name_is_changed_and_put_back() {
    let Some(net) = Net::new() else { return };
    net.dotted("0");
    let axis = format!("system.sysctl:{DOTTED}");
    let own = ["sweep", "tcp", "--rounds", "1", "--budget", "60s", "-q", "-o", "s", "--change-system", "--json"];
    let said = net.run(&[&own[..], &["--over", &format!("{axis}=1,2,default")], &COUNTED].concat());
    assert_eq!(said.code(), 0, "{said}");
    for (cell, value) in ["1", "2", "0"].into_iter().enumerate() {
        assert_eq!(json(&said.out)["cells"][cell]["settings"][&axis], value, "{said}");
    }
    assert_eq!(net.filter(), "0");
    net.is_as_it_was();
    // One that is killed leaves a journal of it, which the next start works off; sysctl's other way of writing it is the same setting.
    let other = "system.sysctl:net.ipv4.conf.eth1/7.rp_filter=1,2";
    let mut words = LONG;
    (words[3], words[5], words[12]) = (other, "nodelay=on,off", "k");
    let sweep = Running::start(net.under(&[], &words));
    until("a changed setting", || (net.filter() != "0").then_some(()));
    sweep.signal(Signal::KILL);
    drop(sweep);
    assert_ne!(net.filter(), "0");
    let said = net.run(&NEXT);
    let told = said.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains(&format!("had left {DOTTED} at")) && told.contains("put back to 0"), "{said}");
    assert_eq!(net.filter(), "0");
    net.is_as_it_was();
    net.run(&["sweep", "tcp", "--over", &format!("{axis}=1,2"), "--over", other]).refuses(&["set the same"]);
}

#[test]
fn offloads_are_changed_and_put_back() {
    let Some(net) = Net::new() else { return };
    if installed("ethtool").is_none() {
        skip("ethtool is not installed");
        return;
    }
    net.mangles_nothing();
    let before = net.says(&["ethtool", "-k", "eth1"]);
    let axes = ["--over", "system.offloads:eth1=on,off", "--over", "system.offload.gro:eth2=on,off"];
    let own = ["sweep", "tcp", "--rounds", "1", "--budget", "60s", "-q", "-o", "s", "--change-system", "--json"];
    let said = net.run(&[&own[..], &axes, &COUNTED].concat());
    assert_eq!(said.code(), 0, "{said}");
    let held = |cell: usize, name: &str| json(&said.out)["cells"][cell]["settings"][name].as_str().unwrap().to_owned();
    assert_eq!(held(0, "system.offloads:eth1"), "tso on gso on gro on tx on");
    assert_eq!(held(3, "system.offloads:eth1"), "tso off gso off gro off tx off");
    assert_eq!(
        (held(2, "system.offload.gro:eth2"), held(3, "system.offload.gro:eth2")),
        ("gro on".into(), "gro off".into())
    );
    assert_eq!(net.says(&["ethtool", "-k", "eth1"]), before);
    net.is_as_it_was();
}

#[test]
fn what_a_killed_sweep_left_is_put_back_by_the_next_start() {
    let Some(net) = Net::new() else { return };
    let journal = net.killed();
    // Another network has other settings: there nothing is put back, and where to do it is said.
    let said = net.dir.run(&NEXT);
    assert!(said.code() == 0 && said.err.contains("another network namespace"), "{said}");
    assert!([2000, 9000].contains(&net.mtu()) && journal.is_file());
    let doctor = net.run(&["doctor", "--json"]);
    let findings = json(&doctor.out)["findings"].clone();
    let found: Vec<_> = findings.as_array().unwrap().iter().filter(|f| f["name"] == "changed-settings").collect();
    assert!(!found.is_empty(), "{doctor}");
    let text = found[0]["found"].as_str().unwrap();
    assert!(text.contains("had left the MTU of eth1 at") && text.contains("put back to 1500"), "{text}");
    net.is_as_it_was();
    let again = net.run(&["doctor", "--json"]);
    let level = |found: &serde_json::Value| (found["name"] == "changed-settings").then(|| found["level"].clone());
    let levels: Vec<_> = json(&again.out)["findings"].as_array().unwrap().iter().filter_map(level).collect();
    assert_eq!(levels, ["good"], "{again}");
    // The same by a sweep, which may be the killed one going on: that needs the consent anew.
    fs::remove_dir_all(net.dir.path("s")).unwrap();
    net.killed();
    let said = net.run(&["sweep", "--resume", "s"]);
    said.refuses(&["put back to 1500", "the MTU of eth1 from 1500 to", "--change-system"]);
    net.is_as_it_was();
}

#[test]
fn a_process_of_the_same_number_is_no_owner_and_a_living_owner_is_left_alone() {
    let Some(net) = Net::new() else { return };
    let journal = net.killed();
    let changed = net.mtu();
    // As if the sweep still were: under the number and beginning of a process that lives.
    let (pid, began) = (net.holder.pid(), began(net.holder.pid()));
    let living = journal.with_file_name(format!("{pid}-{began}.json"));
    fs::rename(&journal, &living).unwrap();
    let said = net.run(&NEXT);
    assert!(said.code() == 0 && said.err.is_empty() && net.mtu() == changed, "{said}");
    net.run(&LONG).refuses(&["another pipegauge", &format!("process {pid}"), "is changing the MTU of eth1"]);
    assert_eq!(net.mtu(), changed);
    // The number of a living process, which began later.
    fs::rename(&living, journal.with_file_name(format!("{pid}-{}.json", began - 1))).unwrap();
    let said = net.run(&NEXT);
    assert!(said.code() == 0 && said.err.contains("put back to 1500"), "{said}");
    net.is_as_it_was();
}

#[test]
fn two_sweeps_never_change_one_setting_at_once() {
    let Some(net) = Net::new() else { return };
    let sweep = net.sweeping();
    let other = ["sweep", "tcp", "--over", "system.mtu:eth1=1400,1600", "--change-system", "-o", "other"];
    net.run(&other).refuses(&["another pipegauge", "is changing the MTU of eth1", "wait for it"]);
    // Of other settings it may, meanwhile.
    let free =
        ["sweep", "tcp", "--over", "system.mtu:eth2=1400,1600", "--change-system", "-q", "-o", "free", "--rounds", "1"];
    let said = net.run(&[&free[..], &COUNTED].concat());
    assert_eq!(said.code(), 0, "{said}");
    sweep.signal(Signal::TERM);
    sweep.end();
    assert_eq!(net.mtu_of("eth2"), 1500);
    net.is_as_it_was();
}

#[test]
fn what_somebody_else_changed_meanwhile_stays() {
    let Some(net) = Net::new() else { return };
    let set = |mtu: &str| drop(net.says(&["ip", "link", "set", "dev", "eth1", "mtu", mtu]));
    // After it was killed.
    net.killed();
    set("1600");
    let said = net.run(&NEXT);
    assert!(
        said.err.contains("the MTU of eth1 is 1600, which somebody else set") && said.err.contains("mtu 1500"),
        "{said}"
    );
    assert_eq!((net.mtu(), net.sack().as_str(), net.journals().len()), (1600, "1", 0));
    assert!(net.run(&NEXT).err.is_empty(), "it is told once");
    set("1500");
    // Under its hands: the sweep ends, and what it measured meanwhile counts nowhere.
    fs::remove_dir_all(net.dir.path("s")).unwrap();
    let mut words = LONG;
    words[9] = "10s";
    let sweep = Running::start(net.under(&[], &words));
    until("a run", || (net.runs() > 0).then_some(()));
    set("1600");
    let said = sweep.end();
    said.refuses(&["1600", "somebody else changed it"]);
    assert_eq!((net.mtu(), net.sack().as_str(), net.journals().len()), (1600, "1", 0), "{said}");
}

#[test]
fn a_sweep_that_is_asked_to_stop_puts_back_first_however_often_it_is_asked() {
    let Some(net) = Net::new() else { return };
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let sweep = net.sweeping();
        sweep.signal(signal);
        sweep.signal(signal);
        let said = sweep.end();
        assert!([1, 2].contains(&said.code()), "{said}");
        net.is_as_it_was();
        fs::remove_dir_all(net.dir.path("s")).unwrap();
    }
}

#[test]
fn who_may_not_is_told_before_anything_is_changed_and_how_it_is_put_back() {
    let Some(net) = Net::new() else { return };
    let without = ["setpriv", "--bounding-set", "-net_admin"];
    if !net.within(&[&without[..], &["true"]].concat()).status().is_ok_and(|status| status.success()) {
        skip("`setpriv --bounding-set` is not to be had here");
        return;
    }
    let said = Running::start(net.under(&without, &LONG)).end();
    said.refuses(&["the MTU of eth1 can't be changed", "CAP_NET_ADMIN", "sudo"]);
    net.is_as_it_was();
    assert_eq!(net.dir.names(), Vec::<String>::new());
    let journal = net.killed();
    let changed = net.mtu();
    let said = Running::start(net.under(&without, &NEXT)).end();
    assert!(
        said.err.contains("could not be put back to 1500") && said.err.contains("ip link set dev eth1 mtu 1500"),
        "{said}"
    );
    assert!(net.mtu() == changed && journal.is_file());
    let said = net.run(&NEXT);
    assert!(said.err.contains("put back to 1500"), "{said}");
    net.is_as_it_was();
}

#[test]
fn who_may_not_read_roots_journal_is_told_that_something_was_left() {
    let Some(net) = Net::new() else { return };
    fs::set_permissions(net.dir.path("."), fs::Permissions::from_mode(0o755)).unwrap();
    let nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
    let tried = Running::start(net.under(&nobody, &["--version"])).end();
    if tried.code() != 0 {
        skip(&format!("another user can't start the command here: {}", tried.err.trim()));
        return;
    }
    let journal = net.killed();
    let changed = net.mtu();
    let said = Running::start(net.under(&nobody, &NEXT)).end();
    assert!(said.code() == 0 && said.err.contains("may have left settings of this system changed"), "{said}");
    assert!(said.err.contains("sudo pipegauge doctor") && !said.err.contains("1500"), "{said}");
    assert!(net.mtu() == changed && journal.is_file());
    assert!(net.run(&NEXT).err.contains("put back to 1500"));
    net.is_as_it_was();
}

#[test]
fn what_can_not_be_set_is_refused_or_fails_its_cells_with_both_values() {
    let Some(net) = Net::new() else { return };
    let own = ["sweep", "tcp", "--rounds", "1", "--budget", "60s", "-q", "-o", "s", "--change-system", "--over"];
    let sweep = |over: &str| net.run(&[&own[..], &[over], &COUNTED].concat());
    for (over, why) in [
        ("system.sysctl:net.ipv4.tcp_available_congestion_control=reno,cubic", "read-only"),
        ("system.sysctl:net.no.such=1,2", "there is no net.no.such here"),
        ("system.mtu:eth7=1500,2000", "eth7"),
    ] {
        sweep(over).refuses(&[why]);
        assert_eq!(net.dir.names(), Vec::<String>::new(), "{over}");
    }
    let said = sweep("system.mtu:eth1=2000,70000");
    assert!(said.code() == 1 && said.out.contains("tcp system.mtu:eth1=70000: in 1 of 1 rounds:"), "{said}");
    assert!(said.out.contains("the MTU of eth1 was set to 70000, which did not take effect: it is"), "{said}");
    net.is_as_it_was();
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let dir = Scratch::new();
    for (words, why) in [
        (&["--over", "system.sysctl:net/../kernel/core_pattern=a,b"][..], "no setting of the network"),
        (&["--over", "system.sysctl:net...kernel.core_pattern=a,b"], "no setting of the network"),
        (&["--over", "system.sysctl:kernel.core_pattern=a,b"], "no setting of the network"),
        (&["--over", "system.sysctl:net//ipv4/tcp_sack=a,b"], "no setting of the network"),
        (&["--over", "system.sysctl:net.ipv4.//.//.kernel.core_pattern=a,b"], "no setting of the network"),
        (&["--over", "system.sysctl:net.ipv4.ip_forward=0,1"], "can't be put back"),
        (&["--over", "system.sysctl:net/ipv4/conf/eth0.100/forwarding=0,1"], "can't be put back"),
        (&["--over", "system.mtu:../../etc=1500,2000"], "no name of an interface"),
        (&["--over", "system.mtu:-batch=1500,2000"], "no name of an interface"),
        (&["--over", "system.mtu=1500,2000"], "no name of an interface"),
        (&["--over", "system.offload.--json:eth1=on,off"], "ethtool -k"),
        (&["--over", "system.nonsense:eth1=1,2"], "system.mtu:INTERFACE"),
        (&["--over", "system.mtu:eth1=1000,2000"], "IPv6"),
        (&["--over", "system.offloads:eth1=1,2"], "on or off"),
        (&["--over", "system.offloads:eth1=on,off", "--over", "system.offload.gro:eth1=on,off"], "set the same"),
        (&["--lab", "--over", "system.mtu:eth1=1500,2000"], "leave out --lab"),
    ] {
        dir.run(&[&["sweep", "tcp", "--change-system"], words].concat()).refuses(&[why]);
    }
    assert_eq!(dir.names(), Vec::<String>::new());
}
