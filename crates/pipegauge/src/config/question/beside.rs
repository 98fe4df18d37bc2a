//! Words that mean what stands beside them has them mean: "100 bytes each way", "get 100 bytes back", "fastest after unix", "out of 100".

use anyhow::{Result, bail};

use super::amounts::{Amount, Amounts};
use super::lexer::Lexeme;
use super::lexicon::Topic;
use super::names::Measured;
use super::numbers::{Words, number};
use super::pieces::names_path;
use super::sentence::{Item, Sentence};
use super::{multiples, periods};

impl Sentence {
    /// Takes such words at a place; the place after them, and none where there are none.
    pub fn beside(&mut self, amounts: &Amounts<'_>, measured: &Measured, at: usize) -> Result<Option<usize>> {
        let words = amounts.words;
        let sizes = self.items.iter().filter(|i| matches!(i, Item::Amount(Amount::Size(_)))).count();
        let sized = matches!(self.items.last(), Some(Item::Amount(Amount::Size(_))));
        // So much there, and so much back: of a throughput they are both directions at once.
        if sized && words.any(at, &["each"]) && words.any(at + 1, &["way"]) && !self.has(Topic::Throughput) {
            self.items.push(Item::Topics(vec![Topic::RoundTrip]));
            return Ok(Some(at + 2));
        }
        if sized && sizes > 1 && words.any(at, &["back"]) {
            self.items.push(Item::Topics(vec![Topic::RoundTrip]));
            return Ok(Some(at + 1));
        }
        // "1 MB's share of a 60 fps frame"
        if sized && words.any(at, &["share", "part", "fraction"]) && words.any(at + 1, &["of"]) {
            self.items.push(Item::Topics(vec![Topic::PartOf]));
            return Ok(Some(at + 1));
        }
        if let Some(next) = how_long_a_message(words, at) {
            self.items.push(Item::Topics(vec![Topic::HowBig]));
            return Ok(Some(next));
        }
        // "how long between 10 KB messages", "between messages of 10 KB": from one to the next.
        let messages = words.any(at, &["between"]) && words.any(at + 1, &["messages", "packets", "msgs"]);
        if messages && !words.any(at + 2, &["and"]) {
            self.items.push(Item::Topics(vec![Topic::Spacing]));
            return Ok(Some(at + 1));
        }
        if words.any(at, &["between"])
            && let Some(unit) = number(words, at + 1, |i| amounts.is_unit(i)).and_then(|(_, end)| amounts.unit(end))
            && words.any(unit.1, &["messages", "packets", "msgs", "blocks", "writes", "sends"])
            && !words.any(unit.1 + 1, &["and"])
        {
            self.items.push(Item::Topics(vec![Topic::Spacing]));
            return Ok(Some(at + 1));
        }
        if let Some(next) = self.in_all(amounts, at)? {
            return Ok(Some(next));
        }
        // "1 KB x 100"
        if sized
            && words.any(at, &["x"])
            && let Some(Lexeme::Number(digits)) = words.0.get(at + 1)
            && !amounts.is_unit(at + 2)
        {
            self.items.push(Item::Amount(amounts.count(digits)?));
            return Ok(Some(at + 2));
        }
        if let Some((seconds, next)) = periods::frame(words, at) {
            // "messages of 256 B per tick at 30 Hz": as many as go in it.
            let counted = self.items.iter().any(|i| matches!(i, Item::Amount(Amount::Count(_))));
            let asked =
                self.any(&[Topic::HowMany, Topic::HowMuch, Topic::PartOf, Topic::HowLong]) || self.has(Topic::Can);
            let many = words.any(at, &["per", "each", "every"]) && self.has(Topic::Messages) && !counted && !asked;
            self.items.push(Item::Topics(vec![if many { Topic::PerSecond } else { Topic::Filler }]));
            self.items.push(Item::Amount(Amount::Time(seconds)));
            return Ok(Some(next));
        }
        // "does tcp have twice the latency of unix": of a path or size that was named.
        let named = self.items.iter().any(|i| matches!(i, Item::Path(_) | Item::Amount(Amount::Size(_))));
        // "do 4 KB messages reach half the bandwidth of tcp": of what it can, since nothing else is named that it could be half of.
        let other = (0..words.0.len()).filter(|at| names_path(words, *at) || amounts.is_size(*at)).count() > 2;
        let own = words.any(at, &["half"]) && sizes == 1 && !other && words.any(at + 2, &["bandwidth", "throughput"]);
        if let Some((times, next)) = multiples::at(words, at).filter(|_| named && !own) {
            self.items.push(Item::Amount(Amount::Times(times)));
            self.items.push(Item::Topics(vec![Topic::Versus, Topic::Times]));
            return Ok(Some(next));
        }
        if let Some((percent, next)) = ordinal(words, at) {
            self.items.push(Item::Amount(Amount::Percentile(percent * 1000)));
            return Ok(Some(next));
        }
        let ranks = ["fastest", "best", "quickest", "slowest"];
        if words.any(at, &["second", "third", "fourth", "next"]) && words.any(at + 1, &ranks) {
            self.items.push(Item::Topics(vec![Topic::Ranked]));
            return Ok(Some(at + 1));
        }
        // The path is no one that is asked about: all are, and they are told in their order.
        if words.any(at, &["after", "behind"])
            && names_path(words, at + 1)
            && self.any(&[Topic::Fastest, Topic::Slowest])
        {
            let before = self.items.len();
            let mut next = self.next(amounts, measured, at + 1)?;
            while words.any(next, &["and", "or"]) && names_path(words, next + 1) {
                next = self.next(amounts, measured, next + 1)?;
            }
            self.items.truncate(before);
            self.items.push(Item::Topics(vec![Topic::Ranked]));
            return Ok(Some(next));
        }
        // "how many messages out of 100 arrive within 30 us", "how many of 1000 messages": a share of them.
        let out = usize::from(words.any(at, &["out"]));
        let of_many = out == 1 || (at > 0 && words.any(at - 1, &["many"]));
        if self.has(Topic::HowMany)
            && of_many
            && words.any(at + out, &["of"])
            && let Some((_, end)) = amounts.many(at + out + 1)
        {
            self.items.push(Item::Topics(vec![Topic::PartOf]));
            return Ok(Some(end));
        }
        Ok(None)
    }

