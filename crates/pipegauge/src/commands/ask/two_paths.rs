//! Two paths compared at any size, by what `compare` says of them.

use model::{Estimate, Finding};
use report::compare::{APART, IN_ONE_RUN};

use super::asked::{Asked, inverse};
use super::kept;
use super::rounds::every_round;
use super::times::whole as time;
use record::sides::Compared;

/// Two paths compared at any size.
pub struct TwoPaths<'a, 'b> {
    pub a: &'a Asked<'b>,
    pub b: &'a Asked<'b>,
    compared: Option<Compared>,
}

/// What the first path takes more than the second.
pub struct Extra {
    pub seconds: Estimate,
    /// Times as long as the second.
    pub ratio: Estimate,
    /// How it was found, where it was not measured there.
    pub how: String,
    /// How sure the difference in seconds is.
    pub sure: Sure,
    /// How sure the factor is.
    pub sure_ratio: Sure,
}

impl Extra {
    /// How many times as fast the first path is as the second.
    pub fn factor(&self) -> Estimate {
        inverse(self.ratio, 1.0)
    }

    /// The same for a limit that it is held against: nothing where the order of few rounds may have made it.
    pub fn judged(&self) -> Estimate {
        let factor = self.factor();
        if self.sure_ratio == Sure::ByOrder { Estimate::unbounded(factor.value) } else { factor }
    }
}

/// How sure it is that two paths differ at a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sure {
    /// By the interval.
    Yes,
    /// By the interval, of these runs alone: nothing tells how far separate runs of one thing lie apart, or others took CPU time of one side.
    InTheseRuns,
    /// By the order of the rounds alone: all of one path lie beyond all of the other.
    EveryRound,
    /// The interval leaves no difference out, but the order of the two in so few rounds may do that by chance.
    ByOrder,
    /// By the interval of this size alone: of so many sizes as were compared one may do that by chance.
    Alone,
    /// Not surely different.
    No,
}

impl Sure {
    /// What is said of it; nothing of what is surely so.
    pub fn words(self) -> &'static str {
        match self {
            Self::Yes => "",
            Self::InTheseRuns => "in these runs",
            Self::EveryRound => "in every round",
            Self::ByOrder => "so few rounds may do that by chance",
            Self::Alone => "by the interval of this size alone",
            Self::No => "not surely different",
        }
    }
}

impl<'a, 'b> TwoPaths<'a, 'b> {
    pub fn of(a: &'a Asked<'b>, b: &'a Asked<'b>) -> Self {
        Self { a, b, compared: a.compared_with(b) }
    }

    /// Whether the rounds of both took turns, and were compared one by one.
    pub fn in_turns(&self) -> bool {
        self.compared.as_ref().is_some_and(|c| c.comparison.paired.is_some())
    }

    /// Time of the first path over that of the second, over all sizes together, where the rounds took turns.
    pub fn whole(&self) -> Option<Estimate> {
        self.compared.as_ref().filter(|_| self.in_turns()).map(|c| c.comparison.whole)
    }

    /// Highest throughput of the first path over that of the second, as `compare` has it.
    pub fn most(&self) -> Option<Estimate> {
        self.compared.as_ref().filter(|_| self.in_turns())?.comparison.throughput
    }

    /// Why these are runs of which no difference holds for what was measured; begins with a line of its own, and is empty where one may.
    pub fn doubt(&self) -> String {
        match self.compared.as_ref().filter(|c| c.separate).map(|c| c.comparison.finding(true)) {
            Some(Finding::FewRuns) => format!("\n  ({APART}; {IN_ONE_RUN})"),
            Some(Finding::Disturbed) => {
                "\n  (others took more of the CPUs in one of these separate runs than in the other)".to_owned()
            }
            _ => String::new(),
        }
    }

