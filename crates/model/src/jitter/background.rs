//! A red background: levels that wander and return (a first-order autoregression in continuous time), with white noise and a straight
//! drift.

/// Variances of the wandering levels that are tried, over that of the white noise.
const RATIOS: [f64; 8] = [0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0, 1000.0];

/// Return times that are tried lie this factor apart, up to so many lengths of the run: beyond that a process does not return within it.
const APART: f64 = 2.5;
const LONGEST: f64 = 30.0;

/// A background, in units of its white noise.
#[derive(Debug, Clone, Copy)]
pub(super) struct Background {
    /// Variance of the wandering levels.
    ratio: f64,
    /// Time in which they return to the middle, by a factor of e, seconds.
    returns: f64,
}

impl Background {
    /// Backgrounds for moments (seconds, ascending), evenly on the logarithmic axes of both parameters, the first with white noise alone.
    pub fn all(moments: &[f64]) -> Vec<Self> {
        let (Some(first), Some(last)) = (moments.first(), moments.last()) else { return Vec::new() };
        let span = last - first;
        let mut all = vec![Self { ratio: 0.0, returns: 1.0 }];
        if span.is_nan() || span <= 0.0 {
            return all;
        }
        let shortest = span / moments.len() as f64 / 2.0;
        for returns in (0..40).map(|i| shortest * APART.powi(i)).take_while(|p| *p <= LONGEST * span) {
            // One that hardly returns within the run may start anywhere: its variance grows with its return time.
            let wider = (returns / span).max(1.0);
            all.extend(RATIOS.iter().map(|ratio| Self { ratio: ratio * wider, returns }));
        }
        all
    }

    /// Whether it wanders and hardly returns within so many seconds.
    pub fn wanders(self, within: f64) -> bool {
        self.ratio > 0.0 && self.returns > within
    }

