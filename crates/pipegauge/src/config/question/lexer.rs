//! A question's characters as numbers and words.

use anyhow::{Error, Result, anyhow, bail};
use units::words::{Read, Unit};

use super::lexicon::{Topic, topics};
use super::names::Measured;
use super::nouns::NOUNS;
use super::spoken::spoken;
use super::suggest::shown;

/// A piece of a question.
#[derive(Debug, Clone, PartialEq)]
pub enum Lexeme {
    /// A number, its digits without separators and with at most one point.
    Number(String),
    /// A word as it was written; `glued` stands directly behind a number.
    Word {
        /// As written.
        text: String,
        /// In small letters.
        lower: String,
        /// No space parts it from the number before it.
        glued: bool,
    },
    /// The name of a run file, or its stem: its place among the files.
    File(usize),
    /// What a path is called that does not go by its transport's name: its place among the paths.
    Path(usize),
    /// A transport of the runs that is not known here, as that of a module that is somewhere else: the place of a path that has it.
    Transport(usize),
}

/// Longest question that is read, characters.
const LONGEST: usize = 500;
/// Largest power of ten in `1e6`.
const EXPONENT: i32 = 30;

/// Largest number below a fraction's stroke, and the decimals of one part of it.
const LARGEST_BELOW: u64 = 1024;
const DECIMALS: u32 = 10;
/// Times of which something is so much or so many, behind a stroke; that of a second is one with its unit.
const PERIODS: [&str; 10] = ["min", "minute", "h", "hr", "hour", "day", "week", "ms", "us", "millisecond"];

/// Cuts a question into pieces. Names of the run files and labels of their paths may stand in it.
pub fn lex(text: &str, measured: &Measured) -> Result<Vec<Lexeme>> {
    let count = text.chars().count();
    if count > LONGEST {
        bail!("'{}': a question of {count} characters; at most {LONGEST} are read", shown(text));
    }
    let chars = written_out(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let fresh = at == 0 || chars[at - 1].is_whitespace() || chars[at - 1] == '(';
        if let Some((name, end)) = fresh.then(|| named(&chars, at, measured)).flatten() {
            found.push(name);
            at = end;
        } else if let Some((names, end)) = fresh.then(|| slashed(&chars, at, measured)).flatten() {
            found.extend(names);
            at = end;
        } else if let Some(why) = fresh.then(|| not_measured(text, &chars, at, measured)).flatten() {
            return Err(why);
        } else if fresh && chars[at] == '-' && digit(&chars, at + 1) {
            bail!("'{}': a number below zero; sizes, times and rates are above it", shown(text));
        } else if range(&chars, at, &found) {
            return Err(no_range(text));
        } else if digit(&chars, at) || (chars[at] == '.' && digit(&chars, at + 1)) {
            at = number(text, &chars, at, &mut found)?;
        } else if fresh && matches!(chars[at], 'p' | 'P') && chars.get(at + 1) == Some(&'-') && digit(&chars, at + 2) {
            bail!("'{}': a percentile lies between 0 and 100", shown(text));
        } else if chars[at].is_alphabetic() || (chars[at] == '/' && letter(&chars, at + 1)) {
            at = word(&chars, at, false, &mut found);
        } else {
            // Marks of punctuation part words; any other sign is a word of its own, so that it is not passed over.
            let sign = chars[at];
            if let Some((words, end)) = more_or_less(text, &chars, at)? {
                found.extend(words.split(' ').map(|word| a_word(&word.chars().collect::<Vec<_>>(), false)));
                at = end;
                continue;
            }
            // "~1KB": about so much, as all that is measured is.
            if sign == '~' && chars[at + 1..].iter().find(|c| **c != ' ').is_some_and(char::is_ascii_digit) {
                at += 1;
                continue;
            }
            // "1KB,4KB": both.
            if sign == ',' && at > 0 && chars[at - 1].is_alphabetic() && digit(&chars, at + 1) {
                found.push(a_word(&['a', 'n', 'd'], false));
            }
            // ",5 MB": half of one, where people write decimals with a comma.
            if sign == ',' && digit(&chars, at + 1) && (at == 0 || chars[at - 1].is_whitespace()) {
                return Err(no_number(text, &chars, at));
            }
            if !sign.is_whitespace() && !"?!.,;:\"'()[]{}-\u{2026}/`".contains(sign) {
                found.push(a_word(&[sign], false));
            }
            at += 1;
        }
    }
    Ok(found)
}

