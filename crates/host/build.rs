//! Tells the crate which versions it was built with: of the compiler, and of libraries as `Cargo.lock` has them.

#[path = "src/lock.rs"]
mod lock;

use std::path::Path;
use std::process::Command;

fn main() {
    // Asked when it runs: a folder that was built and then moved or copied keeps this program.
    let here = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let file = Path::new(&here).join("../../Cargo.lock");
    println!("cargo:rerun-if-changed={}", file.display());
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/lock.rs");
    // What can't be read stays absent.
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let mut versions: Vec<String> = lock::NAMES
        .iter()
        .filter_map(|name| lock::version(&text, name).map(|version| format!("{name} {version}")))
        .collect();
    versions.extend(compiler().map(|version| format!("rustc {version}")));
    println!("cargo:rustc-env=PIPEGAUGE_BUILT_WITH={}", versions.join(";"));
}

/// "1.88.0" of "rustc 1.88.0 (6b00bc388 2025-06-23)".
fn compiler() -> Option<String> {
    let said = Command::new(std::env::var_os("RUSTC")?).arg("--version").output().ok()?;
    String::from_utf8(said.stdout).ok()?.split_whitespace().nth(1).map(str::to_owned)
}
