//! Aligned text tables of a run: summary, fitted models, dips and steps, points, paths, warnings.

mod breaks;
mod cautions;
mod cpu;
mod details;
mod fits;
mod grid;
mod hint;
mod jitter;
mod load;
mod loggp;
mod machine;
mod members;
mod points;
mod rates;
mod soak;
mod state;
mod summary;
mod tcp;
mod trust;
mod warnings;

pub use breaks::{breaks, digits, fate, found_words, none_found, suspect};
pub use cautions::{Caution, cautions, grouped};
pub use cpu::cpu;
pub use details::details;
pub use fits::fits;
pub use hint::hint;
pub use jitter::jitter;
pub use load::load;
pub use loggp::loggp;
pub use machine::{at_sizes, foretold, machine, machine_of, runs_that};
pub use members::members;
pub use points::{cell, points};
pub use rates::{highest, rates};
pub use soak::{interval_head, interval_line, soak};
pub use state::{rounds, state};
pub use summary::{paths, startup_words, summary};
pub use tcp::tcp;
pub use trust::trust;
pub use warnings::{warnings, warnings_within};

/// Columns of text, tables and paragraphs alike.
pub(crate) const WIDTH: usize = 80;

pub(crate) use cpu::{HEAD as CPU_HEAD, HOW_TO_READ as READ_CPU, cycles as cpu_cycles, rows as cpu_rows};
pub(crate) use grid::{Flush, Grid};
pub(crate) use members::{HEAD as MEMBERS_HEAD, lines as member_lines, rows as member_rows};
pub(crate) use rates::{grids as rate_grids, notes as rate_notes};
pub(crate) use state::state_lines;
pub(crate) use summary::{effective, estimate, in_rounds, messages, one_size, start_time, time_title, together};
pub(crate) use tcp::line as tcp_line;
pub(crate) use warnings::subject;

#[cfg(test)]
mod tests;
