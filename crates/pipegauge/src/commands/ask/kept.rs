//! What a path keeps up, beside what its single transfers take: a run's sustained trials, at the size that is asked about.

use measure::sustained::Sustained;
use model::Estimate;
use units::{Bytes, Seconds};

use super::asked::Asked;
use super::reply::{offered, sharpen};

/// What sustained trials say of a size.
pub struct Kept {
    /// How many times the median of short trials a long one takes; none where they do not surely differ, or where nothing is known.
    pub factor: Option<Estimate>,
    /// The factor is that of a near size, and not what those of other sizes leave open.
    pub near: bool,
    /// The factor is that of the mean of the size's own short trials: no long ones tell.
    pub average: bool,
    /// Whether sustained trials tell what is kept up there.
    pub known: bool,
    /// What is said of it; begins with a semicolon.
    pub words: String,
}

/// From so many seconds on what is kept up counts, and not what short trials move.
pub const LASTS: f64 = 1.0;

/// Farthest size, as a factor, of which sustained trials at one side of it say anything.
const REACH: f64 = 32.0;

/// What the path keeps up at a size: as its sustained trials at the nearest size have it, from half to twice of it.
pub fn at(p: &Asked<'_>, size: u64) -> Kept {
    if p.anew() {
        // A connection a transaction for so long would use up the ports: no run measures it.
        return Kept {
            factor: None,
            near: false,
            average: false,
            known: false,
            words: "; this is of single transactions".to_owned(),
        };
    }
    let all = p.kept_up();
    if let Some(s) = nearest(&all, size) {
        return told(p.short(), s);
    }
    let command = if offered(p, size) { format!(" ({} measures it)", sharpen(p, &[size])) } else { String::new() };
    let far = format!("what is kept up was not measured near that size{command}");
    match between(&all, size) {
        None => {
            Kept { factor: None, near: false, average: false, known: false, words: format!("; {}: {far}", p.short()) }
        }
        Some((factor, words)) => {
            Kept { factor: Some(factor), near: false, average: false, known: true, words: format!("; {far}; {words}") }
        }
    }
}

/// Factor from which on the mean of a size's trials is another time than their median, and trials whose means tell its error.
const APART: f64 = 1.1;
const TRIALS: u32 = 4;

/// What many messages of a size take, one after another, as a factor: that of [`at`], or where no long trial tells, what the short ones take on
/// average. A sum of many holds the stops that a median passes by.
pub fn of_many(p: &Asked<'_>, size: u64) -> Kept {
    let kept = at(p, size);
    let row = p.row(size).filter(|_| kept.factor.is_none() && !kept.known);
    // Of transactions the mean rate is told beside the median one.
    let row = row.filter(|row| row.trials >= TRIALS && row.median > 0.0 && row.transactions.is_none());
    let Some(factor) = row.and_then(on_average) else { return kept };
    let words = format!(
        "; on average its trials take {:.2} [{:.2}, {:.2}] times their median, since stops fall into some of them{}",
        factor.value, factor.low, factor.high, kept.words
    );
    Kept { factor: Some(factor), near: true, average: true, known: false, words }
}

/// How many times its median a row takes on average, by how far its trials lie apart; none where that is hardly another time.
fn on_average(row: &measure::event::Figures) -> Option<Estimate> {
    let typical = if row.high.is_finite() { row.high } else { row.median };
    let reach = 2.0 * (row.variance / f64::from(row.trials)).sqrt();
    let times = |t: f64| (t / row.median).max(1.0);
    (row.mean > typical.max(APART * row.median) && reach.is_finite()).then(|| Estimate {
        value: times(row.mean),
        low: times(row.mean - reach),
        high: times(row.mean + reach),
    })
}

