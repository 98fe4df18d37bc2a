//! Limits on other figures than the median: the longest, the shortest and the mean time; and figures of single times without a limit.

use anyhow::{Result, bail};

use super::Question;
use super::amounts::Amount;
use super::asked::Asked;
use super::every;
use super::lexicon::Topic::{self, *};
use super::sentence::Item;
use super::suggest::shown;
use super::verdicts::yes_or_no;

/// That each path is told of where one is held against another in a figure that no difference is known of.
const APART: &str = "told of each path, from which the difference is read off";

/// That several messages are told of each path where one is held against another.
const SAVED: &str = "told of each path: what one of them saves is the difference";

/// Words for the shortest of the times.
const SHORTEST: [&str; 4] = ["fastest", "shortest", "quickest", "best"];

impl Asked<'_> {
    /// Whether a text has any of these words.
    fn says(&self, of: &[&str]) -> bool {
        self.text.to_lowercase().split(|c: char| !c.is_alphanumeric()).any(|word| of.contains(&word))
    }

    /// Whether one of the paths is chosen, as by "the slowest path".
    fn chooses(&self) -> bool {
        self.sentence.has(Which) || (self.sentence.paths().len() > 1 && self.sentence.has(Or))
    }

    /// The end of the times that a limit is put on: none of a percent for the shortest, all for the longest.
    pub fn ends(&self) -> Option<u32> {
        let h = &self.sentence;
        match () {
            () if self.chooses() => None,
            () if h.has(Slowest) && (self.says(&["longest"]) || self.of_messages(Slowest)) => Some(100_000),
            () if h.has(Minimum) || (self.says(&SHORTEST) && self.of_messages(Fastest)) => Some(0),
            () => None,
        }
    }

    /// Whether such a word speaks of messages or their times, and not of a path: "the fastest 64 B message".
    fn of_messages(&self, topic: Topic) -> bool {
        let items = &self.sentence.items;
        let has = |i: &Item, of: &[Topic]| matches!(i, Item::Topics(t) if t.iter().any(|t| of.contains(t)));
        let passed = |i: &&Item| has(i, &[Filler]) || matches!(i, Item::Amount(Amount::Size(_)));
        let at = items.iter().position(|i| has(i, &[topic]));
        let next = at.and_then(|at| items[at + 1..].iter().find(|i| !passed(i)));
        next.is_some_and(|i| has(i, &[Messages, Requests, RoundTrip, Latency, HowLong, Control]))
    }

    /// A limit on the mean, or on an end of the times, where the words speak of those.
    pub fn limited(&self, size: Option<u64>, time: Option<f64>, round_trip: bool) -> Result<Option<Question>> {
        let h = &self.sentence;
        let other = !(self.rates.is_empty() && self.counts.is_empty() && self.per_second.is_empty())
            || h.any(&[Throughput, WhichSize, SmallestSize, HowBig, HowMuch, Data, HowMany, PartOf, UnderLoad])
            || !(self.percentiles.is_empty() || self.percentiles[..] == [100_000]);
        let Some(seconds) = time.filter(|_| !other) else { return Ok(None) };
        if h.has(Average) {
            return Ok(Some(Question::MeanWithin { size, seconds, round_trip, longer: self.turned(true)? }));
        }
        let asked = yes_or_no(self.text) || h.any(&[Within, Above, Below]);
        Ok(match self.ends().filter(|_| asked && self.percentiles.is_empty()) {
            Some(thousandths) => {
                let longer = self.turned(true)?;
                Some(Question::PercentileWithin { thousandths, size, seconds, round_trip, longer })
            }
            None => None,
        })
    }

    /// "shortest round trip of 64 bytes", "lowest latency of 64 B over tcp": the shortest time, and not the median. Without a path or a size
    /// the lowest is chosen from them.
    pub fn shortest(&self, size: Option<u64>) -> bool {
        let h = &self.sentence;
        let shortest = |i: &Item| matches!(i, Item::Topics(t) if t.contains(&Fastest) && !t.contains(&Within));
        let timed = |i: &Item, of: &[Topic]| matches!(i, Item::Topics(t) if t.iter().any(|t| of.contains(t)));
        let beside = |of: &[Topic]| h.items.windows(2).any(|two| shortest(&two[0]) && timed(&two[1], of));
        let other = self.chooses() || h.any(&[Versus, Cost, Throughput, WhichSize, HowMany, PerSecond, Instead]);
        let said = self.says(&["fastest", "shortest", "quickest", "best", "lowest", "smallest", "least", "minimal"]);
        let one = h.paths().len() == 1;
        // Of several paths the fastest is one of them.
        let round = beside(&[RoundTrip]) && (one || h.paths().is_empty() && self.says(&["shortest"]));
        said && !other && self.times.is_empty() && (round || (one && size.is_some() && beside(&[Latency, HowLong])))
    }

    /// That what is compared is told of each path, which no difference is known of: "compare p99 of tcp and unix", "which path has the lowest p99".
    pub fn told_apart(&self) -> Option<&'static str> {
        let h = &self.sentence;
        // "which path is typically the fastest" is of the median, which ranks them.
        let ranks = self.percentiles[..] == [50_000] && h.any(&[Which, Fastest, Slowest, Most]);
        let alone = !ranks
            && self.percentiles.len() == 1
            && self.percentiles[..] != [100_000]
            && [&self.times, &self.rates, &self.per_second].iter().all(|n| n.is_empty())
            && self.counts.is_empty()
            && self.multiples.is_empty()
            && self.longer.is_none()
            && self.sizes.len() < 2;
        // "how much time would I save with unix instead of tcp for 1000 messages of 4 KiB"
        let numbers = [&self.times, &self.rates, &self.per_second, &self.periods].iter().all(|n| n.is_empty());
        let several = self.counts.len() == 1 && self.sizes.len() == 1 && self.percentiles.is_empty() && numbers;
        let held = h.any(&[Versus, Cost, Instead]) && !h.any(&[Throughput, PerSecond, Requests]);
        if several && held && h.paths().len() == 2 && self.multiples.is_empty() && self.longer.is_none() {
            return Some(SAVED);
        }
        let compared =
            h.any(&[Versus, Cost, Instead, Fastest, Slowest, Which, Above, Below, Quicker, Slower, Or, Most]);
        (alone && compared && h.paths().len() != 1 && !h.any(&[Throughput, UnderLoad, WhichSize])).then_some(APART)
    }

    /// "which sizes arrive between 15 us and 25 us", "is the latency between 15 us and 25 us at 64 B": both ends, each a question of its own.
    pub fn between_times(&self) -> Option<[Question; 2]> {
        let h = &self.sentence;
        let [one, other] = self.times[..] else { return None };
        let has = |i: &Item, of: &[Topic]| matches!(i, Item::Topics(t) if t.iter().any(|t| of.contains(t)));
        let timed = |i: &Item| matches!(i, Item::Amount(Amount::Time(_)));
        let range = |four: &[Item]| {
            has(&four[0], &[Between, From]) && timed(&four[1]) && has(&four[2], &[And, Filler]) && timed(&four[3])
        };
        let others = [&self.rates, &self.per_second, &self.periods, &self.shares].iter().any(|n| !n.is_empty());
        let counted = !(self.counts.is_empty() && self.percentiles.is_empty() && self.multiples.is_empty());
        let other_topics = h.any(&[Throughput, HowMany, HowMuch, PartOf, UnderLoad, Cpu, Average, Minimum, Not]);
        if one == other || !h.items.windows(4).any(range) || others || counted || other_topics || self.sizes.len() > 1 {
            return None;
        }
        let (least, most, round_trip, size) = (one.min(other), one.max(other), h.has(RoundTrip), self.size());
        let sizes = h.any(&[WhichSize, HowBig, SmallestSize]) || (h.has(Which) && h.has(Messages));
        Some(match size.is_none() && sizes {
            true => [Question::Longer { seconds: least, round_trip }, Question::Largest { seconds: most, round_trip }],
            false => [(least, true), (most, false)].map(|(seconds, longer)| Question::Deadline {
                size,
                seconds,
                round_trip,
                longer,
            }),
        })
    }

    /// Whether a share of the most itself is asked for, and not the size that reaches it: "what is 30% of tcp's bandwidth".
    pub fn of_the_most_itself(&self) -> bool {
        let h = &self.sentence;
        let first = h.items.iter().find(|i| !matches!(i, Item::Topics(t) if t.contains(&Filler)));
        matches!(first, Some(Item::Amount(Amount::Share(_))))
            && self.text.trim_start().get(..4).is_some_and(|word| word.eq_ignore_ascii_case("what"))
            && !h.any(&[WhichSize, SmallestSize, HowBig, When, Can, Saturation, Messages, Data])
    }

    /// Fails where what is asked no answer holds: a guaranteed throughput, the latency of a network, how many packets make up so much.
    pub fn answerable(&self) -> Result<()> {
        let h = &self.sentence;
        if every::guaranteed(self.text) && (h.has(Throughput) || !self.rates.is_empty()) {
            bail!(
                "'{}': a throughput is of median times, and none is guaranteed; ask what is kept up ('can tcp do 1 Gbit/s sustained?'), or for the longest \
                 time ('longest time of 64 bytes')",
                shown(self.text)
            );
        }
        let timed = |two: &[Item]| {
            matches!(&two[0], Item::Amount(Amount::Time(_))) && matches!(&two[1], Item::Topics(t) if t.contains(&Link))
        };
        if h.items.windows(2).any(timed) {
            bail!(
                "'{}': what a network of another latency would make of it was not measured; ask about another rate ('what would a link of 10 \
                 Gbit/s bring for 64KiB?'), and pipegauge scale RUN tells what another wire would make of it",
                shown(self.text)
            );
        }
        let of = |i: &Item, topic: Topic| matches!(i, Item::Topics(t) if t.contains(&topic));
        let whole: Vec<&Item> = h.items.iter().filter(|i| !of(i, Filler) || of(i, HowLong) || of(i, HowMany)).collect();
        let made_up = |four: &[&Item]| {
            of(four[0], HowMany)
                && of(four[1], Messages)
                && of(four[2], Can)
                && matches!(four[3], Item::Amount(Amount::Size(_)))
        };
        if whole.windows(4).any(made_up) && h.has(HowLong) && self.times.is_empty() && !h.has(PerSecond) {
            bail!(
                "'{}': how many make up that much follows from their size, whatever the path; ask what they take: 'how long for 1 MB in messages \
                 of 64KiB?'",
                shown(self.text)
            );
        }
        Ok(())
    }

    /// "what share of a 60 fps frame does 1 MB take", "what part of 100 us goes to 4 KiB": whether it fits, which tells what it takes of that.
    pub fn part_of_a_time(&self, size: Option<u64>, time: Option<f64>, round_trip: bool) -> Result<Option<Question>> {
        let h = &self.sentence;
        let at = |of: &dyn Fn(&Item) -> bool| h.items.iter().position(of);
        let part = at(&|i| matches!(i, Item::Topics(t) if t.contains(&PartOf)));
        let timed = at(&|i| matches!(i, Item::Amount(Amount::Time(_))));
        let (Some(size), Some(seconds), Some(part), Some(timed)) = (size, time, part, timed) else { return Ok(None) };
        let filler = |i: &Item| matches!(i, Item::Topics(t) if t.contains(&Filler));
        let joint = part < timed && timed > part + 1 && h.items[part + 1..timed].iter().all(filler);
        let other = h.any(&[Messages, Within, Above, Below, Quicker, Slower]) || self.times.len() > 1;
        Ok((joint && !other && self.counts.is_empty() && self.percentiles.is_empty()).then_some(Question::Deadline {
            size: Some(size),
            seconds,
            round_trip,
            longer: false,
        }))
    }
}
