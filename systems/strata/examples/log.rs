//! A replicated log: three members in one process append at once, and all three logs are the same. `cargo run -p strata --example log`
//!
//! Each entry is a cast of a stack with TOTAL and SAFE: whoever sees it in its log, all members of the view have it (or it is marked transitional, as the view ended).

use strata::udp::{Event, Handle, Options};

const STACK: &str = "FC:MERGE:TOTAL:SAFE:STABLE:MBRSHIP:FRAG:NAK:COM:udp";
const ENTRIES: usize = 100;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options { stack: STACK.to_owned(), ..Options::default() };
    let first = Handle::join(options.clone())?;
    let contacts = vec![first.me().addr];
    let mut members = vec![first];
    for _ in 0..2 {
        members.push(Handle::join(Options { contacts: contacts.clone(), ..options.clone() })?);
    }
    // Entries of the view that all share count: a log's state before it would be handed to a member that joins.
    for member in &members {
        while !matches!(member.next(), Some(Event::View(view)) if view.members.len() == 3) {}
    }
    let logs: Vec<Vec<String>> = std::thread::scope(|scope| {
        let write = |(at, member)| {
            scope.spawn(move || {
                let member: &Handle = member;
                for n in 0..ENTRIES {
                    member.cast(format!("entry {n} of member {at}")).map_err(|e| e.to_string())?;
                }
                let mut log = Vec::new();
                while log.len() < ENTRIES * 3 {
                    match member.next() {
                        Some(Event::Message(m)) => log.push(String::from_utf8_lossy(&m.body).into_owned()),
                        Some(Event::View(view)) => return Err(format!("the view changed: {:?}", view.members)),
                        Some(_) => {}
                        None => return Err("the member ended".to_owned()),
                    }
                }
                Ok(log)
            })
        };
        let writers: Vec<_> = members.iter().enumerate().map(write).collect();
        writers
            .into_iter()
            .map(|w| w.join().map_err(|_| "a writer panicked".to_owned())?)
            .collect::<Result<_, String>>()
    })?;
    if logs.iter().any(|log| *log != logs[0]) {
        return Err("the logs differ".into());
    }
    println!("three logs of {} entries, all the same; the last entry: {}", logs[0].len(), logs[0][logs[0].len() - 1]);
    for member in members {
        member.leave()?;
    }
    Ok(())
}
