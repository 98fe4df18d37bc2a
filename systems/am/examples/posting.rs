//! Receive posting: the receiver says where it wants the next messages, the sender writes them there.
//!
//! `cargo run --release -p am --example posting` prints what both sides copied for each byte of the messages.

use std::process::Command;
use std::time::Duration;

use am::posting::{Posting, Received};
use am::{Error, Listener, Options};

const LEN: usize = 200_000;
const COUNT: usize = 100;
const LIMIT: Option<Duration> = Some(Duration::from_secs(10));

fn main() -> Result<(), Error> {
    match std::env::args().nth(1) {
        Some(name) => send(&name),
        None => receive(),
    }
}

/// Takes messages without a posted buffer, then as many with one.
fn receive() -> Result<(), Error> {
    let name = format!("posting-{}", std::process::id());
    let listener = Listener::bind(&name, Options::default())?;
    let program = std::env::current_exe().expect("a program knows where it lies");
    let mut other = Command::new(program).arg(&name).spawn().expect("the same program starts again");
    let outcome = take(&listener);
    other.wait().expect("the other process ends");
    outcome
}

fn take(listener: &Listener) -> Result<(), Error> {
    let mut connection = Posting::accept(listener)?;
    let mut before = 0;
    for posted in [false, true] {
        if posted {
            for _ in 0..2 {
                let buffer = connection.buffer(LEN)?;
                connection.post(buffer)?;
            }
        }
        // The sender waits for this word, and so for what was posted before it.
        connection.send(b"go on")?;
        let mut in_place = 0;
        for _ in 0..COUNT {
            match connection.receive(LIMIT)? {
                Some(Received::InPlace { buffer, len }) => {
                    assert_eq!(len, LEN);
                    in_place += 1;
                    connection.post(buffer)?;
                }
                Some(Received::Bytes(bytes)) => assert_eq!(bytes.len(), LEN),
                None => panic!("nothing came"),
            }
        }
        let here = connection.copied().out_of_ring;
        println!("{}: {in_place} of {COUNT} in place", if posted { "posted" } else { "not posted" });
        println!("  copied by the receiver: {:.2} times", (here - before) as f64 / (LEN * COUNT) as f64);
        before = here;
    }
    Ok(())
}

fn send(name: &str) -> Result<(), Error> {
    let mut connection = Posting::connect(name, Options::default())?;
    let message = vec![7; LEN];
    for _ in 0..2 {
        connection.receive(LIMIT)?.expect("the receiver begins");
        for _ in 0..COUNT {
            connection.send(&message)?;
        }
    }
    let copied = connection.copied();
    let times = (copied.into_posted + copied.into_ring) as f64 / (2 * LEN * COUNT) as f64;
    println!("  copied by the sender: {times:.2} times each, {} bytes of them into buffers", copied.into_posted);
    Ok(())
}
