//! A module as a transport: described, as the command knows it, or loaded, as processes know it that measure.

use std::collections::BTreeMap;
use std::ffi::{CString, c_char};
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::abi::{self, bit};
use super::call::{Failure, Given, Terms, fault};
use super::calls::{Call, Within};
use super::library::{Declared, Library, Unloadable};
use super::link::{ModuleLink, Seat, shown};
use crate::meet::far_shown;
use crate::options::{Form, Knob, Moved};
use crate::port::{Accept, Acceptor, Address, Connect, Connector, Transport};
use crate::{AnyLink, Capabilities, Link, LinkError, Name, OptionSpec, Patience, Proof, Semantics, Settings};

/// Longest address that a module gives.
const ADDRESS: usize = 4000;

/// What a process that loaded a module tells of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// Its name.
    pub name: Name,
    /// Its version.
    pub version: String,
    /// What it is, in one line.
    pub summary: String,
    /// What people call it.
    pub spoken: Vec<String>,
    /// The command that starts its processes together; empty where they need none.
    pub launch: Vec<String>,
    /// What can be set on it.
    pub options: Vec<Declared>,
    /// What it can do with the settings that were asked about.
    pub capabilities: Capabilities,
    /// Why it can't be used here.
    pub unavailable: Option<String>,
}

/// Has a process of its own describe a file with these settings.
pub type Describe = fn(&Path, &Settings) -> Result<Description, String>;

/// A transport that was found at run time.
pub struct Module {
    name: Name,
    version: &'static str,
    summary: &'static str,
    spoken: &'static [&'static str],
    launch: &'static [String],
    options: &'static [OptionSpec],
    file: PathBuf,
    /// What lay at that place when this was found.
    found: Option<Identity>,
    known: Known,
}

/// What tells a file from another that has taken its place: device, inode, bytes, when it was written last, in seconds and nanoseconds.
type Identity = (u64, u64, u64, i64, i64);

fn identity(file: &Path) -> Option<Identity> {
    let of = std::fs::metadata(file).ok()?;
    Some((of.dev(), of.ino(), of.len(), of.mtime(), of.mtime_nsec()))
}

/// What this process knows of a module.
enum Known {
    /// All: it is loaded here.
    Loaded(&'static Library),
    /// What another process told.
    Described { describe: Describe, unavailable: Option<String>, told: Mutex<BTreeMap<String, Capabilities>> },
}

impl Module {
    /// Loads a module's file into this process, which measures.
    pub fn load(file: &Path) -> Result<&'static Module, Unloadable> {
        let library = Library::load(file)?;
        let broken = |why| Unloadable::Broken { file: units::received::clean(&file.display().to_string(), 200), why };
        let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        if stem != library.name {
            return Err(broken(format!(
                "it is named {}, so that its file has to be {}.so",
                library.name, library.name
            )));
        }
        let name = Name::new(&library.name).map_err(|e| broken(e.to_string()))?;
        let options = specs(&library.options).map_err(broken)?;
        let module = Module {
            name,
            version: kept(&library.version),
            summary: kept(&library.summary),
            spoken: spoken(name, &library.spoken),
            launch: Box::leak(library.launch.clone().into()),
            options,
            file: library.file.clone(),
            found: identity(&library.file),
            known: Known::Loaded(library),
        };
        Ok(Box::leak(Box::new(module)))
    }

