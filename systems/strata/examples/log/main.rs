//! A replicated log, one process a member and one file a log: `cargo run -p strata --example log -- FILE [CONTACT]`
//!
//! Each line of the input becomes an entry of all logs, once and in one order. Who joins is given the log so far, in the place of what its file held. Only what is certain goes into a file: entries of a view with a majority
//! (*primary*), over TOTAL and SAFE. A member without a majority says so; its lines wait, and what it had cast before is cast again where the group's log lacks it (`entries`). A file is exchanged whole, so that no crash
//! leaves half of one (`file`). A member that can't write its log says so and leaves; the others go on.

mod entries;
mod file;
mod serve;

use std::io;
use std::path::Path;
use std::process::ExitCode;

use strata::net::Options;

pub use serve::serve;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let done = match (args.next(), args.map(|a| a.parse()).collect::<Result<_, _>>()) {
        (Some(file), Ok(contacts)) => {
            let options = Options { contacts, ..options() };
            serve(options, Path::new(&file), io::BufReader::new(io::stdin())).map_err(|e| e.to_string())
        }
        _ => Err("say where: log FILE [CONTACT], the contact such as 127.0.0.1:40213".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("log: {why}");
            ExitCode::FAILURE
        }
    }
}

/// How to join.
pub fn options() -> Options {
    Options { stack: "FC:MERGE:TOTAL:SAFE:STABLE:MBRSHIP:FRAG:NAK:COM:udp".to_owned(), ..Options::default() }
}
