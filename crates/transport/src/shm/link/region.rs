//! One-sided access over shared memory: a region is a file of its own, which both sides map.
//!
//! The file travels over the socket by which the sides met, and stays for the life of the link. A put is a copy into it, made by the CPU of who
//! puts; a fence waits until its stores have left that CPU for the caches, where every other CPU finds them. That the peer is done is said over
//! the ring, whose acquire and release order what was put before it.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

use super::super::file::Mapping;
use super::Shm;
use crate::{Link, LinkError, OneSided, meet};

/// What is said of an exposed region, with its length and whether its file comes along: 32 bytes.
const EXPOSED: [u8; 16] = *b"pipegauge region";
/// What the peer says over the ring when it is done.
const LEFT: u8 = 0x6c;

/// The regions of a link.
#[derive(Debug, Default)]
pub(super) struct Regions {
    own: Option<Mapping>,
    /// The file of this side's, which the peer does not have yet.
    unsaid: Option<OwnedFd>,
    peers: Option<Mapping>,
}

/// The part of a region from `at`, or an error where that is not all within.
#[inline(always)]
fn within(region: &Option<Mapping>, at: usize, len: usize) -> Result<&Mapping, LinkError> {
    match region {
        Some(region) if at <= region.len() && len <= region.len() - at => Ok(region),
        _ => Err(outside(region, at, len)),
    }
}

#[cold]
fn outside(region: &Option<Mapping>, offset: usize, len: usize) -> LinkError {
    LinkError::Outside { offset, len, exposed: region.as_ref().map_or(0, Mapping::len) }
}

impl OneSided for Shm {
    fn reserve(&mut self, len: usize) -> Result<(), LinkError> {
        if self.regions.own.as_ref().is_some_and(|region| region.len() >= len) {
            return Ok(());
        }
        // The old one goes first, so that both never take memory at once.
        self.regions.own = None;
        let len = len.max(1).checked_next_multiple_of(rustix::param::page_size()).unwrap_or(usize::MAX);
        let (region, file) = Mapping::create("pipegauge-region", len)?;
        (self.regions.own, self.regions.unsaid) = (Some(region), Some(file));
        Ok(())
    }

    fn expose(&mut self, len: usize) -> Result<(), LinkError> {
        self.begin("exposing memory")?;
        self.reserve(len)?;
        let Some(to) = &self.alive else { return Err(LinkError::Unsupported("pass a region to the peer")) };
        let said = |len: usize, fresh: u64| {
            let mut said = [0; 32];
            said[..16].copy_from_slice(&EXPOSED);
            said[16..24].copy_from_slice(&(len as u64).to_le_bytes());
            said[24..].copy_from_slice(&fresh.to_le_bytes());
            said
        };
        let (len, file) = (self.regions.own.as_ref().map_or(0, Mapping::len), self.regions.unsaid.take());
        match file {
            Some(file) => meet::hand_over(to.as_fd(), &said(len, 1), &[file.as_fd()]),
            None => meet::hand_over(to.as_fd(), &said(len, 0), &[]),
        }
    }

    fn fill(&mut self, at: usize, from: &[u8]) -> Result<(), LinkError> {
        within(&self.regions.own, at, from.len())?.put(at, from);
        Ok(())
    }

    fn read(&mut self, at: usize, into: &mut [u8]) -> Result<(), LinkError> {
        within(&self.regions.own, at, into.len())?.get(at, into);
        Ok(())
    }

    fn withdraw(&mut self, wait: Duration) -> Result<bool, LinkError> {
        if !self.ready(wait)? {
            return Ok(false);
        }
        let mut said = [0];
        self.recv(&mut said)?;
        if said == [LEFT] {
            Ok(true)
        } else {
            Err(LinkError::Protocol("it left what was exposed in other words".into()))
        }
    }

    fn reach(&mut self, len: usize) -> Result<(), LinkError> {
        self.begin("reaching exposed memory")?;
        let Some(from) = &self.alive else { return Err(LinkError::Unsupported("receive a region of the peer")) };
        let (said, mut files) = meet::received(from.as_fd(), &self.patience)?;
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| said[at + i]));
        let (exposed, fresh) = (number(16), number(24));
        if said[..16] != EXPOSED || fresh > 1 || files.len() as u64 != fresh {
            return Err(LinkError::Protocol(format!("it exposed memory in other words, with {} files", files.len())));
        }
        if exposed < len as u64 || exposed > isize::MAX as u64 {
            return Err(LinkError::Protocol(format!("it exposes {exposed} bytes where {len} are needed")));
        }
        match (files.pop(), &self.regions.peers) {
            (Some(file), _) => {
                self.regions.peers = None;
                self.regions.peers = Some(Mapping::attach(&file, exposed as usize)?);
                Ok(())
            }
            (None, Some(region)) if region.len() as u64 == exposed => Ok(()),
            (None, _) => Err(LinkError::Protocol(format!("it exposes {exposed} bytes that it has not handed over"))),
        }
    }

    #[inline]
    fn put(&mut self, at: usize, from: &[u8]) -> Result<(), LinkError> {
        within(&self.regions.peers, at, from.len())?.put(at, from);
        Ok(())
    }

    #[inline]
    fn get(&mut self, at: usize, into: &mut [u8]) -> Result<(), LinkError> {
        self.begin("getting")?;
        within(&self.regions.peers, at, into.len())?.get(at, into);
        // The copy is made now, and not joined with the next one.
        fence(Ordering::Acquire);
        if self.peer_closed() { Err(LinkError::Closed { doing: "getting" }) } else { Ok(()) }
    }

    #[inline]
    fn fence(&mut self) -> Result<(), LinkError> {
        self.begin("putting")?;
        fence(Ordering::SeqCst);
        if self.peer_closed() { Err(LinkError::Closed { doing: "putting" }) } else { Ok(()) }
    }

    fn leave(&mut self) -> Result<(), LinkError> {
        self.send(&[LEFT])
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
