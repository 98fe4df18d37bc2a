//! The process in which `serve` measures: what a module does to it ends one measurement, and not the serving.
//!
//! The serving process made the address, the certificate and the secret, and holds on to them. It hands them over the socket that is this
//! process's standard input, the listening socket among them; nothing stands in a list of processes. Where this one is lost, another takes
//! its place. When the other end closes, this one stops in good order.

use std::io::{IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize};
use transport::last_words::in_words;

use super::path::Path;
use super::serving::{Serving, attend_all};
use crate::secret::Secret;
use crate::started::ends_with_input;
use crate::tls::Identity;
use crate::{Limits, MeetError, ServeEvent};

/// How it ends where a module's call does not come back.
const HUNG: i32 = 70;
/// How long it may take to end in good order: it tells its near side first.
const ENDS: Duration = Duration::from_secs(5);
/// Longest line that is handed over, bytes.
const LINE: usize = 64 << 10;

/// What is handed over beside the listening socket.
#[derive(Serialize, Deserialize)]
pub(super) struct Handed {
    /// The secret, the certificate (DER) and its key (PKCS #8), in hexadecimal digits.
    pub secret: String,
    pub certificate: String,
    pub key: String,
    pub keep: bool,
    pub limits: Limits,
}

/// How a process that attended came to its end.
pub(super) enum Ended {
    /// By itself, with this exit code: it has said why.
    ByItself(u8),
    /// It was lost, in these words, during the measurement of this near side or before any.
    Lost(String, Option<SocketAddr>),
}

/// Attends to the near sides of a `serve`, in the process that it started for that. Returns as serving ends.
///
/// # Errors
/// Those of [`crate::serve`].
pub fn attendant(stop: Arc<AtomicBool>, announce: &mut dyn FnMut(ServeEvent)) -> Result<(), MeetError> {
    let (socket, handed) = receive()?;
    let secret = hex(&handed.secret)?;
    let secret: [u8; 32] = secret.try_into().map_err(|_| not_whole())?;
    let identity = Identity::of(hex(&handed.certificate)?, hex(&handed.key)?)?;
    ends_with_input(&stop)?;
    let serving = Serving { socket, identity, secret: Secret::of(secret), keep: handed.keep, limits: handed.limits };
    let mut announce = |event: ServeEvent| {
        if let ServeEvent::Met { peer } = &event {
            // Whom this process is lost to, should that happen. Nobody reads it where the serving process is gone.
            let _ = rustix::io::write(std::io::stdin().as_fd(), format!("{peer}\n").as_bytes());
        }
        announce(event);
    };
    attend_all(serving, Some(|| std::process::exit(HUNG)), stop, &mut announce, Path::new)
}

fn not_whole() -> MeetError {
    MeetError::Protocol("this command is started by 'pipegauge serve', which tells it what to do".into())
}

fn hex(text: &str) -> Result<Vec<u8>, MeetError> {
    HEXLOWER.decode(text.as_bytes()).map_err(|_| not_whole())
}

/// What was handed over on standard input.
fn receive() -> Result<(TcpListener, Handed), MeetError> {
    let reading = || MeetError::io("reading what to serve from standard input");
    let mut line = vec![0; LINE];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut with = RecvAncillaryBuffer::new(&mut space);
    let got = recvmsg(std::io::stdin(), &mut [IoSliceMut::new(&mut line)], &mut with, RecvFlags::CMSG_CLOEXEC)
        .map_err(|_| not_whole())?;
    let socket = with.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    });
    let socket: OwnedFd = socket.ok_or_else(not_whole)?;
    let mut had = got.bytes;
    // A long line may come in pieces.
    while !line[..had].contains(&b'\n') {
        let more = std::io::stdin().lock().read(&mut line[had..]).map_err(reading())?;
        if more == 0 {
            return Err(not_whole());
        }
        had += more;
    }
    let handed = serde_json::from_slice(&line[..had]).map_err(|_| not_whole())?;
    Ok((TcpListener::from(socket), handed))
}

/// Runs `command`, which attends, until it ends, or until `stop` and its end.
pub(super) fn run(
    mut command: Command,
    listener: &TcpListener,
    handed: &Handed,
    stop: &AtomicBool,
) -> Result<Ended, MeetError> {
    let starting = |source| MeetError::Launch {
        what: "the process that measures",
        program: "pipegauge attend".to_owned(),
        source,
    };
    let (mut own, theirs) = UnixStream::pair().map_err(starting)?;
    let child = command.stdin(OwnedFd::from(theirs)).spawn().map_err(starting)?;
    // Its end of the pair goes with the command: only the process itself is to hold it.
    drop(command);
    let mut child = Kept(child);
    // A process that ended at once leaves a broken pipe; how it ended tells more.
    let _ = hand_over(&own, listener, handed);
    let peers = read_until_it_ends(&mut own, stop)?;
    let until = Instant::now() + ENDS;
    let status = loop {
        match child.0.try_wait().map_err(MeetError::io("waiting for the process that measures"))? {
            Some(status) => break status,
            None if Instant::now() >= until => {
                let _ = child.0.kill();
                break child.0.wait().map_err(MeetError::io("waiting for the process that measures"))?;
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let peer = peers.trim_end().lines().next_back().and_then(|line| line.parse().ok());
    Ok(match lost(status) {
        Some(how) => Ended::Lost(how, peer),
        None => Ended::ByItself(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(2)),
    })
}

/// Never left behind.
struct Kept(Child);

impl Drop for Kept {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}

/// How it was lost; none where it ended by itself.
fn lost(status: ExitStatus) -> Option<String> {
    match status.code() {
        Some(HUNG) => Some("a call into a module did not come back, and the process that measured ended itself".into()),
        _ if status.signal().is_some() => Some(format!("the process that measured ended: {}", in_words(status))),
        _ => None,
    }
}

fn hand_over(to: &UnixStream, listener: &TcpListener, handed: &Handed) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(handed)?;
    line.push(b'\n');
    let fds = [listener.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut with = SendAncillaryBuffer::new(&mut space);
    with.push(SendAncillaryMessage::ScmRights(&fds));
    let sent = sendmsg(to, &[IoSlice::new(&line)], &mut with, SendFlags::NOSIGNAL)?;
    (&*to).write_all(&line[sent..])
}

/// What it says until it closes its end, which is with its own; on a stop this side's end is closed first.
fn read_until_it_ends(own: &mut UnixStream, stop: &AtomicBool) -> Result<String, MeetError> {
    let mut said = Vec::new();
    let mut asked = None;
    loop {
        if stop.load(Ordering::Relaxed) && asked.is_none() {
            let _ = own.shutdown(std::net::Shutdown::Write);
            asked = Some(Instant::now());
        }
        if asked.is_some_and(|at: Instant| at.elapsed() > ENDS) {
            break;
        }
        // A signal interrupts it.
        let tick = Timespec { tv_sec: 1, tv_nsec: 0 };
        if !poll(&mut [PollFd::new(&*own, PollFlags::IN)], Some(&tick)).is_ok_and(|n| n > 0) {
            continue;
        }
        let mut piece = [0; 4096];
        match own.read(&mut piece) {
            Ok(0) => break,
            Ok(n) => {
                said.extend_from_slice(&piece[..n]);
                // Of a long service only the last near side matters.
                let old = said.len().saturating_sub(4096);
                said.drain(..old);
            }
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    Ok(String::from_utf8_lossy(&said).into_owned())
}
