//! What a run found: documents of `run` and `show`.

use std::path::Path;

use measure::event::{End, Figures, PathOpened, Run, TimeKind, Warning, Why};
use model::{Breaks, Drift, Estimate, Fits, Quips, Summary};
use record::load::UnderLoad;
use record::rates::OverRates;
use record::soak::Soak;
use record::{Analysis, Hint, RunFile};
use schemars::JsonSchema;
use serde::Serialize;
use workload::hint::Ended;

use super::text;

/// The results of a run: `export --format json` has every trial as well.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Results {
    /// The run's header.
    header: Run,
    /// The paths, in the order of the plan.
    paths: Vec<PathResults>,
    /// What paths take idle and under load, side by side; empty of a run that loads no path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    under_load: Vec<UnderLoad>,
    /// What came of the rates that were offered; empty of a run that offers no several rates.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    over_rates: Vec<OverRates>,
    /// What a reader of the figures must know.
    warnings: Vec<Warning>,
    /// The run's end; none where it was cut off.
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<End>,
    /// How the run file ends short, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<String>,
}

/// One path's results.
#[derive(Debug, Serialize, JsonSchema)]
struct PathResults {
    /// How the path was opened.
    opened: PathOpened,
    /// Latency, small-message time per byte, maximum throughput, half-power size; none where there are too few points.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<SummaryResults>,
    /// Fitted models: latency lines, bandwidth curve, saturation point; none where there is no point.
    #[serde(skip_serializing_if = "Option::is_none")]
    fits: Option<Fits>,
    /// HINT's figures; none of any other run, and where there is no point.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<HintResults>,
    /// What the rounds say of the machine, and so for what the intervals hold; none where the schedule has no rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    rounds: Option<RoundsResults>,
    /// What long trials say, ascending by size.
    sustained: Vec<SustainedResults>,
    /// What earlier runs tell of the path on this machine; none where no earlier run of it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    on_this_machine: Option<OnThisMachine>,
    /// Of a soak what its intervals say, ascending by size; empty of any other run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    soak: Vec<Soak>,
    /// Of a soak how it drifted; none of any other run, and where too few intervals tell it.
    #[serde(skip_serializing_if = "Option::is_none")]
    drift: Option<Drift>,
    /// Dips and steps.
    breaks: Breaks,
    /// Points, ascending by size.
    points: Vec<PointResults>,
}

/// A path's figures in short.
#[derive(Debug, Serialize, JsonSchema)]
struct SummaryResults {
    /// Time of one transfer of the smallest message, seconds.
    latency: Estimate,
    /// The smallest message, bytes.
    latency_size: u64,
    /// Seconds that each further byte of a small message costs; none with fewer than three sizes below 1 KiB.
    per_byte: Option<Estimate>,
    /// What the path carries; absent where sends followed a schedule (`--rate`), which tells nothing of it.
    #[serde(flatten)]
    carried: Option<Carried>,
}

/// How much a path carries.
#[derive(Debug, Serialize, JsonSchema)]
struct Carried {
    /// Largest throughput, bits a second.
    max_throughput: Estimate,
    /// Its size, bytes.
    max_size: u64,
    /// Size that parts those below half of the maximum throughput from those above, bytes.
    half_power: Option<Estimate>,
    /// Larger messages would likely show a higher maximum; absent where nothing tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    still_rising: Option<bool>,
}

impl SummaryResults {
    fn of(s: &Summary, carries: bool) -> Self {
        let Summary { latency, latency_size, per_byte, max_throughput, max_size, half_power, still_rising } = *s;
        let carried = carries.then_some(Carried { max_throughput, max_size, half_power, still_rising });
        Self { latency, latency_size, per_byte, carried }
    }
}

/// The rounds of a path.
#[derive(Debug, Serialize, JsonSchema)]
struct RoundsResults {
    /// Rounds.
    rounds: u32,
    /// Independent rounds that would say as much: fewer where the machine's states last for several.
    effective: f64,
    /// Standard deviation of the rounds' levels: how far the whole curve moved, as a share.
    spread: f64,
    /// The machine's states were seen to outlast what the run averages over, or the rounds are so few that all may be of one of two states:
    /// there is no interval beyond what was seen. False says only that this was not seen: few rounds may not tell.
    states_outlast: bool,
    /// The intervals average over states of the machine: over those shorter than `states_averaged_below`, and no others.
    states_averaged: bool,
    /// Length of states, seconds, below which the intervals average over them and are those of the machine. Where states last longer, and
    /// where this is absent, they hold for what this run met.
    #[serde(skip_serializing_if = "Option::is_none")]
    states_averaged_below: Option<f64>,
    /// The same in words.
    words: String,
}

impl RoundsResults {
    fn of(run: &RunFile, path: &record::PathRun) -> Option<Self> {
        let moves = path.common.shared.moves;
        Some(Self {
            rounds: moves.rounds,
            effective: moves.effective,
            spread: moves.spread,
            states_outlast: moves.slow(path.common.shared.sigma),
            states_averaged: path.averages_below().is_some(),
            states_averaged_below: path.averages_below(),
            words: report::table::rounds(run, path)?,
        })
    }
}

