//! `include/pipegauge.h`, version 1, as Rust has it. A test holds sizes and offsets against the header.

use std::ffi::{c_char, c_int, c_void};
use std::mem::MaybeUninit;

/// The version of the interface.
pub const ABI: u32 = 1;

/// The entry point's name.
pub const ENTRY: &std::ffi::CStr = c"pipegauge_module";

/// The entry point.
pub type Entry = unsafe extern "C" fn(abi: u32) -> *const c_void;

/// `enum pipegauge_code`.
pub mod code {
    use std::ffi::c_int;
    pub const OK: c_int = 0;
    pub const CLOSED: c_int = 1;
    pub const STALLED: c_int = 2;
    pub const INTERRUPTED: c_int = 3;
    pub const LOST: c_int = 4;
    pub const TOO_LARGE: c_int = 5;
    pub const OUTSIDE: c_int = 6;
    pub const UNSUPPORTED: c_int = 7;
    pub const PROTOCOL: c_int = 8;
    pub const SYSTEM: c_int = 9;
}

/// Bits of `pipegauge_capabilities.bits`.
pub mod bit {
    pub const MESSAGES: u64 = 1 << 0;
    pub const ORDERED: u64 = 1 << 1;
    pub const RELIABLE: u64 = 1 << 2;
    pub const DUPLEX: u64 = 1 << 3;
    pub const POLL: u64 = 1 << 4;
    pub const LOCAL_ONLY: u64 = 1 << 5;
    pub const ONE_SIDED: u64 = 1 << 6;
    pub const QUEUED: u64 = 1 << 7;
    pub const COLLECTIVE: u64 = 1 << 8;
    pub const GROUP: u64 = 1 << 9;
    /// All that this program knows.
    pub const KNOWN: u64 = (1 << 10) - 1;
}

/// `struct pipegauge_error`.
#[repr(C)]
pub struct Error {
    pub size: usize,
    pub text: [u8; 240],
}

/// `struct pipegauge_capabilities`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Capabilities {
    pub size: usize,
    pub bits: u64,
    pub largest: u64,
}

/// `struct pipegauge_option`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct OptionOf {
    pub size: usize,
    pub name: *const c_char,
    pub help: *const c_char,
    pub by_default: *const c_char,
    pub form: c_int,
    pub knob: c_int,
    pub least: u64,
    pub most: u64,
    pub low: f64,
    pub high: f64,
    pub words: *const *const c_char,
    /// The first that version 1 did not have from the beginning: NULL where an option ends before it.
    pub unit: *const c_char,
}

/// `struct pipegauge_setting`.
#[repr(C)]
pub struct Setting {
    pub name: *const c_char,
    pub whole: u64,
    pub real: f64,
    pub text: *const c_char,
}

/// `struct pipegauge_settings`.
#[repr(C)]
pub struct Settings {
    pub size: usize,
    pub count: usize,
    pub all: *const Setting,
}

/// `struct pipegauge_terms`.
#[repr(C)]
pub struct Terms {
    pub size: usize,
    pub patience: f64,
    pub loss_timeout: f64,
    pub stopped: *const u8,
}

/// `pipegauge_listener` and `pipegauge_link`: the module's own.
pub type Own = *mut c_void;

type Err = *mut Error;

/// `struct pipegauge_one_sided`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct OneSided {
    pub size: usize,
    pub reserve: Option<unsafe extern "C" fn(Own, usize, Err) -> c_int>,
    pub expose: Option<unsafe extern "C" fn(Own, usize, Err) -> c_int>,
    pub fill: Option<unsafe extern "C" fn(Own, usize, *const c_void, usize, Err) -> c_int>,
    pub read: Option<unsafe extern "C" fn(Own, usize, *mut c_void, usize, Err) -> c_int>,
    pub withdraw: Option<unsafe extern "C" fn(Own, f64, *mut c_int, Err) -> c_int>,
    pub reach: Option<unsafe extern "C" fn(Own, usize, Err) -> c_int>,
    pub put: Option<unsafe extern "C" fn(Own, usize, *const c_void, usize, Err) -> c_int>,
    pub get: Option<unsafe extern "C" fn(Own, usize, *mut c_void, usize, Err) -> c_int>,
    pub fence: Option<unsafe extern "C" fn(Own, Err) -> c_int>,
    pub leave: Option<unsafe extern "C" fn(Own, Err) -> c_int>,
}

/// `struct pipegauge_queued`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Queued {
    pub size: usize,
    pub post: Option<unsafe extern "C" fn(Own, *const c_void, usize, Err) -> c_int>,
    pub posted: Option<unsafe extern "C" fn(Own) -> u64>,
    pub poll: Option<unsafe extern "C" fn(Own, u64, f64, *mut u64, Err) -> c_int>,
}

