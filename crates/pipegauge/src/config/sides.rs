//! `--vs`: the second side of a run, which is the first with flags added.

use std::path::PathBuf;
use std::time::SystemTime;

use anyhow::{Context, Result, anyhow, bail};
use measure::event::{PathPlan, Plan, Schedule};
use measure::{figures, sizes};
use rendezvous::{Far, Place};
use report::compare::Basis;
use transport::registry;
use units::Seconds;

use super::words::split;
use super::{RunConfig, command_line, far, names, paths, ranks};
use crate::flags::{Cli, RunFlags};

/// The two sides of a run.
#[derive(Debug)]
pub struct Sides {
    /// What was asked for, and the same with the flags of `--vs` added. The first has the notes and the report of both.
    pub configs: [RunConfig; 2],
    /// The flags of `--vs` as typed.
    pub more: String,
}

impl Sides {
    /// Checks the flags of both sides. `command` is the command line as typed, `now` names the run files where no name was given.
    pub fn resolve(flags: &RunFlags, more: &str, command: &[String], now: SystemTime) -> Result<Self> {
        let said = |what: String| anyhow!("--vs '{more}': {what}");
        let words = split(more).ok_or_else(|| said("a quote in it never ends; close it".to_owned()))?;
        if words.is_empty() {
            bail!(
                "--vs names no flag: say what the second side changes, for example --vs '--sockbuf 256KiB' \
                 (pipegauge run --help lists the flags)"
            );
        }
        let again = added(command, &words);
        let cli = Cli::again(&again).map_err(|e| match e.use_stderr() {
            true => said(crate::exit::words(&e)),
            false => said("it changes nothing; name flags of `run` that do".to_owned()),
        })?;
        let second = cli.command.into_run().ok_or_else(|| said("its flags are those of `run`".to_owned()))?;
        same_run(flags, &second).map_err(said)?;
        let first = far::with_key(&RunFlags { vs: None, ..flags.clone() })?;
        let mut second = RunFlags { vs: None, ..second };
        // What runs far processes there takes the place of what does here, as of any flag the later one counts.
        let (here, all) = (first.common.peer_under.len(), &mut second.common.peer_under);
        if all.len() > here {
            all.drain(..here);
        }
        second.common.key.clone_from(&first.common.key);
        let mut a = RunConfig::resolve(&first, command, now)?;
        let mut b = RunConfig::resolve(&second, command, now).with_context(|| format!("--vs '{more}'"))?;
        comparable(&a, &b).map_err(said)?;
        b.command = command_line::without_keys(&again);
        b.html = None;
        b.notes.retain(|note| !a.notes.contains(note));
        a.notes.extend(b.notes.drain(..).map(|note| format!("second side: {note}")));
        a.notes.extend(time(&a.plan));
        [a.output, b.output] = outputs(flags, &a.output)?;
        for side in [&a, &b] {
            names::distinct(&side.output, a.html.as_deref(), None)?;
        }
        Ok(Self { configs: [a, b], more: more.trim().to_owned() })
    }
}

/// The command line of the second side: without `--vs`, with its words at the end of the flags.
fn added(command: &[String], more: &[String]) -> Vec<String> {
    let mut words = Vec::new();
    let mut typed = command.iter().peekable();
    while let Some(word) = typed.next_if(|word| *word != "--") {
        match word.as_str() {
            "--vs" => drop(typed.next()),
            w if w.starts_with("--vs=") => {}
            _ => words.push(word.clone()),
        }
    }
    words.extend(more.iter().cloned());
    words.extend(typed.cloned());
    words
}

/// What both sides of one run have in common: the paths, the far side, the files.
fn same_run(first: &RunFlags, second: &RunFlags) -> Result<(), String> {
    if second.vs.is_some() {
        return Err("a run has two sides; leave out the --vs in it".to_owned());
    }
    if first.transports != second.transports {
        let extra: Vec<&str> =
            second.transports.iter().filter(|t| !first.transports.contains(t)).map(String::as_str).collect();
        if extra.is_empty() {
            return Err("both sides measure the same transports; name flags here, and no transport".to_owned());
        }
        return Err(format!(
            "both sides measure the same transports, and {} is another. To compare transports, name them in one run \
             (pipegauge run {} {}), whose paths take turns, and read its file with `pipegauge compare` or `layers`",
            extra.join(", "),
            first.transports.join(" "),
            extra.join(" ")
        ));
    }
    if first.trace.is_some() || second.trace.is_some() {
        return Err("--trace follows one side, and figures under trace are not to be believed; leave it out".to_owned());
    }
    let kept = [
        ("--peer", first.common.peer != second.common.peer),
        ("--key", first.common.key != second.common.key),
        ("--near", first.common.near != second.common.near),
        ("--peer-address", first.common.peer_address != second.common.peer_address),
        ("--remote-program", first.common.remote_program != second.common.remote_program),
        ("--output", first.common.output != second.common.output),
        ("--html", first.html != second.html || first.no_html != second.no_html),
        ("--quiet", first.common.quiet != second.common.quiet),
        ("--no-history", first.common.no_history != second.common.no_history),
    ];
    match kept.iter().find(|(_, differs)| *differs) {
        Some((flag, _)) => Err(format!("{flag} is one for both sides; give it outside of --vs")),
        None => Ok(()),
    }
}

