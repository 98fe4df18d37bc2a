//! Starts the processes of a path, and opens the connections between them.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use measure::{SessionError, Topology};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use transport::settings::Effective;
use transport::{Proof, preload};

use super::GroupSession;
use super::blame::{Finding, Shape, What, Who};
use super::member::{Member, Stands};
use crate::allocation::Place;
use crate::member::message::{Dial, Endpoint};
use crate::message::FarPin;
use crate::near::control::Share;
use crate::near::launch::{FAR, Starting};
use crate::near::meeting::{self, Meeting, Terms};
use crate::near::seats::Seats;
use crate::near::session::Reach;
use crate::{MeetError, agree};

/// The processes of an open path, which end with it where they were started for it.
pub(super) struct Open {
    /// Near processes; none once their trial failed.
    pub members: Vec<Member>,
    pub fars: Vec<Rc<RefCell<Meeting>>>,
    /// Numbers of the first connection at each far process.
    pub numbers: Vec<u64>,
    /// What took effect on each connection, here and there.
    pub effective: Vec<(Effective, Effective)>,
    /// A CPU for each connection, here and there; empty where they keep to none in particular.
    pub cpus: (Vec<u32>, Vec<Option<u32>>),
    pub used: bool,
    /// Declared last: the launcher ends after the processes that it started.
    pub seats: Option<Seats>,
}

impl GroupSession {
    /// A CPU for each connection, here and there: those of flows, which of a single one are the path's own.
    fn cpus(&self) -> (Vec<u32>, Vec<u32>) {
        match (self.plan.pin, self.shape().of) {
            (Some((near, far)), 1) => (vec![near], vec![far]),
            (pin, of) => self.reach.spread(pin, of),
        }
    }

    /// Starts the processes and meets them. All start before any is waited for.
    pub(super) fn start(&mut self) -> Result<Open, SessionError> {
        let shape = self.shape();
        let named = |who, e: MeetError| shape.of(who, e.into());
        let (near_cpus, far_cpus) = self.cpus();
        let far_processes = shape.topology.far_processes(shape.of) as usize;
        let near_processes = shape.topology.near_processes(shape.of) as usize;
        let among = (far_processes + near_processes) as u32;
        more_files();
        let launch = self.path().transport.transport().map_or(&[][..], transport::Transport::launch);
        let mut seats = match (launch, &self.reach) {
            ([], _) => None,
            (words, Reach::Fresh(..)) => Some(self.seats(words, far_processes + near_processes)?),
            (_, Reach::Shared(_)) => {
                let why = "its processes are started together, by a launcher of this host (leave out --peer)";
                return Err(SessionError::Control(why.to_owned()));
            }
        };
        let far_pin = |i: usize| far_cpus.get(i).copied().or(self.plan.pin.map(|(_, far)| far));
        let preload = preload::words(&self.path().settings)?;
        let under = |seats: &Option<Seats>, number: usize, wrapper: &[String]| {
            // The library is for what is measured and not for the wrapper.
            let words: Vec<String> = wrapper.iter().chain(&preload).cloned().collect();
            match seats {
                Some(seats) => seats.under(number, &words),
                None => words,
            }
        };
        let mut starting: Vec<Starting> = Vec::new();
        let listen_at = if let Reach::Fresh(_, at) = &self.reach { &at[..] } else { &[] };
        let terms = |i: usize, environment| Terms {
            pin: far_pin(i),
            far_pin: FarPin::None,
            plan: &self.plan,
            stop: &self.stop,
            environment,
            rank: i as u32,
            at: i.checked_rem(listen_at.len()).map(|at| listen_at[at]),
            among,
        };
        if let Reach::Fresh(program, _) = &self.reach {
            for i in 0..far_processes {
                let how = terms(i, false).here();
                let words = under(&seats, i, self.plan.far_wrapper(i));
                let begun = meeting::begin_here(FAR, &words, program, "peer", how);
                starting.push(begun.map_err(|e| named(Who::Far(i), e))?);
            }
        }
        if self.elsewhere.is_some() && seats.is_some() {
            let why = "its processes are started together, by a launcher of this host (leave out --near)";
            return Err(SessionError::Control(why.to_owned()));
        }
        let mut near = Vec::new();
        for i in 0..near_processes {
            let wrapper = under(&seats, far_processes + i, &self.plan.near_under);
            near.push(self.begin(i, &wrapper).map_err(|e| named(Who::Near(i), e))?);
        }
        let mut fars = Vec::new();
        for (i, starting) in starting.into_iter().enumerate() {
            let environment = self.reported.far.len() <= i;
            let met = meeting::met_here(starting, &terms(i, environment));
            let met = met.map_err(|e| named(Who::Far(i), launched(&mut seats, e)))?;
            // What a wrapper or a launcher left it, only the process itself sees.
            let apart = seats.is_some() || !self.plan.peer_under.is_empty();
            self.reported.far.extend(if apart { met.environment.clone() } else { met.inherited() });
            fars.push(Rc::new(RefCell::new(met)));
        }
        if let Reach::Shared(first) = &self.reach {
            first.borrow_mut().renew();
            fars = std::iter::once(first).chain(&self.others).take(far_processes).map(Rc::clone).collect();
            if self.reported.far.is_empty() {
                self.reported.far = fars.iter().filter_map(|far| far.borrow().environment.clone()).collect();
            }
        }
        let mut members = Vec::new();
        for (i, begun) in near.into_iter().enumerate() {
            let target = self.elsewhere.as_ref().map(|other| other.nears.targets[other.nears.place(i).0].as_str());
            let met = match begun {
                Begun::Met(member) => Ok(*member),
                Begun::Starts(starting) => Member::met(starting, among, target, self.patience(), &self.stop),
            };
            members.push(met.map_err(|e| named(Who::Near(i), launched(&mut seats, e)))?);
        }
        // Another host knows its own. One that has all connections is on one CPU.
        let near_cpus = if self.elsewhere.is_some() { Vec::new() } else { near_cpus };
        let near_cpus = if near_processes == 1 { near_cpus.into_iter().take(1).collect() } else { near_cpus };
        let cpus = (near_cpus, far_cpus.into_iter().map(Some).collect());
        Ok(Open { members, fars, numbers: Vec::new(), effective: Vec::new(), cpus, used: false, seats })
    }

