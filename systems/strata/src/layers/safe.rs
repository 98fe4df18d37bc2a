//! SAFE (Horus: ORDER over STABLE): a cast is delivered when all members of the view have it.
//!
//! Protocol: casts wait in the order in which they came until the first is stable. At a view's end those who move on have the same casts, all of them: they are delivered
//! before the view, marked transitional, since nobody knows of those who don't move on (extended virtual synchrony: Moser, Amir, Melliar-Smith and Agarwal, ICDCS 1994).
//! An application that must only act on what is safe in the whole view leaves those out. Header: none. Timers: none. Requires P9, P14, P15; provides P7.
//! Over TOTAL the order is in the messages, and stable with them; SEQ keeps its order to itself, so that SAFE goes below it.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::event::{Cast, Down, Up};
use crate::layer::{Cx, Layer, Near};
use crate::mutant::Mutant;
use crate::shared::Shared;
use crate::stalls::Waits;

#[derive(Default)]
pub(super) struct Safe {
    waiting: VecDeque<Cast>,
    /// How many were delivered as safe so far.
    released: u64,
    stable: Arc<Vec<u64>>,
}

impl Safe {
    fn release(&mut self, cx: &mut Cx<impl Near>) {
        while let Some(cast) = self.waiting.front() {
            let stable = self.stable.get(usize::from(cast.from)).is_some_and(|&s| cast.number < s);
            if !stable && !cx.mutant(Mutant::SafeByOne) {
                return;
            }
            if let Some(cast) = self.waiting.pop_front() {
                self.released += 1;
                cx.up(Up::Cast(cast));
            }
        }
    }
}

impl Layer for Safe {
    fn down(&mut self, event: Down, cx: &mut Cx<impl Near>) {
        cx.down(event);
    }

    fn up(&mut self, event: Up, cx: &mut Cx<impl Near>) {
        match event {
            Up::Cast(cast) => {
                self.waiting.push_back(cast);
                self.release(cx);
            }
            Up::Stable(stable) => {
                self.stable = stable.clone();
                self.release(cx);
                cx.up(Up::Stable(stable));
            }
            Up::View(view) => {
                for cast in self.waiting.drain(..) {
                    cx.up(Up::Cast(Cast { transitional: true, ..cast }));
                }
                self.stable = Arc::default();
                cx.up(Up::View(view));
            }
            other => cx.up(other),
        }
    }

    fn held(&self) -> usize {
        self.waiting.len()
    }

    fn waits(&self, to: &mut Waits, shared: &Shared) {
        // An application that acknowledges by itself may take its time.
        if let (Some(cast), false) = (self.waiting.front(), shared.config.app_acks) {
            to.add(0, cast.from, self.released, "has cast something of which not all members say that they have it");
        }
    }
}
