//! The verdict a person can repeat, and the table behind it.

use model::{Comparison, Disturber, Estimate, Paired, Stretch};
use units::{RESOLVED, Seconds, Share, thousands};

use super::Named;
use crate::table::{Flush, Grid};
use crate::words::plain;

/// "B is 1.8 times faster than A from 64 KiB up, not sure to differ below."
pub fn verdict(named: &Named) -> String {
    let cpu: String = named.cpu.iter().map(|ratio| format!("\n{}", ratio.words())).collect();
    let note = named.note.as_ref().map_or(String::new(), |note| format!("\n{note}"));
    format!("{}{note}{}{}{cpu}", difference(named), one_cpu(named), machine(&named.comparison))
}

/// That both processes of one side shared a CPU, where those of the other did not: the first cause to think of, and part of what was
/// compared, whatever other programs took.
fn one_cpu(named: &Named) -> String {
    let name = match named.one_cpu {
        (true, false) => &named.first,
        (false, true) => &named.second,
        _ => return String::new(),
    };
    format!(
        "\nBoth processes of {} were pinned to one CPU, where each runs only while the other waits: a difference may be that of \
         two CPUs and one.",
        plain(name)
    )
}

/// Of separate runs too few to tell how far runs of one thing lie apart: what they saw, and no verdict, or one on a difference that hardly any
/// machine makes between two runs of one thing.
fn alone(named: &Named) -> String {
    let c = &named.comparison;
    let (a, b) = (plain(&named.first), plain(&named.second));
    let whole = of_time(c.whole.value, &interval(c.whole));
    let known = match c.between {
        None => "nothing tells how far runs of one thing lie apart on the machine".to_owned(),
        Some(b) => format!("how far runs of one thing lie apart on the machine is known from only {} runs", b.runs),
    };
    if named.judges(c.whole) {
        return format!(
            "{b} is {}: over all sizes it takes {whole} of {a}.\nSingle sizes and smaller differences have no verdict: {known}, but \
             hardly ever by a factor of four.",
            how(c.whole.value)
        );
    }
    format!(
        "No verdict: {known}. These runs alone tell that {b} took {whole} of {a} over all sizes. For a verdict, measure both in one \
         run, where they take turns (run --vs), or each at least three times.",
    )
}

/// A shift of the machine's calibration below this share is not worth a line.
const WORTH_A_WORD: f64 = 0.02;

/// What the machine itself did, where it did something.
fn machine(c: &Comparison) -> String {
    let told = c.machine.iter().filter(|s| s.ratio.ln().abs() > WORTH_A_WORD);
    let mut text = String::new();
    if let Some(d) = c.disturbed.filter(|d| !d.undecided) {
        text = format!(
            "\n{} {:.0}% of a CPU on the first side and {:.0}% on the second, which may hide a difference.",
            capital(took(d.by)),
            d.first * 100.0,
            d.second * 100.0
        );
    }
    let parts: Vec<String> = told.map(|s| format!("{} {}", plain(&s.what), percent(s.ratio))).collect();
    if parts.is_empty() {
        return text;
    }
    text + &format!(
        "\nThe machine itself ran at another speed: {} of the time it took on the first side. What that explains is not \
         counted as a difference; paths that are measured in one run, in turns, share the speed.",
        parts.join(", ")
    )
}

/// Who took of the CPUs, and how it is told.
fn took(by: Disturber) -> &'static str {
    match by {
        Disturber::Programs => "other programs took",
        Disturber::Hypervisor => "the hypervisor kept (steal)",
        Disturber::Quota => "a CPU quota stopped the measurement for",
    }
}

/// Where to measure again, so that it does not happen.
fn remedy(by: Disturber) -> &'static str {
    match by {
        Disturber::Programs => "Measure again on a quiet machine, or both in one run, in turns.",
        Disturber::Hypervisor => {
            "Nothing on this machine stops that: measure both in one run, in turns, or on another machine."
        }
        Disturber::Quota => "Allow two CPUs and more (docker run --cpus, CPUQuota=), and measure again.",
    }
}

fn capital(text: &str) -> String {
    let mut all = text.chars();
    all.next().map_or(String::new(), |first| first.to_uppercase().chain(all).collect())
}

