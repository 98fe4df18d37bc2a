//! [`measure::Session`] over near members: each near half is a process of its own, with a connection to the far side that all share or to one
//! of its own. This process leads: it keeps the control connections, and finds what all did at once.

mod blame;
mod member;
mod trial;

use std::cell::{RefCell, RefMut};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use host::{CpuWatch, Environment, Pace, Taken};
use measure::event::{PathPlan, Plan};
use measure::session::Party;
use measure::topology::{MemberOpened, Role};
use measure::{FarReport, Session, SessionError, TrialReport, TrialSpec, credible};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use transport::clock::{Clock, Monotonic};
use transport::settings::Effective;
use transport::{Capabilities, Proof};

use self::blame::{Finding, Shape, What, Who};
use self::member::Member;
use self::trial::{Came, Processes};
use super::control::{Reported, Share};
use super::flows::{flows, one, reports_are_credible};
use super::launch::{FAR, Starting};
use super::meeting::{self, Meeting, Terms};
use super::session::Reach;
use crate::member::message::Dial;
use crate::message::FarPin;
use crate::{MeetError, agree};

/// One path whose near halves are processes of their own.
pub(crate) struct GroupSession {
    /// Of the path within the plan.
    number: usize,
    plan: Rc<Plan>,
    stop: Arc<AtomicBool>,
    /// Where far processes come from, and those beyond the first where they stay.
    reach: Reach,
    others: Vec<Rc<RefCell<Meeting>>>,
    /// This program, for its members.
    program: PathBuf,
    environment: Option<Environment>,
    capabilities: Capabilities,
    open: Option<Open>,
    cpu: Option<CpuWatch>,
}

/// The processes of an open path, which end with it where they were started for it.
struct Open {
    /// Near processes; none once their trial failed.
    members: Vec<Member>,
    fars: Vec<Rc<RefCell<Meeting>>>,
    /// Numbers of the first connection at each far process.
    numbers: Vec<u64>,
    /// What took effect on each connection, here and there.
    effective: Vec<(Effective, Effective)>,
    /// A CPU for each connection, here and there; empty where they keep to none in particular.
    cpus: (Vec<u32>, Vec<Option<u32>>),
    used: bool,
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
        let environment = match &reach {
            Reach::Fresh(_) => None,
            Reach::Shared(meeting) => meeting.borrow().environment.clone(),
        };
        let capabilities = plan.paths[number].transport.capabilities();
        Self { number, plan, stop, reach, others, program, environment, capabilities, open: None, cpu: None }
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
        Shape { topology: self.path().topology, of: self.path().flows }
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn patience(&self) -> Duration {
        Duration::try_from_secs_f64(self.plan.patience).unwrap_or(Duration::from_secs(10))
    }

    /// A CPU for each connection, here and there: those of flows, which of a single one are the path's own.
    fn cpus(&self) -> (Vec<u32>, Vec<u32>) {
        match (self.plan.pin, self.shape().of) {
            (Some((near, far)), 1) => (vec![near], vec![far]),
            (pin, of) => self.reach.spread(pin, of),
        }
    }

