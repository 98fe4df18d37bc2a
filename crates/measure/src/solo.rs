//! Sessions that need no second process: memcpy, where one process copies both ways, and the theoretical link, which
//! plays its own far side.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use host::{CpuWatch, MachineCalibration, Taken};
use transport::clock::{Clock, Monotonic};
use transport::theory::{Theory, TheoryLink};
use transport::{AnyLink, Capabilities, End, Name, Patience, Settings, Transport};

use crate::event::PathPlan;
use crate::session::{Calibrations, Party};
use crate::{Carried, Load, Session, SessionError, TrialReport, TrialSpec, Workspace, near};

/// The session of a transport that is not two-ended.
pub struct Solo {
    link: Ends,
    capabilities: Capabilities,
    /// The modelled path.
    theory: Theory,
    /// The load of the path.
    load: Option<Load>,
    workspace: Workspace,
    stop: Arc<AtomicBool>,
    patience: Patience,
    /// Watches what others take of the CPU that this process is pinned to, where it is pinned to one.
    cpu: Option<CpuWatch>,
}

#[allow(clippy::large_enum_variant, reason = "there is one a path")]
enum Ends {
    /// A copy, and how its link is made afresh; none of a program until a round opens it.
    Copy(Option<AnyLink>, &'static dyn Transport, Settings),
    Theory(End<TheoryLink>),
    /// No link at all: one process that works alone (HINT).
    Alone,
}

impl Solo {
    /// A session of a path that one process plays. `stop` ends it between trials.
    pub fn new(path: &PathPlan, stop: Arc<AtomicBool>) -> Result<Self, SessionError> {
        Self::patient(path, stop, Patience::default().limit)
    }

    /// The same with a time-out for its link's waits.
    pub fn patient(path: &PathPlan, stop: Arc<AtomicBool>, limit: Duration) -> Result<Self, SessionError> {
        let patience = Patience::new(limit, Arc::clone(&stop));
        let PathPlan { transport, settings, load, .. } = path;
        let (link, capabilities) = if *transport == Name::ALONE {
            (Ends::Alone, Capabilities::alone())
        } else {
            let transport = transport.transport().map_err(|e| SessionError::Control(e.to_string()))?;
            // A program that can't begin is a failure of its path, which opens it, and not of the run that the path is in.
            let link = match transport.ends() {
                transport::Ends::Echoed => None,
                _ => Some(transport.solo(settings, &patience)?),
            };
            let link = match link.map(AnyLink::into_end::<TheoryLink>) {
                Some(Ok(mut link)) => {
                    if let Some(load) = load {
                        link.load(load.ways(), load.size);
                    }
                    Ends::Theory(link)
                }
                Some(Err(other)) => Ends::Copy(Some(other), transport, settings.clone()),
                None => Ends::Copy(None, transport, settings.clone()),
            };
            (link, transport.capabilities(settings))
        };
        let (theory, load) = (Theory::of(settings), *load);
        let workspace = Workspace::new(true).halted_by(stop.clone());
        Ok(Self { link, capabilities, theory, load, workspace, stop, patience, cpu: None })
    }
}

impl Session for Solo {
    fn capabilities(&self) -> Capabilities {
        self.capabilities.clone()
    }

    fn open(&mut self, round: u32) -> Result<Party, SessionError> {
        // Fresh memory is to a copy what a fresh connection is to a socket: where it lies changes the time.
        self.workspace.release();
        let cpus = host::allowed_cpus();
        // What a program at the end of the path does on this CPU is part of the path.
        let alone = !matches!(&self.link, Ends::Copy(_, t, _) if t.ends() == transport::Ends::Echoed);
        self.cpu = (cpus.len() == 1 && alone).then(|| CpuWatch::new(&cpus, &[std::process::id()]));
        match &mut self.link {
            Ends::Copy(link, transport, settings) => {
                // A program inherits the CPUs of this process: it may use all that there are.
                let made = || transport.solo(settings, &self.patience);
                *link = Some(if transport.ends() == transport::Ends::Echoed { host::unpinned(made) } else { made() }?);
            }
            Ends::Theory(link) => link.connect(u64::from(round)),
            Ends::Alone => {}
        }
        Ok(Party::default())
    }

    fn trial(&mut self, spec: &TrialSpec) -> Result<TrialReport, SessionError> {
        if self.stop.load(std::sync::atomic::Ordering::Relaxed) {
            return Err(SessionError::Interrupted);
        }
        match &mut self.link {
            Ends::Copy(Some(link), ..) => near::trial(link, spec, &mut self.workspace),
            Ends::Copy(None, ..) => Err(SessionError::Control("no round has been opened".into())),
            Ends::Theory(link) => {
                let began = link.clock().now();
                let report = modelled(link, spec, self.theory.work, &mut self.workspace)?;
                let seconds = (link.clock().now() - began) as f64 * 1e-9;
                let load = self.load.map(|load| carried(&self.theory, &load, spec, seconds));
                Ok(TrialReport { load, ..report })
            }
            Ends::Alone => (spec.pattern.facts().alone)(&Monotonic, spec, &mut self.workspace),
        }
    }

    fn rest(&mut self) {
        self.workspace.release();
    }

    fn close(&mut self) -> Result<(), SessionError> {
        Ok(())
    }

    fn now(&self) -> u64 {
        match &self.link {
            Ends::Copy(..) | Ends::Alone => Monotonic.now(),
            Ends::Theory(link) => link.clock().now(),
        }
    }

    fn calibration(&mut self, time: Duration) -> Calibrations {
        // A model has no machine.
        let near = matches!(self.link, Ends::Copy(..)).then(|| MachineCalibration::here(None, time)).flatten();
        Calibrations { near, far: Vec::new() }
    }

    fn taken(&mut self) -> Option<Taken> {
        // On a virtual clock other programs take nothing.
        let real = !matches!(self.link, Ends::Theory(_));
        self.cpu.as_mut().filter(|_| real).and_then(CpuWatch::taken)
    }
}

/// What loading flows carried on the modelled path in a trial of so many seconds: what the trial's own messages left of each direction.
fn carried(theory: &Theory, load: &Load, spec: &TrialSpec, seconds: f64) -> Carried {
    let (there, back) = (spec.pattern.facts().messages)(spec);
    let iterations = spec.warmup.saturating_add(spec.repeats) as f64;
    let left = |size: u64| (1.0 - iterations * theory.line_time(size) / seconds).max(0.0);
    let rate = theory.stream_rate(load.size) / 8.0;
    Carried::of(load, left(there) * rate, left(back) * rate)
}

/// A trial on the modelled path, whose far side has the pattern's role.
fn modelled(
    end: &mut End<TheoryLink>,
    spec: &TrialSpec,
    work: f64,
    workspace: &mut Workspace,
) -> Result<TrialReport, SessionError> {
    let facts = spec.pattern.facts();
    end.set_role((facts.role)(spec));
    end.skip(spec.warmup.saturating_mul(facts.sends(spec)));
    // A far side that makes up its answers can't be checked against what this side would have sent.
    let spec = &TrialSpec { check: spec.check && facts.echoes, ..spec.clone() };
    end.keep_contents(spec.check);
    (facts.modelled)(end, spec, work, workspace)
}
