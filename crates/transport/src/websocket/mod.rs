//! WebSocket (RFC 6455) over TCP: what framing and the client's mask cost a path.
//!
//! Both sides are tungstenite over plain calls: every message is a binary one. Whichever side is the client masks what it sends, and the server
//! unmasks it; the RFC lets nobody switch that off. The near proof goes ahead of the handshake, so that the door turns strangers away as
//! everywhere; the far side's proof is the first message. A cargo feature, `websocket`.

#[cfg(feature = "websocket")]
mod duct;
#[cfg(feature = "websocket")]
mod session;
#[cfg(all(test, feature = "websocket"))]
mod tests;

use crate::ip_stream::OverIp;
use crate::options::{Answer, Form, OptionSpec};
use crate::settings::Effective;
use crate::tcp::{self, Tcps};
use crate::{Capabilities, Name, Semantics};

/// What it is called.
pub const NAME: Name = Name::literal("websocket");

const SUMMARY: &str = "WebSocket over TCP: binary messages, masked by the client";
const SPOKEN: &[&str] = &["websocket", "websockets", "web socket", "web sockets", "ws"];

/// The transport.
#[cfg(feature = "websocket")]
pub static TRANSPORT: crate::ip_stream::Streams<WebSocketOverTcp> = crate::ip_stream::Streams::new();

/// The transport, as far as it is here.
#[cfg(not(feature = "websocket"))]
pub static TRANSPORT: crate::unbuilt::Unbuilt = crate::unbuilt::Unbuilt {
    name: NAME,
    summary: SUMMARY,
    spoken: SPOKEN,
    can: |_| capabilities(),
    options: &OPTIONS,
    feature: "websocket",
};

#[cfg(feature = "websocket")]
pub use self::duct::Websocket;
#[cfg(feature = "websocket")]
pub use self::session::WebSocketOverTcp;

/// Largest message that a path may be asked for.
#[cfg(feature = "websocket")]
const MOST: usize = 1 << 46;

static OPTIONS: [OptionSpec; 9] = {
    let [sockbuf, nodelay, mss, congestion, family, wait] = tcp::OPTIONS;
    [
        OptionSpec {
            name: "client",
            flag: None,
            form: Form::OneOf(&["near", "far"]),
            default: "near",
            help: "side that is the client: it masks what it sends, as the RFC demands",
            answers: &[Answer { part: "", of: |e| said(e, "client") }],
            steers: false,
            moved: None,
        },
        OptionSpec {
            name: "frame",
            flag: None,
            form: Form::Bytes(64, 1 << 30),
            default: "the whole message",
            help: "largest frame; longer messages are sent in fragments",
            answers: &[Answer { part: "", of: |e| said(e, "frame") }],
            steers: false,
            moved: None,
        },
        OptionSpec {
            name: "buffer",
            flag: None,
            form: Form::Bytes(4 << 10, 16 << 20),
            default: "128KiB",
            help: "most that the library reads at a time",
            answers: &[Answer { part: "", of: |e| said(e, "buffer") }],
            steers: false,
            moved: None,
        },
        sockbuf,
        nodelay,
        mss,
        congestion,
        family,
        wait,
    ]
};

fn said(effective: &Effective, option: &str) -> Option<String> {
    effective.options.get(option).cloned()
}

fn capabilities() -> Capabilities {
    Capabilities { semantics: Semantics::Message, queued: false, ..Tcps::can() }
}
