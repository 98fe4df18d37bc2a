//! The C example, compiled as strictly as it can be and run.

use std::path::{Path, PathBuf};
use std::process::Command;

use am_c as _;

/// Where cargo put the library that it built for this test.
fn library() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let folders = [program.parent()?, program.parent()?.parent()?];
    folders.iter().map(|folder| folder.join("libam_c.a")).find(|path| path.exists())
}

/// Compiles an example and runs it; what it prints.
fn prints(example: &str, expected: &str) {
    let Some(compiler) =
        ["cc", "gcc", "clang"].into_iter().find(|cc| Command::new(cc).arg("--version").output().is_ok())
    else {
        println!("skipped: no C compiler is installed");
        return;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let library = library().expect("cargo builds the static library beside its tests");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("am-{example}-{}", std::process::id()));
    let built = Command::new(compiler)
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wpedantic", "-D_GNU_SOURCE"])
        .arg("-I")
        .arg(root.join("../am/include"))
        .arg(root.join(format!("c/{example}.c")))
        .arg(&library)
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program)
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let ran = Command::new(&program).output().unwrap();
    std::fs::remove_file(&program).unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(String::from_utf8_lossy(&ran.stdout), expected);
}

#[test]
fn the_example_in_c_compiles_without_a_warning_and_runs() {
    prints("exchange", "sum 6, word hello\n");
}

#[test]
fn receive_posting_in_c_copies_once_what_finds_a_buffer() {
    prints(
        "posting",
        "message 1: in place, 0 bytes copied by the receiver so far\n\
         message 2: through the ring, 100000 bytes copied by the receiver so far\n",
    );
}
