//! A member for tokio's tasks: [`Group`], awaited.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::{Instant, timeout_at};

use super::failed::Failed;
use super::group::{Event, Group};
use super::options::Options;
use crate::addr::Endpoint;
use crate::event::Input;
use crate::member::Refused;
use crate::view::View;

/// How often contacts are asked.
const ASK: Duration = Duration::from_millis(200);

/// Why a cast was not taken, or what ended the member.
#[derive(Debug, thiserror::Error)]
pub enum NotCast {
    /// Never that it would block.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// What ended the member.
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// A member of a group in one task, which answers the others only while one of its functions is awaited: await [`AsyncGroup::next`] in a loop. All of them may be dropped before they are done
/// (as `select!` does) without loss.
pub struct AsyncGroup {
    // Before the group, whose descriptors it watches.
    ready: AsyncFd<OwnedFd>,
    group: Group,
    /// What came while something else was awaited.
    kept: VecDeque<Event>,
}

impl AsyncGroup {
    /// As [`Group::join`]; must be called within a runtime that has I/O and time.
    ///
    /// # Errors
    /// [`Failed`].
    pub async fn join(options: Options) -> Result<Self, Failed> {
        let Options { contacts, patience, .. } = options.clone();
        let name = options.config.group.clone();
        let mut group = Group::join(Options { patience: Duration::ZERO, ..options })?;
        let io = |source| Failed::Io { what: "watching a member's descriptor".to_owned(), source };
        let descriptor = group.descriptor()?.try_clone_to_owned().map_err(io)?;
        // SAFETY: the descriptor is owned by what it is registered with, which nothing exchanges or closes before it is dropped.
        let ready = unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) };
        let ready = ready.map_err(|e| io(e.into()))?;
        let mut made = Self { ready, group, kept: VecDeque::new() };
        if contacts.is_empty() || patience.is_zero() {
            return Ok(made);
        }
        let began = Instant::now();
        while made.group.view().is_none_or(|v| v.members.len() < 2) {
            if began.elapsed() > patience {
                let notice = made.kept.iter().rev().find_map(|e| match e {
                    Event::Notice(text) => Some(format!("What came: {text}.")),
                    _ => None,
                });
                let notice = notice.unwrap_or_default();
                return Err(Failed::Nobody { contacts, group: name, waited: patience, notice });
            }
            for &contact in &contacts {
                made.group.handle(Input::Merge(contact));
            }
            let until = Instant::now() + ASK.min(patience);
            // The time is over: ask again.
            while let Ok(event) = timeout_at(until, made.fresh()).await {
                made.kept.extend(event?);
                if made.group.view().is_some_and(|v| v.members.len() > 1) {
                    break;
                }
            }
        }
        Ok(made)
    }

    /// Who this is.
    pub fn me(&self) -> Endpoint {
        self.group.me()
    }

    /// The view that was told last.
    pub fn view(&self) -> Option<&Arc<View>> {
        self.group.view()
    }

    /// The next event; none after [`Event::Left`].
    ///
    /// # Errors
    /// [`Failed::Io`].
    pub async fn next(&mut self) -> Result<Option<Event>, Failed> {
        match self.kept.pop_front() {
            Some(event) => Ok(Some(event)),
            None => self.fresh().await,
        }
    }

    /// Casts; waits while the group is behind. Events that come meanwhile are kept for [`AsyncGroup::next`].
    ///
    /// # Errors
    /// [`NotCast`].
    pub async fn cast(&mut self, body: impl Into<Bytes>) -> Result<(), NotCast> {
        let body = body.into();
        loop {
            match self.group.try_cast(body.clone()) {
                Err(Refused::WouldBlock { .. }) => {}
                other => break other?,
            }
            let event = self.fresh().await?;
            self.kept.extend(event);
        }
        self.group.flush();
        Ok(())
    }

    /// As [`Group::try_send`], at once.
    ///
    /// # Errors
    /// As [`Group::try_send`].
    pub fn try_send(&mut self, to: Endpoint, body: impl Into<Bytes>) -> Result<(), Refused> {
        self.group.try_send(to, body)?;
        self.group.flush();
        Ok(())
    }

    /// Leaves, and waits until the others have all that was cast here, or for `Config::drain` and a view change; what is delivered meanwhile is returned, with an [`Event::Notice`] of how many casts may be lost.
    ///
    /// # Errors
    /// [`Failed::Io`].
    pub async fn leave(mut self) -> Result<Vec<Event>, Failed> {
        self.group.leave();
        while let Some(event) = self.fresh().await? {
            let last = matches!(event, Event::Left);
            self.kept.push_back(event);
            if last {
                break;
            }
        }
        Ok(self.kept.into())
    }

    /// The next that is not kept. It is taken from the group last, so that none is lost where this is dropped.
    async fn fresh(&mut self) -> Result<Option<Event>, Failed> {
        loop {
            if let Some(event) = self.group.poll(Duration::ZERO)? {
                return Ok(Some(event));
            }
            if self.group.has_left() {
                return Ok(None);
            }
            let io = |source| Failed::Io { what: "waiting for datagrams".to_owned(), source };
            let mut ready = self.ready.readable().await.map_err(io)?;
            match self.group.poll(Duration::ZERO)? {
                Some(event) => return Ok(Some(event)),
                // What came after that makes it ready again.
                None => ready.clear_ready(),
            }
        }
    }
}
