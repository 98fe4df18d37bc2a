//! FAST: the protocol accelerator.
//!
//! Protocol: none of its own, and no header, so that one member may have it where others don't. The layers below it say, for each member of a view, how the header of its next cast
//! will look ([`crate::Layer::foretell`]). What stays, as group, stack and sender's life, which stand for the connection, or that a message is whole, they say once; it is forgotten when anything but a foretold cast,
//! an own cast or an idle moment comes. What moves on, the view's tag and the next numbers of NAK and TOTAL, those say anew for each datagram. A datagram that begins so is delivered after one comparison, and after that
//! the layers whose header moves on do what follows from it ([`crate::Layer::took`]); the others are not called. Any other goes the whole way. What a layer tells by the way, such as where TOTAL's
//! token goes, is not compared. Where a layer can't foretell (a gap, a view that ends, a message in pieces) nothing is taken the short way.
//!
//! After the protocol accelerator of Horus: van Renesse, *Masking the overhead of protocol layering*, SIGCOMM 1996, which splits each layer's work into what must be done before delivery
//! and what may follow it, and foretells headers. Its other half, a cookie in the place of what never changes in a header, would be another wire format, and is not here.
//! What it gains is CPU time at who receives, since who casts goes through all layers; no byte of a header is spared. On eleven FRAG a cast that is delivered at both of two members took 402 ns with it and 484 without, on one
//! FRAG 364 and 416 (`examples/layers`, medians of seven runs at a load of about 10 on two CPUs). A call between layers costs a few ns, so that as long as each layer was asked and entered again for each cast, it cost more than it spared (600 and 498 ns).
//! Over sockets, where a datagram costs microseconds, little is left of that (README.md, *Speed*).
//!
//! Timers: none. Requires and provides nothing. Deliveries are the same with and without it (`sim::tests`).

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use crate::addr::Addr;
use crate::event::{Cast, Up};
use crate::foretold::Foretold;
use crate::message::Msg;
use crate::mutant::Mutant;
use crate::pile::{Call, Pile};
use crate::shared::{Event, Shared};
use crate::view::View;

pub(crate) struct Fast {
    /// The first layer below it.
    place: u16,
    view: Option<Arc<View>>,
    ranks: BTreeMap<Addr, u16>,
    /// One for each member, and since when it holds, if it is whole.
    next: Vec<(Foretold, u64)>,
    /// How often all that was foretold was forgotten: what is from before holds no more.
    since: u64,
    taken: u64,
}

impl Fast {
    pub(crate) fn new(place: u16) -> Self {
        Self { place, view: None, ranks: BTreeMap::new(), next: Vec::new(), since: 1, taken: 0 }
    }

    /// Casts that went the short way.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// Something went the whole way, and may have changed what comes next.
    pub(crate) fn forget(&mut self, shared: &Shared) {
        if !shared.mutant(Mutant::FastKeeps) {
            self.since += 1;
        }
    }

    /// Whether the datagram was a cast that was foretold: then all that follows from it is done.
    pub(crate) fn takes(&mut self, from: Addr, datagram: &Bytes, layers: &mut dyn Pile, shared: &mut Shared) -> bool {
        let Some(rank) = self.rank(from, shared) else { return false };
        let foretold = &mut self.next[usize::from(rank)];
        if !foretells(foretold, self.since, self.place, rank, layers, shared) || !foretold.0.fits(datagram) {
            return false;
        }
        let foretold = &foretold.0;
        self.taken += 1;
        // As for a datagram that goes the whole way, what layers say downward meanwhile waits until all is done.
        shared.queue.hold(true);
        let msg = Msg::new(foretold.body(datagram));
        let cast = Up::Cast(Cast { from: rank, msg, number: 0, transitional: false });
        match self.place.checked_sub(1) {
            Some(above) => layers.enter(above, Call::Event(Event::Up(cast)), shared),
            None => shared.top(cast),
        }
        if !shared.mutant(Mutant::FastForgets) {
            for part in 0..foretold.moving() {
                let (at, came) = foretold.came(part, rank, datagram);
                layers.enter(at, Call::Took(&came), shared);
            }
        }
        shared.queue.hold(false);
        true
    }

    /// The rank of who is at this address, in the view that the application was told last.
    fn rank(&mut self, from: Addr, shared: &Shared) -> Option<u16> {
        let view = shared.view.as_ref()?;
        if self.view.as_ref().is_none_or(|known| !Arc::ptr_eq(known, view)) {
            self.ranks = view.members.iter().zip(0..).map(|(m, rank)| (m.addr, rank)).collect();
            self.next = view.members.iter().map(|_| (Foretold::default(), 0)).collect();
            self.view = Some(view.clone());
        }
        self.ranks.get(&from).copied()
    }
}

