//! Seed 002's test protocol (van Renesse and others, *Horus*, "Performance", figure 3): each of n members casts m messages of one size, waits for all n times m, and so on for a number of rounds.
//! Prints messages a second, the CPU time that one member took for each (which what else runs on the machine changes little), and for m = 1 the time from a cast to its delivery at the caster, which holds a whole exchange of order. One process starts the others on loopback.
//!
//! `cargo run --release -p strata --example round -- --members 3 --messages 25 --rounds 1000`

use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};
use strata::Config;
use strata::net::{Event, Group, Options};

fn flag(name: &str) -> Option<String> {
    let mut args = std::env::args();
    args.by_ref().find(|a| a == name)?;
    args.next()
}

fn number(name: &str, default: usize) -> usize {
    flag(name).map_or(default, |v| v.parse().unwrap_or_else(|_| panic!("{name} takes a number, not {v:?}")))
}

fn nanos() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64)
}

/// Nanoseconds of CPU time that this process took so far, in the kernel and outside.
fn cpu() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let members = number("--members", 3);
    let (messages, size, rounds) = (number("--messages", 25), number("--size", 1), number("--rounds", 1000));
    let stack = flag("--stack").unwrap_or_else(|| "FC:TOTAL:MBRSHIP:FRAG:NAK:COM:udp".to_owned());
    let contact: Option<SocketAddr> = flag("--contact").map(|c| c.parse()).transpose()?;
    let config = Config { datagram: number("--datagram", 1472), ..Config::default() };
    let spin = Duration::from_micros(number("--spin", 0) as u64);
    let ordered = stack.contains("TOTAL") || stack.contains("SEQ");
    let options = Options { stack, contacts: contact.into_iter().collect(), config, spin, ..Options::default() };
    let mut group = Group::join(options)?;
    let mut children = Vec::new();
    if contact.is_none() {
        let me = group.me().addr.to_string();
        for _ in 1..members {
            let args: Vec<_> = std::env::args().skip(1).chain(["--contact".to_owned(), me.clone()]).collect();
            children.push(Command::new(std::env::current_exe()?).args(args).stdout(Stdio::null()).spawn()?);
            while group.view().map_or(0, |v| v.members.len()) < children.len() + 1 {
                group.poll(Duration::from_millis(10))?;
            }
        }
    }
    while group.view().map_or(0, |v| v.members.len()) < members {
        group.poll(Duration::from_millis(10))?;
    }
    let (mut total, mut began, mut latencies) = (0usize, Instant::now(), Vec::new());
    let mut used = 0.0;
    let (mut digest, mut full) = (0u64, false);
    let warm = rounds / 10;
    let filling = bytes::Bytes::from(vec![7u8; size]);
    // A message: when it was cast, where there is room, and the filling. What is cast in a round may come while another still waits for the round before.
    for round in 0..rounds + warm {
        if round == warm {
            began = Instant::now();
            latencies.clear();
            used = cpu();
        }
        for _ in 0..messages {
            let body = if size >= 8 {
                let mut body = vec![7u8; size];
                body[..8].copy_from_slice(&nanos().to_le_bytes());
                body.into()
            } else {
                filling.clone()
            };
            while let Err(refused) = group.try_cast(body.clone()) {
                match refused {
                    strata::Refused::WouldBlock { .. } => group.flush(),
                    other => return Err(other.into()),
                }
            }
        }
        group.flush();
        while total < (round + 1) * messages * members {
            let Some(event) = group.poll(Duration::from_secs(30))? else {
                return Err(format!("nothing came for 30 s in round {round}, with {total} messages delivered").into());
            };
            match event {
                Event::Message(m) => {
                    if m.body.len() != size {
                        return Err(format!("a message of {} bytes came", m.body.len()).into());
                    }
                    if size >= 8 && m.from != group.me() {
                        let cast = u64::from_le_bytes(m.body[..8].try_into()?);
                        latencies.push(nanos().saturating_sub(cast));
                    }
                    digest = (digest ^ m.from.born).rotate_left(7).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                    total += 1;
                }
                // The views of the members' coming are still among the events.
                Event::View(view) if !full => full = view.members.len() == members,
                Event::View(view) => return Err(format!("the view changed to {view:?}").into()),
                _ => {}
            }
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    let used = cpu() - used;
    // All must have seen one order: each casts its digest of it.
    let mut digests = Vec::new();
    group.try_cast(digest.to_le_bytes().to_vec())?;
    group.flush();
    while digests.len() < members {
        if let Some(Event::Message(m)) = group.poll(Duration::from_secs(10))? {
            digests.push(m.body);
        }
    }
    if ordered && digests.iter().any(|d| *d != digests[0]) {
        return Err("members delivered in different orders".into());
    }
    if contact.is_some() {
        // The first counts what all cast before it ends; those that it started stay until then.
        let until = Instant::now() + Duration::from_secs(2);
        while Instant::now() < until && group.view().map_or(0, |v| v.members.len()) == members {
            group.poll(Duration::from_millis(20))?;
        }
        return Ok(());
    }
    let count = (rounds * messages * members) as f64;
    let rate = count / seconds;
    println!(
        "{members} members, {messages} messages of {size} B a round, {rounds} rounds: {rate:.0} messages/s delivered to each member, {:.0} ns of CPU time each",
        used / count
    );
    if !latencies.is_empty() {
        latencies.sort_unstable();
        let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize] as f64 / 1e3;
        println!("one way: p50 {:.1} us, p90 {:.1} us, p99 {:.1} us", at(0.5), at(0.9), at(0.99));
    }
    println!("complete{}", if ordered { ", and one order at all members" } else { "" });
    drop(group);
    for mut child in children {
        child.wait()?;
    }
    Ok(())
}
