//! Words that speak of each single message, or of some of them: "do all arrive within 50 us", "does it ever take longer", "do some arrive
//! within 15 us", "most of the messages".

use super::spoken::spoken;

/// Of which single messages something is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Each {
    /// Of every one.
    All,
    /// Of one at least.
    Any,
}

/// Words that speak of every message, wherever they stand.
const OF_ALL: [&str; 6] = ["always", "guarantee", "guarantees", "guaranteed", "invariably", "promised"];

/// Words that speak of a single one among all.
const OF_ONE: [&str; 3] = ["ever", "sometimes", "occasionally"];

/// Words that do either where they stand before what is sent, and not before paths.
const OF_WHAT: [(&str, Each); 5] =
    [("all", Each::All), ("every", Each::All), ("each", Each::All), ("any", Each::Any), ("some", Each::Any)];

/// Words behind these that make them speak of something else: "any slower", "all at once", "all paths".
#[rustfmt::skip]
const BEHIND: [&str; 15] = [
    "slower", "faster", "longer", "quicker", "more", "less", "at", "path", "paths", "transport", "transports", "way", "ways", "sizes", "time",
];

/// Words that a number of messages stands behind: "do many messages arrive".
const BEFORE: [&str; 9] = ["do", "does", "did", "will", "would", "are", "have", "can", "could"];

/// Numbers that are none, where they stand behind those words.
const VAGUE: [&str; 4] = ["many", "few", "several", "lots"];

/// The same of two words, wherever they stand.
#[rustfmt::skip]
const VAGUELY: [[&str; 2]; 11] = [
    ["a", "few"], ["a", "lot"], ["nearly", "all"], ["almost", "all"], ["nearly", "every"], ["almost", "every"], ["nearly", "always"],
    ["almost", "always"], ["practically", "all"], ["virtually", "all"], ["quite", "some"],
];

fn words(lower: &str) -> Vec<&str> {
    lower.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect()
}

/// Whether a text about a time asks of each single message whether it keeps it, or of any of them. The median tells nothing of that.
pub fn of_each(text: &str) -> Option<Each> {
    let lower = text.to_lowercase();
    let words = words(&lower);
    let sure = words.windows(2).any(|two| two == ["be", "sure"]);
    // "can 1 MB take longer than 10 ms": one of them may.
    let may = words.first().is_some_and(|first| ["can", "could", "might", "may"].contains(first));
    let takes = |w: &[&str]| w[0] == "take" && ["longer", "more", "over"].contains(&w[1]);
    if may && words.windows(2).any(takes) {
        return Some(Each::Any);
    }
    let one = |at: usize| match words[at] {
        word if OF_ONE.contains(&word) => Some(Each::Any),
        word if OF_ALL.contains(&word) => Some(Each::All),
        _ => before_messages(&words, at),
    };
    (0..words.len()).find_map(one).or(sure.then_some(Each::All))
}

/// Whether something is asked to be guaranteed.
pub fn guaranteed(text: &str) -> bool {
    words(&text.to_lowercase()).iter().any(|word| word.starts_with("guarante"))
}

/// Whether "all", "any", "every", "each" or "some" stands at a place, and speaks of messages; and of which.
fn before_messages(words: &[&str], at: usize) -> Option<Each> {
    let (_, which) = OF_WHAT.into_iter().find(|(word, _)| words[at] == *word)?;
    let next = |n: usize| words.get(at + n).copied().unwrap_or("");
    // "do any of these beat 10 us": of the paths.
    if words[at] == "any" && next(1) == "of" && ["these", "those"].contains(&next(2)) {
        return None;
    }
    let case = ["case", "cases"].contains(&next(1));
    let before = if at > 0 { words[at - 1] } else { "" };
    // "at all", "over all paths", "64 KiB in all"
    let otherwise = ["at", "over", "across", "via"].contains(&before) || (before == "in" && !case);
    // "all of 2 MB" is the whole of it, "any of tcp and unix" a path.
    let named = spoken().any(|(_, names)| names.contains(&next(2)));
    let of_other = next(1) == "of" && (named || next(2).starts_with(|c: char| c.is_ascii_digit()));
    let behind = BEHIND.contains(&next(1)) || BEHIND[7..].iter().any(|word| [next(2), next(3)].contains(word));
    (!(otherwise || of_other || behind)).then_some(which)
}

/// Words for a number of messages that is none: "do many messages take longer".
pub fn vague(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let words = words(&lower);
    words.windows(2).find_map(|two| match () {
        () if BEFORE.contains(&two[0]) && VAGUE.contains(&two[1]) => Some(two[1].to_owned()),
        () if VAGUELY.iter().any(|vague| vague == two) => Some(two.join(" ")),
        () => None,
    })
}

/// Whether a share is one of messages, which may be slow as well: "do 95% of the messages take longer than 50 us", but not "is p95 longer
/// than 50 us".
pub fn of_messages(text: &str) -> bool {
    let lower = text.to_lowercase();
    ["% of", "percent of", " out of ", "half of", "quarter of", "quarters of"].iter().any(|of| lower.contains(of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_is_meant_where_the_words_say_so() {
        for (text, each) in [
            ("do all 64 B messages arrive within 50 us", Each::All),
            ("do they all arrive within 50 us over tcp", Each::All),
            ("does it ever take longer than 1 ms", Each::Any),
            ("is any message slower than 50 us", Each::Any),
            ("do some messages take longer than 1 ms", Each::Any),
            ("does every 1 KiB message arrive within 50 us", Each::All),
            ("is 64 B guaranteed to arrive within 20 us", Each::All),
            ("does it arrive within 20 us in all cases", Each::All),
            ("can I be sure that 64 B arrives within 20 us", Each::All),
            ("do all of the messages arrive within 20 us", Each::All),
        ] {
            assert_eq!(of_each(text), Some(each), "{text}");
        }
        for text in [
            "does 64 B arrive within 50 us over all paths",
            "do all paths deliver 64 B within 50 us",
            "do all of the paths deliver 64 B within 50 us",
            "is any of tcp and unix slower than 50 us",
            "is tcp any slower than 50 us",
            "is 1 ms enough for all of 2 MB",
            "does 64 B arrive within 50 us at all",
            "does 64 B take at most 50 us",
            "does 64 B arrive within 50 us",
        ] {
            assert_eq!(of_each(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_that_are_none_are_told_from_questions_for_one() {
        for (text, word) in [
            ("do many messages take longer than 1 ms", "many"),
            ("do nearly all messages arrive within 1 ms", "nearly all"),
            ("do a few messages take longer than 1 ms", "a few"),
        ] {
            assert_eq!(vague(text).as_deref(), Some(word), "{text}");
        }
        assert_eq!(vague("how many messages take longer than 1 ms"), None);
    }
}
