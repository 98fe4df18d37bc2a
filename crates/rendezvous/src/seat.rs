//! Processes that must be started together, by a launcher of their own (`mpirun`): each takes a seat.
//!
//! The command starts a *seat* for each process of a path, as it would start the process itself, and the launcher starts as many *ranks*. A rank
//! takes the standard input, output and error of a seat over a UNIX socket, and becomes the program that the seat was told: with the environment of
//! the launcher, and with the conversation of the seat. The seat ends when the rank does.

use std::ffi::OsString;
use std::io::{self, IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::FdFlags;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use transport::folder::{ENDED, PROCESS, SEAT, is_held};
use transport::{Name, Settings};

/// The variable that tells a process that a launcher started of which transport it is, and with which settings: a name, a space, and JSON.
pub(crate) const PREPARE: &str = "PIPEGAUGE_PREPARE";
/// How long a seat waits for a rank, and a rank for a seat: launchers take their time, the more the more processes they start.
const MEETS: Duration = Duration::from_secs(120);
/// How often a rank looks for a free seat.
const LOOK: Duration = Duration::from_millis(2);
/// How often a seat looks whether anybody is left that may come.
const LEFT: Duration = Duration::from_millis(100);
/// What a seat and a rank say that wait for one another after the command ended.
const OVER: &str = "the command ended before a process of the launcher and its seat met";
/// Most bytes of a seat's words.
const LONGEST: usize = 64 << 10;

/// What [`PREPARE`] says of a path.
pub(crate) fn prepare(transport: Name, settings: &Settings) -> io::Result<String> {
    Ok(format!("{transport} {}", serde_json::to_string(settings)?))
}

/// The transport and the settings of the path for which a launcher started this process; none where no launcher did.
///
/// # Errors
/// The environment names them in another way: it is not of this program.
pub fn prepared() -> io::Result<Option<(String, Settings)>> {
    let Ok(words) = std::env::var(PREPARE) else { return Ok(None) };
    read(&words).map(Some)
}

/// The transport and the settings of [`prepare`].
pub(crate) fn read(words: &str) -> io::Result<(String, Settings)> {
    let (name, settings) = words.split_once(' ').ok_or_else(|| {
        io::Error::other(format!("{PREPARE} in the environment is not of this program: it names no path (unset it)"))
    })?;
    Ok((name.to_owned(), serde_json::from_str(settings)?))
}

/// Where a seat waits.
fn place(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("{SEAT}{number}"))
}

/// Where a rank says which process it is.
pub(crate) fn process(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("{PROCESS}{number}"))
}

/// Waits for a rank, gives it this process's standard streams and the words of a program, and ends with it.
///
/// # Errors
/// No rank comes in time, it can't be given them, or it leaves the seat while the conversation over the standard input is open.
pub fn seat(folder: &Path, number: usize, words: &[OsString]) -> io::Result<()> {
    let listener = UnixListener::bind(place(folder, number))?;
    let mut rank = comes(&listener, folder, MEETS)?;
    // Whoever else waits in line finds out at once.
    drop(listener);
    // Only one rank has it.
    std::fs::remove_file(place(folder, number))?;
    let told: Vec<u8> = words.iter().flat_map(|word| word.as_bytes().iter().copied().chain([0])).collect();
    let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
    let streams = [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&streams));
    let sent = sendmsg(&rank, &[IoSlice::new(&told)], &mut control, SendFlags::NOSIGNAL)?;
    if sent < told.len() {
        return Err(io::Error::other("its words are too long"));
    }
    rank.shutdown(std::net::Shutdown::Write)?;
    // What it holds is closed with it.
    while rank.read(&mut [0; 64])? > 0 {}
    // Who leaves in order has closed it.
    if is_closed(&stdin) {
        Ok(())
    } else {
        Err(io::Error::other("the process of the launcher that took this seat left it"))
    }
}

/// Whether both directions of a conversation were closed.
fn is_closed(conversation: impl AsFd) -> bool {
    let mut fds = [PollFd::new(&conversation, PollFlags::empty())];
    poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|n| n > 0)
}

/// The rank that takes the seat of this listener, within this time. Nobody is waited for once the command or another rank ended.
fn comes(listener: &UnixListener, folder: &Path, meets: Duration) -> io::Result<UnixStream> {
    let began = Instant::now();
    loop {
        let mut fds = [PollFd::new(listener, PollFlags::IN)];
        if poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: LEFT.as_nanos() as i64 }))? > 0 {
            return Ok(listener.accept()?.0);
        }
        let why = if folder.join(ENDED).exists() {
            "another process of the launcher ended"
        } else if !is_held(folder) {
            OVER
        } else if began.elapsed() > meets {
            "the launcher started no process that took this seat"
        } else {
            continue;
        };
        return Err(io::Error::other(why));
    }
}

/// Takes a seat, and becomes the program that it was told. Returns only where that fails.
pub fn rank(folder: &Path) -> io::Error {
    match taken(folder) {
        Ok(mut command) => command.exec(),
        Err(e) => e,
    }
}

/// A seat that was taken.
pub(crate) struct Taken {
    /// It ends with this.
    pub seat: UnixStream,
    /// The hidden command of this program that it is to be.
    pub hidden: String,
    /// Its standard streams.
    pub streams: [OwnedFd; 3],
}

