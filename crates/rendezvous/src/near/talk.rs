//! Questions and answers over a channel, until something breaks it.

use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::MeetError;
use crate::channel::Channel;

/// Beyond the patience: the other side's own patience ends first, and then it says what it saw.
pub(crate) const SLACK: Duration = Duration::from_millis(1500);

/// One conversation with a process that answers.
pub(crate) struct Talk {
    pub channel: Channel,
    /// How long an answer may take that needs nothing else.
    pub patience: Duration,
    /// What broke it, once something has.
    broken: Option<String>,
}

impl Talk {
    pub(crate) fn over(channel: Channel, patience: Duration) -> Self {
        Self { channel, patience, broken: None }
    }

    /// Whether it broke down: the other side will get no goodbye.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// What broke it, once something has.
    pub(crate) fn why_broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    /// Breaks it off, for this reason.
    pub(crate) fn breaks(&mut self, why: impl Into<String>) {
        self.broken = Some(why.into());
    }

    /// Asks a question; an error where the conversation is broken.
    pub(crate) fn ask<T: Serialize>(&mut self, question: &T) -> Result<(), MeetError> {
        if let Some(why) = &self.broken {
            return Err(MeetError::Protocol(format!("the control connection is of no use any more: {why}")));
        }
        let sent = self.channel.send(question);
        self.note(sent)
    }

    /// Says something that needs no answer, within `time`, where it can still be received.
    pub(crate) fn tell<T: Serialize>(&mut self, what: &T, time: Duration) {
        if self.broken.is_none() {
            let _ = self.channel.send_within(what, time);
        }
    }

    /// The next answer, if it comes within the patience and `more`.
    pub(crate) fn answer<T: DeserializeOwned>(&mut self, doing: &'static str, more: Duration) -> Result<T, MeetError> {
        let answer = self.channel.recv(Instant::now() + self.patience + more, doing).map_err(|e| match e {
            MeetError::Silent { doing, waited } => MeetError::Patience { doing, waited },
            e => e,
        });
        self.note(answer)
    }

    /// The next answer, even after a stop, if it comes by `deadline`. One that does not come breaks the conversation.
    pub(crate) fn answer_anyway<T: DeserializeOwned>(
        &mut self,
        doing: &'static str,
        deadline: Instant,
    ) -> Result<T, MeetError> {
        let answer = self.channel.recv_anyway(deadline, doing);
        self.note(answer)
    }

    fn note<T>(&mut self, outcome: Result<T, MeetError>) -> Result<T, MeetError> {
        if let Err(e) = &outcome
            && e.ends_control()
        {
            self.broken = Some(e.to_string());
        }
        outcome
    }
}
