//! Memory that is registered with a ring: the kernel looks its pages up once, and holds them until it is told to let go.

use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use units::Bytes;

use crate::{Buffer, LinkError, sys};

/// The only place of the ring's table: a link has one piece of memory that it sends from.
const PLACE: u16 = 0;

/// Most bytes that the kernel registers at one place.
const MOST: usize = 1 << 30;

/// Calls of `io_uring_register` (linux/io_uring.h), and the flag of a table whose places are empty at first.
const REGISTER_BUFFERS: libc::c_uint = 15;
const UPDATE_BUFFERS: libc::c_uint = 16;
const SPARSE: u32 = 1;

/// `struct io_uring_rsrc_register`.
#[repr(C)]
struct Table {
    places: u32,
    flags: u32,
    reserved: u64,
    data: u64,
    tags: u64,
}

/// `struct io_uring_rsrc_update2`.
#[repr(C)]
struct Update {
    first: u32,
    reserved: u32,
    data: u64,
    tags: u64,
    places: u32,
    reserved_too: u32,
}

/// A ring's table of registered memory. Memory that ends leaves it first.
#[derive(Debug, Clone)]
pub(super) struct Registered(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    ring: OwnedFd,
    /// Where what is registered begins, and how many bytes it has.
    held: Mutex<Option<(usize, usize)>>,
}

impl Registered {
    /// Makes the table of a ring, which has none yet.
    pub fn new(ring: OwnedFd) -> Result<Self, Errno> {
        let table = Table { places: 1, flags: SPARSE, reserved: 0, data: 0, tags: 0 };
        call(&ring, REGISTER_BUFFERS, &table)?;
        Ok(Self(Arc::new(Inner { ring, held: Mutex::new(None) })))
    }

    /// Registers memory, in the place of what was registered before. It leaves the table as it ends.
    pub fn hold(&self, mut memory: Buffer) -> Result<Buffer, LinkError> {
        let len = memory.len();
        if len == 0 {
            return Ok(memory);
        }
        let at = NonNull::from(&mut memory[..]).cast::<u8>();
        let mine = (at.as_ptr().addr(), len);
        // What was there before is no longer there, whatever the kernel says now.
        *self.held() = None;
        self.put(at.as_ptr(), len).map_err(|e| refused(e, len, getrlimit(Resource::Memlock).current))?;
        *self.held() = Some(mine);
        let table = self.clone();
        let release = move |_: *mut u8| {
            table.let_go(mine);
            drop(memory);
        };
        // SAFETY: the memory is that of `memory`, which nobody else has, and which ends when it is released.
        Ok(unsafe { Buffer::lent(at, len, Box::new(release)) })
    }

    /// The place in the table of the memory that all of these bytes lie in.
    #[inline]
    pub fn place(&self, bytes: &[u8]) -> Option<u16> {
        let (from, len) = (bytes.as_ptr().addr(), bytes.len());
        let holds = |(at, all): (usize, usize)| from >= at && len <= all && from - at <= all - len;
        self.held().is_some_and(holds).then_some(PLACE)
    }

    fn held(&self) -> MutexGuard<'_, Option<(usize, usize)>> {
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes this memory out of the table, unless other has its place.
    fn let_go(&self, mine: (usize, usize)) {
        if self.held().take_if(|held| *held == mine).is_some() {
            // A kernel that does not let go keeps pages of its own: no request names the place any more.
            let _ = self.put(std::ptr::null_mut(), 0);
        }
    }

    /// Has the kernel look the pages of this memory up, and let go of those before; of none, it only lets go.
    fn put(&self, at: *mut u8, len: usize) -> Result<(), Errno> {
        let piece = libc::iovec { iov_base: at.cast(), iov_len: len };
        let data = (&raw const piece).expose_provenance() as u64;
        let update = Update { first: PLACE.into(), reserved: 0, data, tags: 0, places: 1, reserved_too: 0 };
        call(&self.0.ring, UPDATE_BUFFERS, &update)
    }
}

/// A call of `io_uring_register` on what the kernel tells versions apart by the length of.
fn call<T>(ring: &OwnedFd, which: libc::c_uint, about: &T) -> Result<(), Errno> {
    // SAFETY: the kernel reads as many bytes as are told, and of an update the piece that it leads to, before the call returns. It writes to none of
    // them. The pages of memory that it registers it holds itself, and only reads them, for posts that name the place.
    let code = unsafe {
        libc::syscall(
            libc::SYS_io_uring_register,
            ring.as_raw_fd(),
            which,
            std::ptr::from_ref(about),
            size_of::<T>() as libc::c_uint,
        )
    };
    if code < 0 { Err(sys::last_error()) } else { Ok(()) }
}

