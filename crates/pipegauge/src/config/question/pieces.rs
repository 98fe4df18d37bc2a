//! Reading a question: one piece after another becomes an item.

use anyhow::{Result, bail};
use units::words::{Read, Unit, unit};

use super::InUnit;
use super::amounts::{Amount, Amounts, lines_and_rate, thousandths};
use super::lexer::Lexeme;
use super::lexicon::{LONGEST, Topic, topics};
use super::more::{adds, extra};
use super::names::{Measured, Named, elsewhere};
use super::nouns::NOUNS;
use super::numbers::Words;
use super::sentence::{Item, Sentence};
use super::spoken::spoken;
use super::suggest::shown;
use super::video::resolution;

impl Sentence {
    /// Takes the piece at a place; the place after it.
    pub fn next(&mut self, amounts: &Amounts<'_>, measured: &Measured, at: usize) -> Result<usize> {
        let words = amounts.words;
        if let Some(Lexeme::File(file)) = words.0.get(at) {
            self.file(measured, *file);
            return Ok(at + 1);
        }
        if let Some(Lexeme::Path(path)) = words.0.get(at) {
            if let Some((label, ..)) = measured.paths.get(*path) {
                self.path(label);
            }
            return Ok(at + 1);
        }
        if let Some(Lexeme::Transport(path)) = words.0.get(at) {
            if let Some((_, transport, _)) = measured.paths.get(*path) {
                self.path(transport);
            }
            return Ok(at + 1);
        }
        // "in a day" is a time, too, but where something is counted over it.
        let days = [("day", 86_400.0), ("week", 604_800.0)].into_iter().find(|(name, _)| words.any(at + 1, &[name]));
        if let Some((_, seconds)) = days.filter(|_| words.any(at, &["a", "one"]) && self.awaits_time(words, at))
            && !self.any(&[Topic::HowMany, Topic::HowMuch])
        {
            self.items.push(Item::Amount(Amount::Time(seconds)));
            return Ok(at + 2);
        }
        // "in a second" is a time; "bytes per second" without a number is a throughput.
        let span = words.any(at, &["a", "one", "each"])
            && words.any(at + 1, &["second", "sec"])
            && self.awaits_time(words, at);
        if span {
            self.items.push(Item::Amount(Amount::Time(1.0)));
            return Ok(at + 2);
        }
        if let Some(read) = words.text(at).filter(|_| !words.glued(at)).and_then(unit) {
            let u = match read {
                Read::Plainly(u) | Read::Usually(u, _) => u,
                Read::Either(one, other) if one.ends_with("/s") => bail!(
                    "'{}': `{}` can be read in two ways: {one} or {other}? Write the one that is meant",
                    amounts.shown(),
                    shown(words.text(at).unwrap_or(""))
                ),
                Read::Either(..) => return self.single(amounts, measured, at),
            };
            let per = amounts.per(at + 1);
            let many = at > 0 && words.any(at - 1, &["many", "much"]);
            // "the bandwidth in gigabits"
            let inside = at > 0 && words.any(at - 1, &["in"]) && self.has(Topic::Throughput);
            match (u, per) {
                (Unit::Rate(unit), _) => {
                    self.in_unit = in_unit(unit, 1.0);
                    return Ok(self.push(vec![Topic::Throughput], at + 1));
                }
                (Unit::Size(unit) | Unit::Bits(unit), Some((span, next))) => {
                    self.in_unit = in_unit(unit, span);
                    return Ok(self.push(vec![Topic::Throughput], next));
                }
                // "how many KB per request at 1000 requests per second"
                (Unit::Size(_), None)
                    if many
                        && words.any(at + 1, &["per", "each", "in"])
                        && words.any(at + 2, &NOUNS)
                        && paced(words, at + 3) =>
                {
                    return Ok(self.push(vec![Topic::HowBig], at + 3));
                }
                (Unit::Size(unit) | Unit::Bits(unit), None) if inside => {
                    (self.in_unit, self.alone) = (in_unit(unit, 1.0), true);
                    return Ok(at + 1);
                }
                // "n1/2 in KB", "how big can it be in bytes"
                (Unit::Size(unit), None)
                    if at > 0
                        && words.any(at - 1, &["in"])
                        && self.any(&[
                            Topic::HalfPower,
                            Topic::HowBig,
                            Topic::WhichSize,
                            Topic::Saturation,
                            Topic::SmallestSize,
                        ]) =>
                {
                    (self.in_unit, self.alone) = (in_unit(unit, 1.0), true);
                    return Ok(at + 1);
                }
                // "4 KiB in ns": a time is what it is told in anyway.
                (Unit::Time(_), None)
                    if at > 0 && words.any(at - 1, &["in"]) && topics(words.low(at).unwrap_or("")).is_empty() =>
                {
                    return Ok(self.push(vec![Topic::HowLong], at + 1));
                }
                (Unit::Bits(unit), None) if many => {
                    (self.in_unit, self.alone) = (in_unit(unit, 1.0), true);
                    return Ok(self.push(vec![Topic::Throughput], at + 1));
                }
                (Unit::Size(unit), None) if many && unit != "B" => {
                    (self.in_unit, self.alone) = (in_unit(unit, 1.0), true);
                    return Ok(self.push(vec![Topic::Data], at + 1));
                }
                _ => {}
            }
        }
        // "how many images a minute", but "in a minute", which is a time; a day is counted over in either way.
        let in_time = at > 0 && words.any(at - 1, &["in", "within", "for", "under", "than", "takes", "take"]);
        let days = words.any(at + 1, &["day", "week"]);
        let a_day = words.any(at, &["a", "an"])
            && ((self.has(Topic::HowMany) && (!in_time || days)) || (self.has(Topic::HowMuch) && days));
        // "per hour", "every second": the time that something is counted over, apart from its number.
        let every = words.any(at, &["each", "every"]);
        let alone = every || a_day || words.any(at, &["per"]) || words.low(at).is_some_and(|t| t.starts_with('/'));
        if let Some((seconds, next)) = amounts.per(at).filter(|p| alone && (p.0 != 1.0 || every)) {
            if every {
                self.push(vec![Topic::Every], at);
            }
            self.items.push(Item::Amount(Amount::Period(seconds)));
            return Ok(self.push(vec![Topic::PerSecond], next));
        }
        // "how many messages per megabyte": no path has a part in it.
        let whole = at + 1 + usize::from(words.any(at + 1, &["a", "an", "one"]));
        if self.has(Topic::HowMany)
            && self.any(&[Topic::Messages, Topic::Requests, Topic::Frames])
            && words.any(at, &["per", "in"])
            && !words.any(whole, &["bytes", "byte", "b"])
            && words.text(whole).and_then(unit).is_some_and(sized)
            && !words.any(whole + 1, &NOUNS)
        {
            bail!(
                "'{}': how many make up that much follows from their size, whatever the path; ask what they take: 'how long for 1 MB in \
                 messages of 64KiB?', or 'how many 1 KB messages per second?'",
                amounts.shown()
            );
        }
        if self.copied(words, at, measured) {
            return Ok(self.push(vec![Topic::Filler], at + 1));
        }
        // "cpu per gigabyte", "each kilobyte": of a unit of size with no number.
        if !self.has(Topic::HowMany)
            && words.any(at, &["per", "each", "every"])
            && words.text(at + 1).and_then(unit).is_some_and(sized)
            && !words.any(at + 2, &NOUNS)
        {
            return Ok(self.push(vec![Topic::PerByte], at + 2));
        }
        if let Some(next) = self.beside(amounts, measured, at)? {
            return Ok(next);
        }
        if let Some((bytes, note)) = extra(words, at) {
            self.notes.extend(note.map(str::to_owned));
            self.push(vec![Topic::Further], at);
            self.items.push(Item::Amount(Amount::Size(bytes)));
            return Ok(at + 3);
        }
        if adds(words, at) {
            return Ok(self.push(vec![Topic::Further], at + 1));
        }
        if let Some(next) = one_more(words, at) {
            return Ok(self.push(vec![Topic::PerByte], next));
        }
        if let Some(next) = more_of(words, at).filter(|next| matches!(words.0.get(*next), Some(Lexeme::Number(_)))) {
            return Ok(self.push(vec![Topic::Further], next));
        }
        // "what does 1 KiB more cost"
        let behind =
            matches!(self.items.last(), Some(Item::Amount(Amount::Size(_)))) && words.any(at, &["more", "extra"]);
        let costs = || (0..words.0.len()).any(|i| words.any(i, &["cost", "costs", "price", "expensive"]));
        if behind && costs() && !words.any(at + 1, &["than"]) {
            return Ok(self.push(vec![Topic::Further], at + 1));
        }
        // "full HD"
        let two = words.low(at).zip(words.low(at + 1)).map(|(a, b)| format!("{a}{b}"));
        if let Some(pixels) = two.filter(|t| matches!(t.as_str(), "fullhd" | "ultrahd")).and_then(|t| resolution(&t)) {
            self.frame.pixels = Some(pixels);
            return Ok(self.push(vec![Topic::Video], at + 2));
        }
        // The line of the machines that this measures on.
        let line = if words.any(at, &["cacheline"]) { at + 1 } else { at + 2 };
        if line == at + 1 || (words.any(at, &["cache"]) && words.any(at + 1, &["line"])) {
            self.notes.push("a cache line is taken as 64 B".to_owned());
            self.items.push(Item::Amount(Amount::Size(64)));
            return Ok(line);
        }
        for n in (2..=LONGEST).rev() {
            if let Some(next) = self.phrase(words, at, n) {
                return Ok(next);
            }
        }
        if let Some(found) = amounts.at(at)? {
            if let Some(note) = found.note.filter(|n| !self.notes.iter().any(|m| m == n)) {
                self.notes.push(note.to_owned());
            }
            match found.amount {
                Amount::Pixels(width, height) => {
                    if self.frame.pixels.replace((width, height)).is_some() {
                        bail!("'{}': two sizes of a frame; ask about one", shown(amounts.question));
                    }
                }
                Amount::Depth(bits) => self.frame.bits(bits),
                amount => self.items.push(Item::Amount(amount)),
            }
            return Ok(found.next);
        }
        self.single(amounts, measured, at)
    }

