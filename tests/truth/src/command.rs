//! The built command on written files: it must print what the tables were made of.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::noise::Noise;
use crate::runs::{Compares, Said, compared, lines, measure, recorded};
use crate::world::{Shape, World};

/// Where `show --json` has a figure, below a path.
const PLACES: [(&str, &str); 8] = [
    ("latency", "/summary/latency"),
    ("maximum", "/summary/max_throughput"),
    ("half power", "/summary/half_power"),
    ("t0", "/fits/latency/all/t0"),
    ("b", "/fits/latency/all/per_byte"),
    ("Rmax", "/fits/bandwidth/r_max"),
    ("n1/2", "/fits/bandwidth/n_half"),
    ("saturation", "/fits/saturation/point"),
];

/// What was held against the command.
#[derive(Debug, Default)]
pub struct Agreement {
    /// Figures and verdicts that are alike.
    pub alike: u64,
    /// Those that are not, in words.
    pub other: Vec<String>,
}

/// Runs of a noise: as many on each side as give a verdict without earlier runs.
const RUNS: [u64; 6] = [1, 2, 3, 4, 5, 6];

/// Compares what `show` and `compare` of this program print of runs of each noise with what is said here: `show` of each, `compare` of one
/// with one, which has no verdict, and of three with three.
pub fn agreement(program: &Path, noises: &[Noise], shape: &Shape, seed: u64) -> Result<Agreement, String> {
    let folder = Folder::new()?;
    let mut sum = Agreement::default();
    for noise in noises {
        let world = World::plain(*noise);
        let runs = RUNS.map(|number| measure(&world, shape, true, seed, number));
        let mut files = Vec::new();
        for (number, run) in RUNS.into_iter().zip(&runs) {
            let file = folder.0.join(format!("{number}.run.jsonl"));
            let text = lines(&recorded(&world, shape, seed, number));
            std::fs::write(&file, text).map_err(|e| format!("can't write {}: {e}", file.display()))?;
            let shown = asked(program, &["show", &file.to_string_lossy(), "--json"])?;
            let at = |place: &str| shown.pointer(&format!("/paths/0{place}")).unwrap_or(&Value::Null);
            for (name, said) in run.figures() {
                if let Some((_, place)) = PLACES.iter().find(|p| p.0 == name) {
                    let found = at(place);
                    sum.hold(said, &found["value"], found, ("low", "high"), || format!("{name}, {}", noise.name()));
                }
            }
            for (i, point) in run.points().enumerate() {
                let found = at(&format!("/points/{i}"));
                let what = || format!("{} B, {}", point.size, noise.name());
                sum.hold(point.said, &found["median"], found, ("low", "high"), what);
                sum.hold(point.repeat, &found["median"], found, ("repeat_low", "repeat_high"), what);
            }
            files.push(file.to_string_lossy().into_owned());
        }
        for each in [1, 3] {
            let (first, second) = (0..each, each..2 * each);
            let sides = [first.clone(), second.clone()].map(|side| files[side].join(","));
            let document = asked(program, &["compare", &sides[0], &sides[1], "--json"])?;
            let comparison = document.pointer("/comparisons/0").unwrap_or(&Value::Null);
            let of = |side| Compares::of(&runs[side]);
            let said = serde_json::to_value(compared(&of(first), &of(second))).unwrap_or(Value::Null);
            sum.count(comparison["finding"] == said, || format!("the comparison of {each} a side, {}", noise.name()));
        }
    }
    Ok(sum)
}

impl Agreement {
    fn count(&mut self, alike: bool, what: impl FnOnce() -> String) {
        if alike {
            self.alike += 1;
        } else {
            self.other.push(what());
        }
    }

    /// An interval here and in a document, where `null` is an end that nothing bounds.
    fn hold(&mut self, said: Said, value: &Value, at: &Value, ends: (&str, &str), what: impl FnOnce() -> String) {
        let near = |a: f64, b: f64| a == b || (a / b - 1.0).abs() < 1e-9;
        let number = |v: &Value, open: f64| v.as_f64().unwrap_or(open);
        let [low, high] = [number(&at[ends.0], 0.0), number(&at[ends.1], f64::INFINITY)];
        let alike = near(said.value, number(value, f64::INFINITY)) && near(said.low, low) && near(said.high, high);
        self.count(alike, what);
    }
}

/// What the program prints as JSON.
fn asked(program: &Path, words: &[&str]) -> Result<Value, String> {
    let name = program.display();
    let ran = Command::new(program).args(words).output();
    let output = ran.map_err(|e| format!("can't run {name}: {e}; build it: cargo build --release -p pipegauge"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{name} {} ended with {}: {said}", words.join(" "), output.status));
    }
    serde_json::from_slice(&output.stdout).map_err(|e| format!("{name} {} printed no JSON: {e}", words.join(" ")))
}

/// A folder that goes when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("pipegauge-truth-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|e| format!("can't make {}: {e}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Nothing depends on it any more, and what is left lies where such things are cleared away.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_end_that_nothing_bounds_is_null_on_either_side() {
        let held = |said: Said, at: Value| {
            let mut sum = Agreement::default();
            sum.hold(said, &json!(2.0), &at, ("low", "high"), String::new);
            sum.alike == 1
        };
        let (open, known) =
            (Said { value: 2.0, low: 0.0, high: f64::INFINITY }, Said { value: 2.0, low: 1.0, high: 3.0 });
        assert!(held(open, json!({"low": null, "high": null})) && held(known, json!({"low": 1.0, "high": 3.0})));
        assert!(!held(known, json!({"low": null, "high": 3.0})) && !held(open, json!({"low": 1.0, "high": null})));
    }
}
