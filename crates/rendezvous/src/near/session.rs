//! [`measure::Session`] over a far side on a control connection.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use host::{CpuWatch, Environment, Pace, Taken};
use measure::event::Plan;
use measure::session::Party;
use measure::{Buffers, Session, SessionError, TrialReport, TrialSpec};
use transport::clock::{Clock, Monotonic};
use transport::settings::Effective;
use transport::{AnyLink, Capabilities, Connector, Link, LinkError, Name, Proof};

use super::meeting::{self, Meeting, Terms};
use super::verdict::{Words, verdict};
use crate::message::FarPin;
use crate::{MeetError, agree};

/// Where the far side of each block comes from.
pub(crate) enum Reach {
    /// A fresh process on this host for each block.
    Fresh(PathBuf),
    /// One far side for all blocks and paths.
    Shared(Rc<RefCell<Meeting>>),
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
    buffers: Buffers,
    cpu: Option<CpuWatch>,
}

/// An open data connection.
struct Path {
    /// Declared, and so dropped, before what made it.
    link: Option<AnyLink>,
    connector: Connector,
    proof: Proof,
    number: u64,
    near: Effective,
    far: Effective,
    used: bool,
}

impl RemoteSession {
    pub(crate) fn new(number: usize, plan: Rc<Plan>, stop: Arc<AtomicBool>, reach: Reach) -> Self {
        let environment = match &reach {
            Reach::Fresh(_) => None,
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
            buffers: Buffers::new(true),
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
        let closed = match path.link.as_mut().map(AnyLink::close) {
            // A trace that couldn't be written to its end. That the far side is gone is no news any more.
            Some(Err(e @ LinkError::Io { .. })) => Err(e),
            _ => Ok(()),
        };
        (Some(path.number), closed)
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The far side for this block.
    fn meet(&mut self) -> Result<Rc<RefCell<Meeting>>, MeetError> {
        match &self.reach {
            Reach::Shared(meeting) => Ok(Rc::clone(meeting)),
            Reach::Fresh(program) => {
                // The last block's process ends before the next one starts: two would share the far CPU.
                self.meeting = None;
                let terms = Terms {
                    pin: self.plan.pin.map(|(_, far)| far),
                    wish: FarPin::None,
                    plan: &self.plan,
                    stop: &self.stop,
                    environment: self.environment.is_none(),
                };
                let meeting = meeting::here(program, &terms)?;
                if let Some(environment) = &meeting.environment {
                    // The far process inherited this thread's pin and can't see past it; all else it inherited as well.
                    let cpus = host::cpus_before_pinning();
                    self.environment = Some(Environment { cpus, ..environment.clone() });
                }
                Ok(Rc::new(RefCell::new(meeting)))
            }
        }
    }

    fn watch_cpus(&self, far: Option<u32>) -> Option<CpuWatch> {
        let (near_cpu, far_cpu) = self.plan.pin?;
        let me = std::process::id();
        Some(match far {
            Some(far) if matches!(self.reach, Reach::Fresh(_)) => CpuWatch::new(&[near_cpu, far_cpu], &[me, far]),
            _ => CpuWatch::new(&[near_cpu], &[me]),
        })
    }

    /// Opens a data connection on the current control connection.
    fn connect(&mut self, meeting: &mut Meeting) -> Result<Path, SessionError> {
        let once = self.plan.pattern.facts().anew.is_some();
        if once && self.plan.decorators.any() {
            let what = "break, shape or trace connections that are made for each transaction";
            return Err(LinkError::Unsupported(what).into());
        }
        let settings = &self.plan.paths[self.number].settings;
        let transport = self.transport.transport().map_err(|e| SessionError::Control(e.to_string()))?;
        let asked = meeting.control.open(self.transport, settings);
        let (number, address, proof) = asked.map_err(|e| meeting.ended(e))?;
        let patience = meeting.control.patience();
        let dialled = transport.dial(settings, &address, meeting.control.peer(), &patience);
        let connected = dialled.and_then(|mut connector| Ok((connector.connect(&proof)?, connector)));
        let (link, connector) = match connected {
            Ok((link, connector)) => (link.altered(&self.plan.decorators, &patience), connector),
            Err(e) => return Err(failed(meeting, e.into())),
        };
        let far = meeting.control.opened().map_err(|e| meeting.ended(e))?;
        let near = link.effective();
        self.capabilities = link.capabilities();
        let unequal = agree::differences(transport.options(), settings, &near, &far);
        if !unequal.is_empty() {
            meeting.control.close(number);
            return Err(MeetError::Unequal(unequal).into());
        }
        // Transactions each have a connection of their own; this one has shown what takes effect.
        let link = Some(link).filter(|_| !once);
        Ok(Path { link, connector, proof, number, near, far, used: false })
    }

    fn measure(&mut self, meeting: &mut Meeting, spec: &TrialSpec) -> Result<TrialReport, SessionError> {
        if self.plan.reconnect && self.path.as_ref().is_some_and(|p| p.used && p.link.is_some()) {
            self.shut().1?;
            self.path = Some(self.connect(meeting)?);
        }
        let Some(path) = &mut self.path else {
            return Err(SessionError::Control("no data connection is open: the last trial on it failed".into()));
        };
        path.used = true;
        let asked = Instant::now();
        let facts = spec.pattern.facts();
        meeting.control.trial(spec).map_err(|e| meeting.ended(e))?;
        if spec.far_sends() {
            let reliable = self.capabilities.reliable;
            let early = path.link.as_mut().filter(|_| reliable && self.capabilities.poll);
            match early.map_or(Ok(false), |link| link.ready(Duration::ZERO)) {
                Ok(false) => {}
                Ok(true) => {
                    return Err(meeting.control.incredible("blocks before this side was ready to receive").into());
                }
                Err(e) => {
                    self.path = None;
                    return Err(failed(meeting, e.into()));
                }
            }
            let drain = reliable.then(|| (facts.drain)(spec));
            meeting.control.go(drain).map_err(|e| meeting.ended(e))?;
        }
        let began = Instant::now();
        let measured = match (&mut path.link, &facts.anew) {
            (Some(link), _) => measure::near::trial(link, spec, &mut self.buffers),
            (None, Some(anew)) => (anew.near)(&mut path.connector, &path.proof, spec, &self.buffers.halt()),
            (None, None) => Err(LinkError::Unsupported("run this pattern without a connection").into()),
        };
        match measured {
            // A receiver that loses blocks takes the end of its patience for the end of the stream.
            Ok(_) if spec.far_sends() && meeting.control.stopped() => {
                self.path = None;
                Err(failed(meeting, LinkError::Interrupted.into()))
            }
            Ok(report) => {
                if !self.capabilities.reliable && !spec.far_sends() {
                    meeting.control.enough().map_err(|e| meeting.ended(e))?;
                }
                let far = meeting.control.done(began.elapsed(), (facts.drain)(spec)).map_err(|e| meeting.ended(e))?;
                measure::credible::credible(&far, spec, &self.capabilities, asked.elapsed())
                    .map_err(|why| meeting.control.incredible(&why))?;
                if let Some((iteration, offset)) = far.corrupt {
                    let side = "the far side";
                    return Err(SessionError::Corrupt { side, size: spec.size, iteration, offset });
                }
                (facts.agree)(&report, &far)?;
                Ok(report.joined(spec, far))
            }
            Err(mine) => {
                // Closed first, so that the far side does not wait for more.
                self.path = None;
                Err(failed(meeting, mine))
            }
        }
    }
}

/// What to show for this side's failure on a data connection that is closed by now.
fn failed(meeting: &mut Meeting, mine: SessionError) -> SessionError {
    let words = meeting.control.last_words();
    if meeting.control.stopped() {
        return SessionError::Interrupted;
    }
    let gone = words == Words::Gone;
    verdict(mine, words, || if gone { meeting.how() } else { String::new() })
}

impl Session for RemoteSession {
    fn capabilities(&self) -> Capabilities {
        self.capabilities.clone()
    }

    fn open(&mut self, _block: u32) -> Result<Party, SessionError> {
        self.shut().1?;
        if self.stopped() {
            return Err(SessionError::Interrupted);
        }
        let shared = self.meet()?;
        self.meeting = Some(Rc::clone(&shared));
        let mut meeting = shared.borrow_mut();
        self.buffers = Buffers::new(true).halted_by(meeting.control.patience().flag());
        let path = self.connect(&mut meeting)?;
        self.cpu = self.watch_cpus(meeting.launched.as_ref().map(super::launch::Launched::pid));
        let party =
            Party { far: self.environment.clone(), near_effective: path.near.clone(), far_effective: path.far.clone() };
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
        self.buffers.release();
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
        let far = meeting.borrow_mut().control.foreign().ok()?;
        match (far, self.environment.as_ref().and_then(|e| e.pinned)) {
            (Some(far), _) => Some(near.with(far)),
            // It keeps to no CPU: the near one is all that was pinned.
            (None, None) => Some(near),
            (None, Some(_)) => None,
        }
    }

    fn pace(&mut self, time: Duration) -> (Option<Pace>, Option<Pace>) {
        match (&self.reach, self.plan.pin) {
            (Reach::Fresh(_), Some((near, far))) => (Pace::read(Some(near), Some(far), time), None),
            (Reach::Fresh(_), None) => (Pace::read(None, None, time), None),
            (Reach::Shared(meeting), pin) => {
                let near = Pace::here(pin.map(|(near, _)| near), time);
                (near, meeting.borrow_mut().control.pace(time).ok().flatten())
            }
        }
    }
}

impl Drop for RemoteSession {
    fn drop(&mut self) {
        // Nobody is left to hear of what a dropped session could not write.
        let _ = self.close();
    }
}