/// What a sign says of an amount, in words, and the place after it: "> 50 us" is "more than 50 us". Without the sign, the rest would be
/// another question.
fn more_or_less(text: &str, chars: &[char], at: usize) -> Result<Option<(&'static str, usize)>> {
    let is = |at: usize, of: &str| chars.get(at).is_some_and(|c| of.contains(*c));
    if is(at, "<>=") && is(at + 1, "<>") {
        let signs: String = chars[at..at + 2].iter().collect();
        bail!("'{}': `{signs}` is no sign that this reads; write >, >=, < or <=", shown(text));
    }
    let equal = is(at + 1, "=");
    Ok(Some(match chars[at] {
        // "->" is an arrow.
        '>' if at > 0 && is(at - 1, "-") => return Ok(None),
        '>' if equal => ("no less than", at + 2),
        '<' if equal => ("no more than", at + 2),
        '>' => ("more than", at + 1),
        '<' => ("less than", at + 1),
        '\u{2265}' | '\u{2a7e}' => ("no less than", at + 1),
        '\u{2264}' | '\u{2a7d}' => ("no more than", at + 1),
        _ => return Ok(None),
    }))
}

/// Signs that people's keyboards and editors put in the place of plain ones.
fn plain(c: char) -> char {
    match c {
        '\u{2044}' | '\u{2215}' => '/',
        '\u{b5}' | '\u{3bc}' => 'u',
        '\u{d7}' => 'x',
        '\u{2248}' | '\u{223c}' => '~',
        '\u{2018}' | '\u{2019}' => '\'',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{201c}' | '\u{201d}' => '"',
        c => c,
    }
}

/// The characters of a question in plain signs, and fractions that are one sign in digits.
fn written_out(text: &str) -> Vec<char> {
    let mut chars: Vec<char> = Vec::with_capacity(text.len());
    for c in text.chars() {
        let fraction = match c {
            '\u{bd}' => "1/2",
            '\u{bc}' => "1/4",
            '\u{be}' => "3/4",
            c => {
                chars.push(plain(c));
                continue;
            }
        };
        if chars.last().is_some_and(char::is_ascii_digit) {
            chars.push(' ');
        }
        chars.extend(fraction.chars());
    }
    chars
}

fn digit(chars: &[char], at: usize) -> bool {
    chars.get(at).is_some_and(char::is_ascii_digit)
}

fn letter(chars: &[char], at: usize) -> bool {
    chars.get(at).is_some_and(|c| c.is_alphabetic())
}

fn a_word(chars: &[char], glued: bool) -> Lexeme {
    let text: String = chars.iter().collect();
    let lower = text.to_lowercase();
    Lexeme::Word { text, lower, glued }
}

/// What stands from `at` up to the next space, without the punctuation behind it.
fn token(chars: &[char], at: usize) -> String {
    let whole: String = chars[at..].iter().take_while(|c| !c.is_whitespace()).collect();
    whole.trim_end_matches(['?', '!', ',', ';', ':', ')', '"', '\'', '.']).to_owned()
}

/// The error for the name of a run file that was not given, or of a path with settings that no run has: without it, the rest would be
/// another question.
fn not_measured(text: &str, chars: &[char], at: usize, measured: &Measured) -> Option<Error> {
    let name = token(chars, at + usize::from(chars[at] == '('));
    if chars[at] == '(' && named(chars, at + 1, measured).is_some() {
        return None;
    }
    let file = name.ends_with(".jsonl") || name.ends_with(".json");
    let path = ["./", "../", "~/"].iter().any(|start| name.starts_with(start))
        || (name.starts_with('/') && name[1..].contains('/') && name.len() > 3);
    if file || path {
        return Some(measured.no_file(text, &name));
    }
    let (kind, settings) = name.split_once(':')?;
    let label = spoken().any(|(kinds, _)| kinds == kind) && settings.starts_with(|c: char| c.is_alphabetic());
    let other = spoken().any(|(_, names)| names.contains(&settings));
    (label && !other).then(|| measured.no_label(text, &name))
}

