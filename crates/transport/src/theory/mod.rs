//! The theoretical link: a model with a virtual clock that gives exact tests.
//!
//! The formula is NetPIPE's `theo` with a header on every packet, slow size ranges after the 1996 paper's figure 10
//! (`seeds/004`, section 4), and seeded noise and loss. One process plays both ends: the far side is a reaction to what
//! arrives ([`FarRole`]), and time is moved by the model alone, so a second of traffic costs no second.
//!
//! | module | job |
//! |---|---|
//! | `model` | the formula, and one direction of the path |
//! | `dice` | noise and loss from a seed |
//! | `far` | what the far side does with what arrives |
//! | `answers` | what is on its way back |
//! | `link` | [`TheoryLink`]: the Link port over all of it, with one-sided access, queued sends and groups |
//! | `flags` | reading `key=value,...` (also for [`crate::decorate`]) |
//! | `parse` | reading and checking a [`Theory`] |

mod answers;
mod dice;
mod far;
pub(crate) mod flags;
mod link;
mod model;
mod parse;
#[cfg(test)]
mod tests;

pub use far::FarView;
pub use flags::FlagError;
pub use link::TheoryLink;
pub use parse::settings;

use crate::options::{Form, Knob, LOSS_TIMEOUT, Moved, SOCKBUF};
use crate::port::{Ends, Line, Transport};
use crate::settings::LOSS;
use crate::{AnyLink, Capabilities, LinkError, Name, OptionSpec, Settings};

/// What it is called.
pub const NAME: Name = Name::literal("theory");

/// The transport.
pub static TRANSPORT: Model = Model;

/// A modelled path within one process.
#[derive(Debug)]
pub struct Model;

impl Transport for Model {
    fn name(&self) -> Name {
        NAME
    }
    fn summary(&self) -> &'static str {
        "a modelled link with a virtual clock: exact, for tests and what-ifs"
    }
    fn spoken(&self) -> &'static [&'static str] {
        &["theory", "theoretical", "theoretical link", "modelled link", "modeled link", "model link"]
    }
    fn capabilities(&self, settings: &Settings) -> Capabilities {
        link::capabilities(&Theory::of(settings))
    }
    fn ends(&self) -> Ends {
        Ends::Modelled
    }
    fn options(&self) -> &'static [OptionSpec] {
        &OPTIONS
    }
    fn listens_to(&self, settings: &Settings, option: &str) -> bool {
        match option {
            EAGER => Theory::of(settings).eager.is_some(),
            _ => option != SOCKBUF.name || Theory::of(settings).listens_to(Mover::Sockbuf),
        }
    }
    fn feels_places(&self, settings: &Settings) -> bool {
        Theory::of(settings).listens_to(Mover::Align)
    }
    fn line(&self, settings: &Settings) -> Option<Line> {
        let Theory { rate, packet, header, .. } = Theory::of(settings);
        let buffer = settings.whole(SOCKBUF.name).unwrap_or(SOCKBUF_UNSET);
        Some(Line { rate, packet, header, buffer })
    }
    fn solo(&self, settings: &Settings, _: &crate::Patience) -> Result<AnyLink, LinkError> {
        let theory = Theory::of(settings).with_sockbuf(settings.whole(SOCKBUF.name));
        Ok(AnyLink::new(TheoryLink::new(&theory, settings.real(LOSS_TIMEOUT.name).unwrap_or(LOSS))))
    }
}

/// A parameter of the model.
const fn parameter(name: &'static str, form: Form, default: &'static str, help: &'static str) -> OptionSpec {
    OptionSpec { name, flag: Some("--theory"), form, default, help, answers: &[], steers: false, moved: None }
}

/// The option that bounds what is sent unasked.
const EAGER: &str = "eager-limit";

/// Longest latency and timeout of a model, seconds.
const LONGEST: f64 = 1e6;