    /// How sure the difference in seconds is at one of several sizes that are told of: as `compare` has it, over all sizes that it compared.
    pub fn sure_of_several(&self, size: u64, extra: &Extra) -> Sure {
        let significant = self.at_size(size).is_some_and(|s| s.significant);
        if extra.sure == Sure::Yes && self.compared.is_some() && !significant { Sure::Alone } else { extra.sure }
    }

    fn at_size(&self, size: u64) -> Option<&model::Compared> {
        let sizes = &self.compared.as_ref()?.comparison.sizes;
        Some(&sizes[sizes.binary_search_by_key(&size, |s| s.size).ok()?])
    }

    /// The ratio at a size, and whether so few rounds may have made it by their order.
    fn ratio_at(&self, size: u64) -> Option<(Estimate, bool)> {
        near(&self.compared.as_ref()?.comparison.sizes, size)
    }

    pub fn at(&self, size: u64) -> Option<Extra> {
        let (over, under) = (time(self.a, size).ok()?, time(self.b, size).ok()?);
        let how = if over.how.is_empty() { under.how } else { over.how };
        let (over, under) = (over.seconds, under.seconds);
        let apart_alone = model::difference(over, under);
        let (seconds, ratio, how) = match self.ratio_at(size).map(|(ratio, _)| ratio) {
            Some(found) if self.in_turns() => (apart(over, under, found), found, String::new()),
            Some(found) if self.knows_runs() => (of_runs(apart_alone, under, found), found, how),
            Some(found) if found.high.is_finite() => (apart_alone, found, how),
            _ => (apart_alone, ratio(over, under), how),
        };
        let told = ratio.low > 1.0 || ratio.high < 1.0;
        // Where rounds took turns, two medians that lie apart by themselves may be of one moment each.
        let sure = self.sure(size, (seconds.low > 0.0 || seconds.high < 0.0) && (told || !self.in_turns()), ratio);
        let sure_ratio = self.sure(size, told, ratio);
        Some(Extra { seconds, ratio, how, sure, sure_ratio })
    }

    /// How sure a difference is that an interval tells, or does not.
    fn sure(&self, size: u64, told: bool, ratio: Estimate) -> Sure {
        match () {
            () if self.ratio_at(size).is_some_and(|(_, by_order)| by_order) => Sure::ByOrder,
            () if told && self.tells(ratio) => Sure::Yes,
            () if told => Sure::InTheseRuns,
            // Where no interval tells the two apart, all rounds of one may still lie beyond all of the other.
            () if every_round(self.a.curve(), self.b.curve(), size).is_some() => Sure::EveryRound,
            () => Sure::No,
        }
    }

    /// Whether these are separate runs, and it is known how far runs of one thing lie apart.
    fn knows_runs(&self) -> bool {
        let known = |c: &Compared| c.comparison.between.is_some_and(|b| b.sure()) && !undecided(c);
        self.compared.as_ref().is_some_and(|c| c.separate && known(c))
    }

    /// How sure a factor of no single size is.
    pub fn sure_of(&self, factor: Estimate) -> Sure {
        match factor.low > 1.0 || factor.high < 1.0 {
            false => Sure::No,
            true if self.by_order() => Sure::ByOrder,
            true if self.tells(factor) => Sure::Yes,
            true => Sure::InTheseRuns,
        }
    }

    /// Whether a ratio of separate runs holds for what was measured.
    fn tells(&self, ratio: Estimate) -> bool {
        let tells = |c: &Compared| c.comparison.tells(c.comparison.whole) && c.comparison.tells(ratio) && !undecided(c);
        self.compared.as_ref().is_none_or(|c| !c.separate || tells(c))
    }

    /// Whether so few rounds of both in turns go one way that their order may have made the difference over all sizes.
    pub fn by_order(&self) -> bool {
        self.compared.as_ref().is_some_and(|c| c.comparison.by_order())
    }

    /// Whether the first is the faster one in every round (true), or the second.
    pub fn every(&self, size: u64) -> Option<bool> {
        every_round(self.a.curve(), self.b.curve(), size)
    }

