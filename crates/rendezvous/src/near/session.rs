//! [`measure::Session`] over a far side on a control connection.

use std::cell::RefCell;
use std::net::IpAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use host::{CpuWatch, Environment, MachineCalibration, Taken};
use measure::event::{HostCalibration, LoadOpened, Plan};
use measure::session::{Calibrations, Party};
use measure::workspace::Halt;
use measure::{Carried, Load, Loading, Session, SessionError, TrialReport, TrialSpec, Workspace};
use transport::clock::{Clock, Monotonic};
use transport::settings::Effective;
use transport::{AnyLink, Capabilities, Connector, Link, LinkError, Name, Proof};

use super::control::Reported;
use super::flows::{common_is_credible, courses_from_there, flows, one, reports_are_credible};
use super::meeting::{self, Meeting, Terms};
use super::verdict::{Words, verdict};
use crate::message::{FarPin, Loads};
use crate::{MeetError, agree, spread};

/// Where the far side of each round comes from.
pub(crate) enum Reach {
    /// A fresh process on this host for each round, and where this side reaches it if that is not the host itself; of several addresses each in turn.
    Fresh(PathBuf, Vec<IpAddr>),
    /// One far side for all rounds and paths.
    Shared(Rc<RefCell<Meeting>>),
}

impl Reach {
    /// CPUs for the threads of several flows, here and, where that is decided here, there; empty where they keep to none in particular.
    pub(crate) fn spread(&self, pin: Option<(u32, u32)>, flows: u32) -> (Vec<u32>, Vec<u32>) {
        let allowed = host::cpus_before_pinning();
        match (pin, self) {
            _ if flows == 1 => (Vec::new(), Vec::new()),
            (None, _) => (Vec::new(), Vec::new()),
            (Some(pin), Self::Fresh(..)) => spread::pairs(pin, &allowed, flows),
            (Some((near, _)), Self::Shared(_)) => (spread::alone(near, &allowed, flows), Vec::new()),
        }
    }

    /// How fast the machine is just now, each within about `time`: this one, and those of far hosts where they are others, of which `others`
    /// are beyond the first.
    pub(crate) fn calibration(
        &self,
        others: &[Rc<RefCell<Meeting>>],
        pin: Option<(u32, u32)>,
        time: Duration,
    ) -> Calibrations {
        let near = match (self, pin) {
            (Self::Fresh(..), Some((near, far))) => MachineCalibration::read(Some(near), Some(far), time),
            (Self::Fresh(..), None) => MachineCalibration::read(None, None, time),
            (Self::Shared(_), pin) => MachineCalibration::here(pin.map(|(near, _)| near), time),
        };
        Calibrations { near, far: self.far_calibrations(others, time) }
    }

    /// The same of far hosts alone. All look at once, so that many take no longer than one; a host that does not say is left out.
    pub(crate) fn far_calibrations(&self, others: &[Rc<RefCell<Meeting>>], time: Duration) -> Vec<HostCalibration> {
        let Self::Shared(first) = self else { return Vec::new() };
        let hosts = (HostCalibration::FIRST..).zip(std::iter::once(first).chain(others));
        let look = |host: &(u32, &Rc<RefCell<Meeting>>)| host.1.borrow_mut().control.calibrate(time).is_ok();
        // All are asked before any is waited for.
        let asked: Vec<(u32, &Rc<RefCell<Meeting>>)> = hosts.filter(look).collect();
        let found = |(rank, host): (u32, &Rc<RefCell<Meeting>>)| {
            let calibration = host.borrow_mut().control.calibrated(time).ok().flatten()?;
            Some(HostCalibration { rank, calibration })
        };
        asked.into_iter().filter_map(found).collect()
    }
}

/// One path to a far side.
pub(crate) struct RemoteSession {
    /// Of the path within the plan.
    number: usize,
    transport: Name,
    plan: Rc<Plan>,
    stop: Arc<AtomicBool>,
    reach: Reach,
    environment: Option<Environment>,
    /// The last link's, which its settings may have narrowed; the kind's until there was one.
    capabilities: Capabilities,
    path: Option<Path>,
    meeting: Option<Rc<RefCell<Meeting>>>,
    /// Of each flow.
    workspaces: Vec<Workspace>,
    cpu: Option<CpuWatch>,
}

