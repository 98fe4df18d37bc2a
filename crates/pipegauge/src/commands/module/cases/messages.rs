//! Messages over one connection: sizes, memory, order, both ways at once.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use transport::{AnyLink, End, Link, LinkError, Room, Transport};

use super::super::guarded::Guarded;
use super::common::{asked, both, content, long, most, most_of, pair, said, short};

pub(super) fn sizes(module: &'static dyn Transport) -> Result<()> {
    let (mut near, mut far) = pair(module, &asked(), long())?;
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

pub(super) fn memory(module: &'static dyn Transport) -> Result<()> {
    let (mut near, mut far) = pair(module, &asked(), long())?;
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
pub(super) fn lent(module: &'static dyn Transport) -> Result<()> {
    let (near, far) = pair(module, &asked(), long())?;
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

pub(super) fn whole(module: &'static dyn Transport) -> Result<()> {
    for (sent, wanted) in [(100, 50), (100, 200)] {
        if most_of(module) < wanted {
            continue;
        }
        let (mut near, mut far) = pair(module, &asked(), short() * 2)?;
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

pub(super) fn order(module: &'static dyn Transport) -> Result<()> {
    let (mut near, mut far) = pair(module, &asked(), long())?;
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

pub(super) fn exchange(module: &'static dyn Transport) -> Result<()> {
    let (mut near, mut far) = pair(module, &asked(), long())?;
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

pub(super) fn ready(module: &'static dyn Transport) -> Result<()> {
    let (mut near, mut far) = pair(module, &asked(), long())?;
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
