//! Calls that a program makes by their number (`syscall`). Those that the library serves by name are the same calls here: of others it knows nothing that a connection could
//! lose bytes by. What asks the system for others to be made unseen (io_uring, `io_submit`) gives its connections to the kernel first.

use std::ptr::{with_exposed_provenance as at, with_exposed_provenance_mut as at_mut};
use std::time::{Duration, Instant};

use libc::{c_int, c_long, c_uint, sigset_t, timespec};

use super::{data, descriptors, epoll, life, messages, other, poll, process, select};
use crate::section::Uncancelled;
use crate::{real, retire, sandbox, slot, watch};

/// Bytes of a mask of signals, as the system has it.
const MASK: usize = 8;

/// A call is about to be made. Whether it is to be made by [`served`].
///
/// # Safety
/// The arguments are those of the call.
pub unsafe fn before(number: c_long, first: usize, second: usize) -> bool {
    let fd = first as c_int;
    match number {
        libc::SYS_read
        | libc::SYS_write
        | libc::SYS_readv
        | libc::SYS_writev
        | libc::SYS_preadv2
        | libc::SYS_pwritev2
        | libc::SYS_recvfrom
        | libc::SYS_sendto
        | libc::SYS_recvmsg
        | libc::SYS_recvmmsg
        | libc::SYS_shutdown => slot::tracked(fd),
        // SAFETY: the caller's promise.
        libc::SYS_poll | libc::SYS_ppoll => unsafe { poll::concerns(at_mut(first), second as u64) },
        libc::SYS_epoll_wait | libc::SYS_epoll_pwait | libc::SYS_epoll_pwait2 => watch::set_of(fd).is_some(),
        // They may hand descriptors to others, make or close some, or wait for several.
        libc::SYS_sendmsg
        | libc::SYS_sendmmsg
        | libc::SYS_select
        | libc::SYS_pselect6
        | libc::SYS_close
        | libc::SYS_close_range
        | libc::SYS_dup
        | libc::SYS_dup2
        | libc::SYS_dup3
        | libc::SYS_fcntl
        | libc::SYS_ioctl
        | libc::SYS_getsockopt
        | libc::SYS_setsockopt
        | libc::SYS_socket
        | libc::SYS_bind
        | libc::SYS_listen
        | libc::SYS_connect
        | libc::SYS_accept
        | libc::SYS_accept4
        | libc::SYS_epoll_create
        | libc::SYS_epoll_create1
        | libc::SYS_epoll_ctl
        | libc::SYS_sendfile
        | libc::SYS_splice
        | libc::SYS_setns
        | libc::SYS_unshare
        | libc::SYS_execve
        | libc::SYS_execveat
        | libc::SYS_exit_group
        | libc::SYS_io_submit
        | libc::SYS_io_uring_setup
        | libc::SYS_io_uring_enter => true,
        _ => false,
    }
}