/// What loads an open path.
enum Loaded {
    /// Nothing, and nothing is to.
    Not,
    /// Connections of loading flows that have not begun.
    Ready(Vec<AnyLink>),
    /// Flows that run.
    Runs(Loading),
    /// They have ended: the path must be opened anew for the next trial.
    Over,
}

/// The open data connections, one for each flow.
struct Path {
    /// Ended before the connections are.
    loaded: Loaded,
    /// CPUs of the loading flows' threads, here and there; empty where they keep to none in particular.
    load_cpus: (Vec<u32>, Vec<u32>),
    /// Declared, and so dropped, before what made them. None where each transaction has a connection of its own.
    links: Vec<AnyLink>,
    connector: Connector,
    /// What the first shows.
    proof: Proof,
    /// Of the first.
    number: u64,
    /// What took effect on each, here and there.
    effective: Vec<(Effective, Effective)>,
    /// CPUs of the flows' threads, here and there; empty where they keep to none in particular.
    cpus: (Vec<u32>, Vec<Option<u32>>),
    used: bool,
}

impl RemoteSession {
    pub(crate) fn new(number: usize, plan: Rc<Plan>, stop: Arc<AtomicBool>, reach: Reach) -> Self {
        let environment = match &reach {
            Reach::Fresh(..) => None,
            Reach::Shared(meeting) => meeting.borrow().environment.clone(),
        };
        let (path, meeting, cpu) = (None, None, None);
        let transport = plan.paths[number].transport;
        Self {
            number,
            transport,
            plan,
            stop,
            reach,
            environment,
            capabilities: transport.capabilities(),
            path,
            meeting,
            workspaces: Vec::new(),
            cpu,
        }
    }

    /// The far process, where this side started one.
    #[cfg(test)]
    pub(crate) fn far_pid(&self) -> Option<u32> {
        let meeting = self.meeting.as_ref()?.borrow();
        meeting.launched.as_ref().map(super::launch::Launched::pid)
    }

