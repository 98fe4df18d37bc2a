//! How much a member may cast while somebody in its view is still to receive the state: what is cast meanwhile waits in that one's memory. Pure.

use std::collections::BTreeSet;

use crate::addr::Endpoint;

/// What a message that waits takes beside its bytes, about.
const BESIDE: usize = 128;

#[derive(Default)]
pub(super) struct Brake {
    /// It is not yet known who has the state.
    open: bool,
    lacking: BTreeSet<Endpoint>,
    /// Bytes that this member cast in this view while somebody lacked the state.
    cast: usize,
}

impl Brake {
    /// A view begins: nobody knows who has the state.
    pub(super) fn begins(&mut self) {
        *self = Self { open: true, ..Self::default() };
    }

    /// All hellos are there: these are to receive the state.
    pub(super) fn lack(&mut self, who: impl IntoIterator<Item = Endpoint>) {
        (self.open, self.lacking) = (false, who.into_iter().collect());
    }

    /// That one has received it.
    pub(super) fn has(&mut self, who: Endpoint) {
        self.lacking.remove(&who);
    }

    fn holds(&self) -> bool {
        self.open || !self.lacking.is_empty()
    }

    /// Bytes that wait for a state at others already, where a message of that length would be one too many. The first goes whatever its length.
    pub(super) fn refuses(&self, len: usize, most: usize) -> Option<usize> {
        (self.holds() && self.cast > 0 && self.cast + len + BESIDE > most).then_some(self.cast)
    }

    /// It was cast.
    pub(super) fn count(&mut self, len: usize) {
        if self.holds() {
            self.cast += len + BESIDE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn casts_are_held_back_until_the_last_has_the_state() {
        let [a, b] = [1, 2].map(|born| Endpoint { addr: "10.0.0.1:7".parse().unwrap(), born });
        let mut brake = Brake::default();
        let cast = |brake: &mut Brake, len| {
            let refused = brake.refuses(len, 1000);
            if refused.is_none() {
                brake.count(len);
            }
            refused.is_none()
        };
        assert!(cast(&mut brake, 900) && cast(&mut brake, 900), "nobody lacks the state before the first view");
        brake.begins();
        assert!(cast(&mut brake, 5000), "one goes in any case");
        assert!(!cast(&mut brake, 1));
        brake.begins();
        assert!(cast(&mut brake, 300));
        brake.lack([a, b]);
        assert!(cast(&mut brake, 400) && !cast(&mut brake, 400), "both count");
        brake.has(b);
        assert!(!cast(&mut brake, 400));
        brake.has(a);
        assert!(cast(&mut brake, 400) && cast(&mut brake, 400));
    }
}
