//! A small chat: `cargo run -p strata --example chat -- NAME [CONTACT]`. All see all lines in one order, control characters escaped. The end of the input leaves, once all have what was said.

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::sync::Arc;

use strata::net::{Event, Handle, Options};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let name = args.next().ok_or("say who you are: chat NAME [CONTACT]")?;
    let contacts = args.map(|a| a.parse()).collect::<Result<_, _>>()?;
    chat(name, Options { contacts, ..Options::default() }, io::BufReader::new(io::stdin()), io::stdout())
}

/// Says each line of the input to all, and writes what is said, until this member has left.
pub fn chat(
    name: String,
    options: Options,
    input: impl BufRead + Send + 'static,
    mut out: impl Write,
) -> Result<(), Box<dyn Error>> {
    let group = Arc::new(Handle::join(options)?);
    writeln!(out, "others come in with: chat NAME {}", group.me().addr)?;
    let said = group.clone();
    // The holder reads events on one thread and casts on another, and each may end first.
    std::thread::spawn(move || {
        for line in input.split(b'\n').map_while(Result::ok) {
            if let Err(why) = said.cast([name.as_bytes(), b": ", &line].concat()) {
                complain(&format!("not said: {why}"));
            }
        }
        said.close();
    });
    while let Some(event) = group.next() {
        match event {
            Event::Message(m) => writeln!(out, "{}", strata::shown(&m.body))?,
            Event::View(view) => writeln!(out, "-- {} here", view.members.len())?,
            Event::Notice(text) => complain(&text),
            Event::Left => return Ok(()),
            _ => {}
        }
    }
    Err("this member has ended without leaving: its network failed".into())
}

/// To the standard error; where that can't be written the chat goes on.
fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "-- {text}");
}
