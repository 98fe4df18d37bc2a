//! Where the nanoseconds between the floor's ping-pong over shared memory and a trial's go: from the bare cache line, one
//! step at a time, to the link and the loop that measures it. Two threads of one process, all steps in turn in each round.
//!
//! ```text
//! cargo run --release -p pipegauge-measure --example shm_steps -- [ROUNDS] [CPU,CPU]
//! ```
//!
//! Prints a line a step: its name, the median of its round trips in nanoseconds, and the median of the differences to the
//! step before with their quartiles.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Instant;

use measure::{Pattern, TrialSpec, Workspace, far, near};
use transport::clock::Monotonic;
use transport::shm::Shm;
use transport::{End, Link, Patience, Settings};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Round trips of one byte that are timed at once.
const TRIPS: u64 = 300_000;

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let rounds: usize = args.first().map_or(Ok(41), |n| n.parse())?;
    if rounds == 0 {
        return Err("0 rounds time nothing: give 1 or more (41 where none are given)".into());
    }
    let (near, far) = args.get(1).map_or("0,1", String::as_str).split_once(',').ok_or("two CPUs as in 0,1")?;
    let cpus = [near.parse()?, far.parse()?];
    let mut took: [Vec<f64>; 6] = Default::default();
    for round in 0..rounds {
        for turn in 0..took.len() {
            let step = (turn + round) % took.len();
            took[step].push(match step {
                0 => time(cpus, &[Line::new(), Line::new()], bare_near, bare_far)?,
                1 => time(cpus, &[Lane::new(), Lane::new()], near_over::<1>, far_over::<1>)?,
                2 => time(cpus, &[Lane::new(), Lane::new()], near_over::<4>, far_over::<4>)?,
                3 => link::<true>(cpus)?,
                4 => link::<false>(cpus)?,
                _ => trial(cpus)?,
            });
        }
    }
    let names = [
        "the floor's line: payload, flag",
        "number, header and payload as words",
        "over four slots in turn",
        "the link: room, order, errors, wait",
        "messages of any length",
        "a trial: memory of messages, losses",
    ];
    for (step, name) in names.iter().enumerate() {
        let more: Vec<f64> = if step == 0 {
            vec![0.0; rounds]
        } else {
            took[step].iter().zip(&took[step - 1]).map(|(a, b)| a - b).collect()
        };
        let [low, mid, high] = [0.25, 0.5, 0.75].map(|share| at(&more, share));
        println!("{name:38}{:8.1} ns{mid:+8.1} [{low:+.1}, {high:+.1}]", at(&took[step], 0.5));
    }
    Ok(())
}

fn at(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}

fn pin(cpu: u32) {
    host::cpu::pin_this_thread(cpu).expect("a CPU that this process may run on");
}

/// Nanoseconds a round trip of `near` and `far` over `shared`.
fn time<T: Sync>(cpus: [u32; 2], shared: &[T; 2], near: fn(&[T; 2]), far: fn(&[T; 2])) -> Outcome<f64> {
    std::thread::scope(|scope| {
        scope.spawn(move || {
            pin(cpus[1]);
            far(shared);
        });
        let near = scope.spawn(move || {
            pin(cpus[0]);
            let start = Instant::now();
            near(shared);
            start.elapsed().as_secs_f64() / TRIPS as f64 * 1e9
        });
        near.join().map_err(|_| "the near side panicked".into())
    })
}

/// One direction, as the floor has it.
#[repr(C, align(128))]
struct Line {
    data: AtomicU8,
    flag: AtomicU8,
}

impl Line {
    fn new() -> Self {
        Self { data: AtomicU8::new(0), flag: AtomicU8::new(0) }
    }
    #[inline(always)]
    fn send(&self, turn: u64, byte: u8) {
        self.data.store(byte, Ordering::Relaxed);
        self.flag.store(turn as u8, Ordering::Release);
    }
    #[inline(always)]
    fn recv(&self, turn: u64) -> u8 {
        while self.flag.load(Ordering::Acquire) != turn as u8 {}
        self.data.load(Ordering::Relaxed)
    }
}

fn bare_near([out, back]: &[Line; 2]) {
    let mut byte = 0;
    for turn in 1..=TRIPS {
        out.send(turn, byte);
        byte = back.recv(turn);
    }
}

