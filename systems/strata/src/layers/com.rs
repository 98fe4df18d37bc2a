//! COM: adapts the network.
//!
//! Protocol: none. A datagram is taken where its header says this version, this group, this stack and this carrier (with its multicast address), and its sender is not oneself; the sender's address is the one
//! that the network tells. A cast becomes one datagram for each other member of the view, or one for all where the carrier multicasts.
//! Header, 15 bytes: `St`, version, fingerprint of group, stack and carrier (4), the sender's number of this life (8); little-endian whatever the machine (P10).
//! Timers: none. Requires P1; provides P10 and P11.

use std::sync::Arc;

use super::refusals::Refusals;
use crate::addr::Endpoint;
use crate::config::Config;
use crate::event::{Down, Output, To, Up};
use crate::foretold::Foretold;
use crate::layer::{Cx, Layer, Near};
use crate::message::Msg;
use crate::shared::Shared;
use crate::stack::{Carrier, Spec};
use crate::view::{View, hash};

/// Bytes of the header.
pub(super) const HEADER: usize = 15;
const MAGIC: [u8; 2] = *b"St";
/// Grows with each change of any layer's header.
pub(super) const VERSION: u8 = 7;
const FEW: usize = 4;

pub(super) struct Com {
    fingerprint: u32,
    stack: String,
    multicast: bool,
    view: Option<Arc<View>>,
    refusals: Refusals,
}

impl Com {
    pub(super) fn new(spec: &Spec, config: &Config) -> Self {
        // TRACE and FAST have no header, so that one member may have them where others don't.
        let layers: Vec<_> = spec.layers.iter().map(|k| k.name()).filter(|k| !["TRACE", "FAST"].contains(k)).collect();
        let mut stack = format!("{}:{}", layers.join(":"), spec.carrier.name());
        // Members whose casts go to another address would be in one view and never hear each other's.
        if let (Carrier::Multicast, Some(at)) = (spec.carrier, config.multicast) {
            stack = format!("{stack} to {at}");
        }
        Self {
            fingerprint: hash(format!("{}\n{stack}", config.group).as_bytes()) as u32,
            stack,
            multicast: spec.carrier == Carrier::Multicast,
            view: None,
            refusals: Refusals::default(),
        }
    }

    fn header(&self, born: u64) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[..2].copy_from_slice(&MAGIC);
        header[2] = VERSION;
        header[3..7].copy_from_slice(&self.fingerprint.to_le_bytes());
        header[7..].copy_from_slice(&born.to_le_bytes());
        header
    }

    /// A datagram of strata that this member can't take: a header alone tells its sender what this member is.
    fn refuse(&mut self, cx: &mut Cx<impl Near>, from: Endpoint, empty: bool, what: &str) {
        self.refusals.notice(from, what, cx);
        if self.refusals.answers(empty, cx) {
            let mut msg = Msg::new(Vec::new());
            msg.push(&self.header(cx.me.born));
            cx.output(Output::Transmit(To::One(from.addr), msg));
        }
    }
}

impl Layer for Com {
    fn down(&mut self, event: Down, cx: &mut Cx<impl Near>) {
        match event {
            Down::Packet(to, mut msg) => {
                msg.push(&self.header(cx.me.born));
                let me = cx.me;
                match (to, &self.view) {
                    (To::All, Some(view)) if !self.multicast => {
                        // Copies of a joined message share it; of few, each has headers of its own sooner.
                        let msg = if view.members.len() > FEW { Msg::new(msg.joined()) } else { msg };
                        for member in view.members.iter().filter(|m| **m != me) {
                            cx.output(Output::Transmit(To::One(member.addr), msg.clone()));
                        }
                    }
                    (To::All, Some(view)) if view.members.len() < 2 => {}
                    _ => {
                        cx.multicasts += u64::from(to == To::All);
                        cx.output(Output::Transmit(to, msg));
                    }
                }
            }
            Down::View(view) => self.view = Some(view),
            _ => {}
        }
    }

    fn up(&mut self, event: Up, cx: &mut Cx<impl Near>) {
        let Up::Packet(from, mut msg) = event else { return };
        let none = "is no datagram of strata";
        let Ok(header) = msg.pop::<HEADER>() else { return self.refusals.notice(from, none, cx) };
        let born = u64::from_le_bytes([
            header[7], header[8], header[9], header[10], header[11], header[12], header[13], header[14],
        ]);
        if header[..2] != MAGIC {
            self.refusals.notice(from, none, cx);
        } else if header[2] != VERSION {
            let what =
                format!("is of version {} of strata's headers, and this is {VERSION}: use one version", header[2]);
            self.refuse(cx, from, msg.is_empty(), &what);
        } else if header[3..7] != self.fingerprint.to_le_bytes() {
            let what = format!(
                "is of another group, stack or carrier than this member's {:?} over {}: compare them there",
                cx.config.group, self.stack
            );
            self.refuse(cx, from, msg.is_empty(), &what);
        } else if (Endpoint { addr: from.addr, born }) != cx.me {
            cx.up(Up::Packet(Endpoint { addr: from.addr, born }, msg));
        }
    }

    fn foretell(&self, from: u16, to: &mut Foretold, shared: &Shared) -> bool {
        let member = self.view.as_ref().and_then(|v| v.members.get(usize::from(from)));
        member.is_some_and(|m| *m != shared.me && to.stays(&self.header(m.born)))
    }
}

#[cfg(test)]
mod tests {
    use crate::layers::pair::Pair;
    use crate::{Addr, Config, Endpoint, Member, Time};

    /// A member of this carrier, whose casts go to this port.
    fn member(host: u8, carrier: &str, casts: u16) -> Member {
        let at = Addr::from(([10, 0, 0, host], 7));
        let multicast = Some(std::net::SocketAddrV4::new([239, 1, 2, 3].into(), casts));
        let config = Config { multicast, ..Config::default() };
        let spec = format!("MBRSHIP:FRAG:NAK:COM:{carrier}").parse().unwrap();
        let mut member = Member::new(&spec, config, Endpoint { addr: at, born: u64::from(host) }, 7).unwrap();
        member.start(Time(0));
        member
    }

    #[test]
    fn who_casts_to_another_address_or_by_another_carrier_is_not_let_in() {
        let joined = |other: Member| {
            let mut group = Pair::new(vec![member(1, "multicast", 7000), other]);
            group.join();
            group.size(0)
        };
        assert_eq!(joined(member(2, "multicast", 7000)), 2);
        assert_eq!(joined(member(2, "multicast", 7001)), 1);
        assert_eq!(joined(member(2, "udp", 7000)), 1);
        // Over udp the address says nothing.
        let mut group = Pair::new(vec![member(1, "udp", 7000), member(2, "udp", 7001)]);
        group.join();
        assert_eq!(group.size(0), 2);
    }
}
