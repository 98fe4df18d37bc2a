//! Questions: from flags, or from words.
//!
//! A text goes through `lexer` (numbers and words), `pieces` (what each means: `amounts`, `measures`, `numbers`, `parts`, `shares`, `more`,
//! `multiples`, `periods`, `longer` and `video` for figures, `beside` for words that what stands beside them decides, `names` and `spoken` for paths, `nouns` for what is counted, `lexicon` for the rest), which makes a `sentence`,
//! and `forms` (which question that makes of the sentence's pieces as `asked` sorts them, with `rates`, `offered`, `plain`, `limits`, `several`,
//! `flow_ends`, `percentile_pairs`, `ranked` and `versus`; `at_once`, `untold` and `checks` refuse what no run tells and what is left open; `polite` takes
//! thanks and greetings away first, `bounds` tells limits of sizes and numbers from those of times, and `verdicts` whether a yes or a no is asked for). Words are never dropped
//! silently: what was not read is said, what could be meant in two ways is said or asked about, and a number without a place
//! in the question is an error, for which `suggest` has the nearest known word. [`Reading`] says how a question was read, in the words
//! of `said`. `phrasings` is the contract: questions as people put them.

mod amounts;
mod asked;
mod at_once;
mod beside;
mod bounds;
mod checks;
mod every;
mod flow_ends;
mod forms;
mod lexer;
mod lexicon;
mod limits;
mod longer;
mod measures;
mod more;
mod multiples;
mod names;
mod nouns;
mod numbers;
mod offered;
mod parts;
mod percentile_pairs;
mod periods;
#[cfg(test)]
mod phrasings;
mod pieces;
mod plain;
mod polite;
mod ranked;
mod rates;
mod said;
mod sentence;
mod several;
mod shares;
mod spoken;
mod suggest;
mod untold;
mod verdicts;
mod versus;
mod video;

use anyhow::{Result, anyhow};

pub use forms::of_words;
pub use names::{Measured, Named};
pub use said::{percentile, size as size_words};
pub use suggest::shown;

