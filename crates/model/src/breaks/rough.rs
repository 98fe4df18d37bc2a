//! A curve on logarithmic axes, with how fast it grows about each gap and how rough it is there.

use stats::{StandardError, median, median_log_error, pooled_log_sigma};

use crate::curve::Curve;

/// Half of the window in which slope and roughness are taken, as a logarithm of size: 0.6 of a decade.
const WINDOW: f64 = 1.4;

/// Gaps on each side that the window holds at least, where the curve has them, and at most: a curve of very many sizes is
/// smooth from one to the next.
const GAPS: usize = 6;
const MOST_GAPS: usize = 60;

/// The window on one side of a span from which its trend is taken, as a logarithm of size, and gaps that it holds at least:
/// short, so that a bend shows.
const SIDE: f64 = 0.35;
const SIDE_GAPS: usize = 5;

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
    /// Natural logarithm of the time, freed of what its blocks have in common with those of other sizes.
    pub y: f64,
    /// Error of `y`: its blocks' noise, or what the curve's roughness about it shows beyond that.
    pub error: StandardError,
    /// Natural logarithms of its blocks, freed likewise.
    pub blocks: Vec<f64>,
}

/// The curve, ascending, without sizes of 0.
pub(super) struct Rough {
    pub places: Vec<Place>,
    /// For each gap between neighbours, how fast the curve grows about it: 0 (start-up costs all) to 1 (bytes cost all).
    pub slopes: Vec<f64>,
    /// For each place, the pace of the curve on the one side and on the other, where there is any.
    before: Vec<Option<f64>>,
    after: Vec<Option<f64>>,
}

impl Rough {
    pub fn of(curve: &Curve) -> Self {
        let used: Vec<usize> = (0..curve.points.len()).filter(|i| curve.points[*i].size > 0).collect();
        let alone: Vec<&[f64]> = used.iter().map(|i| curve.alone(*i)).collect();
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
                    blocks: times.iter().map(|t| t.ln()).collect(),
                }
            })
            .collect();
        places.dedup_by_key(|p| p.size);
        let slopes: Vec<f64> = (0..places.len().saturating_sub(1)).map(|gap| slope(&places, gap)).collect();
        let rough: Vec<f64> = (0..places.len()).map(|i| roughness(&places, &slopes, i)).collect();
        for (place, rough) in places.iter_mut().zip(rough) {
            // The larger of two errors, known by both of what tell them.
            let degrees = place.error.degrees + ROUGH_DEGREES;
            place.error = StandardError { value: place.error.value.max(rough), degrees };
        }
        let mut rough = Self { places, slopes, before: Vec::new(), after: Vec::new() };
        rough.before = (0..rough.places.len()).map(|i| rough.trend_before(i)).collect();
        rough.after = (0..rough.places.len()).map(|i| rough.trend_after(i)).collect();
        rough
    }

    /// How far time jumps from one place to a later one, beyond what growth explains at the pace of the curve before it,
    /// after it, or anywhere between those: where a cache ends, time grows faster than size, and that is a bend.
    pub fn surprise(&self, from: usize, to: usize) -> f64 {
        let plain = self.excess(from, to);
        let wide = self.places[to].x - self.places[from].x;
        let usual = self.growth(from, to);
        let others = [self.before[from], self.after[to]].into_iter().flatten().map(|s| plain + usual - s * wide);
        let (low, high) = others.fold((plain, plain), |(low, high), e| (low.min(e), high.max(e)));
        if low > 0.0 { low } else { high.min(0.0) }
    }

    fn trend_before(&self, from: usize) -> Option<f64> {
        let first = self.places.partition_point(|p| p.x < self.places[from].x - SIDE);
        let first = first.min(from.saturating_sub(SIDE_GAPS)).max(from.saturating_sub(MOST_GAPS));
        self.trend(first..from)
    }

    fn trend_after(&self, to: usize) -> Option<f64> {
        let last = self.places.partition_point(|p| p.x <= self.places[to].x + SIDE).saturating_sub(1);
        let last = last.max((to + SIDE_GAPS).min(self.slopes.len())).min(to + MOST_GAPS);
        self.trend(to..last)
    }

    /// The middle of the slopes of these gaps.
    fn trend(&self, gaps: std::ops::Range<usize>) -> Option<f64> {
        let slope = middle_slope(&self.places, gaps);
        slope.is_finite().then_some(slope.max(0.0))
    }

    /// How far time jumps from one place to a later one, beyond what growth with size explains.
    pub fn excess(&self, from: usize, to: usize) -> f64 {
        self.places[to].y - self.places[from].y - self.growth(from, to)
    }

    /// How far time grows with size from one place to a later one.
    pub fn growth(&self, from: usize, to: usize) -> f64 {
        (from..to).map(|gap| self.slopes[gap] * (self.places[gap + 1].x - self.places[gap].x)).sum()
    }
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

/// The middle of the slopes from neighbour to neighbour about a gap, each weighted by its width: an edge is one slope among
/// many and does not move it. Time neither falls with size nor grows faster.
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
