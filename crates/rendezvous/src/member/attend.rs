//! What a near member does: connects where it is told to and runs the near half of trials, until the command says goodbye or is gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use host::Environment;
use measure::{SessionError, TrialSpec, Workspace, flows};
use transport::clock::{Clock, Monotonic};
use transport::{AnyLink, Link, LinkError, Patience, Proof};

use super::message::{Dial, FRAME, Met, Order, Told};
use crate::MeetError;
use crate::channel::Channel;
use crate::course::Numbers;
use crate::far::Terms;
use crate::message::FarPin;
use crate::spread;
use crate::watch::Watch;

const WAITING: &str = "waiting for what to do next";

/// Attends to the command on `channel`, which has proved the secret. Ends with an error unless it said goodbye.
pub(crate) fn attend(channel: &mut Channel, terms: &Terms, stop: &Arc<AtomicBool>) -> Result<(), MeetError> {
    let until = Instant::now() + terms.limits.time();
    channel.take_up_to(FRAME);
    let watch = Watch::over(channel.socket(), terms.rules(stop, until))?;
    let workspace = Workspace::new(true).halted_by(watch.halt());
    Session { channel, watch, until, link: None, workspace }.run()
}

struct Session<'a> {
    channel: &'a mut Channel,
    watch: Watch,
    until: Instant,
    link: Option<AnyLink>,
    workspace: Workspace,
}

impl Session<'_> {
    fn run(&mut self) -> Result<(), MeetError> {
        loop {
            let order = match self.channel.recv(self.until, WAITING) {
                Err(MeetError::Gone { .. }) if self.watch.gave_up() => return Err(MeetError::Stopped),
                other => other?,
            };
            let told = match order {
                Order::Dial(dial) => self.broken_off_by_a_message(|this| this.dial(&dial)),
                Order::Run { spec } => self.broken_off_by_a_message(|this| this.trial(&spec)),
                Order::Clock => Ok(Told::Clock { at: Monotonic.now() }),
                Order::Rest => {
                    self.workspace.release();
                    continue;
                }
                // Came after what it was to break off had ended.
                Order::Cancel | Order::Enough => continue,
                Order::Bye => return Ok(()),
            };
            self.channel.send(&told.unwrap_or_else(|e| {
                // Closed first: the far side must not wait on a connection that nobody serves.
                self.link = None;
                match self.channel.stop_flag().load(Ordering::Relaxed) {
                    true => Told::Failed { met: Met::Other, text: "the near process was asked to end".into() },
                    false => Told::Failed { met: Met::of(&e), text: e.to_string() },
                }
            }))?;
        }
    }

    /// Does what the command's next message breaks off. One that has come is seen here, one that comes later by the watch.
    fn broken_off_by_a_message<T>(
        &mut self,
        doing: impl FnOnce(&mut Self) -> Result<T, SessionError>,
    ) -> Result<T, SessionError> {
        self.watch.arm(0);
        let done = if self.channel.arrived() { Err(SessionError::Interrupted) } else { doing(self) };
        self.watch.disarm();
        done
    }

    fn dial(&mut self, dial: &Dial) -> Result<Told, SessionError> {
        self.link = None;
        let cpu = dial.cpu.or_else(|| chosen(dial.chooses?));
        // Pinning narrows the CPUs that this thread sees: the environment is read first.
        let environment = dial
            .describe
            .then(|| Environment { cpus: host::cpus_before_pinning(), ..Environment::here(cpu) })
            .map(Box::new);
        if let Some(cpu) = cpu {
            let allowed = host::cpus_before_pinning();
            if !allowed.contains(&cpu) {
                let what = format!(
                    "the near process may not run on CPU {cpu}: what it runs under keeps it to {allowed:?}; choose with --pin"
                );
                return Err(SessionError::Control(what));
            }
            host::pin_this_thread(cpu)
                .map_err(|e| LinkError::io("choosing the CPU of a member (--pin none leaves it)", e))?;
        }
        let patience = Duration::try_from_secs_f64(dial.patience).unwrap_or(Duration::from_secs(10));
        self.watch.bear(patience);
        let patience = Patience::new(patience, self.watch.halt());
        let transport = dial.transport.transport().map_err(|e| SessionError::Control(e.to_string()))?;
        let proofs = dial.endpoints.iter().map(|endpoint| proof(&endpoint.proof)).collect::<Result<Vec<_>, _>>()?;
        let known = match (&dial.endpoints[..], &proofs[..]) {
            ([endpoint], [proof]) if !dial.gathers => {
                transport.dial(&dial.settings, &endpoint.address, endpoint.peer, &patience)?.connect(proof)?
            }
            (endpoints, proofs) => {
                let endpoints: Vec<_> =
                    endpoints.iter().map(|endpoint| (endpoint.address.clone(), endpoint.peer)).collect();
                transport.gather(&dial.settings, &endpoints, proofs, &patience)?
            }
        };
        let link = known.altered(&dial.decorators, &patience);
        let (effective, capabilities) = (Box::new(link.effective()), Box::new(link.capabilities()));
        self.link = Some(link);
        Ok(Told::Stands { effective, capabilities, environment, cpu })
    }

    fn trial(&mut self, spec: &TrialSpec) -> Result<Told, SessionError> {
        let Some(link) = &mut self.link else {
            return Err(SessionError::Control("no data connection is open: the last trial on it failed".into()));
        };
        if spec.far_sends() {
            let can = link.capabilities();
            if can.reliable && can.poll && link.ready(Duration::ZERO)? {
                let early = "the far side sent messages before this side was ready to receive";
                return Err(SessionError::Control(early.into()));
            }
            self.channel.send(&Told::Waits)?;
        }
        let report = measure::near::trial(link, spec, &mut self.workspace)?;
        let course = report.course.as_ref().map(Numbers::of);
        Ok(Told::Ran { report: Box::new(report), course })
    }
}

/// The CPU of a member that chooses on its own host, the one of this number there: the first beside the others, in turns where there are more members
/// than CPUs. None where it is to keep to none, or there is no choice.
fn chosen((pin, rank): (FarPin, u32)) -> Option<u32> {
    let allowed = host::cpus_before_pinning();
    let first = match pin {
        FarPin::None => None,
        FarPin::Auto => host::choose_pair(&allowed).map(|(cpu, _)| cpu),
        FarPin::Cpu(cpu) => Some(cpu),
    };
    first.map(|cpu| spread::alone(cpu, &allowed, rank.min(flows::MOST) + 1).pop().unwrap_or(cpu))
}

fn proof((near, far): &(String, String)) -> Result<Proof, SessionError> {
    let half = |text: &str| HEXLOWER.decode(text.as_bytes()).ok().and_then(|bytes| bytes.try_into().ok());
    match (half(near), half(far)) {
        (Some(near), Some(far)) => Ok(Proof { near, far }),
        _ => Err(SessionError::Control("a proof that is not 64 hexadecimal digits".into())),
    }
}
