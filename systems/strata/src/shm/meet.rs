//! How members find each other: an address is a name in the abstract namespace, where its member listens. A sender connects, says who it is, and hands a queue over.

use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    self, AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType, sockopt,
};

use crate::addr::{read_addr, write_addr};
use crate::wire::{Reader, Writer};

/// The mark of a greeting, and the version of the queue's layout.
const MARK: [u8; 8] = *b"strata 1";
/// Bytes of a greeting: the mark, the sender's address, zeros.
const GREETING: usize = 32;
/// Senders whose connections wait to be taken: a whole group that comes at once.
const BACKLOG: i32 = 128;

/// Why a sender has no way to an address.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoWay {
    /// Nobody has it, or nobody takes connections for the moment.
    #[error("nobody has the address")]
    Nobody,
    /// Somebody else has it.
    #[error(
        "it belongs to a process of user {theirs}, and this one is of user {ours}: choose another, or run both as one user"
    )]
    OtherUser { theirs: u32, ours: u32 },
    /// Of the queue to it.
    #[error("{0}")]
    Memory(String),
    #[error("{0}")]
    System(#[from] Errno),
}

/// The name of an address. It has the user in it, so that no two users meet by accident.
fn name(at: SocketAddr) -> Result<SocketAddrUnix, Errno> {
    SocketAddrUnix::new_abstract_name(format!("strata/{}/{at}", ours()).as_bytes())
}

fn ours() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn socket() -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
}

/// Takes an address; [`Errno::ADDRINUSE`] where another process has it.
pub(super) fn listen(at: SocketAddr) -> Result<OwnedFd, Errno> {
    let socket = socket()?;
    net::bind(&socket, &name(at)?)?;
    net::listen(&socket, BACKLOG)?;
    Ok(socket)
}

/// The next connection, if there is one; none of it where its process is another user's.
pub(super) fn accept(door: BorrowedFd) -> Result<Option<OwnedFd>, Errno> {
    let socket = net::accept_with(door, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK)?;
    Ok(same_user(&socket).is_ok().then_some(socket))
}

/// A connection to whoever has this address.
pub(super) fn connect(to: SocketAddr) -> Result<OwnedFd, NoWay> {
    let socket = socket()?;
    match net::connect(&socket, &name(to)?) {
        Ok(()) => {}
        // The last: more wait to be taken than it lets.
        Err(Errno::CONNREFUSED | Errno::NOENT | Errno::AGAIN) => return Err(NoWay::Nobody),
        Err(e) => return Err(e.into()),
    }
    same_user(&socket)?;
    Ok(socket)
}

fn same_user(socket: &OwnedFd) -> Result<(), NoWay> {
    let (theirs, ours) = (sockopt::socket_peercred(socket)?.uid.as_raw(), ours());
    if theirs == ours { Ok(()) } else { Err(NoWay::OtherUser { theirs, ours }) }
}

/// Says that this is the member at an address, and hands the file of a queue over. A fresh connection takes it at once.
pub(super) fn greet(socket: &OwnedFd, me: SocketAddr, file: &OwnedFd) -> Result<(), Errno> {
    let mut greeting = Writer::new();
    greeting.bytes(&MARK);
    write_addr(&me, &mut greeting);
    greeting.0.resize(GREETING, 0);
    let files = [file.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&files));
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    match net::sendmsg(socket, &[std::io::IoSlice::new(&greeting.0)], &mut control, flags)? {
        GREETING => Ok(()),
        _ => Err(Errno::MSGSIZE),
    }
}

/// A greeting that has come over a connection: who sends, and the file of its queue. [`Errno::AGAIN`] where none has come yet, [`Errno::CONNRESET`] where none will, [`Errno::PROTO`] where it is none.
pub(super) fn greeted(socket: &OwnedFd) -> Result<(SocketAddr, OwnedFd), Errno> {
    let mut bytes = [0; GREETING];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut into = [std::io::IoSliceMut::new(&mut bytes)];
    let got = net::recvmsg(socket, &mut into, &mut control, RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT)?;
    // Others that came with it are closed.
    let file = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut files) => files.next(),
        _ => None,
    });
    let mut greeting = Reader(&bytes);
    let marked = greeting.array() == Ok(MARK);
    match (file, read_addr(&mut greeting)) {
        (Some(file), Ok(from)) if got.bytes == GREETING && marked => Ok((from, file)),
        (None, _) if got.bytes == 0 => Err(Errno::CONNRESET),
        _ => Err(Errno::PROTO),
    }
}

/// Wakes the receiver at the other end. Where the connection takes no byte there are so many in it that it is awake, or it has gone.
pub(super) fn wake(socket: &OwnedFd) {
    let _ = net::send(socket, &[1], SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
}

/// Takes the bytes that woke this end. Whether the sender is still there.
pub(super) fn woken(socket: &OwnedFd) -> bool {
    let mut bytes = [0; 64];
    loop {
        match net::recv(socket, &mut bytes[..], RecvFlags::DONTWAIT) {
            Ok((_, 0)) => return false,
            Ok((_, n)) if n < bytes.len() => return true,
            Ok(_) | Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return true,
            Err(_) => return false,
        }
    }
}
