//! Datagrams on their way out, joined by destination, so that one call sends as many as the kernel takes (GSO: all of one size, the last may be shorter).

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::socket::Socket;
use crate::message::Msg;

/// The largest UDP payload over IPv4.
const MOST: usize = 65_507;

#[derive(Default)]
struct Lane {
    bytes: Vec<u8>,
    size: usize,
    count: usize,
    /// The last was shorter: nothing may follow it.
    closed: bool,
}

#[derive(Default)]
pub(super) struct Lanes(BTreeMap<SocketAddr, Lane>);

impl Lanes {
    pub(super) fn put(&mut self, to: SocketAddr, msg: &Msg, socket: &Socket) {
        let lane = self.0.entry(to).or_default();
        let len = msg.len();
        let full = lane.closed || lane.count >= socket.segments() || len > lane.size || lane.bytes.len() + len > MOST;
        if lane.count > 0 && full {
            lane.flush(to, socket);
        }
        if lane.count == 0 {
            lane.size = len;
        }
        lane.closed = len < lane.size;
        lane.count += 1;
        lane.bytes.extend_from_slice(msg.head());
        lane.bytes.extend_from_slice(msg.body());
    }

    pub(super) fn flush(&mut self, socket: &Socket) {
        for (to, lane) in self.0.iter_mut().filter(|(_, lane)| lane.count > 0) {
            lane.flush(*to, socket);
        }
        // Addresses of former members are not kept.
        if self.0.len() > 4096 {
            self.0.clear();
        }
    }
}

impl Lane {
    fn flush(&mut self, to: SocketAddr, socket: &Socket) {
        socket.send(to, &self.bytes, self.size);
        self.bytes.clear();
        (self.count, self.closed) = (0, false);
    }
}