fn difference(named: &Named) -> String {
    let c = &named.comparison;
    if let Some(d) = c.disturbed.filter(|d| d.undecided) {
        let taken = |share: f64| format!("{:.0}%", share * 100.0);
        return format!(
            "No verdict: {} {} of a CPU while {} was measured, and {} while {} was. What differs below may come of that. {}",
            took(d.by),
            taken(d.first),
            plain(&named.first),
            taken(d.second),
            plain(&named.second),
            remedy(d.by)
        );
    }
    let (a, b) = (plain(&named.first), plain(&named.second));
    let whole = of_time(c.whole.value, &interval(c.whole));
    if let Some(paired) = c.paired {
        return in_turns(named, paired);
    }
    if named.separate && c.few_rounds.is_none() && !c.between.is_some_and(|b| b.sure()) {
        return alone(named);
    }
    if let Some(few) = c.few_rounds {
        return format!(
            "No verdict: {b} took {} of {a}{}; {} of a side {} too few for an interval (four are the fewest): measure longer (--budget).",
            of_time(c.whole.value, &ratio(c.whole.value)),
            seen(c),
            rounds(few),
            if few == 1 { "is" } else { "are" },
        );
    }
    let clear: Vec<&Stretch> = c.stretches.iter().filter(|s| s.differs).collect();
    if clear.is_empty() {
        let few = c.sizes.iter().filter(|s| s.significant).count();
        return if c.differs_as_whole() {
            format!(
                "{b} took {} of {a} over all sizes{}; no stretch of sizes is sure to differ by itself.",
                whole,
                held(c)
            )
        } else if vague(c.whole) {
            format!(
                "No verdict: over all sizes {b} took {} of {a}, which tells too little{}; measure longer (--budget) or \
                 more often.",
                whole,
                lone(few)
            )
        } else {
            format!(
                "No difference found between {a} and {b}: over all sizes {b} takes {}; one below {} was too small to be \
                 found{}.",
                whole,
                needed(c.whole),
                lone(few)
            )
        };
    }
    if c.one_factor().is_some() {
        return format!(
            "{b} is {}: over all sizes it takes {} of {a}{}.{}",
            how(c.whole.value),
            whole,
            held(c),
            by_itself(named)
        );
    }
    let mut text = format!("{b} is {} (against {a}).", parts(named));
    if !matches!(c.stretches[..], [_]) {
        text.push_str(&format!(" Over all sizes together it takes {}.", whole));
    }
    for (from, to) in &c.crossovers {
        let (from, to) = (named.size(*from), named.size(*to));
        let unit = if named.hint { " subintervals" } else { "" };
        text.push_str(&format!("\nThe faster side changes between {from} and {to}{unit}."));
    }
    text
}

/// That the sizes tell of no other factor than that of all together; nothing where some do, or where there is one size.
fn held(c: &Comparison) -> String {
    match c.one_factor() {
        Some((hold, all)) if all > 1 => format!(", and the intervals of {hold} of {all} sizes hold that factor"),
        _ => String::new(),
    }
}

/// Where sizes are sure to differ without the others' help, after a verdict on all of them: a line of its own. A stretch says nothing
/// against the rest, whose own intervals are wider than that of all sizes together.
fn by_itself(named: &Named) -> String {
    let c = &named.comparison;
    let clear: Vec<String> =
        (c.stretches.iter().filter(|s| s.differs)).map(|s| format!("{} {}", how(s.ratio), place(s, named))).collect();
    let all = c.sizes.iter().all(|s| s.significant) && c.stretches.len() == 1 && c.stretches[0].differs;
    if c.sizes.len() == 1 || all {
        return String::new();
    }
    if clear.is_empty() {
        return "\nNo stretch of sizes is sure to differ by itself.".to_owned();
    }
    format!(
        "\nTaken by themselves, only these sizes are sure to differ: {}. That the others do not, it does not say: a single size is \
         known less well than all together.",
        clear.join(", ")
    )
}

/// What the rounds saw where they tell no interval; begins with a comma. Nothing where no size has rounds of both sides.
fn seen(c: &Comparison) -> String {
    let Some(seen) = c.seen.filter(|s| s.sizes > 0) else { return String::new() };
    let sizes = |n: usize| match (n, seen.sizes) {
        (1, 1) => String::new(),
        (n, all) if n == all => format!(" at all {all} sizes"),
        (n, all) => format!(" at {n} of {all} sizes"),
    };
    match (seen.slower, seen.faster) {
        (0, 0) => ", in some rounds longer and in others not".to_owned(),
        (slower, 0) => format!(", longer in every round{}", sizes(slower)),
        (0, faster) => format!(", less in every round{}", sizes(faster)),
        (slower, faster) => {
            format!(", longer in every round{} and less in every round{}", sizes(slower), sizes(faster))
        }
    }
}

fn rounds(n: u32) -> String {
    if n == 1 { "1 round".to_owned() } else { format!("{n} rounds") }
}

/// Where the second side differs, and that it is not sure to elsewhere.
fn parts(named: &Named) -> String {
    let c = &named.comparison;
    let clear = c.stretches.iter().filter(|s| s.differs);
    let parts: Vec<String> = clear.map(|s| format!("{} {}", how(s.ratio), place(s, named))).collect();
    // A difference that no size is sure to have may still be there.
    let not = "not sure to differ";
    let rest = match c.stretches.iter().filter(|s| !s.differs).collect::<Vec<_>>()[..] {
        [] => String::new(),
        [s] if s.from == c.sizes[0].size => format!(", {not} below"),
        [s] if s.to == c.sizes[c.sizes.len() - 1].size => format!(", {not} above"),
        _ => format!(", {not} elsewhere"),
    };
    format!("{}{rest}", parts.join(", "))
}

