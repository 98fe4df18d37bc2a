//! The pieces of a question, sorted by what they are.

use anyhow::{Error, Result, anyhow, bail};

use super::Multiple;
use super::amounts::Amount;
use super::lexicon::Topic::*;
use super::longer::{self, Longer};
use super::measures::EIGHTS;
use super::sentence::{Item, Sentence};
use super::suggest::shown;

/// The pieces of a question, sorted.
pub struct Asked<'a> {
    pub text: &'a str,
    pub sentence: Sentence,
    pub sizes: Vec<u64>,
    pub rates: Vec<f64>,
    pub times: Vec<f64>,
    pub per_second: Vec<f64>,
    pub periods: Vec<f64>,
    pub counts: Vec<u64>,
    pub multiples: Vec<Multiple>,
    pub percentiles: Vec<u32>,
    pub shares: Vec<f64>,
    /// Times as long as the other that one of two paths takes: "10% slower".
    pub longer: Option<Longer>,
    /// The smallest size that all paths have, bytes: for what can be told of it where no size is named.
    pub smallest: Option<u64>,
}

/// Whether it is asked if start-up is more or less than a share of the time: "is the overhead of tcp at 1 KB bigger than 50%".
fn start_up(text: &str, sentence: &Sentence, percents: &[String]) -> bool {
    let sizes = sentence.amounts(|a| matches!(a, Amount::Size(_)).then_some(())).len();
    percents.len() == 1
        && sizes == 1
        && sentence.paths().len() < 2
        && sentence.any(&[StartUp, Cost])
        && super::verdicts::yes_or_no(text)
}

impl<'a> Asked<'a> {
    /// Sorts them; what is left over of numbers is an error.
    pub fn of(text: &'a str, sentence: &mut Sentence) -> Result<Self> {
        let mut sizes = sentence.amounts(|a| if let Amount::Size(s) = a { Some(*s) } else { None });
        // "tcp 1MB vs unix 1MB"
        sizes.dedup();
        if let Some((size, words)) = sentence.frame.size() {
            sentence.notes.push(words);
            sizes.push(size);
        } else if sentence.frame.pixels.is_some() {
            bail!("'{}': a frame of so many pixels has no size that can be counted", shown(text));
        }
        let mut rates = sentence.amounts(|a| if let Amount::Rate(r) = a { Some(*r) } else { None });
        // What is lost "at 1 gigabit" is lost at a rate.
        if let (true, [bytes], []) = (sentence.any(&[Loss, Lossless]), &sizes[..], &rates[..])
            && let Some(note) = sentence.notes.iter_mut().find(|note| note.as_str() == EIGHTS)
        {
            *note = "bits without a time are taken as so many a second".to_owned();
            rates.push(*bytes as f64 * 8.0);
            sizes.clear();
        }
        let mut percentiles = sentence.amounts(|a| if let Amount::Percentile(p) = a { Some(*p) } else { None });
        for item in &sentence.items {
            if let Item::Topics(t) = item {
                percentiles.extend(t.iter().filter_map(|t| if let Percentile(p) = t { Some(*p) } else { None }));
            }
        }
        percentiles.dedup();
        // "how bad is the tail" asks for no maximum, nor does "the worst 1%".
        let lower = text.to_lowercase();
        let some = lower.split("worst ").nth(1).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        if percentiles.len() > 1 && (lower.contains("how bad") || some) {
            percentiles.retain(|p| *p != 100_000);
        }
        let percents =
            sentence.amounts(|a| if let Amount::Bare(d) = a { d.strip_suffix('%').map(str::to_owned) } else { None });
        let longer = longer::longer(text, sentence, &percents);
        if longer.is_some() {
            sentence.items.retain(|i| !matches!(i, Item::Amount(Amount::Bare(d)) if d.ends_with('%')));
        } else if start_up(text, sentence, &percents) {
            sentence.items.retain(|i| !matches!(i, Item::Amount(Amount::Bare(d)) if d.ends_with('%')));
            sentence.items.push(Item::Topics(vec![PartOf]));
            sentence
                .notes
                .push(format!("told as the share that it is, from which {}% or not is read off", percents[0]));
        } else if let Some(share) = percents.first() {
            let form = match () {
                () if sentence.any(&[Loss, Lossless]) => {
                    "ask 'what is the highest rate without loss?', or 'how many messages are lost at 1 Gbit/s?'"
                }
                () if sentence.paths().len() == 2 => {
                    "of two paths ask 'is tcp 20% slower than unix at 1 MiB?', or 'at which size is tcp within 20% of unix?'"
                }
                () => "ask for the figure, or for a percentile: p99",
            };
            bail!("'{}': {share}% has no place in a question; {form}", shown(text));
        }
        let bare = sentence.amounts(|a| if let Amount::Bare(d) = a { Some(d.clone()) } else { None });
        if let Some(digits) = bare.first() {
            let digits = shown(digits);
            bail!(
                "'{}': {digits} of what? Write a unit: {digits} B, {digits} ms, {digits} fps, {digits} messages",
                shown(text)
            );
        }
        Ok(Self {
            text,
            sizes,
            rates,
            times: sentence.amounts(|a| if let Amount::Time(t) = a { Some(*t) } else { None }),
            per_second: sentence.amounts(|a| if let Amount::PerSecond(n) = a { Some(*n) } else { None }),
            periods: sentence.amounts(|a| if let Amount::Period(s) = a { Some(*s) } else { None }),
            counts: sentence.amounts(|a| if let Amount::Count(n) = a { Some(*n) } else { None }),
            multiples: sentence.amounts(|a| if let Amount::Times(m) = a { Some(*m) } else { None }),
            percentiles,
            shares: sentence.amounts(|a| if let Amount::Share(s) = a { Some(*s) } else { None }),
            longer,
            smallest: None,
            sentence: sentence.clone(),
        })
    }

    /// The size that was named, if one was.
    pub fn size(&self) -> Option<u64> {
        self.sizes.first().copied()
    }

    /// The time that was named, or that something is counted over; seconds.
    pub fn time(&self) -> Option<f64> {
        self.times.first().or(self.periods.first().filter(|_| self.per_second.is_empty())).copied()
    }

    /// The error for a question that lacks a size.
    pub fn needs(&self, what: &str) -> Error {
        anyhow!("'{}': {what} of which size? Write it with a unit: 64KiB", shown(self.text))
    }
}
