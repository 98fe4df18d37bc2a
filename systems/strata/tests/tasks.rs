//! The interface for tokio's tasks.

use std::net::UdpSocket;
use std::time::Duration;

use strata::Config;
use strata::net::tasks::AsyncGroup;
use strata::net::{Event, Failed, Options};

const PATIENCE: Duration = Duration::from_secs(60);
const CASTS: usize = 500;

fn options(carrier: &str, contacts: Vec<std::net::SocketAddr>) -> Options {
    let config = Config { suspect: Duration::from_secs(20), backlog: 64 << 10, ..Config::default() };
    let stack = format!("FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:{carrier}");
    Options { stack, contacts, config, patience: PATIENCE, ..Options::default() }
}

/// Casts and takes what comes, as `select!` would: the future of the next event is dropped and made anew.
async fn member(mut group: AsyncGroup, number: u8) -> Vec<(u8, u16)> {
    while group.view().is_none_or(|v| v.members.len() < 3) {
        group.next().await.unwrap();
    }
    let mut got = Vec::new();
    let mut take = |event: Option<Event>| {
        if let Some(Event::Message(m)) = event {
            got.push((m.body[0], u16::from_le_bytes([m.body[1], m.body[2]])));
        }
        got.len()
    };
    for n in 0..CASTS as u16 {
        let mut body = vec![number; 1000];
        body[1..3].copy_from_slice(&n.to_le_bytes());
        // Larger than what may be under way in all: it waits for the others.
        group.cast(body).await.unwrap();
        if n % 7 == 0
            && let Ok(event) = tokio::time::timeout(Duration::ZERO, group.next()).await
        {
            take(event.unwrap());
        }
    }
    while take(group.next().await.unwrap()) < 3 * CASTS {}
    let rest = group.leave().await.unwrap();
    assert!(matches!(rest.last(), Some(Event::Left)));
    got
}

#[tokio::test(flavor = "current_thread")]
async fn three_members_in_one_thread_cast_and_leave() {
    three("udp").await;
}

#[tokio::test(flavor = "current_thread")]
async fn three_members_in_one_thread_cast_and_leave_in_shared_memory() {
    three("shm").await;
}

async fn three(carrier: &'static str) {
    let first = AsyncGroup::join(options(carrier, Vec::new())).await.unwrap();
    let contact = first.me().addr;
    let first = tokio::spawn(member(first, 0));
    let others = [1, 2].map(|number| {
        tokio::spawn(async move {
            let group = AsyncGroup::join(options(carrier, vec![contact])).await.unwrap();
            member(group, number).await
        })
    });
    let all = tokio::time::timeout(PATIENCE, async {
        let [b, c] = others;
        (first.await.unwrap(), b.await.unwrap(), c.await.unwrap())
    });
    let (a, b, c) = all.await.expect("they come to an end");
    assert!(a == b && b == c, "one order");
    for number in 0..3 {
        let own: Vec<_> = a.iter().filter(|(from, _)| *from == number).map(|(_, n)| *n).collect();
        assert_eq!(own, (0..CASTS as u16).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn who_asks_nobody_is_told_so() {
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let contact = silent.local_addr().unwrap();
    let patience = Duration::from_millis(300);
    let joined = AsyncGroup::join(Options { patience, ..options("udp", vec![contact]) }).await;
    let Err(Failed::Nobody { contacts, .. }) = joined else { panic!("nobody is there") };
    assert_eq!(contacts, [contact]);
}
