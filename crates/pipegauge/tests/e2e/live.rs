//! `pipegauge live` at a terminal of its own: it measures as `run` does, and leaves the terminal as it was, always.

use std::path::Path;

use rustix::process::Signal;

use super::processes::{all_end, far_processes, send};
use super::seat::Seat;
use super::support::{LONG, SHORT_LOUD, Scratch, installed, json, skip, until};

const FILE: &str = "x.run.jsonl";
const USUAL: (u16, u16) = (80, 24);

/// `live` with these flags at a terminal, or none where a terminal can't be had.
fn live(dir: &Scratch, flags: &[&str], more: &[&str], size: (u16, u16), typing: bool) -> Option<Seat> {
    if installed("setsid").is_none() {
        skip("setsid is not installed, so the run can't be given a terminal of its own");
        return None;
    }
    let args = [&["live", "unix", "theory", "-o", FILE], flags, more].concat();
    Some(Seat::take(dir, &args, size, typing))
}

fn long(dir: &Scratch) -> Option<Seat> {
    let seat = live(dir, &LONG, &[], USUAL, true)?;
    seat.taken(1);
    has(&dir.path(FILE), "\"event\":\"trial\",\"path\":0,\"block\":1,");
    Some(seat)
}

/// Waits until the run file holds `what`.
fn has(file: &Path, what: &str) {
    until(what, || std::fs::read_to_string(file).unwrap_or_default().contains(what).then_some(()));
}

fn is_whole(dir: &Scratch) {
    let shown = dir.run(&["show", FILE, "--json"]);
    assert_eq!(shown.code(), 0, "{shown}");
    let doc = json(&shown.out);
    assert!(doc["end"].is_object() && doc["cut"].is_null(), "the file must have its last line: {doc}");
}

/// What ends a long run by itself: what was measured is kept, and the terminal is as it was.
fn ends_by(what: impl FnOnce(&Seat)) {
    let dir = Scratch::new();
    let Some(seat) = long(&dir) else { return };
    let far = far_processes(seat.child.id());
    assert!(seat.is_taken());
    what(&seat);
    let (status, after) = seat.end();
    assert_eq!(status.code(), Some(1), "{after}");
    assert!(after.contains("interrupted") && after.contains("max throughput"), "{after}");
    all_end(&far);
    is_whole(&dir);
}

#[test]
fn q_stops_the_run_and_what_run_prints_follows() {
    ends_by(|seat| seat.press("q"));
}

#[test]
fn escape_stops_the_run() {
    ends_by(|seat| seat.press("\x1b"));
}

#[test]
fn ctrl_c_at_the_terminal_stops_the_run() {
    ends_by(|seat| seat.press("\x03"));
}

#[test]
fn sigterm_stops_the_run() {
    ends_by(|seat| send(seat.child.id(), Signal::TERM));
}

#[test]
fn sighup_stops_the_run() {
    ends_by(|seat| send(seat.child.id(), Signal::HUP));
}

#[test]
fn ctrl_backslash_leaves_the_terminal_as_it_was() {
    let dir = Scratch::new();
    let Some(seat) = long(&dir) else { return };
    let far = far_processes(seat.child.id());
    seat.press("\x1c");
    let (status, after) = seat.end();
    assert!(!status.success(), "{after}");
    all_end(&far);
}

#[test]
fn a_second_ctrl_c_leaves_the_terminal_as_it_was_too() {
    let dir = Scratch::new();
    let Some(seat) = long(&dir) else { return };
    let far = far_processes(seat.child.id());
    seat.press("\x03\x03");
    let (status, after) = seat.end();
    assert!(matches!(status.code(), Some(1 | 2)), "{status}: {after}");
    all_end(&far);
}

#[test]
fn ctrl_z_gives_the_terminal_back_and_fg_takes_it_again() {
    let dir = Scratch::new();
    let Some(seat) = long(&dir) else { return };
    seat.press("\x1a");
    until("the stop", || stopped(seat.child.id()).then_some(()));
    seat.left(1);
    seat.is_as_it_was();
    send(seat.child.id(), Signal::CONT);
    seat.taken(2);
    seat.press("q");
    let (status, after) = seat.end();
    assert_eq!(status.code(), Some(1), "{after}");
    is_whole(&dir);
}

fn stopped(pid: u32) -> bool {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    text.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('T'))
}

