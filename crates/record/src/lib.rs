//! The run file: writing, reading, folding into points, export and import.
//!
//! # The file
//! A run file is JSON Lines: one [`measure::Event`] a line, UTF-8, in the order in which things happened, each line
//! written whole and flushed as it happens. The first line is the run's header and names the schema
//! ([`measure::event::SCHEMA`]); the last line of a run that ended is an `end`. All times are seconds, all sizes bytes, all
//! rates bits a second, shares lie between 0 and 1; the exceptions carry their unit in their name (`clock_cost_ns`) or in
//! the schema (histograms: nanoseconds). Shortened, a file reads:
//!
//! ```text
//! {"event":"run","schema":"pipegauge-run/2","version":"0.1.0","started":"2026-01-31T10:00:00Z","command":["run","tcp"],"plan":{...},"near":{...},"calibration":{...}}
//! {"event":"path","path":0,"transport":"tcp","capabilities":{...},"far":{...},"near_effective":{...},"far_effective":{...}}
//! {"event":"earlier","path":0,"runs":[{"started":"2026-01-30T10:00:00Z","points":[[1,9.3e-6],...]}]}
//! {"event":"block","path":0,"block":0,"at":0.012,"planned":124}
//! {"event":"trial","path":0,"block":0,"at":0.013,"size":1,"repeats":500,"seconds":0.0091,"median":1.8e-5,...}
//! {"event":"point","path":0,"size":1,"time":"half-round-trip","blocks":7,"trials":7,"median":9.1e-6,"low":9.0e-6,"high":9.2e-6,...,"why":"precision"}
//! {"event":"warning","code":"cpu-interference","path":0,"text":"other processes took 12% of the pinned CPUs: ..."}
//! {"event":"end","at":14.2}
//! ```
//!
//! Every field with its unit is described in `schema/pipegauge-run-2.schema.json`, which [`schema()`] makes from the types
//! and a test keeps current.
//!
//! # What readers promise
//! - A file cut off at any byte reads up to its last whole line; a line is whole when its JSON object is closed. Points
//!   that had not ended are rebuilt from their trials, and [`RunFile::cut`] says in words how the file ends short.
//! - Within one schema a file may gain fields, which older readers pass over, and kinds of event, which they skip with a
//!   warning of the code `unknown-event`. Anything that an older reader would misread raises the number, and readers then
//!   refuse the file by name of both versions. Files of version 1 are read (`read::version_one` has what changed).
//! - A damaged line in the middle is an error with its number, never a guess.
//!
//! # Map
//! | module | job |
//! |---|---|
//! | [`write`](mod@write) | [`Writer`]: a whole line or none, on a full disk too |
//! | [`read`](mod@read) | from bytes to a [`RunFile`], and what is said about anything else |
//! | `run` | [`RunFile`]: paths and points, as far as events tell |
//! | [`fold`] | [`Fold`]: events become points |
//! | `extent` | [`Extent`]: how far a run is |
//! | `differences` | [`differences()`]: what was not the same in two runs but their figures |
//! | `machine` | [`RunFile::circumstances`], [`same_machines`]: what of a difference may be the machine's |
//! | [`sides`] | two sides compared as their runs allow: in turns, in one run, or apart |
//! | `repeat` | [`RunFile::between`]: how far runs lie apart, and where a repeat falls |
//! | [`columns`] | every figure of a point, declared once for all exports and tables |
//! | [`codec`] | how an event's line is written and read |
//! | `curve` | [`RunFile::curve`]: what `model` needs of a path |
//! | `moments` | a path's trials as `model` takes them for jitter and LogGP |
//! | `facts` | constants of a path that may be behind a dip or a step |
//! | `analysis` | [`Analysis`]: what `model` makes of a run, each part once |
//! | `hint` | [`RunFile::hint`]: HINT's figures, and what ended its curve |
//! | `alike`, `flows` | paths that differ only in one figure; in their number of connections |
//! | [`rates`] | [`Analysis::over_rates`]: lost messages over the offered rate, and the highest rate without loss |
//! | [`load`] | [`Analysis::under_load`]: what a path takes idle and under load, side by side |
//! | [`soak`] | [`RunFile::soak`]: the worst interval of a soak, and its stalls |
//! | [`parallel`] | work on all CPUs |
//! | [`schema`](mod@schema) | JSON Schema of the lines and of the JSON export |
//! | [`export`] | NetPIPE, CSV, JSON, OpenMetrics, Parquet |
//! | [`history`] | earlier runs on this host: what runs read and add to |
//! | [`input`] | opening what a person named: no FIFO, no device, no more than a bound |
//! | [`import`] | NetPIPE's output of 2.x, 3.x and 5.x |

mod alike;
mod analysis;
pub mod codec;
pub mod columns;
mod curve;
mod differences;
pub mod export;
mod extent;
mod facts;
mod flows;
pub mod fold;
mod hint;
pub mod history;
pub mod import;
pub mod input;
pub mod load;
mod machine;
mod moments;
pub mod parallel;
pub mod rates;
pub mod read;
mod repeat;
mod run;
#[cfg(test)]
mod sample;
pub mod schema;
pub mod sides;
pub mod soak;
pub mod write;

pub use analysis::Analysis;
pub use differences::{Difference, differences, seen_otherwise};
pub use extent::Extent;
pub use fold::Fold;
pub use hint::Hint;
pub use machine::same_machines;
pub use read::{ReadError, read, read_intervals};
pub use run::{Costs, PathRun, Point, RunFile};
pub use schema::schema;
pub use write::{WriteError, Writer};