    /// Whether what stands before a place makes "a second" there a time.
    fn awaits_time(&self, words: Words<'_>, at: usize) -> bool {
        at > 0
            && words.any(at - 1, &["in", "within", "under", "below", "takes", "take", "than", "for", "about", "least"])
    }

    /// Whether memory is what is sent here, and no path: "16 GB of ram over shm". Where the copy within a process was not measured, it is
    /// hardly asked about.
    fn copied(&self, words: Words<'_>, at: usize, measured: &Measured) -> bool {
        let filler =
            |i: &&Item| !matches!(i, Item::Topics(t) if t.iter().any(|t| matches!(t, Topic::Filler | Topic::From)));
        let sized = matches!(self.items.iter().rev().find(filler), Some(Item::Amount(Amount::Size(_))));
        let over =
            words.any(at + 1, &["over", "via", "through", "using", "across", "with"]) && names_path(words, at + 2);
        let copies = measured.paths.iter().any(|(_, transport, _)| *transport == "memcpy");
        words.any(at, &["ram", "memory"]) && sized && (over || !copies)
    }

    fn push(&mut self, topics: Vec<Topic>, next: usize) -> usize {
        self.items.push(Item::Topics(topics));
        next
    }

    /// `n` words from a place as one phrase.
    fn phrase(&mut self, words: Words<'_>, at: usize, n: usize) -> Option<usize> {
        let all: Option<Vec<&str>> =
            (at..at + n).map(|i| words.low(i).filter(|_| i == at || !words.glued(i))).collect();
        let phrase = all?.join(" ");
        // "does it take over 30 us", but "how long does it take over tcp"
        if matches!(phrase.as_str(), "take over" | "takes over") && names_path(words, at + n) {
            return None;
        }
        if let Some((transport, _)) = spoken().find(|(_, names)| names.contains(&phrase.as_str())) {
            self.path(transport);
            // Datagrams are what udp sends, and what is counted.
            if NOUNS.contains(&phrase.as_str()) {
                self.items.push(Item::Topics(vec![Topic::Messages]));
            }
            return Some(at + n);
        }
        // "longest round", but "longest round trip"
        if phrase.ends_with(" round") && words.any(at + n, &["trip", "trips"]) {
            return None;
        }
        // "max message in 3 ms", but "max message rate"
        if BARE.contains(&phrase.as_str()) && words.any(at + n, &RATED) {
            return None;
        }
        let found = topics(&phrase);
        (!found.is_empty()).then(|| self.push(found, at + n))
    }

