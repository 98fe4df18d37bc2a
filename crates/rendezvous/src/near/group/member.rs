//! The command's hold on a near member: its process, and what is said to it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use host::Environment;
use measure::{SessionError, TrialReport, TrialSpec};
use transport::Capabilities;
use transport::clock::{Clock, Monotonic};
use transport::settings::Effective;

use super::blame::What;
use crate::MeetError;
use crate::channel::Channel;
use crate::member::message::{Dial, FRAME, Met, Order, Told, stalled};
use crate::message::By;
use crate::moments::Ahead;
use crate::near::launch::{How, Launched, Starting};
use crate::near::meeting::{begin_here, greet_here, greet_over_ssh, starts_here};
use crate::near::ssh;
use crate::near::talk::{SLACK, Talk};

/// What a near process is called where it does not get ready.
const NEAR: &str = "a near process";

/// Another answer than the one that was asked for.
const UNEXPECTED: &str = "the near process answered another question";

/// A near member, of this host or of another.
pub(super) struct Member {
    /// Declared, and so dropped, before the process: the process ends because this does.
    talk: Talk,
    process: Launched,
}

/// What a member says of its connection.
pub(super) struct Stands {
    /// What took effect.
    pub effective: Effective,
    /// What the connection can do.
    pub capabilities: Capabilities,
    /// What the process sees of its host, where that was asked for.
    pub environment: Option<Environment>,
    /// The CPU that it keeps to.
    pub cpu: Option<u32>,
}

/// What a member says of its half of a trial.
pub(super) enum Half {
    /// It is over.
    Ran(Box<TrialReport>),
    /// It is ready to receive.
    Waits,
}

impl Member {
    /// Starts its process, under a wrapper's words where there are some.
    pub(super) fn begin(under: &[String], wrapped: bool, program: &Path) -> Result<Starting, MeetError> {
        let how = How { wrapped, ..How::of(By::Spawn) };
        begin_here(NEAR, under, program, "member", how)
    }

    /// Starts its process on another host by ssh, likewise.
    pub(super) fn begin_over_ssh(
        ssh: &Path,
        target: &str,
        under: &[String],
        program: &str,
    ) -> Result<Starting, MeetError> {
        Starting::begin(NEAR, ssh::command(ssh, target, under, program, "member")?, How::of(By::Ssh))
    }

    /// Meets it, at `target` where ssh started it; `among` so many that start at once.
    pub(super) fn met(
        starting: Starting,
        among: u32,
        target: Option<&str>,
        patience: Duration,
        stop: &Arc<AtomicBool>,
    ) -> Result<Self, MeetError> {
        let (process, (mut channel, _)) = match target {
            None => greet_here(starting, starts_here(among, patience), stop)?,
            Some(target) => greet_over_ssh(starting, target, patience, stop)?,
        };
        channel.take_up_to(FRAME);
        Ok(Self { talk: Talk::over(channel, patience), process })
    }

    /// How far its host's clock is ahead of this one's.
    pub(super) fn ahead(&mut self) -> Result<Ahead, What> {
        let asked = Monotonic.now();
        self.order(&Order::Clock)?;
        match self.told("asking a near process for its clock", SLACK)? {
            Told::Clock { at } => Ok(Ahead::told(asked, at, Monotonic.now())),
            other => Err(failed(other)),
        }
    }

    /// Whether it can be asked for anything more.
    pub(super) fn is_well(&self) -> bool {
        !self.talk.is_broken()
    }

    /// Its process id.
    pub(super) fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Its channel, to wait for it together with others.
    pub(super) fn channel(&mut self) -> &mut Channel {
        &mut self.talk.channel
    }

    /// Has it connect.
    pub(super) fn dial(&mut self, dial: Dial) -> Result<Stands, What> {
        self.order(&Order::Dial(Box::new(dial)))?;
        match self.told("waiting for a near process to connect", SLACK)? {
            Told::Stands { effective, capabilities, environment, cpu } => Ok(Stands {
                cpu,
                effective: *effective,
                capabilities: *capabilities,
                environment: environment.map(|seen| *seen),
            }),
            other => Err(failed(other)),
        }
    }

    /// Has it run its half of a trial.
    pub(super) fn run(&mut self, spec: &TrialSpec) -> Result<(), What> {
        self.order(&Order::Run { spec: Box::new(spec.clone()) })
    }

