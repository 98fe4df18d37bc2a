//! Warnings of a run grouped by cause over all its paths, the gravest cause first, a line each.

use std::collections::{BTreeMap, HashMap};

use measure::event::Warning;
use record::RunFile;
use units::Bytes;

use crate::text::paragraph;

/// The cause in a few words and what to do about it, by the warning's code; the gravest first: what makes figures wrong, what they don't
/// show, what widens them, what is missing.
const CAUSES: [(&str, &str, &str); 25] = [
    ("cpu-interference", "other programs used the pinned CPUs", "stop them, or pin elsewhere (--pin A,B)"),
    ("steal", "the hypervisor kept the pinned CPUs (steal)", "measure at another time"),
    ("throttled", "a CPU quota stopped the measurement", "allow two CPUs and more"),
    ("loss", "messages were lost", "a larger --sockbuf often helps"),
    ("rate-missed", "the schedule of --rate was not kept, so times hold the backlog", "a lower --rate shows the path"),
    ("closed-loop", "the path stood still, which a closed loop hides", "--rate N charges the wait"),
    (
        "flows-apart",
        "flows or processes ran at once for a small part of their time, or never",
        "larger --repeats, or more CPUs",
    ),
    (
        "load-idle",
        "loading flows carried nothing in some trials, which don't count",
        "longer --repeats, or a smaller --load-size",
    ),
    ("crowded", "members of a group share CPUs", "fewer --members"),
    (
        "one-cpu",
        "both sides may run on one CPU alone",
        "two CPUs by --pin A,B, taskset, mpirun or mpiexec; where there is one: wait=yield of openmpi and mpich",
    ),
    ("burst", "long trials take another time than short ones", "the line 'sustained' of pipegauge show has both"),
    (
        "bucket",
        "smaller sizes show more than the largest: a token bucket, whose burst is not kept up, or caches",
        "long trials of a longer --budget tell which",
    ),
    ("drained", "receivers read out of full buffers; the sender's rate counts there", "longer --repeats"),
    (
        "copied",
        "the kernel copied what was posted",
        "over loopback it always does; a network device shows what posting is worth",
    ),
    ("strangers", "others sent to the group's address and port", "address= and port= of the path choose others"),
    ("nothing-arrives", "from a size up nothing arrives", "--to leaves those sizes out"),
    ("no-figure", "sizes without a figure: too little arrived", "--loss-timeout waits longer"),
    ("unsteady", "the whole curve moved between rounds", "a longer --budget averages over more rounds"),
    ("noisy", "known to no better than 10%", "a longer --budget; pipegauge doctor looks for causes"),
    ("not-converged", "less sure than --precision asks for", "a longer --budget"),
    ("capped", "larger sizes don't fit the path and are left out", "--to up to there"),
    ("thinned", "too little time for all sizes, so some are left out", "a longer --budget"),
    ("stopped-short", "larger sizes take too long and are left out", "a longer --budget"),
    (
        "near-hosts",
        "nothing tells how fast the several near hosts are before each round",
        "both sides in one run (--vs) before runs are compared",
    ),
    ("one-round", "one round alone: what differs between runs is not seen", "--schedule adaptive measures it"),
];

/// The warnings of one cause.
#[derive(Debug, Clone, PartialEq)]
pub struct Caution<'a> {
    /// The warnings' code.
    pub code: &'a str,
    /// The cause in a few words; for a code that is not known here the beginning of the first warning's text.
    pub cause: String,
    /// The paths it concerns, each with the number of its sizes where the warning names some; empty where it concerns the whole run.
    pub paths: Vec<String>,
    /// What to do; empty where only the warning's text has it.
    pub remedy: &'static str,
    /// The warnings, whole.
    pub warnings: Vec<&'a Warning>,
}

/// The run's warnings by cause, the gravest first. Warnings of the precision are left out unless one was asked for.
pub fn cautions(run: &RunFile) -> Vec<Caution<'_>> {
    let mut all: Vec<Caution<'_>> = Vec::new();
    let mut places = HashMap::<&str, usize>::new();
    for warning in run.warnings.iter().filter(|w| w.code != "not-converged" || run.run.plan.precise) {
        let place = *places.entry(&warning.code).or_insert_with(|| {
            let known = CAUSES.iter().find(|c| c.0 == warning.code);
            let cause = known.map_or_else(|| beginning(&warning.text), |c| c.1.to_owned());
            // The width of a soak's interval shows how the path moved, and so does its graph.
            let remedy = match known {
                Some(c) if c.0 == "noisy" && run.run.plan.soaks() => {
                    "its graph shows when it moved; pipegauge doctor looks for causes"
                }
                Some(c) if c.0 == "closed-loop" => scheduled(run),
                known => known.map_or("", |c| c.2),
            };
            all.push(Caution { code: &warning.code, cause, paths: Vec::new(), remedy, warnings: Vec::new() });
            all.len() - 1
        });
        let caution = &mut all[place];
        caution.warnings.push(warning);
    }
    for caution in &mut all {
        caution.paths = subjects(run, &caution.warnings);
    }
    // A cause that this version doesn't know may be grave.
    let rank = |code: &str| CAUSES.iter().position(|c| c.0 == code).map_or(0, |place| place + 1);
    all.sort_by_key(|c| rank(c.code));
    all
}

