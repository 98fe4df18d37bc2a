//! QUIC (RFC 9000) over UDP: one stream, or datagrams (RFC 9221), encrypted, with its own congestion control and acknowledgements in user space.
//!
//! Both sides are quinn-proto, the protocol without sockets or clock, driven by the measuring thread itself: no runtime and no thread stands
//! between a call and its datagrams ([`pump`]). Sides meet as those of UDP do, by proofs in datagrams; then comes the handshake, and both proofs
//! are the first bytes of the stream, whatever carries messages afterwards. Nobody checks whose certificate it is. A cargo feature, `quic`.

#[cfg(feature = "quic")]
mod config;
#[cfg(feature = "quic")]
mod datagrams;
#[cfg(feature = "quic")]
mod link;
#[cfg(feature = "quic")]
mod meeting;
#[cfg(feature = "quic")]
mod pump;
#[cfg(feature = "quic")]
mod sockets;
#[cfg(all(test, feature = "quic"))]
mod tests;

#[cfg(feature = "quic")]
pub use self::link::Quic;
#[cfg(feature = "quic")]
pub use self::meeting::{QuicOverUdp, TRANSPORT};
use crate::options::{self, Answer, FAMILY, Form, Knob, LOSS_TIMEOUT, Moved, OptionSpec, SOCKBUF};
use crate::settings::Effective;
use crate::{Capabilities, Name, Semantics, Settings, ip, tls};

/// What it is called.
pub const NAME: Name = Name::literal("quic");

const SUMMARY: &str = "QUIC over UDP: one encrypted stream, or datagrams";
const SPOKEN: &[&str] = &["quic", "quic connection", "quic stream", "quic streams", "quic datagrams"];

/// The transport, as far as it is here.
#[cfg(not(feature = "quic"))]
pub static TRANSPORT: crate::unbuilt::Unbuilt = crate::unbuilt::Unbuilt {
    name: NAME,
    summary: SUMMARY,
    spoken: SPOKEN,
    can: capabilities,
    options: &OPTIONS,
    feature: "quic",
};

/// Congestion controls, the default first.
const CONTROLS: [&str; 3] = ["cubic", "new-reno", "bbr"];

/// What carries messages, the default first.
const MODES: [&str; 2] = ["stream", "datagram"];

/// Payload of a UDP datagram from the first on, where nobody says otherwise (RFC 9000, 14.1).
const PACKET: u64 = 1200;

/// Bytes of a packet around a message that is a datagram: the head of a short packet (1), the connection's number (8), the packet's (4 at most),
/// the seal (16), the frame's head (9 at most).
const AROUND: u64 = 38;

static OPTIONS: [OptionSpec; 10] = [
    OptionSpec {
        name: "mode",
        flag: None,
        form: Form::OneOf(&MODES),
        default: MODES[0],
        help: "what carries messages; datagrams may be lost",
        answers: &[Answer { part: "", of: |e| said(e, "mode") }],
        steers: false,
        moved: None,
    },
    OptionSpec {
        name: "control",
        flag: None,
        form: Form::OneOf(&CONTROLS),
        default: CONTROLS[0],
        help: "congestion control, in user space",
        answers: &[Answer { part: "", of: |e| said(e, "control") }],
        steers: false,
        moved: None,
    },
    OptionSpec {
        name: "packet",
        flag: None,
        // What every path carries (RFC 9000, 14), and the largest payload of a datagram.
        form: Form::Bytes(PACKET, 65_507),
        default: "1200, then as far as 1452 by probes",
        help: "payload of a datagram, from the first on",
        answers: &[Answer { part: "", of: |e| said(e, "packet") }],
        steers: false,
        moved: Some(Moved {
            knob: Knob::Packet,
            unset: None,
            now: |e| said(e, "packet")?.parse().ok(),
            doubles: false,
            limits: &[],
            least: PACKET,
        }),
    },
    OptionSpec {
        name: "window",
        flag: None,
        form: Form::Bytes(16 << 10, 1 << 30),
        default: "1250000",
        help: "bytes that the receiver lets the sender be ahead; the sender keeps up to eight times as many. Of datagrams, those that a side keeps",
        answers: &[Answer { part: "", of: |e| said(e, "window") }],
        steers: false,
        moved: None,
    },
    OptionSpec {
        name: "offload",
        flag: None,
        form: Form::Switch,
        default: "on",
        help: "let the kernel cut sends into datagrams (UDP_SEGMENT)",
        answers: &[Answer { part: "", of: |e| said(e, "offload") }],
        steers: false,
        moved: None,
    },
    tls::SUITE,
    SOCKBUF,
    FAMILY,
    LOSS_TIMEOUT,
    options::wait(ip::WAIT_NAMES, "block"),
];

fn said(effective: &Effective, option: &str) -> Option<String> {
    effective.options.get(option).cloned()
}

/// Whether messages are datagrams with these settings.
fn by_datagrams(settings: &Settings) -> bool {
    settings.text("mode") == Some(MODES[1])
}

fn capabilities(settings: &Settings) -> Capabilities {
    let stream = Capabilities { local_only: false, waits: ip::WAITS.to_vec(), ..Capabilities::plain() };
    if !by_datagrams(settings) {
        return stream;
    }
    let most = settings.whole("packet").unwrap_or(PACKET).saturating_sub(AROUND);
    Capabilities { semantics: Semantics::Message, ordered: false, reliable: false, max_block: Some(most), ..stream }
}
