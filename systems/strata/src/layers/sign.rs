//! SIGN: who has not the group's key makes no datagram that is taken.
//!
//! Protocol: HMAC-SHA-256, cut to 16 bytes, over the sender's address and number of this life, which COM's header carries unprotected, and over all that is above. What was said once can
//! be said again by anyone who heard it: views' tags, numbers and the rank that goes with a sender make NAK drop it, but a control message of MBRSHIP may disturb. CRYPT refuses it.
//! Header: 16 bytes. Timers: none. Requires P1, P10, P11; provides nothing that has a name.

use ring::hmac;

use crate::addr::Endpoint;
use crate::event::{Down, Up};
use crate::key::Key;
use crate::layer::{Cx, Layer, Near};
use crate::wire::Writer;

/// Bytes of the header.
pub(super) const HEADER: usize = 16;

pub(super) struct Sign {
    key: hmac::Key,
}

impl Sign {
    pub(super) fn new(key: &Key) -> Self {
        // A key of its own, so that one file may serve SIGN and CRYPT.
        let own = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key.0), b"strata SIGN 1");
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, own.as_ref()) }
    }

    fn mark(&self, of: Endpoint, head: &[u8], body: &[u8]) -> [u8; HEADER] {
        let mut who = Writer::new();
        of.write(&mut who);
        let mut context = hmac::Context::with_key(&self.key);
        [&who.0[..], head, body].iter().for_each(|part| context.update(part));
        let mut mark = [0; HEADER];
        mark.copy_from_slice(&context.sign().as_ref()[..HEADER]);
        mark
    }
}

impl Layer for Sign {
    fn down(&mut self, event: Down, cx: &mut Cx<impl Near>) {
        match event {
            Down::Packet(to, mut msg) => {
                let mark = self.mark(cx.me, msg.head(), msg.body());
                msg.push(&mark);
                cx.down(Down::Packet(to, msg));
            }
            other => cx.down(other),
        }
    }

    fn up(&mut self, event: Up, cx: &mut Cx<impl Near>) {
        match event {
            Up::Packet(from, mut msg) => {
                let Ok(said) = msg.pop::<HEADER>() else { return };
                let due = self.mark(from, msg.head(), msg.body());
                // In constant time: all bytes are compared, whatever the first ones say.
                if said.iter().zip(due).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0 {
                    cx.up(Up::Packet(from, msg));
                }
            }
            other => cx.up(other),
        }
    }
}