    /// What it says of it, which is here or comes soon.
    pub(super) fn half(&mut self) -> Result<Half, What> {
        match self.told("waiting for a near process to be ready for a trial", SLACK)? {
            Told::Waits => Ok(Half::Waits),
            Told::Ran { mut report, course } => {
                let told = course.is_some();
                report.course = course.and_then(|course| course.course());
                if told && report.course.is_none() {
                    return Err(What::Failed(SessionError::Control(UNEXPECTED.to_owned())));
                }
                if !report.sound() {
                    let what = "the near process reports numbers that no trial has";
                    return Err(What::Failed(SessionError::Control(what.to_owned())));
                }
                Ok(Half::Ran(report))
            }
            other => Err(failed(other)),
        }
    }

    /// Has it give back the memory that only trials need.
    pub(super) fn rest(&mut self) {
        self.talk.tell(&Order::Rest, SLACK);
    }

    /// Tells it that nothing more will be sent, but for what is on its way.
    pub(super) fn enough(&mut self) {
        self.talk.tell(&Order::Enough, SLACK);
    }

    /// Breaks off what it does.
    pub(super) fn cancel(&mut self) {
        self.talk.tell(&Order::Cancel, SLACK);
    }

    /// What it has to say after that, by `deadline`.
    pub(super) fn read_out(&mut self, deadline: Instant) -> What {
        if let Some(why) = self.talk.why_broken() {
            let why = why.to_owned();
            return self.gone(why);
        }
        loop {
            match self.talk.answer_anyway("waiting for the last words of a near process", deadline) {
                Ok(Told::Waits) => {}
                Ok(told) => return failed(told),
                Err(e) => return self.broken(e),
            }
        }
    }

    /// Says goodbye: its process ends while others are said goodbye to.
    pub(super) fn leave(&mut self) {
        if self.talk.is_broken() {
            self.process.give_up();
        }
        self.talk.tell(&Order::Bye, Duration::from_millis(200));
        self.talk.channel.shutdown();
    }

    /// How its process ends, which was said goodbye to, where that is not well within `time`.
    pub(super) fn ends(&mut self, time: Duration) -> Option<String> {
        if self.is_well() { self.process.ends(time) } else { None }
    }

    fn order(&mut self, order: &Order) -> Result<(), What> {
        self.talk.ask(order).map_err(|e| self.broken(e))
    }

    fn told(&mut self, doing: &'static str, more: Duration) -> Result<Told, What> {
        self.talk.answer(doing, more).map_err(|e| self.broken(e))
    }

    /// What it tells of its process that the conversation broke, for this reason: that it ended, where it did.
    fn gone(&mut self, why: String) -> What {
        if self.process.lives() {
            return What::Failed(SessionError::Control(format!("the conversation with the near process broke: {why}")));
        }
        What::Ended(self.process.how_it_ended())
    }

    /// As if the conversation had broken, and its process not ended.
    #[cfg(test)]
    pub(super) fn breaks(&mut self, why: &str) {
        self.talk.breaks(why);
    }

    /// What an error of the conversation tells of its process.
    fn broken(&mut self, e: MeetError) -> What {
        match e {
            MeetError::Interrupted => What::Consequence,
            MeetError::Silent { waited, .. } | MeetError::Patience { waited, .. } => What::Silent(waited),
            // Its end breaks the conversation in one way or another.
            e if self.talk.is_broken() => self.gone(e.to_string()),
            e => What::Failed(SessionError::Control(e.to_string())),
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.leave();
    }
}

/// What an answer says of its process that is none of those that were waited for.
fn failed(told: Told) -> What {
    match told {
        Told::Failed { met: Met::Closed, text } => What::Closed(text),
        Told::Failed { met: Met::Stalled { doing, seconds }, .. } => What::Stalled(stalled(&doing, seconds).into()),
        Told::Failed { met: Met::Interrupted, .. } | Told::Ran { .. } | Told::Stands { .. } => What::Consequence,
        Told::Failed { met: Met::NothingArrives { in_a_row }, .. } => {
            What::Failed(SessionError::NothingArrives { in_a_row })
        }
        Told::Failed { met: Met::Other, text } => What::Failed(SessionError::Control(text)),
        Told::Waits | Told::Clock { .. } => What::Failed(SessionError::Control(UNEXPECTED.to_owned())),
    }
}
