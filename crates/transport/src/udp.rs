//! udp.
