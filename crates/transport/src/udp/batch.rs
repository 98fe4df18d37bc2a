//! Datagrams that are sent and received several at a time.
//!
//! What is sent is held until there are as many as asked for, or until this side waits, receives, flushes or closes. So a stream pays for a
//! system call once a batch, and a message that is followed by a wait leaves at once; one that is followed by nothing waits for the next.

use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};

use super::{MOST_V6, many};

/// Room for the largest datagram, and where the next one begins.
const PLACE: usize = MOST_V6.next_multiple_of(64);

/// Datagrams that are held back, and such as came together.
pub(super) struct Batch {
    most: usize,
    /// The kernel cuts and joins datagrams of one size.
    offload: bool,
    joins: bool,
    /// Whether the kernel ever cut a batch, and whether it ever refused to.
    cut: bool,
    refused: bool,
    out: Vec<u8>,
    /// Lengths of those in `out`, and how many of them have gone.
    held: Vec<usize>,
    gone: usize,
    come: Vec<u8>,
    /// Lengths of those in `come`; the next one begins at `at` and is the one of this index.
    lens: Vec<usize>,
    next: usize,
    at: usize,
}

impl std::fmt::Debug for Batch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batch").field("most", &self.most).field("offload", &self.offload).finish_non_exhaustive()
    }
}

impl Batch {
    pub fn new(most: usize, offload: bool) -> Self {
        let most = most.clamp(1, many::MOST);
        Self {
            most,
            offload,
            joins: false,
            cut: false,
            refused: false,
            out: Vec::with_capacity(PLACE),
            held: Vec::with_capacity(most),
            gone: 0,
            come: vec![0; if offload { PLACE } else { PLACE * most }],
            lens: Vec::with_capacity(many::MOST),
            next: 0,
            at: 0,
        }
    }

    pub fn most(&self) -> usize {
        self.most
    }

