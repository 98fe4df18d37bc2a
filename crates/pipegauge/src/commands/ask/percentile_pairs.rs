//! One percentile of two paths held against each other.

use model::Estimate;
use model::answer::Unanswered;

use super::asked::Asked;
use super::pairs::{common, unlike};
use super::percentiles::{found, told};
use super::reply::{answered, cannot, no, sharpen_both, yes};
use super::two_paths::TwoPaths;
use crate::config::question::{percentile as name, size_words};
use crate::document::Answered;

/// Whether so many of single messages are there sooner over the first path than over the second, or later where `longer` asks that. Two percentiles differ
/// where their intervals, which are of rounds of both, leave no time in common; that is more than a difference needs, and no pairs of rounds tell
/// it closer, as a percentile is of all of them.
pub fn held(
    a: &Asked<'_>,
    b: &Asked<'_>,
    (thousandths, longer): (u32, bool),
    size: Option<u64>,
    round_trip: bool,
) -> Answered {
    if let Some(answer) = unlike(a, b, size.as_slice()) {
        return answer;
    }
    let Some(size) = size.or_else(|| common(a, b).first().copied()) else {
        return no(a, &Unanswered::TooLittle("the two paths have no size in common"), &[]);
    };
    let of = |p: &Asked<'_>| found(p, thousandths, Some(size), round_trip);
    let ((at, rests_on, x, label, stands), (other, _, y, ..)) = match (of(a), of(b)) {
        (Ok(x), Ok(y)) => (x, y),
        (Err(why), _) => return no(a, &why, &[size]),
        (_, Err(why)) => return no(b, &why, &[size]),
    };
    if at != other {
        let [at, other] = [at, other].map(size_words);
        let why =
            format!("single messages were timed at other sizes ({at} and {other}), which tell nothing of each other");
        return cannot(a, why, &[size]);
    }
    let word = word(x, y, longer);
    let ((x_words, x_open), (y_words, y_open)) = (told(x, thousandths), told(y, thousandths));
    let apart = if word == ALIKE { "; their intervals have times in common" } else { "" };
    let text = format!(
        "{word}: {} of {}{stands} is {x_words}{x_open}, that of {} {y_words}{y_open} ({label}) of single transfers{apart}{}",
        name(thousandths),
        size_words(size),
        b.name,
        TwoPaths::of(a, b).doubt()
    );
    let mut answer = yes(a, text, x, "s", rests_on);
    answer.path = format!("{}, {}", a.name, b.name);
    answer.sharpen = sharpen_both(a, b);
    answer
}

/// What is said where no interval tells the two apart.
const ALIKE: &str = "not told apart";

/// Whether the first is surely the shorter of the two, or the longer where that is asked.
fn word(x: Estimate, y: Estimate, longer: bool) -> &'static str {
    match () {
        () if x.high < y.low => answered("yes", longer),
        () if x.low > y.high => answered("no", longer),
        () => ALIKE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_percentiles_differ_where_their_intervals_do() {
        let e = |value, low, high| Estimate { value, low, high };
        let (short, long) = (e(1.0, 0.9, 1.2), e(2.0, 1.5, f64::INFINITY));
        assert_eq!([word(short, long, false), word(long, short, false)], ["yes", "no"]);
        assert_eq!([word(short, long, true), word(long, short, true)], ["no", "yes"]);
        assert_eq!(word(e(1.0, 0.9, 1.6), long, false), ALIKE);
        assert_eq!(word(e(1.0, 0.9, f64::INFINITY), long, true), ALIKE);
    }
}
