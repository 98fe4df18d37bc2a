//! Connections between two network namespaces of this host, as those of two containers are: their sides find each other in a folder that both have.
//!
//! Off unless a folder is named (`rendezvous`). The side that connected listens at a socket file there, named after both ends; the side that accepted looks for it. That
//! they are the two ends of one connection is proven by what only these know (`sequence`): the accepting side says its numbers with its offer, and the connecting one
//! takes the offer only if they are its own. Until then nothing is believed.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::sequence::Begins;
use crate::slot::{ACCEPTED, Slot};
use crate::table::Why;
use crate::tcp::Ends;
use crate::{activate, meet, own, sequence, settings, tcp};

/// Calls in which a side looks for the other one, before it gives up.
const LOOKS: u32 = 4096;
/// Each so-manieth of the accepting side's looks for a file.
const SELDOM: u32 = 8;
/// Files looked at by who begins to use the folder, at most.
const FILES: usize = 4096;
/// How their names begin.
const NAME: &str = "fastsock-";

/// The folder, if one is named, it is this user's, and nobody else may enter it.
fn folder() -> Option<&'static Path> {
    let path = settings::get().rendezvous.as_deref()?;
    let about = fs::symlink_metadata(path).ok()?;
    // SAFETY: asks for a number.
    let user = unsafe { libc::geteuid() };
    (about.is_dir() && about.uid() == user && about.mode() & 0o077 == 0).then_some(path)
}

/// The file of a connection, from the side that connected: the same on both. Of two with one name each finds out that the other is not its peer.
fn file(folder: &Path, connected: &Ends) -> PathBuf {
    // FNV-1a.
    let bytes = connected.here.bytes().chain(*b"/").chain(connected.there.bytes());
    let sum = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    folder.join(format!("{NAME}{}-{sum:016x}", meet::VERSION))
}

/// Removes files that nobody listens at any more, as they are left by who was killed. One that is made just now may go, too: its connection stays the kernel's.
fn sweep(folder: &Path) {
    let all = fs::read_dir(folder).into_iter().flatten().flatten().take(FILES);
    for entry in all.filter(|entry| entry.file_name().to_string_lossy().starts_with(NAME)) {
        if entry.file_type().is_ok_and(|kind| kind.is_socket()) && meet::is_left(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The two ends are in different places: whether they may be sought in the folder, which begins with this.
pub fn begin(fd: i32, slot: &Slot) -> Result<(), Why> {
    let (Some(ends), Some(folder)) = (tcp::ends(fd), folder()) else { return Err(Why::Unfit) };
    if !activate::allowed(&ends) {
        return Err(Why::Port);
    }
    static SWEPT: AtomicU32 = AtomicU32::new(0);
    if SWEPT.swap(1, Ordering::Relaxed) == 0 {
        sweep(folder);
    }
    let raw = sequence::watch(&ends).ok_or(Why::Unproven)?;
    if slot.me() != ACCEPTED {
        let at = file(folder, &ends);
        let knock = meet::listen_at(&at).and_then(own::keep);
        slot.knock.store(knock.ok_or(Why::Room)?, Ordering::Release);
    }
    slot.raw.store(own::keep(raw).ok_or(Why::Room)?, Ordering::Release);
    Ok(())
}

/// Whether a call looks for the other side, or gives up: not that of every thread may get to.
pub fn looks(ops: u32) -> bool {
    ops.wrapping_sub(settings::get().after) <= LOOKS + 64
}

/// Whether so many have looked that this one gives up.
pub fn ends(ops: u32) -> bool {
    ops.wrapping_sub(settings::get().after) >= LOOKS
}

/// The numbers of this connection, once two looks gave the same.
fn numbers(fd: i32, slot: &Slot, ends: &Ends) -> Option<Begins> {
    let (known, times) = (slot.begins.load(Ordering::Relaxed), slot.looked.load(Ordering::Relaxed));
    if times == 2 {
        return Some(Begins::of(known));
    }
    let seen = sequence::look(slot.raw.load(Ordering::Acquire), fd, ends)?.word();
    let times = if times == 1 && seen == known { 2 } else { 1 };
    slot.begins.store(seen, Ordering::Relaxed);
    slot.looked.store(times, Ordering::Relaxed);
    (times == 2).then(|| Begins::of(seen))
}

/// One step of both sides' way to each other; what they share, once they have met.
pub fn step(fd: i32, slot: &Slot, ops: u32) -> Option<meet::Met> {
    let ends = tcp::ends(fd)?;
    let numbers = numbers(fd, slot, &ends)?;
    if slot.me() != ACCEPTED {
        return meet::take_at(slot.knock.load(Ordering::Acquire), numbers);
    }
    if !ops.is_multiple_of(SELDOM) {
        return None;
    }
    meet::offer_at(&file(folder()?, &Ends { here: ends.there, there: ends.here }), numbers)
}

/// The file that a side listened at goes.
pub fn leave(knock: i32) {
    if let Some(path) = meet::file_of(knock) {
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Folder;
    use std::os::fd::AsRawFd;

    #[test]
    fn files_that_nobody_listens_at_go_and_no_others() {
        let folder = Folder::new("sweep");
        let at = |name: &str| folder.join(name);
        let listening = meet::listen_at(&at("fastsock-live")).unwrap();
        drop(meet::listen_at(&at("fastsock-dead")).unwrap());
        drop(std::os::unix::net::UnixListener::bind(at("other")).unwrap());
        fs::write(at("fastsock-text"), "").unwrap();
        sweep(&folder);
        let left = |name: &str| at(name).exists();
        assert!(left("fastsock-live") && left("other") && left("fastsock-text") && !left("fastsock-dead"));
        // One that is there does not keep anybody from listening, unless somebody listens.
        drop(meet::listen_at(&at("fastsock-dead")).unwrap());
        assert!(meet::listen_at(&at("fastsock-dead")).is_some() && meet::listen_at(&at("fastsock-live")).is_none());
        leave(listening.as_raw_fd());
        assert!(!left("fastsock-live"));
    }

    #[test]
    fn both_sides_know_the_name_and_others_have_others() {
        let ends = |here: &str, there: &str| Ends { here: here.to_owned(), there: there.to_owned() };
        let name = |here, there| file(Path::new("/x"), &ends(here, there));
        assert_eq!(name("10.0.0.1:1", "10.0.0.2:2"), name("10.0.0.1:1", "10.0.0.2:2"));
        assert_ne!(name("10.0.0.1:1", "10.0.0.2:2"), name("10.0.0.2:2", "10.0.0.1:1"));
        assert_ne!(name("10.0.0.1:1", "10.0.0.2:2"), name("10.0.0.1:1", "10.0.0.2:3"));
    }
}
