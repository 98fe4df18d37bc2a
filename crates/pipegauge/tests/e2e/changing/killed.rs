//! What a killed sweep left, where more happened than that it was killed between two settings.

use super::*;

/// Another folder for journals than that of the tests.
const OTHER: &str = ".other";
/// A sysctl of an interface, and the axis of it.
const IGNORE: &str = "/proc/sys/net/ipv4/conf/eth1/arp_ignore";
const OF_AN_INTERFACE: &str = "system.sysctl:net.ipv4.conf.eth1.arp_ignore=1,2";

impl Net {
    /// The long sweep, killed while a command sets the MTU. `sets` is what the command does instead; it goes on until the file `go` is there.
    fn killed_while_it_sets(&self, sets: &str) {
        let (bin, dir) = (self.dir.path("bin"), self.dir.path("."));
        let (dir, real) = (dir.display(), installed("ip").unwrap());
        let real = real.display();
        fs::create_dir(&bin).unwrap();
        let holds =
            format!("n=0; while [ -d {dir} ] && [ ! -e {dir}/go ] && [ $n -lt 3000 ]; do sleep 0.1; n=$((n+1)); done");
        let text = format!(
            "#!/bin/sh\nholds() {{ : >{dir}/began; {holds}; }}\nreal() {{ {real} \"$@\"; }}\n\
             case \"$*\" in 'link set dev eth1 mtu '*) {sets} ;; *) exec {real} \"$@\" ;; esac\n"
        );
        fs::write(bin.join("ip"), text).unwrap();
        fs::set_permissions(bin.join("ip"), fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = self.under(&[], &LONG);
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", bin.display()));
        let sweep = Running::start(command);
        until("a change that is under way", || self.dir.path("began").exists().then_some(()));
        sweep.signal(Signal::KILL);
        drop(sweep);
    }

    /// Starts the next sweep until the journal is worked off; what it said then.
    fn worked_off(&self) -> Said {
        until("a journal that is worked off", || {
            let said = self.run(&NEXT);
            if self.journals().is_empty() {
                return Some(said);
            }
            assert!(said.err.contains("under way yet"), "{said}");
            None
        })
    }

    /// A sweep over a setting of `eth1` was killed; the value that it left.
    fn killed_with_a_sysctl_of_an_interface(&self) -> String {
        let value = || self.says(&["cat", IGNORE]);
        self.says(&["sh", "-c", &format!("echo 0 >{IGNORE}")]);
        let mut words = LONG;
        words[3] = OF_AN_INTERFACE;
        let sweep = Running::start(self.under(&[], &words));
        until("a changed setting", || (value() != "0").then_some(()));
        until("a run", || (self.runs() > 0).then_some(()));
        sweep.signal(Signal::KILL);
        drop(sweep);
        fs::remove_dir_all(self.dir.path("s")).unwrap();
        value()
    }
}

#[test]
fn a_command_that_outlives_the_sweep_is_waited_for() {
    let Some(net) = Net::new() else { return };
    net.killed_while_it_sets("holds; real \"$@\"");
    // Nothing is changed yet, and everything is to be.
    assert_eq!((net.mtu(), net.journals().len()), (1500, 1));
    let said = net.run(&NEXT);
    assert!(said.code() == 0 && said.err.contains("under way yet"), "{said}");
    assert_eq!(net.journals().len(), 1);
    fs::write(net.dir.path("go"), "").unwrap();
    let said = net.worked_off();
    assert!(said.err.contains("put back to 1500"), "{said}");
    net.is_as_it_was();
}

#[test]
fn a_value_that_a_driver_adjusted_is_the_killed_sweeps() {
    let Some(net) = Net::new() else { return };
    net.killed_while_it_sets("real link set dev eth1 mtu 1996; holds");
    assert_eq!((net.mtu(), net.journals().len()), (1996, 1));
    fs::write(net.dir.path("go"), "").unwrap();
    let said = net.worked_off();
    assert!(said.err.contains("had left the MTU of eth1 at 1996") && said.err.contains("put back to 1500"), "{said}");
    net.is_as_it_was();
}

#[test]
fn a_sysctl_goes_with_its_interface_and_one_of_its_name_is_another() {
    let Some(net) = Net::new() else { return };
    let pair = ["ip", "link", "add", "eth1", "type", "veth", "peer", "name", "eth2"];
    net.killed_with_a_sysctl_of_an_interface();
    net.says(&["ip", "link", "del", "eth1"]);
    let said = net.run(&NEXT);
    assert!(said.err.contains("net.ipv4.conf.eth1.arp_ignore is gone with its interface"), "{said}");
    assert_eq!((net.journals().len(), net.sack().as_str()), (0, "1"), "{said}");
    assert!(net.run(&NEXT).err.is_empty(), "it is told once");
    net.says(&pair);
    let left = net.killed_with_a_sysctl_of_an_interface();
    net.says(&["ip", "link", "del", "eth1"]);
    net.says(&pair);
    net.says(&["sh", "-c", &format!("echo {left} >{IGNORE}")]);
    let said = net.run(&NEXT);
    assert!(said.err.contains("net.ipv4.conf.eth1.arp_ignore is gone with its interface"), "{said}");
    assert_eq!((net.says(&["cat", IGNORE]), net.journals().len()), (left, 0), "{said}");
}

#[test]
fn a_network_namespace_with_the_number_of_the_killed_sweeps_is_not_taken_for_it() {
    let Some(net) = Net::new() else { return };
    if host::network_cookie().is_none() {
        skip("this kernel has no numbers of network namespaces that are used once (SO_NETNS_COOKIE)");
        return;
    }
    let journal = net.killed();
    let changed = net.mtu();
    let text = fs::read_to_string(&journal).unwrap();
    let cookie = json(&text)["cookie"].as_u64().unwrap();
    // As if that namespace were gone, and this one had the number of its file.
    fs::write(&journal, text.replacen(&format!("\"cookie\": {cookie}"), &format!("\"cookie\": {}", cookie + 1), 1))
        .unwrap();
    let said = net.run(&NEXT);
    assert!(said.code() == 0 && said.err.is_empty(), "{said}");
    assert_eq!((net.mtu(), net.journals().len()), (changed, 0));
}

#[test]
fn whatever_measures_says_what_a_killed_sweep_left_and_changes_nothing() {
    let Some(net) = Net::new() else { return };
    let journal = net.killed();
    let changed = net.mtu();
    let left = format!("the MTU of eth1 is {changed}, and was 1500 before it -> pipegauge doctor");
    let short = ["--sizes", "64", "--trials", "1", "--repeats", "2", "--pin", "none"];
    let run_into = |file: &'static str| [&["run", "theory", "--no-html", "-q", "-o", file][..], &short].concat();
    let run = run_into("x.run.jsonl");
    let group = [
        "group",
        "--stack",
        "FRAG*10",
        "--members",
        "2",
        "--size",
        "64",
        "--rounds",
        "4",
        "--trials",
        "1",
        "--pin",
        "none",
    ];
    let group = [&group[..], &["--no-html", "-q", "-o", "g.run.jsonl"]].concat();
    for line in [&run[..], &group, &["explain", "x.run.jsonl", "-q"]] {
        let said = net.run(line);
        assert!(
            said.code() == 0 && said.err.contains("a sweep that was killed") && said.err.contains(&left),
            "{line:?}: {said}"
        );
    }
    let serve = Running::start(net.under(&[], &["serve"]));
    serve.line();
    serve.signal(Signal::TERM);
    let said = serve.end();
    assert!(said.err.contains(&left), "{said}");
    // What measures nothing says nothing.
    let said = net.run(&["show", "x.run.jsonl"]);
    assert!(said.code() == 0 && !said.err.contains("a sweep that was killed"), "{said}");
    assert!(journal.is_file() && net.mtu() == changed);
    // Neither does a run in another network.
    let elsewhere = Running::start(net.dir.command(&run_into("y.run.jsonl"))).end();
    assert!(elsewhere.code() == 0 && elsewhere.err.is_empty(), "{elsewhere}");
    assert!(net.run(&NEXT).err.contains("put back to 1500"));
    net.is_as_it_was();
    assert!(net.run(&run_into("z.run.jsonl")).err.is_empty());
}

#[test]
fn doctor_says_which_folder_has_no_journal() {
    let Some(net) = Net::new() else { return };
    let journal = net.killed();
    let other = net.dir.path(OTHER);
    let mut command = net.under(&[], &["doctor", "--json"]);
    command.env(JOURNAL.0, &other);
    let doctor = Running::start(command).end();
    let findings = json(&doctor.out)["findings"].clone();
    let found: Vec<_> = findings.as_array().unwrap().iter().filter(|f| f["name"] == "changed-settings").collect();
    assert!(found.len() == 1 && found[0]["level"] == "good", "{doctor}");
    let text = found[0]["found"].as_str().unwrap();
    assert!(text.contains(&other.display().to_string()) && text.contains(JOURNAL.0), "{text}");
    assert!(journal.is_file() && net.mtu() != 1500);
    assert!(net.run(&NEXT).err.contains("put back to 1500"));
    net.is_as_it_was();
}
