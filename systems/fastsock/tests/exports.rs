//! The C library has several names for many calls. One that the library does not define goes past it.

mod common;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use common::built;

/// Names like those of calls that the library defines, which it leaves alone, and why.
const ALONE: &[(&str, &str)] = &[("exit", "ends the process by what the library has set to run then")];

/// What a library defines for programs. None, with the reason, where that can't be asked.
fn names(library: &Path) -> Option<BTreeSet<String>> {
    let Ok(said) = Command::new("nm").args(["-D", "--defined-only"]).arg(library).output() else {
        println!("skipped: nm (binutils) is not installed");
        return None;
    };
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    // Those that the C library's own parts have among themselves no program is linked with.
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    let public = text.lines().filter(|line| !line.ends_with("GLIBC_PRIVATE"));
    Some(public.filter_map(|line| line.split(' ').next_back()?.split('@').next().map(str::to_owned)).collect())
}

/// What is the same in all names of a call.
fn call(name: &str) -> String {
    let name = ["__libc_", "_IO_", "__", "_"].iter().find_map(|before| name.strip_prefix(before)).unwrap_or(name);
    let name = name.strip_suffix("_chk").unwrap_or(name);
    name.strip_suffix("64").unwrap_or(name).to_lowercase()
}

#[test]
fn all_names_of_a_call_are_the_librarys() {
    let Some(built) = built() else { return };
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let libc = maps.lines().find_map(|line| line.split(' ').next_back().filter(|path| path.contains("/libc.so")));
    let (Some(own), Some(theirs)) = (names(&built.library), libc.and_then(|libc| names(Path::new(libc)))) else {
        return;
    };
    assert!(own.contains("recvmsg") && theirs.contains("recvmsg"));
    let calls: BTreeSet<String> = own.iter().map(|name| call(name)).collect();
    let alone = |name: &str| ALONE.iter().any(|(alone, _)| *alone == name);
    let past: Vec<_> = theirs.difference(&own).filter(|name| calls.contains(&call(name)) && !alone(name)).collect();
    assert!(past.is_empty(), "these go past the library: {past:?}");
}
