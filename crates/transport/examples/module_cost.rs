//! What a message over a module costs more than one over a transport that is built in: the same copies, once by `memcpy` and once
//! by `bench/modules/copies.c`, in turns, in one thread.
//!
//! ```text
//! cc -std=gnu11 -O2 -fPIC -shared -Iinclude -o copies.so bench/modules/copies.c
//! cargo run --release -p pipegauge-transport --example module_cost -- copies.so [ROUNDS]
//! ```
//!
//! Prints a line a message size: the size in bytes, the medians of both in nanoseconds a message, and the median of the paired
//! differences with their quartiles.

use std::hint::black_box;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Instant;

use transport::module::Module;
use transport::{Address, End, Link, LinkError, Patience, Proof, Settings, Transport, Visit, memcpy};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Round trips, of two messages each, that are timed at once.
const TRIPS: u32 = 500_000;

fn main() -> Outcome<()> {
    let mut args = std::env::args().skip(1);
    let file = args.next().ok_or("the file of the module `copies` is missing")?;
    let rounds: usize = args.next().map_or(Ok(41), |n| n.parse())?;
    if rounds == 0 {
        return Err("0 rounds time nothing: give 1 or more (41 where none are given)".into());
    }
    let settings = Settings::default();
    let mut built_in = memcpy::TRANSPORT.solo(&settings, &Patience::default())?;
    let module = Module::load(Path::new(&file))?;
    // Both ends are one, so that it is shown what it sent.
    let nowhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let mut dialled = module.dial(&settings, &Address::new("here"), nowhere, &Patience::default())?;
    let mut module = dialled.connect(&Proof::none())?;
    for size in [1, 8, 64, 1024] {
        let mut took: [Vec<f64>; 2] = Default::default();
        for round in 0..rounds {
            for turn in [round % 2, (round + 1) % 2] {
                let link = if turn == 0 { &mut built_in } else { &mut module };
                took[turn].push(link.visit(Timed { size })?);
            }
        }
        let more: Vec<f64> = took[1].iter().zip(&took[0]).map(|(module, built_in)| module - built_in).collect();
        let [low, mid, high] = [0.25, 0.5, 0.75].map(|share| at(&more, share));
        let [built_in, module] = [0, 1].map(|of| at(&took[of], 0.5));
        println!("{size:6} B {built_in:8.2} ns {module:8.2} ns {mid:+7.2} [{low:+.2}, {high:+.2}]");
    }
    Ok(())
}

/// Times round trips of messages of one size.
struct Timed {
    size: usize,
}

impl Visit for Timed {
    type Out = Result<f64, LinkError>;

    fn visit<L: Link>(self, end: &mut End<L>) -> Self::Out {
        let (out, mut into) = (vec![1; self.size], vec![0; self.size]);
        let start = Instant::now();
        for _ in 0..TRIPS {
            end.send(black_box(&out))?;
            end.recv(black_box(&mut into))?;
        }
        Ok(start.elapsed().as_secs_f64() / f64::from(2 * TRIPS) * 1e9)
    }
}

fn at(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}
