//! A member that its holder polls.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use ring::rand::{SecureRandom, SystemRandom};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::hearing::Hearing;
use super::lanes::Lanes;
use super::readiness::Readiness;
use super::socket::Socket;
use super::{FOR_EVER, after};
use crate::addr::Endpoint;
use crate::config::Config;
use crate::event::{Delivery, Input, Output, To};
use crate::member::{Member, Refused, Unbuilt};
use crate::stack::{Carrier, Kind, Malformed, Spec};
use crate::time::Time;
use crate::view::{View, ViewId};

/// How to join.
#[derive(Debug, Clone)]
pub struct Options {
    /// The stack, such as `FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:udp`: the same for all members.
    pub stack: String,
    /// This member's address, which the others must reach: not 0.0.0.0. Port 0 lets the kernel choose.
    pub bind: SocketAddr,
    /// Addresses of members that are asked to let this one in. None: this member is the first.
    pub contacts: Vec<SocketAddr>,
    /// Where casts go, for stacks over `multicast`.
    pub multicast: Option<SocketAddrV4>,
    /// How long is asked before [`Failed::Nobody`]. Zero: the contacts are asked, and [`Group::join`] returns at once; a view with others tells when they have let this member in. Stacks with MERGE
    /// go on asking, others give up after half a second.
    pub patience: Duration,
    /// How long [`Group::poll`] looks at the network again and again before it sleeps: saves the time of waking up, costs a CPU.
    pub spin: Duration,
    /// The rest. Its `group` names the group.
    pub config: Config,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            stack: "FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:udp".to_owned(),
            bind: SocketAddr::from(([127, 0, 0, 1], 0)),
            contacts: Vec::new(),
            multicast: None,
            patience: Duration::from_secs(5),
            spin: Duration::ZERO,
            config: Config::default(),
        }
    }
}

/// Why a group could not be joined, or can't go on.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// The stack's string.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The stack.
    #[error(transparent)]
    Unbuilt(#[from] Unbuilt),
    /// An unusable address.
    #[error("{0} is no address that others can reach this member at: bind to the address of one interface")]
    Unspecified(SocketAddr),
    /// An address that only one host understands.
    #[error(
        "{0} is link-local: it says something on one host only, where an interface is named with it, and members tell each other addresses: bind to a global or unique local (fd00::/8) IPv6 address, or to an IPv4 address"
    )]
    LinkLocal(SocketAddr),
    /// A carrier that needs more, or is none here.
    #[error("the stack's carrier is {0}: {1}")]
    Carrier(&'static str, &'static str),
    /// A system call.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// What the system said.
        source: io::Error,
    },
    /// No contact let this member in.
    #[error(
        "none of {contacts:?} let this member into the group {group:?} within {waited:?}: is a member of it there, with the same stack and key? {notice}"
    )]
    Nobody {
        /// Who was asked.
        contacts: Vec<SocketAddr>,
        /// Which group.
        group: String,
        /// How long.
        waited: Duration,
        /// What came meanwhile, if that tells anything.
        notice: String,
    },
}

/// What happens in a group.
#[derive(Debug, Clone)]
pub enum Event {
    /// A message.
    Message(Delivery),
    /// The view from here on.
    View(Arc<View>),
    /// How many casts of each rank are stable.
    Stable(Arc<Vec<u64>>),
    /// TRACE says.
    Trace(String),
    /// Something to tell a person.
    Notice(String),
    /// This member has left: there is nothing after it.
    Left,
}

/// Events that are given before the network is looked at again.
const TAKEN: usize = 32;

/// A member of a group.
pub struct Group {
    member: Member,
    socket: Socket,
    casts: Option<(Socket, SocketAddr)>,
    hearing: Hearing,
    lanes: Lanes,
    began: Instant,
    /// Events of the joining, which come first.
    kept: VecDeque<Event>,
    /// Events that were given since the last turn.
    taken: usize,
    spin: Duration,
    /// When the clock was looked at last.
    looked: Time,
    ready: Option<Readiness>,
}

