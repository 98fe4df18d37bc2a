//! What every run is held against. An oracle reads the journal and says what is wrong, or nothing.

mod order;
mod states;
mod streams;
mod views;

use super::journal::{Id, Journal};
use crate::property::{Properties, Property};

/// Holds a run against all promises of its stack.
///
/// # Errors
/// The first promise that is broken, in words.
pub fn check(journal: &Journal, promises: Properties) -> Result<(), String> {
    streams::nothing_from_nowhere(journal)?;
    streams::once(journal)?;
    streams::fifo(journal)?;
    streams::own(journal)?;
    views::inclusion(journal)?;
    views::agreement(journal)?;
    streams::settled(journal)?;
    if promises.has(Property::VirtuallySynchronous) {
        views::one_view_each(journal)?;
        views::together(journal)?;
    }
    if promises.has(Property::Total) {
        order::total(journal)?;
    }
    if promises.has(Property::Causal) {
        order::causal(journal)?;
    }
    if promises.has(Property::Safe) {
        order::safe(journal)?;
    }
    states::sound(journal)?;
    if promises.has(Property::Total) {
        states::equal_within_views(journal)?;
        states::equal_after_views(journal)?;
        if promises.has(Property::Safe) {
            states::one_line(journal)?;
            states::durable(journal)?;
        }
    }
    Ok(())
}

fn say(id: Id) -> String {
    format!("{}.{}", id.life, id.number & 0x7fff_ffff)
}
