//! Putting settings back: those that are as this program set them, and no others.

use anyhow::Result;

use super::journal::Setting;
use super::setting;
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
    /// Its interface is gone, and with it the setting.
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
            Became::Gone => Some(format!("{what} is gone with its interface")),
            Became::Kept(why) => Some(format!("{what} could not be put back to {was}: {why}; by hand: {by_hand}")),
        }
    }
}

/// Puts all back, in their order.
pub fn put_back(all: &[(&Knob, &Setting)]) -> Vec<Became> {
    let first: Vec<Option<Became>> = all.iter().map(|(knob, setting)| begun(knob, setting)).collect();
    // Once all were set: what rests on another one may have come back with it, or not have stayed.
    all.iter().zip(first).map(|((knob, setting), first)| ended(knob, setting, first)).collect()
}

/// Sets what has to be set; none where there is nothing to say yet.
fn begun(knob: &Knob, setting: &Setting) -> Option<Became> {
    match is_another(knob, setting) {
        Ok(false) => {}
        Ok(true) => return Some(Became::Gone),
        Err(e) => return Some(Became::Kept(format!("{e:#}"))),
    }
    let found = match setting::read(knob) {
        Ok(found) => found,
        Err(e) => return Some(Became::Kept(format!("{e:#}"))),
    };
    match fate(&setting.was, &setting.set, &found) {
        Fate::AsItWas => Some(Became::AsItWas),
        Fate::Others => None,
        Fate::PutBack => Some(match setting::set(knob, &setting.was) {
            Ok(()) => Became::Back(found),
            Err(e) => Became::Kept(format!("{e:#}")),
        }),
    }
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
        (Err(e), _) => Became::Kept(format!("{e:#}")),
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
