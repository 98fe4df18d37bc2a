//! Starts a process, far or near, reads where it waits, and makes sure that it ends.

use std::ffi::OsStr;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};
use transport::last_words::{LastWords, in_words};

use crate::error::printable;
use crate::message::{By, Launch, Speaker, Waiting};
use crate::secret::Secret;
use crate::{Key, Limits, MeetError};

/// Most that is read from a far process before it says where it waits: login scripts may print something first.
const NOISE: usize = 64 << 10;
/// How long it may go on printing something else, from its first byte on.
const CHATTER: Duration = Duration::from_secs(15);
/// How much of what it printed is told, from its end.
const TOLD: usize = 200;

/// The moment within which a process ends whose conversation has ended.
const ENDS: Duration = Duration::from_millis(500);

/// This program as it was started. A path would lead to whatever lies there when a round begins: another version, after an
/// update in the middle of a run, or nothing.
pub(super) const OWN: &str = "/proc/self/exe";

/// A running process that this one started.
pub(crate) struct Launched {
    child: Child,
    /// What it is for: "the far side" or "a near process".
    what: &'static str,
    name: String,
    last_words: LastWords,
    /// How long it may take to end by itself.
    grace: Duration,
    /// Held open: a far process must never find nobody behind its standard output.
    stdout: ChildStdout,
    /// Held open for one that ssh starts: it ends with it.
    input: Option<ChildStdin>,
}

/// How a process is started, and what it is told.
#[derive(Clone, Copy)]
pub(crate) struct How {
    pub by: By,
    /// CPU to run on.
    pub pin: Option<u32>,
    /// Under a wrapper, which may choose CPUs.
    pub wrapped: bool,
    /// The address at which this side reaches it, where it is on this host and that is not the host itself.
    pub listen_at: Option<IpAddr>,
    /// It listens at all addresses of its host.
    pub anywhere: bool,
}

impl How {
    pub(crate) fn of(by: By) -> Self {
        Self { by, pin: None, wrapped: false, listen_at: None, anywhere: false }
    }
}

/// How it is reached, and how it is known.
pub(crate) struct Place {
    pub way: Way,
    pub key: Key,
}

/// How a far process is reached.
pub(crate) enum Way {
    /// On this host: over the socket whose other end is its standard input.
    Here(UnixStream),
    /// Where it waits.
    At(SocketAddr),
}

/// A process that was started and has yet to answer: several start at once.
pub(crate) struct Starting {
    // The socket first: its end ends the process, which is waited for when it is dropped.
    /// The other end of its standard input, on this host.
    own: Option<UnixStream>,
    process: Launched,
    secret: Secret,
}

/// What to do about a process of this host that is not ready in time.
const STARTS_LATE: &str =
    "; is this host overloaded, or does a wrapper hold it up? A longer --patience gives it more time";
/// What to do about one that ssh starts.
pub(crate) const LOGS_IN_LATE: &str = "; type that line in a terminal: the login may ask for something or take long, or the program there may not be \
     pipegauge (--remote-program); a longer --patience gives it more time, a shorter one less";

/// What a process on the far side is called.
pub(super) const FAR: &str = "the far side";

