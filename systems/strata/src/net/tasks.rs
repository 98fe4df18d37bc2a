//! Members for tokio's tasks: [`Group`] and [`Replica`], awaited.

pub use super::awaited::NotCast;

use std::sync::Arc;

use bytes::Bytes;

use super::awaited::Awaited;
use super::failed::Failed;
use super::group::{Event, Group};
use super::options::Options;
use super::replica::{News, Replica};
use crate::addr::Endpoint;
use crate::member::Refused;
use crate::view::View;

/// A member of a group in one task, which answers the others only while one of its functions is awaited: await [`AsyncGroup::next`] in a loop. All of them may be dropped before they are done
/// (as `select!` does) without loss.
pub struct AsyncGroup(Awaited<Group>);

impl AsyncGroup {
    /// As [`Group::join`]; must be called within a runtime that has I/O and time.
    ///
    /// # Errors
    /// [`Failed`].
    pub async fn join(options: Options) -> Result<Self, Failed> {
        Awaited::join(options).await.map(Self)
    }

    /// Who this is.
    pub fn me(&self) -> Endpoint {
        self.0.member.me()
    }

    /// The view that was told last.
    pub fn view(&self) -> Option<&Arc<View>> {
        self.0.member.view()
    }

    /// The next event; none after [`Event::Left`].
    ///
    /// # Errors
    /// [`Failed::Io`].
    pub async fn next(&mut self) -> Result<Option<Event>, Failed> {
        self.0.next().await
    }

    /// Casts; waits while the group is behind. Events that come meanwhile are kept for [`AsyncGroup::next`].
    ///
    /// # Errors
    /// [`NotCast`].
    pub async fn cast(&mut self, body: impl Into<Bytes>) -> Result<(), NotCast> {
        self.0.cast(body.into()).await
    }

    /// As [`Group::try_send`], at once.
    ///
    /// # Errors
    /// As [`Group::try_send`].
    pub fn try_send(&mut self, to: Endpoint, body: impl Into<Bytes>) -> Result<(), Refused> {
        self.0.try_send(to, body.into())
    }

    /// Leaves, and waits until the others have all that was cast here, or for `Config::drain` and a view change; what is delivered meanwhile is returned, with an [`Event::Notice`] of how many casts may be lost.
    ///
    /// # Errors
    /// [`Failed::Io`].
    pub async fn leave(self) -> Result<Vec<Event>, Failed> {
        self.0.leave().await
    }
}

/// A [`Replica`] in one task, which answers the others only while one of its functions is awaited, as [`AsyncGroup`]:
///
/// ```no_run
/// use strata::net::{News, Options, tasks::AsyncReplica};
/// use strata::state::Change;
///
/// # async fn shared() -> Result<(), Box<dyn std::error::Error>> {
/// // The state is all that was ever cast. Who names no contacts begins it.
/// let contacts = vec!["127.0.0.1:40213".parse()?];
/// let mut replica = AsyncReplica::join(Options { contacts, ..Options::default() }).await?;
/// let mut state = Vec::new();
/// replica.cast("hello").await?;
/// while let Some(news) = replica.next().await? {
///     match news {
///         News::State(Change::Message(m)) => state.extend_from_slice(&m.body),
///         News::State(Change::Wanted) => _ = replica.give(state.clone()),
///         News::State(Change::State(given)) => state = given.to_vec(),
///         _ => {}
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub struct AsyncReplica(Awaited<Replica>);

impl AsyncReplica {
    /// As [`Replica::join`]; must be called within a runtime that has I/O and time.
    ///
    /// # Errors
    /// [`Failed`].
    pub async fn join(options: Options) -> Result<Self, Failed> {
        Awaited::join(options).await.map(Self)
    }

    /// Who this is.
    pub fn me(&self) -> Endpoint {
        self.0.member.me()
    }

    /// As [`Replica::view`].
    pub fn view(&self) -> Option<&Arc<View>> {
        self.0.member.view()
    }

    /// As [`Replica::is_current`].
    pub fn is_current(&self) -> bool {
        self.0.member.is_current()
    }

    /// The next of what happens; none after [`News::Left`]. Of the state nothing comes between `Change::Wanted` and [`AsyncReplica::give`].
    ///
    /// # Errors
    /// [`Failed::Io`].
    pub async fn next(&mut self) -> Result<Option<News>, Failed> {
        self.0.next().await
    }

    /// Casts; waits while the group is behind, and while a member of the view is still to receive the state and this one has cast `Config::backlog` bytes meanwhile. What happens meanwhile is kept for [`AsyncReplica::next`].
    ///
    /// # Errors
    /// [`NotCast`]; with [`Refused::WouldBlock`] where this member is asked for the state, since the group may wait for that: take news up to `Change::Wanted`, give the state, and cast again.
    pub async fn cast(&mut self, body: impl Into<Bytes>) -> Result<(), NotCast> {
        self.0.cast(body.into()).await
    }

    /// As [`Replica::try_send`], at once.
    ///
    /// # Errors
    /// As [`Replica::try_send`].
    pub fn try_send(&mut self, to: Endpoint, body: impl Into<Bytes>) -> Result<(), Refused> {
        self.0.try_send(to, body.into())
    }

    /// As [`Replica::give`].
    pub fn give(&mut self, state: impl Into<Bytes>) -> bool {
        self.0.member.give(state)
    }

    /// As [`Replica::leave`]: go on to await news, and to give the state, until [`News::Left`].
    pub fn leave(&mut self) {
        self.0.member.leave();
    }

    /// As [`AsyncReplica::leave`], and waits until it has left; what is told meanwhile is returned. Nobody is given the state, so that what comes after a `Change::Wanted` is not told: a member that may be the only one with the
    /// state should leave by [`AsyncReplica::leave`].
    ///
    /// # Errors
    /// [`Failed::Io`].
    pub async fn leave_and_wait(self) -> Result<Vec<News>, Failed> {
        self.0.leave().await
    }
}
