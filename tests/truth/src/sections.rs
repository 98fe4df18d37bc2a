//! The sections of the document, each measured and put into words.

use std::fmt::Write;
use std::path::PathBuf;

use clap::ValueEnum;

use crate::command::{self, Agreement};
use crate::finding::{self, DEPTHS, Found, HEIGHTS, WIDTHS};
use crate::noise::{Demand, Noise};
use crate::sides::{self, Held};
use crate::tally::few;
use crate::world::Shape;
use crate::{
    comparing, coverage, percentiles, periods, repeats as repeated, scaling, series, shapes, sustained, table, turns,
};

/// A section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Section {
    /// How often intervals hold.
    Coverage,
    /// Percentiles of single iterations.
    Percentiles,
    /// The same of curves that no straight line follows.
    Shapes,
    /// How often a repeat falls where it was foretold.
    Repeats,
    /// False alarms and power of comparisons.
    Compare,
    /// The same of sides one after the other, on a machine that changes from run to run.
    Series,
    /// The same of sides in turns.
    Turns,
    /// Dips and steps.
    Breaks,
    /// Periods and drift.
    Periods,
    /// Estimates of another wire against measurements over it.
    Scale,
    /// Single transfers and sustained ones.
    Sustained,
    /// The built command prints the same.
    Command,
}

/// How much is measured for the sections.
#[derive(Debug, Clone)]
pub struct Job {
    /// Noises.
    pub noises: Vec<Noise>,
    /// Noises that not all sizes feel alike, for the tables that have them.
    pub of_sizes: Vec<Noise>,
    /// Noises of which each size feels its own, for the tables of comparisons.
    pub of_each: Vec<Noise>,
    /// Noises that each side has of its own, for the table of sides in turns.
    pub of_sides: Vec<Noise>,
    /// Runs of a row.
    pub runs: u64,
    /// Only runs of so many rounds.
    pub rounds: Option<u32>,
    /// Seed.
    pub seed: u64,
    /// Threads.
    pub threads: usize,
    /// The built command; none leaves its section out.
    pub program: Option<PathBuf>,
}

impl Job {
    /// Runs of a row of this shape: half as many where a run takes much longer to analyse.
    fn runs(&self, shape: &Shape) -> u64 {
        if shape.rounds as usize * shape.sizes.len() > 4000 { self.runs.div_ceil(2) } else { self.runs }
    }

    /// Those of the shapes that are asked for.
    fn shapes<const N: usize>(&self, of: [(u32, usize); N]) -> impl Iterator<Item = Shape> {
        of.into_iter().filter(|s| self.rounds.is_none_or(|r| r == s.0)).map(|(rounds, sizes)| Shape::of(rounds, sizes))
    }
}

impl Section {
    /// Measures it; an error says what the built command did.
    pub fn text(self, job: &Job) -> Result<String, String> {
        match self {
            Self::Coverage => Ok(coverage(job)),
            Self::Percentiles => Ok(of_singles(job)),
            Self::Shapes => Ok(of_shapes(job)),
            Self::Repeats => Ok(repeats(job)),
            Self::Compare => Ok(compare(job)),
            Self::Series => Ok(in_series(job)),
            Self::Turns => Ok(in_turns(job)),
            Self::Breaks => Ok(breaks(job)),
            Self::Periods => Ok(jitter(job)),
            Self::Scale => Ok(scale(job)),
            Self::Sustained => Ok(sustained(job)),
            Self::Command => command(job),
        }
    }
}

fn heading(shape: &Shape, runs: u64) -> String {
    format!("{} rounds of {} sizes, {runs} runs", shape.rounds, shape.sizes.len())
}

