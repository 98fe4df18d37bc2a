//! New processes and programs, and the library's own beginning and end.

#![allow(clippy::missing_safety_doc, reason = "each is the system's call of the same name, with the system's rules")]

use std::sync::atomic::Ordering;

use libc::{c_char, c_int, pid_t, posix_spawn_file_actions_t, posix_spawnattr_t};

use crate::arena::control;
use crate::table::{self, Why};
use crate::{activate, real, recycle, report, retire, slot, solo, watch};

/// Runs when the library is loaded.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

/// Runs when the process ends in an orderly way.
#[used]
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = end;

extern "C" fn begin() {
    solo::begin();
    activate::note_process();
    crate::carry::take();
    // SAFETY: functions that live as long as the process.
    unsafe { libc::pthread_atfork(Some(before_fork), Some(in_parent), Some(in_child)) };
}

extern "C" fn end() {
    each_active(|fd, slot, memory| {
        super::life::reset_if_unread(fd, slot);
        control(memory).sides[slot.me()].leaving.fetch_add(1, Ordering::SeqCst);
        control(memory).ways[slot.me()].bytes.ring(slot.peers_event());
        control(memory).ways[1 - slot.me()].room.ring(slot.peers_event());
    });
}

fn each_active(work: impl Fn(c_int, &slot::Held, &am::memory::Memory)) {
    slot::each(0, usize::MAX, |fd| {
        if let Some(slot) = slot::of(fd)
            && slot.active()
            && let Some((_, memory)) = slot.parts()
        {
            work(fd, &slot, memory);
        }
    });
}

/// Two processes hold every connection. Those that are active know how to share; the others stay with the kernel, as neither process could
/// know when no thread of the other is in the kernel.
fn after_fork() {
    slot::each(0, usize::MAX, |fd| {
        let Some(slot) = slot::of(fd) else { return };
        match slot.parts() {
            Some(_) if slot.active() => recycle::plain(fd, &slot),
            _ => activate::give_up(&slot, Why::Forked),
        }
    });
}

extern "C" fn before_fork() {
    recycle::before_fork();
    watch::before_fork();
    // Before there is another process: from then on the locks are taken.
    slot::each(0, usize::MAX, |fd| {
        if let Some((page, _)) = slot::of(fd).as_deref().and_then(slot::Slot::parts) {
            page.share();
        }
    });
}

extern "C" fn in_parent() {
    watch::after_fork(false);
    recycle::after_fork(false);
    after_fork();
}

extern "C" fn in_child() {
    // First: what it wrote to is not here.
    report::in_child();
    watch::after_fork(true);
    activate::note_process();
    recycle::after_fork(true);
    after_fork();
    each_active(|fd, slot, _| {
        report::begin(fd, slot.number());
        report::state(slot, table::FAST);
    });
}

// A child of vfork uses its parent's memory: what it closes, the parent would take for closed. A fork is what POSIX lets a vfork be.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vfork() -> pid_t {
    // SAFETY: takes nothing.
    unsafe { real::fork() }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn setns(fd: c_int, kind: c_int) -> c_int {
    recycle::moved();
    // SAFETY: the caller's promise, here and in what follows.
    unsafe { real::setns(fd, kind) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn unshare(flags: c_int) -> c_int {
    if flags & libc::CLONE_NEWNET != 0 {
        recycle::moved();
    }
    // SAFETY: as above.
    unsafe { real::unshare(flags) }
}

/// The new program did not begin.
fn no_exec(failed: c_int) -> c_int {
    let errno = real::errno();
    watch::no_exec();
    real::fail(errno);
    failed
}

/// A new program that gets the environment of this one.
fn with_own(call: impl Fn() -> c_int) -> c_int {
    watch::before_exec();
    let carried = retire::before_exec();
    if carried.is_empty() {
        return no_exec(call());
    }
    carried.announce();
    let failed = call();
    let errno = real::errno();
    carried.renounce();
    drop(carried);
    real::fail(errno);
    no_exec(failed)
}

/// A new program that gets an environment of the caller's.
///
/// # Safety
/// `envp` is null or a list that ends with a null pointer.
unsafe fn with_given(envp: *const *const c_char, call: impl Fn(*const *const c_char) -> c_int) -> c_int {
    watch::before_exec();
    let carried = retire::before_exec();
    if carried.is_empty() {
        return no_exec(call(envp));
    }
    // SAFETY: the caller's promise.
    let (list, _text) = unsafe { carried.environment(envp) };
    let failed = call(list.as_ptr());
    let errno = real::errno();
    drop(carried);
    real::fail(errno);
    no_exec(failed)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn execve(path: *const c_char, argv: *const *const c_char, envp: *const *const c_char) -> c_int {
    // SAFETY: the caller's promise, here and in what follows.
    unsafe { with_given(envp, |envp| real::execve(path, argv, envp)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn execv(path: *const c_char, argv: *const *const c_char) -> c_int {
    // SAFETY: as above.
    with_own(|| unsafe { real::execv(path, argv) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn execvp(path: *const c_char, argv: *const *const c_char) -> c_int {
    // SAFETY: as above.
    with_own(|| unsafe { real::execvp(path, argv) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn execvpe(path: *const c_char, argv: *const *const c_char, envp: *const *const c_char) -> c_int {
    // SAFETY: as above.
    unsafe { with_given(envp, |envp| real::execvpe(path, argv, envp)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fexecve(fd: c_int, argv: *const *const c_char, envp: *const *const c_char) -> c_int {
    // SAFETY: as above.
    unsafe { with_given(envp, |envp| real::fexecve(fd, argv, envp)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_spawn(
    pid: *mut pid_t,
    path: *const c_char,
    actions: *const posix_spawn_file_actions_t,
    attributes: *const posix_spawnattr_t,
    argv: *const *mut c_char,
    envp: *const *mut c_char,
) -> c_int {
    drop(retire::before_exec());
    // SAFETY: as above.
    unsafe { real::posix_spawn(pid, path, actions, attributes, argv, envp) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_spawnp(
    pid: *mut pid_t,
    path: *const c_char,
    actions: *const posix_spawn_file_actions_t,
    attributes: *const posix_spawnattr_t,
    argv: *const *mut c_char,
    envp: *const *mut c_char,
) -> c_int {
    drop(retire::before_exec());
    // SAFETY: as above.
    unsafe { real::posix_spawnp(pid, path, actions, attributes, argv, envp) }
}
