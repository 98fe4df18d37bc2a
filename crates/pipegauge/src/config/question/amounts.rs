//! Numbers with what they count: sizes, rates, times, so many a second, so many messages.

use anyhow::{Error, Result, anyhow, bail};
use units::words::{NAMES, Read, Unit, unit};

use super::Multiple;
use super::lexer::Lexeme;
use super::lexicon;
use super::nouns::NOUNS;
use super::numbers::{Words, endless, number};
use super::spoken::spoken;
use super::suggest::{nearest, safe, shown};
use super::video::resolution;

/// A number and what it counts.
#[derive(Debug, Clone, PartialEq)]
pub enum Amount {
    /// Bytes.
    Size(u64),
    /// Bits a second.
    Rate(f64),
    /// Seconds.
    Time(f64),
    /// So many a second.
    PerSecond(f64),
    /// The time that something is counted over, seconds: "per minute", apart from its number.
    Period(f64),
    /// So many.
    Count(u64),
    /// So many times as fast, or as slow: "1.5 times slower".
    Times(Multiple),
    /// A percentile, thousandths of a percent.
    Percentile(u32),
    /// A share of the largest throughput, percent.
    Share(f64),
    /// Pixels of a frame.
    Pixels(u64, u64),
    /// Bits of a pixel or sample.
    Depth(f64),
    /// A number that counts nothing that was read.
    Bare(String),
}

/// An amount, the place after it, and how it was taken where it could mean something else.
pub struct Found {
    pub amount: Amount,
    pub next: usize,
    pub note: Option<&'static str>,
}

/// Elements of arrays, their bytes, and how they were taken.
const ELEMENTS: [(u64, &[&str], &str); 4] = [
    (8, &["double", "doubles", "float64", "float64s", "doublewords"], "a double is taken as 8 B"),
    (4, &["float", "floats", "float32", "float32s"], "a float is taken as 4 B"),
    (4, &["int", "ints", "integer", "integers", "int32", "int32s", "uint32", "uint32s"], "an integer is taken as 4 B"),
    (8, &["int64", "int64s", "uint64", "uint64s"], "an integer of 64 bit is 8 B"),
];

/// How a rate of a game's server is taken.
const TICKS: &str = "so many tick are taken as so many a second";

/// Words behind which a share is of those that take longest.
const SLOWEST: [&str; 3] = ["slowest", "worst", "longest"];

/// Words whose rate of a prefix alone is meant: "a 10G link".
#[rustfmt::skip]
pub const LINKS: [&str; 16] = [
    "link", "line", "wire", "network", "ethernet", "nic", "card", "cable", "lan", "connection", "interface", "port",
    "fiber", "fibre", "uplink", "internet",
];

pub struct Amounts<'a> {
    pub question: &'a str,
    pub words: Words<'a>,
    /// The question is about video.
    pub video: bool,
}

