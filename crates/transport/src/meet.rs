//! Where two local sides meet, and how descriptors pass from one to the other.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType,
};

use crate::folder::{Folder, MEET};
use crate::patience::LOOK;
use crate::sys::{self, BACKLOG, Idle, RECEIVING, SENDING};
use crate::{Link, LinkError, Patience, Proof, Settings, Wait};

/// A listening UNIX socket in a folder of its own. Both go when this value does.
#[derive(Debug)]
pub(crate) struct Place {
    pub path: PathBuf,
    _folder: Folder,
}

impl Place {
    /// A place and the socket that listens there.
    pub fn new(of: SocketType) -> Result<(Self, OwnedFd), LinkError> {
        let folder = Folder::new()?;
        let place = Self { path: folder.path().join(MEET), _folder: folder };
        let listener = unix_socket(of)?;
        let address = unix_address(&place.path)?;
        rustix::net::bind(&listener, &address)
            .and_then(|()| rustix::net::listen(&listener, BACKLOG))
            .map_err(|e| LinkError::io(format!("listening on {}", place.path.display()), e))?;
        Ok((place, listener))
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
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_GIVEN))];
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

/// Most descriptors that come with a proof.
const MOST_GIVEN: usize = 2;
const TAKING: &str = "taking over the peer's descriptors (ulimit -n)";

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
                // The system leaves out those for which this process has no place.
                if m.flags.contains(ReturnFlags::CTRUNC) && given.len() < MOST_GIVEN {
                    return Err(sys::fault(Errno::MFILE, TAKING));
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
    far_shown(link, proof)
}

/// Reads the far proof over a fresh link.
pub(crate) fn far_shown(link: &mut impl Link, proof: &Proof) -> Result<(), LinkError> {
    let mut shown = [0; 32];
    link.recv(&mut shown)?;
    if Proof::matches(&shown, &proof.far) { Ok(()) } else { Err(wrong_proof()) }
}

/// Whoever answered is not the far side of this measurement.
pub(crate) fn wrong_proof() -> LinkError {
    LinkError::Protocol("it could not show that it belongs to this measurement".to_owned())
}
