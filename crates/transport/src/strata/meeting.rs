//! How the members of a group meet: the near one makes the group and invites each other member at its door, who then joins.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ::strata::net::{Event, Group as Joined, Options};
use ::strata::{Config, Key, View};
use rustix::net::SocketType;

use super::link::{LEAVING, Strata, failed};
use super::member::Member;
use super::{MOST, NAME, OPTIONS, SPOKEN, SUMMARY, WAITS, capabilities, carrier_of, order_of, stack_of};
use crate::meet::Made;
use crate::patience::LOOK;
use crate::port::{Accept, Acceptor, Address, Connect, Connector, Transport};
use crate::settings::Effective;
use crate::{AnyLink, Capabilities, Family, LinkError, Name, OptionSpec, Patience, Proof, Settings, invite, ip, sys};

/// The transport.
pub static TRANSPORT: Groups = Groups;

/// Groups of strata between processes.
#[derive(Debug)]
pub struct Groups;

/// Bytes of an invitation.
const INVITATION: usize = 86;
/// How long the near member takes part in the group between two looks for an answer.
const TURN: Duration = Duration::from_millis(1);

impl Transport for Groups {
    fn name(&self) -> Name {
        NAME
    }
    fn summary(&self) -> &'static str {
        SUMMARY
    }
    fn spoken(&self) -> &'static [&'static str] {
        SPOKEN
    }
    fn capabilities(&self, settings: &Settings) -> Capabilities {
        capabilities(settings)
    }
    fn availability(&self) -> Result<(), LinkError> {
        ip::availability(SocketType::DGRAM)
    }
    fn reaches_itself(&self) -> Result<(), LinkError> {
        ip::reaches_itself()
    }
    fn options(&self) -> &'static [OptionSpec] {
        &OPTIONS
    }
    fn listens_to(&self, settings: &Settings, option: &str) -> bool {
        match option {
            "address" => carrier_of(settings) == "multicast",
            // Members of one host, who have addresses as names alone.
            "bind" => carrier_of(settings) != "shm",
            _ => true,
        }
    }
    fn family(&self, settings: &Settings) -> Option<Family> {
        // Members of one host meet there, wherever other paths go.
        (carrier_of(settings) != "shm").then_some(Family::V4)
    }
    fn listen(&self, settings: &Settings, at: SocketAddr, patience: &Patience) -> Result<Acceptor, LinkError> {
        let made = Made::new(&WAITS, settings, patience)?;
        Ok(Box::new(Door { door: invite::Door::new(ip::beside(over_v4(at)?, &v4())?)?, made, last: None }))
    }
    fn dial(
        &self,
        settings: &Settings,
        address: &Address,
        peer: SocketAddr,
        patience: &Patience,
    ) -> Result<Connector, LinkError> {
        Ok(Box::new(host(settings, &[(address.clone(), peer)], patience)?))
    }
    fn gather(
        &self,
        settings: &Settings,
        doors: &[(Address, SocketAddr)],
        proofs: &[Proof],
        patience: &Patience,
    ) -> Result<AnyLink, LinkError> {
        host(settings, doors, patience)?.gather(proofs)
    }
}

fn host(settings: &Settings, doors: &[(Address, SocketAddr)], patience: &Patience) -> Result<Host, LinkError> {
    let at = |(address, peer): &(Address, SocketAddr)| ip::door(address, over_v4(*peer)?, &v4());
    let doors = doors.iter().map(at).collect::<Result<_, _>>()?;
    Ok(Host { doors, made: Made::new(&WAITS, settings, patience)? })
}

/// Members have IPv4 addresses.
fn v4() -> Settings {
    Settings::default().with("family", Family::V4)
}

/// Where a side is, if members can meet there: nobody may have asked for an IP version.
fn over_v4(at: SocketAddr) -> Result<SocketAddr, LinkError> {
    let ip = at.ip().to_canonical();
    if ip.is_ipv4() || ip.is_loopback() || ip.is_unspecified() {
        return Ok(at);
    }
    let why = "members of strata have IPv4 addresses here, and the other side is reached by IPv6: give an IPv4 address with --peer-address or --peer, \
               and leave out -6";
    let e = std::io::Error::new(std::io::ErrorKind::AddrNotAvailable, why);
    Err(LinkError::io(format!("meeting members at {ip}"), e))
}

/// What a member is told once the near one has shown that it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Invitation {
    /// The group's name.
    group: u128,
    /// For stacks that seal or sign.
    key: [u8; 32],
    /// The near member's.
    port: u16,
    /// Of casts over multicast.
    casts: u16,
    members: u16,
}

impl Invitation {
    fn written(&self, proof: &Proof) -> [u8; INVITATION] {
        let mut bytes = [0; INVITATION];
        bytes[..32].copy_from_slice(&proof.near);
        bytes[32..48].copy_from_slice(&self.group.to_le_bytes());
        bytes[48..80].copy_from_slice(&self.key);
        bytes[80..82].copy_from_slice(&self.port.to_le_bytes());
        bytes[82..84].copy_from_slice(&self.casts.to_le_bytes());
        bytes[84..].copy_from_slice(&self.members.to_le_bytes());
        bytes
    }

