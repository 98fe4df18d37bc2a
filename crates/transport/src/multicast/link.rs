//! [`Multicast`]: one member of a group over UDP multicast.

use std::io::{IoSlice, IoSliceMut};
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvFlags, SendFlags, recv, recvmsg, sendmsg_addr};

use super::capabilities;
use super::header::{ALL, GroupKey, HEADER, Header};
use super::interface::Interface;
use super::place::Place;
use crate::ip::busy_poll;
use crate::meet::Made;
use crate::patience::LOOK;
use crate::sequence::{Counters, DatagramCounts, Tracker};
use crate::settings::{Effective, LOSS};
use crate::sys::{self, Idle, RECEIVING, SENDING};
use crate::{Capabilities, Delivered, Group, Link, LinkError, Patience, VisitGroup, Wait};

/// The number of the first cast of a member, and of its first answer to each other one.
const FIRST: u32 = 1;

/// Datagrams of strangers that are thrown away in one look at what is there: one who sends for ever must not hold this side.
const STRANGERS: u32 = 10_000;

/// A member's place in its group.
pub(super) struct Seat {
    pub group: SocketAddr,
    pub key: GroupKey,
    pub rank: u16,
    pub members: u16,
    /// Ranks and addresses of members that it has met.
    pub met: Vec<(u16, SocketAddr)>,
}

/// What is known of another member.
#[derive(Clone)]
struct Other {
    casts: Tracker,
    answers: Tracker,
    /// The number of the next answer to it.
    next: u32,
    /// Where it is answered; none where this member did not meet it and no cast of it was delivered.
    at: Option<SocketAddr>,
    /// Where its casts come from, by the same port: another address where the group's interface is not that of the meeting.
    casts_from: Option<SocketAddr>,
}

impl Other {
    /// Whether a datagram from there can be its own. A member sends by one socket: another one that says to have its rank is none. The address
    /// that its casts have may become another one: over IPv6 an interface has its own some seconds after it came up.
    #[inline]
    fn sends(&self, by: By, from: Option<SocketAddr>) -> bool {
        match (by, self.casts_from, self.at) {
            (By::Own, _, Some(known)) => from == Some(known),
            (By::Joined, Some(known), _) | (By::Joined, None, Some(known)) => {
                from.is_some_and(|from| from.port() == known.port())
            }
            (_, _, None) => true,
        }
    }
}

/// One member of a group: a socket that has joined it, and one of its own.
pub struct Multicast {
    joined: OwnedFd,
    own: OwnedFd,
    seat: Seat,
    place: Place,
    /// Largest message.
    most: usize,
    described: String,
    others: Vec<Other>,
    /// The number of the next cast.
    next: u32,
    counters: Counters,
    reading: RecvFlags,
    writing: SendFlags,
    wait: Wait,
    loss: Duration,
    closed: bool,
    patience: Patience,
}

/// Which of its sockets a member receives by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Joined,
    Own,
}

impl Multicast {
    pub(super) fn new(
        joined: OwnedFd,
        own: OwnedFd,
        seat: Seat,
        (place, interface): (&Place, &Interface),
        made: &Made,
    ) -> Result<Self, LinkError> {
        let loss = made.settings.real("loss-timeout").unwrap_or(LOSS);
        let loss = Duration::try_from_secs_f64(loss).unwrap_or(made.patience.limit).min(made.patience.limit);
        // A time-out of zero would mean none at all.
        let receive = loss.clamp(Duration::from_millis(1), LOOK);
        sys::modes(joined.as_fd(), made.wait, RecvFlags::TRUNC, receive)?;
        let (reading, writing) = sys::modes(own.as_fd(), made.wait, RecvFlags::TRUNC, receive)?;
        if made.wait == Wait::BusyPoll {
            busy_poll(joined.as_fd())?;
            busy_poll(own.as_fd())?;
        }
        let other =
            Other { casts: Tracker::new(FIRST), answers: Tracker::new(FIRST), next: FIRST, at: None, casts_from: None };
        let mut others = vec![other; usize::from(seat.members)];
        for (rank, at) in &seat.met {
            others[usize::from(*rank)].at = Some(*at);
        }
        let described = format!(
            "{} by {}, ttl {}, member {} of {}",
            seat.group, interface.name, place.ttl, seat.rank, seat.members
        );
        Ok(Self {
            joined,
            own,
            place: place.clone(),
            most: place.most(),
            described,
            others,
            seat,
            next: FIRST,
            counters: Counters::default(),
            reading,
            writing,
            wait: made.wait,
            loss,
            closed: false,
            patience: made.patience.clone(),
        })
    }