/// `syscall`, for one of those.
pub unsafe extern "C-unwind" fn served(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> c_long {
    // The C library's is no point at which a thread that was cancelled ends.
    let _whole = Uncancelled::begin();
    let fd = a as c_int;
    // SAFETY: the caller's promise, here and in what follows: each call is made with what it was given.
    let plain = || unsafe { real::syscall(number, a, b, c, d, e, f) };
    // SAFETY: as above.
    let done: c_int = unsafe {
        match number {
            libc::SYS_read => return data::read(fd, at_mut(b), c) as c_long,
            libc::SYS_write => return data::write(fd, at(b), c) as c_long,
            libc::SYS_readv => return data::readv(fd, at(b), c as c_int) as c_long,
            libc::SYS_writev => return data::writev(fd, at(b), c as c_int) as c_long,
            // The place is one word here; the fifth argument is that of systems of 32 bits.
            libc::SYS_preadv2 => return data::preadv2(fd, at(b), c as c_int, d as i64, f as c_int) as c_long,
            libc::SYS_pwritev2 => return data::pwritev2(fd, at(b), c as c_int, d as i64, f as c_int) as c_long,
            libc::SYS_recvfrom => return data::recvfrom(fd, at_mut(b), c, d as c_int, at_mut(e), at_mut(f)) as c_long,
            libc::SYS_sendto => return data::sendto(fd, at(b), c, d as c_int, at(e), f as c_uint) as c_long,
            libc::SYS_recvmsg => return messages::recvmsg(fd, at_mut(b), c as c_int) as c_long,
            libc::SYS_sendmsg => return messages::sendmsg(fd, at(b), c as c_int) as c_long,
            libc::SYS_sendfile => return other::sendfile(fd, b as c_int, at_mut(c), d) as c_long,
            libc::SYS_splice => {
                return other::splice(fd, at_mut(b), c as c_int, at_mut(d), e, f as c_uint) as c_long;
            }
            libc::SYS_recvmmsg => messages::recvmmsg(fd, at_mut(b), c as c_uint, d as c_int, at_mut(e)),
            libc::SYS_sendmmsg => messages::sendmmsg(fd, at_mut(b), c as c_uint, d as c_int),
            libc::SYS_getsockopt => descriptors::getsockopt(fd, b as c_int, c as c_int, at_mut(d), at_mut(e)),
            libc::SYS_setsockopt => descriptors::setsockopt(fd, b as c_int, c as c_int, at(d), e as c_uint),
            libc::SYS_shutdown => life::shutdown(fd, b as c_int),
            libc::SYS_close => life::close(fd),
            libc::SYS_close_range => life::close_range(a as c_uint, b as c_uint, c as c_int),
            libc::SYS_dup => descriptors::dup(fd),
            libc::SYS_dup2 => descriptors::dup2(fd, b as c_int),
            libc::SYS_dup3 => descriptors::dup3(fd, b as c_int, c as c_int),
            libc::SYS_fcntl => descriptors::fcntl(fd, b as c_int, c),
            libc::SYS_ioctl => descriptors::ioctl(fd, b as u64, c),
            libc::SYS_socket => life::socket(fd, b as c_int, c as c_int),
            libc::SYS_bind => life::bind(fd, at(b), c as c_uint),
            libc::SYS_listen => life::listen(fd, b as c_int),
            libc::SYS_connect => life::connect(fd, at(b), c as c_uint),
            libc::SYS_accept => life::accept(fd, at_mut(b), at_mut(c)),
            libc::SYS_accept4 => life::accept4(fd, at_mut(b), at_mut(c), d as c_int),
            libc::SYS_epoll_create => epoll::epoll_create(fd),
            libc::SYS_epoll_create1 => epoll::epoll_create1(fd),
            libc::SYS_epoll_ctl => epoll::epoll_ctl(fd, b as c_int, c as c_int, at_mut(d)),
            libc::SYS_poll => poll::poll(at_mut(a), b as u64, c as c_int),
            libc::SYS_select => select::select(fd, at_mut(b), at_mut(c), at_mut(d), at_mut(e)),
            libc::SYS_epoll_wait => epoll::epoll_wait(fd, at_mut(b), c as c_int, d as c_int),
            libc::SYS_ppoll => {
                let wait = |mask| timed(at_mut(c), |time| poll::ppoll(at_mut(a), b as u64, time, mask));
                with_mask(d, e, wait).unwrap_or_else(|| plain() as c_int)
            }
            libc::SYS_pselect6 => {
                let [mask, len] = if f == 0 { [0, MASK] } else { at::<[usize; 2]>(f).read_unaligned() };
                let wait =
                    |mask| timed(at_mut(e), |time| select::pselect(fd, at_mut(b), at_mut(c), at_mut(d), time, mask));
                with_mask(mask, len, wait).unwrap_or_else(|| plain() as c_int)
            }
            libc::SYS_epoll_pwait => {
                let wait = |mask| epoll::epoll_pwait(fd, at_mut(b), c as c_int, d as c_int, mask);
                with_mask(e, f, wait).unwrap_or_else(|| plain() as c_int)
            }
            libc::SYS_epoll_pwait2 => {
                let wait = |mask| epoll::epoll_pwait2(fd, at_mut(b), c as c_int, at(d), mask);
                with_mask(e, f, wait).unwrap_or_else(|| plain() as c_int)
            }
            libc::SYS_setns => process::setns(fd, b as c_int),
            libc::SYS_unshare => process::unshare(fd),
            libc::SYS_execve => process::execve(at(a), at(b), at(c)),
            libc::SYS_execveat => process::execveat(fd, at(b), at(c), at(d), e as c_int),
            libc::SYS_exit_group => {
                process::ends();
                return plain();
            }
            libc::SYS_io_submit => {
                submitted(b, c);
                return plain();
            }
            libc::SYS_io_uring_setup => {
                let ring = plain();
                ring_made(ring >= 0);
                return ring;
            }
            // One that was made where nobody saw it.
            libc::SYS_io_uring_enter => {
                ring_made(true);
                return plain();
            }
            _ => return plain(),
        }
    };
    c_long::from(done)
}

/// There is a ring of the system's for calls, if there is: any descriptor could be named there from now on.
pub fn ring_made(made: bool) {
    if made && !sandbox::entered() {
        let errno = real::errno();
        retire::for_ring();
        real::fail(errno);
    }
}

/// Runs `wait` with a mask of signals of the C library's form. None if the system is to refuse this one.
///
/// # Safety
/// At `mask` are as many bytes as `len` says, if it is not 0.
unsafe fn with_mask(mask: usize, len: usize, wait: impl FnOnce(*const sigset_t) -> c_int) -> Option<c_int> {
    if mask == 0 {
        return Some(wait(std::ptr::null()));
    }
    if len != MASK {
        return None;
    }
    // SAFETY: the caller's promise; zero is a value of a set, which begins with the system's.
    let set = unsafe {
        let mut set: sigset_t = std::mem::zeroed();
        (&raw mut set).cast::<[u8; MASK]>().write_unaligned(at::<[u8; MASK]>(mask).read_unaligned());
        set
    };
    Some(wait(&raw const set))
}

/// Waits for as long as `time` says, which says afterwards what was left of it: the system's call does, the C library's of the same name does not.
///
/// # Safety
/// `time` is null or points to one.
unsafe fn timed(time: *mut timespec, wait: impl FnOnce(*const timespec) -> c_int) -> c_int {
    let begun = Instant::now();
    let done = wait(time);
    // SAFETY: the caller's promise.
    if let Some(time) = unsafe { time.as_mut() }
        && let Some(limit) = poll::duration(time)
    {
        *time = poll::timespec_of(left(limit, begun.elapsed()));
    }
    done
}

fn left(limit: Duration, passed: Duration) -> Duration {
    limit.saturating_sub(passed)
}

/// How far behind the beginning of a request (`struct iocb` of linux/aio_abi.h) its descriptor stands.
const DESCRIPTOR: usize = 20;

/// Requests that the system serves by itself, `count` of them, each by its address in the list.
///
/// # Safety
/// They are such.
unsafe fn submitted(count: usize, list: usize) {
    if list == 0 || count as isize <= 0 {
        return;
    }
    for number in 0..count {
        // SAFETY: the caller's promise.
        let fd = unsafe {
            let request = at::<usize>(list).add(number).read_unaligned();
            if request == 0 {
                return;
            }
            at::<c_int>(request + DESCRIPTOR).read_unaligned()
        };
        retire::hand_back(fd);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_of_the_systems_becomes_one_of_the_c_librarys() {
        // One signal, and behind it what is no part of the mask.
        let given = [1_u64 << (libc::SIGUSR1 - 1), u64::MAX];
        let mask = given.as_ptr().expose_provenance();
        let look = |set: *const sigset_t| {
            // SAFETY: null or a set.
            [libc::SIGUSR1, libc::SIGUSR2]
                .map(|signal| unsafe { !set.is_null() && libc::sigismember(set, signal) == 1 })
        };
        let mut seen = None;
        let mut wait = |set| {
            seen = Some(look(set));
            7
        };
        // SAFETY: a mask of this length, or none.
        unsafe {
            assert_eq!(with_mask(mask, 4, &mut wait), None, "the system refuses it");
            assert_eq!(with_mask(mask, MASK, &mut wait), Some(7));
        }
        assert_eq!(seen, Some([true, false]));
        // SAFETY: as above.
        assert_eq!(unsafe { with_mask(0, 0, |set| c_int::from(set.is_null())) }, Some(1));
    }

    #[test]
    fn what_is_left_of_a_time_is_told() {
        assert_eq!(left(Duration::from_secs(5), Duration::from_secs(2)), Duration::from_secs(3));
        assert_eq!(left(Duration::from_secs(2), Duration::from_secs(5)), Duration::ZERO);
        let mut time = timespec { tv_sec: 5, tv_nsec: 0 };
        // SAFETY: a time, and none.
        unsafe {
            assert_eq!(timed(&raw mut time, |at| (*at).tv_sec as c_int), 5);
            assert_eq!(timed(std::ptr::null_mut(), |at| c_int::from(at.is_null())), 1);
        }
        assert!(poll::duration(&time) < Some(Duration::from_secs(5)), "{time:?}");
    }
}