fn command(job: &Job) -> Result<String, String> {
    let Some(program) = &job.program else { return Ok(String::new()) };
    let shape = Shape::of(9, 40);
    let Agreement { alike, other } = command::agreement(program, &job.noises, &shape, job.seed)?;
    let mut text = format!(
        "## Through the command\n\n`show --json` of six written runs of each noise, and `compare --json` of one with one and of three with three, print what these \
        tables were made of in {alike} of {} figures and verdicts.\n",
        alike + other.len() as u64
    );
    other.iter().take(20).for_each(|what| text.push_str(&format!("- **not alike**: {what}\n")));
    Ok(text)
}

fn coverage(job: &Job) -> String {
    let mut text = "## Coverage\n\nPercent of the intervals given that hold the truth, ± their median half-width. Bold holds less often than its \
        target, italic more often (wider than need be). \
        \"Of this run alone\": runs whose sentence of trust, as `run` prints it, says of states as long as those of the noise that intervals hold for this run alone, or that there is none. `none`: no interval, because an end is open; `absurd`: a figure that is no number or lies outside its interval, or ends over \
        1000 times apart.\n\n"
        .to_owned();
    let rows = |shape: &Shape| {
        let row = |noise: &Noise| coverage::row(*noise, shape, job.runs(shape), job.seed, job.threads);
        job.noises.iter().map(row).collect::<Vec<_>>()
    };
    for shape in job.shapes([(2, 40), (3, 40)]) {
        let rows = rows(&shape);
        let given: u64 = rows
            .iter()
            .flat_map(|row| row.of_machine.values())
            .map(|tally| tally.held + tally.missed + tally.absurd)
            .sum();
        let _ = write!(
            text,
            "{} of {} noises: {given} intervals are given (target: none).\n\n",
            heading(&shape, job.runs(&shape)),
            rows.len()
        );
    }
    for shape in job.shapes([(4, 40), (9, 40), (30, 155)]) {
        let (runs, rows) = (job.runs(&shape), rows(&shape));
        let (head, machine, run) = (heading(&shape, runs), table::coverage(&rows, false), table::coverage(&rows, true));
        let _ = write!(text, "### {head}: the machine's truth\n\n{machine}\n### {head}: the run's truth\n\n{run}\n");
    }
    text
}

fn of_singles(job: &Job) -> String {
    let mut text = "## Percentiles of single iterations\n\nPercent of the intervals with two ends that hold the machine's percentile, ± their median \
        half-width; of all points those whose interval nothing bounds above (`open`: a longer one may come), in brackets the percent of their lower ends that lie \
        below the machine's percentile; and those without an interval. In one half of the table the iterations of a trial are alike (what a trial has of its own, \
        all of them have), in the other each has a noise of its own.\n\n"
        .to_owned();
    for shape in job.shapes([(3, 40), (9, 40), (30, 40)]) {
        let runs = job.runs.div_ceil(2);
        let row = |noise: &Noise| percentiles::row(*noise, &shape, runs, job.seed, job.threads);
        let rows: Vec<_> = job.noises.iter().chain(&job.of_sizes).map(row).collect();
        let _ = write!(text, "### {}\n\n{}\n", heading(&shape, runs), table::percentiles(&rows));
    }
    text
}

fn of_shapes(job: &Job) -> String {
    let mut text = format!(
        "## Curves that no straight line follows\n\nUnder independent noise: percent of the intervals of the smallest message's time and of t0 \
        that hold the truth, ± their median half-width (target: {}; `none`: not resolved), t0 against the time of no bytes; runs with a saturation \
        point; and those whose saturation point surely lies below the half-power point (target: none).\n\n",
        Demand::Claimed.name()
    );
    let header = table::cells(["curve", "target", "smallest message", "t0", "saturation point", "contradict"]);
    for shape in job.shapes([(9, 40), (30, 155)]) {
        let runs = job.runs(&shape);
        let row = |curve: &shapes::Curve| {
            let row = shapes::row(*curve, Noise::Independent, &shape, runs, job.seed, job.threads);
            let [latency, t0] = [&row.latency, &row.t0].map(|t| table::held(Some(t), Some(Demand::Claimed)));
            let contradict = table::count(row.contradicts, row.contradicts == 0);
            vec![curve.0.to_owned(), table::verdict(row.met()), latency, t0, row.saturated.to_string(), contradict]
        };
        let rows: Vec<Vec<String>> = shapes::CURVES.iter().map(row).collect();
        let _ = write!(text, "### {}\n\n{}\n", heading(&shape, runs), table::table(&header, &rows));
    }
    text
}

