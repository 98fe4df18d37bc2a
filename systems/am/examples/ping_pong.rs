//! A ping-pong between two processes; prints its round-trip time.
//!
//! `cargo run --release -p am --example ping_pong [COUNT]`

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use am::{Endpoint, Error, Handlers, Listener, Options};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let outcome = match arguments.get(1).map(String::as_str) {
        Some("pong") => pong(&arguments[2]),
        count => ping(count.and_then(|count| count.parse().ok()).unwrap_or(100_000)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ping_pong: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Listens, starts the other process, and plays.
fn ping(count: u64) -> Result<(), Error> {
    let name = format!("ping-pong-{}", std::process::id());
    let listener = Listener::bind(&name, Options::default())?;
    let program = std::env::current_exe().expect("a program knows where it lies");
    let mut other = Command::new(program).args(["pong", &name]).spawn().expect("the same program starts again");
    let outcome = play(&listener, count);
    other.wait().expect("the other process ends");
    outcome
}

/// Asks `count` times, and prints how long the answers took.
fn play(listener: &Listener, count: u64) -> Result<(), Error> {
    let handlers = Handlers::new().on_reply(0, |answered: &mut u64, _| *answered += 1);
    let mut endpoint = listener.accept(handlers)?;
    let mut answered = 0;
    let mut times = Vec::new();
    for number in 0..count {
        let begun = Instant::now();
        endpoint.request(&mut answered, 0, &[], b"x")?;
        while answered <= number {
            endpoint.wait(&mut answered, Some(Duration::from_secs(10)))?;
        }
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 1000].as_secs_f64() * 1e6;
    println!("{count} round trips of 1 byte: median {:.2} us, p99 {:.2} us, p99.9 {:.2} us", at(500), at(990), at(999));
    Ok(())
}

/// Answers until the other side closes.
fn pong(name: &str) -> Result<(), Error> {
    let handlers = Handlers::new().on_request(0, |(), message, reply| {
        let mut payload = [0];
        let len = message.payload().copy_to(&mut payload);
        reply.send(0, &[], &payload[..len]).expect("a byte fits");
    });
    let mut endpoint = Endpoint::connect(name, handlers, Options::default())?;
    loop {
        match endpoint.wait(&mut (), None) {
            Ok(_) => {}
            Err(Error::Closed { .. }) => return Ok(()),
            Err(other) => return Err(other),
        }
    }
}
