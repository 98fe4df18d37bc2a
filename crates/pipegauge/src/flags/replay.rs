//! From a plan in a run file back to flags of `run`. The file may be a stranger's: it says what is measured and nothing else.

use measure::Cache;
use measure::event::Plan;
use transport::{Family, Kind, Wait};
use units::Bytes;

use super::PatternFlag;
use super::run::{CacheFlag, RunFlags, ScheduleFlag, WaitFlag};

/// Largest block and answer that a file may ask for: what a far side lets a near side it does not know ask for.
pub const LARGEST: u64 = 1 << 30;
/// Longest time without progress that a file may ask for, seconds.
const LONGEST_PATIENCE: f64 = 60.0;

impl RunFlags {
    /// Flags that measure `kind` alone as `plan` did, on the CPUs `pin` (A,B, or a word of `--pin`), over sizes that the caller names.
    /// Every field stands here by name: a flag that is added must be decided upon. Where the far side runs, which program it is,
    /// what is written where and how long it takes are never the file's to say. The error says what the plan asks for that can't be.
    pub fn replaying(plan: &Plan, kind: Kind, pin: String) -> Result<Self, String> {
        let set = &plan.settings;
        set.theory.check().map_err(|e| e.to_string())?;
        set.fault.as_ref().map_or(Ok(()), |f| f.check()).map_err(|e| e.to_string())?;
        set.shape.as_ref().map_or(Ok(()), |s| s.check()).map_err(|e| e.to_string())?;
        let can = kind.capabilities();
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
        let tcp = kind == Kind::Tcp;
        let ip = matches!(kind, Kind::Tcp | Kind::Udp);
        let family = set.family.filter(|_| ip);
        Ok(Self {
            transports: vec![kind.name().to_owned()],
            from: 1,
            to: None,
            step: None,
            sizes: None,
            perturb: None,
            schedule: ScheduleFlag::Adaptive,
            pattern: PatternFlag::new(plan.pattern).ok_or("HINT, whose sizes are no blocks")?,
            response: facts.responds.then_some(plan.response),
            burst: facts.bursts.then_some(plan.burst),
            rate: plan.rate,
            precision: None,
            budget: None,
            trials: None,
            repeats: None,
            seed: plan.seed,
            align: Some(plan.align),
            offset: Some(plan.offset),
            cache: (plan.cache == Cache::Cold && !can.virtual_time).then_some(CacheFlag::Cold),
            check: plan.check,
            pin,
            wait: set.wait.map(wait),
            sockbuf: set.sockbuf,
            nodelay: false,
            no_nodelay: tcp && !set.nodelay,
            mss: set.mss.filter(|_| tcp).map(u64::from),
            congestion: set.congestion.clone().filter(|_| tcp),
            reconnect: plan.reconnect,
            ipv4: family == Some(Family::V4),
            ipv6: family == Some(Family::V6),
            patience: Some(set.patience.min(LONGEST_PATIENCE)),
            loss_timeout: Some(set.loss_timeout),
            peer: None,
            key: None,
            remote_program: None,
            theory: (kind == Kind::Theory).then(|| set.theory.clone()),
            fault: set.fault.clone().filter(|_| can.two_ended),
            shape: set.shape.clone().filter(|_| can.two_ended),
            vs: None,
            trace: None,
            output: None,
            html: None,
            no_html: true,
            // With a knob moved, and over a part of the sizes: no repeat of anything.
            no_history: true,
            quiet: false,
            hint: None,
        })
    }
}

fn wait(wait: Wait) -> WaitFlag {
    match wait {
        Wait::Block => WaitFlag::Block,
        Wait::Spin => WaitFlag::Spin,
        Wait::BusyPoll => WaitFlag::BusyPoll,
    }
}

#[cfg(test)]
mod tests {
    use measure::Pattern;
    use std::path::PathBuf;

    use transport::decorate::{Fault, Shape};
    use transport::theory::Theory;

    use super::*;

    /// What a hostile file may hold: `trace` is not even read from one.
    fn hostile() -> Plan {
        let mut plan = Plan::default();
        plan.settings.trace = Some(PathBuf::from("/home/victim/.bashrc"));
        plan.settings.patience = 1e9;
        plan
    }

    #[test]
    fn no_file_says_where_the_far_side_runs_or_what_is_written() {
        let flags = RunFlags::replaying(&hostile(), Kind::Tcp, "auto".to_owned()).unwrap();
        assert_eq!((flags.peer, flags.key, flags.remote_program), (None, None, None));
        assert_eq!((flags.trace, flags.output, flags.html, flags.vs), (None, None, None, None));
        assert_eq!(flags.patience, Some(LONGEST_PATIENCE));
    }

    #[test]
    fn what_was_set_on_the_path_is_set_again() {
        let mut plan = Plan { pattern: Pattern::Request, response: 99, reconnect: true, ..Plan::default() };
        plan.settings.mss = Some(700);
        plan.settings.nodelay = false;
        plan.settings.family = Some(Family::V6);
        let flags = RunFlags::replaying(&plan, Kind::Tcp, "0,1".to_owned()).unwrap();
        assert_eq!((flags.response, flags.mss, flags.no_nodelay, flags.ipv6), (Some(99), Some(700), true, true));
        assert!(flags.reconnect && flags.pin == "0,1");
        // Another path of the same run has no segments.
        let flags = RunFlags::replaying(&plan, Kind::Unix, "0,1".to_owned()).unwrap();
        assert_eq!((flags.mss, flags.no_nodelay, flags.ipv6), (None, false, false));
    }

    #[test]
    fn values_that_no_flag_takes_are_refused() {
        let refused = |change: &dyn Fn(&mut Plan)| {
            let mut plan = Plan::default();
            change(&mut plan);
            RunFlags::replaying(&plan, Kind::Tcp, "auto".to_owned()).unwrap_err()
        };
        let theory = Theory { packet: 0, ..Theory::default() };
        assert!(refused(&|p| p.settings.theory = theory.clone()).contains("packet=0"));
        for shape in [Shape { latency: -1.0, rate: 1e9 }, Shape { latency: f64::INFINITY, rate: 0.0 }] {
            assert!(refused(&|p| p.settings.shape = Some(shape.clone())).contains("latency="));
        }
        let fault = Fault { stall: 1e30, stall_at: Some(3), ..Fault::default() };
        assert!(refused(&|p| p.settings.fault = Some(fault.clone())).contains("stall="));
        assert!(refused(&|p| p.align = 1 << 60).contains("an alignment"));
        assert!(refused(&|p| (p.pattern, p.response) = (Pattern::Request, 1 << 60)).contains("an answer"));
        assert!(refused(&|p| p.pattern = Pattern::Hint).contains("HINT"));
    }
}
