//! Decorators: the Link port around another link.
//!
//! | type | what it adds |
//! |---|---|
//! | [`Traced`] | one JSON line an operation |
//! | [`Faulty`] | drops, corruption, delays, a cut, a stall, from a seed |
//! | [`Shaped`] | the rate and latency of a slower path |
//!
//! Each is generic over its clock: the real one ([`Sleeping`], or [`crate::clock::Monotonic`] for traces), or a link's
//! virtual one in tests.

/// What a decorator leaves to the link that it is put around.
macro_rules! left_to_inner {
    () => {
        fn effective(&self) -> crate::settings::Effective {
            self.inner.effective()
        }
        fn datagrams(&self) -> Option<crate::DatagramCounts> {
            self.inner.datagrams()
        }
        fn tcp_state(&self) -> Option<crate::TcpState> {
            self.inner.tcp_state()
        }
        fn clock(&self) -> Option<crate::clock::Virtual> {
            self.inner.clock()
        }
        /// Nothing that is put, got or posted passes here, so that there is neither any more.
        fn capabilities(&self) -> crate::Capabilities {
            crate::Capabilities {
                one_sided: false,
                queued: false,
                group: false,
                collective: false,
                ..self.inner.capabilities()
            }
        }
    };
}

mod faulty;
mod parse;
mod shaped;
mod sleeping;
#[cfg(test)]
mod testing;
mod trace_file;
mod traced;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use faulty::{FaultCounts, Faulty};
pub use shaped::Shaped;
pub use sleeping::Sleeping;
pub use trace_file::TraceFile;
pub use traced::{TraceLine, Traced};

/// What is put around the near side's links. A plan has it, not a path: it is done to whatever is measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Decorators {
    /// Faults injected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// Rate and delay shaping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<Shape>,
    /// Where every operation is written down. A debugging aid of this side alone: neither recorded nor sent.
    #[serde(skip)]
    pub trace: Option<std::path::PathBuf>,
}

impl Decorators {
    /// Whether there is one.
    pub fn any(&self) -> bool {
        self.fault.is_some() || self.shape.is_some() || self.trace.is_some()
    }

    /// What is put around flow `number`, from 0, of a path of several: faults have a seed of their own on each, and those of one flow alone
    /// are put around that one.
    pub fn of_flow(&self, number: u32) -> Self {
        let fault = self.fault.as_ref().filter(|fault| fault.flow.is_none_or(|flow| flow == u64::from(number) + 1));
        let fault = fault.map(|fault| Fault { seed: fault.seed.wrapping_add(number.into()), ..fault.clone() });
        Self { fault, ..self.clone() }
    }
}

/// Faults to inject on the near side's sends (and, for `stall`, its receives). Shares are 0 to 1.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Fault {
    /// Share of messages not sent.
    pub drop: f64,
    /// Share of messages with one byte changed.
    pub corrupt: f64,
    /// Seconds added before a message, for the share `delay_share`.
    pub delay: f64,
    /// Share of messages delayed.
    pub delay_share: f64,
    /// Close the link in the middle of the message with this number (from 0).
    pub cut: Option<u64>,
    /// Stop for `stall` seconds before the message with this number.
    pub stall_at: Option<u64>,
    /// Length of the stall, seconds.
    pub stall: f64,
    /// Seed.
    pub seed: u64,
    /// The one flow, from 1, that meets them; none leaves none out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<u64>,
}

/// A slower path around a fast one: each message waits until a link of this rate and latency would have taken it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Shape {
    /// Bits a second; 0 leaves the rate alone.
    pub rate: f64,
    /// One-way latency added, seconds.
    pub latency: f64,
}
