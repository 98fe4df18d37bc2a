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
    pub fn is_quota(self) -> bool {
        self == Self::Quota
    }

    /// Who, as the subject of [`Cause::did`].
    pub fn whose(self) -> &'static str {
        match self {
            Self::Processes => "other processes",
            Self::Hypervisor => "the hypervisor",
            Self::Quota => "the control group's CPU quota",
        }
    }

    /// What they did: the evidence. A quota's time is summed over CPUs, as the others' is, so that it may be more than the time that passed.
    pub fn did(self, share: f64) -> String {
        let share = Share(share);
        match self {
            Self::Processes => format!("took {share} of one CPU on the pinned CPUs"),
            Self::Hypervisor => format!("kept {share} of one CPU of the pinned CPUs (steal)"),
            Self::Quota => format!("kept {share} of one CPU from the measurement"),
        }
    }
}

/// How often a quota stopped it counts only where it did.
fn stopped(taken: &Taken) -> f64 {
    taken.throttled_share.filter(|_| taken.throttled.is_some_and(|n| n > 0)).unwrap_or(0.0)
}

/// Who took a share that matters, and how much of one CPU: processes, then the hypervisor, then the quota.
fn causes(taken: &Taken) -> Vec<(Cause, f64)> {
    let all = [
        (Cause::Processes, taken.processes, WORTH_A_WORD),
        (Cause::Hypervisor, taken.steal, WORTH_A_WORD),
        (Cause::Quota, stopped(taken), STOPPED),
    ];
    all.into_iter().filter(|(_, share, least)| share > least).map(|(cause, share, _)| (cause, share)).collect()
}

/// Why long trials took `ratio` times as long as short ones, and the share of one CPU that was taken, which is large enough for that: a quota
/// affects only the long ones, so it comes first; then who took most. None where nobody took as much.
pub(crate) fn of_long_trials(taken: &Taken, ratio: f64) -> Option<(Cause, f64)> {
    explaining(taken, ratio).max_by(|a, b| a.0.is_quota().cmp(&b.0.is_quota()).then(a.1.total_cmp(&b.1)))
}

/// Who took most of those who took enough to make times so many times as long: whoever a warning names as the cause, and nobody else. Where
/// nobody did, the words of that; `taken` is none where it was not seen.
pub(crate) fn enough(taken: Option<&Taken>, ratio: f64) -> Result<(Cause, f64), &'static str> {
    let Some(taken) = taken else { return Err("what others took of the CPUs is not known") };
    let found = explaining(taken, ratio).max_by(|a, b| a.1.total_cmp(&b.1));
    found.ok_or("nobody was found who took enough of the CPUs for it")
}

/// Who is named, as a cause, with the evidence.
pub(crate) fn likely((cause, share): (Cause, f64)) -> String {
    format!("likely cause: {}, which {}", cause.whose(), cause.did(share))
}

/// All who took enough for that.
fn explaining(taken: &Taken, ratio: f64) -> impl Iterator<Item = (Cause, f64)> {
    causes(taken).into_iter().filter(move |(_, share)| explains(*share, ratio))
}

/// Whether a share of one CPU that was taken explains more than half of the way to this ratio, as a ratio: a path that others hold up for a
/// share of the time takes 1 / (1 - share) times as long, and no more.
fn explains(share: f64, ratio: f64) -> bool {
    share >= 1.0 || 1.0 / (1.0 - share) > ratio.sqrt()
}

