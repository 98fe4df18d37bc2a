//! A curve on logarithmic axes, with how fast it grows about each gap and how rough it is there.

use std::collections::BTreeMap;

use stats::{Local, StandardError, median, median_log_error, pooled_log_sigma};

use crate::curve::Curve;

/// Half of the window in which slope and roughness are taken, as a logarithm of size: 0.6 of a decade.
const WINDOW: f64 = 1.4;

/// Gaps on each side that the window holds at least, where the curve has them, and at most: a curve of very many sizes is
/// smooth from one to the next.
const GAPS: usize = 6;
const MOST_GAPS: usize = 60;

/// Places on each side that are pooled for the level of the curve at one.
const BESIDE: usize = 2;

/// Rounds of a place, and places, from which on order statistics tell the error of a median.
const ENOUGH: usize = 9;

/// Degrees of freedom of a roughness, which comes from about as many gaps as the window holds.
const ROUGH_DEGREES: f64 = 12.0;

/// Median of the absolute value of a normal variable of standard deviation 1.
const TYPICAL: f64 = 0.6745;

/// One size.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// Bytes.
    pub size: u64,
    /// Natural logarithm of the size.
    pub x: f64,
    /// Natural logarithm of the time, seconds, without what its rounds have in common with those of other sizes.
    pub y: f64,
    /// Error of `y`: its rounds' noise, or what the curve's roughness about it shows beyond that.
    pub error: StandardError,
    /// Error of `y` by the clock's resolution, as a logarithm.
    pub rounding: f64,
    /// Natural logarithms of its rounds, freed likewise.
    pub rounds: Vec<f64>,
    /// The same by their numbers, about their median.
    pub numbered: BTreeMap<u32, f64>,
    /// What it shares with its neighbours in each round; none where that may be chance.
    pub local: Option<Local>,
}

/// The curve, ascending, without sizes of 0.
pub(super) struct Rough {
    pub places: Vec<Place>,
    /// For each gap between neighbours, how fast the curve grows about it: 0 (start-up costs all) to 1 (bytes cost all).
    pub slopes: Vec<f64>,
    /// For each place, how far its rounds lie from the curve about it.
    pub strays: Vec<Vec<f64>>,
    /// The absolute values of all those, ascending.
    pub far: Vec<f64>,
    /// Rounds of the run.
    pub rounds: usize,
}

impl Rough {
    pub fn of(curve: &Curve) -> Self {
        let used: Vec<usize> = (0..curve.points.len()).filter(|i| curve.points[*i].size > 0).collect();
        let alone: Vec<&[f64]> = used.iter().map(|i| curve.alone(*i)).collect();
        let heavy = heaviness(&alone);
        let sigma = pooled_log_sigma(&alone.iter().map(|times| times.to_vec()).collect::<Vec<_>>());
        let mut places: Vec<Place> = used
            .iter()
            .zip(&alone)
            .map(|(&i, times)| {
                let seconds = if times.is_empty() { curve.points[i].seconds } else { median(times) };
                let error = median_log_error(times, sigma).unwrap_or(StandardError { value: 0.0, degrees: 1.0 });
                Place {
                    size: curve.points[i].size,
                    x: (curve.points[i].size as f64).ln(),
                    y: seconds.ln(),
                    error,
                    rounding: (curve.points[i].rounding / seconds).ln_1p(),
                    rounds: times.iter().map(|t| t.ln()).collect(),
                    numbered: curve.at_level(i).map(|(round, t)| (round, (t / seconds).ln())).collect(),
                    local: curve.local[i].clone(),
                }
            })
            .collect();
        places.dedup_by_key(|p| p.size);
        let slopes: Vec<f64> = (0..places.len().saturating_sub(1)).map(|gap| slope(&places, gap)).collect();
        let rough: Vec<f64> = (0..places.len()).map(|i| roughness(&places, &slopes, i)).collect();
        for (place, rough) in places.iter_mut().zip(rough) {
            // The larger of two errors, with the degrees of freedom of both.
            let degrees = place.error.degrees + ROUGH_DEGREES;
            place.error = StandardError { value: (heavy * place.error.value).max(rough), degrees };
        }
        let mut rough = Self { places, slopes, strays: Vec::new(), far: Vec::new(), rounds: curve.rounds };
        rough.strays = (0..rough.places.len()).map(|i| rough.strays_of(i)).collect();
        rough.far = rough.strays.iter().flatten().map(|s| s.abs()).collect();
        rough.far.sort_unstable_by(f64::total_cmp);
        rough
    }

