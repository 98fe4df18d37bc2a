//! The near side's half of the conversation on one control connection.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use host::{Environment, MachineCalibration, Taken};
use measure::event::Plan;
use measure::{FarReport, Flows, Load, TrialSpec};
use transport::clock::{Clock, Monotonic};
use transport::options::LOSS_TIMEOUT;
use transport::settings::LOSS;
use transport::{Address, Name, Patience, Proof, Settings};

use super::talk::{SLACK, Talk};
use super::verdict::Words;
use crate::channel::Channel;
use crate::course::Numbers;
use crate::hung::ticks;
use crate::message::{Answer, Ask, FarPin, Loads, Stands};
use crate::moments::Ahead;
use crate::secret::SessionKeys;
use crate::watch::{Rules, Watch};
use crate::{MeetError, Peer};

/// Ticks of the watch (100 ms each) that the far side may be done before this side, beside what waiting for lost
/// datagrams takes.
const GRACE: u32 = 20;

/// Datagrams in a row that a trial waits for before it gives up, and one more.
const LOSSES: f64 = 11.0;
/// How much longer than for any other answer a process of this host is waited for that looks at its host: the kernel tells of a network interface
/// when whoever makes or ends interfaces lets it.
const LOOK: Duration = Duration::from_secs(60);

/// What the far side reports of a trial.
pub(crate) struct Reported {
    /// Of each flow.
    pub reports: Vec<FarReport>,
    /// Of all flows, where it timed several.
    pub flows: Option<Flows>,
    /// Bytes a second that it received of loading flows meanwhile, where any load the path.
    pub load: Option<f64>,
    /// How each flow went on, where other processes have the path's other connections and this one timed its own.
    pub courses: Vec<Numbers>,
}

/// Connections of a path that one far process has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Share {
    /// Its own.
    pub own: u32,
    /// Those of other processes.
    pub others: u32,
}

impl From<u32> for Share {
    /// All of them.
    fn from(own: u32) -> Self {
        Self { own, others: 0 }
    }
}

/// A control connection to a far side that has proved the secret.
pub(crate) struct Control {
    talk: Talk,
    keys: SessionKeys,
    watch: Watch,
    /// Where data goes, where that is another address than the control connection's.
    pub at: Option<IpAddr>,
    /// Whether goodbye was said.
    left: bool,
    /// Number of the last data connection.
    number: u64,
    /// How far the far side's clock is ahead, as the last trial's beginning told.
    ahead: Ahead,
    /// The longest that waiting for lost datagrams takes at the end of a trial.
    losses: Duration,
    stop: Arc<AtomicBool>,
}

impl Control {
    pub(crate) fn over(
        (channel, keys): (Channel, SessionKeys),
        plan: &Plan,
        stop: &Arc<AtomicBool>,
    ) -> Result<Self, MeetError> {
        let seconds = |s: f64, or| Duration::try_from_secs_f64(s).unwrap_or(or);
        let patience = seconds(plan.patience, Duration::from_secs(10));
        // The far side of all paths may be one.
        let timeouts = plan.paths.iter().filter_map(|path| path.settings.real(LOSS_TIMEOUT.name));
        let losses = seconds(LOSSES * timeouts.reduce(f64::max).unwrap_or(LOSS), Duration::ZERO);
        let watch = Watch::over(
            channel.socket(),
            Rules { stop: Arc::clone(stop), until: None, last_resort: None, near_stopped: None, error: None },
        )?;
        Ok(Self {
            talk: Talk::over(channel, patience),
            keys,
            watch,
            left: false,
            at: None,
            number: 0,
            ahead: Ahead::NOT,
            losses,
            stop: Arc::clone(stop),
        })
    }

    /// The far side's own address, whose port is of no meaning: data goes there and nowhere else.
    pub(crate) fn peer(&self) -> SocketAddr {
        self.at.map_or_else(|| self.talk.channel.peer.address(), |at| SocketAddr::new(at, 0))
    }

    /// The far side's address, where it is on another host than this side.
    pub(crate) fn other_host(&self) -> Option<IpAddr> {
        let (Peer::At(there), Peer::At(here)) = (self.talk.channel.peer, self.talk.channel.local) else { return None };
        // Both ends have the same address where they are on one host.
        let same = there.ip().to_canonical() == here.ip().to_canonical() || there.ip().is_loopback();
        (!same).then_some(there.ip())
    }

    /// Closes the connection, which broke down.
    pub(crate) fn hang_up(&mut self) {
        self.talk.channel.shutdown();
    }

