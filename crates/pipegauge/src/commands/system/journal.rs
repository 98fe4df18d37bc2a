//! The journals of changes: a file for each process that changes something, named by its number and when it began, so that a later process of
//! that number is not taken for it. It is there, on disk, before what it tells of is changed, and is replaced whole.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, anyhow, bail};
use rustix::fs::{FlockOperation, OFlags, flock};
use serde::{Deserialize, Serialize};

use super::here::{Here, Place};
use crate::config::system::{Knob, SYSTEMS, VARIABLE, own};

/// What a journal of this program is called inside.
const SCHEMA: &str = "pipegauge-journal/2";
/// What one was called that had no cookie of the network, and no settings that are changed along with others. It is read, too.
const BEFORE: &str = "pipegauge-journal/1";
/// Largest journal that is read, bytes.
const LARGEST: u64 = 1 << 20;
/// Most files of the folder that are looked at.
const MOST: usize = 1000;
/// The file that is locked while a journal is begun, so that of two processes one sees the other's.
const GATE: &str = "lock";
/// How long it may be locked.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a journal may be locked whose process is gone: by another one that works on it, or by a command that its process began and that sets
/// something yet.
const UNDER_WAY: Duration = Duration::from_secs(10);
/// How the name of a journal ends, and of one that is being written.
const END: &str = ".json";
const NEW: &str = ".new";

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// The axis that varies it.
    pub name: String,
    /// The number of its interface, where it is one's.
    pub interface: Option<u32>,
    /// What it was.
    pub was: String,
    /// What it was set to: two values while a change is under way.
    pub set: Vec<String>,
}

/// A journal's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    schema: String,
    /// The start of the system that it belongs to: no later one has its settings.
    boot: String,
    /// The network namespace that was changed.
    network: String,
    /// Its number that no other has, where the kernel tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cookie: Option<u64>,
    /// When the sweep began.
    pub started: String,
    pub settings: Vec<Setting>,
}

impl Entry {
    /// Where the sweep was.
    pub fn here(&self) -> Here {
        Here { boot: self.boot.clone(), network: self.network.clone(), cookie: self.cookie }
    }
}

/// A folder of journals.
#[derive(Debug, Clone)]
pub struct Folder(PathBuf);

impl Folder {
    /// The one that this process writes into.
    pub fn own() -> Result<Self> {
        own(rustix::process::geteuid().is_root(), |name| std::env::var_os(name).filter(|value| !value.is_empty()))
            .map(Self)
    }

    /// Those that are looked into: the system's too, though only root may put back what is told there.
    pub fn all() -> Vec<Self> {
        let own = Self::own().ok();
        let named = std::env::var_os(VARIABLE).is_some_and(|value| !value.is_empty());
        let systems = (!named).then(|| Self(SYSTEMS.into()));
        let mut all: Vec<Self> = own.into_iter().collect();
        all.extend(systems.filter(|systems| all.iter().all(|own| own.0 != systems.0)));
        all
    }

    /// Its name.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Whether it is the one that nobody named.
    pub fn is_the_systems(&self) -> bool {
        self.0 == Path::new(SYSTEMS)
    }

    /// Whether it is there; an error where somebody else may write into it.
    pub fn is_there(&self) -> Result<bool> {
        let name = self.0.display();
        let meta = match fs::symlink_metadata(&self.0) {
            Ok(meta) => meta,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(false),
            Err(e) => return Err(e).with_context(|| format!("looking at {name}")),
        };
        let ours = [0, rustix::process::geteuid().as_raw()].contains(&meta.uid());
        if !meta.is_dir() || !ours || meta.mode() & 0o022 != 0 {
            bail!(
                "{name} is no folder for the journal of changes to this system: it has to be a folder that belongs to who uses it, and that nobody \
                 else may write into; remove it, or name another ({VARIABLE})"
            );
        }
        Ok(true)
    }