    /// Sends a datagram.
    #[inline]
    fn put(&self, header: Header, at: SocketAddr, message: &[u8]) -> Result<(), LinkError> {
        if self.closed {
            return Err(LinkError::Closed { doing: SENDING });
        }
        if message.len() > self.most {
            return Err(LinkError::TooLarge { asked: message.len() as u64, most: self.most as u64 });
        }
        let header = header.sealed(&self.seat.key, message.len());
        let slices = [IoSlice::new(&header), IoSlice::new(message)];
        let mut idle = Idle::default();
        while let Err(e) = sendmsg_addr(&self.own, &at, &slices, &mut Default::default(), self.writing) {
            match e {
                Errno::AGAIN if self.wait == Wait::Spin => idle.spun(&self.patience, SENDING)?,
                Errno::AGAIN => idle.waited(&self.patience, SENDING, LOOK)?,
                e => sys::again(e, &self.patience, SENDING)?,
            }
        }
        Ok(())
    }

    /// Receives the next message by this socket that is a member's, is no older than one that came, and has the length of `message`.
    #[inline]
    fn take(&mut self, by: By, message: &mut [u8]) -> Result<Delivered, LinkError> {
        if self.closed {
            return Err(LinkError::Closed { doing: RECEIVING });
        }
        let (mut since, mut polls) = (None, 0u32);
        loop {
            let mut header = [0; HEADER];
            let wanted = message.len();
            let mut slices = [IoSliceMut::new(&mut header), IoSliceMut::new(&mut *message)];
            let fd = if by == By::Joined { &self.joined } else { &self.own };
            match recvmsg(fd, &mut slices, &mut RecvAncillaryBuffer::default(), self.reading) {
                Ok(m) => {
                    let from = m.address.and_then(|at| SocketAddr::try_from(at).ok());
                    if let Some(delivered) = self.fresh(by, &header, m.bytes, wanted, from) {
                        return Ok(delivered);
                    }
                    self.lost(&mut since, Duration::ZERO)?;
                }
                Err(Errno::AGAIN) if self.wait != Wait::Spin => self.lost(&mut since, self.loss.min(LOOK))?,
                Err(Errno::AGAIN) => {
                    polls = polls.wrapping_add(1);
                    if polls % 64 == 0 {
                        self.lost(&mut since, Duration::ZERO)?;
                    }
                }
                Err(e) => sys::again(e, &self.patience, RECEIVING)?,
            }
        }
    }

    /// The header of a datagram of so many bytes that came by this socket; none where no member sent it here.
    #[inline]
    fn opened(&self, by: By, header: &[u8; HEADER], bytes: usize) -> Option<Header> {
        let header = Header::opened(header, &self.seat.key, bytes.checked_sub(HEADER)?)?;
        let to = if by == By::Joined { ALL } else { self.seat.rank };
        let known = header.from < self.seat.members && header.from != self.seat.rank;
        (known && header.to == to).then_some(header)
    }

    /// Whose message a datagram is; none where it is not to be handed on.
    #[inline]
    fn fresh(
        &mut self,
        by: By,
        header: &[u8; HEADER],
        bytes: usize,
        wanted: usize,
        at: Option<SocketAddr>,
    ) -> Option<Delivered> {
        let Some(Header { number, from, .. }) = self.opened(by, header, bytes) else {
            self.counters.strangers += 1;
            return None;
        };
        let other = &mut self.others[usize::from(from)];
        if !other.sends(by, at) {
            self.counters.strangers += 1;
            return None;
        }
        let tracker = if by == By::Joined { &mut other.casts } else { &mut other.answers };
        let arrival = tracker.arrived(number, 4);
        if by == By::Joined {
            other.casts_from = at;
            other.at = other.at.or(at);
        }
        let delivered = Delivered { from: from.into(), number };
        self.counters.note(arrival, bytes == wanted + HEADER).then_some(delivered)
    }

    /// Between two looks of a receive that has nothing yet: whether the wait goes on.
    #[cold]
    fn lost(&self, since: &mut Option<Instant>, waited: Duration) -> Result<(), LinkError> {
        if self.patience.stopped() {
            return Err(LinkError::Interrupted);
        }
        let now = Instant::now();
        let since = since.get_or_insert_with(|| now.checked_sub(waited).unwrap_or(now));
        if now.duration_since(*since) >= self.loss { Err(LinkError::Lost) } else { Ok(()) }
    }
}

impl Group for Multicast {
    fn members(&self) -> u32 {
        self.seat.members.into()
    }

    fn rank(&self) -> u32 {
        self.seat.rank.into()
    }

    #[inline]
    fn cast(&mut self, message: &[u8]) -> Result<u32, LinkError> {
        let number = self.next;
        self.put(Header { number, from: self.seat.rank, to: ALL }, self.seat.group, message)?;
        self.next = number.wrapping_add(1);
        Ok(number)
    }

    fn leave_out(&mut self, casts: u32) -> Option<u32> {
        self.next = self.next.wrapping_add(casts);
        Some(self.next.wrapping_sub(1))
    }

    #[inline]
    fn deliver(&mut self, message: &mut [u8]) -> Result<Delivered, LinkError> {
        self.take(By::Joined, message)
    }

