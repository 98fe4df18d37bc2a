//! A member that is awaited: what `tasks` has.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::{Instant, timeout_at};

use super::failed::Failed;
use super::group::{Event, Group};
use super::options::Options;
use super::polled::Polled;
use super::replica::{News, Replica};
use crate::addr::Endpoint;
use crate::event::Input;
use crate::member::Refused;

/// How often contacts are asked.
const ASK: Duration = Duration::from_millis(200);

/// Why a cast was not taken, or what ended the member.
#[derive(Debug, thiserror::Error)]
pub enum NotCast {
    /// That it would block only of a replica that is asked for its state (`AsyncReplica::cast`).
    #[error(transparent)]
    Refused(#[from] Refused),
    /// What ended the member.
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// What a task does with a member beyond what a thread does.
pub(super) trait Awaitable: Polled {
    /// The next of what is to be told, at the latest after `timeout`.
    fn poll(&mut self, timeout: Duration) -> Result<Option<Self::Told>, Failed>;

    /// Nothing more is told before its holder has answered.
    fn is_asked(&self) -> bool;
}

impl Awaitable for Group {
    fn poll(&mut self, timeout: Duration) -> Result<Option<Event>, Failed> {
        Group::poll(self, timeout)
    }

    fn is_asked(&self) -> bool {
        false
    }
}

impl Awaitable for Replica {
    fn poll(&mut self, timeout: Duration) -> Result<Option<News>, Failed> {
        Replica::poll(self, timeout)
    }

    fn is_asked(&self) -> bool {
        Replica::is_asked(self)
    }
}

pub(super) struct Awaited<M: Awaitable> {
    // Before the member, whose descriptors it watches.
    ready: AsyncFd<OwnedFd>,
    pub(super) member: M,
    /// What came while something else was awaited.
    kept: VecDeque<M::Told>,
}

impl<M: Awaitable> Awaited<M> {
    pub(super) async fn join(options: Options) -> Result<Self, Failed> {
        let Options { contacts, patience, .. } = options.clone();
        let name = options.config.group.clone();
        let mut member = M::join(Options { patience: Duration::ZERO, ..options })?;
        let io = |source| Failed::Io { what: "watching a member's descriptor".to_owned(), source };
        let descriptor = member.group().descriptor()?.try_clone_to_owned().map_err(io)?;
        // SAFETY: the descriptor is owned by what it is registered with, which nothing exchanges or closes before it is dropped.
        let ready = unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) };
        let ready = ready.map_err(|e| io(e.into()))?;
        let mut made = Self { ready, member, kept: VecDeque::new() };
        if contacts.is_empty() || patience.is_zero() {
            return Ok(made);
        }
        let began = Instant::now();
        while made.is_alone() {
            if began.elapsed() > patience {
                return Err(Failed::nobody::<M>(&contacts, name, patience, &made.kept));
            }
            for &contact in &contacts {
                made.member.group().handle(Input::Merge(contact));
            }
            let until = Instant::now() + ASK.min(patience);
            // The time is over: ask again.
            while let Ok(told) = timeout_at(until, made.fresh()).await {
                made.kept.extend(told?);
                if !made.is_alone() {
                    break;
                }
            }
        }
        Ok(made)
    }

    fn is_alone(&mut self) -> bool {
        self.member.group().view().is_none_or(|v| v.members.len() < 2)
    }

    pub(super) async fn next(&mut self) -> Result<Option<M::Told>, Failed> {
        match self.kept.pop_front() {
            Some(told) => Ok(Some(told)),
            None => self.fresh().await,
        }
    }

    pub(super) async fn cast(&mut self, body: Bytes) -> Result<(), NotCast> {
        loop {
            match self.member.try_cast(body.clone()) {
                // Where its holder is to answer first, this would wait for ever.
                Err(Refused::WouldBlock { .. }) if !self.member.is_asked() => {}
                other => break other?,
            }
            // There may be room without a word.
            let told = self.step().await?;
            self.kept.extend(told);
        }
        self.member.group().flush();
        Ok(())
    }

    pub(super) fn try_send(&mut self, to: Endpoint, body: Bytes) -> Result<(), Refused> {
        self.member.try_send(to, body)?;
        self.member.group().flush();
        Ok(())
    }

    pub(super) async fn leave(mut self) -> Result<Vec<M::Told>, Failed> {
        self.member.leave();
        while let Some(told) = self.fresh().await? {
            let last = M::is_last(&told);
            self.kept.push_back(told);
            if last {
                break;
            }
        }
        Ok(self.kept.into())
    }

    /// The next that is not kept.
    async fn fresh(&mut self) -> Result<Option<M::Told>, Failed> {
        loop {
            if let Some(told) = self.step().await? {
                return Ok(Some(told));
            }
            if self.member.group().has_left() {
                return Ok(None);
            }
        }
    }

    /// Waits until there is something to do, and does it. What is told is taken from the member last, so that none is lost where this is dropped.
    async fn step(&mut self) -> Result<Option<M::Told>, Failed> {
        let told = self.member.poll(Duration::ZERO)?;
        if told.is_some() || self.member.group().has_left() {
            return Ok(told);
        }
        let io = |source| Failed::Io { what: "waiting for datagrams".to_owned(), source };
        let mut ready = self.ready.readable().await.map_err(io)?;
        let told = self.member.poll(Duration::ZERO)?;
        if told.is_none() {
            // What came after that makes it ready again.
            ready.clear_ready();
        }
        Ok(told)
    }
}
