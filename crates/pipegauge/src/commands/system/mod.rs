//! Changing settings of this host for a sweep, and putting them back whatever happens.
//!
//! Before the first change a journal has every setting with the value that it had (`journal`), on disk, and with them those that the kernel or a
//! driver changes along. Whoever changes next looks into the journals first (`left`): what a process that was killed left changed is put back by
//! the next one that may. A value that neither was there before nor was set here is somebody else's, and stays.
//!
//! | module | job |
//! |---|---|
//! | this one | [`System`]: the settings of a sweep, from the first change until they are put back |
//! | `look` | what would be changed, whether this process may, and what goes over it |
//! | `along` | what is changed along with it |
//! | `setting` | reads and sets one |
//! | `held` | one while it is changed |
//! | `back` | puts settings back |
//! | `journal` | the journals of all processes that change something |
//! | `here` | which system and network a journal is of |
//! | `left` | what killed processes left |

mod along;
mod back;
mod held;
mod here;
mod journal;
mod left;
mod look;
mod setting;

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;

use anyhow::{Result, anyhow};

use crate::config::system::{Base, Change, Knob, beside};
use crate::out;
use held::Held;
use journal::{Journal, Setting};

pub use left::{examined, left, warn};
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
    /// Those that have an axis, then those that are changed along with them.
    held: Vec<Held>,
    axes: usize,
    journal: Option<Journal>,
}

impl System {
    /// Writes the journal. Nothing is changed yet.
    pub fn begin(changes: &[Change]) -> Result<Self> {
        let held = Held::all(changes);
        let journal = Journal::begin(held.iter().map(|held| (&held.knob, &held.setting)))?;
        Ok(Self { held, axes: changes.len(), journal: Some(journal) })
    }

    /// Sets what a cell has, each axis with its level, and what the axis `default` leaves to what it was. Gives what each reads then.
    ///
    /// # Errors
    /// A value did not take effect; or ([`Ends`]) this process may not change it, or somebody else did.
    pub fn set(&mut self, levels: &[(&str, &str)]) -> Result<BTreeMap<String, String>> {
        self.still()?;
        let wanted = self.held[..self.axes].iter().map(|held| held.wanted(levels)).collect::<Result<Vec<String>>>()?;
        let changing: Vec<bool> = self.held.iter().zip(&wanted).map(|(held, value)| held.now() != value).collect();
        // What each may be found at while the change is under way.
        for (at, held) in self.held.iter_mut().enumerate() {
            match held.with {
                None if changing[at] => held.begins(wanted[at].clone()),
                Some(with) if changing[with] => held.begins(held.setting.was.clone()),
                _ => {}
            }
        }
        self.written()?;
        let mut said = Vec::new();
        for (held, value) in self.held.iter().zip(&wanted) {
            // One that was set before may have taken it along.
            let stands = setting::read(&held.knob).is_ok_and(|found| found == *value);
            let done = if stands { Ok(()) } else { setting::set(&held.knob, value, self.lock()) };
            let ends = done.as_ref().is_err_and(|e| e.is::<Ends>());
            said.push(done);
            if ends {
                break;
            }
        }
        // What is read is what the journal has, whatever was asked for.
        for held in &mut self.held[..self.axes] {
            let found = setting::read(&held.knob).map_err(|e| anyhow!(Ends(format!("{e:#}"))))?;
            held.setting.set = vec![found];
        }
        let along = self.along(&changing);
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
        along?;
        let axes = &self.held[..self.axes];
        Ok(axes.iter().map(|held| (held.setting.name.clone(), held.now().to_owned())).collect())
    }

    /// What was changed along is set to what it was, as far as what it was changed with lets it: else a cell would be measured with what the cells
    /// before it left.
    fn along(&mut self, changing: &[bool]) -> Result<()> {
        let mut failed = None;
        for at in self.axes..self.held.len() {
            let held = &self.held[at];
            let Some(base) = held.with.filter(|with| changing[*with]).map(|with| &self.held[with]) else { continue };
            if back::is_another(&held.knob, &held.setting).map_err(|e| anyhow!(Ends(format!("{e:#}"))))? {
                continue;
            }
            let read = || setting::read(&held.knob).map_err(|e| anyhow!(Ends(format!("{e:#}"))));
            let mut found = read()?;
            let base = Base { knob: &base.knob, was: &base.setting.was, now: base.now() };
            if let Some(value) = beside(base, &held.knob, &held.setting.was, &found) {
                if let Err(e) = setting::set(&held.knob, &value, self.lock()) {
                    let text = format!(
                        "{} went along with {} and could not be set to {value}",
                        held.knob.what(),
                        base.knob.what()
                    );
                    failed.get_or_insert(e.context(text));
                }
                found = read()?;
            }
            self.held[at].setting.set = vec![found];
        }
        failed.map_or(Ok(()), Err)
    }

    /// Whether everything is as it was set last.
    ///
    /// # Errors
    /// [`Ends`]: somebody else changed something.
    pub fn still(&self) -> Result<()> {
        for held in &self.held {
            let what = held.knob.what();
            let along = held.with.is_some();
            if back::is_another(&held.knob, &held.setting).map_err(|e| anyhow!(Ends(format!("{e:#}"))))? {
                if along {
                    continue;
                }
                let text =
                    format!("{what} is gone with its interface (there may be another of its name): the sweep ends");
                return Err(anyhow!(Ends(text)));
            }
            let found = setting::read(&held.knob).map_err(|e| anyhow!(Ends(format!("{e:#}"))))?;
            // One that goes along may be as it was again, as where a router tells its MTU anew.
            if found != held.now() && !(along && found == held.setting.was) {
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
        let Some(mut journal) = self.journal.take() else { return true };
        let judged: Vec<_> = self.held.iter().map(|held| back::judged(&held.knob, &held.setting)).collect();
        for (held, judged) in self.held.iter_mut().zip(&judged) {
            if matches!(judged, back::Judged::Ours(_)) {
                // One that is put back may change others on the way.
                held.begins(held.setting.was.clone());
            }
        }
        let all: Vec<(&Knob, &Setting)> = self.held.iter().map(|held| (&held.knob, &held.setting)).collect();
        // One that can't be renewed tells as much as is needed, unless this process is killed now.
        let _ = journal.write(&all.iter().map(|(_, setting)| *setting).collect::<Vec<_>>());
        let became = back::put_back(&all, &judged, journal.lock());
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

    /// The lock that the journal is under.
    fn lock(&self) -> Option<&File> {
        self.journal.as_ref().and_then(Journal::lock)
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

/// Whatever ends the sweep: an error that nobody foresaw, too.
impl Drop for System {
    fn drop(&mut self) {
        self.put_back();
    }
}
