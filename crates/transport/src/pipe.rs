//! Two pipes, one for each direction.
//!
//! The far side makes both and hands two ends to the near side over a UNIX socket.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{Errno, read, write};
use rustix::pipe::{PipeFlags, fcntl_getpipe_size, fcntl_setpipe_size, pipe_with};

use crate::local::{self, Local};
use crate::meet::{self, Made};
use crate::options::{self, Moved, SOCKBUF};
use crate::settings::Effective;
use crate::stream::{Duct, Stream};
use crate::watchdog::{self, Watchdog};
use crate::{AnyLink, Capabilities, LinkError, Name, OptionSpec, Patience, Proof, Settings, Wait};

/// What it is called.
pub const NAME: Name = Name::literal("pipe");

/// The transport.
pub static TRANSPORT: Pipes = Pipes;

/// Two pipes between two processes of one host.
#[derive(Debug, Clone, Copy)]
pub struct Pipes;

impl Local for Pipes {
    const NAME: Name = NAME;
    const SUMMARY: &'static str = "two pipes between two processes";
    const SPOKEN: &'static [&'static str] = &["pipe", "pipes"];
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            help: "capacity of a pipe, asked of the kernel",
            // A pipe has what was asked for, up to another limit than sockets have.
            moved: match SOCKBUF.moved {
                Some(moved) => Some(Moved { now: |e| e.send_buffer, limits: &[], ..moved }),
                None => None,
            },
            ..SOCKBUF
        },
        options::wait(local::WAIT_NAMES, "block"),
    ];
    fn can(_: &Settings) -> Capabilities {
        Capabilities::plain()
    }
    fn needs() -> Result<(), LinkError> {
        pair(&Settings::default()).map(drop)
    }
    fn far(fd: OwnedFd, _: &Path, made: &Made, proof: &Proof) -> Result<AnyLink, LinkError> {
        let ((reader, writer), theirs) = pair(&made.settings)?;
        let link = link(reader, writer, made.wait, &made.patience)?;
        meet::hand_over(fd.as_fd(), &proof.far, &[theirs.0.as_fd(), theirs.1.as_fd()])?;
        Ok(AnyLink::new(link))
    }
    fn near(fd: OwnedFd, _: &Path, made: &Made, proof: &Proof) -> Result<AnyLink, LinkError> {
        meet::hand_over(fd.as_fd(), &proof.near, &[])?;
        let [reader, writer] = meet::take_over(fd.as_fd(), &proof.far, &made.patience)?;
        Ok(AnyLink::new(link(reader, writer, made.wait, &made.patience)?))
    }
}

/// One end: what this side reads from and what it writes to.
pub type Pipe = Stream<Ends>;

/// The ends of both pipes that one side holds.
#[derive(Debug)]
pub struct Ends {
    /// Ends before the descriptors that it watches (fields are dropped in this order). None where this side spins.
    watchdog: Option<Watchdog>,
    /// None once closed.
    fds: Option<Fds>,
}

/// A pipe's ends wait or don't by a flag of the open file: `RWF_NOWAIT`, which would choose call by call, works on pipes
/// only from Linux 6.4 on.
#[derive(Debug)]
struct Fds {
    reader: OwnedFd,
    writer: OwnedFd,
    /// The same ends, opened once more so that calls through them never wait. None where this side spins: then `reader`
    /// and `writer` are such themselves.
    eager: Option<(OwnedFd, OwnedFd)>,
}

impl Fds {
    fn new(reader: OwnedFd, writer: OwnedFd, wait: Wait) -> Result<Self, LinkError> {
        let doing = |e| LinkError::io("making a pipe's ends that don't wait", e);
        if wait == Wait::Spin {
            // Each end's open file belongs to one side alone: the flag is not seen by the peer.
            for fd in [&reader, &writer] {
                fcntl_getfl(fd).and_then(|flags| fcntl_setfl(fd, flags | OFlags::NONBLOCK)).map_err(doing)?;
            }
            return Ok(Self { reader, writer, eager: None });
        }
        let again = |fd: &OwnedFd, way| watchdog::open(&watchdog::path(fd.as_fd()), way).map_err(doing);
        let eager = Some((again(&reader, OFlags::RDONLY)?, again(&writer, OFlags::WRONLY)?));
        Ok(Self { reader, writer, eager })
    }
}

