//! A chat in twenty lines: `cargo run -p strata --example chat -- NAME [CONTACT]`. All see all lines in one order, control characters escaped.

use std::io::BufRead;

use strata::net::{Event, Handle, Options};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let name = args.next().ok_or("say who you are: chat NAME [CONTACT]")?;
    let contacts = args.map(|a| a.parse()).collect::<Result<_, _>>()?;
    let group = std::sync::Arc::new(Handle::join(Options { contacts, ..Options::default() })?);
    println!("others come in with: chat NAME {}", group.me().addr);
    let said = group.clone();
    // The holder reads events on one thread and casts on another.
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if said.cast(format!("{name}: {line}")).is_err() {
                return;
            }
        }
        std::process::exit(0);
    });
    while let Some(event) = group.next() {
        match event {
            Event::Message(m) => println!("{}", strata::shown(&m.body)),
            Event::View(view) => println!("-- {} here", view.members.len()),
            Event::Notice(text) => eprintln!("-- {text}"),
            _ => {}
        }
    }
    Ok(())
}
