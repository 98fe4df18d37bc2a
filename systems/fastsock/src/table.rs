//! What a process says of its connections, for `fastsock status`: a file in memory with a head and a row for each. The library writes rows
//! as they change, with plain stores; the command copies the file and believes nothing in it.

/// Name of the file in memory.
pub const NAME: &std::ffi::CStr = c"fastsock-table";
/// "fstable1" in ASCII: also the version of the layout.
pub const MAGIC: u64 = u64::from_le_bytes(*b"fstable1");
/// Bytes of the head, and of a row.
pub const HEAD: usize = 64;
pub const ROW: usize = 64;
/// Rows at most: later connections are not told of.
pub const ROWS: usize = 1 << 12;
/// Words of a row: descriptor and state, reason, and the counters.
pub const COUNTERS: [&str; 6] =
    ["messages_sent", "bytes_sent", "messages_received", "bytes_received", "waits", "sleeps"];

/// States of a row; 0 is an empty one.
pub const KERNEL: u32 = 1;
pub const FAST: u32 = 2;
pub const BACK: u32 = 3;
pub const KEPT: u32 = 4;
pub const LISTENER: u32 = 5;

/// Why a connection is not fast, or not any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Why {
    /// Nothing speaks against it yet.
    None = 0,
    /// Its two ends have different addresses.
    Unfit = 1,
    /// No descriptor or no memory was left.
    Room = 2,
    /// Its process forked before.
    Forked = 3,
    /// The peer never answered.
    NoPeer = 4,
    /// A call that only the kernel can serve.
    Call = 5,
    /// It is in sets of epoll in a way that can't be followed.
    Sets = 6,
    /// Another thread was in the kernel with it.
    Busy = 7,
    /// The memory that connections may share is used up.
    Memory = 8,
    /// Its port is switched off.
    Port = 9,
    /// Its user is switched off.
    User = 10,
    /// Its ends are in two networks, and what would prove them one connection may not be looked at.
    Unproven = 11,
    /// Its process has a ring of the system's for calls (io_uring), which nobody sees.
    Ring = 12,
}

impl Why {
    /// From a word of the table.
    pub fn of(word: u32) -> Self {
        [
            Self::Unfit,
            Self::Room,
            Self::Forked,
            Self::NoPeer,
            Self::Call,
            Self::Sets,
            Self::Busy,
            Self::Memory,
            Self::Port,
            Self::User,
            Self::Unproven,
            Self::Ring,
        ]
        .into_iter()
        .find(|why| *why as u32 == word)
        .unwrap_or(Self::None)
    }
}
