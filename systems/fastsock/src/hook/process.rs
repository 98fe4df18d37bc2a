//! New processes and programs, and the library's own beginning and end.

#![allow(clippy::missing_safety_doc, reason = "each is the system's call of the same name, with the system's rules")]

use std::sync::atomic::Ordering;

use libc::{c_char, c_int, c_void, pid_t, posix_spawn_file_actions_t, posix_spawnattr_t};

use super::{begun, copies};
use crate::arena::control;
use crate::carry::Carried;
use crate::real::Symbol;
use crate::table::{self, Why};
use crate::{
    activate, budget, guests, late, program, real, recycle, report, retire, sandbox, settings, slot, solo, transmit,
    watch,
};

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
    super::jumps::begin();
    activate::note_process();
    // A thread that read them amid a fork would leave the child without.
    settings::get();
    crate::carry::take();
    // SAFETY: functions that live as long as the process.
    unsafe { libc::pthread_atfork(Some(before_fork), Some(in_parent), Some(in_child)) };
}

extern "C" fn end() {
    if guests::is_one() {
        // What it would end is its maker's.
        return;
    }
    each_active(|fd, slot, memory| {
        transmit::give_back(slot);
        super::life::reset_if_unread(fd, slot);
        control(memory).sides[slot.me()].leaving.fetch_add(1, Ordering::SeqCst);
        control(memory).ways[slot.me()].bytes.ring(slot.peers_event());
        control(memory).ways[1 - slot.me()].room.ring(slot.peers_event());
    });
    late::finish();
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

/// Two processes hold every connection. Those that are active know how to share; the others stay with the kernel as long as two hold them, as neither
/// process could know when no thread of the other is in the kernel.
fn after_fork() {
    slot::each(0, usize::MAX, |fd| {
        let Some(slot) = slot::of(fd) else { return };
        match slot.parts() {
            Some(_) if slot.active() => recycle::plain(fd, &slot),
            None if slot.holders.several() => {
                slot.eager.store(0, Ordering::Relaxed);
                recycle::plain(fd, &slot);
            }
            _ => activate::give_up(&slot, Why::Forked),
        }
    });
}

// Handlers of signals fork, also amid the C library's `malloc`: what runs from here to the new program takes no memory.
extern "C" fn before_fork() {
    // In the order in which calls take the locks.
    watch::before_fork();
    recycle::before_fork();
    // Before there is another process: from then on the locks are taken.
    slot::each_meant(|slot| activate::before_fork(slot));
    budget::before_fork();
    late::before_fork();
}

extern "C" fn in_parent() {
    late::after_fork(false);
    budget::after_fork(false);
    watch::after_fork(false);
    recycle::after_fork(false);
    after_fork();
}

pub extern "C" fn in_child() {
    // First: what it wrote to is not here.
    report::in_child();
    begun::in_child();
    late::after_fork(true);
    budget::after_fork(true);
    watch::after_fork(true);
    activate::note_process();
    recycle::after_fork(true);
    // A handler may have interrupted a call of this thread's, which goes on.
    if !super::signals::within() {
        slot::only_thread();
        watch::only_thread();
    }
    after_fork();
    each_active(|fd, slot, _| {
        report::begin(fd, slot);
        report::state(slot, table::FAST);
    });
}

// A child of vfork uses its parent's memory: what it closes, the parent would take for closed. A fork is what POSIX lets a vfork be.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn vfork() -> pid_t {
    // SAFETY: takes nothing.
    unsafe { fork() }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn fork() -> pid_t {
    // SAFETY: takes nothing.
    not_less(unsafe { real::fork() })
}

/// What a fork returns. A child that did not come to be holds nothing.
fn not_less(child: pid_t) -> pid_t {
    if child < 0 {
        let errno = real::errno();
        slot::each_meant(|slot| slot.holders.one_less());
        real::fail(errno);
    }
    child
}

// The C library runs no handlers of forks for this one.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn _Fork() -> pid_t {
    forked(|| {
        // SAFETY: takes nothing.
        let child = unsafe { real::_Fork() };
        if child == 0 {
            in_child();
        }
        child
    })
}