fn bare_far([out, back]: &[Line; 2]) {
    for turn in 1..=TRIPS {
        back.send(turn, out.recv(turn));
    }
}

/// One direction with the link's slots: number, header, payload.
#[repr(C, align(128))]
struct Lane([Slot; 4]);

#[repr(C, align(64))]
struct Slot([AtomicU64; 3]);

impl Lane {
    fn new() -> Self {
        Self(std::array::from_fn(|_| Slot(std::array::from_fn(|_| AtomicU64::new(0)))))
    }
    #[inline(always)]
    fn send<const SLOTS: u64>(&self, turn: u64, byte: u8) {
        let Slot([number, header, word]) = &self.0[(turn % SLOTS) as usize];
        word.store(byte.into(), Ordering::Relaxed);
        header.store(turn << 32 | 1, Ordering::Relaxed);
        number.store(turn, Ordering::Release);
    }
    #[inline(always)]
    fn recv<const SLOTS: u64>(&self, turn: u64) -> u8 {
        let Slot([number, header, word]) = &self.0[(turn % SLOTS) as usize];
        while number.load(Ordering::Acquire) != turn {}
        assert_eq!(header.load(Ordering::Relaxed) & u64::from(u32::MAX), 1, "the length");
        word.load(Ordering::Relaxed) as u8
    }
}

fn near_over<const SLOTS: u64>([out, back]: &[Lane; 2]) {
    let mut byte = 0;
    for turn in 1..=TRIPS {
        out.send::<SLOTS>(turn, byte);
        byte = back.recv::<SLOTS>(turn);
    }
}

fn far_over<const SLOTS: u64>([out, back]: &[Lane; 2]) {
    for turn in 1..=TRIPS {
        back.send::<SLOTS>(turn, out.recv::<SLOTS>(turn));
    }
}

/// A byte, which the compiler may know.
#[inline(always)]
fn len<const KNOWN: bool>() -> usize {
    if KNOWN { 1 } else { std::hint::black_box(1) }
}

fn link<const KNOWN: bool>(cpus: [u32; 2]) -> Outcome<f64> {
    let (patience, settings) = (Patience::default(), Settings::default());
    let (mut near, file) = Shm::create(&settings, &patience)?;
    let mut far = Shm::attach(file, &settings, &patience)?;
    std::thread::scope(|scope| {
        let far = scope.spawn(move || {
            pin(cpus[1]);
            let message = &mut vec![0; len::<KNOWN>()][..];
            for _ in 0..TRIPS {
                far.recv(message)?;
                far.send(message)?;
            }
            Ok::<_, transport::LinkError>(far)
        });
        let near = scope.spawn(move || {
            pin(cpus[0]);
            let message = &mut vec![0; len::<KNOWN>()][..];
            let start = Instant::now();
            for _ in 0..TRIPS {
                near.send(message)?;
                near.recv(message)?;
            }
            Ok::<_, transport::LinkError>((start.elapsed().as_secs_f64() / TRIPS as f64 * 1e9, near))
        });
        // Both ends live until both are done: an end that is dropped closes the link.
        let (took, _near) = near.join().map_err(|_| "the near side panicked")??;
        let _far = far.join().map_err(|_| "the far side panicked")??;
        Ok(took)
    })
}

fn trial(cpus: [u32; 2]) -> Outcome<f64> {
    let (patience, settings) = (Patience::default(), Settings::default());
    let (near, file) = Shm::create(&settings, &patience)?;
    let mut ends = [End::new(near), End::new(Shm::attach(file, &settings, &patience)?)];
    let spec = &TrialSpec { chunk: TRIPS, ..TrialSpec::plain(Pattern::PingPong, 1, TRIPS) };
    let [near_end, far_end] = &mut ends;
    std::thread::scope(|scope| {
        let far = scope.spawn(move || {
            pin(cpus[1]);
            far::run(far_end, spec, &mut Workspace::new(false)).map(drop)
        });
        let near = scope.spawn(move || {
            pin(cpus[0]);
            near::run(near_end, &Monotonic, spec, &mut Workspace::new(true))
        });
        let took = near.join().map_err(|_| "the near side panicked")??;
        far.join().map_err(|_| "the far side panicked")??;
        Ok(took.seconds / took.repeats as f64 * 1e9)
    })
}
