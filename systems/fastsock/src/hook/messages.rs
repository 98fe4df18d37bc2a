//! `sendmsg`, `recvmsg`, and several of them at once.

#![allow(clippy::missing_safety_doc, reason = "each is the system's call of the same name, with the system's rules")]

use std::cell::Cell;
use std::time::Duration;

use libc::{c_int, c_uint, iovec, mmsghdr, msghdr, timespec};

use super::{data, receiving, sending};
use crate::{real, retire, slot, watch};

/// The list of a message.
///
/// # Safety
/// The message is one.
unsafe fn list<'a>(message: *const msghdr) -> &'a [iovec] {
    // SAFETY: the caller's promise.
    unsafe { data::list((*message).msg_iov, (*message).msg_iovlen) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> isize {
    // SAFETY: the caller's promise, here and in what follows.
    unsafe {
        if message.is_null() || slot::of(fd).is_none() {
            return real::recvmsg(fd, message, flags);
        }
        let by_kernel = Cell::new(false);
        let got = receiving(fd, list(message), flags, || {
            by_kernel.set(true);
            real::recvmsg(fd, message, flags)
        });
        if got >= 0 && !by_kernel.get() {
            (*message).msg_namelen = 0;
            (*message).msg_controllen = 0;
            (*message).msg_flags = flags & libc::MSG_CMSG_CLOEXEC;
        }
        got
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> isize {
    // SAFETY: as above.
    unsafe {
        if !message.is_null() && (*message).msg_controllen > 0 {
            hand_over(message);
            // What rides beside the bytes is the kernel's.
            if let Some(held) = retire::retire_fd(fd) {
                drop(held);
                return real::sendmsg(fd, message, flags);
            }
        }
        if message.is_null() || slot::of(fd).is_none() {
            return real::sendmsg(fd, message, flags);
        }
        sending(fd, list(message), flags, || real::sendmsg(fd, message, flags))
    }
}

/// Descriptors that a message hands to another process go back to the kernel.
///
/// # Safety
/// The message is one.
unsafe fn hand_over(message: *const msghdr) {
    // SAFETY: the caller's promise; the macros walk the control buffer.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(message);
        while !header.is_null() {
            if (*header).cmsg_level == libc::SOL_SOCKET && (*header).cmsg_type == libc::SCM_RIGHTS {
                let len = ((*header).cmsg_len as usize).saturating_sub(libc::CMSG_LEN(0) as usize);
                for i in 0..len / size_of::<c_int>() {
                    let fd = libc::CMSG_DATA(header).cast::<c_int>().add(i).read_unaligned();
                    // Whoever gets it may change its flags unseen.
                    let Some(held) = retire::lend(fd) else { continue };
                    watch::hand_over(&held);
                }
            }
            header = libc::CMSG_NXTHDR(message.cast_mut(), header);
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sendmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int) -> c_int {
    // SAFETY: as above.
    unsafe {
        for i in 0..count.min(1024) as usize {
            if !messages.is_null() && (*messages.add(i)).msg_hdr.msg_controllen > 0 {
                hand_over(&raw const (*messages.add(i)).msg_hdr);
            }
        }
        if messages.is_null() || slot::of(fd).is_none() {
            return real::sendmmsg(fd, messages, count, flags);
        }
        let errno = real::errno();
        for i in 0..count.min(1024) as usize {
            let message = messages.add(i);
            let sent = sendmsg(fd, &raw const (*message).msg_hdr, flags);
            if sent < 0 {
                if i > 0 {
                    real::fail(errno);
                }
                return if i > 0 { i as c_int } else { -1 };
            }
            (*message).msg_len = sent as c_uint;
        }
        count.min(1024) as c_int
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn recvmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
    limit: *mut timespec,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        // With a time limit it is the kernel's, on a connection that is the kernel's; one that is no time it refuses.
        let (tracked, limited) = (slot::of(fd), limit.as_ref());
        let wrong = limited.is_some_and(|limit| limit.tv_sec < 0 || !(0..1_000_000_000).contains(&limit.tv_nsec));
        let own = tracked.is_some_and(|slot| limited.is_none() || slot.active());
        if messages.is_null() || wrong || !own {
            return real::recvmmsg(fd, messages, count, flags, limit);
        }
        // An error comes first here, even before bytes, and before the end of a stream: so it is with this call alone.
        let (mut error, mut len) = (0 as c_int, size_of::<c_int>() as libc::socklen_t);
        let asked = real::getsockopt(fd, libc::SOL_SOCKET, libc::SO_ERROR, (&raw mut error).cast(), &raw mut len);
        if asked == 0 && error != 0 {
            return real::fail(error) as c_int;
        }
        let errno = real::errno();
        // As the kernel does, looked at after each message: none that waits ends for it.
        let until = limit.as_ref().map(|limit| crate::wait::now().saturating_add(span(limit)));
        for i in 0..count.min(1024) as usize {
            let wait_no_more = i > 0 && flags & libc::MSG_WAITFORONE != 0;
            let flags = flags & !libc::MSG_WAITFORONE | if wait_no_more { libc::MSG_DONTWAIT } else { 0 };
            let message = messages.add(i);
            let got = recvmsg(fd, &raw mut (*message).msg_hdr, flags);
            if got < 0 {
                if i > 0 {
                    real::fail(errno);
                }
                return if i > 0 { i as c_int } else { -1 };
            }
            (*message).msg_len = got as c_uint;
            if let Some(until) = until {
                let left = until.saturating_sub(crate::wait::now());
                *limit = timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
                if left.is_zero() {
                    return i as c_int + 1;
                }
            }
        }
        count.min(1024) as c_int
    }
}

/// A time that is one.
fn span(time: &timespec) -> Duration {
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}
