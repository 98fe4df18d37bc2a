//! Both ends of a link of any kind within one test process.
#![allow(dead_code, reason = "each test program uses a part")]

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use transport::{Acceptor, AnyLink, Connector, Family, Kind, Patience, Proof, Settings, Wait};

pub const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Every kind between two ends, in every wait mode that can be had without privileges, and over both IP versions.
pub fn variants() -> Vec<(Kind, Settings)> {
    let mut all = Vec::new();
    for kind in [Kind::Pipe, Kind::Shm, Kind::Unix, Kind::Seqpacket, Kind::Tcp, Kind::Udp] {
        for wait in [Wait::Block, Wait::Spin] {
            all.push((kind, Settings { wait: Some(wait), ..settings() }));
        }
    }
    for kind in [Kind::Tcp, Kind::Udp] {
        all.push((kind, Settings { family: Some(Family::V6), ..settings() }));
    }
    // Decorators that change nothing: the port must behave the same through them.
    let quiet = Settings { fault: Some(Default::default()), shape: Some(Default::default()), ..settings() };
    all.extend([Kind::Tcp, Kind::Shm, Kind::Udp].map(|kind| (kind, quiet.clone())));
    all
}

/// Long limits: on a busy machine nothing but the thing under test may end a wait.
pub fn settings() -> Settings {
    Settings { loss_timeout: 20.0, ..Settings::default() }
}

pub fn patience(limit: f64) -> (Patience, Arc<AtomicBool>) {
    let stop = Arc::new(AtomicBool::new(false));
    (Patience::new(Duration::from_secs_f64(limit), stop.clone()), stop)
}

pub fn proof(seed: u8) -> Proof {
    Proof { near: [seed; 32], far: [!seed; 32] }
}

/// A pair of links: near, far.
pub fn pair(kind: Kind, settings: &Settings, patience: &Patience) -> (AnyLink, AnyLink) {
    let mut acceptor = Acceptor::bind(kind, settings, (LOOPBACK, 0).into(), patience).unwrap();
    meet(&mut acceptor, kind, settings, patience)
}

/// A pair of links by way of `acceptor`.
pub fn meet(acceptor: &mut Acceptor, kind: Kind, settings: &Settings, patience: &Patience) -> (AnyLink, AnyLink) {
    let mut connector = Connector::new(kind, settings, acceptor.address(), patience);
    std::thread::scope(|s| {
        let far = s.spawn(|| acceptor.accept(&proof(7)));
        let near = connector.connect(&proof(7)).unwrap();
        (near, far.join().unwrap().unwrap())
    })
}

/// Runs `body` on every variant at once: for tests that only wait.
pub fn all_at_once(body: impl Fn(Kind, Settings) + Sync) {
    let body = &body;
    std::thread::scope(|s| {
        for (kind, settings) in variants() {
            s.spawn(move || body(kind, settings));
        }
    });
}

/// Bytes that differ with `seed` and with their place.
pub fn content(len: usize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; len];
    let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    for word in bytes.chunks_mut(8) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        word.copy_from_slice(&x.to_le_bytes()[..word.len()]);
    }
    bytes
}

/// The part of a block that arrives as it was sent: all, but for the number at the start of a datagram.
pub fn carried(kind: Kind, block: &[u8]) -> &[u8] {
    if kind == Kind::Udp { &block[transport::udp::number_bytes(block.len())..] } else { block }
}

/// A name for messages.
pub fn name(kind: Kind, settings: &Settings) -> String {
    format!("{kind} {:?} {:?} decorated {}", settings.wait, settings.family, settings.fault.is_some())
}