    fn single(&mut self, amounts: &Amounts<'_>, measured: &Measured, at: usize) -> Result<usize> {
        let words = amounts.words;
        let (Some(word), Some(text)) = (words.low(at), words.text(at)) else { return Ok(at + 1) };
        if let Some((value, next)) = percentile(words, at) {
            let thousandths = thousandths(value, &amounts.shown())?;
            self.items.push(Item::Amount(Amount::Percentile(thousandths)));
            return Ok(next);
        }
        if words.glued(at)
            && let Some(Item::Amount(Amount::Bare(lines))) = self.items.last()
            && let Some((pixels, rate)) = lines_and_rate(lines, word)
        {
            self.items.pop();
            self.frame.pixels = Some(pixels);
            self.items.push(Item::Amount(Amount::PerSecond(rate)));
            return Ok(self.push(vec![Topic::Frames], at + 1));
        }
        if let Some(pixels) = resolution(word) {
            self.frame.pixels = Some(pixels);
            return Ok(self.push(vec![Topic::Video], at + 1));
        }
        if self.frame.stored(word) {
            return Ok(self.push(vec![Topic::Video], at + 1));
        }
        if let Some(next) = self.phrase(words, at, 1) {
            return Ok(next);
        }
        // "can't", "won't", "isn't": each turns the meaning round.
        if word.ends_with("n't") {
            return Ok(self.push(vec![Topic::Not], at + 1));
        }
        if elsewhere(word) {
            return Err(measured.unknown(amounts.question, text));
        }
        let parts: Vec<&str> = word.split('/').filter(|p| !p.is_empty()).collect();
        if parts.len() > 1 {
            let inside: Vec<Lexeme> = parts
                .iter()
                .map(|p| Lexeme::Word { text: (*p).to_owned(), lower: (*p).to_owned(), glued: false })
                .collect();
            let inner = Amounts { question: amounts.question, words: Words(&inside), video: amounts.video };
            for i in 0..inside.len() {
                self.single(&inner, measured, i)?;
            }
            return Ok(at + 1);
        }
        // "tcp in lan2": of several run files one is meant, and it is none of them.
        if measured.files.len() > 1
            && at > 0
            && words.any(at - 1, &["in", "of", "from"])
            && super::lexicon::meant(word).is_none()
        {
            return Err(measured.no_file(amounts.question, text));
        }
        self.items.push(Item::Unread(text.to_owned()));
        Ok(at + 1)
    }

