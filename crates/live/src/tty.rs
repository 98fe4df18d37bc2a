//! The terminal: taken over, and given back as it was.
//!
//! Giving back happens in one place, [`Tty::leave`], whoever calls for it: the end, a signal, a panic. It never waits for
//! a terminal that takes nothing more. SIGKILL, SIGSTOP and a crash of the process are beyond anyone's reach; `reset`
//! helps then.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::termios::{InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

/// Alternate screen, no cursor.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l";
const HIDE: &[u8] = b"\x1b[?25l";
/// Plain text, cursor, the screen that was there.
const LEAVE: &[u8] = b"\x1b[0m\x1b[?25h\x1b[?1049l";
/// Longest wait for a terminal that takes no more bytes: a line that is slow, or held.
const SLOW: Duration = Duration::from_millis(300);

/// A terminal.
pub struct Tty {
    fd: OwnedFd,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The settings that were there, while the terminal is taken.
    before: Option<Termios>,
    /// It is not to be taken again.
    over: bool,
}

impl Tty {
    /// The terminal that `fd` is open on; nothing is changed yet.
    pub fn of(fd: BorrowedFd<'_>) -> io::Result<Self> {
        tcgetattr(fd)?;
        // An opening of its own can be told not to wait; `fd`'s is shared with the shell. Where it may not be opened (it
        // belongs to another user, after su), the shared one does.
        let name = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&fd));
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let own = rustix::fs::open(name, flags, Mode::empty());
        let fd = own.or_else(|_| rustix::io::fcntl_dupfd_cloexec(fd, 0))?;
        Ok(Self { fd, state: Mutex::default() })
    }

    /// Takes the terminal (again): no echo, keys at once, the alternate screen. Ctrl-C and Ctrl-Z stay signals. Tells
    /// whether it is taken now: not from the background, nor after its end.
    pub fn enter(&self) -> io::Result<bool> {
        let mut state = self.state();
        if state.over || !self.foreground() {
            state.before = None;
            return Ok(false);
        }
        let first = state.before.is_none();
        if first {
            state.before = Some(tcgetattr(&self.fd)?);
        }
        if let Some(before) = &state.before {
            let mut now = before.clone();
            now.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ECHONL | LocalModes::IEXTEN;
            // Ctrl-S would hold every picture back.
            now.input_modes -= InputModes::IXON;
            now.special_codes[SpecialCodeIndex::VMIN] = 0;
            now.special_codes[SpecialCodeIndex::VTIME] = 0;
            tcsetattr(&self.fd, OptionalActions::Now, &now)?;
        }
        // Taken twice, the alternate screen would forget where the cursor stood.
        self.put(if first { ENTER } else { HIDE })?;
        Ok(true)
    }

    /// Gives the terminal back as it was. Does nothing where it is not taken; what fails can't be helped.
    pub fn leave(&self) {
        self.give_back(&mut self.state());
    }

    /// [`Tty::leave`], for ever.
    pub fn leave_for_good(&self) {
        let mut state = self.state();
        state.over = true;
        self.give_back(&mut state);
    }

    fn give_back(&self, state: &mut State) {
        if let Some(before) = state.before.take() {
            let _ = self.put(LEAVE);
            let _ = tcsetattr(&self.fd, OptionalActions::Now, &before);
        }
    }

    /// Writes a picture, if the terminal is taken. Tells whether all of it went out.
    pub fn show(&self, bytes: &[u8]) -> io::Result<bool> {
        let state = self.state();
        if state.before.is_none() { Ok(false) } else { self.put(bytes) }
    }

    /// Whether the terminal is taken.
    pub fn taken(&self) -> bool {
        self.state().before.is_some()
    }

    /// Whether this process may use the terminal; always, where it is not the one that controls the process.
    pub fn foreground(&self) -> bool {
        rustix::termios::tcgetpgrp(&self.fd).map_or(true, |group| group == rustix::process::getpgrp())
    }

    /// Columns and rows; 80 by 24 where the terminal doesn't know.
    pub fn size(&self) -> (u16, u16) {
        match rustix::termios::tcgetwinsize(&self.fd) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col, size.ws_row),
            _ => (80, 24),
        }
    }

    /// What was typed; nothing if nothing was. An error where the terminal is gone.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        let mut piece = [0; 256];
        match rustix::io::read(&self.fd, &mut piece) {
            Ok(n) => Ok(piece[..n].to_vec()),
            Err(Errno::AGAIN | Errno::INTR) => Ok(Vec::new()),
            Err(e) => Err(e.into()),
        }
    }

    fn put(&self, mut bytes: &[u8]) -> io::Result<bool> {
        let until = Instant::now() + SLOW;
        while !bytes.is_empty() {
            match rustix::io::write(&self.fd, bytes) {
                Ok(n) => bytes = &bytes[n..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let left = until.saturating_duration_since(Instant::now());
                    let left = Timespec { tv_sec: 0, tv_nsec: left.subsec_nanos().into() };
                    let mut fds = [PollFd::new(&self.fd, PollFlags::OUT)];
                    if poll(&mut fds, Some(&left)).is_ok_and(|n| n == 0) {
                        return Ok(false);
                    }
                }
                Err(e) => return Err(e.into()),
            }
        }
        Ok(true)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsFd for Tty {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        self.leave_for_good();
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    /// A terminal's two ends: what a person sits at, and what a program has.
    pub fn terminal() -> (OwnedFd, OwnedFd) {
        let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&person).unwrap();
        unlockpt(&person).unwrap();
        let name = ptsname(&person, Vec::new()).unwrap();
        let program = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        (person, program)
    }

    pub fn settings(fd: &OwnedFd) -> (LocalModes, InputModes, u8) {
        let t = tcgetattr(fd).unwrap();
        (t.local_modes, t.input_modes, t.special_codes[SpecialCodeIndex::VMIN])
    }

    /// What the person saw, up to the end that is waited for.
    fn seen(person: &OwnedFd, end: &str) -> String {
        let mut all = Vec::new();
        let limit = Timespec { tv_sec: 20, tv_nsec: 0 };
        while !String::from_utf8_lossy(&all).ends_with(end) {
            let mut fds = [PollFd::new(person, PollFlags::IN)];
            assert!(poll(&mut fds, Some(&limit)).unwrap() > 0, "{:?}", String::from_utf8_lossy(&all));
            let mut piece = [0; 4096];
            let n = rustix::io::read(person, &mut piece).unwrap();
            all.extend_from_slice(&piece[..n]);
        }
        String::from_utf8_lossy(&all).into_owned()
    }

    #[test]
    fn what_was_taken_is_given_back_once() {
        let (person, program) = terminal();
        let before = settings(&program);
        let tty = Tty::of(program.as_fd()).unwrap();
        assert!(!tty.show(b"not yet").unwrap());
        assert!(tty.enter().unwrap() && tty.enter().unwrap(), "twice, as after SIGCONT");
        assert_ne!(settings(&program), before);
        assert!(settings(&program).0.contains(LocalModes::ISIG), "Ctrl-C stays a signal");
        assert!(tty.show(b"picture").unwrap());
        tty.leave();
        assert_eq!(settings(&program), before);
        tty.leave();
        let all = seen(&person, "picture\x1b[0m\x1b[?25h\x1b[?1049l");
        assert_eq!((all.matches("\x1b[?1049h").count(), all.matches("\x1b[?1049l").count()), (1, 1));
        tty.leave_for_good();
        assert!(!tty.enter().unwrap(), "it is over");
    }

    #[test]
    fn a_panic_gives_the_terminal_back_too() {
        let (person, program) = terminal();
        let before = settings(&program);
        let result = std::panic::catch_unwind(|| {
            let tty = Tty::of(program.as_fd()).unwrap();
            tty.enter().unwrap();
            panic!("on purpose");
        });
        assert!(result.is_err());
        assert_eq!(settings(&program), before);
        seen(&person, "\x1b[?1049l");
    }

    #[test]
    fn a_terminal_that_takes_nothing_holds_nobody() {
        let (_person, program) = terminal();
        let before = settings(&program);
        let tty = Tty::of(program.as_fd()).unwrap();
        tty.enter().unwrap();
        let much = vec![b'x'; 1 << 20];
        assert!(!tty.show(&much).unwrap(), "nobody reads a mebibyte here");
        tty.leave();
        assert_eq!(settings(&program), before);
    }

    #[test]
    fn what_is_no_terminal_is_refused() {
        let (reader, _writer) = rustix::pipe::pipe().unwrap();
        assert!(Tty::of(reader.as_fd()).is_err());
    }
}
