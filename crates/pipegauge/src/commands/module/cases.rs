//! What the module interface asks of a module, tried: each case is a function that says what is wrong. A process of its own runs each.

use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use transport::options::Form;
use transport::{
    Acceptor, Address, AnyLink, Capabilities, Delivered, End, Link, LinkError, Order, Patience, Proof, Room, Semantics,
    Settings, Transport, Value,
};

use super::guarded::Guarded;
use super::load;

/// One thing to try.
pub struct Case {
    /// Its name, for `module try`.
    pub name: &'static str,
    /// What is tried, in words.
    pub what: &'static str,
    /// Whether a module of these capabilities has to do it.
    pub applies: fn(&Capabilities) -> bool,
    try_it: fn(&'static dyn Transport) -> Result<()>,
}

/// Every case, in the order in which they are tried.
pub const CASES: [Case; 22] = [
    Case {
        name: "sizes",
        what: "messages of 1 B to 16 MiB arrive as they were sent, both ways",
        applies: always,
        try_it: sizes,
    },
    Case {
        name: "memory",
        what: "messages may begin at any byte of memory, and nothing is written beside them",
        applies: always,
        try_it: memory,
    },
    Case {
        name: "lent",
        what: "messages go out of and into memory that the link makes for them, which lies where it is asked to",
        applies: always,
        try_it: lent,
    },
    Case {
        name: "whole",
        what: "a receive of another length than the message's says PROTOCOL",
        applies: |can| can.reliable && can.semantics == Semantics::Message,
        try_it: whole,
    },
    Case {
        name: "order",
        what: "3,000 messages arrive in order",
        applies: |can| can.reliable && can.ordered,
        try_it: order,
    },
    Case {
        name: "exchange",
        what: "both sides send 8 MiB at once and neither waits for ever",
        applies: |can| can.duplex && can.reliable,
        try_it: exchange,
    },
    Case {
        name: "ready",
        what: "ready() tells whether a message is there, and waits no longer than it is told",
        applies: |can| can.poll,
        try_it: ready,
    },
    Case {
        name: "close",
        what: "receives say CLOSED once the peer has closed",
        applies: |can| can.reliable,
        try_it: close,
    },
    Case {
        name: "death",
        what: "receives say CLOSED once the peer's process has ended",
        applies: |can| can.reliable,
        try_it: death,
    },
    Case {
        name: "leaving",
        what: "sends say CLOSED once the peer's process has ended",
        applies: |can| can.reliable,
        try_it: leaving,
    },
    Case {
        name: "patience",
        what: "a receive without a message says STALLED when patience is over",
        applies: |can| can.reliable,
        try_it: patience,
    },
    Case {
        name: "stop",
        what: "a receive that waits says INTERRUPTED when it is to stop",
        applies: |can| can.reliable,
        try_it: stop,
    },
    Case { name: "nobody", what: "accept() ends by patience, and when it is to stop", applies: always, try_it: nobody },
    Case {
        name: "nowhere",
        what: "connect() to a listener that is gone fails in time",
        applies: always,
        try_it: nowhere,
    },
    Case {
        name: "stranger",
        what: "a stranger's connection does not keep the right one away",
        applies: |can| can.reliable,
        try_it: stranger,
    },
    Case {
        name: "again",
        what: "100 connections one after another leave no file open",
        applies: always,
        try_it: again,
    },
    Case {
        name: "links",
        what: "two links at once, each used by threads of its own, keep their messages apart",
        applies: |can| can.reliable && can.ordered,
        try_it: links,
    },
    Case {
        name: "settings",
        what: "every option works at its bounds, or is refused in words",
        applies: always,
        try_it: settings,
    },
    Case { name: "put", what: "what is put and got is what is exposed", applies: |can| can.one_sided, try_it: put },
    Case {
        name: "post",
        what: "posts arrive in order, and are done in order",
        applies: |can| can.queued,
        try_it: post,
    },
    Case {
        name: "together",
        what: "three members of a group do every collective at many sizes, and each gets what it is to get",
        applies: |can| can.collective,
        try_it: together,
    },
    Case {
        name: "casts",
        what: "three members cast to each other, and each delivers all casts in the order that the group promises; answers reach whom they are for",
        applies: |can| can.group,
        try_it: casts,
    },
];

fn always(_: &Capabilities) -> bool {
    true
}

/// Patience that no case is to use up, where the check says none.
const LONG: Duration = Duration::from_secs(10);
/// Patience that is to be used up.
const SHORT: Duration = Duration::from_millis(600);
/// Longest time until what is to end has ended, beyond what it was given: a machine that is given patience is late as well.
fn late() -> Duration {
    (long() / 2).max(Duration::from_secs(3))
}

const PROOF: Proof = Proof { near: [1; 32], far: [2; 32] };
const HOME: std::net::SocketAddr = std::net::SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

/// What this process has in its place.
static PATIENCE: OnceLock<Duration> = OnceLock::new();

fn long() -> Duration {
    *PATIENCE.get_or_init(|| LONG)
}

/// Runs a case on a file, with a patience in the place of [`LONG`] where there is one.
pub fn run(case: &str, file: &std::path::Path, address: Option<&str>, patience: Option<f64>) -> Result<()> {
    if let Some(patience) = patience.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        // Nobody asked before.
        let _ = PATIENCE.set(patience);
    }
    let module = load(file).map_err(|e| anyhow!(e))?;
    if case == "die" {
        return die(module, address.unwrap_or_default());
    }
    let case = CASES.iter().find(|c| c.name == case).with_context(|| format!("there is no case '{case}'"))?;
    (case.try_it)(module)
}

