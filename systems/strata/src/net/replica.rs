//! A member of a group that shares a state: whoever joins is given it.

use std::collections::VecDeque;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::after;
use super::failed::Failed;
use super::group::{Event, Group};
use super::options::Options;
use super::polled::Polled;
use crate::addr::Endpoint;
use crate::config::Config;
use crate::event::Input;
use crate::member::Refused;
use crate::state::{Change, Say, Transfer};
use crate::view::View;

/// What happens to a replica.
#[derive(Debug, Clone)]
pub enum News {
    /// As [`Change`] says.
    State(Change),
    /// Something to tell a person.
    Notice(String),
    /// TRACE says.
    Trace(String),
    /// This member has left: there is nothing after it.
    Left,
}

/// A [`Group`] with state transfer. Who joins without contacts founds the state, with what its application has; who names contacts is given the group's, after its first view
/// and before its first message. A member whose state lost after a partition is given the other, too.
///
/// Members with state transfer and members without do not understand each other: all of a group must be one or the other.
pub struct Replica {
    group: Group,
    transfer: Transfer,
    /// Bytes that this member casts at most in a view while somebody is still to receive the state.
    most: usize,
    largest: usize,
    drain: Duration,
    /// What is told beside changes.
    kept: VecDeque<News>,
}

impl Replica {
    /// As [`Group::join`].
    ///
    /// # Errors
    /// [`Failed`].
    pub fn join(options: Options) -> Result<Self, Failed> {
        let founds = options.contacts.is_empty();
        let (most, largest, drain) = (options.config.backlog, Self::largest(&options.config), options.config.drain);
        let group = Group::join(options)?;
        let transfer = Transfer::new(group.me(), founds);
        Ok(Self { group, transfer, most, largest, drain, kept: VecDeque::new() })
    }

    /// Who this is.
    pub fn me(&self) -> Endpoint {
        self.group.me()
    }

    /// The group's view; the application may have been told an earlier one.
    pub fn view(&self) -> Option<&Arc<View>> {
        self.group.view()
    }

    /// Whether this member goes along with the group, and does not wait for hellos or for the state.
    pub fn is_current(&self) -> bool {
        self.transfer.is_current()
    }

    /// As [`Group::try_cast`]. While a member of the view is still to receive the state, this one casts and sends as many bytes as `Config::backlog` says; what is more would block until all have it.
    ///
    /// # Errors
    /// As [`Group::try_cast`].
    pub fn try_cast(&mut self, body: impl Into<Bytes>) -> Result<(), Refused> {
        self.try_with(body.into(), Group::try_cast)
    }

    /// As [`Group::try_send`], and as [`Replica::try_cast`] while somebody is to receive the state.
    ///
    /// # Errors
    /// As [`Group::try_cast`].
    pub fn try_send(&mut self, to: Endpoint, body: impl Into<Bytes>) -> Result<(), Refused> {
        self.try_with(body.into(), |group, body| group.try_send(to, body))
    }

    fn try_with(&mut self, body: Bytes, how: impl Fn(&mut Group, Bytes) -> Result<(), Refused>) -> Result<(), Refused> {
        if self.transfer.leaves() {
            return Err(Refused::Gone);
        }
        if body.len() > self.largest {
            return Err(Refused::Large { len: body.len(), most: self.largest });
        }
        if let Some(backlog) = self.transfer.refuses(body.len(), self.most) {
            return Err(Refused::WouldBlock { backlog });
        }
        how(&mut self.group, Transfer::wrap(&body))?;
        self.transfer.count(body.len());
        Ok(())
    }

    /// Sends what was cast.
    pub fn flush(&mut self) {
        self.group.flush();
    }

    /// Begins to leave. First all of a view are told that this member votes no more, and where others that stay lack the state and none has it, one is given it, for which it waits `Config::drain` at most; then it leaves as [`Group::leave`] does: [`News::Left`] comes when the others have all that
    /// this member cast, or after `Config::drain` once more and a view change; then a [`News::Notice`] before it says how many casts may be lost.
    pub fn leave(&mut self) {
        if self.transfer.leaves() {
            return;
        }
        self.transfer.leave();
        self.say();
        // By then it leaves, whether its vote is given back or not.
        self.group.alarm = Some(after(self.drain));
        self.leave_once_told();
    }

    /// As [`Replica::leave`], for a member that can't go on: waits until it has left, and no longer than that takes. What else comes meanwhile is
    /// dropped.
    ///
    /// # Errors
    /// As [`Replica::poll`].
    pub fn leave_and_wait(&mut self) -> Result<(), Failed> {
        self.leave();
        let (began, most) = (Instant::now(), self.drain.saturating_mul(2).saturating_add(Duration::from_secs(2)));
        while began.elapsed() < most && !matches!(self.poll(Duration::from_millis(10))?, Some(News::Left)) {}
        Ok(())
    }

