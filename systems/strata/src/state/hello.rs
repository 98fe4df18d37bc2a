//! What a [`super::Transfer`] casts and sends: a byte that says which, then its fields.

use bytes::Bytes;

use super::voting::Known;
use crate::view::ViewId;
use crate::wire::{Reader, Short, Writer};

const APP: u8 = 0;
const HELLO: u8 = 1;
const GOT: u8 = 2;
const PIECE: u8 = 3;
const TAKEN: u8 = 4;
const LEAVING: u8 = 5;
const HEARD: u8 = 6;

/// A state: its token, the latest primary view that it has passed through, and the size of its last view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stand {
    pub(super) token: u64,
    pub(super) primary: ViewId,
    pub(super) size: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Note {
    /// The application's.
    App(Bytes),
    /// In the view with this tag: the sender's state, if it has one, what it knows of primary views, and whether it is about to leave.
    Hello(u64, Option<Stand>, Known, bool),
    /// In that view the sender has received the state.
    Got(u64),
    /// In that view: this piece of the state, of how many.
    Piece(u64, u64, u64, Bytes),
    /// In that view so many pieces have arrived.
    Taken(u64, u64),
    /// The sender is about to leave.
    Leaving,
    /// In that view the sender knows for certain that who receives this leaves.
    Heard(u64),
}

impl Note {
    pub(super) fn bytes(&self) -> Bytes {
        let mut to = Writer::new();
        match self {
            Self::App(body) => {
                to.0.reserve(body.len() + 1);
                to.u8(APP);
                to.bytes(body);
            }
            Self::Hello(view, stand, known, leaves) => {
                to.u8(HELLO);
                to.u64(*view);
                to.u8(u8::from(stand.is_some()));
                if let Some(stand) = stand {
                    to.u64(stand.token);
                    stand.primary.write(&mut to);
                    to.count(stand.size);
                }
                to.u8(u8::from(*leaves));
                known.write(&mut to);
            }
            Self::Got(view) => {
                to.u8(GOT);
                to.u64(*view);
            }
            Self::Piece(view, number, of, bytes) => {
                to.0.reserve(bytes.len() + 32);
                to.u8(PIECE);
                to.u64(*view);
                to.count(*number);
                to.count(*of);
                to.bytes(bytes);
            }
            Self::Taken(view, count) => {
                to.u8(TAKEN);
                to.u64(*view);
                to.count(*count);
            }
            Self::Leaving => to.u8(LEAVING),
            Self::Heard(view) => {
                to.u8(HEARD);
                to.u64(*view);
            }
        }
        to.0.into()
    }

    pub(super) fn read(bytes: &Bytes) -> Result<Self, Short> {
        let from = &mut Reader(bytes);
        let rest = |from: &Reader| bytes.slice(bytes.len() - from.0.len()..);
        Ok(match from.u8()? {
            APP => Self::App(rest(from)),
            HELLO => {
                let view = from.u64()?;
                let stand = match from.u8()? {
                    0 => None,
                    _ => Some(Stand { token: from.u64()?, primary: ViewId::read(from)?, size: from.count()? }),
                };
                let leaves = from.u8()? != 0;
                Self::Hello(view, stand, Known::read(from)?, leaves)
            }
            GOT => Self::Got(from.u64()?),
            PIECE => {
                let (view, number, of) = (from.u64()?, from.count()?, from.count()?);
                Self::Piece(view, number, of, rest(from))
            }
            TAKEN => Self::Taken(from.u64()?, from.count()?),
            LEAVING => Self::Leaving,
            HEARD => Self::Heard(from.u64()?),
            _ => return Err(Short),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr::Endpoint;

    #[test]
    fn each_comes_back_and_no_header_cut_short_does() {
        let me = Endpoint { addr: "10.0.0.1:7".parse().unwrap(), born: 3 };
        let known = Known::founded(me);
        let stand = Stand { token: 9, primary: known.primary, size: 300 };
        let body = Bytes::from_static(b"body");
        for note in [
            Note::App(body.clone()),
            Note::Hello(7, Some(stand), known.clone(), true),
            Note::Hello(7, None, known, false),
            Note::Got(7),
            Note::Piece(7, 300, 301, body.clone()),
            Note::Taken(7, 2),
            Note::Leaving,
            Note::Heard(7),
        ] {
            let bytes = note.bytes();
            assert_eq!(Note::read(&bytes), Ok(note.clone()));
            let header = match note {
                Note::App(_) | Note::Piece(..) => bytes.len() - body.len(),
                _ => bytes.len(),
            };
            for cut in 0..header {
                assert!(Note::read(&bytes.slice(..cut)).is_err());
            }
        }
    }
}