    /// Seats for so many processes: of a launcher that is started for them, or of the one that started this command.
    fn seats(&self, launch: &[String], n: usize) -> Result<Seats, SessionError> {
        let (transport, settings) = (self.path().transport, self.path().settings.clone());
        let Some(place) = Place::here() else { return Ok(Seats::begin(launch, n, transport, &settings)?) };
        if place.size as usize != n {
            let Place { launcher, size, counts, .. } = place;
            let why = format!("it takes {n} processes, and {launcher} started {size} (type {launcher} {counts} {n})");
            return Err(SessionError::Control(why));
        }
        let beginning = |source| MeetError::Launch { what: "rank 0", program: place.launcher.to_owned(), source };
        Ok(self.world.seats(place, transport, &settings).map_err(beginning)?)
    }

    /// Begins to start the near process of this number, or takes one that another host still has.
    fn begin(&self, number: usize, wrapper: &[String]) -> Result<Begun, MeetError> {
        let wrapped = !self.plan.near_under.is_empty();
        let Some(other) = &self.elsewhere else {
            return Member::begin(wrapper, wrapped, &self.program).map(Begun::Starts);
        };
        let (host, _) = other.nears.place(number);
        if let Some(member) = other.take(host) {
            return Ok(Begun::Met(Box::new(member)));
        }
        let (target, program) = (&other.nears.targets[host], &other.nears.program);
        Member::begin_over_ssh(&other.ssh, target, wrapper, program).map(Begun::Starts)
    }

