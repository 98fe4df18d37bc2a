//! How members of a group meet by datagrams: each waits at a door, and is invited there by one who shows that it may.

use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketType};

use crate::ip::{self, bound_to, no_answer};
use crate::patience::LOOK;
use crate::{LinkError, Patience, Proof, sys};

/// How often a member is invited over a path that may lose it.
const AGAIN: Duration = Duration::from_millis(50);

/// A socket at which a member is invited.
pub(crate) struct Door {
    fd: OwnedFd,
    /// Where it is.
    pub at: SocketAddr,
}

impl Door {
    /// A door at this address, whose port the system chooses.
    pub fn new(at: SocketAddr) -> Result<Self, LinkError> {
        let fd = ip::socket(&at, SocketType::DGRAM)?;
        rustix::net::bind(&fd, &at).map_err(|e| LinkError::io(format!("binding to {at}"), e))?;
        let at = bound_to(fd.as_fd())?;
        sys::bound_calls(fd.as_fd(), LOOK)?;
        Ok(Self { fd, at })
    }

    /// The next invitation of `N` bytes that `read` finds to be one, and who sent it.
    pub fn invited<const N: usize, T>(
        &self,
        patience: &Patience,
        read: impl Fn(&[u8; N]) -> Option<T>,
    ) -> Result<(T, SocketAddr), LinkError> {
        let start = Instant::now();
        loop {
            patience.check(start, "waiting to be invited into the group")?;
            let mut bytes = [0; N];
            match rustix::net::recvfrom(&self.fd, &mut bytes[..], RecvFlags::TRUNC) {
                Ok((_, len, Some(from))) if len == N => {
                    if let (Some(invitation), Ok(from)) = (read(&bytes), SocketAddr::try_from(from)) {
                        return Ok((invitation, from));
                    }
                }
                Ok(_) | Err(Errno::AGAIN | Errno::INTR) => {}
                Err(e) => return Err(LinkError::io(format!("receiving on {}", self.at), e)),
            }
        }
    }

    /// Shows who invited, by the door itself, that this member has joined.
    #[cfg(feature = "strata")]
    pub fn show(&self, proof: &Proof, to: SocketAddr) -> Result<(), LinkError> {
        answer(&self.fd, proof, to)
    }
}

/// Shows who invited, by this socket, that a member has joined.
pub(crate) fn answer(own: &OwnedFd, proof: &Proof, to: SocketAddr) -> Result<(), LinkError> {
    rustix::net::sendto(own, &proof.far, SendFlags::NOSIGNAL, &to)
        .map(drop)
        .map_err(|e| LinkError::io(format!("answering {to}"), e))
}

/// Invites one member by the socket `own` until it shows that it has joined, and by which address. `readable` waits at most so long until there is
/// something to read there.
pub(crate) fn invite(
    own: &OwnedFd,
    door: SocketAddr,
    proof: &Proof,
    invitation: &[u8],
    patience: &Patience,
    mut readable: impl FnMut(Duration) -> Result<bool, LinkError>,
) -> Result<SocketAddr, LinkError> {
    let doing = || format!("inviting the member at {door} into the group");
    let start = Instant::now();
    loop {
        rustix::net::sendto(own, invitation, SendFlags::NOSIGNAL, &door).map_err(|e| LinkError::io(doing(), e))?;
        let sent = Instant::now();
        while readable(AGAIN.saturating_sub(sent.elapsed()))? {
            let mut shown = [0; 32];
            match rustix::net::recvfrom(own, &mut shown[..], RecvFlags::DONTWAIT | RecvFlags::TRUNC) {
                Ok((_, 32, Some(from))) if Proof::matches(&shown, &proof.far) => {
                    return SocketAddr::try_from(from).map_err(|e| LinkError::io("reading a datagram's source", e));
                }
                Ok(_) | Err(Errno::AGAIN | Errno::INTR) => {}
                Err(e) => return Err(LinkError::io(doing(), e)),
            }
            if sent.elapsed() >= AGAIN {
                break;
            }
        }
        match patience.check(start, "inviting a member into the group") {
            Err(LinkError::Stalled { waited, .. }) => return Err(no_answer(door, waited)),
            other => other?,
        }
    }
}