impl Group {
    /// Joins: returns when a contact's group has let this member in, or at once where no contact was named.
    ///
    /// # Errors
    /// [`Failed`] says what to change.
    pub fn join(options: Options) -> Result<Self, Failed> {
        let spec: Spec = options.stack.parse()?;
        let io = |what: &str, at: SocketAddr| {
            let what = format!("{what} {at}");
            move |source| Failed::Io { what, source }
        };
        if options.bind.ip().is_unspecified() {
            return Err(Failed::Unspecified(options.bind));
        }
        if matches!(options.bind.ip(), IpAddr::V6(ip) if ip.is_unicast_link_local()) {
            return Err(Failed::LinkLocal(options.bind));
        }
        let socket = Socket::bind(options.bind)
            .map_err(io("binding to a free port at an address of this host, here", options.bind))?;
        let addr = socket.address().map_err(io("asking for the address of", options.bind))?;
        let casts = match (spec.carrier, options.multicast, addr.ip()) {
            (Carrier::Udp, _, _) => None,
            (Carrier::Sim, _, _) => return Err(Failed::Carrier("sim", "it is for `strata sim` only; write udp")),
            (Carrier::Multicast, Some(group), IpAddr::V4(interface))
                if group.ip().is_multicast() && group.port() != 0 =>
            {
                let at = SocketAddr::V4(group);
                socket.multicast_from(interface).map_err(io("choosing the interface for", at))?;
                Some((Socket::join(group, interface).map_err(io("joining the multicast group", at))?, at))
            }
            (Carrier::Multicast, ..) => {
                return Err(Failed::Carrier(
                    "multicast",
                    "give an IPv4 multicast address with a port, such as 239.1.2.3:7000, and bind to an IPv4 address",
                ));
            }
        };
        let fixed = !spec.layers.contains(&Kind::Mbrship);
        let born = if fixed { 0 } else { random().map_err(io("drawing a random number for", addr))? };
        let seed = random().map_err(io("drawing a random number for", addr))?;
        let mut config = options.config;
        config.contacts.extend(&options.contacts);
        config.multicast = options.multicast;
        let group = config.group.clone();
        let mut member = Member::new(&spec, config, Endpoint { addr, born }, seed)?;
        member.start(Time(0));
        let mut group_of = Self {
            member,
            socket,
            casts,
            hearing: Hearing::default(),
            lanes: Lanes::default(),
            began: Instant::now(),
            kept: VecDeque::new(),
            taken: 0,
            spin: options.spin,
            looked: Time(0),
            ready: None,
        };
        group_of.drain();
        if options.patience.is_zero() && !fixed {
            for &contact in &options.contacts {
                group_of.handle(Input::Merge(contact));
            }
        } else if !options.contacts.is_empty() && !fixed {
            group_of.enter(&options.contacts, group, options.patience)?;
        }
        Ok(group_of)
    }

    fn enter(&mut self, contacts: &[SocketAddr], group: String, patience: Duration) -> Result<(), Failed> {
        let began = Instant::now();
        let mut kept = VecDeque::new();
        while self.member.view().is_none_or(|v| v.members.len() < 2) {
            if began.elapsed() > patience {
                let notice = kept.iter().rev().find_map(|e| match e {
                    Event::Notice(text) => Some(format!("What came: {text}.")),
                    _ => None,
                });
                return Err(Failed::Nobody {
                    contacts: contacts.to_vec(),
                    group,
                    waited: patience,
                    notice: notice.unwrap_or_default(),
                });
            }
            for &contact in contacts {
                self.handle(Input::Merge(contact));
            }
            let until = Instant::now() + Duration::from_millis(200).min(patience);
            while Instant::now() < until && self.member.view().is_none_or(|v| v.members.len() < 2) {
                kept.extend(self.poll(until.saturating_duration_since(Instant::now()))?);
            }
        }
        // An event that was put off may be there already.
        kept.append(&mut self.kept);
        self.kept = kept;
        Ok(())
    }

    /// Who this is.
    pub fn me(&self) -> Endpoint {
        self.member.me()
    }

    /// The view that was told last.
    pub fn view(&self) -> Option<&Arc<View>> {
        self.member.view()
    }

    /// Bytes of own messages that wait, or that not all members have.
    pub fn backlog(&self) -> usize {
        self.member.backlog()
    }

    /// Casts to all members of the view, this one included. It goes out with the next [`Group::poll`] or [`Group::flush`], packed with its like where the stack has FC.
    ///
    /// # Errors
    /// [`Refused`]: nothing was taken. Poll, then try again where it would block.
    pub fn try_cast(&mut self, body: impl Into<Bytes>) -> Result<(), Refused> {
        // What goes out goes with the next turn, which looks at the clock.
        self.member.try_cast(self.looked, body.into())
    }