/// A run file's name or a path's label from `at` up to the next space.
fn named(chars: &[char], at: usize, measured: &Measured) -> Option<(Lexeme, usize)> {
    let name = token(chars, at);
    let name = name.as_str();
    let file = measured.files.iter().position(|(file, stem)| {
        file == name || file.rsplit('/').next() == Some(name) || stem.as_deref() == Some(name.to_lowercase().as_str())
    });
    // "lan's" and "LAN" are the path that is called "lan".
    let called = name.strip_suffix("'s").unwrap_or(name);
    let everyday = everyday(name) && !speaks_of_a_path(chars, at, at + name.chars().count());
    let everyday = everyday || unit_of_a_number(name, chars, at);
    let same = |label: &str| !everyday && (label == name || label.eq_ignore_ascii_case(called));
    let path = || measured.paths.iter().position(|(label, transport, _)| label != transport && same(label));
    let unknown = |transport: &str| !spoken().any(|(known, _)| known == transport);
    let transport = || measured.paths.iter().position(|(_, transport, _)| same(transport) && unknown(transport));
    let found =
        file.map(Lexeme::File).or_else(|| path().map(Lexeme::Path)).or_else(|| transport().map(Lexeme::Transport))?;
    (!name.is_empty()).then(|| (found, at + name.chars().count()))
}

/// Labels with strokes between them, "eth/ib", among them names of transports, and the place after them.
fn slashed(chars: &[char], at: usize, measured: &Measured) -> Option<(Vec<Lexeme>, usize)> {
    let whole = token(chars, at);
    let parts: Vec<&str> = whole.split('/').collect();
    let label = |part: &str| {
        let part: Vec<char> = part.chars().collect();
        (!part.is_empty()).then(|| named(&part, 0, measured)).flatten().map(|(name, _)| name)
    };
    let name = |part: &&str| {
        let transport = || spoken().any(|(_, names)| names.contains(&part.to_lowercase().as_str()));
        label(part).or_else(|| transport().then(|| a_word(&part.chars().collect::<Vec<_>>(), false)))
    };
    let names: Vec<Lexeme> = parts.iter().filter_map(name).collect();
    let called = names.iter().any(|name| !matches!(name, Lexeme::Word { .. }));
    (parts.len() > 1 && names.len() == parts.len() && called).then(|| (names, at + whole.chars().count()))
}

/// Whether a label is the unit of the number before it: of "64 B" no path that is called "b" is meant.
fn unit_of_a_number(label: &str, chars: &[char], at: usize) -> bool {
    let before: String = chars[..at].iter().collect();
    let number = before.split_whitespace().next_back().unwrap_or("");
    let digits = number.starts_with(|c: char| c.is_ascii_digit()) && number.ends_with(|c: char| c.is_ascii_digit());
    digits && units::words::unit(label).is_some()
}

/// Whether a label is a word that many a question has, and that decides nothing: "a".
fn everyday(label: &str) -> bool {
    let of = topics(&label.to_lowercase());
    !of.is_empty() && of.iter().all(|topic| *topic == Topic::Filler)
}

