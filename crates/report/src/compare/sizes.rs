//! The table behind a verdict: every size.

use model::{Compared, Comparison};
use units::Seconds;

use super::Named;
use super::ratios::{bounded, interval, ratio};
use crate::doublings::apart;
use crate::table::{Flush, Grid, WIDTH};
use crate::words::plain;

/// More sizes than this are shown one in each doubling, unless all are asked for.
const MOST: usize = 32;

/// The sizes, all or one in each doubling: both times, their ratio with its interval, the effect, and whether it is significant. Where no
/// size has an interval, which the verdict explains, only the times and their ratios.
pub fn table(named: &Named, all: bool) -> String {
    use Flush::{Left, Right};
    let judged = named.comparison.sizes.iter().any(|s| bounded(s.ratio));
    let unmet = named.comparison.paired.is_some_and(|p| p.rounds == 0);
    let of = ratio_of(&named.comparison);
    let judged_of = format!("{of} [95%]");
    let names = (plain(&named.first), plain(&named.second));
    // A name too long for a column's title is replaced by a letter.
    let short = names.0.chars().count().max(names.1.chars().count()) <= LONGEST_TITLE;
    let (first, second) = if short { (&*names.0, &*names.1) } else { ("A", "B") };
    let sizes = named.sizes();
    let mut grid = Grid::new(&[
        (&*sizes, Right),
        (first, Right),
        (second, Right),
        (if judged { &judged_of } else { of }, Left),
        ("effect", Right),
        ("p", Right),
        ("", Left),
    ]);
    let sizes = &named.comparison.sizes;
    let shown: Vec<&Compared> =
        if all || sizes.len() <= MOST { sizes.iter().collect() } else { apart(sizes, |s| s.size) };
    for s in &shown {
        let times = [
            named.size(s.size),
            time(s.first, s.first_interpolated),
            time(s.second, s.second_interpolated),
            match judged {
                true => interval(s.ratio).replace("too wide an interval", "too wide"),
                // Only survey trials: the two times are of different moments.
                false if unmet => "-".to_owned(),
                false => ratio(s.ratio.value),
            },
        ];
        let judgement = [
            format!("{:+.1}", s.effect),
            // Without an interval the probability of a difference is not known.
            if !(s.ratio.high.is_finite() && s.ratio.low > 0.0) {
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
    text.push_str(&grid.fitted(WIDTH, &[4]));
    if shown.len() < sizes.len() {
        let marked = |of: &mut dyn Iterator<Item = &Compared>| of.filter(|s| s.significant).count();
        let hidden = marked(&mut sizes.iter()) - marked(&mut shown.iter().copied());
        text.push_str(&format!(
            "Left out, to fit: {} of {} sizes{}; compare with --points shows all.\n",
            sizes.len() - shown.len(),
            sizes.len(),
            if judged { format!(", {hidden} of them marked *") } else { String::new() }
        ));
    }
    if judged {
        text.push_str(
            "[95%]: of each size alone. Effect: the difference in units of one round's noise. p: of such a difference at any of the \
             sizes, corrected for their number (Holm 1979), so that it may exceed 5% where the interval leaves out 100%; * below 5%.\n",
        );
    }
    text.push_str(&about(&named.comparison));
    text
}

/// Most characters of a column's title: a table with two such columns still fits a terminal.
const LONGEST_TITLE: usize = 12;

/// What the ratios of the sizes are: for sides in turns they are not quotients of the times beside them.
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

/// What a reader must know of the sizes: which were interpolated, how many are missing. Empty where all were measured by all.
pub(super) fn about(c: &Comparison) -> String {
    let mut text = String::new();
    if c.sizes.len() > 1 {
        text.push_str(match in_pairs(c) {
            true => "Over all sizes: the mean of the middle half of the ratios; of a stretch of sizes: their median.\n",
            false => "Over all sizes, and of a stretch of sizes: the median of the ratios.\n",
        });
    }
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
