//! What ends a call: the peer's close, its death, patience, a stop.

use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use transport::{Address, AnyLink, Link, LinkError, Transport};

use super::super::guarded::Guarded;
use super::common::{HOME, PROOF, asked, content, in_time, joined, long, most, pair, patience_of, said, short};

pub(super) fn close(module: &'static dyn Transport) -> Result<()> {
    let (mut near, far) = pair(module, &asked(), long())?;
    drop(far);
    said(
        "recv() after the peer closed",
        near.recv(Guarded::new(10).room()),
        |e| matches!(e, LinkError::Closed { .. }),
        "PIPEGAUGE_CLOSED",
    )
}

pub(super) fn death(module: &'static dyn Transport) -> Result<()> {
    let came = after_its_end(module, |link| link.recv(Guarded::new(10).room()))?;
    said("recv() after the peer's process ended", came, |e| matches!(e, LinkError::Closed { .. }), "PIPEGAUGE_CLOSED")
}

pub(super) fn leaving(module: &'static dyn Transport) -> Result<()> {
    let came = after_its_end(module, |link| {
        let message = content((64 << 10).min(most(link)), 1);
        (0..MANY.max(FILLS / message.len())).try_for_each(|_| link.send(&message).and_then(|()| link.flush()))
    })?;
    said("send() after the peer's process ended", came, |e| matches!(e, LinkError::Closed { .. }), "PIPEGAUGE_CLOSED")
}

/// Sends that fill whatever is between two processes, and the bytes that they are to have together.
const MANY: usize = 4096;
const FILLS: usize = 64 << 20;

/// What came of an operation on a link whose peer's process ends without a word.
fn after_its_end<T>(
    module: &'static dyn Transport,
    what: impl FnOnce(&mut AnyLink) -> Result<T, LinkError>,
) -> Result<Result<T, LinkError>> {
    let (patience, _) = patience_of(long());
    let mut acceptor = module.listen(&asked(), HOME, &patience).context("listen()")?;
    let Some(file) = module.source() else { bail!("it has no file") };
    let address = acceptor.address();
    let mut peer = super::super::apart::watched()
        .args(["module", "try"])
        .arg(file)
        .args(["die", "--address", address.text()?, "--patience", &long().as_secs_f64().to_string()])
        .args(["--settings", &serde_json::to_string(&asked())?])
        .stdin(Stdio::null())
        .spawn()
        .context("starting a peer")?;
    let mut link = acceptor.accept(&PROOF).context("accept()")?;
    let came = what(&mut link);
    // It has ended itself, or is ended here.
    let _ = peer.kill();
    let _ = peer.wait();
    Ok(came)
}

/// The peer that ends without a word.
pub(super) fn die(module: &'static dyn Transport, address: &str) -> Result<()> {
    let (patience, _) = patience_of(long());
    let mut connector = module.dial(&asked(), &Address::new(address), HOME, &patience)?;
    let _link = connector.connect(&PROOF)?;
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)?;
    bail!("it outlived its end")
}

pub(super) fn patience(module: &'static dyn Transport) -> Result<()> {
    let (mut near, _far) = pair(module, &asked(), short())?;
    let since = Instant::now();
    let came = near.recv(Guarded::new(10).room());
    in_time("recv() with nothing to receive", since, short())?;
    ensure!(
        since.elapsed() >= short() / 2,
        "recv() gave up after {:?}, and was to wait {:?}",
        since.elapsed(),
        short()
    );
    said("recv() with nothing to receive", came, |e| matches!(e, LinkError::Stalled { .. }), "PIPEGAUGE_STALLED")
}

pub(super) fn stop(module: &'static dyn Transport) -> Result<()> {
    let (patience, stop) = patience_of(long());
    let mut acceptor = module.listen(&asked(), HOME, &patience)?;
    let (mut near, _far) = joined(module, &asked(), &mut acceptor, &patience)?;
    stopping(&stop, "recv() while it is to stop", || near.recv(Guarded::new(10).room()))
}

/// Raises the flag while `waits` waits.
fn stopping<T: Send>(stop: &AtomicBool, what: &str, waits: impl FnOnce() -> Result<T, LinkError> + Send) -> Result<()> {
    let since = Instant::now();
    let came = std::thread::scope(|s| {
        s.spawn(|| {
            sleep(Duration::from_millis(200));
            stop.store(true, Ordering::Relaxed);
        });
        waits()
    });
    in_time(what, since, Duration::from_millis(200))?;
    said(what, came, |e| matches!(e, LinkError::Interrupted), "PIPEGAUGE_INTERRUPTED")
}

pub(super) fn nobody(module: &'static dyn Transport) -> Result<()> {
    let (patience, _) = patience_of(short());
    // A library may take its time to begin: only the wait is bounded.
    let mut acceptor = module.listen(&asked(), HOME, &patience)?;
    let since = Instant::now();
    let came = acceptor.accept(&PROOF);
    in_time("accept() with nobody who connects", since, short())?;
    said("accept() with nobody who connects", came, |e| matches!(e, LinkError::Stalled { .. }), "PIPEGAUGE_STALLED")?;
    let (patience, stop) = patience_of(long());
    drop(acceptor);
    let mut acceptor = module.listen(&asked(), HOME, &patience)?;
    stopping(&stop, "accept() while it is to stop", || acceptor.accept(&PROOF))
}
