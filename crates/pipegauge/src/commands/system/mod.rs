//! Changing settings of this host for a sweep, and putting them back whatever happens.
//!
//! Before the first change a journal has every setting with the value that it had (`journal`), on disk. Whoever changes next looks into the
//! journals first (`left`): what a process that was killed left changed is put back by the next one that may. A value that neither was there
//! before nor was set here is somebody else's, and stays.
//!
//! | module | job |
//! |---|---|
//! | this one | [`System`]: the settings of a sweep, from the first change until they are put back |
//! | `look` | what would be changed, whether this process may, and what goes over it |
//! | `setting` | reads and sets one |
//! | `back` | puts settings back |
//! | `journal` | the journals of all processes that change something |
//! | `left` | what killed processes left |

mod back;
mod journal;
mod left;
mod look;
mod setting;

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Result, anyhow};

use crate::config::sweep::DEFAULT;
use crate::config::system::{Change, Knob};
use crate::out;
use journal::{Journal, Setting};

pub use left::left;
pub use look::{look, may};

/// Why no later cell can be set either: the sweep ends.
#[derive(Debug)]
pub struct Ends(String);

impl fmt::Display for Ends {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Ends {}

/// Settings that are changed until [`System::end`], or until this is dropped.
pub struct System {
    held: Vec<Held>,
    journal: Option<Journal>,
}

/// A setting, as the journal has it; of its values in `set` the last is what it reads now.
struct Held {
    knob: Knob,
    setting: Setting,
}

impl Held {
    /// What it is as this process knows.
    fn now(&self) -> &str {
        self.setting.set.last().unwrap_or(&self.setting.was)
    }
}

impl System {
    /// Writes the journal. Nothing is changed yet.
    pub fn begin(changes: &[Change]) -> Result<Self> {
        let of = |change: &Change| Held {
            knob: change.knob.clone(),
            setting: Setting {
                name: change.knob.name().to_owned(),
                interface: change.index,
                was: change.was.clone(),
                set: Vec::new(),
            },
        };
        let held: Vec<Held> = changes.iter().map(of).collect();
        let journal = Journal::begin(held.iter().map(|held| (&held.knob, &held.setting)))?;
        Ok(Self { held, journal: Some(journal) })
    }

    /// Sets what a cell has, each axis with its level, and what the axis `default` leaves to what it was. Gives what each reads then.
    ///
    /// # Errors
    /// A value did not take effect; or ([`Ends`]) this process may not change it, or somebody else did.
    pub fn set(&mut self, levels: &[(&str, &str)]) -> Result<BTreeMap<String, String>> {
        self.still()?;
        let wanted = self.held.iter().map(|held| held.wanted(levels)).collect::<Result<Vec<String>>>()?;
        for (held, value) in self.held.iter_mut().zip(&wanted).filter(|(held, value)| held.now() != *value) {
            // What it may be found at while the change is under way.
            held.setting.set = vec![held.now().to_owned(), value.clone()];
        }
        self.written()?;
        let mut said = Vec::new();
        for (held, value) in self.held.iter().zip(&wanted) {
            // One that was set before may have taken it along.
            let stands = setting::read(&held.knob).is_ok_and(|found| found == *value);
            let done = if stands { Ok(()) } else { setting::set(&held.knob, value) };
            let ends = done.as_ref().is_err_and(|e| e.is::<Ends>());
            said.push(done);
            if ends {
                break;
            }
        }
        // What is read is what the journal has, whatever was asked for.
        for held in &mut self.held {
            let found = setting::read(&held.knob).map_err(|e| anyhow!(Ends(format!("{e:#}"))))?;
            held.setting.set = vec![found];
        }
        self.written()?;
        if let Some(at) = said.iter().position(|done| done.as_ref().is_err_and(|e| e.is::<Ends>())) {
            said.swap_remove(at)?;
        }
        for ((held, value), done) in self.held.iter().zip(&wanted).zip(said) {
            if held.now() != value {
                let why = done.err().map_or(String::new(), |e| format!(": {e:#}"));
                return Err(anyhow!(
                    "{} was set to {value}, which did not take effect: it is {}{why}",
                    held.knob.what(),
                    held.now()
                ));
            }
        }
        Ok(self.held.iter().map(|held| (held.setting.name.clone(), held.now().to_owned())).collect())
    }

    /// Whether everything is as it was set last.
    ///
    /// # Errors
    /// [`Ends`]: somebody else changed something.
    pub fn still(&self) -> Result<()> {
        for held in &self.held {
            let what = held.knob.what();
            if back::is_another(&held.knob, &held.setting).map_err(|e| anyhow!(Ends(format!("{e:#}"))))? {
                let text =
                    format!("{what} is gone with its interface (there may be another of its name): the sweep ends");
                return Err(anyhow!(Ends(text)));
            }
            let found = setting::read(&held.knob).map_err(|e| anyhow!(Ends(format!("{e:#}"))))?;
            if found != held.now() {
                let text = format!(
                    "{what} was {} as this sweep had it, and is {found} now: somebody else changed it; it stays so, and the sweep ends",
                    held.now()
                );
                return Err(anyhow!(Ends(text)));
            }
        }
        Ok(())
    }

    /// Puts everything back, and says what it could not; whether it could.
    pub fn end(mut self) -> bool {
        self.put_back()
    }

    fn put_back(&mut self) -> bool {
        let Some(journal) = self.journal.take() else { return true };
        let all: Vec<(&Knob, &Setting)> = self.held.iter().map(|held| (&held.knob, &held.setting)).collect();
        let became = back::put_back(&all);
        for ((knob, setting), became) in all.iter().zip(&became) {
            if let Some(text) = became.fell_short(knob, setting) {
                out::tell_prose(&format!("pipegauge: {text}"));
            }
        }
        let kept = became.iter().any(back::Became::is_kept);
        if kept {
            out::tell_prose(&format!(
                "pipegauge: the next `pipegauge sweep` or `pipegauge doctor` that may puts it back ({})",
                journal.file().display()
            ));
        } else {
            journal.remove();
        }
        became.iter().all(back::Became::is_well)
    }

    fn written(&mut self) -> Result<()> {
        let settings: Vec<&Setting> = self.held.iter().map(|held| &held.setting).collect();
        match &mut self.journal {
            Some(journal) => {
                journal.write(&settings).map_err(|e| anyhow!(Ends(format!("{e:#}; nothing more is changed"))))
            }
            None => Ok(()),
        }
    }
}

impl Held {
    /// The value that a cell of these levels has.
    fn wanted(&self, levels: &[(&str, &str)]) -> Result<String> {
        let level = levels.iter().find(|(axis, _)| *axis == self.setting.name).map_or(DEFAULT, |(_, level)| *level);
        if level == DEFAULT { Ok(self.setting.was.clone()) } else { self.knob.value(level) }
    }
}

/// Whatever ends the sweep: an error that nobody foresaw, too.
impl Drop for System {
    fn drop(&mut self) {
        self.put_back();
    }
}
