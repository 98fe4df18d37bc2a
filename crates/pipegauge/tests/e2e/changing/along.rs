//! What the kernel and drivers change along with a setting is put back with it.

use super::*;

/// The interfaces that are made over `eth1`; one has a dot in its name, as VLANs do.
const OVER: [(&str, &[&str]); 2] = [("eth1.7", &["type", "vlan", "id", "7"]), ("eth1.8", &["type", "macvlan"])];
/// The file of an interface's MTU for IPv6.
const MTU6: &str = "/proc/sys/net/ipv6/conf/eth1/mtu";

impl Net {
    /// `eth1` and those over it at 9000; none where this kernel has no such interface.
    fn stacked(&self) -> Option<Vec<&'static str>> {
        for interface in ["eth1", "eth2"] {
            self.says(&["ip", "link", "set", "dev", interface, "mtu", "9000"]);
        }
        let mut made = Vec::new();
        for (name, kind) in OVER {
            let words = [&["ip", "link", "add", "link", "eth1", "name", name], kind].concat();
            if self.within(&words).output().unwrap().status.success() {
                self.says(&["ip", "link", "set", name, "up"]);
                made.push(name);
            } else {
                skip(&format!("interfaces of `{}` are not to be had here", kind.join(" ")));
            }
        }
        // As a router may have told it.
        if !self.within(&["test", "-e", MTU6]).status().unwrap().success() {
            skip("this kernel has no IPv6");
        } else {
            self.says(&["sh", "-c", &format!("echo 1400 >{MTU6}")]);
        }
        (!made.is_empty()).then_some(made)
    }

    /// `eth1`, those over it, and its MTU for IPv6.
    fn mtus(&self, over: &[&str]) -> Vec<String> {
        let all = ["eth1"].iter().chain(over).map(|name| self.mtu_of(name).to_string());
        all.chain([self.says(&["sh", "-c", &format!("cat {MTU6} 2>&1 || true")])]).collect()
    }
}

#[test]
fn interfaces_over_one_whose_mtu_was_lowered_are_back_at_theirs() {
    let Some(net) = Net::new() else { return };
    let Some(over) = net.stacked() else { return };
    let before = net.mtus(&over);
    let own =
        ["sweep", "tcp", "--rounds", "2", "--budget", "60s", "-q", "-o", "s", "--over", "system.mtu:eth1=1500,9000"];
    let said = net.run(&own);
    said.refuses(&["the MTU of eth1 from 9000 to 1500, and with it"]);
    over.iter().for_each(|name| said.refuses(&[&format!("the MTU of {name}")]));
    let said = net.run(&[&own[..], &["--change-system"], &COUNTED].concat());
    assert_eq!(said.code(), 0, "{said}");
    assert_eq!((net.mtus(&over), net.journals().len()), (before, 0), "{said}");
}

#[test]
fn interfaces_over_one_whose_mtu_a_killed_sweep_lowered_are_put_back_and_told() {
    let Some(net) = Net::new() else { return };
    let Some(over) = net.stacked() else { return };
    let before = net.mtus(&over);
    let mut words = LONG;
    words[3] = "system.mtu:eth1=2000,3000";
    let sweep = Running::start(net.under(&[], &words));
    until("a changed MTU", || (net.mtu() != 9000).then_some(()));
    until("a run", || (net.runs() > 0).then_some(()));
    sweep.signal(Signal::KILL);
    drop(sweep);
    for name in &over {
        assert_eq!(net.mtu_of(name), net.mtu(), "{name}");
    }
    let said = net.run(&NEXT);
    for name in &over {
        assert!(said.err.contains(&format!("had left the MTU of {name} at")), "{said}");
    }
    assert!(said.err.contains("put back to 9000"), "{said}");
    assert_eq!((net.mtus(&over), net.journals().len()), (before, 0), "{said}");
}

#[test]
fn an_interface_of_another_pair_is_no_part_of_a_sweep_and_one_that_is_gone_does_not_end_it() {
    let Some(net) = Net::new() else { return };
    let Some(over) = net.stacked() else { return };
    let sweep = Running::start(net.under(&[], &LONG));
    until("a run", || (net.runs() > 0).then_some(()));
    net.says(&["ip", "link", "del", over[0]]);
    net.says(&["ip", "link", "set", "dev", "eth2", "mtu", "8000"]);
    sweep.signal(Signal::TERM);
    let said = sweep.end();
    assert!(said.err.contains(&format!("the MTU of {} is gone with its interface", over[0])), "{said}");
    assert_eq!((net.mtu(), net.mtu_of("eth2"), net.journals().len()), (9000, 8000, 0), "{said}");
}

#[test]
fn features_that_a_group_of_offloads_switched_on_are_off_again() {
    let Some(net) = Net::new() else { return };
    if !net.mangles_nothing() {
        return;
    }
    let before = net.says(&["ethtool", "-k", "eth1"]);
    let own = ["sweep", "tcp", "--over", "system.offload.tso:eth1=off,default", "--rounds", "1", "--budget", "20s"];
    let rest =
        ["--seed", "1", "-q", "-o", "s", "--change-system", "--", "--sizes", "64,4KiB,32KiB", "--precision", "0.001%"];
    let sweep = Running::start(net.under(&[], &[&own[..], &rest].concat()));
    until("an offload that is off", || {
        net.says(&["ethtool", "-k", "eth1"]).contains("tcp-segmentation-offload: off").then_some(())
    });
    sweep.signal(Signal::KILL);
    drop(sweep);
    let said = net.run(&NEXT);
    assert!(said.err.contains("put back to tso on"), "{said}");
    assert_eq!(net.says(&["ethtool", "-k", "eth1"]), before, "{said}");
    net.is_as_it_was();
}