fn repeats(job: &Job) -> String {
    let mut text = "## Repeats\n\nPoints of a further run that fall where a run foretells that carries so many earlier ones of the same machine, ± the \
        median half-width of the range (target: 90% of them, or no range). Runs lie 12% apart as a whole beside what the noise does, \
        or not.\n\n"
        .to_owned();
    let columns = repeated::SPREADS.iter().flat_map(|spread| {
        repeated::EARLIER.map(|n| format!("{n} earlier{}", if *spread > 0.0 { ", 12%" } else { "" }))
    });
    let header: Vec<String> = table::cells(["noise", "target"]).into_iter().chain(columns).collect();
    for shape in job.shapes([(9, 40)]) {
        let runs = job.runs.div_ceil(2);
        let row = |noise: &Noise| {
            let row = repeated::row(*noise, &shape, runs, job.seed, job.threads);
            let met = table::verdict(row.held.iter().flatten().all(|tally| tally.meets(Demand::Claimed)));
            let cells = row.held.iter().flatten().map(|tally| table::held(Some(tally), Some(Demand::Claimed)));
            [noise.name(), met].into_iter().chain(cells).collect()
        };
        let rows: Vec<Vec<String>> = job.noises.iter().map(row).collect();
        let _ = write!(text, "### {}\n\n{}\n", heading(&shape, runs), table::table(&header, &rows));
    }
    text
}

fn compare(job: &Job) -> String {
    let mut text = format!(
        "## Comparisons\n\nComparisons that say that the sides differ: of the same thing (target: at most {}), and of a second side that \
        takes so many times as long. A run a side, of which there is no verdict, as nothing tells how far runs of the machine lie apart; three \
        a side; one that carries three earlier ones. \"Runs\" are comparisons here.\n\n",
        table::percent(comparing::FALSE)
    );
    for shape in job.shapes([(3, 40), (9, 40), (30, 40), (30, 155)]) {
        let runs = job.runs(&shape);
        let row = |noise: &Noise| comparing::row(*noise, &shape, runs, job.seed, job.threads);
        let rows: Vec<_> = job.noises.iter().chain(&job.of_sizes).chain(&job.of_each).map(row).collect();
        let _ = write!(text, "### {}\n\n{}\n", heading(&shape, runs), table::comparing(&rows));
        text.push_str(&table::false_verdicts(&rows, &shape));
    }
    text.push_str(&several(job));
    text
}