impl Amounts<'_> {
    /// The amount that begins at a place, if one does.
    pub fn at(&self, at: usize) -> Result<Option<Found>> {
        let w = self.words;
        let counts = |i: usize| self.is_unit(i) || w.any(i, &NOUNS);
        let article =
            w.any(at, &["a", "an", "single"]) && self.is_unit(at + 1) && w.low(at + 1).is_some_and(|u| u.len() > 1);
        // "gigabit ethernet"
        let one = w.low(at).and_then(unit).is_some_and(|r| matches!(r, Read::Plainly(Unit::Bits(b)) if b != "bit"))
            && w.any(at + 1, &LINKS);
        // "twice a second"
        let often = ["once", "twice"].iter().position(|often| w.any(at, &[often])).zip(self.per(at + 1));
        if let Some((extra, (seconds, next))) = often {
            return Ok(Some(Found { amount: Amount::PerSecond((extra + 1) as f64 / seconds), next, note: None }));
        }
        if let Some(found) = self.part_of_the_most(at) {
            return Ok(Some(found));
        }
        if let Some(found) = self.part_of_messages(at) {
            return Ok(Some(found));
        }
        if let Some(found) = self.some_of_many(at)? {
            return Ok(Some(found));
        }
        // "1 MB twice"
        if at > 0 && w.any(at, &["twice", "thrice"]) && !self.sized(at + 1) && !w.any(at + 1, &["the", "a", "an", "of"])
        {
            let count = if w.any(at, &["twice"]) { 2 } else { 3 };
            return Ok(Some(Found { amount: Amount::Count(count), next: at + 1, note: None }));
        }
        let part = at + usize::from(self.begins(at));
        if w.low(part).is_some_and(endless) && (w.any(part + 1, &["of"]) || counts(part + 1)) {
            bail!(
                "'{}': '{}' has no end as a decimal number; write one with a unit: 0.33 MB",
                self.shown(),
                shown(w.text(part).unwrap_or(""))
            );
        }
        let (digits, next) = match number(w, at, counts) {
            Some(found) => found,
            None if article => ("1".to_owned(), at + 1),
            None if one => ("1".to_owned(), at),
            None => return Ok(None),
        };
        self.counted(at, digits, next).map(Some)
    }

    /// Whether a place can begin a number of parts: "a third", "two thirds".
    fn begins(&self, at: usize) -> bool {
        self.words.any(at, &["a", "one", "two"])
    }

    /// Whether a number with a unit of size stands at a place.
    fn sized(&self, at: usize) -> bool {
        number(self.words, at, |i| self.is_unit(i)).is_some_and(|(_, end)| self.unit(end).is_some())
    }

    /// Whether a word says that what stands before it is so many a second: "fps", "messages/s".
    pub fn counts_a_second(&self, at: usize) -> bool {
        let noun = self.words.low(at).and_then(|t| t.strip_suffix("/s").or_else(|| t.strip_suffix("/sec")));
        self.words.any(at, &["fps", "hz", "hertz", "rps", "qps", "tps", "pps", "mps", "iops"])
            || noun.is_some_and(|noun| NOUNS.contains(&noun))
    }

    /// Whether a number with a unit of size ends at a place.
    pub fn is_size(&self, at: usize) -> bool {
        let number = at > 0 && matches!(self.words.0.get(at - 1), Some(Lexeme::Number(_)));
        let read = self.words.text(at).filter(|_| number).and_then(unit);
        matches!(read, Some(Read::Plainly(Unit::Size(_)) | Read::Usually(Unit::Size(_), _)))
    }

    pub fn is_unit(&self, at: usize) -> bool {
        self.words.text(at).is_some_and(|t| unit(t).is_some())
    }

    fn counted(&self, from: usize, digits: String, at: usize) -> Result<Found> {
        let w = self.words;
        let found = |amount, next| Ok(Found { amount, next, note: None });
        let value = digits.parse::<f64>().ok().filter(|v| v.is_finite());
        let Some(value) = value else { bail!("'{}': {} is beyond any number", self.shown(), shown(&digits)) };
        if let Some((bytes, next, note)) = self.elements(at, &digits) {
            if w.any(next, &["per", "a", "each", "every", "/"]) && w.any(next + 1, &["second", "sec", "s"]) {
                bail!("'{}': how much a second is asked for in bytes or bits, such as 8 kB/s", self.shown());
            }
            let size = bytes.map_or_else(|| self.count(&digits), |n| Ok(Amount::Size(n)));
            return Ok(Found { amount: size?, next, note: Some(note) });
        }
        if w.any(at, &["cacheline", "cachelines"]) || (w.any(at, &["cache"]) && w.any(at + 1, &["line", "lines"])) {
            let lines = whole(&digits)
                .and_then(|n| n.checked_mul(64))
                .map_or_else(|| self.count(&digits), |n| Ok(Amount::Size(n)));
            let next = at + 1 + usize::from(w.any(at, &["cache"]));
            return Ok(Found { amount: lines?, next, note: Some("a cache line is taken as 64 B") });
        }
        // Of its sides nothing is known, and nothing depends on them.
        if w.any(at, &["megapixel", "megapixels", "mp", "mpx"]) {
            return found(Amount::Pixels((value * 1e6).round() as u64, 1), at + 1);
        }
        // "the slowest 1%": what all others stay below.
        if w.any(at, &["%", "percent"]) && from > 0 && w.any(from - 1, &SLOWEST) && value < 50.0 {
            return found(Amount::Percentile(thousandths(100.0 - value, &self.shown())?), at + 1);
        }
        if w.any(at, &["th", "st", "nd", "rd"]) && w.any(at + 1, &NOUNS) {
            bail!(
                "'{}': one of several messages takes what any of them takes: ask how long one takes ('how long for 1 KiB?'), all of them \
                 ('how long for 10 messages of 1 KiB?'), or for a percentile ('p99 of 1 KiB')",
                self.shown()
            );
        }
        let named = w.any(at, &["th", "st", "nd", "rd", "percentile"]);
        let percentile = named || w.any(at + 1, &["percentile", "percentiles"]);
        if w.any(at, &["%", "percent"]) && !percentile && self.of_the_most(at + 1) {
            // "within 10% of the most": at most so much below it.
            let within = from > 0 && w.any(from - 1, &["within"]);
            return found(self.share(if within { 100.0 - value } else { value })?, at + 1);
        }
        if w.any(at, &["%", "percent"]) && w.any(at + 1, &["efficiency", "utilization", "utilisation"]) {
            return found(self.share(value)?, at + 2);
        }
        // "is the overhead bigger than 50%": a share of the time.
        let overhead = (0..w.0.len()).any(|i| w.any(i, &["overhead", "overheads", "startup", "start-up", "fixed"]));
        if w.any(at, &["%", "percent"]) && !percentile && (value < 50.0 || overhead || !self.quantile(at + 1)) {
            return found(Amount::Bare(format!("{digits}%")), at + 1);
        }
        if named || w.any(at, &["%", "percent"]) {
            let thousandths = thousandths(value, &self.shown())?;
            let next = at + 1 + usize::from(w.any(at + 1, &["percentile", "percentiles"]));
            return found(Amount::Percentile(thousandths), next);
        }
        if (self.video || w.any(at, &["p"]))
            && let Some(frame) = self.pixels(&digits, value, at)
        {
            return found(frame.0, frame.1);
        }
        // The frame rate of 1080p60 is read as one of the words that follow.
        if w.low(at).and_then(|word| lines_and_rate(&digits, word)).is_some() {
            return found(Amount::Bare(digits), at);
        }
        if w.any(at, &["x", "by"])
            && let Some((other, end)) = number(w, at + 1, |_| false).filter(|(_, end)| !self.is_unit(*end))
            && let Some(width) = whole(&digits).filter(|n| *n >= 16)
            && let Some(height) = whole(&other).filter(|n| *n >= 16)
        {
            return found(Amount::Pixels(width, height), end);
        }
        if let Some((seconds, next)) = self.per(at) {
            return found(Amount::PerSecond(value / seconds), next);
        }
        if self.counts_a_second(at) {
            return found(Amount::PerSecond(value), at);
        }
        if w.any(at, &["khz"]) {
            return found(Amount::PerSecond(value * 1e3), at + 1);
        }
        if let Some(prefix) = w.low(at).and_then(|t| t.strip_suffix("/s").or_else(|| t.strip_suffix("/sec")))
            && let Some(Read::Usually(Unit::Prefix { power, .. }, _)) = unit(prefix)
        {
            return found(Amount::PerSecond(value * 10f64.powi(power as i32)), at + 1);
        }
        if w.any(at, &["times", "x"])
            && let Some(slow) = w.low(at + 1 + usize::from(w.any(at + 1, &["as"]))).and_then(is_slow)
        {
            return found(Amount::Times(Multiple { times: value, slow, less: false }), at + 1);
        }
        // "64 tick", as the rate of a game's server is called.
        if w.any(at, &["tick"]) && value > 1.0 && self.per(at + 1).is_none() {
            return Ok(Found { amount: Amount::PerSecond(value), next: at, note: Some(TICKS) });
        }
        if w.any(at, &NOUNS) {
            return match self.per(at + 1) {
                Some((seconds, _)) => found(Amount::PerSecond(value / seconds), at),
                None if w.any(at, &["times"]) => found(self.count(&digits)?, at + 1),
                // "62.5 frames of 2 MB a second"
                None if whole(&digits).is_none() && self.a_second_follows(at) => found(Amount::PerSecond(value), at),
                None => found(self.count(&digits)?, at),
            };
        }
        if w.low(at).is_some_and(|word| lexicon::topics(word).contains(&lexicon::Topic::Sources)) {
            return found(self.count(&digits)?, at);
        }
        // "10 of 1 MB", "10 widgets of 1 MB": so many, whatever they are called.
        let of = at + usize::from(!w.any(at, &["of"]));
        if w.any(of, &["of"]) && !w.glued(at) && !self.is_unit(at) && self.sized(of + 1) && whole(&digits).is_some() {
            return found(self.count(&digits)?, at);
        }
        if let Some(unit) = self.unit(at) {
            return self.with_unit(from, &digits, value, unit);
        }
        if w.any(at, &["gbe"]) {
            return found(Amount::Rate(value * 1e9), at);
        }
        // "1 500 bytes": five hundred and one of something, or fifteen hundred?
        if let Some(Lexeme::Number(second)) = w.0.get(at)
            && (second.len(), digits.len() <= 3) == (3, true)
            && self.unit(at + 1).is_some_and(|(_, end)| !w.any(end, &NOUNS))
        {
            bail!(
                "'{}': `{digits} {second}` can be read in two ways: write `{digits},{second}` for one number, or \
                 `{digits} messages of {second} ...`",
                self.shown()
            );
        }
        // "5 1KiB messages", "5 x 1KiB", "5 control messages"
        let skip = at + usize::from(w.any(at, &["x"]));
        if self.sized(skip) || (w.any(at + 1, &NOUNS) && w.low(at).is_some_and(|t| !lexicon::topics(t).is_empty())) {
            return found(self.count(&digits)?, skip);
        }
        if let Some(word) = w.low(at)
            && (w.glued(at) || self.strange(word))
        {
            return Err(self.unknown(&digits, w.text(at).unwrap_or(word), w.glued(at)));
        }
        // "between 64 and 512 bytes", "1, 10 and 100 bytes": the unit of the last is that of the others.
        let range = from > 0 && w.any(from - 1, &["between", "from"]) && w.any(at, &["and", "to"]);
        let number = |i: &usize| matches!(w.0.get(*i), Some(Lexeme::Number(_)));
        let listed = (at..w.0.len()).take_while(number).count();
        let last = if w.any(at + listed, &["and"]) || range { at + listed + 1 } else { w.0.len() };
        if number(&last)
            && let Some((Read::Plainly(Unit::Size(unit)) | Read::Usually(Unit::Size(unit), _), _)) = self.unit(last + 1)
            && let Ok(bytes) = format!("{digits}{unit}").parse::<units::Bytes>()
        {
            return found(Amount::Size(bytes.0), at);
        }
        found(Amount::Bare(digits), at)
    }

    /// "1000 doubles", "4x4 double matrix", "3 x 3 x 3 floats": bytes (none where they are beyond any size), the place after them, and how they were taken.
    fn elements(&self, at: usize, digits: &str) -> Option<(Option<u64>, usize, &'static str)> {
        let w = self.words;
        let mut number = whole(digits);
        let mut next = at;
        while w.any(next, &["x", "by"])
            && let Some(Lexeme::Number(side)) = w.0.get(next + 1)
        {
            number = number.zip(whole(side)).and_then(|(n, side)| n.checked_mul(side));
            next += 2;
        }
        while w.any(next, &["matrix", "array", "vector", "grid", "of"]) {
            next += 1;
        }
        let (bytes, _, note) = ELEMENTS.into_iter().find(|(_, names, _)| w.any(next, names))?;
        Some((number.and_then(|n| n.checked_mul(bytes)), next + 1, note))
    }

    /// Whether a second is what is counted over in the words behind a place.
    fn a_second_follows(&self, at: usize) -> bool {
        (at + 1..self.words.0.len()).any(|i| self.per(i).is_some_and(|(seconds, _)| seconds == 1.0))
    }

    fn share(&self, percent: f64) -> Result<Amount> {
        if !(percent > 0.0 && percent < 100.0) {
            bail!("'{}': a share of the largest throughput lies between 0 and 100%", self.shown());
        }
        Ok(Amount::Share(percent))
    }

    /// Whether what follows a percent sign leaves it a percentile: "99% latency", "99% of messages".
    fn quantile(&self, at: usize) -> bool {
        #[rustfmt::skip]
        const AFTER: [&str; 22] = [
            "latency", "latencies", "delay", "delays", "time", "times", "rtt", "round", "roundtrip", "quantile", "quantiles", "percentile",
            "percentiles", "response", "tail", "at", "for", "over", "with", "are", "arrive", "within",
        ];
        let w = self.words;
        let amount = |i: usize| matches!(w.0.get(i), Some(Lexeme::Number(_))) || w.any(i, &["a", "an"]);
        // "99% of 1 KiB messages arrive": of so many of them.
        let counted = (at + 1..w.0.len()).any(|i| w.any(i, &["arrive", "messages", "requests", "packets"]));
        w.0.get(at).is_none() || w.any(at, &AFTER) || (w.any(at, &["of"]) && (counted || !amount(at + 1)))
    }

    /// "half of the max throughput", "a quarter of the bandwidth".
    fn part_of_the_most(&self, at: usize) -> Option<Found> {
        const PARTS: [(&str, f64); 5] =
            [("half", 50.0), ("quarter", 25.0), ("fifth", 20.0), ("tenth", 10.0), ("quarters", 75.0)];
        let w = self.words;
        let three = w.any(at, &["three"]) && w.any(at + 1, &["quarters"]);
        let part = at + usize::from(three || w.any(at, &["a", "one"]));
        let (name, percent) = PARTS.into_iter().find(|(name, _)| w.any(part, &[name]))?;
        if (name == "quarters") != three || !self.of_the_most(part + 1) {
            return None;
        }
        Some(Found { amount: Amount::Share(percent), next: part + 1, note: None })
    }

    /// Whether a share is one of the largest throughput: "90% of the bandwidth".
    fn of_the_most(&self, at: usize) -> bool {
        #[rustfmt::skip]
        const BETWEEN: [&str; 13] = [
            "the", "its", "my", "our", "full", "max", "maximum", "maximal", "peak", "total", "available", "possible", "largest",
        ];
        #[rustfmt::skip]
        const MOST: [&str; 16] = [
            "bandwidth", "throughput", "link", "line", "capacity", "speed", "rate", "most", "max", "maximum", "peak", "wire", "nic", "rmax",
            "goodput", "saturation",
        ];
        let w = self.words;
        let path = |i: usize| {
            spoken().any(|(_, names)| w.any(i, names))
                || matches!(w.0.get(i), Some(Lexeme::Path(_) | Lexeme::Transport(_)))
        };
        let between = |i: usize| w.any(i, &BETWEEN) || path(i);
        w.any(at, &["of"])
            && (at + 1..w.0.len()).take_while(|i| *i == at + 1 || between(i - 1)).any(|i| w.any(i, &MOST))
    }

    /// "4K", "1080p", "1080p60" and "10 bit" where the question is about video.
    fn pixels(&self, digits: &str, value: f64, at: usize) -> Option<(Amount, usize)> {
        let w = self.words;
        let word = w.low(at)?;
        if w.any(at, &["bit", "bits"]) && [8.0, 10.0, 12.0, 16.0, 24.0, 30.0, 32.0, 36.0, 48.0].contains(&value) {
            return self.per(at + 1).is_none().then_some((Amount::Depth(value), at + 1));
        }
        let (name, next) = if word == "p" || word == "k" { (format!("{digits}{word}"), at + 1) } else { return None };
        // 4K bytes are bytes.
        if word == "k" && w.any(at + 1, &["b", "byte", "bytes", "bit", "bits"]) {
            return None;
        }
        let (width, height) = resolution(&name)?;
        Some((Amount::Pixels(width, height), next))
    }

    /// "a second", "per minute", "/s": seconds of the period, and the place after.
    pub fn per(&self, at: usize) -> Option<(f64, usize)> {
        let w = self.words;
        if w.any(at, &["/s", "/sec", "/second"]) {
            return Some((1.0, at + 1));
        }
        let of = |name: &str| {
            Some(match name {
                "second" | "sec" | "s" => 1.0,
                "minute" | "min" => 60.0,
                "hour" | "h" | "hr" => 3600.0,
                "day" => 86_400.0,
                "week" => 604_800.0,
                "millisecond" | "ms" => 1e-3,
                "microsecond" | "us" => 1e-6,
                _ => return None,
            })
        };
        if let Some(period) = w.low(at).and_then(|t| t.strip_prefix('/')).and_then(of) {
            return Some((period, at + 1));
        }
        let period = of(w.low(at + 1)?)?;
        w.any(at, &["per", "a", "each", "every", "an"]).then_some((period, at + 2))
    }

    /// The unit at a place, and the place after it: "K bytes" in two words, too.
    pub fn unit(&self, at: usize) -> Option<(Read, usize)> {
        let first = self.words.text(at)?;
        let lower = first.to_lowercase();
        let prefix =
            ["k", "m", "g", "t", "ki", "mi", "gi", "ti", "kilo", "mega", "giga", "tera"].contains(&lower.as_str());
        if prefix
            && let Some(second) = self.words.text(at + 1).filter(|s| *s != "s" && !s.starts_with('/'))
            && let Some(read) = unit(&format!("{first}{second}"))
            && !matches!(read, Read::Plainly(Unit::Time(_)))
        {
            return Some((read, at + 2));
        }
        Some((unit(first)?, at + 1))
    }

    pub fn count(&self, digits: &str) -> Result<Amount> {
        match whole(digits) {
            Some(0) => bail!("'{}': none of something; ask about at least one", self.shown()),
            Some(count) => Ok(Amount::Count(count)),
            None => bail!("'{}': {} is no number of things to count", self.shown(), shown(digits)),
        }
    }

    /// Whether a word behind a number is in no row of the lexicon: likely a unit that is none.
    fn strange(&self, word: &str) -> bool {
        lexicon::topics(word).is_empty()
            && !spoken().any(|(_, names)| names.iter().any(|n| n.split(' ').next() == Some(word)))
            && !["x", "and", "more", "half", "percentile"].contains(&word)
            && super::video::samples(word).is_none()
            && resolution(word).is_none()
            && !super::names::elsewhere(word)
            && !["sequenced", "memory", "shared"].contains(&word)
    }

    fn unknown(&self, digits: &str, word: &str, glued: bool) -> Error {
        // Names stand in the plural: "megabite" is no further from megabytes than from megabits.
        let near = |word: &str| nearest(word, NAMES.into_iter());
        let lower = word.to_lowercase();
        let one = if lower.len() > 4 && !lower.ends_with('s') { near(&format!("{lower}s")) } else { None };
        let near = one.or_else(|| near(&lower)).map_or("bytes", |(n, _)| n);
        let space = if glued { "" } else { " " };
        let digits = shown(digits);
        anyhow!(
            "'{}': `{}` in `{digits}{space}{}` is no unit that this knows; the nearest is '{near}' (sizes: 64KiB or 64 kilobytes, \
             rates: 1Gbit/s, times: 5 ms, frames: 60 fps)",
            self.shown(),
            shown(word),
            shown(word)
        )
    }

    pub fn wrong(&self, why: &dyn std::fmt::Display) -> Error {
        anyhow!("'{}': {}", self.shown(), safe(&why.to_string()))
    }

    pub fn shown(&self) -> String {
        shown(self.question)
    }
}

