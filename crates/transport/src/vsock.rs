//! vsock: sockets between a virtual machine and its host, without a network in between.
//!
//! A machine is known by a context id (CID): 1 is this machine itself, 2 the host of this machine, others are machines. The far side listens at all
//! of its own and names a port; to which CID the near side connects is an option of the path, which a person sets and no peer.

use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

use crate::door::Door;
use crate::local::{self, WAITS};
use crate::meet::{Made, shake};
use crate::options::{self, Answer, Form, Knob, Moved, SOCKBUF};
use crate::patience::LOOK;
use crate::port::{Accept, Acceptor, Address, Connect, Connector, Transport};
use crate::settings::Effective;
use crate::stream::{Socket, Stream};
use crate::sys::{self, BACKLOG};
use crate::{AnyLink, Capabilities, Link, LinkError, Name, OptionSpec, Patience, Proof, Settings};

/// What it is called.
pub const NAME: Name = Name::literal("vsock");

/// The transport.
pub static TRANSPORT: Vsocks = Vsocks;

/// vsock between two processes of one machine, or of a virtual machine and its host.
#[derive(Debug, Clone, Copy)]
pub struct Vsocks;

/// One end of a vsock connection.
pub type Vsock = Stream<Socket>;

/// This machine itself, and any CID that it has.
const HERE: u32 = libc::VMADDR_CID_LOCAL;
const ANY: u32 = libc::VMADDR_CID_ANY;

/// Where the near side connects to.
const CID: OptionSpec = OptionSpec {
    name: "cid",
    flag: None,
    form: Form::Whole { least: 1, most: (u32::MAX - 1) as u64, unit: "" },
    default: "1",
    help: "context id of the far side's machine: 1 is this machine itself, 2 the host of this one",
    answers: &[Answer { part: "", of: |e| e.options.get("cid").cloned() }],
    // It says where messages go.
    steers: true,
    moved: None,
};

/// What may be under way to each end, for which the kernel keeps one size and no send buffer.
const BUFFERS: OptionSpec = OptionSpec {
    help: "most bytes that may be under way to each end",
    answers: &[Answer { part: "", of: |e| e.receive_buffer.map(|bytes| bytes.to_string()) }],
    moved: Some(Moved {
        knob: Knob::Buffer,
        unset: None,
        now: |e| e.receive_buffer,
        doubles: true,
        limits: &[],
        least: 1,
    }),
    ..SOCKBUF
};

const OPTIONS: [OptionSpec; 3] = [CID, BUFFERS, options::wait(local::WAIT_NAMES, "block")];

fn cid(settings: &Settings) -> u32 {
    settings.whole("cid").and_then(|cid| u32::try_from(cid).ok()).unwrap_or(HERE)
}

fn capabilities() -> Capabilities {
    Capabilities { connects: true, local_only: false, ..Capabilities::plain() }
}

/// Of this machine alone.
fn here() -> Capabilities {
    Capabilities { local_only: true, ..capabilities() }
}

impl Transport for Vsocks {
    fn name(&self) -> Name {
        NAME
    }
    fn summary(&self) -> &'static str {
        "a vsock stream: between a virtual machine and its host, or within one machine"
    }
    fn spoken(&self) -> &'static [&'static str] {
        &["vsock", "vm socket", "vm sockets", "virtio vsock", "virtio-vsock", "af_vsock"]
    }
    fn capabilities(&self, settings: &Settings) -> Capabilities {
        if cid(settings) == HERE { here() } else { capabilities() }
    }
    fn availability(&self) -> Result<(), LinkError> {
        socket().and_then(|fd| bind(fd.as_fd(), ANY))
    }
    fn reaches_itself(&self) -> Result<(), LinkError> {
        // A connection would only time out where another machine's transport takes the address; binding asks for the loopback's own.
        socket().and_then(|fd| bind(fd.as_fd(), HERE)).map_err(no_loopback)
    }
    fn options(&self) -> &'static [OptionSpec] {
        &OPTIONS
    }
    fn listen(&self, settings: &Settings, _: SocketAddr, patience: &Patience) -> Result<Acceptor, LinkError> {
        let made = Made::new(&WAITS, settings, patience)?;
        let fd = prepared(settings)?;
        // Of two processes of this machine, no other machine is to find the door.
        bind(fd.as_fd(), if cid(settings) == HERE { HERE } else { ANY }).map_err(no_loopback)?;
        rustix::net::listen(&fd, BACKLOG).map_err(|e| LinkError::io("listening on a vsock socket", e))?;
        let port = bound_to(fd.as_fd())?;
        Ok(Box::new(Listener { door: Door::new(fd, SocketType::STREAM, patience)?, port, made }))
    }
    fn dial(
        &self,
        settings: &Settings,
        address: &Address,
        _: SocketAddr,
        patience: &Patience,
    ) -> Result<Connector, LinkError> {
        if cid(settings) == HERE {
            self.reaches_itself()?;
        }
        let made = Made::new(&WAITS, settings, patience)?;
        let text = address.text()?;
        let port = text.parse::<u32>().map_err(|_| {
            LinkError::Protocol(format!("it offered '{}' where a port is due", units::received::clean(text, 40)))
        })?;
        Ok(Box::new(Dialler { port, made }))
    }
}