    /// Closes the data connection in good order; what its decorators hold goes out first. Its number, where there was one.
    fn shut(&mut self) -> (Option<u64>, Result<(), LinkError>) {
        let Some(mut path) = self.path.take() else { return (None, Ok(())) };
        let mut closed = Ok(());
        // Their end may interrupt what waits: the connections that are measured are closed before.
        for link in &mut path.links {
            // A trace that couldn't be written to its end. That the far side is gone is no news any more.
            if let Err(e @ LinkError::Io { .. }) = link.close() {
                closed = Err(e);
            }
        }
        (Some(path.number), closed)
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The far side for this round.
    fn meet(&mut self) -> Result<Rc<RefCell<Meeting>>, MeetError> {
        match &self.reach {
            Reach::Shared(meeting) => {
                meeting.borrow_mut().renew();
                Ok(Rc::clone(meeting))
            }
            Reach::Fresh(program, at) => {
                // The last round's process ends before the next one starts: two would share the far CPU.
                self.meeting = None;
                let terms = Terms {
                    pin: self.plan.pin.map(|(_, far)| far),
                    far_pin: FarPin::None,
                    plan: &self.plan,
                    stop: &self.stop,
                    environment: self.environment.is_none(),
                    rank: 0,
                    at: at.first().copied(),
                    among: 1,
                };
                let meeting = meeting::here(program, &terms)?;
                self.environment = meeting.inherited().or(self.environment.take());
                Ok(Rc::new(RefCell::new(meeting)))
            }
        }
    }

    fn watch_cpus(&self, far: Option<u32>, path: &Path) -> Option<CpuWatch> {
        let (near_cpu, far_cpu) = self.plan.pin?;
        let me = std::process::id();
        let mut cpus = vec![near_cpu];
        cpus.extend(&path.cpus.0);
        Some(match far {
            Some(far) if matches!(self.reach, Reach::Fresh(..)) => {
                cpus.push(far_cpu);
                cpus.extend(path.cpus.1.iter().flatten());
                CpuWatch::new(&cpus, &[me, far])
            }
            _ => CpuWatch::new(&cpus, &[me]),
        })
    }

    fn flows(&self) -> u32 {
        self.plan.connections(self.number as u32)
    }

    fn load(&self) -> Option<Load> {
        self.plan.paths[self.number].load
    }

    /// CPUs for the threads of loading flows, as [`RemoteSession::spread`].
    fn spread_load(&self) -> (Vec<u32>, Vec<u32>) {
        let connections = self.load().map_or(0, |load| load.connections());
        match (self.plan.pin, &self.reach) {
            (Some(pin), Reach::Fresh(..)) => spread::load_pairs(pin, &host::cpus_before_pinning(), connections),
            (Some((near, _)), Reach::Shared(_)) => {
                (spread::load_alone(near, &host::cpus_before_pinning(), connections), Vec::new())
            }
            (None, _) => (Vec::new(), Vec::new()),
        }
    }

    /// Opens the data connections on the current control connection.
    fn connect(&mut self, meeting: &mut Meeting) -> Result<Path, SessionError> {
        let once = self.plan.pattern.facts().anew.is_some();
        if once && self.plan.decorators.any() {
            let what = "break, shape or trace connections that are made for each transaction";
            return Err(LinkError::Unsupported(what).into());
        }
        let settings = &self.plan.paths[self.number].settings;
        let transport = self.transport.transport().map_err(|e| SessionError::Control(e.to_string()))?;
        let flows = self.flows();
        let (here, there) = self.reach.spread(self.plan.pin, flows);
        let load = self.load();
        let (load_here, load_there) = self.spread_load();
        let loads = load.map(|load| Loads { load, cpus: load_there });
        let asked = meeting.control.open(self.transport, settings, flows, there, loads);
        let (number, address, proofs) = asked.map_err(|e| meeting.ended(e))?;
        let patience = meeting.control.patience();
        let dialled = transport.dial(settings, &address, meeting.control.peer(), &patience);
        let mut connector = dialled.map_err(|e| failed(meeting, e.into()))?;
        let mut links = Vec::new();
        for (i, proof) in (0u32..).zip(&proofs) {
            let link = connector.connect(proof).map_err(|e| {
                let e = match (i.checked_sub(flows), load) {
                    (Some(k), Some(load)) => {
                        SessionError::Loading { number: k + 1, of: load.connections(), source: Box::new(e.into()) }
                    }
                    _ => of_flow(i + 1, flows, e.into()),
                };
                failed(meeting, e)
            })?;
            links.push(link.altered(&self.plan.decorators.of_flow(i), &patience));
        }
        let loading = links.split_off(flows as usize);
        let (stands, load_there) = meeting.control.opened(flows, load.as_ref()).map_err(|e| meeting.ended(e))?;
        let near: Vec<Effective> = links.iter().map(AnyLink::effective).collect();
        if let Some(first) = links.first() {
            self.capabilities = first.capabilities();
        }
        let unequal = near
            .iter()
            .zip(&stands)
            .map(|(near, far)| agree::differences(transport.options(), settings, near, &far.effective));
        if let Some(unequal) = unequal.into_iter().find(|unequal| !unequal.is_empty()) {
            meeting.control.close(number);
            return Err(MeetError::Unequal(unequal).into());
        }
        if once {
            // Transactions each have a connection of their own; this one has shown what takes effect.
            links.clear();
        }
        let proof = proofs.into_iter().next().unwrap_or_else(Proof::none);
        let cpus = (here, stands.iter().map(|flow| flow.cpu).collect());
        let effective = near.into_iter().zip(stands.into_iter().map(|flow| flow.effective)).collect();
        let loaded = if load.is_some() { Loaded::Ready(loading) } else { Loaded::Not };
        let load_cpus = (load_here, load_there);
        Ok(Path { loaded, load_cpus, links, connector, proof, number, effective, cpus, used: false })
    }

    fn measure(&mut self, meeting: &mut Meeting, spec: &TrialSpec) -> Result<TrialReport, SessionError> {
        let again = |p: &Path| self.plan.reconnect && p.used && !p.links.is_empty() || matches!(p.loaded, Loaded::Over);
        if self.path.as_ref().is_some_and(again) {
            self.shut().1?;
            self.path = Some(self.connect(meeting)?);
        }
        self.begin_load(meeting)?;
        let Some(path) = &mut self.path else {
            return Err(SessionError::Control("no data connection is open: the last trial on it failed".into()));
        };
        path.used = true;
        let (asked, began_at) = (Instant::now(), Monotonic.now());
        let facts = spec.pattern.facts();
        meeting.control.trial(spec).map_err(|e| meeting.ended(e))?;
        if spec.far_sends() {
            let reliable = self.capabilities.reliable;
            let look = reliable && self.capabilities.poll;
            let receives = |number: &u32| look && spec.reverses(*number);
            let early = (0..).zip(&mut path.links).filter(|(number, _)| receives(number));
            let early = early.map(|(_, link)| link.ready(Duration::ZERO));
            match early.into_iter().find(|ready| !matches!(ready, Ok(false))).unwrap_or(Ok(false)) {
                Ok(false) => {}
                Ok(true) => {
                    return Err(meeting.control.incredible("messages before this side was ready to receive").into());
                }
                Err(e) => {
                    self.path = None;
                    return Err(failed(meeting, e.into()));
                }
            }
            let drain = reliable.then(|| (facts.drain)(spec));
            let go = if spec.both { meeting.control.go_both(drain) } else { meeting.control.go(drain) };
            go.map_err(|e| meeting.ended(e))?;
        }
        let halt = halt(meeting);
        let before = path.loaded.received();
        let began = Instant::now();
        let measured = match (&mut path.links[..], &facts.anew) {
            ([], Some(anew)) => (anew.near)(&mut path.connector, &path.proof, spec, &halt).map(|report| vec![report]),
            ([], None) => Err(LinkError::Unsupported("run this pattern without a connection").into()),
            (links, _) => {
                let control = Mutex::new(&mut meeting.control);
                let sent = || {
                    if !self.capabilities.reliable {
                        control.lock().unwrap_or_else(PoisonError::into_inner).sent();
                    }
                };
                measure::flows::near(links, spec, &mut self.workspaces, &path.cpus.0, &halt, &sent)
            }
        };
        match measured {
            // A receiver that loses messages takes the end of its patience for the end of the stream.
            Ok(_) if spec.far_sends() && meeting.control.stopped() => {
                self.path = None;
                Err(failed(meeting, LinkError::Interrupted.into()))
            }
            Ok(reports) => {
                let back = path.loaded.received().wrapping_sub(before) as f64 / began.elapsed().as_secs_f64().max(1e-9);
                if !self.capabilities.reliable && !spec.far_sends() {
                    meeting.control.enough().map_err(|e| meeting.ended(e))?;
                }
                let done = meeting.control.done(began.elapsed(), (facts.drain)(spec));
                let Reported { reports: mut far, flows: told, load: there, courses } =
                    done.map_err(|e| meeting.ended(e))?;
                let (between, ahead) = ((began_at, Monotonic.now()), meeting.control.ahead());
                let believed =
                    reports_are_credible(&far, told.as_ref(), reports.len(), spec, &self.capabilities, asked.elapsed());
                believed
                    .and_then(|()| courses_from_there(spec, &mut far, courses, ahead, between))
                    .map_err(|why| meeting.control.incredible(&why))?;
                for ((number, near), far) in (1..).zip(&reports).zip(&far) {
                    one(near, far, spec).map_err(|e| of_flow(number, spec.flows, e))?;
                }
                let report = measure::flows::joined(spec, reports, far, told);
                common_is_credible(&report, spec).map_err(|why| meeting.control.incredible(&why))?;
                let carried = self.carried(there, back).map_err(|why| meeting.control.incredible(&why))?;
                self.load_stands(meeting)?;
                Ok(TrialReport { load: carried, ..report })
            }
            Err(mine) => {
                // Closed first, so that the far side does not wait for more.
                self.path = None;
                Err(failed(meeting, mine))
            }
        }
    }

    /// CPUs that each side may run on, as far as both are of this host.
    fn kept_to(&self, path: &Path) -> (Vec<u32>, Vec<u32>) {
        let far = path.cpus.1.first().copied().flatten().or(self.environment.as_ref().and_then(|e| e.pinned));
        let near = path.cpus.0.first().copied().or(self.plan.pin.map(|(near, _)| near));
        let all = |seen: Option<&Environment>| seen.map_or_else(Vec::new, |e| e.cpus.clone());
        (
            near.map_or_else(host::cpus_before_pinning, |cpu| vec![cpu]),
            far.map_or_else(|| all(self.environment.as_ref()), |cpu| vec![cpu]),
        )
    }
}

impl RemoteSession {
    /// Begins the flows that load the path, where it is to be loaded and they do not run.
    fn begin_load(&mut self, meeting: &mut Meeting) -> Result<(), SessionError> {
        let (Some(load), Some(path)) = (self.load(), &mut self.path) else { return Ok(()) };
        let Loaded::Ready(links) = &mut path.loaded else { return Ok(()) };
        let links = std::mem::take(links);
        meeting.control.load().map_err(|e| meeting.ended(e))?;
        let patience = meeting.control.patience();
        let begun = Loading::begin(links, &load, true, &path.load_cpus.0, &halt(meeting)).and_then(|mut loading| {
            loading.under_way(patience.limit)?;
            Ok(loading)
        });
        match begun {
            Ok(loading) => {
                path.loaded = Loaded::Runs(loading);
                meeting.control.loaded().map_err(|e| meeting.ended(e).into())
            }
            Err(e) => {
                // Closed first, so that the far side does not wait for more.
                self.path = None;
                Err(failed(meeting, e))
            }
        }
    }

