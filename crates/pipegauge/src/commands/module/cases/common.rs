//! What the cases share: a connection, both halves at once, how long to wait, what a call has to say.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use transport::{Acceptor, AnyLink, Link, LinkError, Patience, Proof, Settings, Transport};

/// Patience that no case is to use up, where the check says none.
pub const LONG: Duration = Duration::from_secs(10);

/// Patience that is to be used up, in which a connection is made besides: a machine that is given patience takes longer for that, too.
pub(super) fn short() -> Duration {
    (long() / 8).max(Duration::from_millis(600))
}

/// Longest time until what is to end has ended, beyond what it was given: a machine that is given patience is late as well.
pub(super) fn late() -> Duration {
    (long() / 2).max(Duration::from_secs(3))
}

pub(super) const PROOF: Proof = Proof { near: [1; 32], far: [2; 32] };

pub(super) const HOME: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// What this process has in its place.
pub(super) static PATIENCE: OnceLock<Duration> = OnceLock::new();

pub(super) fn long() -> Duration {
    *PATIENCE.get_or_init(|| LONG)
}

/// What is set on the links of this process, where anything is.
pub(super) static SET: OnceLock<Settings> = OnceLock::new();

/// What is set on every link of a case.
pub(super) fn asked() -> Settings {
    SET.get().cloned().unwrap_or_default()
}

/// Patience with a flag of its own.
pub(super) fn patience_of(limit: Duration) -> (Patience, Arc<AtomicBool>) {
    let stop = Arc::new(AtomicBool::new(false));
    (Patience::new(limit, Arc::clone(&stop)), stop)
}

/// Ends what one half of a case waits for where the other has failed. A process runs one case.
pub(super) static FAILED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// A message whose bytes tell its number.
pub(super) fn content(len: usize, number: u64) -> Vec<u8> {
    (0..len as u64).map(|i| (i.wrapping_mul(31) ^ (i >> 8) ^ number.wrapping_mul(97)) as u8).collect()
}

/// Both ends of a connection: near, far.
pub(super) fn pair(module: &'static dyn Transport, settings: &Settings, limit: Duration) -> Result<(AnyLink, AnyLink)> {
    let patience = Patience::new(limit, Arc::clone(&FAILED));
    let mut acceptor = module.listen(settings, HOME, &patience).context("listen()")?;
    joined(module, settings, &mut acceptor, &patience)
}

pub(super) fn joined(
    module: &'static dyn Transport,
    settings: &Settings,
    acceptor: &mut Acceptor,
    patience: &Patience,
) -> Result<(AnyLink, AnyLink)> {
    joined_at(HOME, module, settings, acceptor, patience)
}

/// The same where the listener is at this address.
pub(super) fn joined_at(
    home: SocketAddr,
    module: &'static dyn Transport,
    settings: &Settings,
    acceptor: &mut Acceptor,
    patience: &Patience,
) -> Result<(AnyLink, AnyLink)> {
    let address = acceptor.address();
    std::thread::scope(|s| {
        let near = s.spawn(|| -> Result<AnyLink> {
            let mut connector = module.dial(settings, &address, home, patience).context("connect()")?;
            let link = connector.connect(&PROOF).context("connect()");
            link.inspect_err(|_| FAILED.store(true, Ordering::Relaxed))
        });
        let far = acceptor.accept(&PROOF).context("accept()");
        let near = near.join().map_err(|_| anyhow!("connecting panicked"))?;
        Ok((near?, far?))
    })
}

/// Runs both halves at once; the error is that of the half that failed by itself.
pub(super) fn both(near: impl FnOnce() -> Result<()> + Send, far: impl FnOnce() -> Result<()> + Send) -> Result<()> {
    let told = |done: Result<()>| done.inspect_err(|_| FAILED.store(true, Ordering::Relaxed));
    let (near, far) = std::thread::scope(|s| {
        let far = s.spawn(|| told(far()));
        let near = told(near());
        (near, far.join().unwrap_or_else(|_| Err(anyhow!("the far half panicked"))))
    });
    let ended = |e: &anyhow::Error| matches!(e.downcast_ref(), Some(LinkError::Interrupted));
    match (near, far) {
        (Err(near), Err(far)) if ended(&near) => Err(far),
        (near, far) => near.and(far),
    }
}

pub(super) fn most_of(module: &'static dyn Transport) -> usize {
    module.capabilities(&asked()).max_block.map_or(usize::MAX, |most| most as usize)
}

pub(super) fn most(link: &AnyLink) -> usize {
    link.capabilities().max_block.map_or(usize::MAX, |most| most as usize)
}

/// Whether a call failed as it has to.
pub(super) fn said<T>(
    what: &str,
    came: Result<T, LinkError>,
    right: fn(&LinkError) -> bool,
    wanted: &str,
) -> Result<()> {
    match came {
        Err(e) if right(&e) => Ok(()),
        Err(e) => bail!("{what} has to return {wanted}, and came to: {e}"),
        Ok(_) => bail!("{what} has to return {wanted}, and returned PIPEGAUGE_OK"),
    }
}

pub(super) fn in_time(what: &str, since: Instant, given: Duration) -> Result<()> {
    let took = since.elapsed();
    ensure!(took <= given + late(), "{what} took {:.1} s, and had {:.1} s", took.as_secs_f64(), given.as_secs_f64());
    Ok(())
}
