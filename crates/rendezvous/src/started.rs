//! A process that the command has started, here or over ssh. What to do comes over standard input, so that no list of processes shows the
//! secret.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::MeetError;
use crate::allocation::is_placed;
use crate::channel::Channel;
use crate::far::gate::Gate;
use crate::far::{Pin, Terms};
use crate::frame::STRANGER;
use crate::message::{Launch, Speaker, Waiting};
use crate::secret::{Secret, SessionKeys};
use crate::stopped::is_stopped;
use crate::tls::Identity;

/// What it was told, and what proves both sides to each other.
pub(crate) struct Started {
    pub launch: Launch,
    pub gate: Gate,
    pub identity: Identity,
    /// Where it was told so, if that was not on its standard streams.
    lent: Option<Lent>,
}

/// What a process that does several things at once is told one of them by, as others are by standard input and output.
pub(crate) struct Lent {
    pub input: OwnedFd,
    pub output: OwnedFd,
    /// Where its last words go.
    pub error: Arc<OwnedFd>,
}

impl Started {
    /// Reads a line from standard input. An error too where it is of another version, which is told which one is here.
    pub(crate) fn read() -> Result<Self, MeetError> {
        Self::read_of(None)
    }

    /// The same from what was lent, where something was.
    pub(crate) fn read_of(lent: Option<Lent>) -> Result<Self, MeetError> {
        let launch = match read(&told_by(lent.as_ref(), STRANGER)?)? {
            Ok(launch) => launch,
            Err(speaker) => {
                // Say who is here, so that the other side can name both versions too.
                say_to(lent.as_ref(), &Waiting { speaker: Speaker::here(), at: None, pin: String::new() })?;
                speaker.agrees()?;
                return Err(MeetError::Protocol("a line that this version does not know".into()));
            }
        };
        // This side's own threads must not wake up on the near side's CPU, whose pin it inherited.
        if !is_placed() {
            host::run_on(&launch.cpus);
        }
        let secret: [u8; 32] =
            HEXLOWER.decode(launch.secret.as_bytes()).ok().and_then(|bytes| bytes.try_into().ok()).ok_or_else(
                || MeetError::Protocol("the secret on standard input is not 64 hexadecimal digits".into()),
            )?;
        Ok(Self { launch, gate: Gate::new(Secret::of(secret), false), identity: Identity::fresh()?, lent })
    }

    /// For a command on this host: standard input is one of a pair of sockets whose other one only the command has, so nobody else can
    /// connect, and no name, address or file is needed. `attend` is done once both sides are proved.
    pub(crate) fn here(
        self,
        stop: &Arc<AtomicBool>,
        attend: impl FnOnce(&mut Channel, &SessionKeys, &Terms) -> Result<(), MeetError>,
    ) -> Result<(), MeetError> {
        // The control connection's end says so too; this also covers the moment before there is one.
        let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
        let terms = Terms {
            limits: self.launch.limits,
            pin: Pin::Decided(self.launch.pin),
            last_resort: LAST_RESORT,
            listen_at: self.launch.listen_at,
            near_stopped: Some(parent_is_stopped),
            error: self.lent.as_ref().map(|lent| Arc::clone(&lent.error)),
        };
        let taking = MeetError::io("taking over standard input as the control connection");
        let stdin = std::io::stdin();
        let input = self.lent.as_ref().map_or(stdin.as_fd(), |lent| lent.input.as_fd());
        let socket = input.try_clone_to_owned().map_err(taking)?;
        let mut channel = Channel::far(socket, &self.identity, Arc::clone(stop))?;
        say_to(
            self.lent.as_ref(),
            &Waiting { speaker: Speaker::here(), at: None, pin: HEXLOWER.encode(&self.identity.pin) },
        )?;
        let keys = self.gate.admit(&mut channel, &|| true, MEETS)?;
        let outcome = attend(&mut channel, &keys, &terms);
        channel.shutdown();
        outcome
    }
}

/// What ends such a process where nothing else ends a trial.
pub(crate) const LAST_RESORT: Option<fn()> = Some(|| std::process::exit(2));

/// Time for the process that started this one to prove that it did. Nobody else has this connection, and it may first wait for others that it started.
const MEETS: Duration = Duration::from_secs(120);
/// Time for the line that says what to do.
const TOLD: Duration = Duration::from_secs(30);
/// Time for a process to end in good order once who started it over ssh is gone.
pub const ENDS_AFTER_SSH: Duration = Duration::from_millis(1500);

/// Ends this process in good order when nobody holds its standard input open any more.
pub(crate) fn ends_with_input(stop: &Arc<AtomicBool>) -> Result<(), MeetError> {
    at_end_of_input(stop, || ())
}

/// The same of one that was started over ssh: who started it is gone, and what keeps it from ending in good order does so for a moment only.
pub(crate) fn ends_with_ssh(stop: &Arc<AtomicBool>) -> Result<(), MeetError> {
    at_end_of_input(stop, || {
        std::thread::sleep(ENDS_AFTER_SSH);
        std::process::exit(2);
    })
}

