//! What the application is to be told, in order. A pack of casts that came out above FC is kept as it is, and taken apart as its messages are asked for: so a message is written nowhere in between.

use std::collections::VecDeque;

use bytes::Bytes;

use crate::addr::Endpoint;
use crate::event::{Delivery, Output};
use crate::layers::fc;

enum Entry {
    One(Output),
    Pack { from: Endpoint, transitional: bool, rest: Bytes },
}

#[derive(Default)]
pub(crate) struct Untold(VecDeque<Entry>);

impl Untold {
    pub(crate) fn push(&mut self, output: Output) {
        self.0.push_back(Entry::One(output));
    }

    /// FC's pack of casts, without its header.
    pub(crate) fn push_pack(&mut self, from: Endpoint, transitional: bool, rest: Bytes) {
        self.0.push_back(Entry::Pack { from, transitional, rest });
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Output> {
        loop {
            if let Entry::Pack { from, transitional, rest } = self.0.front_mut()? {
                let (from, transitional) = (*from, *transitional);
                let body = fc::unpacked(rest);
                if body.is_none() || rest.is_empty() {
                    self.0.pop_front();
                }
                match body {
                    Some(body) => {
                        return Some(Output::Deliver(Delivery { from, cast: true, transitional, number: 0, body }));
                    }
                    // What can't be is dropped with all behind it.
                    None => continue,
                }
            }
            if let Some(Entry::One(output)) = self.0.pop_front() {
                return Some(output);
            }
        }
    }

    /// Entries; a pack is one.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packs_and_others_come_in_their_order_and_damaged_ones_end() {
        let from = Endpoint { addr: "10.0.0.1:7".parse().unwrap(), born: 3 };
        let mut untold = Untold::default();
        untold.push(Output::Trace("first".to_owned()));
        untold.push_pack(from, true, Bytes::from_static(b"\x01a\x00\x02bc"));
        untold.push_pack(from, false, Bytes::from_static(b"\x01d\x05ef"));
        untold.push_pack(from, false, Bytes::new());
        untold.push(Output::Exit);
        assert_eq!(untold.len(), 5);
        assert!(matches!(untold.pop(), Some(Output::Trace(text)) if text == "first"));
        for (bytes, is) in [(&b"a"[..], true), (b"", true), (b"bc", true), (b"d", false)] {
            let Some(Output::Deliver(d)) = untold.pop() else { panic!("no delivery") };
            assert_eq!((d.from, &d.body[..], d.transitional, d.cast), (from, bytes, is, true));
        }
        assert!(matches!(untold.pop(), Some(Output::Exit)));
        assert!(untold.pop().is_none() && untold.len() == 0);
    }
}
