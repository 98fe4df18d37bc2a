//! Numbers in words: "ten", "half a", "two thousand", "one and a half".

use super::lexer::{Lexeme, shifted};

/// The words of a question, with what they are looked at for.
#[derive(Clone, Copy)]
pub struct Words<'a>(pub &'a [Lexeme]);

impl<'a> Words<'a> {
    /// The word at a place, in small letters; none where there is a number, a file or nothing.
    pub fn low(&self, at: usize) -> Option<&'a str> {
        match self.0.get(at) {
            Some(Lexeme::Word { lower, .. }) => Some(lower),
            _ => None,
        }
    }

    /// The same as it was written.
    pub fn text(&self, at: usize) -> Option<&'a str> {
        match self.0.get(at) {
            Some(Lexeme::Word { text, .. }) => Some(text),
            _ => None,
        }
    }

    /// Whether the word stands directly behind a number.
    pub fn glued(&self, at: usize) -> bool {
        matches!(self.0.get(at), Some(Lexeme::Word { glued: true, .. }))
    }

    /// Whether the word at a place is one of these.
    pub fn any(&self, at: usize, of: &[&str]) -> bool {
        self.low(at).is_some_and(|w| of.contains(&w))
    }
}

const SMALL: [(&str, u64); 20] = [
    ("zero", 0),
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("thirteen", 13),
    ("fourteen", 14),
    ("fifteen", 15),
    ("sixteen", 16),
    ("seventeen", 17),
    ("eighteen", 18),
    ("nineteen", 19),
];
const TENS: [(&str, u64); 8] = [
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
];

/// What is sent, where a pair of it is.
const SENT: [&str; 6] = ["messages", "requests", "packets", "files", "blocks", "frames"];

/// Parts of something by name.
const PARTS: [(&str, &str); 5] =
    [("half", "0.5"), ("quarter", "0.25"), ("fifth", "0.2"), ("eighth", "0.125"), ("tenth", "0.1")];

/// Powers of ten by name.
fn power(word: Option<&str>) -> Option<u32> {
    Some(match word? {
        "hundred" | "hundreds" => 2,
        "thousand" | "thousands" => 3,
        "million" | "millions" => 6,
        "billion" | "billions" => 9,
        _ => return None,
    })
}

/// The number that begins at a place: its digits, and the place after it. A bare "one" and "half" are numbers only in front
/// of what they can count, which `counts` says of a place.
pub fn number(words: Words<'_>, at: usize, counts: impl Fn(usize) -> bool) -> Option<(String, usize)> {
    if let Some(found) = raised(words, at) {
        return Some(found);
    }
    if let Some(Lexeme::Number(digits)) = words.0.get(at) {
        // "3/4 of a megabyte", "1/2 a megabyte"
        let article = at + 1 + usize::from(words.any(at + 1, &["of"]));
        if digits.starts_with("0.") && words.any(article, &["a", "an"]) && counts(article + 1) {
            return Some(multiplied(words, (digits.clone(), article + 1)));
        }
        let of = digits.starts_with("0.") && words.any(at + 1, &["of"]);
        if let Some(found) = of.then(|| part_of(words, digits, at + 2, &counts)).flatten() {
            return Some(found);
        }
        return Some(multiplied(words, halved(words, digits.clone(), at + 1)));
    }
    let article = usize::from(words.any(at, &["a", "an"]));
    if let Some(power) = power(words.low(at + article))
        && (article == 1 || counts(at + 1))
    {
        let (whole, end) = multiplied(words, (shifted("1", power as i32), at + article + 1));
        return added(words, &whole, end).or(Some((whole, end)));
    }
    if words.any(at + article, &["dozen"]) {
        return Some((String::from("12"), at + article + 1));
    }
    if words.any(at, &["half"]) && words.any(at + 1, &["a"]) && words.any(at + 2, &["dozen"]) {
        return Some((String::from("6"), at + 3));
    }
    if article == 1 && words.any(at + 1, &["couple"]) {
        return Some((String::from("2"), at + 2 + usize::from(words.any(at + 2, &["of"]))));
    }
    // "a pair of 1 KB messages", but not of processes, which work at once.
    let sent = |at: usize| matches!(words.0.get(at), Some(Lexeme::Number(_))) || words.any(at, &SENT);
    if article == 1 && words.any(at + 1, &["pair"]) && words.any(at + 2, &["of"]) && sent(at + 3) {
        return Some((String::from("2"), at + 3));
    }
    for (name, digits) in PARTS {
        if words.any(at + article, &[name]) {
            let mut next = at + article + 1;
            next += usize::from(words.any(next, &["of"]));
            if let Some(found) = part_of(words, digits, next, &counts) {
                return Some(found);
            }
            next += usize::from(words.any(next, &["a", "an"]));
            if power(words.low(next)).is_some() || counts(next) {
                return Some(multiplied(words, (digits.to_owned(), next)));
            }
        }
    }
    if let Some((digits, next)) =
        with_point(words, at).filter(|(_, next)| power(words.low(*next)).is_some() || counts(*next))
    {
        return Some(multiplied(words, (digits, next)));
    }
    let (value, next) = cardinal(words, at)?;
    let (whole, end) = multiplied(words, (value.to_string(), next));
    if end != next
        && let Some(found) = added(words, &whole, end)
    {
        return Some(found);
    }
    // "three quarters of a megabyte"
    if value < 4 && words.any(next, &["quarter", "quarters"]) {
        let of = next + 1 + usize::from(words.any(next + 1, &["of"]));
        let digits = format!("0.{:02}", value * 25);
        if let Some(found) = part_of(words, &digits, of, &counts) {
            return Some(found);
        }
        let of = of + usize::from(words.any(of, &["a", "an"]));
        if power(words.low(of)).is_some() || counts(of) {
            return Some(multiplied(words, (digits, of)));
        }
    }
    let counted = counts(next) || power(words.low(next)).is_some() || halved(words, String::from("1"), next).1 != next;
    if next == at + 1 && words.any(at, &["one"]) && !counted {
        return None;
    }
    Some(multiplied(words, halved(words, value.to_string(), next)))
}

