//! Whether a process of this host is stopped.

/// Whether the process of this number is stopped (by a signal or a debugger).
pub(crate) fn is_stopped(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name in brackets may hold brackets itself; the state follows it.
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(['T', 't']))
}