    /// What the loading flows carried during a trial, of which the far side tells that it received `there` bytes a second; this side received
    /// `back`. An error where that can't be.
    fn carried(&self, there: Option<f64>, back: f64) -> Result<Option<Carried>, String> {
        let (Some(load), Some(there)) = (self.load(), there) else {
            return match (self.load(), there) {
                (None, None) => Ok(None),
                (Some(_), _) => Err("nothing of what loading flows carried".to_owned()),
                (None, Some(_)) => Err("a load that nobody asked for".to_owned()),
            };
        };
        let carried = Carried::of(&load, there, back);
        if carried.sound() { Ok(Some(carried)) } else { Err(format!("{there:e} bytes a second of loading flows")) }
    }

    /// An error where a loading flow ended by itself: then nobody knows what the trial was measured under.
    fn load_stands(&mut self, meeting: &mut Meeting) -> Result<(), SessionError> {
        let Some(path) = &mut self.path else { return Ok(()) };
        let Loaded::Runs(loading) = &mut path.loaded else { return Ok(()) };
        let stands = loading.check();
        if stands.is_err() {
            let number = path.number;
            self.path = None;
            meeting.control.close(number);
        }
        stands
    }

    /// Ends the flows that load the path. What they carried is told; an error of their end would tell nothing more.
    fn unload(&mut self) {
        let (Some(shared), Some(path)) = (self.meeting.clone(), &mut self.path) else { return };
        if matches!(path.loaded, Loaded::Runs(_)) {
            // The far side first: as long as both sides carry, neither has to wait for the other.
            let _ = shared.borrow_mut().control.unload();
            path.loaded = Loaded::Over;
        }
    }
}

impl Loaded {
    /// Bytes that loading flows brought here so far.
    fn received(&self) -> u64 {
        if let Self::Runs(loading) = self { loading.received() } else { 0 }
    }
}

/// What ends this side's half of a trial early.
fn halt(meeting: &Meeting) -> Halt {
    Workspace::new(true).halted_by(meeting.control.patience().flag()).halt()
}

/// An error of flow `number`, which is named where there are others.
fn of_flow(number: u32, of: u32, e: SessionError) -> SessionError {
    if of == 1 { e } else { SessionError::Flow { number, of, source: Box::new(e) } }
}

/// What to show for this side's failure on data connections that are closed by now.
fn failed(meeting: &mut Meeting, mine: SessionError) -> SessionError {
    let asked = Instant::now();
    let words = meeting.control.last_words();
    if meeting.control.stopped() {
        return SessionError::Interrupted;
    }
    // Which flow it was, and how its error is named.
    type Named = fn(u32, u32, Box<SessionError>) -> SessionError;
    let (flow, mut mine): (Option<(u32, u32, Named)>, _) = match mine {
        SessionError::Flow { number, of, source } => {
            (Some((number, of, |number, of, source| SessionError::Flow { number, of, source })), *source)
        }
        SessionError::Loading { number, of, source } => {
            (Some((number, of, |number, of, source| SessionError::Loading { number, of, source })), *source)
        }
        mine => (None, mine),
    };
    if let (Words::Silent, SessionError::Link(LinkError::Stalled { waited, .. })) = (&words, &mut mine) {
        // Its silence went on while its last words were waited for.
        *waited += asked.elapsed();
    }
    let gone = words == Words::Gone;
    // The far side names a flow itself, and its end is no flow's in particular.
    let flow = flow.filter(|_| !gone && words != Words::Silent);
    match (verdict(mine, words, || if gone { meeting.how() } else { String::new() }), flow) {
        (e @ SessionError::Far(_), _) | (e, None) => e,
        (e, Some((number, of, named))) => named(number, of, Box::new(e)),
    }
}

impl Session for RemoteSession {
    fn capabilities(&self) -> Capabilities {
        self.capabilities.clone()
    }

