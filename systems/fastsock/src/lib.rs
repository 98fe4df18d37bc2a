//! `libfastsock.so`: user-level sockets for unmodified programs, under `LD_PRELOAD`.
//!
//! Both sides of a TCP connection of this host with itself have the library: then what they send goes through rings in shared memory. The
//! kernel's connection stays, and stays what the descriptor is: it gives it its number, its addresses, its life, its end of file, and it
//! carries the bytes wherever the ring can't. Fast Sockets (Rodrigues, Anderson and Culler, USENIX 1997) did this over Active
//! Messages between hosts; here the ring is the one of the crate `am`.
//!
//! | module | job |
//! |---|---|
//! | `hook` | the calls that a program makes, a file for each kind |
//! | `real` | the next definition of each call |
//! | `slot` | the connections of this process, and which descriptors mean them |
//! | `activate` | when a connection becomes fast |
//! | `meet` | how two sides find each other, without a byte on the connection |
//! | `across`, `sequence` | the same between two network namespaces, in a folder, and the proof that they are the two ends |
//! | `receive`, `transmit` | the two directions of an active connection |
//! | `retire` | back to the kernel |
//! | `back`, `armed`, `turns`, `sync` | the words by which a direction goes back, of a bell, and of a connection that is used again; pure, and modelled (`tests/model.rs`) |
//! | `late` | what goes over TCP once more, where there is no room for it at once |
//! | `recycle`, `fresh` | connections that are closed and connected again, and sockets that nothing was done to yet |
//! | `holders` | how many processes hold a connection that a fork shared before it was fast |
//! | `copied` | a thread in a process that `clone` made as a fork does |
//! | `guests` | processes that have this one's memory, made by `clone` |
//! | `program` | whether a program will have the library |
//! | `carry` | what is left in a ring, to a new program |
//! | `wait`, `bell` | spinning and sleeping |
//! | `ready` | whether a connection can be read or written, for who waits for several things |
//! | `watch` | connections in sets of epoll |
//! | `own` | descriptors of the library's own |
//! | `solo` | what a process with one thread is spared |
//! | `sandbox` | whether calls of the library's own may be forbidden |
//! | `section` | stretches that no signal handler runs amid |
//! | `lock` | a lock for what one process keeps |
//! | `arena` | what two sides share |
//! | `budget` | how much memory connections may share |
//! | `report`, `table` | what `fastsock status` is told |
//! | `pages` | memory that is not the C library's |
//! | `page` | what a side keeps for itself, and shares with its forks |
//! | `buffers` | the program's buffers as one run of bytes |
//! | `tcp` | what the kernel knows of a connection |
//! | `config`, `settings` | what is switched off, and how much there may be: in files and the environment |
//! | `planted`, `asleep` | mistakes for a test to find, and whether a thread waits |
//!
//! # Why no byte is lost or out of order
//!
//! A direction moves from TCP to the ring at a byte of its stream that its sender names (`moved_at`), counted by the kernel's own
//! counters: the receiver takes exactly that many bytes over TCP first. It moves back once, for good: after the ring's last byte, or, where its receiver has
//! asked for what it has not read of the ring (`back`), with that sent once more over TCP before anything else. Only its sender moves it on. So a
//! sender that finds a call that it can't serve sends over TCP from there on, without asking anybody.

mod across;
mod activate;
mod arena;
mod armed;
#[cfg(test)]
mod asleep;
mod back;
mod bell;
mod budget;
mod buffers;
mod carry;
mod config;
mod copied;
#[cfg(test)]
#[path = "../tests/common/folder.rs"]
mod folder;
mod fresh;
mod guests;
mod holders;
mod hook;
mod late;
mod lock;
mod meet;
mod own;
mod page;
mod pages;
mod planted;
mod program;
mod ready;
mod real;
mod receive;
mod recycle;
mod report;
mod retire;
mod ring;
mod sandbox;
mod section;
mod sequence;
mod settings;
mod slot;
mod solo;
mod sync;
#[allow(dead_code, reason = "the command reads what the library writes")]
mod table;
mod tcp;
mod transmit;
mod turns;
mod wait;
mod watch;