impl Starting {
    /// Runs `command`, which is `what`, and gives it a fresh secret over its standard input.
    pub(crate) fn begin(what: &'static str, mut command: Command, how: How) -> Result<Self, MeetError> {
        let How { by, pin, wrapped, listen_at, anywhere } = how;
        let own = match by {
            By::Spawn => {
                let pairing = |source| MeetError::Launch { what, program: named(&command), source };
                let (own, theirs) = UnixStream::pair().map_err(pairing)?;
                command.stdin(OwnedFd::from(theirs));
                Some(own)
            }
            By::Ssh => {
                command.stdin(Stdio::piped());
                None
            }
        };
        // Its other end of the pair goes with the command: that end must be the far process's own.
        let (mut process, mut stdin) =
            if wrapped { host::unpinned(|| Launched::run(what, command)) } else { Launched::run(what, command) }?;
        let secret = Secret::fresh()?;
        let launch = Launch {
            speaker: Speaker::here(),
            secret: HEXLOWER.encode(secret.bytes()),
            by,
            pin,
            // A wrapper may have chosen.
            cpus: if by == By::Spawn && !wrapped { host::cpus_before_pinning() } else { Vec::new() },
            limits: Limits::own(),
            listen_at,
            anywhere,
        };
        let mut line = serde_json::to_vec(&launch).map_err(|e| MeetError::Protocol(e.to_string()))?;
        line.push(b'\n');
        // A process that ended at once leaves a broken pipe; what it said tells more.
        let _ = match (&own, &mut stdin) {
            (Some(own), _) => (&*own).write_all(&line),
            (None, Some(stdin)) => stdin.write_all(&line),
            (None, None) => Ok(()),
        };
        process.input = stdin;
        Ok(Self { process, own, secret })
    }

    /// Waits for its answer, `time` at most.
    pub(crate) fn ready(self, time: Duration, stop: &AtomicBool) -> Result<(Launched, Place), MeetError> {
        let Self { process: mut far, own, secret } = self;
        let advice = if own.is_some() { STARTS_LATE } else { LOGS_IN_LATE };
        let waiting = far.answer(time, advice, stop)?;
        waiting.speaker.agrees()?;
        let pin = HEXLOWER.decode(waiting.pin.as_bytes()).ok().and_then(|bytes| bytes.try_into().ok());
        let way = own.map(Way::Here).or(waiting.at.map(Way::At));
        let (Some(way), Some(pin)) = (way, pin) else {
            return Err(far.not_ready("its answer is not whole"));
        };
        Ok((far, Place { way, key: Key { pin, secret } }))
    }
}

impl Launched {
    /// Starts a far side and waits for its answer.
    #[cfg(test)]
    pub(crate) fn start(
        command: Command,
        how: How,
        time: Duration,
        stop: &AtomicBool,
    ) -> Result<(Self, Place), MeetError> {
        Starting::begin(FAR, command, how)?.ready(time, stop)
    }

