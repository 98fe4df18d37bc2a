//! The lines of a history file: a head that names the path, then one for each run, the oldest first.

use measure::earlier::EarlierRun;
use serde::{Deserialize, Serialize};

use super::Key;

/// Schema of a history file.
const SCHEMA: &str = "pipegauge-history-file/1";

/// One run of a path, as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// Its start and its medians.
    #[serde(flatten)]
    pub run: EarlierRun,
    /// Seconds that were measured.
    pub seconds: f64,
    /// Rounds of the point with the most rounds.
    pub rounds: u32,
}

impl Kept {
    /// Fewest rounds of a run that is a repeat: those that give a point its interval.
    pub const FEWEST: u32 = 4;

    /// Whether it is long enough to count as a repeat: a run of one round of some milliseconds may lie anywhere.
    pub fn counts(&self) -> bool {
        self.rounds >= Self::FEWEST
    }
}

/// What is known of a path.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    /// Its runs, the oldest first.
    pub runs: Vec<Kept>,
    /// Lines that were damaged and left out.
    pub damaged: usize,
}

#[derive(Serialize)]
struct Head<'a> {
    schema: &'a str,
    key: &'a Key,
}

/// A head for reading: a later version may write its key in another way.
#[derive(Deserialize)]
struct AnyHead {
    schema: String,
    #[serde(default)]
    key: serde_json::Value,
}

/// What a file holds.
#[derive(Debug, PartialEq)]
pub(super) enum Read {
    /// Runs of the path with this key.
    Path(Key, Found),
    /// A later version's.
    Later,
    /// No history.
    Other,
}

/// Reads a file; damaged lines are counted and left out.
pub(super) fn read(bytes: &[u8]) -> Read {
    let mut lines = bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty());
    let Some(head) = lines.next().and_then(|line| serde_json::from_slice::<AnyHead>(line).ok()) else {
        return Read::Other;
    };
    if head.schema != SCHEMA {
        return if head.schema.starts_with("pipegauge-history-file/") { Read::Later } else { Read::Other };
    }
    let Ok(key) = serde_json::from_value(head.key) else { return Read::Other };
    let mut found = Found::default();
    for line in lines {
        match serde_json::from_slice::<Kept>(line) {
            // A copy of a run does not count twice.
            Ok(kept) if found.runs.contains(&kept) => {}
            Ok(kept) if kept.run.sound() && kept.seconds.is_finite() => {
                // The newest count. Of a file with more, which this program does not write, each line is compared with few.
                if found.runs.len() == EarlierRun::MOST {
                    found.runs.remove(0);
                }
                found.runs.push(kept);
            }
            _ => found.damaged += 1,
        }
    }
    Read::Path(key, found)
}

/// The bytes of a file with these runs; the oldest are dropped where there are too many.
pub(super) fn written(key: &Key, runs: &[Kept]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut add = |line: serde_json::Result<Vec<u8>>| {
        // Plain structs of numbers and strings always serialise.
        out.extend(line.unwrap_or_default());
        out.push(b'\n');
    };
    add(serde_json::to_vec(&Head { schema: SCHEMA, key }));
    let first = runs.len().saturating_sub(EarlierRun::MOST);
    runs[first..].iter().for_each(|run| add(serde_json::to_vec(run)));
    out
}
