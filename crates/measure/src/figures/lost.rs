//! How many messages never came, and the interval of their share.

use std::collections::BTreeMap;

use stats::Interval;

use super::counted;
use crate::event::Trial;

/// Lost messages of one size over the rounds that count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lost {
    /// Messages that never came.
    pub lost: u64,
    /// Messages that were sent to be received: those that came and those that did not.
    pub sent: u64,
    /// 95% interval of their share; none where none or all were lost, and of fewer than four rounds.
    pub share: Option<Interval>,
}

impl Lost {
    /// What the receiver of a stream counted. Losses come many at once, so the interval comes from rounds, not from messages.
    pub fn of_stream(trials: &[&Trial]) -> Self {
        let mut rounds: Vec<(u32, f64, f64)> = Vec::new();
        for t in counted(trials) {
            let far = &t.report.far;
            let (lost, sent) = (far.lost as f64, far.received.saturating_add(far.lost) as f64);
            match rounds.iter_mut().find(|(round, ..)| *round == t.round) {
                Some((_, l, n)) => (*l, *n) = (*l + lost, *n + sent),
                None => rounds.push((t.round, lost, sent)),
            }
        }
        rounds.sort_by_key(|(round, ..)| *round);
        let of: Vec<(f64, f64)> = rounds.into_iter().map(|(_, lost, sent)| (lost, sent)).collect();
        let sum = |pick: fn(&(f64, f64)) -> f64| of.iter().map(pick).sum::<f64>();
        Self { lost: sum(|r| r.0) as u64, sent: sum(|r| r.1) as u64, share: interval(&of) }
    }
}

/// The 95% interval of the messages of a stream that arrive in a second of its sender's time. It holds what the sender's rate does from round to
/// round, where the path holds it up, and what is lost. None of fewer than four rounds, and where no time of the sender is known.
pub fn arrived_a_second(trials: &[&Trial]) -> Option<Interval> {
    let mut rounds = BTreeMap::<u32, (f64, f64)>::new();
    for t in counted(trials) {
        let (arrived, seconds) = rounds.entry(t.round).or_default();
        *arrived += t.report.far.received as f64;
        *seconds += t.report.seconds;
    }
    let rounds: Vec<(f64, f64)> = rounds.into_values().collect();
    let (arrived, seconds) = rounds.iter().fold((0.0, 0.0), |(a, s), r| (a + r.0, s + r.1));
    if rounds.len() < stats::FEWEST_ROUNDS || arrived <= 0.0 || seconds <= 0.0 {
        return None;
    }
    let rate = arrived / seconds;
    let reach = stats::student_t(stats::CONFIDENCE, (rounds.len() - 1) as f64) * error(&rounds, rate) / rate;
    Some(Interval { low: rate * (-reach).exp(), high: rate * reach.exp() })
}

/// The standard error of a ratio of sums over rounds (Cochran 1977, *Sampling Techniques*, section 2.11), widened by the correlation of
/// neighbouring rounds.
fn error(rounds: &[(f64, f64)], ratio: f64) -> f64 {
    let k = rounds.len();
    let of: f64 = rounds.iter().map(|r| r.1).sum();
    let apart: Vec<f64> = rounds.iter().map(|(l, n)| l - ratio * n).collect();
    let squares: f64 = apart.iter().map(|d| d * d).sum();
    let follows: f64 = apart.windows(2).map(|two| two[0] * two[1]).sum();
    // So few rounds estimate a correlation too low by about one over their number.
    let follows = if squares > 0.0 { (follows / squares + 1.0 / k as f64).clamp(0.0, 0.9) } else { 0.0 };
    (k as f64 / (k - 1) as f64 * squares * (1.0 + follows) / (1.0 - follows)).sqrt() / of
}

