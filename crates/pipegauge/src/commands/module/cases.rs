//! What the module interface asks of a module, tried: each case is a function that says what is wrong. A process of its own runs each.

mod common;
mod ends;
mod meeting;
mod members;
mod messages;
mod posts;

use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use transport::{Capabilities, Semantics, Settings, Transport};

use super::load;
pub use common::LONG;
use common::{PATIENCE, SET};

/// One thing to try.
pub struct Case {
    /// Its name, for `module try`.
    pub name: &'static str,
    /// What is tried, in words.
    pub what: &'static str,
    /// Whether a module of these capabilities has to do it.
    pub applies: fn(&Capabilities) -> bool,
    try_it: fn(&'static dyn Transport) -> Result<()>,
}

/// Every case, in the order in which they are tried.
pub const CASES: [Case; 24] = [
    Case {
        name: "sizes",
        what: "messages of 1 B to 16 MiB arrive as they were sent, both ways",
        applies: always,
        try_it: messages::sizes,
    },
    Case {
        name: "memory",
        what: "messages may begin at any byte of memory, and nothing is written beside them",
        applies: always,
        try_it: messages::memory,
    },
    Case {
        name: "lent",
        what: "messages go out of and into memory that the link makes for them, which lies where it is asked to",
        applies: always,
        try_it: messages::lent,
    },
    Case {
        name: "whole",
        what: "a receive of another length than the message's says PROTOCOL",
        applies: |can| can.reliable && can.semantics == Semantics::Message,
        try_it: messages::whole,
    },
    Case {
        name: "order",
        what: "3,000 messages arrive in order",
        applies: |can| can.reliable && can.ordered,
        try_it: messages::order,
    },
    Case {
        name: "exchange",
        what: "both sides send 8 MiB at once and neither waits for ever",
        applies: |can| can.duplex && can.reliable,
        try_it: messages::exchange,
    },
    Case {
        name: "ready",
        what: "ready() tells whether a message is there, and waits no longer than it is told",
        applies: |can| can.poll,
        try_it: messages::ready,
    },
    Case {
        name: "close",
        what: "receives say CLOSED once the peer has closed",
        applies: |can| can.reliable,
        try_it: ends::close,
    },
    Case {
        name: "death",
        what: "receives say CLOSED once the peer's process has ended",
        applies: |can| can.reliable,
        try_it: ends::death,
    },
    Case {
        name: "leaving",
        what: "sends say CLOSED once the peer's process has ended",
        applies: |can| can.reliable,
        try_it: ends::leaving,
    },
    Case {
        name: "patience",
        what: "a receive without a message says STALLED when patience is over",
        applies: |can| can.reliable,
        try_it: ends::patience,
    },
    Case {
        name: "stop",
        what: "a receive that waits says INTERRUPTED when it is to stop",
        applies: |can| can.reliable,
        try_it: ends::stop,
    },
    Case {
        name: "nobody",
        what: "accept() ends by patience, and when it is to stop",
        applies: always,
        try_it: ends::nobody,
    },
    Case {
        name: "nowhere",
        what: "connect() to a listener that is gone fails in time",
        applies: always,
        try_it: meeting::nowhere,
    },
    Case {
        name: "stranger",
        what: "a stranger's connection does not keep the right one away",
        applies: |can| can.reliable,
        try_it: meeting::stranger,
    },
    Case {
        name: "ipv6",
        what: "a link over IPv6 carries messages, or listen() refuses ::1 in words",
        applies: |can| can.reliable && !can.local_only,
        try_it: meeting::ipv6,
    },
    Case {
        name: "again",
        what: "100 connections one after another leave no file open",
        applies: always,
        try_it: meeting::again,
    },
    Case {
        name: "links",
        what: "two links at once, each used by threads of its own, keep their messages apart",
        applies: |can| can.reliable && can.ordered,
        try_it: meeting::links,
    },
    Case {
        name: "settings",
        what: "every option works at its bounds, or is refused in words",
        applies: always,
        try_it: meeting::settings,
    },
    Case {
        name: "effective",
        what: "both ends of a link say what took effect, again and again",
        applies: always,
        try_it: meeting::effective,
    },
    Case {
        name: "put",
        what: "what is put and got is what is exposed",
        applies: |can| can.one_sided,
        try_it: posts::put,
    },
    Case {
        name: "post",
        what: "posts arrive in order, and are done in order",
        applies: |can| can.queued,
        try_it: posts::post,
    },
    Case {
        name: "together",
        what: "three members of a group do every collective at many sizes, and each gets what it is to get",
        applies: |can| can.collective,
        try_it: members::together,
    },
    Case {
        name: "casts",
        what: "three members cast to each other, and each delivers all casts in the order that the group promises; answers reach whom they are for",
        applies: |can| can.group,
        try_it: members::casts,
    },
];

fn always(_: &Capabilities) -> bool {
    true
}

/// Runs a case on a file whose links are set so, with a patience in the place of the usual one where there is one.
pub fn run(
    case: &str,
    file: &std::path::Path,
    address: Option<&str>,
    patience: Option<f64>,
    settings: Settings,
) -> Result<()> {
    let _ = SET.set(settings);
    if let Some(patience) = patience.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        // Nobody asked before.
        let _ = PATIENCE.set(patience);
    }
    let module = load(file).map_err(|e| anyhow!(e))?;
    if case == "die" {
        return ends::die(module, address.unwrap_or_default());
    }
    let case = CASES.iter().find(|c| c.name == case).with_context(|| format!("there is no case '{case}'"))?;
    (case.try_it)(module)
}

/// A line on what the module is.
pub fn kind(can: &Capabilities) -> &'static str {
    match can.semantics {
        Semantics::Message => "messages",
        Semantics::Stream => "a stream of bytes",
    }
}
