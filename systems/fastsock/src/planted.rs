//! Mistakes that can be made on purpose, one at a time, named by `FASTSOCK_PLANTED`: random scripts must find each (`tests/fuzz`). Only with the
//! feature `planted`, which no installed library has; without it nothing here costs anything.

/// Whether the mistake of this name is to be made.
#[cfg(feature = "planted")]
pub fn is(name: &str) -> bool {
    static NAME: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    NAME.get_or_init(|| std::env::var("FASTSOCK_PLANTED").unwrap_or_default()) == name
}

/// Never.
#[cfg(not(feature = "planted"))]
#[inline(always)]
pub const fn is(_name: &str) -> bool {
    false
}
