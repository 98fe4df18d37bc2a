//! Both ends of a link of any kind within one test process.
#![allow(dead_code, reason = "each test program uses a part")]

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use transport::decorate::Decorators;
use transport::{
    Acceptor, Address, AnyLink, Connector, Ends, Family, LinkError, Name, Patience, Proof, Transport, Value, Wait, am,
    http, mptcp, multicast, quic, registry, sctp, shm, strata, tcp, tls, udp, uring, vsock, websocket,
};

pub const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Every kind between two ends, in every wait mode that can be had without privileges, and over both IP versions.
pub fn variants() -> Vec<(Name, Settings)> {
    let mut all = Vec::new();
    for kind in registry::all().filter(|t| t.ends() == Ends::Two && here(*t)).map(|t| t.name()) {
        for wait in [Wait::Block, Wait::Spin] {
            all.push((kind, settings().with("wait", wait)));
        }
    }
    for kind in over_ip() {
        all.push((kind, settings().with("family", Family::V6)));
    }
    if groups_over_v6() {
        all.push((multicast::NAME, settings().with("family", Family::V6)));
    }
    for (kind, option, value) in [
        (websocket::NAME, "client", Value::from("far")),
        (websocket::NAME, "frame", Value::from(4096u64)),
        (http::NAME, "version", Value::from("2")),
        (quic::NAME, "packet", Value::from(65_507u64)),
        (uring::NAME, "registered", true.into()),
        (strata::NAME, "stack", "FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:shm".into()),
    ] {
        if here(kind.transport().unwrap()) {
            all.push((kind, settings().with(option, value)));
        }
    }
    for (option, value) in [
        ("kind", Value::from("short")),
        ("kind", "bulk".into()),
        ("ring", 4096u64.into()),
        ("wait", Wait::Sleep.into()),
    ] {
        all.push((am::NAME, settings().with(option, value)));
    }
    if here(quic::NAME.transport().unwrap()) {
        // Packets as large as they can be, so that the sizes of all tests fit.
        let datagrams = settings().with("mode", "datagram").with("packet", 65_507u64);
        for wait in [Wait::Block, Wait::Spin] {
            all.push((quic::NAME, datagrams.clone().with("wait", wait)));
        }
    }
    for (option, value) in [("batch", Value::from("8")), ("offload", true.into())] {
        all.push((udp::NAME, settings().with(option, value)));
    }
    // Decorators that change nothing: the port must behave the same through them.
    let quiet =
        Decorators { fault: Some(Default::default()), shape: Some(Default::default()), ..Decorators::default() };
    let quiet = Settings { with: quiet, ..settings() };
    all.extend([tcp::NAME, shm::NAME, udp::NAME].map(|kind| (kind, quiet.clone())));
    all
}

/// Transports that a kernel or this program may be built without; every other one must be had wherever tests run.
pub const OPTIONAL: [Name; 8] =
    [mptcp::NAME, sctp::NAME, vsock::NAME, uring::NAME, websocket::NAME, http::NAME, quic::NAME, strata::NAME];

/// Those over IP that take either version of it, as far as they can be had here.
pub fn over_ip() -> impl Iterator<Item = Name> {
    [tcp::NAME, mptcp::NAME, sctp::NAME, tls::NAME, uring::NAME, websocket::NAME, http::NAME, udp::NAME, quic::NAME]
        .into_iter()
        .filter(|kind| here(kind.transport().unwrap()))
}

/// Whether an interface of this host carries groups of IPv6, as the transport finds.
pub fn groups_over_v6() -> bool {
    let asked = settings().with("family", Family::V6);
    match bind(multicast::NAME, &asked, ([127, 0, 0, 1], 0).into(), &Patience::default()) {
        Ok(_) => true,
        Err(e) => {
            eprintln!("not tried: no groups of IPv6: {e}");
            false
        }
    }
}

/// Whether a transport can be had here; of one that can't the reason is said, once.
pub fn here(t: &dyn Transport) -> bool {
    match t.availability().and_then(|()| t.reaches_itself()) {
        Err(e) if OPTIONAL.contains(&t.name()) => {
            static SAID: Mutex<Vec<Name>> = Mutex::new(Vec::new());
            let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
            if !said.contains(&t.name()) {
                said.push(t.name());
                println!("not run: these tests over {}: {e}", t.name());
            }
            false
        }
        _ => true,
    }
}

/// What is asked of a path, and what is put around its near end.
#[derive(Clone, Default)]
pub struct Settings {
    pub set: transport::Settings,
    pub with: Decorators,
}

impl Settings {
    /// The same with an option set.
    pub fn with(mut self, option: &str, value: impl Into<Value>) -> Self {
        self.set.set(option, value);
        self
    }
}

/// Long limits: on a busy machine nothing but the thing under test may end a wait.
pub fn settings() -> Settings {
    Settings::default().with("loss-timeout", 20.0)
}