    /// Sends to one member of the view. To who is not in it any more nothing is sent.
    ///
    /// # Errors
    /// As [`Group::try_cast`].
    pub fn try_send(&mut self, to: Endpoint, body: impl Into<Bytes>) -> Result<(), Refused> {
        let now = self.now();
        self.member.try_send(now, to, body.into())
    }

    /// Sends what was cast.
    pub fn flush(&mut self) {
        self.handle(Input::Idle);
        // A timer that can't be set is told by the next poll.
        let _ = self.arm();
    }

    /// Acknowledges casts of a member, up to this number of them, where `app_acks` is set. The view is the one that came last before them as an [`Event::View`], which may be earlier than [`Group::view`]: then nothing is acknowledged.
    pub fn ack(&mut self, view: ViewId, whose: Endpoint, upto: u64) {
        self.handle(Input::Ack(view, whose, upto));
    }

    /// Says that a member has failed, as somebody knows from elsewhere.
    pub fn suspect(&mut self, whom: Endpoint) {
        self.handle(Input::Suspect(whom));
    }

    /// Begins to leave: [`Event::Left`] comes when the others have all that this member cast, or after `Config::drain` and a view change; then an [`Event::Notice`] before it says how many casts may be lost.
    pub fn leave(&mut self) {
        self.handle(Input::Leave);
    }

    /// After [`Event::Left`]: casts of this member that others may lack. An [`Event::Notice`] says the same.
    pub fn may_lack(&self) -> u64 {
        self.member.may_lack()
    }

    /// Whether it has left, so that nothing more will come.
    pub fn has_left(&self) -> bool {
        self.member.is_gone() && self.waiting() == 0
    }

    /// The next event, at the latest after `timeout`. Does all that the group needs of this member meanwhile.
    ///
    /// # Errors
    /// [`Failed::Io`].
    #[inline]
    pub fn poll(&mut self, timeout: Duration) -> Result<Option<Event>, Failed> {
        // Each turn costs system calls, so that events which are there go first; but not for long, since the others wait for answers.
        if self.taken < TAKEN
            && let Some(event) = self.event()
        {
            self.taken += 1;
            return Ok(Some(event));
        }
        self.look(timeout)
    }

    /// As [`Group::poll`], with a look at the network first.
    fn look(&mut self, timeout: Duration) -> Result<Option<Event>, Failed> {
        self.taken = 0;
        let (began, until) = (Instant::now(), after(timeout));
        loop {
            let more = self.turn()?;
            if let Some(event) = self.event() {
                return Ok(Some(event));
            }
            let now = Instant::now();
            let left = until.saturating_duration_since(now);
            if self.member.is_gone() || (left.is_zero() && !more) {
                self.arm()?;
                return Ok(None);
            }
            if !(more || now.duration_since(began) < self.spin) {
                self.wait(left, None)?;
            }
        }
    }

