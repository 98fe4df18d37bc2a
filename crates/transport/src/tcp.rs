//! tcp.
