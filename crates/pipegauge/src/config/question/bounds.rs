//! What limits stand before: a size or a number, of which they say more or less, or a time that is to be kept.

use super::amounts::Amount;
use super::lexicon::Topic::*;
use super::sentence::{Item, Sentence};

/// Whether more or less than an amount stands right before it: "under 16 bytes".
pub fn before(h: &Sentence, of: impl Fn(&Amount) -> bool) -> bool {
    let bound = |i: &Item| matches!(i, Item::Topics(t) if t.contains(&Above) || t.contains(&Below));
    h.items.windows(2).any(|two| bound(&two[0]) && matches!(&two[1], Item::Amount(a) if of(a)))
}

/// "do any of these beat 10 us for 1 KB": whether it takes less, and no path against another.
pub fn of_times(sentence: &mut Sentence) {
    for at in 1..sentence.items.len() {
        let timed = matches!(sentence.items[at], Item::Amount(Amount::Time(_)));
        if let (true, Item::Topics(topics)) = (timed, &mut sentence.items[at - 1])
            && topics.contains(&Beats)
        {
            *topics = vec![Within, Quicker];
        }
    }
}

/// Of "at most 64 KB" the bound is on the size, and no maximum is asked for.
pub fn of_sizes(sentence: &mut Sentence) {
    for at in 1..sentence.items.len() {
        let sized = matches!(sentence.items[at], Item::Amount(Amount::Size(_)));
        if let (true, Item::Topics(topics)) = (sized, &mut sentence.items[at - 1])
            && topics.contains(&Most)
            && topics.contains(&Bound)
        {
            *topics = vec![Below];
        }
    }
}
