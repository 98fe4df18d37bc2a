//! A process, as `/proc` has it: when it began, which tells it from a later one of the same number, and what it may do.

use std::io;

/// A process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    /// Its parent.
    pub parent: u32,
    /// When it began, in ticks since the system did.
    pub began: u64,
    /// Whether it has ended, and only waits for its parent to look.
    pub ended: bool,
}

/// The process of this number.
///
/// # Errors
/// There is none, or `/proc` can't be read.
pub fn process(pid: u32) -> io::Result<Process> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    of(&text).ok_or_else(|| io::Error::other(format!("/proc/{pid}/stat is of no form that is known")))
}

/// proc_pid_stat(5), fields 3, 4 and 22.
fn of(stat: &str) -> Option<Process> {
    // The name of the program, in brackets, may hold anything.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ended = matches!(*fields.first()?, "Z" | "X");
    Some(Process { parent: fields.get(1)?.parse().ok()?, began: fields.get(19)?.parse().ok()?, ended })
}

/// Whether this process has these rights, by their numbers in capabilities(7).
pub fn has_rights(rights: &[u32]) -> bool {
    rights_in(&std::fs::read_to_string("/proc/self/status").unwrap_or_default(), rights)
}

/// Whether a process has rights, as its `/proc/PID/status` says.
fn rights_in(status: &str, rights: &[u32]) -> bool {
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let effective = effective.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok()).unwrap_or_default();
    rights.iter().all(|right| *right < u64::BITS && effective & (1 << right) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_are_read_from_the_status_of_a_process() {
        let has = |status: &str| rights_in(status, &[12, 21]);
        assert!(has("Name:\tx\nCapEff:\t000001fffeffffff\nCapBnd:\t0\n"));
        assert!(!has("CapEff:\t000001fffedfffff\n"), "without CAP_SYS_ADMIN");
        assert!(!has("CapEff:\t000001ffffffefff\n"), "without CAP_NET_ADMIN");
        assert!(!has("CapEff:\tx\n") && !has(""));
        assert!(!rights_in("CapEff:\tffffffffffffffff\n", &[64]));
    }

    #[test]
    fn a_process_is_told_by_its_beginning_whatever_its_program_is_called() {
        let rest = "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 4711 0";
        let found = |state: &str| of(&format!("12 (a) Z 1 (b) {state} 40 {rest}"));
        assert_eq!(found("S"), Some(Process { parent: 40, began: 4711, ended: false }));
        assert!(found("Z").is_some_and(|process| process.ended));
        assert_eq!((of(""), of("12 (a) S"), of("12 (a) S x 1")), (None, None, None));
        let own = process(std::process::id()).unwrap();
        assert!(own.began > 0 && !own.ended && process(own.parent).is_ok());
    }
}
