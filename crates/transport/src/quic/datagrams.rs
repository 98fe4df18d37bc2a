//! Messages as datagrams of a connection (RFC 9221): numbered as those of UDP, so that lost, late and double ones are counted.

use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};

use crate::sequence::{Arrival, Counters, DatagramCounts, Tracker};
use crate::udp::{FIRST, number_bytes};

/// What is known of datagrams that were sent and that came.
#[derive(Debug)]
pub struct Datagrams {
    /// Largest message.
    pub most: usize,
    loss: Duration,
    number: u32,
    tracker: Tracker,
    counters: Counters,
}

impl Datagrams {
    /// None have gone either way. After a wait of `loss` one counts as lost.
    pub fn new(most: usize, loss: Duration) -> Self {
        Self { most, loss, number: FIRST, tracker: Tracker::new(FIRST), counters: Counters::default() }
    }

    pub fn counts(&self) -> DatagramCounts {
        self.counters.counts()
    }

    /// A message as it travels.
    pub fn numbered(&mut self, message: &[u8]) -> Bytes {
        let bytes = number_bytes(message.len());
        let mut datagram = BytesMut::from(message);
        datagram[..bytes].copy_from_slice(&self.number.to_le_bytes()[..bytes]);
        self.number = self.number.wrapping_add(1);
        datagram.freeze()
    }

    /// Whether what came is the message to return.
    pub fn fresh(&mut self, datagram: &[u8], due: usize) -> bool {
        let bytes = number_bytes(datagram.len());
        if bytes == 0 {
            // Not even a number.
            return false;
        }
        let mut low = [0; 4];
        low[..bytes].copy_from_slice(&datagram[..bytes]);
        let fits = datagram.len() == due;
        match self.tracker.arrived(u32::from_le_bytes(low), bytes) {
            Arrival::Fresh { missed: 0 } if fits => true,
            arrival => self.counters.note(arrival, fits),
        }
    }

    /// What is left of a wait since `start`; none once the message counts as lost.
    pub fn left(&self, start: Instant) -> Option<Duration> {
        self.loss.checked_sub(start.elapsed()).filter(|left| !left.is_zero())
    }
}
