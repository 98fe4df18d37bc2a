//! Bytes that are still in a ring when a new program starts: they are handed to it, as the kernel hands on what is in a socket's buffer.
//!
//! They go into a file in memory (a socket, where the limit on files' sizes allows none), whose descriptor is named in the environment
//! (`FASTSOCK_LEFT`), and the library in the new program makes a ring of its own of them. The peer was asked before to send them once more (`retire`): it does
//! that for a program that will have no library (`program`), and where they can't be handed on, whatever the reason. Where they can't be had in the new program,
//! the connection is cut there.
//!
//! A program without the library passes the variable on, and may have put something else in the place of what it names. So it says which socket and which file
//! it means, and nothing else is touched. A program that may do more than whoever started it believes none of it.

use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, c_char, c_int};
use std::sync::atomic::Ordering;

use am::memory::Memory;

use crate::arena::{self, LARGE, LEN, TCP, TCP_AGAIN, control};
use crate::pages::Pages;
use crate::slot::{self, ACCEPTED, ACTIVE, Slot};
use crate::{back, page, real, receive, settings, tcp};

const NAME: &CStr = c"FASTSOCK_LEFT";
/// How what the environment is to say begins.
const BEGINNING: &[u8] = b"FASTSOCK_LEFT=";

/// Connections whose bytes are handed on at most.
const MOST: usize = 64;
/// What the environment says at most, and what it says of a descriptor ([`Told`]): two that are descriptors, six other numbers, and what divides them.
const TEXT: usize = 16 << 10;
const WORD: usize = 2 * 10 + 6 * 20 + 8;
/// Bytes that are copied by one call: on a stack that may be a handler's.
const COPIED: usize = 1024;
/// From this number on descriptors for a new program are out of its way, where there may be so many.
const HIGH: u64 = 900;

/// Bytes of a connection: their file, which one that is, how many bytes over TCP come before them, and how many they are; none are where nothing was saved.
#[derive(Clone, Copy, Default)]
struct Saved {
    file: c_int,
    identity: (u64, u64),
    before: u64,
    len: usize,
}

/// What the environment says of a descriptor: its number and which socket it is, the number of the file with its bytes and which file that is, and as [`Saved`].
#[derive(Debug, PartialEq, Eq)]
struct Told {
    fd: c_int,
    socket: (u64, u64),
    file: c_int,
    identity: (u64, u64),
    before: u64,
    len: usize,
}

impl Told {
    fn of(text: &str) -> Option<Self> {
        let numbers: Vec<u64> = text.split(':').map(|number| number.parse().ok()).collect::<Option<_>>()?;
        let [fd, device, socket, file, files_device, number, before, len] = numbers[..] else { return None };
        let (fd, file) = (fd.try_into().ok()?, file.try_into().ok()?);
        let (socket, identity) = ((device, socket), (files_device, number));
        Some(Self { fd, socket, file, identity, before, len: len.try_into().ok()? })
    }
}

/// All zeros is nothing.
struct Left {
    /// Connections that were looked at.
    known: [(u32, Saved); MOST],
    count: usize,
    /// What the environment is to say, with a 0 behind it.
    text: [u8; TEXT],
    len: usize,
}