    fn open(&mut self, _round: u32) -> Result<Party, SessionError> {
        self.shut().1?;
        if self.stopped() {
            return Err(SessionError::Interrupted);
        }
        let shared = self.meet()?;
        self.meeting = Some(Rc::clone(&shared));
        let mut meeting = shared.borrow_mut();
        let path = self.connect(&mut meeting)?;
        // Kept where trials have connections of their own.
        let flag = meeting.control.patience().flag();
        self.workspaces = path.links.iter().map(|_| Workspace::new(true).halted_by(Arc::clone(&flag))).collect();
        self.cpu = self.watch_cpus(meeting.launched.as_ref().map(super::launch::Launched::pid), &path);
        let load = self.load().map(|_| {
            let (near_cpus, far_cpus) = path.load_cpus.clone();
            LoadOpened { near_cpus, far_cpus }
        });
        let (near_effective, far_effective) = path.effective.first().cloned().unwrap_or_default();
        let party = Party {
            far: self.environment.clone(),
            near_effective,
            far_effective,
            flows: flows(&path.effective, &path.cpus, self.plan.both),
            load,
            cpus: self.kept_to(&path),
            ..Party::default()
        };
        self.path = Some(path);
        Ok(party)
    }

    fn trial(&mut self, spec: &TrialSpec) -> Result<TrialReport, SessionError> {
        let Some(shared) = self.meeting.clone() else {
            return Err(SessionError::Control("a trial was asked for before the path was opened".into()));
        };
        let outcome = self.measure(&mut shared.borrow_mut(), spec);
        // After a stop every failure is a consequence of it.
        outcome.map_err(|e| if self.stopped() { SessionError::Interrupted } else { e })
    }

