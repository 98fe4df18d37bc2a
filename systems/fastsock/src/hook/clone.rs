//! `clone`: new processes, and threads that the C library knows nothing of.
//!
//! What shares neither memory nor descriptors with this process is a fork. Whoever shares the memory while the thread that made it waits, as after the kernel's
//! `vfork`, is a guest, or kin with the descriptors as well (`guests`). In front of all others, connections go back to the kernel.

#![allow(clippy::missing_safety_doc, reason = "each is the system's call of the same name, with the system's rules")]

use std::cell::Cell;

use libc::{
    CLONE_FILES, CLONE_NEWNET, CLONE_SETTLS, CLONE_THREAD, CLONE_VFORK, CLONE_VM, c_int, c_long, c_void, pid_t,
};

use super::begun::Begun;
use super::process;
use crate::copied::Copied;
use crate::guests::{Guest, Kin};
use crate::{real, recycle, retire};

/// What a new process begins with.
type Begin = extern "C-unwind" fn(*mut c_void) -> c_int;

/// What the library has to do about a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fork,
    Guest,
    Kin,
    Stranger,
}

fn kind(flags: c_int) -> Kind {
    let has = |flag: c_int| flags & flag != 0;
    let waits = has(CLONE_VFORK) && !has(CLONE_THREAD) && !has(CLONE_SETTLS);
    match (has(CLONE_VM), has(CLONE_FILES)) {
        (false, false) => Kind::Fork,
        (true, false) if waits => Kind::Guest,
        (true, true) if waits => Kind::Kin,
        _ => Kind::Stranger,
    }
}

/// A process that is about to begin.
struct Start<'a> {
    begin: Begin,
    argument: *mut c_void,
    flags: c_int,
    /// It has a memory of its own: a copy of this one's.
    copied: Option<Copied>,
    /// And its maker waits for it.
    begun: Option<&'a Begun>,
    kin: Option<&'a Kin>,
}