    /// None where it does not show `proof`, or can't be.
    fn read(bytes: &[u8; INVITATION], proof: &Proof) -> Option<Self> {
        let shown: &[u8; 32] = bytes.first_chunk()?;
        let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let (port, casts, members) = (half(80), half(82), half(84));
        let sense = port > 0 && casts > 0 && members > 1;
        let group = u128::from_le_bytes(bytes[32..48].try_into().ok()?);
        let key = bytes[48..80].try_into().ok()?;
        (Proof::matches(shown, &proof.near) && sense).then_some(Self { group, key, port, casts, members })
    }

    /// How a member at `bind` joins this group by these contacts.
    fn options(&self, made: &Made, bind: IpAddr, contacts: Vec<SocketAddr>) -> Options {
        let settings = &made.settings;
        let casts = settings.text("address").and_then(|text| text.parse().ok());
        let plain = Config::default();
        let config = Config {
            group: format!("{:032x}", self.group),
            key: Some(Key(self.key)),
            datagram: settings.whole("datagram").map_or(plain.datagram, |bytes| bytes as usize),
            message: MOST as usize,
            // Shorter than the wait for a member that leaves: one whose process ends before it has left is taken for crashed.
            drain: LEAVING / 2,
            suspect: made.patience.limit.saturating_mul(4).max(plain.suspect),
            // A view that changes ends the measurement, which the patience does sooner.
            stall: made.patience.limit.saturating_mul(4).max(plain.stall),
            ..plain
        };
        Options {
            stack: stack_of(settings).to_owned(),
            bind: (bind, 0).into(),
            contacts,
            multicast: Some(SocketAddrV4::new(casts.unwrap_or(CASTS), self.casts)),
            patience: made.patience.limit,
            config,
            ..Options::default()
        }
    }
}

/// Where casts go over multicast unless somebody says otherwise.
const CASTS: Ipv4Addr = Ipv4Addr::new(239, 192, 80, 72);

/// The address that members of a host have: the one that was asked for where it is this host's.
fn asked(settings: &Settings) -> Option<IpAddr> {
    settings.text("bind").and_then(|text| text.parse().ok()).filter(|ip| socket_at(*ip).is_ok())
}

/// A datagram socket at an address of this host.
fn socket_at(ip: IpAddr) -> Result<OwnedFd, LinkError> {
    let at = SocketAddr::new(ip, 0);
    let own = ip::socket(&at, SocketType::DGRAM)?;
    rustix::net::bind(&own, &at).map_err(|e| LinkError::io(format!("binding to {at}"), e))?;
    Ok(own)
}

/// The near member's address: as asked where it is this host's, or the one from which this host reaches the first door that is not within it.
fn near_address(settings: &Settings, doors: &[SocketAddr]) -> Result<IpAddr, LinkError> {
    if let Some(ip) = settings.text("bind").and_then(|text| text.parse().ok()) {
        match socket_at(ip) {
            Ok(_) => return Ok(ip),
            // That of another member's host.
            Err(_) if doors.iter().any(|door| door.ip() == ip) => {}
            Err(e) => return Err(e),
        }
    }
    let Some(door) = doors.iter().find(|door| !door.ip().is_loopback()) else {
        return Ok(Ipv4Addr::LOCALHOST.into());
    };
    let probe = ip::socket(door, SocketType::DGRAM)?;
    rustix::net::connect(&probe, door).map_err(|e| LinkError::io(format!("looking for a way to {door}"), e))?;
    Ok(ip::bound_to(probe.as_fd())?.ip())
}

/// Takes part in the group for so long; the view that comes meanwhile.
fn turn(group: &mut Joined, wait: Duration) -> Result<Option<Arc<View>>, LinkError> {
    match group.poll(wait).map_err(failed)? {
        Some(Event::View(view)) => Ok(Some(view)),
        Some(Event::Message(_)) => Err(LinkError::Protocol("a message came before all members were there".to_owned())),
        _ => Ok(None),
    }
}

/// Takes part in the group until all members have one view, if that of now is not it.
fn complete(mut group: Joined, now: Option<Arc<View>>, members: u16, made: &Made) -> Result<AnyLink, LinkError> {
    let start = Instant::now();
    let mut now = now;
    let view = loop {
        match now.filter(|view| view.members.len() == usize::from(members)) {
            Some(view) => break view,
            None => made.patience.check(start, "waiting for all members to be in the group")?,
        }
        now = turn(&mut group, LOOK)?;
    };
    let me = group.me();
    let none = || LinkError::Protocol("a view came without this member".to_owned());
    let rank = view.rank(&me).ok_or_else(none)?;
    let settings = &made.settings;
    let options = [
        ("stack".to_owned(), stack_of(settings).to_owned()),
        ("datagram".to_owned(), settings.whole("datagram").unwrap_or(Config::default().datagram as u64).to_string()),
    ];
    let casts = match carrier_of(settings) {
        "multicast" => format!(", casts to {}", settings.text("address").unwrap_or("239.192.80.72")),
        "shm" => ", in shared memory".to_owned(),
        _ => String::new(),
    };
    let effective = Effective {
        wait: Some(made.wait),
        addresses: Some(format!("{}, member {rank} of {members}{casts}", me.addr)),
        options: options.into(),
        ..Effective::default()
    };
    let member = Member::new(group, view.members.clone(), u32::from(rank));
    let (order, can) = (order_of(settings), capabilities(settings));
    Ok(AnyLink::new(Strata::new(member, order, can, effective, made.wait, made.patience.clone())?))
}

