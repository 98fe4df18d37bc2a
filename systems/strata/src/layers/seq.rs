//! SEQ: one order of all casts, by a sequencer.
//!
//! Protocol: casts go out at once; rank 0 casts the order in which they came to it, as a list of ranks, each meaning the next cast of that member; one list for all that came at
//! a moment ([`Layer::idle`]). At a view's end those who move on have the same casts and the same lists; what no list names is delivered in the order of ranks, marked
//! transitional: that part of the order is agreed among those who move on together, and not with a sequencer that crashed (*weak* total order; what comes before it is
//! *reliable*, a prefix of the sequencer's order: Chockler, Keidar and Vitenberg, *Group communication specifications*, ACM Computing Surveys 2001).
//! Header: 1 byte, a cast or a list. Timers: none. Requires P3, P4, P8, P9, P15; provides P6; keeps P5, P13 and
//! P14 from those above: the transitional part's order is not causal (the simulator's seed 101 showed it: a sequencer that crashed had delivered a cast and cast another, and the
//! others had both and no list).

use std::collections::VecDeque;

use crate::event::{Cast, Down, Up};
use crate::layer::{Cx, Layer, Near};
use crate::message::Msg;
use crate::mutant::Mutant;
use crate::shared::Shared;
use crate::stalls::Waits;
use crate::wire::{Reader, Writer};

const DATA: u8 = 1;
const ORDER: u8 = 2;

#[derive(Default)]
pub(super) struct Seq {
    rank: u16,
    /// What came of each member and is not yet delivered.
    queues: Vec<VecDeque<Cast>>,
    /// How many of each were.
    delivered: Vec<u64>,
    /// Whose next cast comes next; whether the list came as the view ended.
    order: VecDeque<(u16, bool)>,
    /// At rank 0: what came since the last list.
    fresh: Vec<u64>,
    /// In the order of arrival, for a mutant.
    arrived: Vec<u16>,
    blocked: bool,
}

impl Seq {
    fn deliver(&mut self, cx: &mut Cx<impl Near>) {
        while let Some(&(rank, late)) = self.order.front() {
            let Some(queue) = self.queues.get_mut(usize::from(rank)) else { return };
            let Some(cast) = queue.pop_front() else { return };
            self.order.pop_front();
            self.delivered[usize::from(rank)] += 1;
            cx.up(Up::Cast(Cast { number: 0, transitional: cast.transitional || late, ..cast }));
        }
    }

    /// The view ends: what no list names, and what a list names behind a cast that is lost, in the order of ranks.
    fn leftovers(&mut self, cx: &mut Cx<impl Near>) {
        self.order.clear();
        if cx.mutant(Mutant::LeftoversByArrival) {
            self.order = self.arrived.iter().rev().map(|&r| (r, true)).collect();
            self.deliver(cx);
        }
        for queue in &mut self.queues {
            for cast in queue.drain(..) {
                cx.up(Up::Cast(Cast { number: 0, transitional: true, ..cast }));
            }
        }
    }
}

impl Layer for Seq {
    fn down(&mut self, event: Down, cx: &mut Cx<impl Near>) {
        match event {
            Down::Cast(mut msg) => {
                msg.push(&[DATA]);
                cx.down(Down::Cast(msg));
            }
            other => cx.down(other),
        }
    }

    fn up(&mut self, event: Up, cx: &mut Cx<impl Near>) {
        match event {
            Up::Cast(mut cast) => {
                let Ok([kind]) = cast.msg.pop() else { return };
                if kind == DATA {
                    if self.rank == 0 {
                        self.fresh.push(u64::from(cast.from));
                    }
                    self.arrived.push(cast.from);
                    self.queues[usize::from(cast.from)].push_back(cast);
                } else if cast.from == 0
                    && let Ok(list) = Reader(&cast.msg.joined()).counts()
                {
                    let n = self.queues.len() as u64;
                    let ranks = list.into_iter().filter(|&r| r < n);
                    self.order.extend(ranks.map(|r| (r as u16, cast.transitional)));
                }
                self.deliver(cx);
            }
            Up::Block => {
                self.blocked = true;
                cx.up(Up::Block);
            }
            Up::View(view) => {
                self.leftovers(cx);
                self.rank = view.rank(&cx.me).unwrap_or(0);
                self.queues = view.members.iter().map(|_| VecDeque::new()).collect();
                self.delivered = vec![0; self.queues.len()];
                self.order.clear();
                self.fresh.clear();
                self.arrived.clear();
                self.blocked = false;
                cx.up(Up::View(view));
            }
            other => cx.up(other),
        }
    }

    fn idle(&mut self, cx: &mut Cx<impl Near>) {
        if self.fresh.is_empty() || self.blocked {
            return;
        }
        let mut to = Writer::new();
        to.u8(ORDER);
        to.counts(&self.fresh);
        self.fresh.clear();
        cx.down(Down::Cast(Msg::new(to.0)));
    }

    fn waits(&self, to: &mut Waits, _: &Shared) {
        for (rank, _) in self.queues.iter().enumerate().filter(|(_, queue)| !queue.is_empty()) {
            to.add(
                rank as u32,
                rank as u16,
                self.delivered[rank],
                "has cast something whose turn in the order does not come",
            );
        }
    }

    fn held(&self) -> usize {
        self.queues.iter().map(VecDeque::len).sum::<usize>() + self.order.len()
    }
}