/// What to do so that the wait shows which a closed loop hides: empty where nothing of the kind can be measured, which are patterns that charge
/// one iteration with each pause whatever is done, and paths that know no schedule.
fn scheduled(run: &RunFile) -> &'static str {
    let plan = &run.run.plan;
    if plan.pattern.facts().paused.is_some() || !run.paths.iter().any(|path| path.opened.capabilities.schedules()) {
        return "";
    }
    let alone = run.paths.iter().all(|path| plan.connections(path.opened.path) == 1);
    match (plan.pattern.facts().on_schedule.is_some(), alone) {
        (true, true) => "--rate N charges the wait",
        (false, true) => "--pattern ping-pong --rate N charges the wait",
        (_, false) => "--pattern ping-pong --rate N, of one connection, charges the wait",
    }
}

/// What the warnings of one cause concern, each path once with the sizes of all of them.
fn subjects(run: &RunFile, warnings: &[&Warning]) -> Vec<String> {
    let mut merged: Vec<Warning> = Vec::new();
    // Where the first warning of a path is that names sizes.
    let mut sized: BTreeMap<Option<u32>, usize> = BTreeMap::new();
    for warning in warnings {
        match sized.get(&warning.path).filter(|_| !warning.sizes.is_empty()) {
            Some(first) => merged[*first].sizes.extend(&warning.sizes),
            None => {
                if !warning.sizes.is_empty() {
                    sized.insert(warning.path, merged.len());
                }
                merged.push((*warning).clone());
            }
        }
    }
    for warning in &mut merged {
        warning.sizes.sort_unstable();
        warning.sizes.dedup();
    }
    merged.iter().filter_map(|warning| subject(run, warning)).collect()
}

/// `tcp (12 sizes)`, of what long trials take `tcp (1.43 [1.20, 1.71] times at 64 KiB)`; none where the warning names no path.
fn subject(run: &RunFile, warning: &Warning) -> Option<String> {
    let path = run.paths.iter().find(|p| Some(p.opened.path) == warning.path)?;
    let name = path.opened.name();
    if warning.code == "burst"
        && let Some(most) = measure::sustained::most_apart(&path.kept_up(&run.run.plan))
    {
        return Some(format!("{name} ({} at {})", most.times(), Bytes(most.size)));
    }
    Some(match warning.sizes.len() {
        0 => name.to_owned(),
        // The warning names the first of the sizes that are missing.
        1 if ["stopped-short", "nothing-arrives"].contains(&&*warning.code) => {
            format!("{name} (from {} up)", (run.run.plan.pattern.facts().size.brief)(warning.sizes[0]))
        }
        1 => format!("{name} (1 size)"),
        n => format!("{name} ({n} sizes)"),
    })
}

/// A text up to where its reason begins.
fn beginning(text: &str) -> String {
    text.split(['(', ';', ':']).next().unwrap_or(text).trim().to_owned()
}

/// Paths that a line names; of more it names [`FEWER`], and how many there are besides: a run with ten rates has ten paths.
const NAMED: usize = 4;
const FEWER: usize = 3;

impl Caution<'_> {
    /// `known to no better than 10%: tcp (12 sizes), unix (3 sizes)`; of many paths `tcp, unix, shm and 7 more`.
    pub fn what(&self) -> String {
        let cause = &self.cause;
        match &self.paths[..] {
            [] => cause.clone(),
            all if all.len() <= NAMED => format!("{cause}: {}", all.join(", ")),
            all => format!("{cause}: {} and {} more", all[..FEWER].join(", "), all.len() - FEWER),
        }
    }
}

