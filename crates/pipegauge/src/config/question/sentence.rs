//! What was read in a question, word by word: amounts, paths and topics, and what was not read.

use anyhow::{Result, bail};
use units::words::{Read, Unit, unit};

use super::InUnit;
use super::Ranked;
use super::amounts::{Amount, Amounts};
use super::lexer::lex;
use super::lexicon::{Topic, meant};
use super::names::{Measured, Named, stem};
use super::numbers::Words;
use super::spoken::spoken;
use super::suggest::shown;
use super::video::Frame;

/// A piece of a question with its meaning.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A number with what it counts.
    Amount(Amount),
    /// A path.
    Path(Named),
    /// A path that is left out.
    But(Named),
    /// What the words are about.
    Topics(Vec<Topic>),
    /// A word that is not known.
    Unread(String),
}

/// A question as it was read, piece by piece.
#[derive(Debug, Clone, Default)]
pub struct Sentence {
    /// Its pieces, in order.
    pub items: Vec<Item>,
    /// How words that can mean more than one thing were taken.
    pub notes: Vec<String>,
    /// What it says of frames of video.
    pub frame: Frame,
    /// The unit of a rate that it asks for.
    pub in_unit: Option<InUnit>,
    /// The unit of a time that it asks for: "us".
    pub in_time: Option<&'static str>,
    /// The unit stands without a time: "how many megabits".
    pub alone: bool,
    /// The path of which it is asked whether it is the first of all, or the last.
    pub ranked: Option<Ranked>,
}

/// Words that make 4K a resolution and not a size.
#[rustfmt::skip]
const VIDEO: [&str; 26] = [
    "video", "videos", "fps", "hz", "frame", "frames", "uhd", "resolution", "uncompressed", "display", "screen",
    "monitor", "camera", "pixels", "1080", "rgb", "rgba", "yuv420", "yuv422", "nv12", "footage", "movie", "desktop",
    "hd", "framerate", "fullhd",
];

/// Words that change an amount: where they are not read, the rest is another question.
#[rustfmt::skip]
const CHANGES: [&str; 41] = [
    "half", "halves", "halved", "third", "thirds", "quarter", "quarters", "fifth", "tenth", "twice", "thrice", "double", "doubled",
    "doubles", "triple", "tripled", "quadruple", "percent", "percentage", "fraction", "share", "proportion", "squared",
    "increase", "increased", "decrease", "decreased", "reduce", "reduced", "cold", "uncached", "handful", "hundreds", "thousands", "millions",
    "billions", "dozens", "nearly", "almost", "equally", "uncontended",
];

impl Sentence {
    /// Reads a question about these paths.
    pub fn of(text: &str, measured: &Measured) -> Result<Self> {
        let lexemes = lex(text, measured)?;
        let words = Words(&lexemes);
        let video = (0..lexemes.len()).any(|i| words.any(i, &VIDEO));
        let mut sentence = Self { in_time: in_time(words), ..Self::default() };
        let amounts = Amounts { question: text, words, video };
        let mut at = 0;
        while at < lexemes.len() {
            at = sentence.next(&amounts, measured, at)?;
        }
        sentence.leave_out();
        sentence.on_top();
        sentence.grows();
        sentence.equals(text)?;
        sentence.in_files(text)?;
        sentence.paths_exist(text, measured)?;
        Ok(sentence)
    }

    /// Whether a topic was read.
    pub fn has(&self, topic: Topic) -> bool {
        self.items.iter().any(|i| matches!(i, Item::Topics(t) if t.contains(&topic)))
    }

    /// Whether a load is spoken of: "load 1 MB" is what somebody does with a message.
    pub fn loads(&self) -> bool {
        let load = |i: &Item| matches!(i, Item::Topics(t) if t.contains(&Topic::Load));
        let sized =
            |at: usize| matches!(self.items.get(at + 1), Some(Item::Amount(Amount::Size(_) | Amount::Count(_))));
        self.items.iter().enumerate().any(|(at, item)| load(item) && !sized(at))
    }

    /// Whether the largest message is asked for, and not the largest of the times: "less than 15 us latency, what is the largest message".
    pub fn asks_for_the_largest(&self) -> bool {
        let has = |item: Option<&Item>, topic: Topic| matches!(item, Some(Item::Topics(t)) if t.contains(&topic));
        let largest =
            |at: &usize| has(self.items.get(*at), Topic::HowBig) && !has(self.items.get(at + 1), Topic::Latency);
        self.has(Topic::Within) && (0..self.items.len()).any(|at| largest(&at))
    }