    /// Opens the data connections between the processes.
    pub(super) fn connect(&mut self, open: &mut Open) -> Result<(), SessionError> {
        if self.shape().topology == Topology::Group {
            return self.gather(open);
        }
        let plan = Rc::clone(&self.plan);
        let path = &plan.paths[self.number];
        let (shape, settings) = (self.shape(), &path.settings);
        let transport = path.transport.transport().map_err(|e| SessionError::Control(e.to_string()))?;
        let each = shape.of / open.fars.len() as u32;
        let here = matches!(self.reach, Reach::Fresh(..));
        let (mut number, mut near_cpus, mut far_cpus) = (0, Vec::new(), Vec::new());
        self.reported.can = Default::default();
        open.numbers.clear();
        open.effective.clear();
        for (f, far) in open.fars.iter().enumerate() {
            let mut far = far.borrow_mut();
            let share = Share { own: each, others: shape.of - each };
            let cpus = if each > 1 && here { open.cpus.1.iter().copied().flatten().collect() } else { Vec::new() };
            let asked = far.control.open(path.transport, settings, share, cpus, None);
            let (first, address, proofs) = asked.map_err(|e| shape.of(Who::Far(f), far.ended(e).into()))?;
            open.numbers.push(first);
            let mut near = Vec::new();
            for proof in &proofs {
                let endpoint =
                    Endpoint { address: address.clone(), peer: far.control.peer(), proof: hexadecimal(proof) };
                let dial = self.dial(vec![endpoint], number, open);
                let stands = open.members[number].dial(dial).map_err(|what| {
                    far.control.cancel();
                    let words = far.control.read_out(Instant::now() + self.patience());
                    let found = What::of_far(words, self.patience(), || far.how());
                    shape.cause(vec![
                        Finding { who: Who::Near(number), what },
                        Finding { who: Who::Far(f), what: found },
                    ])
                })?;
                self.capabilities = stands.capabilities.clone();
                near_cpus.extend(stands.cpu);
                near.push(self.reported.near(stands));
                number += 1;
            }
            let opened = far.control.opened(each, None);
            let (stands, _) = opened.map_err(|e| shape.of(Who::Far(f), far.ended(e).into()))?;
            for (near, far) in near.into_iter().zip(stands) {
                let unequal = agree::differences(transport.options(), settings, &near, &far.effective);
                if !unequal.is_empty() {
                    return Err(MeetError::Unequal(unequal).into());
                }
                far_cpus.push(far.cpu);
                self.reported.can.1.push(*far.capabilities);
                open.effective.push((near, far.effective));
            }
        }
        open.cpus.1 = far_cpus;
        if self.elsewhere.is_some() {
            open.cpus.0 = near_cpus;
        }
        Ok(())
    }

    /// What the near process `number` is told to connect to.
    fn dial(&self, endpoints: Vec<Endpoint>, number: usize, open: &Open) -> Dial {
        let path = self.path();
        Dial {
            transport: path.transport,
            settings: path.settings.clone(),
            endpoints,
            gathers: path.topology == Topology::Group,
            patience: self.plan.patience,
            decorators: self.plan.decorators.of_flow(number as u32),
            cpu: open.cpus.0.get(number).copied().filter(|_| self.elsewhere.is_none()),
            chooses: self.elsewhere.as_ref().map(|other| (other.nears.pin, other.nears.place(number).1)),
            describe: self.reported.near.len() <= number,
        }
    }

