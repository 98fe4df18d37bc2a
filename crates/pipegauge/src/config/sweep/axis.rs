//! An axis: a name, and the levels that it takes.

use std::str::FromStr;

use anyhow::{Result, anyhow, bail};
use clap::{ArgAction, CommandFactory};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transport::registry;

use crate::config::system::{Knob, PREFIX};
use crate::flags::{Cli, value};

/// The axis whose levels are paths.
pub const TRANSPORT: &str = "transport";
/// The level that sets nothing.
pub const DEFAULT: &str = "default";
/// Most levels of an axis.
const MOST_LEVELS: usize = 1000;

/// Flags of `run` that say where a run's outcome goes, how much is measured, or that make several paths of one: no axis, and not for all cells.
const NO_AXIS: [&str; 17] = [
    "output",
    "html",
    "no-html",
    "json",
    "quiet",
    "no-history",
    "vs",
    "trace",
    "duration",
    "every",
    "budget",
    "seed",
    "key",
    "help",
    "version",
    "load-direction",
    "load-size",
];

/// What is varied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// `transport`, an option of a path, a flag of `run` without its dashes, or a setting of this system (`system.mtu:eth1`).
    pub name: String,
    /// Its levels, as they are typed; `default` sets nothing. Effects are told against the first.
    pub levels: Vec<String>,
}

/// What an axis's name stands for on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    /// The path itself.
    Transport,
    /// An option of the path: `NAME:option=value`.
    Option,
    /// A flag with a value.
    Flag,
    /// A flag without one: on, or off.
    Switch,
    /// The laboratory's: with its flag.
    Lab,
    /// This host's: set before the run, and put back.
    System,
}

impl Axis {
    /// An axis whose levels differ. Its name is checked with the plan, which knows the transports.
    pub fn new(name: &str, levels: Vec<String>) -> Result<Self> {
        let axis = Self { name: name.to_owned(), levels };
        axis.differs()?;
        Ok(axis)
    }

    /// Whether its levels differ.
    pub fn differs(&self) -> Result<()> {
        let name = report::words::plain(&self.name);
        if self.levels.len() < 2 {
            bail!("the axis {name} has {} level; name two or more: --over {name}=A,B", self.levels.len());
        }
        if self.levels.len() > MOST_LEVELS {
            bail!("the axis {name} has {} levels; {MOST_LEVELS} are the most", self.levels.len());
        }
        for (at, level) in self.levels.iter().enumerate() {
            let twin = self.levels[..at].iter().find(|other| same(other, level));
            let what = match twin {
                _ if level.is_empty() => "an empty level".to_owned(),
                Some(twin) if twin != level => format!("a level twice: {twin} is {level}"),
                Some(_) => "a level twice".to_owned(),
                None => continue,
            };
            bail!(
                "the axis {name} has {} ({}); each level has a value of its own",
                report::words::plain(&what),
                report::words::plain(&self.levels.join(","))
            );
        }
        Ok(())
    }

    /// Whether the name is one that some transport or `run` knows. Of modules only those count that were looked up.
    pub fn is_known(&self) -> Result<()> {
        if self.is_the_systems() {
            return Ok(());
        }
        let name = report::words::plain(&self.name);
        if self.name != TRANSPORT && !self.is_the_labs() && !any_option(&self.name) && flag(&self.name).is_none() {
            bail!(
                "--over {name}: no transport has an option of that name and `run` no such flag that a sweep can vary; pipegauge list NAME \
                 tells the options of one, pipegauge run --help the flags"
            );
        }
        Ok(())
    }

    /// Whether it is a setting of a laboratory's links and hosts.
    pub fn is_the_labs(&self) -> bool {
        matches!(self.name.as_str(), "mtu" | "offloads" | "link-rate")
            || self.name.starts_with("offload.")
            || self.is_a_hosts_sysctl()
    }

    /// Whether it is a setting of the network of a laboratory's hosts, as sysctl writes it.
    fn is_a_hosts_sysctl(&self) -> bool {
        self.name.starts_with("net.") || self.name.starts_with("net/")
    }

    /// Whether it is a setting of this host.
    pub fn is_the_systems(&self) -> bool {
        self.name.starts_with(PREFIX)
    }

    /// Whether it is none of this host's, or one that can be set to all its levels.
    pub fn can_be_set(&self) -> Result<()> {
        let Some(knob) = Knob::of(&self.name) else { return Ok(()) };
        let knob = knob?;
        self.levels.iter().filter(|level| *level != DEFAULT).try_for_each(|level| knob.value(level).map(drop))
    }

    /// A level as flags of `lab`.
    pub fn lab_flags(&self, level: &str) -> Vec<String> {
        match self.name.split_once('.') {
            _ if self.is_a_hosts_sysctl() => vec!["--sysctl".to_owned(), format!("{}={level}", self.name)],
            Some(("offload", name)) => vec!["--offload".to_owned(), format!("{name}={level}")],
            _ if self.name == "link-rate" => vec!["--rate".to_owned(), level.to_owned()],
            _ => vec![format!("--{}", self.name), level.to_owned()],
        }
    }

    /// What the name stands for on a path over this transport.
    pub fn means(&self, transport: &str) -> Result<Means> {
        if self.name == TRANSPORT {
            return Ok(Means::Transport);
        }
        if self.is_the_labs() {
            return Ok(Means::Lab);
        }
        if self.is_the_systems() {
            return Ok(Means::System);
        }
        if registry::named(transport)?.options().iter().any(|o| o.name == self.name) {
            return Ok(Means::Option);
        }
        // A flag that sets an option of others does nothing here, though it is taken.
        let found = if sets_an_option(&self.name) { None } else { flag(&self.name) };
        found.ok_or_else(|| anyhow!("{transport} has no option {}", self.name))
    }
}