/// "1080p60", "4K60": pixels, and frames a second, of the digits and the word behind them.
pub fn lines_and_rate(digits: &str, word: &str) -> Option<((u64, u64), f64)> {
    let kind = word.chars().next().filter(|c| matches!(c, 'p' | 'k'))?;
    let rate = word[1..].parse::<f64>().ok().filter(|r| *r > 0.0)?;
    Some((resolution(&format!("{digits}{kind}"))?, rate))
}

/// Whether a word says that something is slow (true), or fast.
pub fn is_slow(word: &str) -> Option<bool> {
    match word {
        "slow" | "slower" | "long" | "longer" => Some(true),
        "fast" | "faster" | "quick" | "quicker" => Some(false),
        _ => None,
    }
}

/// A whole number.
fn whole(digits: &str) -> Option<u64> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    fraction.bytes().all(|b| b == b'0').then(|| whole.parse().ok()).flatten()
}

/// A percentile in thousandths of a percent.
pub fn thousandths(percent: f64, question: &str) -> Result<u32> {
    let thousandths = percent * 1000.0;
    if !(0.0..=100_000.0).contains(&thousandths) {
        bail!("'{question}': a percentile lies between 0 and 100");
    }
    if (thousandths - thousandths.round()).abs() > 1e-6 {
        bail!("'{question}': a percentile has at most three decimals: p99.999");
    }
    Ok(thousandths.round() as u32)
}
