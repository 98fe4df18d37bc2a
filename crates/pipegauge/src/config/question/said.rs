//! How a question was read, in words.

use std::fmt;

use units::{BitRate, Bytes, Kind, Seconds, format, thousands};

use super::{ASecond, Measured, Multiple, Question, Reading, Unit};

/// A size as decimal units say it where they do it shortly, with its bytes: "100 kB (100,000 B)", "64 KiB".
pub fn size(bytes: u64) -> String {
    let binary = Bytes(bytes).to_string();
    let in_bytes = binary.ends_with(" B");
    if bytes < 1000 || !(in_bytes || binary.contains('.')) {
        return binary;
    }
    for (unit, factor) in [("TB", 1_000_000_000_000u64), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000)] {
        let hundredths = u128::from(bytes) * 100;
        let (whole, rest) = (bytes / factor, (hundredths / u128::from(factor) % 100) as u64);
        if (1..1000).contains(&whole) && hundredths % u128::from(factor) == 0 {
            let rest = if rest == 0 { String::new() } else { format!(".{rest:02}").trim_end_matches('0').to_owned() };
            return format!("{whole}{rest} {unit} ({} B)", thousands(bytes));
        }
    }
    binary
}

/// A percentile's name: "median", "p99.9", "worst seen".
pub fn percentile(thousandths: u32) -> String {
    match thousandths {
        50_000 => "median".to_owned(),
        100_000 => "longest seen".to_owned(),
        t => format!("p{}", f64::from(t) / 1000.0),
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unit::Messages => "messages",
            Unit::Requests => "requests with answers",
            Unit::Frames => "frames",
            Unit::Connections => "connections",
        })
    }
}

impl fmt::Display for Multiple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let less = if self.less { "less than " } else { "" };
        write!(f, "{less}{} times as {}", self.times, if self.slow { "slow" } else { "fast" })
    }
}

impl Unit {
    /// So many, without what they are.
    fn number(self, number: f64) -> String {
        if number.fract() == 0.0 && number < 1e15 {
            thousands(number as u64)
        } else {
            format::significant(number, Kind::PerSecond).trim_end_matches("/s").trim_end().to_owned()
        }
    }

    /// So many of them.
    pub fn counted(self, number: f64) -> String {
        let number = self.number(number);
        let what = if number == "1" { self.one().to_owned() } else { self.to_string() };
        format!("{number} {what}")
    }