fn several(job: &Job) -> String {
    let mut text = format!(
        "Several runs a side of the same thing: intervals of single sizes and of all sizes together that hold, in percent, ± their \
        median half-width (targets: {}, {} with three runs a side and for all sizes together); then comparisons that fail a limit of no change on one size (`time@SIZE>0%`), and that are said to differ (target: at \
        most {} of each). Of two runs a side there is no verdict, no limit is judged, and intervals are of these runs alone, which the first \
        line says.\n\n",
        Held::demand(8).name(),
        Held::demand(3).name(),
        table::percent(sides::FALSE)
    );
    let columns = sides::RUNS
        .iter()
        .flat_map(|runs| ["sizes", "all", "limit", "differ"].map(|what| format!("{what}, {runs} a side")));
    let header: Vec<String> = table::cells(["noise", "target"]).into_iter().chain(columns).collect();
    for shape in job.shapes([(9, 40)]) {
        let runs = job.runs(&shape);
        let row = |noise: &Noise| {
            let held = sides::row(*noise, &shape, runs, job.seed, job.threads);
            let met = sides::RUNS.into_iter().zip(&held).all(|(runs, held)| held.met(runs));
            let cells = sides::RUNS.into_iter().zip(&held).flat_map(|(runs, held)| {
                let counts = [(held.failed, held.few_failed()), (held.differ, held.few_differ())].map(|(n, few)| {
                    match held.known {
                        0 => "no verdict".to_owned(),
                        _ => table::count(n, few),
                    }
                });
                let tallies = [&held.sizes, &held.whole].into_iter().zip(held.demands(runs));
                tallies.map(|(tally, demand)| table::held(Some(tally), demand)).chain(counts).collect::<Vec<_>>()
            });
            [noise.name(), table::verdict(met)].into_iter().chain(cells).collect()
        };
        let rows: Vec<Vec<String>> = job.noises.iter().chain(&job.of_sizes).chain(&job.of_each).map(row).collect();
        let _ = write!(text, "### {}, several a side\n\n{}\n", heading(&shape, runs), table::table(&header, &rows));
    }
    text
}

fn in_series(job: &Job) -> String {
    let mut text = format!(
        "## Comparisons of sides in series\n\nAll runs of one side before all of the other, on a machine that changes from run to run: comparisons \
        of the same thing that say that the sides differ (target: at most {}), and of a second side that takes so many times as long.\n\n",
        table::percent(series::FALSE)
    );
    let kinds = series::RUNS.iter().flat_map(|runs| series::FACTORS.map(|factor| (runs, factor)));
    let columns = kinds.map(|(runs, factor)| match factor {
        1.0 => format!("same, {runs} a side"),
        _ => format!("x{factor}, {runs} a side"),
    });
    let header: Vec<String> = table::cells(["change", "target"]).into_iter().chain(columns).collect();
    for shape in job.shapes([(9, 40)]) {
        let runs = job.runs(&shape);
        let row = |change: series::Change| {
            let said = series::row(change, &shape, runs, job.seed, job.threads);
            let cells = said.iter().flat_map(|of| {
                of.iter().enumerate().map(|(place, n)| table::count(*n, place > 0 || few(*n, series::FALSE, runs)))
            });
            [change.name(), table::verdict(series::met(&said, runs))].into_iter().chain(cells).collect()
        };
        let rows: Vec<Vec<String>> = series::Change::ALL.into_iter().map(row).collect();
        let _ = write!(text, "### {}, in series\n\n{}\n", heading(&shape, runs), table::table(&header, &rows));
    }
    text
}

fn in_turns(job: &Job) -> String {
    let mut text = format!(
        "## Comparisons of sides in turns\n\nOf the sides of a `run --vs`, whose rounds take turns on one machine: pairs of the same that are said \
        to differ (target: at most {}), pairs of a second side that takes so many times as long that are said to be \
        slower (in brackets faster, which is wrong), and pairs without a verdict. \"As said\": of the pairs of the same in which no difference is \
        found, those in which one is found that is as large as is then said to be found four times in five (target: {}). Then percent of the \
        intervals that hold, ± their median half-width: of the ratio of single sizes (target: {}; the ratio of a loaded path to an idle one is made \
        the same way), of what an upper layer adds that takes {} times as long, and of LogGP's L of a ping-pong and a stream (target of both: {} of the \
        machine's truth where the run is three times as long as its noise lasts). Rounds are those of a side.\n\n",
        table::percent(turns::FALSE),
        table::percent(turns::PROMISED),
        Demand::InRun.name(),
        turns::LAYER,
        Demand::InRun.name()
    );
    for shape in job.shapes([(9, 40), (30, 40), (30, 155)]) {
        let runs = job.runs(&shape);
        let row = |(noise, apart): (&Noise, bool)| turns::row(*noise, apart, &shape, runs, job.seed, job.threads);
        // What a run does to each of its sizes cancels in turns.
        let of_each = job.of_each.iter().filter(|noise| !matches!(noise, Noise::Runs(_)));
        let together = job.noises.iter().chain(&job.of_sizes).chain(of_each).map(|noise| (noise, false));
        let rows: Vec<_> = together.chain(job.of_sides.iter().map(|noise| (noise, true))).map(row).collect();
        let _ = write!(text, "### {}\n\n{}\n", heading(&shape, runs), table::turns(&rows));
    }
    text
}