/// Whether what stands beside such a word makes it the path that is called so: "over a at 1 KB", "is a faster than b", but not "of a 1 KB message".
fn speaks_of_a_path(chars: &[char], from: usize, end: usize) -> bool {
    const BEFORE: [&str; 20] = [
        "over", "of", "on", "path", "via", "through", "using", "across", "than", "vs", "versus", "and", "or",
        "between", "with", "to", "against", "for", "by", "from",
    ];
    #[rustfmt::skip]
    const COMPARES: [&str; 40] = [
        "vs", "versus", "faster", "slower", "better", "worse", "quicker", "beats", "beat", "or", "and", "than", "compared", "against", "above", "below", "exceed",
        "exceeds", "stay", "stays", "take", "takes", "need", "needs", "carry", "carries", "reach", "reaches", "have", "has", "do", "does", "lose", "loses",
        "saturate", "saturates", "can", "sustain", "sustains", "",
    ];
    const BEHIND: [&str; 13] =
        ["", "at", "for", "with", "in", "is", "does", "to", "over", "from", "when", "under", "on"];
    let text = |part: &[char]| part.iter().collect::<String>().to_lowercase();
    let (before, behind) = (text(&chars[..from]), text(&chars[end..]));
    let before = before.split_whitespace().next_back().unwrap_or("").trim_matches(|c: char| !c.is_alphanumeric());
    let next = behind.trim_start_matches(|c: char| !c.is_alphanumeric());
    let next: &str = next.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
    let own = before.is_empty() && next.is_empty();
    // A mark ends what is said of it: "a: latency", "over a, p99".
    let ended = behind.trim_start().starts_with([',', ':', '?', '.', ';', '\'']);
    let does = before == "does" && ["cost", "add", "save", "gain"].contains(&next);
    own || does
        || COMPARES.contains(&next)
        || (BEFORE.contains(&before) && (ended || BEHIND.contains(&next)))
        || (before.is_empty() && ended)
}

fn word(chars: &[char], from: usize, glued: bool, found: &mut Vec<Lexeme>) -> usize {
    let mut at = from + 1;
    while let Some(c) = chars.get(at) {
        let inside = c.is_alphanumeric() || matches!(c, '\'' | '_');
        let slash = *c == '/' && chars.get(at + 1).is_some_and(|c| c.is_alphanumeric());
        // p99.9
        let point = *c == '.' && matches!(chars[from], 'p' | 'P') && digit(chars, at - 1) && digit(chars, at + 1);
        if !(inside || slash || point) {
            break;
        }
        at += 1;
    }
    let mut end = at;
    while end > from + 1 && chars[end - 1] == '\'' {
        end -= 1;
    }
    // what's
    if end > from + 2 && chars[end - 2] == '\'' && matches!(chars[end - 1], 's' | 'S') {
        end -= 2;
    }
    // MB/min: the unit, and the time it is over.
    let over = chars[from..end].iter().rposition(|c| *c == '/').filter(|slash| {
        let after: String = chars[from + slash + 1..end].iter().collect();
        *slash > 0 && PERIODS.contains(&after.to_lowercase().as_str())
    });
    match over {
        Some(slash) => {
            found.push(a_word(&chars[from..from + slash], glued));
            found.push(a_word(&chars[from + slash..end], true));
        }
        None => found.push(a_word(&chars[from..end], glued)),
    }
    at
}

/// A fraction whose number above is read, `3` of `3/4`, as a decimal, with the whole number before it; and the place after.
fn fraction(text: &str, chars: &[char], at: usize, above: &str, found: &mut Vec<Lexeme>) -> Result<(String, usize)> {
    let below: String = chars[at + 1..].iter().take_while(|c| c.is_ascii_digit()).collect();
    let end = at + 1 + below.len();
    let more = matches!(chars.get(end), Some('/' | '.' | ',')) && digit(chars, end + 1);
    let rest: String = chars[end..].iter().collect::<String>().to_lowercase();
    let unit = rest.split(|c: char| !c.is_alphanumeric()).find(|word| !["", "of", "a", "an"].contains(word));
    let timed = matches!(unit.and_then(units::words::unit), Some(Read::Plainly(Unit::Time(_))));
    let value =
        if more { None } else { decimal(above, &below).or_else(|| timed.then(|| of_a_time(above, &below)).flatten()) };
    let Some(value) = value else {
        bail!(
            "'{}': `{above}/{below}` is no fraction that this reads (1/2, 3/4, 1/8, 1/10); write a decimal number: 0.75 MB",
            shown(text)
        )
    };
    let whole = match found.last() {
        Some(Lexeme::Number(whole)) if whole.bytes().all(|b| b.is_ascii_digit()) => whole.clone(),
        _ => return Ok((value, end)),
    };
    let second = rest.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).nth(1);
    if second.is_some_and(|w| w.ends_with('s') && NOUNS.contains(&w)) {
        bail!(
            "'{}': `{whole} {above}/{below}` can be read in two ways: write `{whole} messages of {value} ...`, or `{whole}{}`",
            shown(text),
            &value[1..]
        );
    }
    found.pop();
    Ok((format!("{whole}{}", &value[1..]), end))
}

