//! The slowest or the fastest of several flows: "how fast is the slowest flow", "what does the slowest of the 4 flows carry".

use anyhow::Result;

use super::Measured;
use super::amounts::Amount;
use super::lexicon::SHARED;
use super::lexicon::Topic::*;
use super::sentence::{Item, Sentence};

/// What works at once, by the names that people have for one of several.
const FLOWS: [&str; 8] = ["flow", "flows", "connection", "connections", "pair", "pairs", "stream", "streams"];

/// Words that may stand between "slowest" and what it is said of, beside numbers: "the slowest of all the 4 flows", but not "the fastest path with 4
/// flows".
#[rustfmt::skip]
const BETWEEN: [&str; 17] = [
    "of", "the", "all", "these", "those", "my", "our", "single", "parallel", "tcp", "two", "three", "four", "eight", "sixteen", "its", "several",
];

/// Whether the slowest is asked for (true) or the fastest, and takes the words that say so; none where none is, or where the runs have no several flows,
/// of which the refusal tells.
pub fn of(text: &str, sentence: &mut Sentence, measured: &Measured) -> Result<Option<bool>> {
    let Some(slowest) = end(text).filter(|_| !measured.at_once.is_empty()) else { return Ok(None) };
    // How evenly they share is another question, and so are two of them.
    let said = |i: &Item| match i {
        Item::Topics(t) => {
            let flows = [Slowest, Fastest, AtOnce, Pairs, Connections, Streams, Which];
            *t == [Elsewhere(SHARED)] || t.iter().any(|t| flows.contains(t))
        }
        Item::Amount(Amount::Count(_)) => true,
        _ => false,
    };
    sentence.items.retain(|i| !said(i));
    Ok(Some(slowest))
}

/// Which end of the flows a text names.
fn end(text: &str) -> Option<bool> {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    let other = ["fair", "fairness", "fairly", "unfair", "than", "vs", "versus", "and", "latency", "long"];
    let at = |of: &[&str]| {
        let place = words.iter().position(|word| of.contains(word))?;
        let passed = |word: &&&str| BETWEEN.contains(*word) || word.parse::<u32>().is_ok();
        let noun = words[place + 1..].iter().find(|word| !passed(word))?;
        FLOWS.contains(noun).then_some(place)
    };
    let found = (at(&["slowest"]), at(&["fastest", "quickest"]));
    match found {
        _ if words.iter().any(|word| other.contains(word)) => None,
        (Some(_), None) => Some(true),
        (None, Some(_)) => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::question::of_words;

    #[test]
    fn one_of_several_flows_is_asked_for_where_a_text_says_which() {
        for (text, want) in [
            ("how fast is the slowest flow", Some(true)),
            ("what does the slowest of the 4 flows carry", Some(true)),
            ("throughput of the fastest connection at 4 KiB", Some(false)),
            ("is the slowest flow slower than the fastest flow", None),
            ("how fair are the flows", None),
            ("which path is the slowest for 64 KiB", None),
            ("which is the fastest path with 4 flows", None),
        ] {
            assert_eq!(end(text), want, "{text}");
        }
    }

    #[test]
    fn runs_of_several_flows_answer_of_one_of_them() {
        let mut measured = Measured::default();
        measured.add("a.run.jsonl", [("tcp", "tcp"), ("tcp:flows=4", "tcp")].into_iter());
        measured.flows("tcp", 1, measure::Topology::Flows);
        measured.flows("tcp:flows=4", 4, measure::Topology::Flows);
        let says =
            |text: &str| of_words(text, &measured).map(|r| r.says(0, &measured)).unwrap_or_else(|e| e.to_string());
        let slowest = "what the slowest flow moves, over all paths";
        for (text, want) in [
            ("how fast is the slowest flow", slowest),
            ("what is the throughput of the slowest of the 4 flows", slowest),
            (
                "how fast is the slowest flow of tcp at 4 KiB",
                "what the slowest flow moves, with messages of 4 KiB, over tcp",
            ),
            ("what does the fastest connection carry", "what the fastest flow moves, over all paths"),
            (slowest, slowest),
        ] {
            assert_eq!(says(text), want, "{text}");
        }
    }
}