/// A call that makes a process as a fork does, for which the C library runs no handlers. `call` runs [`in_child`] there.
pub fn forked(call: impl FnOnce() -> pid_t) -> pid_t {
    before_fork();
    let child = call();
    let errno = real::errno();
    if child != 0 {
        in_parent();
    }
    real::fail(errno);
    not_less(child)
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __fork() -> pid_t {
    // SAFETY: takes nothing.
    unsafe { fork() }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __vfork() -> pid_t {
    // SAFETY: takes nothing.
    unsafe { fork() }
}

/// This process is about to end by a call of the system's, without what runs at an orderly end: what its peers have asked for goes first, and it will hold nothing
/// any more.
pub fn ends() {
    if sandbox::entered() || !activate::own_process() {
        return;
    }
    retire::before_end();
    // Another thread might still be in a call on a connection that others take for theirs then.
    if solo::alone() {
        slot::each_meant(|slot| slot.holders.leave());
    }
    late::finish();
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn _exit(status: c_int) -> ! {
    ends();
    // SAFETY: ends the process, as the system's call of this name does.
    unsafe { real::by_number()(libc::SYS_exit_group, status) };
    std::process::abort()
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn _Exit(status: c_int) -> ! {
    // SAFETY: as above.
    unsafe { _exit(status) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn setns(fd: c_int, kind: c_int) -> c_int {
    recycle::moved();
    // SAFETY: the caller's promise, here and in what follows.
    unsafe { real::setns(fd, kind) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn unshare(flags: c_int) -> c_int {
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
fn with_own(knows_rings: impl FnOnce() -> bool, call: impl Fn() -> c_int) -> c_int {
    if guests::is_one() {
        // The environment is its maker's, too, and so would be the memory of what is carried.
        retire::before_spawn();
        return call();
    }
    watch::before_exec();
    let carried = retire::before_exec(knows_rings);
    if carried.is_empty() {
        return no_exec(call());
    }
    // SAFETY: the C library's list.
    let failed = unsafe { carried.announced(call) };
    let errno = real::errno();
    drop(carried);
    real::fail(errno);
    no_exec(failed)
}

/// A new program that gets an environment of the caller's.
///
/// # Safety
/// `envp` is null or a list that ends with a null pointer.
unsafe fn with_given(
    knows_rings: impl FnOnce() -> bool,
    envp: *const *const c_char,
    call: impl Fn(*const *const c_char) -> c_int,
) -> c_int {
    if guests::is_one() {
        retire::before_spawn();
        return call(envp);
    }
    watch::before_exec();
    let carried = retire::before_exec(knows_rings);
    if carried.is_empty() {
        return no_exec(call(envp));
    }
    // SAFETY: the caller's promise.
    let list = unsafe { carried.environment(envp) };
    let failed = list.as_ref().map_or_else(Carried::unannounced, |list| call(list.start()));
    let errno = real::errno();
    drop(carried);
    real::fail(errno);
    no_exec(failed)
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn execve(
    path: *const c_char,
    argv: *const *const c_char,
    envp: *const *const c_char,
) -> c_int {
    // SAFETY: the caller's promise, here and in what follows.
    unsafe { with_given(|| program::of_path(path, Some(envp)), envp, |envp| real::execve(path, argv, envp)) }
}

/// [`execve`], where the peer sends what is left in the rings if it can, also to a program that has the library: a shell could hand nothing on to one that has none.
pub unsafe fn execle(path: *const c_char, argv: *const *const c_char, envp: *const *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { with_given(|| false, envp, |envp| real::execve(path, argv, envp)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn execv(path: *const c_char, argv: *const *const c_char) -> c_int {
    // SAFETY: as above.
    unsafe { with_own(|| program::of_path(path, None), || real::execv(path, argv)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn execvp(path: *const c_char, argv: *const *const c_char) -> c_int {
    // SAFETY: as above.
    unsafe { with_own(|| program::of_name(path, None), || real::execvp(path, argv)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn execvpe(
    path: *const c_char,
    argv: *const *const c_char,
    envp: *const *const c_char,
) -> c_int {
    // SAFETY: as above.
    unsafe { with_given(|| program::of_name(path, Some(envp)), envp, |envp| real::execvpe(path, argv, envp)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn fexecve(fd: c_int, argv: *const *const c_char, envp: *const *const c_char) -> c_int {
    // SAFETY: as above.
    unsafe { with_given(|| program::of_file(fd, envp), envp, |envp| real::fexecve(fd, argv, envp)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn execveat(
    folder: c_int,
    path: *const c_char,
    argv: *const *const c_char,
    envp: *const *const c_char,
    flags: c_int,
) -> c_int {
    // SAFETY: as above.
    let knows_rings = || unsafe { program::of_place(folder, path, envp, flags) };
    // SAFETY: as above.
    unsafe { with_given(knows_rings, envp, |envp| real::execveat(folder, path, argv, envp, flags)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn posix_spawn(
    pid: *mut pid_t,
    path: *const c_char,
    actions: *const posix_spawn_file_actions_t,
    attributes: *const posix_spawnattr_t,
    argv: *const *mut c_char,
    envp: *const *mut c_char,
) -> c_int {
    retire::before_spawn();
    copies::lend(actions);
    // SAFETY: as above.
    unsafe { real::posix_spawn(pid, path, actions, attributes, argv, envp) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn posix_spawnp(
    pid: *mut pid_t,
    path: *const c_char,
    actions: *const posix_spawn_file_actions_t,
    attributes: *const posix_spawnattr_t,
    argv: *const *mut c_char,
    envp: *const *mut c_char,
) -> c_int {
    retire::before_spawn();
    copies::lend(actions);
    // SAFETY: as above.
    unsafe { real::posix_spawnp(pid, path, actions, attributes, argv, envp) }
}

/// `pidfd_spawn` and `pidfd_spawnp` of glibc 2.39. Where the C library has none, a program that looks for them finds this library's, which says so.
type SpawnByDescriptor = unsafe extern "C-unwind" fn(
    *mut c_int,
    *const c_char,
    *const posix_spawn_file_actions_t,
    *const posix_spawnattr_t,
    *const *mut c_char,
    *const *mut c_char,
) -> c_int;

static PIDFD_SPAWN: Symbol = Symbol::new(c"pidfd_spawn");
static PIDFD_SPAWNP: Symbol = Symbol::new(c"pidfd_spawnp");

/// What [`PIDFD_SPAWN`] or [`PIDFD_SPAWNP`] is, before which connections go back as before `posix_spawn`.
fn spawn_by_descriptor(which: &Symbol, actions: *const posix_spawn_file_actions_t) -> Option<SpawnByDescriptor> {
    let found = which.find()?;
    retire::before_spawn();
    copies::lend(actions);
    // SAFETY: the symbols of these names have this type: it is the system's interface.
    Some(unsafe { std::mem::transmute::<*mut c_void, SpawnByDescriptor>(found.as_ptr()) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pidfd_spawn(
    pidfd: *mut c_int,
    path: *const c_char,
    actions: *const posix_spawn_file_actions_t,
    attributes: *const posix_spawnattr_t,
    argv: *const *mut c_char,
    envp: *const *mut c_char,
) -> c_int {
    let Some(spawn) = spawn_by_descriptor(&PIDFD_SPAWN, actions) else { return libc::ENOSYS };
    // SAFETY: as above.
    unsafe { spawn(pidfd, path, actions, attributes, argv, envp) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pidfd_spawnp(
    pidfd: *mut c_int,
    file: *const c_char,
    actions: *const posix_spawn_file_actions_t,
    attributes: *const posix_spawnattr_t,
    argv: *const *mut c_char,
    envp: *const *mut c_char,
) -> c_int {
    let Some(spawn) = spawn_by_descriptor(&PIDFD_SPAWNP, actions) else { return libc::ENOSYS };
    // SAFETY: as above.
    unsafe { spawn(pidfd, file, actions, attributes, argv, envp) }
}

// The C library begins the shell by calls of its own.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn system(command: *const c_char) -> c_int {
    if !command.is_null() {
        retire::before_spawn();
    }
    // SAFETY: as above.
    unsafe { real::system(command) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn popen(command: *const c_char, mode: *const c_char) -> *mut libc::FILE {
    retire::before_spawn();
    // SAFETY: as above.
    unsafe { real::popen(command, mode) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn _IO_popen(command: *const c_char, mode: *const c_char) -> *mut libc::FILE {
    // SAFETY: as above.
    unsafe { popen(command, mode) }
}
