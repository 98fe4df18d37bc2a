//! Transports by the names that people give them.

use transport::registry;

/// Names that mean a transport in a question only.
const ALIASES: [(&str, &[&str]); 2] =
    [("unix", &["local socket", "local sockets"]), ("memcpy", &["memory", "main memory", "ram"])];

/// Names that are a word of many a question ("which one am I to take?"): there the transport has its longer ones only.
const EVERYDAY: [&str; 1] = ["am"];

/// Transports by the names that people give them, their own first.
pub fn spoken() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    let names = |name: &str, all: &'static [&'static str]| &all[usize::from(EVERYDAY.contains(&name))..];
    registry::all().map(move |t| (t.name().as_str(), names(t.name().as_str(), t.spoken()))).chain(ALIASES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_everyday_names_no_path() {
        let of = |said: &str| spoken().find(|(_, names)| names.contains(&said)).map(|(path, _)| path);
        assert_eq!((of("am"), of("active messages"), of("shm")), (None, Some("am"), Some("shm")));
    }
}
