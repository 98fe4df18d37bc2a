//! Bytes that are still in a ring when a new program starts: they are handed to it, as the kernel hands on what is in a socket's buffer.
//!
//! They go into a file in memory, whose descriptor is named in the environment (`FASTSOCK_LEFT`), and the library in the new program
//! makes a ring of its own of them. A program that has no library (it is static, or its environment was cleared) does not get them.

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char};
use std::sync::atomic::Ordering;

use am::memory::Memory;

use crate::arena::{self, FAST, LARGE, LEN, TCP, TCP_AGAIN, control};
use crate::slot::{self, ACCEPTED, ACTIVE, Slot};
use crate::{page, real};

const NAME: &CStr = c"FASTSOCK_LEFT";

/// Descriptors that a new program is to get; closed, should it not start.
pub struct Carried {
    files: Vec<i32>,
    /// What the environment is to say; empty if there is nothing.
    text: String,
}

impl Drop for Carried {
    fn drop(&mut self) {
        for &file in &self.files {
            // SAFETY: a descriptor of this library's own.
            unsafe { real::close(file) };
        }
    }
}

impl Carried {
    /// What is left in the rings of these descriptors.
    pub fn of(fds: &[i32]) -> Self {
        let mut carried = Self { files: Vec::new(), text: String::new() };
        let mut known = HashMap::new();
        for &fd in fds.iter().filter(|_| !crate::planted::is("left behind")) {
            let Some(slot) = slot::of(fd) else { continue };
            // Descriptors that mean the same connection take from the same bytes.
            let Some((file, before, len)) = *known.entry(slot.number()).or_insert_with(|| save(&slot)) else {
                continue;
            };
            if !carried.files.contains(&file) {
                carried.files.push(file);
            }
            carried.text += &format!("{fd}:{file}:{before}:{len},");
        }
        carried
    }

    /// The environment of the new program, where the caller gives one. Valid as long as the second part lives.
    ///
    /// # Safety
    /// `envp` is null or a list that ends with a null pointer.
    pub unsafe fn environment(&self, envp: *const *const c_char) -> (Vec<*const c_char>, CString) {
        let own = CString::new(format!("FASTSOCK_LEFT={}", self.text)).unwrap_or_default();
        let mut list = Vec::new();
        for i in 0.. {
            // SAFETY: the caller's promise: no entry before was null.
            let entry = if envp.is_null() { std::ptr::null() } else { unsafe { *envp.add(i) } };
            if entry.is_null() {
                break;
            }
            // SAFETY: a text of the caller's.
            if !unsafe { CStr::from_ptr(entry) }.to_bytes().starts_with(b"FASTSOCK_LEFT=") {
                list.push(entry);
            }
        }
        list.extend([own.as_ptr(), std::ptr::null()]);
        (list, own)
    }

    /// Whether there is anything.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Says it in this process's own environment, for calls that pass that on.
    pub fn announce(&self) {
        let Ok(text) = CString::new(self.text.as_str()) else { return };
        // SAFETY: two texts; the program is about to be replaced.
        unsafe { libc::setenv(NAME.as_ptr(), text.as_ptr(), 1) };
    }

    /// Takes that back: the new program did not start.
    pub fn renounce(&self) {
        // SAFETY: a text.
        unsafe { libc::unsetenv(NAME.as_ptr()) };
    }
}

/// A file with the bytes left, how many bytes over TCP come before them, and how many they are.
fn save(slot: &Slot) -> Option<(i32, u64, usize)> {
    let (page, memory) = slot.parts().filter(|_| slot.active())?;
    let sender = 1 - slot.me();
    let way = &control(memory).ways[sender];
    let (before, bytes) = page.inward.with(|inward| {
        let before = match inward.phase {
            TCP if way.phase.load(Ordering::Acquire) != TCP => {
                way.moved_at.load(Ordering::Relaxed).checked_sub(inward.tcp)?
            }
            FAST => 0,
            _ => return None,
        };
        let mut bytes = vec![0; inward.source.all(way).ok()?];
        inward.source.copy(memory, sender, 0, &mut bytes);
        Some((before, bytes))
    })??;
    if bytes.is_empty() {
        return None;
    }
    // SAFETY: a new descriptor, which the new program inherits; then a copy of it out of the program's way.
    let file = unsafe {
        let low = libc::memfd_create(c"fastsock-left".as_ptr(), 0);
        let high = real::fcntl(low, libc::F_DUPFD, 900);
        real::close(low);
        high
    };
    // SAFETY: the bytes are there.
    let written =
        file >= 0 && unsafe { libc::pwrite(file, bytes.as_ptr().cast(), bytes.len(), 0) } == bytes.len() as isize;
    written.then_some((file, before, bytes.len()))
}

/// What an earlier program left for this one. When the library is loaded.
pub fn take() {
    let Ok(text) = std::env::var("FASTSOCK_LEFT") else { return };
    // SAFETY: a text; the program has no other thread yet.
    unsafe { libc::unsetenv(NAME.as_ptr()) };
    let mut first = HashMap::new();
    for entry in text.split(',') {
        let numbers: Vec<u64> = entry.split(':').map_while(|number| number.parse().ok()).collect();
        if let [fd, file, before, len] = numbers[..] {
            let (Ok(fd), Ok(file)) = (i32::try_from(fd), i32::try_from(file)) else { continue };
            match first.insert(file, fd) {
                Some(other) => slot::share(other, fd),
                None => _ = restore(fd, file, before, len as usize),
            }
        }
    }
    for file in first.into_keys() {
        // SAFETY: handed to this library.
        unsafe { real::close(file) };
    }
}

/// The descriptor has these bytes to be received before what the kernel has, but for `before` bytes that come first.
fn restore(fd: i32, file: i32, before: u64, len: usize) -> Option<()> {
    let mut bytes = vec![0; len.min(LARGE.bytes())];
    // SAFETY: room for as many.
    if unsafe { libc::pread(file, bytes.as_mut_ptr().cast(), bytes.len(), 0) } != bytes.len() as isize {
        return None;
    }
    let (memory, _file) = Memory::create("fastsock", LEN).ok()?;
    let page = page::new()?;
    let event = crate::own::keep(crate::bell::event()?)?;
    slot::track(fd, ACCEPTED);
    let slot = slot::of(fd)?;
    let (me, sender) = (ACCEPTED, 1 - ACCEPTED);
    let control = control(&memory);
    let mut writer = am::ring::Writer::new(LARGE, 0);
    memory.put_span(arena::ring(sender, true), writer.place(0, bytes.len()), &bytes);
    control.ways[sender].grown.store(1, Ordering::Relaxed);
    writer.publish(&control.ways[sender].lane, bytes.len());
    control.ways[sender].moved_at.store(before, Ordering::Relaxed);
    control.ways[sender].phase.store(TCP_AGAIN, Ordering::Release);
    control.ways[me].phase.store(TCP_AGAIN, Ordering::Release);
    // SAFETY: just made.
    let of_page = unsafe { page.as_ref() };
    of_page.out.with(|out| out.phase = TCP_AGAIN);
    of_page.share();
    slot.never.store(1, Ordering::SeqCst);
    slot.events[me].store(event, Ordering::Release);
    slot.page.store(page.as_ptr(), Ordering::Release);
    slot.memory.store(Box::into_raw(Box::new(memory)), Ordering::Release);
    slot.mode.store(ACTIVE, Ordering::SeqCst);
    crate::ready::tell(&slot);
    Some(())
}
