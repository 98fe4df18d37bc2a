//! Text that came out of a file or from another process: cleaned and cut once, where it enters, so that whatever is made of it later
//! (a terminal's line, a label, a page) can neither be acted upon nor flooded.

use serde::de::{DeserializeOwned, Error};
use serde_json::Value;

/// Most characters of a name: a host, a version, a model of CPU.
pub const NAME: usize = 400;
/// Most characters of a sentence or of a word of a command line.
pub const SENTENCE: usize = 4000;
/// Names of fields whose texts are sentences, which may have several lines, or words that a person typed.
const SENTENCES: [&str; 3] = ["text", "error", "command"];
/// Those that keep their line ends: a name that had some could show lines that nobody said.
const LINES: [&str; 2] = ["text", "error"];

/// Text safe to print on a terminal: control characters (C0 but for line ends and tabs, DEL, C1), of which escapes are made, and those
/// that are [`unseen`] become U+FFFD.
pub fn plain(text: &str) -> String {
    text.chars().map(|c| if odd(c) && c != '\n' && c != '\t' { '\u{fffd}' } else { c }).collect()
}

/// Whether a terminal would act on a character instead of showing it: a control character, or one that is [`unseen`].
pub fn odd(c: char) -> bool {
    c.is_control() || unseen(c)
}

/// Whether a character has no width or turns the direction of writing, so that what is read is not what is there.
pub fn unseen(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// [`plain`] text of `most` characters at most; three dots say that it was cut.
pub fn clean(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => plain(&text[..end]) + "...",
        None => plain(text),
    }
}

/// The same in one line.
pub fn line(text: &str, most: usize) -> String {
    clean(text, most).replace(['\n', '\t'], " ")
}

/// Reads JSON that somebody else wrote: every string in it, names of fields too, is [`clean`], and in one line unless it is a sentence.
pub fn json<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    if !suspicious(bytes) {
        return serde_json::from_slice(bytes);
    }
    let mut value: Value = serde_json::from_slice(bytes)?;
    tidy(&mut value, "");
    T::deserialize(value).map_err(|e| serde_json::Error::custom(e.to_string()))
}

/// Whether a string in it may have to be changed. Characters that a terminal acts on stand in JSON as escapes, as DEL or beyond ASCII.
fn suspicious(bytes: &[u8]) -> bool {
    let (mut within, mut length) = (false, 0);
    bytes.iter().any(|b| {
        if *b == b'"' {
            // No quote is escaped: a backslash has ended this before.
            (within, length) = (!within, 0);
        } else {
            length += 1;
        }
        *b == b'\\' || *b >= 0x7f || (within && length > NAME)
    })
}

/// Cleans a value that is the field `of`.
fn tidy(value: &mut Value, of: &str) {
    match value {
        Value::String(text) => {
            let most = if SENTENCES.contains(&of) { SENTENCE } else { NAME };
            *text = if LINES.contains(&of) { clean(text, most) } else { line(text, most) };
        }
        Value::Array(all) => all.iter_mut().for_each(|v| tidy(v, of)),
        Value::Object(fields) => {
            for (name, mut value) in std::mem::take(fields) {
                tidy(&mut value, &name);
                fields.insert(line(&name, NAME), value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_taken_out() {
        assert_eq!(
            plain("a\u{1b}[2J\u{9b}1m\u{7f}\r\u{7}b\tc\n"),
            "a\u{fffd}[2J\u{fffd}1m\u{fffd}\u{fffd}\u{fffd}b\tc\n"
        );
        assert_eq!(plain("a\u{202e}b\u{2066}\u{200b}\u{61c}"), "a\u{fffd}b\u{fffd}\u{fffd}\u{fffd}");
        assert_eq!(plain("Größe · 5 µs"), "Größe · 5 µs");
    }

    #[test]
    fn every_string_of_a_document_is_cleaned_and_cut() {
        let long = "v".repeat(30_000);
        for text in ["a\u{1b}[2Jb", "a\u{202e}b", "a\u{7f}b", &long, &"1".repeat(30_000)] {
            let written = serde_json::to_vec(&BTreeMap::from([("name", text), (text, "x")])).unwrap();
            let read: BTreeMap<String, String> = json(&written).unwrap();
            for word in read.iter().flat_map(|(name, value)| [name, value]) {
                assert!(!word.contains(odd) && word.chars().count() <= NAME + 3, "{word:?}");
            }
        }
        // A line end in a name would begin a line of its own.
        let forged: Value = json(br#"{"label":"tcp\nTrust: all is right\tx","text":"a\nb","in":["c\nd"]}"#).unwrap();
        assert_eq!(forged["label"], "tcp Trust: all is right x");
        assert_eq!((&forged["text"], &forged["in"][0]), (&Value::from("a\nb"), &Value::from("c d")));
        let sentence: BTreeMap<String, String> = json(format!("{{\"text\":\"{long}\"}}").as_bytes()).unwrap();
        assert_eq!(sentence["text"].chars().count(), SENTENCE + 3);
        // Numbers keep every bit on both ways.
        let numbers = format!("{{\"n\":[{}],\"µ\":0}}", vec!["0.1234567890123456789"; 100].join(","));
        let read: BTreeMap<String, Value> = json(numbers.as_bytes()).unwrap();
        assert_eq!(read["n"][99].as_f64(), Some(0.123_456_789_012_345_68));
        assert!(json::<u32>(b"\"\\u001b").is_err());
    }
}
