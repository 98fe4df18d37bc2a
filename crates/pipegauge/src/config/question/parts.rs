//! A whole in parts: "100 MB in chunks of 64 KiB", "1 GB in 1 MB pieces", "4 KiB in 16 parts", and one message against the many that hold as
//! much: "one of 64 KiB or 64 of 1 KiB".

use units::thousands;

use super::amounts::Amount;
use super::lexicon::Topic::{self, *};
use super::said::size as size_words;
use super::sentence::{Item, Sentence};

/// How far the bytes of many messages may lie from those of the one that they are held against: units of 1000 and 1024 are mixed.
const ALIKE: f64 = 0.1;

fn has(item: Option<&Item>, topic: Topic) -> bool {
    matches!(item, Some(Item::Topics(t)) if t.contains(&topic))
}

impl Sentence {
    /// Reads what is sent in parts as so many messages of a part's size. A throughput is that of a part's size.
    pub fn parts(&mut self) {
        if self.any(&[HalfPower, Saturation, WhichSize]) {
            return;
        }
        if !self.of_a_whole() {
            self.in_total();
        }
        if !self.has(Throughput) {
            self.one_or_many();
        }
    }

    /// "1000 messages totalling 1 MB": what each of them has of that.
    fn in_total(&mut self) {
        let counts = self.amounts(|a| if let Amount::Count(n) = a { Some(*n) } else { None });
        let sizes = self.amounts(|a| if let Amount::Size(s) = a { Some(*s) } else { None });
        let (true, [count], [whole]) = (self.has(Total), &counts[..], &sizes[..]) else { return };
        let part = whole.div_ceil((*count).max(1));
        self.notes.push(whole_in(*whole, part, *count));
        for item in &mut self.items {
            if *item == Item::Amount(Amount::Size(*whole)) {
                *item = Item::Amount(Amount::Size(part));
            }
        }
    }

    /// Whether a whole in parts was read.
    fn of_a_whole(&mut self) -> bool {
        for at in 0..self.items.len() {
            let Item::Amount(Amount::Size(whole)) = self.items[at] else { continue };
            let item = |i: usize| self.items.get(i);
            // "in", with a noun before it: "a 2 GB file in chunks of 1 MB".
            let beside = self.whole_or(at);
            let inside = beside.unwrap_or(at + 1 + usize::from(!has(item(at + 1), In)));
            if !has(item(inside), In) {
                continue;
            }
            let skip = |from: usize| {
                from + self.items[from.min(self.items.len())..].iter().take_while(|i| has(Some(i), Filler)).count()
            };
            let first = skip(inside + 1);
            let (count, part, end) = match (item(first), item(first + 1)) {
                (Some(Item::Amount(Amount::Size(part))), then) if *part > 0 && has(then, Messages) => {
                    (whole.div_ceil(*part), *part, first + 2)
                }
                (Some(Item::Amount(Amount::Count(count))), then)
                    if *count > 0 && has(then, Messages) && !sized(item(skip(first + 2))) =>
                {
                    let part = whole.div_ceil(*count);
                    // Of parts as large as the first one fewer may do.
                    (whole.div_ceil(part), part, first + 2)
                }
                (nouns, _) if has(nouns, Messages) => match item(skip(first + 1)) {
                    Some(Item::Amount(Amount::Size(part))) if *part > 0 => {
                        (whole.div_ceil(*part), *part, skip(first + 1) + 1)
                    }
                    _ => continue,
                },
                _ => continue,
            };
            if part > whole {
                continue;
            }
            self.notes.push(whole_in(whole, part, count));
            let flow = self.has(Throughput);
            let [count, size] = [Amount::Count(count), Amount::Size(part)].map(Item::Amount);
            let read = if flow { vec![size] } else { vec![count, Item::Topics(vec![Messages]), size] };
            self.items.splice(at..end, read);
            if beside.is_some() && !flow {
                self.items.retain(|i| ![Or, Versus, Fastest, Which].iter().any(|topic| has(Some(i), *topic)));
                self.notes.push(format!("for the other: 'how long for {}'", size_words(whole)));
            }
            return true;
        }
        false
    }

    /// The place of "in" where a whole at a place is held against its parts: "1 MB at once or in 16 pieces", "1 MB as a whole or in 4 parts".
    fn whole_or(&self, at: usize) -> Option<usize> {
        let or = (at + 1..self.items.len()).find(|i| has(self.items.get(*i), Or) || has(self.items.get(*i), Versus))?;
        let whole = |i: &Item| {
            matches!(i, Item::Amount(Amount::Count(1)))
                || [Filler, In, Messages].iter().any(|topic| has(Some(i), *topic))
        };
        (or > at + 1 && self.items[at + 1..or].iter().all(whole) && has(self.items.get(or + 1), In)).then_some(or + 1)
    }

    /// "1 message of 1 MB or 1000 of 1 KB": the answer to many tells what one of as many bytes takes.
    fn one_or_many(&mut self) {
        if !self.any(&[Or, Versus]) || self.paths().len() > 1 {
            return;
        }
        let sizes = self.amounts(|a| if let Amount::Size(s) = a { Some(*s) } else { None });
        let counts = self.amounts(|a| if let Amount::Count(n) = a { Some(*n) } else { None });
        let many: Vec<u64> = counts.into_iter().filter(|n| *n > 1).collect();
        let ([a, b], [count]) = (&sizes[..], &many[..]) else { return };
        let (small, whole) = (*a.min(b), *a.max(b));
        let all = *count as f64 * small as f64;
        if small == whole || (all / whole as f64 - 1.0).abs() > ALIKE {
            return;
        }
        self.items.retain(|i| *i != Item::Amount(Amount::Size(whole)) && *i != Item::Amount(Amount::Count(1)));
        self.items.retain(|i| !has(Some(i), Or) && !has(Some(i), Versus) && !has(Some(i), Fastest));
        self.notes.push(format!("for the other: 'how long for {}'", size_words(whole)));
    }
}

/// Into how many messages a whole is cut.
fn whole_in(whole: u64, part: u64, count: u64) -> String {
    let shorter = if count.checked_mul(part) == Some(whole) { "" } else { ", the last of them a shorter one" };
    format!("{} in messages of {} are {} of them{shorter}", size_words(whole), size_words(part), thousands(count))
}

fn sized(item: Option<&Item>) -> bool {
    matches!(item, Some(Item::Amount(Amount::Size(_))))
}
