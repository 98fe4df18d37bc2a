//! Answers the group while nobody uses the link, as a kernel does for its sockets: a member that is done with a trial may hold what another one misses.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use super::member::Member;
use crate::LinkError;

/// How often it looks whether the link was used meanwhile.
const TICK: Duration = Duration::from_millis(2);
/// Events that it takes in one look, so that who wants the link soon has it.
const SOME: u32 = 1000;

/// What a link and its keeper share.
pub(super) struct Shared {
    pub member: Mutex<Member>,
    /// Operations on the link so far.
    pub used: AtomicU64,
    ends: AtomicBool,
}

/// The thread. It ends with this.
pub(super) struct Keeper {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    pub fn start(member: Member) -> Result<(Arc<Shared>, Self), LinkError> {
        let shared = Shared { member: Mutex::new(member), used: AtomicU64::new(0), ends: AtomicBool::new(false) };
        let shared = Arc::new(shared);
        let its = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("keeper".to_owned()).spawn(move || keep(&its));
        let thread = Some(thread.map_err(|e| LinkError::io("starting a member's thread", e))?);
        Ok((Arc::clone(&shared), Self { shared, thread }))
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

fn keep(shared: &Shared) {
    let mut seen = 0;
    while !shared.ends.load(Ordering::Relaxed) {
        std::thread::park_timeout(TICK);
        let used = shared.used.load(Ordering::Relaxed);
        if std::mem::replace(&mut seen, used) != used {
            continue;
        }
        // Who waits in the link holds it.
        if let Ok(mut member) = shared.member.try_lock() {
            (0..SOME).find(|_| !member.kept());
        }
    }
}