/// Patience with a flag of its own.
fn patience_of(limit: Duration) -> (Patience, Arc<AtomicBool>) {
    let stop = Arc::new(AtomicBool::new(false));
    (Patience::new(limit, Arc::clone(&stop)), stop)
}

/// Ends what one half of a case waits for where the other has failed. A process runs one case.
static FAILED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// A message whose bytes tell its number.
fn content(len: usize, number: u64) -> Vec<u8> {
    (0..len as u64).map(|i| (i.wrapping_mul(31) ^ (i >> 8) ^ number.wrapping_mul(97)) as u8).collect()
}

/// Both ends of a connection: near, far.
fn pair(module: &'static dyn Transport, settings: &Settings, limit: Duration) -> Result<(AnyLink, AnyLink)> {
    let patience = Patience::new(limit, Arc::clone(&FAILED));
    let mut acceptor = module.listen(settings, HOME, &patience).context("listen()")?;
    joined(module, settings, &mut acceptor, &patience)
}

fn joined(
    module: &'static dyn Transport,
    settings: &Settings,
    acceptor: &mut Acceptor,
    patience: &Patience,
) -> Result<(AnyLink, AnyLink)> {
    let address = acceptor.address();
    std::thread::scope(|s| {
        let near = s.spawn(|| -> Result<AnyLink> {
            let mut connector = module.dial(settings, &address, HOME, patience).context("connect()")?;
            let link = connector.connect(&PROOF).context("connect()");
            link.inspect_err(|_| FAILED.store(true, Ordering::Relaxed))
        });
        let far = acceptor.accept(&PROOF).context("accept()");
        let near = near.join().map_err(|_| anyhow!("connecting panicked"))?;
        Ok((near?, far?))
    })
}