struct Listener {
    door: Door,
    port: u32,
    made: Made,
}

impl Accept for Listener {
    fn address(&self) -> Address {
        Address::new(self.port.to_string())
    }
    fn accept(&mut self, proof: &Proof) -> Result<AnyLink, LinkError> {
        let mut link = link(self.door.accept(&proof.near)?, &self.made)?;
        link.send(&proof.far)?;
        Ok(AnyLink::new(link.watched()?))
    }
    fn transaction(&mut self, proof: &Proof, request: &mut [u8], response: &[u8]) -> Result<(), LinkError> {
        link(self.door.accept(&proof.near)?, &self.made)?.answer_once(proof, request, response)
    }
}

struct Dialler {
    port: u32,
    made: Made,
}

impl Dialler {
    fn connected(&self) -> Result<Vsock, LinkError> {
        let fd = prepared(&self.made.settings)?;
        connect(fd.as_fd(), cid(&self.made.settings), self.port, &self.made.patience)?;
        link(fd, &self.made)
    }
}

impl Connect for Dialler {
    fn connect(&mut self, proof: &Proof) -> Result<AnyLink, LinkError> {
        let mut link = self.connected()?;
        shake(&mut link, proof)?;
        Ok(AnyLink::new(link.watched()?))
    }
    fn transaction(&mut self, proof: &Proof, request: &[u8], response: &mut [u8]) -> Result<(), LinkError> {
        self.connected()?.ask_once(proof, request, response)
    }
}

/// Takes over a connected socket.
fn link(fd: OwnedFd, made: &Made) -> Result<Vsock, LinkError> {
    let can = if cid(&made.settings) == HERE { here } else { capabilities };
    Ok(Stream::new(Socket::new(fd, can, made.wait, Some(cid(&made.settings).to_string()), effective)?, &made.patience))
}

/// What took effect on a connection.
fn effective(socket: &Socket) -> Effective {
    let fd = socket.fd();
    let buffer = buffer(fd);
    let mut told =
        Effective { send_buffer: None, receive_buffer: buffer, ..sys::effective(fd, socket.wait(), ends(fd)) };
    told.options.extend(socket.at().map(|cid| ("cid".to_owned(), cid)));
    told
}

fn socket() -> Result<OwnedFd, LinkError> {
    rustix::net::socket_with(AddressFamily::VSOCK, SocketType::STREAM, SocketFlags::CLOEXEC, None)
        .map_err(|e| LinkError::io(none_made(e), e))
}

/// What was tried, and what to do where a socket can't be made.
fn none_made(e: Errno) -> &'static str {
    match e {
        Errno::AFNOSUPPORT => {
            "making a vsock socket (this kernel has none: it takes CONFIG_VSOCKETS; where that is a module, 'modprobe vsock' loads it)"
        }
        Errno::PERM | Errno::ACCESS => {
            "making a vsock socket (this process may make none, as in a container whose filter forbids it: allow address family 40 there)"
        }
        _ => "making a vsock socket",
    }
}