fn breaks(job: &Job) -> String {
    let mut text = format!(
        "## Dips and steps\n\nDips found, by width (decades) and depth, and steps, by height, one break a run in a quarter of the runs ({} a cell); in \
        brackets the share of all dips and steps found that are there (target: at least {}), and of the intervals of depths and heights those that \
        hold (target {}). A step is a handshake: from a size on each message takes so much longer. Sizes and heights are drawn. Then the \
        runs in which a break was found on a line, and on a line that becomes four times as steep at 1 MiB (target: at most {}).\n\n",
        job.runs.div_ceil(4),
        table::percent(1.0 - finding::WRONG),
        Demand::InRun.name(),
        table::percent(finding::FALSE),
    );
    let kinds: Vec<(f64, f64)> = WIDTHS.into_iter().flat_map(|w| DEPTHS.map(|d| (w, d))).collect();
    let names = kinds.iter().map(|(width, depth)| format!("{width} x{depth}"));
    let heights = HEIGHTS.iter().map(|(least, most)| format!("step x{least}-{most}"));
    let header = table::cells(["noise", "target"]).into_iter().chain(names).chain(heights);
    let header: Vec<String> = header.chain(table::cells(["line", "bend"])).collect();
    for shape in job.shapes([(9, 155), (30, 155)]) {
        let (runs, seed, threads) = (job.runs, job.seed, job.threads);
        let row = |noise: &Noise| {
            let a_cell = runs.div_ceil(4);
            let dips = kinds.iter().map(|kind| finding::dips(*noise, &shape, *kind, a_cell, seed, threads));
            let steps = HEIGHTS.iter().map(|height| finding::steps(*noise, &shape, *height, a_cell, seed, threads));
            let found: Vec<Found> = dips.chain(steps).collect();
            let strays = [false, true].map(|bent| finding::strays(*noise, &shape, bent, runs, seed, threads));
            let met = strays.into_iter().all(|n| few(n, finding::FALSE, runs))
                && found.iter().all(|f| f.depth_holds() && f.precise());
            let strays = strays.map(|n| table::count(n, few(n, finding::FALSE, runs)));
            [noise.name(), table::verdict(met)].into_iter().chain(found.iter().map(found_of)).chain(strays).collect()
        };
        let rows: Vec<Vec<String>> = job.noises.iter().map(row).collect();
        let _ = write!(text, "### {}\n\n{}\n", heading(&shape, runs), table::table(&header, &rows));
    }
    text
}

fn found_of(found: &Found) -> String {
    let share = |share: Option<f64>, met: bool| match share.map_or("-".to_owned(), table::percent) {
        text if met => text,
        text => format!("**{text}**"),
    };
    let precision = share(found.precision(), found.precise());
    format!("{} ({precision}, {})", found.found, share(found.depth.coverage(), found.depth_holds()))
}

