//! The hidden command `lead`: the near side of a run whose command is on another host. It measures as that command would, and tells what happens
//! over standard output; what to do, and that it is to stop, comes over standard input.

use std::io::{self, BufRead, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use measure::driver::Side;
use measure::event::Plan;
use measure::{Event, Outcome};

use super::run::sessions;
use super::run::told::{Ended, LONGEST_TASK, Settled, Task, Told, event_line};
use crate::config::near::settled;
use crate::exit::Exit;
use crate::signals;

/// Between two signs of life.
const BEAT: Duration = Duration::from_secs(1);
/// Events that come within so short a time go out together: each piece costs ssh's processes CPU time, which a trial may feel.
const TOGETHER: Duration = Duration::from_millis(250);

/// Leads a run.
pub fn lead() -> Result<Exit> {
    let _ = rustix::thread::set_name(c"pipegauge");
    let stop = signals::peer_stop_flag()?;
    let line = rendezvous::led(LONGEST_TASK)?;
    let task: Task = serde_json::from_str(&line)
        .context("this command is started by 'pipegauge run --near' and reads what to do from standard input")?;
    follow(&stop)?;
    let out = Out::begin(&stop)?;
    let last = match led(task, &out, &stop) {
        Ok(outcomes) => Told::Over(outcomes.iter().map(Ended::of).collect()),
        Err(e) => Told::Refused(crate::exit::sentence(&e)),
    };
    out.tell(&last)?;
    out.flush()?;
    Ok(Exit::Ok)
}

/// Measures what was asked for. An error is one before the first trial.
fn led(task: Task, out: &Arc<Out>, stop: &Arc<AtomicBool>) -> Result<Vec<Outcome>> {
    let far = task.far.far().context("the far side's key")?;
    let mut plans: Vec<Plan> = Vec::new();
    for (mut plan, pins) in task.sides {
        for note in settled(&mut plan, &pins, &far)? {
            out.tell(&Told::Note(note))?;
        }
        plans.push(plan);
    }
    let ready = sessions::ready(&plans.iter().collect::<Vec<_>>(), (&far, task.far_pin), None, stop)?;
    let sides = plans.iter().map(|plan| (plan.pin, plan.pool)).collect();
    out.tell(&Told::Begins(Box::new(Settled { near: ready.near, calibration: ready.calibration, sides })))?;
    out.flush()?;
    let mut tells: Vec<_> = (0..plans.len()).map(|side| move |event: &Event| out.event(side, event)).collect();
    let sides = plans.iter().zip(ready.sessions).zip(&mut tells);
    let sides = sides.map(|((plan, sessions), tell)| Side { plan, sessions, tell }).collect();
    Ok(measure::run_sides(sides, ready.calibration, stop))
}

/// Stops the run when the command says so, or is gone.
fn follow(stop: &Arc<AtomicBool>) -> Result<()> {
    let stop = Arc::clone(stop);
    let listen = move || {
        for line in io::stdin().lock().lines() {
            if line.is_ok_and(|line| line == "stop") {
                stop.store(true, Ordering::Relaxed);
            }
        }
        stop.store(true, Ordering::Relaxed);
        std::thread::sleep(rendezvous::ENDS_AFTER_SSH);
        std::process::exit(Exit::CouldNot.code().into());
    };
    std::thread::Builder::new().name("command".into()).spawn(listen).map(drop).context("listening to the command")
}

/// The way to the command.
struct Out {
    lines: Mutex<Lines>,
}

/// Lines that wait to go out.
struct Lines {
    waiting: Vec<u8>,
    /// When some last went out.
    last: Instant,
}

impl Out {
    /// Begins to tell that this process is there, on a thread that has no part in the measuring; it raises `stop` when nobody reads it.
    fn begin(stop: &Arc<AtomicBool>) -> Result<Arc<Self>> {
        let out = Arc::new(Self { lines: Mutex::new(Lines { waiting: Vec::new(), last: Instant::now() }) });
        let (mine, stop) = (Arc::clone(&out), Arc::clone(stop));
        let beat = move || {
            while mine.tell(&Told::Beat).and_then(|()| mine.flush()).is_ok() {
                std::thread::sleep(BEAT);
            }
            stop.store(true, Ordering::Relaxed);
        };
        std::thread::Builder::new().name("beat".into()).spawn(beat).context("starting a thread")?;
        Ok(out)
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, told: &Told) -> io::Result<()> {
        Ok(told.write(&mut self.lines().waiting)?)
    }

    fn event(&self, side: usize, event: &Event) -> io::Result<()> {
        let mut lines = self.lines();
        event_line(side, event, &mut lines.waiting)?;
        if lines.last.elapsed() >= TOGETHER { lines.go() } else { Ok(()) }
    }

    fn flush(&self) -> io::Result<()> {
        self.lines().go()
    }
}

impl Lines {
    fn go(&mut self) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(&self.waiting)?;
        self.waiting.clear();
        self.last = Instant::now();
        out.flush()
    }
}
