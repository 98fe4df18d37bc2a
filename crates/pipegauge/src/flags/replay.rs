//! From a plan in a run file back to flags of `run`. The file may be a stranger's: it says what is measured and nothing else.

use measure::event::{PathOpened, PathPlan, Plan, Schedule};
use measure::{Cache, flows};
use units::Bytes;

use super::value::{SendRate, SendRates};
use super::{CommonFlags, PatternFlag, RunFlags};

/// Largest message and answer that a file may ask for: what a far side lets a near side it does not know ask for.
pub const LARGEST: u64 = 1 << 30;
/// Most connections at once that a file may ask for, each of which may have two processes of its own; a run's own flags may ask for more.
pub const MOST_CONNECTIONS: u32 = 32;
/// Longest time without progress that a file may ask for, seconds.
const LONGEST_PATIENCE: f64 = 60.0;

impl RunFlags {
    /// Flags that measure this path alone as `plan` did, on the CPUs `pin` (A,B, or a word of `--pin`), over sizes that the caller
    /// names. Every field stands here by name: a flag that is added must be decided upon. Where the far side runs, which program it
    /// is, what is written where and how long it takes are never the file's to say. The error says what the plan asks for that can't be.
    pub fn replaying(plan: &Plan, path: &PathOpened, pin: String) -> Result<Self, String> {
        let around = &plan.decorators;
        let transport =
            path.transport.transport().map_err(|_| format!("{}, which this program does not have", path.transport))?;
        let (settings, flows) = (plan.settings(path.path).clone(), plan.flows(path.path));
        let topology = plan.topology(path.path);
        if !(1..=flows::MOST).contains(&flows) {
            return Err(format!("{flows} flows at once, where 1 to {} can be", flows::MOST));
        }
        let load = plan.load(path.path).copied();
        if let Some(load) = &load {
            load.check()?;
            if load.size > LARGEST {
                return Err(format!(
                    "a loading flow's message of {}, above the {} that a file may ask for",
                    Bytes(load.size),
                    Bytes(LARGEST)
                ));
            }
        }
        let connections = plan.at_once(path.path);
        if connections > MOST_CONNECTIONS {
            return Err(format!(
                "{connections} connections at once, above the {MOST_CONNECTIONS} that a file may ask for"
            ));
        }
        let replayed = PathPlan { settings, flows, topology, load, ..path.transport.into() };
        replayed.settings.check(transport.options()).map_err(|e| e.to_string())?;
        around.fault.as_ref().map_or(Ok(()), |f| f.check()).map_err(|e| e.to_string())?;
        around.shape.as_ref().map_or(Ok(()), |s| s.check()).map_err(|e| e.to_string())?;
        let can = transport.capabilities(&replayed.settings);
        let facts = plan.pattern.facts();
        let offset = plan.offset.0.max(plan.offset.1);
        for (what, bytes) in [
            ("an answer", if facts.responds { plan.response } else { 0 }),
            ("an alignment", plan.align),
            ("an offset", offset),
        ] {
            if bytes > LARGEST {
                return Err(format!(
                    "{what} of {}, above the {} that a file may ask for",
                    Bytes(bytes),
                    Bytes(LARGEST)
                ));
            }
        }
        Ok(Self {
            transports: Vec::new(),
            replayed: Some(replayed),
            from: None,
            to: None,
            step: None,
            sizes: None,
            perturb: None,
            schedule: Schedule::Adaptive,
            pattern: Some(PatternFlag::new(plan.pattern).ok_or("HINT, whose sizes are no messages")?),
            reverse: plan.reverse,
            both: plan.both,
            flows: Vec::new(),
            pairs: Vec::new(),
            topology: None,
            members: Vec::new(),
            load: Vec::new(),
            load_direction: None,
            load_size: None,
            response: facts.responds.then_some(plan.response),
            burst: facts.bursts.then_some(plan.burst),
            rate: (plan.rate.map(SendRate::Messages))
                .or(plan.offered_on(path.path).map(SendRate::Bits))
                .map(SendRates::one),
            duration: None,
            every: None,
            align: Some(plan.align),
            offset: Some(plan.offset),
            cache: (plan.cache == Cache::Cold && !can.virtual_time).then_some(Cache::Cold),
            check: plan.check,
            mss: None,
            reconnect: plan.reconnect,
            loss_timeout: None,
            vs: None,
            trace: None,
            html: None,
            no_html: true,
            hint: None,
            common: CommonFlags {
                precision: None,
                budget: None,
                trials: None,
                repeats: None,
                seed: plan.seed,
                pin,
                wait: None,
                sockbuf: None,
                nodelay: false,
                no_nodelay: false,
                congestion: None,
                ipv4: false,
                ipv6: false,
                patience: Some(plan.patience.min(LONGEST_PATIENCE)),
                peer: Vec::new(),
                near: Vec::new(),
                peer_address: Vec::new(),
                near_under: None,
                peer_under: Vec::new(),
                key: None,
                remote_program: None,
                theory: None,
                fault: around.fault.clone().filter(|_| can.two_ended),
                shape: around.shape.clone().filter(|_| can.two_ended),
                output: None,
                // With a knob moved, and over a part of the sizes: no repeat of anything.
                no_history: true,
                quiet: false,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use measure::{Load, LoadDirection, Pattern, Topology};
    use std::path::PathBuf;

    use transport::decorate::{Fault, Shape};
    use transport::settings::Effective;
    use transport::{Settings, Value};

    use super::*;

    /// What a hostile file may hold: `trace` is not even read from one.
    fn hostile() -> Plan {
        let mut plan = Plan::default();
        plan.decorators.trace = Some(PathBuf::from("/home/victim/.bashrc"));
        plan.patience = 1e9;
        plan
    }

    /// A path of the plan, of this transport.
    fn path(transport: &str) -> PathOpened {
        let transport = transport::Name::new(transport).unwrap();
        PathOpened {
            path: 0,
            transport,
            label: None,
            capabilities: transport.capabilities(),
            far: None,
            near_effective: Effective::default(),
            far_effective: Effective::default(),
            flows: Vec::new(),
            members: Vec::new(),
            load: None,
        }
    }

    #[test]
    fn no_file_says_where_the_far_side_runs_or_what_is_written() {
        let flags = RunFlags::replaying(&hostile(), &path("tcp"), "auto".to_owned()).unwrap();
        assert_eq!((flags.common.peer, flags.common.key, flags.common.remote_program), (Vec::new(), None, None));
        assert_eq!((flags.trace, flags.common.output, flags.html, flags.vs), (None, None, None, None));
        assert_eq!(flags.common.patience, Some(LONGEST_PATIENCE));
    }

    #[test]
    fn what_was_set_on_the_path_is_set_again() {
        let mut plan = Plan { pattern: Pattern::Request, response: 99, reconnect: true, ..Plan::default() };
        (plan.paths[0].flows, plan.paths[0].topology) = (4, Topology::FanIn);
        plan.paths[0].load = Some(Load { flows: 2, direction: LoadDirection::Both, size: 99 });
        plan.paths[0].settings = Settings::default().with("mss", 700u64).with("nodelay", false).with("family", "6");
        let mut loaded = plan.clone();
        loaded.paths[0].load = Some(Load { flows: 28, direction: LoadDirection::Same, size: 99 });
        assert!(
            RunFlags::replaying(&loaded, &path("tcp"), "0,1".to_owned()).is_ok(),
            "28 loading flows one way and 4 others"
        );
        let flags = RunFlags::replaying(&plan, &path("tcp"), "0,1".to_owned()).unwrap();
        assert_eq!((flags.response, flags.reconnect, flags.common.pin.as_str()), (Some(99), true, "0,1"));
        assert_eq!(flags.replayed.unwrap(), plan.paths[0]);
    }

    #[test]
    fn values_that_no_flag_takes_are_refused() {
        let refused = |transport: &str, change: &dyn Fn(&mut Plan)| {
            let mut plan = Plan::default();
            change(&mut plan);
            RunFlags::replaying(&plan, &path(transport), "auto".to_owned()).unwrap_err()
        };
        let set =
            |option: &'static str, value: Value| move |p: &mut Plan| p.paths[0].settings.set(option, value.clone());
        assert!(refused("theory", &set("packet", 0u64.into())).contains("packet=0"));
        assert!(refused("unix", &set("mss", 700u64.into())).contains("no option is named 'mss'"));
        assert!(refused("tcp", &set("congestion", "../x".into())).contains("congestion"));
        assert!(refused("a-module", &|_| ()).contains("a-module, which this program does not have"));
        for shape in [Shape { latency: -1.0, rate: 1e9 }, Shape { latency: f64::INFINITY, rate: 0.0 }] {
            assert!(refused("tcp", &|p| p.decorators.shape = Some(shape.clone())).contains("latency="));
        }
        let fault = Fault { stall: 1e30, stall_at: Some(3), ..Fault::default() };
        assert!(refused("tcp", &|p| p.decorators.fault = Some(fault.clone())).contains("stall="));
        assert!(refused("tcp", &|p| p.align = 1 << 60).contains("an alignment"));
        assert!(refused("tcp", &|p| (p.pattern, p.response) = (Pattern::Request, 1 << 60)).contains("an answer"));
        assert!(refused("tcp", &|p| p.paths[0].flows = 1000).contains("1 to 128"));
        assert!(refused("tcp", &|p| p.paths[0].flows = 33).contains("33 connections at once, above the 32"));
        assert!(refused("tcp", &|p| (p.paths[0].flows, p.both) = (17, true)).contains("34 connections"));
        let load = |flows, size| Some(Load { flows, direction: LoadDirection::Both, size });
        assert!(refused("tcp", &|p| p.paths[0].load = load(99, 1)).contains("at most 127 connections"));
        assert!(refused("tcp", &|p| p.paths[0].load = load(16, 1)).contains("33 connections"));
        assert!(refused("tcp", &|p| p.paths[0].load = load(1, 1 << 60)).contains("a loading flow's message"));
        assert!(refused("tcp", &|p| p.pattern = Pattern::Hint).contains("HINT"));
    }
}