    fn path(&mut self, name: &str) {
        self.items.push(Item::Path(Named { transport: Some(name.to_owned()), file: None }));
    }

    /// A run file; behind a path it says which of that name.
    fn file(&mut self, measured: &Measured, file: usize) {
        let name = measured.files.get(file).map(|(name, _)| name.clone());
        let near = self.items.len().saturating_sub(2);
        for item in self.items[near..].iter_mut().rev() {
            match item {
                Item::Path(Named { file: of @ None, .. }) => {
                    *of = name;
                    return;
                }
                Item::Topics(t) if t.contains(&Topic::Filler) || t.contains(&Topic::Instead) => {}
                _ => break,
            }
        }
        self.items.push(Item::Path(Named { transport: None, file: name }));
    }
}

/// The largest or the smallest message, which may be that of a rate or a time.
#[rustfmt::skip]
const BARE: [&str; 10] = [
    "max message", "max msg", "maximum message", "maximum msg", "maximal message", "max packet", "maximum packet", "min message", "min packet", "minimum packet",
];

/// What a message has, and is not.
const RATED: [&str; 8] = ["rate", "rates", "latency", "latencies", "time", "times", "delay", "throughput"];

/// Whether a path is named at a place.
pub fn names_path(words: Words<'_>, at: usize) -> bool {
    let spoken = words.low(at).is_some_and(|word| spoken().any(|(_, names)| names.contains(&word)));
    spoken
        || words.any(at, &["shared", "unix"])
        || matches!(words.0.get(at), Some(Lexeme::Path(_) | Lexeme::Transport(_)))
}

