//! CHKSUM: drops what the network damaged.
//!
//! Protocol: a CRC-32 (IEEE 802.3) of all that is above, and of the sender's number of this life, which COM's header carries unprotected. UDP's own checksum is 16 bits
//! of ones' complement, may be switched off, and does not see what happens in memory before it. Header: 4 bytes. Timers: none. Requires P1, P10, P11; provides nothing
//! that has a name.

use crate::event::{Down, Up};
use crate::layer::{Cx, Layer, Near};

/// Bytes of the header.
pub(super) const HEADER: usize = 4;

pub(super) struct Chksum;

fn sum(born: u64, head: &[u8], body: &[u8]) -> [u8; 4] {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&born.to_le_bytes());
    hasher.update(head);
    hasher.update(body);
    hasher.finalize().to_le_bytes()
}

impl Layer for Chksum {
    fn down(&mut self, event: Down, cx: &mut Cx<impl Near>) {
        match event {
            Down::Packet(to, mut msg) => {
                let sum = sum(cx.me.born, msg.head(), msg.body());
                msg.push(&sum);
                cx.down(Down::Packet(to, msg));
            }
            other => cx.down(other),
        }
    }

    fn up(&mut self, event: Up, cx: &mut Cx<impl Near>) {
        match event {
            Up::Packet(from, mut msg) => {
                let said = msg.pop::<HEADER>();
                if said == Ok(sum(from.born, msg.head(), msg.body())) {
                    cx.up(Up::Packet(from, msg));
                }
            }
            other => cx.up(other),
        }
    }
}
