//! `pipegauge member`, the hidden command: a near member that the command has started, here or over ssh, with one connection to a far side.

pub(crate) mod attend;
pub(crate) mod message;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::MeetError;
use crate::message::By;
use crate::peer::elsewhere;
use crate::started::{Lent, Started};

/// Does what the command that started this process says: reads a line from standard input, answers one line on standard output, and returns
/// when it says goodbye, or with an error when it goes away.
pub fn member(stop: Arc<AtomicBool>) -> Result<(), MeetError> {
    does(Started::read()?, stop)
}

/// The same by streams that were lent.
pub(crate) fn lent(lent: Lent, stop: Arc<AtomicBool>) -> Result<(), MeetError> {
    does(Started::read_of(Some(lent))?, stop)
}

fn does(started: Started, stop: Arc<AtomicBool>) -> Result<(), MeetError> {
    match started.launch.by {
        By::Spawn => started.here(&stop, |channel, _, terms| attend::attend(channel, terms, &stop)),
        By::Ssh => elsewhere(started, Box::new(|channel, _, terms, stop| attend::attend(channel, terms, stop)), stop),
    }
}
