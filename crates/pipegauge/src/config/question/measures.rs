//! Numbers with a unit: sizes, rates and times, and prefixes that stand alone.

use anyhow::{Result, bail};
use units::words::{Read, Unit, unit};
use units::{BitRate, Bytes, Seconds};

use super::amounts::{Amount, Amounts, Found, LINKS};
use super::lexer::{Lexeme, shifted};
use super::lexicon::{self, Topic};
use super::nouns::NOUNS;
use super::numbers::number;
use super::suggest::shown;

/// What is of a size where it stands behind a prefix alone: "4k messages", "64K blocks".
const SIZED: [&str; 14] = [
    "messages", "message", "msgs", "msg", "packets", "packet", "frames", "blocks", "block", "chunks", "chunk",
    "buffers", "writes", "pages",
];

/// What disks are asked for, blocks of some thousand bytes each.
const BLOCKS: [&str; 4] = ["reads", "writes", "iops", "pages"];

/// How bits of a message are taken.
pub const EIGHTS: &str = "bits of a message are taken by eights for its bytes";

/// How bits without a time are taken where a path is said to do them.
const SPEED: &str = "so many bits are taken as bits a second";

impl Amounts<'_> {
    /// Whether an amount of bits is what a path does, and so a second: "can tcp do 10 gigabit?", but not "does 1 gigabit arrive".
    fn speed(&self, from: usize, next: usize) -> bool {
        #[rustfmt::skip]
        const DOES: [&str; 40] = [
            "do", "does", "reach", "reaches", "handle", "handles", "sustain", "sustains", "carry", "carries", "support", "supports",
            "achieve", "achieves", "saturate", "saturates", "deliver", "delivers", "provide", "provides", "hit", "hits", "manage",
            "manages", "fill", "fills", "get", "run", "than", "for", "above", "below", "under", "exceed", "exceeds", "beyond",
            "push", "pump", "squeeze", "pull",
        ];
        #[rustfmt::skip]
        const OTHER: [&str; 18] = [
            "message", "messages", "block", "blocks", "file", "files", "in", "within", "every", "send", "transfer", "copy", "long",
            "when", "time", "latency", "arrive", "take",
        ];
        let w = self.words;
        let joint = |at: &usize| w.any(*at, &["up", "to", "a", "an", "at", "full", "about", "least", "most"]);
        let before = from - (0..from).rev().take_while(joint).count();
        let done = before > 0 && w.any(before - 1, &DOES);
        // "for" and "than" only where the path can do something: "is it fast enough for 10 gigabit?"
        let weak = done
            && w.any(
                before - 1,
                &[
                    "for", "than", "get", "run", "above", "below", "under", "exceed", "exceeds", "beyond", "push",
                    "pump", "squeeze", "pull",
                ],
            );
        let can = (0..from).any(|i| w.any(i, &["can", "could", "enough", "faster", "slower", "does", "is", "will"]));
        let other = (0..w.0.len()).any(|i| w.any(i, &OTHER)) || w.any(next, &NOUNS);
        done && (!weak || can) && !other
    }

    /// The amount that digits make with a unit.
    pub fn with_unit(&self, from: usize, digits: &str, value: f64, (read, next): (Read, usize)) -> Result<Found> {
        let w = self.words;
        let (unit, note) = match read {
            Read::Plainly(unit) => (unit, None),
            Read::Usually(unit, note) => (unit, Some(note)),
            Read::Either(one, other) => bail!(
                "'{}': `{} {}` can be read in two ways: {one} or {other}? Write the one that is meant",
                self.shown(),
                shown(digits),
                shown(w.text(next - 1).unwrap_or("")),
            ),
        };
        let found = |amount, next, note| Ok(Found { amount, next, note });
        let next = if let Unit::Size(symbol) = unit { self.once_more(digits, symbol, next) } else { next };
        let link = w.any(next, &LINKS) || (from >= 2 && w.any(from - 1, &["of", "a"]) && w.any(from - 2, &LINKS));
        // "messages of 1 KB per second": so many messages, not so many bytes.
        let joint = |at: &usize| w.any(*at, &["of", "with", "size", "sized", "at", "a", "each", "about"]);
        let joints = (0..from).rev().take_while(joint).count();
        let noun = from.checked_sub(joints + 1).filter(|_| joints > 0);
        let number_before = |at: usize| at > 0 && matches!(w.0.get(at - 1), Some(Lexeme::Number(_)));
        let each = noun.is_some_and(|at| w.any(at, &NOUNS) || (number_before(at) && !self.is_unit(at)));
        // "1000 sensors sending 100 bytes each second": a message of each of them, and not so much of all.
        let sources = (0..from).any(|i| w.low(i).is_some_and(|word| lexicon::topics(word).contains(&Topic::Sources)));
        let per = self.per(next).filter(|_| !(each || sources && matches!(unit, Unit::Size(_))));
        let rate = |text: &str| text.parse::<BitRate>().map(|r| r.0).map_err(|e| self.wrong(&e));
        match unit {
            // Bytes are whole, and a point parts groups of three digits in some countries: 1.000 may be a thousand.
            Unit::Size("B") if digits.split_once('.').is_some_and(|(_, f)| f.len() == 3) => bail!(
                "'{}': `{digits} bytes` can be read in two ways: write {} or {} bytes",
                self.shown(),
                digits.replace('.', ","),
                value
            ),
            Unit::Size(symbol) => {
                let bytes = format!("{digits}{symbol}").parse::<Bytes>().map_err(|e| self.wrong(&e))?;
                match per {
                    Some((seconds, after)) => {
                        found(Amount::Rate(rate(&format!("{digits}{symbol}/s"))? / seconds), after, note)
                    }
                    None => found(Amount::Size(bytes.0), next, note),
                }
            }
            Unit::Bits(symbol) => match per {
                Some((seconds, after)) => {
                    found(Amount::Rate(rate(&format!("{digits}{symbol}/s"))? / seconds), after, note)
                }
                None if link => found(Amount::Rate(rate(&format!("{digits}{symbol}/s"))?), next, note),
                // "8 mbit streams", "12 calls of 64 kbit": each so much a second.
                None if self.speed(from, next) || self.streams(next) => {
                    found(Amount::Rate(rate(&format!("{digits}{symbol}/s"))?), next, Some(SPEED))
                }
                None => {
                    let bits = format!("{digits}{}", symbol.replace("bit", "B"))
                        .parse::<Bytes>()
                        .map_err(|e| self.wrong(&e))?;
                    if bits.0 % 8 != 0 {
                        bail!("'{}': `{} {symbol}` is not a whole number of bytes", self.shown(), shown(digits));
                    }
                    found(Amount::Size(bits.0 / 8), next, Some(EIGHTS))
                }
            },
            Unit::Rate(symbol) => found(Amount::Rate(rate(&format!("{digits}{symbol}"))?), next, note),
            Unit::Time(symbol) => {
                let time = format!("{digits}{symbol}").parse::<Seconds>().map_err(|e| self.wrong(&e))?;
                if time.0 <= 0.0 {
                    bail!("'{}': a time of nothing; write one above 0", self.shown());
                }
                found(Amount::Time(time.0), next, note)
            }
            Unit::Prefix { size, rate: symbol, power } => {
                let times = shifted(digits, power as i32);
                let sized = number(w, next, |i| self.is_unit(i)).is_some_and(|(_, end)| self.unit(end).is_some());
                if power == 3 && self.size_of_each(from, digits, next) {
                    let bytes = format!("{digits}{size}").parse::<Bytes>().map_err(|e| self.wrong(&e))?;
                    found(Amount::Size(bytes.0), next, note)
                } else if let Some((seconds, after)) = self.per(next) {
                    found(Amount::PerSecond(value * 10f64.powi(power as i32) / seconds), after, None)
                } else if self.counts_a_second(next) {
                    found(Amount::PerSecond(value * 10f64.powi(power as i32)), next, None)
                } else if link {
                    found(Amount::Rate(rate(&format!("{digits}{symbol}"))?), next, None)
                } else if power >= 6 && self.speed(from, next) {
                    found(Amount::Rate(rate(&format!("{digits}{symbol}"))?), next, Some(SPEED))
                } else if w.any(next, &SIZED) && power == 3 && self.sizeless(next) {
                    // "4k messages" and "64K blocks" are of that size, unless another size is named.
                    let bytes = format!("{digits}{size}").parse::<Bytes>().map_err(|e| self.wrong(&e))?;
                    found(Amount::Size(bytes.0), next, note)
                } else if w.any(next, &NOUNS) || sized {
                    match self.per(next + 1) {
                        Some((seconds, _)) => {
                            found(Amount::PerSecond(value * 10f64.powi(power as i32) / seconds), next, None)
                        }
                        None => found(self.count(&times)?, next, None),
                    }
                } else {
                    let bytes = format!("{digits}{size}").parse::<Bytes>().map_err(|e| self.wrong(&e))?;
                    found(Amount::Size(bytes.0), next, note)
                }
            }
        }
    }

    /// The place behind the same size, said once more in another unit, as answers echo it: "1 kB (1,000 B)".
    fn once_more(&self, digits: &str, symbol: &str, next: usize) -> usize {
        let bytes = |digits: &str, symbol: &str| format!("{digits}{symbol}").parse::<Bytes>().ok();
        match (self.words.0.get(next), self.unit(next + 1)) {
            (Some(Lexeme::Number(again)), Some((Read::Plainly(Unit::Size(unit)), after)))
                if bytes(again, unit) == bytes(digits, symbol) =>
            {
                after
            }
            _ => next,
        }
    }

    /// Whether streams are what comes next.
    fn streams(&self, next: usize) -> bool {
        self.words.low(next).is_some_and(|word| lexicon::topics(word).contains(&Topic::Streams))
    }

    /// Whether thousands of things that are counted a second are the size of each: "how many 4k messages per second" asks for their number, so
    /// that none is given; "4k reads per second" and "64k iops" are of blocks, as whoever measures disks writes them. "Can it do 4k reads per second" gives
    /// a number.
    fn size_of_each(&self, from: usize, digits: &str, next: usize) -> bool {
        let w = self.words;
        let other = (next..w.0.len()).any(|i| {
            matches!(w.0.get(i), Some(Lexeme::Number(_)))
                && self.unit(i + 1).is_some_and(|(read, _)| {
                    matches!(read, Read::Plainly(Unit::Size(_)) | Read::Usually(Unit::Size(_), _))
                })
        });
        let many = from > 0 && w.any(from - 1, &["many"]) && (w.any(next, &NOUNS) || w.any(next, &["iops"]));
        let block = digits.parse::<u64>().is_ok_and(u64::is_power_of_two) && w.any(next, &BLOCKS);
        !other && (many || (block && !super::verdicts::yes_or_no(self.question)))
    }

    /// Whether no other size stands in the question: no other word is a unit of one.
    fn sizeless(&self, after: usize) -> bool {
        (after..self.words.0.len()).all(|i| {
            let read = self.words.text(i).and_then(unit);
            !matches!(read, Some(Read::Plainly(Unit::Size(_)) | Read::Usually(Unit::Size(_), _)))
        }) && self.per(after + 1).is_none()
    }
}
