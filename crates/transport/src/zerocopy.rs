//! Sends of a TCP socket without a copy in this process (`MSG_ZEROCOPY`, Linux 4.14): the kernel keeps the pages of the memory until the peer
//! has acknowledged them, and says so on the socket's error queue.
//!
//! The kernel numbers the calls, from 0, and tells ranges of them. It copies nevertheless where it must, as for every packet that goes over
//! loopback, and says that, too.

use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::Errno;
use rustix::net::SendFlags;

use crate::sys;

/// Flag of a send.
pub(crate) const ZEROCOPY: SendFlags = SendFlags::from_bits_retain(libc::MSG_ZEROCOPY as u32);

/// Bytes of a call at most: who may not lock memory without limit gets room for it again as calls complete.
pub(crate) const CALL: usize = 256 * 1024;

/// What is tried where the system may refuse, in words.
pub(crate) const ALLOWING: &str = "asking for sends without a copy (SO_ZEROCOPY, since Linux 4.14)";
pub(crate) const NO_ROOM: &str = "sending without a copy (net.core.optmem_max and the limit of locked memory, ulimit -l, bound what may be under way)";

/// Marks of the error queue's messages (`SO_EE_ORIGIN_ZEROCOPY`, `SO_EE_CODE_ZEROCOPY_COPIED` of linux/errqueue.h).
const ORIGIN: u8 = 5;
const COPIED: u8 = 1;

/// Most messages that are read off an error queue in one go: a look must end.
const LOOKED: u32 = 1024;

/// Calls under way on one socket, and what came of those before.
#[derive(Debug, Default)]
pub struct Pending {
    /// Calls made, and those of which all with lower numbers are complete.
    made: u64,
    done: u64,
    /// Ranges beyond `done` that are complete: first and last.
    early: Vec<(u64, u64)>,
    /// Calls made up to the end of each post that is not complete.
    posts: VecDeque<u64>,
    posted: u64,
    complete: u64,
    copied: u64,
}

impl Pending {
    /// A call of the post that is under way was taken by the kernel.
    pub(crate) fn called(&mut self) {
        self.made += 1;
    }

    /// The kernel did not take the last call after all.
    pub(crate) fn failed(&mut self) {
        self.made -= 1;
    }

    /// Calls made: the number that the next one has.
    pub(crate) fn made(&self) -> u64 {
        self.made
    }

    /// The calls since the last post were those of one more.
    pub(crate) fn post(&mut self) {
        self.posted += 1;
        self.posts.push_back(self.made);
        self.retire();
    }

    /// Whether any call was made.
    pub(crate) fn begun(&self) -> bool {
        self.made > 0
    }

    /// Whether a call is not complete.
    pub(crate) fn under_way(&self) -> bool {
        self.done < self.made
    }

    pub(crate) fn posted(&self) -> u64 {
        self.posted
    }

    pub(crate) fn complete(&self) -> u64 {
        self.complete
    }

    /// Completed calls that were copied, and all completed calls.
    pub(crate) fn copied(&self) -> (u64, u64) {
        (self.copied, self.done)
    }

    /// Takes in that the calls from `first` to `last`, in the kernel's 32 bits, are complete. False where they can't be: they were never made, or
    /// were complete before.
    pub(crate) fn told(&mut self, first: u32, last: u32, copied: bool) -> bool {
        // Fewer than 2^31 are ever under way, so that the nearest number with these bits is the one that is meant.
        let near = |bits: u32| self.done.checked_add_signed(i64::from(bits.wrapping_sub(self.done as u32) as i32));
        let (Some(first), Some(last)) = (near(first), near(last)) else { return false };
        let known = |&(from, to): &(u64, u64)| first <= to && from <= last;
        if first > last || first < self.done || last >= self.made || self.early.iter().any(known) {
            return false;
        }
        self.copied += if copied { last - first + 1 } else { 0 };
        self.early.push((first, last));
        while let Some(at) = self.early.iter().position(|(from, _)| *from == self.done) {
            self.done = self.early.swap_remove(at).1 + 1;
        }
        self.retire();
        true
    }

    fn retire(&mut self) {
        while self.posts.front().is_some_and(|made| *made <= self.done) {
            self.posts.pop_front();
            self.complete += 1;
        }
    }

    /// Takes in all that is on the error queue of `fd`. `PROTO` where the kernel tells what can't be.
    pub(crate) fn look(&mut self, fd: BorrowedFd<'_>) -> Result<(), Errno> {
        for _ in 0..LOOKED {
            let Some(told) = completion(fd)? else { return Ok(()) };
            // Other news of the socket, which its own calls tell of.
            let Some((first, last, copied)) = told else { continue };
            if !self.told(first, last, copied) {
                return Err(Errno::PROTO);
            }
        }
        Ok(())
    }
}