static OPTIONS: [OptionSpec; 14] = [
    parameter("latency", Form::Seconds(0.0, LONGEST), "10us", "one-way latency"),
    parameter("rate", Form::Rate, "10Gbit/s", "line rate"),
    parameter("packet", Form::Bytes(1, u64::MAX), "1448", "largest payload of a packet"),
    parameter("header", Form::Bytes(0, u64::MAX), "66", "header of a packet"),
    parameter(
        "dip",
        Form::Many(parse::dip_fits),
        "none",
        "sizes that are slower: 60KiB..70KiB*5, @sockbuf or @align after it",
    ),
    OptionSpec {
        moved: Some(Moved { knob: Knob::Eager, unset: None, now: |_| None, doubles: true, limits: &[], least: 1 }),
        ..parameter(
            EAGER,
            Form::Bytes(1, u64::MAX),
            "none",
            "largest message that is sent before the receiver asks for it; larger ones take a round trip more",
        )
    },
    parameter("noise", Form::Share, "0%", "noise of one message's time"),
    parameter("round-noise", Form::Share, "0%", "noise that one connection shares"),
    parameter("loss", Form::Share, "0%", "share of messages lost"),
    parameter("work", Form::Seconds(0.0, 1.0), "10ns", "work of a process with each subinterval of HINT"),
    parameter(
        "members",
        Form::Text("a number of members from 2 to 129", parse::members_fit),
        "no group",
        "members of a group, all but one of which answer each cast",
    ),
    parameter("seed", Form::NUMBER, "1", "seed of noise and loss"),
    OptionSpec {
        default: "64KiB",
        help: "buffers that dips with @sockbuf move with",
        answers: &[],
        steers: false,
        moved: Some(Moved {
            knob: Knob::Buffer,
            unset: Some(SOCKBUF_UNSET),
            now: |_| None,
            doubles: true,
            limits: &[],
            least: 1,
        }),
        ..SOCKBUF
    },
    LOSS_TIMEOUT,
];

/// A size range in which the modelled path is slower: the 1996 paper's chasm (`seeds/004`, section 4, figure 10).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dip {
    /// First size in the dip, bytes.
    pub from: u64,
    /// First size beyond it, bytes.
    pub to: u64,
    /// Time is multiplied by this within.
    pub factor: f64,
    /// What moves it; none where nothing does.
    pub moved_by: Option<Mover>,
}

impl std::fmt::Display for Dip {
    /// As the option takes it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mover = match self.moved_by {
            None => "",
            Some(Mover::Sockbuf) => "@sockbuf",
            Some(Mover::Align) => "@align",
        };
        write!(f, "{}..{}*{}{mover}", self.from, self.to, self.factor)
    }
}

/// What a modelled dip depends on: what the 1996 paper found by hand of its chasm (`seeds/004`, section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mover {
    /// Its edges are those at socket buffers of 64 KiB, and move with the buffers in proportion.
    Sockbuf,
    /// It is there only while messages don't begin at a page.
    Align,
}

/// Parameters of the modelled path. One message of n bytes takes, one way,
/// `latency + (packets * header + n) * 8 / rate` with `packets = max(1, ceil(n / packet))`, and beyond the eager limit the latency twice more.
#[derive(Debug, Clone, PartialEq)]
pub struct Theory {
    /// One-way latency, seconds.
    pub latency: f64,
    /// Line rate, bits a second.
    pub rate: f64,
    /// Largest payload of a packet, bytes.
    pub packet: u64,
    /// Header of a packet, bytes.
    pub header: u64,
    /// Slow size ranges.
    pub dips: Vec<Dip>,
    /// Largest message that is sent before the receiver asks for it; none where all are. A larger one is announced and asked for first, which takes
    /// the latency twice more.
    pub eager: Option<u64>,
    /// Standard deviation of the log-normal noise of one message's time (0.02 is about 2%); its median is 1.
    pub noise: f64,
    /// Standard deviation of the log-normal noise that one connection shares (what differs between runs).
    pub block_noise: f64,
    /// Share of messages lost, 0 to 1.
    pub loss: f64,
    /// Seconds of work that a process has with each subinterval of HINT: what a program does beside the path.
    pub work: f64,
    /// Members of the group that the path is; none where it is one of two ends.
    pub members: Option<u32>,
    /// Seed of noise and loss.
    pub seed: u64,
}

