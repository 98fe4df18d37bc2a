//! The driver: schedules, trials, stop rules, patterns; knows only the Link port.
//!
//! A [`Session`] is one path between this side and a far side, whatever keeps them in step (a control connection, or nothing where one
//! process plays both ends). The driver asks sessions for trials in randomised rounds and passes on what happens as [`Event`]s, which are
//! also the lines of the run file.
//!
//! | module | job |
//! |---|---|
//! | [`spec`], `report` | what a trial is, and what came of it |
//! | [`pattern`] | the patterns, a file each: both halves of the loop, and what is known of it |
//! | [`near`], [`far`] | what the patterns' near and far halves share |
//! | [`buffers`], [`content`], `samples` | how a trial's messages lie in memory, contents and times |
//! | `level` | numbers of casts on a path that loses, the same at all members as a trial begins |
//! | [`workspace`] | what a side keeps over trials beside the link and its memory |
//! | [`cost`], `meter` | what a trial cost a side in CPU time and switches, and how that is read |
//! | [`credible`] | whether a far side's report of a trial can be true |
//! | [`session`], [`solo`] | the port to a path; paths that need no second process |
//! | [`support`] | which combinations a path can't do, answered before anything is measured |
//! | [`sizes`] | which sizes: the paper's schedule, and what lies between |
//! | [`refine`] | where the curve bends or jumps, so that it needs more sizes |
//! | [`driver`], `teller` | rounds of several paths taking turns, and how a run ends; who is told what happens |
//! | `plan_path` | a path of a plan: a transport, its settings, its label |
//! | `amounts` | how much is measured at least and at most, where several modules count with it |
//! | [`path`], `survey`, `round` | one path: its points; the first look and closer looks; a round of trials and when it is done |
//! | `settled` | when a point is known as well as was asked for |
//! | [`sustained`] | a few long trials, to hold against the short ones |
//! | [`flows`] | several flows of a trial at once: their threads, and the time in which all of them ran |
//! | [`load`] | flows that fill a path while it is measured: what they are, their threads, what they carried |
//! | [`topology`] | how connections share processes: flows, pairs, fan-in, fan-out, group |
//! | `soak`, [`interval`] | one connection for a long time, interval after interval; how intervals become one, and few |
//! | [`netpipe`] | NetPIPE 3.7's schedule, exactly |
//! | [`figures`] | from trials to a point's figures |
//! | [`judge`], `noisy`, `taken_by`, `apart`, [`place`], `warned` | warnings: what a reader of the figures must know; points that are not known well; who took the CPUs; rounds that lie apart, and why; whether that lies in the machine; what warnings are made of |
//! | `bucket`, `burst`, `cache` | warnings of rates that do not last, and why long trials take longer than short ones; whether messages come from warm memory |
//! | `calibrate` | what measuring itself costs |
//! | [`earlier`] | earlier runs of a path on this machine, as a run carries them |
//! | [`event`] | what happens, as it happens; the run file's lines |
//! | [`trials`] | a point's trials as a reader keeps them: packed |

mod amounts;
mod apart;
mod bucket;
pub mod buffers;
mod burst;
mod cache;
pub mod calibrate;
pub mod content;
pub mod cost;
pub mod credible;
pub mod driver;
pub mod earlier;
pub mod event;
pub mod far;
pub mod figures;
pub mod flows;
pub mod interval;
pub mod judge;
mod level;
pub mod load;
mod meter;
pub mod near;
pub mod netpipe;
mod noisy;
pub mod path;
pub mod pattern;
pub mod place;
mod plan_path;
pub mod refine;
mod report;
mod round;
mod samples;
pub mod session;
mod settled;
pub mod sizes;
mod soak;
pub mod solo;
pub mod spec;
pub mod support;
mod survey;
pub mod sustained;
mod taken_by;
mod teller;
pub mod topology;
pub mod trials;
mod warned;
pub mod workspace;

pub use bucket::{BUCKET, in_long_trials};
pub use cache::Cache;
pub use calibrate::calibrate;
pub use cost::Cost;
pub use driver::{Outcome, Side, run, run_sides};
pub use event::Event;
pub use flows::{Course, FlowReport, Flows};
pub use load::{Carried, Load, LoadDirection, Loading};
pub use pattern::Pattern;
pub use report::{FarReport, Tcp, TrialReport};
pub use session::{Session, SessionError};
pub use settled::settled;
pub use spec::TrialSpec;
pub use topology::Topology;
pub use trials::Trials;
pub use workspace::Workspace;