    /// Runs `command`, which is `what`, in a group of its own: Ctrl-C reaches only this side, which then ends the other in good order.
    pub(crate) fn run(what: &'static str, mut command: Command) -> Result<(Self, Option<ChildStdin>), MeetError> {
        let name = named(&command);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let launching = |source| MeetError::Launch { what, program: name.clone(), source };
        let mut child = command.spawn().map_err(launching)?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdout), Some(stderr)) = (stdout, stderr) else {
            return Err(launching(std::io::Error::other("its standard streams are missing")));
        };
        let last_words = LastWords::of(stderr);
        Ok((Self { child, what, name, last_words, grace: Duration::from_secs(1), stdout, input: None }, stdin))
    }

    /// Its standard output.
    pub(crate) fn stdout(&mut self) -> &mut ChildStdout {
        &mut self.stdout
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The first line of its standard output that is an answer.
    pub(crate) fn answer(&mut self, time: Duration, advice: &str, stop: &AtomicBool) -> Result<Waiting, MeetError> {
        let began = Instant::now();
        let mut deadline = began + time;
        let (mut received, mut begun) = (Vec::new(), 0);
        loop {
            while let Some(end) = received[begun..].iter().position(|b| *b == b'\n') {
                let line = &received[begun..=begun + end];
                if let Some(waiting) = answer_in(line) {
                    return Ok(waiting);
                }
                begun += end + 1;
            }
            if received.len() > NOISE {
                return Err(self.not_ready(&unanswered("it prints something else without end", &received)));
            }
            if stop.load(Ordering::Relaxed) {
                return Err(MeetError::Interrupted);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let waited = began.elapsed().as_secs_f64();
                let found = unanswered(&format!("it does not say where it waits within {waited:.1} s"), &received);
                return Err(self.not_ready_but(&found, advice));
            }
            let look = left.min(Duration::from_millis(100));
            let time = Timespec { tv_sec: 0, tv_nsec: i64::from(look.subsec_nanos()) };
            if !poll(&mut [PollFd::new(&self.stdout, PollFlags::IN)], Some(&time)).is_ok_and(|n| n > 0) {
                continue;
            }
            let mut piece = [0; 1024];
            match self.stdout.read(&mut piece) {
                Ok(0) => return Err(self.not_ready(&unanswered("it ended", &received))),
                Ok(n) => {
                    if received.is_empty() {
                        deadline = deadline.min(Instant::now() + CHATTER);
                    }
                    received.extend_from_slice(&piece[..n]);
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(source) => return Err(MeetError::Io { doing: "reading the far side's answer", source }),
            }
        }
    }

    fn not_ready(&mut self, what: &str) -> MeetError {
        self.not_ready_but(what, "")
    }

    /// The same with what to do.
    fn not_ready_but(&mut self, what: &str, advice: &str) -> MeetError {
        self.give_up();
        MeetError::NotReady {
            what: self.what,
            program: self.name.clone(),
            found: format!("{what}{}{advice}", self.how_it_ended()),
        }
    }

    /// Whether it goes on, and does not end within a moment.
    pub(crate) fn lives(&mut self) -> bool {
        self.wait(ENDS).is_none()
    }

    /// How it ended, if it ends within a moment, and the last it said: ": killed by signal 9", or nothing.
    pub(crate) fn how_it_ended(&mut self) -> String {
        let mut text = match self.wait(ENDS) {
            Some(status) => format!(": {}", in_words(status)),
            None => String::new(),
        };
        let said = self.last_words.text();
        if !said.is_empty() {
            text.push_str("; it said: ");
            text.push_str(&said);
        }
        text
    }

    /// Waits for its end, as [`Launched::end`], `time` at most; how it ended where that was not well. It was said goodbye to.
    pub(crate) fn ends(&mut self, time: Duration) -> Option<String> {
        // It ends for the goodbye: the end of its standard input would break off what it still does.
        match self.wait(time) {
            Some(status) if status.success() => None,
            Some(_) => Some(self.how_it_ended()),
            None => {
                self.give_up();
                self.end();
                Some(format!(": it had not ended after {:.1} s, and was killed", time.as_secs_f64()))
            }
        }
    }

    fn wait(&mut self, time: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + time;
        let mut nap = Duration::from_micros(200);
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < deadline => std::thread::sleep(nap),
                _ => return None,
            }
            nap = (nap * 2).min(Duration::from_millis(10));
        }
    }

    /// It no longer listens: [`Launched::end`] need not wait for it.
    pub(crate) fn give_up(&mut self) {
        self.grace = Duration::ZERO;
    }

    /// Waits for its end, which the end of the control connection brings about; kills it if it does not come.
    pub(crate) fn end(&mut self) {
        self.input = None;
        if self.wait(self.grace).is_none() {
            // By its process id, and only while it has not been reaped: nobody else can be hit.
            // Its group, which is its own: a wrapper's other processes would live on.
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
            let _ = self.child.kill();
            let _ = self.wait(Duration::from_secs(2));
        }
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        self.end();
    }
}

/// A command line as people know it: this program is started by a link that follows it wherever its file went.
fn named(command: &Command) -> String {
    let link = format!("/proc/{}/exe", std::process::id());
    let path = std::env::current_exe().ok();
    let word = |word: &OsStr| match &path {
        Some(path) if word == OWN || *word == *link => path.display().to_string(),
        _ => word.to_string_lossy().into_owned(),
    };
    std::iter::once(command.get_program()).chain(command.get_args()).map(word).collect::<Vec<_>>().join(" ")
}

/// How every answer begins.
const ANSWER: &[u8] = br#"{"pipegauge""#;