    /// Whether any of these was read.
    pub fn any(&self, of: &[Topic]) -> bool {
        of.iter().any(|t| self.has(*t))
    }

    /// Whether something comes each time of a length: "every 16 ms".
    pub fn each_time(&self) -> bool {
        let every = |i: &Item| matches!(i, Item::Topics(t) if t.contains(&Topic::Every));
        let time = |i: &Item| matches!(i, Item::Amount(Amount::Time(_) | Amount::Period(_)));
        self.items.windows(2).any(|two| every(&two[0]) && time(&two[1]))
    }

    /// The percentiles that are asked for, thousandths of a percent.
    pub fn percentiles(&self) -> Vec<u32> {
        let of = |item: &Item| match item {
            Item::Amount(Amount::Percentile(p)) => vec![*p],
            Item::Topics(t) => {
                t.iter().filter_map(|t| if let Topic::Percentile(p) = t { Some(*p) } else { None }).collect()
            }
            _ => Vec::new(),
        };
        self.items.iter().flat_map(of).collect()
    }

    /// The paths that were named, each once.
    pub fn paths(&self) -> Vec<Named> {
        self.named(|item| if let Item::Path(named) = item { Some(named) } else { None })
    }

    /// The paths that are left out, each once.
    pub fn but(&self) -> Vec<Named> {
        self.named(|item| if let Item::But(named) = item { Some(named) } else { None })
    }

    fn named(&self, of: impl Fn(&Item) -> Option<&Named>) -> Vec<Named> {
        let mut found: Vec<Named> = Vec::new();
        for named in self.items.iter().filter_map(of) {
            if !found.contains(named) {
                found.push(named.clone());
            }
        }
        found
    }

    /// "is tcp faster in a than in b": a path and the run files that it is asked of, which stand apart from it.
    fn in_files(&mut self, text: &str) -> Result<()> {
        let named = |i: &usize| if let Item::Path(named) = &self.items[*i] { Some(named.clone()) } else { None };
        let all: Vec<(usize, Named)> = (0..self.items.len()).filter_map(|i| Some((i, named(&i)?))).collect();
        let files: Vec<&(usize, Named)> = all.iter().filter(|(_, n)| n.transport.is_none()).collect();
        let mut paths: Vec<&str> = all.iter().filter_map(|(_, n)| n.transport.as_deref()).collect();
        paths.dedup();
        let whole = |n: &Named| n.transport.is_some() && n.file.is_some();
        match (&paths[..], &files[..]) {
            ([], _) => Ok(()),
            // "is unix faster than tcp in a": both in that run.
            (_, []) => {
                let mut runs: Vec<&Named> = all.iter().map(|(_, n)| n).filter(|n| whole(n)).collect();
                runs.dedup();
                if let [run] = runs[..] {
                    for (i, named) in all.iter().filter(|(_, n)| !whole(n) && n.transport != run.transport) {
                        self.items[*i] = Item::Path(Named { file: run.file.clone(), ..named.clone() });
                    }
                }
                Ok(())
            }
            ([path], files) => {
                let path = (*path).to_owned();
                let files: Vec<usize> = files.iter().map(|(i, _)| *i).collect();
                for (i, named) in all.iter().filter(|(_, n)| !whole(n)) {
                    self.items[*i] = match files.contains(i) {
                        true => Item::Path(Named { transport: Some(path.clone()), ..named.clone() }),
                        false => Item::Topics(vec![Topic::Filler]),
                    };
                }
                Ok(())
            }
            // "is unix faster than tcp in a"
            (_, [(_, file)]) if !all.iter().any(|(_, n)| whole(n)) => {
                for (i, named) in &all {
                    self.items[*i] = match named.transport {
                        Some(_) => Item::Path(Named { file: file.file.clone(), ..named.clone() }),
                        None => Item::Topics(vec![Topic::Filler]),
                    };
                }
                Ok(())
            }
            ([first, ..], [(_, file), ..]) => bail!(
                "'{}': which path of which run? Name each with its run: '{first} in {}'",
                shown(text),
                shown(stem(file.file.as_deref().unwrap_or("")))
            ),
        }
    }