impl Left {
    fn say(&mut self, bytes: &[u8]) {
        self.text[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    fn say_number(&mut self, mut number: u64, end: u8) {
        let (mut digits, mut at) = ([end; 21], 20);
        while number > 0 || at == 20 {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
        }
        self.say(&digits[at..]);
    }
}

/// Descriptors that a new program is to get; closed, should it not start.
pub struct Carried {
    left: Option<Pages>,
    /// Also what the peer was asked to send once more, and has not heard of yet.
    all: bool,
}

impl Drop for Carried {
    fn drop(&mut self) {
        if let Some(left) = self.left() {
            left.known[..left.count].iter().filter(|(_, saved)| saved.len > 0).for_each(|(_, saved)| close(saved.file));
        }
    }
}

unsafe extern "C" {
    static mut environ: *const *const c_char;
}

impl Carried {
    /// Nothing yet. `all`: the new program knows of rings.
    pub fn new(all: bool) -> Self {
        Self { left: None, all }
    }

    fn left(&self) -> Option<&Left> {
        // SAFETY: room for one; zeros are a value.
        self.left.as_ref().map(|pages| unsafe { &*pages.start::<Left>() })
    }

    /// What is left in the ring of this descriptor.
    pub fn add(&mut self, fd: c_int) {
        let Some(slot) = slot::of(fd) else { return };
        let all = self.all && !is_standard(&slot);
        if self.left.is_none() {
            if receive::in_ring(&slot) == 0 {
                return;
            }
            self.left = Pages::of::<Left>(1);
        }
        // SAFETY: room for one, which nobody else knows; zeros are a value.
        let Some(left) = self.left.as_mut().map(|pages| unsafe { &mut *pages.start_mut::<Left>() }) else { return };
        if left.len + BEGINNING.len() + WORD >= TEXT {
            return;
        }
        let Some(socket) = tcp::identity(fd) else { return };
        // Descriptors that mean the same connection take from the same bytes.
        let known = left.known[..left.count].iter().find(|(number, _)| *number == slot.number());
        let saved = match known {
            Some(&(_, saved)) => saved,
            None if left.count < MOST => {
                let saved = save(&slot, all).unwrap_or_default();
                left.known[left.count] = (slot.number(), saved);
                left.count += 1;
                saved
            }
            None => return,
        };
        if saved.len == 0 || crate::planted::is("left behind") {
            return;
        }
        if left.len == 0 {
            left.say(BEGINNING);
        }
        let (fd, file) = (fd.unsigned_abs().into(), saved.file.unsigned_abs().into());
        for number in [fd, socket.0, socket.1, file, saved.identity.0, saved.identity.1, saved.before] {
            left.say_number(number, b':');
        }
        left.say_number(saved.len as u64, b',');
    }

    /// The environment of the new program: the caller's, and what is left. Its texts are the caller's and this one's. None if the system has no memory for it.
    ///
    /// # Safety
    /// `envp` is null or a list that ends with a null pointer.
    pub unsafe fn environment(&self, envp: *const *const c_char) -> Option<Pages> {
        let own = self.left()?.text.as_ptr().cast::<c_char>();
        // SAFETY: the caller's promise: no entry before was null; as many entries as there is room for.
        unsafe {
            let entry = |at: usize| if envp.is_null() { std::ptr::null() } else { *envp.add(at) };
            let count = (0..).take_while(|&at| !entry(at).is_null()).count();
            let mut list = Pages::of::<*const c_char>(count + 2)?;
            let mut to = list.start_mut::<*const c_char>();
            for at in 0..count {
                if !CStr::from_ptr(entry(at)).to_bytes().starts_with(BEGINNING) {
                    to.write(entry(at));
                    to = to.add(1);
                }
            }
            to.write(own);
            Some(list)
        }
    }

    /// Whether there is anything.
    pub fn is_empty(&self) -> bool {
        self.left().is_none_or(|left| left.len == 0)
    }

    /// No new program begins of which the environment can't say what is left for it.
    pub fn unannounced() -> c_int {
        real::fail(libc::ENOMEM) as c_int
    }

    /// A call that passes this process's own environment on, with what is left in it.
    ///
    /// # Safety
    /// That is null or a list that ends with a null pointer.
    pub unsafe fn announced(&self, call: impl Fn() -> c_int) -> c_int {
        // SAFETY: the caller's promise; the list is the C library's again afterwards.
        unsafe {
            let own = environ;
            let Some(list) = self.environment(own) else { return Self::unannounced() };
            environ = list.start();
            let failed = call();
            environ = own;
            failed
        }
    }
}

/// Whether a connection is standard input, output or error: the new program's streams read there, and know of no ring even in one that has the library. What the
/// peer was asked for it sends.
fn is_standard(slot: &Slot) -> bool {
    (0..3).any(|fd| slot::of(fd).is_some_and(|other| other.number() == slot.number()))
}

/// A file with the bytes left.
fn save(slot: &Slot, all: bool) -> Option<Saved> {
    let (page, memory) = slot.parts().filter(|_| slot.active())?;
    let sender = 1 - slot.me();
    let way = &control(memory).ways[sender];
    let (before, source, len, asked) = page.inward.with(|inward| {
        let before = match inward.phase {
            TCP if way.phase.load(Ordering::Acquire) == TCP => return None,
            TCP => way.moved_at.load(Ordering::Relaxed).checked_sub(inward.tcp)?,
            _ => 0,
        };
        let may = receive::is_here(inward, way) && (all || !inward.asked);
        // What a write that is under way still brings would be lost.
        if !may || !back::settled(&way.busy.0, &way.back) {
            return None;
        }
        let len = inward.source.all(way).ok()?;
        Some((before, inward.source, len, inward.asked))
    })??;
    if len == 0 {
        return None;
    }
    let copy = |at: usize, into: &mut [u8]| source.copy(memory, sender, at, into);
    let file = if am::memory::may_have(len) { file(len, copy) } else { socket(len, copy) }?;
    let Some(identity) = tcp::identity(file) else {
        close(file);
        return None;
    };
    // Nobody has read on, and the peer has not sent them.
    let at = source.reader.head();
    let taken = || page.inward.with(|inward| inward.source.reader.head() == at && receive::takes_back(inward, way));
    if asked && taken() != Some(true) {
        close(file);
        return None;
    }
    Some(Saved { file, identity, before, len })
}

/// A file in memory with so many bytes, to be read from its beginning.
fn file(len: usize, copy: impl Fn(usize, &mut [u8])) -> Option<c_int> {
    // SAFETY: a new descriptor.
    let low = unsafe { libc::memfd_create(c"fastsock-left".as_ptr(), 0) };
    // SAFETY: the bytes are there.
    let all = low >= 0
        && in_parts(len, copy, |at, part| unsafe { libc::pwrite(low, part.as_ptr().cast(), part.len(), at as i64) });
    out_of_the_way(low, all)
}

/// A socket with so many bytes. The kernel holds as many as both rings of a direction do.
fn socket(len: usize, copy: impl Fn(usize, &mut [u8])) -> Option<c_int> {
    let (mut pair, room) = ([-1; 2], (2 * LARGE.bytes()) as i32);
    // SAFETY: new descriptors; an option of this form.
    unsafe {
        libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, pair.as_mut_ptr());
        let size = size_of::<i32>() as libc::socklen_t;
        real::setsockopt(pair[1], libc::SOL_SOCKET, libc::SO_SNDBUF, (&raw const room).cast(), size);
    }
    // SAFETY: the bytes are there.
    let all = pair[1] >= 0
        && in_parts(len, copy, |_, part| unsafe {
            real::send(pair[1], part.as_ptr().cast(), part.len(), libc::MSG_DONTWAIT)
        });
    close(pair[1]);
    out_of_the_way(pair[0], all)
}

/// Whether all went where `put` puts it.
fn in_parts(len: usize, copy: impl Fn(usize, &mut [u8]), put: impl Fn(usize, &[u8]) -> isize) -> bool {
    let mut part = [0; COPIED];
    (0..len).step_by(COPIED).all(|at| {
        let part = &mut part[..COPIED.min(len - at)];
        copy(at, part);
        put(at, part) == part.len() as isize
    })
}

/// A copy of a descriptor out of the program's way, which the new program inherits, if it is good for anything; it is closed itself.
fn out_of_the_way(low: c_int, good: bool) -> Option<c_int> {
    if low < 0 {
        return None;
    }
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: room for one limit; a descriptor of this library's own.
    let high = unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
        let firsts = [HIGH.min(limit.rlim_cur / 4 * 3), 3];
        let copy = |first: u64| real::fcntl(low, libc::F_DUPFD, first as usize);
        firsts.into_iter().filter(|_| good).map(copy).find(|&high| high >= 0)
    };
    close(low);
    high
}

