//! Copies of descriptors that `posix_spawn` is to make for a new program (`posix_spawn_file_actions_adddup2`), which reads there by calls that nobody sees.
//!
//! A list of actions may be used again and again, and its numbers mean something else each time: what they mean is asked when a program begins.

#![allow(clippy::missing_safety_doc, reason = "each is the system's call of the same name, with the system's rules")]

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use libc::{c_int, posix_spawn_file_actions_t};

use crate::{real, retire};

/// Copies that are known at once, of all lists.
const MOST: usize = 1024;
/// In place of a list's address: a place that is free, and one that is being written.
const FREE: usize = 0;
const TAKEN: usize = 1;

/// The copies that lists of actions are to make. No lock guards them, which a fork would have to hold: a program does not change a list in two threads at once.
struct Copies<const N: usize> {
    /// The address of its list, and the two numbers.
    all: [(AtomicUsize, AtomicU64); N],
}

static COPIES: Copies<MOST> = Copies::new();

impl<const N: usize> Copies<N> {
    const fn new() -> Self {
        Self { all: [const { (AtomicUsize::new(FREE), AtomicU64::new(0)) }; N] }
    }

    /// One more of a list. False if there is no place.
    fn note(&self, list: usize, from: c_int, to: c_int) -> bool {
        let take = |place: &&(AtomicUsize, AtomicU64)| {
            place.0.compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok()
        };
        let Some((of, numbers)) = self.all.iter().find(take) else { return false };
        numbers.store(u64::from(from.cast_unsigned()) << 32 | u64::from(to.cast_unsigned()), Ordering::Relaxed);
        of.store(list, Ordering::Release);
        true
    }

    /// Those of a list: from which number to which.
    fn of(&self, list: usize) -> impl Iterator<Item = (c_int, c_int)> {
        let known = self.all.iter().filter(move |(of, _)| list > TAKEN && of.load(Ordering::Acquire) == list);
        known.map(|(_, numbers)| {
            let both = numbers.load(Ordering::Relaxed);
            (((both >> 32) as u32).cast_signed(), (both as u32).cast_signed())
        })
    }

    /// There is no such list any more, or a new one.
    fn forget(&self, list: usize) {
        self.all.iter().filter(|(of, _)| list > TAKEN && of.load(Ordering::Relaxed) == list).for_each(|(of, _)| {
            of.store(FREE, Ordering::Release);
        });
    }
}

/// A program is about to begin by these actions, if there are any: what it gets a copy of is lent to it, also a descriptor that is closed when it begins.
pub fn lend(actions: *const posix_spawn_file_actions_t) {
    COPIES.of(actions.addr()).for_each(|(from, to)| lend_one(from, to));
}

fn lend_one(from: c_int, to: c_int) {
    // One for output is not read.
    if let Some(held) = retire::lend(from).filter(|_| to != libc::STDOUT_FILENO && to != libc::STDERR_FILENO) {
        retire::never_without_rest(from, &held);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn posix_spawn_file_actions_init(actions: *mut posix_spawn_file_actions_t) -> c_int {
    COPIES.forget(actions.addr());
    // SAFETY: the caller's promise, here and in what follows.
    unsafe { real::posix_spawn_file_actions_init(actions) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn posix_spawn_file_actions_destroy(actions: *mut posix_spawn_file_actions_t) -> c_int {
    COPIES.forget(actions.addr());
    // SAFETY: as above.
    unsafe { real::posix_spawn_file_actions_destroy(actions) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn posix_spawn_file_actions_adddup2(
    actions: *mut posix_spawn_file_actions_t,
    from: c_int,
    to: c_int,
) -> c_int {
    // SAFETY: as above.
    let failed = unsafe { real::posix_spawn_file_actions_adddup2(actions, from, to) };
    if failed == 0 && !COPIES.note(actions.addr(), from, to) {
        // At least what the number means now.
        lend_one(from, to);
    }
    failed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_known_by_their_list_until_that_ends() {
        let copies = Copies::<3>::new();
        assert!(copies.note(100, 5, 333) && copies.note(200, 6, 0) && copies.note(100, 7, 5));
        assert!(!copies.note(300, 8, 9), "there is no place");
        let of = |list| copies.of(list).collect::<Vec<_>>();
        assert_eq!((of(100), of(200), of(300)), (vec![(5, 333), (7, 5)], vec![(6, 0)], vec![]));
        copies.forget(100);
        assert!(of(100).is_empty() && copies.note(300, c_int::MAX, 0));
        assert_eq!((of(200), of(300)), (vec![(6, 0)], vec![(c_int::MAX, 0)]));
    }

    #[test]
    fn no_list_has_no_copies() {
        let copies = Copies::<2>::new();
        assert!(copies.note(100, 1, 2));
        assert!(copies.of(FREE).next().is_none() && copies.of(TAKEN).next().is_none());
        copies.forget(FREE);
        assert_eq!(copies.of(100).count(), 1);
    }
}
