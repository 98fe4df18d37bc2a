//! A byte there and back over TCP, many times: a program that knows nothing of fast sockets.
//!
//! ```text
//! cargo build --release -p fastsock --example ping
//! target/release/examples/ping
//! target/release/fastsock run target/release/examples/ping
//! ```

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::time::{Duration, Instant};

/// Round trips; the first half, in which a connection becomes fast, is not timed.
const TRIPS: usize = 10_000;

fn main() -> std::io::Result<()> {
    match std::env::args().nth(1) {
        Some(address) => answer(TcpStream::connect(address)?),
        None => ask(),
    }
}

fn ask() -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut other = Command::new(std::env::current_exe()?).arg(listener.local_addr()?.to_string()).spawn()?;
    let (mut stream, _) = listener.accept()?;
    stream.set_nodelay(true)?;
    let mut times = Vec::with_capacity(TRIPS);
    for i in 0..TRIPS {
        let (sent, mut got) = ([i as u8], [0]);
        let began = Instant::now();
        stream.write_all(&sent)?;
        stream.read_exact(&mut got)?;
        times.push(began.elapsed());
        assert_eq!(got, sent);
    }
    drop(stream);
    other.wait()?;
    let timed = &mut times[TRIPS / 2..];
    timed.sort_unstable();
    let median: Duration = timed[timed.len() / 2];
    println!("{TRIPS} round trips of a byte, the median of the later half: {:.2} us", median.as_secs_f64() * 1e6);
    Ok(())
}

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut byte = [0];
    while stream.read(&mut byte)? != 0 {
        stream.write_all(&byte)?;
    }
    Ok(())
}
