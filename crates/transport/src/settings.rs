//! What is set on a path: values of its transport's options. Both sides hold the same; what took effect is reported beside them.

use std::collections::BTreeMap;
use std::fmt::Display;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Seconds after which a datagram counts as lost, where nobody says otherwise.
pub const LOSS: f64 = 0.2;

/// How a side waits for the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Wait {
    /// Sleep in the kernel until something happens (sockets: blocking calls; shm: a short spin, then a futex; am: a spin where that has paid, then a futex).
    Block,
    /// Ask again and again from user space, never sleeping.
    Spin,
    /// Blocking calls with the kernel polling the device (`SO_BUSY_POLL`).
    BusyPoll,
    /// Sleep at once, without a look first (am).
    Sleep,
}

impl Wait {
    /// Every mode.
    pub const ALL: [Wait; 4] = [Wait::Block, Wait::Spin, Wait::BusyPoll, Wait::Sleep];

    /// The name that `--wait` takes.
    pub const fn name(self) -> &'static str {
        match self {
            Wait::Block => "block",
            Wait::Spin => "spin",
            Wait::BusyPoll => "busy-poll",
            Wait::Sleep => "sleep",
        }
    }
}

impl Display for Wait {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// IP version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// An option's value, in bytes, seconds, bits a second, shares of 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// On or off.
    Switch(bool),
    /// A size or number.
    Whole(u64),
    /// A time, share or rate.
    Real(f64),
    /// A word.
    Text(String),
    /// Several texts.
    Many(Vec<String>),
}

impl Value {
    /// A number, whatever it is written as.
    pub fn real(&self) -> Option<f64> {
        match self {
            Value::Whole(n) => Some(*n as f64),
            Value::Real(x) => Some(*x),
            _ => None,
        }
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Switch(on) => f.write_str(if *on { "on" } else { "off" }),
            Value::Whole(n) => write!(f, "{n}"),
            Value::Real(x) => write!(f, "{x}"),
            Value::Text(text) => f.write_str(text),
            Value::Many(all) => f.write_str(&all.join("+")),
        }
    }
}

macro_rules! value_from {
    ($($from:ty => $of:expr),* $(,)?) => {
        $(impl From<$from> for Value {
            fn from(value: $from) -> Self {
                #[allow(clippy::redundant_closure_call, reason = "the closure names its argument")]
                ($of)(value)
            }
        })*
    };
}

value_from! {
    bool => Value::Switch,
    u64 => Value::Whole,
    f64 => Value::Real,
    Vec<String> => Value::Many,
    &str => |text: &str| Value::Text(text.to_owned()),
    Wait => |wait: Wait| Value::Text(wait.name().to_owned()),
    Family => |family| Value::Text(if family == Family::V4 { "4" } else { "6" }.to_owned()),
}

/// Options of a path that were set, by name. What is not in it has the transport's default.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Settings(BTreeMap<String, Value>);

/// What options were called before, and are called now, of which transport: files and command lines of earlier versions are read.
const RENAMED: [(&str, &str, &str); 1] = [("theory", "block-noise", "round-noise")];

/// The name of a transport's option, whichever version wrote it. A module may have an option by a name that another transport gave up.
pub fn todays<'a>(transport: &str, option: &'a str) -> &'a str {
    let renamed = RENAMED.iter().find(|(of, before, _)| *of == transport && *before == option);
    renamed.map_or(option, |(.., now)| now)
}

impl Settings {
    /// Nothing set.
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// The same with an option set.
    #[must_use]
    pub fn with(mut self, option: &str, value: impl Into<Value>) -> Self {
        self.set(option, value);
        self
    }

    /// The same with the options of a transport by the names that they have today.
    #[must_use]
    pub fn of_today(self, transport: &str) -> Self {
        Self(self.0.into_iter().map(|(name, value)| (todays(transport, &name).to_owned(), value)).collect())
    }

    /// Sets an option.
    pub fn set(&mut self, option: &str, value: impl Into<Value>) {
        self.0.insert(option.to_owned(), value.into());
    }

    /// What an option was set to.
    pub fn get(&self, option: &str) -> Option<&Value> {
        self.0.get(option)
    }

    pub(crate) fn get_mut(&mut self, option: &str) -> Option<&mut Value> {
        self.0.get_mut(option)
    }

    /// Options and values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Whether nothing was set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A size or number.
    pub fn whole(&self, option: &str) -> Option<u64> {
        match self.get(option) {
            Some(Value::Whole(n)) => Some(*n),
            _ => None,
        }
    }

    /// A time, share or rate.
    pub fn real(&self, option: &str) -> Option<f64> {
        self.get(option)?.real()
    }

    /// A word.
    pub fn text(&self, option: &str) -> Option<&str> {
        match self.get(option) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// A switch.
    pub fn switch(&self, option: &str) -> Option<bool> {
        match self.get(option) {
            Some(Value::Switch(on)) => Some(*on),
            _ => None,
        }
    }

    /// Texts of an option that may stand more than once.
    pub fn many(&self, option: &str) -> &[String] {
        match self.get(option) {
            Some(Value::Many(all)) => all,
            _ => &[],
        }
    }

    /// How a side waits, where it was set.
    pub fn wait(&self) -> Option<Wait> {
        let name = self.text("wait")?;
        Wait::ALL.into_iter().find(|wait| wait.name() == name)
    }

    /// The IP version, where it was set.
    pub fn family(&self) -> Option<Family> {
        match self.text("family")? {
            "4" => Some(Family::V4),
            "6" => Some(Family::V6),
            _ => None,
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
    /// What took effect of a module's options, by name, as it would be typed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
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
            && self.options.len() <= 64
            && self.options.iter().all(|(name, value)| text(&Some(name.clone()), 32) && text(&Some(value.clone()), 200))
    }
}
