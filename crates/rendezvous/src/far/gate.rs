//! Who may measure: proof of the secret, and one at a time.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;

use crate::MeetError;
use crate::channel::Channel;
use crate::message::{Greeting, Refusal, Speaker, Welcome};
use crate::secret::{Role, Secret, SessionKeys};

/// Time from the first byte to the proof of the secret, for whoever comes from outside.
pub(crate) const GREETING: Duration = Duration::from_secs(5);

/// The secret and whether a measurement is in progress.
pub(crate) struct Gate {
    state: Mutex<State>,
    keep: bool,
}

struct State {
    /// None once it is burnt.
    secret: Option<Secret>,
    busy: bool,
}

impl Gate {
    /// With `keep` the secret stays valid for one measurement after another; without, its first use burns it.
    pub(crate) fn new(secret: Secret, keep: bool) -> Self {
        Self { state: Mutex::new(State { secret: Some(secret), busy: false }), keep }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether whoever knocks now would be turned away.
    pub(crate) fn busy(&self) -> bool {
        let state = self.state();
        state.busy || state.secret.is_none()
    }

    /// Whether a measurement is in progress.
    pub(crate) fn measuring(&self) -> bool {
        self.state().busy
    }

    /// The measurement that was admitted has ended.
    pub(crate) fn leave(&self) {
        self.state().busy = false;
    }

    /// Handshake, greeting, answer. Only who comes out of here without an error may ask for anything, and has burnt the
    /// secret; everybody else has changed nothing. `enter` is asked last, whether the peer may still come in. It has `time` for all of it.
    pub(crate) fn admit(
        &self,
        channel: &mut Channel,
        enter: &dyn Fn() -> bool,
        time: Duration,
    ) -> Result<SessionKeys, MeetError> {
        let deadline = Instant::now() + time;
        channel.handshake(deadline)?;
        let greeting: Greeting = channel.recv(deadline, "waiting for its greeting")?;
        let keys = channel.keys()?;
        let peer = channel.peer;
        let shown = HEXLOWER.decode(greeting.proof.as_bytes()).unwrap_or_default();
        let answer = self.judge(&greeting.speaker, &shown, &keys, enter);
        let (proof, refusal) = match &answer {
            Ok(proof) => (HEXLOWER.encode(proof), None),
            Err(refusal) => (String::new(), Some(*refusal)),
        };
        let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(100));
        let sent = channel.send_within(&Welcome { speaker: Speaker::here(), proof, refusal }, left);
        match answer {
            Ok(_) => {
                if let Err(e) = sent {
                    self.leave();
                    return Err(e);
                }
                if !self.keep {
                    self.state().secret = None;
                }
                channel.trust();
                Ok(keys)
            }
            Err(Refusal::Secret) => Err(MeetError::WrongSecret { peer }),
            Err(Refusal::Busy) => Err(MeetError::Busy { peer }),
            Err(Refusal::Version) => Err(greeting.speaker.agrees().err().unwrap_or(MeetError::Busy { peer })),
        }
    }

    fn judge(
        &self,
        speaker: &Speaker,
        shown: &[u8],
        keys: &SessionKeys,
        enter: &dyn Fn() -> bool,
    ) -> Result<[u8; 32], Refusal> {
        let mut state = self.state();
        let Some(secret) = &state.secret else { return Err(Refusal::Busy) };
        if !secret.verify(Role::Near, &keys.binding, shown) {
            return Err(Refusal::Secret);
        }
        if speaker.agrees().is_err() {
            return Err(Refusal::Version);
        }
        if state.busy || !enter() {
            return Err(Refusal::Busy);
        }
        let proof = secret.tag(Role::Far, &keys.binding);
        state.busy = true;
        Ok(proof)
    }
}