    /// The sizes with what is more there, and whether that is sure of all of them together, as `compare` has it: for what was measured, or where
    /// these are separate runs of which that is not known ([`TwoPaths::doubt`]), for these runs.
    pub fn all(&self, sizes: &[u64]) -> Vec<(u64, Estimate, bool)> {
        let sure = |size: u64| self.at_size(size).is_some_and(|s| s.significant);
        sizes.iter().filter_map(|s| Some((*s, self.at(*s)?.seconds, sure(*s)))).collect()
    }
}

/// Times as far as two compared sizes may lie apart that tell of one between them.
const NEAR: f64 = 2.0;

/// The ratio at a size, with whether the order of few rounds may have made it: what was found there, or between two sizes that lie near what lies
/// between both, by the interval that holds both.
fn near(sizes: &[model::Compared], size: u64) -> Option<(Estimate, bool)> {
    let (below, above) = match sizes.binary_search_by_key(&size, |s| s.size) {
        Ok(at) => return Some((sizes[at].ratio, sizes[at].by_order)),
        Err(at) => (sizes.get(at.checked_sub(1)?)?, sizes.get(at)?),
    };
    let log = |size: u64| (size.max(1) as f64).ln();
    let far = log(above.size) - log(below.size);
    if far > NEAR.ln() {
        return None;
    }
    let share = (log(size) - log(below.size)) / far;
    let (a, b) = (below.ratio, above.ratio);
    let value = (a.value.ln() * (1.0 - share) + b.value.ln() * share).exp();
    let both = Estimate { value, low: a.low.min(b.low), high: a.high.max(b.high) };
    Some((both, below.by_order || above.by_order))
}

/// How many times as long the one takes as the other. The two errors are independent, as in [`model::difference`].
pub fn ratio(long: Estimate, short: Estimate) -> Estimate {
    kept::longer(long, inverse(short, 1.0))
}

/// Of separate runs, by their ratio, which holds what runs differ by anyway: no nearer than both times allow.
fn of_runs(apart: Estimate, under: Estimate, ratio: Estimate) -> Estimate {
    let more = |times: f64| (times - 1.0) * under.value;
    Estimate { value: apart.value, low: apart.low.min(more(ratio.low)), high: apart.high.max(more(ratio.high)) }
}

/// Whether what differs may come of others that took CPU time of one side.
fn undecided(c: &Compared) -> bool {
    c.comparison.disturbed.is_some_and(|d| d.undecided)
}

/// How much longer one time is than another by their `ratio`, found round by round, so that both are figures of one thing; the same both
/// ways round, and no more than the longer one takes. Its interval is that of two times, and where only the ratio tells which is longer, it ends on that side of nothing: no nearer
/// than both times allow.
pub fn apart(over: Estimate, under: Estimate, ratio: Estimate) -> Estimate {
    let value = match ratio.value > 1.0 {
        true => (1.0 - 1.0 / ratio.value) * over.value,
        false => (ratio.value - 1.0) * under.value,
    };
    let alone = model::difference(over, under);
    let d = Estimate { value, low: alone.low.min(value), high: alone.high.max(value) };
    // The least that is surely more, by the shorter and by the longer of the two times.
    let least = |base: Estimate, long: Estimate, ratio: Estimate| {
        ((ratio.low - 1.0) * base.low).max((1.0 - 1.0 / ratio.low) * long.low).max(0.0)
    };
    match () {
        () if ratio.low > 1.0 && d.low <= 0.0 => Estimate { low: least(under, over, ratio).min(d.value), ..d },
        () if ratio.high < 1.0 && d.high >= 0.0 => negated(apart(under, over, inverse(ratio, 1.0))),
        () => d,
    }
}