/// A proper fraction in lowest terms as a decimal; none where its decimals have no end. `4/8` may be 4 or 8.
fn decimal(above: &str, below: &str) -> Option<String> {
    let (above, below) = (above.parse::<u64>().ok()?, below.parse::<u64>().ok()?);
    let lowest = (2..=below.min(LARGEST_BELOW)).all(|n| above % n != 0 || below % n != 0);
    if above == 0 || above >= below || below > LARGEST_BELOW || !lowest {
        return None;
    }
    let places = (1..=DECIMALS).find(|n| 10u64.pow(*n) % below == 0)?;
    Some(format!("0.{:0>1$}", above * (10u64.pow(places) / below), places as usize))
}

/// A proper fraction of a time, which needs no more digits than a clock has: "1/60 s".
fn of_a_time(above: &str, below: &str) -> Option<String> {
    let (above, below) = (above.parse::<u64>().ok()?, below.parse::<u64>().ok()?);
    (above > 0 && above < below && below <= LARGEST_BELOW).then(|| format!("{:.12}", above as f64 / below as f64))
}

/// A number with its separators, and the word that is glued to it.
fn number(text: &str, chars: &[char], from: usize, found: &mut Vec<Lexeme>) -> Result<usize> {
    let hex = chars[from] == '0' && matches!(chars.get(from + 1), Some('x' | 'X'));
    if hex && chars.get(from + 2).is_some_and(char::is_ascii_hexdigit) {
        return hexadecimal(text, chars, from, found);
    }
    let mut at = from;
    let mut digits = String::new();
    while digit(chars, at) {
        digits.push(chars[at]);
        at += 1;
        if matches!(chars.get(at), Some(',' | '_' | '\'')) && digit(chars, at + 1) {
            let three = (1..=3).all(|n| digit(chars, at + n)) && !digit(chars, at + 4);
            let group = chars[from..at].iter().rev().take_while(|c| c.is_ascii_digit()).count();
            if !three || group > 3 {
                return Err(no_number(text, chars, from));
            }
            at += 1;
        }
    }
    // 4:2:0
    let sampling = |at: usize| matches!(chars.get(at), Some(':')) && digit(chars, at + 1);
    if sampling(at) && sampling(at + 2) && at == from + 1 {
        found.push(a_word(&chars[from..at + 4], false));
        return Ok(at + 4);
    }
    if chars.get(at) == Some(&'.') && digit(chars, at + 1) {
        digits.push('.');
        at += 1;
        while digit(chars, at) {
            digits.push(chars[at]);
            at += 1;
        }
        // 1.000.000
        if chars.get(at) == Some(&'.') && digit(chars, at + 1) {
            return Err(no_number(text, chars, from));
        }
    }
    let sign = usize::from(matches!(chars.get(at + 1), Some('-' | '+')));
    if matches!(chars.get(at), Some('e' | 'E')) && digit(chars, at + 1 + sign) {
        let power: String = chars[at + 1 + sign..].iter().take_while(|c| c.is_ascii_digit()).collect();
        at += 1 + sign + power.len();
        let power = power.parse::<i32>().ok().filter(|p| *p <= EXPONENT);
        let Some(power) = power else {
            bail!("'{}': a number out of any range; write at most 1e{EXPONENT}", shown(text))
        };
        digits = shifted(&digits, if sign == 1 && chars[at - 1 - sign] == '-' { -power } else { power });
    }
    let mut digits = if digits.starts_with('.') { format!("0{digits}") } else { digits };
    if chars.get(at) == Some(&'/') && digit(chars, at + 1) {
        (digits, at) = fraction(text, chars, at, &digits, found)?;
        found.push(Lexeme::Number(digits));
        return Ok(glued_word(chars, at, found));
    }
    // "1 000": no count has a nought in front of it, so this is a group of a number's digits.
    if let Some(Lexeme::Number(before)) = found.last()
        && digits.len() == 3
        && digits.starts_with('0')
    {
        bail!("'{0}': `{before} {digits}` is no number; write `{before},{digits}` for groups of three", shown(text));
    }
    found.push(Lexeme::Number(digits));
    // 1920x1080, 5x1KiB
    if matches!(chars.get(at), Some('x' | 'X')) && digit(chars, at + 1) {
        found.push(a_word(&['x'], true));
        return Ok(at + 1);
    }
    if chars.get(at) == Some(&'%') {
        found.push(a_word(&['%'], true));
        return Ok(at + 1);
    }
    if chars.get(at) == Some(&'-') && digit(chars, at + 1) {
        return Err(no_range(text));
    }
    Ok(glued_word(chars, at, found))
}

