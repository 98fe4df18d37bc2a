//! Versions of libraries, from the text of a `Cargo.lock`. Part of the build script, and of the crate for its tests.

/// The libraries whose version a figure may depend on: system calls, sockets, the control connection, histograms.
pub(crate) const NAMES: [&str; 5] = ["hdrhistogram", "ring", "rustix", "rustls", "socket2"];

/// The version of the library `name` that pipegauge itself uses; none where the text doesn't tell.
pub(crate) fn version(lock: &str, name: &str) -> Option<String> {
    let packages = || lock.split("[[package]]").skip(1);
    let field = |package: &str, key: &str| {
        let line = package.lines().find_map(|l| l.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"'));
        line.map(str::to_owned)
    };
    let named = |package: &&str| field(package, "name").as_deref() == Some(name);
    let mut found = packages().filter(named).filter_map(|package| field(package, "version"));
    let first = found.next()?;
    if found.next().is_none() {
        return Some(first);
    }
    // There are several: a dependency on one of them names its version too.
    let ours = packages().filter(|package| field(package, "name").is_some_and(|n| n.starts_with("pipegauge")));
    ours.flat_map(str::lines).find_map(|line| {
        let dependency = line.trim().strip_prefix('"')?.split('"').next()?;
        dependency.strip_prefix(name)?.strip_prefix(' ').map(str::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = r#"
version = 4

[[package]]
name = "pipegauge-host"
version = "0.1.0"
dependencies = [
 "rustix 1.1.6",
 "units",
]

[[package]]
name = "ring"
version = "0.17.14"
source = "registry"

[[package]]
name = "rustix"
version = "0.38.44"

[[package]]
name = "rustix"
version = "1.1.6"
"#;

    #[test]
    fn a_library_has_the_version_that_is_used_here() {
        assert_eq!(version(LOCK, "ring").as_deref(), Some("0.17.14"));
        assert_eq!(version(LOCK, "rustix").as_deref(), Some("1.1.6"));
        assert_eq!((version(LOCK, "rust"), version("", "ring"), version("nonsense", "ring")), (None, None, None));
    }
}
