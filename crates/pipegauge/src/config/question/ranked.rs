//! The first or the last of all paths, where one of them is named and it is asked whether it is the one: "is tcp the fastest path for 1 KB". Of the
//! named one alone any path would win.

use super::Ranked;
use super::lexicon::CHOICE;
use super::lexicon::Topic::*;
use super::sentence::{Item, Sentence};
use super::verdicts::yes_or_no;

/// Words that rank.
#[rustfmt::skip]
const FIRST: [&str; 13] = [
    "fastest", "quickest", "best", "lowest", "highest", "shortest", "longest", "slowest", "worst", "most", "least", "smallest", "cheapest",
];

/// Words that rank the slowest first.
const LAST: [&str; 2] = ["slowest", "worst"];

/// Reads such a question as one of all paths, with a note that says where the named one is found; and "slowest at 64 KB" as one of paths.
pub fn of(text: &str, sentence: &mut Sentence) {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    let timed = [Latency, RoundTrip, HowLong, Throughput, Messages, Requests, Loss, Cpu, WhichSize, UnderLoad];
    // "slowest at 64 KB", "worst for 1 MB", as "best for 1 MB" is.
    let last = words.windows(2).any(|two| LAST.contains(&two[0]) && ["at", "for", "with"].contains(&two[1]));
    let paths = sentence.paths();
    if last && !sentence.any(&timed) && (paths.is_empty() || yes_or_no(text)) {
        worst(sentence);
    }
    let [path] = &paths[..] else { return };
    let sizes = |i: &Item| !matches!(i, Item::Amount(a) if !matches!(a, super::amounts::Amount::Size(_) | super::amounts::Amount::Percentile(100_000)));
    let first = words.windows(2).any(|two| two[0] == "the" && FIRST.contains(&two[1]));
    let other = [WhichSize, HowMany, HowBig, SmallestSize, PartOf, Within, Versus, Cost, UnderLoad, RunToRun, Not];
    // The longest time and the highest latency are those of the last.
    let most = words.iter().any(|word| ["highest", "most"].contains(word)) && !sentence.has(Throughput);
    let most = most && sentence.any(&[Latency, RoundTrip, HowLong, Loss, Cpu, Percentile(100_000)]);
    let slow = most || words.iter().any(|word| LAST.contains(word) || *word == "longest");
    let possessed =
        words.first().is_some_and(|word| ["is", "are", "does", "do", "has", "would", "will"].contains(word));
    if !(possessed && first && sentence.items.iter().all(sizes) && !sentence.any(&other))
        || sentence.percentiles().iter().any(|p| *p != 100_000)
    {
        return;
    }
    if slow && !sentence.any(&[Loss, Cpu]) {
        let latency = lower.contains("latency");
        worst(sentence);
        sentence.items.extend(latency.then(|| Item::Topics(vec![Latency])));
    }
    // "is tcp the best choice for 1 KB"
    let chosen = Item::Topics(vec![Elsewhere(CHOICE)]);
    let sized = sentence.items.iter().any(|i| matches!(i, Item::Amount(super::amounts::Amount::Size(_))));
    for item in sentence.items.iter_mut().filter(|i| **i == chosen && sized) {
        *item = Item::Topics(vec![Fastest]);
    }
    let name = path.to_string();
    sentence.ranked = Some(Ranked { path: path.clone(), last: slow });
    sentence.items.retain(|i| !matches!(i, Item::Path(_)));
    sentence.items.push(Item::Topics(vec![Which]));
    // The longest of the times is none that ranks.
    let rank = if slow { "last" } else { "first" };
    sentence.notes.push(format!("told of all paths in their order: {name} is the one if it stands {rank}"));
}

/// Takes the worst for the last of the paths.
fn worst(sentence: &mut Sentence) {
    for item in &mut sentence.items {
        if let Item::Topics(topics) = item
            && topics.contains(&Percentile(100_000))
        {
            *topics = vec![Slowest];
        }
    }
    sentence.items.push(Item::Topics(vec![Which, Slowest]));
}
