//! How the two sides of an HTTP connection come together.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use hyper::client::conn::{http1 as client1, http2 as client2};
use hyper::server::conn::{http1 as server1, http2 as server2};

use super::engine::{Engine, Side};
use super::far::{Desk, Far};
use super::feed::Feed;
use super::link::Http;
use super::meaning::End;
use super::near::{Near, STREAMS, Sender};
use super::plug::Plug;
use super::tasks::Tasks;
use super::{NAME, OPTIONS, SPOKEN, SUMMARY, VERSIONS, capabilities};
use crate::ip_stream::{OverIp, Sessions};
use crate::meet::{Made, far_shown, wrong_proof};
use crate::stream::Stream;
use crate::tcp::{self, Tcps};
use crate::{AnyLink, Capabilities, Link, LinkError, Name, OptionSpec, Proof, Settings, Wait};

/// HTTP between two processes of one host or two.
#[derive(Debug)]
pub struct HttpOverTcp;

impl OverIp for HttpOverTcp {
    const NAME: Name = NAME;
    const SUMMARY: &'static str = SUMMARY;
    const SPOKEN: &'static [&'static str] = SPOKEN;
    const OPTIONS: &'static [OptionSpec] = &OPTIONS;
    const WAITS: &'static [Wait] = Tcps::WAITS;

    fn can() -> Capabilities {
        capabilities()
    }
    fn before(fd: BorrowedFd<'_>, settings: &Settings) -> Result<(), LinkError> {
        Tcps::before(fd, settings)
    }
}

fn version(made: &Made) -> &'static str {
    VERSIONS.into_iter().find(|version| made.settings.text("version") == Some(version)).unwrap_or(VERSIONS[0])
}

/// What begins a connection writes no more than a socket has room for, so that it never waits.
fn at_once<T>(beginning: impl Future<Output = hyper::Result<T>>) -> Result<T, LinkError> {
    let failed = |e| LinkError::io("beginning an HTTP connection", e);
    match pin!(beginning).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(begun) => begun.map_err(|e| failed(std::io::Error::other(e))),
        Poll::Pending => Err(failed(std::io::ErrorKind::WouldBlock.into())),
    }
}

/// The server's end of an accepted socket.
fn far(fd: OwnedFd, made: &Made) -> Result<Http, LinkError> {
    let plug = Plug::new(tcp::socket(fd, made)?.into_fd());
    let (tasks, desk, end, version) = (Tasks::default(), Desk::default(), End::default(), version(made));
    let noted = end.clone();
    if version == "2" {
        let mut builder = server2::Builder::new(tasks.spawner.clone());
        builder.max_concurrent_streams(STREAMS as u32);
        let connection = builder.serve_connection(plug.clone(), desk.clone());
        tasks.spawner.spawn(async move { noted.note(connection.await) });
    } else {
        let connection = server1::Builder::new().header_read_timeout(None).serve_connection(plug.clone(), desk.clone());
        tasks.spawner.spawn(async move { noted.note(connection.await) });
    }
    let far = Far::new(desk, version == "2", end.clone());
    Ok(Http::new(Engine::new(plug, tasks, end, version, Side::Far(far)), &made.patience, made.wait))
}

/// The client's end of a connected socket, ahead of which the near proof goes. The far one is due.
fn near(fd: OwnedFd, made: &Made, proof: &Proof) -> Result<Http, LinkError> {
    let mut plain = Stream::new(tcp::socket(fd, made)?, &made.patience);
    plain.send(&proof.near)?;
    let plug = Plug::new(plain.into_duct().into_fd());
    let (tasks, end, version) = (Tasks::default(), End::default(), version(made));
    let noted = end.clone();
    let sender = if version == "2" {
        let builder = client2::Builder::new(tasks.spawner.clone());
        let (sender, connection) = at_once(builder.handshake::<_, Feed>(plug.clone()))?;
        tasks.spawner.spawn(async move { noted.note(connection.await) });
        Sender::Two(sender)
    } else {
        let (sender, connection) = at_once(client1::Builder::new().handshake::<_, Feed>(plug.clone()))?;
        tasks.spawner.spawn(async move { noted.note(connection.await) });
        Sender::One(sender)
    };
    let near = Near::new(sender, end.clone());
    Ok(Http::new(Engine::new(plug, tasks, end, version, Side::Near(near)), &made.patience, made.wait))
}

impl Sessions for HttpOverTcp {
    type Far = ();
    type Near = ();

    fn far_side(_: &Settings) -> Result<(), LinkError> {
        Ok(())
    }
    fn near_side(_: &Settings) -> Result<(), LinkError> {
        Ok(())
    }
    fn accepted(fd: OwnedFd, made: &Made, proof: &Proof, (): &()) -> Result<AnyLink, LinkError> {
        let mut link = far(fd, made)?;
        link.send(&proof.far)?;
        Ok(AnyLink::new(link.helped()?))
    }
    fn connected(fd: OwnedFd, made: &Made, proof: &Proof, (): &()) -> Result<AnyLink, LinkError> {
        let mut link = near(fd, made, proof)?;
        far_shown(&mut link, proof)?;
        Ok(AnyLink::new(link.helped()?))
    }
    fn answers(
        fd: OwnedFd,
        made: &Made,
        (): &(),
        proof: &Proof,
        request: &mut [u8],
        response: &[u8],
    ) -> Result<(), LinkError> {
        let mut link = far(fd, made)?;
        link.recv(request)?;
        // One response.
        link.send(&[&proof.far[..], response].concat())?;
        link.recv_end()
    }
    fn asks(
        fd: OwnedFd,
        made: &Made,
        (): &(),
        proof: &Proof,
        request: &[u8],
        response: &mut [u8],
    ) -> Result<(), LinkError> {
        let mut link = near(fd, made, proof)?;
        link.send(request)?;
        let mut came = vec![0; 32 + response.len()];
        link.recv(&mut came)?;
        let (shown, rest) = came.split_at(32);
        let shown: &[u8; 32] = shown.try_into().map_err(|_| wrong_proof())?;
        if !Proof::matches(shown, &proof.far) {
            return Err(wrong_proof());
        }
        response.copy_from_slice(rest);
        Ok(())
    }
}