    #[inline]
    fn answer(&mut self, to: u32, message: &[u8]) -> Result<(), LinkError> {
        let unknown = LinkError::Unsupported("answer a member that it has not met and of which no cast was delivered");
        let Some(Other { next, at: Some(at), .. }) = self.others.get(to as usize) else { return Err(unknown) };
        let (number, at) = (*next, *at);
        self.put(Header { number, from: self.seat.rank, to: to as u16 }, at, message)?;
        self.others[to as usize].next = number.wrapping_add(1);
        Ok(())
    }

    #[inline]
    fn answered(&mut self, message: &mut [u8]) -> Result<u32, LinkError> {
        Ok(self.take(By::Own, message)?.from)
    }
}

impl Link for Multicast {
    fn capabilities(&self) -> Capabilities {
        capabilities(&self.place)
    }

    fn effective(&self) -> Effective {
        sys::effective(self.joined.as_fd(), self.wait, Some(self.described.clone()))
    }

    fn datagrams(&self) -> Option<DatagramCounts> {
        Some(self.counters.counts())
    }

    fn group(&mut self) -> Option<&mut dyn Group> {
        Some(self)
    }

    fn visit_group<V: VisitGroup>(&mut self, visitor: V) -> Option<V::Out> {
        Some(visitor.visit(self))
    }

    #[inline]
    fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
        self.cast(message).map(drop)
    }

    #[inline]
    fn recv(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
        self.deliver(message).map(drop)
    }

    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        // A cast never waits for a receiver.
        self.send(out)?;
        self.recv(into)
    }

    /// What strangers sent is no message: it is thrown away here, too.
    fn ready(&mut self, wait: Duration) -> Result<bool, LinkError> {
        let start = Instant::now();
        for _ in 0..STRANGERS {
            let left = wait.saturating_sub(start.elapsed());
            if !sys::readable(&self.joined, left, self.wait == Wait::Spin, &self.patience)? {
                return Ok(false);
            }
            let mut header = [0; HEADER];
            let look = RecvFlags::DONTWAIT | RecvFlags::TRUNC;
            match recv(&self.joined, &mut header[..], look | RecvFlags::PEEK) {
                Ok((_, bytes)) if self.opened(By::Joined, &header, bytes).is_some() => return Ok(true),
                Ok(_) => {
                    self.counters.strangers += 1;
                    let _ = recv(&self.joined, &mut header[..], look);
                }
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(e) => return Err(sys::fault(e, RECEIVING)),
            }
        }
        Ok(false)
    }

    fn close(&mut self) -> Result<(), LinkError> {
        self.closed = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::TRANSPORT;
    use super::*;
    use crate::port::Transport;
    use crate::{AnyLink, Proof, Settings};

    /// The members of a group of three.
    fn three() -> Vec<Multicast> {
        let settings = Settings::default().with("loss-timeout", 0.05);
        let patience = Patience::default();
        let at = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut doors: Vec<_> = (1..3).map(|_| TRANSPORT.listen(&settings, at, &patience).unwrap()).collect();
        let told: Vec<_> = doors.iter().map(|door| (door.address(), at)).collect();
        let proofs = [1, 2].map(|n| Proof { near: [n; 32], far: [!n; 32] });
        let links: Vec<AnyLink> = std::thread::scope(|s| {
            let far: Vec<_> = doors.iter_mut().zip(&proofs).map(|(door, p)| s.spawn(|| door.accept(p))).collect();
            let near = TRANSPORT.gather(&settings, &told, &proofs, &patience).unwrap();
            std::iter::once(near).chain(far.into_iter().map(|far| far.join().unwrap().unwrap())).collect()
        });
        links.into_iter().map(|link| link.into_end::<Multicast>().unwrap().into_link()).collect()
    }

    #[test]
    fn casts_may_come_from_another_address_of_the_same_socket() {
        let at = |address: &str| Some(address.parse::<SocketAddr>().unwrap());
        let members = three();
        let other = Other { at: at("[fd00::1]:500"), casts_from: at("[fd00::1]:500"), ..members[0].others[1].clone() };
        for (by, from, is) in [
            (By::Joined, at("[fe80::1]:500"), true),
            (By::Joined, at("[fe80::1]:501"), false),
            (By::Joined, None, false),
            (By::Own, at("[fd00::1]:500"), true),
            (By::Own, at("[fe80::1]:500"), false),
        ] {
            assert_eq!(other.sends(by, from), is, "{from:?}");
        }
    }

    #[test]
    fn a_member_that_says_to_have_another_ones_rank_is_not_believed() {
        let mut links = three();
        links[0].cast(&[1; 10]).unwrap();
        links[1].deliver(&mut [0; 10]).unwrap();
        for rank in [0, 2, 3, ALL] {
            links[1].seat.rank = rank;
            links[1].answer(0, &[1]).unwrap();
            assert!(matches!(links[0].answered(&mut [0]), Err(LinkError::Lost)), "{rank}");
        }
        assert_eq!(links[0].datagrams().unwrap().strangers, 4);
        links[1].seat.rank = 1;
        links[1].others[0].next = FIRST;
        links[1].answer(0, &[1]).unwrap();
        assert_eq!(links[0].answered(&mut [0]).unwrap(), 1);
    }
}