    /// Has the near process bring the group together: all other members wait at their endpoints before it invites any.
    fn gather(&mut self, open: &mut Open) -> Result<(), SessionError> {
        let plan = Rc::clone(&self.plan);
        let path = &plan.paths[self.number];
        let (shape, settings) = (self.shape(), &path.settings);
        let transport = path.transport.transport().map_err(|e| SessionError::Control(e.to_string()))?;
        let share = || Share { own: 1, others: shape.of - 1 };
        let mut endpoints = Vec::new();
        open.numbers.clear();
        open.effective.clear();
        for (f, far) in open.fars.iter().enumerate() {
            let mut far = far.borrow_mut();
            let asked = far.control.open(path.transport, settings, share(), Vec::new(), None);
            let (first, address, proofs) = asked.map_err(|e| shape.of(Who::Far(f), far.ended(e).into()))?;
            open.numbers.push(first);
            let peer = far.control.peer();
            endpoints.extend(proofs.iter().map(|proof| Endpoint {
                address: address.clone(),
                peer,
                proof: hexadecimal(proof),
            }));
        }
        let dial = self.dial(endpoints, 0, open);
        self.reported.can = Default::default();
        let stands: Stands = open.members[0].dial(dial).map_err(|what| {
            let mut findings = vec![Finding { who: Who::Near(0), what }];
            let deadline = Instant::now() + self.patience();
            open.fars.iter().for_each(|far| far.borrow_mut().control.cancel());
            for (f, far) in open.fars.iter().enumerate() {
                let mut far = far.borrow_mut();
                let words = far.control.read_out(deadline);
                findings.push(Finding { who: Who::Far(f), what: What::of_far(words, self.patience(), || far.how()) });
            }
            shape.cause(findings)
        })?;
        self.capabilities = stands.capabilities.clone();
        let near = self.reported.near(stands);
        let mut far_cpus = Vec::new();
        for (f, far) in open.fars.iter().enumerate() {
            let mut far = far.borrow_mut();
            let (stands, _) = far.control.opened(1, None).map_err(|e| shape.of(Who::Far(f), far.ended(e).into()))?;
            for there in stands {
                let unequal = agree::differences(transport.options(), settings, &near, &there.effective);
                if !unequal.is_empty() {
                    return Err(MeetError::Unequal(unequal).into());
                }
                far_cpus.push(there.cpu);
                self.reported.can.1.push(*there.capabilities);
                open.effective.push((near.clone(), there.effective));
            }
        }
        open.cpus.1 = far_cpus;
        Ok(())
    }
}

/// A near process that is on its way.
enum Begun {
    Starts(Starting),
    /// It is there.
    Met(Box<Member>),
}

/// An error with what a launcher says of it.
fn launched(seats: &mut Option<Seats>, e: MeetError) -> MeetError {
    match seats {
        Some(seats) => seats.how(e),
        None => e,
    }
}

/// Allows this process as many open files as it may have: a pair of processes takes eight, and the usual limit is 1024.
fn more_files() {
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| limit.maximum.is_none_or(|most| current < most)) {
        // Where that can't be had, fewer processes start, and the error of the first that does not says so.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    }
}

fn hexadecimal(proof: &Proof) -> (String, String) {
    (HEXLOWER.encode(&proof.near), HEXLOWER.encode(&proof.far))
}

impl Open {
    /// Tells all processes that it is over, before any is waited for: those that were started for it end, and the others close its connections.
    pub(super) fn leave(&mut self) {
        self.members.iter_mut().for_each(Member::leave);
        for (i, far) in self.fars.iter().enumerate() {
            let own = Rc::strong_count(far) == 1;
            let Ok(mut far) = far.try_borrow_mut() else { continue };
            match self.numbers.get(i) {
                _ if own => far.control.leave(),
                Some(number) => far.control.close(*number),
                None => {}
            }
        }
    }
}

impl Open {
    /// Ends all processes that were started for it; how the first one ended that did not end well. What a module does as it closes shows in no
    /// trial. One that takes longer than `time` is killed.
    pub(super) fn ends(&mut self, shape: Shape, time: Duration) -> Option<SessionError> {
        self.leave();
        let told =
            |who, side, how| shape.of(who, SessionError::Control(format!("{side} ended badly as it closed{how}")));
        for (i, member) in self.members.iter_mut().enumerate() {
            if let Some(how) = member.ends(time) {
                return Some(told(Who::Near(i), "the near process", how));
            }
        }
        for (i, far) in self.fars.iter().enumerate().filter(|(_, far)| Rc::strong_count(far) == 1) {
            let Ok(mut far) = far.try_borrow_mut() else { continue };
            if far.control.is_broken() {
                continue;
            }
            if let Some(how) = far.launched.as_mut().and_then(|launched| launched.ends(time)) {
                return Some(told(Who::Far(i), "the far side", how));
            }
        }
        None
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.leave();
    }
}
