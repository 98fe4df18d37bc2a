//! Sockets to which nothing has been done since they were made: any other socket of their kind is as good.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use libc::c_int;

/// It is one.
pub const MADE: u8 = 1;
/// How it was made.
pub const CLOEXEC: u8 = 2;
pub const NONBLOCK: u8 = 4;
/// `TCP_NODELAY` was set since.
pub const NODELAY: u8 = 8;
/// Its family is `AF_INET6`.
pub const V6: u8 = 16;

static SOCKETS: [AtomicU8; 1 << 16] = [const { AtomicU8::new(0) }; 1 << 16];
static ANY: AtomicBool = AtomicBool::new(false);

fn entry(fd: c_int) -> Option<&'static AtomicU8> {
    SOCKETS.get(usize::try_from(fd).ok()?)
}

/// A socket was made.
pub fn made(fd: c_int, family: c_int, kind: c_int, protocol: c_int) {
    let Some(entry) = entry(fd) else { return };
    let tcp = matches!(family, libc::AF_INET | libc::AF_INET6)
        && kind & !(libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK) == libc::SOCK_STREAM
        && matches!(protocol, 0 | libc::IPPROTO_TCP);
    let bit = |flag: c_int, bit| if kind & flag != 0 { bit } else { 0 };
    let v6 = if family == libc::AF_INET6 { V6 } else { 0 };
    let bits = if tcp { MADE | v6 | bit(libc::SOCK_CLOEXEC, CLOEXEC) | bit(libc::SOCK_NONBLOCK, NONBLOCK) } else { 0 };
    entry.store(bits, Ordering::Relaxed);
    if tcp {
        ANY.store(true, Ordering::Relaxed);
    }
}

/// Something was done to it, or its number is somebody else's.
#[inline(always)]
pub fn spoil(fd: c_int) {
    if let Some(entry) = entry(fd)
        && entry.load(Ordering::Relaxed) != 0
    {
        entry.store(0, Ordering::Relaxed);
    }
}

/// Descriptors of this range are closed by a new program from now on.
pub fn closed_by_exec(first: u32, last: u32) {
    if ANY.load(Ordering::Relaxed) {
        for entry in SOCKETS.iter().take((last as usize).saturating_add(1)).skip(first as usize) {
            let marked = |bits| (bits != 0).then_some(bits | CLOEXEC);
            let _ = entry.fetch_update(Ordering::Relaxed, Ordering::Relaxed, marked);
        }
    }
}

/// `TCP_NODELAY` was set or cleared.
pub fn nodelay(fd: c_int, on: bool) {
    if let Some(entry) = entry(fd)
        && entry.load(Ordering::Relaxed) != 0
    {
        if on {
            entry.fetch_or(NODELAY, Ordering::Relaxed);
        } else {
            entry.fetch_and(!NODELAY, Ordering::Relaxed);
        }
    }
}

/// Another process has all of them, too.
pub fn spoil_all() {
    if ANY.swap(false, Ordering::Relaxed) {
        SOCKETS.iter().for_each(|socket| socket.store(0, Ordering::Relaxed));
    }
}

/// What is known of it, which is true no more from now on.
pub fn take(fd: c_int) -> u8 {
    entry(fd).map_or(0, |entry| if entry.load(Ordering::Relaxed) == 0 { 0 } else { entry.swap(0, Ordering::Relaxed) })
}
