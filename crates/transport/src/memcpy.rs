//! memcpy.
