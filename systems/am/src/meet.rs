//! How two processes meet: a socket in the abstract namespace, a greeting, and the memory.
//!
//! An abstract name lives as long as the socket that has it, so nothing is left behind however a process ends. The name may be
//! taken by anybody, so each side asks the kernel whose process the other is, and talks to none but its own user's. The socket stays
//! open: its hang-up says that the peer ended. Nothing is ever read from it again.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{
    self, AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType, sockopt,
};

use crate::arena::{self, Sizes};
use crate::error::Error;
use crate::memory::Memory;
use crate::options;

/// Version of the greeting, the layout and the records.
const VERSION: u64 = 1;
/// "activemg" in ASCII.
const GREETING: u64 = u64::from_le_bytes(*b"activemg");
/// Words of a greeting: mark, version, ring bytes, region bytes (0 from the connecting side).
const WORDS: usize = 4;

/// The abstract name of a listener.
fn address(name: &str) -> Result<SocketAddrUnix, Error> {
    if name.is_empty() || name.len() > 80 {
        let rule = "it must have 1 to 80 bytes";
        return Err(Error::Option { option: "name", value: format!("{name:?}"), rule });
    }
    SocketAddrUnix::new_abstract_name(format!("pipegauge-am/{name}").as_bytes())
        .map_err(|e| Error::io(format!("making a socket address of {name:?}"), e))
}

fn socket() -> Result<OwnedFd, Error> {
    net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
        .map_err(|e| Error::io("making a socket", e))
}

/// Listens under a name.
pub fn listen(name: &str) -> Result<OwnedFd, Error> {
    let address = address(name)?;
    let socket = socket()?;
    net::bind(&socket, &address).map_err(|e| match e {
        Errno::ADDRINUSE => Error::NameTaken { name: name.to_owned() },
        e => Error::io(format!("binding the name {name:?}"), e),
    })?;
    net::listen(&socket, 128).map_err(|e| Error::io("listening", e))?;
    Ok(socket)
}

/// The next connection.
pub fn accept(listener: BorrowedFd<'_>) -> Result<OwnedFd, Error> {
    loop {
        match net::accept_with(listener, SocketFlags::CLOEXEC) {
            Err(Errno::INTR) => {}
            answer => return answer.map_err(|e| Error::io("accepting a connection", e)),
        }
    }
}

/// Connects to a name.
pub fn connect(name: &str) -> Result<OwnedFd, Error> {
    let address = address(name)?;
    let socket = socket()?;
    net::connect(&socket, &address).map_err(|e| match e {
        Errno::CONNREFUSED | Errno::NOENT => Error::NobodyListens { name: name.to_owned() },
        e => Error::io(format!("connecting to {name:?}"), e),
    })?;
    Ok(socket)
}

/// Refuses a peer of another effective user.
pub fn same_user(socket: BorrowedFd<'_>) -> Result<(), Error> {
    let peer = sockopt::socket_peercred(socket).map_err(|e| Error::io("asking whose process the peer is", e))?;
    let (theirs, ours) = (peer.uid.as_raw(), rustix::process::geteuid().as_raw());
    if theirs != ours {
        return Err(Error::OtherUser { pid: peer.pid.as_raw_nonzero().get(), theirs, ours });
    }
    Ok(())
}

/// The listening side: checks the peer, reads its greeting, makes the memory and hands it over.
pub fn lead(socket: BorrowedFd<'_>, sizes: Sizes, patience: Duration) -> Result<Memory, Error> {
    same_user(socket)?;
    limit(socket, patience)?;
    let (words, _) = read(socket)?;
    check(&words)?;
    let (memory, file) = arena::create(sizes)?;
    send(socket, [GREETING, VERSION, sizes.ring.bytes() as u64, sizes.region.into()], &[file.as_fd()])?;
    Ok(memory)
}

/// The connecting side: checks the peer, greets, and takes the memory.
pub fn follow(socket: BorrowedFd<'_>, patience: Duration) -> Result<(Memory, Sizes), Error> {
    same_user(socket)?;
    limit(socket, patience)?;
    send(socket, [GREETING, VERSION, 0, 0], &[])?;
    let (words, file) = read(socket)?;
    check(&words)?;
    let sizes = options::sizes(words[2], words[3])?;
    let file = file.ok_or_else(|| Error::Memory { found: "is missing".to_owned() })?;
    Ok((arena::attach(&file, sizes)?, sizes))
}

/// How long a greeting may take.
fn limit(socket: BorrowedFd<'_>, patience: Duration) -> Result<(), Error> {
    let patience = Some(patience.max(Duration::from_millis(1)));
    sockopt::set_socket_timeout(socket, sockopt::Timeout::Recv, patience)
        .map_err(|e| Error::io("limiting how long a greeting may take", e))
}

fn check(words: &[u64; WORDS]) -> Result<(), Error> {
    if words[..2] == [GREETING, VERSION] {
        return Ok(());
    }
    let found = format!("mark {:#x}, version {}", words[0], words[1]);
    Err(Error::Greeting { found, expected: format!("mark {GREETING:#x}, version {VERSION}") })
}

fn send(socket: BorrowedFd<'_>, words: [u64; WORDS], files: &[BorrowedFd<'_>]) -> Result<(), Error> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(files));
    }
    let sent = net::sendmsg(socket, &[std::io::IoSlice::new(&bytes)], &mut control, SendFlags::NOSIGNAL);
    sent.map(drop).map_err(|e| Error::io("greeting the peer", e))
}

/// One greeting and the file that came with it. Of several files the kernel keeps what fits the buffer: one.
fn read(socket: BorrowedFd<'_>) -> Result<([u64; WORDS], Option<OwnedFd>), Error> {
    let mut bytes = [0; WORDS * 8];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let got = loop {
        let mut into = [std::io::IoSliceMut::new(&mut bytes)];
        match net::recvmsg(socket, &mut into, &mut control, RecvFlags::CMSG_CLOEXEC) {
            Err(Errno::INTR) => {}
            answer => break answer.map_err(|e| Error::io("waiting for the peer's greeting", e))?,
        }
    };
    let file = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut files) => files.next(),
        _ => None,
    });
    if got.bytes != bytes.len() {
        let found = format!("{} bytes", got.bytes);
        return Err(Error::Greeting { found, expected: format!("{} bytes", bytes.len()) });
    }
    let (words, _) = bytes.as_chunks();
    Ok((std::array::from_fn(|i| u64::from_le_bytes(words[i])), file))
}