    /// How far time jumps from one place to a later one, beyond what growth with size explains.
    pub fn excess(&self, from: usize, to: usize) -> f64 {
        self.places[to].y - self.places[from].y - self.growth(from, to)
    }

    /// Raises these places by a logarithm of time.
    pub fn raise(&mut self, places: std::ops::Range<usize>, by: f64) {
        for place in &mut self.places[places] {
            place.y += by;
            place.rounds.iter_mut().for_each(|b| *b += by);
        }
    }

    /// How far a place's rounds lie from the median of all rounds of this place and its neighbours, growth subtracted.
    fn strays_of(&self, i: usize) -> Vec<f64> {
        let about = i.saturating_sub(BESIDE)..(i + BESIDE + 1).min(self.places.len());
        let all = about.flat_map(|p| {
            let growth = if p < i { self.growth(p, i) } else { -self.growth(i, p) };
            self.places[p].rounds.iter().map(move |b| b + growth)
        });
        let middle = median(&all.collect::<Vec<_>>());
        self.places[i].rounds.iter().map(|b| b - middle).collect()
    }

    /// How far time grows with size from one place to a later one.
    pub fn growth(&self, from: usize, to: usize) -> f64 {
        (from..to).map(|gap| self.slopes[gap] * (self.places[gap + 1].x - self.places[gap].x)).sum()
    }
}

/// The error of medians on this path over the one that the spread of rounds predicts: below 1 where rounds stray far, but seldom (a slow
/// state, a long tail), which widens their spread and hardly moves their median. The median over all places, each from the order statistics
/// as far from the median in rank as a standard error of a median reaches.
fn heaviness(alone: &[&[f64]]) -> f64 {
    let of = |ascending: &&[f64]| {
        let k = ascending.len();
        let error = (k >= ENOUGH).then(|| median_log_error(ascending, 0.0))??;
        let (middle, reach) = ((k - 1) as f64 / 2.0, (k as f64).sqrt() / 2.0);
        let at = |rank: f64| {
            let (low, part) = (rank.floor().max(0.0), rank.fract());
            let (a, b) = (low as usize, (low as usize + 1).min(k - 1));
            ascending[a].ln() * (1.0 - part) + ascending[b].ln() * part
        };
        (error.value > 0.0).then(|| (at(middle + reach) - at(middle - reach)) / 2.0 / error.value)
    };
    let shares: Vec<f64> = alone.iter().filter_map(of).collect();
    if shares.len() < ENOUGH { 1.0 } else { median(&shares).min(1.0) }
}

/// Gaps about this one: those in the window, and so many at least.
fn about(places: &[Place], gap: usize) -> std::ops::Range<usize> {
    let middle = (places[gap].x + places[gap + 1].x) / 2.0;
    let gaps = places.len() - 1;
    let (first, last) = (gap.saturating_sub(MOST_GAPS), (gap + 1 + MOST_GAPS).min(gaps));
    let from = places.partition_point(|p| p.x < middle - WINDOW).min(gap.saturating_sub(GAPS)).max(first);
    let to = places.partition_point(|p| p.x <= middle + WINDOW).saturating_sub(1);
    let to = to.max((gap + 1 + GAPS).min(gaps)).min(last);
    from..to
}

/// The weighted median of the slopes from neighbour to neighbour about a gap, by their width: an edge is one slope among many and does not
/// move it. Time neither falls with size nor grows faster than it.
fn slope(places: &[Place], gap: usize) -> f64 {
    let slope = middle_slope(places, about(places, gap));
    if slope.is_finite() { slope.clamp(0.0, 1.0) } else { 0.0 }
}

/// Median of the slopes from neighbour to neighbour over these gaps, weighted by width; NaN without any.
fn middle_slope(places: &[Place], gaps: std::ops::Range<usize>) -> f64 {
    let mut slopes: Vec<(f64, f64)> = gaps
        .map(|g| (places[g + 1].x - places[g].x, places[g + 1].y - places[g].y))
        .map(|(dx, dy)| (dy / dx, dx))
        .collect();
    stats::weighted_median(&mut slopes)
}

/// Standard deviation of a point about the smooth curve, from how far its neighbours jump, robustly.
fn roughness(places: &[Place], slopes: &[f64], i: usize) -> f64 {
    if slopes.is_empty() {
        return 0.0;
    }
    let jumps: Vec<f64> = about(places, i.min(slopes.len() - 1))
        .map(|g| (places[g + 1].y - places[g].y - slopes[g] * (places[g + 1].x - places[g].x)).abs())
        .collect();
    median(&jumps) / TYPICAL / std::f64::consts::SQRT_2
}
