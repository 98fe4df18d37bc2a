//! What a question must not leave open: which side of a limit is asked for, and that every number has a place.

use anyhow::{Error, Result, anyhow, bail};

use super::asked::Asked;
use super::lexicon::Topic::*;
use super::sentence::Item;
use super::suggest::shown;
use super::{ASecond, KNOWN, Measured, Question};

impl Asked<'_> {
    /// Whether a yes to what the words ask is that of a slow path: longer than a time, or less than a rate.
    pub fn turned(&self, time: bool) -> Result<bool> {
        let h = &self.sentence;
        let near = if time { "does 64KiB arrive within 20 us?" } else { "can tcp do 1 Gbit/s?" };
        let unclear = |what: &str| anyhow!("'{}': {what}; ask for one thing: '{near}'", shown(self.text));
        let more = h.direction(time).map_err(unclear)?;
        if h.or_else() {
            return Err(unclear("one thing or its contrary is asked for"));
        }
        if more.is_none() && h.has(Versus) && !h.has(Fails) {
            return Err(anyhow!(
                "'{}': whether more or less is asked for is not clear; ask for one: '{near}'",
                shown(self.text)
            ));
        }
        // A time is to be kept within, and a rate to be reached, where nothing else is said.
        let slow = more.is_some_and(|more| more == time);
        let fails = h.items.iter().filter(|i| matches!(i, Item::Topics(t) if t.contains(&Fails))).count();
        // "fails to stay below" is of the slow side, and so is "fails within".
        Ok(slow != (fails % 2 == 1))
    }

    /// Fails where the words ask for the slow side of what only has a fast one.
    pub fn straight(&self, time: bool) -> Result<()> {
        if self.turned(time)? {
            let sized = time && self.sentence.any(&[WhichSize, HowBig, HowMuch]);
            let near = if sized { "how much data in 1 ms?" } else { "can it sustain 60/s frames of 2MB?" };
            bail!(
                "'{}': this can't tell what is too slow or too much; ask for what can be: '{near}'",
                shown(self.text)
            );
        }
        Ok(())
    }

    /// The error for what makes no question, with the known form that has most words in common with it.
    pub fn unknown(&self) -> Error {
        let words =
            |t: &str| t.to_lowercase().split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect::<Vec<_>>();
        let mine = words(self.text);
        let mut forms: Vec<&str> =
            KNOWN.lines().flat_map(|l| l.split("  ")).map(str::trim).filter(|f| f.ends_with('?')).collect();
        forms.reverse();
        // Words that many questions have, whatever they are about.
        const JOINTS: [&str; 5] = ["over", "does", "the", "for", "than"];
        let tells = |w: &&String| w.len() > 2 && !JOINTS.contains(&w.as_str()) && mine.contains(w);
        let common = |form: &&str| words(form).iter().filter(tells).count();
        // Of a size alone its arrival is the nearest; of forms with as many words in common the first.
        let alone = self.sentence.items.len() == 1 && self.sizes.len() == 1;
        let near = match (forms.into_iter().max_by_key(common), &self.sentence.paths()[..]) {
            (_, [x, y]) => format!("what does {x} cost over {y}?"),
            (_, [x]) if self.sizes.is_empty() => format!("how fast is {x}?"),
            (_, [_]) => "when does 64KiB arrive?".to_owned(),
            (Some(near), _) if !alone => near.to_owned(),
            _ => "when does 64KiB arrive?".to_owned(),
        };
        anyhow!(
            "'{}' is no question that this knows, and no run file. The nearest that it knows: '{near}'. It knows these, in words \
             or as flags:\n{KNOWN}",
            shown(self.text)
        )
    }

    /// Fails where a number has no place in the question that was read.
    pub fn all_used(&self, questions: &[Question], measured: &Measured) -> Result<()> {
        let first = &questions[0];
        let more = |have: usize, used: usize| have > used;
        let one = |have: usize, used: bool| more(have, usize::from(used));
        let sized = matches!(
            first,
            Question::Arrival { .. }
                | Question::Series { .. }
                | Question::Fastest(_)
                | Question::Throughput(_)
                | Question::PartOf(_)
                | Question::PartOfRate { .. }
                | Question::Cpu(Some(_))
                | Question::UnderLoad(Some(_))
                | Question::Frames { .. }
                | Question::Percentile { .. }
                | Question::PercentileWithin { .. }
                | Question::MeanWithin { .. }
                | Question::StrongestAt(_)
                | Question::StartPart(_)
                | Question::Deadline { .. }
                | Question::PartWithin { .. }
                | Question::Carries { .. }
                | Question::PerSecond { .. }
                | Question::Cost { .. }
                | Question::Link { .. }
                | Question::Streams { .. }
                | Question::Minimum { .. }
                | Question::Mean { .. }
                | Question::PercentileHeld { .. }
                | Question::OfFlows { .. }
                | Question::Cheapest(_)
                | Question::RunToRun(_)
                | Question::Lost { .. }
                | Question::Lossless(_)
                | Question::Safest(_)
                | Question::CpuASecond { .. }
        );
        let cpu = matches!(first, Question::CpuASecond { rate: ASecond::Of(..), .. }) && self.per_second.is_empty();
        let sized = sized || (self.sentence.has(Further) && matches!(first, Question::PerByte(_)));
        let several = if matches!(first, Question::Sizes { .. }) { 2 } else { usize::from(sized) };
        let timed = matches!(
            first,
            Question::Deadline { .. }
                | Question::PartWithin { .. }
                | Question::PercentileWithin { .. }
                | Question::MeanWithin { .. }
                | Question::Largest { .. }
                | Question::Longer { .. }
                | Question::PerSecond { .. }
                | Question::UnderLoad(_)
        );
        // A period that stands with its number is that number's: "60 frames per minute".
        let periods = if self.per_second.is_empty() { self.periods.iter().filter(|p| **p != 1.0).count() } else { 0 };
        let times = self.times.len() + periods;
        // Frames come so many a second, or so many in a time, or one each time: what else is named would be lost.
        let sources = self.sentence.has(Sources);
        let frames = match first {
            Question::Frames { .. } => self.per_second.is_empty() || sources || self.at_a_time(),
            Question::Streams { .. } => sources,
            _ => false,
        };
        let of_two = matches!(
            first,
            Question::Cost { multiple: Some(_), .. }
                | Question::Sizes { multiple: Some(_), .. }
                | Question::Nearly { .. }
        );
        let calls = self.text.to_lowercase().contains("calls");
        let streams = matches!(first, Question::Carries { .. }) && (calls || self.sentence.any(&[Streams, Sources]));
        let (timed, counted) =
            (timed || frames || cpu, frames || streams || cpu || matches!(first, Question::Series { .. }));
        let left = match () {
            () if more(self.sizes.len(), several) => "a size",
            () if one(
                self.rates.len(),
                matches!(
                    first,
                    Question::Link { .. }
                        | Question::Reaches(_)
                        | Question::Carries { .. }
                        | Question::PartOfRate { .. }
                        | Question::Streams { .. }
                        | Question::Lost { .. }
                        | Question::CpuASecond { .. }
                ),
            ) =>
            {
                "a rate"
            }
            () if more(times, usize::from(timed) + usize::from(self.between_times().is_some())) => "a time",
            () if one(
                self.per_second.len(),
                matches!(
                    first,
                    Question::Frames { .. }
                        | Question::Largest { .. }
                        | Question::LargestAt { .. }
                        | Question::Streams { .. }
                        | Question::Lost { .. }
                        | Question::CpuASecond { .. }
                ),
            ) =>
            {
                "a number a second"
            }
            () if one(self.counts.len(), counted) || one(self.multiples.len(), of_two) => "a number",
            () if one(
                self.percentiles.len(),
                matches!(
                    first,
                    Question::Percentile { .. }
                        | Question::PercentileWithin { .. }
                        | Question::PercentileHeld { .. }
                        | Question::Most
                        | Question::Throughput(_)
                        | Question::UnderLoad(_)
                ),
            ) =>
            {
                "a percentile"
            }
            () if one(
                self.shares.len(),
                matches!(first, Question::Share(_) | Question::HalfPower | Question::PartOf(_)),
            ) =>
            {
                "a share"
            }
            () => return Ok(()),
        };
        let replies = self.sentence.any(&[RoundTrip, Requests]) && !self.sentence.any(&[Or, Versus]);
        if let ([request, reply], true) = (&self.sizes[..], replies) {
            let path = self.sentence.paths().into_iter().find_map(|named| named.transport);
            bail!(
                "'{}': a request and its answer are of two sizes, which a run of their own tells: pipegauge run {} --pattern request --sizes \
                 {request} --response {reply}, and ask its run file for the round trip of {request} B",
                shown(self.text),
                path.map_or("tcp".to_owned(), |path| measured.run_as(&path))
            );
        }
        let instead = match left {
            "a number" if !self.multiples.is_empty() && self.sentence.has(Below) => {
                "; so many times are asked for as such: 'is tcp twice as slow as unix?'"
            }
            "a percentile" if self.percentiles.len() > 1 && self.sentence.has(Versus) => {
                "; how far two lie apart both of them tell: 'p50 and p99 of 64 bytes'"
            }
            "a percentile" => "; percentiles are told path by path: 'p99 over all paths'",
            _ => "",
        };
        bail!(
            "'{}' is read as {first}, and {left} in it has no place there; ask about one thing at a time, as in '{first}'{instead}",
            shown(self.text)
        )
    }
}
