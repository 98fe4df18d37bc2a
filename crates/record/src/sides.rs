//! Two sides held against each other, as their runs allow: `compare` and `ask` say the same of them.

use crate::{PathRun, RunFile};
use measure::event::Schedule;
use model::{Circumstances, Comparison, CurvePoint, Side};
use transport::Ends;

/// One of the repeats of a side: a run, and the place of the path in it.
pub type Repeat<'a> = (&'a RunFile, usize);

/// Two sides, compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// The second side against the first.
    pub comparison: Comparison,
    /// The sides were measured in separate runs, in each of which the machine has another level.
    pub separate: bool,
}

/// Compares the second side with the first; none where they have no size in common.
pub fn compared(first: &[Repeat<'_>], second: &[Repeat<'_>]) -> Option<Compared> {
    let curves = |side: &[Repeat<'_>]| side.iter().map(|r| curve(*r)).collect::<Vec<_>>();
    let (a, b) = (curves(first), curves(second));
    if let ([x], [y]) = (first, second)
        && sides_of_one_run(x.0, y.0)
        && number(*x) == number(*y)
    {
        return Some(Compared { comparison: Comparison::paired(&a[0], &b[0])?, separate: false });
    }
    let separate = separate(first, second);
    let [around_a, around_b] = circumstances(first, second);
    let past = |side: &[Repeat<'_>]| side.iter().filter(|_| separate).map(|(run, at)| run.history(*at)).collect();
    let (past_a, past_b): (Vec<_>, Vec<_>) = (past(first), past(second));
    let side_a = Side { runs: &a, circumstances: &around_a, histories: &past_a };
    let side_b = Side { runs: &b, circumstances: &around_b, histories: &past_b };
    let comparison = match took_turns(first, second) {
        true => Comparison::of_paths(side_a, side_b),
        false => Comparison::of(side_a, side_b),
    };
    Some(Compared { comparison: comparison?, separate })
}

/// Whether these are the two sides of one run (`--vs`), whose rounds took turns.
pub fn sides_of_one_run(a: &RunFile, b: &RunFile) -> bool {
    matches!((&a.run.side, &b.run.side), (Some(a), Some(b)) if a.of == b.of && a.number != b.number)
}

/// Whether these are paths of one run, whose rounds took turns; NetPIPE's schedule measures one path after the other, without rounds.
pub fn took_turns(first: &[Repeat<'_>], second: &[Repeat<'_>]) -> bool {
    one_run(first, second) && first.iter().all(|(run, _)| run.run.plan.schedule != Schedule::Netpipe)
}

/// Whether the sides were measured in separate runs, in each of which the machine has another level. What is modelled has no machine.
pub fn separate(first: &[Repeat<'_>], second: &[Repeat<'_>]) -> bool {
    let modelled = |r: &Repeat<'_>| path(*r).opened.transport.ends() == Ends::Modelled;
    !one_run(first, second) && !first.iter().chain(second).all(modelled)
}

/// Whether both sides are of the same runs.
fn one_run(first: &[Repeat<'_>], second: &[Repeat<'_>]) -> bool {
    first.len() == second.len() && first.iter().zip(second).all(|(a, b)| std::ptr::eq(a.0, b.0))
}

fn path<'a>((run, at): Repeat<'a>) -> &'a PathRun {
    &run.paths[at]
}

fn number(repeat: Repeat<'_>) -> u32 {
    path(repeat).opened.path
}

fn curve((run, at): Repeat<'_>) -> Vec<CurvePoint> {
    if run.has_score() { run.quips_curve(at) } else { run.curve(at) }
}

/// What surrounded each run. Where it is not the same machines all through, they are what is compared, and their speed
/// explains nothing away.
fn circumstances(first: &[Repeat<'_>], second: &[Repeat<'_>]) -> [Vec<Circumstances>; 2] {
    let same = crate::same_machines(first.iter().chain(second).map(|r| (r.0, path(*r))));
    let of = |side: &[Repeat<'_>]| {
        let each = side.iter().map(|(run, at)| run.circumstances(*at));
        each.map(|c| Circumstances { calibrations: if same { c.calibrations } else { Vec::new() }, ..c }).collect()
    };
    [of(first), of(second)]
}
