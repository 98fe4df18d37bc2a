//! How the two sides of a connection find each other, without a byte on it.
//!
//! The side that connected listens under an abstract name made of both ends' addresses; the side that accepted knows the same addresses
//! and looks whether there is such a name. If not, the peer has no library, or not yet. Each asks the kernel whose process the other
//! is. The accepting side makes the memory and hands it over.

use std::ffi::OsString;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use am::memory::Memory;
use libc::c_int;

use crate::sequence::Begins;
use crate::tcp::Ends;
use crate::{arena, bell, own, real, turns};

/// Version of everything that two libraries must agree on.
pub const VERSION: u8 = 6;
/// Descriptors that change hands: the memory, the event descriptors of both sides, and the one of the accepting side's listener.
const FILES: usize = 4;

/// Bytes of an offer at a file: the version, and the numbers of the connection.
const SAYS: usize = 9;

type Address = (libc::sockaddr_un, libc::socklen_t);

/// The abstract name of a connection, from the side that connected.
fn name(connected: &Ends) -> Address {
    // SAFETY: integers only.
    let user = unsafe { libc::geteuid() };
    abstract_name(&format!("fastsock/{VERSION}/{user}/{}/{}", connected.here, connected.there))
}

/// A name in the abstract space, which is gone with its last holder.
pub fn abstract_name(text: &str) -> Address {
    // SAFETY: integers only, for which zero is a value.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let len = text.len().min(address.sun_path.len() - 1);
    for (to, from) in address.sun_path[1..].iter_mut().zip(text.bytes()) {
        *to = from.cast_signed();
    }
    (address, (std::mem::offset_of!(libc::sockaddr_un, sun_path) + 1 + len) as libc::socklen_t)
}

/// The name of a file. None of one whose path is too long.
fn file_name(file: &Path) -> Option<Address> {
    let path = file.as_os_str().as_bytes();
    // SAFETY: integers only, for which zero is a value.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    // With a zero behind it.
    for (to, from) in address.sun_path.get_mut(..path.len() + 1)?.iter_mut().zip(path) {
        *to = from.cast_signed();
    }
    Some((address, (std::mem::offset_of!(libc::sockaddr_un, sun_path) + path.len() + 1) as libc::socklen_t))
}

fn socket() -> Option<OwnedFd> {
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: a new descriptor.
    owned(unsafe { libc::socket(libc::AF_UNIX, kind, 0) })
}