    /// A module that another process described.
    pub fn described(file: &Path, told: &Description, describe: Describe) -> Result<&'static Module, String> {
        let module = Module {
            name: told.name,
            version: kept(&units::received::clean(&told.version, 60)),
            summary: kept(&units::received::clean(&told.summary, 200)),
            spoken: spoken(told.name, &told.spoken),
            launch: Box::leak(told.launch.clone().into()),
            options: specs(&told.options)?,
            file: file.to_owned(),
            found: identity(file),
            known: Known::Described {
                describe,
                unavailable: told.unavailable.as_ref().map(|why| units::received::clean(why, 300)),
                told: Mutex::new(BTreeMap::from([(key(&Settings::default()), told.capabilities.clone())])),
            },
        };
        Ok(Box::leak(Box::new(module)))
    }

    /// What this process, which has it loaded, tells of it.
    pub fn tell(&self, settings: &Settings) -> Result<Description, LinkError> {
        let library = self.library()?;
        settings.check(self.options).map_err(|e| fault("looking at its settings", &e.to_string()))?;
        Ok(Description {
            name: self.name,
            version: self.version.to_owned(),
            summary: self.summary.to_owned(),
            spoken: library.spoken.clone(),
            launch: library.launch.clone(),
            options: library.options.clone(),
            capabilities: self.asked(library, settings)?,
            unavailable: self.availability().err().map(|e| e.to_string()),
        })
    }

    /// The file that it is in.
    pub fn file(&self) -> &Path {
        &self.file
    }

    fn library(&self) -> Result<&'static Library, LinkError> {
        match &self.known {
            Known::Loaded(library) => Ok(library),
            Known::Described { .. } => {
                Err(LinkError::Unsupported("be used in this process: a module is loaded only where it is measured"))
            }
        }
    }

    /// What the module says that it can do with these settings, as far as its table has the functions.
    fn asked(&self, library: &Library, settings: &Settings) -> Result<Capabilities, LinkError> {
        const DOING: &str = "asking what it can do";
        let table = &library.table;
        let given = Given::new(settings, self.options);
        let mut failure = Failure::new();
        let mut said = abi::Capabilities { size: size_of::<abi::Capabilities>(), bits: 0, largest: 0 };
        let Some(capabilities) = table.capabilities else { return Err(LinkError::Unsupported(DOING)) };
        let _within = Within::of(Call::Capabilities, Duration::ZERO);
        // SAFETY: all that is handed over lives until the call returns.
        let came = unsafe { capabilities(given.raw(), &raw mut said, failure.room()) };
        failure.check(came, DOING, &Patience::default())?;
        let broken = |what: &str| Err(fault(DOING, &format!("{} {what}", self.name)));
        let has = |wanted: u64| said.bits & wanted != 0;
        if said.bits & !bit::KNOWN != 0 {
            return broken("sets capability bits that no version of this interface has");
        }
        for (wanted, there, which) in [
            (bit::DUPLEX, table.exchange.is_some(), "PIPEGAUGE_DUPLEX and has no exchange()"),
            (bit::POLL, table.ready.is_some(), "PIPEGAUGE_POLL and has no ready()"),
            (bit::ONE_SIDED, library.one_sided.is_some(), "PIPEGAUGE_ONE_SIDED and has no such table"),
            (bit::QUEUED, library.queued.is_some(), "PIPEGAUGE_QUEUED and has no such table"),
            (bit::COLLECTIVE, library.collective.is_some(), "PIPEGAUGE_COLLECTIVE and has no such table"),
            (bit::GROUP, library.group.is_some(), "PIPEGAUGE_GROUP and has no such table"),
            (
                bit::GROUP,
                !has(bit::COLLECTIVE),
                "PIPEGAUGE_GROUP and PIPEGAUGE_COLLECTIVE: a link joins by one of both tables",
            ),
        ] {
            if has(wanted) && !there {
                return broken(&format!("says {which}"));
            }
        }
        Ok(Capabilities {
            semantics: if has(bit::MESSAGES) { Semantics::Message } else { Semantics::Stream },
            ordered: has(bit::ORDERED),
            reliable: has(bit::RELIABLE),
            max_block: (said.largest > 0).then_some(said.largest),
            duplex: has(bit::DUPLEX),
            poll: has(bit::POLL),
            local_only: has(bit::LOCAL_ONLY),
            one_sided: has(bit::ONE_SIDED),
            queued: has(bit::QUEUED),
            group: has(bit::GROUP),
            collective: has(bit::COLLECTIVE),
            waits: Vec::new(),
            ..Capabilities::plain()
        })
    }
}

/// Settings as the key of what was told about them.
fn key(settings: &Settings) -> String {
    serde_json::to_string(settings).unwrap_or_default()
}

/// A text that stays until the process ends, as names of transports do: a module is found once.
fn kept(text: &str) -> &'static str {
    Box::leak(text.into())
}

fn spoken(name: Name, others: &[String]) -> &'static [&'static str] {
    let others = others.iter().filter(|word| *word != name.as_str()).map(|word| kept(word));
    Box::leak(std::iter::once(name.as_str()).chain(others).collect())
}

