//! The C interface of `strata`: what `systems/strata-c/include/strata.h` declares. The header says what each function does; here is only how
//! pointers become what Rust works with.
//!
//! A panic can't cross into C: every function that could run into one catches it and reports a refusal.

mod convert;
mod event;
mod group;