use crate::flags::AskFlags;

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// When does a message of this size arrive?
    Arrival {
        /// Bytes.
        size: u64,
        /// There and back.
        round_trip: bool,
    },
    /// When are so many messages of this size through, one after another?
    Series {
        /// Messages.
        count: u64,
        /// Bytes of each.
        size: u64,
        /// Each with an answer of its size.
        round_trip: bool,
    },
    /// How long does the smallest message take?
    Latency {
        /// There and back.
        round_trip: bool,
    },
    /// The time that so many of single messages stay within.
    Percentile {
        /// Thousandths of a percent.
        thousandths: u32,
        /// Bytes; none for the smallest message.
        size: Option<u64>,
        /// There and back.
        round_trip: bool,
    },
    /// The mean time of single messages.
    Mean {
        /// Bytes; none for the smallest message.
        size: Option<u64>,
        /// There and back.
        round_trip: bool,
    },
    /// The shortest time that was seen.
    Minimum {
        /// Bytes; none for the smallest message.
        size: Option<u64>,
        /// There and back.
        round_trip: bool,
    },
    /// Is a message there in time?
    Deadline {
        /// Bytes; none for the smallest message.
        size: Option<u64>,
        /// Seconds.
        seconds: f64,
        /// There and back.
        round_trip: bool,
        /// Asked is whether it takes longer.
        longer: bool,
    },
    /// Whether so many of single messages stay within a time.
    PercentileWithin {
        /// Thousandths of a percent: none of it for the shortest time, all for the longest.
        thousandths: u32,
        /// Bytes; none for the smallest message.
        size: Option<u64>,
        /// Seconds.
        seconds: f64,
        /// There and back.
        round_trip: bool,
        /// Asked is whether it takes longer.
        longer: bool,
    },
    /// Whether the mean time of single messages stays within a time.
    MeanWithin {
        /// Bytes; none for the smallest message.
        size: Option<u64>,
        /// Seconds.
        seconds: f64,
        /// There and back.
        round_trip: bool,
        /// Asked is whether it takes longer.
        longer: bool,
    },
    /// Which share of single messages stays within a time.
    PartWithin {
        /// Bytes; none for the smallest message.
        size: Option<u64>,
        /// Seconds.
        seconds: f64,
        /// There and back.
        round_trip: bool,
        /// Asked is which share takes longer.
        longer: bool,
    },
    /// The largest message that arrives within a time.
    Largest {
        /// Seconds.
        seconds: f64,
        /// There and back.
        round_trip: bool,
    },
    /// The largest of which so many a second can be sustained.
    LargestAt {
        /// So many a second.
        rate: f64,
        /// What they are.
        what: Unit,
    },
    /// The smallest message that takes longer than a time.
    Longer {
        /// Seconds.
        seconds: f64,
        /// There and back.
        round_trip: bool,
    },
    /// The size from which on so many bits a second are moved.
    Reaches(f64),
    /// Which path moves a message of this size fastest?
    Fastest(u64),
    /// Which path moves the most?
    Strongest,
    /// Which path moves the most with messages of this size?
    StrongestAt(u64),
    /// The most a path moves, and from which size.
    Most,
    /// What it moves with messages of this size.
    Throughput(u64),
    /// Which share of the most it moves with messages of this size.
    PartOf(u64),
    /// Which share of so many bits a second it moves.
    PartOfRate {
        /// Bits a second.
        rate: f64,
        /// Bytes of a message; none for the best size.
        size: Option<u64>,
    },
    /// Which share of the time of a message of this size is spent before its first byte.
    StartPart(u64),
    /// Which rate was offered.
    Offered,
    /// What a path takes under load: of this size, bytes, or of the smallest.
    UnderLoad(Option<u64>),
    /// What a transfer costs in CPU time: of this size, bytes, or of the smallest.
    Cpu(Option<u64>),
    /// Which path's transfers cost least CPU time: of this size, bytes, or of the smallest.
    Cheapest(Option<u64>),
    /// Does it move so many bits a second?
    Carries {
        /// Bits a second.
        rate: f64,
        /// Bytes of a message; none for the best size.
        size: Option<u64>,
        /// Asked is whether it moves less.
        less: bool,
    },
    /// How many streams it carries.
    Streams {
        /// Bits a second of one.
        rate: f64,
        /// Bytes of a frame of it, where it has frames.
        size: Option<u64>,
    },
    /// Which size to use.
    Size,
    /// From which size on it is saturated.
    Saturation,
    /// The size that reaches this share of the most.
    Share(f64),
    /// The size that reaches half of the most.
    HalfPower,
    /// What so many more bytes cost.
    PerByte(u64),
    /// What a message costs before its first byte.
    StartUp,
    /// How fast control messages are.
    Control,
    /// So many frames a second, of so many bytes.
    Frames {
        /// Frames a second.
        rate: f64,
        /// Bytes of each.
        size: u64,
        /// What they are.
        what: Unit,
    },
    /// How many a second.
    PerSecond {
        /// Of what.
        what: Unit,
        /// Bytes of each; none for the smallest message.
        size: Option<u64>,
        /// Seconds that are asked about.
        span: f64,
    },
    /// What one path costs over another, or how much faster it is.
    Cost {
        /// The path that is judged.
        x: Named,
        /// The path that it is held against.
        y: Named,
        /// Bytes; none for all sizes.
        size: Option<u64>,
        /// A factor is asked for: how many times faster.
        factor: bool,
        /// What they move is held against each other, and not their times.
        flow: bool,
        /// Whether the one is so many times as fast, or as slow, is asked.
        multiple: Option<Multiple>,
    },
    /// Whether so many of single messages are there sooner over one path than over another.
    PercentileHeld {
        /// Thousandths of a percent.
        thousandths: u32,
        /// The path that is judged.
        x: Named,
        /// The path that it is held against.
        y: Named,
        /// Bytes; none for the smallest message.
        size: Option<u64>,
        /// There and back.
        round_trip: bool,
        /// Asked is whether it takes longer.
        longer: bool,
    },
    /// What one of several flows moves.
    OfFlows {
        /// The slowest, and not the fastest.
        slowest: bool,
        /// Bytes of a message; none for the size at which all move the most.
        size: Option<u64>,
    },
    /// From which size on one path is faster than another.
    Overtaken {
        /// The path that is named first.
        x: Named,
        /// The other.
        y: Named,
    },
    /// At which size one path takes so much longer than another.
    Nearly {
        /// The slower path.
        slow: Named,
        /// The faster one.
        fast: Named,
        /// Times as long as the faster one that the slower one takes there.
        times: f64,
    },
    /// What a message of one size takes or moves against one of another over the same path.
    Sizes {
        /// Bytes of the one that is judged.
        x: u64,
        /// Bytes of the one that it is held against.
        y: u64,
        /// What they move is held against each other, and not their times.
        flow: bool,
        /// Whether the one is so many times as fast, or as slow, is asked.
        multiple: Option<Multiple>,
    },
    /// How far runs of a path lie apart: by a message of so many bytes, where one is named.
    RunToRun(Option<u64>),
    /// How many messages are lost.
    Lost {
        /// Bits a second that are offered; any where none are named.
        rate: Option<f64>,
        /// Bytes of a message; any.
        size: Option<u64>,
    },
    /// Which path loses least: of messages of so many bytes where a size is named.
    Safest(Option<u64>),
    /// What so many messages, or bits, a second cost in CPU time.
    CpuASecond {
        /// So many of what.
        rate: ASecond,
        /// Bytes of a message; none for the size that moves the most.
        size: Option<u64>,
    },
    /// The highest rate without loss, of messages of so many bytes where a size is named.
    Lossless(Option<u64>),
    /// What a link of another rate would bring.
    Link {
        /// Bits a second.
        rate: f64,
        /// Bytes; none for the largest message measured.
        size: Option<u64>,
    },
}