/// The interval of a share, from its standard error over rounds as log odds, which keeps it within 0 to 1.
fn interval(rounds: &[(f64, f64)]) -> Option<Interval> {
    let k = rounds.len();
    let (lost, sent) = rounds.iter().fold((0.0, 0.0), |(l, n), r| (l + r.0, n + r.1));
    let share = lost / sent;
    if k < stats::FEWEST_ROUNDS || !(share > 0.0 && share < 1.0) {
        return None;
    }
    let error = error(rounds, share);
    // Rounds that lose alike by chance: the error is at least that of as many independent messages.
    let error = error.max((share * (1.0 - share) / sent).sqrt());
    let reach = stats::student_t(stats::CONFIDENCE, (k - 1) as f64) * error / (share * (1.0 - share));
    let at = |odds: f64| 1.0 / (1.0 + (-odds).exp());
    let middle = (share / (1.0 - share)).ln();
    Some(Interval { low: at(middle - reach), high: at(middle + reach) })
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn losses_that_come_many_at_once_are_no_independent_messages() {
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        let (mut held, mut narrow, runs) = (0, 0, 1000);
        for _ in 0..runs {
            // In a third of the rounds a tenth of a thousand messages is lost, in the others one in a hundred.
            let rounds: Vec<(f64, f64)> = (0..20)
                .map(|_| {
                    let share = if rng.random::<f64>() < 1.0 / 3.0 { 0.1 } else { 0.01 };
                    ((0..1000).filter(|_| rng.random::<f64>() < share).count() as f64, 1000.0)
                })
                .collect();
            let found = interval(&rounds).unwrap();
            let truth = 0.1 / 3.0 + 0.02 / 3.0;
            held += usize::from(found.contains(truth));
            let p: f64 = rounds.iter().map(|r| r.0).sum::<f64>() / 20_000.0;
            narrow += usize::from((p - truth).abs() < 1.96 * (p * (1.0 - p) / 20_000.0).sqrt());
        }
        assert!((920..=990).contains(&held), "{held} of {runs}");
        assert!(narrow < 500, "an interval that takes messages for independent holds it in {narrow}");
    }

    #[test]
    fn neighbouring_rounds_that_go_together_tell_less() {
        let alike: Vec<(f64, f64)> = (0..12).map(|i| (if i < 6 { 10.0 } else { 90.0 }, 1000.0)).collect();
        let mixed: Vec<(f64, f64)> = (0..12).map(|i| (if i % 2 == 0 { 10.0 } else { 90.0 }, 1000.0)).collect();
        let width = |rounds: &[(f64, f64)]| interval(rounds).map(|i| i.high - i.low).unwrap();
        assert!(width(&alike) > 2.0 * width(&mixed));
    }

    #[test]
    fn what_arrives_is_as_unsure_as_the_senders_rate() {
        let trial = |round: u32, seconds: f64| {
            let far = crate::FarReport { received: 990, lost: 10, ..Default::default() };
            let report = crate::TrialReport { repeats: 1000, seconds, far, ..Default::default() };
            Trial { path: 0, round, at: 0.0, size: 100, response: 0, burst: 0, warmup: false, report }
        };
        let of = |times: &[f64]| {
            let trials: Vec<Trial> = times.iter().zip(1..).map(|(t, round)| trial(round, *t)).collect();
            arrived_a_second(&trials.iter().collect::<Vec<_>>())
        };
        let steady = of(&[1.0; 6]).unwrap();
        assert!((steady.low / 990.0 - 1.0).abs() < 1e-9 && (steady.high / 990.0 - 1.0).abs() < 1e-9, "{steady:?}");
        // The path held the sender up, in each round by another share.
        let moved = of(&[1.0, 1.5, 0.8, 1.3, 0.9, 1.1]).unwrap();
        assert!(moved.low < 750.0 && moved.high > 1100.0, "{moved:?}");
        assert_eq!((of(&[1.0; 3]), of(&[0.0; 6])), (None, None));
    }

    #[test]
    fn nothing_is_said_of_too_few_rounds_of_no_loss_and_of_no_message() {
        for rounds in [&[(1.0, 10.0); 3][..], &[(0.0, 10.0); 9], &[(10.0, 10.0); 9], &[(0.0, 0.0); 9], &[]] {
            assert_eq!(interval(rounds), None);
        }
        let same = interval(&[(1.0, 10.0); 9]).unwrap();
        assert!(same.low < 0.06 && same.high > 0.16, "nine messages of ninety: {same:?}");
    }
}