    /// Starts the processes and meets them. All start before any is waited for.
    fn start(&mut self) -> Result<Open, SessionError> {
        let shape = self.shape();
        let named = |who, e: MeetError| shape.of(who, e.into());
        let (near_cpus, far_cpus) = self.cpus();
        let far_processes = shape.topology.far_processes(shape.of) as usize;
        let far_pin = |i: usize| far_cpus.get(i).copied().or(self.plan.pin.map(|(_, far)| far));
        more_files();
        let mut starting: Vec<Starting> = Vec::new();
        if let Reach::Fresh(program) = &self.reach {
            for i in 0..far_processes {
                let begun = meeting::begin_here(FAR, program, "peer", far_pin(i));
                starting.push(begun.map_err(|e| named(Who::Far(i), e))?);
            }
        }
        let mut near = Vec::new();
        for i in 0..shape.of as usize {
            near.push(Member::begin(&self.program).map_err(|e| named(Who::Near(i), e))?);
        }
        let mut fars = Vec::new();
        for (i, starting) in starting.into_iter().enumerate() {
            let environment = i == 0 && self.environment.is_none();
            let terms = Terms {
                pin: far_pin(i),
                wish: FarPin::None,
                plan: &self.plan,
                stop: &self.stop,
                environment,
                rank: i as u32,
            };
            let met = meeting::met_here(starting, &terms).map_err(|e| named(Who::Far(i), e))?;
            self.environment = met.inherited().or(self.environment.take());
            fars.push(Rc::new(RefCell::new(met)));
        }
        if let Reach::Shared(first) = &self.reach {
            fars = std::iter::once(first).chain(&self.others).take(far_processes).map(Rc::clone).collect();
        }
        let mut members = Vec::new();
        for (i, starting) in near.into_iter().enumerate() {
            let met = Member::met(starting, self.patience(), &self.stop);
            members.push(met.map_err(|e| named(Who::Near(i), e))?);
        }
        let cpus = (near_cpus, far_cpus.into_iter().map(Some).collect());
        Ok(Open { members, fars, numbers: Vec::new(), effective: Vec::new(), cpus, used: false })
    }