fn close(fd: c_int) {
    // SAFETY: a descriptor of this library's own; a wrong one is refused.
    unsafe { real::close(fd) };
}

/// What an earlier program left for this one. When the library is loaded.
pub fn take() {
    let Some(text) = std::env::var_os("FASTSOCK_LEFT") else { return };
    // SAFETY: a text; the program has no other thread yet.
    unsafe { libc::unsetenv(NAME.as_ptr()) };
    if settings::secure() {
        return;
    }
    // A descriptor of each socket, and files of connections that this program has not got.
    let (mut first, mut others) = (HashMap::new(), HashSet::new());
    for told in text.to_string_lossy().split(',').filter_map(Told::of) {
        if tcp::identity(told.fd) != Some(told.socket) {
            others.insert((told.file, told.identity));
            continue;
        }
        let had = match first.insert(told.socket, told.fd) {
            Some(other) => slot::share(other, told.fd),
            None => taken(&told).and_then(|bytes| restore(&told, &bytes)).is_some(),
        };
        if !had {
            tcp::cut(told.fd);
        }
    }
    for (file, identity) in others {
        if tcp::identity(file) == Some(identity) {
            close(file);
        }
    }
}

/// The bytes of a file that this program was told of, which is closed: its number may be one that the library needs.
fn taken(told: &Told) -> Option<Vec<u8>> {
    if tcp::identity(told.file) != Some(told.identity) {
        return None;
    }
    let bytes = if told.len <= LARGE.bytes() { bytes(told.file, told.len) } else { None };
    close(told.file);
    bytes
}

