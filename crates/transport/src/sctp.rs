//! SCTP: one association of one stream, one-to-one as TCP's sockets are.
//!
//! SCTP carries messages, and refuses one that is larger than the send buffer. A message of ours goes as several of SCTP's where it is longer than a
//! piece, and is read as the bytes of a stream.
//!
//! Over the loopback interface, whose packets hold 64 KiB, a receive buffer of the system's size holds so few chunks that the sender waits for acknowledgements
//! which the kernel delays by 200 ms, or for a chunk that found no room and goes again after a second. So chunks are of 8,000 bytes at most unless
//! `chunk` says otherwise.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{Protocol, ipproto, sockopt};

use crate::ip;
use crate::ip_stream::{OverIp, Plain, Streams};
use crate::local;
use crate::meet::Made;
use crate::options::{self, Answer, FAMILY, Form, Knob, Moved, SOCKBUF};
use crate::settings::Effective;
use crate::stream::{Socket, Stream};
use crate::sys;
use crate::tcp::NODELAY;
use crate::{AnyLink, Capabilities, LinkError, Name, OptionSpec, Settings, Wait};

/// What it is called.
pub const NAME: Name = Name::literal("sctp");

/// The transport.
pub static TRANSPORT: Streams<Sctps> = Streams::new();

/// SCTP between two processes of one host or two.
#[derive(Debug)]
pub struct Sctps;

/// Most bytes of a message of SCTP's. The kernel makes chunks of it that packets hold.
const PIECE: usize = 64 << 10;

/// Largest chunk of data.
const CHUNK: OptionSpec = OptionSpec {
    name: "chunk",
    flag: None,
    form: Form::Bytes(CHUNKS.0, CHUNKS.1),
    default: "8,000 B, or what a packet holds",
    help: "largest chunk of data (SCTP_MAXSEG)",
    answers: &[Answer { part: "", of: |e| e.options.get("chunk").cloned() }],
    steers: false,
    moved: Some(Moved {
        knob: Knob::Packet,
        unset: None,
        now: |e| e.options.get("chunk")?.parse().ok(),
        doubles: false,
        limits: &[],
        least: CHUNKS.0,
    }),
};

/// Largest chunk where nobody says: less than a packet of the loopback interface, more than most others hold.
const USUAL: libc::c_int = 8_000;

/// Fewest and most bytes that it may be set to.
const CHUNKS: (u64, u64) = (512, 65_000);

impl OverIp for Sctps {
    const NAME: Name = NAME;
    const SUMMARY: &'static str = "SCTP over IPv4 or IPv6: one association of one stream";
    const SPOKEN: &'static [&'static str] =
        &["sctp", "stream control transmission protocol", "sctp socket", "sctp sockets", "sctp association"];
    const OPTIONS: &'static [OptionSpec] =
        &[CHUNK, SOCKBUF, NODELAY, FAMILY, options::wait(local::WAIT_NAMES, "block")];
    const PROTOCOL: Option<Protocol> = Some(ipproto::SCTP);
    const WAITS: &'static [Wait] = &local::WAITS;

    fn can() -> Capabilities {
        capabilities()
    }
    fn lacks(e: Errno) -> Option<&'static str> {
        match e {
            Errno::PROTONOSUPPORT | Errno::SOCKTNOSUPPORT => Some(
                "this kernel has no SCTP: it takes CONFIG_IP_SCTP; where that is a module, 'modprobe sctp' loads it",
            ),
            Errno::PERM | Errno::ACCESS => {
                Some("this process may make none, as in a container whose filter forbids it: allow protocol 132 there")
            }
            _ => None,
        }
    }
    fn before(fd: BorrowedFd<'_>, settings: &Settings) -> Result<(), LinkError> {
        let Some(bytes) = settings.whole("chunk") else {
            // Where the kernel refuses it, what a packet holds is taken, and told as what took effect.
            let _ = set(fd, SCTP_MAXSEG, &[0, USUAL]);
            return Ok(());
        };
        set(fd, SCTP_MAXSEG, &[0, bytes as libc::c_int])
            .map_err(|e| LinkError::io(format!("setting a largest chunk of {bytes} bytes (SCTP_MAXSEG)"), e))
    }
}

