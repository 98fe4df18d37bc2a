//! Imports: results of other tools as the events of a run, so that they are drawn and compared like our own.

mod np;

pub use np::{ImportError, Source, np, np_from};
