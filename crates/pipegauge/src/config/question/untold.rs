//! What no run tells, though each of its words is known: several paths as one, a number of messages that is none, and a rate that follows from what is
//! asked.

use anyhow::{Result, bail};
use units::BitRate;

use super::amounts::Amount;
use super::lexicon::Topic::*;
use super::sentence::{Item, Sentence};
use super::suggest::shown;
use super::verdicts::yes_or_no;

/// Words that make one of several paths.
#[rustfmt::skip]
const TOGETHER: [&str; 26] = [
    "together", "combined", "jointly", "bonded", "bonding", "bundled", "in sum", "summed", "sum of", "altogether", "total bandwidth", "total throughput", "total rate", "total capacity",
    "split over", "split across", "split between", "spread over", "spread across", "divided over", "divided between", "back via", "back over", "back through", "then over", "then via",
];

/// Numbers that are none, before messages of a size.
const VAGUE: [&str; 7] = ["many", "some", "several", "few", "lots", "multiple", "various"];

/// Fails where such is asked.
pub fn of(text: &str, sentence: &Sentence) -> Result<()> {
    let lower = text.to_lowercase();
    let held = [Versus, Or, Instead, Cost, Quicker, Slower, Beats, Overtake, Which];
    if sentence.paths().len() > 1 && !sentence.any(&held) && TOGETHER.iter().any(|words| spoken(&lower, words)) {
        bail!(
            "'{}': what several paths do together, or one after the other, was not measured and does not follow from each of them; ask for each by \
             itself: 'bandwidth of tcp', 'how long for 1 MB over tcp?'",
            shown(text)
        );
    }
    let ends = !sentence.percentiles().is_empty() || sentence.any(&[Slowest, Average]);
    if sentence.has(Spacing) && ends {
        bail!(
            "'{}': how far single messages follow one another is told of the median alone: ask 'time between 1 KiB messages'; how long they take is told \
             as the longest, too: 'longest time of 1 KiB'",
            shown(text)
        );
    }
    vague(text, &lower, sentence)?;
    needed(text, &lower, sentence)
}

/// Whether words stand in a text as such.
fn spoken(lower: &str, words: &str) -> bool {
    let text: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    let said: Vec<&str> = words.split(' ').collect();
    text.windows(said.len()).any(|window| window == said)
}

/// "many 1 KB messages", "several messages of 1 KB": no number tells how many.
fn vague(text: &str, lower: &str, sentence: &Sentence) -> Result<()> {
    let counted = sentence.items.iter().any(|i| matches!(i, Item::Amount(Amount::Count(_) | Amount::PerSecond(_))));
    let sized = sentence.items.iter().any(|i| matches!(i, Item::Amount(Amount::Size(_))));
    let others = [HowMany, HowMuch, PerSecond, Which, Versus, Throughput, Not, Loss];
    if counted || !sized || yes_or_no(text) || sentence.any(&others) || !sentence.percentiles().is_empty() {
        return Ok(());
    }
    let words: Vec<&str> = lower.split_whitespace().collect();
    let sent = |word: &str| {
        ["messages", "packets", "requests", "files", "blocks", "msgs", "chunks"]
            .contains(&word.trim_matches(|c: char| !c.is_alphanumeric()))
    };
    for (at, word) in words.iter().enumerate().filter(|(_, word)| VAGUE.contains(word)) {
        let rest = &words[at + 1..];
        let number = rest.first().is_some_and(|next| next.starts_with(|c: char| c.is_ascii_digit()));
        // "1 KB", "64-byte"
        let noun = if number {
            rest.iter().take(3).any(|word| sent(word))
        } else {
            rest.first().is_some_and(|word| sent(word))
        };
        let other = at > 0 && ["how", "so", "too", "as"].contains(&words[at - 1]);
        if noun && !other {
            bail!(
                "'{}': '{word}' is no number; write how many: 'how long for 100 messages of 1 KiB?', or ask about one: 'how long for 1 KiB?'",
                shown(text)
            );
        }
    }
    Ok(())
}

/// "what bandwidth do I need for 1 MB in 5 ms": it follows from size and time, whatever the path.
fn needed(text: &str, lower: &str, sentence: &Sentence) -> Result<()> {
    let size = sentence.amounts(|a| if let Amount::Size(s) = a { Some(*s) } else { None });
    let time = sentence.amounts(|a| if let Amount::Time(t) = a { Some(*t) } else { None });
    let ([size], [seconds], true) = (&size[..], &time[..], sentence.has(Throughput)) else { return Ok(()) };
    let needs = ["need", "needs", "needed", "require", "required", "requires", "necessary"]
        .iter()
        .any(|word| spoken(lower, word));
    if needs && !yes_or_no(text) && sentence.paths().is_empty() && !sentence.has(HowMany) {
        let rate = BitRate(*size as f64 * 8.0 / seconds);
        bail!(
            "'{}': that follows from size and time, whatever the path: {rate}, and more for what comes before the first byte; ask whether it goes: \
             'can it do {rate}?'",
            shown(text)
        );
    }
    Ok(())
}
