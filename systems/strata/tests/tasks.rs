//! The interface for tokio's tasks.

use std::net::UdpSocket;
use std::time::Duration;

use strata::net::tasks::{AsyncGroup, AsyncReplica, NotCast};
use strata::net::{Event, Failed, News, Options};
use strata::state::Change;
use strata::{Config, Refused};

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

/// A state of all messages, after a filling of many pieces.
struct Kept {
    state: Vec<u8>,
    received: bool,
    gave: usize,
    /// Casters whose last message was told, and the end of all.
    done: Vec<u8>,
}

const FILLING: usize = 2 << 20;

impl Kept {
    fn new(founds: bool) -> Self {
        Self { state: vec![7; if founds { FILLING } else { 0 }], received: founds, gave: 0, done: Vec::new() }
    }

    fn take(&mut self, news: News, replica: &mut AsyncReplica) {
        match news {
            News::State(Change::Message(m)) => {
                self.state.extend_from_slice(&m.body[..3]);
                if m.body[..] == *b"end" || (m.body[0] > 0 && m.body[1..3] == (CASTS as u16 - 1).to_le_bytes()) {
                    self.done.push(m.body[0]);
                }
            }
            News::State(Change::Wanted) => {
                assert!(replica.give(self.state.clone()), "nobody leaves before it has the state");
                self.gave += 1;
            }
            News::State(Change::State(state)) => (self.state, self.received) = (state.to_vec(), true),
            News::State(Change::Orphaned) => panic!("somebody has the state"),
            _ => {}
        }
    }

    fn told(&self, number: u8) -> Vec<u16> {
        let (told, _) = self.state.get(FILLING..).unwrap_or_default().as_chunks::<3>();
        told.iter().filter(|m| m[0] == number).map(|m| u16::from_le_bytes([m[1], m[2]])).collect()
    }
}

/// Casts from when it has the state; the first until the others are done.
async fn replica(mut replica: AsyncReplica, number: u8) -> Vec<u8> {
    let mut kept = Kept::new(number == 0);
    let mut n = 0u16;
    while !kept.received {
        let news = replica.next().await.unwrap().unwrap();
        kept.take(news, &mut replica);
    }
    while if number == 0 { kept.done.len() < 2 } else { n < CASTS as u16 } {
        let mut body = vec![number; 1000];
        body[1..3].copy_from_slice(&n.to_le_bytes());
        match replica.cast(body).await {
            Ok(()) => n = n.wrapping_add(1),
            Err(NotCast::Refused(Refused::WouldBlock { .. })) => {}
            Err(other) => panic!("{other}"),
        }
        // All that is there, as the next cast waits for others only.
        while let Ok(news) = tokio::time::timeout(Duration::ZERO, replica.next()).await {
            kept.take(news.unwrap().unwrap(), &mut replica);
        }
    }
    if number == 0 {
        replica.cast("end").await.unwrap();
    }
    while !kept.done.contains(&b'e') {
        let news = replica.next().await.unwrap().unwrap();
        kept.take(news, &mut replica);
    }
    assert!(kept.gave > 0 || number > 0);
    let rest = replica.leave_and_wait().await.unwrap();
    assert!(matches!(rest.last(), Some(News::Left)));
    kept.state
}

#[tokio::test(flavor = "current_thread")]
async fn replicas_in_one_thread_join_while_the_first_casts_and_have_the_same_state() {
    let join = |contacts| AsyncReplica::join(options("udp", contacts));
    let first = join(Vec::new()).await.unwrap();
    let contact = first.me().addr;
    let first = tokio::spawn(replica(first, 0));
    let others =
        [1, 2].map(|number| tokio::spawn(async move { replica(join(vec![contact]).await.unwrap(), number).await }));
    let all = tokio::time::timeout(PATIENCE, async {
        let [b, c] = others;
        [first.await.unwrap(), b.await.unwrap(), c.await.unwrap()]
    });
    let states = all.await.expect("they come to an end");
    assert!(states[0] == states[1] && states[0] == states[2], "the states differ");
    let kept = Kept { state: states.into_iter().next().unwrap(), ..Kept::new(true) };
    for number in 1..3 {
        assert_eq!(kept.told(number), (0..CASTS as u16).collect::<Vec<_>>());
    }
}

/// It would wait for the other, and this for the state: so it says that it would block, and waits no longer when the state is given.
#[tokio::test(flavor = "current_thread")]
async fn who_is_asked_for_the_state_does_not_wait_for_a_cast_before_it_has_answered() {
    let mut a = AsyncReplica::join(options("udp", Vec::new())).await.unwrap();
    let contact = a.me().addr;
    let mut b = tokio::spawn(async move {
        let mut b = AsyncReplica::join(options("udp", vec![contact])).await.unwrap();
        let mut kept = Kept::new(false);
        while kept.told(9).is_empty() {
            let news = b.next().await.unwrap().unwrap();
            kept.take(news, &mut b);
        }
        b.leave();
        while !matches!(b.next().await.unwrap(), Some(News::Left)) {}
        assert!(b.next().await.unwrap().is_none(), "nothing comes after that");
        kept.told(0)
    });
    let all = async {
        while !matches!(a.next().await.unwrap(), Some(News::State(Change::Wanted))) {}
        let mut cast = 0u16;
        let mut body = vec![0; 1000];
        loop {
            body[1..3].copy_from_slice(&cast.to_le_bytes());
            match a.cast(body.clone()).await {
                Ok(()) => cast += 1,
                Err(NotCast::Refused(Refused::WouldBlock { .. })) => break,
                Err(other) => panic!("{other}"),
            }
        }
        assert!(cast > 0 && usize::from(cast) * 1000 <= 64 << 10, "{cast} are held back");
        assert!(a.give(vec![7; FILLING]));
        a.cast(body).await.unwrap();
        a.cast(vec![9; 3]).await.unwrap();
        loop {
            // The other leaves, for which this one is to answer.
            tokio::select! {
                told = &mut b => break assert_eq!(told.unwrap(), (0..=cast).collect::<Vec<_>>()),
                news = a.next() => assert!(news.unwrap().is_some()),
            }
        }
    };
    tokio::time::timeout(PATIENCE, all).await.expect("it comes to an end");
}
