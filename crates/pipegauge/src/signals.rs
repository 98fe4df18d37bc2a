//! Ctrl-C, SIGTERM and closed terminals: the first asks the run to stop, a second Ctrl-C or SIGTERM ends it at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::exit::Exit;

/// A flag that becomes true when the person at the keyboard (or a supervisor) asks to stop.
///
/// SIGHUP never ends the process at once: a closing terminal sends it from the kernel and again from the shell, and the
/// run file must be ended cleanly in between.
pub fn stop_flag() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_shutdown(signal, Exit::CouldNot.code().into(), Arc::clone(&stop))?;
        flag::register(signal, Arc::clone(&stop))?;
    }
    flag::register(SIGHUP, Arc::clone(&stop))?;
    Ok(stop)
}

/// The same for a far process that the near side started. A terminal sends Ctrl-C and its own end to both; the near side
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
