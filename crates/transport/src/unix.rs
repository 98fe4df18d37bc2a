//! unix.