/// Runs both halves at once; the error is that of the half that failed by itself.
fn both(near: impl FnOnce() -> Result<()> + Send, far: impl FnOnce() -> Result<()> + Send) -> Result<()> {
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

fn most_of(module: &'static dyn Transport) -> usize {
    module.capabilities(&Settings::default()).max_block.map_or(usize::MAX, |most| most as usize)
}

fn most(link: &AnyLink) -> usize {
    link.capabilities().max_block.map_or(usize::MAX, |most| most as usize)
}

fn sizes(module: &'static dyn Transport) -> Result<()> {
    let (mut near, mut far) = pair(module, &Settings::default(), long())?;
    let most = most(&near);
    let edges = [
        1,
        2,
        64,
        1448,
        1472,
        1500,
        4096,
        8192,
        9000,
        16_384,
        32_768,
        65_507,
        65_536,
        131_072,
        1 << 20,
        4 << 20,
        16 << 20,
    ];
    let mut all: Vec<usize> =
        edges.iter().flat_map(|n: &usize| [n - 1, *n, n + 1]).filter(|n| (1..=most).contains(n)).collect();
    if most < 16 << 20 {
        all.push(most);
    }
    both(
        || {
            for &size in &all {
                let (out, mut back) = (content(size, 1), Guarded::new(size));
                near.send(&out).with_context(|| format!("send() of {size} bytes"))?;
                near.flush()?;
                near.recv(back.room()).with_context(|| format!("recv() of {size} bytes"))?;
                let back = back.written(&format!("recv() of {size} bytes"))?;
                ensure!(back == content(size, 2), "a message of {size} bytes came back with other content");
            }
            Ok(())
        },
        || {
            for &size in &all {
                let mut message = Guarded::new(size);
                far.recv(message.room()).with_context(|| format!("recv() of {size} bytes"))?;
                let message = message.written(&format!("recv() of {size} bytes"))?;
                ensure!(message == content(size, 1), "a message of {size} bytes arrived with other content");
                far.send(&content(size, 2)).with_context(|| format!("send() of {size} bytes"))?;
                far.flush()?;
            }
            Ok(())
        },
    )
}

fn memory(module: &'static dyn Transport) -> Result<()> {
    let (mut near, mut far) = pair(module, &Settings::default(), long())?;
    let len = 5000.min(most(&near));
    for offset in [0, 1, 2, 3, 4, 7, 8, 63, 64] {
        let (mut out, mut into) = (vec![0; len + offset], Guarded::at(offset, len));
        out[offset..].copy_from_slice(&content(len, offset as u64));
        both(|| Ok(near.send(&out[offset..]).and_then(|()| near.flush())?), || Ok(far.recv(into.room())?))?;
        ensure!(
            into.written("recv()")? == &out[offset..],
            "a message at an offset of {offset} bytes arrived with other content"
        );
    }
    Ok(())
}

/// Where the module makes no memory, it is the process's.
fn lent(module: &'static dyn Transport) -> Result<()> {
    let (near, far) = pair(module, &Settings::default(), long())?;
    let most = most(&near).min(100_000);
    let (mut near, mut far) = (End::new(near), End::new(far));
    // Each place takes memory anew and gives the last one back.
    for (len, align, offset) in [(1, 1, 0), (most, 64, 0), (5000, 4096, 4095), (5000, 64, 3), (most, 4096, 0)] {
        let room = Room { len: len.min(most), reserve: len.min(most), align, offset };
        let (near, out, back) = near.lend(&room, &room).context("take()")?;
        let (far, answer, into) = far.lend(&room, &room).context("take()")?;
        for memory in [&*out, back, answer, into] {
            let at = memory.as_ptr().addr();
            ensure!(
                at % align == offset % align,
                "memory at {at:#x} is not {offset} bytes after a multiple of {align}"
            );
        }
        for (memory, number) in [(&mut *out, 1), (back, 2), (answer, 3), (into, 4)] {
            memory[..room.len].copy_from_slice(&content(room.len, number));
        }
        ensure!(out[..room.len] == content(room.len, 1), "memory that was taken twice is the same memory");
        both(
            || {
                near.send(&out[..room.len]).and_then(|()| near.flush())?;
                Ok(near.recv(&mut back[..room.len])?)
            },
            || {
                far.recv(&mut into[..room.len])?;
                Ok(far.send(&answer[..room.len]).and_then(|()| far.flush())?)
            },
        )?;
        let right = into[..room.len] == content(room.len, 1) && back[..room.len] == content(room.len, 3);
        ensure!(right, "a message of {} bytes arrived in memory of the link with other content", room.len);
    }
    Ok(())
}

fn whole(module: &'static dyn Transport) -> Result<()> {
    for (sent, wanted) in [(100, 50), (100, 200)] {
        if most_of(module) < wanted {
            continue;
        }
        let (mut near, mut far) = pair(module, &Settings::default(), SHORT * 4)?;
        let mut into = Guarded::new(wanted);
        let mut came = Ok(());
        both(
            || Ok(near.send(&content(sent, 1)).and_then(|()| near.flush())?),
            || {
                came = far.recv(into.room());
                Ok(())
            },
        )?;
        into.written(&format!("recv() of {wanted} bytes"))?;
        said(
            &format!("recv() of {wanted} bytes where a message of {sent} came"),
            came,
            |e| matches!(e, LinkError::Protocol(_)),
            "PIPEGAUGE_PROTOCOL",
        )?;
    }
    Ok(())
}

fn order(module: &'static dyn Transport) -> Result<()> {
    let (mut near, mut far) = pair(module, &Settings::default(), long())?;
    let len = |i: u64| 1 + i as usize % 200;
    both(
        || {
            (0..3000).try_for_each(|i| near.send(&content(len(i), i)))?;
            Ok(near.flush()?)
        },
        || {
            for i in 0..3000 {
                let mut message = vec![0; len(i)];
                far.recv(&mut message).with_context(|| format!("recv() of message {i}"))?;
                ensure!(message == content(len(i), i), "message {i} is another, or has other content");
            }
            Ok(())
        },
    )
}

fn exchange(module: &'static dyn Transport) -> Result<()> {
    let (mut near, mut far) = pair(module, &Settings::default(), long())?;
    let large = (8 << 20).min(most(&near));
    for (there, back) in [(large, large), (large, 9.min(large)), (1, large)] {
        let half = |link: &mut AnyLink, out: (usize, u64), into: (usize, u64)| -> Result<()> {
            let mut message = Guarded::new(into.0);
            link.exchange(&content(out.0, out.1), message.room())
                .with_context(|| format!("exchange() of {} bytes with {}", out.0, into.0))?;
            ensure!(message.written("exchange()")? == content(into.0, into.1), "exchange() received other content");
            Ok(())
        };
        both(|| half(&mut near, (there, 1), (back, 2)), || half(&mut far, (back, 2), (there, 1)))?;
    }
    Ok(())
}

fn ready(module: &'static dyn Transport) -> Result<()> {
    let (mut near, mut far) = pair(module, &Settings::default(), long())?;
    for _ in 0..3 {
        ensure!(!near.ready(Duration::ZERO)?, "ready(0) says that a message is there, and none was sent");
        let since = Instant::now();
        ensure!(!near.ready(Duration::from_millis(50))?, "ready() says that a message is there, and none was sent");
        ensure!(since.elapsed() >= Duration::from_millis(45), "ready(0.05) came back after {:?}", since.elapsed());
        far.send(&content(100.min(most(&near)), 1))?;
        far.flush()?;
        ensure!(near.ready(long())?, "ready() does not see a message that was sent");
        near.recv(&mut vec![0; 100.min(most(&near))])?;
    }
    Ok(())
}

fn close(module: &'static dyn Transport) -> Result<()> {
    let (mut near, far) = pair(module, &Settings::default(), long())?;
    drop(far);
    said(
        "recv() after the peer closed",
        near.recv(Guarded::new(10).room()),
        |e| matches!(e, LinkError::Closed { .. }),
        "PIPEGAUGE_CLOSED",
    )
}

fn death(module: &'static dyn Transport) -> Result<()> {
    let came = after_its_end(module, |link| link.recv(Guarded::new(10).room()))?;
    said("recv() after the peer's process ended", came, |e| matches!(e, LinkError::Closed { .. }), "PIPEGAUGE_CLOSED")
}

fn leaving(module: &'static dyn Transport) -> Result<()> {
    let came = after_its_end(module, |link| {
        let message = content((64 << 10).min(most(link)), 1);
        // More than any buffer between them takes.
        (0..MANY).try_for_each(|_| link.send(&message).and_then(|()| link.flush()))
    })?;
    said("send() after the peer's process ended", came, |e| matches!(e, LinkError::Closed { .. }), "PIPEGAUGE_CLOSED")
}

/// Sends of 64 KiB that fill whatever is between two processes.
const MANY: u32 = 4096;

/// What came of an operation on a link whose peer's process ends without a word.
fn after_its_end<T>(
    module: &'static dyn Transport,
    what: impl FnOnce(&mut AnyLink) -> Result<T, LinkError>,
) -> Result<Result<T, LinkError>> {
    let (patience, _) = patience_of(long());
    let mut acceptor = module.listen(&Settings::default(), HOME, &patience).context("listen()")?;
    let Some(file) = module.source() else { bail!("it has no file") };
    let address = acceptor.address();
    let mut peer = super::apart::watched()
        .args(["module", "try"])
        .arg(file)
        .args(["die", "--address", address.text()?, "--patience", &long().as_secs_f64().to_string()])
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

fn links(module: &'static dyn Transport) -> Result<()> {
    let (patience, plain) = (Patience::new(long(), Arc::clone(&FAILED)), Settings::default());
    let mut acceptor = module.listen(&plain, HOME, &patience).context("listen()")?;
    let one = joined(module, &plain, &mut acceptor, &patience).context("the first of two links")?;
    let other = joined(module, &plain, &mut acceptor, &patience).context("the second of two links")?;
    let turns = |(mut near, mut far): (AnyLink, AnyLink), link: u64| {
        let size = 1000.min(most(&near));
        both(
            || {
                for i in 0..200 {
                    let mut back = Guarded::new(size);
                    near.send(&content(size, link + i))?;
                    near.flush()?;
                    near.recv(back.room())?;
                    ensure!(
                        back.written("recv()")? == content(size, link + i),
                        "what came back over one of two links is not its own"
                    );
                }
                Ok(())
            },
            || {
                for i in 0..200 {
                    let mut message = Guarded::new(size);
                    far.recv(message.room())?;
                    let message = message.written("recv()")?;
                    ensure!(message == content(size, link + i), "what arrived over one of two links is not its own");
                    far.send(message)?;
                    far.flush()?;
                }
                Ok(())
            },
        )
    };
    both(|| turns(one, 1000), || turns(other, 2000))
}

/// The peer that ends without a word.
fn die(module: &'static dyn Transport, address: &str) -> Result<()> {
    let (patience, _) = patience_of(long());
    let mut connector = module.dial(&Settings::default(), &Address::new(address), HOME, &patience)?;
    let _link = connector.connect(&PROOF)?;
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)?;
    bail!("it outlived its end")
}

/// Whether a call failed as it has to.
fn said<T>(what: &str, came: Result<T, LinkError>, right: fn(&LinkError) -> bool, wanted: &str) -> Result<()> {
    match came {
        Err(e) if right(&e) => Ok(()),
        Err(e) => bail!("{what} has to return {wanted}, and came to: {e}"),
        Ok(_) => bail!("{what} has to return {wanted}, and returned PIPEGAUGE_OK"),
    }
}

fn in_time(what: &str, since: Instant, given: Duration) -> Result<()> {
    let took = since.elapsed();
    ensure!(took <= given + late(), "{what} took {:.1} s, and had {:.1} s", took.as_secs_f64(), given.as_secs_f64());
    Ok(())
}

fn patience(module: &'static dyn Transport) -> Result<()> {
    let (mut near, _far) = pair(module, &Settings::default(), SHORT)?;
    let since = Instant::now();
    let came = near.recv(Guarded::new(10).room());
    in_time("recv() with nothing to receive", since, SHORT)?;
    ensure!(since.elapsed() >= SHORT / 2, "recv() gave up after {:?}, and was to wait {SHORT:?}", since.elapsed());
    said("recv() with nothing to receive", came, |e| matches!(e, LinkError::Stalled { .. }), "PIPEGAUGE_STALLED")
}

fn stop(module: &'static dyn Transport) -> Result<()> {
    let (patience, stop) = patience_of(long());
    let mut acceptor = module.listen(&Settings::default(), HOME, &patience)?;
    let (mut near, _far) = joined(module, &Settings::default(), &mut acceptor, &patience)?;
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

fn nobody(module: &'static dyn Transport) -> Result<()> {
    let (patience, _) = patience_of(SHORT);
    // A library may take its time to begin: only the wait is bounded.
    let mut acceptor = module.listen(&Settings::default(), HOME, &patience)?;
    let since = Instant::now();
    let came = acceptor.accept(&PROOF);
    in_time("accept() with nobody who connects", since, SHORT)?;
    said("accept() with nobody who connects", came, |e| matches!(e, LinkError::Stalled { .. }), "PIPEGAUGE_STALLED")?;
    let (patience, stop) = patience_of(long());
    drop(acceptor);
    let mut acceptor = module.listen(&Settings::default(), HOME, &patience)?;
    stopping(&stop, "accept() while it is to stop", || acceptor.accept(&PROOF))
}

fn nowhere(module: &'static dyn Transport) -> Result<()> {
    let (patience, _) = patience_of(SHORT);
    let address = module.listen(&Settings::default(), HOME, &patience)?.address();
    let since = Instant::now();
    let came = module.dial(&Settings::default(), &address, HOME, &patience).and_then(|mut c| c.connect(&PROOF));
    in_time("connect() to a listener that is gone", since, SHORT * 2)?;
    ensure!(came.is_err(), "connect() to a listener that is gone returned PIPEGAUGE_OK");
    for odd in ["", "\u{7f}nothing", "999999", &"x".repeat(3000)] {
        let came =
            module.dial(&Settings::default(), &Address::new(odd), HOME, &patience).and_then(|mut c| c.connect(&PROOF));
        ensure!(came.is_err(), "connect() to the address '{}' returned PIPEGAUGE_OK", odd.escape_default());
    }
    Ok(())
}

fn stranger(module: &'static dyn Transport) -> Result<()> {
    let (patience, _) = patience_of(long());
    let plain = Settings::default();
    let mut acceptor = module.listen(&plain, HOME, &patience)?;
    let address = acceptor.address();
    let wrong = Proof { near: [9; 32], far: [9; 32] };
    std::thread::scope(|s| {
        let near = s.spawn(|| -> Result<AnyLink> {
            let refused = module.dial(&plain, &address, HOME, &patience)?.connect(&wrong);
            ensure!(refused.is_err(), "a stranger was let in");
            module.dial(&plain, &address, HOME, &patience)?.connect(&PROOF).context("connect() after a stranger")
        });
        let far = acceptor.accept(&PROOF).context("accept() after a stranger");
        near.join().map_err(|_| anyhow!("connecting panicked"))??;
        far.map(drop)
    })
}

fn again(module: &'static dyn Transport) -> Result<()> {
    let open = || std::fs::read_dir("/proc/self/fd").map(|all| all.count()).context("counting open files");
    // The first may open what stays.
    drop(pair(module, &Settings::default(), long())?);
    let before = open()?;
    for i in 0..100 {
        let (mut near, mut far) =
            pair(module, &Settings::default(), long()).with_context(|| format!("connection {i}"))?;
        both(|| Ok(near.send(&[1; 8]).and_then(|()| near.flush())?), || Ok(far.recv(Guarded::new(8).room())?))?;
    }
    // A library may close in a thread of its own: what is closed late is closed, what leaks stays.
    let began = Instant::now();
    while open()? > before + 8 && began.elapsed() < long() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let after = open()?;
    ensure!(after <= before + 8, "{} files were open before 100 connections, and {after} are after", before);
    Ok(())
}

fn settings(module: &'static dyn Transport) -> Result<()> {
    for option in module.options() {
        let values: Vec<Value> = match option.form {
            Form::Switch => vec![true.into(), false.into()],
            Form::Bytes(least, most) => vec![least.into(), most.into()],
            Form::Seconds(low, high) => vec![low.into(), high.into()],
            Form::Whole { least, most, .. } => vec![least.into(), most.into()],
            Form::Share => vec![0.0.into(), 1.0.into()],
            Form::Rate => vec![1e3.into(), 1e12.into()],
            Form::OneOf(words) => words.iter().map(|word| (*word).into()).collect(),
            Form::Word(_) | Form::Text(..) | Form::Read(..) | Form::Many(_) => vec!["x".into()],
        };
        for value in values {
            let set = Settings::default().with(option.name, value.clone());
            let words = format!("{}={}", option.name, option.form.text(&value));
            // Sides of the value before may have stopped each other.
            FAILED.store(false, Ordering::Relaxed);
            match pair(module, &set, long()) {
                Ok((mut near, mut far)) => both(
                    || Ok(near.send(&[1; 8]).and_then(|()| near.flush())?),
                    || Ok(far.recv(Guarded::new(8).room())?),
                )
                .with_context(|| words.clone())?,
                Err(e) => {
                    let waited = matches!(e.downcast_ref(), Some(LinkError::Stalled { .. }));
                    ensure!(!waited, "{words} is neither used nor refused: {e:#}");
                    let text = format!("{e:#}");
                    ensure!(!text.contains("it does not say why"), "{words} is refused without a word: {text}");
                }
            }
        }
    }
    Ok(())
}

fn put(module: &'static dyn Transport) -> Result<()> {
    let (mut near, mut far) = pair(module, &Settings::default(), long())?;
    let len = 100_000;
    both(
        || {
            let link = near.one_sided().context("its link has no one-sided access")?;
            link.reach(len)?;
            for (at, size) in [(0, 1), (1, 4095), (4096, 50_000), (len - 7, 7)] {
                link.put(at, &content(size, at as u64))?;
                link.fence()?;
                let mut back = Guarded::new(size);
                link.get(at, back.room())?;
                ensure!(
                    back.written("get()")? == content(size, at as u64),
                    "get() of {size} bytes at {at} gives another content than was put"
                );
            }
            Ok(link.leave()?)
        },
        || {
            let link = far.one_sided().context("its link has no one-sided access")?;
            link.reserve(len)?;
            link.expose(len)?;
            ensure!(link.withdraw(long())?, "withdraw() did not see the peer leave");
            let mut seen = Guarded::new(50_000);
            link.read(4096, seen.room())?;
            ensure!(
                seen.written("read()")? == content(50_000, 4096),
                "what was put is not in the memory that is exposed"
            );
            Ok(())
        },
    )
}

fn post(module: &'static dyn Transport) -> Result<()> {
    let (mut near, mut far) = pair(module, &Settings::default(), long())?;
    let messages: Vec<Vec<u8>> = (0..50).map(|i| content(1000 + i, i as u64)).collect();
    both(
        || {
            let link = near.queued().context("its link has no queued operations")?;
            for message in &messages {
                link.post(message)?;
            }
            ensure!(link.posted() == 50, "posted() says {} after 50 posts", link.posted());
            let mut done = 0;
            while done < 50 {
                let now = link.poll(50, long())?;
                ensure!(now >= done && now <= 50, "poll() says that {now} posts are done after {done}, of 50");
                ensure!(now > done, "poll() came back after {:?} without a post that is done", long());
                done = now;
            }
            Ok(())
        },
        || {
            for sent in &messages {
                let mut message = Guarded::new(sent.len());
                far.recv(message.room())?;
                ensure!(message.written("recv()")? == sent, "a post arrived with other content");
            }
            Ok(())
        },
    )
}

/// A group of three, in the order of their ranks.
fn group(module: &'static dyn Transport) -> Result<Vec<AnyLink>> {
    let (patience, plain) = (Patience::new(long(), Arc::clone(&FAILED)), Settings::default());
    let proofs = [PROOF, Proof { near: [3; 32], far: [4; 32] }];
    let mut acceptors = Vec::new();
    for proof in &proofs {
        acceptors.push((module.listen(&plain, HOME, &patience).context("listen()")?, proof));
    }
    let endpoints: Vec<_> = acceptors.iter().map(|(acceptor, _)| (acceptor.address(), HOME)).collect();
    let told = |link: Result<AnyLink, LinkError>, what: &'static str| {
        link.inspect_err(|_| FAILED.store(true, Ordering::Relaxed)).context(what)
    };
    std::thread::scope(|s| {
        let joins = acceptors.iter_mut().map(|(acceptor, proof)| s.spawn(|| told(acceptor.accept(proof), "join()")));
        let joins: Vec<_> = joins.collect();
        let first = told(module.gather(&plain, &endpoints, &proofs, &patience), "join() of rank 0");
        let others = joins.into_iter().map(|join| join.join().unwrap_or_else(|_| Err(anyhow!("joining panicked"))));
        let others: Vec<Result<AnyLink>> = others.collect();
        all(std::iter::once(first).chain(others))
    })
}

/// All of a group in the order of their ranks, or the first failure that is a cause: members that are stopped because another one failed
/// say less than that one.
fn all<T>(done: impl Iterator<Item = Result<T>>) -> Result<Vec<T>> {
    let (done, mut failed): (Vec<_>, Vec<_>) = done.partition(Result::is_ok);
    failed.sort_by_key(|e| {
        let cause = e.as_ref().err().and_then(|e| e.downcast_ref());
        matches!(cause, Some(LinkError::Interrupted | LinkError::Closed { .. }))
    });
    failed.into_iter().chain(done).collect()
}

fn together(module: &'static dyn Transport) -> Result<()> {
    let members = group(module)?;
    let count = members.len() as u64;
    let part = |mut end: AnyLink, rank: u64| -> Result<()> {
        let most = most(&end);
        let link = end.collective().context("its link has no collectives")?;
        ensure!((link.members(), link.rank()) == (count as u32, rank as u32), "join() lost its place");
        for (turn, size) in (0u64..).zip([8, 16, 4096, 65_536, 100_000, 1 << 20]).filter(|(_, size)| *size <= most) {
            let of = |from: u64, to: u64| content(size, turn * 100 + from * 10 + to);
            link.barrier()?;
            let mut message = Guarded::new(size);
            if rank == 0 {
                message.room().copy_from_slice(&of(0, 0));
            }
            link.broadcast(message.room())?;
            ensure!(
                message.written("broadcast()")? == of(0, 0),
                "broadcast() of {size} bytes: rank {rank} got other content"
            );
            let (mut sums, mut all, mut into) =
                (Guarded::new(size), Guarded::new(size * count as usize), Guarded::new(size * count as usize));
            link.allreduce(&of(rank, 0), sums.room())?;
            let sums = sums.written("allreduce()")?;
            let word = |message: &[u8], at: usize| message[at..at + 8].try_into().map_or(0, u64::from_ne_bytes);
            for at in (0..size).step_by(8) {
                let right = (0..count).fold(0u64, |sum, from| sum.wrapping_add(word(&of(from, 0)[..], at)));
                ensure!(
                    word(sums, at) == right,
                    "allreduce() of {size} bytes: rank {rank} got a wrong sum at byte {at}"
                );
                if size > 4096 && at >= 4096 {
                    break;
                }
            }
            link.allgather(&of(rank, 0), all.room())?;
            let right: Vec<u8> = (0..count).flat_map(|from| of(from, 0)).collect();
            ensure!(all.written("allgather()")? == right, "allgather() of {size} bytes: rank {rank} got other content");
            let out: Vec<u8> = (0..count).flat_map(|to| of(rank, to)).collect();
            link.all_to_all(&out, into.room())?;
            let right: Vec<u8> = (0..count).flat_map(|from| of(from, rank)).collect();
            ensure!(
                into.written("all_to_all()")? == right,
                "all_to_all() of {size} bytes: rank {rank} got other content"
            );
        }
        link.barrier()?;
        Ok(())
    };
    parts(members, part).map(drop)
}

/// What comes of each member's part, all of which run at once, in the order of their ranks.
fn parts<T: Send>(members: Vec<AnyLink>, part: impl Fn(AnyLink, u64) -> Result<T> + Sync) -> Result<Vec<T>> {
    let told = |done: Result<T>| done.inspect_err(|_| FAILED.store(true, Ordering::Relaxed));
    let (told, part) = (&told, &part);
    std::thread::scope(|s| {
        let parts = (0..).zip(members).map(|(rank, member)| s.spawn(move || told(part(member, rank))));
        let parts: Vec<_> = parts.collect();
        all(parts.into_iter().map(|part| part.join().unwrap_or_else(|_| Err(anyhow!("a member panicked")))))
    })
}

/// Casts of each member at each size.
const CASTS: u32 = 40;

fn casts(module: &'static dyn Transport) -> Result<()> {
    let members = group(module)?;
    let count = members.len();
    // Links stay until all members are done: who leaves ends the group.
    let part = |mut end: AnyLink, rank: u64| -> Result<(Vec<u32>, AnyLink)> {
        let most = most(&end);
        let link = end.group().context("its link has no group")?;
        ensure!((link.members(), link.rank()) == (count as u32, rank as u32), "join() lost its place");
        let own = link.hears_itself(true);
        ensure!(
            own || link.order() == Order::Sender,
            "all casts have one order, and hear_itself() does not deliver a member's own"
        );
        let senders = if own { count } else { count - 1 };
        let (mut came, mut whose, mut due) = (vec![0; count], Vec::new(), 0);
        for size in [8, 100, 4096, 100_000, 1 << 20].into_iter().filter(|size| *size <= most) {
            let rounds = if size > 4096 { 4 } else { CASTS };
            for number in due..due + rounds {
                let told = link.queue(&content(size, u64::from(number) * 10 + rank))?;
                ensure!(told == number + 1, "cast {told} of this member is its cast {}", number + 1);
            }
            link.flush()?;
            let mut message = Guarded::new(size);
            for _ in 0..rounds as usize * senders {
                let Delivered { from, number } = link.deliver(message.room())?;
                let last =
                    came.get_mut(from as usize).with_context(|| format!("a cast is said to be of member {from}"))?;
                ensure!(number == *last + 1, "of member {from} cast {number} came behind {last}");
                *last = number;
                ensure!(
                    message.written("deliver()")? == content(size, u64::from(number - 1) * 10 + u64::from(from)),
                    "cast {number} of member {from}, {size} bytes: member {rank} got other content"
                );
                whose.push(from);
            }
            due += rounds;
        }
        let mut message = Guarded::new(16);
        if rank == 0 {
            for _ in 1..count {
                let from = link.answered(message.room())?;
                let message = message.written("answered()")?;
                ensure!(message == content(16, u64::from(from)), "an answer of member {from} has other content");
                link.answer(from, message)?;
            }
        } else {
            link.answer(0, &content(16, rank))?;
            let from = link.answered(message.room())?;
            ensure!(from == 0 && message.written("answered()")? == content(16, rank), "rank 0 answered something else");
        }
        link.hears_itself(false);
        let order = if link.order() == Order::Total { whose } else { Vec::new() };
        Ok((order, end))
    };
    let orders = parts(members, part)?;
    ensure!(
        orders.iter().all(|(order, _)| *order == orders[0].0),
        "all casts have one order, and members delivered them in several"
    );
    Ok(())
}

/// A line on what the module is.
pub fn kind(can: &Capabilities) -> &'static str {
    match can.semantics {
        Semantics::Message => "messages",
        Semantics::Stream => "a stream of bytes",
    }
}