/// `struct pipegauge_collective`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Collective {
    pub size: usize,
    pub join: Option<unsafe extern "C" fn(*const Own, usize, u32, u32, Err) -> c_int>,
    pub barrier: Option<unsafe extern "C" fn(Own, Err) -> c_int>,
    pub broadcast: Option<unsafe extern "C" fn(Own, *mut c_void, usize, Err) -> c_int>,
    pub allreduce: Option<unsafe extern "C" fn(Own, *const c_void, *mut c_void, usize, Err) -> c_int>,
    pub allgather: Option<unsafe extern "C" fn(Own, *const c_void, *mut c_void, usize, Err) -> c_int>,
    pub all_to_all: Option<unsafe extern "C" fn(Own, *const c_void, *mut c_void, usize, Err) -> c_int>,
}

/// `struct pipegauge_group`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Group {
    pub size: usize,
    pub join: Option<unsafe extern "C" fn(*const Own, usize, u32, u32, Err) -> c_int>,
    pub order: Option<unsafe extern "C" fn(Own) -> c_int>,
    pub hear_itself: Option<unsafe extern "C" fn(Own, c_int, *mut c_int, Err) -> c_int>,
    pub cast: Option<unsafe extern "C" fn(Own, *const c_void, usize, Err) -> c_int>,
    pub deliver: Option<unsafe extern "C" fn(Own, *mut c_void, usize, *mut u32, *mut u32, Err) -> c_int>,
    pub answer: Option<unsafe extern "C" fn(Own, u32, *const c_void, usize, Err) -> c_int>,
    pub answered: Option<unsafe extern "C" fn(Own, *mut c_void, usize, *mut u32, Err) -> c_int>,
}

/// `enum pipegauge_order`: all casts come in one order at all members.
pub const OF_ALL: c_int = 1;

/// `struct pipegauge_module`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Module {
    pub size: usize,
    pub abi: u32,
    pub name: *const c_char,
    pub version: *const c_char,
    pub summary: *const c_char,
    pub spoken: *const *const c_char,
    pub option_count: usize,
    pub options: *const OptionOf,
    pub available: Option<unsafe extern "C" fn(Err) -> c_int>,
    pub capabilities: Option<unsafe extern "C" fn(*const Settings, *mut Capabilities, Err) -> c_int>,
    pub listen: Option<unsafe extern "C" fn(*const Settings, *const c_char, *const Terms, *mut Own, Err) -> c_int>,
    pub address: Option<unsafe extern "C" fn(Own, *mut c_char, usize, Err) -> c_int>,
    pub accept: Option<unsafe extern "C" fn(Own, *mut Own, Err) -> c_int>,
    pub unlisten: Option<unsafe extern "C" fn(Own)>,
    pub connect: Option<
        unsafe extern "C" fn(*const Settings, *const c_char, *const c_char, *const Terms, *mut Own, Err) -> c_int,
    >,
    pub send: Option<unsafe extern "C" fn(Own, *const c_void, usize, Err) -> c_int>,
    pub recv: Option<unsafe extern "C" fn(Own, *mut c_void, usize, Err) -> c_int>,
    pub exchange: Option<unsafe extern "C" fn(Own, *const c_void, usize, *mut c_void, usize, Err) -> c_int>,
    pub ready: Option<unsafe extern "C" fn(Own, f64, *mut c_int, Err) -> c_int>,
    pub flush: Option<unsafe extern "C" fn(Own, Err) -> c_int>,
    pub effective: Option<unsafe extern "C" fn(Own, *const c_char, *mut c_char, usize, Err) -> c_int>,
    pub close: Option<unsafe extern "C" fn(Own)>,
    pub take: Option<unsafe extern "C" fn(Own, usize, usize, usize, *mut *mut c_void, Err) -> c_int>,
    pub give_back: Option<unsafe extern "C" fn(Own, *mut c_void, usize)>,
    pub one_sided: *const OneSided,
    pub queued: *const Queued,
    pub launch: *const *const c_char,
    pub prepare: Option<unsafe extern "C" fn(*const Settings, Err) -> c_int>,
    /// The first that version 1 did not have from the beginning: NULL where a table ends before it.
    pub collective: *const Collective,
    pub group: *const Group,
}

/// Bytes of an option that every one of version 1 has.
pub const LEAST_OPTION: usize = std::mem::offset_of!(OptionOf, unit);

/// Bytes of a module's table that every one of version 1 has.
pub const LEAST: usize = std::mem::offset_of!(Module, collective);

/// A struct of a module as far as its own size says that it is there; zero beyond.
///
/// # Safety
///
/// `from` points to a struct whose first member is its size, a `usize`, which is true of it; all bits zero are a value of `T`.
pub unsafe fn sized<T: Copy>(from: *const T) -> (usize, T) {
    // SAFETY: the caller vouches for the first member.
    let size = unsafe { from.cast::<usize>().read_unaligned() };
    let mut copy = MaybeUninit::<T>::zeroed();
    // SAFETY: `size` bytes are readable there, and no more than `T` has are written.
    unsafe {
        std::ptr::copy_nonoverlapping(from.cast::<u8>(), copy.as_mut_ptr().cast::<u8>(), size.min(size_of::<T>()))
    };
    // SAFETY: zeros are a value of it, and so is what the module wrote over them.
    (size, unsafe { copy.assume_init() })
}

