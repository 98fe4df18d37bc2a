//! Progress on standard error. It moves only when something happened, between trials: a thread that draws by itself would
//! disturb what is being measured.

use std::cell::RefCell;
use std::io::IsTerminal;
use std::rc::Rc;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use measure::event::Plan;
use measure::{Event, Pattern};
use record::Extent;
use units::Seconds;

use super::Front;
use crate::out;

/// What a person sees while a run goes on.
pub struct Progress {
    /// Names of the paths, by number.
    names: Vec<String>,
    pattern: Pattern,
    extent: Extent,
    show: Show,
}

/// What one side of a run tells: its paths are numbered from `beyond` on.
struct Side {
    all: Rc<RefCell<Progress>>,
    beyond: u32,
}

impl Front for Side {
    fn take_event(&mut self, event: &Event) {
        let mut event = event.clone();
        match &mut event {
            Event::Round(b) => b.path += self.beyond,
            Event::Trial(t) | Event::Sustained(t) => t.path += self.beyond,
            _ => return,
        }
        self.all.borrow_mut().take_event(&event);
    }

    fn done(&mut self) {
        self.all.borrow_mut().done();
    }
}

/// Steps of the bar.
const STEPS: u64 = 10_000;

enum Show {
    Nothing,
    /// A terminal: one line that moves.
    Bar(ProgressBar),
    /// A file, a pipe, a terminal that can't move its cursor: one line for each round.
    Lines,
}

impl Progress {
    /// Progress of a run of `plan`.
    pub fn new(plan: &Plan, wanted: bool) -> Self {
        let show = match (wanted, std::io::stderr().is_terminal() && !out::dumb()) {
            (false, _) => Show::Nothing,
            (true, false) => Show::Lines,
            (true, true) => Show::Bar(bar()),
        };
        let names = plan.paths.iter().map(|path| path.name().to_owned()).collect();
        Self { names, pattern: plan.pattern, extent: Extent::of(plan), show }
    }

    /// Progress of a run of two sides, one front for each: their paths are those of one run of twice as many.
    pub fn sides(plan: &Plan, wanted: bool) -> [Box<dyn Front>; 2] {
        let paths = plan.paths.len() as u32;
        let both = Plan { paths: [&plan.paths[..], &plan.paths[..]].concat(), ..plan.clone() };
        let mut all = Self::new(&both, wanted);
        all.names.iter_mut().enumerate().for_each(|(i, name)| {
            name.push_str(if i < paths as usize { " (a)" } else { " (b)" });
        });
        let all = Rc::new(RefCell::new(all));
        [0, paths].map(|beyond| -> Box<dyn Front> { Box::new(Side { all: Rc::clone(&all), beyond }) })
    }

    fn draw(&self, bar: &ProgressBar, what: &str) {
        bar.set_position((self.extent.share() * STEPS as f64) as u64);
        bar.set_message(self.extent.words(what));
    }
}

impl Front for Progress {
    fn take_event(&mut self, event: &Event) {
        self.extent.event(event);
        let name = |path: u32| self.names.get(path as usize).map_or("?", String::as_str);
        match (&self.show, event) {
            (Show::Nothing, _) => {}
            (Show::Bar(bar), Event::Round(b)) => self.draw(bar, &format!("{}, round {}", name(b.path), b.round)),
            (Show::Bar(bar), Event::Trial(t)) => {
                let size = (self.pattern.facts().size.brief)(t.size);
                self.draw(bar, &format!("{}, round {}, {size}", name(t.path), t.round));
            }
            (Show::Lines, Event::Round(b)) => {
                let what = if b.round == 0 { "survey".to_owned() } else { format!("round {}", b.round) };
                let (name, at) = (name(b.path), Seconds(b.at));
                out::tell(&format!("{name}: {what}, {} trials, at {at}", b.planned));
            }
            _ => {}
        }
    }

    fn done(&mut self) {
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
