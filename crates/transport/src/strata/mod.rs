//! Strata: group communication from composable protocol layers (`systems/strata`), as a group of this evaluator. Reliable and in order, as far as the stack
//! that is written down says.
//!
//! The near member makes a group whose name and key are drawn for each connection, and invites the others into it one after another ([`crate::invite`]). They
//! join by strata's own protocol; all go on when all have one view of all members. A view that changes later ends the measurement. Silence is
//! no failure to the layers here (`suspect` is beyond the patience): who stands still or ends is found by the processes that lead the trial, who name it.
//!
//! | module | job |
//! |---|---|
//! | `meeting` | invites, joins, waits for the view |
//! | `link` | a member as a link |
//! | `member` | what came for it |
//! | `keeper` | answers the group while nobody uses the link |
//!
//! A cargo feature, `strata`.

#[cfg(feature = "strata")]
mod keeper;
#[cfg(feature = "strata")]
mod link;
#[cfg(feature = "strata")]
mod meeting;
#[cfg(feature = "strata")]
mod member;

use std::net::Ipv4Addr;

#[cfg(feature = "strata")]
pub use self::link::Strata;
#[cfg(feature = "strata")]
pub use self::meeting::{Groups, TRANSPORT};
use crate::options::{self, Answer, Form, OptionSpec};
use crate::{Capabilities, Name, Semantics, Settings, Wait};

/// What it is called.
pub const NAME: Name = Name::literal("strata");

const SUMMARY: &str = "Strata: ordered, reliable group communication from layers";
const SPOKEN: &[&str] = &["strata", "strata group", "virtual synchrony", "group communication"];

/// The transport, as far as it is here.
#[cfg(not(feature = "strata"))]
pub static TRANSPORT: crate::unbuilt::Unbuilt = crate::unbuilt::Unbuilt {
    name: NAME,
    summary: SUMMARY,
    spoken: SPOKEN,
    can: capabilities,
    options: &OPTIONS,
    feature: "strata",
};

/// The stack where nobody writes another: that of the library.
const STACK: &str = "FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:udp";
/// Largest message: the library's own limit.
const MOST: u64 = 16 << 20;
/// Longest stack that is written.
const LONGEST: usize = 200;
/// Most bytes of a datagram over IPv4.
const DATAGRAM: u64 = 65_507;

const WAITS: [Wait; 2] = [Wait::Block, Wait::Spin];
const WAIT_NAMES: &[&str] = &[Wait::Block.name(), Wait::Spin.name()];

static OPTIONS: [OptionSpec; 5] = [
    OptionSpec {
        name: "stack",
        flag: None,
        form: Form::Read("layers, the top first, as in TOTAL:MBRSHIP:FRAG:NAK:COM:udp", stack),
        default: STACK,
        help: "the layers of each member, the top first; FRAG*10 repeats one; what it ends in carries datagrams: udp, multicast or shm",
        answers: &[Answer { part: "", of: |e| e.options.get("stack").cloned() }],
        steers: false,
        moved: None,
    },
    OptionSpec {
        name: "bind",
        flag: None,
        form: Form::Text("an IPv4 address of this host", |text| {
            text.parse::<Ipv4Addr>().is_ok_and(|ip| !ip.is_unspecified() && !ip.is_multicast())
        }),
        default: "the one that reaches the others",
        help: "the address of the members of the host that has it; it chooses the interface",
        answers: &[],
        steers: true,
        moved: None,
    },
    OptionSpec {
        name: "address",
        flag: None,
        form: Form::Text("an IPv4 multicast address, 224.0.0.0 to 239.255.255.255", |text| {
            text.parse::<Ipv4Addr>().is_ok_and(|ip| ip.is_multicast())
        }),
        default: "239.192.80.72",
        help: "where casts go, of a stack over multicast",
        answers: &[],
        steers: true,
        moved: None,
    },
    OptionSpec {
        name: "datagram",
        flag: None,
        form: Form::Bytes(200, DATAGRAM),
        default: "1472",
        help: "largest datagram, with all headers of the layers",
        answers: &[Answer { part: "", of: |e| e.options.get("datagram").cloned() }],
        steers: false,
        moved: None,
    },
    options::wait(WAIT_NAMES, "block"),
];

/// Whether a text is a stack that can be measured; the error is strata's own.
#[cfg(feature = "strata")]
fn stack(text: &str) -> Result<(), String> {
    use ::strata::stack::{Carrier, Kind, Spec, check};
    if text.len() > LONGEST {
        return Err(format!("a stack of more than {LONGEST} characters"));
    }
    let spec: Spec = text.parse().map_err(|e: ::strata::stack::Malformed| e.to_string())?;
    check(&spec).map_err(|e| e.to_string())?;
    if spec.carrier == Carrier::Sim {
        return Err("the carrier sim is for `strata sim` only: write udp, multicast or shm".to_owned());
    }
    if !spec.layers.contains(&Kind::Mbrship) {
        return Err("members find each other by MBRSHIP here: add MBRSHIP".to_owned());
    }
    Ok(())
}

/// Without the library any text of that length passes, as nothing can be done with it.
#[cfg(not(feature = "strata"))]
fn stack(text: &str) -> Result<(), String> {
    if text.len() > LONGEST { Err(format!("a stack of more than {LONGEST} characters")) } else { Ok(()) }
}

fn capabilities(settings: &Settings) -> Capabilities {
    Capabilities {
        semantics: Semantics::Message,
        max_block: Some(MOST),
        group: true,
        local_only: carrier_of(settings) == "shm",
        waits: WAITS.to_vec(),
        ..Capabilities::plain()
    }
}

/// The stack of a path with these settings.
fn stack_of(settings: &Settings) -> &str {
    settings.text("stack").unwrap_or(STACK)
}

/// What carries its datagrams: how it ends.
fn carrier_of(settings: &Settings) -> &str {
    stack_of(settings).rsplit(':').next().unwrap_or_default()
}

/// The order of casts that such a stack promises.
#[cfg(feature = "strata")]
fn order_of(settings: &Settings) -> crate::Order {
    let spec = stack_of(settings).parse().ok();
    let total = spec
        .and_then(|spec| ::strata::stack::check(&spec).ok())
        .is_some_and(|has| has.has(::strata::property::Property::Total));
    if total { crate::Order::Total } else { crate::Order::Sender }
}
