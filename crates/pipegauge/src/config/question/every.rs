//! Words that speak of each single message: "do all arrive within 50 us", "does it ever take longer", "is any message slower".

use super::spoken::spoken;

/// Words that speak of every message, or of a single one among all, wherever they stand.
#[rustfmt::skip]
const OF_EACH: [&str; 9] = [
    "always", "ever", "guarantee", "guarantees", "guaranteed", "sometimes", "occasionally", "invariably", "promised",
];

/// Words that do so where they stand before what is sent, and not before paths.
const OF_WHAT: [&str; 4] = ["all", "any", "every", "each"];

/// Words behind these that make them speak of something else: "any slower", "all at once", "all paths".
#[rustfmt::skip]
const BEHIND: [&str; 14] = [
    "slower", "faster", "longer", "quicker", "more", "less", "at", "path", "paths", "transport", "transports", "way", "ways", "sizes",
];

/// Whether a text about a time asks of each single message whether it keeps it, or whether a single one does not. The median tells nothing of that.
pub fn of_each(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    let two_words = words.windows(2).any(|two| two == ["at", "most"] || two == ["be", "sure"]);
    two_words || (0..words.len()).any(|at| OF_EACH.contains(&words[at]) || before_messages(&words, at))
}

/// Whether "all", "any", "every" or "each" stands at a place, and speaks of messages.
fn before_messages(words: &[&str], at: usize) -> bool {
    if !OF_WHAT.contains(&words[at]) {
        return false;
    }
    let next = |n: usize| words.get(at + n).copied().unwrap_or("");
    let case = ["case", "cases"].contains(&next(1));
    let before = if at > 0 { words[at - 1] } else { "" };
    // "at all", "over all paths", "64 KiB in all"
    let otherwise = ["at", "over", "across", "via"].contains(&before) || (before == "in" && !case);
    // "all of 2 MB" is the whole of it, "any of tcp and unix" a path.
    let named = spoken().any(|(_, names)| names.contains(&next(2)));
    let of_other = next(1) == "of" && (named || next(2).starts_with(|c: char| c.is_ascii_digit()));
    let behind = BEHIND.contains(&next(1)) || BEHIND[7..].iter().any(|word| [next(2), next(3)].contains(word));
    !(otherwise || of_other || behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_is_meant_where_the_words_say_so() {
        for text in [
            "do all 64 B messages arrive within 50 us",
            "do they all arrive within 50 us over tcp",
            "does it ever take longer than 1 ms",
            "is any message slower than 50 us",
            "does every 1 KiB message arrive within 50 us",
            "does 64 B take at most 20 us",
            "is 64 B guaranteed to arrive within 20 us",
            "does it arrive within 20 us in all cases",
            "can I be sure that 64 B arrives within 20 us",
            "do all of the messages arrive within 20 us",
        ] {
            assert!(of_each(text), "{text}");
        }
        for text in [
            "does 64 B arrive within 50 us over all paths",
            "do all paths deliver 64 B within 50 us",
            "do all of the paths deliver 64 B within 50 us",
            "is any of tcp and unix slower than 50 us",
            "is tcp any slower than 50 us",
            "is 1 ms enough for all of 2 MB",
            "does 64 B arrive within 50 us at all",
            "does 64 B arrive within 50 us",
        ] {
            assert!(!of_each(text), "{text}");
        }
    }
}
