//! The processes of paths whose near halves are processes of their own: where each ran, what it cost, and what it saw differently from its
//! side.

use measure::figures::cost::{End, PointCost, of_process};
use measure::topology::{MemberOpened, Role};
use record::{PathRun, RunFile, seen_otherwise};
use units::{Seconds, Share};

use super::WIDTH;
use super::grid::{Flush, Grid};
use crate::text::paragraph;

/// Most processes of a side that have a row; of more, the number is given.
const NAMED: usize = 8;
/// Most differences of a process that are listed.
const TOLD: usize = 6;

/// Titles of [`rows`].
pub(crate) const HEAD: [&str; 10] =
    ["path", "process", "host", "CPUs", "CPU a transfer", "of", "CPU a byte", "busy", "at", "in kernel"];

/// The table and what some processes see differently; empty for a run whose near halves are all in the command's own process.
pub fn members(run: &RunFile) -> String {
    let rows = rows(run);
    if rows.is_empty() {
        return String::new();
    }
    use Flush::{Left, Right};
    let flush = [Left, Left, Left, Left, Right, Right, Right, Right, Right, Right];
    let head: Vec<(&str, Flush)> = HEAD.into_iter().zip(flush).collect();
    let mut grid = Grid::new(&head);
    rows.into_iter().for_each(|row| grid.row(row));
    // Columns that are dropped first where it is too wide.
    let mut text = grid.fitted(WIDTH, &[9, 5, 8, 2]);
    lines(run).iter().for_each(|line| paragraph("", line, WIDTH, &mut text));
    text
}

/// The rows of the table: a process each.
pub(crate) fn rows(run: &RunFile) -> Vec<[String; 10]> {
    run.paths.iter().filter(|_| !run.has_score()).flat_map(|path| told(path).map(|one| row(run, path, one))).collect()
}

/// Notes: how many processes have no row, and how processes differ from their side.
pub(crate) fn lines(run: &RunFile) -> Vec<String> {
    let more = |path: &PathRun| {
        let left = path.opened.members.len() - told(path).count();
        (left > 0).then(|| format!("{}: {left} more processes stand in the run file.", path.opened.name()))
    };
    let other = |path: &PathRun, one: &MemberOpened| {
        let side = match one.role {
            Role::Near => Some(&run.run.near),
            Role::Far => path.opened.far.as_ref(),
        };
        let mut found: Vec<String> = Vec::new();
        if let (Some(side), Some(here)) = (side, &one.environment) {
            let seen = seen_otherwise(side, here);
            found.extend(seen.iter().take(TOLD).map(|d| format!("{} {}", d.what, cut(&d.second))));
            if seen.len() > TOLD {
                found.push(format!("and {} more", seen.len() - TOLD));
            }
        }
        let can =
            one.capabilities.is_some().then(|| "its connection can do other things than the first one's".to_owned());
        let sees = (!found.is_empty()).then(|| format!("sees otherwise than its side: {}", found.join(", ")));
        let said: Vec<String> = sees.into_iter().chain(can).collect();
        (!said.is_empty()).then(|| format!("{}, {} {}.", path.opened.name(), one.name(), said.join("; ")))
    };
    let paths = run.paths.iter().filter(|_| !run.has_score());
    paths.flat_map(|path| more(path).into_iter().chain(told(path).filter_map(move |one| other(path, one)))).collect()
}

/// The processes of a path that have a row.
fn told(path: &PathRun) -> impl Iterator<Item = &MemberOpened> {
    path.opened.members.iter().filter(|one| one.rank as usize <= NAMED)
}