    /// Opens the data connections between the processes.
    fn connect(&mut self, open: &mut Open) -> Result<(), SessionError> {
        let plan = Rc::clone(&self.plan);
        let path = &plan.paths[self.number];
        let (shape, settings) = (self.shape(), &path.settings);
        let transport = path.transport.transport().map_err(|e| SessionError::Control(e.to_string()))?;
        let each = shape.of / open.fars.len() as u32;
        let here = matches!(self.reach, Reach::Fresh(_));
        let (mut number, mut far_cpus) = (0, Vec::new());
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
                let dial = Dial {
                    transport: path.transport,
                    settings: settings.clone(),
                    address: address.clone(),
                    peer: far.control.peer(),
                    proof: hexadecimal(proof),
                    patience: self.plan.patience,
                    decorators: self.plan.decorators.of_flow(number as u32),
                    cpu: open.cpus.0.get(number).copied(),
                };
                let stands = open.members[number].dial(dial).map_err(|what| {
                    far.control.cancel();
                    let words = far.control.hear_out(Instant::now() + self.patience());
                    let found = What::of_far(words, self.patience(), || far.how());
                    shape.cause(vec![
                        Finding { who: Who::Near(number), what },
                        Finding { who: Who::Far(f), what: found },
                    ])
                })?;
                self.capabilities = stands.1;
                near.push(stands.0);
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
                open.effective.push((near, far.effective));
            }
        }
        open.cpus.1 = far_cpus;
        Ok(())
    }

    /// The processes as a run file tells them.
    fn members(&self, open: &Open) -> Vec<MemberOpened> {
        let of = |role, rank: usize, cpus: Vec<u32>| MemberOpened { role, rank: rank as u32 + 1, cpus };
        let near =
            (0..open.members.len()).map(|i| of(Role::Near, i, open.cpus.0.get(i).copied().into_iter().collect()));
        let each = open.effective.len() / open.fars.len().max(1);
        let far = open.cpus.1.chunks(each.max(1)).enumerate();
        let far = far.map(|(i, cpus)| of(Role::Far, i, cpus.iter().copied().flatten().collect()));
        near.chain(far).collect()
    }

    fn watch_cpus(&self, open: &Open) -> Option<CpuWatch> {
        self.plan.pin?;
        let mut cpus = open.cpus.0.clone();
        let mut pids = vec![std::process::id()];
        pids.extend(open.members.iter().map(Member::pid));
        if matches!(self.reach, Reach::Fresh(_)) {
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
        let asked = Instant::now();
        let fars: Vec<RefMut<'_, Meeting>> = open.fars.iter().map(|far| far.borrow_mut()).collect();
        let (patience, reliable) = (self.patience(), self.capabilities.reliable);
        let mut processes = Processes { members: &mut open.members, fars, patience, reliable };
        let report = match processes.run(spec) {
            Ok(came) => joined(spec, came, shape, &self.capabilities, asked.elapsed()).inspect_err(|(far, why)| {
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

/// The report of all halves of a trial as one. An error names the far process whose word it does not take.
fn joined(
    spec: &TrialSpec,
    (near, reported): Came,
    shape: Shape,
    can: &Capabilities,
    elapsed: Duration,
) -> Result<TrialReport, (Option<usize>, SessionError)> {
    let incredible = |far: usize, why: String| {
        (Some(far), SessionError::Control(format!("the far side reports what can't be: {why}")))
    };
    let (mut far, mut told): (Vec<FarReport>, _) = (Vec::new(), None);
    let several = reported.len() > 1;
    for (i, Reported { reports, flows, courses, .. }) in reported.into_iter().enumerate() {
        let own = if several { 1 } else { near.len() };
        if !several {
            reports_are_credible(&reports, flows.as_ref(), own, spec, can, elapsed)
                .map_err(|why| incredible(i, why))?;
            (far, told) = (reports, flows);
            break;
        }
        let [report] = <[FarReport; 1]>::try_from(reports)
            .map_err(|reports| incredible(i, format!("reports of {} flows, where 1 can be", reports.len())))?;
        credible::credible(&report, spec, can, elapsed).map_err(|why| incredible(i, why))?;
        let course = courses.first().map(|course| course.course().unwrap_or_default());
        credible::credible_course(course.as_ref(), &report, spec).map_err(|why| incredible(i, why))?;
        if flows.is_some() || courses.len() > 1 {
            return Err(incredible(i, "flows that it does not have".to_owned()));
        }
        far.push(FarReport { course, ..report });
    }
    if several {
        told = measure::flows::told(&far);
        credible::credible_flows(told.as_ref(), &far, spec, elapsed)
            .map_err(|why| (None, SessionError::Control(format!("the far sides report what can't be: {why}"))))?;
    }
    for (number, (near, far)) in near.iter().zip(&far).enumerate() {
        one(near, far, spec).map_err(|e| (None, shape.named(number, e)))?;
    }
    Ok(measure::flows::joined(spec, near, far, told))
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

impl Drop for Open {
    fn drop(&mut self) {
        // All are told before any is waited for.
        self.members.iter_mut().for_each(Member::leave);
        for (far, number) in self.fars.iter().zip(&self.numbers) {
            if let Ok(mut far) = far.try_borrow_mut() {
                far.control.close(*number);
            }
        }
    }
}

impl Session for GroupSession {
    fn capabilities(&self) -> Capabilities {
        self.capabilities.clone()
    }

    fn open(&mut self, _block: u32) -> Result<Party, SessionError> {
        // The last block's processes end before the next ones start: two would share a CPU.
        self.open = None;
        if self.stopped() {
            return Err(SessionError::Interrupted);
        }
        let opened = self.start().and_then(|mut open| self.connect(&mut open).map(|()| open));
        let open = opened.map_err(|e| if self.stopped() { SessionError::Interrupted } else { e })?;
        self.cpu = self.watch_cpus(&open);
        let (near_effective, far_effective) = open.effective.first().cloned().unwrap_or_default();
        let party = Party {
            far: self.environment.clone(),
            near_effective,
            far_effective,
            flows: flows(&open.effective, &open.cpus),
            members: self.members(&open),
            load: None,
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
        self.open = None;
        Ok(())
    }

    fn now(&self) -> u64 {
        Monotonic.now()
    }

    fn taken(&mut self) -> Option<Taken> {
        let near = self.cpu.as_mut()?.taken()?;
        let open = self.open.as_ref().filter(|_| matches!(self.reach, Reach::Shared(_)));
        // Far processes of this host are watched from here, with their CPUs.
        let Some(open) = open else { return Some(near) };
        let pinned = self.environment.as_ref().is_some_and(|e| e.pinned.is_some());
        open.fars.iter().try_fold(near, |all, far| match (far.borrow_mut().control.foreign().ok()?, pinned) {
            (Some(far), _) => Some(all.with(far)),
            (None, pinned) => (!pinned).then_some(all),
        })
    }

    fn pace(&mut self, time: Duration) -> (Option<Pace>, Option<Pace>) {
        self.reach.pace(self.plan.pin, time)
    }
}
