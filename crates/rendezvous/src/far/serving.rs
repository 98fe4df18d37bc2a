//! Lets near sides in, one at a time, and attends to them.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::attend::attend;
use super::gate::Gate;
use super::listener::{self, Attend, Happened, Listener};
use super::{Pin, Terms, Work};
use crate::secret::Secret;
use crate::tls::Identity;
use crate::{Key, Limits, MeetError};

/// What happens while serving.
#[derive(Debug, Clone)]
pub enum ServeEvent {
    /// Ready: the first event.
    Listening {
        /// Address and port.
        addr: SocketAddr,
        /// What the near side needs.
        key: Key,
    },
    /// A near side proved the secret; its measurement begins.
    Met {
        /// Its address.
        peer: SocketAddr,
    },
    /// Somebody was turned away. Under a flood not all are told of.
    Refused {
        /// Its address.
        peer: SocketAddr,
        /// Why.
        why: String,
    },
    /// A measurement ended.
    Ended {
        /// Whose.
        peer: SocketAddr,
        /// "the near side said goodbye", or what went wrong.
        how: String,
    },
}

/// Refusals told of in a second, at most: a flood must not fill a log.
const TOLD: u32 = 5;

/// Where near sides come in, and on which terms.
pub(crate) struct Serving {
    pub socket: TcpListener,
    pub identity: Identity,
    pub secret: Secret,
    pub keep: bool,
    pub limits: Limits,
}

/// Lets near sides in and attends to them. Without `keep` it returns with the first measurement's end (an error if that was not an orderly
/// one); with `keep` only `stop` ends it, and that is no error unless a measurement was in progress ([`MeetError::BrokenOff`]). Without
/// `keep`, a stop before the measurement is [`MeetError::Interrupted`].
pub(crate) fn attend_all<W: Work + 'static>(
    serving: Serving,
    last_resort: Option<fn()>,
    stop: Arc<AtomicBool>,
    announce: &mut dyn FnMut(ServeEvent),
    work: fn() -> W,
) -> Result<(), MeetError> {
    let Serving { socket, identity, secret, keep, limits } = serving;
    let gate = Gate::new(secret, keep);
    let terms = Terms { limits, pin: Pin::Choose, last_resort, listen_at: None, near_stopped: None, error: None };
    let attend: Box<Attend> =
        Box::new(move |channel, keys, terms, stop| attend(channel, keys, terms, &mut work(), stop));
    let (mut only, mut broken_off) = (Ok(()), false);
    let (mut second, mut told) = (Instant::now(), 0);
    let ended = listener::run(Listener { socket, identity, gate, terms, attend, stop }, None, &mut |seen| match seen {
        Happened::Met(peer) => {
            announce(ServeEvent::Met { peer });
            false
        }
        Happened::Refused(peer, why) => {
            if second.elapsed() >= Duration::from_secs(1) {
                (second, told) = (Instant::now(), 0);
            }
            told += 1;
            if told <= TOLD {
                announce(ServeEvent::Refused { peer, why: refusal(&why) });
            }
            false
        }
        Happened::Ended(peer, outcome) => {
            let how = match &outcome {
                Ok(()) => "the near side said goodbye".to_owned(),
                Err(MeetError::Gone { doing, .. }) => {
                    format!("the near side ended the control connection while this side was {doing}")
                }
                Err(e) => e.to_string(),
            };
            announce(ServeEvent::Ended { peer, how });
            broken_off = matches!(outcome, Err(MeetError::Interrupted));
            only = outcome;
            !keep
        }
    });
    match ended {
        _ if broken_off => Err(MeetError::BrokenOff),
        // A stop is the one way to end this, and nothing was lost by it.
        Err(MeetError::Interrupted) if keep => Ok(()),
        Err(e) => Err(e),
        Ok(()) => only,
    }
}

/// Why somebody was turned away, as the one who serves sees it: the errors themselves speak to the near side.
fn refusal(why: &MeetError) -> String {
    match why {
        MeetError::WrongSecret { .. } => "it does not know the key's secret".into(),
        MeetError::Busy { .. } => "a measurement is in progress".into(),
        MeetError::Silent { .. } => "it did not say who it is in time".into(),
        MeetError::Gone { .. } => "it closed the connection before it said who it is".into(),
        MeetError::Tls(rustls::Error::AlertReceived(_)) => {
            "it does not accept this certificate: its key is of another 'serve'".into()
        }
        MeetError::Tls(_) => "it does not speak TLS 1.3 as pipegauge does".into(),
        MeetError::Protocol(_) => "it does not speak as pipegauge does".into(),
        e => e.to_string(),
    }
}
