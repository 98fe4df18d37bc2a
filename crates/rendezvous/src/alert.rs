//! The quickest way to say "busy": a TLS alert in clear, seven bytes, no cryptography.
//!
//! A measurement is in progress when it is sent. A handshake would take a millisecond of CPU time from it for every
//! stranger who knocks; this takes a few microseconds. It proves nothing, and nothing depends on it: who forges it only
//! keeps a peer from measuring, which cutting the connection does as well.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use rustls::AlertDescription;

/// The alert that means "busy" before the handshake.
pub(crate) const BUSY: AlertDescription = AlertDescription::AccessDenied;

/// Record of type alert, version as TLS 1.3 wants it, two bytes: fatal, access denied.
const RECORD: [u8; 7] = [21, 3, 3, 0, 2, 2, 49];

/// Turns `peer` away. Takes at most a tenth of a second.
pub(crate) fn turn_away(mut peer: TcpStream) {
    let time = Some(Duration::from_millis(50));
    let _ = peer.set_nonblocking(false);
    let (_, _) = (peer.set_read_timeout(time), peer.set_write_timeout(time));
    // Read what the peer has to say first: closing with unread bytes would reset the connection, and the alert with it.
    let _ = peer.read(&mut [0; 4096]);
    let _ = peer.write_all(&RECORD);
    let _ = peer.shutdown(Shutdown::Both);
}
