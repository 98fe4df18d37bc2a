//! The C interface of `am`: what `systems/am/include/am.h` declares. The header says what each function does; here is only how
//! pointers become what Rust works with.
//!
//! Who has an interface of its own on top (`fastsock-native`) takes [`convert`] and [`posting`].
//!
//! A panic can't cross into C: every function that could run into one catches it and reports a refusal.

pub mod convert;
mod endpoint;
mod handlers;
pub mod posting;
