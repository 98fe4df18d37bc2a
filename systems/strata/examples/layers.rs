//! What a layer costs, as the 1994 report measured it: FRAG stacked once and eleven times ("Performance"; there 50 us a layer one way), and what FAST gains on either. Two members in one process, no network: a cast goes down one
//! stack, its datagram up the other. `cargo run --release -p strata --example layers`

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use strata::{Addr, Config, Endpoint, Input, Member, Output, Time};

const CASTS: u64 = 20_000;
const ROUNDS: usize = 41;

fn member(stack: &str, fixed: &[Addr], at: usize) -> Result<Member, Box<dyn std::error::Error>> {
    // No status within the measurement: its timer never comes.
    let config = Config {
        fixed: fixed.to_vec(),
        tail: Duration::from_secs(9),
        status: Duration::from_secs(9),
        ..Config::default()
    };
    let mut member = Member::new(&stack.parse()?, config, Endpoint { addr: fixed[at], born: 0 }, 1)?;
    member.start(Time(0));
    Ok(member)
}

/// Nanoseconds of this thread's CPU time so far: what else runs on the machine takes none of it.
fn cpu() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Nanoseconds from cast to delivery at both, at the caster and at the other.
fn one_way(stack: &str) -> Result<f64, Box<dyn std::error::Error>> {
    let fixed = [Addr::from(([10, 0, 0, 1], 1)), Addr::from(([10, 0, 0, 2], 1))];
    let (mut from, mut to) = (member(stack, &fixed, 0)?, member(stack, &fixed, 1)?);
    let body = bytes::Bytes::from_static(b"x");
    let began = cpu();
    let mut delivered = 0;
    for _ in 0..CASTS {
        from.handle(Time(1), Input::Cast(body.clone()));
        while let Some(output) = from.next() {
            if let Output::Transmit(_, msg) = output {
                to.handle(Time(1), Input::Datagram(fixed[0], msg.joined()));
            }
        }
        delivered += std::iter::from_fn(|| to.next()).filter(|o| matches!(o, Output::Deliver(_))).count() as u64;
    }
    let took = cpu() - began;
    if delivered != CASTS {
        return Err(format!("{delivered} of {CASTS} casts were delivered").into());
    }
    Ok(took / CASTS as f64)
}

fn median(mut list: Vec<f64>) -> f64 {
    list.sort_by(f64::total_cmp);
    list[list.len() / 2]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut one, mut eleven, mut fast_one, mut fast) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    // In turns, so that what the machine does meets both.
    for _ in 0..ROUNDS {
        one.push(one_way("FRAG:NAK:COM:sim")?);
        eleven.push(one_way("FRAG*11:NAK:COM:sim")?);
        fast_one.push(one_way("FAST:FRAG:NAK:COM:sim")?);
        fast.push(one_way("FAST:FRAG*11:NAK:COM:sim")?);
    }
    let (one, eleven, fast_one, fast) = (median(one), median(eleven), median(fast_one), median(fast));
    println!("with FAST on one: {fast_one:.0} ns");
    println!("with FAST on eleven: {fast:.0} ns");
    println!(
        "a cast, delivered at both: {one:.0} ns with one FRAG, {eleven:.0} ns with eleven: {:.1} ns a layer (CPU time, medians of {ROUNDS} rounds)",
        (eleven - one) / 10.0
    );
    Ok(())
}