/// `NAME=LEVEL,LEVEL`; where a level holds a comma, levels are parted by `|`.
impl FromStr for Axis {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, levels) = text.split_once('=').ok_or_else(|| {
            anyhow!("--over '{text}' is not of the form NAME=LEVEL,LEVEL: write for example --over nodelay=on,off")
        })?;
        let parted = if levels.contains('|') { '|' } else { ',' };
        Self::new(
            name.trim().trim_start_matches('-'),
            levels.split(parted).map(|level| level.trim().to_owned()).collect(),
        )
    }
}

fn any_option(name: &str) -> bool {
    registry::all().any(|t| t.options().iter().any(|o| o.name == name))
}

/// Whether a flag of this name sets an option of the transports that have it, and is none of the run itself.
fn sets_an_option(name: &str) -> bool {
    let names = |flags: &str| flags.split(", ").any(|flag| flag.strip_prefix("--") == Some(name));
    registry::all().any(|t| t.options().iter().any(|o| o.flag.is_some_and(names)))
}

/// The flag of `run` of this name, if a sweep can vary it.
fn flag(name: &str) -> Option<Means> {
    let command = Cli::command();
    let run = command.find_subcommand("run")?;
    let is =
        |arg: &&clap::Arg| arg.get_long() == Some(name) || arg.get_all_aliases().is_some_and(|all| all.contains(&name));
    let found = run.get_arguments().find(is)?;
    (!NO_AXIS.contains(&name)).then(|| match found.get_action() {
        ArgAction::Set | ArgAction::Append => Means::Flag,
        _ => Means::Switch,
    })
}

/// Whether a flag belongs to the sweep itself, so that cells can't have it.
pub fn is_the_sweeps(word: &str) -> Option<&'static str> {
    let long = word.split('=').next().unwrap_or(word);
    let short = match long.strip_prefix("--") {
        Some(long) => long,
        // Several may stand in one word, the last with its value.
        None => long.strip_prefix('-')?.chars().find_map(|letter| match letter {
            'o' => Some("output"),
            'q' => Some("quiet"),
            'h' => Some("help"),
            'V' => Some("version"),
            _ => None,
        })?,
    };
    NO_AXIS.into_iter().find(|name| *name == short && !name.starts_with("load-"))
}

/// Whether two levels are the same, or the same amount or time in other units.
fn same(one: &str, other: &str) -> bool {
    let alike = |one: Option<f64>, other: Option<f64>| one.is_some() && one == other;
    let bytes = |text: &str| value::bytes(text).ok().map(|bytes| bytes as f64);
    let seconds = |text: &str| value::seconds(text).ok();
    one == other || alike(bytes(one), bytes(other)) || alike(seconds(one), seconds(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_parted_by_commas_or_bars() {
        let axis: Axis = "sockbuf=64KiB, 1MiB,default".parse().unwrap();
        assert_eq!((axis.name.as_str(), axis.levels.join(" ")), ("sockbuf", "64KiB 1MiB default".to_owned()));
        let axis: Axis = "--offset=0,0|0,8".parse().unwrap();
        assert_eq!((axis.name.as_str(), axis.levels), ("offset", vec!["0,0".to_owned(), "0,8".to_owned()]));
    }

    #[test]
    fn a_level_in_another_unit_is_the_same_level() {
        let refused = |text: &str| text.parse::<Axis>().err().map(|e| e.to_string());
        assert!(refused("sockbuf=1024,2KiB,1KiB").unwrap().contains("1024 is 1KiB (1024,2KiB,1KiB)"));
        assert!(refused("latency=1us,1000ns").unwrap().contains("1us is 1000ns"));
        assert_eq!(refused("sockbuf=1000,1KiB"), None);
        assert_eq!(refused("congestion=cubic,bbr"), None);
    }

    #[test]
    fn what_no_path_and_no_run_has_is_no_axis() {
        for text in ["sockbuf", "sockbuf=1", "sockbuf=", "sockbuf=1,1", "sockbuf=1,"] {
            assert!(text.parse::<Axis>().is_err(), "{text}");
        }
        for text in ["nonsense=1,2", "output=a,b", "vs=a,b", "=1,2"] {
            assert!(text.parse::<Axis>().unwrap().is_known().is_err(), "{text}");
        }
    }

    #[test]
    fn a_name_is_an_option_where_any_path_has_it_and_else_a_flag() {
        let of = |text: &str, transport: &str| text.parse::<Axis>().unwrap().means(transport).ok();
        assert_eq!(of("sockbuf=1KiB,2KiB", "tcp"), Some(Means::Option));
        assert_eq!(of("align=64,4KiB", "tcp"), Some(Means::Flag));
        assert_eq!(of("check=on,off", "tcp"), Some(Means::Switch));
        assert_eq!(of("ttl=1,2", "tcp"), None, "an option of another transport alone");
        assert_eq!(of("nodelay=on,off", "unix"), None, "a flag that does nothing on this path");
        assert_eq!(of("members=2,3", "theory"), Some(Means::Option));
        assert_eq!(
            of("members=2,3", "multicast"),
            Some(Means::Flag),
            "one of the run itself, though a model has an option of the name"
        );
        assert_eq!(of("messages=1,25", "strata"), Some(Means::Flag), "another name of a flag");
    }
}