/// Lets sends of this socket ask for it.
pub(crate) fn allow(fd: BorrowedFd<'_>) -> Result<(), Errno> {
    let on: libc::c_int = 1;
    // SAFETY: the option's value is an int, which lives through the call.
    let outcome = unsafe {
        let at = (&raw const on).cast();
        let len = size_of::<libc::c_int>() as libc::socklen_t;
        libc::setsockopt(fd.as_raw_fd(), libc::SOL_SOCKET, libc::SO_ZEROCOPY, at, len)
    };
    if outcome == 0 { Ok(()) } else { Err(sys::last_error()) }
}

/// First and last call, and whether they were copied.
type Told = (u32, u32, bool);

/// The next message of the error queue: which calls are complete, where it says that. None where there is no message.
fn completion(fd: BorrowedFd<'_>) -> Result<Option<Option<Told>>, Errno> {
    // Aligned as control messages must be. Large enough for the one that is due, with the address that follows it.
    let mut control = [0u64; 32];
    // SAFETY: a header of zeros is an empty one.
    let mut header: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    header.msg_control = control.as_mut_ptr().cast();
    header.msg_controllen = size_of_val(&control);
    // SAFETY: the header says where the control messages may be written and how many bytes there are; it names no other memory.
    let got = unsafe { libc::recvmsg(fd.as_raw_fd(), &mut header, libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT) };
    if got < 0 {
        return match sys::last_error() {
            Errno::AGAIN => Ok(None),
            Errno::INTR => Ok(Some(None)),
            e => Err(e),
        };
    }
    let mut told = None;
    // SAFETY: the kernel wrote well-formed control messages into `control` and their length into the header; the macros stay within it.
    unsafe {
        let mut at = libc::CMSG_FIRSTHDR(&header);
        while let Some(message) = at.as_ref() {
            let kind = (message.cmsg_level, message.cmsg_type);
            let whole = message.cmsg_len >= libc::CMSG_LEN(size_of::<libc::sock_extended_err>() as u32) as usize;
            if whole && matches!(kind, (libc::SOL_IP, libc::IP_RECVERR) | (libc::SOL_IPV6, libc::IPV6_RECVERR)) {
                let e: libc::sock_extended_err = std::ptr::read_unaligned(libc::CMSG_DATA(at).cast());
                if e.ee_origin == ORIGIN && e.ee_errno == 0 {
                    told = Some((e.ee_info, e.ee_data, e.ee_code & COPIED != 0));
                }
            }
            at = libc::CMSG_NXTHDR(&header, at);
        }
    }
    Ok(Some(told))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending(calls_of_posts: &[u64]) -> Pending {
        let mut pending = Pending::default();
        for calls in calls_of_posts {
            (0..*calls).for_each(|_| pending.called());
            pending.post();
        }
        pending
    }

    #[test]
    fn a_post_is_complete_with_its_last_call_and_all_before() {
        let mut pending = pending(&[1, 3, 0, 1]);
        assert_eq!((pending.posted(), pending.complete()), (4, 0));
        assert!(pending.told(2, 3, false), "the end of the second, before the first");
        assert_eq!(pending.complete(), 0);
        assert!(pending.told(0, 0, true));
        assert_eq!(pending.complete(), 1);
        assert!(pending.told(1, 1, true));
        assert_eq!(
            (pending.complete(), pending.copied()),
            (3, (2, 4)),
            "an empty post is complete with what is before"
        );
        assert!(pending.told(4, 4, false));
        assert_eq!((pending.complete(), pending.copied()), (4, (2, 5)));
    }

    #[test]
    fn completions_of_what_was_never_posted_or_twice_are_refused() {
        let mut pending = pending(&[2, 2]);
        for (first, last) in [(4, 4), (0, 4), (3, 2), (u32::MAX, 0), (1 << 31, 1 << 31), (u32::MAX, u32::MAX)] {
            assert!(!pending.told(first, last, true), "{first} to {last}");
        }
        assert!(pending.told(2, 3, false));
        for (first, last) in [(2, 2), (1, 2), (3, 3), (0, 3)] {
            assert!(!pending.told(first, last, true), "{first} to {last}, again");
        }
        assert!(pending.told(0, 1, false));
        assert!(!pending.told(0, 0, true), "again");
        assert_eq!((pending.complete(), pending.copied()), (2, (0, 4)));
    }

    #[test]
    fn the_kernels_numbers_wrap() {
        let mut pending = Pending { made: (1 << 32) - 1, done: (1 << 32) - 1, ..Pending::default() };
        (0..3).for_each(|_| pending.called());
        pending.post();
        assert!(pending.told(u32::MAX, 0, false));
        assert_eq!(pending.complete(), 0);
        assert!(pending.told(1, 1, false));
        assert_eq!((pending.complete(), pending.done), (1, (1 << 32) + 2));
    }
}