    /// Its journals, of which each has the process that it is of.
    pub fn journals(&self) -> Vec<Found> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten().take(MOST);
        let mut all: Vec<Found> = entries.filter_map(|entry| Found::at(entry.path())).collect();
        all.sort_by(|one, other| one.file.cmp(&other.file));
        all
    }

    /// Makes it.
    fn made(&self) -> Result<()> {
        let making =
            || format!("making {} for the journal of changes ({VARIABLE} names another folder)", self.0.display());
        if !self.is_there()? {
            // Others may see that something was left, and not what.
            let made = fs::DirBuilder::new().recursive(true).mode(0o755).create(&self.0);
            made.with_context(making)?;
        }
        match self.is_there()? {
            true => Ok(()),
            false => Err(anyhow!("it is gone again")).with_context(making),
        }
    }

    /// Keeps others from beginning a journal until the file is closed.
    fn gate(&self) -> Result<File> {
        let file = self.0.join(GATE);
        let gate =
            owners().create(true).truncate(false).open(&file).with_context(|| format!("opening {}", file.display()))?;
        let until = Instant::now() + PATIENCE;
        while flock(&gate, FlockOperation::NonBlockingLockExclusive).is_err() {
            if Instant::now() >= until {
                bail!("{} is locked by another process for {} s: end that first", file.display(), PATIENCE.as_secs());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(gate)
    }
}

/// How files of the folder are opened for writing: nobody else may read them, since a sysctl may be a secret.
fn owners() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600).custom_flags(OFlags::NOFOLLOW.bits() as i32);
    options
}

/// A journal that is there.
pub struct Found {
    pub file: PathBuf,
    pub pid: u32,
    began: u64,
}

/// What a journal that may be worked on says.
pub struct Taken {
    pub entry: Entry,
    /// Held until it is worked off: no other process works on it meanwhile.
    pub lock: File,
}

/// Whether a journal may be worked on.
pub enum Taking {
    /// It may.
    Of(Taken),
    /// Another process has it, or a command that its own began still runs.
    Busy,
    /// It is worked off.
    Gone,
}

impl Found {
    /// By the name of the file: `PID-BEGAN.json`, or that of one which was being written.
    fn at(file: PathBuf) -> Option<Self> {
        let name = file.file_name()?.to_str()?;
        let (pid, began) = name.strip_suffix(NEW).unwrap_or(name).strip_suffix(END)?.split_once('-')?;
        let (pid, began) = (pid.parse().ok()?, began.parse().ok()?);
        Some(Self { file, pid, began })
    }

    /// Whether it was never whole: nothing was changed by it.
    pub fn is_unborn(&self) -> bool {
        self.file.as_os_str().as_encoded_bytes().ends_with(NEW.as_bytes())
    }

    /// Whether its process still is.
    pub fn lives(&self) -> bool {
        host::process(self.pid).is_ok_and(|process| process.began == self.began && !process.ended)
    }

    /// Its text, which is whole whenever it is read; none where it is gone.
    pub fn read(&self) -> Result<Option<Entry>> {
        Ok(self.opened()?.map(|(entry, _)| entry))
    }

    /// Takes it, once nobody else has it. A command that its process began has it, too: what it sets is not to be read before it has.
    pub fn take(&self) -> Result<Taking> {
        self.taken(UNDER_WAY)
    }

