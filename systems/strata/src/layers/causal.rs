//! CAUSAL: no cast arrives before one that its sender had delivered or cast before it.
//!
//! Protocol: a cast carries its sender's vector clock, which counts the casts of each member that the sender has delivered, and its own before this one (Birman, Schiper and
//! Stephenson, *Lightweight causal and atomic group multicast*, ACM TOCS 1991). A receiver holds it until it has delivered as many. Clocks start anew in each view.
//! At a view's end what still lacks a cause is dropped by all alike: the cause is lost with its sender and all who had it, so that whoever sent the effect does not move on either.
//! Header: a list of counts. Timers: none. Requires P3, P4, P8, P9, P15; provides P5 and P13.

use crate::event::{Cast, Down, Up};
use crate::layer::{Cx, Layer, Near};
use crate::mutant::Mutant;
use crate::shared::Shared;
use crate::stalls::Waits;
use crate::wire::Writer;

#[derive(Default)]
pub(super) struct Causal {
    rank: usize,
    sent: u64,
    delivered: Vec<u64>,
    waiting: Vec<(Vec<u64>, Cast)>,
}

impl Causal {
    fn due(&self, stamp: &[u64], from: usize, cx: &Cx<impl Near>) -> bool {
        stamp[from] == self.delivered[from]
            && (cx.mutant(Mutant::CausalFifoOnly)
                || stamp.iter().zip(&self.delivered).enumerate().all(|(at, (s, d))| at == from || s <= d))
    }

    fn stamp(&self, cast: &mut Cast) -> Option<Vec<u64>> {
        let n = usize::try_from(cast.msg.pop_count().ok()?).ok()?;
        if n != self.delivered.len() {
            return None;
        }
        (0..n).map(|_| cast.msg.pop_count().ok()).collect()
    }
}

impl Layer for Causal {
    fn down(&mut self, event: Down, cx: &mut Cx<impl Near>) {
        match event {
            Down::Cast(mut msg) => {
                let mut stamp = self.delivered.clone();
                stamp[self.rank] = self.sent;
                self.sent += 1;
                let mut to = Writer::new();
                to.counts(&stamp);
                msg.push(&to.0);
                cx.down(Down::Cast(msg));
            }
            other => cx.down(other),
        }
    }

    fn up(&mut self, event: Up, cx: &mut Cx<impl Near>) {
        match event {
            Up::Cast(mut cast) => {
                let Some(stamp) = self.stamp(&mut cast) else { return };
                self.waiting.push((stamp, cast));
                while let Some(at) =
                    self.waiting.iter().position(|(stamp, cast)| self.due(stamp, usize::from(cast.from), cx))
                {
                    let (_, cast) = self.waiting.remove(at);
                    self.delivered[usize::from(cast.from)] += 1;
                    cx.up(Up::Cast(cast));
                }
            }
            Up::View(view) => {
                self.rank = usize::from(view.rank(&cx.me).unwrap_or(0));
                self.sent = 0;
                self.delivered = vec![0; view.members.len()];
                self.waiting.clear();
                cx.up(Up::View(view));
            }
            other => cx.up(other),
        }
    }

    fn held(&self) -> usize {
        self.waiting.len()
    }

    fn waits(&self, to: &mut Waits, _: &Shared) {
        for (_, cast) in &self.waiting {
            let from = cast.from;
            to.add(
                from.into(),
                from,
                self.delivered[usize::from(from)],
                "has cast something after what does not come here",
            );
        }
    }
}