    fn rest(&mut self) {
        self.unload();
        self.workspaces.iter_mut().for_each(Workspace::release);
    }

    fn close(&mut self) -> Result<(), SessionError> {
        let (number, closed) = self.shut();
        if let Some(meeting) = self.meeting.take()
            && let Some(number) = number
            && matches!(self.reach, Reach::Shared(_))
        {
            meeting.borrow_mut().control.close(number);
        }
        Ok(closed?)
    }

    fn now(&self) -> u64 {
        Monotonic.now()
    }

    fn taken(&mut self) -> Option<Taken> {
        let near = self.cpu.as_mut()?.taken()?;
        // A far process of this host is watched from here, with its CPU.
        let Some(meeting) = self.meeting.as_ref().filter(|_| matches!(self.reach, Reach::Shared(_))) else {
            return Some(near);
        };
        let far = meeting.borrow_mut().control.taken().ok()?;
        match (far, self.environment.as_ref().and_then(|e| e.pinned)) {
            (Some(far), _) => Some(near.with(far)),
            // It keeps to no CPU: the near one is all that was pinned.
            (None, None) => Some(near),
            (None, Some(_)) => None,
        }
    }

    fn calibration(&mut self, time: Duration) -> Calibrations {
        self.reach.calibration(&[], self.plan.pin, time)
    }
}

impl Drop for RemoteSession {
    fn drop(&mut self) {
        // Nobody is left to be told of what a dropped session could not write.
        let _ = self.close();
    }
}
