//! What `strata member` says of input that can't be, and of faults around it: the cause, what to do, and within a bounded time.

mod group;

use std::fs::File;
use std::net::UdpSocket;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use group::namespace::Namespace;
use group::{PROGRAM, Process};
use strata::net::{Group, Options};

/// A member that ends by itself: what it wrote to its standard error.
fn said(flags: &[&str], output: Stdio) -> String {
    let out = Command::new(PROGRAM).arg("member").args(flags).stdin(Stdio::null()).stdout(output).output().unwrap();
    assert!(!out.status.success(), "{flags:?} is refused");
    String::from_utf8_lossy(&out.stderr).into_owned()
}

fn holds(said: &str, words: &[&str]) {
    for word in words {
        assert!(said.contains(word), "{word:?} is not in {said:?}");
    }
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn what_can_not_be_is_refused_with_what_to_do() {
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let at = taken.local_addr().unwrap().to_string();
    let signed = "TOTAL:MBRSHIP:FRAG:NAK:SIGN:COM:udp";
    let multicast = "TOTAL:MBRSHIP:FRAG:NAK:COM:multicast";
    let shm = "TOTAL:MBRSHIP:FRAG:NAK:COM:shm";
    let holds_one = Group::join(Options { stack: shm.to_owned(), ..Options::default() }).unwrap();
    let held = holds_one.me().addr.to_string();
    let folder = std::env::temp_dir().join(format!("strata-refusals-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let [short, open, good] = ["short", "open", "good"].map(|name| folder.join(name));
    for (path, bytes, mode) in [(&short, 10, 0o600), (&open, 32, 0o644), (&good, 32, 0o600)] {
        std::fs::write(path, vec![7; bytes]).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let pipe = folder.join("pipe");
    assert!(Command::new("mkfifo").arg("-m").arg("600").arg(&pipe).status().unwrap().success());
    let [short, open, good, pipe] = [short, open, good, pipe].map(|path| path.display().to_string());
    let cases: [(&[&str], &[&str]); 19] = [
        (&["--stack", "TOTAL:FRAG:NAK:COM:udp"], &["TOTAL needs", "add MBRSHIP"]),
        (&["--stack", "FOO:COM:udp"], &["FOO", "layers are COM"]),
        (&["--stack", "NAK:COM:tcp"], &["udp, multicast, shm or sim"]),
        (&["--stack", "NAK:COM:udp"], &["add MBRSHIP"]),
        (&["--key", &good], &["neither SIGN nor CRYPT", "leave --key out"]),
        (&["--stack", signed], &["SIGN needs a key"]),
        (&["--stack", signed, "--key", "/nonexistent"], &["/nonexistent", "No such file"]),
        (&["--stack", signed, "--key", &short], &["32 bytes", "has 10 bytes", "head -c 32"]),
        (&["--stack", signed, "--key", &open], &["others may read", "chmod 600"]),
        (&["--stack", signed, "--key", &pipe], &["no regular file"]),
        (&["--suspect", "0"], &["--suspect", "10.."]),
        (&["--group", ""], &["--group"]),
        (&["--bind", "0.0.0.0:7000"], &["0.0.0.0:7000", "bind to the address of one interface"]),
        (&["--bind", "[fe80::1%1]:7000"], &["[fe80::1%1]:7000", "is link-local", "bind to a global"]),
        (&["--bind", &at], &["free port", "Address already in use"]),
        (&["--stack", shm, "--bind", "0.0.0.0:7000"], &["0.0.0.0:7000", "bind to the address of one interface"]),
        (&["--stack", shm, "--bind", &held], &["shared memory", "no other process", "Address already in use"]),
        (&["--stack", multicast], &["such as 239.1.2.3:7000"]),
        (&["--stack", multicast, "--multicast", "10.0.0.1:7000"], &["such as 239.1.2.3:7000"]),
    ];
    for (flags, words) in cases {
        let said = said(flags, Stdio::null());
        holds(&said, words);
        let twice = said.matches("(os error").count();
        assert!(twice <= 1, "a cause is said once: {said}");
    }
    std::fs::remove_dir_all(folder).unwrap();
    let alone = [&at, "is a member of it there", "same stack and key"];
    holds(&said(&["--contacts", &at], Stdio::null()), &alone);
    // Over shared memory nobody has that address.
    holds(&said(&["--stack", shm, "--contacts", &at], Stdio::null()), &alone);
}

/// Other groups and stacks are not let in, and the group goes on. (Keys and versions: `src/layers/refusals.rs`.)
#[test]
fn who_does_not_belong_is_not_let_in_and_the_group_goes_on() {
    let a = Process::start(&[], 4000);
    let b = Process::start(&[a.addr()], 4000);
    [&a, &b].iter().for_each(|p| p.wait_for_view_of(2));
    let at = a.addr().to_string();
    let others: [&[&str]; 2] = [&["--group", "other"], &["--stack", "FC:MERGE:SEQ:MBRSHIP:FRAG:NAK:COM:udp"]];
    std::thread::scope(|scope| {
        for flags in others {
            let at = &at;
            scope.spawn(move || {
                let said = said(&[flags, &["--contacts", at]].concat(), Stdio::null());
                holds(&said, &["is a member of it there", "same stack and key"]);
                holds(&said, &[&format!("a datagram from {at} is of another group, stack or carrier")]);
            });
        }
    });
    a.say(1);
    b.wait_for_number(1, &a);
    assert_eq!(a.lines().iter().filter(|l| l.starts_with("view ")).count(), 2, "no view changed");
}

/// Who is asked is of another version: it answers with a header of its own.
#[test]
fn who_finds_another_version_there_is_told_so() {
    let other = UdpSocket::bind("127.0.0.1:0").unwrap();
    let at = other.local_addr().unwrap().to_string();
    let answers = other.try_clone().unwrap();
    std::thread::spawn(move || {
        let mut bytes = [0; 1500];
        while let Ok((n, from)) = answers.recv_from(&mut bytes) {
            bytes[2] += 1;
            // What asked may have ended.
            let _ = answers.send_to(&bytes[..n.min(15)], from);
        }
    });
    let said = said(&["--contacts", &at], Stdio::null());
    holds(&said, &[&format!("a datagram from {at} is of version "), "of strata's headers", "use one version"]);
}

/// A member whose output can't be written any more says so and leaves, and does not fall.
#[test]
fn a_full_disk_under_the_output_is_told_and_the_member_leaves() {
    let Ok(full) = File::options().write(true).open("/dev/full") else {
        println!("skipped: there is no /dev/full");
        return;
    };
    let a = Process::start(&[], 60_000);
    let text = said(&["--stay", "--contacts", &a.addr().to_string()], full.into());
    holds(&text, &["standard output", "No space left", "left the group"]);
    // Long before the silence would be noticed.
    a.wait_for(|l| l.starts_with("view 2@"));
    a.wait_for_view_of(1);
}

/// Where casts by multicast never arrive, that is said, and not only that members come and go.
#[test]
fn a_network_without_multicast_is_told() {
    without_multicast("FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:multicast");
}

/// Members of stacks without MERGE are in views of one each as soon as they have suspected each other, and say nothing more.
#[test]
fn a_network_without_multicast_is_told_where_nobody_looks_for_the_others() {
    without_multicast("FC:TOTAL:MBRSHIP:FRAG:NAK:COM:multicast");
    without_multicast("MBRSHIP:FRAG:NAK:COM:multicast");
}

fn without_multicast(stack: &str) {
    let within = match Namespace::new() {
        Ok(within) => within,
        Err(why) => {
            println!("skipped: {why}");
            return;
        }
    };
    within.drop_to("239.0.0.0/8");
    let member = |host: u8| {
        let mut command = within.command(PROGRAM);
        command.args(["member", "--stack", stack, "--multicast", "239.1.1.1:7000"]);
        command.args(["--suspect", "500", "--bind", &format!("127.0.0.{host}:7000")]);
        command.stdin(Stdio::piped());
        command
    };
    let first = member(1).arg("--stay").stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut second = member(2);
    second.args(["--stay", "--contacts", "127.0.0.1:7000"]).stdout(Stdio::null()).stderr(Stdio::null());
    let second = second.spawn().unwrap();
    let mut both = Both([first, second]);
    let lines = std::io::BufRead::lines(std::io::BufReader::new(both.0[0].stderr.take().unwrap()));
    let told = lines.map_while(Result::ok).find(|l| l.contains("no multicast of another member"));
    holds(&told.unwrap(), &["239.1.1.1:7000", "carry multicast", "stack over udp"]);
}

struct Both([std::process::Child; 2]);

impl Drop for Both {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // It may have ended.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
