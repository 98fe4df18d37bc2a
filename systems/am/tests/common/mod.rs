//! Processes and connections for the tests.
#![allow(dead_code, reason = "each test program uses a part")]

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, Ordering};

use am::{Endpoint, Handlers, Options};

/// A process that this test started; killed, if it still runs, when dropped.
pub struct Child {
    pid: i32,
    status: Option<i32>,
}

/// Runs `work` in a process of its own, which ends with 0, or with 1 if `work` panicked.
pub fn fork(work: impl FnOnce()) -> Child {
    // SAFETY: the child runs `work` and ends without returning to the test harness. glibc keeps its allocator usable across a fork.
    match unsafe { libc::fork() } {
        -1 => panic!("fork: {}", std::io::Error::last_os_error()),
        0 => {
            // SAFETY: a plain system call: the child ends with its parent, however that ends.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
            let ok = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_ok();
            // SAFETY: ends the process.
            unsafe { libc::_exit(i32::from(!ok)) }
        }
        pid => Child { pid, status: None },
    }
}

impl Child {
    /// Kills it with signal 9 and waits for its end.
    pub fn kill(&mut self) {
        // SAFETY: signals a process that this test started and has not waited for.
        unsafe { libc::kill(self.pid, libc::SIGKILL) };
        self.wait();
    }

    /// Waits for its end; true if it went well.
    pub fn wait(&mut self) -> bool {
        let mut status = 0;
        while self.status.is_none() {
            // SAFETY: waits for a process that this test started.
            if unsafe { libc::waitpid(self.pid, &raw mut status, 0) } == self.pid {
                self.status = Some(status);
            }
        }
        self.status == Some(0)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.status.is_none() {
            self.kill();
        }
    }
}

/// A name that no other test uses.
pub fn name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Small rings, so that they go round often.
pub fn small() -> Options {
    let mut options = Options::default();
    options.ring_bytes = 4096;
    options
}

/// A connection to a process that runs `far` on its end.
pub fn connected<S, F>(
    options: Options,
    near: Handlers<S>,
    far_handlers: Handlers<F>,
    far: impl FnOnce(Endpoint<F>),
) -> (Endpoint<S>, Child) {
    let (ours, theirs) = sockets();
    let child = fork(move || far(Endpoint::follow(theirs, far_handlers, &options).unwrap()));
    (Endpoint::lead(ours, near, &options).unwrap(), child)
}

/// A connected pair of sockets that keep message boundaries.
pub fn sockets() -> (OwnedFd, OwnedFd) {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
    socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap()
}

/// Numbers that look random: the same for the same seed.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        // splitmix64 (Steele, Lea and Flood, 2014).
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// The bytes of message `seed`: no two are alike for long.
pub fn pattern(seed: u64, len: usize) -> Vec<u8> {
    let mut random = Random(seed);
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        bytes.extend(random.next().to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}
