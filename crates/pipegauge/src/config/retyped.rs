//! From a plan in a run file back to the words of `run` that a person types: what `ask` prints to measure again. Where the far side runs is
//! never the file's to say.

use measure::event::{PathOpened, Plan};
use measure::{Cache, Pattern, Topology};
use record::RunFile;
use transport::Value;
use transport::decorate::{Fault, Shape};
use transport::options::Form;

use super::paths::{added, beyond_defaults, size_typed, typed};
use super::rates;

/// A path of a plan as `run` takes it: its transport with all that is set on it, how many connections it has and what loads it.
pub fn path(plan: &Plan, number: u32, loaded: bool) -> String {
    let Some(path) = plan.paths.get(number as usize) else { return String::new() };
    let mut text = typed(path.transport, &beyond_defaults(path), |_| true);
    if path.flows > 1 || path.topology.has_members() {
        added(&mut text, path.topology.name(), path.topology.asked(path.flows));
    }
    if let Some(load) = path.load.filter(|_| loaded) {
        added(&mut text, "load", load.flows);
        added(&mut text, "load-direction", load.direction.name());
        added(&mut text, "load-size", size_typed(load.size));
    }
    text
}

/// The pattern that tells how long a message is on its way over a path: in a group a message goes to all others, each of which answers.
pub fn there_and_back(plan: &Plan, number: u32) -> &'static str {
    match plan.topology(number) {
        _ if plan.pattern.facts().collective => plan.pattern.name(),
        Topology::Group => Pattern::Cast.name(),
        _ => Pattern::PingPong.name(),
    }
}

/// The flags of a plan that say what is measured on the path of this number, but for its path, sizes and effort; each begins with a blank. With
/// another `pattern` those of the plan's own pattern are left out; `scheduled` keeps its rate.
pub fn flags(plan: &Plan, number: u32, pattern: &str, scheduled: bool) -> String {
    let usual = Plan::default();
    let mut text = String::new();
    let mut add = |flag: &str, value: String| {
        text.push_str(&format!(" --{flag}{}{value}", if value.is_empty() { "" } else { " " }))
    };
    let other = plan.paths.get(number as usize).is_some_and(|path| path.topology.pattern() != usual.pattern);
    if pattern != usual.pattern.name() || other {
        add("pattern", pattern.to_owned());
    }
    if pattern == plan.pattern.name() {
        let facts = plan.pattern.facts();
        if plan.reverse {
            add("reverse", String::new());
        }
        if plan.both {
            add("both", String::new());
        }
        if facts.responds && plan.response != usual.response {
            add("response", size_typed(plan.response));
        }
        if facts.bursts && plan.burst != usual.burst {
            add("burst", plan.burst.to_string());
        }
        if let Some(rate) = plan.rate.filter(|_| scheduled) {
            add("rate", format!("{rate}/s"));
        }
        if let Some(bits) = plan.offered_on(number).filter(|_| scheduled) {
            add("rate", rates::typed(bits));
        }
    }
    if plan.check {
        add("check", String::new());
    }
    if plan.align != usual.align && plan.align.is_power_of_two() {
        add("align", size_typed(plan.align));
    }
    if plan.offset != usual.offset {
        add("offset", format!("{},{}", plan.offset.0, plan.offset.1));
    }
    if plan.cache == Cache::Cold {
        add("cache", "cold".to_owned());
    }
    if plan.reconnect {
        add("reconnect", String::new());
    }
    if let Some(shape) = &plan.decorators.shape {
        add("shape", shaped(shape));
    }
    if let Some(fault) = &plan.decorators.fault {
        add("fault", faulty(fault));
    }
    text
}

/// The flags that say where a path of a run was measured, as [`flags`]: its CPUs, where they are others than a run chooses by itself, and that its far
/// side was on another host. Which one is for the person to say: a file names no host that a command then connects to.
pub fn place(run: &RunFile, path: &PathOpened) -> String {
    let Some(far) = path.far.as_ref() else { return String::new() };
    let chosen = host::choose_pair(&run.run.near.cpus);
    let pin = match run.run.plan.pin {
        Some(pair) if chosen != Some(pair) => format!(" --pin {},{}", pair.0, pair.1),
        None if chosen.is_some() => " --pin none".to_owned(),
        _ => String::new(),
    };
    let peer = if far.hostname == run.run.near.hostname { "" } else { " --peer HOST" };
    format!("{pin}{peer}")
}

fn share(x: f64) -> String {
    Form::Share.text(&Value::Real(x))
}

fn time(seconds: f64) -> String {
    Form::Seconds(0.0, f64::INFINITY).text(&Value::Real(seconds))
}

fn shaped(shape: &Shape) -> String {
    let rate = (shape.rate > 0.0).then(|| format!("rate={}", rates::typed(shape.rate)));
    let latency = (shape.latency > 0.0).then(|| format!("latency={}", time(shape.latency)));
    rate.into_iter().chain(latency).collect::<Vec<_>>().join(",")
}

