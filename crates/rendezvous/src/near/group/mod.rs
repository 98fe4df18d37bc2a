//! [`measure::Session`] over near members: each near half is a process of its own, with a connection to the far side that all share or to one
//! of its own. This process leads: it keeps the control connections, and finds what all did at once.

mod aside;
mod blame;
pub(crate) mod elsewhere;
mod joined;
mod member;
mod open;
mod reported;
mod trial;

use std::cell::{RefCell, RefMut};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use host::{CpuWatch, MachineCalibration, Taken};
use measure::event::{HostCalibration, PathPlan, Plan};
use measure::session::{Calibrations, Party};
use measure::{Session, SessionError, TrialReport, TrialSpec};
use transport::Capabilities;
use transport::clock::{Clock, Monotonic};

use self::aside::Aside;
use self::blame::{Shape, Who};
use self::elsewhere::Elsewhere;
use self::joined::joined;
use self::member::Member;
use self::open::Open;
use self::reported::Reported;
use self::trial::Processes;
use super::flows::flows;
use super::meeting::Meeting;
use super::seats::Seats;
use super::session::Reach;
use super::world::World;

/// One path whose near halves are processes of their own.
pub(crate) struct GroupSession {
    /// Of the path within the plan.
    number: usize,
    plan: Rc<Plan>,
    stop: Arc<AtomicBool>,
    /// Where far processes come from, and those beyond the first where they stay.
    reach: Reach,
    others: Vec<Rc<RefCell<Meeting>>>,
    /// How many hosts far processes take in turn.
    far_hosts: usize,
    /// This program, for its members, and where they run if that is not here.
    program: PathBuf,
    elsewhere: Option<Elsewhere>,
    reported: Reported,
    capabilities: Capabilities,
    open: Option<Open>,
    /// Processes of the launcher that started this command, where it did: after what is open, which ends before them.
    world: World,
    cpu: Option<CpuWatch>,
    /// How the first process ended that did not end well when it was to: the path is told of it when it is over, and is measured until then.
    ended: Option<SessionError>,
}

impl GroupSession {
    pub(crate) fn new(
        number: usize,
        plan: Rc<Plan>,
        stop: Arc<AtomicBool>,
        reach: Reach,
        others: Vec<Rc<RefCell<Meeting>>>,
        program: PathBuf,
    ) -> Self {
        let capabilities = plan.paths[number].transport.capabilities();
        Self {
            number,
            plan,
            stop,
            reach,
            others,
            far_hosts: 1,
            program,
            elsewhere: None,
            reported: Reported::default(),
            capabilities,
            open: None,
            world: World::shared(1).remove(0),
            cpu: None,
            ended: None,
        }
    }

    /// The same with near processes on other hosts.
    pub(crate) fn spread_over(self, elsewhere: Option<Elsewhere>) -> Self {
        Self { elsewhere, ..self }
    }

    /// The same with far processes that take so many hosts in turn.
    pub(crate) fn far_over(self, far_hosts: usize) -> Self {
        Self { far_hosts, ..self }
    }

    /// The same with ranks that other sides of the run have, too.
    pub(crate) fn among(self, world: World) -> Self {
        Self { world, ..self }
    }

    /// The open path is over. Its near processes on other hosts stay for the next round.
    fn leave_open(&mut self) {
        let mut open = self.open.take();
        if let (Some(elsewhere), Some(open)) = (&self.elsewhere, &mut open) {
            elsewhere.keep(std::mem::take(&mut open.members));
        } else if let Some(mut open) = open
            && self.judges()
        {
            self.ended = open.ends(self.shape(), self.patience());
        }
    }

    /// Whether it matters how processes end: those of a module, of which nothing is known yet. What a launcher makes of them is its own affair.
    fn judges(&self) -> bool {
        let module = self.path().transport.transport().is_ok_and(|t| t.source().is_some() && t.launch().is_empty());
        module && self.ended.is_none() && !self.stopped()
    }

    /// Says goodbye to all processes, and waits for none.
    #[cfg(test)]
    pub(crate) fn leave(&mut self) {
        self.open.iter_mut().for_each(Open::leave);
    }

    /// What is said of the first near process when the conversation with it breaks while it lives.
    #[cfg(test)]
    pub(crate) fn broken_talk(&mut self) -> String {
        let member = &mut self.open.as_mut().expect("it is open").members[0];
        member.breaks("as the test asked");
        format!("{:?}", member.read_out(Instant::now()))
    }

    /// The near processes, and the far ones that this side started.
    #[cfg(test)]
    pub(crate) fn pids(&self) -> (Vec<u32>, Vec<u32>) {
        let Some(open) = &self.open else { return Default::default() };
        let far = open.fars.iter().filter_map(|far| Some(far.borrow().launched.as_ref()?.pid()));
        (open.members.iter().map(Member::pid).collect(), far.collect())
    }

    fn path(&self) -> &PathPlan {
        &self.plan.paths[self.number]
    }

