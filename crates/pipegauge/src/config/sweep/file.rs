//! A plan in TOML: what flags of `sweep` say, in a file. Its schema: `pipegauge schema sweep-file`.

use std::path::Path;

use anyhow::{Result, anyhow};
use schemars::JsonSchema;
use serde::Deserialize;
use units::Seconds;

/// Largest file that is read, bytes.
const LARGEST: u64 = 1 << 20;

/// A plan file.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanFile {
    /// The transports, each as `run` takes it; several are an axis.
    #[serde(default)]
    pub transports: Vec<String>,
    /// Whether each cell is measured between two hosts of a laboratory.
    #[serde(default)]
    pub lab: bool,
    /// Axes, in order.
    #[serde(default)]
    pub over: Vec<FileAxis>,
    /// Flags of `run` that all cells have.
    #[serde(default)]
    pub flags: Vec<String>,
    /// Rounds.
    pub rounds: Option<u32>,
    /// Time for a cell in a round ("2s").
    #[schemars(with = "Option<String>")]
    pub budget: Option<Time>,
    /// Seed of the order of cells.
    pub seed: Option<u64>,
}

/// An axis of a plan file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileAxis {
    /// `transport` has its own place; an option of a path, a flag of `run` without its dashes, a setting of a laboratory's network (with
    /// `lab`), or one of this system (`system.mtu:eth1`), which is changed where `--change-system` is typed alone.
    pub name: String,
    /// Its levels; `"default"` sets nothing.
    pub values: Vec<Level>,
}

/// A level, as TOML has values.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Level {
    /// on or off.
    Switch(bool),
    /// A whole number.
    Whole(i64),
    /// A number.
    Real(f64),
    /// As it is typed.
    Text(String),
}

impl Level {
    /// As it is typed.
    pub fn typed(self) -> String {
        match self {
            Level::Switch(on) => if on { "on" } else { "off" }.to_owned(),
            Level::Whole(n) => n.to_string(),
            Level::Real(x) => x.to_string(),
            Level::Text(text) => text,
        }
    }
}

/// A time with its unit, seconds.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
pub struct Time(pub f64);

impl TryFrom<String> for Time {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse::<Seconds>().map(|time| Self(time.0)).map_err(|e| e.to_string())
    }
}

impl PlanFile {
    /// Reads a file; the error says the line.
    pub fn read(path: &Path) -> Result<Self> {
        let name = path.display();
        let text = record::input::text(path, "a plan of a sweep", LARGEST)?;
        toml::from_str(&text).map_err(|e| {
            anyhow!("{name} is no plan of a sweep (pipegauge schema sweep-file): {}", e.to_string().trim())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_ends_is_no_plan() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, at("fifo"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
        std::fs::write(at("large"), vec![b'#'; LARGEST as usize + 1]).unwrap();
        let said = |path: &Path| PlanFile::read(path).map(drop).unwrap_err().to_string();
        assert!(said(Path::new("/dev/zero")).contains("is a device"), "{}", said(Path::new("/dev/zero")));
        assert!(said(&at("fifo")).contains("is a named pipe"), "{}", said(&at("fifo")));
        assert!(said(&at("large")).contains("a plan of a sweep never is"), "{}", said(&at("large")));
        assert!(said(&at("none")).contains("can't open"), "{}", said(&at("none")));
    }

    #[test]
    fn a_plan_says_what_flags_do() {
        let text = "transports = ['tcp', 'unix']\nrounds = 4\nbudget = '500ms'\nflags = ['--pattern', 'stream']\n\
                    [[over]]\nname = 'sockbuf'\nvalues = ['default', '64KiB', 131072]\n[[over]]\nname = 'nodelay'\nvalues = [true, false]\n";
        let plan: PlanFile = toml::from_str(text).unwrap();
        let levels: Vec<Vec<String>> =
            plan.over.iter().map(|a| a.values.iter().map(|v| v.clone().typed()).collect()).collect();
        assert_eq!(levels, [vec!["default", "64KiB", "131072"], vec!["on", "off"]]);
        assert_eq!((plan.rounds, plan.budget.map(|b| b.0), plan.transports.len()), (Some(4), Some(0.5), 2));
        for wrong in ["rounds = 'x'", "round = 3", "budget = 5", "[[over]]\nname = 'x'"] {
            assert!(toml::from_str::<PlanFile>(wrong).is_err(), "{wrong}");
        }
    }
}