    /// Whether the conversation broke down: no goodbye will reach the far side.
    pub(crate) fn is_broken(&self) -> bool {
        self.talk.is_broken()
    }

    /// A patience for data connections: ends too when the far side goes away or breaks off.
    pub(crate) fn patience(&self) -> Patience {
        Patience::new(self.talk.patience, self.watch.halt())
    }

    /// Whether a person asked this side to stop.
    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Describes each side to the other; the far side is process `rank`, from 0, of those that a path has there. Returns the far side's
    /// environment, if asked for, and its CPU.
    pub(crate) fn hello(
        &mut self,
        pin: FarPin,
        rank: u32,
        environment: bool,
    ) -> Result<(Option<Environment>, Option<u32>), MeetError> {
        self.ask(&Ask::Hello { pin, rank, environment })?;
        let look = if self.talk.channel.peer == Peer::Here { LOOK } else { Duration::ZERO };
        match self.answer("asking the far side who it is", SLACK + look)? {
            Answer::Hello { pinned: Some(cpu), .. } if f64::from(cpu) >= host::MOST_CPUS => {
                Err(self.incredible(&format!("it is pinned to CPU {cpu}")))
            }
            Answer::Hello { environment, pinned } => Ok((environment.map(|e| *e), pinned)),
            other => Err(self.unexpected(other)),
        }
    }

    /// Asks for the data connections of so many flows, whose threads there keep to `cpus`, if there are any. Returns the number of the first,
    /// where to connect, and what both ends must show there, for each flow and then for each connection of `load`. The watch is armed until
    /// [`Control::opened`].
    pub(crate) fn open(
        &mut self,
        transport: Name,
        settings: &Settings,
        flows: impl Into<Share>,
        cpus: Vec<u32>,
        load: Option<Loads>,
    ) -> Result<(u64, Address, Vec<Proof>), MeetError> {
        let Share { own: flows, others } = flows.into();
        let connection = self.number + 1;
        self.number += u64::from(flows.max(1)) + load.as_ref().map_or(0, |l| u64::from(l.load.connections()));
        let (settings, patience) = (settings.clone(), self.talk.patience.as_secs_f64());
        self.ask(&Ask::Open { transport, settings, patience, connection, flows, others, cpus, load })?;
        match self.answer("asking the far side for a data connection", SLACK)? {
            Answer::Listening { address, nonce } => {
                let nonce: Option<[u8; 16]> =
                    HEXLOWER.decode(nonce.as_bytes()).ok().and_then(|bytes| bytes.try_into().ok());
                let Some(nonce) = nonce else {
                    return Err(MeetError::Protocol("a nonce that is not 32 hexadecimal digits".into()));
                };
                self.watch.arm(self.grace());
                let proofs = (connection..=self.number).map(|number| self.keys.proof(number, &nonce));
                Ok((connection, address, proofs.collect()))
            }
            other => Err(self.unexpected(other)),
        }
    }

    /// The far side's word that the data connections of so many flows stand, and those of their `load`; and on which CPUs it will run the
    /// loading flows.
    pub(crate) fn opened(&mut self, flows: u32, load: Option<&Load>) -> Result<(Vec<Stands>, Vec<u32>), MeetError> {
        self.watch.disarm();
        match self.answer("waiting for the far side to see the data connection", SLACK)? {
            Answer::Opened { flows: all, .. } if all.len() != flows as usize => {
                Err(self.incredible(&format!("{} connections, where {flows} were asked for", all.len())))
            }
            Answer::Opened { load: cpus, .. } if cpus.len() > load.map_or(0, Load::connections) as usize => {
                Err(self.incredible(&format!("CPUs of {} loading flows that were not asked for", cpus.len())))
            }
            Answer::Opened { flows, load } if flows.iter().all(|flow| flow.effective.is_sane()) => Ok((flows, load)),
            Answer::Opened { .. } => Err(self.incredible("settings that no system has")),
            other => Err(self.unexpected(other)),
        }
    }

    /// Asks the far side to begin its half of the loading flows. The watch is armed until [`Control::loaded`].
    pub(crate) fn load(&mut self) -> Result<(), MeetError> {
        // Either side may see its flows carry long before the other; the connections' own patience bounds that.
        self.watch.arm(u32::MAX);
        self.ask(&Ask::Load { begin: true })
    }

    /// The far side's word that all loading flows carry.
    pub(crate) fn loaded(&mut self) -> Result<(), MeetError> {
        self.watch.disarm();
        match self.answer("waiting for the loading flows to carry something", SLACK)? {
            Answer::Load => Ok(()),
            other => Err(self.unexpected(other)),
        }
    }

