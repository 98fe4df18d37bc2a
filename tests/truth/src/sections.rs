//! The sections of the document, each measured and put into words.

use std::fmt::Write;

use clap::ValueEnum;

use crate::finding::{self, DEPTHS, Found, WIDTHS};
use crate::noise::{Demand, Noise};
use crate::tally::error;
use crate::world::Shape;
use crate::{comparing, coverage, periods, table};

/// A section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Section {
    /// How often intervals hold.
    Coverage,
    /// False alarms and power of comparisons.
    Compare,
    /// Dips and steps.
    Breaks,
    /// Periods and drift.
    Periods,
}

/// How much is measured for the sections.
#[derive(Debug, Clone)]
pub struct Job {
    /// Noises.
    pub noises: Vec<Noise>,
    /// Runs of a row.
    pub runs: u64,
    /// Only runs of so many rounds.
    pub rounds: Option<u32>,
    /// Seed.
    pub seed: u64,
    /// Threads.
    pub threads: usize,
}

impl Job {
    /// Those of the shapes that are asked for.
    fn shapes<const N: usize>(&self, of: [(u32, usize); N]) -> impl Iterator<Item = Shape> {
        of.into_iter().filter(|s| self.rounds.is_none_or(|r| r == s.0)).map(|(rounds, sizes)| Shape::of(rounds, sizes))
    }
}

impl Section {
    /// Measures it.
    pub fn text(self, job: &Job) -> String {
        match self {
            Self::Coverage => coverage(job),
            Self::Compare => compare(job),
            Self::Breaks => breaks(job),
            Self::Periods => jitter(job),
        }
    }
}

fn heading(shape: &Shape) -> String {
    format!("{} rounds of {} sizes", shape.rounds, shape.sizes.len())
}

fn coverage(job: &Job) -> String {
    let mut text = "## Coverage\n\nPercent of the intervals given that hold the truth, ± their median half-width. Bold misses its target; \
        `none`: no interval, because an end is open; `absurd`: a figure that is no number or lies outside its interval, or ends over \
        1000 times apart.\n\n"
        .to_owned();
    for shape in job.shapes([(2, 40), (3, 40), (4, 40), (9, 40), (30, 155)]) {
        let row = |noise: &Noise| coverage::row(*noise, &shape, job.runs, job.seed, job.threads);
        let rows: Vec<_> = job.noises.iter().map(row).collect();
        let (heading, machine, run) = (heading(&shape), table::coverage(&rows, false), table::coverage(&rows, true));
        let _ =
            write!(text, "### {heading}: the machine's truth\n\n{machine}\n### {heading}: the run's truth\n\n{run}\n");
    }
    text
}

fn compare(job: &Job) -> String {
    let mut text = format!(
        "## Comparisons\n\nOf {} comparisons, those that say that the sides differ. Target: at most {} of the same thing.\n\n",
        job.runs,
        table::percent(comparing::FALSE)
    );
    for shape in job.shapes([(3, 40), (9, 40), (30, 155)]) {
        let row = |noise: &Noise| comparing::row(*noise, &shape, job.runs, job.seed, job.threads);
        let rows: Vec<_> = job.noises.iter().map(row).collect();
        let _ = write!(text, "### {}\n\n{}\n", heading(&shape), table::comparing(&rows));
    }
    text
}

fn breaks(job: &Job) -> String {
    let runs = job.runs.div_ceil(4);
    let mut text = format!(
        "## Dips and steps\n\nFound of {runs} dips, one a run, by width (decades) and depth; in brackets the share of all that was found \
        that is there, and of the depths' intervals those that hold (target {}). Then, of {} runs each, those in which a break was found on \
        a line, and on a line that becomes four times as steep at 1 MiB (target: at most {}).\n\n",
        Demand::InRun.name(),
        job.runs,
        table::percent(finding::FALSE),
    );
    let kinds: Vec<(f64, f64)> = WIDTHS.into_iter().flat_map(|w| DEPTHS.map(|d| (w, d))).collect();
    for shape in job.shapes([(9, 155), (30, 155)]) {
        let names = kinds.iter().map(|(w, d)| format!("{w} x{d}"));
        let rows: Vec<Vec<String>> = (job.noises.iter())
            .map(|noise| {
                let found: Vec<Found> = (kinds.iter())
                    .map(|kind| finding::dips(*noise, &shape, *kind, runs, job.seed, job.threads))
                    .collect();
                let strays =
                    [false, true].map(|bent| finding::strays(*noise, &shape, bent, job.runs, job.seed, job.threads));
                let few =
                    |n: u64| n as f64 <= (finding::FALSE + error(finding::FALSE, job.runs as f64)) * job.runs as f64;
                let met = strays.into_iter().all(few) && found.iter().all(Found::depth_holds);
                let strays = strays.map(|n| table::count(n, few(n)));
                let front = [noise.name(), table::verdict(met)];
                front.into_iter().chain(found.iter().map(dip)).chain(strays).collect()
            })
            .collect();
        let header = table::cells(["noise", "target"]).into_iter().chain(names);
        let header: Vec<String> = header.chain(table::cells(["line", "bend"])).collect();
        let _ = write!(text, "### {}\n\n{}\n", heading(&shape), table::table(&header, &rows));
    }
    text
}

fn dip(found: &Found) -> String {
    let share = |share: Option<f64>| share.map_or("-".to_owned(), table::percent);
    let holds = share(found.depth.coverage());
    let holds = if found.depth_holds() { holds } else { format!("**{holds}**") };
    format!("{} ({}, {holds})", found.found, share(found.precision()))
}

fn jitter(job: &Job) -> String {
    let mut text = format!(
        "## Periods and drift\n\nOf {} runs, those said to have a period that is not there, with trials and gaps of random lengths and with \
        even ones (target: at most {}); those said to drift for sure; and of runs that are stopped for 10 ms each second or 1 ms ten times \
        a second, those whose period is found (in brackets: its intervals that hold it), and the other periods found in them.\n\n",
        job.runs,
        table::percent(periods::FALSE),
    );
    for shape in job.shapes([(9, 40), (30, 155)]) {
        let rows: Vec<Vec<String>> = (job.noises.iter())
            .map(|noise| {
                let row = periods::row(*noise, &shape, job.runs, job.seed, job.threads);
                let few =
                    |n: u64| n as f64 <= (periods::FALSE + error(periods::FALSE, row.runs as f64)) * row.runs as f64;
                let mut cells = vec![
                    noise.name(),
                    table::verdict(few(row.strays) && few(row.even)),
                    table::count(row.strays, few(row.strays)),
                    table::count(row.even, few(row.even)),
                    row.drifts.to_string(),
                ];
                for stops in &row.stops {
                    let holds = stops.period.coverage().map_or("-".to_owned(), table::percent);
                    cells.extend([format!("{} ({holds})", stops.found), stops.others.to_string()]);
                }
                cells
            })
            .collect();
        let header = ["noise", "target", "false", "false, even", "drift", "1 s", "others", "0.1 s", "others"];
        let header = table::cells(header);
        let _ = write!(text, "### {}\n\n{}\n", heading(&shape), table::table(&header, &rows));
    }
    text
}