/// Whether the sides can be held against each other, round by round.
fn comparable(first: &RunConfig, second: &RunConfig) -> Result<(), String> {
    let (a, b) = (&first.plan, &second.plan);
    if [a, b].iter().any(|plan| plan.schedule == Schedule::Netpipe) {
        return Err("sides are compared round by round, and NetPIPE's schedule has no rounds; leave it out".to_owned());
    }
    if first.far_pin != second.far_pin && !matches!(first.far, Far::Local { .. }) {
        return Err("one far side on another host serves both sides; give --pin outside of --vs".to_owned());
    }
    if a.peer_under != b.peer_under && !matches!(first.far, Far::Local { .. }) {
        return Err("one far side on another host serves both sides; give --peer-under outside of --vs".to_owned());
    }
    let beyond = |plan: &Plan| {
        let mut plan = plan.clone();
        plan.paths.iter_mut().for_each(|path| path.settings = paths::beyond_defaults(path));
        plan
    };
    if beyond(a) == beyond(b) {
        return Err("it changes nothing: both sides are the same; name a flag that has another value there".to_owned());
    }
    ranks::sides(a, b, Place::here())?;
    let shared = [
        // The ends are those of --sizes where it is given.
        ("--sizes", a.sizes != b.sizes),
        ("--from", a.from != b.from),
        ("--to", a.to != b.to),
        ("--step", a.step != b.step),
        ("--perturb", a.perturb != b.perturb),
        ("--budget", a.budget != b.budget),
        ("--trials", a.trials != b.trials),
        ("--repeats", a.repeats != b.repeats),
        ("--precision", a.precision != b.precision),
        ("--seed", a.seed != b.seed),
    ];
    if let Some((flag, _)) = shared.iter().find(|(_, differs)| *differs) {
        return Err(format!(
            "{flag} is one for both sides, which visit the same sizes in turns for the same time; give it outside of --vs"
        ));
    }
    if a.paths.len() != b.paths.len() {
        return Err(format!(
            "the first side has {} paths ({}), the second {} ({}), and each is compared with one of the other side: give --flows, --pairs, \
             --members, --load and --rate as many values on both",
            a.paths.len(),
            names_of(a),
            b.paths.len(),
            names_of(b)
        ));
    }
    for (number, (path, other)) in (0..).zip(a.paths.iter().zip(&b.paths)) {
        let kind = path.transport;
        let most = registry::find(kind).and_then(|t| t.capabilities(&path.settings).max_block).unwrap_or(u64::MAX);
        if sizes::planned(a, most) != sizes::planned(b, most) {
            return Err(
                "so slow a --rate leaves time for fewer sizes; give both sides more --budget, or --sizes".to_owned()
            );
        }
        let basis = |plan: &Plan, path: &PathPlan, side: &str| {
            Basis::new(plan, number, format!("the {side} side"), figures::time_kind(plan, kind, path.flows))
        };
        basis(a, path, "first").against(&basis(b, other, "second"))?;
    }
    match (a.pin.map(|p| p.0), b.pin.map(|p| p.0)) {
        (x, y) if x != y => Err("one process is the near side of both, and keeps to one CPU: --pin may move the far \
                                 side's CPU alone"
            .to_owned()),
        _ => Ok(()),
    }
}

/// The names of a plan's paths.
fn names_of(plan: &Plan) -> String {
    plan.paths.iter().map(|path| path.name()).collect::<Vec<_>>().join(", ")
}

/// The run files of both sides; a name that was made up is one that is free.
fn outputs(flags: &RunFlags, base: &std::path::Path) -> Result<[PathBuf; 2]> {
    let names = names::sides(base);
    if flags.common.output.is_none() && names.iter().any(|name| name.exists()) {
        bail!("{} is there already: name the run's files with -o", names[0].display());
    }
    Ok(names)
}

/// How long both sides take together, where a budget ends them.
fn time(plan: &Plan) -> Option<String> {
    let all = 2.0 * plan.budget * plan.paths.len() as f64;
    plan.trials.is_none().then(|| {
        format!("two sides take turns: {} in all, {} for each side and transport", Seconds(all), Seconds(plan.budget))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_sides_words_come_last_but_before_what_flags_end_with() {
        let of = |line: &str, more: &str| {
            let line: Vec<String> = line.split(' ').map(str::to_owned).collect();
            added(&line, &split(more).unwrap()).join(" ")
        };
        assert_eq!(of("p run tcp --vs X --check", "--mss 99"), "p run tcp --check --mss 99");
        assert_eq!(of("p run --vs=X -- tcp", "--mss 99"), "p run --mss 99 -- tcp");
    }
}
