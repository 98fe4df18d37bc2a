//! What passes between neighbouring layers (Horus's common protocol interface, HCPI), and between a member and its surroundings.

use std::sync::Arc;

use crate::addr::{Addr, Endpoint};
use crate::message::Msg;
use crate::stack::Kind;
use crate::time::Time;
use crate::view::{View, ViewId};

/// Where a datagram goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// All other members of the view.
    All,
    /// One address.
    One(Addr),
}

/// Downcalls.
#[derive(Debug, Clone)]
pub enum Down {
    /// To all members of the view, oneself included.
    Cast(Msg),
    /// To one member of the view, by rank.
    Send(u16, Msg),
    /// To any address, at best effort, for the layer of this kind there. One datagram.
    Raw(Kind, Addr, Msg),
    /// Below NAK: a datagram.
    Packet(To, Msg),
    /// This is the view now.
    View(Arc<View>),
    /// The answer to [`Up::Block`]: nothing comes from above until the next view.
    BlockOk,
    /// To NAK: deliver nothing more, listen to these ranks only, and report.
    Freeze(Vec<bool>),
    /// To NAK: get and deliver exactly these numbers of casts of each rank; the second of each pair is a rank that has them.
    Cut(Vec<(u64, u16)>),
    /// To MBRSHIP: ask whoever is at this address to merge its view with ours.
    Merge(Addr),
    /// To MBRSHIP: this member is said to have failed.
    Suspect(Endpoint),
    /// To MBRSHIP: this view can't go on, though its members live: a new one is to begin.
    Renew,
    /// To MBRSHIP: leave the group.
    Leave,
    /// To STABLE: the application is done with this many casts of this rank (where it acknowledges by itself).
    Ack(u16, u64),
}

/// A cast on its way up.
#[derive(Debug, Clone)]
pub struct Cast {
    /// The sender's rank.
    pub from: u16,
    /// What is left of the message.
    pub msg: Msg,
    /// STABLE's number of it among its sender's casts of this view.
    pub number: u64,
    /// Delivered as the view ends, by a promise among those alone that move to the next view together (the transitional configuration of extended virtual
    /// synchrony: Moser, Amir, Melliar-Smith and Agarwal, ICDCS 1994).
    pub transitional: bool,
}

/// Upcalls.
#[derive(Debug, Clone)]
pub enum Up {
    /// A cast.
    Cast(Cast),
    /// A message from one member to this one.
    Send(u16, Msg),
    /// What the layer of this kind at that endpoint sent.
    Raw(Kind, Endpoint, Msg),
    /// Below NAK: a datagram from that endpoint.
    Packet(Endpoint, Msg),
    /// This is the view from here on.
    View(Arc<View>),
    /// The view ends: answer with [`Down::BlockOk`] and send nothing more in it.
    Block,
    /// From NAK, frozen: how many casts of each rank were delivered.
    Frozen(Vec<u64>),
    /// From NAK: the cut is reached.
    CutReached,
    /// From NAK: nothing was heard of this rank for too long.
    Problem(u16),
    /// From STABLE: how many casts of each rank all members have.
    Stable(Arc<Vec<u64>>),
    /// This member has left.
    Exit,
}

/// What happens to a member.
#[derive(Debug, Clone)]
pub enum Input {
    /// A datagram came from this address.
    Datagram(Addr, bytes::Bytes),
    /// As [`Input::Datagram`], where it was sent to all and not to this member alone.
    Multicast(Addr, bytes::Bytes),
    /// The application casts.
    Cast(bytes::Bytes),
    /// The application sends to one member.
    Send(Endpoint, bytes::Bytes),
    /// The moment of [`Output::SetTimer`] has come, or may have.
    Timer,
    /// There is no more input at this moment: layers that collect (packing, acknowledgements) finish what they have.
    Idle,
    /// Somebody knows that this member has failed.
    Suspect(Endpoint),
    /// Somebody knows that this view can't go on, though its members live: a new one begins, with all who can follow. A member asks for it by itself where something waits in vain (`Config::stall`).
    Renew,
    /// Ask whoever is there to merge: how one joins.
    Merge(Addr),
    /// Leave cleanly.
    Leave,
    /// In this view, the application is done with all casts of this endpoint up to this number (stacks with STABLE whose `app_acks` is set). Numbers begin anew with each view: of an earlier one it is ignored.
    Ack(ViewId, Endpoint, u64),
}

/// What a member wants done, in order.
#[derive(Debug, Clone)]
pub enum Output {
    /// Send a datagram. `To::All` is left only where the carrier multicasts.
    Transmit(To, Msg),
    /// Give the application a message.
    Deliver(Delivery),
    /// Tell the application the view.
    View(Arc<View>),
    /// Tell the application how many casts of each rank are stable.
    Stable(Arc<Vec<u64>>),
    /// Call again with [`Input::Timer`] at this moment. Each replaces the one before it.
    SetTimer(Time),
    /// TRACE says.
    Trace(String),
    /// Something that a person should know, at most one of a kind in ten seconds: what happened, and what to do.
    Notice(String),
    /// A member says, in a datagram that came by unicast, how many it has multicast so far.
    Multicasts(Endpoint, u64),
    /// This member has left; it answers nothing more.
    Exit,
}

/// A message for the application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Who sent it.
    pub from: Endpoint,
    /// Cast to all, or sent to this member.
    pub cast: bool,
    /// As in [`Cast::transitional`].
    pub transitional: bool,
    /// STABLE's number of it among its sender's casts of this view, from 0; 0 in stacks without STABLE.
    pub number: u64,
    /// The message.
    pub body: bytes::Bytes,
}
