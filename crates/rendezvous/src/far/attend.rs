//! Does what one near side asks for, until it says goodbye, goes away or breaks a rule.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use host::{CpuWatch, Environment, MachineCalibration};
use measure::{Load, SessionError, TrialSpec, flows};
use transport::clock::{Clock, Monotonic};
use transport::{Capabilities, LinkError, Name, Patience, Settings};

use super::{Pin, Terms, Work};
use crate::MeetError;
use crate::channel::Channel;
use crate::course::Numbers;
use crate::message::{Answer, Ask, Cause, FarPin, Loads, Stands};
use crate::secret::{SessionKeys, random};
use crate::spread;
use crate::watch::Watch;

const WAITING: &str = "waiting for what to do next";
/// Longest look at this machine's calibration.
const LONGEST_LOOK: Duration = Duration::from_millis(20);

/// Attends to the near side on `channel`, which has proved the secret. Ends with an error unless it said goodbye.
pub(crate) fn attend<W: Work>(
    channel: &mut Channel,
    keys: &SessionKeys,
    terms: &Terms,
    work: &mut W,
    stop: &Arc<AtomicBool>,
) -> Result<(), MeetError> {
    let until = Instant::now() + terms.limits.time();
    let watch = Watch::over(channel.socket(), terms.rules(stop, until))?;
    let mut session =
        Session { channel, keys, terms, work, watch, until, open: None, cpu: None, others: None, last: 0 };
    let outcome = session.run();
    session.work.close();
    session.farewell(&outcome);
    outcome
}

struct Session<'a, W> {
    channel: &'a mut Channel,
    keys: &'a SessionKeys,
    terms: &'a Terms,
    work: &'a mut W,
    watch: Watch,
    until: Instant,
    open: Option<Open>,
    /// The CPU that this side keeps to.
    cpu: Option<u32>,
    /// What others take of it, since the path was opened.
    others: Option<CpuWatch>,
    /// Number of the last connection: a number is never used twice, so a proof never is.
    last: u64,
}

/// The open data connections.
struct Open {
    /// Number of the first.
    connection: u64,
    flows: u32,
    /// Those of the same path that other processes have.
    others: u32,
    /// What they can do.
    can: Capabilities,
    /// What loads them, and on which CPUs.
    load: Option<Loads>,
    /// Whether that has begun.
    loading: bool,
    patience: Duration,
}

