//! The application of a run with state transfer: a list of the messages that it was told, and a filling that follows from it.

use bytes::Bytes;

use super::journal::{Id, Point};
use crate::state::{Change, Transfer};
use crate::view::{ViewId, hash};
use crate::wire::{Reader, Short, Writer};

pub(super) struct Replica {
    pub(super) transfer: Transfer,
    ids: Vec<Id>,
    view: Option<(ViewId, bool)>,
    index: usize,
    firm: bool,
    filling: usize,
}

impl Replica {
    pub(super) fn new(transfer: Transfer, filling: usize) -> Self {
        Self { transfer, ids: Vec::new(), view: None, index: 0, firm: true, filling }
    }

    fn digest(&self) -> u64 {
        hash(&Self::list(&self.ids))
    }

    fn list(ids: &[Id]) -> Vec<u8> {
        let mut to = Writer::new();
        to.count(ids.len() as u64);
        for id in ids {
            to.u32(id.life);
            to.u32(id.number);
        }
        to.0
    }

    fn fill(digest: u64, len: usize) -> impl Iterator<Item = u8> {
        (0..len as u64).map(move |at| (digest >> (at % 8 * 8)) as u8 ^ at as u8)
    }

    fn state(&self) -> Bytes {
        let mut bytes = Self::list(&self.ids);
        bytes.extend(Self::fill(self.digest(), self.filling));
        bytes.into()
    }

    fn read(&mut self, state: &Bytes) -> Result<bool, Short> {
        let from = &mut Reader(state);
        let n = from.length(8)?;
        self.ids.clear();
        for _ in 0..n {
            self.ids.push(Id { life: from.u32()?, number: from.u32()? });
        }
        Ok(from.0.iter().copied().eq(Self::fill(self.digest(), self.filling)))
    }

    fn point(&self, told: Option<Id>) -> Option<Point> {
        let ((view, primary), token) = (self.view?, self.transfer.token()?);
        Some(Point { view, primary, token, index: self.index, firm: self.firm, digest: self.digest(), told })
    }

    /// Handles what there is to be told; `named` says which message some bytes are. What came to pass, or what is wrong.
    pub(super) fn run(&mut self, named: impl Fn(&Bytes) -> Option<Id>) -> Result<Vec<Point>, String> {
        let mut points = Vec::new();
        while let Some(change) = self.transfer.change() {
            match change {
                Change::View { view, primary } => {
                    (self.view, self.index, self.firm) = (Some((view.id, primary)), 0, true);
                    points.extend(self.point(None));
                }
                Change::Wanted => {
                    self.transfer.give(self.state());
                }
                Change::State(state) => {
                    // The point of the view's start is that of this state.
                    points.pop();
                    if !self.read(&state).unwrap_or(false) {
                        return Err("a state arrived damaged".to_owned());
                    }
                    points.extend(self.point(None));
                }
                Change::Message(m) if m.cast => {
                    let id = named(&m.body).ok_or("a message that nobody cast")?;
                    if self.ids.contains(&id) {
                        return Err(format!("{}.{} is told that the state has already", id.life, id.number));
                    }
                    self.ids.push(id);
                    self.index += 1;
                    self.firm &= !m.transitional;
                    points.extend(self.point(Some(id)));
                }
                Change::Message(_) | Change::Counted | Change::Orphaned => {}
            }
        }
        Ok(points)
    }

    pub(super) fn ids(&self) -> Vec<Id> {
        self.ids.clone()
    }
}
