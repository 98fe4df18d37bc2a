//! A state on its way, in pieces: so many may be under way as the window says.

use bytes::Bytes;

use super::hello::Note;
use crate::addr::Endpoint;

/// Bytes of a piece.
pub(super) const PIECE: usize = 48 << 10;
/// Pieces under way.
const WINDOW: u64 = 8;

pub(super) struct Outgoing {
    pub(super) to: Endpoint,
    state: Bytes,
    sent: u64,
    taken: u64,
}

impl Outgoing {
    pub(super) fn new(to: Endpoint, state: Bytes) -> Self {
        Self { to, state, sent: 0, taken: 0 }
    }

    fn pieces(&self) -> u64 {
        self.state.len().div_ceil(PIECE).max(1) as u64
    }

    /// The next piece that the window lets go.
    pub(super) fn next(&mut self, view: u64) -> Option<Note> {
        if self.sent == self.pieces() || self.sent - self.taken >= WINDOW {
            return None;
        }
        let from = self.sent as usize * PIECE;
        let bytes = self.state.slice(from..(from + PIECE).min(self.state.len()));
        let note = Note::Piece(view, self.sent, self.pieces(), bytes);
        self.sent += 1;
        Some(note)
    }

    /// So many have arrived. Whether all have.
    pub(super) fn taken(&mut self, count: u64) -> bool {
        self.taken = self.taken.max(count.min(self.sent));
        self.taken == self.pieces()
    }
}

#[derive(Default)]
pub(super) struct Incoming {
    bytes: Vec<u8>,
    taken: u64,
}

impl Incoming {
    /// A piece: how many there are now, and whether that is all. Others than the next are none.
    pub(super) fn piece(&mut self, number: u64, of: u64, bytes: &[u8]) -> Option<(u64, bool)> {
        if number != self.taken || number >= of {
            return None;
        }
        self.bytes.extend_from_slice(bytes);
        self.taken += 1;
        Some((self.taken, self.taken == of))
    }

    pub(super) fn state(self) -> Bytes {
        self.bytes.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_of_any_size_arrives_whole_with_a_window_of_pieces_under_way() {
        let to = Endpoint { addr: "10.0.0.1:7".parse().unwrap(), born: 3 };
        for len in [0, 1, PIECE, PIECE + 1, 20 * PIECE + 7] {
            let state: Bytes = (0..len).map(|n| n as u8).collect::<Vec<_>>().into();
            let mut out = Outgoing::new(to, state.clone());
            let mut into = Incoming::default();
            let mut most = 0;
            'whole: loop {
                let batch: Vec<_> = std::iter::from_fn(|| out.next(1)).collect();
                most = most.max(batch.len() as u64);
                assert!(!batch.is_empty(), "it stands still");
                for note in batch {
                    let Note::Piece(_, number, of, bytes) = note else { panic!("no piece") };
                    let (count, all) = into.piece(number, of, &bytes).unwrap();
                    assert!(into.piece(number, of, &bytes).is_none(), "a piece counts once");
                    assert_eq!(out.taken(count), all);
                    if all {
                        break 'whole;
                    }
                }
            }
            assert!(most <= WINDOW);
            assert_eq!(into.state(), state);
        }
    }
}
