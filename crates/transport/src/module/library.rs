//! A module's shared library: loading it, and the table that it gives, looked through before anything of it is called.
//!
//! A module runs with all that this process may do. So it is loaded only in processes that measure, never in the command.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::abi;

/// Most options that a module has.
const OPTIONS: usize = 64;
/// Most words of a list that it gives.
const WORDS: usize = 64;

/// A module that is loaded. It stays until the process ends: its code may be running in threads of its own.
pub struct Library {
    pub file: PathBuf,
    pub table: abi::Module,
    pub one_sided: Option<abi::OneSided>,
    pub queued: Option<abi::Queued>,
    pub collective: Option<abi::Collective>,
    pub group: Option<abi::Group>,
    pub name: String,
    pub version: String,
    pub summary: String,
    pub spoken: Vec<String>,
    pub launch: Vec<String>,
    pub options: Vec<Declared>,
}

// SAFETY: what the table points to is the module's constant data, and the interface asks of its functions that several threads may call them.
unsafe impl Send for Library {}
// SAFETY: as for `Send`.
unsafe impl Sync for Library {}

/// An option as a module declares it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Declared {
    /// What it is called.
    pub name: String,
    /// What it does.
    pub help: String,
    /// What holds where nobody sets it.
    pub by_default: String,
    /// `enum pipegauge_form`.
    pub form: c_int,
    /// `enum pipegauge_knob`.
    pub knob: c_int,
    /// Least size, bytes, or whole number.
    pub least: u64,
    /// Largest size, bytes, or whole number, where 0 is no bound, or longest word.
    pub most: u64,
    /// Shortest time, seconds.
    pub low: f64,
    /// Longest time, seconds.
    pub high: f64,
    /// The words that there are.
    pub words: Vec<String>,
    /// What a whole number counts.
    pub unit: Option<String>,
}

/// Why a file is no module that can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unloadable {
    /// The system's loader refused: it lacks a library, or is none.
    #[error("{file} can't be loaded: {why}")]
    System {
        /// The file.
        file: String,
        /// The loader's words.
        why: String,
    },
    /// A library, but no module.
    #[error(
        "{file} has no entry point pipegauge_module: it is a library, and no module of pipegauge (include/pipegauge.h; pipegauge module new)"
    )]
    NoEntry {
        /// The file.
        file: String,
    },
    /// It was made for another version of the interface.
    #[error("{file} is for version {theirs} of the module interface, and this program has version {ours}: compile it with this program's pipegauge.h", ours = abi::ABI)]
    Version {
        /// The file.
        file: String,
        /// In words: it may not say.
        theirs: String,
    },
    /// Its table breaks a rule of the header.
    #[error("{file} breaks the module interface: {why}")]
    Broken {
        /// The file.
        file: String,
        /// Which rule, and how.
        why: String,
    },
}

impl Library {
    /// Loads the file and looks its table through.
    pub fn load(file: &Path) -> Result<&'static Library, Unloadable> {
        let shown = units::received::clean(&file.display().to_string(), 200);
        let system = |why: String| Unloadable::System { file: shown.clone(), why: units::received::clean(&why, 400) };
        let broken = |why: String| Unloadable::Broken { file: shown.clone(), why };
        // A name without a slash would be looked for in the system's directories.
        let whole = std::path::absolute(file).map_err(|e| system(e.to_string()))?;
        let path = CString::new(whole.as_os_str().as_bytes()).map_err(|_| system("its name has a 0 in it".into()))?;
        // Opening a pipe that nobody writes to would wait for ever.
        if std::fs::metadata(&whole).is_ok_and(|of| !of.is_file()) {
            return Err(system("it is no file of a shared library but a folder, a device, a pipe or a socket".into()));
        }
        // SAFETY: loading runs the library's constructors, which is what whoever put the file onto the search path wants.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return Err(system(last_words()));
        }
        // SAFETY: the handle is of a library that stays.
        let entry = unsafe { libc::dlsym(handle, abi::ENTRY.as_ptr()) };
        if entry.is_null() {
            return Err(Unloadable::NoEntry { file: shown });
        }
        // SAFETY: a symbol of this name is a function of this type: the header declares it.
        let entry: abi::Entry = unsafe { std::mem::transmute::<*mut c_void, abi::Entry>(entry) };
        // SAFETY: the entry point takes any version.
        let table = unsafe { entry(abi::ABI) }.cast::<abi::Module>();
        if table.is_null() {
            return Err(Unloadable::Version { file: shown, theirs: "another".into() });
        }
        if !table.is_aligned() {
            return Err(broken("its table is not aligned as its members want it".into()));
        }
        // SAFETY: the header makes a size the table's first member.
        let (size, table) = unsafe { abi::sized(table) };
        if table.abi != abi::ABI {
            return Err(Unloadable::Version { file: shown, theirs: table.abi.to_string() });
        }
        if size < abi::LEAST {
            let least = abi::LEAST;
            return Err(broken(format!("its table says that it has {size} bytes, and version 1 has {least}")));
        }
        Self::of(whole, table).map(|library| &*Box::leak(Box::new(library))).map_err(broken)
    }

    /// What the table says, checked; the error says which rule it breaks.
    fn of(file: PathBuf, table: abi::Module) -> Result<Library, String> {
        let name = text(table.name, "name", 32)?;
        crate::Name::new(&name).map_err(|e| e.to_string())?;
        for (there, which) in [
            (table.capabilities.is_some(), "capabilities"),
            (table.listen.is_some(), "listen"),
            (table.address.is_some(), "address"),
            (table.accept.is_some(), "accept"),
            (table.unlisten.is_some(), "unlisten"),
            (table.connect.is_some(), "connect"),
            (table.send.is_some(), "send"),
            (table.recv.is_some(), "recv"),
            (table.close.is_some(), "close"),
        ] {
            if !there {
                return Err(format!("{which}() is missing"));
            }
        }
        if table.take.is_some() != table.give_back.is_some() {
            return Err("take() and give_back() come together".into());
        }
        if table.option_count > OPTIONS {
            return Err(format!("{} options are more than the {OPTIONS} that a module may have", table.option_count));
        }
        if table.option_count > 0 && table.options.is_null() {
            return Err(format!("it counts {} options and has none", table.option_count));
        }
        let mut options = Vec::new();
        let mut at = table.options.cast::<u8>();
        for i in 0..table.option_count {
            // SAFETY: `option_count` options follow each other, each as long as the first says; all of a module are of one size.
            let (size, option) = unsafe { abi::sized(at.cast::<abi::OptionOf>()) };
            let least = abi::LEAST_OPTION;
            if size < least {
                return Err(format!("option {i} says that it has {size} bytes, and version 1 has {least}"));
            }
            options.push(declared(&option, i)?);
            // SAFETY: within the array, or one past it.
            at = unsafe { at.add(size) };
        }
        let one_sided = optional(table.one_sided, "one_sided", |t: &abi::OneSided| {
            t.reserve.is_some()
                && t.expose.is_some()
                && t.fill.is_some()
                && t.read.is_some()
                && t.withdraw.is_some()
                && t.reach.is_some()
                && t.put.is_some()
                && t.get.is_some()
                && t.fence.is_some()
                && t.leave.is_some()
        })?;
        let queued = optional(table.queued, "queued", |t: &abi::Queued| {
            t.post.is_some() && t.posted.is_some() && t.poll.is_some()
        })?;
        let collective = optional(table.collective, "collective", |t: &abi::Collective| {
            t.join.is_some()
                && t.barrier.is_some()
                && t.broadcast.is_some()
                && t.allreduce.is_some()
                && t.allgather.is_some()
                && t.all_to_all.is_some()
        })?;
        let group = optional(table.group, "group", |t: &abi::Group| {
            t.join.is_some()
                && t.order.is_some()
                && t.hear_itself.is_some()
                && t.cast.is_some()
                && t.deliver.is_some()
                && t.answer.is_some()
                && t.answered.is_some()
        })?;
        Ok(Library {
            version: text(table.version, "version", 60)?,
            summary: text(table.summary, "summary", 200)?,
            spoken: words(table.spoken, "spoken")?,
            launch: words(table.launch, "launch")?,
            name,
            file,
            table,
            one_sided,
            queued,
            collective,
            group,
            options,
        })
    }
}

