//! HTTP/1.1 and HTTP/2 over TCP: a message there is the body of a POST, a message back is the body of a response.
//!
//! The near side is the client, the far side the server; both are hyper, driven by the measuring thread itself over plain calls ([`tasks`]):
//! no runtime stands between a call and its bytes. HTTP knows nothing but requests and their responses, and every pattern is made of these:
//!
//! - The near side sends a message as a POST. It waits for the response only when it can't go on without: HTTP/1.1 carries one request
//!   at a time, HTTP/2 as many as have streams of their own.
//! - The far side answers with its next message (200), or, where it receives once more without having sent one, with none (204).
//! - The near side receives what comes as a response. Where no request is under way, it asks with a GET.
//!
//! So ping-pong and request are one POST each, an exchange is one POST whose response does not wait for its end, a stream there is POSTs with
//! empty responses, and a stream back is GETs. All patterns run, each as fast as HTTP lets it. One long request in whose two bodies
//! messages go both ways would be faster where HTTP/1.1 streams, and would say nothing of requests; that path is `websocket`.
//!
//! The near proof goes ahead of the first request, so that the door turns strangers away as everywhere; the far side's proof is the
//! first message. A cargo feature, `http`.

#[cfg(feature = "http")]
mod coming;
#[cfg(feature = "http")]
mod engine;
#[cfg(feature = "http")]
mod far;
#[cfg(feature = "http")]
mod feed;
#[cfg(feature = "http")]
mod link;
#[cfg(feature = "http")]
mod meaning;
#[cfg(feature = "http")]
mod near;
#[cfg(feature = "http")]
mod plug;
#[cfg(feature = "http")]
mod session;
#[cfg(feature = "http")]
mod tasks;
#[cfg(all(test, feature = "http"))]
mod tests;

use crate::options::{Answer, Form, OptionSpec};
use crate::tcp;
use crate::{Capabilities, Name, Semantics};

/// What it is called.
pub const NAME: Name = Name::literal("http");

const SUMMARY: &str = "HTTP/1.1 or HTTP/2 over TCP: POST requests and their responses";
const SPOKEN: &[&str] = &["http", "http connection", "http request", "http requests"];

/// The transport.
#[cfg(feature = "http")]
pub static TRANSPORT: crate::ip_stream::Streams<HttpOverTcp> = crate::ip_stream::Streams::new();

/// The transport, as far as it is here.
#[cfg(not(feature = "http"))]
pub static TRANSPORT: crate::unbuilt::Unbuilt = crate::unbuilt::Unbuilt {
    name: NAME,
    summary: SUMMARY,
    spoken: SPOKEN,
    can: |_| capabilities(),
    options: &OPTIONS,
    feature: "http",
};

#[cfg(feature = "http")]
pub use self::link::Http;
#[cfg(feature = "http")]
pub use self::session::HttpOverTcp;

/// Versions of the protocol, the default first.
const VERSIONS: [&str; 2] = ["1.1", "2"];

static OPTIONS: [OptionSpec; 7] = {
    let [sockbuf, nodelay, mss, congestion, family, wait] = tcp::OPTIONS;
    [
        OptionSpec {
            name: "version",
            flag: None,
            form: Form::OneOf(&VERSIONS),
            default: VERSIONS[0],
            help: "version of HTTP; 2 has several requests under way at once",
            answers: &[Answer { part: "", of: |e| e.options.get("version").cloned() }],
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

fn capabilities() -> Capabilities {
    Capabilities {
        semantics: Semantics::Message,
        connects: true,
        local_only: false,
        waits: crate::ip::WAITS.to_vec(),
        ..Capabilities::plain()
    }
}
