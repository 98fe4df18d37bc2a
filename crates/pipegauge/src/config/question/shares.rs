//! So many of so many: "one in a thousand messages", "nine out of ten". They are percentiles of what single messages take.

use anyhow::Result;

use super::amounts::{Amount, Amounts, Found, thousandths};
use super::lexer::Lexeme;
use super::numbers::number;

/// How few of many are taken.
pub const SLOWEST: &str = "so few of so many are taken as the slowest of them";

/// Below this share the slowest are meant, and from it on those that are in time.
const HALF: f64 = 0.5;

/// How most of them are taken.
const MOST: &str = "most are taken as more than half: the median tells";

/// What some of are asked about.
const MESSAGES: [&str; 10] =
    ["messages", "msgs", "requests", "packets", "trips", "roundtrips", "pings", "datagrams", "transfers", "them"];

impl Amounts<'_> {
    /// The percentile that begins at a place as a part of the messages: "half of 64 byte messages", "most of the messages", "most 1 KiB messages".
    pub fn part_of_messages(&self, at: usize) -> Option<Found> {
        const PARTS: [(&str, f64); 5] =
            [("most", 50.0), ("half", 50.0), ("quarter", 25.0), ("quarters", 75.0), ("tenth", 10.0)];
        let w = self.words;
        let three = w.any(at, &["three"]);
        let part = at + usize::from(three || w.any(at, &["a", "one"]));
        let (name, percent) = PARTS.into_iter().find(|(name, _)| w.any(part, &[name]))?;
        let most = name == "most";
        // "the most messages" is no part of them.
        let done = at > 0 && w.any(at - 1, &["do", "does", "did", "will", "would", "that", "if", "whether", "have"]);
        let of = w.any(part + 1, &["of"]);
        if (name == "quarters") != three || (most && !done) || !(most || of) {
            return None;
        }
        let next = part + 1 + usize::from(of);
        let mut noun = next + usize::from(w.any(next, &["the", "all", "my", "our", "these", "those"]));
        if let Some((_, unit)) = number(w, noun, |i| self.is_unit(i))
            && let Some((_, end)) = self.unit(unit)
        {
            noun = end;
        }
        noun += usize::from(w.any(noun, &["single", "round"]));
        w.any(noun, &MESSAGES).then(|| Found {
            amount: Amount::Percentile((percent * 1000.0) as u32),
            next,
            note: most.then_some(MOST),
        })
    }

    /// The percentile that begins at a place as so many of so many; none where no such does.
    pub fn some_of_many(&self, at: usize) -> Result<Option<Found>> {
        let Some((some, next)) = self.counted_alone(at) else { return Ok(None) };
        let w = self.words;
        let (inside, from) = match () {
            () if w.any(next, &["in"]) => (true, next + 1),
            () if w.any(next, &["out"]) && w.any(next + 1, &["of"]) => (false, next + 2),
            // "two of three paths" are none of many.
            () if w.any(next, &["of"]) && matches!(w.0.get(next + 1), Some(Lexeme::Number(_))) => (false, next + 1),
            () => return Ok(None),
        };
        let Some((many, end)) = self.many(from) else { return Ok(None) };
        // "4 in 16 parts" cuts something up.
        let round = [10.0, 100.0, 1000.0, 1e4, 1e5, 1e6].contains(&many) || some == 1.0;
        if !(some > 0.0 && some < many) || (inside && !round) {
            return Ok(None);
        }
        let share = some / many;
        let (percent, note) = match share < HALF {
            true => (100.0 * (1.0 - share), Some(SLOWEST)),
            false => (100.0 * share, None),
        };
        let amount = Amount::Percentile(thousandths(percent, &self.shown())?);
        Ok(Some(Found { amount, next: end, note }))
    }

    /// How many there are of which some are meant, and the place after it; none of what has a unit: "10 files in 1 ms", "1 of 64 KiB".
    pub fn many(&self, at: usize) -> Option<(f64, usize)> {
        let (many, end) = number(self.words, at, |_| false)?;
        let unit = self.unit(end).is_some() || self.words.any(end, &["%", "percent"]) || self.counts_a_second(end);
        Some((many.parse::<f64>().ok()?, end)).filter(|(many, _)| !unit && many.fract() == 0.0)
    }

    /// A whole number without anything that it counts, "one" among them.
    fn counted_alone(&self, at: usize) -> Option<(f64, usize)> {
        let (digits, next) = match self.words.any(at, &["one"]) {
            true => ("1".to_owned(), at + 1),
            false => number(self.words, at, |_| false)?,
        };
        Some((digits.parse::<f64>().ok()?, next)).filter(|(some, _)| some.fract() == 0.0)
    }
}
