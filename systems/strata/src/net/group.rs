//! A member that its holder polls.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::failed::Failed;
use super::network::Network;
use super::options::Options;
use super::polled::Polled;
use super::readiness::Readiness;
use super::{FOR_EVER, after, random};
use crate::addr::Endpoint;
use crate::config::Config;
use crate::event::{Delivery, Input, Output};
use crate::member::{Member, Refused};
use crate::stack::{Kind, Spec};
use crate::time::Time;
use crate::view::{View, ViewId};

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

/// Events that are given before the clock says whether the network is looked at again.
const TAKEN: usize = 32;
/// How long they are given without a look: casts that came packed are taken apart faster than a look takes, and an application that has more to do with each
/// lets the others wait no longer than for so many of them.
const LOOK: Duration = Duration::from_micros(50);

/// A member of a group.
pub struct Group {
    member: Member,
    network: Network,
    began: Instant,
    /// Events of the joining, which come first.
    kept: VecDeque<Event>,
    /// Events that were given since the last turn.
    taken: usize,
    spin: Duration,
    /// When the clock was looked at last.
    looked: Time,
    /// When the network was.
    turned: Time,
    ready: Option<Readiness>,
    /// When whoever holds it has something to do: until then is waited at most.
    pub(super) alarm: Option<Instant>,
}