/// Takes the seat of this number; none where nobody waits there now.
pub(crate) fn take(folder: &Path, number: usize) -> io::Result<Option<Taken>> {
    let Ok(seat) = UnixStream::connect(place(folder, number)) else { return Ok(None) };
    let Ok((told, streams)) = given(&seat) else { return Ok(None) };
    std::fs::write(process(folder, number), std::process::id().to_string())?;
    let last = told.split(|b| *b == 0).rfind(|word| !word.is_empty()).unwrap_or_default();
    Ok(Some(Taken { seat, hidden: String::from_utf8_lossy(last).into_owned(), streams }))
}

/// Makes streams the standard ones.
fn lend([stdin, stdout, stderr]: &[OwnedFd; 3]) -> io::Result<()> {
    rustix::stdio::dup2_stdin(stdin)?;
    rustix::stdio::dup2_stdout(stdout)?;
    Ok(rustix::stdio::dup2_stderr(stderr)?)
}

fn taken(folder: &Path) -> io::Result<Command> {
    let (number, seat, told, streams) = free(folder)?;
    std::fs::write(process(folder, number), std::process::id().to_string())?;
    lend(&streams)?;
    let mut words =
        told.split(|b| *b == 0).filter(|word| !word.is_empty()).map(|word| OsString::from_vec(word.to_vec()));
    let mut command = Command::new(words.next().ok_or_else(|| io::Error::other("the seat names no program"))?);
    command.args(words);
    // The seat sees its end when the program ends.
    rustix::io::fcntl_setfd(&seat, FdFlags::empty())?;
    std::mem::forget(seat);
    Ok(command)
}

/// The first seat that nobody has, with what it gives.
fn free(folder: &Path) -> io::Result<(usize, UnixStream, Vec<u8>, [OwnedFd; 3])> {
    let began = Instant::now();
    while began.elapsed() < MEETS {
        let entries = match std::fs::read_dir(folder) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Err(io::Error::other(OVER)),
            entries => entries?,
        };
        for entry in entries {
            let name = entry?.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix(SEAT)?.parse().ok());
            if let Some(number) = number
                && let Ok(seat) = UnixStream::connect(place(folder, number))
                // Another rank may have been quicker: a seat gives once.
                && let Ok((told, streams)) = given(&seat)
            {
                return Ok((number, seat, told, streams));
            }
        }
        if !is_held(folder) {
            return Err(io::Error::other(OVER));
        }
        std::thread::sleep(LOOK);
    }
    Err(io::Error::other("no seat was free"))
}

/// What a seat gives.
fn given(seat: &UnixStream) -> io::Result<(Vec<u8>, [OwnedFd; 3])> {
    let (mut told, mut streams) = (Vec::new(), Vec::new());
    let mut piece = [0; 4096];
    loop {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let n = recvmsg(seat, &mut [IoSliceMut::new(&mut piece)], &mut control, RecvFlags::CMSG_CLOEXEC)?.bytes;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(fds) = message {
                streams.extend(fds);
            }
        }
        if n == 0 {
            let count = streams.len();
            let streams = streams.try_into().map_err(|_| io::Error::other(format!("the seat gave {count} streams")))?;
            return Ok((told, streams));
        }
        told.extend_from_slice(&piece[..n]);
        if told.len() > LONGEST {
            return Err(io::Error::other("the seat's words have no end"));
        }
    }
}

#[cfg(test)]
mod tests {
    use transport::folder::Folder;

    use super::*;

    fn refused(listener: &UnixListener, folder: &Path, meets: Duration) -> String {
        comes(listener, folder, meets).unwrap_err().to_string()
    }

    #[test]
    fn a_seat_waits_for_as_long_as_somebody_may_come() {
        let folder = Folder::new().unwrap();
        let path = folder.path().to_owned();
        let listener = UnixListener::bind(place(&path, 0)).unwrap();
        let rank = UnixStream::connect(place(&path, 0)).unwrap();
        assert!(comes(&listener, &path, MEETS).is_ok());
        drop(rank);
        assert!(refused(&listener, &path, Duration::ZERO).contains("started no process"));
        std::fs::write(path.join(ENDED), "").unwrap();
        assert!(refused(&listener, &path, MEETS).contains("another process of the launcher ended"));
        drop(folder);
        assert!(!path.exists(), "it holds nothing unknown");
        assert!(refused(&listener, &path, MEETS).contains("the command ended"));
    }

    #[test]
    fn a_seat_and_a_rank_do_not_wait_for_one_another_once_the_command_is_over() {
        // As a killed command leaves it: nobody has its lock.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("seats");
        std::fs::create_dir(&path).unwrap();
        let listener = UnixListener::bind(path.join("elsewhere")).unwrap();
        let seat = refused(&listener, &path, MEETS);
        let rank = |path: &Path| free(path).unwrap_err().to_string();
        let killed = rank(&path);
        std::fs::remove_dir_all(&path).unwrap();
        assert_eq!([seat, killed, rank(&path)], [OVER; 3]);
    }

    #[test]
    fn a_conversation_is_closed_once_both_its_directions_are() {
        let (near, seat) = UnixStream::pair().unwrap();
        assert!(!is_closed(&seat));
        seat.shutdown(std::net::Shutdown::Write).unwrap();
        assert!(!is_closed(&seat), "the other side still speaks");
        near.shutdown(std::net::Shutdown::Both).unwrap();
        assert!(is_closed(&seat));
    }
}
