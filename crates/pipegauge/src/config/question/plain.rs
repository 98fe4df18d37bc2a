//! Questions without a rate, a time or a count.

use anyhow::{Result, bail};

use super::Question;
use super::asked::Asked;
use super::lexicon::Topic::*;
use super::said::size as size_words;
use super::sentence::Item;
use super::suggest::shown;
use super::verdicts::yes_or_no;

impl Asked<'_> {
    /// The longest time that was seen, or the mean, where the words ask for one: "maximum time of 64 bytes", "longest of 71 B", "how long
    /// does 1 MB take on average".
    pub fn longest_or_mean(&self, size: Option<u64>, time: Option<f64>, round_trip: bool) -> Option<Question> {
        let h = &self.sentence;
        let timed = h.any(&[Latency, RoundTrip, HowLong]);
        let other = h
            .any(&[Throughput, Which, PerSecond, HowMuch, HowBig, WhichSize, Versus, Streams, Data, Control, StartUp])
            || time.is_some()
            || !(self.rates.is_empty()
                && self.counts.is_empty()
                && self.per_second.is_empty()
                && self.percentiles.is_empty());
        if other || (h.has(HowMany) && !h.has(HowLong)) || (h.paths().len() > 1 && h.has(Or)) {
            return None;
        }
        match () {
            () if super::every::guaranteed(self.text) && timed => {
                Some(Question::Percentile { thousandths: 100_000, size, round_trip })
            }
            // "how long can a 1 KB message take"
            () if at_its_longest(self.text) && timed => {
                Some(Question::Percentile { thousandths: 100_000, size, round_trip })
            }
            () if h.has(Average) && (timed || size.is_some()) => Some(Question::Mean { size, round_trip }),
            () if (h.has(Slowest) && (timed || (size.is_some() && h.paths().len() < 2)))
                || (h.has(Most) && timed && !h.has(Sustained)) =>
            {
                Some(Question::Percentile { thousandths: 100_000, size, round_trip })
            }
            () => None,
        }
    }

    /// Questions without a rate, a time or a count.
    pub fn without_numbers(&self, size: Option<u64>, round_trip: bool) -> Result<Vec<Question>> {
        let h = &self.sentence;
        if h.has(Batch) {
            bail!(
                "'{}': how many messages, and of which size? The time of many tells what one of as many bytes takes, too: 'how long for 64 \
                 messages of 1 KiB?'",
                shown(self.text)
            );
        }
        let flow = h.has(Throughput);
        let time = h.any(&[Latency, RoundTrip]);
        // "is 64KB a good message size", "should I use 4 KB messages"
        let enough = ["large enough", "big enough", "small enough", "too large", "too big", "too small"];
        let enough = enough.iter().any(|words| self.text.to_lowercase().contains(words));
        let judged =
            h.has(WhichSize) || enough || (h.has(Which) && h.paths().is_empty() && begins_with_should(self.text));
        if let Some(size) = size.filter(|_| judged && yes_or_no(self.text) && !(flow || time || h.has(HowLong))) {
            let size = size_words(size);
            bail!(
                "'{}': whether a size is a good one depends on what for. Ask 'which size should I use?', or of this one 'what percentage of \
                 the bandwidth does {} get?'",
                shown(self.text),
                size.split(" (").next().unwrap_or("")
            );
        }
        // "is 64 KiB enough to saturate tcp"
        if let Some(size) = size.filter(|_| h.has(Saturation) && yes_or_no(self.text) && h.paths().len() < 2) {
            return Ok(vec![Question::PartOf(size)]);
        }
        if h.any(&[Cost]) && h.has(Large) && h.has(Messages) && size.is_none() && h.paths().len() < 2 {
            bail!(
                "'{}': larger than which? Hold two sizes against each other: 'how much slower is 64 KiB than 1 KiB?', or ask 'which size \
                 should I use?'",
                shown(self.text)
            );
        }
        if h.has(Versus) && flow && time && h.paths().len() < 2 {
            bail!("'{}': a time against a throughput? Ask for both: 'latency and bandwidth'", shown(self.text));
        }
        if h.has(WhichSize) && h.any(&[Latency, RoundTrip]) && h.any(&[Fastest, Slowest]) && !flow && size.is_none() {
            bail!(
                "'{}': the smallest messages take least; ask 'how fast are control messages?', or 'which size should I use?'",
                shown(self.text)
            );
        }
        let several =
            h.has(Versus) && (h.paths().is_empty() || h.paths().len() > 2) || h.paths().len() > 1 && h.has(Or) || {
                // "tcp/udp/unix"
                let bare = |i: &Item| {
                    matches!(i, Item::Path(_))
                        || matches!(i, Item::Topics(t) if t.contains(&Filler) || t.contains(&And))
                };
                h.paths().len() > 2 && h.items.iter().all(bare)
            };
        // "the fastest way", "which path", but not "the fastest that tcp can".
        let which = h.any(&[Which]) && !h.any(&[WhichSize]) || several;
        if h.has(Frames) && size.is_none() && !h.has(WhichSize) {
            bail!(
                "'{}': frames of which size, and how many a second? Write for example: 60/s frames of 2MB",
                shown(self.text)
            );
        }
        let full = h.has(HowBig) && h.any(&[Throughput, Most, Link, Saturation]) && !h.any(&[HowLong, Within]);
        if (h.has(Saturation) || full) && size.is_none() {
            return Ok(vec![Question::Saturation]);
        }
        if h.has(WhichSize) && h.any(&[Slowest]) {
            bail!(
                "'{}': ask tells the size to use; the time and throughput of each size tells pipegauge show RUN --points",
                shown(self.text)
            );
        }
        if h.has(WhichSize) && size.is_none() && (!h.has(Latency) || h.has(Fastest)) {
            return Ok(vec![Question::Size]);
        }
        if (h.any(&[Fastest, Slowest]) && h.paths().len() != 1 && !(h.has(Data) && h.has(PerSecond))) || which {
            let quality = h.any(&[Fastest, Slowest, HowFast, Most]) || which;
            if quality {
                return Ok(match size {
                    // "the best throughput for 64 B"
                    Some(size) if flow && !time && !which => vec![Question::Throughput(size)],
                    Some(size) if flow && !time => vec![Question::StrongestAt(size)],
                    Some(size) => vec![Question::Fastest(size)],
                    None if (flow || (h.has(Large) && !h.has(Control))) && !time => vec![Question::Strongest],
                    None if time && !flow => vec![Question::Control],
                    None if h.any(&[Control, HowLong]) && !flow => vec![Question::Control],
                    None if h.has(Most) && !time => vec![Question::Strongest],
                    None if h.has(Saturation) => vec![Question::Saturation],
                    None => vec![Question::Control, Question::Strongest],
                });
            }
        }
        if h.has(StartUp) {
            return Ok(vec![Question::StartUp]);
        }
        // The smallest message's latency is none of large ones.
        if h.has(Large) && size.is_none() && h.any(&[Messages, Data]) && !h.has(Control) {
            match () {
                () if flow && !time => return Ok(vec![Question::Most]),
                () if time || h.any(&[HowLong, HowFast]) => return Err(self.needs("the time of large messages")),
                () => {}
            }
        }
        if let Some(size) = size {
            return match () {
                () if flow && time => Ok(vec![Question::Arrival { size, round_trip }, Question::Throughput(size)]),
                () if flow => Ok(vec![Question::Throughput(size)]),
                // "top speed with 1 MB messages", and "what speed do I get with 1 MB messages", which may be either.
                () if h.has(Speed) && h.has(Most) && !time => Ok(vec![Question::Throughput(size)]),
                () if h.has(Speed) && !(time || h.has(HowLong)) => {
                    Ok(vec![Question::Arrival { size, round_trip }, Question::Throughput(size)])
                }
                () if time || h.any(&[HowLong, HowFast, Fastest, Slowest]) => {
                    Ok(vec![Question::Arrival { size, round_trip }])
                }
                // "how much do 2 connections carry at 128 KiB"
                () if h.has(HowMuch) && carries(self.text) => Ok(vec![Question::Throughput(size)]),
                () if h.any(&[Cost, HowMuch]) => Ok(vec![Question::Arrival { size, round_trip }]),
                // "1 MB over tcp", "send 1 MB": its arrival is what a size is asked about.
                () if h.unread().is_empty() && h.items.len() > 1 => Ok(vec![Question::Arrival { size, round_trip }]),
                () => Err(self.unknown()),
            };
        }
        match () {
            () if h.has(Control) && flow && !time => Err(self.needs("the throughput of small messages")),
            () if h.has(Control) => Ok(vec![Question::Control]),
            () if flow && time => Ok(vec![Question::Latency { round_trip }, Question::Most]),
            () if flow => Ok(vec![Question::Most]),
            () if time => Ok(vec![Question::Latency { round_trip }]),
            () if h.has(HowBig) => {
                bail!("'{}': the largest in which time? Write for example: how much data in 1 ms?", shown(self.text))
            }
            () if h.has(HowFast) => Ok(vec![Question::Latency { round_trip }, Question::Most]),
            () if h.has(HowMuch) && carries(self.text) => Ok(vec![Question::Most]),
            () if h.has(Most) => Ok(vec![Question::Most]),
            () if h.any(&[Cost]) && h.any(&[Messages]) => Ok(vec![Question::StartUp]),
            () if h.any(&[Cost]) => {
                bail!("'{}': which path over which? Write: what does tcp cost over unix?", shown(self.text))
            }
            () if h.any(&[HowLong]) => Err(self.needs("the arrival of a message")),
            () if h.any(&[Fastest]) && !h.paths().is_empty() => {
                Ok(vec![Question::Latency { round_trip }, Question::Most])
            }
            () => Err(self.unknown()),
        }
    }
}

/// Whether it is asked how long something can take, and not how long it takes.
fn at_its_longest(text: &str) -> bool {
    let text = text.to_lowercase();
    let can =
        ["how long can ", "how long could ", "how long might ", "how long may "].iter().any(|how| text.contains(how));
    can && text.split(|c: char| !c.is_alphanumeric()).any(|word| word == "take")
}

/// Whether it is asked how much is carried.
fn carries(text: &str) -> bool {
    let text = text.to_lowercase();
    let words = || text.split(|c: char| !c.is_alphanumeric());
    words().any(|word| ["carry", "carries", "carried"].contains(&word)) && !words().any(|word| word == "cost")
}

/// Whether it is asked whether something should be done.
fn begins_with_should(text: &str) -> bool {
    text.trim_start().get(..6).is_some_and(|word| word.eq_ignore_ascii_case("should"))
}
