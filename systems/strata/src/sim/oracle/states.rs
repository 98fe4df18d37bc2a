//! Of state transfer: equal states at equal points, nothing that was safe in a primary view forgotten.

use std::collections::{BTreeMap, BTreeSet};

use super::say;
use crate::sim::journal::{Journal, Life};
use crate::view::ViewId;

/// What a life itself found wrong: a damaged state, or a message that its state has already.
pub(super) fn sound(journal: &Journal) -> Result<(), String> {
    let wrong = journal.lives.iter().find_map(|l| l.wrong.as_ref().map(|why| (l, why)));
    wrong.map_or(Ok(()), |(life, why)| Err(format!("state: at {}: {why}", life.me)))
}

/// Who goes through a view with the same state has the same state after each message up to the transitional ones, whether it was there before or received the state in that view.
pub(super) fn equal_within_views(journal: &Journal) -> Result<(), String> {
    let mut states = BTreeMap::new();
    for life in &journal.lives {
        for point in life.points.iter().filter(|p| p.firm) {
            let (who, digest) =
                *states.entry((point.view, point.token, point.index)).or_insert((life.me, point.digest));
            if digest != point.digest {
                return Err(format!(
                    "state: after {} messages of {} the states of {who} and {} differ",
                    point.index, point.view, life.me
                ));
            }
        }
    }
    Ok(())
}

/// Who moves on together with the same state has the same state, transitional messages included.
pub(super) fn equal_after_views(journal: &Journal) -> Result<(), String> {
    let mut states = BTreeMap::new();
    for life in &journal.lives {
        let views: Vec<_> = life.views().map(|v| v.id).collect();
        for pair in views.windows(2) {
            let Some(last) = life.points.iter().rfind(|p| p.view == pair[0]) else { continue };
            let key = (pair[0], pair[1], last.token);
            let (who, digest) = *states.entry(key).or_insert((life.me, last.digest));
            if digest != last.digest {
                return Err(format!("state: {who} and {} moved on from {} with different states", life.me, pair[0]));
            }
        }
    }
    Ok(())
}

/// There is one line of primary views: each has a member of the one before it, whose number is lower.
pub(super) fn one_line(journal: &Journal) -> Result<(), String> {
    let views: BTreeMap<_, _> = journal.lives.iter().flat_map(Life::views).map(|v| (v.id, v)).collect();
    let points = journal.lives.iter().flat_map(|l| &l.points).filter(|p| p.primary);
    let primary: Vec<_> = points.map(|p| p.view).collect::<BTreeSet<_>>().into_iter().collect();
    for pair in primary.windows(2) {
        let [before, after] = [&pair[0], &pair[1]].map(|id| views.get(id).map_or(&[][..], |v| &v.members[..]));
        if !after.iter().any(|m| before.contains(m)) {
            return Err(format!("state: {} and {} are both primary, and have no member in common", pair[0], pair[1]));
        }
    }
    Ok(())
}

/// What was told as safe in a primary view is in the state of all who go along in the end in a primary view.
pub(super) fn durable(journal: &Journal) -> Result<(), String> {
    let safe: BTreeMap<_, ViewId> = journal
        .lives
        .iter()
        .flat_map(|l| &l.points)
        .filter(|p| p.primary && p.firm)
        .filter_map(|p| Some((p.told?, p.view)))
        .collect();
    let ends_primary = |l: &&Life| !l.crashed && !l.left && l.points.last().is_some_and(|p| p.primary);
    for life in journal.lives.iter().filter(ends_primary) {
        let have: BTreeSet<_> = life.state.iter().collect();
        if let Some((id, view)) = safe.iter().find(|(id, _)| !have.contains(id)) {
            return Err(format!(
                "state: {} was safe in the primary view {view}, and {} has lost it",
                say(*id),
                life.me
            ));
        }
    }
    Ok(())
}
