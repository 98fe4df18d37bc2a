//! A member of a group in a trial whose messages are numbered: casting, waiting for a round, and holding what is delivered against what the group promises.
//!
//! Each message begins with as many bytes of its number among its sender's as it has room for, 8 at most. Where all casts have one order ([`Order::Total`]) a member
//! hears its own, too, and makes a digest of whose cast came when. Else the casts of each sender come in their order. On a path that loses, numbers that are left
//! out are lost messages: a round of which some do not come in time counts as lost, and the next one begins.
//!
//! Each sender is counted from its own first message of the trial: the members may have cast differently often before, in a pattern in which one of them sends more.
//! Where all arrives that is the first of it that comes. Where messages are lost it may be one that did not come, which nobody could tell from a message of a byte,
//! so that there all members begin a trial with the same number ([`crate::level`]).
//!
//! A trial that takes longer than it may (`TrialSpec::within`) ends early: the near member writes the complement of the number into the first message of the round that is
//! the last one, so that all do this round and none after it. On a path that loses nobody can be told so, and the near member just ends: the others are told
//! beside the path, as after any trial there.

use transport::{Delivered, Group, LinkError, Order};

use super::collective::members;
use crate::TrialSpec;
use crate::buffers::Slots;
use crate::content::{self, Writer};
use crate::workspace::Halt;

pub(super) const LACKS: &str =
    "it has no group whose members a message could go to at once (list says which transports have)";
pub(super) const MODELLED: &str = "the members of the modelled group only answer, and don't cast";
pub(super) const LACKING: LinkError = LinkError::Unsupported("cast to a group");
/// Rounds in a row of which something is missing after which a far half counts as over.
pub(super) const SILENCES: u32 = 50;
/// Most bytes of a message that are its number.
const NUMBER: usize = 8;

/// What has come of one member's casts.
#[derive(Clone, Copy, Default)]
pub(super) struct Came {
    /// Messages.
    pub count: u64,
    /// Its casts up to the last that came, those that did not come included.
    pub upto: u64,
    /// Its casts up to the last that did not come though a later one did.
    lost: u64,
}

/// What came of waiting for a round.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Waited {
    /// All its messages are here.
    Whole,
    /// Some are missing.
    Lost,
    /// Some are missing, which was known before it began: messages of later rounds are here.
    Passed,
}

/// A member's part of a trial.
pub(super) struct Member<'a, L> {
    pub link: &'a mut L,
    spec: &'a TrialSpec,
    pub halt: Halt,
    rank: u32,
    /// Whether what is cast arrives.
    pub reliable: bool,
    /// Whether its own casts are delivered to it.
    hears: bool,
    pub one_order: bool,
    /// By rank; of members that do not cast it stays as it is.
    pub came: Vec<Came>,
    /// Members that cast, from rank 0 on.
    senders: usize,
    /// The number of each sender's last cast before this trial, by rank, as far as it is known.
    before: Vec<Option<u32>>,
    /// Which members' casts were delivered, in their order.
    pub digest: u64,
    /// Whether this round is the last.
    last: bool,
    /// First wrong byte: message, offset.
    pub wrong: Option<(u64, u64)>,
    /// How far behind the memory of a message something was written, once the member has left.
    pub spilled: Option<u64>,
}

impl<'a, L: Group> Member<'a, L> {
    /// Of a group in which all cast.
    pub fn of_senders(link: &'a mut L, spec: &'a TrialSpec, halt: Halt) -> Result<Self, LinkError> {
        let one_order = link.order() == Order::Total;
        let hears = link.hears_itself(true);
        if one_order && !hears {
            let why = "all casts have one order, and a member does not hear where its own are in it".to_owned();
            return Err(LinkError::Protocol(why));
        }
        Ok(Self { hears, one_order, senders: link.members() as usize, ..Self::of_one(link, spec, halt)? })
    }

    /// Of a group in which rank 0 alone casts, and does not hear itself.
    pub fn of_one(link: &'a mut L, spec: &'a TrialSpec, halt: Halt) -> Result<Self, LinkError> {
        let all = link.members();
        if u64::from(all) != members(spec) {
            let why = format!("a group of {} members is measured, and this one has {all}", members(spec));
            return Err(LinkError::Protocol(why));
        }
        let (rank, reliable) = (link.rank(), link.capabilities().reliable);
        let came = vec![Came::default(); all as usize];
        // Where all arrives the first message of each tells it.
        let before = vec![if reliable { None } else { link.leave_out(0) }; all as usize];
        Ok(Self {
            link,
            spec,
            halt,
            rank,
            reliable,
            hears: false,
            one_order: false,
            came,
            senders: 1,
            before,
            digest: 0,
            last: false,
            wrong: None,
            spilled: None,
        })
    }

    /// The number of the contents of a message.
    fn contents(&self, from: u32, number: u64) -> u64 {
        number.wrapping_mul(self.came.len() as u64).wrapping_add(u64::from(from))
    }

    /// Whether the near member ends the trial with the round to come, `passed` nanoseconds after the trial began: it has one that counts, and no time.
    /// Where all arrives that round is one more of all; else there is none.
    pub fn ends(&mut self, round: u64, passed: u64) -> bool {
        let over = round > self.spec.warmup && self.spec.within.is_some_and(|most| passed > most);
        self.last |= over;
        over
    }

