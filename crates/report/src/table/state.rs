//! What state the machine was in while a path was measured, and what the path keeps up: a line each, before any figure.

use record::{PathRun, RunFile};
use units::{Bytes, Seconds, Share};

use super::warnings::paragraph;

/// Columns of text, as the tables below it.
const WIDTH: usize = 80;

/// One line a path: how many rounds there are, how many they count for, and for which state of the machine the figures hold.
/// Then one for what long trials say, where there were any.
pub fn state(run: &RunFile) -> String {
    let mut text = String::new();
    for path in &run.paths {
        let name = path.opened.transport.name();
        if let Some(line) = rounds(path) {
            paragraph("", &format!("{name}: {line}"), WIDTH, &mut text);
        }
        if let Some(line) = sustained(run, path) {
            paragraph("", &format!("{name}: {line}"), WIDTH, &mut text);
        }
    }
    text
}

/// What the rounds of a path say of the machine; none where the schedule has no rounds.
pub fn rounds(path: &PathRun) -> Option<String> {
    let (moves, noise) = (path.common.shared.moves, path.common.shared.sigma);
    let n = moves.rounds;
    let lasted = path.measured_for().map_or(String::new(), |s| format!(" over {}", Seconds(s)));
    let of = |n: u32| if n == 1 { "1 round".to_owned() } else { format!("{n} rounds") };
    match n {
        0 => None,
        _ if moves.few() => Some(format!("{}{lasted}: too few for an interval; what they saw is shown", of(n))),
        _ if moves.slow(noise) => {
            let ends = |pick: fn(f64, f64) -> f64, from: f64| path.common.levels().map(|(_, l)| l).fold(from, pick);
            let apart = (ends(f64::max, f64::NEG_INFINITY) - ends(f64::min, f64::INFINITY)).exp();
            Some(format!(
                "{}{lasted} saw a state of the machine or two, {apart:.2} times apart, that last too long to average over: no \
                 interval beyond what was seen",
                of(n)
            ))
        }
        _ if moves.effective < 0.6 * f64::from(n) && moves.spread > 0.5 * noise => Some(format!(
            "{}{lasted} count as {:.0}: states of the machine last for some rounds (they moved the curve by {}); intervals \
             hold for this run's states",
            of(n),
            moves.effective,
            Share(moves.spread)
        )),
        _ => Some(format!(
            "{}{lasted} saw one state of the machine (rounds lie {} apart): intervals hold for that state",
            of(n),
            Share(moves.spread.max(5e-4))
        )),
    }
}

fn sustained(run: &RunFile, path: &PathRun) -> Option<String> {
    let found = path.kept_up(&run.run.plan);
    let lasted = found.first()?.lasted;
    let each: Vec<String> = found
        .iter()
        .map(|s| {
            let time = Seconds(s.seconds);
            if s.high.is_finite() {
                format!("{time} at {} ({:.2} [{:.2}, {:.2}])", Bytes(s.size), s.ratio, s.low, s.high)
            } else {
                format!("{time} at {} ({:.2})", Bytes(s.size), s.ratio)
            }
        })
        .collect();
    Some(format!("kept up over {}: {} (in brackets: times that of the short trials)", Seconds(lasted), each.join(", ")))
}
