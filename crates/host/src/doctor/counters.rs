//! Whether cycles and instructions can be counted.

use std::io;

use super::Finding;

/// What the kernel answered to who wants to count.
pub(super) fn judge(counting: io::Result<()>) -> Finding {
    let name = "cycle-counters";
    let Err(why) = counting else { return Finding::good(name, "cycles and instructions are counted") };
    let found = format!("cycles and instructions can't be counted ({why}); CPU time can");
    let remedy = match why.kind() {
        io::ErrorKind::PermissionDenied => "sysctl kernel.perf_event_paranoid=1, or run as root",
        _ => "on a virtual machine, have its processor's counters (vPMU) enabled; else nothing is to be done",
    };
    Finding::note(name, found, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn who_may_not_count_hears_how_and_who_cannot_where() {
        assert_eq!(judge(Ok(())).level, Level::Good);
        let refused = |kind: io::ErrorKind| judge(Err(kind.into()));
        let denied = refused(io::ErrorKind::PermissionDenied);
        assert!(denied.level == Level::Note && denied.remedy.unwrap().contains("perf_event_paranoid"));
        assert!(refused(io::ErrorKind::NotFound).remedy.unwrap().contains("virtual machine"));
    }
}
