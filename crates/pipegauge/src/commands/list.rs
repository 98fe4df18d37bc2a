//! `pipegauge list`.

use anyhow::Result;
use transport::absent::{self, Absent};
use transport::{Capabilities, Semantics, module, registry};
use units::Bytes;

use crate::document::{ListDocument, ListedOption, ListedTransport, Unusable};
use crate::exit::Exit;
use crate::out;

/// Every transport, or those that are named: what it can do and, if it can't be used here, why.
pub fn list(names: &[String], json: bool) -> Result<Exit> {
    let (unusable, listed) = if names.is_empty() {
        (modules(), registry::all().map(ListedTransport::of).collect())
    } else {
        let named: Result<Vec<_>, _> = names.iter().map(|name| registry::named(name)).collect();
        (Vec::new(), named?.into_iter().map(ListedTransport::of).collect::<Vec<_>>())
    };
    if json {
        out::json(&ListDocument::new(listed, unusable))?;
    } else {
        let absent = if names.is_empty() { &absent::ALL[..] } else { &[] };
        out::text(&table(&listed, &unusable, absent))?;
    }
    Ok(Exit::Ok)
}

/// Has every module described that is found; those that can't be used.
fn modules() -> Vec<Unusable> {
    let built_in: Vec<&str> = registry::names().map(|name| name.as_str()).collect();
    let why = |name: &str| match built_in.contains(&name) {
        true => Some("a transport that is built in has its name: give it another".to_owned()),
        false => registry::named(name).err().map(|e| e.to_string()),
    };
    let found = module::found_in(&module::places());
    let unusable = found.into_iter().filter_map(|module::Found { name, file }| {
        Some(Unusable { why: why(&name)?, name, file: file.display().to_string() })
    });
    unusable.collect()
}

fn table(listed: &[ListedTransport], unusable: &[Unusable], absent: &[Absent]) -> String {
    let mut text = String::new();
    let mut line =
        |lead: &str, words: &str, indent| text.push_str(&report::text::hanging(lead, words, indent, out::prose()));
    for t in listed {
        let none = format!("{:<10} ", "");
        line(&format!("{:<10} ", t.name), t.summary, 11);
        line(&none, &abilities(&t.capabilities), 11);
        for option in &t.options {
            let ListedOption { name, help, takes, default, .. } = option;
            line(&format!("{:<12} {name:<13} ", ""), &format!("{help} ({takes}) [default: {default}]"), 27);
        }
        if let Some(file) = &t.file {
            line(&none, &format!("module: {file}, version {}", t.version), 11);
        }
        if let Some(why) = &t.unavailable {
            line(&none, &format!("not available here: {why}"), 11);
        }
    }
    for Unusable { name, why, .. } in unusable {
        line(&format!("{name:<10} "), &format!("not usable: {why}"), 11);
    }
    // A module may have the name.
    for one in absent.iter().filter(|one| listed.iter().all(|t| t.name != one.name)) {
        line(&format!("{:<10} ", one.name), one.summary, 11);
        line(&format!("{:<10} ", ""), &format!("not here: {}", one.why()), 11);
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
    let processes = match (can.two_ended, can.group) {
        (_, true) => "two processes or more",
        (true, false) => "two processes",
        (false, false) => "one process",
    };
    words.push(processes.to_owned());
    if can.two_ended {
        words.push(if can.local_only { "one host" } else { "one or two hosts" }.to_owned());
    }
    let more = [
        (can.duplex, "both ways at once"),
        (can.poll && can.reliable && can.ordered && !can.virtual_time, "open loop"),
        (can.connects, "connect pattern"),
        (can.one_sided, "put and get"),
        (can.group, "groups"),
        (can.queued, "post"),
        (can.collective, "collectives"),
        (can.virtual_time, "virtual time"),
    ];
    words.extend(more.iter().filter(|(yes, _)| *yes).map(|(_, word)| (*word).to_owned()));
    if !can.waits.is_empty() {
        let waits: Vec<String> = can.waits.iter().map(ToString::to_string).collect();
        words.push(format!("waits: {}", waits.join(", ")));
    }
    words.join("; ")
}