    fn taken(&self, patience: Duration) -> Result<Taking> {
        let Some((_, file)) = self.opened()? else { return Ok(Taking::Gone) };
        let until = Instant::now() + patience;
        while flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            if Instant::now() >= until {
                return Ok(Taking::Busy);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        // It may have been replaced, or worked off, before it was locked.
        let same = |one: &fs::Metadata, other: &fs::Metadata| (one.dev(), one.ino()) == (other.dev(), other.ino());
        match fs::symlink_metadata(&self.file) {
            Ok(there) if file.metadata().is_ok_and(|meta| same(&meta, &there)) => {}
            Ok(_) => return Ok(Taking::Busy),
            Err(_) => return Ok(Taking::Gone),
        }
        Ok(self.opened()?.map_or(Taking::Gone, |(entry, _)| Taking::Of(Taken { entry, lock: file })))
    }

    fn opened(&self) -> Result<Option<(Entry, File)>> {
        let name = self.file.display();
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
        let mut file = match OpenOptions::new().read(true).custom_flags(flags).open(&self.file) {
            Ok(file) => file,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(e).with_context(|| format!("opening the journal {name}")),
        };
        let meta = file.metadata().with_context(|| format!("looking at the journal {name}"))?;
        let ours = [0, rustix::process::geteuid().as_raw()].contains(&meta.uid());
        if !meta.is_file() || !ours || meta.mode() & 0o022 != 0 || meta.len() > LARGEST {
            bail!("{name} is no journal that this program wrote: look at it, and remove it");
        }
        let mut text = Vec::new();
        Read::by_ref(&mut file)
            .take(LARGEST)
            .read_to_end(&mut text)
            .with_context(|| format!("reading the journal {name}"))?;
        let entry: Entry = serde_json::from_slice(&text)
            .map_err(|e| anyhow!("{name} is no journal that this program reads ({e}): look at it, and remove it"))?;
        if ![SCHEMA, BEFORE].contains(&entry.schema.as_str()) {
            bail!(
                "{name} is a '{}', and this program reads {SCHEMA}: the program that wrote it puts back what it tells",
                report::words::plain(&entry.schema)
            );
        }
        Ok(Some((entry, file)))
    }

    /// Removes it.
    pub fn remove(&self) -> Result<()> {
        match fs::remove_file(&self.file) {
            Err(e) if e.kind() != ErrorKind::NotFound => {
                Err(e).with_context(|| format!("removing the journal {}", self.file.display()))
            }
            _ => Ok(()),
        }
    }
}

/// This process's own.
#[derive(Debug)]
pub struct Journal {
    file: PathBuf,
    entry: Entry,
    /// Locked as long as it is this process's.
    lock: Option<File>,
}

impl Journal {
    /// Writes it, if no other has one of these settings.
    pub fn begin<'a>(all: impl Iterator<Item = (&'a Knob, &'a Setting)>) -> Result<Self> {
        let (knobs, settings): (Vec<&Knob>, Vec<Setting>) = all.map(|(knob, setting)| (knob, setting.clone())).unzip();
        let folder = Folder::own()?;
        folder.made()?;
        let _gate = folder.gate()?;
        let here = Here::now()?;
        let pid = std::process::id();
        let began = host::process(pid).context("looking when this process began")?.began;
        let file = folder.0.join(format!("{pid}-{began}{END}"));
        for other in folder.journals().iter().filter(|other| other.file != file && !other.is_unborn()) {
            if let Some(knob) = other.has_one_of(&knobs, &here)? {
                let what = if other.lives() { "is changing" } else { "was ended before it had put back" };
                bail!(
                    "another pipegauge (process {}) {what} {}: {}",
                    other.pid,
                    knob.what(),
                    if other.lives() { "wait for it" } else { "`pipegauge doctor` says what to do" }
                );
            }
        }
        let started = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let Here { boot, network, cookie } = here;
        let entry = Entry { schema: SCHEMA.to_owned(), boot, network, cookie, started, settings };
        let mut journal = Self { file, entry, lock: None };
        journal.stored()?;
        Ok(journal)
    }

    /// Its file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Its file while it is locked, for what it tells of to be set under its lock.
    pub fn lock(&self) -> Option<&File> {
        self.lock.as_ref()
    }

    /// Replaces what it says.
    pub fn write(&mut self, settings: &[&Setting]) -> Result<()> {
        self.entry.settings = settings.iter().map(|setting| (*setting).clone()).collect();
        self.stored()
    }

    /// Removes it: everything was put back.
    pub fn remove(self) {
        // What stays tells of nothing that is not as it was.
        let _ = fs::remove_file(&self.file);
    }

    fn stored(&mut self) -> Result<()> {
        self.replaced().with_context(|| format!("writing the journal of changes {}", self.file.display()))
    }

    fn replaced(&mut self) -> Result<()> {
        let mut name = self.file.clone().into_os_string();
        name.push(NEW);
        let new = PathBuf::from(name);
        // One that this process could not finish; no other has its number and beginning.
        let _ = fs::remove_file(&new);
        let mut file = owners().create_new(true).open(&new)?;
        // Locked before it has its name, so that it is never there without.
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        file.write_all(serde_json::to_string_pretty(&self.entry)?.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, &self.file)?;
        self.lock = Some(file);
        if let Some(folder) = self.file.parent() {
            File::open(folder)?.sync_all()?;
        }
        Ok(())
    }
}

