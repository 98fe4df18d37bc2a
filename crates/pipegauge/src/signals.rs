//! Ctrl-C, SIGTERM and closed terminals: the first asks the run to stop, a second Ctrl-C or SIGTERM ends it at once.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::low_level::{emulate_default_handler, pipe};
use signal_hook::{SigId, flag};

use crate::exit::Exit;

/// A flag that becomes true when the person at the keyboard (or a supervisor) asks to stop.
///
/// SIGHUP never ends the process at once: a closing terminal sends it from the kernel and again from the shell, and the
/// run file must be ended cleanly in between.
#[derive(Clone)]
pub struct Stop {
    flag: Arc<AtomicBool>,
    /// What Ctrl-C and SIGTERM do.
    actions: Arc<Mutex<Vec<SigId>>>,
}

impl Stop {
    /// Begins to listen.
    pub fn listen() -> io::Result<Self> {
        let stop = Self { flag: Arc::new(AtomicBool::new(false)), actions: Arc::default() };
        stop.arrange(true)?;
        flag::register(SIGHUP, stop.flag())?;
        Ok(stop)
    }

    /// The flag.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }

    /// Says what Ctrl-C and SIGTERM do from now on. Actions are taken in the order of their registration: what ends the
    /// process must look at the flag before it is set.
    fn arrange(&self, second_ends: bool) -> io::Result<()> {
        let mut new = Vec::new();
        for signal in [SIGINT, SIGTERM] {
            if second_ends {
                new.push(flag::register_conditional_shutdown(signal, Exit::CouldNot.code().into(), self.flag())?);
            }
            new.push(flag::register(signal, self.flag())?);
        }
        let mut actions = self.actions.lock().unwrap_or_else(PoisonError::into_inner);
        for old in std::mem::replace(&mut *actions, new) {
            signal_hook::low_level::unregister(old);
        }
        Ok(())
    }
}

/// Has this done once a signal asks this process to end, which it then does as it would have without this.
pub fn before_the_end(tidy: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let (mut comes, wake) = UnixStream::pair()?;
    let which = Arc::new(AtomicUsize::new(0));
    // What is to be ignored, as nohup and a shell's background have it, stays so.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    for signal in [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0) {
        flag::register_usize(signal, Arc::clone(&which), signal as usize)?;
        pipe::register(signal, wake.try_clone()?)?;
    }
    std::thread::spawn(move || {
        // The other end is held as long as this process is there.
        let _ = comes.read(&mut [0]);
        tidy();
        let _ = emulate_default_handler(which.load(Ordering::SeqCst) as i32);
    });
    Ok(())
}

impl Stop {
    /// From now on a second signal does nothing more: whoever asks for this ends the process then, and tidies up first.
    pub fn hold(&self) -> io::Result<()> {
        self.arrange(false)
    }

    /// From now on a second signal ends the process at once again.
    #[cfg(feature = "live")]
    pub fn resume(&self) {
        // Where that can't be had, the first signal still stops the run.
        let _ = self.arrange(true);
    }
}

/// A write beyond the limit of a file's size (`ulimit -f`) fails from now on with an error that says so, as on a full disk:
/// the signal that comes with it would end the process without a word.
pub fn outlive_file_limits() -> io::Result<()> {
    flag::register(SIGXFSZ, Arc::default()).map(drop)
}

/// The same as [`Stop`] for a far process that the near side started. A terminal sends Ctrl-C and its own end to both; the near side
/// decides what comes of them and ends its far process, so here they are passed over.
pub fn peer_stop_flag() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    flag::register(SIGTERM, Arc::clone(&stop))?;
    let nobody_reads = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGHUP] {
        flag::register(signal, Arc::clone(&nobody_reads))?;
    }
    Ok(stop)
}
