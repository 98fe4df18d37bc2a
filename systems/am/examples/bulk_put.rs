//! A bulk message: the receiver registers memory, the sender writes a picture's worth of bytes straight into it.
//!
//! `cargo run --release -p am --example bulk_put`

use std::process::Command;
use std::time::Duration;

use am::{Endpoint, Error, Handlers, Listener, Options, RemoteRegion};

/// Handlers, by number: both programs must mean the same by them.
const WHERE: u16 = 0;
const HERE_IT_IS: u16 = 1;
const LEN: usize = 640 * 480 * 3;

fn main() -> Result<(), Error> {
    match std::env::args().nth(1) {
        Some(name) => send(&name),
        None => receive(),
    }
}

/// Registers a region, tells where it is when asked, and sums up what was put there.
fn receive() -> Result<(), Error> {
    let name = format!("bulk-put-{}", std::process::id());
    let listener = Listener::bind(&name, Options::default())?;
    let program = std::env::current_exe().expect("a program knows where it lies");
    let mut other = Command::new(program).arg(&name).spawn().expect("the same program starts again");
    let outcome = serve(&listener);
    other.wait().expect("the other process ends");
    outcome
}

/// The receiver's part of the conversation.
fn serve(listener: &Listener) -> Result<(), Error> {
    /// What the handlers know.
    struct State {
        token: u64,
        sum: Option<u64>,
    }
    let handlers = Handlers::new()
        .on_request(WHERE, |state: &mut State, _, reply| reply.send(WHERE, &[state.token], &[]).expect("it fits"))
        .on_request(HERE_IT_IS, |state: &mut State, message, reply| {
            let sum = message.payload().to_vec().iter().map(|&byte| u64::from(byte)).sum();
            state.sum = Some(sum);
            reply.send(HERE_IT_IS, &[sum], &[]).expect("it fits");
        });
    let mut endpoint = listener.accept(handlers)?;
    let region = endpoint.register(LEN)?;
    let mut state = State { token: region.token(), sum: None };
    while state.sum.is_none() {
        endpoint.wait(&mut state, Some(Duration::from_secs(10)))?;
    }
    println!("{LEN} bytes were put here; their sum is {}", state.sum.unwrap_or_default());
    Ok(())
}

/// Asks for the region, puts, and waits until the receiver has it.
fn send(name: &str) -> Result<(), Error> {
    /// What the handlers know.
    #[derive(Default)]
    struct State {
        region: Option<RemoteRegion>,
        sum: Option<u64>,
    }
    let handlers = Handlers::new()
        .on_reply(WHERE, |state: &mut State, message| {
            state.region = Some(RemoteRegion::from_token(message.argument(0)));
        })
        .on_reply(HERE_IT_IS, |state: &mut State, message| state.sum = Some(message.argument(0)));
    let mut endpoint = Endpoint::connect(name, handlers, Options::default())?;
    let mut state = State::default();
    endpoint.request(&mut state, WHERE, &[], &[])?;
    let region = loop {
        endpoint.wait(&mut state, Some(Duration::from_secs(10)))?;
        if let Some(region) = state.region {
            break region;
        }
    };
    let picture: Vec<u8> = (0..LEN).map(|i| (i % 251) as u8).collect();
    endpoint.put(&mut state, region, 0, &picture, HERE_IT_IS, &[])?;
    while state.sum.is_none() {
        endpoint.wait(&mut state, Some(Duration::from_secs(10)))?;
    }
    let sum = picture.iter().map(|&byte| u64::from(byte)).sum();
    assert_eq!(state.sum, Some(sum), "the receiver has what was sent");
    Ok(())
}
