//! Progress on standard error. It moves only when something happened, between trials: a thread that draws by itself would
//! disturb what is being measured.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use measure::Event;
use measure::event::Plan;
use units::{Bytes, Seconds};

use crate::out;

/// What a person sees while a run goes on.
pub struct Progress {
    /// Names of the paths, by number.
    names: Vec<&'static str>,
    /// Time that all paths may take, seconds.
    budget: f64,
    show: Show,
}

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
        let budget = plan.budget * plan.transports.len() as f64;
        let show = match (wanted, std::io::stderr().is_terminal() && !out::dumb()) {
            (false, _) => Show::Nothing,
            (true, false) => Show::Lines,
            (true, true) => Show::Bar(bar(budget)),
        };
        Self { names: plan.transports.iter().map(|k| k.name()).collect(), budget, show }
    }

    /// Shows what happened.
    pub fn hear(&mut self, event: &Event) {
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
        bar.set_position(millis(at));
        bar.set_message(format!("{:.0} s left; {what}", (self.budget - at).max(0.0).ceil()));
    }

    /// Takes the bar away.
    pub fn done(&mut self) {
        if let Show::Bar(bar) = &self.show {
            bar.finish_and_clear();
        }
        self.show = Show::Nothing;
    }
}

fn bar(budget: f64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(millis(budget)), ProgressDrawTarget::stderr_with_hz(10));
    let style = ProgressStyle::with_template("{bar:30} {percent:>3}%  {wide_msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

fn millis(seconds: f64) -> u64 {
    Duration::try_from_secs_f64(seconds.max(0.0)).map_or(u64::MAX, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
}