impl Default for Theory {
    fn default() -> Self {
        Self {
            latency: 10e-6,
            rate: 10e9,
            packet: 1448,
            header: 66,
            dips: Vec::new(),
            eager: None,
            noise: 0.0,
            block_noise: 0.0,
            loss: 0.0,
            work: 10e-9,
            members: None,
            seed: 1,
        }
    }
}

/// Buffers at which a dip that they move lies where it says.
const SOCKBUF_UNSET: u64 = 64 << 10;

impl Theory {
    /// The path that the transport's options describe. What is not set, or can't be read, has its default.
    pub fn of(set: &Settings) -> Self {
        let plain = Self::default();
        let (whole, real) = (|name, or| set.whole(name).unwrap_or(or), |name, or| set.real(name).unwrap_or(or));
        Self {
            latency: real("latency", plain.latency),
            rate: real("rate", plain.rate),
            packet: whole("packet", plain.packet),
            header: whole("header", plain.header),
            dips: set.many("dip").iter().filter_map(|text| parse::dip(text).ok()).collect(),
            eager: set.whole(EAGER),
            noise: real("noise", plain.noise),
            block_noise: real("round-noise", plain.block_noise),
            loss: real("loss", plain.loss),
            work: real("work", plain.work),
            members: set.text("members").and_then(parse::members),
            seed: whole("seed", plain.seed),
        }
    }

    /// The options that describe this path: all that differ from the defaults.
    pub fn settings(&self) -> Settings {
        let (plain, mut set) = (Self::default(), Settings::default());
        for (name, value, or) in [
            ("latency", self.latency, plain.latency),
            ("rate", self.rate, plain.rate),
            ("noise", self.noise, plain.noise),
            ("round-noise", self.block_noise, plain.block_noise),
            ("loss", self.loss, plain.loss),
            ("work", self.work, plain.work),
        ] {
            if value != or {
                set.set(name, value);
            }
        }
        for (name, value, or) in [
            ("packet", self.packet, plain.packet),
            ("header", self.header, plain.header),
            ("seed", self.seed, plain.seed),
        ] {
            if value != or {
                set.set(name, value);
            }
        }
        if !self.dips.is_empty() {
            set.set("dip", self.dips.iter().map(Dip::to_string).collect::<Vec<_>>());
        }
        if let Some(eager) = self.eager {
            set.set(EAGER, eager);
        }
        if let Some(members) = self.members {
            set.set("members", members.to_string().as_str());
        }
        set
    }

    /// Whether a setting of this kind changes the path.
    pub fn listens_to(&self, mover: Mover) -> bool {
        self.dips.iter().any(|d| d.moved_by == Some(mover))
    }

    /// The path with socket buffers of this size; none leaves them at 64 KiB.
    pub fn with_sockbuf(&self, bytes: Option<u64>) -> Self {
        let scale = bytes.unwrap_or(SOCKBUF_UNSET) as f64 / SOCKBUF_UNSET as f64;
        let at = |size: u64, dip: &Dip| match dip.moved_by {
            Some(Mover::Sockbuf) => (size as f64 * scale).round() as u64,
            _ => size,
        };
        let dips = self.dips.iter().map(|d| Dip { from: at(d.from, d), to: at(d.to, d), ..*d }).collect();
        Self { dips, ..self.clone() }
    }

    /// The path as messages at such places see it.
    fn with_messages_at_pages(&self, at_pages: bool) -> Self {
        let there = |d: &&Dip| d.moved_by != Some(Mover::Align) || !at_pages;
        Self { dips: self.dips.iter().filter(there).copied().collect(), ..self.clone() }
    }
}

/// What the modelled far side does with a message that reaches it; set before each trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FarRole {
    /// Sends each message back (ping-pong).
    #[default]
    Echo,
    /// Answers each message with one of another size (request/response, connect).
    Answer {
        /// Bytes of the answer.
        response: u64,
    },
    /// Only receives (stream).
    Sink,
    /// Answers once, with one byte, after `count` messages (burst).
    Burst {
        /// Messages before the answer.
        count: u64,
    },
    /// Sends a message of the same size whenever the near side does (bidirectional).
    Mirror,
}
