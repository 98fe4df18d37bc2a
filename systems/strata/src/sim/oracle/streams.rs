//! Of single messages and single senders: creation, repetition, order, loss.

use std::collections::{BTreeMap, BTreeSet};

use super::say;
use crate::sim::journal::{Entry, Id, Journal};

/// No creation: what is delivered was cast, or sent to this life, by whom it is said to be from.
pub(super) fn nothing_from_nowhere(journal: &Journal) -> Result<(), String> {
    let mut casts = BTreeSet::new();
    let mut sends = BTreeMap::new();
    for entry in journal.lives.iter().flat_map(|l| &l.entries) {
        match entry {
            Entry::Cast(id) => {
                casts.insert(*id);
            }
            Entry::Send(id, to) => {
                sends.insert(*id, *to);
            }
            _ => {}
        }
    }
    for (at, life) in journal.lives.iter().enumerate() {
        for entry in &life.entries {
            let Entry::Deliver { id, from, cast, .. } = entry else { continue };
            let Some(id) = id else {
                return Err(format!("creation: {} was given bytes that nobody sent, from {from}", life.me));
            };
            let known = if *cast { casts.contains(id) } else { sends.get(id) == Some(&(at as u32)) };
            if !known {
                return Err(format!("creation: {} was given {}, which was not sent to it", life.me, say(*id)));
            }
            if journal.lives[id.life as usize].me != *from {
                return Err(format!("creation: {} was given {} as if from {from}", life.me, say(*id)));
            }
        }
    }
    Ok(())
}

/// No duplicates.
pub(super) fn once(journal: &Journal) -> Result<(), String> {
    for life in &journal.lives {
        let mut seen = BTreeSet::new();
        for entry in &life.entries {
            if let Entry::Deliver { id: Some(id), .. } = entry
                && !seen.insert(*id)
            {
                return Err(format!("duplicate: {} was given {} twice", life.me, say(*id)));
            }
        }
    }
    Ok(())
}

/// FIFO: each sender's messages in order, and within a view without gaps: from the first that the sender itself was given in that view.
pub(super) fn fifo(journal: &Journal) -> Result<(), String> {
    let mut first: BTreeMap<_, u32> = BTreeMap::new();
    for (at, life) in journal.lives.iter().enumerate() {
        for in_view in life.by_view() {
            if let Some((id, _)) = in_view.casts.iter().find(|(id, _)| id.life as usize == at) {
                first.insert((in_view.view.id, id.life), id.number);
            }
        }
    }
    for life in &journal.lives {
        let mut last: BTreeMap<(u32, bool), u32> = BTreeMap::new();
        for in_view in life.by_view() {
            let mut within: BTreeMap<u32, u32> = BTreeMap::new();
            let casts = in_view.casts.iter().map(|(id, _)| (*id, true));
            for (id, cast) in casts.chain(in_view.sends.iter().map(|id| (*id, false))) {
                if let Some(before) = last.insert((id.life, cast), id.number)
                    && before > id.number
                {
                    return Err(format!("FIFO: {} was given {} after a later one", life.me, say(id)));
                }
                if !cast {
                    continue;
                }
                let expected = match within.insert(id.life, id.number) {
                    Some(before) => before + 1,
                    None => first.get(&(in_view.view.id, id.life)).copied().unwrap_or(id.number),
                };
                if id.number > expected {
                    return Err(format!(
                        "FIFO: {} was given {} in the view {} without {}.{expected} before it",
                        life.me,
                        say(id),
                        in_view.view.id,
                        id.life
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Self-delivery: who lives to the end was given all that it cast, and who left all but what it said may be lost.
pub(super) fn own(journal: &Journal) -> Result<(), String> {
    for (at, life) in journal.lives.iter().enumerate().filter(|(_, l)| !l.crashed) {
        let cast = life.entries.iter().filter(|e| matches!(e, Entry::Cast(_))).count();
        let given = life.deliveries().filter(|e| own_cast(e, at)).count();
        let said = if life.left { life.undelivered as usize } else { 0 };
        if cast > given + said {
            return Err(format!("self-delivery: {} cast {cast} and was given {given} of its own", life.me));
        }
    }
    Ok(())
}

fn own_cast(entry: &Entry, life: usize) -> bool {
    matches!(entry, Entry::Deliver { id: Some(id), cast: true, .. } if id.life as usize == life)
}

/// In the end those who live and share a view were given the same casts in it.
pub(super) fn settled(journal: &Journal) -> Result<(), String> {
    let mut expected: BTreeMap<_, (String, BTreeSet<Id>)> = BTreeMap::new();
    for life in journal.lives.iter().filter(|l| !l.crashed && !l.left) {
        let Some(last) = life.by_view().pop() else { continue };
        let casts: BTreeSet<_> = last.casts.iter().map(|(id, _)| *id).collect();
        let (who, other) = expected.entry(last.view.id).or_insert_with(|| (life.me.to_string(), casts.clone()));
        if let Some(id) = casts.symmetric_difference(other).next() {
            return Err(format!("lost: of {} and {who} only one was given {} in the end", life.me, say(*id)));
        }
    }
    Ok(())
}
