//! A replicated key-value store that survives crashes of a minority while it is loaded, one process a replica:
//!
//! ```text
//! cargo run -p strata --example store
//! cargo run -p strata --example store -- 127.0.0.1:40213
//! ```
//!
//! The second names the address that the first printed, as do all further ones. Each line of the input is a request, `NAME put KEY VALUE` or `NAME get KEY`, and each answer begins with the request's name.
//! `tests/store.rs` kills replicas under load and holds the answers against linearizability.

mod store;

use std::process::ExitCode;

use strata::net::Options;

fn main() -> ExitCode {
    let done = std::env::args().skip(1).map(|a| a.parse()).collect::<Result<_, _>>();
    let done = done.map_err(|e| format!("a contact is an address such as 127.0.0.1:40213: {e}")).and_then(|contacts| {
        let options = Options { contacts, ..store::options() };
        let input = std::io::BufReader::new(std::io::stdin());
        store::serve(options, store::Reads::Ordered, input, std::io::stdout()).map_err(|e| e.to_string())
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("store: {why}");
            ExitCode::FAILURE
        }
    }
}