/// The answer at the end of a line. A login may have printed something in front of it that ends no line, as a terminal's title does.
fn answer_in(line: &[u8]) -> Option<Waiting> {
    let begins = line.windows(ANSWER.len()).enumerate().filter(|(_, bytes)| *bytes == ANSWER);
    begins.map(|(at, _)| &line[at..]).find_map(|answer| units::received::json(answer).ok())
}

/// What went wrong, and the last of what was printed in place of an answer.
fn unanswered(what: &str, received: &[u8]) -> String {
    let text = printable(&String::from_utf8_lossy(&received[received.len().saturating_sub(TOLD)..]));
    if text.is_empty() {
        return what.to_owned();
    }
    let whole = if received.len() > TOLD { "and last " } else { "" };
    format!("{what} ({} bytes came, {whole}\"{}\")", received.len(), text.replace('\n', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn fails(script: &str, time: Duration) -> String {
        let started = Launched::start(shell(script), How::of(By::Spawn), time, &AtomicBool::new(false));
        started.err().expect("should fail").to_string()
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn a_far_process_that_ends_is_quoted() {
        let text = fails("echo 'no such luck' >&2; exit 3", LONG);
        assert!(text.contains("status 3") && text.contains("no such luck"), "{text}");
        let text = fails("kill -9 $$", LONG);
        assert!(text.contains("signal 9"), "{text}");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let command = Command::new("/does/not/exist");
        let e = Launched::start(command, How::of(By::Spawn), LONG, &AtomicBool::new(false)).err().expect("should fail");
        assert!(e.to_string().contains("/does/not/exist"), "{e}");
    }

    #[test]
    fn silence_and_noise_end_within_bounds() {
        let text = fails("exec sleep 60", Duration::from_millis(100));
        assert!(text.contains("does not say where it waits within 0."), "{text}");
        let late = Launched::start(
            shell("exec sleep 60"),
            How::of(By::Ssh),
            Duration::from_millis(100),
            &AtomicBool::new(false),
        );
        let text = late.err().expect("should fail").to_string();
        for part in ["within 0.", "type that line in a terminal", "--remote-program", "--patience"] {
            assert!(text.contains(part), "{text}");
        }
        let text = fails("while :; do printf 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'; done", LONG);
        assert!(text.contains("without end"), "{text}");
        // A login that is chatty in lines.
        let text = fails("while :; do echo 'Welcome to this host'; done", LONG);
        assert!(text.contains("without end") && text.contains("Welcome to this host"), "{text}");
        let text = fails("echo 'Enter your name:'; exec sleep 60", Duration::from_millis(300));
        assert!(text.contains("does not say where it waits") && text.contains("Enter your name:"), "{text}");
    }

    #[test]
    fn what_a_login_prints_first_is_passed_over() {
        let answer = serde_json::to_string(&Waiting {
            speaker: Speaker::here(),
            at: Some("127.0.0.1:9".parse().unwrap()),
            pin: "ab".repeat(32),
        })
        .unwrap();
        for first in [
            "echo 'Welcome to host!'; echo",
            // The title of a terminal ends no line.
            r"printf '\033]0;title\007'",
            r#"printf '{"pipegauge": is welcome, {"pipegauge'"#,
        ] {
            let script = format!("{first}; echo '{answer}'; cat >/dev/null");
            let (far, place) =
                Launched::start(shell(&script), How::of(By::Ssh), LONG, &AtomicBool::new(false)).expect(first);
            assert!(matches!(place.way, Way::At(at) if at.port() == 9));
            assert_eq!(place.key.pin, [0xab; 32]);
            assert!(far.pid() > 0);
        }
    }

    #[test]
    fn another_version_is_named_with_both() {
        let text = fails(r#"echo '{"pipegauge":9,"version":"9.9.9"}'; cat >/dev/null"#, LONG);
        assert!(text.contains("9.9.9") && text.contains(crate::message::VERSION), "{text}");
    }
}