/// What refuses the address of this machine itself, in words that say what to do.
fn no_loopback(e: LinkError) -> LinkError {
    match e {
        LinkError::Io { source, .. } if source.raw_os_error() == Some(Errno::ADDRNOTAVAIL.raw_os_error()) => {
            LinkError::io(
                "binding to CID 1, this machine itself (this kernel has vsock sockets, but no vsock_loopback, over which two processes of one machine \
             meet: 'modprobe vsock_loopback' loads it where the kernel was built with it, and vsock:cid=N reaches another machine)",
                source,
            )
        }
        e => e,
    }
}

/// A socket with everything that must be set before it connects or listens.
fn prepared(settings: &Settings) -> Result<OwnedFd, LinkError> {
    let fd = socket()?;
    if let Some(bytes) = settings.whole("sockbuf") {
        ask_buffer(fd.as_fd(), bytes)?;
    }
    Ok(fd)
}

/// `SO_VM_SOCKETS_BUFFER_SIZE`, `_MIN_SIZE` and `_MAX_SIZE` of linux/vm_sockets.h.
const BUFFER: libc::c_int = 0;
const BUFFER_LEAST: libc::c_int = 1;
const BUFFER_MOST: libc::c_int = 2;

fn ask_buffer(fd: BorrowedFd<'_>, bytes: u64) -> Result<(), LinkError> {
    for option in [BUFFER_LEAST, BUFFER_MOST, BUFFER] {
        // The bounds are widened to what is asked for, and no further.
        let now = read_option(fd, option).unwrap_or(bytes);
        let value = match option {
            BUFFER_LEAST => now.min(bytes),
            BUFFER_MOST => now.max(bytes),
            _ => bytes,
        };
        // SAFETY: the pointer leads to a u64, whose length is told; the kernel only reads it.
        let code = unsafe {
            libc::setsockopt(
                fd.as_raw_fd(),
                libc::AF_VSOCK,
                option,
                std::ptr::from_ref(&value).cast(),
                size_of::<u64>() as libc::socklen_t,
            )
        };
        if code != 0 {
            let doing = format!("asking for a vsock buffer of {bytes} bytes");
            return Err(LinkError::io(doing, sys::last_error()));
        }
    }
    Ok(())
}

fn read_option(fd: BorrowedFd<'_>, option: libc::c_int) -> Option<u64> {
    let mut value = 0u64;
    let mut len = size_of::<u64>() as libc::socklen_t;
    // SAFETY: both pointers lead to memory of the length that `len` says, the kernel writes no more than that, and any bytes are a valid value.
    let code = unsafe {
        libc::getsockopt(fd.as_raw_fd(), libc::AF_VSOCK, option, std::ptr::from_mut(&mut value).cast(), &mut len)
    };
    (code == 0).then_some(value)
}

fn buffer(fd: BorrowedFd<'_>) -> Option<u64> {
    read_option(fd, BUFFER)
}

/// The address of a CID and port.
fn address(cid: u32, port: u32) -> libc::sockaddr_vm {
    // SAFETY: all zeros are a valid value of this structure of numbers.
    let mut address: libc::sockaddr_vm = unsafe { std::mem::zeroed() };
    address.svm_family = libc::AF_VSOCK as libc::sa_family_t;
    (address.svm_cid, address.svm_port) = (cid, port);
    address
}

const LENGTH: libc::socklen_t = size_of::<libc::sockaddr_vm>() as libc::socklen_t;

fn bind(fd: BorrowedFd<'_>, cid: u32) -> Result<(), LinkError> {
    let at = address(cid, libc::VMADDR_PORT_ANY);
    // SAFETY: the pointer leads to an address of the length that is told; the kernel only reads it.
    match unsafe { libc::bind(fd.as_raw_fd(), std::ptr::from_ref(&at).cast(), LENGTH) } {
        0 => Ok(()),
        _ => Err(LinkError::io("binding a vsock socket", sys::last_error())),
    }
}

fn named(
    fd: BorrowedFd<'_>,
    ask: unsafe extern "C" fn(libc::c_int, *mut libc::sockaddr, *mut libc::socklen_t) -> libc::c_int,
) -> Option<libc::sockaddr_vm> {
    let (mut at, mut len) = (address(0, 0), LENGTH);
    // SAFETY: `ask` is getsockname or getpeername, which write at most `len` bytes of an address there, of which any bytes are a valid value.
    let code = unsafe { ask(fd.as_raw_fd(), std::ptr::from_mut(&mut at).cast(), &mut len) };
    (code == 0).then_some(at)
}

