//! Several datagrams in one system call: `sendmmsg` and `recvmmsg`, and the kernel's cutting and joining of datagrams of one size
//! (`UDP_SEGMENT` and `UDP_GRO` of udp(7)).

use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};

use crate::sys;

/// Most datagrams of one call: as many as the kernel cuts from one send (`UDP_MAX_SEGMENTS` of the kernels that cut fewest).
pub(super) const MOST: usize = 64;

/// Options of `SOL_UDP`, as in linux/udp.h.
const SEGMENT: libc::c_int = 103;
const GRO: libc::c_int = 104;

fn header() -> libc::msghdr {
    // SAFETY: a header of zeros is an empty one.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

/// Sends datagrams of these lengths, at most [`MOST`], that lie one behind the other in `all`: how many went.
pub(super) fn send(fd: BorrowedFd<'_>, all: &[u8], lens: &[usize], flags: SendFlags) -> Result<usize, Errno> {
    let mut parts = [libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; MOST];
    let mut calls = [libc::mmsghdr { msg_hdr: header(), msg_len: 0 }; MOST];
    let (mut left, mut many) = (all, 0);
    for (len, (part, call)) in lens.iter().zip(parts.iter_mut().zip(&mut calls)) {
        let Some((this, rest)) = left.split_at_checked(*len) else { break };
        *part = libc::iovec { iov_base: this.as_ptr().cast_mut().cast(), iov_len: this.len() };
        call.msg_hdr.msg_iov = part;
        call.msg_hdr.msg_iovlen = 1;
        left = rest;
        many += 1;
    }
    // SAFETY: `many` headers each name one part, which lies within `all`; the kernel reads from it and writes the headers' lengths alone.
    let sent = unsafe { libc::sendmmsg(fd.as_raw_fd(), calls.as_mut_ptr(), many, flags.bits() as libc::c_int) };
    usize::try_from(sent).map_err(|_| sys::last_error())
}

/// Sends datagrams of `each` bytes that lie one behind the other in `all`, of which the last may be shorter, as one that the kernel or the
/// device cuts: all or none.
pub(super) fn send_cut(fd: BorrowedFd<'_>, all: &[u8], each: u16, flags: SendFlags) -> Result<(), Errno> {
    // Aligned as control messages must be; room for one of two bytes.
    let mut control = [0u64; 4];
    let mut part = libc::iovec { iov_base: all.as_ptr().cast_mut().cast(), iov_len: all.len() };
    let mut header = header();
    header.msg_iov = &mut part;
    header.msg_iovlen = 1;
    header.msg_control = control.as_mut_ptr().cast();
    // SAFETY: the space is that of one control message of two bytes, which `control` has room for; the header's length says so before the
    // macros look, and the message that they find is written whole.
    let sent = unsafe {
        header.msg_controllen = libc::CMSG_SPACE(size_of::<u16>() as u32) as usize;
        let message = libc::CMSG_FIRSTHDR(&header);
        (*message).cmsg_level = libc::SOL_UDP;
        (*message).cmsg_type = SEGMENT;
        (*message).cmsg_len = libc::CMSG_LEN(size_of::<u16>() as u32) as usize;
        libc::CMSG_DATA(message).cast::<u16>().write_unaligned(each);
        libc::sendmsg(fd.as_raw_fd(), &header, flags.bits() as libc::c_int)
    };
    if sent < 0 { Err(sys::last_error()) } else { Ok(()) }
}

/// Receives datagrams into places of `each` bytes that lie one behind the other in `memory`, and puts their lengths into `lens`, which are
/// those on the wire where `flags` say so ([`RecvFlags::TRUNC`]). Waits for the first alone.
pub(super) fn receive(
    fd: BorrowedFd<'_>,
    memory: &mut [u8],
    each: usize,
    lens: &mut Vec<usize>,
    flags: RecvFlags,
) -> Result<(), Errno> {
    let mut parts = [libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; MOST];
    let mut calls = [libc::mmsghdr { msg_hdr: header(), msg_len: 0 }; MOST];
    let mut many = 0;
    for (place, (part, call)) in memory.chunks_exact_mut(each).zip(parts.iter_mut().zip(&mut calls)) {
        *part = libc::iovec { iov_base: place.as_mut_ptr().cast(), iov_len: place.len() };
        call.msg_hdr.msg_iov = part;
        call.msg_hdr.msg_iovlen = 1;
        many += 1;
    }
    let flags = flags.bits() as libc::c_int | libc::MSG_WAITFORONE;
    // SAFETY: `many` headers each name one place within `memory`, which is borrowed for the call; no time-out is given.
    let got = unsafe { libc::recvmmsg(fd.as_raw_fd(), calls.as_mut_ptr(), many, flags, std::ptr::null_mut()) };
    let got = usize::try_from(got).map_err(|_| sys::last_error())?;
    lens.extend(calls[..got].iter().map(|call| call.msg_len as usize));
    Ok(())
}

/// Lets the kernel join datagrams of one size that come together ([`receive_joined`] takes them apart).
pub(super) fn allow_joined(fd: BorrowedFd<'_>) -> Result<(), Errno> {
    let on: libc::c_int = 1;
    // SAFETY: the option's value is an int, which lives through the call.
    let outcome = unsafe {
        let at = (&raw const on).cast();
        libc::setsockopt(fd.as_raw_fd(), libc::SOL_UDP, GRO, at, size_of::<libc::c_int>() as libc::socklen_t)
    };
    if outcome == 0 { Ok(()) } else { Err(sys::last_error()) }
}

/// Receives one datagram, or several that the kernel joined, into `memory`, and puts their lengths into `lens`.
pub(super) fn receive_joined(
    fd: BorrowedFd<'_>,
    memory: &mut [u8],
    lens: &mut Vec<usize>,
    flags: RecvFlags,
) -> Result<(), Errno> {
    let mut control = [0u64; 8];
    let mut part = libc::iovec { iov_base: memory.as_mut_ptr().cast(), iov_len: memory.len() };
    let mut header = header();
    header.msg_iov = &mut part;
    header.msg_iovlen = 1;
    header.msg_control = control.as_mut_ptr().cast();
    header.msg_controllen = size_of_val(&control);
    // SAFETY: the header names `memory`, which is borrowed for the call, and the control messages' own place.
    let got = unsafe { libc::recvmsg(fd.as_raw_fd(), &mut header, flags.bits() as libc::c_int) };
    let got = usize::try_from(got).map_err(|_| sys::last_error())?;
    let mut each = got;
    // SAFETY: the kernel wrote well-formed control messages into `control` and their length into the header; the macros stay within it.
    unsafe {
        let mut at = libc::CMSG_FIRSTHDR(&header);
        while let Some(message) = at.as_ref() {
            let whole = message.cmsg_len >= libc::CMSG_LEN(size_of::<libc::c_int>() as u32) as usize;
            if whole && (message.cmsg_level, message.cmsg_type) == (libc::SOL_UDP, GRO) {
                let size = libc::CMSG_DATA(at).cast::<libc::c_int>().read_unaligned();
                each = usize::try_from(size).ok().filter(|n| *n > 0).unwrap_or(got);
            }
            at = libc::CMSG_NXTHDR(&header, at);
        }
    }
    let mut left = got;
    while left > each {
        lens.push(each);
        left -= each;
    }
    // A lone datagram may be empty.
    lens.push(left);
    Ok(())
}