pub fn negated(e: Estimate) -> Estimate {
    Estimate { value: -e.value, low: -e.high, high: -e.low }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_in_seconds_is_the_same_both_ways_round() {
        let e = |value, low, high| Estimate { value, low, high };
        let turned = |over, under, ratio| negated(apart(under, over, inverse(ratio, 1.0)));
        let near = |a: Estimate, b: Estimate| {
            [(a.value, b.value), (a.low, b.low), (a.high, b.high)].iter().all(|(a, b)| (a - b).abs() < 1e-9)
        };
        // The ratio is close, and the time of the base is not: "saves 17.9 us [17.8, 18.2]", but "costs 17.7 us [16, 90]".
        let (unix, shm) = (e(18.2, 17.4, 48.0), e(0.3, 0.28, 0.31));
        let ratio = e(18.2 / 0.3, 52.0, 300.0);
        let found = apart(unix, shm, ratio);
        assert!(near(found, model::difference(unix, shm)) && near(found, turned(unix, shm, ratio)), "{found:?}");
        // Rounds tell which is longer where the two times do not.
        let (a, b, ratio) = (e(10.5, 9.0, 12.0), e(10.0, 8.5, 11.5), e(1.05, 1.03, 1.07));
        let found = apart(a, b, ratio);
        assert!(found.low > 0.0 && found.value > found.low && found.high > found.value, "{found:?}");
        assert!(near(found, turned(a, b, ratio)), "{found:?} {:?}", turned(a, b, ratio));
        // So they do where the medians lie the other way round.
        let found = apart(b, a, ratio);
        assert!(found.low > 0.0 && found.value >= found.low && found.high >= found.value, "{found:?}");
    }

    #[test]
    fn between_two_sizes_that_were_compared_the_ratio_lies_between_theirs() {
        let of = |size, value, low, high| model::Compared {
            size,
            first: 1e-6,
            second: 1e-6 * value,
            ratio: Estimate { value, low, high },
            effect: 1.0,
            probability: 0.01,
            significant: true,
            by_order: false,
            first_interpolated: false,
            second_interpolated: false,
        };
        let sizes = [of(930, 1.4, 1.32, 1.5), of(1024, 1.38, 1.3, 1.46), of(65_536, 1.2, 1.1, 1.3)];
        let (ratio, by_order) = near(&sizes, 1000).unwrap();
        assert!((1.38..1.4).contains(&ratio.value) && !by_order, "{ratio:?}");
        assert_eq!((ratio.low, ratio.high), (1.3, 1.5));
        assert_eq!(near(&sizes, 1024).map(|found| found.0), Some(sizes[1].ratio));
        for none in [1, 900, 2048, 100_000] {
            assert_eq!(near(&sizes, none), None, "{none}");
        }
    }

    #[test]
    fn seconds_and_percent_of_one_sentence_point_one_way() {
        let e = |value, low, high| Estimate { value, low, high };
        // The medians say 0.5 us less, the rounds 3% more: "0.5 us less (+3%)".
        let (over, under, ratio) = (e(9.5, 8.0, 11.0), e(10.0, 9.0, 12.0), e(1.03, 0.98, 1.08));
        let found = apart(over, under, ratio);
        assert!(found.value > 0.0 && found.low < 0.0 && found.high > found.value, "{found:?}");
        let found = apart(over, under, inverse(ratio, 1.0));
        assert!(found.value < 0.0 && found.low < found.value && found.high > 0.0, "{found:?}");
        // "3.89 us more (+17%)" of 18.4 us, where 3.89 us are a fifth.
        let found = apart(e(22.3, 19.0, 26.0), e(18.4, 17.0, 20.0), e(1.17, 1.0, 1.3));
        assert!((found.value - (1.0 - 1.0 / 1.17) * 22.3).abs() < 1e-9, "{found:?}");
        // Nothing saves more than all: medians of few rounds and their ratio may lie far apart.
        let found = apart(e(0.151, 0.1, 0.2), e(20.8, 19.0, 22.0), e(1.0 / 372.0, 1e-3, 0.1));
        assert!(found.value > -20.8 && found.value < -20.0, "{found:?}");
    }
}
