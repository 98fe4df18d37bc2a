//! The C interface of `am`: what `systems/am/include/am.h` declares. The header says what each function does; here is only how
//! pointers become what Rust works with.
//!
//! A panic can't cross into C: every function that could run into one catches it and reports a refusal.

mod convert;
mod endpoint;
mod handlers;
mod posting;