    /// What all messages hold together, where that is said of a size: "1000 messages with 1 MB in total". Of "1000 messages of 1 KB in total" it is not
    /// clear which is meant.
    fn in_all(&mut self, amounts: &Amounts<'_>, at: usize) -> Result<Option<usize>> {
        let words = amounts.words;
        let next = match () {
            () if words.any(at, &["in"]) && words.any(at + 1, &["total", "all"]) => at + 2,
            () if words.any(at, &["total", "altogether"]) => at + 1,
            () => return Ok(None),
        };
        let counts = self.items.iter().filter(|i| matches!(i, Item::Amount(Amount::Count(n)) if *n > 1)).count();
        let Some(Item::Amount(Amount::Size(_))) = self.items.last() else { return Ok(None) };
        if counts != 1 || words.any(next, &["case", "cases", "time"]) {
            return Ok(None);
        }
        let number = (0..at).rev().find(|i| matches!(words.0.get(*i), Some(Lexeme::Number(_))));
        if number.is_some_and(|number| number > 0 && words.any(number - 1, &["of"])) {
            bail!(
                "'{}': can be read in two ways, as so much of each message or of all of them: write 'how long for 10 messages of 1 MB', or 'how \
                 long for 10 MB in 10 messages'",
                amounts.shown()
            );
        }
        self.items.push(Item::Topics(vec![Topic::Total, Topic::Filler]));
        Ok(Some(next))
    }
}

/// The place behind words that ask for the length of a message, and not for its time: "how long a message can I send in 50 us", "how long can a
/// message be".
fn how_long_a_message(words: Words<'_>, at: usize) -> Option<usize> {
    if !(words.any(at, &["how"]) && words.any(at + 1, &["long"])) {
        return None;
    }
    let can = words.any(at + 2, &["can", "may", "could", "must", "should", "might"]);
    let from = at + 2 + usize::from(can);
    let noun = from + usize::from(words.any(from, &["a", "the", "my", "our", "one", "each"]));
    let sent =
        words.any(noun, &["message", "messages", "msg", "packet", "packets", "block", "blocks", "payload", "payloads"]);
    let asked = if can { words.any(noun + 1, &["be"]) } else { words.any(noun + 1, &["can", "could", "may", "fits"]) };
    (sent && asked && (can || noun > from)).then_some(noun + 1)
}

/// A percentile in words: "ninety-ninth percentile", "ninetieth percentile".
fn ordinal(words: Words<'_>, at: usize) -> Option<(u32, usize)> {
    const TENS: [(&str, &str, u32); 9] = [
        ("ten", "tenth", 10),
        ("twenty", "twentieth", 20),
        ("thirty", "thirtieth", 30),
        ("forty", "fortieth", 40),
        ("fifty", "fiftieth", 50),
        ("sixty", "sixtieth", 60),
        ("seventy", "seventieth", 70),
        ("eighty", "eightieth", 80),
        ("ninety", "ninetieth", 90),
    ];
    const ONES: [(&str, u32); 9] = [
        ("first", 1),
        ("second", 2),
        ("third", 3),
        ("fourth", 4),
        ("fifth", 5),
        ("sixth", 6),
        ("seventh", 7),
        ("eighth", 8),
        ("ninth", 9),
    ];
    let (value, next) = TENS.iter().find_map(|(tens, tenth, value)| match () {
        () if words.any(at, &[tenth]) => Some((*value, at + 1)),
        () if words.any(at, &[tens]) => {
            let ones = ONES.iter().find(|(name, _)| words.any(at + 1, &[name]))?;
            Some((value + ones.1, at + 2))
        }
        () => None,
    })?;
    words.any(next, &["percentile", "percentiles"]).then_some((value, next + 1))
}
