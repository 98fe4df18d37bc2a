//! An io_uring of one socket: sends that complete within a call, posts whose memory the kernel keeps until it says that it is done with it, and
//! one receive that goes on by itself (multishot) into buffers that the
//! kernel was given beforehand.

use std::collections::{BTreeMap, VecDeque};
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, Probe, cqueue, opcode, squeue};
use rustix::io::Errno;

use crate::patience::LOOK;
use crate::zerocopy::Pending;

/// Bytes of a buffer that the kernel fills, and how many there are of them.
const PLACE: usize = 64 << 10;
const PLACES: u16 = 16;

/// Entries of the submission queue: buffers that are given back wait there for the next call.
const ENTRIES: u32 = 64;

/// The group of the buffers.
const GROUP: u16 = 0;

/// Which request a completion is of.
const RECEIVE: u64 = 1;
const SEND: u64 = 2;
const OTHER: u64 = 3;
/// From here on: a post's call, each of its own number.
const POST: u64 = 1 << 32;

/// Asks for a word on whether the kernel copied (`IORING_SEND_ZC_REPORT_USAGE`), and the word that it did (`IORING_NOTIF_USAGE_ZC_COPIED`).
const REPORT_USAGE: u16 = 8;
const COPIED: u32 = 1 << 31;

/// How long the end waits for the kernel to let go of its buffers.
const LET_GO: u32 = 40;

/// The ring, the socket that it is of, and the memory that the kernel writes to.
pub(super) struct Ring {
    ring: IoUring,
    socket: OwnedFd,
    /// Kept for ever where the kernel does not let go of it.
    memory: ManuallyDrop<Box<[u8]>>,
    armed: bool,
    /// Buffers that were filled and how far, in their order; of the first, `taken` bytes are taken.
    come: VecDeque<(u16, usize)>,
    taken: usize,
    /// What ended the receiving, if it is at its end.
    over: Option<Result<(), Errno>>,
    /// The result of the send under way.
    sent: Option<i32>,
    posts: Pending,
    /// Calls of posts by what their completions are marked with: their number among those that were taken, or none of one that failed.
    calls: BTreeMap<u64, Option<u32>>,
    /// The mark of the next one.
    next: u64,
    /// The kernel told of a call that was complete, or never made.
    untrue: bool,
}

/// Whether this system has what it takes.
pub(super) fn available() -> Result<(), Errno> {
    let ring = IoUring::new(2).map_err(errno)?;
    let mut probe = Probe::new();
    ring.submitter().register_probe(&mut probe).map_err(errno)?;
    // Multishot receives came with 6.0, as did sends without a copy, of which a ring can be asked.
    if probe.is_supported(opcode::SendZc::CODE) { Ok(()) } else { Err(Errno::OPNOTSUPP) }
}

fn errno(e: std::io::Error) -> Errno {
    Errno::from_io_error(&e).unwrap_or(Errno::IO)
}

/// What the result of a request means.
fn of(result: i32) -> Result<usize, Errno> {
    usize::try_from(result).map_err(|_| Errno::from_raw_os_error(-result))
}

impl Ring {
    /// A ring for a connected socket. Nothing is received before it is asked for.
    pub fn new(socket: OwnedFd) -> Result<Self, Errno> {
        let memory = ManuallyDrop::new(vec![0; PLACE * usize::from(PLACES)].into_boxed_slice());
        let ring = IoUring::new(ENTRIES).map_err(errno)?;
        let mut made = Self {
            ring,
            socket,
            memory,
            armed: false,
            come: VecDeque::with_capacity(usize::from(PLACES)),
            taken: 0,
            over: None,
            sent: None,
            posts: Pending::default(),
            calls: BTreeMap::new(),
            next: POST,
            untrue: false,
        };
        let all = made.memory.as_mut_ptr();
        made.push(opcode::ProvideBuffers::new(all, PLACE as i32, PLACES, GROUP, 0).build().user_data(OTHER));
        made.enter(None)?;
        Ok(made)
    }