    /// Whether it leaves the group from now on.
    fn leave_once_told(&mut self) -> bool {
        let leaves = self.group.alarm.is_some_and(|until| self.transfer.may_leave() || Instant::now() >= until);
        if leaves {
            self.group.alarm = None;
            self.group.leave();
        }
        leaves
    }

    /// Whether [`Change::Wanted`] was told, and is not yet answered.
    pub fn is_asked(&self) -> bool {
        self.transfer.is_asked()
    }

    /// Answers [`Change::Wanted`]. Whether somebody still needs the state.
    pub fn give(&mut self, state: impl Into<Bytes>) -> bool {
        let used = self.transfer.give(state);
        self.say();
        used
    }

    /// The next of what happens, at the latest after `timeout`. Nothing comes between [`Change::Wanted`] and [`Replica::give`].
    ///
    /// # Errors
    /// [`Failed::Io`].
    pub fn poll(&mut self, timeout: Duration) -> Result<Option<News>, Failed> {
        let until = after(timeout);
        loop {
            if let Some(news) = self.told() {
                return Ok(Some(news));
            }
            self.leave_once_told();
            let due = self.group.alarm.map_or(until, |at| at.min(until));
            match self.group.poll(due.saturating_duration_since(Instant::now()))? {
                Some(event) => self.heed(event),
                None if due < until => {}
                None => return Ok(None),
            }
        }
    }

    fn heed(&mut self, event: Event) {
        match event {
            Event::Message(message) => self.transfer.delivered(message),
            Event::View(view) => self.transfer.view(view),
            Event::Notice(text) => self.kept.push_back(News::Notice(text)),
            Event::Trace(text) => self.kept.push_back(News::Trace(text)),
            Event::Left => self.kept.push_back(News::Left),
            Event::Stable(_) => {}
        }
        self.say();
    }

    /// As [`Group::descriptor`].
    ///
    /// # Errors
    /// As [`Group::descriptor`].
    pub fn descriptor(&mut self) -> Result<BorrowedFd<'_>, Failed> {
        self.group.descriptor()
    }

    fn say(&mut self) {
        while let Some(say) = self.transfer.say() {
            self.group.handle(match say {
                Say::Cast(bytes) => Input::Cast(bytes),
                Say::Send(to, bytes) => Input::Send(to, bytes),
            });
        }
    }
}

impl Polled for Replica {
    type Told = News;

    fn join(options: Options) -> Result<Self, Failed> {
        Replica::join(options)
    }

    fn largest(config: &Config) -> usize {
        config.message.saturating_sub(Transfer::HEADER)
    }

    fn try_cast(&mut self, body: Bytes) -> Result<(), Refused> {
        Replica::try_cast(self, body)
    }

    fn try_send(&mut self, to: Endpoint, body: Bytes) -> Result<(), Refused> {
        Replica::try_send(self, to, body)
    }

    fn leave(&mut self) {
        Replica::leave(self);
    }

    fn group(&mut self) -> &mut Group {
        &mut self.group
    }

    fn turn(&mut self) -> Result<bool, Failed> {
        let more = self.group.turn()?;
        // All of it, whatever its holder has taken: the others wait for what this member says of its state.
        while let Some(event) = self.group.told() {
            self.heed(event);
        }
        let leaves = self.leave_once_told();
        Ok(more || leaves)
    }

    fn told(&mut self) -> Option<News> {
        self.transfer.change().map(News::State).or_else(|| self.kept.pop_front())
    }

    fn waiting(&self) -> usize {
        self.transfer.untold() + self.kept.len()
    }

    fn notice(text: String) -> News {
        News::Notice(text)
    }

    fn text(told: &News) -> Option<&str> {
        if let News::Notice(text) = told { Some(text) } else { None }
    }

    fn is_last(told: &News) -> bool {
        matches!(told, News::Left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_comes_to_whom_waits_for_ever() {
        let config = Config { drain: Duration::MAX, ..Config::default() };
        let mut alone = Replica::join(Options { config, ..Options::default() }).unwrap();
        alone.try_cast(&b"x"[..]).unwrap();
        alone.leave();
        let mut told = false;
        loop {
            match alone.poll(Duration::MAX).unwrap().unwrap() {
                News::State(Change::Message(_)) => told = true,
                News::Left => break,
                _ => {}
            }
        }
        assert!(told);
    }
}
