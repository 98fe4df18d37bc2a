//! What a link may have besides: one-sided access, posts.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use transport::{Link, Transport};

use super::super::guarded::Guarded;
use super::common::{asked, both, content, long, pair};

pub(super) fn put(module: &'static dyn Transport) -> Result<()> {
    let (mut near, mut far) = pair(module, &asked(), long())?;
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

pub(super) fn post(module: &'static dyn Transport) -> Result<()> {
    let (mut near, mut far) = pair(module, &asked(), long())?;
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
                let since = Instant::now();
                let now = link.poll(50, long())?;
                ensure!(now >= done && now <= 50, "poll() says that {now} posts are done after {done}, of 50");
                ensure!(now > done, "poll() came back after {:?} without a post that is done", since.elapsed());
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