/// Who was seen to take something that is worth telling where it explains nothing: also a quota that hardly stopped the measurement.
pub(crate) fn seen(taken: &Taken) -> Vec<(Cause, f64)> {
    let mut all = causes(taken);
    let hardly = stopped(taken);
    if hardly > 0.0 && !all.iter().any(|(cause, _)| cause.is_quota()) {
        all.push((Cause::Quota, hardly));
    }
    all
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
                    "the CPU quota of the control group stopped it {} times during the run and kept {share} of one CPU from it \
                     (nr_throttled and the throttled time of all CPUs in cpu.stat); allow two CPUs and more: docker run --cpus, Kubernetes' limits.cpu, \
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

    const QUIET: Taken = Taken { processes: 0.02, steal: 0.03, throttled: Some(0), throttled_share: Some(0.0) };

    #[test]
    fn why_long_trials_take_longer_is_who_took_most_and_a_quota_before_all() {
        let busy = Taken { processes: 1.71, ..QUIET };
        let stolen = Taken { steal: 0.2, ..busy };
        let stopped = Taken { throttled: Some(3), throttled_share: Some(0.4), ..stolen };
        assert_eq!(of_long_trials(&QUIET, 1.01), None, "too little for a word explains nothing");
        assert_eq!(of_long_trials(&busy, 2.0), Some((Cause::Processes, 1.71)));
        assert_eq!(of_long_trials(&stolen, 1.2), Some((Cause::Processes, 1.71)), "the hypervisor took less");
        assert_eq!(of_long_trials(&stopped, 2.0), Some((Cause::Quota, 0.4)));
    }

    #[test]
    fn a_share_explains_no_ratio_that_it_is_too_small_for() {
        let stolen = Taken { steal: 0.06, ..QUIET };
        assert_eq!(of_long_trials(&stolen, 2.0), None, "6% of a CPU makes nothing take twice as long");
        assert_eq!(of_long_trials(&stolen, 1.12), Some((Cause::Hypervisor, 0.06)));
        assert_eq!(of_long_trials(&Taken { steal: 0.06, processes: 0.9, ..QUIET }, 2.0), Some((Cause::Processes, 0.9)));
        let hardly = Taken { throttled: Some(40), throttled_share: Some(0.009), ..QUIET };
        assert_eq!((of_long_trials(&hardly, 2.0), seen(&hardly)), (None, vec![(Cause::Quota, 0.009)]));
    }

    /// Two CPUs that a quota stops at once for three quarters of the time.
    #[test]
    fn what_a_quota_stopped_on_several_cpus_is_no_share_of_the_time() {
        let both = Taken { throttled: Some(17), throttled_share: Some(1.5), ..QUIET };
        let text = &warnings(&both)[0].text;
        assert!(text.contains("17 times") && text.contains("kept 150.0% of one CPU from it"), "{text}");
        assert!(!text.contains("of the time"), "{text}");
        assert_eq!(Cause::Quota.did(1.5), "kept 150.0% of one CPU from the measurement");
    }

    #[test]
    fn a_warning_names_who_took_the_cpus_and_no_other() {
        let quiet = QUIET;
        let stolen = Taken { steal: 0.95, ..quiet };
        let busy = Taken { processes: 0.758, ..quiet };
        let stopped = Taken { throttled: Some(17), throttled_share: Some(0.4), ..quiet };
        let most = |t: &Taken| enough(Some(t), 1.5).ok().map(|(cause, _)| cause);
        let codes = |t: &Taken| warnings(t).into_iter().map(|w| w.code).collect::<Vec<_>>();
        assert_eq!((codes(&quiet), most(&quiet)), (vec![], None));
        assert_eq!((codes(&stolen), most(&stolen)), (vec!["steal".to_owned()], Some(Cause::Hypervisor)));
        assert_eq!((codes(&busy), most(&busy)), (vec!["cpu-interference".to_owned()], Some(Cause::Processes)));
        assert_eq!((codes(&stopped), most(&stopped)), (vec!["throttled".to_owned()], Some(Cause::Quota)));
        let all = Taken { steal: 0.95, processes: 0.5, ..stopped };
        assert_eq!((codes(&all).len(), most(&all)), (3, Some(Cause::Hypervisor)));
        assert_eq!(enough(None, 1.01), Err("what others took of the CPUs is not known"));
        let said = |t: &Taken| warnings(t)[0].text.clone();
        assert!(said(&stolen).contains("the hypervisor kept 95.0%") && said(&stolen).contains("steal in /proc/stat"));
        assert!(!said(&stolen).contains("processes") && said(&busy).contains("other processes took 75.8%"));
        assert!(said(&stopped).contains("stopped it 17 times") && said(&stopped).contains("40.0% of one CPU"));
    }
}
