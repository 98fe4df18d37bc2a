//! The command from outside: real processes, real files, real sockets on this host's loopback.
//!
//! These live in the command's own crate because only there does cargo hand them the built binary, and in one test binary
//! because each would be linked by itself. A test that can't run here prints a line `skipped: why` and returns; the test
//! script counts it. No test depends on how fast anything is: waits end when what they wait for happened, and their limits
//! are far above what a loaded machine needs.

mod answering;
mod asking;
mod both;
mod brokers;
mod changing;
mod collectives;
mod comparing;
mod corosync;
mod costing;
mod disk;
mod explaining;
mod fabrics;
mod far_side;
mod files;
mod flows;
mod grouping;
mod groups;
mod grpc;
mod hinting;
mod history;
mod hosts;
mod input;
mod jgroups;
mod judging;
mod laboratory;
#[cfg(feature = "live")]
mod live;
mod loading;
mod measuring;
mod members;
mod message_layers;
mod module_example;
mod module_settings;
mod modules;
mod mpi;
mod no_network;
mod one_sided;
mod output;
mod paths;
mod placing;
mod preloading;
mod processes;
mod programs;
mod ranks_apart;
mod rates;
mod readers;
mod scaling;
mod seat;
mod serving;
mod signals;
mod soaking;
mod ssh;
mod sshd;
mod strangers;
mod support;
mod sweeping;
mod three_hosts;
mod two_sides;
mod under;
mod versions;
mod versus;