/// What to do where the kernel does not register `len` bytes, of a user who may lock `limit` (none: without a limit).
fn refused(e: Errno, len: usize, limit: Option<u64>) -> LinkError {
    let why = match (e, limit) {
        (Errno::NOMEM, Some(limit)) => format!(
            "; this user may lock {}, in all processes together: raise it with 'ulimit -l', ask for smaller messages, or leave 'registered' out",
            Bytes(limit)
        ),
        (Errno::FAULT, _) if len > MOST => format!(
            "; the kernel takes {} at most: ask for smaller messages, or leave 'registered' out",
            Bytes(MOST as u64)
        ),
        _ => String::new(),
    };
    LinkError::io(format!("registering {} of memory with an io_uring{why}", Bytes(len as u64)), e)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table of a ring that is kept open by it; none, having said why, where there is no io_uring.
    fn table() -> Option<Registered> {
        if let Err(e) = super::super::ring::available() {
            println!("skipped: no io_uring: {e}");
            return None;
        }
        let ring = io_uring::IoUring::new(2).unwrap();
        // SAFETY: the descriptor is open while the ring is.
        let fd = unsafe { std::os::fd::BorrowedFd::borrow_raw(ring.as_raw_fd()) };
        Some(Registered::new(rustix::io::fcntl_dupfd_cloexec(fd, 0).unwrap()).unwrap())
    }

    /// What the kernel says that is registered.
    fn told(table: &Registered) -> Vec<String> {
        let said = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", table.0.ring.as_raw_fd())).unwrap();
        let (_, rest) = said.split_once("UserBufs:").expect("the kernel lists registered memory");
        let all = rest.lines().skip(1).filter_map(|line| line.split_once(": 0x"));
        // Linux 6.1 lists an empty place as this address.
        all.map(|(_, piece)| piece.to_owned()).filter(|piece| !piece.starts_with("ffffffffffffffff/")).collect()
    }

    fn listed(memory: &Buffer) -> Vec<String> {
        vec![format!("{:x}/{}", memory.as_ptr().addr(), memory.len())]
    }

    #[test]
    fn the_kernel_holds_memory_for_as_long_as_it_is_there() {
        let Some(table) = table() else { return };
        assert!(told(&table).is_empty());
        for (len, align, offset) in [(1, 1, 0), (5000, 4096, 3), (1 << 20, 4096, 0)] {
            let memory = table.hold(Buffer::new(len, align, offset).unwrap()).unwrap();
            assert_eq!(memory.as_ptr().addr() % align, offset);
            assert_eq!((told(&table), memory.len()), (listed(&memory), len));
            drop(memory);
            assert!(told(&table).is_empty(), "{len}: it is no longer there");
        }
        // What takes a place before it is given back keeps it.
        let first = table.hold(Buffer::new(100, 64, 0).unwrap()).unwrap();
        let second = table.hold(Buffer::new(200, 64, 0).unwrap()).unwrap();
        assert_eq!((table.place(&first), table.place(&second)), (None, Some(PLACE)));
        drop(first);
        assert_eq!((told(&table), table.place(&second)), (listed(&second), Some(PLACE)));
        drop(second);
        assert!(told(&table).is_empty());
        assert!(table.hold(Buffer::new(0, 64, 0).unwrap()).unwrap().is_empty());
    }

    #[test]
    fn bytes_are_found_where_all_of_them_lie_in_what_is_registered() {
        let Some(table) = table() else { return };
        let around = vec![0u8; 100];
        assert_eq!(table.place(&around), None);
        *table.held() = Some((around.as_ptr().addr() + 10, 80));
        for inside in [&around[10..90], &around[10..11], &around[89..90], &around[40..50]] {
            assert_eq!(table.place(inside), Some(PLACE));
        }
        for outside in [&around[..], &around[9..11], &around[9..10], &around[89..91], &around[90..], &around[..10]] {
            assert_eq!(table.place(outside), None);
        }
    }

    #[test]
    fn what_the_kernel_refuses_leaves_nothing_and_says_what_to_do() {
        let said = |e, len, limit| refused(e, len, limit).to_string();
        let locked = said(Errno::NOMEM, 16 << 20, Some(64 << 10));
        assert!(locked.starts_with("registering 16 MiB of memory") && locked.contains("may lock 64 KiB"), "{locked}");
        assert!(locked.contains("'ulimit -l'") && !said(Errno::NOMEM, 1, None).contains("ulimit"), "{locked}");
        assert!(said(Errno::FAULT, MOST + 1, None).contains("the kernel takes 1 GiB at most"));
        assert!(!said(Errno::FAULT, MOST, None).contains("at most"));
        let Some(table) = table() else { return };
        let held = table.hold(Buffer::new(100, 64, 0).unwrap()).unwrap();
        // A table is made once: the kernel refuses another, and this one stays.
        let again = rustix::io::fcntl_dupfd_cloexec(&table.0.ring, 0).unwrap();
        assert_eq!(Registered::new(again).map(drop), Err(Errno::BUSY));
        assert_eq!((table.place(&held), told(&table)), (Some(PLACE), listed(&held)));
        // More than it takes is not looked at, and an address that no process has not found.
        assert_eq!(table.put(held.as_ptr().cast_mut(), MOST + 1), Err(Errno::FAULT));
        assert_eq!(table.put(std::ptr::without_provenance_mut(4096), 100), Err(Errno::FAULT));
    }
}