/// The error for a range of numbers.
fn no_range(text: &str) -> Error {
    anyhow!(
        "'{}': a range of numbers; ask about one at a time, or about both ends: 'latency between 1 KiB and 64 KiB'",
        shown(text)
    )
}

/// Whether points or a dash with spaces make a range of an amount before a place and one behind it: "1...64 KB", "10.. 20 KB", "4 - 8 bytes".
fn range(chars: &[char], at: usize, found: &[Lexeme]) -> bool {
    let amount = match found {
        [.., Lexeme::Number(_)] | [.., Lexeme::Word { glued: true, .. }] => true,
        [.., Lexeme::Number(_), Lexeme::Word { text, .. }] => units::words::unit(text).is_some(),
        _ => false,
    };
    let points = chars[at..].iter().take_while(|c| matches!(c, '.' | '\u{2026}')).count();
    let dash = chars[at] == '-' && at > 0 && chars[at - 1] == ' ';
    let behind = at + if dash { 1 } else { points };
    let next = behind + chars[behind..].iter().take_while(|c| **c == ' ').count();
    if !amount || !digit(chars, next) {
        return false;
    }
    if points > 1 || chars[at] == '\u{2026}' {
        return true;
    }
    // "1 KB - 10 messages" is no range.
    let second: String = chars[next..].iter().skip_while(|c| c.is_ascii_digit() || **c == '.').collect();
    let unit = second.trim_start().split(|c: char| !c.is_alphabetic()).next().unwrap_or("");
    dash && next > behind && units::words::unit(unit).is_some()
}

/// A number written as 0x1000.
fn hexadecimal(text: &str, chars: &[char], from: usize, found: &mut Vec<Lexeme>) -> Result<usize> {
    let digits: String = chars[from + 2..].iter().take_while(|c| c.is_alphanumeric()).collect();
    match u64::from_str_radix(&digits, 16) {
        Ok(value) => found.push(Lexeme::Number(value.to_string())),
        Err(_) => bail!(
            "'{}': `0x{}` is no number to the base of 16 below 2^64; write its digits and the unit apart: 0x1000 bytes",
            shown(text),
            shown(&digits)
        ),
    }
    Ok(from + 2 + digits.len())
}

/// Takes the word that stands directly behind a number, or behind its hyphen; the place after.
fn glued_word(chars: &[char], at: usize, found: &mut Vec<Lexeme>) -> usize {
    // 64-byte
    let hyphen = chars.get(at) == Some(&'-') && letter(chars, at + 1);
    let at = if hyphen { at + 1 } else { at };
    if letter(chars, at) || (chars.get(at) == Some(&'/') && letter(chars, at + 1)) {
        return word(chars, at, !hyphen, found);
    }
    at
}

/// The error for what is written from a place on.
fn no_number(text: &str, chars: &[char], from: usize) -> Error {
    let written: String = chars[from..].iter().take_while(|c| !c.is_whitespace()).collect();
    anyhow!(
        "'{}': `{}` is no number; a point marks decimals (1.5), and commas part groups of three (1,000,000)",
        shown(text),
        shown(&written)
    )
}

