//! Two pipes, one for each direction.
//!
//! The far side makes both and hands two ends to the near side over a UNIX socket.

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::io::{Errno, ReadWriteFlags, preadv2, pwritev2, read, write};
use rustix::pipe::{PipeFlags, fcntl_getpipe_size, fcntl_setpipe_size, pipe_with};

use crate::kinds::Kind;
use crate::settings::Effective;
use crate::stream::{Blocks, Duct};
use crate::watchdog::Watchdog;
use crate::{Capabilities, Link, LinkError, Patience, Settings, Wait};

/// One end: what this side reads from and what it writes to.
#[derive(Debug)]
pub struct Pipe {
    blocks: Blocks<Ends>,
}

#[derive(Debug)]
struct Ends {
    /// Ends before the descriptors that it watches (fields are dropped in this order). None where this side spins.
    watchdog: Option<Watchdog>,
    /// Reader and writer; none once closed.
    fds: Option<(OwnedFd, OwnedFd)>,
}

/// What the far side keeps (reader, writer) and what it hands to the near side (reader, writer).
pub(crate) type Pair = ((OwnedFd, OwnedFd), (OwnedFd, OwnedFd));

/// Makes both pipes.
pub(crate) fn pair(settings: &Settings) -> Result<Pair, LinkError> {
    let make = || {
        let ends = pipe_with(PipeFlags::CLOEXEC).map_err(|e| LinkError::io("making a pipe", e))?;
        if let Some(bytes) = settings.sockbuf {
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

impl Pipe {
    pub(crate) fn new(reader: OwnedFd, writer: OwnedFd, wait: Wait, patience: &Patience) -> Result<Self, LinkError> {
        let watchdog = match wait {
            Wait::Spin => None,
            _ => Some(Watchdog::new(reader.as_fd(), writer.as_fd(), patience)?),
        };
        let duct = Ends { watchdog, fds: Some((reader, writer)) };
        Ok(Self { blocks: Blocks { duct, patience: patience.clone() } })
    }

    /// What took effect: the pipes' capacities as buffers.
    pub fn effective(&self) -> Effective {
        let size = |fd: &OwnedFd| fcntl_getpipe_size(fd).ok().map(|n| n as u64);
        let fds = self.blocks.duct.fds.as_ref();
        Effective {
            send_buffer: fds.and_then(|(_, writer)| size(writer)),
            receive_buffer: fds.and_then(|(reader, _)| size(reader)),
            wait: Some(if self.blocks.duct.spins() { Wait::Spin } else { Wait::Block }),
            ..Effective::default()
        }
    }
}

/// The offset that means "where the stream is".
const HERE: u64 = u64::MAX;

impl Ends {
    #[inline]
    fn reader(&self) -> Result<&OwnedFd, Errno> {
        self.whole()?;
        self.fds.as_ref().map(|(reader, _)| reader).ok_or(Errno::NOTCONN)
    }
    #[inline]
    fn writer(&self) -> Result<&OwnedFd, Errno> {
        self.whole()?;
        self.fds.as_ref().map(|(_, writer)| writer).ok_or(Errno::NOTCONN)
    }

    /// `CANCELED` once the watchdog has cut off a call: the stream is spoiled, and what that call moved doesn't count.
    #[inline]
    fn whole(&self) -> Result<(), Errno> {
        if self.watchdog.as_ref().is_some_and(Watchdog::barked) { Err(Errno::CANCELED) } else { Ok(()) }
    }
}

impl Duct for Ends {
    #[inline]
    fn read(&self, into: &mut [u8]) -> Result<usize, Errno> {
        let fd = self.reader()?;
        match &self.watchdog {
            Some(watchdog) => {
                let got = watchdog.over(false, || read(fd, into));
                self.whole()?;
                got
            }
            None => self.try_read(into),
        }
    }
    #[inline]
    fn write(&self, from: &[u8]) -> Result<usize, Errno> {
        let fd = self.writer()?;
        match &self.watchdog {
            Some(watchdog) => {
                let put = watchdog.over(true, || write(fd, from));
                self.whole()?;
                put
            }
            None => self.try_write(from),
        }
    }
    #[inline]
    fn try_read(&self, into: &mut [u8]) -> Result<usize, Errno> {
        preadv2(self.reader()?, &mut [IoSliceMut::new(into)], HERE, ReadWriteFlags::NOWAIT)
    }
    #[inline]
    fn try_write(&self, from: &[u8]) -> Result<usize, Errno> {
        pwritev2(self.writer()?, &[IoSlice::new(from)], HERE, ReadWriteFlags::NOWAIT)
    }
    fn ends(&self) -> Result<(BorrowedFd<'_>, BorrowedFd<'_>), Errno> {
        Ok((self.reader()?.as_fd(), self.writer()?.as_fd()))
    }
    #[inline]
    fn spins(&self) -> bool {
        self.watchdog.is_none()
    }
    fn verdict(&self) -> Option<LinkError> {
        self.watchdog.as_ref().and_then(Watchdog::verdict)
    }
}

impl Link for Pipe {
    fn capabilities(&self) -> Capabilities {
        Kind::Pipe.capabilities()
    }
    #[inline]
    fn send(&mut self, block: &[u8]) -> Result<(), LinkError> {
        self.blocks.send(block)
    }
    #[inline]
    fn recv(&mut self, block: &mut [u8]) -> Result<(), LinkError> {
        self.blocks.recv(block)
    }
    #[inline]
    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        self.blocks.exchange(out, into)
    }
    fn ready(&mut self, wait: Duration) -> Result<bool, LinkError> {
        self.blocks.ready(wait)
    }
    fn close(&mut self) -> Result<(), LinkError> {
        // The watchdog must be gone before the descriptors that it knows by number.
        self.blocks.duct.watchdog = None;
        self.blocks.duct.fds = None;
        Ok(())
    }
}