impl Found {
    /// One of these settings that it tells of too, in this network.
    fn has_one_of<'a>(&self, knobs: &[&'a Knob], here: &Here) -> Result<Option<&'a Knob>> {
        let Some(entry) = self.read()?.filter(|entry| here.place(&entry.here()) == Place::Here) else {
            return Ok(None);
        };
        let theirs: Vec<Knob> = entry.settings.iter().filter_map(|setting| Knob::kept(&setting.name)?.ok()).collect();
        Ok(knobs.iter().find(|knob| theirs.iter().any(|other| knob.clashes(other))).copied())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn entry(settings: Vec<Setting>) -> Entry {
        let (schema, boot, network, started) = (SCHEMA.into(), "b".into(), "n".into(), "s".into());
        Entry { schema, boot, network, cookie: Some(1), started, settings }
    }

    #[test]
    fn a_journal_is_of_the_process_that_its_name_says_and_no_later_one_of_that_number() {
        let own = std::process::id();
        let began = host::process(own).unwrap().began;
        let found = |name: String| Found::at(Path::new("/j").join(name));
        assert!(found(format!("{own}-{began}.json")).unwrap().lives());
        assert!(!found(format!("{own}-{}.json", began + 1)).unwrap().lives());
        assert!(found(format!("{own}-{began}.json.new")).unwrap().is_unborn());
        assert!(!found(format!("{own}-{began}.json")).unwrap().is_unborn());
        for name in ["lock", "1.json", "x-1.json", "1-x.json", "1-1", "1-1.new", "-1-1.json"] {
            assert!(found(name.to_owned()).is_none(), "{name}");
        }
    }

    #[test]
    fn a_folder_that_others_may_write_into_is_not_believed() {
        let dir = tempfile::tempdir().unwrap();
        let folder = |name: &str| Folder(dir.path().join(name));
        assert!(!folder("none").is_there().unwrap());
        fs::create_dir(dir.path().join("open")).unwrap();
        assert!(folder("open").is_there().unwrap());
        fs::set_permissions(dir.path().join("open"), fs::Permissions::from_mode(0o777)).unwrap();
        let e = folder("open").is_there().unwrap_err().to_string();
        assert!(e.contains("nobody else may write into") && e.contains(VARIABLE), "{e}");
        std::os::unix::fs::symlink("/", dir.path().join("link")).unwrap();
        assert!(folder("link").is_there().is_err());
        folder("a/b").made().unwrap();
        assert!(folder("a/b").is_there().unwrap());
    }

    #[test]
    fn what_this_program_did_not_write_is_no_journal() {
        let dir = tempfile::tempdir().unwrap();
        let read = |text: &str| {
            let file = dir.path().join("1-1.json");
            fs::write(&file, text).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
            Found::at(file).unwrap().read()
        };
        let good = |schema: &str| {
            let settings =
                vec![Setting { name: "system.mtu:e".into(), interface: Some(1), was: "1500".into(), set: vec![] }];
            let entry = Entry { schema: schema.into(), cookie: None, ..entry(settings) };
            serde_json::to_string(&entry).unwrap()
        };
        assert!(read(&good(SCHEMA)).unwrap().is_some() && read(&good(BEFORE)).unwrap().is_some());
        for odd in ["", "{}", "[", &good("pipegauge-journal/3"), &good(SCHEMA).replacen("{", "{\"more\":1,", 1)] {
            assert!(read(odd).is_err(), "{odd}");
        }
        let file = dir.path().join("1-1.json");
        fs::write(&file, good(SCHEMA)).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(Found::at(file).unwrap().read().is_err());
        std::os::unix::fs::symlink("/etc/passwd", dir.path().join("2-2.json")).unwrap();
        assert!(Found::at(dir.path().join("2-2.json")).unwrap().read().is_err());
        assert!(Found::at(dir.path().join("3-3.json")).unwrap().read().unwrap().is_none());
    }

    #[test]
    fn a_journal_whose_change_is_under_way_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("1-1.json");
        let mut journal = Journal { file: file.clone(), entry: entry(Vec::new()), lock: None };
        journal.stored().unwrap();
        // What a command that was started under the lock has of it.
        let command = journal.lock().unwrap().try_clone().unwrap();
        drop(journal);
        let found = Found::at(file.clone()).unwrap();
        assert!(matches!(found.taken(Duration::ZERO).unwrap(), Taking::Busy));
        let ends = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            drop(command);
        });
        assert!(
            matches!(found.taken(Duration::from_secs(60)).unwrap(), Taking::Of(taken) if taken.entry.cookie == Some(1))
        );
        ends.join().unwrap();
        fs::remove_file(&file).unwrap();
        assert!(matches!(found.take().unwrap(), Taking::Gone));
    }
}
