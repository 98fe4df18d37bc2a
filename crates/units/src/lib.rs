//! Sizes, times, rates and shares: the one place that reads and prints units.
//!
//! Four quantities are types: [`Bytes`], [`BitRate`], [`Seconds`] and [`Share`]. Each reads what a person types
//! (`FromStr`, with [`UnitError`]) and prints what a person reads (`Display`). Two rules hold everywhere:
//!
//! - Bits and bytes, and decimal and binary prefixes, are never mixed silently: `KB` is `kB`, 1000 bytes; `64K` and `10Gbps` are
//!   questions back to the writer (`64KiB or 64kB?`), not guesses. The 1996 paper already saw that "the definition of
//!   byte varies more than one might think" (`seeds/004`, section 2).
//! - A printed interval is rounded outwards, so that it never claims more than was measured ([`with_interval`]).
//!
//! [`format`](mod@format) holds what tables and graphs need beside the types: figures with intervals, short axis
//! labels and thousands separators. [`unbounded`] writes an interval's open end to JSON. [`words`] leads units as they stand
//! in a sentence (`kilobytes`, `Gbps`) back to those that the types read. [`received`] cleans and cuts text of other hosts and files.

mod bytes;
pub mod format;
mod parse;
mod rate;
pub mod received;
mod share;
mod time;
pub mod unbounded;
pub mod words;

pub use bytes::Bytes;
pub use format::{Kind, RESOLVED, WIDEST, at_most, counted, resolved, short, spanned, thousands, times, with_interval};
pub use parse::UnitError;
pub use rate::BitRate;
pub use share::Share;
pub use time::Seconds;