    /// What came of the kernel's cutting and joining, in words.
    pub fn effect(&self) -> &'static str {
        match self.offload {
            true if self.refused && !self.cut => "off: the kernel refuses to cut messages of these sizes on this way",
            true => "on",
            false => "off",
        }
    }

    /// Whether there is room for another datagram of `len` bytes.
    pub fn takes(&self, len: usize, most: usize) -> bool {
        let (room, like) = match self.held.last() {
            // What is cut is one datagram of the largest size at most, and only the last part may be shorter.
            Some(last) if self.offload => (self.out.len() + len <= most, *last == self.held[0] && len <= self.held[0]),
            _ => (self.out.len() + len <= PLACE * self.most, true),
        };
        self.held.len() < self.most && room && like
    }

    /// Holds a datagram that [`takes`](Self::takes) has room for: whether that is the last one.
    pub fn hold(&mut self, number: &[u8], rest: &[u8]) -> bool {
        self.out.extend_from_slice(number);
        self.out.extend_from_slice(rest);
        self.held.push(number.len() + rest.len());
        self.held.len() == self.most
    }

    pub fn holds_any(&self) -> bool {
        self.gone < self.held.len()
    }

    /// Sends what is held, as much as goes; [`holds_any`](Self::holds_any) tells whether some is left.
    pub fn send(&mut self, fd: BorrowedFd<'_>, flags: SendFlags) -> Result<(), Errno> {
        let from = self.held[..self.gone].iter().sum::<usize>();
        let (out, held) = (&self.out[from..], &self.held[self.gone..]);
        let each = held.first().copied().unwrap_or(0);
        let sent = match u16::try_from(each) {
            Ok(each @ 1..) if self.offload && held.len() > 1 => match many::send_cut(fd, out, each, flags) {
                Ok(()) => {
                    self.cut = true;
                    held.len()
                }
                // Where the way is too narrow for one of them, or the device can't, they go by themselves.
                Err(Errno::MSGSIZE | Errno::INVAL | Errno::IO | Errno::OPNOTSUPP) => {
                    self.refused = true;
                    many::send(fd, out, held, flags)?
                }
                Err(e) => return Err(e),
            },
            _ => many::send(fd, out, held, flags)?,
        };
        self.gone += sent;
        if self.gone == self.held.len() {
            self.out.clear();
            self.held.clear();
            self.gone = 0;
        }
        Ok(())
    }

    pub fn has_come(&self) -> bool {
        self.next < self.lens.len()
    }

    /// The next datagram of those that came, and its length on the wire.
    pub fn take(&mut self, into: &mut [u8]) -> Option<usize> {
        let len = *self.lens.get(self.next)?;
        let fits = len.min(into.len()).min(self.come.len() - self.at);
        into[..fits].copy_from_slice(&self.come[self.at..self.at + fits]);
        self.next += 1;
        self.at += if self.offload { len } else { PLACE };
        Some(len)
    }

    /// Receives more, once all that came is taken.
    pub fn receive(&mut self, fd: BorrowedFd<'_>, flags: RecvFlags) -> Result<(), Errno> {
        self.lens.clear();
        (self.next, self.at) = (0, 0);
        if !self.offload {
            return many::receive(fd, &mut self.come, PLACE, &mut self.lens, flags);
        }
        if !self.joins {
            many::allow_joined(fd)?;
            self.joins = true;
        }
        many::receive_joined(fd, &mut self.come, &mut self.lens, flags)
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::os::fd::AsFd;

    use super::*;

    fn pair() -> (UdpSocket, UdpSocket) {
        let (a, b) = (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        a.connect(b.local_addr().unwrap()).unwrap();
        b.connect(a.local_addr().unwrap()).unwrap();
        (a, b)
    }

    /// Sends messages of these sizes through one batch, takes them out of another, and gives how many system calls each side made.
    fn carried(offload: bool, sizes: &[usize]) -> (usize, usize) {
        let (a, b) = pair();
        let (mut near, mut far) = (Batch::new(8, offload), Batch::new(8, offload));
        // As a link does before the first message, so that what comes first is joined as well.
        if offload {
            many::allow_joined(b.as_fd()).unwrap();
        }
        let (mut sends, mut receives) = (0, 0);
        let mut send = |near: &mut Batch| {
            near.send(a.as_fd(), SendFlags::empty()).unwrap();
            assert!(!near.holds_any());
            sends += 1;
        };
        for (i, size) in sizes.iter().enumerate() {
            if !near.takes(*size, super::super::MOST_V4) {
                send(&mut near);
            }
            if near.hold(&[i as u8], &vec![i as u8; size - 1]) {
                send(&mut near);
            }
        }
        if near.holds_any() {
            send(&mut near);
        }
        let mut into = vec![0; 70_000];
        for (i, size) in sizes.iter().enumerate() {
            if !far.has_come() {
                far.receive(b.as_fd(), RecvFlags::TRUNC).unwrap();
                receives += 1;
            }
            assert_eq!(far.take(&mut into), Some(*size), "message {i} of {sizes:?}");
            assert!(into[..*size].iter().all(|byte| *byte == i as u8));
        }
        assert!(!far.has_come());
        assert!(!offload || near.cut, "nothing was cut");
        assert_eq!(near.effect(), if offload { "on" } else { "off" });
        (sends, receives)
    }

    #[test]
    fn messages_come_one_by_one_and_a_batch_shares_a_call() {
        assert_eq!(carried(false, &[100; 16]), (2, 2));
        assert_eq!(carried(false, &[1, 5000, 3, 65_507, 2]).0, 1);
    }

    #[test]
    fn what_the_kernel_cuts_has_one_size_but_for_the_last() {
        assert_eq!(carried(true, &[100; 16]).0, 2);
        // A shorter one ends its batch, and so does a longer one.
        assert_eq!(carried(true, &[100, 100, 40, 40, 40, 90, 90]).0, 3);
        assert_eq!(carried(true, &[30_000; 5]).0, 3);
    }

    #[test]
    fn a_message_longer_than_its_place_tells_its_length() {
        let (a, b) = pair();
        a.send(&[7; 300]).unwrap();
        let mut far = Batch::new(4, false);
        far.receive(b.as_fd(), RecvFlags::TRUNC).unwrap();
        let mut into = [0; 100];
        assert_eq!(far.take(&mut into), Some(300));
        assert_eq!(into, [7; 100]);
    }
}