impl Question {
    /// Whether it asks for bytes: how many are moved, what they cost, or at which size something is so.
    pub fn is_of_bytes(&self) -> bool {
        use Question::*;
        matches!(
            self,
            Largest { .. }
                | LargestAt { .. }
                | Longer { .. }
                | Reaches(_)
                | Strongest
                | StrongestAt(_)
                | Most
                | Throughput(_)
                | PartOf(_)
                | PartOfRate { .. }
                | StartPart(_)
                | Carries { .. }
                | Streams { .. }
                | Size
                | Saturation
                | Share(_)
                | HalfPower
                | PerByte(_)
                | StartUp
                | Frames { .. }
                | OfFlows { .. }
                | Cost { flow: true, .. }
                | Sizes { .. }
                | Link { .. }
        )
    }
}

impl Question {
    /// Whether it is of a time or a throughput, which are others for what is kept up.
    pub fn of_time_or_flow(&self) -> bool {
        use Question::*;
        matches!(
            self,
            Arrival { .. } | Series { .. } | Latency { .. } | Deadline { .. } | Most | Throughput(_) | Carries { .. }
        )
    }

    /// Whether it names its paths itself.
    pub fn of_two_paths(&self) -> bool {
        use Question::*;
        matches!(self, Cost { .. } | Overtaken { .. } | Nearly { .. } | PercentileHeld { .. })
    }

    /// Whether its answer always tells what is kept up.
    pub fn of_rates(&self) -> bool {
        use Question::*;
        matches!(self, Frames { .. } | PerSecond { .. } | Streams { .. })
    }
}

/// So many times as fast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Multiple {
    /// How many times.
    pub times: f64,
    /// As slow.
    pub slow: bool,
    /// Asked is whether it is less than that.
    pub less: bool,
}

/// So many a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ASecond {
    /// Bits.
    Bits(f64),
    /// Messages, or what else is counted.
    Of(f64, Unit),
}

/// What is counted in a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Messages.
    Messages,
    /// Requests with their answers.
    Requests,
    /// Frames, one after another.
    Frames,
    /// Connections.
    Connections,
}

