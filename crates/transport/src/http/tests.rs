//! What travels, and what strangers may send.