fn owned(fd: c_int) -> Option<OwnedFd> {
    // SAFETY: a new descriptor, this library's own.
    (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// What both sides share.
pub struct Met {
    pub memory: Memory,
    /// Event descriptors: of the side that accepted, and of the one that connected.
    pub events: [OwnedFd; 2],
    /// Event descriptor of the listener, for who connects again.
    pub door: Option<OwnedFd>,
}

/// Whether the other end of a socket is a process of the same effective user.
fn same_user(fd: c_int) -> bool {
    let mut peer = libc::ucred { pid: 0, uid: u32::MAX, gid: 0 };
    let mut len = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: room for one ucred; a question about this process.
    unsafe {
        real::getsockopt(fd, libc::SOL_SOCKET, libc::SO_PEERCRED, (&raw mut peer).cast(), &raw mut len) == 0
            && peer.uid == libc::geteuid()
    }
}

/// The connecting side may be found from now on.
pub fn listen(ends: &Ends) -> Option<c_int> {
    own::keep(listening(&name(ends))?)
}

fn listening((address, len): &Address) -> Option<OwnedFd> {
    let socket = socket()?;
    // SAFETY: an address of this length.
    let bound = unsafe {
        libc::bind(socket.as_raw_fd(), std::ptr::from_ref(address).cast(), *len) == 0
            && libc::listen(socket.as_raw_fd(), 1) == 0
    };
    bound.then_some(socket)
}

/// The same at a file; one that nobody listens at any more makes way.
pub fn listen_at(file: &Path) -> Option<OwnedFd> {
    let name = file_name(file)?;
    listening(&name).or_else(|| {
        if is_left(file) {
            std::fs::remove_file(file).ok()?;
        }
        listening(&name)
    })
}

/// Whether a socket file is there that nobody listens at.
pub fn is_left(file: &Path) -> bool {
    let (Some(socket), Some((address, len))) = (socket(), file_name(file)) else { return false };
    // SAFETY: an address of this length.
    let refused = unsafe { real::connect(socket.as_raw_fd(), (&raw const address).cast(), len) != 0 };
    refused && real::errno() == libc::ECONNREFUSED
}

/// The file that a socket listens at.
pub fn file_of(knock: c_int) -> Option<PathBuf> {
    // SAFETY: integers only, for which zero is a value.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    let mut len = size_of::<libc::sockaddr_un>() as libc::socklen_t;
    // SAFETY: room for any name of this kind.
    let known = unsafe { libc::getsockname(knock, (&raw mut address).cast(), &raw mut len) == 0 };
    let path: Vec<u8> = address.sun_path.iter().map(|c| c.cast_unsigned()).take_while(|&c| c != 0).collect();
    (known && !path.is_empty()).then(|| OsString::from_vec(path).into())
}

/// The accepting side looks for the connecting one; if it is there, makes memory and hands it over. `door` is the event descriptor of its
/// listener, if the connection may be used again.
pub fn offer(ends: &Ends, door: Option<c_int>) -> Option<Met> {
    let socket = reach(name(&Ends { here: ends.there.clone(), there: ends.here.clone() }))?;
    make(&socket, door, &[VERSION])
}

/// The same where the connecting side listens at a file. It is told the numbers of this side's connection.
pub fn offer_at(file: &Path, begins: Begins) -> Option<Met> {
    let socket = reach(file_name(file)?)?;
    let mut says = [VERSION; SAYS];
    says[1..].copy_from_slice(&begins.word().to_le_bytes());
    make(&socket, None, &says)
}

/// A connection to a process of this user's that listens there.
fn reach((address, len): Address) -> Option<OwnedFd> {
    let socket = socket()?;
    // SAFETY: an address of this length.
    let found = unsafe { real::connect(socket.as_raw_fd(), (&raw const address).cast(), len) == 0 };
    (found && same_user(socket.as_raw_fd())).then_some(socket)
}

/// Makes the memory, and hands it over.
fn make(socket: &OwnedFd, door: Option<c_int>, says: &[u8]) -> Option<Met> {
    let (memory, file) = Memory::create_partly("fastsock", arena::LEN, arena::FIRST).ok()?;
    arena::mark(&memory);
    let events = [bell::event()?, bell::event()?];
    if door.is_none() {
        arena::control(&memory).turn.number.store(turns::GONE, Ordering::Relaxed);
    }
    let [file, first, second] = [&file, &events[0], &events[1]].map(AsRawFd::as_raw_fd);
    // The place of a door that there is not is filled.
    send(socket, says, [file, first, second, door.unwrap_or(first)]).then_some(Met { memory, events, door: None })
}

/// The connecting side takes the memory, if somebody has offered it.
pub fn take(knock: c_int) -> Option<Met> {
    taken(knock, None)
}

/// The same, only from the other end of the connection with these numbers.
pub fn take_at(knock: c_int, begins: Begins) -> Option<Met> {
    taken(knock, Some(begins))
}

fn taken(knock: c_int, begins: Option<Begins>) -> Option<Met> {
    // SAFETY: a new descriptor.
    let fd = unsafe {
        real::accept4(knock, std::ptr::null_mut(), std::ptr::null_mut(), libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK)
    };
    let socket = owned(fd)?;
    if !same_user(socket.as_raw_fd()) {
        return None;
    }
    // The offer follows the connection at once.
    let mut ask = libc::pollfd { fd: socket.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry.
    unsafe { real::poll(&raw mut ask, 1, 20) };
    let (theirs, [file, accepted, connected, door]) = receive(&socket)?;
    if theirs.map(Begins::turned) != begins {
        return None;
    }
    let memory = Memory::attach(&file, arena::LEN).ok()?;
    let events = [accepted, connected];
    let fit = arena::marked(&memory) && events.iter().chain([&door]).all(|event| bell::is_event(event.as_raw_fd()));
    let again = fit && arena::control(&memory).turn.number.load(Ordering::Relaxed) == 0;
    fit.then_some(Met { memory, events, door: again.then_some(door) })
}

/// Room for the descriptors in a control message.
#[repr(align(8))]
struct Control([u8; 64]);

fn send(socket: &OwnedFd, says: &[u8], files: [c_int; FILES]) -> bool {
    let mut control = Control([0; 64]);
    let slice = IoSlice::new(says);
    // SAFETY: the message points to what lives until the call returns; the control buffer has room for the descriptors.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = (&raw const slice).cast_mut().cast();
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(size_of::<[c_int; FILES]>() as u32) as _;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(size_of::<[c_int; FILES]>() as u32) as _;
        libc::CMSG_DATA(header).cast::<[c_int; FILES]>().write_unaligned(files);
        real::sendmsg(socket.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL) == says.len() as isize
    }
}

/// An offer: the numbers of the connection, if it says any, and the descriptors.
fn receive(socket: &OwnedFd) -> Option<(Option<Begins>, [OwnedFd; FILES])> {
    let (mut says, mut control) = ([0_u8; SAYS], MaybeUninit::<Control>::zeroed());
    // SAFETY: the message points to what lives until the call returns. Descriptors that came are this process's own from then on;
    // of more than fit the kernel keeps what fits.
    unsafe {
        let mut slice = libc::iovec { iov_base: says.as_mut_ptr().cast(), iov_len: SAYS };
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut slice;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(size_of::<[c_int; FILES]>() as u32) as _;
        let got = real::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC);
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        if got < 0 || header.is_null() || (*header).cmsg_type != libc::SCM_RIGHTS {
            return None;
        }
        let data = libc::CMSG_DATA(header).cast::<c_int>();
        let count = ((*header).cmsg_len as usize).saturating_sub(libc::CMSG_LEN(0) as usize) / size_of::<c_int>();
        let files: Vec<_> = (0..count).map(|i| OwnedFd::from_raw_fd(data.add(i).read_unaligned())).collect();
        let files = <[OwnedFd; FILES]>::try_from(files).ok()?;
        let begins =
            (got == SAYS as isize).then(|| Begins::of(u64::from_le_bytes(std::array::from_fn(|i| says[1 + i]))));
        ((got == 1 || begins.is_some()) && says[0] == VERSION).then_some((begins, files))
    }
}