/// How a question was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// What is asked, in this order.
    pub questions: Vec<Question>,
    /// The paths it is asked of; all where none is named.
    pub over: Vec<Named>,
    /// The paths that it is not asked of.
    pub but: Vec<Named>,
    /// How words were taken that could mean something else, and which were not read.
    pub notes: Vec<String>,
    /// The question was put in words, and how they were read is worth telling.
    pub words: bool,
    /// Asked is what the path keeps up, and not what single transfers take.
    pub sustained: bool,
    /// Asked are round trips, of a question that has no form of its own for them.
    pub trips: bool,
    /// The unit that a throughput is asked for in.
    pub in_unit: Option<InUnit>,
    /// The unit that a size is asked for in: "MB".
    pub in_size: Option<InUnit>,
    /// The unit that a time is asked for in: "us".
    pub in_time: Option<&'static str>,
    /// Asked is how long it is from one message to the next.
    pub spacing: bool,
    /// Asked is whether a path is the first of all, or the last.
    pub ranked: Option<Ranked>,
}

/// A path of which it is asked whether it is the first of all, or the last: "is tcp the fastest path for 1 KB".
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// The path.
    pub path: Named,
    /// The last.
    pub last: bool,
}

/// A unit of a rate, as a question names it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InUnit {
    /// "MB/s", "GB in 3,600 s".
    pub unit: &'static str,
    /// Seconds that are counted over.
    pub span: f64,
    /// Bits a second that one of it stands for.
    pub bits: f64,
}

const KNOWN: &str = "  when does 64KiB arrive?                --arrive 64KiB
  which path is fastest for 64KiB?       --fastest 64KiB
  what is the most?                      --most
  which size should I use?               --size
  how fast are control messages?         --control
  can it sustain 60/s frames of 2MB?     --frames 60/s --of 2MB
  what does tcp cost over unix?          --cost tcp,unix
  what would a link of 10Gbit/s bring?   --link 10Gbit/s
  how many 1 KB messages per second?     is shm faster than tcp at 4KiB?
  what is the p99 of 64 bytes?           can tcp do 1 Gbit/s?
  which size saturates the link?         how long for 5 messages of 1 KiB?
  what is the latency under load?        how many messages are lost at 1 Gbit/s?
  how far do runs lie apart?             which path loses least?
  how much slower is 64 KiB than 1 KiB?  cores for 1 Gbit/s?";

/// Questions of the flags, in the order of their definition.
pub fn of_flags(flags: &AskFlags, measured: &Measured) -> Result<Vec<Reading>> {
    let mut all = Vec::new();
    all.extend(flags.arrive.map(|size| Question::Arrival { size, round_trip: false }));
    all.extend(flags.fastest.map(Question::Fastest));
    all.extend(flags.most.then_some(Question::Most));
    all.extend(flags.size.then_some(Question::Size));
    all.extend(flags.control.then_some(Question::Control));
    let frames = flags.frames.zip(flags.of);
    all.extend(frames.map(|(rate, size)| Question::Frames { rate, size, what: Unit::Frames }));
    if let Some(pair) = &flags.cost {
        let (x, y) = pair.split_once(',').ok_or_else(|| anyhow!("--cost {pair}: name two paths: --cost tcp,unix"))?;
        let name = |name: &str| {
            measured.named(name.trim()).ok_or_else(|| measured.unknown(&format!("--cost {pair}"), name.trim()))
        };
        all.push(Question::Cost { x: name(x)?, y: name(y)?, size: None, factor: false, flow: false, multiple: None });
    }
    all.extend(flags.link.map(|r| Question::Link { rate: r.0, size: None }));
    Ok(all
        .into_iter()
        .map(|q| Reading {
            questions: vec![q],
            over: Vec::new(),
            but: Vec::new(),
            notes: Vec::new(),
            words: false,
            sustained: false,
            trips: false,
            in_unit: None,
            in_size: None,
            in_time: None,
            spacing: false,
            ranked: None,
        })
        .collect())
}

/// What can be asked, for an error.
pub fn known() -> &'static str {
    KNOWN
}