/// Decimal digits times a power of ten, without going through a float.
pub fn shifted(digits: &str, power: i32) -> String {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{whole}{fraction}");
    let point = whole.len() as i32 + power;
    let (all, point) = match all.trim_start_matches('0') {
        "" => return "0".to_owned(),
        rest => (rest, point - (all.len() - rest.len()) as i32),
    };
    match usize::try_from(point) {
        Ok(point) if point >= all.len() => format!("{all:0<point$}"),
        Ok(point) if point > 0 => format!("{}.{}", &all[..point], &all[point..]),
        _ => format!("0.{}{all}", "0".repeat(point.unsigned_abs() as usize)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let name = |l: Lexeme| match l {
            Lexeme::Number(digits) => format!("#{digits}"),
            Lexeme::Word { text, glued, .. } => format!("{}{text}", if glued { "+" } else { "" }),
            Lexeme::File(n) => format!("file {n}"),
            Lexeme::Path(n) => format!("path {n}"),
            Lexeme::Transport(n) => format!("transport {n}"),
        };
        let files = vec![("a.run.jsonl".into(), None), ("b.run.jsonl".into(), Some("fast".into()))];
        let paths = vec![("tcp".into(), "tcp", 0), ("tcp:sockbuf=64KiB".into(), "tcp", 0)];
        lex(text, &Measured { files, paths, ..Measured::default() })
            .unwrap_or_else(|e| panic!("{text}: {e}"))
            .into_iter()
            .map(name)
            .collect()
    }

    #[test]
    fn numbers_keep_every_digit_and_lose_their_separators() {
        assert_eq!(words("1,000,000 1_000_000 1.5MB .5"), ["#1000000", "#1000000", "#1.5", "+MB", "#0.5"]);
        assert_eq!(words("1e6 2.5e3B 1e-3s 64,"), ["#1000000", "#2500", "+B", "#0.001", "+s", "#64"]);
        assert_eq!(
            words("1920\u{d7}1080 5x1KiB 60/s 4:2:0"),
            "#1920 +x #1080 #5 +x #1 +KiB #60 +/s 4:2:0".split(' ').collect::<Vec<_>>()
        );
        assert_eq!(
            words("5 \u{b5}s, 99.9% p99.9 n1/2 64-byte"),
            "#5 us #99.9 +% p99.9 n1/2 #64 byte".split(' ').collect::<Vec<_>>()
        );
        assert_eq!(
            words("3/4 MiB 1 1/2 1\u{bd}kB 1/16-byte"),
            ["#0.75", "MiB", "#1.5", "#1.5", "+kB", "#0.0625", "byte"]
        );
        assert_eq!(words("10MB/min frames/hour 5/s"), ["#10", "+MB", "+/min", "frames", "+/hour", "#5", "+/s"]);
        assert_eq!(words("> 50us>=1"), ["more", "than", "#50", "+us", "no", "less", "than", "#1"]);
        assert_eq!(words("<5 \u{2264} 6"), ["less", "than", "#5", "no", "more", "than", "#6"]);
        assert_eq!(words("~1KB,4KB \u{2248} 5, 6"), ["#1", "+KB", "and", "#4", "+KB", "#5", "#6"]);
        for bad in [
            "latency => 5 us",
            "1 <> 2",
            "1.000.000 B",
            "2.500.000",
            "1 000 B",
            "10 000 000 B",
            "1,5 MB",
            "1234,567",
            "-5 B",
            ",5 MB",
            "1e999",
            "10-20 kB",
            "1,2",
            "4/8 KiB",
            "1/3 MB",
            "24/7",
            "1/2/3",
            "10 1/2 MB messages",
        ] {
            assert!(lex(bad, &Measured::default()).is_err(), "{bad}");
        }
    }

    #[test]
    fn run_files_are_known_by_name_and_stem() {
        assert_eq!(words("over tcp:sockbuf=64KiB?"), ["over", "path 1"]);
        assert_eq!(words("is tcp in a.run.jsonl what's (fast)?"), ["is", "tcp", "in", "file 0", "what", "file 1"]);
    }
}