fn bound_to(fd: BorrowedFd<'_>) -> Result<u32, LinkError> {
    let at = named(fd, libc::getsockname)
        .ok_or_else(|| LinkError::io("asking for a vsock socket's address", sys::last_error()))?;
    Ok(at.svm_port)
}

/// Both ends of a connection, in words.
fn ends(fd: BorrowedFd<'_>) -> Option<String> {
    let words = |at: libc::sockaddr_vm| format!("CID {} port {}", at.svm_cid, at.svm_port);
    Some(format!("{} to {}", words(named(fd, libc::getsockname)?), words(named(fd, libc::getpeername)?)))
}

fn connect(fd: BorrowedFd<'_>, cid: u32, port: u32, patience: &Patience) -> Result<(), LinkError> {
    let refused = |e: Errno| LinkError::io(format!("connecting to CID {cid}, port {port}"), e);
    let to = address(cid, port);
    let flags = rustix::fs::fcntl_getfl(fd).map_err(refused)?;
    rustix::fs::fcntl_setfl(fd, flags | rustix::fs::OFlags::NONBLOCK).map_err(refused)?;
    // SAFETY: the pointer leads to an address of the length that is told; the kernel only reads it.
    let code = unsafe { libc::connect(fd.as_raw_fd(), std::ptr::from_ref(&to).cast(), LENGTH) };
    if code != 0 {
        match sys::last_error() {
            Errno::INPROGRESS | Errno::INTR => {}
            e => return Err(refused(e)),
        }
        let start = Instant::now();
        loop {
            let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::OUT)];
            if sys::poll_for(&mut fds, LOOK).map_err(refused)? {
                sockopt::socket_error(fd).and_then(|e| e).map_err(refused)?;
                break;
            }
            patience.check(start, "connecting")?;
        }
    }
    rustix::fs::fcntl_setfl(fd, flags).map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_two_processes_of_this_machine_cannot_meet_that_is_said() {
        let refused = LinkError::io("binding a vsock socket", Errno::ADDRNOTAVAIL);
        let said = no_loopback(refused).to_string();
        assert!(said.contains("no vsock_loopback") && said.contains("modprobe vsock_loopback"), "{said}");
        let other = no_loopback(LinkError::io("binding a vsock socket", Errno::ACCESS)).to_string();
        assert!(!other.contains("vsock_loopback"), "{other}");
        // The kernel has the last word, and gives it at once.
        if TRANSPORT.availability().is_ok() {
            let said = TRANSPORT.reaches_itself().err().map(|e| e.to_string());
            let listens = TRANSPORT.listen(&Settings::default(), "127.0.0.1:0".parse().unwrap(), &Patience::default());
            assert_eq!(listens.err().map(|e| e.to_string()), said);
        }
        assert!(none_made(Errno::AFNOSUPPORT).contains("CONFIG_VSOCKETS"));
        assert!(none_made(Errno::PERM).contains("a container"));
        if let Err(e) = TRANSPORT.availability() {
            assert!(e.to_string().contains("a vsock socket"), "{e}");
        }
    }

    #[test]
    fn a_far_side_names_a_port_and_no_machine() {
        let other = Settings::default().with("cid", 3u64);
        let at = "127.0.0.1:0".parse().unwrap();
        for told in ["", "3 1024", "-1", "4294967296"] {
            let said = TRANSPORT.dial(&other, &Address::new(told), at, &Patience::default()).err().unwrap();
            assert!(matches!(said, LinkError::Protocol(_)), "{said}");
        }
        assert!(TRANSPORT.capabilities(&Settings::default()).local_only);
        assert!(!TRANSPORT.capabilities(&other).local_only);
    }

    #[test]
    fn the_buffer_that_is_asked_for_takes_effect() {
        if let Err(e) = TRANSPORT.availability().and_then(|()| TRANSPORT.reaches_itself()) {
            println!("skipped: {e}");
            return;
        }
        for bytes in [64u64, 4096, 1 << 22] {
            let fd = prepared(&Settings::default().with("sockbuf", bytes)).unwrap();
            assert_eq!(buffer(fd.as_fd()), Some(bytes));
        }
    }
}