/// Options as this program has them; the error says which one breaks a rule of the header.
fn specs(declared: &[Declared]) -> Result<&'static [OptionSpec], String> {
    let mut all: Vec<OptionSpec> = Vec::new();
    for option in declared {
        if all.iter().any(|other| other.name == option.name) {
            return Err(format!("option '{}' is declared twice", option.name));
        }
        // What the text of a path says besides a transport's options.
        if ["label", "load", "load-direction", "load-size", "flows", "pairs", "fan-in", "fan-out", "group"]
            .contains(&option.name.as_str())
        {
            return Err(format!("option '{}' has a name that every path has for another thing", option.name));
        }
        let form = form(option)?;
        let whole = |text: &str| match form.read(text) {
            Ok(crate::Value::Whole(n)) => Some(n),
            _ => None,
        };
        let moved = match (option.knob, form) {
            (0, _) => None,
            (1..=3, Form::Bytes(least, _)) => Some(Moved {
                knob: [Knob::Buffer, Knob::Packet, Knob::Eager][option.knob as usize - 1],
                unset: whole(&option.by_default),
                // What took effect is among its options.
                now: |_| None,
                // Systems bound buffers and packets, and don't say where; half is always to be had.
                doubles: option.knob == 3,
                limits: &[],
                least,
            }),
            (1..=3, _) => return Err(format!("option '{}': only a size is a knob", option.name)),
            (n, _) => return Err(format!("option '{}': there is no knob {n}", option.name)),
        };
        all.push(OptionSpec {
            name: kept(&option.name),
            flag: None,
            form,
            default: kept(&option.by_default),
            help: kept(&option.help),
            answers: &[],
            // A module may take the name of an interface or of a file so.
            steers: matches!(form, Form::Word(_)),
            moved,
        });
    }
    Ok(Box::leak(all.into_boxed_slice()))
}

fn form(option: &Declared) -> Result<Form, String> {
    let Declared { name, least, most, low, high, .. } = option;
    Ok(match option.form {
        0 => Form::Switch,
        1 if least <= most => Form::Bytes(*least, *most),
        1 => return Err(format!("option '{name}': its least size, {least}, is above its most, {most}")),
        2 if low.is_finite() && high.is_finite() && 0.0 <= *low && low <= high => Form::Seconds(*low, *high),
        2 => return Err(format!("option '{name}': its times are from {low} to {high}")),
        3 => {
            let bound = if *most == 0 { u64::MAX } else { *most };
            if *least > bound {
                return Err(format!("option '{name}': its least number, {least}, is above its most, {most}"));
            }
            Form::Whole { least: *least, most: bound, unit: option.unit.as_deref().map_or("", kept) }
        }
        4 => Form::Share,
        5 => Form::Rate,
        6 if option.words.is_empty() => return Err(format!("option '{name}' is one of no words")),
        6 => Form::OneOf(Box::leak(option.words.iter().map(|word| kept(word)).collect())),
        7 => Form::Word(usize::try_from(*most).unwrap_or(usize::MAX).clamp(1, 200)),
        n => return Err(format!("option '{name}': there is no form {n}")),
    })
}

