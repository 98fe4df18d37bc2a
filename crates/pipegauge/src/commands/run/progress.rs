//! Progress on standard error. It moves only when something happened, between trials: a thread that draws by itself would
//! disturb what is being measured.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use measure::Event;
use measure::event::{Plan, Schedule};
use units::{Bytes, Seconds};

use crate::out;

/// What a person sees while a run goes on.
pub struct Progress {
    /// Names of the paths, by number.
    names: Vec<&'static str>,
    measure: Measure,
    show: Show,
}

/// What a run is measured against: what ends it.
enum Measure {
    /// Time that all paths may take, seconds.
    Budget(f64),
    /// Trials: where a number of them, or NetPIPE's schedule, ends a run, nobody knows how long that takes.
    Trials(Count),
}

/// How far a run of counted trials is.
#[derive(Default)]
struct Count {
    /// Blocks of all paths, and how many of them have begun.
    blocks: u64,
    begun: u64,
    /// Trials of the block in progress, and how many of them are done.
    planned: u64,
    done: u64,
}

impl Count {
    fn of(plan: &Plan) -> Self {
        // NetPIPE's schedule has one block a path, the other a survey and one for each trial of a point.
        let each = if plan.schedule == Schedule::Netpipe { 1 } else { 1 + u64::from(plan.trials.unwrap_or(0)) };
        Self { blocks: each * plan.transports.len() as u64, ..Self::default() }
    }

    fn block(&mut self, planned: u32) {
        *self = Self { begun: self.begun + 1, planned: planned.into(), done: 0, ..*self };
    }

    fn trial(&mut self) {
        self.done += 1;
        // A jump in the curve calls for trials that nobody had planned.
        self.planned = self.planned.max(self.done);
    }

    /// How much of the run is done, 0 to 1.
    fn share(&self) -> f64 {
        let block = if self.planned == 0 { 0.0 } else { self.done as f64 / self.planned as f64 };
        (((self.begun.saturating_sub(1)) as f64 + block) / self.blocks.max(1) as f64).min(1.0)
    }
}

/// Steps of the bar.
const STEPS: u64 = 10_000;

enum Show {
    Nothing,
    /// A terminal: one line that moves.
    Bar(ProgressBar),
    /// A file, a pipe, a terminal that can't move its cursor: one line for each block.
    Lines,
}

impl Progress {
    /// Progress of a run of `plan`.
    pub fn new(plan: &Plan, wanted: bool) -> Self {
        let measure = match plan.schedule == Schedule::Netpipe || plan.trials.is_some() {
            true => Measure::Trials(Count::of(plan)),
            false => Measure::Budget(plan.budget * plan.transports.len() as f64),
        };
        let show = match (wanted, std::io::stderr().is_terminal() && !out::dumb()) {
            (false, _) => Show::Nothing,
            (true, false) => Show::Lines,
            (true, true) => Show::Bar(bar()),
        };
        Self { names: plan.transports.iter().map(|k| k.name()).collect(), measure, show }
    }

    /// Shows what happened.
    pub fn hear(&mut self, event: &Event) {
        if let Measure::Trials(count) = &mut self.measure {
            match event {
                Event::Block(b) => count.block(b.planned),
                Event::Trial(_) => count.trial(),
                _ => {}
            }
        }
        let name = |path: u32| self.names.get(path as usize).copied().unwrap_or("?");
        match (&self.show, event) {
            (Show::Nothing, _) => {}
            (Show::Bar(bar), Event::Block(b)) => self.draw(bar, b.at, &format!("{}, block {}", name(b.path), b.block)),
            (Show::Bar(bar), Event::Trial(t)) => {
                self.draw(bar, t.at, &format!("{}, block {}, {}", name(t.path), t.block, Bytes(t.size)));
            }
            (Show::Lines, Event::Block(b)) => {
                let what = if b.block == 0 { "survey".to_owned() } else { format!("block {}", b.block) };
                let (name, at) = (name(b.path), Seconds(b.at));
                out::tell(&format!("{name}: {what}, {} trials, at {at}", b.planned));
            }
            _ => {}
        }
    }

    fn draw(&self, bar: &ProgressBar, at: f64, what: &str) {
        let (share, words) = match &self.measure {
            Measure::Budget(budget) => {
                (at / budget.max(f64::MIN_POSITIVE), format!("{:.0} s left; {what}", (budget - at).max(0.0).ceil()))
            }
            Measure::Trials(c) => (c.share(), format!("{what}: {} of {} trials", c.done, c.planned)),
        };
        bar.set_position((share.clamp(0.0, 1.0) * STEPS as f64) as u64);
        bar.set_message(words);
    }

    /// Takes the bar away.
    pub fn done(&mut self) {
        if let Show::Bar(bar) = &self.show {
            bar.finish_and_clear();
        }
        self.show = Show::Nothing;
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr_with_hz(10));
    let style = ProgressStyle::with_template("{bar:30} {percent:>3}%  {wide_msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_trials_move_the_bar_evenly_to_its_end() {
        let mut count = Count { blocks: 4, ..Count::default() };
        let mut shares = vec![count.share()];
        for _ in 0..4 {
            count.block(5);
            for _ in 0..5 {
                count.trial();
                shares.push(count.share());
            }
        }
        assert_eq!((shares[0], shares[10], shares[20]), (0.0, 0.5, 1.0));
        assert!(shares.windows(2).all(|w| w[0] < w[1]), "{shares:?}");
        // More than was planned never goes beyond the end.
        count.trial();
        assert_eq!((count.share(), count.planned), (1.0, 6));
    }
}
