//! pipe.
