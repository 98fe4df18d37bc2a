//! How long a group takes from suspicion to the next view. The first member starts the others as processes on loopback, kills the youngest (SIGKILL), says at once that it has failed, and waits
//! for the view without it, which it is told when all who are left have delivered the same. Another takes the place of the one killed. With `--casts` the others cast all the time.
//!
//! `cargo run --release -p strata --example view -- --members 3 --times 50`

use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use strata::net::{Event, Group, Options};

const STACK: &str = "FC:TOTAL:MBRSHIP:FRAG:NAK:COM:udp";

fn flag(name: &str) -> Option<String> {
    let mut args = std::env::args();
    args.by_ref().find(|a| a == name)?;
    args.next()
}

fn number(name: &str, default: usize) -> usize {
    flag(name).map_or(default, |v| v.parse().unwrap_or_else(|_| panic!("{name} takes a number, not {v:?}")))
}

/// A member that answers, and casts where it is told to, until the first has gone.
fn member(contact: SocketAddr, casts: bool) -> Result<(), Box<dyn std::error::Error>> {
    let mut group = Group::join(Options { stack: STACK.to_owned(), contacts: vec![contact], ..Options::default() })?;
    while group.view().is_some_and(|v| v.members.iter().any(|m| m.addr == contact)) {
        if casts {
            // A group that is behind takes none for now.
            let _ = group.try_cast(&b"x"[..]);
        }
        group.poll(Duration::from_millis(1))?;
    }
    Ok(())
}

/// A member that was parted from the group ends, and no view with all of them can come.
fn all_run(children: &mut [Child], group: &Group) -> Result<(), Box<dyn std::error::Error>> {
    for child in children {
        if let Some(status) = child.try_wait()? {
            let view = group.view().map_or(String::new(), |v| v.id.to_string());
            return Err(format!("a member ended ({status}), parted from the first, whose view is {view}: was one of them silent for longer than a second?").into());
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (members, times) = (number("--members", 3), number("--times", 50));
    let casts = std::env::args().any(|a| a == "--casts");
    if let Some(contact) = flag("--contact") {
        return member(contact.parse()?, casts);
    }
    let mut group = Group::join(Options { stack: STACK.to_owned(), ..Options::default() })?;
    let me = group.me();
    let mut children: Vec<Child> = Vec::new();
    let (mut took, mut delivered) = (Vec::new(), 0u64);
    for _ in 0..times {
        while children.len() + 1 < members {
            let args = std::env::args().skip(1).chain(["--contact".to_owned(), me.addr.to_string()]);
            children.push(Command::new(std::env::current_exe()?).args(args).stdout(Stdio::null()).spawn()?);
            while group.view().map_or(0, |v| v.members.len()) < children.len() + 1 {
                group.poll(Duration::from_millis(10))?;
                all_run(&mut children, &group)?;
            }
        }
        // Some traffic, or silence, first.
        let until = Instant::now() + Duration::from_millis(50);
        while Instant::now() < until {
            delivered += u64::from(matches!(group.poll(Duration::from_millis(1))?, Some(Event::Message(_))));
        }
        let youngest = group.view().and_then(|v| v.members.last().copied()).ok_or("no view")?;
        let mut child = children.pop().ok_or("a group of one has nobody to lose: --members 2 or more")?;
        child.kill()?;
        child.wait()?;
        let began = Instant::now();
        group.suspect(youngest);
        while group.view().is_some_and(|v| v.members.contains(&youngest)) {
            group.poll(Duration::from_millis(10))?;
        }
        took.push(began.elapsed().as_secs_f64() * 1e3);
        let left = group.view().map_or(0, |v| v.members.len());
        if left + 1 != members {
            return Err(format!("the view after a loss has {left} of {members} members").into());
        }
    }
    took.sort_by(f64::total_cmp);
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize];
    println!(
        "{members} members, {times} times one killed and suspected, {delivered} casts delivered between: the next view after p50 {:.2} ms, p90 {:.2} ms, at most {:.2} ms",
        at(0.5),
        at(0.9),
        at(1.0)
    );
    drop(group);
    for mut child in children {
        child.wait()?;
    }
    Ok(())
}