/// An optional table, which has all its functions where it is there.
fn optional<T: Copy>(from: *const T, which: &str, whole: impl Fn(&T) -> bool) -> Result<Option<T>, String> {
    if from.is_null() {
        return Ok(None);
    }
    // SAFETY: the header makes a size its first member.
    let (size, table) = unsafe { abi::sized(from) };
    match size >= size_of::<T>() && whole(&table) {
        true => Ok(Some(table)),
        false => Err(format!("the table '{which}' lacks functions of version 1 (it says that it has {size} bytes)")),
    }
}

fn declared(option: &abi::OptionOf, number: usize) -> Result<Declared, String> {
    let name = text(option.name, &format!("name of option {number}"), 32)?;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !name.chars().all(plain) {
        return Err(format!("option '{name}': a name is of a to z, 0 to 9 and -"));
    }
    Ok(Declared {
        help: text(option.help, &format!("help of option {name}"), 200)?,
        by_default: text(option.by_default, &format!("default of option {name}"), 100)?,
        form: option.form,
        knob: option.knob,
        least: option.least,
        most: option.most,
        low: option.low,
        high: option.high,
        words: words(option.words, &format!("words of option {name}"))?,
        unit: match option.unit.is_null() {
            true => None,
            false => Some(text(option.unit, &format!("unit of option {name}"), 30)?),
        },
        name,
    })
}

/// A text of a module's: valid UTF-8 without control characters, not empty, of at most `most` characters.
fn text(from: *const c_char, which: &str, most: usize) -> Result<String, String> {
    if from.is_null() {
        return Err(format!("its {which} is NULL"));
    }
    // SAFETY: the header asks for a text that ends with 0.
    let text = unsafe { CStr::from_ptr(from) }.to_str().map_err(|_| format!("its {which} is not UTF-8"))?;
    match text.chars().count() {
        0 => Err(format!("its {which} is empty")),
        n if n > most => Err(format!("its {which} has {n} characters, and may have {most}")),
        _ if units::received::clean(text, most) != text => Err(format!("its {which} has control characters")),
        _ => Ok(text.to_owned()),
    }
}

/// A list of texts with NULL at its end; none where it is NULL itself.
fn words(from: *const *const c_char, which: &str) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    while !from.is_null() {
        // SAFETY: no further than the NULL at the list's end.
        let word = unsafe { *from.add(all.len()) };
        if word.is_null() {
            break;
        }
        if all.len() == WORDS {
            return Err(format!("its {which} are more than {WORDS}, or have no NULL at their end"));
        }
        all.push(text(word, which, 60)?);
    }
    Ok(all)
}

/// What the system's loader said last.
fn last_words() -> String {
    // SAFETY: it gives NULL or a text that stays until the next call.
    let words = unsafe { libc::dlerror() };
    if words.is_null() {
        return "the system's loader does not say why".into();
    }
    // SAFETY: as above.
    unsafe { CStr::from_ptr(words) }.to_string_lossy().into_owned()
}
