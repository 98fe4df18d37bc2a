//! What a person can set on a path. Both sides hold the same settings; what took effect is reported beside them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a side waits for the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Wait {
    /// Sleep in the kernel until something happens (sockets: blocking calls; shm: a short spin, then a futex).
    Block,
    /// Ask again and again from user space, never sleeping.
    Spin,
    /// Blocking calls with the kernel polling the device (`SO_BUSY_POLL`).
    BusyPoll,
}

impl std::fmt::Display for Wait {
    /// The name that `--wait` takes.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Wait::Block => "block",
            Wait::Spin => "spin",
            Wait::BusyPoll => "busy-poll",
        })
    }
}

/// IP version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Family {
    /// IPv4.
    #[serde(rename = "4")]
    V4,
    /// IPv6.
    #[serde(rename = "6")]
    V6,
}

/// Settings of one path. `None` leaves the system's or the transport's default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Settings {
    /// How to wait; none is the transport's default ([`crate::Capabilities::waits`], first).
    pub wait: Option<Wait>,
    /// Send and receive buffer asked of the kernel, bytes each.
    pub sockbuf: Option<u64>,
    /// Send small segments at once (`TCP_NODELAY`). On by default: a ping-pong is what it is for.
    pub nodelay: bool,
    /// Largest TCP segment, bytes (`TCP_MAXSEG`).
    pub mss: Option<u32>,
    /// Congestion control by name (`TCP_CONGESTION`).
    pub congestion: Option<String>,
    /// IP version; none takes what the address gives.
    pub family: Option<Family>,
    /// Seconds without progress after which a side gives up.
    pub patience: f64,
    /// Seconds after which a datagram counts as lost in a pattern that waits for it.
    pub loss_timeout: f64,
    /// Parameters of the theoretical link.
    pub theory: crate::theory::Theory,
    /// Faults injected on the near side.
    pub fault: Option<crate::decorate::Fault>,
    /// Rate and delay shaping on the near side.
    pub shape: Option<crate::decorate::Shape>,
    /// Where every operation of the near side's links is written down. A debugging aid of this side alone: neither
    /// recorded nor sent.
    #[serde(skip)]
    pub trace: Option<std::path::PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            wait: None,
            sockbuf: None,
            nodelay: true,
            mss: None,
            congestion: None,
            family: None,
            patience: 10.0,
            loss_timeout: 0.2,
            theory: crate::theory::Theory::default(),
            fault: None,
            shape: None,
            trace: None,
        }
    }
}

/// What took effect on one side's connection, where the system says.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Effective {
    /// `SO_SNDBUF` as the kernel reports it (Linux doubles what was asked), bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_buffer: Option<u64>,
    /// `SO_RCVBUF` likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_buffer: Option<u64>,
    /// `TCP_MAXSEG`, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mss: Option<u32>,
    /// `TCP_CONGESTION`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// `TCP_NODELAY`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodelay: Option<bool>,
    /// The wait mode in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<Wait>,
    /// Local and remote address in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub addresses: Option<String>,
}

impl Effective {
    /// Whether a system can have said so: what comes from the other side is looked at first. Buffers are the kernel's `int`,
    /// a segment fits an IP packet, a name is as long as the kernel's, and no text has a control character.
    pub fn is_sane(&self) -> bool {
        let buffer = |bytes: Option<u64>| bytes.is_none_or(|b| b <= i32::MAX as u64);
        let text = |text: &Option<String>, most| {
            text.as_ref().is_none_or(|t| t.chars().count() <= most && !t.chars().any(char::is_control))
        };
        buffer(self.send_buffer)
            && buffer(self.receive_buffer)
            && self.mss.is_none_or(|mss| mss <= u32::from(u16::MAX))
            && text(&self.congestion, 15)
            && text(&self.addresses, 1000)
    }
}
