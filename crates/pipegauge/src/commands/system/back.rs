//! Putting settings back: those that are as this program set them, and no others.
//!
//! All are judged before any is set, since setting one may change others: those that are put back are then set whatever became of them meanwhile.

use std::fs::File;

use anyhow::Result;

use super::journal::Setting;
use super::setting::{self, Missing};
use crate::config::system::{Fate, Knob, fate};

/// What became of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Became {
    /// It was as it had been.
    AsItWas,
    /// It was put back from this value.
    Back(String),
    /// Somebody else set it to this value, which stays.
    Others(String),
    /// It is gone, most often with its interface.
    Gone,
    /// It could not be put back: why.
    Kept(String),
}

impl Became {
    /// Whether it is still to be put back.
    pub fn is_kept(&self) -> bool {
        matches!(self, Became::Kept(_))
    }

    /// Whether it is as it was.
    pub fn is_well(&self) -> bool {
        matches!(self, Became::AsItWas | Became::Back(_))
    }

    /// What a person must know of it, unless it is as it was.
    pub fn fell_short(&self, knob: &Knob, setting: &Setting) -> Option<String> {
        let (what, was) = (knob.what(), &setting.was);
        let by_hand = report::words::command(&knob.by_hand(was));
        match self {
            Became::AsItWas | Became::Back(_) => None,
            Became::Others(found) => Some(format!(
                "{what} is {found}, which somebody else set while a sweep had changed it: it stays so (before the sweep it was {was}: {by_hand})"
            )),
            Became::Gone => Some(match knob.interface() {
                Some(_) => format!("{what} is gone with its interface"),
                None => format!("there is no {what} any more"),
            }),
            Became::Kept(why) => Some(format!("{what} could not be put back to {was}: {why}; by hand: {by_hand}")),
        }
    }
}

/// What is to be done with a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judged {
    /// It is as it was, or as this program set it, this value: it is to be as it was.
    Ours(String),
    /// Somebody else set it.
    Others,
    /// There is nothing to do, or it can't be done.
    Already(Became),
}

/// Judges a setting, before any is put back.
pub fn judged(knob: &Knob, setting: &Setting) -> Judged {
    match is_another(knob, setting) {
        Ok(false) => {}
        Ok(true) => return Judged::Already(Became::Gone),
        Err(e) => return Judged::Already(unread(&e)),
    }
    match setting::read(knob) {
        Ok(found) => match fate(&setting.was, &setting.set, &found) {
            Fate::AsItWas | Fate::PutBack => Judged::Ours(found),
            Fate::Others => Judged::Others,
        },
        Err(e) => Judged::Already(unread(&e)),
    }
}

/// What became of a setting that can't be read.
fn unread(e: &anyhow::Error) -> Became {
    if e.is::<Missing>() { Became::Gone } else { Became::Kept(format!("{e:#}")) }
}

/// Puts all back, in their order, under the lock of their journal.
pub fn put_back(all: &[(&Knob, &Setting)], judged: &[Judged], lock: Option<&File>) -> Vec<Became> {
    let begun = |((knob, setting), judged): (&(&Knob, &Setting), &Judged)| begun(knob, setting, judged, lock);
    let mut first: Vec<Option<Became>> = all.iter().zip(judged).map(begun).collect();
    // What rests on a later one could not be set before that one was.
    for (first, one) in first.iter_mut().zip(all.iter().zip(judged)) {
        if first.as_ref().is_some_and(Became::is_kept) && matches!(one.1, Judged::Ours(_)) {
            *first = begun(one);
        }
    }
    // Once all were set: what rests on another one may have come back with it, or not have stayed.
    all.iter().zip(first).map(|((knob, setting), first)| ended(knob, setting, first)).collect()
}

/// Sets what has to be set; none where there is nothing to say yet.
fn begun(knob: &Knob, setting: &Setting, judged: &Judged, lock: Option<&File>) -> Option<Became> {
    let before = match judged {
        Judged::Ours(before) => before,
        Judged::Others => return None,
        Judged::Already(became) => return Some(became.clone()),
    };
    // Another one that was put back may have changed it.
    let now = match setting::read(knob) {
        Ok(now) => now,
        Err(e) => return Some(unread(&e)),
    };
    let well = if *before == setting.was { Became::AsItWas } else { Became::Back(before.clone()) };
    if now == setting.was {
        return Some(well);
    }
    Some(match setting::set(knob, &setting.was, lock) {
        Ok(()) => well,
        Err(e) => Became::Kept(format!("{e:#}")),
    })
}

fn ended(knob: &Knob, setting: &Setting, first: Option<Became>) -> Became {
    if let Some(Became::Gone) = first {
        return Became::Gone;
    }
    match (setting::read(knob), first) {
        (Ok(found), Some(kept @ Became::Kept(_))) => {
            if found == setting.was {
                Became::AsItWas
            } else {
                kept
            }
        }
        (Ok(found), Some(other)) if found == setting.was => other,
        (Ok(found), Some(_)) => Became::Kept(format!("it was set, and is {found}")),
        (Ok(found), None) => {
            if found == setting.was {
                Became::AsItWas
            } else {
                Became::Others(found)
            }
        }
        (Err(e), _) => unread(&e),
    }
}

/// Whether the interface that was changed is gone; there may be another one of its name.
pub fn is_another(knob: &Knob, setting: &Setting) -> Result<bool> {
    let Some(index) = setting.interface else { return Ok(false) };
    match setting::link(knob) {
        Ok(link) => Ok(link.is_some_and(|link| link.index != index)),
        // The name is the program's only argument, so that this is of it.
        Err(e) if format!("{e:#}").contains("does not exist") => Ok(true),
        Err(e) => Err(e),
    }
}