/// Most bytes of one call that may wait. A write returns only when it has written everything, and the watchdog sees no
/// progress within a call: in pieces, a large message that moves slowly is not taken for one that is stuck.
const PIECE: usize = 1 << 20;

/// What the far side keeps (reader, writer) and what it hands to the near side (reader, writer).
type Pair = ((OwnedFd, OwnedFd), (OwnedFd, OwnedFd));

/// Makes both pipes.
fn pair(settings: &Settings) -> Result<Pair, LinkError> {
    let make = || {
        let ends = pipe_with(PipeFlags::CLOEXEC).map_err(|e| LinkError::io("making a pipe", e))?;
        if let Some(bytes) = settings.whole("sockbuf") {
            let size = usize::try_from(bytes).unwrap_or(usize::MAX).min(i32::MAX as usize);
            fcntl_setpipe_size(&ends.1, size).map_err(|e| {
                let most = std::fs::read_to_string("/proc/sys/fs/pipe-max-size");
                let most = most.as_deref().map_or("unknown", str::trim);
                LinkError::io(format!("giving a pipe {bytes} bytes (fs.pipe-max-size here: {most})"), e)
            })?;
        }
        Ok(ends)
    };
    let (near_reader, far_writer) = make()?;
    let (far_reader, near_writer) = make()?;
    Ok(((far_reader, far_writer), (near_reader, near_writer)))
}

/// Takes over this side's ends.
fn link(reader: OwnedFd, writer: OwnedFd, wait: Wait, patience: &Patience) -> Result<Pipe, LinkError> {
    Ok(Stream::new(Ends::new(reader, writer, wait, patience)?, patience))
}

impl Ends {
    fn new(reader: OwnedFd, writer: OwnedFd, wait: Wait, patience: &Patience) -> Result<Self, LinkError> {
        let watchdog = match wait {
            Wait::Spin => None,
            _ => Some(Watchdog::over_pipe(reader.as_fd(), writer.as_fd(), patience)?),
        };
        Ok(Self { watchdog, fds: Some(Fds::new(reader, writer, wait)?) })
    }

    #[inline]
    fn fds(&self) -> Result<&Fds, Errno> {
        self.whole()?;
        self.fds.as_ref().ok_or(Errno::NOTCONN)
    }

    /// `CANCELED` once the watchdog has cut off a call: the stream is spoiled, and what that call moved doesn't count.
    #[inline]
    fn whole(&self) -> Result<(), Errno> {
        if self.watchdog.as_ref().is_some_and(Watchdog::barked) { Err(Errno::CANCELED) } else { Ok(()) }
    }
}