/// The bytes of a file, which stay in it: several programs may have been told of it.
fn bytes(file: c_int, len: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; len];
    let mut got = 0;
    while got < len {
        let rest = &mut bytes[got..];
        // SAFETY: room for as many.
        let some = unsafe {
            match libc::pread(file, rest.as_mut_ptr().cast(), rest.len(), got as i64) {
                // A socket has no places, and shows all that is there at once.
                -1 if got == 0 && real::errno() == libc::ESPIPE => {
                    let flags = libc::MSG_PEEK | libc::MSG_DONTWAIT;
                    let all = real::recv(file, rest.as_mut_ptr().cast(), rest.len(), flags);
                    return (all == len as isize).then_some(bytes);
                }
                some => some,
            }
        };
        got += usize::try_from(some).ok().filter(|&some| some > 0)?;
    }
    Some(bytes)
}

/// The descriptor has these bytes to be received before what the kernel has, but for those that come first.
fn restore(told: &Told, bytes: &[u8]) -> Option<()> {
    let &Told { fd, before, .. } = told;
    let memory = Memory::without_file(LEN).ok()?;
    let page = page::new()?;
    let event = crate::own::keep(crate::bell::event()?)?;
    slot::track(fd, ACCEPTED);
    let slot = slot::of(fd)?;
    let (me, sender) = (ACCEPTED, 1 - ACCEPTED);
    let control = control(&memory);
    let mut writer = am::ring::Writer::new(LARGE, 0);
    memory.put_span(arena::ring(sender, true), writer.place(0, bytes.len()), bytes);
    control.ways[sender].grown.store(1, Ordering::Relaxed);
    writer.publish(&control.ways[sender].lane, bytes.len());
    control.ways[sender].moved_at.store(before, Ordering::Relaxed);
    // There is nobody who could send them again.
    back::leave(&control.ways[sender].back);
    control.ways[sender].phase.store(TCP_AGAIN, Ordering::Release);
    control.ways[me].phase.store(TCP_AGAIN, Ordering::Release);
    // SAFETY: just made.
    let of_page = unsafe { page.as_ref() };
    of_page.out.with(|out| out.phase = TCP_AGAIN);
    of_page.share();
    slot.never.store(1, Ordering::SeqCst);
    slot.events[me].store(event, Ordering::Release);
    slot.page.store(page.as_ptr(), Ordering::Release);
    slot.share_memory(memory);
    slot.mode.store(ACTIVE, Ordering::SeqCst);
    crate::ready::tell(&slot);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_descriptor_is_understood_and_nothing_else() {
        let told = Told { fd: 5, socket: (8, 123), file: 900, identity: (1, u64::MAX), before: 7, len: 30_000 };
        assert_eq!(Told::of(&format!("5:8:123:900:1:{}:7:30000", u64::MAX)), Some(told));
        for wrong in
            ["", "5:900:7:30000", "5:8:123:900:1:2:7:30000:9", "5:8:123:x:1:2:7:30000", "4294967296:8:1:9:1:2:7:3"]
        {
            assert_eq!(Told::of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn bytes_of_a_file_or_a_socket_are_had_as_often_as_they_are_asked_for_and_only_whole() {
        let all: Vec<u8> = (0..60_000).map(|at| (at % 251) as u8).collect();
        let copy = |at: usize, into: &mut [u8]| into.copy_from_slice(&all[at..at + into.len()]);
        for kept in [file(all.len(), copy), socket(all.len(), copy)] {
            let kept = kept.expect("room for a file");
            for _ in 0..2 {
                assert!(bytes(kept, all.len()).is_some_and(|had| had == all));
            }
            assert!(bytes(kept, all.len() + 1).is_none(), "there are not so many");
            close(kept);
        }
    }
}