/// [`cautions`] as lines of at most `width` columns, where words allow, with `more` below them: how to see the warnings whole. How a
/// run was cut off or failed comes first. An empty string if there is nothing to warn of.
pub fn grouped(run: &RunFile, width: usize, more: &str) -> String {
    let mut out = super::warnings::ends(run, width);
    let all = cautions(run);
    for caution in &all {
        let remedy = if caution.remedy.is_empty() { String::new() } else { format!(" ({})", caution.remedy) };
        paragraph("! ", &format!("{}{remedy}", caution.what()), width, &mut out);
    }
    if !all.is_empty() && !more.is_empty() {
        paragraph("  ", more, width, &mut out);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{MODELS, run_of};

    fn small() -> RunFile {
        run_of(&MODELS, &[1, 64, 1024, 12_288, 1 << 20], 5, 7)
    }

    fn warning(code: &str, path: Option<u32>, sizes: &[u64], text: &str) -> Warning {
        Warning { code: code.into(), path, sizes: sizes.to_vec(), text: text.into() }
    }

    #[test]
    fn causes_are_grouped_over_paths_and_ranked() {
        let mut run = small();
        run.run.plan.precise = true;
        run.warnings = vec![
            warning("noisy", Some(0), &[1, 2], "2 of 9 points"),
            warning("not-converged", Some(0), &[1], "1 of 9"),
            warning("noisy", Some(1), &[4], "1 of 9 points"),
            warning("steal", None, &[], "the hypervisor kept 40%"),
            warning("of-tomorrow", Some(1), &[], "the moon is full; look up"),
        ];
        let found = cautions(&run);
        let codes: Vec<&str> = found.iter().map(|c| c.code).collect();
        assert_eq!(codes, ["of-tomorrow", "steal", "noisy", "not-converged"]);
        let (first, second) = (run.paths[0].opened.name(), run.paths[1].opened.name());
        assert_eq!(found[2].what(), format!("known to no better than 10%: {first} (2 sizes), {second} (1 size)"));
        assert_eq!(found[0].what(), format!("the moon is full: {second}"));
        assert_eq!(found.iter().map(|c| c.warnings.len()).sum::<usize>(), run.warnings.len(), "none is lost");
        let text = grouped(&run, 100, "'pipegauge show a --warnings' has them whole");
        assert_eq!(text.lines().filter(|l| l.starts_with("! ")).count(), 4, "{text}");
        assert!(text.ends_with("  'pipegauge show a --warnings' has them whole\n"), "{text}");
    }

    #[test]
    fn the_line_of_one_cpu_has_every_remedy_of_the_whole_warning() {
        let mut run = small();
        run.warnings = vec![measure::judge::one_cpu(0)];
        let (line, whole) = (cautions(&run)[0].remedy, &run.warnings[0].text);
        for remedy in ["--pin A,B", "taskset", "mpirun", "mpiexec", "wait=yield", "openmpi", "mpich"] {
            assert!(line.contains(remedy) && whole.contains(remedy), "{remedy}: {line}");
        }
    }

    #[test]
    fn of_many_paths_a_line_names_a_few() {
        let what = |paths: usize| {
            let paths = (1..=paths).map(|n| format!("udp{n}")).collect();
            Caution { code: "noisy", cause: "noisy".into(), paths, remedy: "", warnings: Vec::new() }.what()
        };
        assert_eq!(what(4), "noisy: udp1, udp2, udp3, udp4");
        assert_eq!(what(10), "noisy: udp1, udp2, udp3 and 7 more");
    }

    #[test]
    fn a_path_that_several_warnings_of_one_cause_name_is_told_once() {
        let mut run = small();
        run.warnings = vec![
            warning("noisy", Some(0), &[1, 2], "2 of 9"),
            warning("noisy", Some(0), &[2, 64], "2 of 9"),
            warning("noisy", Some(1), &[4], "1 of 9"),
        ];
        let (first, second) = (run.paths[0].opened.name(), run.paths[1].opened.name());
        assert_eq!(cautions(&run)[0].paths, [format!("{first} (3 sizes)"), format!("{second} (1 size)")]);
    }

    #[test]
    fn sizes_that_are_left_out_are_told_by_the_first() {
        let mut run = small();
        run.warnings = vec![warning("stopped-short", Some(0), &[3072], "sizes from 3 KiB up are left out")];
        let name = run.paths[0].opened.name();
        assert_eq!(
            cautions(&run)[0].what(),
            format!("larger sizes take too long and are left out: {name} (from 3 KiB up)")
        );
    }

    #[test]
    fn what_long_trials_take_is_told_by_its_ratio_and_interval() {
        let mut run = run_of(&MODELS, &[1, 64, 1024, 12_288, 1 << 20], 12, 7);
        let path = &mut run.paths[0];
        let long = path.points[2].trials.iter().filter(|t| !t.warmup).take(6).map(|t| {
            let mut t = t.into_owned();
            t.report.repeats *= 1000;
            t.report.seconds *= 3000.0;
            t
        });
        path.sustained = long.collect();
        run.warnings = vec![warning("burst", Some(0), &[1024], "sustained is not burst: ...")];
        let said = cautions(&run)[0].what();
        let begins = format!("long trials take another time than short ones: {} (", run.paths[0].opened.name());
        let [ratio, low, high] = said
            .strip_prefix(&begins)
            .and_then(|rest| rest.strip_suffix("] times at 1 KiB)"))
            .map(|rest| rest.split([' ', '[', ',']).filter_map(|word| word.parse::<f64>().ok()).collect::<Vec<_>>())
            .and_then(|numbers| numbers.try_into().ok())
            .unwrap_or_else(|| panic!("{said}"));
        assert!(low < 3.0 && 3.0 < high && low <= ratio && ratio <= high, "{said}");
    }

    #[test]
    fn a_precision_that_nobody_asked_for_is_not_missed() {
        let mut run = small();
        run.warnings = vec![warning("not-converged", Some(0), &[1], "1 of 9")];
        run.run.plan.precise = false;
        assert_eq!(grouped(&run, 80, "more"), "");
        run.run.plan.precise = true;
        assert!(grouped(&run, 80, "more").starts_with("! less sure than --precision asks for: "));
    }

    #[test]
    fn how_a_run_ended_short_comes_first() {
        let mut run = small();
        run.warnings.clear();
        run.cut = Some("the last line is not whole".to_owned());
        assert_eq!(grouped(&run, 80, "more"), "! The file ends short: the last line is not whole\n");
    }
}