impl Group {
    /// Joins: returns when a contact's group has let this member in, or at once where no contact was named.
    ///
    /// # Errors
    /// [`Failed`] says what to change.
    pub fn join(options: Options) -> Result<Self, Failed> {
        let spec: Spec = options.stack.parse()?;
        if options.bind.ip().is_unspecified() {
            return Err(Failed::Unspecified(options.bind));
        }
        if matches!(options.bind.ip(), IpAddr::V6(ip) if ip.is_unicast_link_local()) {
            return Err(Failed::LinkLocal(options.bind));
        }
        let network = Network::open(spec.carrier, options.bind, options.multicast)?;
        let addr = network.address();
        let drawn = || random().map_err(Failed::at("drawing a random number for", addr));
        let fixed = !spec.layers.contains(&Kind::Mbrship);
        let born = if fixed { 0 } else { drawn()? };
        let seed = drawn()?;
        let mut config = options.config;
        config.contacts.extend(&options.contacts);
        config.multicast = options.multicast;
        let group = config.group.clone();
        let mut member = Member::new(&spec, config, Endpoint { addr, born }, seed)?;
        member.start(Time(0));
        let mut group_of = Self {
            member,
            network,
            began: Instant::now(),
            kept: VecDeque::new(),
            taken: 0,
            spin: options.spin,
            looked: Time(0),
            turned: Time(0),
            ready: None,
            alarm: None,
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
                return Err(Failed::nobody::<Self>(contacts, group, patience, &kept));
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
        match self.ready_event() {
            Some(event) => Ok(Some(event)),
            None => self.look(timeout),
        }
    }

    /// The next event that is there, as far as [`Group::poll`] would give it without a look at the network: it asks the system for nothing.
    #[inline]
    pub fn ready_event(&mut self) -> Option<Event> {
        if self.taken >= TAKEN {
            if self.now().since(self.turned) >= LOOK {
                return None;
            }
            self.taken = 0;
        }
        self.taken += 1;
        self.told()
    }

    /// As [`Group::poll`], with a look at the network first.
    fn look(&mut self, timeout: Duration) -> Result<Option<Event>, Failed> {
        self.taken = 0;
        let (began, until) = (Instant::now(), after(timeout));
        loop {
            let more = self.turn()?;
            if let Some(event) = self.told() {
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
        let made = |source| Failed::Io { what: "making a descriptor to wait for".to_owned(), source };
        let ready = match self.ready.take() {
            Some(ready) => ready,
            None => Readiness::over(self.network.descriptors()).map_err(made)?,
        };
        let due = self.due();
        let ready = self.ready.insert(ready);
        ready.within(due).map_err(timer)?;
        Ok((*ready).as_fd())
    }

    /// The descriptor becomes readable when something is to be done, at once where events wait.
    fn arm(&mut self) -> Result<(), Failed> {
        let Some(ready) = self.ready.take() else { return Ok(()) };
        let due = self.due();
        self.ready.insert(ready).within(due).map_err(timer)
    }

    /// When there is something to do, also if nothing comes.
    fn due(&mut self) -> Option<Duration> {
        if self.waiting() == 0 && self.network.watch() {
            let timer = self.member.deadline().map(|at| at.since(self.now()));
            timer.into_iter().chain(self.alarm.map(left)).min()
        } else {
            Some(Duration::ZERO)
        }
    }

    /// Sleeps until something comes, a timer is due, or the time is over.
    pub(super) fn wait(&mut self, most: Duration, also: Option<BorrowedFd>) -> Result<(), Failed> {
        if !self.network.watch() {
            return Ok(());
        }
        let most = self.alarm.map_or(most, |at| left(at).min(most)).min(FOR_EVER);
        let due = self.member.deadline().map_or(most, |at| at.since(self.now()).min(most));
        let of_all = self.network.descriptors().chain(also);
        let mut fds: Vec<_> = of_all.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
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
        // A timer that can't be set is told by the next poll.
        let _ = self.arm();
    }

    fn drain(&mut self) {
        while let Some(output) = self.member.for_network() {
            match output {
                Output::Transmit(to, msg) => self.network.put(to, &msg),
                Output::Multicasts(by, multicasts) => self.network.told(by, multicasts),
                _ => {}
            }
        }
        self.network.flush();
    }
}

impl Polled for Group {
    type Told = Event;

    fn join(options: Options) -> Result<Self, Failed> {
        Group::join(options)
    }

    fn largest(config: &Config) -> usize {
        config.message
    }

    fn try_cast(&mut self, body: Bytes) -> Result<(), Refused> {
        Group::try_cast(self, body)
    }

    fn try_send(&mut self, to: Endpoint, body: Bytes) -> Result<(), Refused> {
        Group::try_send(self, to, body)
    }

    fn leave(&mut self) {
        Group::leave(self);
    }

    fn group(&mut self) -> &mut Group {
        self
    }

    fn turn(&mut self) -> Result<bool, Failed> {
        if self.member.is_gone() {
            return Ok(false);
        }
        let now = self.now();
        let member = &mut self.member;
        let more = self.network.receive(|input| member.handle(now, input));
        let more = more.map_err(|source| Failed::Io { what: "receiving".to_owned(), source })?;
        let now = self.now();
        if self.member.deadline().is_some_and(|at| at <= now) {
            self.member.handle(now, Input::Timer);
        }
        (self.looked, self.turned) = (now, now);
        self.member.handle(now, Input::Idle);
        if let Some(text) = self.network.notice(now) {
            self.kept.push_back(Event::Notice(text));
        }
        self.drain();
        Ok(more)
    }

    #[inline]
    fn told(&mut self) -> Option<Event> {
        if !self.kept.is_empty() {
            return self.kept.pop_front();
        }
        self.member.for_application().and_then(event)
    }

    fn waiting(&self) -> usize {
        self.kept.len() + self.member.untold()
    }

    fn notice(text: String) -> Event {
        Event::Notice(text)
    }

    fn text(told: &Event) -> Option<&str> {
        if let Event::Notice(text) = told { Some(text) } else { None }
    }

    fn is_last(told: &Event) -> bool {
        matches!(told, Event::Left)
    }
}

/// Until that moment.
fn left(at: Instant) -> Duration {
    at.saturating_duration_since(Instant::now())
}

fn timer(source: io::Error) -> Failed {
    Failed::Io { what: "setting a timer".to_owned(), source }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    #[test]
    fn a_descriptor_tells_of_what_follows_from_leaving() {
        let mut alone = Group::join(Options::default()).unwrap();
        while alone.poll(Duration::ZERO).unwrap().is_some() {}
        alone.descriptor().unwrap();
        alone.leave();
        // An event loop: it polls when the descriptor says so, and then until nothing comes.
        loop {
            let ready = alone.ready.as_ref().unwrap().as_fd();
            let mut fds = [PollFd::from_borrowed_fd(ready, PollFlags::IN)];
            assert_eq!(poll(&mut fds, Some(&Timespec { tv_sec: 60, tv_nsec: 0 })), Ok(1), "it waits in vain");
            while let Some(event) = alone.poll(Duration::ZERO).unwrap() {
                if matches!(event, Event::Left) {
                    return;
                }
            }
        }
    }

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
