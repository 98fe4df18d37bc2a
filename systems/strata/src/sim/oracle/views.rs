//! Of views: self-inclusion, agreement, and virtual synchrony.

use std::collections::{BTreeMap, BTreeSet};

use super::say;
use crate::sim::journal::{Id, Journal};
use crate::view::ViewId;

/// Self-inclusion, and each view's name is higher than that of the one before it.
pub(super) fn inclusion(journal: &Journal) -> Result<(), String> {
    for life in &journal.lives {
        let mut last = None;
        for view in life.views() {
            if !view.members.contains(&life.me) {
                return Err(format!("self-inclusion: {} was told the view {} without itself", life.me, view.id));
            }
            if last.is_some_and(|l| l >= view.id) {
                return Err(format!("views: {} was told {} after a later one", life.me, view.id));
            }
            last = Some(view.id);
        }
    }
    Ok(())
}

/// A view's name stands for one list of members.
pub(super) fn agreement(journal: &Journal) -> Result<(), String> {
    let mut lists = BTreeMap::new();
    for view in journal.lives.iter().flat_map(|l| l.views()) {
        if lists.entry(view.id).or_insert_with(|| view.members.clone()) != &view.members {
            return Err(format!("views: {} has two lists of members", view.id));
        }
    }
    Ok(())
}

/// Each cast is delivered in one view, whoever it is delivered to.
pub(super) fn one_view_each(journal: &Journal) -> Result<(), String> {
    let mut views: BTreeMap<Id, ViewId> = BTreeMap::new();
    for life in &journal.lives {
        for in_view in life.by_view() {
            for (id, _) in &in_view.casts {
                let view = *views.entry(*id).or_insert(in_view.view.id);
                if view != in_view.view.id {
                    return Err(format!(
                        "view synchrony: {} was delivered in {view} and, to {}, in {}",
                        say(*id),
                        life.me,
                        in_view.view.id
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Those who move together from one view to the next were given the same casts in it.
pub(super) fn together(journal: &Journal) -> Result<(), String> {
    let mut moves: BTreeMap<(ViewId, ViewId), (String, BTreeSet<Id>)> = BTreeMap::new();
    for life in &journal.lives {
        for pair in life.by_view().windows(2) {
            let casts: BTreeSet<_> = pair[0].casts.iter().map(|(id, _)| *id).collect();
            let both = (pair[0].view.id, pair[1].view.id);
            let (who, other) = moves.entry(both).or_insert_with(|| (life.me.to_string(), casts.clone()));
            if let Some(id) = casts.symmetric_difference(other).next() {
                return Err(format!(
                    "view synchrony: {} and {who} moved from {} to {}, and only one was given {}",
                    life.me,
                    both.0,
                    both.1,
                    say(*id)
                ));
            }
        }
    }
    Ok(())
}