impl Transport for Module {
    fn name(&self) -> Name {
        self.name
    }
    fn version(&self) -> &'static str {
        self.version
    }
    fn summary(&self) -> &'static str {
        self.summary
    }
    fn spoken(&self) -> &'static [&'static str] {
        self.spoken
    }
    fn launch(&self) -> &'static [String] {
        self.launch
    }
    fn prepare(&self, settings: &Settings) -> Result<(), LinkError> {
        let Some(prepare) = self.library()?.table.prepare else { return Ok(()) };
        let (given, mut failure) = (Given::new(settings, self.options), Failure::new());
        // SAFETY: the settings and the room for words live until the call returns.
        let came = unsafe { prepare(given.raw(), failure.room()) };
        failure.check(came, "preparing its processes", &Patience::default())
    }
    fn options(&self) -> &'static [OptionSpec] {
        self.options
    }
    fn source(&self) -> Option<&Path> {
        Some(&self.file)
    }
    fn unchanged(&self) -> Result<(), LinkError> {
        if identity(&self.file) == self.found {
            return Ok(());
        }
        Err(LinkError::Protocol(format!(
            "the module's file {} was replaced or changed after this command had found it: its path ends, so that no figure is of two modules; begin the run anew",
            self.file.display()
        )))
    }

    fn capabilities(&self, settings: &Settings) -> Capabilities {
        // What it refuses to tell is refused again when a link is made, with its words.
        let plain = || Capabilities { duplex: false, poll: false, waits: Vec::new(), ..Capabilities::plain() };
        match &self.known {
            Known::Loaded(library) => self.asked(library, settings).unwrap_or_else(|_| plain()),
            Known::Described { describe, told, .. } => {
                let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
                let ask = || describe(&self.file, settings).map_or_else(|_| plain(), |told| told.capabilities);
                told.entry(key(settings)).or_insert_with(ask).clone()
            }
        }
    }

    fn availability(&self) -> Result<(), LinkError> {
        const DOING: &str = "trying it here";
        match &self.known {
            Known::Described { unavailable: None, .. } => Ok(()),
            Known::Described { unavailable: Some(why), .. } => Err(LinkError::io(
                format!("{} of {}", "the module", self.file.display()),
                std::io::Error::other(why.clone()),
            )),
            Known::Loaded(library) => {
                let Some(available) = library.table.available else { return Ok(()) };
                let mut failure = Failure::new();
                let _within = Within::of(Call::Available, Duration::ZERO);
                // SAFETY: the room for words lives until the call returns.
                let came = unsafe { available(failure.room()) };
                failure.check(came, DOING, &Patience::default())
            }
        }
    }

    fn listen(&self, settings: &Settings, at: SocketAddr, patience: &Patience) -> Result<Acceptor, LinkError> {
        const DOING: &str = "listening";
        let library = self.library()?;
        let (table, can) = (&library.table, self.asked(library, settings)?);
        let (given, terms) = (Given::new(settings, self.options), Terms::new(settings, patience));
        let host = CString::new(at.ip().to_string()).unwrap_or_default();
        let (mut failure, mut own) = (Failure::new(), null_mut());
        let Some(listen) = table.listen else { return Err(LinkError::Unsupported("listen")) };
        let within = Within::of(Call::Listen, patience.limit);
        // SAFETY: what is handed over lives until the call returns, the terms as long as the listener and its links.
        let came = unsafe { listen(given.raw(), host.as_ptr(), terms.raw(), &raw mut own, failure.room()) };
        drop(within);
        failure.check(came, DOING, patience)?;
        if own.is_null() {
            return Err(fault(DOING, "it says that it listens, and gives no listener"));
        }
        let mut listener =
            Listener { own, library, options: self.options, can, terms, failure, address: String::new() };
        listener.address = listener.named()?;
        Ok(Box::new(listener))
    }

    fn dial(
        &self,
        settings: &Settings,
        address: &Address,
        peer: SocketAddr,
        patience: &Patience,
    ) -> Result<Connector, LinkError> {
        Ok(Box::new(self.dialler(settings, address, peer, patience)?))
    }

    fn gather(
        &self,
        settings: &Settings,
        doors: &[(Address, SocketAddr)],
        proofs: &[Proof],
        patience: &Patience,
    ) -> Result<AnyLink, LinkError> {
        let members = doors.len() as u32 + 1;
        let mut links = Vec::new();
        for ((rank, (address, peer)), proof) in (1..).zip(doors).zip(proofs) {
            let mut way = self.dialler(settings, address, *peer, patience)?;
            if !Seat::can_be(&way.can) {
                return Err(LinkError::Unsupported(
                    "join several members in a group (PIPEGAUGE_GROUP, PIPEGAUGE_COLLECTIVE)",
                ));
            }
            links.push(way.connected(proof, Some(Seat::new(rank, members)))?);
        }
        let mut links = links.into_iter();
        let Some(mut first) = links.next() else {
            return Err(LinkError::Unsupported("be a group of one member"));
        };
        first.join(links.collect(), Seat::new(0, members))?;
        Ok(AnyLink::new(first))
    }
}

impl Module {
    fn dialler(
        &self,
        settings: &Settings,
        address: &Address,
        peer: SocketAddr,
        patience: &Patience,
    ) -> Result<Dialler, LinkError> {
        let library = self.library()?;
        let can = self.asked(library, settings)?;
        let text = |text: &str| {
            CString::new(text).map_err(|_| LinkError::Protocol("it named an address with a 0 in it".into()))
        };
        Ok(Dialler {
            library,
            options: self.options,
            can,
            given: Given::new(settings, self.options),
            address: text(address.text()?)?,
            host: text(&peer.ip().to_string())?,
            terms: Terms::new(settings, patience),
        })
    }
}

/// What making a connection ends with: a code that is of messages alone says nothing of it.
fn not_lost(doing: &str, e: LinkError) -> LinkError {
    match e {
        LinkError::Lost => fault(doing, "it returned PIPEGAUGE_LOST, which is of messages, and no connection is one"),
        e => e,
    }
}