pub fn patience(limit: f64) -> (Patience, Arc<AtomicBool>) {
    let stop = Arc::new(AtomicBool::new(false));
    (Patience::new(Duration::from_secs_f64(limit), stop.clone()), stop)
}

pub fn proof(seed: u8) -> Proof {
    Proof { near: [seed; 32], far: [!seed; 32] }
}

/// The far side's door.
pub fn bind(kind: Name, settings: &Settings, at: SocketAddr, patience: &Patience) -> Result<Acceptor, LinkError> {
    kind.transport().unwrap().listen(&settings.set, at, patience)
}

/// The near side's way there, on this host.
pub fn try_dial(kind: Name, settings: &Settings, to: Address, patience: &Patience) -> Result<Connector, LinkError> {
    kind.transport().unwrap().dial(&settings.set, &to, (LOOPBACK, 0).into(), patience)
}

/// The same where nothing is wrong with it.
pub fn dial(kind: Name, settings: &Settings, to: Address, patience: &Patience) -> Connector {
    try_dial(kind, settings, to, patience).unwrap()
}

/// A pair of links: near, far.
pub fn pair(kind: Name, settings: &Settings, patience: &Patience) -> (AnyLink, AnyLink) {
    let mut acceptor = bind(kind, settings, (LOOPBACK, 0).into(), patience).unwrap();
    meet(&mut acceptor, kind, settings, patience)
}

/// A pair of links by way of `acceptor`.
pub fn meet(acceptor: &mut Acceptor, kind: Name, settings: &Settings, patience: &Patience) -> (AnyLink, AnyLink) {
    let both = try_meet(acceptor, kind, settings, patience);
    both.unwrap_or_else(|e| panic!("{}: {e:?}", name(kind, settings)))
}

fn try_meet(
    acceptor: &mut Acceptor,
    kind: Name,
    settings: &Settings,
    patience: &Patience,
) -> Result<(AnyLink, AnyLink), LinkError> {
    let mut connector = dial(kind, settings, acceptor.address(), patience);
    std::thread::scope(|s| {
        let far = s.spawn(|| acceptor.accept(&proof(7)));
        let near = connector.connect(&proof(7)).map(|near| near.altered(&settings.with, patience));
        let far = far.join().unwrap();
        Ok((near?, far?))
    })
}

/// A pair of links with little patience, which a busy machine may need several tries to bring together.
pub fn hasty_pair(kind: Name, settings: &Settings, patience: &Patience) -> (AnyLink, AnyLink) {
    let mut tries = (0..100).map(|_| {
        let mut acceptor = bind(kind, settings, (LOOPBACK, 0).into(), patience)?;
        try_meet(&mut acceptor, kind, settings, patience)
    });
    tries.find_map(Result::ok).expect("a pair within a hundred tries")
}

/// Whether messages may be lost.
pub fn lossy(kind: Name, settings: &Settings) -> bool {
    !kind.transport().unwrap().capabilities(&settings.set).reliable
}

/// The members of a group, in the order of their ranks.
pub fn group(kind: Name, settings: &Settings, members: usize, patience: &Patience) -> Vec<AnyLink> {
    let mut acceptors: Vec<Acceptor> =
        (1..members).map(|_| bind(kind, settings, (LOOPBACK, 0).into(), patience).unwrap()).collect();
    let doors: Vec<(Address, SocketAddr)> =
        acceptors.iter().map(|acceptor| (acceptor.address(), (LOOPBACK, 0).into())).collect();
    let proofs: Vec<Proof> = (1..members).map(|member| proof(member as u8)).collect();
    std::thread::scope(|s| {
        let far: Vec<_> =
            acceptors.iter_mut().zip(&proofs).map(|(acceptor, proof)| s.spawn(|| acceptor.accept(proof))).collect();
        let near = kind.transport().unwrap().gather(&settings.set, &doors, &proofs, patience).unwrap();
        let far = far.into_iter().map(|far| far.join().unwrap().unwrap());
        std::iter::once(near).chain(far).collect()
    })
}

/// Runs `body` on every variant at once: for tests that only wait.
pub fn all_at_once(body: impl Fn(Name, Settings) + Sync) {
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

/// The part of a message that arrives as it was sent: all, but for the number at the start of a datagram.
pub fn carried<'a>(kind: Name, settings: &Settings, message: &'a [u8]) -> &'a [u8] {
    if kind == udp::NAME || settings.set.text("mode") == Some("datagram") {
        &message[transport::udp::number_bytes(message.len())..]
    } else {
        message
    }
}

/// A name for messages.
pub fn name(kind: Name, settings: &Settings) -> String {
    let Settings { set, with } = settings;
    format!(
        "{kind} {:?} {:?} {:?} decorated {}",
        set.text("mode").or(set.text("version")).or(set.switch("registered").map(|_| "registered")),
        set.wait(),
        set.family(),
        with.any()
    )
}
