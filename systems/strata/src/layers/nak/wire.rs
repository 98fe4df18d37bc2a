//! NAK's headers.

use crate::message::Msg;
use crate::stack::Kind;
use crate::wire::{Reader, Short, Writer};

pub(super) const CAST: u8 = 1;
pub(super) const SEND: u8 = 2;
pub(super) const STATUS: u8 = 3;
pub(super) const NAK: u8 = 4;
pub(crate) const RAW: u8 = 5;

/// Bytes of a cast's or send's header: kind, tag, origin, number.
pub(crate) const HEADER: usize = 19;

/// Which of a member's streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Flow {
    Cast,
    Send,
}

pub(super) struct Head {
    pub flow: Flow,
    pub tag: u64,
    pub origin: u16,
    pub number: u64,
}

impl Head {
    pub(super) fn bytes(&self) -> [u8; HEADER] {
        let mut to = [0; HEADER];
        to[0] = if self.flow == Flow::Cast { CAST } else { SEND };
        to[1..9].copy_from_slice(&self.tag.to_le_bytes());
        to[9..11].copy_from_slice(&self.origin.to_le_bytes());
        to[11..].copy_from_slice(&self.number.to_le_bytes());
        to
    }
}

/// Origin and number, behind kind and tag.
pub(super) fn rest(msg: &mut Msg) -> Result<(u16, u64), Short> {
    let origin = u16::from_le_bytes(msg.pop()?);
    Ok((origin, u64::from_le_bytes(msg.pop()?)))
}

/// The layer that a raw message is for.
pub(super) fn layer(byte: u8) -> Option<Kind> {
    Kind::ALL.into_iter().find(|k| *k as u8 == byte)
}

/// What a member has, by rank. Lists end with the last that is not zero.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Status {
    pub casts: Vec<u64>,
    pub sends_in: Vec<u64>,
    pub sends_out: Vec<u64>,
}

impl Status {
    pub(super) fn bytes(&self, tag: u64) -> Vec<u8> {
        let mut to = Writer::new();
        to.u8(STATUS);
        to.u64(tag);
        for list in [&self.casts, &self.sends_in, &self.sends_out] {
            let len = list.iter().rposition(|&n| n != 0).map_or(0, |last| last + 1);
            to.counts(&list[..len]);
        }
        to.0
    }

    /// Of a view of `n`; what stands behind kind and tag.
    pub(super) fn read(bytes: &[u8], n: usize) -> Result<Self, Short> {
        let mut from = Reader(bytes);
        let status = Self { casts: from.counts()?, sends_in: from.counts()?, sends_out: from.counts()? };
        if [&status.casts, &status.sends_in, &status.sends_out].into_iter().any(|list| list.len() > n) {
            return Err(Short);
        }
        Ok(status)
    }
}

/// What somebody lacks of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lack {
    pub flow: Flow,
    pub origin: u16,
    pub gaps: Vec<(u64, u64)>,
}

impl Lack {
    pub(super) fn bytes(&self, tag: u64) -> Vec<u8> {
        let mut to = Writer::new();
        to.u8(NAK);
        to.u64(tag);
        to.u8(u8::from(self.flow == Flow::Send));
        to.u16(self.origin);
        to.count(self.gaps.len() as u64);
        for &(from, end) in &self.gaps {
            to.count(from);
            to.count(end - from);
        }
        to.0
    }

    /// What stands behind kind and tag.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Short> {
        let mut from = Reader(bytes);
        let flow = if from.u8()? == 0 { Flow::Cast } else { Flow::Send };
        let origin = from.u16()?;
        let n = from.length(2)?;
        let mut gaps = Vec::with_capacity(n);
        for _ in 0..n {
            let start = from.count()?;
            gaps.push((start, start.checked_add(from.count()?).ok_or(Short)?));
        }
        Ok(Self { flow, origin, gaps })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_and_lacks_come_back() {
        let status = Status { casts: vec![3, 0, 900], sends_in: vec![0, 1], sends_out: vec![] };
        let bytes = status.bytes(7);
        assert_eq!(Status::read(&bytes[9..], 3), Ok(status));
        assert_eq!(Status::read(&bytes[9..], 2), Err(Short));
        let lack = Lack { flow: Flow::Send, origin: 2, gaps: vec![(4, 6), (1 << 40, (1 << 40) + 1)] };
        assert_eq!(Lack::read(&lack.bytes(7)[9..]), Ok(lack));
    }
}
