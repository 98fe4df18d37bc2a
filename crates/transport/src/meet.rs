//! Where two local sides meet, and how descriptors pass from one to the other.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketAddrUnix, SocketFlags, SocketType,
};

use crate::ip_stream::BACKLOG;
use crate::patience::LOOK;
use crate::sys::{self, Idle, RECEIVING, SENDING};
use crate::{Link, LinkError, Patience, Proof, Settings, Wait};

/// A listening UNIX socket in a fresh directory that only its owner may enter. Both go when this value does; what a killed
/// process left behind goes when a later one makes a place.
#[derive(Debug)]
pub(crate) struct Place {
    directory: PathBuf,
    pub path: PathBuf,
    /// A lock on the directory, which the kernel ends with the process: it tells the living from what they left behind.
    _living: OwnedFd,
}

/// How a place's directory is called, with 16 hexadecimal digits behind.
const PREFIX: &str = "pipegauge-";

/// How the name ends while the directory is being made. It gets its own name when it is locked, so that whatever has a name without a lock
/// is of the dead, however young it is.
const MAKING: &str = ".new";

/// Younger directories that are being made are left alone: their maker may not have locked them yet.
const YOUNG: Duration = Duration::from_secs(60);

impl Place {
    /// A place and the socket that listens there.
    pub fn new(of: SocketType) -> Result<(Self, OwnedFd), LinkError> {
        static SWEPT: Once = Once::new();
        SWEPT.call_once(|| sweep(&std::env::temp_dir(), YOUNG));
        let place = Self::in_directory(&std::env::temp_dir())?;
        let listener = unix_socket(of)?;
        let address = unix_address(&place.path)?;
        rustix::net::bind(&listener, &address)
            .and_then(|()| rustix::net::listen(&listener, BACKLOG))
            .map_err(|e| LinkError::io(format!("listening on {}", place.path.display()), e))?;
        Ok((place, listener))
    }

    /// A directory of its own within `temp`, locked before anybody can take it for one that was left behind.
    fn in_directory(temp: &Path) -> Result<Self, LinkError> {
        let name = format!("{PREFIX}{}", sys::random_name()?);
        let (directory, making) = (temp.join(&name), temp.join(name + MAKING));
        rustix::fs::mkdir(&making, Mode::RWXU).map_err(|e| {
            LinkError::io(format!("making the directory {} (TMPDIR chooses another place)", making.display()), e)
        })?;
        let living =
            lock(&making).map_err(|e| LinkError::io(format!("locking the directory {}", making.display()), e))?;
        rustix::fs::rename(&making, &directory)
            .map_err(|e| LinkError::io(format!("naming the directory {}", directory.display()), e))?;
        Ok(Self { path: directory.join("meet"), directory, _living: living })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Nobody is left to be told of an error.
        let _ = std::fs::remove_file(&self.path);
        let _ = std::fs::remove_dir(&self.directory);
    }
}

/// Locks a directory of this user's; an error where another process has it locked.
fn lock(directory: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::open(directory, flags, Mode::empty())?;
    if rustix::fs::fstat(&fd)?.st_uid != rustix::process::geteuid().as_raw() {
        return Err(Errno::PERM);
    }
    rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive)?;
    Ok(fd)
}

/// Removes the places of processes that were killed, those that they did not finish making once they are as old as `young`. What can't be
/// removed is left to the next one.
fn sweep(temp: &Path, young: Duration) {
    for entry in std::fs::read_dir(temp).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_str().and_then(|n| n.strip_prefix(PREFIX)).unwrap_or_default();
        let (digits, making) = name.strip_suffix(MAKING).map_or((name, false), |digits| (digits, true));
        let ours = digits.len() == 16 && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let age = || entry.metadata().and_then(|m| m.modified()).map(|t| t.elapsed().unwrap_or_default());
        if ours
            && (!making || age().is_ok_and(|age| age >= young))
            && let Ok(_lock) = lock(&entry.path())
        {
            let _ = std::fs::remove_file(entry.path().join("meet"));
            let _ = std::fs::remove_dir(entry.path());
        }
    }
}

fn unix_address(path: &Path) -> Result<SocketAddrUnix, LinkError> {
    SocketAddrUnix::new(path).map_err(|e| {
        LinkError::io(
            format!("naming a socket {} (at most 107 bytes; TMPDIR chooses a shorter place)", path.display()),
            e,
        )
    })
}

fn unix_socket(of: SocketType) -> Result<OwnedFd, LinkError> {
    rustix::net::socket_with(AddressFamily::UNIX, of, SocketFlags::CLOEXEC, None)
        .map_err(|e| LinkError::io("making a UNIX socket", e))
}

/// A socket connected to the place at `path`.
pub(crate) fn connect(path: &Path, of: SocketType) -> Result<OwnedFd, LinkError> {
    let fd = unix_socket(of)?;
    rustix::net::connect(&fd, &unix_address(path)?)
        .map_err(|e| LinkError::io(format!("connecting to {}", path.display()), e))?;
    Ok(fd)
}

