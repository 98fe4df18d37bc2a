//! The least depth of a dip and height of a step that are found on this curve: breaks are planted at many places of it and searched for by
//! the same rules.

use super::edges::{is_found, spans};
use super::jump::Jump;
use super::luck::{is_believed, luck};
use super::pair::pair;
use super::rough::Rough;
use super::{Dip, SHALLOWEST, Sight};

/// Widths of dips that are planted, decades: the first at which a curve shows them is what it can tell.
const WIDTHS: [f64; 5] = [NARROWEST, 0.1, 0.2, 0.5, 1.0];

/// The narrowest, a twentieth of a decade.
pub(super) const NARROWEST: f64 = 0.05;

/// Places that a dip is planted at.
const PLACES: usize = 64;

/// Of those, how many it may be missed at.
const MISSED: usize = 2;

/// The deepest that is tried, as a logarithm, and halvings of the depth.
const DEEPEST: f64 = 1.8;
const HALVINGS: usize = 6;

/// The next run has other noise: to be found there, a break must be higher by this factor of its logarithm, and by more where few rounds
/// estimate the noise; and it must be so many times less probable by chance.
const MARGIN: f64 = 1.15;
const OF_FEW: f64 = 1.5;
const STRICTER: f64 = 5.0;

/// Places at either end of a curve that only show the level beside a dip, and can't hold one.
const END: usize = 2;

/// The narrowest dip that this curve shows wherever it lies; none where it shows none.
pub(super) fn sight(rough: &mut Rough) -> Option<Sight> {
    let (first, last) = (rough.places.get(END)?.clone(), rough.places.len().checked_sub(END + 1)?);
    let last = rough.places.get(last)?.clone();
    let many = spans(rough).len();
    let margin = margin(rough);
    for decades in WIDTHS {
        let wide = decades * std::f64::consts::LN_10;
        let room = last.x - wide - first.x;
        if room <= 0.0 {
            return None;
        }
        let at = |i: usize| first.x + room * (i as f64 + 0.5) / PLACES as f64;
        let within: Vec<(usize, usize)> = (0..PLACES)
            .map(at)
            .filter(|x| holds_a_size(*x, wide))
            .map(|x| (place(rough, x), place(rough, x + wide)))
            .collect();
        let mut shown = |depth: f64| {
            let missed = within.iter().filter(|(first, last)| !finds(rough, *first, *last, depth, many));
            !within.is_empty() && missed.take(MISSED + 1).count() <= MISSED
        };
        if !shown(DEEPEST) {
            continue;
        }
        let least = least(&mut shown);
        return Some(Sight { decades, share: (least * margin).exp_m1(), from: first.size, to: last.size });
    }
    None
}

/// How much longer messages must take from some size on, as a share, for that to be found wherever on the curve it lies; none where no step
/// is, however high.
pub(super) fn of_steps(rough: &mut Rough) -> Option<f64> {
    let many = spans(rough).len();
    let margin = margin(rough);
    let (first, last) = (END, rough.places.len().checked_sub(END).filter(|last| *last > END)?);
    // No more of them than dips are planted.
    let places: Vec<usize> = (first..last).step_by((last - first).div_ceil(PLACES)).collect();
    let mut shown = |height: f64| {
        let missed = places.iter().filter(|place| !finds_step(rough, **place, height, many));
        missed.take(MISSED + 1).count() <= MISSED.min(places.len() / 10)
    };
    shown(DEEPEST).then(|| (least(&mut shown) * margin).exp_m1())
}

/// Factor by which a break's logarithm must exceed what is found on this curve, to be found in the next run as well.
fn margin(rough: &Rough) -> f64 {
    let rounds = stats::median(&rough.places.iter().map(|p| p.rounds.len() as f64).collect::<Vec<_>>());
    MARGIN + OF_FEW / rounds.max(1.0)
}

/// The least depth that is shown, of those up to the deepest, which is.
fn least(shown: &mut impl FnMut(f64) -> bool) -> f64 {
    let (mut low, mut high) = (SHALLOWEST.ln_1p(), DEEPEST);
    for _ in 0..HALVINGS {
        let middle = (low * high).sqrt();
        if shown(middle) { high = middle } else { low = middle }
    }
    high
}

/// Whether this curve would show a dip as wide and as deep as that one, where that one lies.
pub(super) fn shows(mut rough: Rough, dip: &Dip) -> bool {
    let x = |size: u64| (size.max(1) as f64).ln();
    let (first, last) = (place(&rough, x(dip.from.above)), place(&rough, x(dip.to.above)));
    let Some(within) = rough.places.get(first..last).filter(|w| !w.is_empty()) else { return false };
    let rounds = stats::median(&within.iter().map(|p| p.rounds.len() as f64).collect::<Vec<_>>());
    let depth = dip.factor.value.ln() / (MARGIN + OF_FEW / rounds.max(1.0));
    let many = spans(&rough).len();
    depth > 0.0 && finds(&mut rough, first, last, depth, many)
}

/// The first place at this logarithm of size or after it.
fn place(rough: &Rough, x: f64) -> usize {
    rough.places.partition_point(|p| p.x < x)
}

/// Sizes are whole numbers: between 2 and 3 bytes there is nothing that could dip.
fn holds_a_size(from: f64, wide: f64) -> bool {
    from.exp().ceil() < (from + wide).exp()
}

/// Whether a step of this height from this place on is found.
fn finds_step(rough: &mut Rough, place: usize, height: f64, many: usize) -> bool {
    let all = place..rough.places.len();
    rough.raise(all.clone(), height);
    let between = (place - 1, place);
    let jump = [Jump { between, height: rough.excess(between.0, between.1) }];
    let found = is_found(rough, between, many)
        && pair(rough, &jump).1.len() == 1
        && is_believed(rough, STRICTER * luck(rough, &jump, 0));
    rough.raise(all, -height);
    found
}

/// Whether a dip of this depth over the places `first..last` is found, where one jump is judged among so many. Where there is no
/// place it is not.
fn finds(rough: &mut Rough, first: usize, last: usize, depth: f64, many: usize) -> bool {
    if first == 0 || first >= last || last >= rough.places.len() {
        return false;
    }
    rough.raise(first..last, depth);
    let edges = [(first - 1, first), (last - 1, last)];
    let jumps = edges.map(|between| Jump { between, height: rough.excess(between.0, between.1) });
    let found = edges.iter().all(|span| is_found(rough, *span, many))
        && pair(rough, &jumps).0.len() == 1
        && (0..2).all(|i| is_believed(rough, STRICTER * luck(rough, &jumps, i)));
    rough.raise(first..last, -depth);
    found
}
