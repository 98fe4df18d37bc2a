//! `pipegauge list`.

use anyhow::Result;
use transport::{Capabilities, Semantics, registry};
use units::Bytes;

use crate::document::{ListDocument, ListedOption, ListedTransport};
use crate::exit::Exit;
use crate::out;

/// Every transport: what it can do and, if it can't be used here, why.
pub fn list(json: bool) -> Result<Exit> {
    let listed: Vec<ListedTransport> = registry::all().map(ListedTransport::of).collect();
    if json {
        out::json(&ListDocument::new(listed))?;
    } else {
        out::text(&table(&listed))?;
    }
    Ok(Exit::Ok)
}

fn table(listed: &[ListedTransport]) -> String {
    let mut text = String::new();
    for t in listed {
        text.push_str(&format!("{:<10} {}\n", t.name, t.summary));
        text.push_str(&format!("{:<10} {}\n", "", abilities(&t.capabilities)));
        for option in &t.options {
            let ListedOption { name, help, takes, default, .. } = option;
            text.push_str(&format!("{:<12} {name:<13} {help} ({takes}) [default: {default}]\n", ""));
        }
        if let Some(why) = &t.unavailable {
            text.push_str(&format!("{:<10} not available here: {why}\n", ""));
        }
    }
    text
}

/// Capabilities in words, on one line.
fn abilities(can: &Capabilities) -> String {
    let mut words = vec![match can.semantics {
        Semantics::Message => "messages".to_owned(),
        Semantics::Stream => "byte stream".to_owned(),
    }];
    words.push(match (can.reliable, can.ordered) {
        (true, true) => "reliable, in order".to_owned(),
        (true, false) => "reliable, any order".to_owned(),
        (false, true) => "may lose, in order".to_owned(),
        (false, false) => "may lose and reorder".to_owned(),
    });
    if let Some(most) = can.max_block {
        words.push(format!("messages to {}", Bytes(most)));
    }
    words.push(if can.two_ended { "two processes" } else { "one process" }.to_owned());
    if can.two_ended {
        words.push(if can.local_only { "one host" } else { "one or two hosts" }.to_owned());
    }
    let more = [
        (can.duplex, "both ways at once"),
        (can.poll && can.reliable && can.ordered && !can.virtual_time, "open loop"),
        (can.connects, "connect pattern"),
        (can.one_sided, "put and get"),
        (can.queued, "post"),
        (can.virtual_time, "virtual time"),
    ];
    words.extend(more.iter().filter(|(yes, _)| *yes).map(|(_, word)| (*word).to_owned()));
    if !can.waits.is_empty() {
        let waits: Vec<String> = can.waits.iter().map(ToString::to_string).collect();
        words.push(format!("waits: {}", waits.join(", ")));
    }
    words.join("; ")
}