/// What sustained trials at other sizes leave open of a size that has none near it: its factor lies between those of the sizes below and above
/// it, and moves from the one to the other, so that neighbouring sizes have neighbouring answers. Where only one side was measured, it
/// moves to none with the distance (`REACH`): one size does not tell of all others. None where none surely takes another time than short
/// ones, or none near enough.
fn between(all: &[Sustained], size: u64) -> Option<(Estimate, String)> {
    const ONCE: Estimate = Estimate { value: 1.0, low: 1.0, high: 1.0 };
    let known = || all.iter().filter(|s| s.high <= units::RESOLVED * s.low);
    let factor = |s: &Sustained| {
        if s.differs() { Estimate { value: s.ratio, low: s.low, high: s.high } } else { ONCE }
    };
    let below = known().filter(|s| s.size < size).max_by_key(|s| s.size);
    let above = known().filter(|s| s.size > size).min_by_key(|s| s.size);
    let sides: Vec<&Sustained> = below.into_iter().chain(above).collect();
    if !sides.iter().any(|s| s.differs()) {
        return None;
    }
    let value = match (below, above) {
        (Some(a), Some(b)) => {
            // From where the one size is near to where the other is.
            let (from, to) = ((2 * a.size.max(1)) as f64, b.size as f64 / 2.0);
            let share = ((size as f64 / from).ln() / (to / from).ln()).clamp(0.0, 1.0);
            (factor(a).value.ln() * (1.0 - share) + factor(b).value.ln() * share).exp()
        }
        _ => {
            let far = sides[0].size.max(1) as f64 / size.max(1) as f64;
            let share = (far.max(1.0 / far) / 2.0).ln() / (REACH / 2.0).ln();
            if share >= 1.0 {
                return None;
            }
            factor(sides[0]).value.powf(1.0 - share.max(0.0))
        }
    };
    let mut ends: Vec<Estimate> = sides.iter().map(|s| factor(s)).collect();
    if ends.len() == 1 {
        ends.push(ONCE);
    }
    let low = ends.iter().map(|e| e.low).fold(f64::INFINITY, f64::min);
    let high = ends.iter().map(|e| e.high).fold(0.0, f64::max);
    let at: Vec<String> = sides
        .iter()
        .map(|s| {
            let times = format!("{:.2} [{:.2}, {:.2}] times", s.ratio, s.low, s.high);
            match s.differs() {
                true => format!("take {times} the short ones' median at {}", Bytes(s.size)),
                false => format!("are not surely longer at {} ({times})", Bytes(s.size)),
            }
        })
        .collect();
    let words = format!("long trials {}, and here {value:.2} [{low:.2}, {high:.2}] times is taken", at.join(" and "));
    Some((Estimate { value, low, high }, words))
}

/// The nearest size with sustained trials, from half to twice of `size`.
fn nearest(all: &[Sustained], size: u64) -> Option<&Sustained> {
    let apart = |s: &Sustained| (s.size.max(1) as f64 / size.max(1) as f64).ln().abs();
    let near = all.iter().filter(|s| (size.div_ceil(2)..=size.saturating_mul(2)).contains(&s.size));
    near.min_by(|a, b| apart(a).total_cmp(&apart(b)))
}

/// `short` says what was timed, where what is kept up is not known.
fn told(short: &str, s: &Sustained) -> Kept {
    let ratio = format!("{:.2} [{:.2}, {:.2}] times", s.ratio, s.low, s.high);
    let trials = format!("trials of {} and more at {}", Seconds(s.shortest), Bytes(s.size));
    match () {
        () if s.differs() => Kept {
            factor: Some(Estimate { value: s.ratio, low: s.low, high: s.high }),
            near: true,
            average: false,
            known: true,
            words: format!("; sustained: {trials} take {ratio} the short ones' median"),
        },
        () if s.high <= units::RESOLVED * s.low => Kept {
            factor: None,
            near: true,
            average: false,
            known: true,
            words: format!(
                "; {trials} take {ratio} the short ones' median: the rate that is kept up may be {}the same",
                if s.low > 1.0 || s.high < 1.0 { "nearly " } else { "" }
            ),
        },
        () => Kept {
            factor: None,
            near: true,
            average: false,
            known: false,
            words: format!("; {short}: what {trials} took has no interval (--budget gives more time)"),
        },
    }
}

/// A time of single transfers as what is kept up: longer by the factor, and as uncertain as both.
pub fn longer(e: Estimate, factor: Estimate) -> Estimate {
    let apart = |end: f64, value: f64| (end / value).ln();
    let both = |a: f64, b: f64| a.hypot(b).exp();
    let value = e.value * factor.value;
    let low = if e.low > 0.0 && factor.low > 0.0 {
        value / both(apart(e.low, e.value), apart(factor.low, factor.value))
    } else {
        0.0
    };
    let high = if e.high.is_finite() && factor.high.is_finite() {
        value * both(apart(e.high, e.value), apart(factor.high, factor.value))
    } else {
        f64::INFINITY
    };
    Estimate { value, low, high }
}

