//! UDP multicast over IPv4 or IPv6: a group of members, each of which casts messages that all others deliver. Nothing leaves this host unless its options say so.
//!
//! A member has two sockets: one that has joined the group, and one of its own, by which it casts, and gets answers that are for it alone. Each message is a
//! datagram with a header of [16 bytes](HEADER_BYTES) before it: the sender's rank, the number of the message, and a proof that a member of this group sent it (`header`). A datagram
//! without such a proof (another program on the same group and port, a stranger, a replay of an earlier run) is dropped and counted; a copy of one of this
//! run has a number that was here before, or comes from another address than its member's once one cast of that was delivered; where the first one was lost to a
//! receiver, a copy by the member's port passes for it, as members need not cast by the address that they met at (a group of a link is sent to from a link-local one). The key of the proof is drawn for each connection and travels with the near side's own proof (`meeting`).
//!
//! Neither arrival nor order is certain: what is missing, late or double is counted for each sender by its numbers, as UDP's datagrams are.
//!
//! | module | job |
//! |---|---|
//! | `header` | the header and its proof |
//! | `place` | what is set on a group; pure |
//! | `interface` | which interface carries it |
//! | `sockets` | joining, and sending no further than was asked for |
//! | `meeting` | the near member invites the others |
//! | `link` | a member |

mod header;
mod interface;
mod link;
mod meeting;
mod place;
mod sockets;

use std::net::{Ipv4Addr, SocketAddr};

use rustix::net::SocketType;

use self::header::HEADER;
pub use self::link::Multicast;
use self::meeting::{Door, Host};
use self::place::Place;
use crate::ip;
use crate::meet::Made;
use crate::options::{self, FAMILY, Form, LOSS_TIMEOUT, SOCKBUF};
use crate::port::{Acceptor, Address, Connector, Transport};
use crate::{AnyLink, Capabilities, Family, LinkError, Name, OptionSpec, Patience, Proof, Semantics, Settings};

/// What it is called.
pub const NAME: Name = Name::literal("multicast");

/// Bytes before each message in its datagram.
pub const HEADER_BYTES: usize = HEADER;

/// The transport.
pub static TRANSPORT: Groups = Groups;

/// UDP multicast between processes.
#[derive(Debug)]
pub struct Groups;

/// Where messages go is for who types the command to say.
const fn plain(name: &'static str, form: Form, default: &'static str, help: &'static str) -> OptionSpec {
    OptionSpec { name, flag: None, form, default, help, answers: &[], steers: true, moved: None }
}

static OPTIONS: [OptionSpec; 8] = [
    plain(
        "address",
        Form::Text(
            "a multicast address: 224.0.0.0 to 239.255.255.255, or of IPv6 with a scope from 1 on, such as ff02::5047",
            place::is_group,
        ),
        "239.192.80.71, or ff11::5047 with -6",
        "the group's address",
    ),
    OptionSpec {
        steers: false,
        ..plain("port", Form::Text("a port from 1 to 65535", port), "one that is free", "the group's port")
    },
    plain(
        "interface",
        Form::Text("an interface's name ('ip link' lists them)", interface),
        "lo; of groups within one (scope 1, ff?1::) the first that can",
        "the interface that carries the group",
    ),
    plain(
        "ttl",
        Form::Text("a number of hops from 0 to 255", ttl),
        "0",
        "hops that a message may take; with 0 none leaves this host",
    ),
    OptionSpec { default: "that of the group's address, or 4", ..FAMILY },
    SOCKBUF,
    LOSS_TIMEOUT,
    options::wait(ip::WAIT_NAMES, "block"),
];

fn port(text: &str) -> bool {
    text.parse::<u16>().is_ok_and(|port| port > 0)
}

fn interface(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_graphic() && !"/:,=".contains(c);
    (1..=15).contains(&text.len()) && text.chars().all(fits)
}

fn ttl(text: &str) -> bool {
    text.parse::<u8>().is_ok()
}

impl Transport for Groups {
    fn name(&self) -> Name {
        NAME
    }
    fn summary(&self) -> &'static str {
        "UDP multicast: one process casts, several receive; loss and reordering are counted"
    }
    fn spoken(&self) -> &'static [&'static str] {
        &["multicast", "udp multicast", "ip multicast"]
    }
    fn capabilities(&self, settings: &Settings) -> Capabilities {
        capabilities(&Place::of(settings))
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
    fn fits(&self, settings: &Settings) -> Result<(), LinkError> {
        Place::of(settings).agrees()
    }
    fn family(&self, settings: &Settings) -> Option<Family> {
        let place = Place::of(settings);
        // Members of a group that stays on this host meet there, wherever other paths go.
        (!place.stays()).then(|| place.family())
    }
    fn listen(&self, settings: &Settings, at: SocketAddr, patience: &Patience) -> Result<Acceptor, LinkError> {
        let made = Made::new(&ip::WAITS, settings, patience)?;
        Ok(Box::new(Door::new(meets(settings, at, ip::beside)?, made)?))
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
    let at = |(address, peer): &(Address, SocketAddr)| meets(settings, *peer, |at, of| ip::door(address, at, of));
    let doors = doors.iter().map(at).collect::<Result<_, _>>()?;
    Ok(Host { doors, made: Made::new(&ip::WAITS, settings, patience)? })
}

/// Where members meet, over the IP version of their group: within this host if it stays there, else as `find` says, beside `at`.
fn meets(
    settings: &Settings,
    at: SocketAddr,
    find: impl FnOnce(SocketAddr, &Settings) -> Result<SocketAddr, LinkError>,
) -> Result<SocketAddr, LinkError> {
    let place = Place::of(settings);
    let at = if place.stays() { SocketAddr::new(Ipv4Addr::LOCALHOST.into(), at.port()) } else { at };
    find(at, &Settings::default().with("family", place.family())).map_err(|e| match e {
        LinkError::Io { .. } => place.elsewhere(at.ip()),
        other => other,
    })
}

fn capabilities(place: &Place) -> Capabilities {
    Capabilities {
        semantics: Semantics::Message,
        ordered: false,
        reliable: false,
        max_block: Some(place.most() as u64),
        local_only: place.stays(),
        group: true,
        waits: ip::WAITS.to_vec(),
        ..Capabilities::plain()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(set: &[(&str, &str)], at: &str) -> Result<String, String> {
        let settings = set.iter().fold(Settings::default(), |all, (option, value)| all.with(option, *value));
        let met = meets(&settings, at.parse().unwrap(), ip::beside);
        met.map(|at| at.to_string()).map_err(|e| e.to_string())
    }

    #[test]
    fn members_meet_in_this_host_where_their_group_stays_there_and_else_over_its_ip_version() {
        assert_eq!(said(&[("family", "6")], "192.0.2.1:7").as_deref(), Ok("[::1]:0"));
        assert_eq!(said(&[], "192.0.2.1:7").as_deref(), Ok("127.0.0.1:0"));
        assert_eq!(TRANSPORT.family(&Settings::default().with("family", "6")), None);
        let link = [("interface", "eth0"), ("ttl", "1")];
        assert_eq!(said(&link, "192.0.2.1:7").as_deref(), Ok("192.0.2.1:0"));
        let six = [("interface", "eth0"), ("ttl", "1"), ("address", "ff02::5047")];
        assert_eq!(said(&six, "[2001:db8::1]:7").as_deref(), Ok("[2001:db8::1]:0"));
        let e = said(&six, "192.0.2.1:7").unwrap_err();
        assert!(e.contains("ff02::5047") && e.contains("of IPv6 with --peer-address") && !e.contains("-4/-6"), "{e}");
    }
}
