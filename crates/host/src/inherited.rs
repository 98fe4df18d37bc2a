//! A descriptor that whoever started this process left open for it.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use rustix::io::{FdFlags, fcntl_setfd};

/// Takes over the descriptor of this number, which was named to this process by the one that started it and that nothing in this process has taken
/// yet. Processes that this one starts don't inherit it.
///
/// # Errors
/// No descriptor of this number is open, or it is standard input, output or error.
pub fn inherited(number: RawFd) -> io::Result<OwnedFd> {
    if number <= 2 || !std::path::Path::new(&format!("/proc/self/fd/{number}")).exists() {
        return Err(io::Error::other(format!("no descriptor {number} was left open for this process")));
    }
    // SAFETY: it is open, and was opened before this process began: nothing here owns it.
    let taken = unsafe { OwnedFd::from_raw_fd(number) };
    fcntl_setfd(&taken, FdFlags::CLOEXEC)?;
    Ok(taken)
}