/// Where it begins.
extern "C-unwind" fn starts(start: *mut c_void) -> c_int {
    // SAFETY: `clone` gave it: in the caller's memory, which waits, or in a copy of that.
    let start = unsafe { &*start.cast::<Start<'_>>() };
    if let Some(copied) = start.copied {
        in_copy(copied, start.flags, start.begun);
    }
    if let Some(kin) = start.kin {
        kin.enter();
    }
    let status = (start.begin)(start.argument);
    if start.copied.is_some() {
        // The C library ends it by a call of its own.
        process::ends();
    }
    status
}

/// Runs first in a process with a copy of this one's memory.
fn in_copy(copied: Copied, flags: c_int, begun: Option<&Begun>) {
    copied.renew();
    process::in_child();
    if let Some(begun) = begun {
        begun.hold();
    }
    if flags & CLONE_NEWNET != 0 {
        recycle::moved();
    }
}

/// Makes a process with a memory of its own by `call`, which gets the flags, and by what its maker waits for it. Where these flags ask for that wait, it comes when
/// nothing is held any more, unless the descriptors are shared: then it is the system's.
fn forked(flags: c_int, call: impl FnOnce(c_int, Option<&Begun>) -> pid_t) -> pid_t {
    let mut begun = None;
    let child = process::forked(|| {
        if flags & CLONE_VFORK != 0 && flags & CLONE_FILES == 0 {
            begun = Begun::new();
        }
        let without = if begun.is_some() { flags & !CLONE_VFORK } else { flags };
        let child = call(without, begun.as_ref());
        if let Some(begun) = begun.as_ref().filter(|_| child != 0) {
            begun.let_go();
        }
        child
    });
    if let Some(begun) = begun.filter(|_| child != 0) {
        begun.wait(child > 0);
    }
    child
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn clone(
    begin: Option<Begin>,
    stack: *mut c_void,
    flags: c_int,
    argument: *mut c_void,
    parents: *mut pid_t,
    storage: *mut c_void,
    childs: *mut pid_t,
) -> c_int {
    // SAFETY: the caller's promise, here and in what follows. Arguments that it did not give are handed on as they were found.
    let plain = || unsafe { real::clone(begin, stack, flags, argument, parents, storage, childs) };
    // Refused.
    let (Some(begin), false) = (begin, stack.is_null()) else { return plain() };
    let made = |flags, copied, begun: Option<&Begun>, kin: Option<&Kin>| {
        let mut start = Start { begin, argument, flags, copied, begun, kin };
        // SAFETY: as above; what is handed on lives as long as this call, and in the copy.
        unsafe { real::clone(Some(starts), stack, flags, (&raw mut start).cast(), parents, storage, childs) }
    };
    let copied = Copied::of_this_thread();
    let kin = if kind(flags) == Kind::Kin { Kin::begin() } else { None };
    match kind(flags) {
        Kind::Fork if copied.is_some() => forked(flags, |flags, begun| made(flags, copied, begun, None)),
        Kind::Guest => {
            let _guest = Guest::begin();
            made(flags, None, None, None)
        }
        Kind::Kin if kin.is_some() => made(flags, None, None, kin.as_ref()),
        _ if flags & CLONE_VM == 0 => {
            retire::for_strangers(flags & CLONE_FILES != 0);
            if copied.is_some() { forked(flags, |flags, begun| made(flags, copied, begun, None)) } else { plain() }
        }
        _ => {
            retire::for_strangers(false);
            plain()
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __clone(
    begin: Option<Begin>,
    stack: *mut c_void,
    flags: c_int,
    argument: *mut c_void,
    parents: *mut pid_t,
    storage: *mut c_void,
    childs: *mut pid_t,
) -> c_int {
    // SAFETY: as above.
    unsafe { clone(begin, stack, flags, argument, parents, storage, childs) }
}

/// Words of `clone3`'s arguments (linux/sched.h).
const FLAGS: usize = 0;
const STACK: usize = 5;
const WORDS: usize = 8;
/// Words that are handed on with other flags, at most: there are eleven (Linux 6.18).
const MOST_WORDS: usize = 16;

/// Flags of a call that makes a process by its number, and whether that has a stack of its own. None: it makes none.
///
/// # Safety
/// The arguments are those of the call.
unsafe fn by_number(number: c_long, first: usize, second: usize) -> Option<(c_int, bool)> {
    match number {
        libc::SYS_fork => Some((0, false)),
        libc::SYS_vfork => Some((CLONE_VM | CLONE_VFORK, false)),
        libc::SYS_clone => Some((first as c_int, second != 0)),
        libc::SYS_clone3 if first != 0 && second >= WORDS * size_of::<u64>() => {
            let words = std::ptr::with_exposed_provenance::<u64>(first);
            // SAFETY: the caller's words.
            unsafe { Some((words.add(FLAGS).read_unaligned() as c_int, words.add(STACK).read_unaligned() != 0)) }
        }
        _ => None,
    }
}

/// A system call by its number is about to be made. Whether it is to be made by [`by_copy`].
///
/// # Safety
/// As [`by_number`].
pub unsafe fn before_syscall(number: c_long, first: usize, second: usize) -> bool {
    // SAFETY: the caller's promise.
    let Some((flags, stack)) = (unsafe { by_number(number, first, second) }) else { return false };
    if kind(flags) == Kind::Fork && !stack && Copied::of_this_thread().is_some() {
        return true;
    }
    // A new process would go on amid calls of this library's, on another stack or on its parent's.
    retire::for_strangers(flags & CLONE_VM == 0);
    false
}

/// Runs `call` with the first argument of a call by its number, of which the flags are these now.
///
/// # Safety
/// As [`by_number`].
unsafe fn with_flags(
    number: c_long,
    first: usize,
    second: usize,
    flags: c_int,
    call: impl FnOnce(usize) -> pid_t,
) -> pid_t {
    const HALF: usize = u32::MAX as usize;
    let half = flags.cast_unsigned() as usize;
    let mut words = [0_usize; MOST_WORDS];
    match number {
        libc::SYS_clone => call(first & !HALF | half),
        // More words than are known here go as they are: then the wait is the system's.
        libc::SYS_clone3 if second <= size_of_val(&words) => {
            // SAFETY: the caller's bytes, as many as it says, and room for them.
            unsafe {
                let from = std::ptr::with_exposed_provenance::<u8>(first);
                std::ptr::copy_nonoverlapping(from, words.as_mut_ptr().cast(), second);
            }
            words[FLAGS] = words[FLAGS] & !HALF | half;
            call(words.as_mut_ptr().expose_provenance())
        }
        _ => call(first),
    }
}

/// `syscall`, for a number that makes a process as a fork does.
pub unsafe extern "C" fn by_copy(
    number: c_long,
    first: usize,
    second: usize,
    third: usize,
    fourth: usize,
    fifth: usize,
) -> c_long {
    // SAFETY: the caller's promise.
    let flags = unsafe { by_number(number, first, second) }.map_or(0, |(flags, _)| flags);
    let copied = Cell::new(None);
    let child = forked(flags, |flags, begun| {
        copied.set(Copied::of_this_thread());
        // SAFETY: as above. Its sixth argument none of these calls has.
        let child = unsafe {
            with_flags(number, first, second, flags, |first| {
                real::syscall(number, first, second, third, fourth, fifth, 0) as pid_t
            })
        };
        if child == 0
            && let Some(copied) = copied.get()
        {
            in_copy(copied, flags, begun);
        }
        child
    });
    c_long::from(child)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_tells_what_a_new_process_is_to_this_one() {
        let kinds =
            [0, CLONE_FILES, CLONE_VM, CLONE_VM | CLONE_FILES].map(|flags| (kind(flags), kind(flags | CLONE_VFORK)));
        let strangers = (Kind::Stranger, Kind::Stranger);
        assert_eq!(
            kinds,
            [(Kind::Fork, Kind::Fork), strangers, (Kind::Stranger, Kind::Guest), (Kind::Stranger, Kind::Kin)]
        );
        for more in [CLONE_THREAD, CLONE_SETTLS] {
            assert_eq!(kind(CLONE_VM | CLONE_VFORK | more), Kind::Stranger);
        }
    }

    #[test]
    fn flags_are_exchanged_in_a_copy_of_what_the_call_was_given() {
        const HIGH: usize = 1 << 32;
        let given: Vec<usize> = (0..11).map(|word| word + HIGH).collect();
        let (first, len) = (given.as_ptr().expose_provenance(), size_of_val(&given[..]));
        let seen = |number, first, len, at: usize| {
            let mut seen = 0;
            let look = |first: usize| {
                let words = std::ptr::with_exposed_provenance::<usize>(first);
                // SAFETY: as many words, or none is looked at.
                seen = if number == libc::SYS_clone3 { unsafe { *words.add(at) } } else { first };
                0
            };
            // SAFETY: what the call would be given.
            unsafe { with_flags(number, first, len, CLONE_VFORK, look) };
            seen
        };
        assert_eq!(seen(libc::SYS_clone3, first, len, FLAGS), HIGH | CLONE_VFORK as usize);
        assert_eq!(seen(libc::SYS_clone3, first, len, 10), HIGH + 10);
        assert_eq!(given[FLAGS], HIGH, "the caller's own are as they were");
        assert_eq!(seen(libc::SYS_clone, HIGH | 17, 0, 0), HIGH | CLONE_VFORK as usize);
        assert_eq!(seen(libc::SYS_fork, 5, 0, 0), 5);
        // More than are known.
        let many = [9_usize; MOST_WORDS + 1];
        let first = many.as_ptr().expose_provenance();
        assert_eq!(seen(libc::SYS_clone3, first, size_of_val(&many[..]), FLAGS), 9);
    }

    #[test]
    fn a_thread_finds_its_number_and_its_list() {
        let copied = Copied::of_this_thread().expect("a C library that keeps its threads as glibc does");
        copied.renew();
        assert!(Copied::of_this_thread().is_some());
    }
}
