//! A cell: one combination of levels, as the command line of a run.

use std::path::Path;
use std::time::SystemTime;

use anyhow::{Result, anyhow, bail};
use transport::Family;

use super::axis::{Means, is_the_sweeps};
use super::{DEFAULT, SweepPlan, apart};
use crate::config::lab::Lab;
use crate::config::{RunConfig, paths};
use crate::flags::{Cli, Command, RunFlags, of_a_kind};

/// One combination of levels.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Its number.
    pub number: usize,
    /// The path as it is typed, without options that axes set.
    path: String,
    /// Axes but `transport`, each with its level.
    set: Vec<(super::Axis, String)>,
    flags: Vec<String>,
    budget: f64,
    lab: bool,
}

/// Refuses a flag that the sweep sets itself.
fn of_the_sweep(flag: &str) -> anyhow::Error {
    anyhow!("--{flag} is no flag for all cells: the sweep itself says how much is measured and where the runs go")
}

/// The flags of a run of these words.
fn run_of(words: &[String]) -> Result<RunFlags> {
    let cli = Cli::again(words).map_err(|e| anyhow!("{}", crate::exit::words(&e)))?;
    cli.command.into_run().ok_or_else(|| anyhow!("its flags are those of `run`"))
}

impl Cell {
    pub(super) fn new(plan: &SweepPlan, number: usize) -> Self {
        let levels = plan.design().cell(number);
        let level = |(axis, level): (&super::Axis, &usize)| {
            (axis.clone(), axis.levels.get(*level).cloned().unwrap_or_default())
        };
        let all: Vec<_> = plan.axes.iter().zip(&levels).map(level).collect();
        let (paths, set): (Vec<_>, Vec<_>) = all.into_iter().partition(|(axis, _)| axis.name == super::axis::TRANSPORT);
        let path = paths.into_iter().next().map(|(_, level)| level).or(plan.transport.clone()).unwrap_or_default();
        let path = of_a_kind(&path).into_owned();
        Self { number, path, set, flags: plan.flags.clone(), budget: plan.budget, lab: plan.lab }
    }

    /// What tells it from others: its path and levels.
    pub fn name(&self) -> String {
        let set = self.set.iter().map(|(axis, level)| format!("{}={level}", axis.name));
        std::iter::once(self.path.clone()).chain(set).collect::<Vec<_>>().join(" ")
    }

    /// The words of the `run` that measures it into a file.
    pub fn words(&self, output: &Path) -> Result<Vec<String>> {
        let transport = super::name_of(&self.path);
        let (mut path, mut flags) = (self.path.clone(), Vec::new());
        for (axis, level) in self.set.iter().filter(|(_, level)| level != DEFAULT) {
            match axis.means(transport)? {
                Means::Option => {
                    path.push(if path.contains(':') { ',' } else { ':' });
                    path.push_str(&format!("{}={level}", axis.name));
                }
                // In one word: a level is no flag, whatever it begins with.
                Means::Flag => flags.push(format!("--{}={level}", axis.name)),
                Means::Switch => match level.as_str() {
                    "on" | "yes" | "true" => flags.push(format!("--{}", axis.name)),
                    "off" | "no" | "false" => {}
                    _ => bail!("{} is on or off, not {level}", axis.name),
                },
                Means::Transport | Means::Lab | Means::System => {}
            }
        }
        if let Some(flag) = self.flags.iter().find_map(|word| is_the_sweeps(word)) {
            return Err(of_the_sweep(flag));
        }
        let own = [
            "--budget",
            &format!("{}s", self.budget),
            "--no-html",
            "--no-history",
            "--quiet",
            "--output",
            &output.display().to_string(),
        ]
        .map(str::to_owned);
        let words = ["pipegauge".to_owned(), "run".to_owned(), path];
        let mut words: Vec<String> =
            words.into_iter().chain(own).chain(self.flags.iter().cloned()).chain(flags).collect();
        if self.lab {
            words.extend(self.apart(&words)?);
        }
        Ok(words)
    }

    /// The flags by which the far side of the run of these words is in the second host of a laboratory.
    fn apart(&self, words: &[String]) -> Result<Vec<String>> {
        // A name would lead to IPv6 first, as it does anywhere; the field's tables are of IPv4.
        let asks = |word: &String| matches!(word.as_str(), "-6" | "--ipv6");
        let named = self.set.iter().any(|(axis, _)| axis.name == "family") || self.flags.iter().any(asks);
        // What is no path, or several, is refused with the rest of the run.
        let paths = paths::resolve(&run_of(words)?)?;
        let Some(path) = paths.first() else { return Ok(Vec::new()) };
        let transport = path.transport.transport()?;
        let named = named || transport.family(&path.settings) == Some(Family::V6);
        let far = if named { Lab::host(2) } else { Lab::address(2).to_string() };
        apart::flags(path, transport, far)
    }

    /// The flags of the laboratory that it is measured in; none where it is measured on this host.
    pub fn lab(&self) -> Option<Vec<String>> {
        let set = self.set.iter().filter(|(axis, level)| axis.is_the_labs() && level != DEFAULT);
        self.lab.then(|| set.flat_map(|(axis, level)| axis.lab_flags(level)).collect())
    }

    /// Its settings of this host: each axis with its level.
    pub fn system(&self) -> Vec<(&str, &str)> {
        let set = self.set.iter().filter(|(axis, _)| axis.is_the_systems());
        set.map(|(axis, level)| (axis.name.as_str(), level.as_str())).collect()
    }

    /// The run that measures it, checked.
    pub fn config(&self, output: &Path) -> Result<RunConfig> {
        if let Some(flags) = self.lab() {
            let words = ["pipegauge".to_owned(), "lab".to_owned()].into_iter().chain(flags).collect::<Vec<_>>();
            let cli = Cli::again(&words).map_err(|e| anyhow!("{}", crate::exit::words(&e)))?;
            match cli.command {
                Command::Lab(flags) => drop(Lab::resolve(&flags)?),
                _ => bail!("a laboratory's flags are those of `lab`"),
            }
        }
        let words = self.words(output)?;
        let flags = run_of(&words)?;
        let mut config = RunConfig::resolve(&flags, &words, SystemTime::now())?;
        // Of what came of the words, not of the words: they can be written in many ways.
        let astray = [
            ("output", config.output != output),
            ("html", config.html.is_some()),
            ("trace", flags.trace.is_some()),
            ("no-history", config.history),
        ];
        if let Some((flag, _)) = astray.into_iter().find(|(_, astray)| *astray) {
            return Err(of_the_sweep(flag));
        }
        if config.plan.paths.len() != 1 {
            bail!(
                "a cell is one path, and this is {} ({}); give several values as an axis: --over flows=1,2,4",
                config.plan.paths.len(),
                config.plan.paths.iter().map(|p| p.name().to_owned()).collect::<Vec<_>>().join(", ")
            );
        }
        if config.near.is_some() && !self.system().is_empty() {
            bail!("--near measures from another host, and system.* sets what this one has: leave out one of both");
        }
        config.notes.clear();
        Ok(config)
    }
}
