//! `strata sim`.

use anyhow::{anyhow, bail};
use strata::sim::{Entry, Limits, Scenario, grow, run as play, shrink};

/// Flags of `strata sim`.
#[derive(clap::Args)]
pub struct Flags {
    /// Play this seed alone
    #[arg(long, conflicts_with_all = ["runs", "from"])]
    seed: Option<u64>,
    /// So many seeds
    #[arg(long, default_value_t = 500)]
    runs: u64,
    /// The first of them
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// This stack and not the seeds'
    #[arg(long)]
    stack: Option<String>,
    /// So many members and not the seeds', up to 64 for all faults
    #[arg(long)]
    members: Option<usize>,
    /// Only these of the seed's faults, by their place, or none
    #[arg(long, value_name = "LIST")]
    faults: Option<String>,
    /// At most so many casts
    #[arg(long)]
    casts: Option<usize>,
    /// A network that loses, repeats and damages nothing, but for the faults
    #[arg(long)]
    calm: bool,
    /// Form calm groups of these sizes instead, such as 10,100,1000, and print how their cost grows
    #[arg(long, value_delimiter = ',', value_name = "SIZES", conflicts_with_all = ["seed", "runs", "from", "members", "faults", "calm", "state", "show"])]
    grow: Vec<usize>,
    /// With state transfer: each member that joins receives the group's state, and states are compared
    #[arg(long)]
    state: bool,
    /// Print what each life cast and was given
    #[arg(long)]
    show: bool,
}

pub fn run(flags: Flags) -> anyhow::Result<()> {
    if !flags.grow.is_empty() {
        let stack = flags.stack.as_deref().unwrap_or("MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:sim");
        return growth(stack, &flags.grow, flags.casts.unwrap_or(10).max(1));
    }
    let faults = match flags.faults.as_deref() {
        None => None,
        Some("none") => Some(Vec::new()),
        Some(list) => Some(list.split(',').map(str::parse).collect::<Result<_, _>>()?),
    };
    let limits = Limits {
        faults,
        casts: flags.casts,
        calm: flags.calm,
        stack: flags.stack,
        members: flags.members,
        state: flags.state,
    };
    let seeds = flags.seed.map_or(flags.from..flags.from + flags.runs, |s| s..s + 1);
    let (mut delivered, mut views, mut datagrams, mut slowest, mut failed) = (0, 0, 0, 0f64, 0);
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let scenario = Scenario::new(seed, &limits).map_err(|e| anyhow!(e))?;
        let outcome = play(&scenario);
        if flags.show {
            show(&scenario, &outcome.journal);
        }
        delivered += outcome.delivered;
        views += outcome.views;
        datagrams += outcome.datagrams;
        slowest = slowest.max(outcome.settled);
        if let Some(broken) = outcome.broken {
            failed += 1;
            println!("seed {seed} ({}): {broken}", scenario.spec);
            let less = shrink(seed, &limits, 60);
            let scenario = Scenario::new(seed, &less).map_err(|e| anyhow!(e))?;
            println!("  play it again: {}", scenario.command());
        }
    }
    println!(
        "{count} runs: {failed} broke a promise; {delivered} messages and {views} views delivered, {datagrams} datagrams; the slowest settled in {slowest:.1} s after healing"
    );
    if failed > 0 {
        bail!("{failed} of {count} runs broke a promise");
    }
    Ok(())
}

fn growth(stack: &str, sizes: &[usize], casts: usize) -> anyhow::Result<()> {
    println!("{stack}; datagrams and bytes of all members together, {casts} casts of 64 bytes");
    println!(
        "members  formed in s  forming: datagrams  quiet: datagrams/s     bytes/s  a cast: datagrams    bytes  everywhere in ms"
    );
    for &members in sizes {
        let g = grow(stack, members, casts).map_err(|e| anyhow!(e))?;
        println!(
            "{:>7}  {:>11.2}  {:>18.0}  {:>18.0}  {:>10.0}  {:>17.1}  {:>7.0}  {:.2} to {:.2}",
            g.members, g.formed, g.forming, g.quiet.0, g.quiet.1, g.cast.0, g.cast.1, g.everywhere.0, g.everywhere.1
        );
    }
    Ok(())
}

fn show(scenario: &Scenario, journal: &strata::sim::Journal) {
    for (at, fault) in scenario.faults.iter().enumerate() {
        println!("fault {at} at {:.3} s: {:?}", fault.at as f64 / 1e9, fault.kind);
    }
    for (at, life) in journal.lives.iter().enumerate() {
        let end = if life.crashed {
            "crashed"
        } else if life.left {
            "left"
        } else {
            "lived"
        };
        println!("life {at}: {} ({end})", life.me);
        for entry in &life.entries {
            match entry {
                Entry::View(view) => println!("  view {} of {:?}", view.id, view.members),
                Entry::Cast(id) => println!("  cast {}", id.number),
                Entry::Send(id, to) => println!("  send {} to life {to}", id.number & 0x7fff_ffff),
                Entry::Deliver { id, from, cast, transitional } => println!(
                    "  {}{} {id:?} from {from}",
                    if *cast { "cast" } else { "send" },
                    if *transitional { ", transitional," } else { "" }
                ),
            }
        }
    }
}