#[test]
fn the_last_picture_stays_until_a_key() {
    let dir = Scratch::new();
    let Some(mut seat) = live(&dir, SHORT_LOUD, &["--no-html"], USUAL, true) else { return };
    // The last row says so.
    until("the last picture", || seat.seen().contains("leave").then_some(()));
    assert!(matches!(seat.child.try_wait(), Ok(None)), "it must wait for a key");
    // Keys that look, a resize, and a key that leaves.
    seat.press("gw\x1b[Bp\x1b[C?c");
    seat.resize(20, 5);
    seat.press("\x1b[A\x1b[20~xyz");
    seat.resize(200, 60);
    seat.press("q");
    let (status, after) = seat.end();
    assert_eq!(status.code(), Some(0), "{after}");
    assert!(after.contains("max throughput") && after.contains(FILE), "{after}");
    is_whole(&dir);
}

#[test]
fn ctrl_c_at_the_last_picture_only_leaves_it() {
    let dir = Scratch::new();
    let Some(seat) = live(&dir, SHORT_LOUD, &["--no-html"], USUAL, true) else { return };
    // The last row says so.
    until("the last picture", || seat.seen().contains("leave").then_some(()));
    seat.press("\x03");
    let (status, after) = seat.end();
    assert!(matches!(status.code(), Some(0 | 1)), "{after}");
    assert!(after.contains("max throughput"), "{after}");
}

#[test]
fn nobody_is_waited_for_where_that_was_asked_or_nobody_can_press_a_key() {
    for (more, typing) in [(&["--no-html", "--no-wait"][..], true), (&["--no-html"], false)] {
        let dir = Scratch::new();
        let Some(seat) = live(&dir, SHORT_LOUD, more, USUAL, typing) else { return };
        let (status, after) = seat.end();
        assert_eq!(status.code(), Some(0), "{after}");
        assert!(after.contains("max throughput"), "{after}");
        is_whole(&dir);
    }
}

#[test]
fn a_terminal_of_any_size_will_do() {
    for size in [(20, 5), (1, 1), (500, 200), (0, 0)] {
        let dir = Scratch::new();
        let Some(seat) = live(&dir, SHORT_LOUD, &["--no-html", "--no-wait"], size, true) else { return };
        let (status, after) = seat.end();
        assert_eq!(status.code(), Some(0), "{size:?}: {after}");
    }
}

#[test]
fn a_closed_terminal_ends_the_run_and_the_file_stays_whole() {
    let dir = Scratch::new();
    let Some(seat) = long(&dir) else { return };
    let far = far_processes(seat.child.id());
    let mut child = seat.close();
    let status = until("the end of the run", || child.try_wait().expect("waiting"));
    assert!(matches!(status.code(), Some(1 | 2)), "{status}");
    all_end(&far);
    is_whole(&dir);
}

#[test]
fn a_run_file_that_cannot_be_written_is_told_on_the_terminal_as_it_was() {
    if !Path::new("/dev/full").exists() {
        return skip("there is no /dev/full");
    }
    let dir = Scratch::new();
    if installed("setsid").is_none() {
        return skip("setsid is not installed, so the run can't be given a terminal of its own");
    }
    let seat =
        Seat::take(&dir, &[&["live", "memcpy", "--no-html", "-o", "/dev/full"], SHORT_LOUD].concat(), USUAL, true);
    let (status, after) = seat.end();
    assert_eq!(status.code(), Some(2), "{after}");
    assert!(after.contains("/dev/full"), "{after}");
}

#[test]
fn what_is_no_terminal_is_refused_with_a_way_out() {
    let dir = Scratch::new();
    let said = dir.run(&["live", "memcpy"]);
    said.refuses(&["terminal", "pipegauge run"]);
    assert!(dir.names().is_empty(), "{:?}", dir.names());
}

#[test]
fn a_mistake_is_answered_before_the_screen_is_taken() {
    let dir = Scratch::new();
    for flags in [&["live", "nonsense"][..], &["live", "memcpy", "--quiet"], &["live", "memcpy", "--sockbuf", "1KiB"]] {
        if installed("setsid").is_none() {
            return skip("setsid is not installed, so the run can't be given a terminal of its own");
        }
        let seat = Seat::take(&dir, flags, USUAL, true);
        until("an answer", || seat.seen().contains("pipegauge: ").then_some(()));
        assert!(!seat.seen().contains(super::seat::ENTER), "{}", seat.seen());
    }
}