fn jitter(job: &Job) -> String {
    let mut text = format!(
        "## Periods and drift\n\nRuns said to have a period that is not there, with trials and gaps of random lengths and with even ones \
        (target: at most {}); those said to drift for sure; and of runs that are stopped for 10 ms each second, or 1 ms ten times a second, \
        those whose period is found (in brackets: its intervals that hold it), and other periods found in them.\n\n",
        table::percent(periods::FALSE),
    );
    let header = table::cells(["noise", "target", "false", "false, even", "drift", "1 s", "others", "0.1 s", "others"]);
    for shape in job.shapes([(9, 40), (30, 155)]) {
        let runs = job.runs.div_ceil(2);
        let row = |noise: &Noise| {
            let row = periods::row(*noise, &shape, runs, job.seed, job.threads);
            let met = [row.strays, row.even].map(|n| few(n, periods::FALSE, runs));
            let strays = [table::count(row.strays, met[0]), table::count(row.even, met[1])];
            let stops = row.stops.iter().flat_map(|stops| {
                let holds = stops.period.coverage().map_or("-".to_owned(), table::percent);
                [format!("{} ({holds})", stops.found), stops.others.to_string()]
            });
            let front = [noise.name(), table::verdict(met[0] && met[1])];
            front.into_iter().chain(strays).chain([row.drifts.to_string()]).chain(stops).collect()
        };
        let rows: Vec<Vec<String>> = job.noises.iter().map(row).collect();
        let _ = write!(text, "### {}\n\n{}\n", heading(&shape, runs), table::table(&header, &rows));
    }
    text
}

fn sustained(job: &Job) -> String {
    let row = |length: f64| {
        let (median, mean) = sustained::ratios(length, job.runs.div_ceil(10), job.seed, job.threads);
        vec![format!("{} ms", length * 1e3), format!("{median:.2}"), format!("{mean:.2}")]
    };
    let header = table::cells(["trials of", "median, of 1.00", "mean, of 2.00"]);
    let table = table::table(&header, &sustained::LENGTHS.map(row));
    format!(
        "## Single and sustained\n\nA process that may run for 50 of every 100 ms: a single transfer takes its time (1.00), a minute of them \
        twice as long (2.00). What a point's two figures say, by the length of trials.\n\n{table}\n{}",
        kept_up(job)
    )
}

fn kept_up(job: &Job) -> String {
    let mut text = "Where each iteration has a noise of its own: percent of the intervals of the ratio of sustained trials to short ones that hold it, ± \
        their median half-width (`none`: not resolved).\n\n"
        .to_owned();
    let of = |noise: &&Noise| job.noises.contains(noise);
    for shape in job.shapes([(9, 40), (30, 40)]) {
        let runs = job.runs.div_ceil(2);
        let row = |noise: &Noise| {
            let (demand, held) = (Demand::Claimed, sustained::kept_up(*noise, &shape, runs, job.seed, job.threads));
            vec![noise.name(), demand.name().to_owned(), table::held(Some(&held), Some(demand))]
        };
        let rows: Vec<Vec<String>> = sustained::KEPT_UP.iter().filter(of).map(row).collect();
        let table = table::table(&table::cells(["noise", "target", "ratio"]), &rows);
        let _ = write!(text, "### {}, three long trials at two moments\n\n{table}\n", heading(&shape, runs));
    }
    text
}

fn scale(job: &Job) -> String {
    let mut text = "## Estimates held against measurements\n\nWhat `scale` estimates of a path over another wire (E), from a run over its own, against a run over \
        that wire (A): percent of the sizes of which it says that the measurement lies within the estimate's interval, ± the median half-width of that \
        interval.\n\n"
        .to_owned();
    for shape in job.shapes([(9, 40), (30, 40)]) {
        let runs = job.runs.div_ceil(2);
        let row = |noise: &Noise| {
            let (demand, held) =
                (noise.demand(shape.rounds, shape.length), scaling::row(*noise, &shape, runs, job.seed, job.threads));
            // What lasts longer than a run, another run meets otherwise.
            let asked = Some(demand).filter(|demand| *demand != Demand::Claimed);
            vec![noise.name(), asked.map_or("-", Demand::name).to_owned(), table::held(Some(&held), asked)]
        };
        let rows: Vec<Vec<String>> = job.noises.iter().map(row).collect();
        let table = table::table(&table::cells(["noise", "target", "A within E"]), &rows);
        let _ = write!(text, "### {}\n\n{table}\n", heading(&shape, runs));
    }
    text
}