/// The far side's door.
struct Door {
    door: invite::Door,
    made: Made,
    /// The group that was joined last: invitations into it may still lie here, as they are sent again until one is answered.
    last: Option<u128>,
}

impl Accept for Door {
    fn address(&self) -> Address {
        ip::told(self.door.at)
    }

    fn accept(&mut self, proof: &Proof) -> Result<AnyLink, LinkError> {
        let last = self.last;
        let read = |bytes: &_| Invitation::read(bytes, proof).filter(|invitation| Some(invitation.group) != last);
        let (invitation, near) = self.door.invited(&self.made.patience, read)?;
        self.last = Some(invitation.group);
        let bind = asked(&self.made.settings).unwrap_or(self.door.at.ip());
        // The near member invites from the address that it has in the group.
        let contact = SocketAddr::new(near.ip(), invitation.port);
        let group = Joined::join(invitation.options(&self.made, bind, vec![contact])).map_err(failed)?;
        self.door.show(None, proof, near, &self.made.patience)?;
        complete(group, None, invitation.members, &self.made)
    }
}

/// The near side's way to the doors of all other members.
struct Host {
    doors: Vec<SocketAddr>,
    made: Made,
}

impl Host {
    /// Makes the group, and brings the others into it one after another, so that their order is that of the doors.
    fn gather(&self, proofs: &[Proof]) -> Result<AnyLink, LinkError> {
        let Made { settings, patience, .. } = &self.made;
        let bind = near_address(settings, &self.doors)?;
        let own = socket_at(bind)?;
        // A port that is free for this socket is likely to be so for a multicast group; whoever else has it there is of another group.
        let casts = ip::bound_to(own.as_fd())?.port();
        let members = u16::try_from(proofs.len() + 1).unwrap_or(u16::MAX);
        let name = u128::from_ne_bytes(sys::random()?);
        let drawn = Invitation { group: name, key: sys::random()?, port: 0, casts, members };
        let mut group = Joined::join(drawn.options(&self.made, bind, Vec::new())).map_err(failed)?;
        let invitation = Invitation { port: group.me().addr.port(), ..drawn };
        let mut last = None;
        for (door, proof) in self.doors.iter().zip(proofs) {
            invite::invite(&own, *door, proof, &invitation.written(proof), patience, |wait| {
                let start = Instant::now();
                loop {
                    if sys::readable(&own, Duration::ZERO, true, patience)? {
                        return Ok(true);
                    }
                    if start.elapsed() >= wait {
                        return Ok(false);
                    }
                    last = turn(&mut group, TURN)?.or(last.take());
                }
            })?;
        }
        complete(group, last, members, &self.made)
    }
}

impl Connect for Host {
    fn connect(&mut self, proof: &Proof) -> Result<AnyLink, LinkError> {
        self.gather(std::slice::from_ref(proof))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_meet_over_ipv4_and_an_address_of_ipv6_is_refused_in_words_of_its_own() {
        let of = |stack: &str| TRANSPORT.family(&Settings::default().with("stack", stack));
        assert_eq!(of("MBRSHIP:FRAG:NAK:COM:udp"), Some(Family::V4));
        assert_eq!(of("MBRSHIP:FRAG:NAK:COM:shm"), None);
        let refused = over_v4("[fd77::2]:4000".parse().unwrap()).unwrap_err().to_string();
        assert!(refused.contains("fd77::2") && refused.contains("IPv4 address with --peer-address"), "{refused}");
        assert!(!refused.contains("asked for"), "{refused}");
        for here in ["[::1]:7", "127.0.0.1:7", "[::ffff:10.0.0.1]:7"] {
            assert!(over_v4(here.parse().unwrap()).is_ok(), "{here}");
        }
    }

    #[test]
    fn an_invitation_is_read_where_it_shows_the_proof_and_can_be() {
        let proof = Proof { near: [3; 32], far: [4; 32] };
        let of = |port, casts, members| Invitation { group: 5, key: [9; 32], port, casts, members };
        let fair = of(4000, 4001, 3);
        assert!(Invitation::read(&fair.written(&proof), &proof) == Some(fair));
        let other = Proof { near: [4; 32], far: [3; 32] };
        assert!(Invitation::read(&fair.written(&other), &proof).is_none());
        for wrong in [of(0, 4001, 3), of(4000, 0, 3), of(4000, 4001, 1)] {
            assert!(Invitation::read(&wrong.written(&proof), &proof).is_none());
        }
    }
}
