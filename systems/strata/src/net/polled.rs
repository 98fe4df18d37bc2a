//! What a thread or a task does with a member that it polls, whether that is a [`Group`] or a [`Replica`](super::Replica).

use bytes::Bytes;

use super::failed::Failed;
use super::group::Group;
use super::options::Options;
use crate::addr::Endpoint;
use crate::config::Config;
use crate::member::Refused;

pub(super) trait Polled: Sized + Send + 'static {
    /// What it tells.
    type Told: Send + 'static;

    fn join(options: Options) -> Result<Self, Failed>;

    /// The largest message that it takes.
    fn largest(config: &Config) -> usize;

    fn try_cast(&mut self, body: Bytes) -> Result<(), Refused>;

    fn try_send(&mut self, to: Endpoint, body: Bytes) -> Result<(), Refused>;

    fn leave(&mut self);

    /// The group, where nothing more than that is meant.
    fn group(&mut self) -> &mut Group;

    /// Takes what has come, runs timers, sends what there is to send. Whether there may be more to do.
    fn turn(&mut self) -> Result<bool, Failed>;

    /// The next of what is to be told, where it is there already.
    fn told(&mut self) -> Option<Self::Told>;

    /// How much there is to be told.
    fn waiting(&self) -> usize;

    /// Something to tell a person.
    fn notice(text: String) -> Self::Told;

    /// What a notice says; none where it is something else.
    fn text(told: &Self::Told) -> Option<&str>;

    /// Nothing comes after it.
    fn is_last(told: &Self::Told) -> bool;
}