impl Duct for Ends {
    fn capabilities(&self) -> Capabilities {
        Capabilities::plain()
    }
    #[inline]
    fn read(&self, into: &mut [u8]) -> Result<usize, Errno> {
        let fd = &self.fds()?.reader;
        match &self.watchdog {
            Some(watchdog) => {
                let got = watchdog.over(false, || read(fd, into));
                self.whole()?;
                got
            }
            None => read(fd, into),
        }
    }
    #[inline]
    fn write(&self, from: &[u8]) -> Result<usize, Errno> {
        let fd = &self.fds()?.writer;
        match &self.watchdog {
            Some(watchdog) => {
                let put = watchdog.over(true, || write(fd, &from[..from.len().min(PIECE)]));
                self.whole()?;
                put
            }
            None => write(fd, from),
        }
    }
    #[inline]
    fn try_read(&self, into: &mut [u8]) -> Result<usize, Errno> {
        let fds = self.fds()?;
        read(fds.eager.as_ref().map_or(&fds.reader, |(reader, _)| reader), into)
    }
    #[inline]
    fn try_write(&self, from: &[u8]) -> Result<usize, Errno> {
        let fds = self.fds()?;
        write(fds.eager.as_ref().map_or(&fds.writer, |(_, writer)| writer), from)
    }
    fn ends(&self) -> Result<(BorrowedFd<'_>, BorrowedFd<'_>), Errno> {
        let fds = self.fds()?;
        Ok((fds.reader.as_fd(), fds.writer.as_fd()))
    }
    #[inline]
    fn spins(&self) -> bool {
        self.watchdog.is_none()
    }
    fn shut(&mut self) -> Result<(), LinkError> {
        // The watchdog must be gone before the descriptors that it knows by number.
        self.watchdog = None;
        self.fds = None;
        Ok(())
    }
    /// The pipes' capacities as buffers.
    fn effective(&self) -> Effective {
        let size = |fd: &OwnedFd| fcntl_getpipe_size(fd).ok().map(|n| n as u64);
        let fds = self.fds.as_ref();
        Effective {
            send_buffer: fds.and_then(|fds| size(&fds.writer)),
            receive_buffer: fds.and_then(|fds| size(&fds.reader)),
            wait: Some(if self.spins() { Wait::Spin } else { Wait::Block }),
            ..Effective::default()
        }
    }
    fn verdict(&self) -> Option<LinkError> {
        self.watchdog.as_ref().and_then(Watchdog::verdict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(wait: Wait) -> (Ends, (OwnedFd, OwnedFd)) {
        let ((reader, writer), theirs) = pair(&Settings::default()).unwrap();
        (Ends::new(reader, writer, wait, &Patience::default()).unwrap(), theirs)
    }

    fn waits(fd: &OwnedFd) -> bool {
        !fcntl_getfl(fd).unwrap().contains(OFlags::NONBLOCK)
    }

    #[test]
    fn whether_a_call_waits_is_the_open_files_own() {
        // Not by RWF_NOWAIT, which Linux 6.1 refuses on pipes.
        let (spinning, theirs) = ends(Wait::Spin);
        let fds = spinning.fds().unwrap();
        assert!(!waits(&fds.reader) && !waits(&fds.writer) && fds.eager.is_none());
        assert!(waits(&theirs.0) && waits(&theirs.1), "the peer's ends are its own");
        let (blocking, _theirs) = ends(Wait::Block);
        let fds = blocking.fds().unwrap();
        let (reader, writer) = fds.eager.as_ref().unwrap();
        assert!(waits(&fds.reader) && waits(&fds.writer) && !waits(reader) && !waits(writer));
    }

    #[test]
    fn calls_that_must_not_wait_do_not_and_move_the_same_bytes() {
        for wait in [Wait::Block, Wait::Spin] {
            let (ends, (their_reader, their_writer)) = ends(wait);
            assert_eq!(ends.try_read(&mut [0; 4]), Err(Errno::AGAIN));
            assert_eq!(write(&their_writer, b"four"), Ok(4));
            let mut got = [0; 4];
            assert_eq!((ends.try_read(&mut got), &got), (Ok(4), b"four"));
            assert_eq!(ends.try_write(b"back"), Ok(4));
            assert_eq!((read(&their_reader, &mut got), &got), (Ok(4), b"back"));
            let full = std::iter::repeat_with(|| ends.try_write(&[0; 65_536])).find_map(Result::err);
            assert_eq!(full, Some(Errno::AGAIN));
        }
    }

    #[test]
    fn one_call_writes_a_piece_so_that_a_large_message_shows_its_progress() {
        let (ends, (their_reader, their_writer)) = ends(Wait::Block);
        drop(their_writer);
        let drain = std::thread::spawn(move || while read(&their_reader, &mut [0; 65_536]).is_ok_and(|n| n > 0) {});
        assert_eq!(ends.write(&vec![0; 4 * PIECE]), Ok(PIECE));
        drop(ends);
        drain.join().unwrap();
    }
}