/// The verdict on two sides of one run: the curves as wholes first, then the sizes, then what could have been seen.
fn in_turns(named: &Named, paired: Paired) -> String {
    let c = &named.comparison;
    let (a, b) = (plain(&named.first), plain(&named.second));
    let whole = of_time(c.whole.value, &interval(c.whole));
    let Some(finds) = paired.finds else {
        if paired.rounds == 0 {
            return "No verdict: no round visited a size on both sides, and the first looks at each are no comparison; measure longer \
                    (--budget), or fewer sizes (--to)."
                .to_owned();
        }
        let why = match c.few_rounds {
            Some(1) => "1 round of each side is too few for an interval (four are the fewest)".to_owned(),
            Some(few) => format!("{} of each side are too few for an interval (four are the fewest)", rounds(few)),
            None => format!("it changed too slowly over {} of each side for an interval", rounds(paired.rounds)),
        };
        return format!(
            "No verdict: {b} took {} of {a}{}; {why}: measure longer (--budget).",
            of_time(c.whole.value, &ratio(c.whole.value)),
            seen(c)
        );
    };
    let stretches = c.stretches.iter().any(|s| s.differs);
    if c.sizes.iter().all(|s| s.ratio.high.is_infinite()) {
        return format!(
            "No verdict: {b} took {whole} of {a}, and none of the {} sizes was visited by enough rounds of both for an interval; \
             measure longer (--budget), or fewer sizes (--to).",
            c.sizes.len()
        );
    }
    let (over, alone) = match &c.sizes[..] {
        [one] => (format!("at {}", named.size(one.size)), true),
        all => match all.iter().filter(|s| s.ratio.high.is_finite()).count() {
            told if told < all.len() => (format!("over the {told} of {} sizes with an interval", all.len()), false),
            _ => ("over all sizes".to_owned(), false),
        },
    };
    let mut text = match (paired.differs, stretches) {
        (true, _) => format!("{b} is {}: {over} it takes {whole} of {a}{}.", how(c.whole.value), held(c)),
        (false, true) => format!("{b} differs from {a} at some sizes; {over} it takes {whole}."),
        (false, false) if vague(c.whole) => {
            format!("No verdict: {over} {b} took {whole} of {a}, which tells too little; measure longer (--budget).")
        }
        (false, false) => format!("No difference found between {a} and {b}: {over} {b} takes {whole}."),
    };
    if paired.differs && (c.one_factor().is_some() || !stretches) {
        text.push_str(&by_itself(named));
    } else if stretches && !alone {
        text.push_str(&format!("\nIt is {}.", parts(named)));
    } else if !paired.differs {
        let share = |share: f64| format!("{:.1}%", share * 100.0);
        text.push_str(&format!(
            "\n{} rounds in turns find a difference of {} {over}{}, four times in five.",
            paired.rounds,
            share(finds),
            paired
                .finds_at_a_size
                .filter(|_| !alone)
                .map_or(String::new(), |f| format!(", and of {} at a single size", share(f)))
        ));
    }
    text.push_str(&untold(named));
    if paired.differs || stretches {
        text.push_str(&format!("\nBoth took turns, and {} rounds of each were compared in pairs.", paired.rounds));
    }
    text
}

/// The sizes that too few rounds visited for an interval, and what these saw: no part of the verdict. Nothing where each has one.
fn untold(named: &Named) -> String {
    let untold: Vec<_> = named.comparison.sizes.iter().filter(|s| !s.ratio.high.is_finite()).collect();
    let (Some(first), Some(last)) = (untold.first(), untold.last()) else { return String::new() };
    let ratios = || untold.iter().map(|s| s.ratio.value);
    let (least, most) = (ratios().fold(f64::INFINITY, f64::min), ratios().fold(0.0, f64::max));
    let (from, to) = (named.size(first.size), named.size(last.size));
    let (which, saw) = match untold.len() {
        1 => (from, ratio(least)),
        n => (format!("{n} sizes between {from} and {to}"), format!("{} to {}", ratio(least), ratio(most))),
    };
    format!(
        "\nOf {which} nothing is told, as too few rounds visited them; what these saw is {saw} of the time. --sizes or a longer --budget \
         tells more."
    )
}

/// Ends of a ratio's interval that lie so far apart tell too little for a verdict.
const VAGUE: f64 = 1.5;

/// Whether an interval of a ratio holds so much that "no difference found" would sound as if one had been looked for.
pub(super) fn vague(e: Estimate) -> bool {
    !(e.low > 0.0 && e.high.is_finite() && e.high < VAGUE * e.low)
}

/// The least difference that could have been found, where none was: half of the interval's width, about 1.
fn needed(e: Estimate) -> String {
    percent((e.high / e.low).sqrt() - 1.0)
}

/// Sizes that stand out by themselves, where no stretch does; begins with a semicolon.
fn lone(n: usize) -> String {
    match n {
        0 => String::new(),
        1 => "; 1 lone size stands out below (*), as levels of single connections do".to_owned(),
        n => format!("; {n} lone sizes stand out below (*), as levels of single connections do"),
    }
}

/// Whether an interval tells a reader anything: `117.9% [3.1%, 4231.6%]` does not.
pub(super) fn bounded(e: Estimate) -> bool {
    e.high.is_finite() && e.low > 0.0 && e.high <= RESOLVED * e.low
}

/// A ratio from which on percentages hide its size: `2001346%`.
const MANY: f64 = 10.0;

fn percent(v: f64) -> String {
    if v < 1e-3 { Share(v).to_string() } else { format!("{:.1}%", v * 100.0) }
}

fn times(v: f64) -> String {
    match v {
        v if v < 100.0 => format!("{v:.1}"),
        v if v < 1e15 => thousands(v.round() as u64),
        v => format!("{v:.2e}"),
    }
}

/// A ratio: as a percentage, and as a number of times where it is large.
fn ratio(v: f64) -> String {
    if v < MANY { percent(v) } else { format!("{} times", times(v)) }
}

/// A ratio with its interval: `103.0% [101.2%, 104.8%]`, `205 [198, 212] times`.
pub(super) fn interval(e: Estimate) -> String {
    let (number, unit): (fn(f64) -> String, _) = if e.value < MANY { (percent, "") } else { (times, " times") };
    if bounded(e) {
        format!("{} [{}, {}]{unit}", number(e.value), number(e.low), number(e.high))
    } else {
        format!("{} (no interval)", ratio(e.value))
    }
}