    fn shape(&self) -> Shape {
        let topology = self.path().topology;
        // The near process is a member, too.
        let one = if self.plan.pattern.facts().together { "far member" } else { topology.one() };
        Shape { topology, one, of: self.plan.connections(self.number as u32) }
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn patience(&self) -> Duration {
        Duration::try_from_secs_f64(self.plan.patience).unwrap_or(Duration::from_secs(10))
    }

    fn watch_cpus(&self, open: &Open) -> Option<CpuWatch> {
        self.plan.pin?;
        // CPUs of another host have the same numbers.
        let mut cpus = if self.elsewhere.is_some() { Vec::new() } else { open.cpus.0.clone() };
        let mut pids = vec![std::process::id()];
        pids.extend(open.members.iter().map(Member::pid));
        pids.extend(open.seats.iter().flat_map(Seats::pids));
        if matches!(self.reach, Reach::Fresh(..)) {
            cpus.extend(open.cpus.1.iter().flatten());
            pids.extend(open.fars.iter().filter_map(|far| Some(far.borrow().launched.as_ref()?.pid())));
        }
        Some(CpuWatch::new(&cpus, &pids))
    }

    fn measure(&mut self, spec: &TrialSpec) -> Result<TrialReport, SessionError> {
        let shape = self.shape();
        let Some(mut open) = self.open.take() else {
            return Err(SessionError::Control("no data connection is open: the last trial on it failed".into()));
        };
        if self.plan.reconnect && open.used {
            self.connect(&mut open)?;
        }
        open.used = true;
        let (asked, began) = (Instant::now(), Monotonic.now());
        let fars: Vec<RefMut<'_, Meeting>> = open.fars.iter().map(|far| far.borrow_mut()).collect();
        let (patience, reliable) = (self.patience(), self.capabilities.reliable);
        let _aside = Aside::from(
            self.plan.pin,
            if self.elsewhere.is_none() { &open.cpus.0 } else { &[] },
            if matches!(self.reach, Reach::Fresh(..)) { &open.cpus.1 } else { &[] },
        );
        let clocks = self.elsewhere.is_some();
        let mut processes =
            Processes { members: &mut open.members, fars, patience, reliable, clocks, ahead: Vec::new() };
        let hosts = self.far_hosts;
        let report = match processes.run(spec) {
            Ok(came) => joined(spec, came, shape, &self.capabilities, &processes.when(asked, began, hosts))
                .inspect_err(|(far, why)| {
                    if let (Some(far), SessionError::Control(why)) = (far, why) {
                        processes.fars[*far].control.incredible(why);
                    }
                }),
            Err(findings) => Err((None, shape.cause(findings))),
        };
        match report {
            Ok(report) => {
                drop(processes);
                self.open = Some(open);
                Ok(report)
            }
            Err((None, e)) => Err(e),
            Err((Some(far), e)) => Err(shape.of(Who::Far(far), e)),
        }
    }
}

impl Session for GroupSession {
    fn capabilities(&self) -> Capabilities {
        self.capabilities.clone()
    }

    fn open(&mut self, _round: u32) -> Result<Party, SessionError> {
        // The last round's processes end before the next ones start: two would share a CPU.
        self.leave_open();
        if self.stopped() {
            return Err(SessionError::Interrupted);
        }
        let opened = self.start().and_then(|mut open| self.connect(&mut open).map(|()| open));
        let open = opened.map_err(|e| if self.stopped() { SessionError::Interrupted } else { e })?;
        self.cpu = self.watch_cpus(&open);
        let (near_effective, far_effective) = open.effective.first().cloned().unwrap_or_default();
        let party = Party {
            far: self.reported.far.first().cloned(),
            near_effective,
            far_effective,
            flows: flows(&open.effective, &open.cpus, self.plan.both),
            members: self.members(&open),
            load: None,
            cpus: self.kept_to(&open),
        };
        self.open = Some(open);
        Ok(party)
    }

    fn trial(&mut self, spec: &TrialSpec) -> Result<TrialReport, SessionError> {
        let outcome = self.measure(spec);
        // After a stop every failure is a consequence of it.
        outcome.map_err(|e| if self.stopped() { SessionError::Interrupted } else { e })
    }

    fn rest(&mut self) {
        self.open.iter_mut().flat_map(|open| &mut open.members).for_each(Member::rest);
    }

    fn close(&mut self) -> Result<(), SessionError> {
        self.leave_open();
        self.ended.take().map_or(Ok(()), Err)
    }

    fn now(&self) -> u64 {
        Monotonic.now()
    }

    fn taken(&mut self) -> Option<Taken> {
        let near = self.cpu.as_mut()?.taken()?;
        let open = self.open.as_ref().filter(|_| matches!(self.reach, Reach::Shared(_)));
        // Far processes of this host are watched from here, with their CPUs.
        let Some(open) = open else { return Some(near) };
        let pinned = self.reported.far.first().is_some_and(|e| e.pinned.is_some());
        open.fars.iter().try_fold(near, |all, far| match (far.borrow_mut().control.taken().ok()?, pinned) {
            (Some(far), _) => Some(all.with(far)),
            (None, pinned) => (!pinned).then_some(all),
        })
    }

    fn calibration(&mut self, time: Duration) -> Calibrations {
        // The first far process of each host beyond the first: they take the hosts in turn.
        let others = &self.others[..self.others.len().min(self.far_hosts.saturating_sub(1))];
        // Of the near side's hosts, where they are others, nothing is known here.
        match (&self.elsewhere, &self.reach) {
            (None, _) => self.reach.calibration(others, self.plan.pin, time),
            (Some(_), Reach::Fresh(..)) => {
                let here = MachineCalibration::here(self.plan.pin.map(|(_, far)| far), time);
                let far = here.map(|calibration| HostCalibration { rank: HostCalibration::FIRST, calibration });
                Calibrations { near: None, far: far.into_iter().collect() }
            }
            (Some(_), Reach::Shared(_)) => Calibrations { near: None, far: self.reach.far_calibrations(others, time) },
        }
    }
}
