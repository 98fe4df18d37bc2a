//! `pipegauge list`.

use anyhow::Result;
use transport::absent;
use transport::{Capabilities, Semantics, module, registry};
use units::Bytes;

use crate::document::{ListDocument, ListedOption, ListedTransport, Unusable};
use crate::exit::Exit;
use crate::out;

/// Every transport with a summary, or of those that are named all that they can do and their options; if one can't be used here, why.
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
        out::text(&if names.is_empty() { overview(&listed, &unusable) } else { table(&listed) })?;
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
    let odd = module::passed_by(&module::own_places(), &module::places());
    let odd = odd.into_iter().map(|module::PassedBy { file, why }| {
        let short =
            file.file_name().map_or_else(|| file.display().to_string(), |name| name.to_string_lossy().into_owned());
        let clean = |text: &str| units::received::clean(text, 200);
        let file = clean(&file.display().to_string());
        Unusable { name: clean(&short), why: format!("{file}: {why}"), file }
    });
    unusable.chain(odd).collect()
}

/// Width of the column of names, with the space behind it.
const NAMES: usize = 11;

/// Words beside a name, folded.
fn beside(text: &mut String, name: &str, words: &str) {
    text.push_str(&report::text::hanging(&format!("{name:<10} "), words, NAMES, out::prose()));
}

/// Each transport with what it is.
fn overview(listed: &[ListedTransport], unusable: &[Unusable]) -> String {
    let mut text = String::new();
    for t in listed {
        let rare = rare(&t.capabilities);
        let words = if rare.is_empty() { t.summary.to_owned() } else { format!("{}; {}", t.summary, rare.join(", ")) };
        beside(&mut text, t.name, &words);
        origin(&mut text, t);
    }
    for Unusable { name, why, .. } in unusable {
        beside(&mut text, name, &format!("not usable: {why}"));
    }
    // A module may have the name.
    for one in absent::ALL.iter().filter(|one| listed.iter().all(|t| t.name != one.name)) {
        beside(&mut text, one.name, &format!("{}; not here: {}", one.summary, one.why()));
    }
    text.push_str("\npipegauge list NAME shows what it can do, and its options.\n");
    text
}

/// All of each transport.
fn table(listed: &[ListedTransport]) -> String {
    let mut text = String::new();
    for t in listed {
        beside(&mut text, t.name, t.summary);
        beside(&mut text, "", &abilities(&t.capabilities));
        for option in &t.options {
            let ListedOption { name, help, takes, default, .. } = option;
            let lead = format!("{:<12} {name:<13} ", "");
            let words = format!("{help} ({takes}) [default: {default}]");
            text.push_str(&report::text::hanging(&lead, &words, 27, out::prose()));
        }
        origin(&mut text, t);
    }
    text
}

/// Where it came from, if it is a module, and why it can't be used here, or not within this host.
fn origin(text: &mut String, t: &ListedTransport) {
    if let Some(file) = &t.file {
        beside(text, "", &format!("module: {file}, version {}", t.version));
    }
    if let Some(why) = &t.unavailable {
        beside(text, "", &format!("not available here: {why}"));
    }
    if let Some(why) = &t.not_within {
        beside(text, "", &format!("only to another host (--peer): {why}"));
    }
}

/// What only some transports can.
fn rare(can: &Capabilities) -> Vec<&'static str> {
    let all =
        [(can.one_sided, "put and get"), (can.group, "groups"), (can.queued, "post"), (can.collective, "collectives")];
    all.iter().filter(|(yes, _)| *yes).map(|(_, word)| *word).collect()
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
        (can.schedules(), "open loop"),
        (can.connects, "connect pattern"),
        (can.virtual_time, "virtual time"),
    ];
    words.extend(more.iter().filter(|(yes, _)| *yes).map(|(_, word)| (*word).to_owned()));
    words.extend(rare(can).into_iter().map(str::to_owned));
    if !can.waits.is_empty() {
        let waits: Vec<String> = can.waits.iter().map(ToString::to_string).collect();
        words.push(format!("waits: {}", waits.join(", ")));
    }
    words.join("; ")
}
