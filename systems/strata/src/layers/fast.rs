//! FAST: the protocol accelerator.
//!
//! Protocol: none of its own, and no header, so that one member may have it where others don't. The layers below it say, for each member of a view, how the header of its next cast
//! will look ([`crate::Layer::foretell`]): group, stack and sender's life, which stand for the connection; the view; the numbers that come next. A datagram that begins so is
//! delivered after one comparison, and after that each layer does what follows from it ([`crate::Layer::took`]). Any other goes the whole way. What a layer tells by the way, such as where TOTAL's
//! token goes, is not compared. Where a layer can't foretell (a gap, a view that ends, a message in pieces) nothing is taken the short way.
//!
//! After the protocol accelerator of Horus: van Renesse, *Masking the overhead of protocol layering*, SIGCOMM 1996, which splits each layer's work into what must be done before delivery
//! and what may follow it, and foretells headers. Its other half, a cookie in the place of what never changes in a header, would be another wire format, and is not here.
//! Timers: none. Requires and provides nothing. Deliveries are the same with and without it (`sim::tests`).

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use crate::addr::Addr;
use crate::event::{Cast, Up};
use crate::foretold::{Came, Foretold};
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
    /// One for each member, as far as it still holds.
    next: Vec<Option<Foretold>>,
    taken: u64,
}

impl Fast {
    pub(crate) fn new(place: u16) -> Self {
        Self { place, view: None, ranks: BTreeMap::new(), next: Vec::new(), taken: 0 }
    }

    /// Casts that went the short way.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// Something went the whole way, and may have changed what comes next.
    pub(crate) fn forget(&mut self, shared: &Shared) {
        if !shared.mutant(Mutant::FastKeeps) {
            self.next.fill(None);
        }
    }

    /// Whether the datagram was a cast that was foretold: then all that follows from it is done.
    pub(crate) fn takes(&mut self, from: Addr, datagram: &Bytes, layers: &mut dyn Pile, shared: &mut Shared) -> bool {
        let Some(view) = &shared.view else { return false };
        if self.view.as_ref().is_none_or(|known| !Arc::ptr_eq(known, view)) {
            self.ranks = view.members.iter().zip(0..).map(|(m, rank)| (m.addr, rank)).collect();
            self.next = vec![None; view.members.len()];
            self.view = Some(view.clone());
        }
        let Some(&rank) = self.ranks.get(&from) else { return false };
        let next = &mut self.next[usize::from(rank)];
        if next.is_none() {
            let mut foretold = Foretold::default();
            if !layers.foretell(self.place, rank, &mut foretold, shared) {
                return false;
            }
            *next = Some(foretold);
        }
        let Some(foretold) = next.take_if(|foretold| foretold.fits(datagram)) else { return false };
        self.taken += 1;
        // As for a datagram that goes the whole way, what layers say downward meanwhile waits until all is done.
        shared.queue.hold(true);
        let msg = Msg::new(foretold.body(datagram));
        let cast = Up::Cast(Cast { from: rank, msg, number: 0, transitional: false });
        match self.place.checked_sub(1) {
            Some(above) => layers.enter(above, Call::Event(Event::Up(cast)), shared),
            None => shared.top(cast),
        }
        let mut came = Came::new(rank, datagram.clone(), foretold);
        if !shared.mutant(Mutant::FastForgets) {
            for at in (self.place..layers.len()).rev() {
                layers.enter(at, Call::Took(&mut came), shared);
            }
        }
        shared.queue.hold(false);
        self.forget(shared);
        true
    }
}