    /// Ends the far side's half of the loading flows, where it can still be asked to.
    pub(crate) fn unload(&mut self) -> Result<(), MeetError> {
        self.ask(&Ask::Load { begin: false })?;
        match self.answer("waiting for the loading flows to end", SLACK)? {
            Answer::Load => Ok(()),
            other => Err(self.unexpected(other)),
        }
    }

    /// Asks for a trial; returns when the far side is ready. The watch is armed until [`Control::done`], where the far side sends
    /// from [`Control::go`] on.
    pub(crate) fn trial(&mut self, spec: &TrialSpec) -> Result<(), MeetError> {
        let asked = Monotonic.now();
        self.ask(&Ask::Trial { spec: Box::new(spec.clone()) })?;
        match self.answer("waiting for the far side to get ready for a trial", SLACK)? {
            Answer::Ready { at } => {
                self.ahead = if self.talk.channel.peer == Peer::Here {
                    Ahead::NOT
                } else {
                    Ahead::told(asked, at, Monotonic.now())
                };
                if !spec.far_sends() {
                    self.watch.arm(self.grace());
                }
                Ok(())
            }
            other => Err(self.unexpected(other)),
        }
    }

    /// This side is about to receive: the far side may send its stream. When it is done, what is still under way arrives within
    /// `drain`; none where what is not here by then is lost.
    pub(crate) fn go(&mut self, drain: Option<Duration>) -> Result<(), MeetError> {
        self.watch.arm(drain.map_or(0, |drain| self.grace().saturating_add(ticks(drain))));
        self.ask(&Ask::Go)
    }

    /// The same where both sides send: then this side may be told that the far side has sent all long before it has itself, and `sent` must follow.
    pub(crate) fn go_both(&mut self, drain: Option<Duration>) -> Result<(), MeetError> {
        self.watch.arm(drain.map_or(u32::MAX, |drain| self.grace().saturating_add(ticks(drain))));
        self.ask(&Ask::Go)
    }

    /// Where both sides send on a path that loses messages: all is sent from here. From now on the far side's word that it has sent all ends what
    /// this side still waits for.
    pub(crate) fn sent(&mut self) {
        self.talk.tell(&Ask::Enough, SLACK);
        self.watch.arm(0);
    }

    /// How far the far side's clock is ahead, as it said when the last trial began.
    pub(crate) fn ahead(&self) -> Ahead {
        self.ahead
    }

    /// Ticks that the far side may be done before this side.
    fn grace(&self) -> u32 {
        GRACE.saturating_add(ticks(self.losses))
    }

    /// This side's half of a trial is over: on an unreliable path the far side must not wait for what was lost.
    pub(crate) fn enough(&mut self) -> Result<(), MeetError> {
        self.watch.disarm();
        self.ask(&Ask::Enough)
    }

    /// What the far side saw of the trial, which took `took` here; what is still under way may take `drain` longer.
    pub(crate) fn done(&mut self, took: Duration, drain: Duration) -> Result<Reported, MeetError> {
        self.watch.disarm();
        let mut answer =
            || self.answer("waiting for the far side's report of a trial", SLACK + self.losses + took + drain);
        let answer = match answer()? {
            // Said once, before its report.
            Answer::Sent => answer()?,
            other => other,
        };
        match answer {
            Answer::Done { reports, flows, load, courses } => Ok(Reported { reports, flows, load, courses }),
            other => Err(self.unexpected(other)),
        }
    }

    /// What the far side says of its half of a trial, which is here: its report, or what it met.
    pub(crate) fn half(&mut self) -> Result<Result<Reported, Words>, MeetError> {
        self.watch.disarm();
        match self.talk.answer("waiting for the far side's report of a trial", SLACK)? {
            Answer::Done { reports, flows, load, courses } => Ok(Ok(Reported { reports, flows, load, courses })),
            Answer::Failed { cause, text } => Ok(Err(Words::Failed(cause, text))),
            other => Err(self.unexpected(other)),
        }
    }

    /// What others took of the far side's CPU since the path was opened or this was asked last.
    pub(crate) fn taken(&mut self) -> Result<Option<Taken>, MeetError> {
        self.ask(&Ask::Taken)?;
        match self.answer("asking what others took of the far side's CPU", SLACK)? {
            Answer::Taken { taken } => Ok(taken.filter(Taken::is_sane)),
            other => Err(self.unexpected(other)),
        }
    }

