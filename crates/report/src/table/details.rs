//! The details behind the figures: how each path was set up, its rounds and their states, earlier runs, CPU time, and the processes that
//! took part.

use record::Analysis;

/// The sections that the run has, with an empty line between two.
pub fn details(run: &Analysis<'_>) -> String {
    let rounds = if run.has_score() || run.run.plan.soaks() { String::new() } else { super::state(run) };
    let machine = if run.run.plan.soaks() { String::new() } else { super::machine(run) };
    let cost = if run.has_score() || run.run.plan.soaks() { String::new() } else { super::cpu(run) };
    let all = [super::paths(run), rounds + &machine, super::tcp(run), cost, super::members(run)];
    crate::text::parts(all)
}
