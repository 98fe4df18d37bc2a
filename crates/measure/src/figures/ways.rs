//! Each direction of a path whose sides both send at once.
//!
//! A trial of one direction is the whole trial with that direction's flows only: the common time of all flows and what these did in it. So
//! its figures go through the same estimators as those of all flows, with intervals from the same rounds.

use std::borrow::Borrow;

use transport::Name;

use super::{Common, figures};
use crate::event::{Calibration, Figures, Plan, Trial};
use crate::{FarReport, Flows, TrialReport, Trials};

/// What each point of a path, a slice of trials each, shows of the direction to the far side and of that to the near side; none where
/// messages go one way at a time, or where no trial has both.
pub fn ways<T: Borrow<[Trial]>>(
    plan: &Plan,
    kind: Name,
    clock: Calibration,
    points: impl Iterator<Item = T> + Clone,
) -> Vec<Option<Box<[Figures; 2]>>> {
    if !plan.both {
        return points.map(|_| None).collect();
    }
    let plan = &Plan { both: false, ..plan.clone() };
    let [there, back] = [false, true].map(|back| {
        let of = |trials: T| trials.borrow().iter().filter_map(|t| way(t, back)).collect();
        let trials: Vec<Trials> = points.clone().map(of).collect();
        let common = Common::of(plan, kind, clock, trials.iter().map(Trials::all));
        let of = |trials: &Trials| figures(plan, kind, &trials.all().iter().collect::<Vec<_>>(), &common);
        trials.iter().map(of).collect::<Vec<_>>()
    });
    there.into_iter().zip(back).map(|(there, back)| Some(Box::new([there?, back?]))).collect()
}

/// The trial with the flows of one direction only. None of a trial that has no flows.
fn way(trial: &Trial, back: bool) -> Option<Trial> {
    let all = trial.report.flows.as_ref()?;
    let flows = Flows { each: all.way(back).to_vec(), ..all.clone() };
    let lost: u64 = flows.each.iter().map(|flow| flow.lost).sum();
    // Each flow sends as many.
    let sent = trial.report.far.received.saturating_add(trial.report.far.lost) / 2;
    let far = FarReport { received: sent.saturating_sub(lost), lost, ..FarReport::default() };
    let report = TrialReport {
        repeats: flows.iterations().round() as u64,
        seconds: flows.seconds,
        flows: Some(flows),
        far,
        ..TrialReport::default()
    };
    let Trial { path, round, at, size, response, burst, warmup, .. } = *trial;
    Some(Trial { path, round, at, size, response, burst, warmup, report })
}

#[cfg(test)]
mod tests {
    use transport::tcp::NAME;

    use super::*;
    use crate::{FlowReport, Pattern};

    /// A trial of a flow each way, 1 ms at once: so many messages of 1000 bytes there and back, of which some are lost back.
    fn trial(round: u32, there: f64, back: f64, lost: u64) -> Trial {
        let flow = |iterations, lost| FlowReport { iterations, lost, ..FlowReport::default() };
        let flows = Flows { seconds: 1e-3, span: 1.2e-3, apart: 1e-4, each: vec![flow(there, 0), flow(back, lost)] };
        let far = FarReport { received: 2000 - lost, lost, ..FarReport::default() };
        let report = TrialReport {
            repeats: (there + back) as u64,
            seconds: 1e-3,
            flows: Some(flows),
            far,
            ..TrialReport::default()
        };
        Trial { path: 0, round, at: f64::from(round), size: 1000, response: 0, burst: 0, warmup: false, report }
    }

    fn plan() -> Plan {
        Plan { both: true, pattern: Pattern::Stream, ..Plan::default() }
    }

    fn rounds() -> Vec<Trial> {
        // 800 and 200 messages in a millisecond: 6.4 and 1.6 Gbit/s, and a tenth lost on the way back.
        (1..=9).map(|b| trial(b, 800.0 + f64::from(b % 3), 200.0, 100)).collect()
    }

    #[test]
    fn each_direction_has_its_own_throughput_and_loss_and_they_add_up() {
        let trials = rounds();
        let [there, back] = *ways(&plan(), NAME, Calibration::default(), [&trials[..]].into_iter())[0].clone().unwrap();
        assert!((there.throughput / 6.408e9 - 1.0).abs() < 1e-9, "{}", there.throughput);
        assert!((back.throughput / 1.6e9 - 1.0).abs() < 1e-9, "{}", back.throughput);
        assert_eq!((there.loss, back.loss), (0.0, 0.1));
        assert!(there.low < there.median && there.median < there.high && there.high.is_finite());
        let all = figures(&plan(), NAME, &trials.iter().collect::<Vec<_>>(), &Common::default()).unwrap();
        assert!((all.throughput / (there.throughput + back.throughput) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_path_of_one_direction_has_none() {
        let one = Plan { both: false, ..plan() };
        assert_eq!(ways(&one, NAME, Calibration::default(), [rounds()].into_iter()), [None]);
    }

    /// What only one direction carried is no figure of both, however much it was.
    #[test]
    fn a_direction_that_did_not_run_leaves_no_figure() {
        let trials: Vec<Trial> = (1..=9).map(|b| trial(b, 800.0, 0.0, 0)).collect();
        assert_eq!(ways(&plan(), NAME, Calibration::default(), [&trials[..]].into_iter()), [None]);
        let all = figures(&plan(), NAME, &trials.iter().collect::<Vec<_>>(), &Common::default());
        assert_eq!(all, None, "half of what was asked for is not what was asked for");
    }
}
