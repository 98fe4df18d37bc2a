//! The clock: what it is read from and what a reading costs.

use units::Seconds;

use super::Finding;
use crate::clock::nanoseconds;
use crate::{Root, system};

/// Nanoseconds above which a reading is no longer done in user space: the vDSO takes 15 to 60 on machines of the last
/// decade, a system call 100 and more.
const VDSO_AT_MOST: f64 = 100.0;

/// What does the kernel read time from?
pub(super) fn source(root: &Root) -> Finding {
    let name = "clock-source";
    let Some(source) = system::clock_source(root) else {
        let remedy = "read the cost of the timer below: it says whether the clock can be read without the kernel";
        return Finding::note(name, "the system doesn't say what its clock is read from", remedy);
    };
    match source.as_str() {
        "tsc" | "kvm-clock" | "hyperv_clocksource_tsc_page" | "arch_sys_counter" | "timebase" => {
            Finding::good(name, format!("{source}: read in user space"))
        }
        "hpet" | "acpi_pm" | "xen" | "jiffies" | "refined-jiffies" | "pit" => Finding::warn(
            name,
            format!("{source}: each reading of the clock is a slow system call"),
            "if the CPU's counter is sound, as root: \
             echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource; \
             otherwise single iterations can't be timed well here",
        ),
        _ => Finding::note(name, format!("{source}: not known to be fast"), "read the cost of the timer below"),
    }
}

/// Nanoseconds of one reading: the best of ten rounds of a thousand.
pub(super) fn measure_timer_cost() -> f64 {
    let round = || {
        let start = nanoseconds();
        for _ in 0..1000 {
            std::hint::black_box(nanoseconds());
        }
        (nanoseconds() - start) as f64 / 1000.0
    };
    (0..10).map(|_| round()).fold(f64::INFINITY, f64::min)
}

/// What does a reading cost?
pub(super) fn timer_cost(ns: f64) -> Finding {
    let name = "timer-cost";
    let cost = Seconds(ns * 1e-9);
    if ns <= VDSO_AT_MOST {
        return Finding::good(name, format!("{cost} a reading"));
    }
    let found = format!("{cost} a reading: the clock is read by a system call");
    let remedy =
        "use a clock source that is read in user space (tsc), and keep tracing and sandboxes (strace, gVisor) away";
    Finding::warn(name, found, remedy)
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn clock_sources() {
        let of = |text: &str| {
            let file = "sys/devices/system/clocksource/clocksource0/current_clocksource";
            source(&Fixture::empty().file(file, text).root()).level
        };
        assert_eq!((of("tsc\n"), of("kvm-clock\n"), of("arch_sys_counter\n")), (Level::Good, Level::Good, Level::Good));
        assert_eq!((of("hpet\n"), of("acpi_pm\n"), of("xen\n")), (Level::Warn, Level::Warn, Level::Warn));
        assert_eq!((of("sundial\n"), source(&Fixture::empty().root()).level), (Level::Note, Level::Note));
    }

    #[test]
    fn timer_costs() {
        assert_eq!(timer_cost(23.0).level, Level::Good);
        let slow = timer_cost(250.0);
        assert!(slow.level == Level::Warn && slow.found.contains("system call"));
        assert!(measure_timer_cost() > 0.0);
    }
}