    /// One of them.
    fn one(self) -> &'static str {
        match self {
            Unit::Messages => "message",
            Unit::Requests => "request with its answer",
            Unit::Frames => "frame",
            Unit::Connections => "connection",
        }
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |s: &Option<u64>| s.map_or_else(|| "the smallest size".to_owned(), size);
        let of_size = |s: &Option<u64>| s.map_or_else(String::new, |s| format!(" of {}", size(s)));
        let with = |s: &Option<u64>| s.map_or_else(String::new, |s| format!(", with messages of {}", size(s)));
        let trip = |round: bool| if round { ", there and back" } else { "" };
        match self {
            Question::Arrival { size: s, round_trip } => write!(f, "arrival of {}{}", size(*s), trip(*round_trip)),
            Question::Series { count, size: s, round_trip } => write!(
                f,
                "arrival of the last of {} messages of {}, one after another{}",
                thousands(*count),
                size(*s),
                trip(*round_trip)
            ),
            Question::Latency { round_trip: false } => write!(f, "latency: arrival of the smallest message"),
            Question::Latency { round_trip: true } => write!(f, "round trip of the smallest message"),
            Question::Percentile { thousandths, size: s, round_trip } => write!(
                f,
                "{} of the times of single messages of {}{}",
                percentile(*thousandths),
                of(s),
                trip(*round_trip)
            ),
            Question::Minimum { size: s, round_trip } => {
                write!(f, "the shortest time seen of {}{}", of(s), trip(*round_trip))
            }
            Question::Deadline { size: s, seconds, round_trip, longer } => {
                let how = if *longer { "takes longer than" } else { "arrives within" };
                write!(f, "whether {} {how} {}{}", of(s), Seconds(*seconds), trip(*round_trip))
            }
            Question::PercentileWithin { thousandths, size: s, seconds, round_trip, longer } => {
                let name = match thousandths {
                    0 => "the best case".to_owned(),
                    100_000 => "the worst case".to_owned(),
                    t => percentile(*t),
                };
                let how = if *longer { "exceeds" } else { "stays within" };
                let (seconds, trip) = (Seconds(*seconds), trip(*round_trip));
                write!(f, "whether {name} of the times of single messages of {} {how} {seconds}{trip}", of(s))
            }
            Question::PartWithin { size: s, seconds, round_trip, longer } => {
                let how = if *longer { "takes longer than" } else { "arrives within" };
                let (seconds, trip) = (Seconds(*seconds), trip(*round_trip));
                write!(f, "which share of single messages of {} {how} {seconds}{trip}", of(s))
            }
            Question::MeanWithin { size: s, seconds, round_trip, longer } => {
                let how = if *longer { "exceeds" } else { "stays within" };
                write!(f, "whether the mean time of {} {how} {}{}", of(s), Seconds(*seconds), trip(*round_trip))
            }
            Question::Longer { seconds, round_trip } => {
                write!(f, "the smallest message that takes longer than {}{}", Seconds(*seconds), trip(*round_trip))
            }
            Question::Reaches(rate) => write!(f, "the size from which on {} is reached", BitRate(*rate)),
            Question::StrongestAt(s) => write!(f, "the path of most throughput with messages of {}", size(*s)),
            Question::StartPart(s) => write!(f, "which share of the time of {} is start-up", size(*s)),
            Question::Offered => write!(f, "which rate was offered"),
            Question::Largest { seconds, round_trip } => {
                write!(f, "the largest message that arrives within {}{}", Seconds(*seconds), trip(*round_trip))
            }
            Question::LargestAt { rate, what } => {
                let number = what.number(*rate);
                write!(f, "the largest {what} of which {number} a second can be sustained")
            }
            Question::Fastest(s) => write!(f, "the fastest path for {}", size(*s)),
            Question::Strongest => write!(f, "the path of most throughput"),
            Question::Most => write!(f, "the most throughput"),
            Question::PartOf(s) => write!(f, "which share of the most throughput messages of {} move", size(*s)),
            Question::PartOfRate { rate, size: s } => {
                let with = s.map_or_else(|| "the best size".to_owned(), size);
                write!(f, "which share of {} is moved, with messages of {with}", BitRate(*rate))
            }
            Question::Cpu(s) => write!(f, "CPU time of a transfer of {}", of(s)),
            Question::Throughput(s) => write!(f, "throughput with messages of {}", size(*s)),
            Question::Carries { rate, size: s, less } => {
                let with = s.map_or_else(|| "the best size".to_owned(), size);
                let how = if *less { "is more than can be carried" } else { "can be carried" };
                write!(f, "whether {} {how}, with messages of {with}", BitRate(*rate))
            }
            Question::Streams { rate, size: s } => {
                let frames = s.map_or_else(String::new, |s| format!(", in frames of {}", size(s)));
                write!(f, "how many streams of {}{frames} can be carried", BitRate(*rate))
            }
            Question::UnderLoad(s) => write!(f, "latency under load of {}", of(s)),
            Question::Size => write!(f, "the size to use"),
            Question::Saturation => write!(f, "the size from which on the path is saturated"),
            Question::Share(share) => {
                write!(f, "the size that reaches {} of the most throughput", units::Share(*share))
            }
            Question::HalfPower => write!(f, "the size that reaches half of the most throughput (n1/2)"),
            Question::PerByte(1) => write!(f, "what each further byte costs"),
            Question::PerByte(bytes) => write!(f, "what each further {} costs", size(*bytes)),
            Question::Mean { size: s, round_trip } => write!(f, "mean time of {}{}", of(s), trip(*round_trip)),
            Question::Cheapest(s) => write!(f, "the path of least CPU time for a transfer of {}", of(s)),
            Question::Overtaken { x, y } => write!(f, "the size from which on one is faster: {x} or {y}"),
            Question::Nearly { slow, fast, times } => {
                write!(f, "the size at which {slow} takes {times} times as long as {fast}")
            }
            Question::RunToRun(None) => write!(f, "how far whole runs lie apart"),
            Question::RunToRun(Some(s)) => write!(f, "how far runs lie apart at {}", size(*s)),
            Question::Lost { rate, size: s } => {
                let at = rate.map_or_else(String::new, |r| format!(" where {} are offered", BitRate(r)));
                write!(f, "how many messages{} are lost{at}", of_size(s))
            }
            Question::Lossless(s) => write!(f, "the highest rate without loss{}", with(s)),
            Question::StartUp => write!(f, "what a message costs before its first byte"),
            Question::Control => write!(f, "arrival of small messages, path by path"),
            Question::Frames { rate, size: s, what } => {
                write!(f, "whether {} of {} a second can be sustained", what.counted(*rate), size(*s))
            }
            Question::Sizes { x, y, flow, multiple } => {
                let what = if *flow { "throughput" } else { "time" };
                let times = multiple.map_or_else(String::new, |m| format!(", whether {m}"));
                write!(f, "{what} of {} held against that of {}{times}", size(*x), size(*y))
            }
            Question::Safest(s) => write!(f, "the path that loses least{}", with(s)),
            Question::CpuASecond { rate: ASecond::Of(rate, what), size: s } => {
                write!(f, "CPU time of {}{} a second", what.counted(*rate), of_size(s))
            }
            Question::CpuASecond { rate: ASecond::Bits(rate), size: s } => {
                let with = s.map_or_else(|| "the best size".to_owned(), size);
                write!(f, "CPU time of {}, with messages of {with}", BitRate(*rate))
            }
            Question::PerSecond { what: Unit::Connections, size: s, .. } => {
                let each = s.map_or_else(String::new, |s| format!(", each with a request of {}", size(s)));
                write!(f, "connections a second{each}")
            }
            Question::PerSecond { what, size: s, span } => {
                let period = if *span == 1.0 { "a second".to_owned() } else { format!("in {}", Seconds(*span)) };
                write!(f, "how many {what} of {} {period}", of(s))
            }
            Question::Cost { x, y, size: s, flow, multiple, .. } => {
                let at = s.map_or_else(String::new, |s| format!(", at {}", size(s)));
                let times = multiple.map_or_else(String::new, |m| format!(", whether {m}"));
                match flow {
                    true => write!(f, "throughput of {x} held against that of {y}{times}{at}"),
                    false => write!(f, "{x} held against {y}{times}{at}"),
                }
            }
            Question::PercentileHeld { thousandths, x, y, size: s, round_trip, longer } => {
                let (name, trip) = (percentile(*thousandths), trip(*round_trip));
                let how = if *longer { "longer" } else { "shorter" };
                write!(
                    f,
                    "whether {name} of the times of single messages of {} is {how} over {x} than over {y}{trip}",
                    of(s)
                )
            }
            Question::OfFlows { slowest, size: s } => {
                write!(f, "what the {} flow moves{}", if *slowest { "slowest" } else { "fastest" }, with(s))
            }
            Question::Link { rate, size: s } => {
                let of = s.map_or_else(|| "the largest message measured".to_owned(), size);
                write!(f, "arrival of {of} over a link of {}", BitRate(*rate))
            }
        }
    }
}

