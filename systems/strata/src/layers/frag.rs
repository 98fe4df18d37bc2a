//! FRAG: messages larger than a datagram.
//!
//! Protocol: a message is cut into pieces that fit; NAK's order makes numbers needless, so that one bit says whether more follow. A receiver joins each sender's
//! pieces. A message cut off by a view change is dropped: all who move on have the same pieces, since the cut of MBRSHIP counts pieces. Above MBRSHIP, where a stack has it there (too), it is the same: no layer
//! between may hold casts over a change of views. A message one of whose pieces is transitional is so.
//! Header: 1 byte. Timers: none. Requires P3, P4, P10, P11; provides P12; keeps P13 and P14 from those above, since what is numbered below are pieces. Casts and sends are joined apart, and what grows beyond the largest message is dropped.

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};

use crate::event::{Cast, Down, Up};
use crate::foretold::Foretold;
use crate::layer::{Cx, Layer, Near};
use crate::message::Msg;
use crate::mutant::Mutant;
use crate::shared::Shared;
use crate::stalls::Waits;

const LAST: u8 = 1;
const MORE: u8 = 0;
/// Headers of the layers above count toward a message's size here; what they add is far below this.
const SLACK: usize = 64 << 10;

pub(super) struct Frag {
    most: usize,
    parts: BTreeMap<(u16, bool), Parts>,
}

#[derive(Default)]
struct Parts {
    list: Vec<Bytes>,
    bytes: usize,
    transitional: bool,
}

impl Frag {
    /// Pieces have at most this many bytes.
    pub(super) fn new(most: usize) -> Self {
        Self { most, parts: BTreeMap::new() }
    }

    fn cut(&self, mut msg: Msg, mut emit: impl FnMut(Msg)) {
        if msg.len() <= self.most {
            msg.push(&[LAST]);
            return emit(msg);
        }
        let mut rest = msg.joined();
        while rest.len() > self.most {
            let mut piece = Msg::new(rest.split_to(self.most));
            piece.push(&[MORE]);
            emit(piece);
        }
        let mut piece = Msg::new(rest);
        piece.push(&[LAST]);
        emit(piece);
    }

    /// The whole message, where this is its last piece, and whether any of its pieces is transitional.
    fn join(
        &mut self,
        (from, cast): (u16, bool),
        mut msg: Msg,
        transitional: bool,
        cx: &Cx<impl Near>,
    ) -> Option<(Msg, bool)> {
        let [flag] = msg.pop().ok()?;
        let last = flag == LAST || cx.mutant(Mutant::FragCutsShort);
        if last && !self.parts.contains_key(&(from, cast)) {
            return Some((msg, transitional));
        }
        let parts = self.parts.entry((from, cast)).or_default();
        parts.bytes += msg.len();
        parts.transitional |= transitional;
        if parts.bytes <= cx.config.message + SLACK {
            parts.list.push(msg.joined());
        } else {
            parts.list.clear();
        }
        if !last {
            return None;
        }
        let parts = self.parts.remove(&(from, cast))?;
        if parts.bytes > cx.config.message + SLACK {
            return None;
        }
        let mut all = BytesMut::with_capacity(parts.bytes);
        parts.list.iter().for_each(|part| all.extend_from_slice(part));
        Some((Msg::new(all.freeze()), parts.transitional))
    }
}

impl Layer for Frag {
    fn down(&mut self, event: Down, cx: &mut Cx<impl Near>) {
        match event {
            Down::Cast(msg) => self.cut(msg, |piece| cx.down(Down::Cast(piece))),
            Down::Send(to, msg) => self.cut(msg, |piece| cx.down(Down::Send(to, piece))),
            Down::View(_) => {
                self.parts.clear();
                cx.down(event);
            }
            other => cx.down(other),
        }
    }

    fn up(&mut self, event: Up, cx: &mut Cx<impl Near>) {
        match event {
            Up::Cast(Cast { from, msg, transitional, .. }) => {
                if let Some((msg, transitional)) = self.join((from, true), msg, transitional, cx) {
                    cx.up(Up::Cast(Cast { from, msg, number: 0, transitional }));
                }
            }
            Up::Send(from, msg) => {
                if let Some((msg, _)) = self.join((from, false), msg, false, cx) {
                    cx.up(Up::Send(from, msg));
                }
            }
            // Above MBRSHIP views come from below only.
            Up::View(_) => {
                self.parts.clear();
                cx.up(event);
            }
            other => cx.up(other),
        }
    }

    fn passes_down(&self, msg: &mut Msg, _: &Shared) -> bool {
        let whole = msg.len() <= self.most;
        if whole {
            msg.push(&[LAST]);
        }
        whole
    }

    fn passes_up(&self, cast: &mut Cast, _: &Shared) -> bool {
        self.parts.is_empty() && cast.msg.take(LAST)
    }

    fn foretell(&self, from: u16, to: &mut Foretold, _: &Shared) -> bool {
        !self.parts.contains_key(&(from, true)) && to.stays(&[LAST])
    }

    fn held(&self) -> usize {
        self.parts.len()
    }

    fn waits(&self, to: &mut Waits, _: &Shared) {
        // A sender gives all pieces of a message at once to what is below.
        for (&(from, cast), parts) in &self.parts {
            let stream = u32::from(from) << 1 | u32::from(cast);
            to.add(stream, from, parts.bytes as u64, "sent a part of a message, of which the rest does not come");
        }
    }
}