/// "one point five", "point two five": decimals as they are spoken.
fn with_point(words: Words<'_>, at: usize) -> Option<(String, usize)> {
    let (whole, point) = cardinal(words, at).unwrap_or((0, at));
    if !words.any(point, &["point"]) {
        return None;
    }
    let digit = |at: usize| SMALL[..10].iter().find(|(name, _)| words.any(at, &[name])).map(|(_, digit)| *digit);
    let decimals: String = (point + 1..).map_while(digit).map(|digit| digit.to_string()).collect();
    (!decimals.is_empty()).then(|| (format!("{whole}.{decimals}"), point + 1 + decimals.len()))
}

/// "2^16", "2**16": the power's digits, and the place after it.
fn raised(words: Words<'_>, at: usize) -> Option<(String, usize)> {
    let Some(Lexeme::Number(base)) = words.0.get(at) else { return None };
    let stars = words.any(at + 1, &["*"]) && words.any(at + 2, &["*"]);
    let next = if words.any(at + 1, &["^"]) { at + 2 } else { at + 3 };
    let Some(Lexeme::Number(exponent)) = words.0.get(next).filter(|_| stars || next == at + 2) else { return None };
    let power = base.parse::<u64>().ok()?.checked_pow(exponent.parse().ok()?)?;
    Some((power.to_string(), next + 1))
}

/// A part of a number of something: "half of 8 MB".
fn part_of(words: Words<'_>, part: &str, at: usize, counts: impl Fn(usize) -> bool) -> Option<(String, usize)> {
    // "half of 64 byte messages" are so many of them.
    if words.any(at + 2, &SENT[..3]) {
        return None;
    }
    let Some(Lexeme::Number(whole)) = words.0.get(at) else { return None };
    let (whole, next) = multiplied(words, (whole.clone(), at + 1));
    counts(next).then(|| product(part, &whole)).flatten().map(|digits| (digits, next))
}

