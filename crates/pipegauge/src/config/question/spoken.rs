//! Transports by the names that people give them.

use transport::registry;

/// Names that mean a transport in a question only.
const ALIASES: [(&str, &[&str]); 2] =
    [("unix", &["local socket", "local sockets"]), ("memcpy", &["memory", "main memory", "ram"])];

/// Transports by the names that people give them, their own first.
pub fn spoken() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    registry::all().map(|t| (t.name().as_str(), t.spoken())).chain(ALIASES)
}
