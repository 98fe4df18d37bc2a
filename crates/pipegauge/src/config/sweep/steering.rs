//! What in a sweep starts or loads something, reaches another host or crowds this one. Of a plan that was read nobody typed that: its folder may be
//! a stranger's.

use measure::event::Plan;
use transport::{Ends, OptionSpec};

use super::SweepPlan;
use crate::flags::MOST_CONNECTIONS;

/// Flags of `run` that start a command or reach another host.
const FLAGS: [&str; 7] =
    ["--near", "--peer", "--peer-address", "--near-under", "--peer-under", "--remote-program", "--key"];

/// Such a flag of the plan, as it is typed.
pub fn by_flag(plan: &SweepPlan) -> Option<String> {
    let levels = plan.axes.iter().flat_map(|axis| axis.levels.iter().map(|level| format!("--{}={level}", axis.name)));
    let mut words = plan.flags.iter().cloned().chain(levels);
    words.find(|word| FLAGS.iter().any(|flag| word == flag || word.starts_with(&format!("{flag}="))))
}

/// What a cell's run does of that. It is asked of what came of the cell's words, as these can be written in many ways.
pub fn by_run(plan: &Plan) -> Option<String> {
    (0..).zip(&plan.paths).find_map(|(number, path)| {
        let connections = plan.at_once(number);
        if connections > MOST_CONNECTIONS {
            let name = path.name();
            return Some(format!("{name} with {connections} connections at once, above {MOST_CONNECTIONS}"));
        }
        let transport = path.transport.transport().ok()?;
        if transport.ends() == Ends::Echoed {
            return Some(format!("{}, which starts a command", path.name()));
        }
        let set = OptionSpec::steering(transport.options(), &path.settings).next()?;
        Some(format!("{} with {set}", path.name()))
    })
}
