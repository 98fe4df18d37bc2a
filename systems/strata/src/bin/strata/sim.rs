//! `strata sim`.

use std::fmt;
use std::io::{self, Write};

use anyhow::{Context, anyhow, bail};
use strata::sim::{Entry, Limits, Scenario, grow, run as play, shrink};

/// Flags of `strata sim`.
#[derive(clap::Args)]
pub struct Flags {
    /// Play this seed alone
    #[arg(long, conflicts_with_all = ["runs", "from"])]
    seed: Option<u64>,
    /// So many seeds
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// The first of them
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// This stack and not the seeds'
    #[arg(long)]
    stack: Option<String>,
    /// Any stack that is well-formed, drawn by the seed
    #[arg(long, conflicts_with_all = ["stack", "state", "grow"])]
    any_stack: bool,
    /// So many members and not the seeds', up to 64 for all faults
    #[arg(long, value_parser = size)]
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
    #[arg(long, value_delimiter = ',', value_name = "SIZES", value_parser = size, conflicts_with_all = ["seed", "runs", "from", "members", "faults", "calm", "state", "show"])]
    grow: Vec<usize>,
    /// With state transfer: each member that joins receives the group's state, and states are compared
    #[arg(long)]
    state: bool,
    /// Print what each life cast and was given
    #[arg(long)]
    show: bool,
}

impl Flags {
    /// What of a seed's script is played.
    fn limits(&self) -> anyhow::Result<Limits> {
        let faults = match self.faults.as_deref() {
            None => None,
            Some("none") => Some(Vec::new()),
            Some(list) => {
                let place = |word: &str| {
                    let wrong = || format!("--faults takes places from 0 on, such as 0,2, or none, and not {word:?}");
                    word.parse().with_context(wrong)
                };
                Some(list.split(',').map(place).collect::<Result<_, _>>()?)
            }
        };
        Ok(Limits {
            faults,
            casts: self.casts,
            calm: self.calm,
            stack: self.stack.clone(),
            any_stack: self.any_stack,
            members: self.members,
            state: self.state,
        })
    }
}

pub fn run(flags: Flags) -> anyhow::Result<()> {
    if !flags.grow.is_empty() {
        let stack = flags.stack.as_deref().unwrap_or("MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:sim");
        return growth(stack, &flags.grow, flags.casts.unwrap_or(10).max(1));
    }
    let limits = flags.limits()?;
    let seeds = match flags.seed {
        Some(seed) => seed..=seed,
        None => {
            let last = flags.from.checked_add(flags.runs - 1);
            let last = last.with_context(|| format!("seeds end at {}: begin with a lower one", u64::MAX))?;
            flags.from..=last
        }
    };
    let count = flags.seed.map_or(flags.runs, |_| 1);
    let (mut delivered, mut views, mut datagrams, mut slowest, mut failed) = (0, 0, 0, 0f64, 0);
    for seed in seeds {
        let scenario = Scenario::new(seed, &limits).map_err(|e| anyhow!(e))?;
        let outcome = play(&scenario);
        if flags.show {
            show(&scenario, &outcome.journal)?;
        }
        delivered += outcome.delivered;
        views += outcome.views;
        datagrams += outcome.datagrams;
        slowest = slowest.max(outcome.settled);
        if let Some(broken) = outcome.broken {
            failed += 1;
            say(format_args!("seed {seed} ({}): {broken}", scenario.spec))?;
            let less = shrink(seed, &limits, 60);
            let scenario = Scenario::new(seed, &less).map_err(|e| anyhow!(e))?;
            say(format_args!("  play it again: {}", scenario.command()))?;
        }
    }
    say(format_args!(
        "{count} runs: {failed} broke a promise; {delivered} messages and {views} views delivered, {datagrams} datagrams; the slowest settled in {slowest:.1} s after healing"
    ))?;
    if failed > 0 {
        bail!("{failed} of {count} runs broke a promise");
    }
    Ok(())
}

fn growth(stack: &str, sizes: &[usize], casts: usize) -> anyhow::Result<()> {
    say(format_args!("{stack}; datagrams and bytes of all members together, {casts} casts of 64 bytes"))?;
    say(format_args!(
        "members  formed in s  forming: datagrams  quiet: datagrams/s     bytes/s  a cast: datagrams    bytes  everywhere in ms"
    ))?;
    for &members in sizes {
        let g = grow(stack, members, casts).map_err(|e| anyhow!(e))?;
        say(format_args!(
            "{:>7}  {:>11.2}  {:>18.0}  {:>18.0}  {:>10.0}  {:>17.1}  {:>7.0}  {:.2} to {:.2}",
            g.members, g.formed, g.forming, g.quiet.0, g.quiet.1, g.cast.0, g.cast.1, g.everywhere.0, g.everywhere.1
        ))?;
    }
    Ok(())
}

fn show(scenario: &Scenario, journal: &strata::sim::Journal) -> anyhow::Result<()> {
    for (at, fault) in scenario.faults.iter().enumerate() {
        say(format_args!("fault {at} at {:.3} s: {:?}", fault.at as f64 / 1e9, fault.kind))?;
    }
    for (at, life) in journal.lives.iter().enumerate() {
        let end = if life.crashed {
            "crashed"
        } else if life.left {
            "left"
        } else {
            "lived"
        };
        say(format_args!("life {at}: {} ({end})", life.me))?;
        for entry in &life.entries {
            match entry {
                Entry::View(view) => say(format_args!("  view {} of {:?}", view.id, view.members))?,
                Entry::Cast(id) => say(format_args!("  cast {}", id.number))?,
                Entry::Send(id, to) => say(format_args!("  send {} to life {to}", id.number & 0x7fff_ffff))?,
                Entry::Deliver { id, from, cast, transitional } => say(format_args!(
                    "  {}{} {id:?} from {from}",
                    if *cast { "cast" } else { "send" },
                    if *transitional { ", transitional," } else { "" }
                ))?,
            }
        }
    }
    Ok(())
}

/// One line. What reads it may have gone, and a disk may be full.
fn say(line: fmt::Arguments) -> anyhow::Result<()> {
    writeln!(io::stdout(), "{line}").context("writing to the standard output")
}

/// Members of one view.
fn size(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 1..=strata::MEMBERS) => Ok(n),
        _ => Err(format!("a group has from 1 to {} members", strata::MEMBERS)),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        flags: Flags,
    }

    /// What is printed of a failure plays that very script.
    #[test]
    fn the_command_that_is_printed_plays_the_same_script() {
        let plain = Limits::default();
        let stack = Some("MERGE:TOTAL:MBRSHIP:FRAG*2:NAK:COM:sim".to_owned());
        for limits in [
            plain.clone(),
            Limits { faults: Some(vec![]), casts: Some(0), calm: true, ..plain.clone() },
            Limits { faults: Some(vec![1]), casts: Some(12), stack, members: Some(5), ..plain.clone() },
            Limits { faults: Some(vec![0, 2]), state: true, ..plain.clone() },
            Limits { any_stack: true, calm: true, ..plain },
        ] {
            let script = (0..).find_map(|seed| Scenario::new(seed, &limits).ok()).unwrap();
            let line = script.command();
            let words = line.strip_prefix("strata ").unwrap().split(' ');
            let flags = Line::try_parse_from(words).unwrap().flags;
            let again = Scenario::new(flags.seed.unwrap(), &flags.limits().unwrap()).unwrap();
            assert_eq!(format!("{again:?}"), format!("{script:?}"), "{line}");
        }
    }
}
