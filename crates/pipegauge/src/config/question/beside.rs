//! Words that mean what stands beside them has them mean: "100 bytes each way", "get 100 bytes back", "fastest after unix", "out of 100".

use anyhow::Result;

use super::amounts::{Amount, Amounts};
use super::lexicon::Topic;
use super::names::Measured;
use super::pieces::names_path;
use super::sentence::{Item, Sentence};

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
        // "how many messages out of 100 arrive within 30 us": a share of them.
        if self.has(Topic::HowMany)
            && words.any(at, &["out"])
            && words.any(at + 1, &["of"])
            && let Some((_, end)) = amounts.many(at + 2)
        {
            self.items.push(Item::Topics(vec![Topic::PartOf]));
            return Ok(Some(end));
        }
        Ok(None)
    }
}