#[cfg(test)]
mod tests {
    use std::mem::{offset_of, size_of};
    use std::process::Command;

    use super::*;

    /// Codes and bits: their names in the header, the numbers that modules were compiled with, which stay, and those that this program has.
    const NUMBERS: [(&str, u64, u64); 20] = [
        ("OK", 0, code::OK as u64),
        ("CLOSED", 1, code::CLOSED as u64),
        ("STALLED", 2, code::STALLED as u64),
        ("INTERRUPTED", 3, code::INTERRUPTED as u64),
        ("LOST", 4, code::LOST as u64),
        ("TOO_LARGE", 5, code::TOO_LARGE as u64),
        ("OUTSIDE", 6, code::OUTSIDE as u64),
        ("UNSUPPORTED", 7, code::UNSUPPORTED as u64),
        ("PROTOCOL", 8, code::PROTOCOL as u64),
        ("SYSTEM", 9, code::SYSTEM as u64),
        ("MESSAGES", 1, bit::MESSAGES),
        ("ORDERED", 2, bit::ORDERED),
        ("RELIABLE", 4, bit::RELIABLE),
        ("DUPLEX", 8, bit::DUPLEX),
        ("POLL", 16, bit::POLL),
        ("LOCAL_ONLY", 32, bit::LOCAL_ONLY),
        ("ONE_SIDED", 64, bit::ONE_SIDED),
        ("QUEUED", 128, bit::QUEUED),
        ("COLLECTIVE", 256, bit::COLLECTIVE),
        ("GROUP", 512, bit::GROUP),
    ];

    #[test]
    fn codes_and_bits_keep_the_numbers_that_modules_were_compiled_with() {
        for (name, theirs, ours) in NUMBERS {
            assert_eq!(theirs, ours, "{name}");
        }
        // A bit that is added has its line above.
        let bits: u64 = NUMBERS[10..].iter().map(|(_, bit, _)| bit).sum();
        assert_eq!(bits, bit::KNOWN);
    }

    /// Sizes and offsets of members, as the C compiler has them of the header and as they are here.
    #[test]
    fn the_header_and_these_structs_lie_alike_in_memory() {
        macro_rules! members {
            ($($of:ident as $c:literal: $($member:ident),*;)*) => {
                [$(
                    (concat!("sizeof(struct ", $c, ")"), size_of::<$of>()),
                    $((concat!("offsetof(struct ", $c, ", ", stringify!($member), ")"), offset_of!($of, $member)),)*
                )*]
            };
        }
        let all = members! {
            Error as "pipegauge_error": size, text;
            Capabilities as "pipegauge_capabilities": size, bits, largest;
            OptionOf as "pipegauge_option": size, name, help, by_default, form, knob, least, most, low, high, words, unit;
            Setting as "pipegauge_setting": name, whole, real, text;
            Settings as "pipegauge_settings": size, count, all;
            Terms as "pipegauge_terms": size, patience, loss_timeout, stopped;
            OneSided as "pipegauge_one_sided": size, reserve, expose, fill, read, withdraw, reach, put, get, fence, leave;
            Queued as "pipegauge_queued": size, post, posted, poll;
            Collective as "pipegauge_collective": size, join, barrier, broadcast, allreduce, allgather, all_to_all;
            Group as "pipegauge_group": size, join, order, hear_itself, cast, deliver, answer, answered;
            Module as "pipegauge_module": size, abi, name, version, summary, spoken, option_count, options, available, capabilities, listen,
                address, accept, unlisten, connect, send, recv, exchange, ready, flush, effective, close, take, give_back, one_sided, queued, launch,
                prepare, collective, group;
        };
        let asserts: Vec<String> = all
            .iter()
            .map(|(what, here)| format!("_Static_assert({what} == {here}, \"{what}\");"))
            .chain([
                format!("_Static_assert(PIPEGAUGE_ABI == {ABI}, \"version\");"),
                "_Static_assert(PIPEGAUGE_EAGER == 3, \"knobs\");".to_owned(),
                format!("_Static_assert(PIPEGAUGE_OF_ALL == {OF_ALL}, \"orders\");"),
            ])
            .chain(
                NUMBERS.map(|(name, header, _)| format!("_Static_assert(PIPEGAUGE_{name} == {header}, \"{name}\");")),
            )
            .collect();
        let file = std::env::temp_dir().join(format!("pipegauge-header-{}.c", std::process::id()));
        std::fs::write(&file, format!("#include \"pipegauge.h\"\n{}\n", asserts.join("\n"))).unwrap();
        let headers = concat!(env!("CARGO_MANIFEST_DIR"), "/../../include");
        let flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", "-I", headers];
        let done = Command::new("cc").args(flags).arg(&file).output().expect("a C compiler");
        std::fs::remove_file(&file).unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
}
