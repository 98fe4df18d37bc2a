//! Modules: found, described, tried, measured beside what is built in, and contained where they misbehave.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;

use super::processes::{all_end, children};
use super::support::{HISTORY, LONG, Printed, Running, SHORT, Said, Scratch, binary, json, until};

/// The module in C that a new one begins with.
pub(super) const SKELETON: &str = include_str!("../../../../modules/new/c/module.c");
pub(super) const HEADER: &str = include_str!("../../../../include/pipegauge.h");
const SEND: &str = "static int send_message(pipegauge_link *link, const void *message, size_t len, error *e)\n{\n";
const RECEIVE: &str = "return exchange(link, NULL, 0, message, len, e);";

/// A folder with the skeleton as a module of this name, changed.
pub(super) fn made(dir: &Scratch, name: &str, change: impl Fn(&str) -> String) -> PathBuf {
    let folder = dir.path("modules");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("pipegauge.h"), HEADER).unwrap();
    let source = folder.join(format!("{name}.c"));
    fs::write(&source, change(&SKELETON.replace("NAME", name))).unwrap();
    compiled(&source, &folder.join(format!("{name}.so")), &[]);
    folder
}

pub(super) fn compiled(source: &Path, file: &Path, more: &[&str]) {
    let mut cc = Command::new("cc");
    cc.args(["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-o"])
        .arg(file)
        .arg(source)
        .args(more);
    let done = cc.output().expect("a C compiler");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Replaces `old`, which is there.
pub(super) fn changed(text: &str, old: &str, new: &str) -> String {
    assert!(text.contains(old), "{old}");
    text.replace(old, new)
}

/// Runs the command with modules in a folder.
pub(super) fn with(dir: &Scratch, modules: &Path, args: &[&str]) -> Said {
    let mut command = Command::new(binary());
    command.args(args).env("PIPEGAUGE_MODULES", modules).env(HISTORY.0, HISTORY.1).current_dir(dir.path("."));
    let done = command.output().unwrap();
    let text = |bytes: &[u8]| Printed(String::from_utf8_lossy(bytes).into_owned());
    Said { status: done.status, out: text(&done.stdout), err: text(&done.stderr) }
}

#[test]
fn a_new_module_in_c_compiles_passes_the_check_and_is_measured_like_any_other() {
    let dir = Scratch::new();
    let said = dir.run(&["module", "new", "mine"]);
    assert_eq!(said.code(), 0, "{said}");
    let made = Command::new("make").arg("-C").arg(dir.path("mine")).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let said = dir.run(&["module", "check", "mine/mine.so", "--patience", "60"]);
    assert!(said.code() == 0 && said.out.contains("19 right, 0 wrong, 5 not tried"), "{said}");

    let folder = dir.path("mine");
    let listed = with(&dir, &folder, &["list", "--json"]);
    let listed = json(&listed.out);
    let mine = listed["transports"].as_array().unwrap().iter().find(|t| t["name"] == "mine").unwrap().clone();
    assert_eq!(mine["version"], "0.1.0");
    assert!(mine["file"].as_str().unwrap().ends_with("mine/mine.so"), "{mine}");
    assert_eq!(mine["options"][1]["name"], "buffer");

    let paths =
        ["run", "mine", "mine:nodelay=off,buffer=64KiB,label=small", "tcp", "--check", "--sizes", "1,64,4KiB,1MiB"];
    let said = with(
        &dir,
        &folder,
        &[&paths[..], &["--trials", "3", "--repeats", "5", "--no-html", "-o", "a.run.jsonl"]].concat(),
    );
    assert!(said.code() == 0 && said.out.contains("small"), "{said}");
    // What took effect is each side's own word.
    let run = fs::read_to_string(dir.path("a.run.jsonl")).unwrap();
    assert!(run.contains(r#""buffer":"65536""#) && run.contains(r#""nodelay":"off""#), "{run}");
    // The file is read where the module is not.
    let shown = dir.run(&["show", "a.run.jsonl", "--path", "small"]);
    assert!(shown.code() == 0 && shown.out.contains("small"), "{shown}");
    for (pattern, more) in
        [("stream", &[][..]), ("burst", &[]), ("request", &["--response", "64"]), ("ping-pong", &["--pairs", "2"])]
    {
        let file = format!("{pattern}.run.jsonl");
        let line =
            ["run", "mine", "--check", "--pattern", pattern, "--sizes", "64,4KiB", "--budget", "300ms", "-o", &file];
        let said = with(&dir, &folder, &[&line[..], more, &["--no-html", "--quiet"]].concat());
        assert!(said.code() == 0, "{pattern}: {said}");
    }
    with(&dir, &folder, &["run", "mine:buffer=1"]).refuses(&["buffer=1", "1024 to 1073741824 bytes"]);
    with(&dir, &folder, &["run", "mine:mtu=9000"]).refuses(&["no option is named 'mtu'", "nodelay, buffer"]);
    dir.run(&["run", "mine"]).refuses(&["no transport is named 'mine'"]);
    dir.run(&["module", "new", "mine"]).refuses(&["is there already"]);
    dir.run(&["module", "new", "tcp"]).refuses(&["built in"]);
}

#[test]
fn a_run_over_a_module_is_of_one_file_and_tells_its_version() {
    let dir = Scratch::new();
    let folder = made(&dir, "repl", str::to_owned);
    // The one that takes its place is built while nothing measures.
    let other = made(&dir, "other", |s| changed(&s.replace("other", "repl"), "0.1.0", "0.2.0"));
    fs::rename(other.join("other.so"), dir.path("next.so")).unwrap();
    let mut command = Command::new(binary());
    command.args([&["run", "repl", "-o", "x.run.jsonl"][..], &LONG].concat());
    command.env("PIPEGAUGE_MODULES", &folder).env(HISTORY.0, HISTORY.1).current_dir(dir.path("."));
    let run = Running::start(command);
    let file = dir.path("x.run.jsonl");
    let begun = || fs::read_to_string(&file).is_ok_and(|run| run.contains(r#""event":"trial""#));
    until("a trial", || begun().then_some(()));
    fs::rename(dir.path("next.so"), folder.join("repl.so")).unwrap();
    let said = run.end();
    assert!(said.code() == 1 && said.err.contains("was replaced or changed"), "{said}");
    // Both sides tell which it was, so that a comparison can.
    let told = fs::read_to_string(&file).unwrap();
    assert!(told.matches(r#""module":"0.1.0""#).count() >= 2 && !told.contains("0.2.0"), "{told}");
    let short = [&["run", "repl", "-o", "y.run.jsonl"][..], &SHORT].concat();
    assert_eq!(with(&dir, &folder, &short).code(), 0);
    let said = dir.run(&["compare", "x.run.jsonl", "y.run.jsonl"]);
    assert!(said.out.contains("0.1.0") && said.out.contains("0.2.0"), "{said}");
}

/// Checks a module with each of these settings, where "" is none: all at once, since most of a check waits. Each finds so many cases right, and none wrong.
pub(super) fn pass_the_check(dir: &Scratch, modules: &Path, file: &Path, variants: &[(&'static str, u32)]) {
    let check = |&(set, right): &(&'static str, u32)| {
        let file = file.to_str().unwrap();
        let line = ["module", "check", file, "--patience", "60"];
        let more = if set.is_empty() { vec![] } else { vec!["--set", set] };
        let mut command = dir.command(&[&line[..], &more].concat());
        command.env("PIPEGAUGE_MODULES", modules);
        (set, right, Running::start(command))
    };
    let checks: Vec<_> = variants.iter().map(check).collect();
    for (set, right, check) in checks {
        let said = check.end();
        let right = format!("{right} right, 0 wrong");
        assert!(said.code() == 0 && said.out.contains(&right), "{} {set}: {said}", file.display());
        assert!(said.out.lines().next().is_some_and(|line| line.contains(set)), "{said}");
    }
}

#[test]
fn a_fault_that_only_a_setting_has_is_found_by_the_check_with_it() {
    let dir = Scratch::new();
    let folder = made(&dir, "moody", |s| {
        let s = changed(s, "    int on = wanted.nodelay;\n", "    int on = wanted.nodelay;\n    moody = !on;\n");
        let s = changed(&s, "/* ---- Both sides meet ---- */", "static int moody;");
        changed(
            &s,
            RECEIVE,
            "int code = exchange(link, NULL, 0, message, len, e);\n    ((char *)message)[len - 1] ^= moody && len > 32;\n    return code;",
        )
    });
    let file = folder.join("moody.so").display().to_string();
    let check = |more: &[&str]| dir.run(&[&["module", "check", &file], more].concat());
    let said = check(&["--set", "nodelay=on,buffer=64KiB"]);
    assert!(said.code() == 0 && said.out.contains("moody 0.1.0 with nodelay=on,buffer=64KiB"), "{said}");
    let said = check(&["--set", "buffer=64KiB", "--set", "nodelay=off"]);
    assert!(said.code() == 1 && said.out.contains("WRONG  sizes") && said.out.contains("with other content"), "{said}");
    check(&["--set", "nodelay"]).refuses(&["--set nodelay", "option=value"]);
    check(&["--set", "buffer=1"]).refuses(&["--set buffer=1", "1024 to 1073741824 bytes"]);
    check(&["--set", "mtu=9000"]).refuses(&["no option is named 'mtu'"]);
}

#[test]
fn a_new_module_in_rust_compiles_passes_the_check_and_is_measured() {
    let dir = Scratch::new();
    assert_eq!(dir.run(&["module", "new", "rusty", "--rust"]).code(), 0);
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--release", "--offline", "--manifest-path"]).arg(dir.path("rusty/Cargo.toml"));
    let done = cargo.env("CARGO_TARGET_DIR", dir.path("target")).output().unwrap();
    let err = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && !err.contains("warning"), "{err}");
    fs::copy(dir.path("target/release/libmodule.so"), dir.path("rusty/rusty.so")).unwrap();
    let said = dir.run(&["module", "check", "rusty/rusty.so", "--patience", "60"]);
    assert!(said.code() == 0 && said.out.contains("19 right, 0 wrong"), "{said}");
    let line = ["run", "rusty", "--check", "-o", "x.run.jsonl"];
    let said = with(&dir, &dir.path("rusty"), &[&line[..], &SHORT].concat());
    assert!(said.measured(), "{said}");
    let run = fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
    assert_eq!(run.matches(r#""event":"point""#).count(), 3, "{run}");
}

#[test]
fn the_check_finds_what_is_wrong_and_goes_on() {
    let dir = Scratch::new();
    let wrong = |name: &str, case: &str, says: &str, change: &dyn Fn(&str) -> String| {
        let folder = made(&dir, name, change);
        let said = dir.run(&["module", "check", &folder.join(format!("{name}.so")).display().to_string(), "--json"]);
        assert_eq!(said.code(), 1, "{name}: {said}");
        let cases = json(&said.out)["cases"].as_array().unwrap().clone();
        let case = cases.iter().find(|c| c["name"] == case).unwrap();
        assert!(case["outcome"] == "failed" && case["why"].as_str().unwrap().contains(says), "{name}: {case}");
        assert!(cases.iter().any(|c| c["outcome"] == "passed"), "{name}: {cases:?}");
    };
    wrong("deaf", "stop", "while it is to stop took", &|s| {
        changed(s, "if (pipegauge_stopped(terms))\n            return PIPEGAUGE_INTERRUPTED;", "")
    });
    wrong("hasty", "patience", "gave up after", &|s| {
        changed(s, "double until = now() + terms->patience;", "double until = now() + terms->patience * 0;")
    });
    wrong("mute", "close", "returned PIPEGAUGE_OK", &|s| {
        changed(
            s,
            "else if (n == 0)\n            return PIPEGAUGE_CLOSED;",
            "else if (n == 0)\n            return PIPEGAUGE_OK + (*done = len) * 0;",
        )
    });
    wrong("leaky", "again", "files were open", &|s| {
        changed(s, "    close(link->fd);\n    free(link);", "    shutdown(link->fd, SHUT_RDWR);\n    free(link);")
    });
    wrong("crashing", "ready", "by signal 11", &|s| changed(s, "*is = n > 0;", "*is = n + *(volatile int *)8;"));
    wrong("speechless", "effective", "by signal 11", &|s| {
        changed(
            s,
            "const char *option, char *out, size_t room, error *e)\n{\n",
            "const char *option, char *out, size_t room, error *e)\n{\n    if (link->fd >= 0)\n        *(volatile int *)8 = 1;\n",
        )
    });
    wrong("boastful", "whole", "returned PIPEGAUGE_OK", &|s| {
        changed(s, "PIPEGAUGE_ORDERED |", "PIPEGAUGE_MESSAGES | PIPEGAUGE_ORDERED |")
    });
    wrong("spilling", "memory", "wrote behind", &|s| {
        changed(
            s,
            RECEIVE,
            "int code = exchange(link, NULL, 0, message, len, e);\n    if (len > 32)\n        ((char *)message)[len] = 7;\n    return code;",
        )
    });
    // Of memory that begins where other memory does, too.
    wrong("groping", "sizes", "wrote before", &|s| {
        changed(
            s,
            RECEIVE,
            "int code = exchange(link, NULL, 0, message, len, e);\n    if (len > 32)\n        ((volatile char *)message)[-1] = 7;\n    return code;",
        )
    });
    wrong("heedless", "leaving", "returned PIPEGAUGE_OK", &|s| {
        changed(s, "return failed(e, \"sending\");", "*done = len + 0 * (e == NULL);")
    });
    wrong("single", "links", "one link at a time", &|s| {
        let s = changed(
            s,
            "    int on = wanted.nodelay;\n",
            "    int on = wanted.nodelay;\n    if (open_links == 2) {\n        snprintf(e->text, sizeof e->text, \"one link at a time\");\n        close(fd);\n        return PIPEGAUGE_SYSTEM;\n    }\n    open_links++;\n",
        );
        let s = changed(&s, "/* ---- Both sides meet ---- */", "static int open_links;");
        changed(&s, "    close(link->fd);\n    free(link);", "    close(link->fd);\n    free(link);\n    open_links--;")
    });
    wrong("garbled", "sizes", "with other content", &|s| {
        changed(
            s,
            RECEIVE,
            "int code = exchange(link, NULL, 0, message, len, e);\n    ((char *)message)[len - 1] ^= len > 32;\n    return code;",
        )
    });
}

#[test]
fn the_check_names_a_call_that_never_comes_back() {
    let dir = Scratch::new();
    let checks = [
        ("clinging", "close()", "close(link->fd);\n    free(link);"),
        ("closed", "accept()", "int fd = accept4("),
        ("secretive", "effective()", "out[0] = 0;\n"),
        ("loading", "available()", "static int capabilities(const settings *set"),
    ]
    .map(|(name, call, at)| {
        let folder = made(&dir, name, |s| match call {
            "available()" => {
                let waits = "static int available(error *e)\n{\n    (void)e;\n    do pause(); while (1 || errno);\n    return 0;\n}\n\n";
                let s = changed(s, at, &format!("{waits}{at}"));
                changed(&s, "    .close = close_link,\n", "    .close = close_link,\n    .available = available,\n")
            }
            _ => changed(s, at, &format!("do pause(); while (1 || errno);\n{at}")),
        });
        let file = folder.join(format!("{name}.so")).display().to_string();
        (call, Running::start(dir.command(&["module", "check", &file, "--patience", "3s"])))
    });
    for (call, check) in checks {
        let said = check.end();
        assert!(said.code() != 0, "{call}: {said}");
        let words = said.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&format!("the module's {call} has not come back")), "{said}");
    }
}

/// The skeleton with memory of its own, which `place` lays somewhere in what `posix_memalign` gives; its end refuses to go with memory that was not given back.
fn with_memory(s: &str, place: &str) -> String {
    let memory = format!(
        "\n\
         static int take(pipegauge_link *link, size_t len, size_t align, size_t offset, void **memory, error *e)\n{{\n    \
             void *whole = NULL;\n    (void)link;\n    \
             if (posix_memalign(&whole, align < 64 ? 64 : align, len + offset + 1) != 0)\n        return failed(e, \"taking memory\");\n    \
             {place}\n    __atomic_add_fetch(&taken, 1, __ATOMIC_SEQ_CST);\n    return PIPEGAUGE_OK;\n}}\n\n\
         static void give_back(pipegauge_link *link, void *memory, size_t len)\n{{\n    \
             (void)link;\n    memset(memory, 0x5A, len);\n    __atomic_sub_fetch(&taken, 1, __ATOMIC_SEQ_CST);\n}}\n\n\
         static const struct pipegauge_module module = {{"
    );
    let s = changed(s, "static const struct pipegauge_module module = {", &memory);
    let s = changed(
        &s,
        "    .close = close_link,\n",
        "    .close = close_link,\n    .take = take,\n    .give_back = give_back,\n",
    );
    // The last link that ends finds nothing taken.
    let s = changed(
        &s,
        "    close(link->fd);\n    free(link);",
        "    close(link->fd);\n    free(link);\n    if (__atomic_sub_fetch(&links, 1, __ATOMIC_SEQ_CST) == 0 && taken)\n        abort();",
    );
    let s = changed(
        &s,
        "    int on = wanted.nodelay;\n",
        "    int on = wanted.nodelay;\n    __atomic_add_fetch(&links, 1, __ATOMIC_SEQ_CST);\n",
    );
    changed(&s, "/* ---- Both sides meet ---- */", "static int links, taken;")
}

#[test]
fn memory_of_a_module_is_used_where_it_lies_as_asked_and_given_back() {
    let dir = Scratch::new();
    let good = "*memory = (char *)whole + offset;";
    made(&dir, "own", |s| with_memory(s, good));
    made(&dir, "crooked", |s| with_memory(s, "*memory = (char *)whole + offset + 1;"));
    let folder = made(&dir, "shared", |s| {
        with_memory(
            s,
            "static char one[1 << 20] __attribute__((aligned(4096)));\n    free(whole);\n    *memory = one + offset;",
        )
    });
    let check = |name: &str| dir.run(&["module", "check", &folder.join(format!("{name}.so")).display().to_string()]);
    let said = check("own");
    assert!(said.code() == 0 && said.out.contains("19 right, 0 wrong, 5 not tried"), "{said}");
    for (name, why) in [("crooked", "does not lie as it was asked for"), ("shared", "taken twice is the same")] {
        let said = check(name);
        let words = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.code() == 1 && words.contains("WRONG lent") && words.contains(why), "{name}: {said}");
    }
    let line =
        ["run", "own", "--check", "--sizes", "1,4097,1MiB", "--trials", "2", "--repeats", "3", "--no-html", "-q"];
    let said = with(&dir, &folder, &[&line[..], &["--budget", "60s", "-o", "x.run.jsonl"]].concat());
    assert!(said.measured(), "{said}");
}

#[test]
fn a_case_that_hangs_ends_with_its_check() {
    let dir = Scratch::new();
    let folder = made(&dir, "stuck", |s| {
        changed(s, RECEIVE, &format!("for (volatile int on = 1; on;)\n        ;\n    {RECEIVE}"))
    });
    let check = Running::start(dir.command(&["module", "check", &folder.join("stuck.so").display().to_string()]));
    let case = until("a case", || children(check.pid(), " try ").pop());
    check.signal(Signal::KILL);
    let _ = check.end();
    all_end(&[case]);
}

#[test]
fn what_cannot_be_loaded_is_listed_with_the_reason() {
    let dir = Scratch::new();
    let folder = made(&dir, "good", str::to_owned);
    let add = |name: &str, change: &dyn Fn(&str) -> String| drop(made(&dir, name, change));
    fs::write(folder.join("text.so"), "no library").unwrap();
    add("silent", &|s| {
        changed(
            s,
            "pipegauge_module(uint32_t abi)\n{",
            "another_name(uint32_t abi);\nconst struct pipegauge_module *another_name(uint32_t abi)\n{",
        )
    });
    add("future", &|s| changed(s, ".abi = PIPEGAUGE_ABI", ".abi = 7"));
    add("unwilling", &|s| changed(s, "abi == PIPEGAUGE_ABI ? &module : NULL", "abi == 7 ? &module : NULL"));
    add("small", &|s| changed(s, ".size = sizeof(struct pipegauge_module)", ".size = 40"));
    add("unable", &|s| changed(s, ".recv = receive_message", ".recv = 0 ? receive_message : NULL"));
    add("renamed", &|s| changed(s, ".name = \"renamed\"", ".name = \"other\""));
    add("boastful", &|s| changed(s, "PIPEGAUGE_DUPLEX | PIPEGAUGE_POLL", "PIPEGAUGE_DUPLEX | PIPEGAUGE_ONE_SIDED"));
    add("odd", &|s| changed(s, "PIPEGAUGE_SWITCH,", "(enum pipegauge_form)77,"));
    add("crashing", &|s| format!("{s}\n__attribute__((constructor)) static void begin(void)\n{{\n    abort();\n}}\n"));
    add("leaving", &|s| format!("{s}\n__attribute__((constructor)) static void begin(void)\n{{\n    _exit(0);\n}}\n"));
    add("talking", &|s| {
        format!(
            "{s}\n__attribute__((constructor)) static void begin(void)\n{{\n    puts(\"{{}} hello\");\n    fflush(stdout);\n}}\n"
        )
    });
    add("tcp", &str::to_owned);
    // It needs a library that is gone.
    let gone = folder.join("libgone.so");
    compiled(&folder.join("good.c"), &gone, &["-Wl,-soname,libgone.so"]);
    fs::write(
        folder.join("needy.c"),
        changed(
            &SKELETON.replace("NAME", "needy"),
            "return abi ==",
            "extern int gone;\n    (void)gone;\n    return abi ==",
        ),
    )
    .unwrap();
    compiled(
        &folder.join("needy.c"),
        &folder.join("needy.so"),
        &["-Wl,--no-as-needed", "-L", folder.to_str().unwrap(), "-lgone"],
    );
    fs::remove_file(&gone).unwrap();

    let said = with(&dir, &folder, &["list", "--json"]);
    assert_eq!(said.code(), 0, "{said}");
    let listed = json(&said.out);
    let has = |name: &str| listed["transports"].as_array().unwrap().iter().any(|t| t["name"] == name);
    assert!(has("good") && has("talking"), "{said}");
    let unusable = listed["unusable"].as_array().unwrap();
    for (name, says) in [
        ("text", "can't be loaded"),
        ("needy", "libgone.so"),
        ("silent", "no entry point pipegauge_module"),
        ("future", "version 7 of the module interface"),
        ("unwilling", "another of the module interface"),
        ("small", "says that it has 40 bytes"),
        ("unable", "recv() is missing"),
        ("renamed", "has to be other.so"),
        ("boastful", "PIPEGAUGE_ONE_SIDED and has no such table"),
        ("odd", "there is no form 77"),
        ("crashing", "by signal 6"),
        ("leaving", "without a word"),
        ("tcp", "built in"),
    ] {
        let found = unusable.iter().find(|m| m["name"] == name).unwrap_or_else(|| panic!("{name}: {said}"));
        assert!(found["why"].as_str().unwrap().contains(says), "{name}: {found}");
        if name != "tcp" {
            with(&dir, &folder, &["run", name]).refuses(&[says]);
        }
    }
    assert_eq!(unusable.len(), 13, "{said}");
    // Opening it would wait for ever.
    assert!(Command::new("mkfifo").arg(dir.path("pipe.so")).status().unwrap().success());
    dir.run(&["module", "check", "pipe.so"]).refuses(&["no file of a shared library but a folder, a device, a pipe"]);
}

#[test]
fn modules_that_are_found_are_named_and_what_looks_like_one_is_listed_with_the_reason() {
    let dir = Scratch::new();
    let folder = made(&dir, "openmpi", str::to_owned);
    made(&dir, "mpich", str::to_owned);
    let near = |name: &str, says: &[&str]| with(&dir, &folder, &["run", name]).refuses(says);
    near("openmpii", &["did you mean openmpi?", "modules: mpich, openmpi"]);
    near("mpi", &["did you mean mpich or openmpi?"]);
    let line = ["run", "mpi:openmpi,nodelay=off", "--sizes", "64", "--trials", "1", "--repeats", "3", "--pin", "none"];
    let said = with(&dir, &folder, &[&line[..], &["--no-html", "-q", "-o", "x.run.jsonl"]].concat());
    assert_eq!(said.code(), 0, "{said}");
    let run = fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
    assert!(run.contains(r#""transport":"openmpi""#) && run.contains(r#""nodelay":false"#), "{run}");
    // IPv6 is an address to a module, and no flag.
    with(&dir, &folder, &["run", "openmpi", "-6"]).refuses(&["--peer-address ::1"]);
    with(&dir, &folder, &["run", "openmpi", "--pattern", "connect"]).refuses(&["for each transaction"]);

    fs::create_dir(folder.join("folder.so")).unwrap();
    fs::copy(folder.join("mpich.so"), folder.join("Mpich.so")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.join("link.so")).unwrap();
    assert!(Command::new("mkfifo").arg(folder.join("pipe.so")).status().unwrap().success());
    let all = format!("{}:{}", folder.display(), dir.path("gone").display());
    let said = with(&dir, Path::new(&all), &["list", "--json"]);
    let unusable = json(&said.out)["unusable"].as_array().unwrap().clone();
    for (name, says) in [
        ("folder.so", "a folder"),
        ("Mpich.so", "no module's"),
        ("link.so", "leads nowhere"),
        ("pipe.so", "neither a file"),
        ("gone", "can't be looked at"),
    ] {
        let found = unusable.iter().find(|m| m["name"] == name).unwrap_or_else(|| panic!("{name}: {said}"));
        assert!(found["why"].as_str().unwrap().contains(says), "{name}: {found}");
    }
    assert_eq!(unusable.len(), 5, "{said}");
}

#[test]
fn a_module_that_lies_is_found_without_being_asked_for_and_ends_its_path_alone() {
    let dir = Scratch::new();
    // The secrets by which both sides meet have 32 bytes.
    let both = |s: &str, then: &str| {
        let s = changed(s, SEND, &format!("{SEND}    {then}\n"));
        changed(&s, RECEIVE, &format!("{then}\n    {RECEIVE}"))
    };
    made(&dir, "idle", |s| both(s, "if (len > 32)\n        return PIPEGAUGE_OK;"));
    made(&dir, "half", |s| both(s, "len -= len > 32 ? len / 2 : 0;"));
    made(&dir, "spill", |s| {
        let spilled = "int code = exchange(link, NULL, 0, message, len, e);\n    if (len > 32)\n        if (len > 32)\n        ((char *)message)[len] = 7;\n    return code;";
        changed(s, RECEIVE, spilled)
    });
    let folder = made(&dir, "loses", |s| {
        changed(s, RECEIVE, &format!("if (len > 32)\n        return PIPEGAUGE_LOST;\n    {RECEIVE}"))
    });
    for pattern in ["ping-pong", "stream"] {
        for (name, says) in [
            ("idle", "wrong byte at offset 0 of a message of 64 bytes"),
            ("half", "wrong byte at offset 32 of a message of 64 bytes"),
            ("spill", "byte 0 behind the memory for messages of 64 bytes was written"),
            ("loses", "PIPEGAUGE_RELIABLE"),
        ] {
            let line = ["run", name, "tcp", "--pattern", pattern, "--sizes", "64", "--trials", "2", "--repeats", "20"];
            let more = ["--pin", "none", "--no-html", "--quiet", "-o", "x.run.jsonl"];
            let said = with(&dir, &folder, &[&line[..], &more].concat());
            assert_eq!(said.code(), 1, "{name} {pattern}: {said}");
            assert!(said.err.contains(&format!("{name}: ")) && said.err.contains(says), "{name} {pattern}: {said}");
            let run = fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
            let points: Vec<_> = run.lines().filter(|line| line.contains(r#""event":"point""#)).map(json).collect();
            assert!(points.len() == 1 && points[0]["path"] == 1, "{name} {pattern}: {points:?}");
            fs::remove_file(dir.path("x.run.jsonl")).unwrap();
        }
    }
}

/// Messages of a cold pool have others behind them, with a gap between: what is written there is found wherever in the gap, by whoever receives.
#[test]
fn what_is_written_behind_a_message_of_a_cold_pool_is_found_where_it_is() {
    let dir = Scratch::new();
    let behind = |name: &str, at: usize| {
        let writes = format!("((char *)message)[len + {at}] = 7;");
        let spilled = format!(
            "int code = exchange(link, NULL, 0, message, len, e);\n    if (len > 32)\n        {writes}\n    return code;"
        );
        made(&dir, name, |s| changed(s, RECEIVE, &spilled))
    };
    behind("first", 0);
    let folder = behind("last", 63);
    for (name, at) in [("first", 0), ("last", 63)] {
        for (pattern, more) in [("ping-pong", &["--check"][..]), ("stream", &["--check"]), ("stream", &[])] {
            let line = ["run", name, "--cache", "cold", "--pattern", pattern, "--sizes", "64", "--trials", "2"];
            let counted = ["--repeats", "20", "--pin", "none", "--no-html", "--quiet", "-o", "x.run.jsonl"];
            let said = with(&dir, &folder, &[&line[..], more, &counted].concat());
            let side = if pattern == "stream" { "the far side" } else { "the near side" };
            let says = format!("{side} found that byte {at} behind the memory for messages of 64 bytes was written");
            assert!(!said.measured(), "{name} {pattern} {more:?}: {said}");
            said.complains(&[&says]);
            let _ = fs::remove_file(dir.path("x.run.jsonl"));
        }
    }
}

#[test]
fn a_module_that_crashes_or_hangs_ends_its_path_alone() {
    let dir = Scratch::new();
    // Each round has processes of its own: those of a later one misbehave.
    let count = |then: &str| {
        format!(
            "{SEND}    static int n;\n    static long round;\n    if (n++ == 0) {{\n        FILE *f = fopen(\"count\", \"a\");\n        \
             fputc('x', f);\n        round = ftell(f);\n        fclose(f);\n    }}\n    if (round > 4 && n > 20)\n        {then};\n"
        )
    };
    made(&dir, "crash", |s| changed(s, SEND, &count("*(volatile int *)8 = 1")));
    // Both sides wait, so that neither says a word.
    let both = |then: &str| format!("{}    {RECEIVE}", count(then).strip_prefix(SEND).unwrap());
    made(&dir, "stuck", |s| changed(s, RECEIVE, &both("for (;;)\n            pause()")));
    made(&dir, "spin", |s| changed(s, RECEIVE, &both("for (volatile int on = 1; on;)\n            ;")));
    let folder = made(&dir, "hang", |s| changed(s, SEND, &count("for (;;)\n            pause()")));
    for (name, says) in [
        ("crash", "killed by signal 11"),
        ("hang", "send()"),
        ("stuck", "recv() has not come back"),
        ("spin", "recv() has not come back"),
    ] {
        let _ = fs::remove_file(dir.path("count"));
        let file = format!("{name}.run.jsonl");
        let line = [
            "run",
            name,
            "tcp",
            "--sizes",
            "64",
            "--trials",
            "6",
            "--repeats",
            "50",
            "--patience",
            "2s",
            "--pin",
            "none",
        ];
        let said = with(&dir, &folder, &[&line[..], &["--no-html", "--quiet", "-o", &file]].concat());
        assert_eq!(said.code(), 1, "{name}: {said}");
        assert!(said.err.contains(&format!("{name}: ")) && said.err.contains(says), "{said}");
        // What was measured until then is kept, and the other path has all its trials.
        let run = fs::read_to_string(dir.path(&file)).unwrap();
        let trials = |path: u32| {
            run.lines()
                .filter(|l| l.contains(r#""event":"trial""#) && l.contains(&format!(r#""path":{path},"#)))
                .count()
        };
        assert!(trials(0) > 0 && trials(0) < trials(1), "{} and {}: {said}", trials(0), trials(1));
        assert!(trials(1) >= 6, "{}: {said}", trials(1));
        assert_eq!(dir.run(&["show", &file]).code(), 0);
    }
}

#[test]
fn a_module_that_changes_or_shortens_messages_is_found_under_check_and_other_paths_go_on() {
    let dir = Scratch::new();
    // The proof that both sides show each other first has 32 bytes.
    let receives =
        |then: &str| format!("int code = exchange(link, NULL, 0, message, len, e);\n    {then}\n    return code;");
    made(&dir, "garbled", |s| changed(s, RECEIVE, &receives("((char *)message)[len - 1] ^= len > 32;")));
    made(&dir, "short", |s| {
        changed(s, RECEIVE, "return exchange(link, NULL, 0, message, len > 32 ? len / 2 : len, e);")
    });
    let folder = made(&dir, "scribbling", |s| {
        changed(s, RECEIVE, &receives("if (len > 32)\n        memset(message, 90, len + (1 << 22));"))
    });
    for (name, says) in [("garbled", "corrupt message"), ("short", "corrupt message"), ("scribbling", "scribbling: ")] {
        let file = format!("{name}.run.jsonl");
        let counted =
            ["--check", "--sizes", "64", "--trials", "4", "--repeats", "20", "--patience", "2s", "--pin", "none"];
        let line = [&["run", name, "tcp"][..], &counted, &["--no-html", "--quiet", "-o", &file]].concat();
        let said = with(&dir, &folder, &line);
        assert!(said.code() == 1 && said.err.contains(says), "{name}: {said}");
        let run = fs::read_to_string(dir.path(&file)).unwrap();
        let others = run.lines().filter(|l| l.contains(r#""event":"trial""#) && l.contains(r#""path":1,"#)).count();
        assert!(others >= 4, "{name}: {others}: {said}");
    }
}

#[test]
fn a_module_that_crashes_or_hangs_as_it_closes_is_told_and_its_points_stay() {
    let dir = Scratch::new();
    const CLOSE: &str = "    close(link->fd);\n    free(link);";
    made(&dir, "parting", |s| changed(s, CLOSE, &format!("{CLOSE}\n    *(volatile int *)8 = 1;")));
    let folder = made(&dir, "lingering", |s| changed(s, CLOSE, "    (void)link;\n    for (;;)\n        pause();"));
    for (name, says) in [("parting", "killed by signal 11"), ("lingering", "had not ended after 2.0 s")] {
        let file = format!("{name}.run.jsonl");
        let counted = ["--sizes", "64", "--trials", "3", "--repeats", "5", "--patience", "2s", "--pin", "none"];
        let line = [&["run", name, "tcp"][..], &counted, &["--no-html", "--quiet", "-o", &file]].concat();
        let said = with(&dir, &folder, &line);
        assert_eq!(said.code(), 1, "{name}: {said}");
        assert!(said.err.contains(&format!("{name}: ")) && said.err.contains("as it closed"), "{name}: {said}");
        assert!(said.err.contains(says), "{name}: {said}");
        let run = fs::read_to_string(dir.path(&file)).unwrap();
        let points = |path: u32| {
            run.lines()
                .filter(|l| l.contains(r#""event":"point""#) && l.contains(&format!(r#""path":{path},"#)))
                .count()
        };
        assert!(points(0) >= 1 && points(0) == points(1), "{name}: {} and {}: {said}", points(0), points(1));
    }
}

#[test]
fn a_module_that_leaves_a_process_behind_holds_no_list() {
    let dir = Scratch::new();
    let folder = made(&dir, "forking", |s| {
        format!(
            "{s}\n__attribute__((constructor)) static void begin(void)\n{{\n    if (fork() == 0) {{\n        setsid();\n        \
             sleep(120);\n        _exit(0);\n    }}\n}}\n"
        )
    });
    // The pipes of this test would be held as well.
    let mut command = Command::new(binary());
    command.args(["list", "--json"]).env("PIPEGAUGE_MODULES", &folder).env(HISTORY.0, HISTORY.1);
    let out = fs::File::create(dir.path("out")).unwrap();
    let child = command.stdout(out).stderr(std::process::Stdio::null()).spawn().unwrap();
    // The process outlives the limit of a test.
    assert_eq!(Running::of(child).end().code(), 0);
    assert!(fs::read_to_string(dir.path("out")).unwrap().contains("\"forking\""));
}

#[test]
fn a_check_of_a_module_that_sends_nothing_says_what_was_not_tried() {
    let dir = Scratch::new();
    let folder =
        made(&dir, "silent", |s| changed(s, SEND, &format!("{SEND}    if (len > 0)\n        return PIPEGAUGE_OK;\n")));
    let said = dir.run(&["module", "check", &folder.join("silent.so").display().to_string(), "--json"]);
    assert_eq!(said.code(), 1, "{said}");
    let cases = json(&said.out)["cases"].as_array().unwrap().clone();
    let of = |outcome: &str| cases.iter().filter(|case| case["outcome"] == outcome).count();
    assert_eq!((of("failed"), of("passed")), (2, 0), "{said}");
    assert!(cases[2..].iter().all(|case| case["why"].as_str().unwrap().contains("not tried")), "{said}");
}

#[test]
fn what_a_module_does_wrong_by_itself_is_no_peers_doing() {
    let dir = Scratch::new();
    let folder = made(&dir, "boastful", |s| {
        changed(s, "PIPEGAUGE_DUPLEX | PIPEGAUGE_POLL", "PIPEGAUGE_DUPLEX | PIPEGAUGE_ONE_SIDED")
    });
    let said = with(&dir, &folder, &["run", "boastful"]);
    assert!(said.code() == 2 && said.err.contains("(the module): boastful says PIPEGAUGE_ONE_SIDED"), "{said}");
    assert!(!said.err.contains("the peer broke"), "{said}");
}
