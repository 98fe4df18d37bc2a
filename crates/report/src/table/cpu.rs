//! CPU time of the paths on both sides, a row for each side of a path.

use measure::figures::cost::{Cpu, End, PointCost, system_share};
use model::Estimate;
use record::{Analysis, PathRun, Point};
use units::{Bytes, Kind, Share};

use super::WIDTH;
use super::grid::{Flush, Grid};
use super::summary::estimate;
use crate::text::paragraph;

/// Titles of [`rows`].
pub(crate) const HEAD: [&str; 8] = ["path", "side", "CPU a transfer", "of", "CPU a byte", "busy", "at", "in kernel"];

/// What the titles mean.
pub(crate) const HOW_TO_READ: &str = "A transfer is what the path's time counts. CPU: time of the thread that sends\n\
     and receives. Busy: its share of the time that passed; who spins is busy.\n";

const NOT_RESOLVED: &str = "not resolved";

/// CPU time of the smallest transfer, of a byte of the largest, and how busy each side was there; empty for a run that recorded none.
pub fn cpu(run: &Analysis<'_>) -> String {
    let rows = rows(run);
    if rows.is_empty() {
        return String::new();
    }
    use Flush::{Left, Right};
    let flush = [Left, Left, Right, Right, Right, Right, Right, Right];
    let head: Vec<(&str, Flush)> = HEAD.into_iter().zip(flush).collect();
    let mut grid = Grid::new(&head);
    rows.into_iter().for_each(|row| grid.row(row));
    let mut text = format!("{}{HOW_TO_READ}", grid.fitted(WIDTH, &[7, 6]));
    cycles(run).iter().for_each(|line| paragraph("", line, WIDTH, &mut text));
    text
}

/// Cycles and instructions of each path's smallest transfer, a line each; none where the kernel did not allow counting.
pub(crate) fn cycles(run: &Analysis<'_>) -> Vec<String> {
    let side = |path: &PathRun, end: End| {
        let mut told = path.points.iter().filter_map(|p| Some((p.size, *p.costs.of(end)?)));
        let (size, cost) = told.next()?;
        let (cycles, instructions) = (cost.cycles?, cost.instructions?);
        let [each, ipc] = [units::thousands(cycles.round() as u64), format!("{:.2}", instructions / cycles)];
        Some((size, format!("{each} cycles on the {} side ({ipc} instructions a cycle)", end.name())))
    };
    let line = |path: &PathRun| {
        let sides: Vec<(u64, String)> = End::BOTH.into_iter().filter_map(|end| side(path, end)).collect();
        let size = Bytes(sides.first()?.0);
        let each: Vec<String> = sides.into_iter().map(|(_, text)| text).collect();
        Some(format!("{}, a transfer of {size}: {}.", path.opened.name(), each.join(", ")))
    };
    run.paths.iter().filter(|_| !run.has_score()).filter_map(line).collect()
}

/// The rows of the table: each side of a path that recorded a cost.
pub(crate) fn rows(run: &Analysis<'_>) -> Vec<[String; 8]> {
    let sides = run.paths.iter().flat_map(|path| End::BOTH.map(|end| (path, end)));
    let size = run.run.plan.pattern.facts().size.brief;
    if run.has_score() { Vec::new() } else { sides.filter_map(|(path, end)| row(path, end, size)).collect() }
}

fn row(path: &PathRun, end: End, size: fn(u64) -> String) -> Option<[String; 8]> {
    let told = || path.points.iter().filter_map(|p| Some((p, p.costs.of(end)?)));
    let (first, last) = (told().next()?, told().next_back()?);
    let system = system_share(end, path.points.iter().flat_map(|p| &p.trials).filter(|t| !t.warmup));
    let share = |share: Option<f64>| share.map_or(NOT_RESOLVED.to_owned(), |v| Share(v).to_string());
    Some([
        path.opened.name().to_owned(),
        end.name().to_owned(),
        time(first, |_| 1.0, Kind::Seconds),
        size(first.0.size),
        time(last, |cpu| cpu.per_byte / cpu.median, Kind::SecondsPerByte),
        share(last.1.busy),
        size(last.0.size),
        share(system),
    ])
}

/// A point's CPU time and its interval, each so many times as large.
fn time((_, cost): (&Point, &PointCost), times: fn(&Cpu) -> f64, kind: Kind) -> String {
    let Some(cpu) = cost.cpu else { return NOT_RESOLVED.to_owned() };
    // What carries no bytes has no cost of one.
    if times(&cpu) == 0.0 {
        return "-".to_owned();
    }
    let [value, low, high] = [cpu.median, cpu.interval.low, cpu.interval.high].map(|v| v * times(&cpu));
    estimate(Estimate { value, low, high }, kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_that_tells_its_cost_has_a_row() {
        let mut run = crate::sample::costly(crate::sample::run(1));
        let text = cpu(&Analysis::of(&run));
        assert_eq!(rows(&Analysis::of(&run)).len(), 7, "memcpy has no far side: {text}");
        assert!(text.contains("near") && text.contains("far") && text.contains("s/B"), "{text}");
        assert!(!text.contains("not resolved"), "{text}");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("cycles on the near side (1.33 instructions a cycle)"), "{text}");
        for cost in run.paths.iter_mut().flat_map(|p| &mut p.points).flat_map(|p| p.costs.iter_mut()) {
            cost.cycles = None;
        }
        assert!(!cpu(&Analysis::of(&run)).contains("cycles"), "what was not counted is not said to be 0");
        run.paths[0].points[0].costs.iter_mut().next().unwrap().cpu = None;
        assert!(cpu(&Analysis::of(&run)).contains("not resolved"));
        run.run.plan.pattern = measure::Pattern::Hint;
        assert_eq!(cpu(&Analysis::of(&run)), "");
    }

    #[test]
    fn a_run_that_tells_no_cost_has_no_table() {
        assert_eq!(cpu(&Analysis::of(&crate::sample::run(1))), "");
    }
}
