//! What machine this is: CPU, caches, clock, kernel, network, and what others took of it.
//!
//! Everything is read from `/proc` and `/sys` through a [`Root`], so that tests read a tree of their own. Nothing here
//! changes the machine but [`pin_this_thread`], which moves the calling thread alone.
//!
//! | module | job |
//! |---|---|
//! | [`root`] | small text files below a root directory |
//! | [`environment`] | [`Environment`]: one host at the time of a run |
//! | `system` `network` `versions` `lock` | its parts: kernel, memory, sysctls; interfaces; libraries, by what the build locked |
//! | `clock` | nanoseconds |
//! | [`cpu`] | allowed CPUs, pinning, cores, caches, and which pair of CPUs to use |
//! | [`watch`] | [`CpuWatch`]: the CPU that others took |
//! | `taken` | [`Taken`]: what was taken between two moments, by processes, hypervisor or quota |
//! | `cgroup` | the control groups around this process |
//! | [`spent`] [`counters`] | CPU time, switches, cycles and instructions of a thread |
//! | [`calibration`] | [`MachineCalibration`]: how fast the machine itself is at a moment |
//! | `process` | [`process()`]: when a process began; [`has_rights`]: what this one may do |
//! | `netns` | [`network_cookie()`]: which network namespace this is |
//! | `inherited` | [`inherited()`]: a descriptor that was left open for this process |
//! | [`doctor`] | is this machine fit to measure: findings with remedies |

pub mod calibration;
mod cgroup;
mod clock;
pub mod counters;
pub mod cpu;
pub mod doctor;
pub mod environment;
mod inherited;
#[cfg(test)]
mod lock;
mod netns;
mod network;
mod process;
pub mod root;
pub mod spent;
mod system;
mod taken;
mod versions;
pub mod watch;

#[cfg(test)]
mod fixture;

pub use calibration::MachineCalibration;
pub use cpu::{allowed_cpus, choose_pair, cpus_before_pinning, pin_this_thread, run_on, unpinned};
pub use environment::Environment;
pub use inherited::inherited;
pub use netns::network_cookie;
pub use network::Interface;
pub use process::{Process, has_rights, process};
pub use root::Root;
pub use system::memory;
pub use taken::{MOST_CPUS, Taken};
pub use watch::CpuWatch;
