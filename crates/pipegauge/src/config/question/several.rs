//! What is asked of several at once and answered one by one: "p50, p90 and p99", "between 1 KiB and 4 KiB".

use anyhow::Result;

use super::Reading;
use super::amounts::Amount;
use super::lexicon::Topic::*;
use super::sentence::{Item, Sentence};

/// That between the ends of a range more was measured.
const ENDS: &str = "told of both ends; pipegauge show RUN --points has the sizes between them";

/// The same sentence of each of several percentiles, or of both ends of a range of sizes; none where it is of one.
pub fn each(sentence: &Sentence) -> Option<Vec<Sentence>> {
    range(sentence).or_else(|| sizes(sentence)).or_else(|| percentiles(sentence))
}

/// What holds things against each other, or needs several sizes for one answer.
const HELD: [super::lexicon::Topic; 15] = [
    Versus, Instead, Quicker, Slower, Beats, Times, Percent, Overtake, PerByte, Further, Cost, Or, RoundTrip, Requests,
    Within,
];

/// Each of "1 KiB, 4 KiB and 16 KiB", "at 64 B and at 64 KiB".
fn sizes(sentence: &Sentence) -> Option<Vec<Sentence>> {
    let size = |at: &usize| matches!(sentence.items[*at], Item::Amount(Amount::Size(_)));
    let at: Vec<usize> = (0..sentence.items.len()).filter(size).collect();
    let others = sentence.items.iter().any(|i| matches!(i, Item::Amount(a) if !matches!(a, Amount::Size(_))));
    let (last, before) = (at.last()?, at.len().checked_sub(2).map(|i| at[i])?);
    let joined = sentence.items[before..*last].iter().any(|i| is(Some(i), And));
    let between = |i: &Item| is(Some(i), And) || is(Some(i), Filler) || matches!(i, Item::Amount(_));
    let listed = sentence.items[at[0]..=*last].iter().all(between);
    let asked = [Latency, HowLong, HowFast, Throughput, Which, Fastest, Cpu];
    let distinct = sentence.items[*last] != sentence.items[before];
    // "1KB,4KB over tcp": nothing else is said.
    let bare = |i: &Item| between(i) || is(Some(i), Over) || matches!(i, Item::Path(_));
    let bare = sentence.items.iter().all(bare) && sentence.paths().len() < 2;
    if others || !joined || !listed || !distinct || sentence.any(&HELD) || !(bare || sentence.any(&asked)) {
        return None;
    }
    let one = |keep: &usize| {
        let mut one = sentence.clone();
        one.items.splice(at[0]..=*last, [sentence.items[*keep].clone()]);
        one
    };
    Some(at.iter().map(one).collect())
}

/// The readings as one, which asks one question after another.
pub fn together(readings: impl Iterator<Item = Result<Reading>>) -> Result<Reading> {
    let mut all: Option<Reading> = None;
    for reading in readings {
        let reading = reading?;
        match &mut all {
            None => all = Some(reading),
            Some(all) => {
                all.questions.extend(reading.questions);
                all.notes.extend(reading.notes.into_iter().filter(|n| !all.notes.contains(n)).collect::<Vec<_>>());
            }
        }
    }
    all.ok_or_else(|| anyhow::anyhow!("nothing is asked"))
}

fn is(item: Option<&Item>, topic: super::lexicon::Topic) -> bool {
    matches!(item, Some(Item::Topics(t)) if t.contains(&topic))
}

/// Both ends of "between 1 KiB and 4 KiB", "from 1 to 64 KiB": not where one is held against the other.
fn range(sentence: &Sentence) -> Option<Vec<Sentence>> {
    let items = &sentence.items;
    let size = |at: usize| match items.get(at) {
        Some(Item::Amount(Amount::Size(size))) => Some(*size),
        _ => None,
    };
    let begin = (0..items.len()).find(|at| {
        let item = items.get(*at);
        size(at + 1).is_some()
            && size(at + 3).is_some()
            && ((is(item, Between) && is(items.get(at + 2), And)) || (is(item, From) && is(items.get(at + 2), Filler)))
    })?;
    let held = |(at, item): (usize, &Item)| {
        at != begin
            && [Versus, Instead, Quicker, Slower, Beats, Times, Percent, Overtake, PerByte, Further, Cost]
                .iter()
                .any(|topic| is(Some(item), *topic))
    };
    let several = items.iter().filter(|i| matches!(i, Item::Amount(Amount::Size(_)))).count() != 2;
    let numbers = items.iter().any(|i| matches!(i, Item::Amount(Amount::Count(_) | Amount::Share(_))));
    if several || numbers || items.iter().enumerate().any(held) {
        return None;
    }
    let other = [Latency, RoundTrip, HowLong, HowFast, Throughput, Which, Fastest, Slowest, HowMany, Cpu, Loss];
    if !sentence.any(&other) && sentence.percentiles().is_empty() {
        return None;
    }
    let one = |keep: usize| {
        let mut one = sentence.clone();
        one.items.splice(begin..begin + 4, [items[keep].clone()]);
        one.notes.push(ENDS.to_owned());
        one
    };
    Some(vec![one(begin + 1), one(begin + 3)])
}

/// "p50, p90 and p99", "median and p99 of 1 KiB".
fn percentiles(sentence: &Sentence) -> Option<Vec<Sentence>> {
    let of = |item: &Item| match item {
        Item::Amount(Amount::Percentile(_)) => true,
        Item::Topics(t) => t.iter().any(|t| matches!(t, Percentile(_))),
        _ => false,
    };
    let at: Vec<usize> = (0..sentence.items.len()).filter(|at| of(&sentence.items[*at])).collect();
    let numbers = at.iter().filter(|at| matches!(sentence.items[**at], Item::Amount(_))).count();
    let joined = numbers == at.len() || sentence.has(And);
    // "p99 to p50 ratio" is of both of them.
    let other = sentence.any(&[UnderLoad, Throughput, Or]) || (sentence.has(Versus) && sentence.paths().len() > 1);
    let times = sentence.items.iter().any(|i| matches!(i, Item::Amount(Amount::Time(_))));
    if at.len() < 2 || !joined || other || times {
        return None;
    }
    let one = |keep: &usize| {
        let mut one = sentence.clone();
        let mut place = 0;
        one.items.retain(|_| {
            place += 1;
            place - 1 == *keep || !at.contains(&(place - 1))
        });
        one
    };
    Some(at.iter().map(one).collect())
}