/// The place behind "one more kilobyte", "each further megabyte", "another KiB", where such stands.
fn one_more(words: Words<'_>, at: usize) -> Option<usize> {
    let unit_at = more_of(words, at)?;
    let size = sized(words.text(unit_at).and_then(unit)?);
    (size && !words.any(unit_at + 1, &NOUNS)).then_some(unit_at + 1)
}

/// The place behind "one more", "each further", "another".
fn more_of(words: Words<'_>, at: usize) -> Option<usize> {
    const MORE: [&str; 4] = ["more", "further", "extra", "additional"];
    let counted = words.any(at, &["one", "each", "every", "an", "any"]) && words.any(at + 1, &MORE);
    match () {
        () if counted => Some(at + 2),
        () if words.any(at, &MORE[1..]) || words.any(at, &["another"]) => Some(at + 1),
        () => None,
    }
}

/// Whether so many a second are spoken of behind a place.
fn paced(words: Words<'_>, from: usize) -> bool {
    (from..words.0.len()).any(|at| words.any(at, &["second", "sec", "/s", "fps", "hz", "millisecond", "ms"]))
}

/// Whether a unit is one of size.
fn sized(read: Read) -> bool {
    matches!(read, Read::Plainly(Unit::Size(_)) | Read::Usually(Unit::Size(_), _))
}

/// A unit of bits or bytes over a time, or of a rate.
fn in_unit(unit: &'static str, span: f64) -> Option<InUnit> {
    let a_second = if unit.ends_with("/s") { unit.to_owned() } else { format!("{unit}/s") };
    let bits = format!("1{a_second}").parse::<units::BitRate>().ok()?.0;
    Some(InUnit { unit, span, bits: bits / span })
}

/// "p99", "p99.9", "p999" and "percentile 99", in percent, and the place after.
fn percentile(words: Words<'_>, at: usize) -> Option<(f64, usize)> {
    let word = words.low(at)?;
    if matches!(word, "percentile" | "percentiles")
        && let Some(Lexeme::Number(digits)) = words.0.get(at + 1)
    {
        return Some((digits.parse().ok()?, at + 2));
    }
    let digits = word.strip_prefix('p').filter(|d| d.starts_with(|c: char| c.is_ascii_digit()) && !words.glued(at))?;
    let value = digits.parse::<f64>().ok()?;
    // p999 is p99.9.
    let value = match digits.len() {
        3 if digits.starts_with("99") => value / 10.0,
        4 if digits.starts_with("999") => value / 100.0,
        5 if digits.starts_with("9999") => value / 1000.0,
        _ => value,
    };
    Some((value, at + 1))
}