fn faulty(fault: &Fault) -> String {
    let usual = Fault::default();
    let parts = [
        (fault.drop > 0.0).then(|| format!("drop={}", share(fault.drop))),
        (fault.corrupt > 0.0).then(|| format!("corrupt={}", share(fault.corrupt))),
        (fault.delay > 0.0).then(|| format!("delay={}@{}", time(fault.delay), share(fault.delay_share))),
        fault.cut.map(|at| format!("cut={at}")),
        fault.stall_at.map(|at| format!("stall={}@{at}", time(fault.stall))),
        fault.flow.map(|flow| format!("flow={flow}")),
        (fault.seed != usual.seed).then(|| format!("seed={}", fault.seed)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::typed::typed as resolved;

    #[test]
    fn what_is_typed_again_is_the_same_plan() {
        for line in [
            "tcp",
            "theory --theory latency=25us,rate=1Gbit/s,header=40B",
            "tcp --sockbuf 64KiB --no-nodelay --shape rate=155Mbit/s,latency=1.5ms",
            "udp --fault drop=0.5%,delay=1ms@5%,seed=3",
            "tcp --fault cut=100",
            "unix --fault stall=2s@50",
            "tcp --pattern request --response 99",
            "tcp --pattern burst --burst 20 --reverse",
            "tcp --pattern stream --both",
            "tcp --rate 2500/s",
            "udp --pattern stream --rate 12.5Mbit/s",
            "udp --pattern stream --rate 1Mbit/s,20Mbit/s --sizes 64",
            "unix --pairs 4",
            "tcp:flows=2 --check --offset 8,16 --align 64",
            "tcp --topology fan-in --members 2",
            "tcp:fan-in=2 --pattern ping-pong",
            "unix:fan-out=3",
            "multicast",
            "multicast:ttl=1,group=5 --pattern stream --rate 1Mbit/s --sizes 64",
            "theory:members=4 --pattern cast",
            "tcp --load 2 --load-direction both --load-size 4KiB --sizes 64",
            "tcp --reconnect --cache cold",
        ] {
            let plan = resolved(line).unwrap_or_else(|e| panic!("{line}: {e:#}")).plan;
            let number = plan.paths.len() as u32 - 1;
            let again = format!("{}{}", path(&plan, number, true), flags(&plan, number, plan.pattern.name(), true));
            let found = resolved(&again).unwrap_or_else(|e| panic!("{line}: {again}: {e:#}")).plan;
            let of = |plan: &Plan| {
                let number = plan.paths.len() - 1;
                let mut path = plan.paths[number].clone();
                (path.label, path.offered) = (None, plan.offered_on(number as u32));
                path.settings = beyond_defaults(&path);
                let what = (
                    plan.pattern,
                    (plan.reverse, plan.both),
                    plan.response,
                    plan.burst,
                    plan.rate,
                    plan.check,
                    plan.align,
                );
                (path, what, plan.offset, plan.cache, plan.reconnect, plan.decorators.clone())
            };
            assert_eq!(of(&found), of(&plan), "{line}: {again}");
        }
    }

    #[test]
    fn what_is_set_on_a_module_that_is_not_here_is_typed_as_it_stands() {
        let settings =
            transport::Settings::default().with("eager-limit", 4096u64).with("wait", "yield").with("on", true);
        let module = transport::Name::new("no-such-module").unwrap();
        let path = measure::event::PathPlan { settings, ..module.into() };
        let plan = Plan { paths: vec![path], ..Plan::default() };
        assert_eq!(super::path(&plan, 0, true), "no-such-module:eager-limit=4096,on=on,wait=yield");
    }

    #[test]
    fn what_tells_round_trips_is_a_pattern_that_the_path_has() {
        for (line, pattern) in [
            ("multicast --pattern stream --rate 1Mbit/s --sizes 64", "cast"),
            ("tcp:fan-in=2", "ping-pong"),
            ("unix --pairs 2 --pattern stream", "ping-pong"),
            ("udp --pattern stream --reverse", "ping-pong"),
        ] {
            let plan = resolved(line).unwrap_or_else(|e| panic!("{line}: {e:#}")).plan;
            assert_eq!(there_and_back(&plan, 0), pattern, "{line}");
            let again = format!("{}{}", path(&plan, 0, true), flags(&plan, 0, pattern, false));
            let found = resolved(&again).unwrap_or_else(|e| panic!("{line}: {again}: {e:#}")).plan;
            let of = &found.paths[0];
            let can = of.transport.transport().unwrap().capabilities(&of.settings);
            let refused = measure::support::check(&found, of, &can);
            assert!(refused.is_ok(), "{line}: {again}: {refused:?}");
        }
    }
}