impl Plain for Sctps {
    fn link(fd: OwnedFd, made: &Made) -> Result<Sctp, LinkError> {
        let nodelay = made.settings.switch("nodelay").unwrap_or(true);
        set(fd.as_fd(), SCTP_NODELAY, &[nodelay.into()]).map_err(|e| LinkError::io("setting SCTP_NODELAY", e))?;
        let buffer = sockopt::socket_send_buffer_size(&fd)
            .map_err(|e| LinkError::io("asking for the send buffer of an sctp socket", e))?;
        let socket = Socket::new(fd, capabilities, made.wait, None, effective)?;
        // The buffer also holds what the kernel keeps of each chunk.
        Ok(Stream::new(socket.in_pieces(PIECE.min(buffer / 2)), &made.patience))
    }
    fn met(link: Sctp, _: &Made) -> Result<AnyLink, LinkError> {
        Ok(AnyLink::new(link.watched()?))
    }
}

fn capabilities() -> Capabilities {
    Capabilities { connects: true, local_only: false, ..Capabilities::plain() }
}

/// One end of an SCTP association.
pub type Sctp = Stream<Socket>;

/// Options of linux/sctp.h: an int, and an association (0 is the socket's own) with an int.
const SCTP_NODELAY: libc::c_int = 3;
const SCTP_MAXSEG: libc::c_int = 13;

/// Sets an option that is made of ints.
fn set(fd: BorrowedFd<'_>, option: libc::c_int, value: &[libc::c_int]) -> Result<(), Errno> {
    // SAFETY: the pointer leads to as many bytes as are told; the kernel only reads them.
    let code = unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            libc::IPPROTO_SCTP,
            option,
            value.as_ptr().cast(),
            size_of_val(value) as libc::socklen_t,
        )
    };
    if code == 0 { Ok(()) } else { Err(sys::last_error()) }
}

/// Reads an option that is made of `N` ints; none where the kernel does not say.
fn read<const N: usize>(fd: BorrowedFd<'_>, option: libc::c_int) -> Option<[libc::c_int; N]> {
    let mut value = [0; N];
    let mut len = size_of_val(&value) as libc::socklen_t;
    // SAFETY: both pointers lead to memory of the length that `len` says, the kernel writes no more than that, and any bytes are valid ints.
    let code =
        unsafe { libc::getsockopt(fd.as_raw_fd(), libc::IPPROTO_SCTP, option, value.as_mut_ptr().cast(), &mut len) };
    (code == 0).then_some(value)
}

/// What took effect on an SCTP association.
fn effective(socket: &Socket) -> Effective {
    let fd = socket.fd();
    let nodelay = read(fd, SCTP_NODELAY).map(|[on]| on != 0);
    let mut told = Effective { nodelay, ..sys::effective(fd, socket.wait(), ip::addresses(fd)) };
    // 0 is what a packet holds.
    let chunk = read(fd, SCTP_MAXSEG).map(|[_, bytes]| bytes).filter(|bytes| *bytes > 0);
    told.options.extend(chunk.map(|bytes| ("chunk".to_owned(), bytes.to_string())));
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Link, Patience, Proof, Transport};

    #[test]
    fn where_the_kernel_lacks_it_that_is_said() {
        for e in [Errno::PROTONOSUPPORT, Errno::SOCKTNOSUPPORT] {
            assert!(Sctps::lacks(e).unwrap().contains("CONFIG_IP_SCTP"));
        }
        assert!(Sctps::lacks(Errno::PERM).unwrap().contains("a container"));
        match TRANSPORT.availability() {
            Ok(()) => {}
            Err(e) => assert!(e.to_string().contains("an sctp socket"), "{e}"),
        }
    }

    #[test]
    fn a_message_is_larger_than_any_send_buffer_and_settings_take_effect() {
        if let Err(e) = TRANSPORT.availability() {
            println!("skipped: {e}");
            return;
        }
        let (at, patience) = ("127.0.0.1:0".parse().unwrap(), Patience::default());
        let proof = || Proof { near: [7; 32], far: [8; 32] };
        for (nodelay, chunk) in [(true, 8000u64), (false, 1400)] {
            let asked = Settings::default().with("sockbuf", 1u64 << 17).with("nodelay", nodelay).with("chunk", chunk);
            let mut door = TRANSPORT.listen(&asked, at, &patience).unwrap();
            let mut way = TRANSPORT.dial(&asked, &door.address(), at, &patience).unwrap();
            let far = std::thread::spawn(move || {
                let mut far = door.accept(&proof()).unwrap();
                let mut message = vec![0; 3 << 20];
                far.recv(&mut message).unwrap();
                assert!(message.iter().all(|byte| *byte == 9));
            });
            let mut near = way.connect(&proof()).unwrap();
            let told = near.effective();
            assert!(told.nodelay == Some(nodelay) && told.send_buffer.unwrap() < 3 << 20, "{told:?}");
            assert_eq!(told.options.get("chunk"), Some(&chunk.to_string()));
            near.send(&vec![9; 3 << 20]).unwrap();
            far.join().unwrap();
        }
    }
}
