//! `pipegauge live`: what `run` does, watched on the whole terminal.

use anyhow::{Result, bail};

use crate::exit::Exit;
use crate::flags::LiveFlags;

/// Measures what was asked for on a screen that shows it.
#[cfg(feature = "live")]
pub fn live(flags: &LiveFlags, json: bool) -> Result<Exit> {
    use std::io::{IsTerminal, stdin, stdout};

    if !stdout().is_terminal() || crate::out::dumb() {
        bail!(
            "live draws on a terminal, and {}; `pipegauge run` measures the same without one",
            if stdout().is_terminal() {
                "TERM says that this one only prints"
            } else {
                "standard output is no terminal"
            }
        );
    }
    if flags.run.vs.is_some() {
        bail!("live draws the curves of one side, and --vs measures two: `pipegauge run` measures and compares them");
    }
    if flags.run.common.quiet {
        bail!("--quiet would leave nothing of live: `pipegauge run --quiet` measures the same unseen");
    }
    let wait = !flags.no_wait;
    super::run::with(&flags.run, json, |config, stop| {
        let here = config.plan.pin.filter(|_| config.near.is_none());
        let pins = here.map(|(near, far)| match config.far {
            rendezvous::Far::Local { .. } => vec![near, far],
            _ => vec![near],
        });
        stop.hold()?;
        let resume = stop.clone();
        let requests = live::Requests {
            file: config.output.display().to_string(),
            colour: crate::out::colour(),
            keys: stdin().is_terminal(),
            wait,
            measuring: pins.unwrap_or_default(),
            stop: stop.flag(),
            forced: Exit::CouldNot.code().into(),
            gone: Box::new(move || resume.resume()),
        };
        let screen = live::Screen::open(std::os::fd::AsFd::as_fd(&stdout()), requests);
        Ok(Box::new(screen.map_err(|e| anyhow::anyhow!("taking the terminal: {e}"))?))
    })
}

#[cfg(feature = "live")]
impl super::run::Front for live::Screen {
    fn take_event(&mut self, event: &measure::Event) {
        self.take_event(event);
    }

    fn done(&mut self) {
        self.done();
    }
}

/// Says that there is no screen.
#[cfg(not(feature = "live"))]
pub fn live(_: &LiveFlags, _: bool) -> Result<Exit> {
    bail!(
        "this pipegauge was built without the live screen; `pipegauge run` measures the same, and cargo build --release \
         --features live builds it in"
    )
}