/// A ratio of times as shown, for a sentence: `103.0% [101.2%, 104.8%] of the time`, `205 [198, 212] times the time`.
fn of_time(value: f64, shown: &str) -> String {
    format!("{shown}{} the time", if value < MANY { " of" } else { "" })
}

/// A ratio of times in words.
fn how(ratio: f64) -> String {
    let (factor, word) = if ratio < 1.0 { (1.0 / ratio, "faster") } else { (ratio, "slower") };
    if factor < 1.2 { format!("{:.1}% {word}", (factor - 1.0) * 100.0) } else { format!("{factor:.2} times {word}") }
}

fn place(s: &Stretch, named: &Named) -> String {
    let c = &named.comparison;
    let unit = if named.hint { " subintervals" } else { "" };
    let (from, to) = (named.size(s.from), named.size(s.to));
    let (first, last) = (s.from == c.sizes[0].size, s.to == c.sizes[c.sizes.len() - 1].size);
    match (first, last) {
        _ if s.from == s.to && c.sizes.len() > 1 => format!("at {from}{unit}"),
        (true, true) => {
            match c.sizes.iter().filter(|at| at.significant && (at.ratio.value < 1.0) == (s.ratio < 1.0)).count() {
                n if n < c.sizes.len() => format!("at {n} of {} sizes", c.sizes.len()),
                _ => "at all sizes".to_owned(),
            }
        }
        (true, false) => format!("up to {to}{unit}"),
        (false, true) => format!("from {from}{unit} up"),
        (false, false) => format!("from {from} to {to}{unit}"),
    }
}

/// Every size: both times, their ratio with its interval, the effect, and whether it is significant. Where no size has an
/// interval, which the verdict explains, the times and their ratios alone.
pub fn table(named: &Named) -> String {
    use Flush::{Left, Right};
    let judged = named.comparison.sizes.iter().any(|s| bounded(s.ratio));
    let unmet = named.comparison.paired.is_some_and(|p| p.rounds == 0);
    let of = ratio_of(&named.comparison);
    let judged_of = format!("{of} [95%]");
    let names = (plain(&named.first), plain(&named.second));
    // A long name is that of no column of times.
    let short = names.0.chars().count().max(names.1.chars().count()) <= LONGEST_TITLE;
    let (first, second) = if short { (&*names.0, &*names.1) } else { ("A", "B") };
    let mut grid = Grid::new(&[
        (named.sizes(), Right),
        (first, Right),
        (second, Right),
        (if judged { &judged_of } else { of }, Left),
        ("effect", Right),
        ("p", Right),
        ("", Left),
    ]);
    for s in &named.comparison.sizes {
        let times = [
            named.size(s.size),
            time(s.first, s.first_interpolated),
            time(s.second, s.second_interpolated),
            match judged {
                true => interval(s.ratio),
                // Only first looks: a ratio of these is of two moments.
                false if unmet => "-".to_owned(),
                false => ratio(s.ratio.value),
            },
        ];
        let judgement = [
            format!("{:+.1}", s.effect),
            // Without an interval nothing tells how probable a difference is.
            if !bounded(s.ratio) {
                "-".to_owned()
            } else if s.probability < 0.001 {
                "<0.001".to_owned()
            } else {
                format!("{:.3}", s.probability)
            },
            if s.significant { "*".to_owned() } else { String::new() },
        ];
        grid.row(times.into_iter().chain(judgement.into_iter().filter(|_| judged)));
    }
    let mut text = String::new();
    if !short {
        text.push_str(&format!("A: {}\nB: {}\n", names.0, names.1));
    }
    text.push_str(&grid.text());
    if judged {
        text.push_str(
            "[95%]: of each size alone. Effect: the difference in units of one round's noise. p: of such a difference at any of the \
             sizes, corrected for their number (Holm 1979), so that it may exceed 5% where the interval leaves out 100%; * below 5%.\n",
        );
    }
    text.push_str(&about(&named.comparison));
    text
}

/// Most characters of a column's title: with two of them a table still fits a terminal.
const LONGEST_TITLE: usize = 12;

/// What the ratios of the sizes are made of: of sides in turns they are no quotients of the times beside them.
pub(super) fn ratio_of(c: &Comparison) -> &'static str {
    if in_pairs(c) { "ratio in turns" } else { "ratio of times" }
}

/// Whether ratios were taken round by round.
fn in_pairs(c: &Comparison) -> bool {
    c.paired.is_some_and(|p| p.rounds > 0)
}

/// A time; marked where it was not measured.
pub(super) fn time(seconds: f64, interpolated: bool) -> String {
    format!("{}{}", if interpolated { "~" } else { "" }, Seconds(seconds))
}

