//! The floor with its two real processes.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use floor::{FloorError, Path, Pattern, Plan, Program};

const EXE: &str = env!("CARGO_BIN_EXE_pipegauge-floor");

fn program() -> Program {
    Program { exe: EXE.into(), prefix: Vec::new() }
}

fn plan(path: Path, pattern: Pattern, size: usize) -> Plan {
    let mut plan = Plan::new(path, pattern, size);
    (plan.repeats, plan.warmup) = (50, 5);
    plan
}

#[test]
fn every_path_and_pattern_gives_a_figure() {
    for path in Path::ALL {
        for pattern in Pattern::ALL {
            for size in [1, 63, 64, 100_000, 3 << 20] {
                for spin in if path == Path::Shm { vec![true] } else { vec![false, true] } {
                    let mut plan = plan(path, pattern, size);
                    plan.spin = spin;
                    let figure = floor::measure(&program(), &plan).unwrap_or_else(|e| panic!("{plan:?}: {e}"));
                    assert!(figure.seconds > 0.0);
                    assert_eq!(figure.plan, plan);
                }
            }
        }
    }
}

#[test]
fn a_warm_up_of_many_pieces_is_answered_piece_by_piece() {
    // More pieces than a byte can count.
    for path in Path::ALL {
        let mut plan = plan(path, Pattern::Stream, 64);
        (plan.repeats, plan.warmup) = (5, 1_301);
        floor::measure(&program(), &plan).unwrap_or_else(|e| panic!("{plan:?}: {e}"));
    }
}

#[test]
fn starting_the_far_process_is_not_timed_without_a_warm_up() {
    // It runs by a shell that sleeps first.
    let late = Program {
        exe: "/bin/sh".into(),
        prefix: ["-c", "sleep 0.3; exec \"$0\" \"$@\"", EXE].map(str::to_owned).into(),
    };
    for (path, pattern) in Path::ALL.into_iter().flat_map(|path| Pattern::ALL.map(|pattern| (path, pattern))) {
        let mut plan = plan(path, pattern, 64);
        (plan.repeats, plan.warmup) = (5, 0);
        let began = Instant::now();
        let seconds = floor::measure(&late, &plan).unwrap().seconds;
        // The sleep is not among them, however long a busy machine took for the rest.
        let all = began.elapsed().as_secs_f64();
        assert!(seconds <= all - 0.3, "{path:?} {pattern:?}: {seconds} s of {all} s");
    }
}

/// Congestion controls that anybody may have.
fn congestion_controls() -> Vec<String> {
    let names = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_allowed_congestion_control").unwrap();
    names.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn both_sockets_have_the_congestion_control_that_was_named_and_the_figure_says_so() {
    for name in congestion_controls() {
        let mut plan = plan(Path::Tcp, Pattern::Stream, 64);
        plan.congestion = Some(name.clone());
        let figure = floor::measure(&program(), &plan).unwrap();
        assert_eq!(figure.congestion, Some([name.clone(), name.clone()]));
        let value: serde_json::Value = serde_json::from_str(&figure.json()).unwrap();
        assert_eq!(value["congestion"], serde_json::json!([name, name]));
    }
    let system = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap().trim().to_owned();
    let figure = floor::measure(&program(), &plan(Path::Tcp, Pattern::PingPong, 1)).unwrap();
    assert_eq!(figure.congestion, Some([system.clone(), system]));
    assert_eq!(floor::measure(&program(), &plan(Path::Unix, Pattern::PingPong, 1)).unwrap().congestion, None);
}

#[test]
fn a_congestion_control_that_is_not_there_is_named() {
    let output = Command::new(EXE).args(["tcp", "--congestion", "nosuch", "--repeats", "9"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("'nosuch'") && said.contains("tcp_available_congestion_control"), "{said}");
}

#[test]
fn the_command_prints_one_json_line() {
    for (args, rtt) in
        [("unix --size 64 --repeats 20 --pin none", true), ("tcp --pattern stream --repeats 20 --spin", false)]
    {
        let output = Command::new(EXE).args(args.split(' ')).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(text.lines().count(), 1);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((value["rtt"].as_bool(), value["repeats"].as_u64()), (Some(rtt), Some(20)));
        assert!(value["seconds_per_iteration"].as_f64().unwrap() > 0.0);
        assert!(value["bits_per_second"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn wrong_arguments_exit_with_2_and_say_why() {
    let output = Command::new(EXE).args(["sctp"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("'sctp'"));
}

#[test]
fn a_far_side_that_ends_early_is_an_error_and_no_hang() {
    // Started with these arguments, the far process ends without a word.
    let deaf = Program { exe: EXE.into(), prefix: vec!["--help".into()] };
    for path in Path::ALL {
        for pattern in Pattern::ALL {
            for spin in [true, path == Path::Shm] {
                let mut plan = plan(path, pattern, 1 << 20);
                plan.spin = spin;
                let error = floor::measure(&deaf, &plan).unwrap_err();
                assert!(matches!(error, FloorError::Gone { .. }), "{path:?} {pattern:?}: {error}");
            }
        }
    }
}

/// Children of all threads of a process, as the kernel lists them.
fn children(of: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{of}/task")).into_iter().flatten().flatten();
    let listed = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    listed.flat_map(|l| l.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<u32>>()).collect()
}

/// A process that does not outlive its test.
struct Running(std::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn pid(raw: u32) -> rustix::process::Pid {
    rustix::process::Pid::from_raw(raw as i32).unwrap()
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited a minute for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn killing_either_side_in_the_middle_ends_the_other() {
    for path in Path::ALL {
        for kill_near in [false, true] {
            let mut command = Command::new(EXE);
            command.args([path.name(), "--repeats", "1000000000", "--pin", "none"]);
            let mut near = Running(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
            let mut far = Vec::new();
            until("the far process", || {
                far = children(near.0.id());
                !far.is_empty()
            });
            std::thread::sleep(Duration::from_millis(30));
            let victim = if kill_near { near.0.id() } else { far[0] };
            rustix::process::kill_process(pid(victim), rustix::process::Signal::KILL).unwrap();
            let status = near.0.wait().unwrap();
            if !kill_near {
                assert_eq!(status.code(), Some(1), "{path:?}");
            }
            until("the far process to end", || {
                // Gone, or a zombie that waits for its new parent.
                let stat = std::fs::read_to_string(format!("/proc/{}/stat", far[0])).unwrap_or_default();
                stat.rsplit(')').next().is_none_or(|rest| rest.is_empty() || rest.trim_start().starts_with('Z'))
            });
        }
    }
}

#[test]
fn a_cpu_that_may_not_be_used_is_named() {
    let mut plan = plan(Path::Unix, Pattern::PingPong, 1);
    // Whatever CPUs these tests may use, 0 and 1023 are not both among them.
    for pin in [(1023, 0), (0, 1023)] {
        plan.pin = Some(pin);
        let error = floor::measure(&program(), &plan).unwrap_err().to_string();
        assert!(error.contains("pinning to CPU"), "{error}");
    }
}