/// Sends 32 bytes, such as a proof, and descriptors over a connected UNIX socket.
pub(crate) fn hand_over(fd: BorrowedFd<'_>, proof: &[u8; 32], give: &[BorrowedFd<'_>]) -> Result<(), LinkError> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(give)) {
        return Err(LinkError::Protocol(format!("{} descriptors are more than a meeting hands over", give.len())));
    }
    match rustix::net::sendmsg(fd, &[IoSlice::new(proof)], &mut control, SendFlags::NOSIGNAL) {
        Ok(32) => Ok(()),
        Ok(n) => Err(LinkError::Protocol(format!("only {n} bytes of the proof could be sent"))),
        Err(e) => Err(sys::fault(e, SENDING)),
    }
}

/// Receives a proof, which must be `proof`, and `N` descriptors from a connected UNIX socket.
pub(crate) fn take_over<const N: usize>(
    fd: BorrowedFd<'_>,
    proof: &[u8; 32],
    patience: &Patience,
) -> Result<[OwnedFd; N], LinkError> {
    let (shown, given) = received(fd, patience)?;
    if !Proof::matches(&shown, proof) {
        return Err(wrong_proof());
    }
    let count = given.len();
    given.try_into().map_err(|_| LinkError::Protocol(format!("it handed over {count} descriptors, not {N}")))
}

/// Receives 32 bytes, which may be anybody's, and what descriptors come with them.
pub(crate) fn received(fd: BorrowedFd<'_>, patience: &Patience) -> Result<([u8; 32], Vec<OwnedFd>), LinkError> {
    sys::bound_calls(fd, LOOK)?;
    let (mut shown, mut have, mut given) = ([0; 32], 0, Vec::new());
    let mut idle = Idle::default();
    while have < shown.len() {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut slices = [IoSliceMut::new(&mut shown[have..])];
        match rustix::net::recvmsg(fd, &mut slices, &mut control, RecvFlags::CMSG_CLOEXEC) {
            Ok(m) if m.bytes == 0 => return Err(LinkError::Closed { doing: RECEIVING }),
            Ok(m) => {
                have += m.bytes;
                for message in control.drain() {
                    if let RecvAncillaryMessage::ScmRights(fds) = message {
                        given.extend(fds);
                    }
                }
            }
            Err(Errno::AGAIN) => idle.waited(patience, RECEIVING, LOOK)?,
            Err(e) => sys::again(e, patience, RECEIVING)?,
        }
    }
    Ok((shown, given))
}

/// What the connections of a path are made with. Found out once: a transaction, which is timed, must not reserve memory for it.
pub(crate) struct Made {
    pub settings: Settings,
    pub wait: Wait,
    pub patience: Patience,
}

impl Made {
    /// With these settings; `known` are the wait modes that the transport knows, its default first.
    pub fn new(known: &[Wait], settings: &Settings, patience: &Patience) -> Result<Self, LinkError> {
        Ok(Self { settings: settings.clone(), wait: sys::wait(known, settings)?, patience: patience.clone() })
    }
}

/// Shows the near proof over a fresh link and waits for the far one.
pub(crate) fn shake(link: &mut impl Link, proof: &Proof) -> Result<(), LinkError> {
    link.send(&proof.near)?;
    let mut shown = [0; 32];
    link.recv(&mut shown)?;
    if Proof::matches(&shown, &proof.far) { Ok(()) } else { Err(wrong_proof()) }
}

/// Whoever answered is not the far side of this measurement.
pub(crate) fn wrong_proof() -> LinkError {
    LinkError::Protocol("it could not show that it belongs to this measurement".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_dead_left_behind_is_swept() {
        let temp = std::env::temp_dir().join(format!("sweep-{}", sys::random_name().unwrap()));
        let at = |name: &str| temp.join(name);
        let names = ["0123456789abcdef", "fedcba9876543210", "00000000ffffffff.new", "x"];
        let [dead, living, making, other] = names.map(|name| at(&format!("{PREFIX}{name}")));
        for directory in [&dead, &living, &making, &other] {
            std::fs::create_dir_all(directory).unwrap();
            std::fs::write(directory.join("meet"), "").unwrap();
        }
        let held = lock(&living).unwrap();
        let there = || [&dead, &living, &making, &other].map(|directory| directory.exists());
        sweep(&temp, YOUNG);
        assert_eq!(
            there(),
            [false, true, true, true],
            "what was killed a moment ago goes, what may be in the making stays"
        );
        sweep(&temp, Duration::ZERO);
        assert_eq!(there(), [false, true, false, true]);
        drop(held);
        std::fs::write(living.join("something else"), "").unwrap();
        sweep(&temp, Duration::ZERO);
        assert!(living.join("something else").exists(), "nothing but the meeting point is removed");
        // A place that lives is never taken for one of the dead, and leaves nothing of its making.
        let place = Place::in_directory(&temp).unwrap();
        sweep(&temp, Duration::ZERO);
        assert!(place.directory.exists());
        drop(place);
        assert_eq!(std::fs::read_dir(&temp).unwrap().count(), 2, "the other one and the one with something else");
        std::fs::remove_dir_all(&temp).unwrap();
    }
}
