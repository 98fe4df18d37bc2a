//! How the two ends of a TCP connection come to a [`Posting`].

use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use am::posting::Posting;
use am::{Error, Listener, Options};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net;

use crate::name::{is_local, name};

/// How often an end looks whether the other one is there.
const LOOK: Duration = Duration::from_millis(1);

/// The addresses of a connection that both ends have on this host: of this end, and of the other.
fn ends(socket: &impl AsFd) -> Result<[SocketAddr; 2], Error> {
    let refused = |value: String, rule| Error::Option { option: "socket", value, rule };
    let asked = [net::getsockname(socket), net::getpeername(socket).and_then(|peer| peer.ok_or(Errno::NOTCONN))];
    let mut ends = Vec::with_capacity(2);
    for answer in asked {
        let any = answer
            .map_err(|e| Error::Io { doing: "asking for the ends of the socket".to_owned(), source: e.into() })?;
        let end = SocketAddr::try_from(any);
        ends.push(end.map_err(|_| refused("of another kind".to_owned(), "it must be a connected TCP socket"))?);
    }
    let stream = net::sockopt::socket_type(socket).is_ok_and(|kind| kind == net::SocketType::STREAM);
    let [here, there] = [ends[0], ends[1]];
    if !stream {
        return Err(refused(format!("one from {here} to {there}"), "it must be a TCP socket"));
    }
    if !is_local(here, there) {
        let rule = "both ends must have one address, as they do within a host: go on over TCP";
        return Err(refused(format!("a connection from {here} to {there}"), rule));
    }
    Ok([here, there])
}

/// Receive posting on a connection that this program accepted. Waits until the other end asks for it, for no longer than the patience. Sizes are of these options.
///
/// # Errors
/// If the connection leaves the host, the other end does not come, is another user's, or the system refuses.
pub fn accepted(socket: &impl AsFd, options: Options) -> Result<Posting, Error> {
    let [here, there] = ends(socket)?;
    let listener = Listener::bind(&name(there, here), options)?;
    let until = Instant::now() + options.patience;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let limit =
            Timespec { tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX), tv_nsec: left.subsec_nanos().into() };
        match poll(&mut [PollFd::new(&listener, PollFlags::IN)], Some(&limit)) {
            Ok(0) => return Err(missed(&options)),
            Ok(_) => return Posting::accept(&listener),
            Err(Errno::INTR) => {}
            Err(e) => return Err(Error::Io { doing: "waiting for the other end".to_owned(), source: e.into() }),
        }
    }
}

/// The same on a connection that this program made by `connect`.
///
/// # Errors
/// As [`accepted`].
pub fn connected(socket: &impl AsFd, options: Options) -> Result<Posting, Error> {
    let [here, there] = ends(socket)?;
    let until = Instant::now() + options.patience;
    loop {
        match Posting::connect(&name(here, there), options) {
            Err(Error::NobodyListens { .. }) if Instant::now() < until => std::thread::sleep(LOOK),
            Err(Error::NobodyListens { .. }) => return Err(missed(&options)),
            done => return done,
        }
    }
}

fn missed(options: &Options) -> Error {
    Error::Stalled {
        doing: "waiting for the other end of the connection to ask for receive posting",
        patience: options.patience,
    }
}
