//! A setting of a sweep while it is changed.

use anyhow::Result;

use super::journal::Setting;
use crate::config::sweep::DEFAULT;
use crate::config::system::{Along, Change, Knob};

/// A setting, as the journal has it; of its values in `set` the last is what it reads now.
pub struct Held {
    pub knob: Knob,
    pub setting: Setting,
    /// Of one that is changed along with another: that one's place.
    pub with: Option<usize>,
}

impl Held {
    /// All that may be changed: what has an axis, in their order, then what is changed along.
    pub fn all(changes: &[Change]) -> Vec<Self> {
        let held = |knob: &Knob, was: &str, interface: Option<u32>, with: Option<usize>| {
            let setting = Setting { name: knob.name().to_owned(), interface, was: was.to_owned(), set: Vec::new() };
            Self { knob: knob.clone(), setting, with }
        };
        let own = changes.iter().map(|change| held(&change.knob, &change.was, change.index, None));
        let along = changes.iter().enumerate().flat_map(|(at, change)| {
            change.along.iter().map(move |Along { knob, was, index }| held(knob, was, *index, Some(at)))
        });
        own.chain(along).collect()
    }

    /// What it is as this process knows.
    pub fn now(&self) -> &str {
        self.setting.set.last().unwrap_or(&self.setting.was)
    }

    /// It is about to become this value. Until it was read, the journal says so.
    pub fn begins(&mut self, value: String) {
        self.setting.set = vec![self.now().to_owned(), value];
    }

    /// The value that a cell of these levels has.
    pub fn wanted(&self, levels: &[(&str, &str)]) -> Result<String> {
        let level = levels.iter().find(|(axis, _)| *axis == self.setting.name).map_or(DEFAULT, |(_, level)| *level);
        if level == DEFAULT { Ok(self.setting.was.clone()) } else { self.knob.value(level) }
    }
}
