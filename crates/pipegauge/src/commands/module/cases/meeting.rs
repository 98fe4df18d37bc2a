//! How connections come about: addresses, strangers, many one after another, two at once, options.

use std::net::{Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use transport::options::Form;
use transport::{Address, AnyLink, Link, LinkError, Patience, Proof, Transport, Value};

use super::super::guarded::Guarded;
use super::common::{
    FAILED, HOME, PROOF, asked, both, content, in_time, joined, joined_at, long, most, most_of, pair, patience_of,
    short,
};

pub(super) fn nowhere(module: &'static dyn Transport) -> Result<()> {
    let (patience, _) = patience_of(short());
    let address = module.listen(&asked(), HOME, &patience)?.address();
    let since = Instant::now();
    let came = module.dial(&asked(), &address, HOME, &patience).and_then(|mut c| c.connect(&PROOF));
    in_time("connect() to a listener that is gone", since, short() * 2)?;
    ensure!(came.is_err(), "connect() to a listener that is gone returned PIPEGAUGE_OK");
    for odd in ["", "\u{7f}nothing", "999999", &"x".repeat(3000)] {
        let came = module.dial(&asked(), &Address::new(odd), HOME, &patience).and_then(|mut c| c.connect(&PROOF));
        ensure!(came.is_err(), "connect() to the address '{}' returned PIPEGAUGE_OK", odd.escape_default());
    }
    Ok(())
}

pub(super) fn ipv6(module: &'static dyn Transport) -> Result<()> {
    let home = SocketAddr::new(Ipv6Addr::LOCALHOST.into(), 0);
    let (patience, plain) = (Patience::new(long(), Arc::clone(&FAILED)), asked());
    if UdpSocket::bind(home).is_err() {
        // This system has no IPv6: nothing can be asked of the module.
        return Ok(());
    }
    let mut acceptor = match module.listen(&plain, home, &patience) {
        Ok(acceptor) => acceptor,
        Err(e) => {
            let words = e.to_string();
            ensure!(!words.contains("does not say why"), "listen() at ::1 failed without a word: {words}");
            return Ok(());
        }
    };
    let (mut near, mut far) = joined_at(home, module, &plain, &mut acceptor, &patience).context("over IPv6")?;
    let message = content(1000.min(most_of(module)), 6);
    both(
        || Ok(near.send(&message).and_then(|()| near.flush())?),
        || {
            let mut room = Guarded::new(message.len());
            far.recv(room.room())?;
            ensure!(room.written("recv()")? == message, "a message over IPv6 arrived with other content");
            Ok(())
        },
    )
}

pub(super) fn effective(module: &'static dyn Transport) -> Result<()> {
    let (near, far) = pair(module, &asked(), long())?;
    for link in [&near, &far] {
        let first = link.effective();
        ensure!(link.effective() == first, "effective() says something else when it is asked again");
    }
    Ok(())
}

pub(super) fn stranger(module: &'static dyn Transport) -> Result<()> {
    let (patience, _) = patience_of(long());
    let plain = asked();
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

pub(super) fn again(module: &'static dyn Transport) -> Result<()> {
    let open = || std::fs::read_dir("/proc/self/fd").map(|all| all.count()).context("counting open files");
    // The first may open what stays.
    drop(pair(module, &asked(), long())?);
    let before = open()?;
    for i in 0..100 {
        let (mut near, mut far) = pair(module, &asked(), long()).with_context(|| format!("connection {i}"))?;
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

pub(super) fn links(module: &'static dyn Transport) -> Result<()> {
    let (patience, plain) = (Patience::new(long(), Arc::clone(&FAILED)), asked());
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

pub(super) fn settings(module: &'static dyn Transport) -> Result<()> {
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
            let set = asked().with(option.name, value.clone());
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