    /// Whether no round comes after this one.
    pub fn is_last(&self) -> bool {
        self.last
    }

    /// Ends the member's part, however many rounds it had, and looks behind the memory of what it received.
    pub fn leave(&mut self, into: &Slots<'_>) {
        self.spilled = into.spilled();
        if self.senders > 1 {
            self.link.hears_itself(false);
        }
    }

    /// Casts this member's messages of a round.
    pub fn cast(&mut self, round: u64, out: &mut Slots<'_>) -> Result<(), LinkError> {
        for i in 0..self.spec.burst {
            let number = round * self.spec.burst + i;
            let message = out.slot();
            if self.spec.check {
                content::fill(message, self.spec.seed, self.contents(self.rank, number), Writer::Near);
            }
            let room = message.len().min(NUMBER);
            let told = if self.last && self.rank == 0 && i == 0 { !number } else { number };
            message[..room].copy_from_slice(&told.to_le_bytes()[..room]);
            let of_link = self.link.queue(message)?;
            self.before[self.rank as usize].get_or_insert(of_link.wrapping_sub(1));
        }
        self.link.flush()?;
        if !self.hears && self.senders > 1 {
            let (own, upto) = (&mut self.came[self.rank as usize], (round + 1) * self.spec.burst);
            *own = Came { count: upto, upto, lost: 0 };
        }
        Ok(())
    }

    /// Takes what comes until all messages of the round are here, or it is known that some do not come.
    pub fn wait(&mut self, round: u64, into: &mut Slots<'_>) -> Result<Waited, LinkError> {
        let (first, all) = (round * self.spec.burst, (round + 1) * self.spec.burst);
        let mut missing = Waited::Passed;
        while self.came[..self.senders].iter().any(|of| of.upto < all) {
            missing = Waited::Lost;
            let message = into.slot();
            match self.link.deliver(message) {
                Ok(delivered) => self.delivered(delivered, message)?,
                Err(LinkError::Lost) => return Ok(missing),
                Err(e) => return Err(e),
            }
        }
        let lost = self.came[..self.senders].iter().any(|of| of.lost > first);
        Ok(if lost { missing } else { Waited::Whole })
    }

    /// Holds a message against what the group promises.
    #[inline]
    fn delivered(&mut self, Delivered { from, number }: Delivered, message: &[u8]) -> Result<(), LinkError> {
        let Some(came) = self.came[..self.senders].get_mut(from as usize) else {
            return Err(LinkError::Protocol(format!("a message came of member {from}, which is none that casts")));
        };
        let room = message.len().min(NUMBER);
        // Where all arrives the first that comes is the first of all, and else of the number that it says, in its lowest bytes.
        let says = || message[..room.min(4)].iter().rev().fold(0, |all: u32, byte| (all << 8) | u32::from(*byte));
        let first = || number.wrapping_sub(1).wrapping_sub(if self.reliable { 0 } else { says() });
        let before = *self.before[from as usize].get_or_insert_with(first);
        // From 0: which of its sender's messages of this trial it is, as the link counts them.
        let number = number.wrapping_sub(before).wrapping_sub(1);
        if number > u32::MAX / 2 && (!self.reliable || from == self.rank) {
            // A late one of an earlier trial, or one of its own that it did not ask to hear then.
            return Ok(());
        }
        let number = u64::from(number);
        let ends = from == 0
            && number.checked_rem(self.spec.burst) == Some(0)
            && number / self.spec.burst > self.spec.warmup
            && number == came.upto
            && self.spec.within.is_some()
            && message[..room] == (!number).to_le_bytes()[..room];
        self.last |= ends;
        let says = ends || message[..room] == number.to_le_bytes()[..room];
        if !says || (self.reliable && number != came.upto) || number < came.upto {
            let mut told = [0; NUMBER];
            told[..room].copy_from_slice(&message[..room]);
            return Err(LinkError::Protocol(format!(
                "the order of casts is broken: of member {from}, message {} was due, and the one that came says to be number {} \
                 of them, in its lowest {room} bytes",
                came.upto,
                u64::from_le_bytes(told)
            )));
        }
        let lost = if number > came.upto { number } else { came.lost };
        *came = Came { count: came.count + 1, upto: number + 1, lost };
        if self.one_order {
            // FNV-1a, turned so that also its high bits depend on what came early.
            self.digest = (self.digest ^ u64::from(from + 1)).wrapping_mul(0x0100_0000_01b3).rotate_left(5);
        }
        if self.spec.check && self.wrong.is_none() {
            let contents = self.contents(from, number);
            self.wrong =
                content::first_wrong(message, self.spec.seed, contents, Writer::Near, room).map(|at| (number, at));
        }
        Ok(())
    }

    /// Of the member of which fewest came, how many.
    pub fn fewest(&self) -> u64 {
        let others = self.came[..self.senders].iter().zip(0..).filter(|(_, rank)| *rank != self.rank);
        others.map(|(of, _)| of.count).min().unwrap_or(0)
    }

    pub fn rounds(&self) -> u64 {
        self.spec.warmup + self.spec.repeats
    }
}
