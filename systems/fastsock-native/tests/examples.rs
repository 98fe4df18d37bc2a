//! The examples in C and in Rust; the first is compiled as strictly as it can be, with the library that is linked to and with the one that is loaded.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fastsock_native as _;

const PRINTS: &str = "message 1: in place\nmessage 2: through the ring\n";

/// Where cargo put the libraries that it built for this test.
fn library(name: &str) -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let folder = program.parent().unwrap();
    let found = [folder, folder.parent().unwrap()].iter().map(|folder| folder.join(name)).find(|path| path.exists());
    found.unwrap_or_else(|| panic!("cargo builds {name} beside its tests"))
}

#[test]
fn the_example_in_c_compiles_without_a_warning_and_runs() {
    let Some(compiler) =
        ["cc", "gcc", "clang"].into_iter().find(|cc| Command::new(cc).arg("--version").output().is_ok())
    else {
        println!("skipped: no C compiler is installed");
        return;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for name in ["libfastsock_native.a", "libfastsock_native.so"] {
        let library = library(name);
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("posting-{name}-{}", std::process::id()));
        let built = Command::new(compiler)
            .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wpedantic", "-D_GNU_SOURCE"])
            .args(
                [root.join("../fastsock/include"), root.join("../am/include")].map(|at| format!("-I{}", at.display())),
            )
            .arg(root.join("c/posting.c"))
            .arg(&library)
            .args(["-lpthread", "-ldl", "-lm", "-o"])
            .arg(&program)
            .output()
            .unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let mut run = Command::new(&program);
        run.env("LD_LIBRARY_PATH", library.parent().unwrap()).stdin(Stdio::null());
        let ran = run.output().unwrap();
        std::fs::remove_file(&program).unwrap();
        assert!(ran.status.success(), "{name}: {}", String::from_utf8_lossy(&ran.stderr));
        assert_eq!(String::from_utf8_lossy(&ran.stdout), PRINTS, "{name}");
    }
}

#[test]
fn the_example_in_rust_runs() {
    // It is not built for one test program alone.
    let target = library("libfastsock_native.a");
    let target =
        target.ancestors().find(|at| at.ends_with("debug") || at.ends_with("release")).unwrap().parent().unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["run", "--quiet", "--offline", "-p", "fastsock-native", "--example", "posting", "--target-dir"]);
    let ran = cargo.arg(target).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stderr));
    assert!(said.contains(" of 10 messages of 100000 bytes in a posted buffer"), "{said}");
}