    /// A descriptor that is readable when [`Group::poll`] has something to do, for an event loop of your own: poll until nothing comes, then wait for it. What was cast or sent since must be
    /// flushed before.
    ///
    /// # Errors
    /// Where the system gives none.
    pub fn descriptor(&mut self) -> Result<BorrowedFd<'_>, Failed> {
        if self.ready.is_none() {
            let casts = self.casts.iter().map(|(s, _)| s.as_fd());
            let ready = Readiness::over(std::iter::once(self.socket.as_fd()).chain(casts));
            self.ready = Some(
                ready.map_err(|source| Failed::Io { what: "making a descriptor to wait for".to_owned(), source })?,
            );
        }
        self.arm()?;
        match &self.ready {
            Some(ready) => Ok(ready.as_fd()),
            None => Ok(self.socket.as_fd()),
        }
    }

    /// The descriptor becomes readable when something is to be done, at once where events wait.
    fn arm(&self) -> Result<(), Failed> {
        let Some(ready) = &self.ready else { return Ok(()) };
        let due = if self.waiting() == 0 {
            self.member.deadline().map(|at| at.since(self.now()))
        } else {
            Some(Duration::ZERO)
        };
        ready.within(due).map_err(|source| Failed::Io { what: "setting a timer".to_owned(), source })
    }

    /// An event that is there already.
    #[inline]
    pub(super) fn event(&mut self) -> Option<Event> {
        if !self.kept.is_empty() {
            return self.kept.pop_front();
        }
        self.member.for_application().and_then(event)
    }

    /// Events that wait.
    pub(super) fn waiting(&self) -> usize {
        self.kept.len() + self.member.untold()
    }

    /// Takes what has come, runs timers, sends what there is to send. Whether more may have come.
    pub(super) fn turn(&mut self) -> Result<bool, Failed> {
        if self.member.is_gone() {
            return Ok(false);
        }
        let now = self.now();
        let member = &mut self.member;
        let mut more = false;
        let (me, hearing) = (member.me().addr, &mut self.hearing);
        let mut receive = |socket: &mut Socket, to_all: bool| {
            socket
                .receive(|from, bytes| {
                    if to_all && from != me {
                        hearing.heard(from);
                    }
                    let came = if to_all { Input::Multicast } else { Input::Datagram };
                    member.handle(now, came(from, bytes));
                })
                .map_err(|source| Failed::Io { what: "receiving".to_owned(), source })
        };
        more |= receive(&mut self.socket, false)?;
        let mut taken = None;
        if let Some((socket, group)) = &mut self.casts {
            let multicasts = receive(socket, true)?;
            // What members said how many they sent came before this.
            taken = (!multicasts).then_some(*group);
            more |= multicasts;
        }
        let now = self.now();
        if self.member.deadline().is_some_and(|at| at <= now) {
            self.member.handle(now, Input::Timer);
        }
        self.looked = now;
        self.member.handle(now, Input::Idle);
        if let Some(text) = taken.and_then(|group| self.hearing.taken(now, group, me)) {
            self.kept.push_back(Event::Notice(text));
        }
        self.drain();
        Ok(more)
    }

    /// Sleeps until something comes, a timer is due, or the time is over.
    pub(super) fn wait(&self, most: Duration, also: Option<BorrowedFd>) -> Result<(), Failed> {
        let most = most.min(FOR_EVER);
        let due = self.member.deadline().map_or(most, |at| at.since(self.now()).min(most));
        let mut fds = vec![PollFd::from_borrowed_fd(self.socket.as_fd(), PollFlags::IN)];
        fds.extend(self.casts.iter().map(|(s, _)| PollFd::from_borrowed_fd(s.as_fd(), PollFlags::IN)));
        fds.extend(also.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        let time = Timespec { tv_sec: due.as_secs() as i64, tv_nsec: i64::from(due.subsec_nanos()) };
        match poll(&mut fds, Some(&time)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(e) => Err(Failed::Io { what: "waiting for datagrams".to_owned(), source: e.into() }),
        }
    }

    fn now(&self) -> Time {
        Time(u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    pub(super) fn handle(&mut self, input: Input) {
        let now = self.now();
        self.looked = now;
        self.member.handle(now, input);
        self.member.handle(now, Input::Idle);
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(output) = self.member.for_network() {
            match output {
                Output::Transmit(To::One(to), msg) => self.lanes.put(to, &msg, &self.socket),
                Output::Transmit(To::All, msg) => {
                    if let Some((_, group)) = &self.casts {
                        self.lanes.put(*group, &msg, &self.socket);
                    }
                }
                Output::Multicasts(by, multicasts) if self.casts.is_some() => self.hearing.told(by, multicasts),
                _ => {}
            }
        }
        self.lanes.flush(&self.socket);
    }
}

#[inline]
fn event(output: Output) -> Option<Event> {
    Some(match output {
        Output::Deliver(delivery) => Event::Message(delivery),
        Output::View(view) => Event::View(view),
        Output::Stable(counts) => Event::Stable(counts),
        Output::Trace(text) => Event::Trace(text),
        Output::Notice(text) => Event::Notice(text),
        Output::Exit => Event::Left,
        Output::Transmit(..) | Output::SetTimer(_) | Output::Multicasts(..) => return None,
    })
}

fn random() -> io::Result<u64> {
    let mut bytes = [0; 8];
    SystemRandom::new().fill(&mut bytes).map_err(|_| io::Error::other("the system's random numbers are not there"))?;
    Ok(u64::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_comes_to_whom_waits_for_ever() {
        let config = Config { drain: Duration::MAX, ..Config::default() };
        let mut alone = Group::join(Options { config, ..Options::default() }).unwrap();
        assert!(matches!(alone.poll(Duration::MAX), Ok(Some(Event::View(_)))));
        alone.try_cast(&b"x"[..]).unwrap();
        assert!(matches!(alone.poll(Duration::MAX), Ok(Some(Event::Message(_)))));
        alone.leave();
        assert!(matches!(alone.poll(Duration::MAX), Ok(Some(Event::Left))));
        assert!(matches!(alone.poll(Duration::MAX), Ok(None)));
    }
}
