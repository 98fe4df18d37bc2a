//! Further bytes, and how much more a larger message takes: "1 extra KB", "add 16 bytes to 1 KB messages", "increase from 1 KiB to 4 KiB".

use units::words::{Read, Unit, unit};

use super::amounts::Amount;
use super::lexer::Lexeme;
use super::lexicon::Topic;
use super::nouns::NOUNS;
use super::numbers::Words;
use super::said::size as size_words;
use super::sentence::{Item, Sentence};

/// What says that a figure grows or falls, and is read of two sizes only.
const GROWS: [&str; 6] = ["increase", "increases", "rise", "rises", "decrease", "decreases"];

/// Bytes, and how the unit was taken, of "1 extra KB" at a place, which is three words long.
pub fn extra(words: Words<'_>, at: usize) -> Option<(u64, Option<&'static str>)> {
    let Some(Lexeme::Number(digits)) = words.0.get(at) else { return None };
    if !words.any(at + 1, &["more", "extra", "additional", "further"])
        || words.any(at + 3, &["than"])
        || words.any(at + 3, &NOUNS)
    {
        return None;
    }
    let (symbol, note) = match unit(words.text(at + 2)?)? {
        Read::Plainly(Unit::Size(symbol)) => (symbol, None),
        Read::Usually(Unit::Size(symbol), note) => (symbol, Some(note)),
        _ => return None,
    };
    Some((format!("{digits}{symbol}").parse::<units::Bytes>().ok()?.0, note))
}

/// Whether "add" at a place is of bytes that come on top of a message: "add 16 bytes to 1 KB messages".
pub fn adds(words: Words<'_>, at: usize) -> bool {
    let number = |i: usize| matches!(words.0.get(i), Some(Lexeme::Number(_)));
    let sized = words.text(at + 2).and_then(unit);
    let sized = matches!(sized, Some(Read::Plainly(Unit::Size(_)) | Read::Usually(Unit::Size(_), _)));
    words.any(at, &["add", "adding"]) && number(at + 1) && sized && words.any(at + 3, &["to"])
}

fn has(item: &Item, topic: Topic) -> bool {
    matches!(item, Item::Topics(t) if t.contains(&topic))
}

fn sized(item: Option<&Item>) -> Option<u64> {
    match item {
        Some(Item::Amount(Amount::Size(size))) => Some(*size),
        _ => None,
    }
}

impl Sentence {
    /// Of further bytes their cost is told as one of any message: the message that they come on top of is taken away, and said.
    pub fn on_top(&mut self) {
        let Some(at) = self.items.iter().position(|i| has(i, Topic::Further)) else { return };
        let Some(more) = sized(self.items.get(at + 1)) else { return };
        let rest = at + 2 + self.items[at + 2..].iter().take_while(|i| has(i, Topic::Filler)).count();
        let Some(whole) = sized(self.items.get(rest)).filter(|_| rest > at + 2) else { return };
        self.items.remove(rest);
        if let Some(sum) = whole.checked_add(more) {
            self.notes.push(format!(
                "told of a message of any size; of this one: 'how much slower is {sum} B than {}?'",
                size_words(whole).split(" (").next().unwrap_or("")
            ));
        }
    }

    /// "how much does latency increase from 1 KiB to 4 KiB" holds the one against the other.
    pub fn grows(&mut self) {
        let from_to = self.items.windows(4).any(|four| {
            has(&four[0], Topic::From)
                && sized(four.get(1)).is_some()
                && has(&four[2], Topic::Filler)
                && sized(four.get(3)).is_some()
        });
        if !from_to {
            return;
        }
        for item in &mut self.items {
            if matches!(item, Item::Unread(word) if GROWS.contains(&word.to_lowercase().as_str())) {
                *item = Item::Topics(vec![Topic::Versus]);
            }
        }
    }
}
