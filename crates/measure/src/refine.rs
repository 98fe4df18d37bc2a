//! Where the curve jumps or bends, so that it needs more sizes: the paper found its chasm only because it looked again
//! with a finer step (`seeds/004`, section 4, figure 10).

/// A measured size: bytes, seconds, and the log standard deviation of the seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
    /// Bytes.
    pub size: u64,
    /// Seconds.
    pub seconds: f64,
    /// Trials behind `seconds`.
    pub trials: u32,
}

/// What to do about a place in the curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Look {
    /// Measure this size again: more evidence is needed before it is believed.
    Again(u64),
    /// Measure this new size, between two that differ.
    Between(u64),
}

/// A jump of the logarithm of time between neighbours beyond what any growth with size explains.
const JUMP: f64 = 0.12;

/// Trials that must agree before a jump is believed and bisected.
const BELIEVED: u32 = 3;

/// Sizes closer than this share of themselves are not bisected further.
const EDGE: f64 = 0.004;

/// Where to measure next, the largest jumps first, at most `most` places. `points` ascend in size; `noise` is the log standard deviation of
/// trials of one size.
pub fn looks(points: &[Seen], noise: f64, most: usize) -> Vec<Look> {
    let threshold = JUMP.max(4.0 * noise);
    let mut found: Vec<(f64, Seen, Seen)> = points
        .windows(2)
        .filter_map(|w| {
            let excess = jump(&w[0], &w[1]);
            (excess > threshold).then_some((excess, w[0], w[1]))
        })
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.size.cmp(&b.1.size)));
    let mut looks = Vec::new();
    for (_, a, b) in found {
        let doubtful: Vec<Look> = [a, b].iter().filter(|p| p.trials < BELIEVED).map(|p| Look::Again(p.size)).collect();
        if doubtful.is_empty() {
            let middle = ((a.size as f64) * (b.size as f64)).sqrt().round() as u64;
            let close = (b.size - a.size) as f64 <= (a.size as f64 * EDGE).max(1.0);
            if !close && middle > a.size && middle < b.size {
                looks.push(Look::Between(middle));
            }
        } else {
            looks.extend(doubtful);
        }
    }
    looks.dedup();
    looks.truncate(most);
    looks
}

/// How far the step from `a` to `b` exceeds what growth with size explains, as a logarithm: time neither falls nor grows faster than size.
fn jump(a: &Seen, b: &Seen) -> f64 {
    let rise = (b.seconds / a.seconds).ln();
    let growth = (b.size as f64 / a.size as f64).ln();
    if rise < 0.0 { -rise } else { (rise - growth).max(0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(size: u64, seconds: f64) -> Seen {
        Seen { size, seconds, trials: 9 }
    }

    #[test]
    fn a_smooth_curve_needs_no_more_sizes() {
        let points: Vec<Seen> = (1..2000).map(|s| seen(s * 7, 10e-6 + s as f64 * 7e-9)).collect();
        assert_eq!(looks(&points, 0.01, 9), []);
    }

    #[test]
    fn a_jump_seen_once_is_measured_again_before_it_is_believed() {
        let points = [seen(100, 1e-5), Seen { size: 110, seconds: 5e-5, trials: 1 }, seen(121, 1e-5)];
        let looks = looks(&points, 0.01, 9);
        assert_eq!(looks, [Look::Again(110)]);
    }

    #[test]
    fn both_edges_of_a_chasm_are_bisected() {
        let points = [seen(10_000, 1e-5), seen(11_000, 5e-5), seen(12_000, 1e-5)];
        assert_eq!(looks(&points, 0.01, 9).len(), 2);
    }

    #[test]
    fn edges_end_when_they_are_sharp() {
        assert_eq!(looks(&[seen(100_000, 1e-5), seen(100_200, 5e-5)], 0.01, 9), []);
    }
}
