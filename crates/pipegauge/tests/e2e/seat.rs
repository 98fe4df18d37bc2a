//! A terminal, and somebody who sits at it: what is drawn is read all along, keys can be pressed, settings looked at.

#![cfg_attr(not(feature = "live"), allow(dead_code, reason = "most of it is for the live screen"))]

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{InputModes, LocalModes, OutputModes, SpecialCodeIndex, Winsize, tcgetattr, tcsetwinsize};

use super::support::{HISTORY, Scratch, binary, until};

/// Takes the screen; gives it back.
pub const ENTER: &str = "\x1b[?1049h";
pub const LEAVE: &str = "\x1b[?1049l";

/// A terminal with a process at it, which it controls.
pub struct Seat {
    terminal: OwnedFd,
    pub child: Child,
    seen: Arc<Mutex<Vec<u8>>>,
    closing: Arc<AtomicBool>,
    reader: JoinHandle<()>,
    before: Settings,
}

/// What `stty` would show.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings(LocalModes, InputModes, OutputModes, u8, u8);

impl Seat {
    /// Runs the command at a terminal of this size (columns, rows), with keys from it where `typing`.
    pub fn take(dir: &Scratch, args: &[&str], (columns, rows): (u16, u16), typing: bool) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
        grantpt(&terminal).expect("a terminal");
        unlockpt(&terminal).expect("a terminal");
        let name = ptsname(&terminal, Vec::new()).expect("a terminal's name");
        let end = || -> Stdio {
            let file = File::options().read(true).write(true).open(name.to_str().expect("a name"));
            OwnedFd::from(file.expect("the terminal")).into()
        };
        resize(&terminal, columns, rows);
        let before = settings(&terminal);
        let mut command = Command::new("setsid");
        // The terminal comes to control the process through its standard input.
        command.args(if typing { &["--ctty", "--wait"][..] } else { &["--wait"] });
        command.arg(binary()).args(args).current_dir(dir.path("."));
        command
            .env("TERM", "xterm-256color")
            .env_remove("NO_COLOR")
            .env_remove("PIPEGAUGE_KEY")
            .env(HISTORY.0, HISTORY.1);
        command.stdin(if typing { end() } else { Stdio::null() });
        command.stdout(end()).stderr(end());
        let child = command.spawn().expect("starting at a terminal");
        drop(command);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let closing = Arc::new(AtomicBool::new(false));
        let screen = rustix::io::dup(&terminal).expect("the terminal again");
        let (all, stop) = (Arc::clone(&seen), Arc::clone(&closing));
        let reader = std::thread::spawn(move || read_all(&screen, &all, &stop));
        Self { terminal, child, seen, closing, reader, before }
    }

    /// All that was written to the terminal so far.
    pub fn seen(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().expect("what was seen")).into_owned()
    }

    /// Waits until the screen was taken `times` times.
    pub fn taken(&self, times: usize) {
        until("the screen", || (self.seen().matches(ENTER).count() >= times).then_some(()));
    }

    /// Waits until the screen was given back `times` times: what the process wrote before it stopped is read a moment later.
    pub fn left(&self, times: usize) {
        until("the screen given back", || (self.seen().matches(LEAVE).count() >= times).then_some(()));
    }

    pub fn press(&self, keys: &str) {
        let mut keyboard = File::from(rustix::io::dup(&self.terminal).expect("the keyboard"));
        keyboard.write_all(keys.as_bytes()).expect("pressing keys");
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        resize(&self.terminal, columns, rows);
    }

    /// Fails unless the terminal is as it was before the process came: settings, screen, cursor.
    pub fn is_as_it_was(&self) {
        let seen = self.seen();
        assert_eq!(settings(&self.terminal), self.before, "{seen}");
        assert_eq!(seen.matches(ENTER).count(), seen.matches(LEAVE).count(), "{seen:?}");
        assert!(seen.rfind(LEAVE) >= seen.rfind(ENTER), "{seen:?}");
        assert!(seen.rfind("\x1b[?25h") >= seen.rfind("\x1b[?25l"), "{seen:?}");
    }

    pub fn is_taken(&self) -> bool {
        settings(&self.terminal) != self.before
    }

    /// Waits for the process's end and until everything it wrote has been read; what stands after the screen is told.
    pub fn end(mut self) -> (ExitStatus, String) {
        let status = until("the end of the run", || self.child.try_wait().expect("waiting"));
        // A mark of this side's own comes after all that the process wrote.
        let mark = "\u{2}the end of what it wrote\u{3}";
        let name = ptsname(&self.terminal, Vec::new()).expect("a terminal's name");
        let mut end = File::options().write(true).open(name.to_str().expect("a name")).expect("the terminal");
        end.write_all(mark.as_bytes()).expect("a mark");
        until("the last of what it wrote", || self.seen().contains(mark).then_some(()));
        self.is_as_it_was();
        let seen = self.seen();
        let after = seen.rfind(LEAVE).map_or("", |at| &seen[at + LEAVE.len()..]);
        (status, after.replace(mark, ""))
    }

    /// Closes the terminal under the process.
    pub fn close(self) -> Child {
        self.closing.store(true, Ordering::SeqCst);
        self.reader.join().expect("the screen");
        drop(self.terminal);
        self.child
    }
}

/// Reads until the terminal is closed on either side.
fn read_all(screen: &OwnedFd, all: &Mutex<Vec<u8>>, closing: &AtomicBool) {
    let moment = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
    let mut piece = [0; 4096];
    while !closing.load(Ordering::SeqCst) {
        if poll(&mut [PollFd::new(screen, PollFlags::IN)], Some(&moment)).is_ok_and(|n| n > 0) {
            match rustix::io::read(screen, &mut piece) {
                Ok(n @ 1..) => all.lock().expect("what was seen").extend_from_slice(&piece[..n]),
                // Nobody has the other end open: before the process came, or after.
                _ => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }
}

fn resize(terminal: &OwnedFd, columns: u16, rows: u16) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(terminal, size).expect("a size");
}

fn settings(terminal: &OwnedFd) -> Settings {
    let t = tcgetattr(terminal).expect("the terminal's settings");
    let code = |i| t.special_codes[i];
    Settings(t.local_modes, t.input_modes, t.output_modes, code(SpecialCodeIndex::VMIN), code(SpecialCodeIndex::VTIME))
}