/// What a size keeps up, against its short trials.
#[derive(Debug, Serialize, JsonSchema)]
struct SustainedResults {
    /// Message size, bytes.
    size: u64,
    /// Trials.
    trials: u32,
    /// How long each lasted, seconds, on average.
    lasted: f64,
    /// Mean time, seconds of the point's kind.
    seconds: f64,
    /// Bits a second that the mean time stands for.
    throughput: f64,
    /// Mean time over the median of the short trials at the same level of the machine, with its 95% interval.
    ratio: Estimate,
}

impl SustainedResults {
    fn all(run: &RunFile, path: &record::PathRun) -> Vec<Self> {
        let of = |s: measure::sustained::Sustained| Self {
            size: s.size,
            trials: s.trials,
            lasted: s.lasted,
            seconds: s.seconds,
            throughput: s.throughput,
            ratio: Estimate { value: s.ratio, low: s.low, high: s.high },
        };
        path.kept_up(&run.run.plan).into_iter().map(of).collect()
    }
}

/// What earlier runs tell of a path.
#[derive(Debug, Serialize, JsonSchema)]
struct OnThisMachine {
    /// Earlier runs that count.
    earlier_runs: usize,
    /// Standard deviation of the logarithms of whole curves' levels between these runs and this one.
    spread: f64,
}

impl OnThisMachine {
    fn of(run: &RunFile, path: usize) -> Option<Self> {
        let between = run.between(path)?;
        Some(Self { earlier_runs: between.earlier(), spread: between.spread().value })
    }
}

/// HINT's figures of a path.
#[derive(Debug, Serialize, JsonSchema)]
struct HintResults {
    /// Processes that shared the work.
    processes: u32,
    /// First, highest and Net QUIPS, with 95% intervals.
    #[serde(flatten)]
    quips: Quips,
    /// Subintervals of each process at the end of the curve.
    last: u64,
    /// What ended it: --to, memory, precision, a tenth of the peak, time; none where the run was stopped before.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_by: Option<&'static str>,
}

impl HintResults {
    fn of(found: Hint) -> Self {
        let Hint { processes, quips, last, ended } = found;
        Self { processes, quips, last, ended_by: ended.map(Ended::words) }
    }
}

/// One point.
#[derive(Debug, Serialize, JsonSchema)]
struct PointResults {
    /// Message size, bytes (HINT: subintervals of a process).
    size: u64,
    /// Which time the figures are.
    time: TimeKind,
    /// Why it ended; none where it has not.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<Why>,
    /// The figures.
    #[serde(flatten)]
    figures: Figures,
}

impl Results {
    /// The results in a run file.
    pub fn of(run: &Analysis<'_>) -> Self {
        let paths = run.paths.iter().enumerate().map(|(n, path)| PathResults {
            hint: run.hint(n).cloned().map(HintResults::of),
            opened: path.opened.clone(),
            on_this_machine: OnThisMachine::of(run, n),
            summary: run.summary(n).map(|s| SummaryResults::of(s, run.carries())),
            fits: run.fits(n).cloned(),
            rounds: RoundsResults::of(run, path),
            sustained: SustainedResults::all(run, path),
            soak: run.soak(n),
            drift: run.drift(n),
            breaks: run.breaks(n).clone(),
            points: path
                .points
                .iter()
                .map(|p| PointResults { size: p.size, time: p.time, why: p.why, figures: p.figures })
                .collect(),
        });
        Self {
            header: run.run.clone(),
            paths: paths.collect(),
            under_load: run.under_load(),
            over_rates: run.over_rates(),
            warnings: run.warnings.clone(),
            end: run.end.clone(),
            cut: run.cut.clone(),
        }
    }
}

/// Printed by `run`. Its name differs from the run file's own schema, `pipegauge-run/2`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunDocument {
    /// `pipegauge-run-result/1`.
    schema: &'static str,
    /// The run file.
    run_file: String,
    /// The HTML report, if one was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    html: Option<String>,
    /// Exit code: 0 all as asked, 1 something fell short, 2 nothing could be measured.
    exit: u8,
    /// What ended the run early, if anything did.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// The results.
    #[serde(flatten)]
    results: Results,
}

impl RunDocument {
    /// A run's end.
    pub fn new(run_file: &Path, html: Option<&Path>, exit: u8, error: Option<String>, results: Results) -> Self {
        Self { schema: "pipegauge-run-result/1", run_file: text(run_file), html: html.map(text), exit, error, results }
    }
}

/// Printed by `hint`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HintDocument {
    /// `pipegauge-hint/1`.
    schema: &'static str,
    /// The run file.
    run_file: String,
    /// Exit code: 0 all as asked, 1 something fell short, 2 nothing could be measured.
    exit: u8,
    /// What ended the run early, if anything did.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// The results.
    #[serde(flatten)]
    results: Results,
}

impl HintDocument {
    /// A HINT run's end.
    pub fn new(run_file: &Path, exit: u8, error: Option<String>, results: Results) -> Self {
        Self { schema: "pipegauge-hint/1", run_file: text(run_file), exit, error, results }
    }
}

/// Printed by `show`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShowDocument {
    /// `pipegauge-show/1`.
    schema: &'static str,
    /// The run file.
    run_file: String,
    /// The results.
    #[serde(flatten)]
    results: Results,
}

impl ShowDocument {
    /// A run file's contents.
    pub fn new(run_file: &Path, results: Results) -> Self {
        Self { schema: "pipegauge-show/1", run_file: text(run_file), results }
    }
}
