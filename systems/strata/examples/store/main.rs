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

use strata::udp::Options;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let contacts = std::env::args().skip(1).map(|a| a.parse()).collect::<Result<_, _>>()?;
    let options = Options { contacts, ..store::options() };
    Ok(store::serve(options, store::Reads::Ordered, std::io::BufReader::new(std::io::stdin()), std::io::stdout())?)
}