    /// What becomes readable when something completes.
    pub fn completions(&self) -> BorrowedFd<'_> {
        // SAFETY: the ring's descriptor is open for as long as the ring, which the borrow keeps.
        unsafe { BorrowedFd::borrow_raw(self.ring.as_raw_fd()) }
    }

    /// Puts a request into the queue, which goes to the kernel with the next call.
    fn push(&mut self, entry: squeue::Entry) {
        loop {
            // SAFETY: every request names memory of this value, which outlives it (see `drop`), or that of a send, which is done with it
            // before it returns, or of a post, which the kernel only reads, from pages that it holds: what the process writes there later may
            // be sent, and nothing worse.
            if unsafe { self.ring.submission().push(&entry) }.is_ok() {
                return;
            }
            // Full: the kernel takes what is there. An error leaves it full, and is met again by whoever waits.
            let _ = self.ring.submit();
        }
    }

    /// Hands the queue to the kernel, waits for a completion where that is asked for, and takes note of what completed.
    fn enter(&mut self, wait: Option<Duration>) -> Result<(), Errno> {
        let outcome = match wait {
            None if self.ring.submission().is_empty() => Ok(0),
            None => self.ring.submit(),
            Some(d) => {
                let time = Timespec::from(d);
                self.ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&time))
            }
        };
        self.note();
        match outcome.map_err(errno) {
            Ok(_) | Err(Errno::TIME | Errno::INTR | Errno::AGAIN | Errno::BUSY) => Ok(()),
            Err(e) => Err(e),
        }
    }

    /// Takes note of what completed.
    fn note(&mut self) {
        let mut told = Vec::new();
        for done in self.ring.completion() {
            let (result, flags) = (done.result(), done.flags());
            match done.user_data() {
                RECEIVE => {
                    self.armed = cqueue::more(flags);
                    match (of(result), cqueue::buffer_select(flags)) {
                        (Ok(n @ 1..), Some(place)) => self.come.push_back((place, n)),
                        (Ok(_), _) => self.over = Some(Ok(())),
                        // No buffer was free, which are given back as they are read, or the thread that asked is gone, with which the
                        // kernel ends its requests: it is asked again.
                        (Err(Errno::NOBUFS | Errno::CANCELED), _) => {}
                        (Err(e), _) => self.over = Some(Err(e)),
                    }
                }
                SEND => self.sent = Some(result),
                mark @ POST.. => told.push((mark, result, flags)),
                _ => {}
            }
        }
        told.into_iter().for_each(|(mark, result, flags)| self.told(mark, result, flags));
    }

    /// Takes in what a completion says of a post's call: first what was sent, then, if more is to come, that the kernel is done with the memory.
    /// Failed calls have such a second one as well.
    fn told(&mut self, mark: u64, result: i32, flags: u32) {
        let number = self.calls.get(&mark).copied().flatten();
        if cqueue::notif(flags) {
            self.calls.remove(&mark);
            self.untrue |= number.is_some_and(|n| !self.posts.told(n, n, result as u32 & COPIED != 0));
            return;
        }
        self.sent = Some(result);
        match (result, cqueue::more(flags)) {
            (0.., true) => {}
            (0.., false) => {
                self.calls.remove(&mark);
                self.untrue |= number.is_none_or(|n| !self.posts.told(n, n, true));
            }
            (_, more) => {
                self.posts.failed();
                self.calls.remove(&mark);
                if more {
                    self.calls.insert(mark, None);
                }
            }
        }
    }

    /// Reads what has come. `wait`: for something to come, at most for a [`LOOK`]; `AGAIN` where nothing did.
    pub fn read(&mut self, into: &mut [u8], wait: bool) -> Result<usize, Errno> {
        if self.come.is_empty() {
            self.receive(wait)?;
        }
        let Some((place, len)) = self.come.front().copied() else {
            return match self.over {
                Some(over) => over.map(|()| 0),
                None => Err(Errno::AGAIN),
            };
        };
        let from = usize::from(place) * PLACE;
        let part = &self.memory[from + self.taken..from + len];
        let n = part.len().min(into.len());
        into[..n].copy_from_slice(&part[..n]);
        self.taken += n;
        if self.taken == len {
            self.come.pop_front();
            self.taken = 0;
            let at = self.memory[from..].as_mut_ptr();
            let back = opcode::ProvideBuffers::new(at, PLACE as i32, 1, GROUP, place).build().user_data(OTHER);
            self.push(back.flags(squeue::Flags::SKIP_SUCCESS));
        }
        Ok(n)
    }

    fn receive(&mut self, wait: bool) -> Result<(), Errno> {
        if self.over.is_some() {
            return Ok(());
        }
        self.note();
        if !self.come.is_empty() {
            return Ok(());
        }
        if !self.armed {
            self.armed = true;
            let receive = opcode::RecvMulti::new(Fd(self.socket.as_raw_fd()), GROUP).build();
            self.push(receive.user_data(RECEIVE));
        }
        self.enter(wait.then_some(LOOK))
    }

    /// Whether something has come, without waiting.
    pub fn holds(&mut self) -> bool {
        self.come.is_empty() && self.receive(false).is_err() || !self.come.is_empty() || self.over.is_some()
    }

    /// Sends what fits, and returns when the kernel is done with the memory. `wait`: for room, at most for a [`LOOK`]; `AGAIN` where there
    /// was none.
    pub fn write(&mut self, from: &[u8], wait: bool) -> Result<usize, Errno> {
        let flags = libc::MSG_NOSIGNAL | if wait { 0 } else { libc::MSG_DONTWAIT };
        let len = from.len().min(1 << 30) as u32;
        let send = opcode::Send::new(Fd(self.socket.as_raw_fd()), from.as_ptr(), len).flags(flags).build();
        self.complete(send.user_data(SEND), SEND, wait)
    }

    /// As `write`, but the kernel keeps the memory until [`Ring::posts`] tells that it is done with it. `place`: where in the ring's table it is
    /// registered; the kernel answers `FAULT` where it is not.
    pub fn post(&mut self, from: &[u8], wait: bool, place: Option<u16>) -> Result<usize, Errno> {
        let flags = libc::MSG_NOSIGNAL | if wait { 0 } else { libc::MSG_DONTWAIT };
        let (len, mark) = (from.len().min(1 << 30) as u32, self.next);
        self.next += 1;
        let send = opcode::SendZc::new(Fd(self.socket.as_raw_fd()), from.as_ptr(), len).flags(flags).buf_index(place);
        self.calls.insert(mark, Some(self.posts.made() as u32));
        self.posts.called();
        self.complete(send.zc_flags(REPORT_USAGE).build().user_data(mark), mark, wait)
    }

    /// What was posted, after a look at what is complete where that is asked for.
    pub fn posts(&mut self, look: bool) -> Result<&mut Pending, Errno> {
        if look {
            self.note();
        }
        if self.untrue { Err(Errno::PROTO) } else { Ok(&mut self.posts) }
    }

    /// Posts so far.
    pub fn posted(&self) -> u64 {
        self.posts.posted()
    }

    /// Completed calls of posts that were copied, and all.
    pub fn copied(&self) -> (u64, u64) {
        self.posts.copied()
    }

    /// Hands over a send and waits until it is complete: how many bytes went.
    fn complete(&mut self, send: squeue::Entry, mark: u64, wait: bool) -> Result<usize, Errno> {
        self.sent = None;
        self.push(send);
        self.done(wait.then_some(LOOK));
        let mut asked = false;
        // The kernel reads from memory that is only lent: nothing ends this wait but the completion, which a cancelled request has at once.
        let result = loop {
            if let Some(result) = self.sent {
                break result;
            }
            if !asked {
                asked = true;
                self.push(opcode::AsyncCancel::new(mark).build().user_data(OTHER));
            }
            self.done(Some(LOOK));
        };
        match of(result) {
            Err(Errno::CANCELED | Errno::INTR) => Err(Errno::AGAIN),
            sent => sent,
        }
    }

    /// A step of a wait that may not end early. A ring that takes no more calls would keep memory that is about to end.
    fn done(&mut self, wait: Option<Duration>) {
        if let Err(e) = self.enter(wait) {
            eprintln!("io_uring_enter failed with {e} while a send was under way");
            std::process::abort();
        }
    }
}

impl Drop for Ring {
    /// Ends the receive, whose buffers the kernel may write to until then.
    fn drop(&mut self) {
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
        self.push(opcode::AsyncCancel::new(RECEIVE).build().user_data(OTHER));
        for _ in 0..LET_GO {
            if !self.armed {
                break;
            }
            if self.enter(Some(LOOK)).is_err() {
                break;
            }
        }
        if !self.armed {
            // SAFETY: nothing uses the memory any more, and this value ends here.
            unsafe { ManuallyDrop::drop(&mut self.memory) };
        }
    }
}