impl Reading {
    /// How question number `n` was read, without its notes: "arrival of 100 kB (100,000 B), over tcp".
    pub fn says(&self, n: usize, measured: &Measured) -> String {
        let Some(question) = self.questions.get(n) else { return String::new() };
        if question.of_two_paths() {
            return question.to_string();
        }
        let sustained = if self.sustained && question.of_time_or_flow() { ", sustained" } else { "" };
        let over: Vec<String> = self.over.iter().map(ToString::to_string).collect();
        let over = match (over.is_empty(), measured.paths.len()) {
            (true, 0 | 1) => measured.words(),
            (true, _) => "all paths".to_owned(),
            _ => over.join(", "),
        };
        let but: Vec<String> = self.but.iter().map(ToString::to_string).collect();
        let but = if but.is_empty() { String::new() } else { format!(" but {}", but.join(", ")) };
        format!("{question}{sustained}, over {over}{but}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_said_with_their_bytes() {
        for (bytes, want) in [
            (100_000, "100 kB (100,000 B)"),
            (65_536, "64 KiB"),
            (64, "64 B"),
            (64_000, "64 kB (64,000 B)"),
            (1536, "1.5 KiB"),
            (1_500_000, "1.5 MB (1,500,000 B)"),
            (1_000_000_000, "1 GB (1,000,000,000 B)"),
            (24_883_200, "24,883,200 B"),
        ] {
            assert_eq!(size(bytes), want);
        }
        assert_eq!(percentile(99_900), "p99.9");
    }
}
