//! How often what pipegauge says is true, found on synthetic runs whose truth is known.
//!
//! Its noises are processes over time and know nothing of what the estimators suppose; its runs go the way of real ones: events,
//! `record::Fold`, a run file, `model`. `make truth` writes the tables to `bench/TRUTH.md`; `cargo test` holds a small slice of
//! them to loose bounds.
//!
//! | module | job |
//! |---|---|
//! | [`draw`] | random values from a seed |
//! | [`noise`] | the kinds of noise, and what is asked of intervals under each |
//! | [`machine`] | one run's draw of a noise: its level at any moment |
//! | [`world`] | a path's true curve, and the trials of a run over it |
//! | [`centre`] | the truth of a machine and of a run |
//! | [`events`](mod@events) | trials to events |
//! | [`runs`] | events to a run file, and to what the command says; all that is used of `record` and `model` |
//! | [`tally`] | held, missed, not given, absurd |
//! | [`coverage`] | coverage of each figure under each noise |
//! | [`percentiles`] | coverage of percentiles of single iterations |
//! | [`comparing`] | false alarms and power of `compare` |
//! | [`turns`] | the same of sides in turns, and of the figures that have two sides |
//! | [`finding`] | dips and steps |
//! | [`periods`] | periods and drift |
//! | [`sustained`] | single transfers and sustained ones |
//! | [`command`] | the built command prints the same |
//! | [`lasting`] | how long the states of a noise last |
//! | [`pool`] | threads |
//! | [`repeats`] | where a further run falls |
//! | [`scaling`] | what a run says of another wire, against a run over that |
//! | [`shapes`] | curves that no straight line follows |
//! | [`sides`] | several runs a side |
//! | [`series`] | the same one after the other, on a machine that changes from run to run |
//! | [`sections`] | the sections of the document |
//! | [`table`](mod@table) | Markdown |

pub mod centre;
pub mod command;
pub mod comparing;
pub mod coverage;
pub mod draw;
pub mod events;
pub mod finding;
pub mod lasting;
pub mod machine;
pub mod noise;
pub mod percentiles;
pub mod periods;
pub mod pool;
pub mod repeats;
pub mod runs;
pub mod scaling;
pub mod sections;
pub mod series;
pub mod shapes;
pub mod sides;
pub mod sustained;
pub mod table;
pub mod tally;
pub mod turns;
pub mod world;