    /// Has the far side look how fast its machine is just now, for about `time`; [`Control::calibrated`] must follow.
    pub(crate) fn calibrate(&mut self, time: Duration) -> Result<(), MeetError> {
        self.ask(&Ask::Calibrate { time: time.as_secs_f64() })
    }

    /// What it found, none where it can't tell.
    pub(crate) fn calibrated(&mut self, time: Duration) -> Result<Option<MachineCalibration>, MeetError> {
        match self.answer("asking how fast the far side's machine is", SLACK + time)? {
            Answer::Calibrated { calibration } => Ok(calibration.filter(MachineCalibration::is_sane)),
            other => Err(self.unexpected(other)),
        }
    }

    /// After a failure of this side's data connection, which must be closed by now: breaks off the far side's half and
    /// reads what it has to say.
    pub(crate) fn last_words(&mut self) -> Words {
        self.cancel();
        self.read_out(Instant::now() + SLACK)
    }

    /// Breaks off the far side's half of what is being done.
    pub(crate) fn cancel(&mut self) {
        self.watch.disarm();
        self.talk.tell(&Ask::Cancel, SLACK);
    }

    /// What the far side has to say after that, by `deadline`.
    pub(crate) fn read_out(&mut self, deadline: Instant) -> Words {
        if self.talk.is_broken() {
            return Words::Gone;
        }
        let mut answer = || self.talk.answer_anyway("waiting for the last words of the far side", deadline);
        let answer = match answer() {
            Ok(Answer::Sent) => answer(),
            other => other,
        };
        match answer {
            Ok(Answer::Failed { cause, text }) => Words::Failed(cause, text),
            Ok(_) => Words::Complete,
            Err(e) => {
                self.talk.breaks(e.to_string());
                if matches!(e, MeetError::Silent { .. }) { Words::Silent } else { Words::Gone }
            }
        }
    }

    /// The channel, to wait for the far side together with others.
    pub(crate) fn channel(&mut self) -> &mut Channel {
        &mut self.talk.channel
    }

    /// How long the far side may take for its report once this side's half is over, or be done before this side is.
    pub(crate) fn leeway(&self) -> Duration {
        self.talk.patience + SLACK + self.losses
    }

    /// Closes the data connections from `number` on on the far side too.
    pub(crate) fn close(&mut self, number: u64) {
        self.talk.tell(&Ask::Close { connection: number }, SLACK);
    }

    /// Says goodbye: a far process ends while others are said goodbye to.
    pub(crate) fn leave(&mut self) {
        if self.left {
            return;
        }
        self.left = true;
        self.talk.tell(&Ask::Bye, Duration::from_millis(200));
        self.talk.channel.shutdown();
    }

    /// As if this process were killed: the connection ends without a word.
    #[cfg(test)]
    pub(crate) fn die(mut self) {
        self.talk.breaks("killed");
        let _ = self.talk.channel.socket().shutdown(std::net::Shutdown::Both);
    }

    /// Uses the last connection's number again.
    #[cfg(test)]
    pub(crate) fn repeat_number(&mut self) {
        self.number -= 1;
    }

    fn ask(&mut self, ask: &Ask) -> Result<(), MeetError> {
        self.talk.ask(ask)
    }

    /// The far side's next answer, if it comes within the patience and `more`.
    fn answer(&mut self, doing: &'static str, more: Duration) -> Result<Answer, MeetError> {
        match self.talk.answer(doing, more)? {
            Answer::Failed { text, .. } => Err(MeetError::Far(text)),
            Answer::Refused { text } => Err(MeetError::Refused(text)),
            other => Ok(other),
        }
    }

    /// What the far side reported can't be so: nothing else that it says is believed either.
    pub(crate) fn incredible(&mut self, why: &str) -> MeetError {
        let e = MeetError::Protocol(format!("it reports what can't be: {why}"));
        self.talk.breaks(e.to_string());
        e
    }

    fn unexpected(&mut self, answer: Answer) -> MeetError {
        let kind = match answer {
            Answer::Hello { .. } => "hello",
            Answer::Listening { .. } => "listening",
            Answer::Opened { .. } => "opened",
            Answer::Ready { .. } => "ready",
            Answer::Sent => "sent",
            Answer::Load => "load",
            Answer::Done { .. } => "done",
            Answer::Taken { .. } => "taken",
            Answer::Calibrated { .. } => "calibration",
            Answer::Failed { .. } => "failed",
            Answer::Refused { .. } => "refused",
        };
        let e = MeetError::Protocol(format!("it answered '{kind}' to another question"));
        self.talk.breaks(e.to_string());
        e
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.leave();
    }
}
