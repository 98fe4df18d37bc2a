//! A program as a path: commands and sockets at whose end is an echo.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use rustix::process::Signal;

use super::processes::{command_line, serves};
use super::sshd::Login;
use super::support::{LONG, Running, SHORT, Scratch, binary, installed, json, skip, until};

/// Sizes about every boundary of pipes and sockets, and the largest that is asked of any transport.
const WHOLE: [&str; 10] = [
    "--sizes",
    "1,4095,4097,65535,65537,131073,1MiB,16MiB",
    "--trials",
    "1",
    "--repeats",
    "2",
    "--pin",
    "none",
    "--check",
    "-q",
];

#[test]
fn commands_and_sockets_are_measured_beside_other_paths_with_every_byte_checked() {
    let dir = Scratch::new();
    let own = binary().display();
    let tcp = Running::start(dir.command(&["echo", "--listen", "127.0.0.1:0"]));
    let port = tcp.line().trim().strip_prefix("listening at ").unwrap().to_owned();
    let unix = Running::start(dir.command(&["echo", "--listen", "./echo.sock"]));
    assert_eq!(unix.line().trim(), "listening at ./echo.sock");
    let paths = [
        "exec:cat".to_owned(),
        format!("exec:label=echo,{own} echo"),
        "exec:label=commas,sh -c 'cat' a,b=c,d".to_owned(),
        format!("exec:connect={port},label=tcp-echo"),
        "exec:label=unix-echo,connect=./echo.sock".to_owned(),
        "pipe".to_owned(),
    ];
    let mut args = vec!["run"];
    args.extend(paths.iter().map(String::as_str));
    args.extend(WHOLE);
    args.extend(["--no-html", "--no-history", "-o", "x.run.jsonl", "--budget", "60s", "--json"]);
    let said = dir.run(&args);
    assert_eq!(said.code(), 0, "{said}");
    let doc = json(&said.out);
    let names: Vec<&str> = doc["paths"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["label"].as_str().or(p["path"].as_str()).unwrap_or("?"))
        .collect();
    assert_eq!(names.len(), 6, "{doc}");
    let run = fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
    let points = run.lines().filter(|line| line.contains(r#""event":"point""#)).map(json);
    let points: Vec<_> = points
        .map(|p| (p["path"].as_u64().unwrap(), p["size"].as_u64().unwrap(), p["time"].as_str().unwrap().to_owned()))
        .collect();
    assert_eq!(points.len(), 6 * 8, "{points:?}");
    assert!(points.iter().all(|p| p.2 == "half-round-trip"), "{points:?}");
    for word in ["commas", "tcp-echo", "unix-echo", "b=c,d"] {
        assert!(run.contains(word), "{word}");
    }
    // An open loop waits with a deadline, which an echo can be waited for with as well.
    let said = dir.run(&[
        "run",
        "exec:cat",
        "--rate",
        "500/s",
        "--sizes",
        "64",
        "--budget",
        "1s",
        "--no-html",
        "--no-history",
        "-q",
    ]);
    assert!(said.measured(), "{said}");
}

#[test]
fn messages_to_a_program_may_lie_anywhere() {
    let dir = Scratch::new();
    let echo = at_a_path(&dir);
    for place in
        [&["--align", "1", "--offset", "1,3"][..], &["--align", "64", "--offset", "63,1"], &["--align", "4096"]]
    {
        let paths = ["run", "exec:cat", "exec:label=socket,connect=./echo.sock", "--sizes", "1,63,1473,4097,70001"];
        let counted = ["--trials", "1", "--repeats", "2", "--pin", "none", "--perturb", "0", "--check", "-q"];
        let more = ["--no-html", "--budget", "60s", "-o", "x.run.jsonl"];
        let _ = fs::remove_file(dir.path("x.run.jsonl"));
        let said = dir.run(&[&paths[..], place, &counted, &more].concat());
        assert!(said.measured(), "{place:?}: {said}");
        let run = fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
        assert_eq!(run.matches(r#""event":"point""#).count(), 10, "{place:?}: {run}");
    }
    drop(echo);
}

#[test]
fn an_echo_over_ipv6_is_measured() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        return skip("this host has no IPv6 loopback");
    }
    let dir = Scratch::new();
    let echo = Running::start(dir.command(&["echo", "--listen", "[::1]:0"]));
    let at = echo.line().trim().strip_prefix("listening at ").unwrap().to_owned();
    assert!(at.starts_with("[::1]:") && !at.ends_with(":0"), "{at}");
    let said = dir.run(&[&["run", &format!("exec:connect={at}"), "--check", "-o", "x.run.jsonl"][..], &SHORT].concat());
    assert!(said.measured(), "{said}");
}

/// The page's own example: a command that speaks with an echo on another host, here through an sshd of the test's own.
#[test]
fn an_echo_at_the_other_end_of_ssh_is_measured_and_ends() {
    let dir = Scratch::new();
    let Some(login) = Login::make(&dir) else { return };
    let (_sshd, port) = serves(|port| login.serve(&dir, &[], "127.0.0.1", port));
    // A copy of the program's name tells its echo from those of other tests.
    let own = dir.path("echoing");
    fs::copy(binary(), &own).unwrap();
    let path = format!("exec:label=ssh,ssh -p {port} root@127.0.0.1 {} echo", own.display());
    let mut command =
        dir.command(&[&["run", &path, "--check", "-o", "x.run.jsonl", "--patience", "60s"][..], &SHORT].concat());
    command.env("PATH", &login.path);
    let said = Running::start(command).end();
    assert!(said.measured(), "{said}");
    let run = fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
    assert_eq!(run.matches(r#""event":"point""#).count(), 3, "{run}");
    let mark = own.display().to_string();
    let its = |pid: &u32| fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe.display().to_string() == mark);
    until("no echo behind sshd", || (!super::mpi::named("echo").iter().any(its)).then_some(()));
}

#[test]
fn what_an_echo_cannot_do_is_refused_before_anything_runs() {
    let dir = Scratch::new();
    for (more, why) in [
        (&["--pattern", "stream"][..], "--pattern ping-pong"),
        (&["--pattern", "put"], "its other end is an echo"),
        (&["--flows", "2"], "leave out --flows"),
        (&["--pairs", "2"], "leave out --flows"),
        (&["--load", "1"], "leave out --flows"),
        (&["--shape", "latency=1ms"], "--shape"),
    ] {
        let said = dir.run(&[&["run", "exec:touch ran; cat"], more].concat());
        assert!(said.code() == 2 && !dir.path("ran").exists(), "{more:?}: {said}");
        assert!(said.err.contains(why), "{more:?}: {said}");
    }
    for nothing in ["exec", "exec:"] {
        dir.run(&["run", nothing, "-o", "none.run.jsonl"]).refuses(&["exec:cat"]);
        assert!(!dir.path("none.run.jsonl").exists(), "{nothing} began a run");
    }
    dir.run(&["run", "exec:command=cat,connect=/x"]).refuses(&["cat,connect=/x"]);
    dir.run(&["run", "exec:connect=127.0.0.1:1"]).refuses(&["connecting to 127.0.0.1:1"]);
    dir.run(&["run", "exec:connect=/no/such/socket"]).refuses(&["connecting to /no/such/socket"]);
    dir.run(&["echo", "--listen", "nowhere"]).refuses(&["listening at nowhere"]);
    dir.run(&["echo", "--json"]).refuses(&["leave out --json"]);
}

/// An echo that listens at a path of the folder.
fn at_a_path(dir: &Scratch) -> Running {
    let own = dir.command(&["echo", "--listen", "./echo.sock"]);
    // Whoever runs the tests may have some signals ignored, as nohup has, and then so would the echo.
    let mut heard = Command::new("env");
    heard.arg("--default-signal=HUP,INT,TERM").arg(own.get_program()).args(own.get_args()).current_dir(dir.path("."));
    let echo = Running::start(heard);
    assert_eq!(echo.line().trim(), "listening at ./echo.sock");
    echo
}

#[test]
fn an_echo_that_is_asked_to_end_removes_its_own_socket_and_no_other() {
    let dir = Scratch::new();
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let echo = at_a_path(&dir);
        echo.signal(signal);
        assert_eq!(echo.end().status.signal(), Some(signal.as_raw()));
        assert!(!dir.path("echo.sock").exists(), "{signal:?}");
    }
    let first = at_a_path(&dir);
    std::fs::remove_file(dir.path("echo.sock")).unwrap();
    let second = at_a_path(&dir);
    first.signal(Signal::TERM);
    first.end();
    assert!(dir.path("echo.sock").exists(), "it is the second one's");
    drop(second);
}

#[test]
fn an_echo_that_was_killed_leaves_no_socket_in_the_next_ones_way() {
    let dir = Scratch::new();
    at_a_path(&dir).signal(Signal::KILL);
    let _alive = at_a_path(&dir);
    dir.run(&["echo", "--listen", "./echo.sock"]).refuses(&["Address already in use"]);
    fs::write(dir.path("file"), "mine").unwrap();
    dir.run(&["echo", "--listen", "./file"]).refuses(&["Address already in use"]);
    assert_eq!(fs::read_to_string(dir.path("file")).unwrap(), "mine");
}

#[test]
fn a_unix_socket_that_accepts_nobody_is_given_up_by_patience() {
    let dir = Scratch::new();
    let at = dir.path("full.sock");
    let listener = UnixListener::bind(&at).unwrap();
    // Connections until its queue takes no more, which a connection that waits would show by waiting.
    let queued: Vec<_> = (0..10_000).map_while(|_| unhurried(&at)).collect();
    let said = dir.run(&["run", "exec:connect=./full.sock", "--patience", "1s", "--no-html", "--no-history"]);
    assert!(said.code() == 2 || said.code() == 1, "{said}");
    assert!(said.err.contains("accepts nobody") || said.out.contains("accepts nobody"), "{said}");
    drop((queued, listener));
}

/// A connection where there is a place in the queue.
fn unhurried(at: &Path) -> Option<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let fd = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap();
    rustix::net::connect(&fd, &SocketAddrUnix::new(at).unwrap()).ok().map(|()| fd)
}

#[test]
fn a_command_that_is_no_echo_fails_its_path_with_the_reason_and_others_go_on() {
    let dir = Scratch::new();
    for (command, why) in [
        ("exec:no-such-command-here", "no-such-command-here"),
        ("exec:echo failed to log in >&2; exit 4", "failed to log in"),
        ("exec:cat >/dev/null", "did not come back"),
        ("exec:echo welcome; cat", "no echo"),
        ("exec:tr a-z A-Z | cat", "did not come back"),
        ("exec:dd bs=1 count=100 status=none", "exited with status 0"),
        ("exec:false", "exited with status 1"),
        ("exec:yes", "came back"),
        ("exec:label=nowhere,connect=127.0.0.1:1", "connecting to 127.0.0.1:1"),
    ] {
        // The other path has all its points, whichever comes first.
        for (number, paths) in [[command, "memcpy"], ["memcpy", command]].into_iter().enumerate() {
            let line = ["run", paths[0], paths[1], "-o", "x.run.jsonl", "--patience", "500ms", "--check"];
            let said = dir.run(&[&line[..], &SHORT].concat());
            assert_eq!(said.code(), 1, "{paths:?}: {said}");
            let name = if command.contains("label") { "nowhere: " } else { "exec: " };
            let lines: Vec<&str> = said.err.0.lines().filter(|line| line.starts_with("pipegauge: ")).collect();
            assert!(lines.len() == 1 && lines[0].contains(name), "{paths:?}: {said}");
            assert!(said.err.contains(why), "{paths:?}: {said}");
            let run = fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
            let of_memcpy = format!(r#""path":{},"#, 1 - number);
            let points = run.lines().filter(|l| l.contains(r#""event":"point""#) && l.contains(&of_memcpy)).count();
            assert_eq!(points, 3, "{paths:?}: {said}");
            fs::remove_file(dir.path("x.run.jsonl")).unwrap();
        }
    }
    // What comes back as something else than it was is found in the first message of a size, without --check.
    let said = dir.run(
        &[&["run", "exec:stdbuf -i0 -o0 tr '\\000-\\017' '\\001'", "memcpy", "-o", "y.run.jsonl"][..], &SHORT].concat(),
    );
    assert!(said.code() == 1 && said.err.contains("corrupt message: the near side"), "{said}");
}

#[test]
fn nothing_of_a_command_stays_behind() {
    let dir = Scratch::new();
    for signal in [Signal::INT, Signal::KILL] {
        let mark = format!("8{}{}", std::process::id(), signal.as_raw());
        // Its own child would outlive it; whoever reads its input ends with it.
        let path = format!("exec:sh -c 'cat; : {mark}'");
        let file = format!("{}.run.jsonl", signal.as_raw());
        let run = Running::start(dir.command(&[&["run", &path, "-o", &file][..], &LONG].concat()));
        until("the command", || dir.path(&file).is_file().then_some(()));
        run.signal(signal);
        drop(run);
        let running = || {
            let all = fs::read_dir("/proc").unwrap().filter_map(|e| e.ok()?.file_name().to_str()?.parse::<u32>().ok());
            all.filter(|pid| command_line(*pid).contains(&mark)).count()
        };
        until("no process of it", || (running() == 0).then_some(()));
    }
}

#[test]
fn a_strangers_file_and_folder_start_no_command() {
    let dir = Scratch::new();
    let said = dir.run(&[&["run", "exec:cat", "-o", "x.run.jsonl"][..], &SHORT].concat());
    assert!(said.measured(), "{said}");
    let run = fs::read_to_string(dir.path("x.run.jsonl")).unwrap();
    fs::write(dir.path("x.run.jsonl"), run.replace("\"command\":\"cat\"", "\"command\":\"touch ran; cat\"")).unwrap();
    let said = dir.run(&["explain", "x.run.jsonl", "-q"]);
    assert!(!dir.path("ran").exists(), "{said}");
    fs::create_dir(dir.path("s")).unwrap();
    let align = r#""name":"align","levels":["64","4KiB"]"#;
    let library = r#""name":"preload","levels":["default","/tmp/evil.so"]"#;
    for (axis, transport, flags) in [
        (align, "exec:touch ran; cat", "[]"),
        (align, "tcp", r#"["--near-under","touch ran"]"#),
        (align, "tcp", r#"["--peer=ssh://evil"]"#),
        (align, "tcp", r#"["--pairs","128"]"#),
        (r#""name":"flows","levels":["1","128"]"#, "tcp", "[]"),
        (align, "tcp:flows=128", "[]"),
        (align, "tcp:pairs=128", "[]"),
        (align, "tcp", r#"["--flows","17","--both","--pattern","stream"]"#),
        (r#""name":"nodelay","levels":["on","off,preload=/tmp/evil.so"]"#, "tcp", "[]"),
        (r#""name":"nodelay","levels":["on","off,flows=128"]"#, "tcp", "[]"),
        (align, "tcp:nodelay=off,preload=/tmp/evil.so", "[]"),
        (library, "tcp", "[]"),
        (align, "multicast:interface=eth0,ttl=64", r#"["--pattern","stream"]"#),
    ] {
        let plan = format!(
            r#"{{"schema":"pipegauge-sweep-plan/1","axes":[{{{axis}}}],"transport":"{transport}","flags":{flags},"rounds":1,"budget":1,"seed":1}}"#
        );
        fs::write(dir.path("s/sweep.json"), plan).unwrap();
        dir.run(&["sweep", "--resume", "s", "-q"]).refuses(&["--trust"]);
        assert!(!dir.path("ran").exists());
    }
}

#[test]
fn a_proxy_between_is_part_of_the_path() {
    let dir = Scratch::new();
    if installed("socat").is_none() {
        skip("socat is not installed");
        return;
    }
    let own = binary().display().to_string();
    let said =
        dir.run(&[&["run", &format!("exec:socat - \"EXEC:{own} echo\""), "-o", "x.run.jsonl"][..], &SHORT].concat());
    assert!(said.measured(), "{said}");
}