impl<W: Work> Session<'_, W> {
    fn run(&mut self) -> Result<(), MeetError> {
        loop {
            let ask = match self.channel.recv(self.until, WAITING) {
                Err(MeetError::Silent { .. }) => return Err(self.over_time()),
                Err(MeetError::Gone { .. }) if self.watch.gave_up() => return Err(MeetError::Stopped),
                other => other?,
            };
            match ask {
                Ask::Hello { pin, rank, environment } => self.hello(pin, rank, environment)?,
                Ask::Open { transport, settings, patience, connection, flows, others, cpus, load } => {
                    self.open(transport, &settings, patience, connection, (flows, others, &cpus), load)?;
                }
                Ask::Load { begin: true } => self.load()?,
                Ask::Load { begin: false } => {
                    self.work.unload();
                    self.open = self.open.take().map(|open| Open { load: None, loading: false, ..open });
                    self.channel.send(&Answer::Load)?;
                }
                Ask::Trial { spec } => self.trial(&spec)?,
                Ask::Close { connection } => {
                    if self.open.as_ref().is_some_and(|open| open.connection == connection) {
                        self.close();
                    }
                }
                Ask::Taken => {
                    let taken = self.others.as_mut().and_then(CpuWatch::taken);
                    self.channel.send(&Answer::Taken { taken })?;
                }
                Ask::Calibrate { time } => {
                    // Longer than anybody needs would only keep the CPUs busy.
                    let time = Duration::try_from_secs_f64(time).unwrap_or_default().min(LONGEST_LOOK);
                    self.channel.send(&Answer::Calibrated { calibration: MachineCalibration::here(self.cpu, time) })?;
                }
                // Came after what it was to break off had ended.
                Ask::Cancel | Ask::Enough => {}
                Ask::Go => return Err(MeetError::Protocol("go, with no stream to send".into())),
                Ask::Bye => return Ok(()),
            }
        }
    }

    /// Tells the near side why this side ends, where that was not meant and can still be told.
    fn farewell(&mut self, outcome: &Result<(), MeetError>) {
        let (cause, text) = match outcome {
            Err(MeetError::Interrupted) => (Cause::Ending, "was asked to stop".to_owned()),
            Err(e @ (MeetError::OverTime { .. } | MeetError::Protocol(_))) => (Cause::Other, e.to_string()),
            _ => return,
        };
        let _ = self.channel.send_within(&Answer::Failed { cause, text }, Duration::from_millis(500));
    }

    fn over_time(&self) -> MeetError {
        MeetError::OverTime { seconds: self.terms.limits.max_seconds }
    }

    fn close(&mut self) {
        self.work.close();
        self.open = None;
    }

    fn hello(&mut self, far_pin: FarPin, rank: u32, environment: bool) -> Result<(), MeetError> {
        let allowed = host::allowed_cpus();
        let cpu = match (self.terms.pin, far_pin) {
            (Pin::Decided(cpu), _) => cpu,
            (Pin::Choose, FarPin::None) => None,
            (Pin::Choose, FarPin::Auto) => host::choose_pair(&allowed).map(|(_, cpu)| cpu),
            (Pin::Choose, FarPin::Cpu(cpu)) => Some(cpu),
        };
        let own = |cpu| spread::alone(cpu, &allowed, rank.min(flows::MOST) + 1).pop().unwrap_or(cpu);
        let cpu = if self.terms.pin == Pin::Choose { cpu.map(own) } else { cpu };
        if let (Pin::Decided(Some(cpu)), false) = (self.terms.pin, cpu.is_none_or(|cpu| allowed.contains(&cpu))) {
            let text =
                format!("it may not run on CPU {cpu}: what it runs under keeps it to {allowed:?}; choose with --pin");
            return self.channel.send(&Answer::Refused { text });
        }
        // Pinning narrows the CPUs that this thread sees: the environment is read first.
        let environment = environment.then(|| Box::new(Environment::here(cpu)));
        if let Some(cpu) = cpu
            && let Err(e) = host::pin_this_thread(cpu)
        {
            let text = format!("can't run on CPU {cpu}: {e}; choose CPUs from {allowed:?} with --pin");
            return self.channel.send(&Answer::Refused { text });
        }
        self.cpu = cpu;
        self.channel.send(&Answer::Hello { environment, pinned: cpu })
    }

    fn open(
        &mut self,
        transport: Name,
        settings: &Settings,
        patience: f64,
        connection: u64,
        (flows, others, cpus): (u32, u32, &[u32]),
        load: Option<Loads>,
    ) -> Result<(), MeetError> {
        self.close();
        if connection <= self.last {
            return Err(MeetError::Protocol(format!("connection number {connection} after {}", self.last)));
        }
        // Each connection has a number, and so a proof, of its own.
        let last_flow = connection.saturating_add(u64::from(flows.saturating_sub(1)));
        self.last = last_flow.saturating_add(load.as_ref().map_or(0, |l| u64::from(l.load.connections())));
        let known = transport.transport().map_err(|e| format!("the far side: {e}"));
        let asked = load.as_ref().map(|l| &l.load);
        let allowed =
            known.and_then(|known| self.terms.limits.path(known, settings, patience, flows, asked).map(|()| known));
        let all = flows.saturating_add(others);
        let few = if all <= flows::MOST {
            Ok(())
        } else {
            Err(format!("a path of {all} connections; {} are allowed", flows::MOST))
        };
        let allowed = allowed.and_then(|known| few.map(|()| known));
        let known = match allowed {
            Ok(known) => known,
            Err(text) => return self.channel.send(&Answer::Refused { text }),
        };
        let nonce: [u8; 16] = random()?;
        let patience = Duration::from_secs_f64(patience);
        self.watch.bear(patience);
        let of_links = Patience::new(patience, self.watch.halt());
        let at = self.terms.listen_at.map_or_else(|| self.channel.local.address(), |ip| SocketAddr::new(ip, 0));
        let address = match self.work.listen(known, settings, at, &of_links) {
            Ok(address) => address,
            Err(e) => return self.failed(&e),
        };
        // Armed before the near side can know the address: from here on it has nothing to say but `Cancel` (and of a trial, `Enough`).
        self.watch.arm(0);
        self.channel.send(&Answer::Listening { address, nonce: HEXLOWER.encode(&nonce) })?;
        let cpus = self.cpus(flows, cpus);
        self.work.place(&cpus);
        let accepted: Result<Vec<_>, _> = (connection..=last_flow)
            .map(|number| self.work.accept(self.keys.proof(number, &nonce)).map_err(|e| (number - connection, e)))
            .collect();
        let loading = match accepted.is_ok() {
            true => (last_flow + 1..=self.last).try_for_each(|number| {
                let accepted = self.work.accept_loading(self.keys.proof(number, &nonce));
                accepted.map_err(|e| (number - last_flow, e))
            }),
            false => Ok(()),
        };
        self.watch.disarm();
        if let Err((number, e)) = loading {
            let of = self.last - last_flow;
            return self.failed_as(&e, format!("opening loading flow {number} of {of}: {e}"));
        }
        match accepted {
            Ok(accepted) => {
                let watched: Vec<u32> = cpus.iter().copied().chain(self.cpu).collect();
                self.others = self.cpu.map(|_| CpuWatch::new(&watched, &[std::process::id()]));
                let load = load.map(|l| Loads { cpus: self.load_cpus(&l), ..l });
                let on = load.as_ref().map_or(Vec::new(), |l| l.cpus.clone());
                self.open = accepted.first().map(|(_, can)| {
                    let can = can.clone();
                    Open { connection, flows, others, can, load, loading: false, patience }
                });
                let cpus = cpus.iter().copied().map(Some).chain(std::iter::repeat(self.cpu));
                let stands = |((effective, can), cpu)| Stands { effective, capabilities: Box::new(can), cpu };
                let flows = accepted.into_iter().zip(cpus).map(stands);
                self.channel.send(&Answer::Opened { flows: flows.collect(), load: on })
            }
            Err((_, e)) if flows == 1 => self.failed(&e),
            Err((flow, e)) => self.failed_as(&e, format!("opening flow {} of {flows}: {e}", flow + 1)),
        }
    }

    /// A CPU for each of several flows; empty where they keep to none in particular, or there is one flow, which this thread runs.
    fn cpus(&self, flows: u32, decided: &[u32]) -> Vec<u32> {
        match (self.cpu, self.terms.pin) {
            _ if flows == 1 => Vec::new(),
            (None, _) => Vec::new(),
            // Decided by who knows which CPUs the other side's flows are on.
            (Some(_), Pin::Decided(_)) if decided.len() == flows as usize => decided.to_vec(),
            (Some(cpu), _) => spread::alone(cpu, &host::cpus_before_pinning(), flows),
        }
    }

    /// A CPU for each loading flow; empty where they keep to none in particular.
    fn load_cpus(&self, Loads { load, cpus }: &Loads) -> Vec<u32> {
        let connections = load.connections();
        match (self.cpu, self.terms.pin) {
            (None, _) => Vec::new(),
            (Some(_), Pin::Decided(_)) if cpus.len() == connections as usize => cpus.clone(),
            (Some(cpu), _) => spread::load_alone(cpu, &host::cpus_before_pinning(), connections),
        }
    }

    /// Begins this side's half of the flows that load the open path.
    fn load(&mut self) -> Result<(), MeetError> {
        let Some(Open { load: Some(Loads { load, cpus }), loading: false, patience, .. }) = &self.open else {
            let text = "no data connection is open that could load a path, or they do already".to_owned();
            return self.channel.send(&Answer::Refused { text });
        };
        let (load, cpus, patience): (Load, Vec<u32>, Duration) = (*load, cpus.clone(), *patience);
        self.watch.arm(0);
        let outcome = self.work.load(&load, &cpus, patience);
        self.watch.disarm();
        if let Err(e) = outcome {
            return self.failed_in(&e);
        }
        self.open.iter_mut().for_each(|open| open.loading = true);
        self.channel.send(&Answer::Load)
    }

    fn trial(&mut self, spec: &TrialSpec) -> Result<(), MeetError> {
        let Some(Open { flows, others, can: capabilities, load, loading, .. }) = &self.open else {
            let text = "no data connection is open for this trial".to_owned();
            return self.channel.send(&Answer::Refused { text });
        };
        let (all, shared) = (flows.saturating_add(*others), *others > 0 || spec.both);
        // On a path that loses messages each side is told when the other has sent all.
        let two_ends = spec.timed_at_both() && !capabilities.reliable;
        if spec.flows != all {
            let text = format!("a trial of {} flows on a path of {all}", spec.flows);
            return self.channel.send(&Answer::Refused { text });
        }
        let loads = load.is_some();
        if loads != *loading {
            let text = "a trial on a path whose loading flows have not begun".to_owned();
            return self.channel.send(&Answer::Refused { text });
        }
        let left = self.until.saturating_duration_since(Instant::now());
        if let Err(text) = self.terms.limits.trial(spec, capabilities, left) {
            return self.channel.send(&Answer::Refused { text });
        }
        if spec.far_sends() {
            self.channel.send(&Answer::Ready { at: Monotonic.now() })?;
            match self.channel.recv(self.until, "waiting for the receiver of a stream to be ready") {
                Err(MeetError::Silent { .. }) => return Err(self.over_time()),
                Err(e) => return Err(e),
                // What the near side says when it has sent all must not end what this side still sends.
                Ok(Ask::Go) => self.watch.arm(if two_ends { u32::MAX } else { 0 }),
                Ok(Ask::Cancel) => return self.failed(&LinkError::Interrupted),
                Ok(_) => {
                    return Err(MeetError::Protocol("another question where the receiver of a stream says go".into()));
                }
            }
        } else {
            // Armed before the near side can know that this side is ready.
            self.watch.arm(0);
            self.channel.send(&Answer::Ready { at: Monotonic.now() })?;
        }
        let before = self.work.loaded();
        let began = Instant::now();
        let (channel, watch) = (Mutex::new(&mut *self.channel), &self.watch);
        let sent = || {
            if two_ends {
                let mut channel = channel.lock().unwrap_or_else(PoisonError::into_inner);
                // Where it can't be said the connection is gone, which the watch sees.
                let _ = channel.send(&Answer::Sent);
                watch.arm(0);
                // What came together with the word to go is no news to the watch.
                if channel.arrived() {
                    watch.halt().store(true, Ordering::Relaxed);
                }
            }
        };
        let outcome = before.and_then(|before| {
            let reports = self.work.trial(spec, &sent)?;
            // Read before the watch is disarmed and anything is said: what comes later is no part of the trial.
            let rate = self.work.loaded()?.wrapping_sub(before) as f64 / began.elapsed().as_secs_f64().max(1e-9);
            Ok((reports, loads.then_some(rate)))
        });
        self.watch.disarm();
        match outcome {
            Ok((reports, load)) => {
                let flows = measure::flows::told(&reports);
                let courses = reports.iter().filter_map(|report| report.course.as_ref()).filter(|_| shared);
                let courses = courses.map(Numbers::of).collect();
                self.channel.send(&Answer::Done { reports, flows, load, courses })
            }
            Err(e) => self.failed_in(&e),
        }
    }

    /// Says what failed in a trial, or in a flow that loads it.
    fn failed_in(&mut self, e: &SessionError) -> Result<(), MeetError> {
        match e.root() {
            SessionError::Link(cause) => self.failed_as(cause, e.to_string()),
            SessionError::Interrupted => self.failed(&LinkError::Interrupted),
            _ => {
                self.close();
                self.channel.send(&Answer::Failed { cause: Cause::Other, text: e.to_string() })
            }
        }
    }

    /// Says what failed; the data connection is of no use any more.
    fn failed(&mut self, e: &LinkError) -> Result<(), MeetError> {
        self.failed_as(e, e.to_string())
    }

    /// The same in these words.
    fn failed_as(&mut self, e: &LinkError, text: String) -> Result<(), MeetError> {
        // Closed first: the near side must not wait on a data connection that nobody serves.
        self.close();
        if matches!(e, LinkError::Interrupted) {
            if self.channel.stop_flag().load(Ordering::Relaxed) {
                return Err(MeetError::Interrupted);
            }
            if Instant::now() >= self.until {
                return Err(self.over_time());
            }
        }
        self.channel.send(&Answer::Failed { cause: Cause::of(e), text })
    }
}