fn cut(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

fn row(run: &RunFile, path: &PathRun, one: &MemberOpened) -> [String; 10] {
    let end = if one.role == Role::Near { End::Near } else { End::Far };
    let of = path.opened.members.iter().filter(|other| other.role == one.role).count();
    let trials = path.points.iter().map(|p| p.trials.all());
    let costs = of_process(&run.run.plan, path.opened.transport, end, (one.rank, of), trials);
    let mut known =
        path.points.iter().map(|p| p.size).zip(&costs).filter_map(|(size, cost)| Some((size, cost.as_ref()?)));
    let (first, last) = (known.clone().next(), known.next_back());
    let cpu = |of: Option<(u64, &PointCost)>| of.and_then(|(_, cost)| cost.cpu);
    let seconds = |s: f64| Seconds(s).to_string();
    let share = |of: fn(&PointCost) -> Option<f64>| {
        last.map_or(String::new(), |(_, cost)| of(cost).map_or("not resolved".to_owned(), |v| Share(v).to_string()))
    };
    let brief = run.run.plan.pattern.facts().size.brief;
    let size = |of: Option<(u64, &PointCost)>| of.map_or(String::new(), |(size, _)| brief(size));
    // What carries no bytes has no cost of one.
    let a_byte = cpu(last).filter(|cpu| cpu.per_byte > 0.0);
    [
        path.opened.name().to_owned(),
        one.name(),
        one.host.clone(),
        one.cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
        cpu(first).map_or(String::new(), |cpu| seconds(cpu.median)),
        size(first),
        a_byte.map_or(String::new(), |cpu| format!("{}/B", seconds(cpu.per_byte))),
        share(|cost| cost.busy),
        size(last),
        share(|cost| cost.system),
    ]
}

#[cfg(test)]
mod tests {
    use host::Environment;
    use measure::event::Trial;
    use measure::{FlowReport, Flows};

    use super::*;
    use crate::sample;

    /// A run of two pairs over TCP: the second near process takes twice the CPU time, on a host of another name.
    fn pairs() -> RunFile {
        let mut run = sample::costly(sample::run_of(&sample::MODELS[3..], &[1, 4096], 6, 7));
        let side = run.run.near.clone();
        let elsewhere = Environment { hostname: "box".into(), ..side.clone() };
        let path = &mut run.paths[0];
        let one = |role, rank, seen: &Environment| {
            let side = Some(&side).filter(|_| role == Role::Near);
            MemberOpened { role, rank, cpus: vec![rank - 1], ..MemberOpened::default() }.seeing(Some(seen), side)
        };
        let far = path.opened.far.clone().unwrap();
        path.opened.members = vec![one(Role::Near, 1, &side), one(Role::Near, 2, &elsewhere)];
        path.opened.members.extend([1, 2].map(|rank| {
            MemberOpened { role: Role::Far, rank, ..MemberOpened::default() }.seeing(Some(&far), Some(&far))
        }));
        for trial in path.points.iter_mut().flat_map(|p| p.trials.plain()) {
            let near = trial.report.cost.unwrap();
            let twice = measure::Cost { cpu_ns: 2 * near.cpu_ns, ..near };
            let flow =
                |near_cost| FlowReport { near_cost: Some(near_cost), far_cost: Some(near), ..FlowReport::default() };
            trial.report.flows = Some(Flows { each: vec![flow(near), flow(twice)], ..Flows::default() });
        }
        run
    }

    #[test]
    fn each_process_has_a_row_with_its_place_and_its_cost() {
        let run = pairs();
        let rows = rows(&run);
        let names: Vec<&str> = rows.iter().map(|row| &*row[1]).collect();
        assert_eq!(names, ["near 1", "near 2", "far 1", "far 2"]);
        assert_eq!((&*rows[1][2], &*rows[1][3]), ("box", "1"));
        assert!(rows.iter().all(|row| !row[4].is_empty() && row[6].ends_with("/B")), "{rows:?}");
        assert!(rows[0][4] != rows[1][4] && rows[0][4] == rows[2][4], "each its own: {rows:?}");
        let text = members(&run);
        assert!(text.contains("tcp, near 2 sees otherwise than its side: hostname box."), "{text}");
        assert!(!text.contains("near 1 sees") && !text.contains("far 2 sees"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    }

    #[test]
    fn many_processes_are_not_told_one_by_one_and_a_run_of_the_command_alone_has_none() {
        let mut run = pairs();
        let one = run.paths[0].opened.members[0].clone();
        run.paths[0].opened.members =
            (1..=128).map(|rank| MemberOpened { rank, environment: None, ..one.clone() }).collect();
        assert_eq!(rows(&run).len(), NAMED);
        assert!(members(&run).contains("tcp: 120 more processes stand in the run file."), "{}", members(&run));
        run.paths[0].opened.members.clear();
        assert_eq!(members(&run), "");
    }

    /// What older versions wrote: no hosts, and no cost of single processes.
    #[test]
    fn an_older_file_tells_what_it_has() {
        let mut run = pairs();
        for one in &mut run.paths[0].opened.members {
            *one = MemberOpened { role: one.role, rank: one.rank, cpus: one.cpus.clone(), ..MemberOpened::default() };
        }
        let flows =
            |t: &mut Trial| t.report.flows = Some(Flows { each: vec![FlowReport::default(); 2], ..Flows::default() });
        run.paths[0].points.iter_mut().flat_map(|p| p.trials.plain()).for_each(flows);
        let text = members(&run);
        assert!(text.contains("near 2") && !text.contains("CPU a byte") && !text.contains("host"), "{text}");
    }
}
