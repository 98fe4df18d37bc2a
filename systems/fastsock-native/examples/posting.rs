//! Receive posting over a TCP connection of this host: two programs connect by TCP, as they always did, and then send messages into each other's buffers.
//!
//! `cargo run --release -p fastsock-native --example posting` prints where the messages went.

use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::time::Duration;

use am::posting::Received;
use am::{Error, Options};

const LEN: usize = 100_000;
const COUNT: usize = 10;
const LIMIT: Option<Duration> = Some(Duration::from_secs(10));

fn main() -> Result<(), Error> {
    match std::env::args().nth(1) {
        Some(address) => send(&address),
        None => receive(),
    }
}

fn receive() -> Result<(), Error> {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it has an address").to_string();
    let program = std::env::current_exe().expect("a program knows where it lies");
    let mut other = Command::new(program).arg(address).spawn().expect("the same program starts again");
    let outcome = take(&listener);
    other.wait().expect("the other process ends");
    outcome
}

fn take(listener: &TcpListener) -> Result<(), Error> {
    let (stream, _) = listener.accept().expect("the other program connects");
    let mut connection = fastsock_native::accepted(&stream, Options::default())?;
    for _ in 0..2 {
        let buffer = connection.buffer(LEN)?;
        connection.post(buffer)?;
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
    println!("{in_place} of {COUNT} messages of {LEN} bytes in a posted buffer, the others through the ring");
    Ok(())
}

fn send(address: &str) -> Result<(), Error> {
    let stream = TcpStream::connect(address).expect("the first program listens");
    let mut connection = fastsock_native::connected(&stream, Options::default())?;
    connection.receive(LIMIT)?.expect("the receiver begins");
    let message = vec![7; LEN];
    for _ in 0..COUNT {
        connection.send(&message)?;
    }
    Ok(())
}