    /// Takes the paths behind "except" for paths that are left out, and "except" for read.
    fn leave_out(&mut self) {
        let has = |item: &Item, of: &[Topic]| matches!(item, Item::Topics(t) if t.iter().any(|t| of.contains(t)));
        for at in 0..self.items.len() {
            if !has(&self.items[at], &[Topic::Excluding]) {
                continue;
            }
            // "save" takes paths away only where one stands right behind it.
            let saves = has(&self.items[at], &[Topic::Cost]);
            let passed = |item: &&Item| !saves && has(item, &[Topic::Filler, Topic::Over, Topic::Which]);
            let mut next = at + 1 + self.items[at + 1..].iter().take_while(passed).count();
            while let Some(Item::Path(named)) = self.items.get(next) {
                self.items[next] = Item::But(named.clone());
                self.items[at] = Item::Topics(vec![Topic::Filler]);
                next += 1;
                // "except tcp, unix and shm"
                let joined = self.items.get(next).is_some_and(|i| has(i, &[Topic::And, Topic::Or]));
                next += usize::from(joined && matches!(self.items.get(next + 1), Some(Item::Path(_))));
            }
        }
    }

    /// Whether more (true) or less (false) than an amount is asked for; `slow` says whether more of it is slower. None where the words
    /// do not say, an error in words where they say both.
    pub fn direction(&self, slow: bool) -> Result<Option<bool>, &'static str> {
        let mut found = None;
        for (i, item) in self.items.iter().enumerate() {
            let Item::Topics(topics) = item else { continue };
            let has = |t: Topic| topics.contains(&t);
            // "do at least 95% arrive within 50 us": of so many of them, and not of the time.
            if let Some(of_share) = self.before_share(i) {
                match of_share {
                    true => continue,
                    false => return Err("at most so many of them are asked for"),
                }
            }
            // "does it take over 30 us"
            let over = topics[..] == [Topic::Over]
                && slow
                && matches!(self.items.get(i + 1), Some(Item::Amount(Amount::Time(_))));
            let more = match () {
                () if has(Topic::Above) || over => true,
                () if has(Topic::Below) => false,
                () if has(Topic::Quicker) => !slow,
                () if has(Topic::Slower) => slow,
                () => continue,
            };
            // "is 10 Gbit/s more than tcp can do": the amount stands before the words, and the path is what it is held against.
            let amount = |i: &Item| matches!(i, Item::Amount(Amount::Time(_) | Amount::Rate(_)));
            let before =
                !has(Topic::Bound) && self.items[..i].iter().any(amount) && !self.items[i..].iter().any(amount);
            let path = |i: &Item| match i {
                Item::Path(_) => true,
                Item::Topics(t) => {
                    t.iter().any(|t| matches!(t, Topic::Latency | Topic::RoundTrip | Topic::Throughput | Topic::Most))
                }
                _ => false,
            };
            if before && !self.items[i..].iter().any(path) {
                return Err("more or less than what is not said");
            }
            let more = more != before;
            if found.is_some_and(|before| before != more) {
                return Err("both more and less are asked for");
            }
            found = Some(more);
        }
        Ok(found)
    }

    /// Whether words at a place say that so many messages or more (true), or less (false), are asked about; none where they say nothing of a share.
    fn before_share(&self, at: usize) -> Option<bool> {
        let has = |i: &Item, of: &[Topic]| matches!(i, Item::Topics(t) if t.iter().any(|t| of.contains(t)));
        let next = self.items[at + 1..].iter().find(|i| !has(i, &[Topic::Filler]))?;
        let share = matches!(next, Item::Amount(Amount::Percentile(_)));
        let (more, less) = ([Topic::Above], [Topic::Below, Topic::Quicker, Topic::Slower]);
        match () {
            () if !share => None,
            () if has(&self.items[at], &more) => Some(true),
            () if has(&self.items[at], &less) => Some(false),
            () => None,
        }
    }

    /// Whether the contrary stands beside what is asked: "does it reach 5 Gbit/s, or does it fail".
    pub fn or_else(&self) -> bool {
        let has = |item: &Item, of: &[Topic]| matches!(item, Item::Topics(t) if t.iter().any(|t| of.contains(t)));
        let joint = |item: &&Item| {
            has(item, &[Topic::Filler, Topic::HowFast]) || matches!(item, Item::Topics(t) if t[..] == [Topic::Can])
        };
        let begins = |(at, item): (usize, &Item)| {
            has(item, &[Topic::Or])
                && self.items[at + 1..]
                    .iter()
                    .find(|i| !joint(i))
                    .is_some_and(|i| has(i, &[Topic::Fails, Topic::Slower]))
        };
        self.items.iter().enumerate().any(begins)
    }

    /// The amounts, by what `of` takes from them.
    pub fn amounts<T>(&self, of: impl Fn(&Amount) -> Option<T>) -> Vec<T> {
        let amount = |i: &Item| match i {
            Item::Amount(a) => of(a),
            _ => None,
        };
        self.items.iter().filter_map(amount).collect()
    }

    /// Fails where an amount is asked to be met exactly: "is the latency = 50 us".
    fn equals(&self, text: &str) -> Result<()> {
        let sign = |i: &Item| matches!(i, Item::Unread(word) if word == "=" || word == "\u{2260}");
        let limit = |i: &Item| matches!(i, Item::Amount(Amount::Time(_) | Amount::Rate(_)));
        if self.items.windows(2).any(|two| sign(&two[0]) && limit(&two[1])) {
            bail!(
                "'{}': whether something takes or moves exactly so much no measurement tells; ask whether it is less or more: 'does 64KiB \
                 arrive within 20 us?'",
                shown(text)
            );
        }
        Ok(())
    }

    /// Fails where what is to be counted was not read, and something else stands in the question that can be: "how many floats in messages of
    /// 4 KiB" is no number of messages.
    pub fn counts_what_is_known(&self, text: &str) -> Result<()> {
        let has = |item: &Item, of: &[Topic]| matches!(item, Item::Topics(t) if t.iter().any(|t| of.contains(t)));
        let counted = [Topic::Messages, Topic::Requests, Topic::Frames, Topic::Connections, Topic::Streams];
        for (i, two) in self.items.windows(2).enumerate() {
            let Item::Unread(word) = &two[1] else { continue };
            if has(&two[0], &[Topic::HowMany]) && self.items[i + 2..].iter().any(|item| has(item, &counted)) {
                bail!(
                    "'{}': how many '{}' is not counted here; ask how many messages, requests, frames, connections or bytes",
                    shown(text),
                    shown(word)
                );
            }
        }
        Ok(())
    }

    /// Words that were not read.
    pub fn unread(&self) -> Vec<&str> {
        let unread = |i: &'_ Item| matches!(i, Item::Unread(_));
        self.items.iter().filter(|i| unread(i)).map(|i| if let Item::Unread(w) = i { w.as_str() } else { "" }).collect()
    }

    /// Fails where a word that was not read changes an amount, an unknown word stands in a path's place, or is a slip of the pen, or a path was not measured.
    fn paths_exist(&self, text: &str, measured: &Measured) -> Result<()> {
        for (i, item) in self.items.iter().enumerate() {
            let Item::Unread(word) = item else { continue };
            if CHANGES.contains(&word.to_lowercase().as_str()) {
                bail!(
                    "'{}': '{}' changes what is asked, and is not read here; write the amount itself",
                    shown(text),
                    shown(word)
                );
            }
            let filler = |i: &Item| matches!(i, Item::Topics(t) if t.contains(&Topic::Filler));
            let before = self.items[..i].iter().rev().find(|i| !filler(i));
            let after = self.items[i + 1..].iter().find(|i| !filler(i));
            let beside = |item: Option<&Item>, of: &[Topic]| matches!(item, Some(Item::Topics(t)) if t.iter().any(|t| of.contains(t)));
            let place = beside(before, &[Topic::Over, Topic::Versus, Topic::Instead])
                || beside(after, &[Topic::Versus])
                || (beside(before, &[Topic::And, Topic::Or]) && !self.paths().is_empty());
            let elsewhere = self
                .items
                .iter()
                .any(|i| matches!(i, Item::Topics(t) if t.iter().any(|t| matches!(t, Topic::Elsewhere(_)))));
            if let Some(near) = meant(&word.to_lowercase()).filter(|_| !elsewhere) {
                if spoken().any(|(_, names)| names.contains(&near)) {
                    return Err(measured.unknown(text, word));
                }
                bail!("'{}': '{}' is no word that this knows; was '{near}' meant?", shown(text), shown(word));
            }
            if place {
                return Err(measured.unknown(text, word));
            }
        }
        match self.paths().iter().find(|p| !measured.has(p)) {
            Some(named) => Err(measured.lacks(text, named)),
            None => Ok(()),
        }
    }
}

/// The unit that a time is asked for in: "how long in microseconds", "how many ns". A number before it makes it an amount.
fn in_time(words: Words<'_>) -> Option<&'static str> {
    (1..words.0.len()).find_map(|at| match words.text(at).and_then(unit)? {
        Read::Plainly(Unit::Time(symbol)) if words.any(at - 1, &["in", "many"]) => Some(symbol),
        _ => None,
    })
}
