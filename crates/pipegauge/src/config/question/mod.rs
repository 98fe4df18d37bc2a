//! Questions: from flags, or from words.

use anyhow::{Result, anyhow, bail};
use units::{BitRate, Bytes};

use crate::flags::AskFlags;
use crate::flags::per_second;

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// When does a block of this size arrive?
    Arrival(u64),
    /// Which path moves a block of this size fastest?
    Fastest(u64),
    /// The most a path moves, and from which size.
    Most,
    /// Which size to use.
    Size,
    /// How fast control messages are.
    Control,
    /// So many frames a second, of so many bytes.
    Frames(f64, u64),
    /// What the first path costs over the second.
    Cost(String, String),
    /// What a link of this rate would bring, bits a second.
    Link(f64),
}

const KNOWN: &str = "\
  when does 64KiB arrive?                    --arrive 64KiB
  which path is fastest for 64KiB?           --fastest 64KiB
  what is the most?                          --most
  which size should I use?                   --size
  how fast are control messages?             --control
  can it sustain 60/s frames of 2MB?         --frames 60/s --of 2MB
  what does tcp cost over unix?              --cost tcp,unix
  what would a link of 10Gbit/s bring?       --link 10Gbit/s";

/// Questions of the flags, in the order of their definition.
pub fn of_flags(flags: &AskFlags) -> Result<Vec<Question>> {
    let mut all = Vec::new();
    all.extend(flags.arrive.map(Question::Arrival));
    all.extend(flags.fastest.map(Question::Fastest));
    all.extend(flags.most.then_some(Question::Most));
    all.extend(flags.size.then_some(Question::Size));
    all.extend(flags.control.then_some(Question::Control));
    all.extend(flags.frames.zip(flags.of).map(|(rate, size)| Question::Frames(rate, size)));
    if let Some(pair) = &flags.cost {
        let (x, y) = pair.split_once(',').ok_or_else(|| anyhow!("--cost {pair}: name two paths: --cost tcp,unix"))?;
        all.push(Question::Cost(x.trim().to_owned(), y.trim().to_owned()));
    }
    all.extend(flags.link.map(|r| Question::Link(r.0)));
    Ok(all)
}

/// A question in words: a few words decide which one, and the sizes and rates in it are its numbers.
pub fn of_words(text: &str) -> Result<Question> {
    let lower = text.to_lowercase();
    let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || matches!(c, '?' | ',' | '!' | '"')).collect();
    let has = |any: &[&str]| any.iter().any(|w| lower.contains(w));
    let size = sizes(&words).first().copied();
    let need_size =
        |what: &str| size.ok_or_else(|| anyhow!("'{text}': {what} of which size? Write it with a unit: 64KiB"));
    let question = if has(&["control"]) {
        Question::Control
    } else if has(&["frame", "sustain"]) {
        let rate = words.iter().filter(|w| w.ends_with("/s")).find_map(|w| per_second(w).ok());
        let rate = rate.ok_or_else(|| anyhow!("'{text}': how many frames a second? Write it as 60/s"))?;
        Question::Frames(rate, need_size("frames")?)
    } else if let Some(rate) = words.iter().find_map(|w| w.parse::<BitRate>().ok()) {
        Question::Link(rate.0)
    } else if has(&["cost"]) {
        let at = |w: &str| words.iter().position(|x| x.eq_ignore_ascii_case(w));
        let (cost, over) = (at("cost"), at("over"));
        match (cost, over) {
            (Some(c), Some(o)) if c > 0 && o + 1 < words.len() => {
                Question::Cost(words[c - 1].to_owned(), words[o + 1].to_owned())
            }
            _ => bail!("'{text}': which path over which? Write: what does tcp cost over unix?"),
        }
    } else if has(&["fastest", "which path", "quickest"]) {
        Question::Fastest(need_size("the fastest path for a block")?)
    } else if has(&["which size", "size should", "best size"]) {
        Question::Size
    } else if has(&["most", "maximum", "max throughput"]) {
        Question::Most
    } else if has(&["arrive", "when", "how long", "latency"]) {
        Question::Arrival(need_size("the arrival of a block")?)
    } else {
        bail!(
            "'{text}' is no question that this knows, and no run file. It knows these, in words or as flags:\n{KNOWN}"
        )
    };
    Ok(question)
}

/// What can be asked, for an error.
pub fn known() -> &'static str {
    KNOWN
}

/// The sizes in a question: words that begin with a digit and read as bytes; "64 KiB" in two words counts, too.
fn sizes(words: &[&str]) -> Vec<u64> {
    let digit = |w: &str| w.starts_with(|c: char| c.is_ascii_digit());
    let mut found = Vec::new();
    for (i, word) in words.iter().enumerate().filter(|(_, w)| digit(w) && !w.ends_with("/s")) {
        let with_unit = words.get(i + 1).map(|unit| format!("{word}{unit}"));
        let read = with_unit.and_then(|t| t.parse::<Bytes>().ok()).or_else(|| word.parse::<Bytes>().ok());
        found.extend(read.map(|b| b.0));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_questions() {
        for (text, want) in [
            ("when does 64KiB arrive?", Question::Arrival(65_536)),
            ("when does a block of 64 KiB arrive?", Question::Arrival(65_536)),
            ("How long does 1MB take", Question::Arrival(1_000_000)),
            ("which path is fastest for 4KiB?", Question::Fastest(4096)),
            ("what is the most this path moves?", Question::Most),
            ("which size should I use?", Question::Size),
            ("how fast are control messages?", Question::Control),
            ("can it sustain 60/s frames of 2MB?", Question::Frames(60.0, 2_000_000)),
            ("what does tcp cost over unix?", Question::Cost("tcp".into(), "unix".into())),
            ("what would a link of 10Gbit/s bring?", Question::Link(1e10)),
        ] {
            assert_eq!(of_words(text).unwrap(), want, "{text}");
        }
    }

    #[test]
    fn what_is_missing_is_asked_for() {
        for (text, word) in [
            ("when does it arrive?", "64KiB"),
            ("can it sustain frames of 2MB?", "60/s"),
            ("what does tcp cost?", "over unix"),
            ("what is love?", "--arrive"),
        ] {
            let said = of_words(text).unwrap_err().to_string();
            assert!(said.contains(word) && said.contains(text), "{text}: {said}");
        }
    }
}