/// The product of two decimals, every digit of it; none where no integer of 128 bits holds them.
fn product(a: &str, b: &str) -> Option<String> {
    let parts = |digits: &str| {
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        Some((format!("{whole}{fraction}").parse::<u128>().ok()?, fraction.len() as i32))
    };
    let ((a, a_places), (b, b_places)) = (parts(a)?, parts(b)?);
    let digits = shifted(&a.checked_mul(b)?.to_string(), -(a_places + b_places));
    Some(if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.').to_owned() } else { digits })
}

/// "sixty four", "five hundred and twelve", up to 999.
fn cardinal(words: Words<'_>, at: usize) -> Option<(u64, usize)> {
    let of = |table: &[(&str, u64)], at: usize| table.iter().find(|(n, _)| words.any(at, &[n])).map(|(_, v)| *v);
    let two = |at: usize| match (of(&TENS, at), of(&SMALL[1..10], at + 1)) {
        (Some(tens), Some(ones)) => Some((tens + ones, at + 2)),
        (Some(tens), None) => Some((tens, at + 1)),
        _ => of(&SMALL, at).map(|v| (v, at + 1)),
    };
    let (value, next) = two(at)?;
    if value >= 10 || !words.any(next, &["hundred"]) {
        return Some((value, next));
    }
    let after = next + 1 + usize::from(words.any(next + 1, &["and"]));
    Some(two(after).map_or((value * 100, next + 1), |(rest, end)| (value * 100 + rest, end)))
}

/// "twelve thousand five hundred", "a thousand and twenty four": what comes on top of a number's thousands. Of "twelve thousand five hundred
/// byte messages" the thousands are counted, and nothing comes on top.
fn added(words: Words<'_>, whole: &str, at: usize) -> Option<(String, usize)> {
    let whole: u64 = whole.parse().ok()?;
    let (more, next) = cardinal(words, at + usize::from(words.any(at, &["and"])))?;
    let (more, next) = multiplied(words, (more.to_string(), next));
    let more: u64 = more.parse().ok()?;
    // A million has room for thousands, and these for hundreds.
    let room = [12, 9, 6, 3, 2].map(|n| 10u64.pow(n)).into_iter().find(|p| whole.is_multiple_of(*p))?;
    if more == 0 || more >= room || words.any(next + 1, &super::nouns::NOUNS) {
        return None;
    }
    let all = whole.checked_add(more)?.to_string();
    added(words, &all, next).or(Some((all, next)))
}

/// "... and a half", "... and three quarters".
fn halved(words: Words<'_>, digits: String, at: usize) -> (String, usize) {
    if !words.any(at, &["and"]) || digits.contains('.') {
        return (digits, at);
    }
    let parts = [(["half", "half"], "5"), (["quarter", "quarters"], "25")];
    for (_, decimals) in parts.iter().filter(|(names, _)| words.any(at + 2, names)) {
        match words.low(at + 1) {
            Some("a" | "one") => return (format!("{digits}.{decimals}"), at + 3),
            Some("three") if *decimals == "25" => return (format!("{digits}.75"), at + 3),
            _ => {}
        }
    }
    (digits, at)
}

/// Whether the word is a part of something whose decimals have no end: a third.
pub fn endless(word: &str) -> bool {
    matches!(word, "third" | "thirds" | "sixth" | "sixths" | "seventh" | "sevenths" | "ninth" | "ninths")
}

/// "... thousand", "... million", "... dozen".
fn multiplied(words: Words<'_>, (mut digits, mut at): (String, usize)) -> (String, usize) {
    while let Some(power) = power(words.low(at)).filter(|_| digits.len() < 60) {
        digits = shifted(&digits, power as i32);
        at += 1;
    }
    if words.any(at, &["dozen"])
        && let Some(twelve) = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(12))
    {
        return (twelve.to_string(), at + 1);
    }
    (digits, at)
}

#[cfg(test)]
mod tests {
    use super::super::lexer::lex;
    use super::super::names::Measured;
    use super::*;

    #[test]
    fn words_are_the_numbers_they_name() {
        for (text, want) in [
            ("ten", "10"),
            ("sixty four bytes", "64"),
            ("five hundred and twelve", "512"),
            ("a thousand", "1000"),
            ("two million", "2000000"),
            ("twelve thousand five hundred bytes", "12500"),
            ("two million three hundred thousand and one bytes", "2300001"),
            ("a thousand and twenty four bytes", "1024"),
            ("a hundred and twenty bytes", "120"),
            ("twelve hundred and fifty bytes", "1250"),
            ("half a megabyte", "0.5"),
            ("a quarter of a megabyte", "0.25"),
            ("three quarters of a megabyte", "0.75"),
            ("one and a half megabytes", "1.5"),
            ("2 and a half megabytes", "2.5"),
            ("one and a quarter megabytes", "1.25"),
            ("two and three quarters megabytes", "2.75"),
            ("a tenth of a megabyte", "0.1"),
            ("1/2 of a megabyte", "0.5"),
            ("3/4 megabytes", "0.75"),
            ("2^16 bytes", "65536"),
            ("2**20", "1048576"),
            ("1.5 million", "1500000"),
            ("half a million", "500000"),
            ("a dozen", "12"),
            ("one megabyte", "1"),
            ("one point five megabytes", "1.5"),
            ("two point seven five megabytes", "2.75"),
            ("twenty five point five bytes", "25.5"),
            ("point five megabytes", "0.5"),
            ("half a dozen", "6"),
            ("a pair of messages", "2"),
            ("half of 8 megabytes", "4"),
            ("half of 5 megabytes", "2.5"),
            ("a quarter of 1.5 million bytes", "375000"),
            ("3/4 of 8 megabytes", "6"),
            ("three quarters of 2 megabytes", "1.5"),
        ] {
            let found = lex(text, &Measured::default()).unwrap();
            let words = Words(&found);
            let unit = |at| words.any(at, &["megabyte", "megabytes", "bytes"]);
            assert_eq!(number(words, 0, unit).map(|n| n.0).as_deref(), Some(want), "{text}");
        }
        let found = lex("one way", &Measured::default()).unwrap();
        assert_eq!(number(Words(&found), 0, |_| false), None);
    }
}
