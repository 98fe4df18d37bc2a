//! How members of a group meet by datagrams: each waits at a door, and is invited there by one who shows that it may.

use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
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
    /// The last invitation that was one.
    last: Vec<u8>,
    again: Option<Again>,
}

impl Door {
    /// A door at this address, whose port the system chooses.
    pub fn new(at: SocketAddr) -> Result<Self, LinkError> {
        let fd = ip::socket(&at, SocketType::DGRAM)?;
        rustix::net::bind(&fd, &at).map_err(|e| LinkError::io(format!("binding to {at}"), e))?;
        let at = bound_to(fd.as_fd())?;
        sys::bound_calls(fd.as_fd(), LOOK)?;
        Ok(Self { fd, at, last: Vec::new(), again: None })
    }

    /// The next invitation of `N` bytes that `read` finds to be one, and who sent it.
    pub fn invited<const N: usize, T>(
        &mut self,
        patience: &Patience,
        read: impl Fn(&[u8; N]) -> Option<T>,
    ) -> Result<(T, SocketAddr), LinkError> {
        self.again = None;
        let start = Instant::now();
        loop {
            patience.check(start, "waiting to be invited into the group")?;
            let mut bytes = [0; N];
            match rustix::net::recvfrom(&self.fd, &mut bytes[..], RecvFlags::TRUNC) {
                Ok((_, len, Some(from))) if len == N => {
                    if let (Some(invitation), Ok(from)) = (read(&bytes), SocketAddr::try_from(from)) {
                        self.last = bytes.to_vec();
                        return Ok((invitation, from));
                    }
                }
                Ok(_) | Err(Errno::AGAIN | Errno::INTR) => {}
                Err(e) => return Err(LinkError::io(format!("receiving on {}", self.at), e)),
            }
        }
    }

    /// Shows who invited that this member has joined: by the socket `own`, or by the door itself. The answer may be lost, and then the invitation comes
    /// again: until the next one is waited for, and for at most as long as somebody waits for the answer, each is answered anew.
    pub fn show(
        &mut self,
        own: Option<BorrowedFd<'_>>,
        proof: &Proof,
        to: SocketAddr,
        patience: &Patience,
    ) -> Result<(), LinkError> {
        let door = self.fd.as_fd();
        let own = own.unwrap_or(door);
        answer(own, proof, to).map_err(|e| LinkError::io(format!("answering {to}"), e))?;
        let kept = |fd: BorrowedFd<'_>| fd.try_clone_to_owned().map_err(|e| LinkError::io("keeping a socket", e));
        self.again = Some(Again::start(kept(door)?, kept(own)?, (self.last.clone(), proof.clone()), patience.limit)?);
        Ok(())
    }
}

/// Shows who invited that a member has joined.
fn answer(own: BorrowedFd<'_>, proof: &Proof, to: SocketAddr) -> Result<(), Errno> {
    rustix::net::sendto(own, &proof.far, SendFlags::NOSIGNAL, &to).map(drop)
}

/// A thread that answers one invitation when it comes again, until this is dropped.
struct Again {
    /// Its other end is readable once this one is closed.
    open: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl Again {
    /// Invitations come to `door`, and are answered by `own`.
    fn start(
        door: OwnedFd,
        own: OwnedFd,
        (invitation, proof): (Vec<u8>, Proof),
        limit: Duration,
    ) -> Result<Self, LinkError> {
        let doing = |e| LinkError::io("answering an invitation that may come again", e);
        let (open, closed) = UnixStream::pair().map_err(doing)?;
        let thread = std::thread::Builder::new()
            .name("invitations".to_owned())
            .spawn(move || answered(&door, &own, &closed, (&invitation, &proof), limit))
            .map_err(doing)?;
        Ok(Self { open: Some(open), thread: Some(thread) })
    }
}

impl Drop for Again {
    fn drop(&mut self) {
        self.open = None;
        self.thread.take().map(JoinHandle::join);
    }
}

/// It sleeps until something comes, so that it takes no time from what is measured meanwhile.
fn answered(door: &OwnedFd, own: &OwnedFd, closed: &UnixStream, (invitation, proof): (&[u8], &Proof), limit: Duration) {
    // One byte more shows that a datagram is longer.
    let mut bytes = vec![0; invitation.len() + 1];
    let start = Instant::now();
    loop {
        let left = limit.saturating_sub(start.elapsed());
        if left.is_zero() {
            return;
        }
        let mut fds = [PollFd::new(closed, PollFlags::IN), PollFd::new(door, PollFlags::IN)];
        match sys::poll_for(&mut fds, left) {
            Ok(true) if fds[0].revents().is_empty() => {}
            Ok(false) => continue,
            _ => return,
        }
        let came = rustix::net::recvfrom(door, &mut bytes[..], RecvFlags::DONTWAIT);
        // The whole of it: a later one of the same proof is of another group.
        if let Ok((len, _, Some(from))) = came
            && bytes[..len] == *invitation
            && let Ok(from) = SocketAddr::try_from(from)
        {
            // Lost as the first may be; another invitation follows.
            let _ = answer(own.as_fd(), proof, from);
        }
    }
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn patience() -> Patience {
        Patience::new(Duration::from_secs(60), Arc::default())
    }

    fn socket() -> OwnedFd {
        std::net::UdpSocket::bind("127.0.0.1:0").unwrap().into()
    }

    /// A near side invites until it is answered; by whom it was.
    fn invites(near: &OwnedFd, door: SocketAddr, proof: &Proof) -> SocketAddr {
        let mut invitation = [7; 40];
        invitation[..32].copy_from_slice(&proof.near);
        let readable = |wait| sys::readable(near, wait, false, &patience());
        invite(near, door, proof, &invitation, &patience(), readable).unwrap()
    }

    #[test]
    fn an_invitation_whose_answer_was_lost_is_answered_again() {
        let mut door = Door::new(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let (at, near, own) = (door.at, socket(), socket());
        let by_own = bound_to(own.as_fd()).unwrap();
        // The next one is met after the one before as if that had never been.
        for (of, answers, by) in [(1, None, at), (2, Some(own.as_fd()), by_own), (3, None, at)] {
            let proof = Proof { near: [of; 32], far: [of + 10; 32] };
            std::thread::scope(|scope| {
                let first = scope.spawn(|| invites(&near, at, &proof));
                let read = |bytes: &[u8; 40]| Proof::matches(bytes.first_chunk().unwrap(), &proof.near).then_some(());
                let ((), from) = door.invited(&patience(), read).unwrap();
                door.show(answers, &proof, from, &patience()).unwrap();
                assert!(first.join().unwrap() == by);
            });
            // It asks again, as one does who got none. A stranger is answered nothing.
            let stranger = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
            stranger.send_to(&[9; 40], at).unwrap();
            assert!(invites(&near, at, &proof) == by);
            stranger.set_nonblocking(true).unwrap();
            assert!(stranger.recv(&mut [0; 32]).is_err());
        }
    }

    #[test]
    fn nobody_is_answered_for_longer_than_one_waits_for_it() {
        let patience = Patience::new(Duration::from_millis(1), Arc::default());
        let mut door = Door::new(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let near = bound_to(socket().as_fd()).unwrap();
        door.show(None, &Proof::none(), near, &patience).unwrap();
        let thread = door.again.as_mut().and_then(|again| again.thread.take()).unwrap();
        thread.join().unwrap();
    }
}