    /// The likeliest background of a series; none of fewer than eight levels, or where none vary.
    pub fn of(series: &[(f64, f64)]) -> Option<Self> {
        let moments: Vec<f64> = series.iter().map(|s| s.0).collect();
        let scored = Self::all(&moments).into_iter().filter_map(|b| Some((b.line(series)?.likelihood, b)));
        scored.filter(|_| series.len() >= 8).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, b)| b)
    }

    /// A straight line through a series on this background.
    pub fn line(self, series: &[(f64, f64)]) -> Option<Line> {
        let start = series.first()?.0;
        let mut sums = [[0.0; 3]; 3];
        let logs = self.whiten(
            series,
            |at, level| [level, 1.0, at - start],
            |row| {
                for (i, sum) in sums.iter_mut().enumerate() {
                    sum.iter_mut().zip(row).for_each(|(s, v)| *s += row[i] * v);
                }
            },
        );
        let n = series.len() as f64;
        // Sums of the level, the constant and the moment, each less what the ones before it explain.
        let [[yy, y1, yt], [_, ones, t1], [_, _, tt]] = sums;
        let (yy, yt, tt) = (yy - y1 * y1 / ones, yt - y1 * t1 / ones, tt - t1 * t1 / ones);
        let slope = yt / tt;
        let left = yy - slope * yt;
        let likelihood = -0.5 * (n - 2.0) * left.ln() - 0.5 * (logs + ones.ln() + tt.ln());
        let error = (left / (n - 2.0) / tt).sqrt();
        (likelihood.is_finite() && error.is_finite()).then_some(Line { slope, error, likelihood })
    }

    /// Power of sines at `many` frequencies, `first` and then `step` apart (Hz), beyond the background: by chance it is exponential with
    /// mean 1.
    pub fn powers(self, series: &[(f64, f64)], first: f64, step: f64, many: usize) -> Vec<f64> {
        let Some(start) = series.first().map(|s| s.0) else { return Vec::new() };
        let mut rows: Vec<[f64; 3]> = Vec::with_capacity(series.len());
        self.whiten(series, |at, level| [level, 1.0, at - start], |row| rows.push(row));
        let rows = residual(&rows);
        let gains = self.gains(series);
        let turn =
            |frequency: f64| series.iter().map(move |s| (std::f64::consts::TAU * frequency * (s.0 - start)).sin_cos());
        let mut now: Vec<(f64, f64)> = turn(first).collect();
        let on: Vec<(f64, f64)> = turn(step).collect();
        let mut powers = Vec::with_capacity(many);
        for _ in 0..many {
            // Sums over the whitened rows of sine and cosine with the level, the two straight columns, and each other.
            let (mut s, mut c) = (0.0, 0.0);
            let mut sums = [0.0; 9];
            for ((now, gain), row) in now.iter().zip(&gains).zip(&rows) {
                (s, c) = (s * gain.0, c * gain.0);
                let (es, ec) = (now.0 - s, now.1 - c);
                (s, c) = (s + gain.1 * es, c + gain.1 * ec);
                let (es, ec) = (es * gain.2, ec * gain.2);
                let each = [
                    es * row[0],
                    ec * row[0],
                    es * row[1],
                    ec * row[1],
                    es * row[2],
                    ec * row[2],
                    es * es,
                    ec * ec,
                    es * ec,
                ];
                sums.iter_mut().zip(each).for_each(|(s, v)| *s += v);
            }
            let [ys, yc, s1, c1, st, ct, ss, cc, sc] = sums;
            let (ss, cc, sc) = (ss - s1 * s1 - st * st, cc - c1 * c1 - ct * ct, sc - s1 * c1 - st * ct);
            let (det, all) = (ss * cc - sc * sc, rows.iter().map(|r| r[0] * r[0]).sum::<f64>());
            let told =
                if det > 1e-9 * ss * cc { (ys * ys * cc - 2.0 * ys * yc * sc + yc * yc * ss) / det } else { 0.0 };
            let left = (all - told).max(f64::MIN_POSITIVE);
            powers.push(if all > 0.0 { 0.5 * (rows.len() as f64 - 5.0).max(0.0) * (all / left).ln() } else { 0.0 });
            for (now, on) in now.iter_mut().zip(&on) {
                *now = (now.0 * on.1 + now.1 * on.0, now.1 * on.1 - now.0 * on.0);
            }
        }
        powers
    }

    /// The Kalman filter's numbers for each row: the share of the state that is kept, the gain, and one over the standard deviation of the
    /// innovation.
    fn gains(self, series: &[(f64, f64)]) -> Vec<(f64, f64, f64)> {
        let (mut variance, mut last) = (self.ratio, None::<f64>);
        let each = |(at, _): &(f64, f64)| {
            let kept = last.map_or(0.0, |last| (-(at - last) / self.returns).exp());
            if last.is_some() {
                variance = kept * kept * variance + (1.0 - kept * kept) * self.ratio;
            }
            last = Some(*at);
            let seen = variance + 1.0;
            let gain = variance / seen;
            variance *= 1.0 - gain;
            (kept, gain, 1.0 / seen.sqrt())
        };
        series.iter().map(each).collect()
    }

    /// Whitens columns by a Kalman filter: each row less what the rows before predict, over its standard deviation, goes to `tell`. Returns
    /// the sum of the logarithms of the variances.
    fn whiten<const N: usize>(
        self,
        series: &[(f64, f64)],
        row: impl Fn(f64, f64) -> [f64; N],
        mut tell: impl FnMut([f64; N]),
    ) -> f64 {
        let (mut state, mut logs) = ([0.0; N], 0.0);
        for ((at, level), (kept, gain, over)) in series.iter().zip(self.gains(series)) {
            let mut told = row(*at, *level);
            for (told, state) in told.iter_mut().zip(&mut state) {
                *state *= kept;
                *told -= *state;
                *state += gain * *told;
                *told *= over;
            }
            logs -= 2.0 * over.ln();
            tell(told);
        }
        logs
    }
}

/// A line on a background.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    /// Change of the level, as a logarithm, a second, and its standard error.
    pub slope: f64,
    pub error: f64,
    /// Logarithm of the background's likelihood, with the line and the scale of the noise integrated out (restricted likelihood).
    pub likelihood: f64,
}

/// Rows of (level, one, moment), the last two made orthogonal and of length 1, the first without them.
fn residual(rows: &[[f64; 3]]) -> Vec<[f64; 3]> {
    let mut columns: [Vec<f64>; 3] = std::array::from_fn(|i| rows.iter().map(|r| r[i]).collect());
    let [level, one, time] = &mut columns;
    unit(one);
    without(time, one);
    unit(time);
    without(level, one);
    without(level, time);
    (0..rows.len()).map(|k| std::array::from_fn(|i| columns[i][k])).collect()
}

fn unit(column: &mut [f64]) {
    let long = column.iter().map(|v| v * v).sum::<f64>().sqrt();
    if long > 0.0 {
        column.iter_mut().for_each(|v| *v /= long);
    }
}

/// Subtracts from a column its projection on another of length 1.
fn without(column: &mut [f64], other: &[f64]) {
    let share: f64 = column.iter().zip(other).map(|(c, o)| c * o).sum();
    column.iter_mut().zip(other).for_each(|(c, o)| *c -= share * o);
}
