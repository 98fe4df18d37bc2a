//! Holds the shared-memory link against the floor: paired runs, turn about, fresh processes each time.
//!
//! ```text
//! cargo build --release -p pipegauge-floor
//! cargo run --release -p pipegauge-transport --example shm_floor -- target/release/pipegauge-floor [PAIRS] [CPU,CPU]
//! ```
//!
//! Prints, for each case, both medians and the median of the paired ratios of times with a bootstrap 95% interval: below
//! 1 the link is faster than the floor.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::Instant;

use rand::{Rng, SeedableRng};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, SendAncillaryBuffer, SendAncillaryMessage};
use transport::shm::Shm;
use transport::{Buffer, Link, Patience, Settings, Wait};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Pattern, message size in bytes, timed iterations.
const CASES: [(&str, usize, u64); 8] = [
    ("pingpong", 1, 100_000),
    ("pingpong", 48, 100_000),
    ("pingpong", 1024, 50_000),
    ("pingpong", 64 << 10, 5_000),
    ("pingpong", 1 << 20, 500),
    ("stream", 1024, 500_000),
    ("stream", 64 << 10, 20_000),
    ("stream", 1 << 20, 1_000),
];

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [role @ ("near" | "far"), pattern, size, repeats, cpu, other, wait] => {
            let settings = Settings::default().with("wait", if wait == "block" { Wait::Block } else { Wait::Spin });
            let run = Run { pattern, size: size.parse()?, repeats: repeats.parse()?, settings };
            pin(cpu.parse()?)?;
            if role == "far" { run.far() } else { run.near(&[pattern, size, repeats, other, cpu, wait]) }
        }
        [floor, ref rest @ ..] => {
            let pairs = rest.first().map_or(Ok(20), |n| n.parse())?;
            let (a, b) = rest.get(1).unwrap_or(&"0,1").split_once(',').ok_or("two CPUs as in 0,1")?;
            compare(floor, pairs, a, b)
        }
        [] => Err("which program is the floor? (see the head of this file)".into()),
    }
}

fn compare(floor: &str, pairs: usize, a: &str, b: &str) -> Outcome<()> {
    let own = std::env::current_exe()?;
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    for (pattern, size, repeats) in CASES {
        let (size, repeats) = (size.to_string(), repeats.to_string());
        let mut runs: Vec<(f64, f64)> = Vec::new();
        for pair in 0..pairs {
            let one_floor = || -> Outcome<f64> {
                let args =
                    ["shm", "--pattern", pattern, "--size", &size, "--repeats", &repeats, "--pin", &format!("{a},{b}")];
                let line = String::from_utf8(Command::new(floor).args(args).output()?.stdout)?;
                let found = line.split("\"seconds_per_iteration\":").nth(1).and_then(|rest| rest.split(',').next());
                Ok(found.ok_or("the floor gave no figure")?.parse()?)
            };
            let one_link = || -> Outcome<f64> {
                let output = Command::new(&own).args(["near", pattern, &size, &repeats, a, b, "spin"]).output()?;
                Ok(String::from_utf8(output.stdout)?.trim().parse()?)
            };
            // Who goes first changes from pair to pair.
            runs.push(if pair % 2 == 0 {
                let floor = one_floor()?;
                (floor, one_link()?)
            } else {
                let link = one_link()?;
                (one_floor()?, link)
            });
        }
        let ratios: Vec<f64> = runs.iter().map(|(floor, link)| link / floor).collect();
        let mut resampled: Vec<f64> =
            (0..2000).map(|_| median((0..pairs).map(|_| ratios[random.random_range(0..pairs)]).collect())).collect();
        resampled.sort_by(f64::total_cmp);
        let floor = median(runs.iter().map(|r| r.0).collect());
        let link = median(runs.iter().map(|r| r.1).collect());
        let bits = |seconds: f64| size.parse::<f64>().unwrap_or(0.0) * 8e-9 / seconds;
        println!(
            "{pattern:8} {size:>8} B  floor {:9.3} us  link {:9.3} us  ratio {:.3} [{:.3}, {:.3}]{}",
            floor * 1e6,
            link * 1e6,
            median(ratios),
            resampled[50],
            resampled[1949],
            if pattern == "stream" {
                format!("  {:.1} and {:.1} Gbit/s", bits(floor), bits(link))
            } else {
                String::new()
            }
        );
    }
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    (values[(n - 1) / 2] + values[n / 2]) / 2.0
}

struct Run<'a> {
    pattern: &'a str,
    size: usize,
    repeats: u64,
    settings: Settings,
}

impl Run<'_> {
    fn near(&self, far: &[&str]) -> Outcome<()> {
        let (mine, theirs) = UnixStream::pair()?;
        let (mut link, file) = Shm::create(&self.settings, &Patience::default())?;
        let mut far = Command::new(std::env::current_exe()?)
            .arg("far")
            .args(far)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .spawn()?;
        let fds = [file.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(&fds));
        rustix::net::sendmsg(&mine, &[IoSlice::new(&[1])], &mut ancillary, rustix::net::SendFlags::empty())?;
        link.watch(mine.into());
        let mut message = Buffer::new(self.size, 4096, 0)?;
        let mut seconds = 0.0;
        for repeats in [self.repeats / 10, self.repeats] {
            let start = Instant::now();
            for _ in 0..repeats {
                link.send(&message)?;
                if self.pattern == "pingpong" {
                    link.recv(&mut message)?;
                }
            }
            if self.pattern == "stream" {
                link.recv(&mut [0])?;
            }
            seconds = start.elapsed().as_secs_f64();
        }
        println!("{:e}", seconds / self.repeats as f64);
        far.wait()?;
        Ok(())
    }

    fn far(&self) -> Outcome<()> {
        let mut byte = [0];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let control = rustix::stdio::stdin();
        let flags = rustix::net::RecvFlags::CMSG_CLOEXEC;
        rustix::net::recvmsg(control, &mut [IoSliceMut::new(&mut byte)], &mut ancillary, flags)?;
        let file = ancillary.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
            _ => None,
        });
        let mut link = Shm::attach(file.ok_or("no file came")?, &self.settings, &Patience::default())?;
        link.watch(control.try_clone_to_owned()?);
        let mut message = Buffer::new(self.size, 4096, 0)?;
        for repeats in [self.repeats / 10, self.repeats] {
            for _ in 0..repeats {
                link.recv(&mut message)?;
                if self.pattern == "pingpong" {
                    link.send(&message)?;
                }
            }
            if self.pattern == "stream" {
                link.send(&[1])?;
            }
        }
        Ok(())
    }
}

fn pin(cpu: usize) -> Outcome<()> {
    let mut set = rustix::thread::CpuSet::new();
    set.set(cpu);
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}
