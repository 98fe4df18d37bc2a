//! A member of the library's, and what came for it: what a link and its keeper share.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use ::strata::net::{Event, Group as Joined};
use ::strata::{Delivery, Endpoint};
use bytes::Bytes;

use crate::sys::RECEIVING;
use crate::{Delivered, LinkError};

/// Longest wait for an event of a member that leaves.
const TURN: Duration = Duration::from_millis(1);
/// Events that are taken at once.
const TAKEN: usize = 256;
/// Bytes that came and wait for this side to take them, at most, while it does not use its link: who sends more is held up, as by a full socket.
const HELD: usize = 4 << 20;
/// A member, and what came for it.
/// A cast that came.
pub(super) type Cast = (Delivered, Bytes);

pub(super) struct Member {
    pub group: Joined,
    /// All members, in the order of their ranks.
    pub members: Vec<Endpoint>,
    pub rank: u32,
    /// How many casts of each member were delivered here.
    counts: Vec<u32>,
    /// The rank of who sent the last message: the next is often of the same.
    last: usize,
    casts: VecDeque<Cast>,
    answers: VecDeque<(u32, Bytes)>,
    /// Bytes of the casts.
    held_casts: usize,
    /// Bytes of the answers.
    held: usize,
    /// Whether its own casts are kept, too.
    pub own: bool,
    /// Why nothing more comes.
    over: Option<Over>,
}

#[derive(Clone)]
enum Over {
    /// A member left.
    Left,
    /// This one has, and so many of its casts others may lack.
    Gone(u64),
    /// What the system said.
    System(String),
}

impl Member {
    /// A member of a group whose view has all members.
    pub fn new(group: Joined, members: Vec<Endpoint>, rank: u32) -> Self {
        let counts = vec![0; members.len()];
        let (casts, answers) = Default::default();
        Self { group, members, rank, counts, last: 0, casts, answers, held_casts: 0, held: 0, own: false, over: None }
    }

    /// Takes the next event, which it waits for at most so long, and those that are there behind it. Whether there was one.
    pub fn step(&mut self, wait: Duration) -> Result<bool, LinkError> {
        let came = self.over.is_none() && self.turn(wait);
        match &self.over {
            Some(over) => Err(over.error()),
            None => Ok(came),
        }
    }

    /// The same while nobody uses the link: no more is taken than it holds.
    pub fn kept(&mut self) -> bool {
        self.has_room() && self.turn(Duration::ZERO)
    }

    fn has_room(&self) -> bool {
        self.held + self.held_casts <= HELD
    }

    /// Takes the next events; also where nothing more comes for this side, so that the others can go on.
    fn turn(&mut self, wait: Duration) -> bool {
        match self.group.poll(wait) {
            Ok(None) => return false,
            Ok(Some(event)) => {
                self.came(event);
                for _ in 1..TAKEN {
                    let Some(event) = self.has_room().then(|| self.group.ready_event()).flatten() else { break };
                    self.came(event);
                }
            }
            Err(e) => {
                self.over = Some(Over::System(e.to_string()));
                return false;
            }
        }
        true
    }

    /// Says that it leaves, and waits a little until the others have all that it cast and let it go.
    pub fn leave(&mut self, wait: Duration) {
        let began = Instant::now();
        self.group.leave();
        while !matches!(self.over, Some(Over::Gone(_) | Over::System(_))) && began.elapsed() < wait {
            self.turn(TURN);
        }
    }

    /// What has been lost since it left, as far as is known.
    pub fn lost(&self) -> Result<(), LinkError> {
        match &self.over {
            Some(over @ Over::Gone(1..)) => Err(over.error()),
            _ => Ok(()),
        }
    }

    /// Whether a cast waits.
    pub fn has_cast(&self) -> bool {
        !self.casts.is_empty()
    }

    /// Hands over all casts that wait, into an empty queue. Whether there was one.
    pub fn hand_over(&mut self, into: &mut VecDeque<Cast>) -> bool {
        self.held_casts = 0;
        std::mem::swap(&mut self.casts, into);
        !into.is_empty()
    }

    pub fn next_answer(&mut self) -> Option<(u32, Bytes)> {
        let answer = self.answers.pop_front()?;
        self.held -= answer.1.len();
        Some(answer)
    }

    fn came(&mut self, event: Event) {
        match event {
            Event::Message(Delivery { from, cast, body, .. }) => {
                if self.members[self.last] != from {
                    let Some(rank) = self.members.iter().position(|member| *member == from) else { return };
                    self.last = rank;
                }
                let rank = self.last;
                if !cast {
                    self.held += body.len();
                    self.answers.push_back((rank as u32, body));
                    return;
                }
                let number = self.counts[rank].wrapping_add(1);
                self.counts[rank] = number;
                if self.own || rank as u32 != self.rank {
                    self.held_casts += body.len();
                    self.casts.push_back((Delivered { from: rank as u32, number }, body));
                }
            }
            Event::View(view) if view.members == self.members => {}
            Event::View(_) => self.over = Some(Over::Left),
            Event::Left => self.over = Some(Over::Gone(self.group.may_lack())),
            // What a notice says of casts that are lost is known as it leaves; datagrams of strangers are no event of the group.
            Event::Stable(_) | Event::Trace(_) | Event::Notice(_) => {}
        }
    }
}

impl Over {
    fn error(&self) -> LinkError {
        match self {
            Self::Left | Self::Gone(0) => LinkError::Closed { doing: RECEIVING },
            Self::Gone(casts) => {
                let why =
                    format!("{casts} casts of this member had not reached all others as it left: they may be lost");
                LinkError::io("leaving the group", std::io::Error::other(why))
            }
            Self::System(text) => LinkError::io("taking part in the group", std::io::Error::other(text.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use ::strata::Config;
    use ::strata::net::Options;

    use super::*;

    /// The other ends without a word, and what this one casts reaches nobody any more.
    #[test]
    fn casts_that_may_be_lost_are_told_by_who_left() {
        let config = Config { suspect: Duration::from_secs(600), drain: Duration::ZERO, ..Config::default() };
        let join = move |contacts| Joined::join(Options { contacts, config: config.clone(), ..Options::default() });
        let near = join(Vec::new()).unwrap();
        let contact = near.me().addr;
        let far = std::thread::spawn({
            let join = join.clone();
            move || join(vec![contact]).map(|far| far.me())
        });
        let mut near = near;
        while near.view().is_none_or(|view| view.members.len() < 2) || !far.is_finished() {
            near.poll(TURN).unwrap();
        }
        far.join().unwrap().unwrap();
        let members = near.view().unwrap().members.clone();
        let mut near = Member::new(near, members, 0);
        near.group.try_cast(&b"x"[..]).unwrap();
        near.leave(Duration::from_secs(60));
        let text = near.lost().unwrap_err().to_string();
        assert!(text.contains("1 casts") && text.contains("leaving the group"), "{text}");
        assert!(near.step(Duration::ZERO).unwrap_err().to_string().contains("1 casts"));
    }
}
