//! Of order: total, causal, safe. Each holds within a view; virtual synchrony keeps views apart.

use std::collections::{BTreeMap, BTreeSet};

use super::say;
use crate::sim::journal::{Entry, Id, Journal};
use crate::view::ViewId;

/// Total order. Of any two lives in a view, crashed ones included, what was delivered before the transitional part is for one a prefix of what it is for the other
/// (*reliable total order*); those who move on together have the same sequence, transitional part included.
pub(super) fn total(journal: &Journal) -> Result<(), String> {
    let mut longest: BTreeMap<ViewId, (String, Vec<Id>)> = BTreeMap::new();
    let mut moved: BTreeMap<(ViewId, ViewId), (String, Vec<Id>)> = BTreeMap::new();
    for life in &journal.lives {
        let views = life.by_view();
        for (at, in_view) in views.iter().enumerate() {
            let firm: Vec<_> = in_view.casts.iter().take_while(|(_, t)| !t).map(|(id, _)| *id).collect();
            let view = in_view.view.id;
            let (who, other) = longest.entry(view).or_insert_with(|| (life.me.to_string(), Vec::new()));
            if let Some((a, b)) = firm.iter().zip(other.iter()).find(|(a, b)| a != b) {
                return Err(format!(
                    "total order: in {view}, {} was given {} where {who} was given {}",
                    life.me,
                    say(*a),
                    say(*b)
                ));
            }
            if firm.len() > other.len() {
                (*who, *other) = (life.me.to_string(), firm);
            }
            let Some(next) = views.get(at + 1) else { continue };
            let all: Vec<_> = in_view.casts.iter().map(|(id, _)| *id).collect();
            let both = (view, next.view.id);
            let (who, other) = moved.entry(both).or_insert_with(|| (life.me.to_string(), all.clone()));
            if *other != all {
                return Err(format!("total order: {} and {who} moved on from {view} with different orders", life.me));
            }
        }
    }
    Ok(())
}

/// Causal order: before a cast, all that its sender had been given in that view as it cast.
pub(super) fn causal(journal: &Journal) -> Result<(), String> {
    // What each sender had been given, in the view that it was in as it cast, of each life: a count, since all arrives in FIFO order.
    let mut past: BTreeMap<Id, (ViewId, BTreeMap<u32, u32>)> = BTreeMap::new();
    for life in &journal.lives {
        let mut view = None;
        let mut given = BTreeMap::new();
        for entry in &life.entries {
            match entry {
                Entry::View(v) => {
                    view = Some(v.id);
                    given.clear();
                }
                Entry::Deliver { id: Some(id), cast: true, .. } => {
                    given.insert(id.life, id.number);
                }
                Entry::Cast(id) => {
                    if let Some(view) = view {
                        past.insert(*id, (view, given.clone()));
                    }
                }
                _ => {}
            }
        }
    }
    for life in &journal.lives {
        for in_view in life.by_view() {
            let mut given: BTreeMap<u32, u32> = BTreeMap::new();
            for (id, _) in &in_view.casts {
                if let Some((view, causes)) = past.get(id)
                    && *view == in_view.view.id
                {
                    for (cause, number) in causes {
                        if given.get(cause).is_none_or(|have| have < number) {
                            return Err(format!(
                                "causal order: {} was given {} before {cause}.{number}, which its sender had",
                                life.me,
                                say(*id)
                            ));
                        }
                    }
                }
                given.insert(id.life, id.number);
            }
        }
    }
    Ok(())
}

/// Safe means stable: what anybody was given in a view before its transitional part, every member of the view was given in it that did not crash in it.
pub(super) fn safe(journal: &Journal) -> Result<(), String> {
    let mut safe: BTreeMap<ViewId, BTreeSet<Id>> = BTreeMap::new();
    for life in &journal.lives {
        for in_view in life.by_view() {
            let firm = in_view.casts.iter().filter(|(_, t)| !t).map(|(id, _)| *id);
            safe.entry(in_view.view.id).or_default().extend(firm);
        }
    }
    for life in &journal.lives {
        let views = life.by_view();
        for (at, in_view) in views.iter().enumerate() {
            // Who crashed or left within this view may have had it and not been given it.
            if at + 1 == views.len() && (life.crashed || life.left) {
                continue;
            }
            let given: BTreeSet<_> = in_view.casts.iter().map(|(id, _)| *id).collect();
            if let Some(id) = safe[&in_view.view.id].difference(&given).next() {
                return Err(format!(
                    "safe: {} was delivered as safe in {}, and {} was never given it",
                    say(*id),
                    in_view.view.id,
                    life.me
                ));
            }
        }
    }
    Ok(())
}