/// What a reader must know of the sizes: which were interpolated, how many are not there. Empty where all were measured by all.
pub(super) fn about(c: &Comparison) -> String {
    let mut text = String::new();
    if in_pairs(c) {
        text.push_str(
            "Ratio in turns: the median over rounds of both times in one round, so that what the machine did to both cancels; the \
             medians beside it are each side's own, and divide to another ratio.\n",
        );
    }
    let guessed = c.sizes.iter().filter(|s| s.first_interpolated || s.second_interpolated).count();
    if guessed > 0 {
        text.push_str(&format!(
            "~: not measured at this size, but read off between two that were ({guessed} of {} sizes); the interval holds what \
             may lie hidden between them.\n",
            c.sizes.len()
        ));
    }
    if c.left_out > 0 {
        text.push_str(&format!("{} sizes that only one side has are left out.\n", c.left_out));
    }
    if c.unvisited > 0 {
        text.push_str(&format!(
            "{} that no round visited on both sides {} left out (--budget gives more time).\n",
            if c.unvisited == 1 { "1 size".to_owned() } else { format!("{} sizes", c.unvisited) },
            if c.unvisited == 1 { "is" } else { "are" }
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Compared;

    fn named(stretches: Vec<Stretch>) -> Named {
        let one = |i: u32| Compared {
            size: 1 << i,
            first: 1e-6,
            second: 1e-6,
            ratio: Estimate { value: 1.0, low: 0.9, high: 1.1 },
            effect: 0.0,
            probability: 1.0,
            significant: false,
            first_interpolated: false,
            second_interpolated: i == 3,
        };
        let comparison = Comparison {
            sizes: (0..21).map(one).collect(),
            left_out: 2,
            unvisited: 0,
            machine: Vec::new(),
            disturbed: None,
            between: None,
            few_rounds: None,
            seen: None,
            paired: None,
            whole: Estimate { value: 1.01, low: 0.97, high: 1.05 },
            throughput: None,
            stretches,
            crossovers: Vec::new(),
        };
        Named {
            first: "a".into(),
            second: "b\u{1b}[2J".into(),
            runs: (1, 1),
            hint: false,
            separate: false,
            one_cpu: (false, false),
            comparison,
            note: None,
            cpu: Vec::new(),
            differences: Vec::new(),
            gates: Vec::new(),
        }
    }

    fn stretch(from: u64, to: u64, ratio: f64, differs: bool) -> Stretch {
        Stretch { from, to, ratio, differs }
    }

    #[test]
    fn a_machine_at_another_speed_is_told_and_a_hardly_other_one_is_not() {
        let mut n = named(vec![stretch(1, 1 << 20, 1.0, false)]);
        let shift = |ratio| model::Shift { what: "wake-up round trip".into(), ratio, noise: 0.01 };
        n.comparison.machine = vec![shift(1.01)];
        assert!(!verdict(&n).contains("machine"), "{}", verdict(&n));
        n.comparison.machine = vec![shift(0.5)];
        assert!(verdict(&n).contains("another speed: wake-up round trip 50.0% of the time"), "{}", verdict(&n));
    }

    #[test]
    fn separate_runs_of_an_unknown_machine_have_no_verdict_and_the_first_line_says_why() {
        let mut n = named(vec![stretch(1, 1 << 20, 1.5, true)]);
        assert!(!verdict(&n).contains("alone"), "paths of one run: {}", verdict(&n));
        n.separate = true;
        n.comparison.whole = Estimate { value: 1.5, low: 1.45, high: 1.55 };
        let said = verdict(&n);
        let first = said.lines().next().unwrap();
        assert!(first.starts_with("No verdict: nothing tells") && first.contains("in one run"), "{said}");
        assert!(first.contains("took 150.0% [145.0%, 155.0%] of the time of a") && !said.contains("slower"), "{said}");
        let between = |degrees, runs| Some(model::BetweenRuns { spread: 0.1, degrees, runs });
        // Two of one side and three of the other.
        n.comparison.between = between(3.0, 5);
        let said = verdict(&n);
        let known = "No verdict: how far runs of one thing lie apart on the machine is known from only 5 runs.";
        assert!(said.starts_with(known) && !n.judged(), "{said}");
        n.comparison.between = between(4.0, 5);
        assert!(n.judged() && verdict(&n).contains("1.50 times slower"), "{}", verdict(&n));
    }

    #[test]
    fn what_lies_further_apart_than_runs_of_one_thing_ever_do_has_a_verdict_without_more_runs() {
        let mut n = named(vec![stretch(1, 64, 1.2, true), stretch(128, 1 << 20, 8.0, true)]);
        n.separate = true;
        n.comparison.whole = Estimate { value: 6.0, low: 5.0, high: 7.0 };
        let said = verdict(&n);
        let first = "is 6.00 times slower: over all sizes it takes 600.0% [500.0%, 700.0%] of the time of a.\n";
        assert!(said.starts_with('b') && said.contains(first), "{said}");
        assert!(n.judged() && said.contains("Single sizes and smaller differences have no verdict"), "{said}");
        assert!(!n.judges(Estimate { value: 1.2, low: 1.1, high: 1.3 }));
        assert!(n.judges(Estimate { value: 0.1, low: 0.05, high: 0.2 }));
        n.comparison.whole = Estimate { value: 6.0, low: 3.9, high: 9.0 };
        assert!(!n.judged() && verdict(&n).starts_with("No verdict: nothing tells"), "{}", verdict(&n));
    }

    #[test]
    fn a_limit_that_was_passed_where_no_difference_is_found_says_what_it_asks() {
        let none = named(vec![stretch(1, 1 << 20, 1.0, false)]);
        assert!(verdict(&none).contains("No difference found"), "{}", verdict(&none));
        assert!(none.beside_a_limit().contains("asks about that figure alone"));
        assert_eq!(named(vec![stretch(1, 1 << 20, 1.5, true)]).beside_a_limit(), "");
    }

    #[test]
    fn no_difference_is_said_only_where_the_interval_holds_it_and_tells_something() {
        let mut n = named(vec![stretch(1, 1 << 20, 1.0, false)]);
        n.comparison.whole = Estimate { value: 1.028, low: 1.02, high: 1.036 };
        assert!(!verdict(&n).contains("No difference") && verdict(&n).contains("102.8%"), "{}", verdict(&n));
        n.comparison.whole = Estimate { value: 1.4, low: 0.008, high: 50.6 };
        assert!(verdict(&n).contains("No verdict: over all sizes"), "{}", verdict(&n));
        // A factor of two either way, and of sides in turns.
        for (low, high) in [(0.484, 1.919), (0.593, 2.304), (0.951, 1.44)] {
            n.comparison.whole = Estimate { value: 0.98, low, high };
            n.comparison.paired = None;
            assert!(verdict(&n).starts_with("No verdict: over all sizes"), "{}", verdict(&n));
            n.comparison.paired =
                Some(Paired { rounds: 26, differs: false, finds: Some(0.5), finds_at_a_size: Some(0.9) });
            let said = verdict(&n);
            assert!(
                said.starts_with("No verdict: over all sizes") && said.contains("find a difference of 50.0%"),
                "{said}"
            );
        }
        n.comparison.paired = None;
        n.comparison.whole = Estimate { value: 1.01, low: 0.97, high: 1.05 };
        let said = verdict(&n);
        assert!(
            said.contains("No difference found") && said.contains("one below 4.0% was too small to be found"),
            "{said}"
        );
        // A sure difference stays one, however wide its interval.
        n.comparison.whole = Estimate { value: 2.0, low: 1.4, high: 2.8 };
        assert!(!verdict(&n).contains("No verdict"), "{}", verdict(&n));
    }

    #[test]
    fn sizes_that_no_round_visited_have_no_ratio() {
        let mut n = named(vec![stretch(1, 1 << 20, 1.0, false)]);
        n.comparison.unvisited = 3;
        assert!(table(&n).contains("3 sizes that no round visited on both sides are left out"), "{}", table(&n));
        n.comparison.unvisited = 0;
        n.comparison.paired = Some(Paired { rounds: 0, differs: false, finds: None, finds_at_a_size: None });
        n.comparison.few_rounds = Some(0);
        n.comparison.sizes.iter_mut().for_each(|s| s.ratio.high = f64::INFINITY);
        let (shown, said) = (table(&n), verdict(&n));
        assert!(!shown.contains('%') && shown.lines().nth(1).unwrap().ends_with('-'), "{shown}");
        assert!(said.starts_with("No verdict: no round visited") && !said.contains('%'), "{said}");
    }

    #[test]
    fn sides_in_turns_are_said_to_be_compared_over_the_sizes_that_have_intervals() {
        let mut n = named(vec![stretch(1, 1 << 20, 1.0, false)]);
        n.comparison.paired = Some(Paired { rounds: 26, differs: false, finds: Some(0.05), finds_at_a_size: None });
        assert!(verdict(&n).contains("over all sizes b"), "{}", verdict(&n));
        n.comparison.sizes[20].ratio = Estimate { value: 0.2, low: 0.0, high: f64::INFINITY };
        let said = verdict(&n);
        assert!(said.contains("over the 20 of 21 sizes with an interval b"), "{said}");
        assert!(said.contains("Of 1 MiB nothing is told") && said.contains("saw is 20.0% of the time"), "{said}");
        n.comparison.sizes[19].ratio = Estimate { value: 7.99, low: 0.0, high: f64::INFINITY };
        let said = verdict(&n);
        assert!(
            said.contains("Of 2 sizes between 512 KiB and 1 MiB nothing is told")
                && said.contains("saw is 20.0% to 799.0% of"),
            "{said}"
        );
    }

    #[test]
    fn too_few_rounds_have_no_verdict_and_no_interval() {
        let mut n = named(vec![stretch(1, 1 << 20, 1.0, false)]);
        (n.comparison.few_rounds, n.comparison.whole) =
            (Some(1), Estimate { value: 0.993, low: 0.0, high: f64::INFINITY });
        let said = verdict(&n);
        let want = "took 99.3% of the time of a; 1 round of a side is too few for an interval";
        assert!(said.starts_with("No verdict: b") && said.contains(want) && said.contains("--budget"), "{said}");
        // What lies far beyond any noise is told, though nothing tells how sure it is.
        (n.comparison.few_rounds, n.comparison.whole.value) = (Some(2), 12.0);
        for (slower, faster, want) in [
            (
                21,
                0,
                "took 12.0 times the time of a, longer in every round at all 21 sizes; 2 rounds of a side are too few",
            ),
            (18, 2, "of a, longer in every round at 18 of 21 sizes and less in every round at 2 of 21 sizes; 2 rounds"),
            (0, 20, "of a, less in every round at 20 of 21 sizes; 2 rounds"),
            (0, 0, "of a, in some rounds longer and in others not; 2 rounds"),
        ] {
            n.comparison.seen = Some(model::Seen { slower, faster, sizes: 21 });
            assert!(verdict(&n).contains(want), "{}", verdict(&n));
        }
        n.comparison.seen = Some(model::Seen { slower: 1, faster: 0, sizes: 1 });
        assert!(verdict(&n).contains("of a, longer in every round; 2 rounds"), "{}", verdict(&n));
        n.separate = true;
        assert!(verdict(&n).starts_with("No verdict"), "{}", verdict(&n));
    }

    #[test]
    fn where_no_size_has_an_interval_the_table_shows_times_and_ratios_alone() {
        let mut n = named(vec![stretch(1, 1 << 20, 1.0, false)]);
        assert!(table(&n).contains("ratio of times [95%]") && table(&n).contains("Holm"), "{}", table(&n));
        n.comparison.sizes[1].ratio.high = f64::INFINITY;
        assert!(table(&n).contains("100.0% (no interval)"), "{}", table(&n));
        n.comparison.sizes.iter_mut().for_each(|s| s.ratio.high = f64::INFINITY);
        let shown = table(&n);
        assert!(shown.lines().next().is_some_and(|head| head.ends_with("ratio of times")), "{shown}");
        assert!(shown.lines().nth(1).is_some_and(|row| row.ends_with("100.0%")), "{shown}");
        assert!(!shown.contains("no interval") && !shown.contains("Holm"), "{shown}");
        let turns = Paired { rounds: 2, differs: false, finds: None, finds_at_a_size: None };
        (n.comparison.few_rounds, n.comparison.paired) = (Some(2), Some(turns));
        n.comparison.whole.high = f64::INFINITY;
        let said = verdict(&n);
        let want = "took 101.0% of the time of a; 2 rounds of each side are too few for an interval";
        assert!(said.contains(want) && !said.contains("no interval"), "{said}");
        n.comparison.few_rounds = None;
        n.comparison.seen = Some(model::Seen { slower: 21, faster: 0, sizes: 21 });
        let said = verdict(&n);
        assert!(said.contains("longer in every round at all 21 sizes; it changed too slowly over 2 rounds"), "{said}");
    }

    #[test]
    fn two_processes_on_one_cpu_are_named_as_a_cause_where_only_one_side_has_them() {
        let mut n = named(vec![stretch(1, 1 << 20, 9.0, true)]);
        for (one_cpu, want) in
            [((false, true), "processes of b\u{fffd}[2J were"), ((true, false), "processes of a were")]
        {
            n.one_cpu = one_cpu;
            let said = verdict(&n);
            assert!(
                said.starts_with("b\u{fffd}[2J is 9.00 times slower") && said.contains(want),
                "the verdict stands: {said}"
            );
        }
        for alike in [(false, false), (true, true)] {
            n.one_cpu = alike;
            assert!(!verdict(&n).contains("one CPU"), "{}", verdict(&n));
        }
    }

    #[test]
    fn a_disturbed_side_gets_no_verdict() {
        let mut n = named(vec![stretch(1, 1 << 20, 2.0, false)]);
        n.comparison.disturbed =
            Some(model::Disturbed { by: Disturber::Programs, first: 0.013, second: 1.1, undecided: true });
        let said = verdict(&n);
        assert!(
            said.starts_with("No verdict: other programs took 1% of a CPU while a was measured, and 110% while"),
            "{said}"
        );
        n.comparison.disturbed =
            Some(model::Disturbed { by: Disturber::Hypervisor, first: 0.0, second: 0.95, undecided: true });
        let said = verdict(&n);
        assert!(said.contains("the hypervisor kept (steal) 0% of a CPU") && !said.contains("programs"), "{said}");
    }

    #[test]
    fn the_verdict_is_one_that_can_be_repeated() {
        let said = verdict(&named(vec![stretch(1, 32_768, 1.0, false), stretch(65_536, 1 << 20, 1.0 / 1.8, true)]));
        assert!(said.contains("is 1.80 times faster from 64 KiB up, not sure to differ below (against a)."), "{said}");
        let mut n = named(vec![stretch(1, 1 << 20, 1.05, true)]);
        n.comparison.sizes.iter_mut().for_each(|s| (s.significant, s.ratio.value) = (true, 1.05));
        assert!(verdict(&n).contains("is 5.0% slower at all sizes (against a)."), "{}", verdict(&n));
        n.comparison.sizes[7].significant = false;
        assert!(verdict(&n).contains("is 5.0% slower at 20 of 21 sizes (against a)."), "{}", verdict(&n));
        n.comparison.stretches = vec![stretch(1, 1, 1.05, true), stretch(2, 1 << 20, 1.0, false)];
        assert!(verdict(&n).contains("is 5.0% slower at 1 B, not sure to differ above"), "{}", verdict(&n));
        let said = verdict(&named(vec![stretch(1, 1 << 20, 1.0, false)]));
        assert!(
            said.contains("No difference found between a and b\u{fffd}[2J: over all sizes ")
                && said.contains(" takes 101.0% [97.0%, 105.0%] of the time"),
            "{said}"
        );
    }

    #[test]
    fn a_large_ratio_is_a_number_of_times_and_a_small_one_keeps_its_digits() {
        let mut n = named(vec![stretch(1, 1 << 20, 20_013.46, true)]);
        n.comparison.whole = Estimate { value: 20_013.46, low: 19_000.0, high: 21_000.0 };
        n.comparison.sizes.iter_mut().for_each(|s| {
            (s.significant, s.ratio) = (true, Estimate { value: 205.0, low: 198.2, high: 212.0 });
        });
        let (said, shown) = (verdict(&n), table(&n));
        assert!(!said.contains("2001346") && !shown.contains("20500"), "{said}\n{shown}");
        assert!(shown.contains("205 [198, 212] times"), "{shown}");
        assert_eq!(of_time(20_013.46, &interval(n.comparison.whole)), "20,013 [19,000, 21,000] times the time");
        assert_eq!(ratio(0.000_049_97), "0.0050%");
    }

    #[test]
    fn one_factor_of_all_sizes_is_said_first_and_a_stretch_speaks_for_no_other_size() {
        let mut n = named(vec![
            stretch(1, 128, 1.0, false),
            stretch(256, 1024, 1.041, true),
            stretch(2048, 1 << 20, 1.0, false),
        ]);
        n.comparison.whole = Estimate { value: 1.03, low: 1.012, high: 1.048 };
        let said = verdict(&n);
        let first = said.lines().next().unwrap();
        assert!(
            first.contains("is 3.0% slower: over all sizes it takes 103.0% [101.2%, 104.8%] of the time of a"),
            "{said}"
        );
        assert!(first.ends_with("the intervals of 21 of 21 sizes hold that factor."), "{said}");
        assert!(
            said.contains(
                "\nTaken by themselves, only these sizes are sure to differ: 4.1% slower from 256 B to 1 KiB."
            ),
            "{said}"
        );
        assert!(
            said.contains("That the others do not, it does not say") && !said.contains("not sure to differ"),
            "{said}"
        );
        // The same of sides in turns.
        n.comparison.paired = Some(Paired { rounds: 30, differs: true, finds: Some(0.012), finds_at_a_size: None });
        assert!(verdict(&n).contains("\nTaken by themselves") && !verdict(&n).contains("\nIt is"), "{}", verdict(&n));
        // Sizes that hold another factor, and stretches that go the other way, are no one factor.
        n.comparison.paired = None;
        let one = n.clone();
        n.comparison.sizes[..3].iter_mut().for_each(|s| s.ratio = Estimate { value: 1.8, low: 1.7, high: 1.9 });
        let said = verdict(&n);
        assert!(
            said.contains("is 4.1% slower from 256 B") && said.contains("Over all sizes together it takes 103.0%"),
            "{said}"
        );
        let mut n = one;
        n.comparison.stretches[0] = stretch(1, 128, 0.9, true);
        assert!(verdict(&n).contains("faster up to 128 B"), "{}", verdict(&n));
    }

    #[test]
    fn a_reader_can_tell_what_a_ratio_is_of_and_whose_p_is_printed() {
        let mut n = named(vec![stretch(1, 1 << 20, 1.0, false)]);
        n.comparison.sizes[1].ratio = Estimate { value: 1.2, low: 0.0, high: f64::INFINITY };
        let shown = table(&n);
        assert!(
            shown.contains("ratio of times [95%]") && shown.contains("p: of such a difference at any of the sizes"),
            "{shown}"
        );
        let row = shown.lines().nth(2).unwrap();
        assert!(row.contains("(no interval)") && row.trim_end().ends_with('-'), "{row}");
        n.comparison.paired = Some(Paired { rounds: 30, differs: false, finds: None, finds_at_a_size: None });
        let shown = table(&n);
        assert!(shown.contains("ratio in turns [95%]") && shown.contains("divide to another ratio"), "{shown}");
    }

    #[test]
    fn sides_in_turns_have_the_whole_curve_first_and_no_difference_says_what_would_have_been_seen() {
        let mut n = named(vec![stretch(1, 1 << 20, 1.0, false)]);
        let turns = Paired { rounds: 30, differs: false, finds: Some(0.012), finds_at_a_size: Some(0.045) };
        n.comparison.paired = Some(turns);
        let said = verdict(&n);
        assert!(
            said.contains("No difference found between a and b\u{fffd}[2J: over all sizes ")
                && said.contains(" takes 101.0% [97.0%, 105.0%] of the time"),
            "{said}"
        );
        assert!(
            said.contains("30 rounds in turns find a difference of 1.2% over all sizes, and of 4.5% at a"),
            "{said}"
        );
        n.comparison.paired = Some(Paired { differs: true, ..turns });
        n.comparison.whole = Estimate { value: 1.1, low: 1.08, high: 1.12 };
        let said = verdict(&n);
        assert!(
            said.contains("is 10.0% slower: over all sizes it takes 110.0% [108.0%, 112.0%] of the time of a,"),
            "{said}"
        );
        assert!(said.contains("\nNo stretch of sizes is sure to differ by itself.\n"), "{said}");
        assert!(said.ends_with("Both took turns, and 30 rounds of each were compared in pairs."), "{said}");
        n.comparison.stretches = vec![stretch(1, 64, 1.0, false), stretch(128, 1 << 20, 1.3, true)];
        n.comparison.sizes.iter_mut().for_each(|s| s.ratio = Estimate { value: 1.3, low: 1.25, high: 1.35 });
        assert!(verdict(&n).contains("\nIt is"), "{}", verdict(&n));
        n.comparison.sizes.iter_mut().for_each(|s| s.ratio = Estimate { value: 1.1, low: 0.0, high: f64::INFINITY });
        let said = verdict(&n);
        assert!(said.starts_with("No verdict: ") && said.contains("none of the 21 sizes was visited"), "{said}");
        n.comparison.paired = Some(Paired { rounds: 3, differs: false, finds: None, finds_at_a_size: None });
        let said = verdict(&n);
        assert!(said.starts_with("No verdict: ") && said.contains("3 rounds") && said.contains("--budget"), "{said}");
    }

    #[test]
    fn what_was_not_measured_is_marked() {
        let text = table(&named(vec![]));
        let marked: Vec<&str> = text.lines().filter(|l| l.contains('~') && !l.starts_with('~')).collect();
        assert_eq!(marked.len(), 1, "{text}");
        assert!(marked[0].trim_start().starts_with("8 B  1.00 us"), "{text}");
        assert!(text.contains("(1 of 21 sizes)") && text.contains("2 sizes that only one side has"), "{text}");
    }

    #[test]
    fn names_from_files_make_no_escapes() {
        let named = named(vec![stretch(1, 1 << 20, 1.05, true)]);
        assert!(!verdict(&named).contains('\u{1b}') && !table(&named).contains('\u{1b}'));
    }
}