/// A rate of single transfers as what is kept up.
pub fn less(e: Estimate, factor: Estimate) -> Estimate {
    longer(e, super::asked::inverse(factor, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sustained(size: u64, ratio: f64, low: f64, high: f64) -> Sustained {
        Sustained {
            size,
            trials: 2,
            lasted: 0.4,
            shortest: 0.4,
            seconds: 2e-5,
            throughput: 1e9,
            ratio,
            low,
            high,
            short_mean: 1.0,
            clock: None,
        }
    }

    #[test]
    fn a_mean_that_stops_lengthen_is_what_many_messages_take() {
        let row = |mean: f64| measure::event::Figures {
            trials: 16,
            median: 1e-5,
            low: 0.9e-5,
            high: 1.1e-5,
            mean,
            variance: 4e-10,
            ..measure::event::Figures::default()
        };
        let found = on_average(&row(6e-5)).unwrap();
        assert!((found.value - 6.0).abs() < 1e-9 && (found.low - 5.0).abs() < 1e-9, "{found:?}");
        assert!((found.high - 7.0).abs() < 1e-9, "{found:?}");
        assert_eq!(on_average(&row(1.1e-5)), None, "within the interval of the median");
    }

    #[test]
    fn only_a_sure_difference_at_a_near_size_changes_a_time() {
        let all = [
            sustained(1, 2.0, 1.9, 2.1),
            sustained(3000, 1.02, 0.98, 1.06),
            sustained(1 << 20, 2.0, 0.0, f64::INFINITY),
        ];
        let at = |size| nearest(&all, size).map(|s| s.size);
        assert_eq!(
            [at(1), at(2), at(3), at(4096), at(1 << 16), at(1 << 21)],
            [Some(1), Some(1), None, Some(3000), None, Some(1 << 20)]
        );
        let of = |s: &Sustained| told("this is of short streams", s);
        assert!(of(&all[0]).factor.is_some() && of(&all[0]).words.starts_with("; sustained: trials of 400 ms"));
        assert!(of(&all[1]).factor.is_none() && of(&all[1]).words.contains("may be the same"));
        assert!(
            of(&all[2]).factor.is_none() && of(&all[2]).words.starts_with("; this is of short streams: what trials ")
        );
    }

    #[test]
    fn neighbouring_sizes_have_neighbouring_factors() {
        // 1,300 B lay beyond what 2,776 B tells of, and 1,400 B did not: one took half the time of the other.
        let one = [sustained(2776, 2.08, 1.49, 2.91)];
        let three =
            [sustained(1, 1.0, 0.99, 1.01), sustained(2776, 2.08, 1.49, 2.91), sustained(1 << 23, 1.3, 1.2, 1.4)];
        let of = |all: &[Sustained], size: u64| match nearest(all, size) {
            Some(s) => told("", s).factor.map_or(1.0, |f| f.value),
            None => between(all, size).map_or(1.0, |(f, _)| f.value),
        };
        for all in [&one[..], &three] {
            let mut size = 1u64;
            while size < 1 << 24 {
                let next = size + 1 + size / 50;
                let apart = (of(all, next) / of(all, size)).ln().abs();
                let moved = (next as f64 / size as f64).ln();
                assert!(apart <= moved + 1e-9, "{size} to {next}: {apart}");
                size = next;
            }
        }
        let (open, words) = between(&one, 512).unwrap();
        assert_eq!((open.low, open.high), (1.0, 2.91));
        assert!(words.contains("2.08 [1.49, 2.91] times the short ones' median at 2,776 B"), "{words}");
        assert_eq!(between(&[sustained(1, 1.0, 0.99, 1.01)], 64), None);
        // One size told of all others: "here 2.08 [1.00, 2.91] times is taken" at 1 B and at 1 GiB.
        for far in [1, 2776 / 32, 2776 * 32, 1 << 30] {
            assert_eq!(between(&one, far), None, "{far}");
        }
    }

    #[test]
    fn what_is_kept_up_is_as_uncertain_as_both_that_it_rests_on() {
        let e = |value, low, high| Estimate { value, low, high };
        let time = longer(e(10.0, 9.0, 11.0), e(2.0, 2.0, 2.0));
        assert!((time.low - 18.0).abs() < 1e-9 && (time.value - 20.0).abs() < 1e-9 && (time.high - 22.0).abs() < 1e-9);
        let time = longer(e(10.0, 9.0, 11.0), e(2.0, 1.8, 2.2));
        assert!(time.low < 17.5 && time.low > 16.0 && time.high > 22.5, "{time:?}");
        let rate = less(e(10.0, 9.0, 11.0), e(2.0, 1.9, 2.1));
        assert!((rate.value - 5.0).abs() < 1e-9 && rate.low < 4.5 && rate.high > 5.5, "{rate:?}");
        assert_eq!(longer(e(1.0, 0.0, f64::INFINITY), e(2.0, 1.9, 2.1)).high, f64::INFINITY);
    }
}