/// What waits for connections: the module's own, which ends with it.
struct Listener {
    own: abi::Own,
    library: &'static Library,
    options: &'static [OptionSpec],
    can: Capabilities,
    terms: Arc<Terms>,
    failure: Failure,
    address: String,
}

// SAFETY: a listener is used by one thread at a time.
unsafe impl Send for Listener {}

impl Listener {
    fn named(&mut self) -> Result<String, LinkError> {
        let Some(address) = self.library.table.address else { return Err(LinkError::Unsupported("name an address")) };
        let mut room = [0u8; ADDRESS + 1];
        // SAFETY: the listener is the module's own; it writes no more than the room that it is told of.
        let came = unsafe { address(self.own, room.as_mut_ptr().cast::<c_char>(), ADDRESS, self.failure.room()) };
        self.failure.check(came, "naming its address", &self.terms.patience)?;
        let len = room.iter().position(|b| *b == 0).unwrap_or(ADDRESS);
        match std::str::from_utf8(&room[..len]) {
            Ok(text) if !text.is_empty() => Ok(text.to_owned()),
            _ => Err(fault("naming its address", "its listener names none, or one that is not UTF-8")),
        }
    }
}

impl Accept for Listener {
    fn address(&self) -> Address {
        Address::new(self.address.clone())
    }

    fn accept(&mut self, proof: &Proof) -> Result<AnyLink, LinkError> {
        const DOING: &str = "waiting for the peer to connect";
        let since = Instant::now();
        let Some(accept) = self.library.table.accept else { return Err(LinkError::Unsupported("accept")) };
        loop {
            self.terms.patience.check(since, DOING)?;
            let mut own = null_mut();
            let within = Within::of(Call::Accept, self.terms.patience.limit);
            // SAFETY: the listener is the module's own.
            let came = unsafe { accept(self.own, &raw mut own, self.failure.room()) };
            drop(within);
            self.failure.check(came, DOING, &self.terms.patience).map_err(|e| not_lost(DOING, e))?;
            let mut link = ModuleLink::new(own, self.library, self.options, self.can.clone(), Arc::clone(&self.terms))?;
            // Whoever ends early or shows another proof is a stranger.
            if let Some(seat) = link.shown_by_the_near_side(proof) {
                link.send(&proof.far)?;
                link.flush()?;
                if let Some(seat) = seat {
                    link.join(Vec::new(), seat)?;
                }
                return Ok(AnyLink::new(link));
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(unlisten) = self.library.table.unlisten {
            let _within = Within::of(Call::Unlisten, Duration::ZERO);
            // SAFETY: once; nothing uses it afterwards.
            unsafe { unlisten(self.own) };
        }
    }
}

/// The way to a listener.
struct Dialler {
    library: &'static Library,
    options: &'static [OptionSpec],
    can: Capabilities,
    given: Given,
    address: CString,
    host: CString,
    terms: Arc<Terms>,
}

// SAFETY: the pointers in its settings are to texts that it holds.
unsafe impl Send for Dialler {}

impl Dialler {
    /// Connects, and shows the proof and the place that the other side is to have in a group, if it is to have one.
    fn connected(&mut self, proof: &Proof, seat: Option<Seat>) -> Result<ModuleLink, LinkError> {
        let Some(connect) = self.library.table.connect else { return Err(LinkError::Unsupported("connect")) };
        let (mut failure, mut own) = (Failure::new(), null_mut());
        let (address, host, terms) = (self.address.as_ptr(), self.host.as_ptr(), self.terms.raw());
        let within = Within::of(Call::Connect, self.terms.patience.limit);
        // SAFETY: what is handed over lives until the call returns, the terms as long as the link.
        let came = unsafe { connect(self.given.raw(), address, host, terms, &raw mut own, failure.room()) };
        drop(within);
        failure.check(came, "connecting", &self.terms.patience).map_err(|e| not_lost("connecting", e))?;
        let mut link = ModuleLink::new(own, self.library, self.options, self.can.clone(), Arc::clone(&self.terms))?;
        let told = shown(proof, seat);
        link.send(if Seat::can_be(&self.can) { &told } else { &proof.near })?;
        far_shown(&mut link, proof)?;
        Ok(link)
    }
}

impl Connect for Dialler {
    fn connect(&mut self, proof: &Proof) -> Result<AnyLink, LinkError> {
        Ok(AnyLink::new(self.connected(proof, None)?))
    }
}
