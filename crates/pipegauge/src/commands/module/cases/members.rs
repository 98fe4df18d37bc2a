//! Groups of three: collectives, casts, answers.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::{Context, Result, anyhow, ensure};
use transport::{AnyLink, Delivered, Group, Link, LinkError, Order, Patience, Proof, Transport};

use super::super::guarded::Guarded;
use super::common::{FAILED, HOME, PROOF, asked, content, long, most};

/// A group of three, in the order of their ranks.
fn group(module: &'static dyn Transport) -> Result<Vec<AnyLink>> {
    let (patience, plain) = (Patience::new(long(), Arc::clone(&FAILED)), asked());
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

pub(super) fn together(module: &'static dyn Transport) -> Result<()> {
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

pub(super) fn casts(module: &'static dyn Transport) -> Result<()> {
    let members = group(module)?;
    let count = members.len();
    // Links stay until all members are done: who leaves ends the group.
    let part = |mut end: AnyLink, rank: u64| -> Result<(Vec<u32>, AnyLink)> {
        let most = most(&end);
        let link = end.group().context("its link has no group")?;
        let order = member(link, (rank, count), most)?;
        Ok((order, end))
    };
    let orders = parts(members, part)?;
    ensure!(
        orders.iter().all(|(order, _)| *order == orders[0].0),
        "all casts have one order, and members delivered them in several"
    );
    Ok(())
}

/// One member's part, of which messages have `most` bytes at most: whose casts it was delivered, where all casts have one order.
fn member(link: &mut dyn Group, (rank, count): (u64, usize), most: usize) -> Result<Vec<u32>> {
    ensure!((link.members(), link.rank()) == (count as u32, rank as u32), "join() lost its place");
    let own = link.hears_itself(true);
    ensure!(
        own || link.order() == Order::Sender,
        "all casts have one order, and hear_itself() does not deliver a member's own"
    );
    let senders = if own { count } else { count - 1 };
    let (mut came, mut whose, mut due) = (vec![0; count], Vec::new(), 0);
    for (turn, size) in (0u64..).zip([8, 100, 4096, 100_000, 1 << 20]).filter(|(_, size)| *size <= most) {
        let rounds = if size > 4096 { 4 } else { CASTS };
        for number in due..due + rounds {
            let told = link.queue(&content(size, u64::from(number) * 10 + rank))?;
            ensure!(told == number + 1, "cast {told} of this member is its cast {}", number + 1);
        }
        link.flush()?;
        let mut message = Guarded::new(size);
        for _ in 0..rounds as usize * senders {
            let Delivered { from, number } = link.deliver(message.room())?;
            let last = came.get_mut(from as usize).with_context(|| format!("a cast is said to be of member {from}"))?;
            ensure!(number == *last + 1, "of member {from} cast {number} came behind {last}");
            *last = number;
            ensure!(
                message.written("deliver()")? == content(size, u64::from(number - 1) * 10 + u64::from(from)),
                "cast {number} of member {from}, {size} bytes: member {rank} got other content"
            );
            whose.push(from);
        }
        due += rounds;
        answers(link, (rank, count), turn)?;
    }
    link.hears_itself(false);
    Ok(if link.order() == Order::Total { whose } else { Vec::new() })
}

/// All tell rank 0 that they have what was cast, and hear from it that all have. Nobody casts the next size before that: casts of two senders may come in any
/// order, so that one of the next size could come while one of this size is due.
fn answers(link: &mut dyn Group, (rank, count): (u64, usize), turn: u64) -> Result<()> {
    let of = |from: u64| content(16, turn * 100 + from);
    let mut message = Guarded::new(16);
    if rank > 0 {
        link.answer(0, &of(rank))?;
        let from = link.answered(message.room())?;
        ensure!(from == 0 && message.written("answered()")? == of(rank), "rank 0 answered something else");
        return Ok(());
    }
    let mut heard = vec![0; count];
    for _ in 1..count {
        let from = link.answered(message.room())?;
        let written = message.written("answered()")?;
        ensure!(written == of(u64::from(from)), "an answer of member {from} has other content");
        let times = heard.get_mut(from as usize).filter(|_| from > 0);
        *times.with_context(|| format!("an answer is said to be of member {from}"))? += 1;
    }
    ensure!(heard[1..].iter().all(|times| *times == 1), "one member's answer came {heard:?} times, by rank");
    for to in 1..count as u32 {
        link.answer(to, &of(u64::from(to)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