/// Whether the layers from this place down can say how the next cast of this rank begins. What stays they said before, unless that was forgotten; what moves on they say for each datagram.
fn foretells(
    (foretold, holds): &mut (Foretold, u64),
    since: u64,
    place: u16,
    rank: u16,
    layers: &dyn Pile,
    shared: &Shared,
) -> bool {
    if *holds == since {
        return (0..foretold.moving()).all(|part| {
            let at = foretold.asks_again(part);
            layers.foretell(at, rank, foretold, shared)
        });
    }
    (*foretold, *holds) = (Foretold::default(), 0);
    let whole = (place..layers.len()).rev().all(|at| {
        foretold.asks(at);
        layers.foretell(at, rank, foretold, shared)
    });
    if whole {
        *holds = since;
    }
    whole
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::layers;
    use crate::layers::pair::{Pair, member};
    use crate::stalls::Waits;
    use crate::{Config, Endpoint, Input, Member, Output, Time};

    /// Layers, and how often one of them was entered or asked.
    struct Counted(Box<dyn Pile>, AtomicU64);

    impl Pile for Counted {
        fn len(&self) -> u16 {
            self.0.len()
        }
        fn enter(&mut self, at: u16, call: Call, shared: &mut Shared) {
            *self.1.get_mut() += 1;
            self.0.enter(at, call, shared);
        }
        fn backlog(&self) -> usize {
            self.0.backlog()
        }
        fn held(&self) -> usize {
            self.0.held()
        }
        fn waits(&self, to: &mut Waits, shared: &Shared) {
            self.0.waits(to, shared);
        }
        fn foretell(&self, at: u16, from: u16, to: &mut Foretold, shared: &Shared) -> bool {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.foretell(at, from, to, shared)
        }
    }

    /// Eleven FRAG and COM are asked once and told nothing: only NAK's header moves on.
    #[test]
    fn a_foretold_cast_costs_no_call_of_a_layer_whose_header_stays() {
        let addrs = [1, 2].map(|host| Addr::from(([10, 0, 0, host], 7)));
        let config = Config { fixed: addrs.into(), ..Config::default() };
        let me = |at: usize| Endpoint { addr: addrs[at], born: 0 };
        let stack = "FRAG*11:NAK:COM:sim".parse().unwrap();
        let mut sender = Member::new(&stack, config.clone(), me(0), 1).unwrap();
        sender.start(Time(0));
        let mut shared = Shared::new(config.clone(), me(1), 2);
        let mut layers = Counted(layers::build(&stack, &config).unwrap(), AtomicU64::new(0));
        let members = vec![me(0), me(1)];
        let view = View { id: crate::ViewId { number: 1, leader: me(0) }, members };
        layers.enter(0, Call::Event(Event::Down(crate::Down::View(Arc::new(view)))), &mut shared);
        while let Some((at, event)) = shared.queue.pop() {
            layers.enter(at, Call::Event(event), &mut shared);
        }
        let mut fast = Fast::new(0);
        let mut calls = Vec::new();
        for number in 0..4 {
            sender.handle(Time(1), Input::Cast(Bytes::from_static(b"x")));
            let sent = std::iter::from_fn(|| sender.next()).find_map(|output| match output {
                Output::Transmit(_, msg) => Some(msg.joined()),
                _ => None,
            });
            if number == 3 {
                fast.forget(&shared);
            }
            *layers.1.get_mut() = 0;
            assert!(fast.takes(addrs[0], &sent.unwrap(), &mut layers, &mut shared), "cast {number}");
            calls.push(*layers.1.get_mut());
        }
        assert_eq!(calls, [13 + 1, 1 + 1, 1 + 1, 13 + 1]);
        let given = std::iter::from_fn(|| shared.told.pop()).filter(|told| matches!(told, Output::Deliver(_)));
        assert_eq!(given.count(), 4);
    }

    /// Rounds in which each of three members casts 25 messages: all datagrams, after how many milliseconds each round is delivered everywhere, and casts that went the short way.
    fn rounds(stack: &str) -> (Vec<(Addr, Addr, Bytes)>, Vec<u32>, u64) {
        let mut group = Pair::new((1..4).map(|n| member(stack, n, u64::from(n) + 10, 7)).collect());
        group.join();
        assert_eq!(group.size(0), 3);
        let mut took = Vec::new();
        for round in 1..=40 {
            let now = Time(group.now);
            for member in &mut group.members {
                (0..25).for_each(|_| member.try_cast(now, Bytes::from_static(b"x")).unwrap());
            }
            let whole = |group: &Pair| group.delivered.iter().all(|&count| count == round * 75);
            let spent = (0..1000).find(|_| {
                group.run(1);
                whole(&group)
            });
            took.push(spent.expect("a round stands still"));
        }
        let short = group.members.iter().map(Member::foretold).sum();
        (group.said, took, short)
    }

    #[test]
    fn packs_of_fc_go_the_short_way_and_wait_for_nothing() {
        let off = rounds("FC:TOTAL:MBRSHIP:FRAG:NAK:COM:sim");
        let on = rounds("FC:FAST:TOTAL:MBRSHIP:FRAG:NAK:COM:sim");
        assert_eq!((off.1, on.1), (vec![0; 40], vec![0; 40]), "none waits for a timer");
        assert!(off.0 == on.0, "other datagrams: {} without FAST, {} with it", off.0.len(), on.0.len());
        // Of each round three packs, each to two others.
        assert!(off.2 == 0 && on.2 > 40 * 6 * 9 / 10, "{} packs went the short way", on.2);
    }
}
