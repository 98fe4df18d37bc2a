//! What was heard in a question, word by word: amounts, paths and topics, and what was not read.

use anyhow::{Result, bail};

use super::amounts::{Amount, Amounts};
use super::lexer::lex;
use super::lexicon::{Topic, meant};
use super::names::{Measured, Named, spoken};
use super::numbers::Words;
use super::suggest::shown;
use super::video::Frame;

/// A piece of a question with its meaning.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A number with what it counts.
    Amount(Amount),
    /// A path.
    Path(Named),
    /// What the words are about.
    Topics(Vec<Topic>),
    /// A word that is not known.
    Unread(String),
}

/// A question, heard.
#[derive(Debug, Clone, Default)]
pub struct Heard {
    /// Its pieces, in order.
    pub items: Vec<Item>,
    /// How words that can mean more than one thing were taken.
    pub notes: Vec<String>,
    /// What it says of frames of video.
    pub frame: Frame,
}

/// Words that make 4K a resolution and not a size.
#[rustfmt::skip]
const VIDEO: [&str; 26] = [
    "video", "videos", "fps", "hz", "frame", "frames", "uhd", "resolution", "uncompressed", "display", "screen",
    "monitor", "camera", "pixels", "1080", "rgb", "rgba", "yuv420", "yuv422", "nv12", "footage", "movie", "desktop",
    "hd", "framerate", "fullhd",
];

impl Heard {
    /// Hears a question about these paths.
    pub fn of(text: &str, measured: &Measured) -> Result<Self> {
        let lexemes = lex(text, measured)?;
        let words = Words(&lexemes);
        let video = (0..lexemes.len()).any(|i| words.any(i, &VIDEO));
        let mut heard = Self::default();
        let amounts = Amounts { question: text, words, video };
        let mut at = 0;
        while at < lexemes.len() {
            at = heard.next(&amounts, measured, at)?;
        }
        heard.paths_exist(text, measured)?;
        Ok(heard)
    }

    /// Whether a topic was heard.
    pub fn has(&self, topic: Topic) -> bool {
        self.items.iter().any(|i| matches!(i, Item::Topics(t) if t.contains(&topic)))
    }

    /// Whether any of these was heard.
    pub fn any(&self, of: &[Topic]) -> bool {
        of.iter().any(|t| self.has(*t))
    }

    /// Whether something comes each time of a length: "every 16 ms".
    pub fn each_time(&self) -> bool {
        let every = |i: &Item| matches!(i, Item::Topics(t) if t.contains(&Topic::Every));
        let time = |i: &Item| matches!(i, Item::Amount(Amount::Time(_) | Amount::Period(_)));
        self.items.windows(2).any(|two| every(&two[0]) && time(&two[1]))
    }

    /// The paths that were named, each once.
    pub fn paths(&self) -> Vec<Named> {
        let mut found = Vec::new();
        for item in &self.items {
            if let Item::Path(named) = item
                && !found.contains(named)
            {
                found.push(named.clone());
            }
        }
        found
    }

    /// The amounts, by what `of` takes from them.
    pub fn amounts<T>(&self, of: impl Fn(&Amount) -> Option<T>) -> Vec<T> {
        let amount = |i: &Item| match i {
            Item::Amount(a) => of(a),
            _ => None,
        };
        self.items.iter().filter_map(amount).collect()
    }

    /// Words that were not read.
    pub fn unread(&self) -> Vec<&str> {
        let unread = |i: &'_ Item| matches!(i, Item::Unread(_));
        self.items.iter().filter(|i| unread(i)).map(|i| if let Item::Unread(w) = i { w.as_str() } else { "" }).collect()
    }

    /// Fails where an unknown word stands in a path's place, or is a slip of the pen, or a path was not measured.
    fn paths_exist(&self, text: &str, measured: &Measured) -> Result<()> {
        for (i, item) in self.items.iter().enumerate() {
            let Item::Unread(word) = item else { continue };
            let filler = |i: &Item| matches!(i, Item::Topics(t) if t.contains(&Topic::Filler));
            let before = self.items[..i].iter().rev().find(|i| !filler(i));
            let after = self.items[i + 1..].iter().find(|i| !filler(i));
            let beside = |item: Option<&Item>, of: &[Topic]| matches!(item, Some(Item::Topics(t)) if t.iter().any(|t| of.contains(t)));
            let place = beside(before, &[Topic::Over, Topic::Versus, Topic::Instead])
                || beside(after, &[Topic::Versus])
                || (beside(before, &[Topic::And, Topic::Or]) && !self.paths().is_empty());
            if let Some(near) = meant(&word.to_lowercase()) {
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
