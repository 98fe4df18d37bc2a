//! Versions of the program, its libraries and the C library below them.

use std::collections::BTreeMap;

/// Versions by name. What isn't known is absent.
pub(crate) fn here() -> BTreeMap<String, String> {
    let mut versions: BTreeMap<String, String> = env!("PIPEGAUGE_BUILT_WITH")
        .split(';')
        .filter_map(|item| item.split_once(' '))
        .map(|(name, version)| (name.to_owned(), version.to_owned()))
        .collect();
    versions.insert("pipegauge".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    versions.extend(c_library().map(|version| ("libc".to_owned(), version)));
    versions
}

/// The C library that this process runs with.
#[cfg(target_env = "gnu")]
fn c_library() -> Option<String> {
    unsafe extern "C" {
        fn gnu_get_libc_version() -> *const std::ffi::c_char;
    }
    // SAFETY: the function takes nothing, and returns a string of the library's own that is never changed or freed.
    let version = unsafe {
        let text = gnu_get_libc_version();
        (!text.is_null()).then(|| std::ffi::CStr::from_ptr(text))
    };
    version.and_then(|v| v.to_str().ok()).map(|v| format!("glibc {v}"))
}

/// The C library that this program was built with, which doesn't tell its version.
#[cfg(not(target_env = "gnu"))]
fn c_library() -> Option<String> {
    cfg!(target_env = "musl").then(|| "musl".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_have_the_versions_of_the_lock_file() {
        let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock");
        let lock = std::fs::read_to_string(lock).unwrap();
        let here = here();
        for name in crate::lock::NAMES {
            assert_eq!(here.get(name), crate::lock::version(&lock, name).as_ref(), "{name}");
            assert!(here[name].starts_with(|c: char| c.is_ascii_digit()), "{name} {}", here[name]);
        }
        assert!(here["rustc"].starts_with("1."), "{here:?}");
        #[cfg(target_env = "gnu")]
        assert!(here["libc"].starts_with("glibc 2."), "{here:?}");
    }
}
