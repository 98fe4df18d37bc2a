//! Warnings of what was taken from the pinned CPUs: by whom, on what evidence, and what can be done about that.

use host::Taken;
use units::Share;

use crate::event::Warning;
use crate::warned::warning;

/// Share of a CPU taken by others from which on a warning is given.
const WORTH_A_WORD: f64 = 0.05;
/// The same for the time that a quota stopped the measurement: it stops for tens of milliseconds at once.
const STOPPED: f64 = 0.01;

/// Who took of the pinned CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    Processes,
    Hypervisor,
    Quota,
}

impl Cause {
    /// As a cause of noise and pauses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Processes => "other processes on the pinned CPUs",
            Self::Hypervisor => "the hypervisor, which kept the pinned CPUs (steal)",
            Self::Quota => "the control group's CPU quota",
        }
    }
}

/// Who took a share that matters, and how much of one CPU: processes, then the hypervisor, then the quota.
fn causes(taken: &Taken) -> Vec<(Cause, f64)> {
    let stopped = taken.throttled_share.filter(|_| taken.throttled.is_some_and(|n| n > 0)).unwrap_or(0.0);
    let all = [
        (Cause::Processes, taken.processes, WORTH_A_WORD),
        (Cause::Hypervisor, taken.steal, WORTH_A_WORD),
        (Cause::Quota, stopped, STOPPED),
    ];
    all.into_iter().filter(|(_, share, least)| share > least).map(|(cause, share, _)| (cause, share)).collect()
}

/// Who took most; none where nobody took a share that matters.
pub(crate) fn most(taken: &Taken) -> Option<Cause> {
    causes(taken).into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(cause, _)| cause)
}

/// Why long trials took longer than short ones, with the evidence: a quota affects only the long ones, so it comes first; none where nobody
/// took a share that matters.
pub(crate) fn of_long_trials(taken: &Taken) -> Option<String> {
    let (cause, share) = causes(taken).pop()?;
    let share = Share(share);
    Some(match cause {
        Cause::Quota => format!("the control group's CPU quota, which stopped the measurement for {share} of the time"),
        Cause::Hypervisor => format!("the hypervisor, which kept {share} of one CPU of the pinned CPUs (steal)"),
        Cause::Processes => format!("other processes, which took {share} of one CPU on the pinned CPUs"),
    })
}

/// Whether a quota stopped the measurement for a share that matters.
pub(crate) fn stopped(taken: &Taken) -> bool {
    causes(taken).iter().any(|(cause, _)| *cause == Cause::Quota)
}

/// A warning for each of those who took a share that matters.
pub(crate) fn warnings(taken: &Taken) -> Vec<Warning> {
    let of = |(cause, share): (Cause, f64)| {
        let share = Share(share);
        let (code, text) = match cause {
            Cause::Processes => (
                "cpu-interference",
                format!(
                    "other processes took {share} of one CPU on the pinned CPUs during the run; stop them, or pin to CPUs they \
                     don't use (--pin A,B)"
                ),
            ),
            Cause::Hypervisor => (
                "steal",
                format!(
                    "the hypervisor kept {share} of one CPU of the pinned CPUs during the run (steal in /proc/stat): nothing \
                     here can stop it; measure at another time, or on a machine whose CPUs are not shared out twice"
                ),
            ),
            Cause::Quota => (
                "throttled",
                format!(
                    "the CPU quota of the control group stopped it {} times during the run, for {share} of the time \
                     (nr_throttled in cpu.stat); allow two CPUs and more: docker run --cpus, Kubernetes' limits.cpu, \
                     systemd's CPUQuota=",
                    taken.throttled.unwrap_or(0)
                ),
            ),
        };
        warning(code, Vec::new(), text)
    };
    causes(taken).into_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_long_trials_take_longer_is_said_with_the_evidence() {
        let quiet = Taken { processes: 0.02, steal: 0.03, throttled: Some(0), throttled_share: Some(0.0) };
        let said = |taken: Taken| of_long_trials(&taken).unwrap_or_default();
        assert_eq!(said(quiet), "");
        let busy = Taken { processes: 1.71, ..quiet };
        assert_eq!(said(busy), "other processes, which took 171.0% of one CPU on the pinned CPUs");
        let stolen = Taken { steal: 0.2, ..busy };
        assert!(said(stolen).starts_with("the hypervisor, which kept 20.0%"));
        let stopped = Taken { throttled: Some(3), throttled_share: Some(0.1), ..stolen };
        assert!(said(stopped).starts_with("the control group's CPU quota, which stopped the measurement for 10.0%"));
    }

    #[test]
    fn a_warning_names_who_took_the_cpus_and_no_other() {
        let quiet = Taken { processes: 0.02, steal: 0.03, throttled: Some(0), throttled_share: Some(0.0) };
        let stolen = Taken { steal: 0.95, ..quiet };
        let busy = Taken { processes: 0.758, ..quiet };
        let stopped = Taken { throttled: Some(17), throttled_share: Some(0.4), ..quiet };
        let codes = |t: &Taken| warnings(t).into_iter().map(|w| w.code).collect::<Vec<_>>();
        assert_eq!((codes(&quiet), most(&quiet)), (vec![], None));
        assert_eq!((codes(&stolen), most(&stolen)), (vec!["steal".to_owned()], Some(Cause::Hypervisor)));
        assert_eq!((codes(&busy), most(&busy)), (vec!["cpu-interference".to_owned()], Some(Cause::Processes)));
        assert_eq!((codes(&stopped), most(&stopped)), (vec!["throttled".to_owned()], Some(Cause::Quota)));
        let all = Taken { steal: 0.95, processes: 0.5, ..stopped };
        assert_eq!((codes(&all).len(), most(&all)), (3, Some(Cause::Hypervisor)));
        let said = |t: &Taken| warnings(t)[0].text.clone();
        assert!(said(&stolen).contains("the hypervisor kept 95.0%") && said(&stolen).contains("steal in /proc/stat"));
        assert!(!said(&stolen).contains("processes") && said(&busy).contains("other processes took 75.8%"));
        assert!(said(&stopped).contains("stopped it 17 times") && said(&stopped).contains("40.0% of the time"));
    }
}
