//! Wraps text: lines of so many columns, broken between words, with a hanging indent.

use crate::words;

/// Adds the words in lines of `width` columns, the first after `lead`, the others indented by two.
pub fn paragraph(lead: &str, text: &str, width: usize, out: &mut String) {
    out.push_str(&hanging(lead, text, 2, width));
}

/// The words in lines of `width` columns, the first after `lead`, the others indented. A longer word stands alone; without words there is no line.
pub fn hanging(lead: &str, text: &str, indent: usize, width: usize) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column == 0 {
            out.push_str(lead);
            column = lead.chars().count();
        } else if column + 1 + length > width {
            out.push_str(&format!("\n{:indent$}", ""));
            column = indent;
        } else {
            out.push(' ');
            column += 1;
        }
        out.push_str(&words::plain(word));
        column += length;
    }
    if column > 0 {
        out.push('\n');
    }
    out
}

/// The parts of a text that are not empty, with an empty line between two.
pub fn parts(all: impl IntoIterator<Item = String>) -> String {
    all.into_iter().filter(|part| !part.trim().is_empty()).collect::<Vec<_>>().join("\n")
}

/// What precedes a command at the end of a line, which is meant to be copied.
const COMMAND: &str = ": pipegauge ";

/// A text whose lines of prose are broken to `width` columns, further in than they begin. A command at a line's end stays whole, on a line of its own
/// where there is no room beside what leads to it. Rows of tables, in which blanks follow one another, and lines that are a command stay as they are.
pub fn folded(text: &str, width: usize) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches('\n');
        let words = bare.trim_start();
        let table = words.trim_end().contains("  ");
        if bare.chars().count() <= width || table || words.starts_with("pipegauge ") || words.starts_with("$ ") {
            out.push_str(line);
            continue;
        }
        let indent = bare.len() - words.len();
        let lead = &bare[..indent];
        let (prose, command) = match words.rfind(COMMAND) {
            Some(at) if !words[at..].contains([')', ';']) => (&words[..=at], Some(words[at + 2..].trim_end())),
            _ => (words, None),
        };
        out.push_str(&hanging(lead, prose, indent + 2, width));
        if let Some(command) = command {
            out.push_str(&format!("{:1$}{command}\n", "", indent + 2));
        }
        if !line.ends_with('\n') {
            out.pop();
        }
    }
    out
}

/// A text whose paragraphs were broken to `from` columns, broken to `to` instead, where that is less; lines of tables stay as they are. A line
/// belongs to the one before if it is indented and its first word had no room there.
pub fn narrowed(text: &str, from: usize, to: usize) -> String {
    if to >= from {
        return text.to_owned();
    }
    let table = |line: &str| line.trim_start().contains("  ");
    let mut joined: Vec<String> = Vec::new();
    let mut last = 0;
    for line in text.lines() {
        let length = line.chars().count();
        let first = line.split_whitespace().next().map_or(0, |word| word.chars().count());
        let goes_on = line.starts_with("  ") && first > 0 && !table(line) && last > 0 && last + 1 + first > from;
        match joined.last_mut() {
            Some(before) if goes_on && !table(before) => *before = format!("{before} {}", line.trim_start()),
            _ => joined.push(line.to_owned()),
        }
        last = length;
    }
    let mut out = joined.join("\n");
    if text.ends_with('\n') {
        out.push('\n');
    }
    folded(&out, to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_broken_between_words_under_a_hanging_indent() {
        let text = folded("  tcp: one two three four five\nshort\n", 16);
        assert_eq!(text, "  tcp: one two\n    three four\n    five\nshort\n");
        assert_eq!(hanging("note  ", "one two three", 6, 13), "note  one two\n      three\n");
        assert_eq!(folded("a word that-is-longer-than-a-line", 10), "a word\n  that-is-longer-than-a-line");
        assert_eq!(hanging("! ", "  ", 2, 10), "");
    }

    #[test]
    fn paragraphs_are_broken_anew_for_a_narrow_terminal_and_tables_are_not() {
        let words =
            "tcp: what stands here is long enough for two lines of eighty columns, and for three of fifty, as a note";
        let mut text = String::from("path  time   latency\ntcp   RTT/2  29.4 us\n");
        paragraph("", words, 80, &mut text);
        paragraph("! ", words, 80, &mut text);
        let mut wanted = String::from("path  time   latency\ntcp   RTT/2  29.4 us\n");
        paragraph("", words, 50, &mut wanted);
        paragraph("! ", words, 50, &mut wanted);
        assert_eq!(narrowed(&text, 80, 50), wanted);
        assert_eq!(narrowed(&text, 80, 80), text);
    }

    #[test]
    fn commands_stay_whole_and_tables_as_they_are() {
        let text = folded("  to sharpen it: pipegauge run tcp --sizes 64,128 --budget 30s", 40);
        assert_eq!(text, "  to sharpen it:\n    pipegauge run tcp --sizes 64,128 --budget 30s");
        let fits = "  to sharpen it: pipegauge run tcp";
        assert_eq!(folded(fits, 40), fits);
        for line in
            ["pipegauge run tcp --pattern stream --budget 30s", "tcp    1.2 us    3.4 Gbit/s    100 MiB    9.9%"]
        {
            assert_eq!(folded(line, 30), line);
        }
        let inside = folded("nothing is known: pipegauge run tcp tells; or a longer budget does", 30);
        assert!(inside.lines().all(|line| line.chars().count() <= 30), "{inside}");
    }
}
