//! What the command `strata` says of flags that can't be, and where its output can't go: the cause, and never a panic.

use std::fs::File;
use std::process::{Command, Output, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_strata");

fn strata(line: &str, out: Stdio) -> Output {
    Command::new(PROGRAM)
        .args(line.split(' '))
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(Stdio::piped())
        .output()
        .unwrap()
}

fn refused(line: &str, words: &[&str]) {
    let out = strata(line, Stdio::piped());
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(!out.status.success(), "{line:?} is refused: {}", String::from_utf8_lossy(&out.stdout));
    for word in words {
        assert!(said.contains(word), "{word:?} is not in what {line:?} says: {said}");
    }
    assert!(!said.contains("panicked") && out.status.code().is_some(), "{line:?}: {said}");
}

#[test]
fn flags_that_can_not_be_are_refused() {
    refused("sim --members 0", &["--members", "from 1 to 2048"]);
    refused("sim --grow 0", &["--grow", "from 1 to 2048"]);
    refused("sim --runs 0", &["--runs"]);
    refused("sim --from 18446744073709551615 --runs 2", &["seeds end at 18446744073709551615"]);
    refused("sim --seed 3 --faults 99", &["the seed 3 has", "none 99"]);
    refused("sim --seed 3 --faults one", &["--faults", "\"one\""]);
    let long = vec!["FRAG*64"; 23].join(":");
    refused(&format!("sim --runs 1 --stack {long}:NAK:COM:sim"), &["1474 layers", "at most 128"]);
    refused("sim --seed 1 --stack FRAG*64:CRYPT:NAK:COM:sim", &["CRYPT", "between COM and NAK"]);
    refused("member --multicast 239.1.2.3:7000", &["239.1.2.3:7000", "the stack's carrier is udp"]);
    refused(
        "member --stack MBRSHIP:FRAG:NAK:COM:shm --multicast 239.1.2.3:7000",
        &["239.1.2.3:7000", "the stack's carrier is shm"],
    );
    refused(
        "member --stack MBRSHIP:FRAG:NAK:COM:multicast --multicast 239.1.2.3:0",
        &["with a port", "239.1.2.3:7000"],
    );
    refused("member --contacts 127.0.0.1", &["\"127.0.0.1\"", "such as 127.0.0.1:7000"]);
    refused("member --contacts [::1]:7000", &["[::1]:7000", "IPv4"]);
}

/// What the line prints.
fn printed(line: &str) -> String {
    let out = strata(line, Stdio::piped());
    assert!(out.status.success() && out.stderr.is_empty(), "{line}: {out:?}");
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn the_smallest_stack_for_what_is_wanted_is_printed_with_all_that_it_provides() {
    let first = |line: &str| printed(line).lines().next().unwrap().to_owned();
    assert_eq!(first("stack --want fifo"), "NAK:COM:udp");
    assert_eq!(first("stack --want P6"), "TOTAL:MBRSHIP:FRAG:NAK:COM:udp");
    let safe = "TOTAL:SAFE:STABLE:MBRSHIP:FRAG:NAK:COM:udp";
    let wanted = printed("stack --want total,safe");
    assert_eq!(wanted.lines().next(), Some(safe));
    for property in ["P4 (fifo)", "P6 (total)", "P7 (safe)", "P9 (virtually-synchronous)"] {
        assert!(wanted.lines().any(|line| line.trim() == property), "{property}: {wanted}");
    }
    assert_eq!(printed(&format!("stack {safe}")), wanted, "what is found is what is checked");
    // What holds back in a view without a majority, or that nothing does.
    for (want, words) in [
        ("fifo", "there are no views"),
        ("views", "takes P6 (total) and P7 (safe)"),
        ("total", "two may be at once: add SAFE:STABLE"),
        ("total,safe", "of which there is one line"),
    ] {
        let said = printed(&format!("stack --want {want}"));
        let last = said.lines().last().unwrap();
        assert!(last.starts_with("in a minority: ") && last.contains(words), "{want}: {said}");
    }
    refused("stack --want total,quick", &["\"quick\" is no property", "total, safe"]);
    refused("stack --want prioritised", &["no stack here provides prioritised"]);
    refused("stack TOTAL:FRAG:NAK:COM:udp", &["TOTAL needs P8", "add MBRSHIP"]);
    refused("stack", &["strata stack --want total,safe"]);
}

#[test]
fn the_last_seed_is_played() {
    let out = strata("sim --seed 18446744073709551615 --casts 0 --faults none --calm", Stdio::piped());
    assert!(out.status.success(), "{out:?}");
    assert!(String::from_utf8_lossy(&out.stdout).contains("1 runs: 0 broke"), "{out:?}");
}

#[test]
fn an_output_that_is_full_is_told_and_one_that_is_closed_is_no_fault() {
    for line in ["stack NAK:COM:udp", "sim --seed 1 --casts 1", "sim --seed 1 --casts 1 --show", "sim --grow 2"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let out = strata(line, writer.into());
        assert!(out.status.success() && out.stderr.is_empty(), "{line}: {out:?}");
        if let Ok(full) = File::options().write(true).open("/dev/full") {
            let out = strata(line, full.into());
            let said = String::from_utf8_lossy(&out.stderr);
            assert_eq!(out.status.code(), Some(1), "{line}: {said}");
            assert!(said.contains("standard output") && said.contains("No space left"), "{line}: {said}");
        }
    }
}

/// The group is found by a name: here one that resolves without asking a network.
#[test]
fn a_contact_may_be_a_name() {
    refused("member --contacts localhost:9", &["none of [127.0.0.1:9] let this member"]);
}