fn at_end_of_input(stop: &Arc<AtomicBool>, then: fn()) -> Result<(), MeetError> {
    let stop = Arc::clone(stop);
    let watch = move || {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        stop.store(true, Ordering::Relaxed);
        then();
    };
    let begun = std::thread::Builder::new().name("input".into()).spawn(watch);
    begun.map(drop).map_err(MeetError::io("starting a thread that watches standard input"))
}

/// Whether the process that started this one is stopped.
fn parent_is_stopped() -> bool {
    rustix::process::getppid().is_some_and(|parent| is_stopped(parent.as_raw_nonzero().get().cast_unsigned()))
}

/// The line on standard input that says what to do, or `most` bytes of it.
pub(crate) fn told(most: usize) -> Result<String, MeetError> {
    told_by(None, most)
}

fn told_by(lent: Option<&Lent>, most: usize) -> Result<String, MeetError> {
    let Some(lent) = lent else {
        let stdin = std::io::stdin();
        return first_line(&mut stdin.lock(), stdin.as_fd(), most, TOLD);
    };
    let input = lent.input.try_clone().map_err(MeetError::io("reading what to do"))?;
    first_line(&mut BufReader::new(File::from(input)), lent.input.as_fd(), most, TOLD)
}

/// The first line of `input`, which has read nothing of `fd` yet, where it comes within this time.
fn first_line(input: &mut dyn BufRead, fd: BorrowedFd<'_>, most: usize, time: Duration) -> Result<String, MeetError> {
    let reading = || MeetError::io("reading what to do from standard input");
    let until = Instant::now() + time;
    let mut line = Vec::new();
    while line.last() != Some(&b'\n') && line.len() < most {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(MeetError::NotTold { waited: time, bytes: line.len() });
        }
        // Whatever was read before is in the line: more can only come here.
        let wait = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
        if !poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&wait)).is_ok_and(|n| n > 0) {
            continue;
        }
        let piece = match input.fill_buf() {
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            piece => piece.map_err(reading())?,
        };
        if piece.is_empty() {
            break;
        }
        let end = piece.iter().position(|b| *b == b'\n').map_or(piece.len(), |at| at + 1).min(most - line.len());
        line.extend_from_slice(&piece[..end]);
        input.consume(end);
    }
    String::from_utf8(line).map_err(|e| reading()(std::io::Error::new(ErrorKind::InvalidData, e)))
}

/// What the near side wants, or who it is if it is another version.
pub(crate) fn read(line: &str) -> Result<Result<Launch, Speaker>, MeetError> {
    let strange = |_| {
        MeetError::Protocol(
            "this command is started by 'pipegauge run' and reads what to do from standard input; use 'pipegauge \
             serve' to wait for another host"
                .into(),
        )
    };
    let speaker: Speaker = serde_json::from_str(line).map_err(strange)?;
    if speaker.agrees().is_err() {
        return Ok(Err(speaker));
    }
    Ok(Ok(serde_json::from_str(line).map_err(strange)?))
}

/// Writes a line to standard output.
pub(crate) fn say(waiting: &Waiting) -> Result<(), MeetError> {
    say_to(None, waiting)
}

fn say_to(lent: Option<&Lent>, waiting: &Waiting) -> Result<(), MeetError> {
    let mut line = serde_json::to_string(waiting).map_err(|e| MeetError::Protocol(e.to_string()))?;
    line.push('\n');
    let telling = MeetError::io("telling the near side where this one waits");
    let Some(lent) = lent else {
        let mut out = std::io::stdout().lock();
        return out.write_all(line.as_bytes()).and_then(|()| out.flush()).map_err(telling);
    };
    lent.output.try_clone().and_then(|out| File::from(out).write_all(line.as_bytes())).map_err(telling)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn what_to_do_is_read_as_far_as_its_line_and_not_waited_for_without_end() {
        let line = |most, time| {
            let (mut near, far) = UnixStream::pair().unwrap();
            near.write_all(b"first\nsecond").unwrap();
            let mut input = BufReader::new(&far);
            let first = first_line(&mut input, far.as_fd(), most, time)?;
            Ok::<_, MeetError>((first, input.buffer().to_vec()))
        };
        const LONG: Duration = Duration::from_secs(60);
        assert_eq!(line(100, LONG).unwrap(), ("first\n".to_owned(), b"second".to_vec()));
        assert_eq!(line(3, LONG).unwrap().0, "fir");
        // The other end stays, and no line comes.
        let (mut near, far) = UnixStream::pair().unwrap();
        near.write_all(b"half").unwrap();
        let short = Duration::from_millis(50);
        let said = first_line(&mut BufReader::new(&far), far.as_fd(), 100, short).unwrap_err().to_string();
        assert!(said.contains("standard input") && said.contains("pipegauge serve"), "{said}");
        near.write_all(b"end").unwrap();
        drop(near);
        assert_eq!(first_line(&mut BufReader::new(&far), far.as_fd(), 100, LONG).unwrap(), "end");
    }
}
