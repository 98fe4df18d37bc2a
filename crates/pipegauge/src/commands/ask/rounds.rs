//! What rounds alone tell of two paths, where no interval does.

use model::CurvePoint;

/// Rounds of each path that lie all to one side of the other's and tell the two apart: of so many that are alike, one in 35 would by
/// chance.
const ROUNDS: usize = 4;

/// Fewest rounds that do so where they lie further apart than those of either path among themselves; of two such rounds of equal paths one size
/// in eleven would.
const FEWEST: usize = 3;

/// Two rounds do where they lie further apart than this, too: no two states of one path are so unlike.
const TWO: usize = 2;
const FAR: f64 = 3.0;

/// Whether the first path is the faster one in every round at a size (true), or the other (false): of the measured size, or of both that
/// it lies between. None where their rounds overlap, or are too few.
pub fn every_round(a: &[CurvePoint], b: &[CurvePoint], size: u64) -> Option<bool> {
    let below = nearest(a, b, size, true)?;
    let above = nearest(a, b, size, false)?;
    apart(below.0, below.1).filter(|first| apart(above.0, above.1) == Some(*first))
}

/// Whether every round of the first lies below every one of the second (true), or above it.
fn apart(p: &CurvePoint, q: &CurvePoint) -> Option<bool> {
    let range = |c: &CurvePoint| {
        let times = || c.rounds.iter().map(|b| b.1);
        (times().fold(f64::INFINITY, f64::min), times().fold(f64::NEG_INFINITY, f64::max))
    };
    let ((p_low, p_high), (q_low, q_high)) = (range(p), range(q));
    let rounds = p.rounds.len().min(q.rounds.len());
    let own = (p_high / p_low).max(q_high / q_low);
    let beyond = |high: f64, low: f64| {
        high < low
            && (rounds >= ROUNDS
                || (rounds >= FEWEST && low / high > own)
                || (rounds >= TWO && low / high > own.max(FAR)))
    };
    match () {
        () if beyond(p_high, q_low) => Some(true),
        () if beyond(q_high, p_low) => Some(false),
        () => None,
    }
}

/// A size's time for each bit that it moves.
fn each_bit(of: &CurvePoint) -> Option<CurvePoint> {
    let bits = of.throughput * of.seconds;
    (bits > 0.0 && bits.is_finite()).then(|| of.times(1.0 / bits))
}

/// Whether every round of a size of one path moves more bits a second than every one of a size of the other (true), or fewer. None where rounds
/// overlap or are too few, and of sizes that were not measured.
pub fn moves_more(a: (&[CurvePoint], u64), b: (&[CurvePoint], u64)) -> Option<bool> {
    let point = |(curve, size): (&[CurvePoint], u64)| curve.iter().find(|p| p.size == size).and_then(each_bit);
    apart(&point(a)?, &point(b)?)
}

/// Whether one path takes longer for the first of two sizes in every round (false) or less (true), and of what each moves a second whether the first
/// moves more in every round, where `flow` asks for that: of the measured sizes, or of those on either side of them.
pub fn every_round_of(curve: &[CurvePoint], (x, y): (u64, u64), flow: bool) -> Option<bool> {
    let beside = |size: u64| {
        let (below, above) = (curve.partition_point(|p| p.size <= size), curve.partition_point(|p| p.size < size));
        Some([curve.get(below.checked_sub(1)?)?, curve.get(above)?])
    };
    let read = |of: &CurvePoint| if flow { each_bit(of) } else { Some(of.clone()) };
    let (x, y) = (beside(x)?, beside(y)?);
    let mut found = x.iter().flat_map(|a| y.iter().map(|b| apart(&read(a)?, &read(b)?)));
    let first = found.next()??;
    found.all(|next| next == Some(first)).then_some(first)
}

/// The nearest size that both have, `size` itself or below it, or above. Curves are ascending by size.
fn nearest<'a>(
    a: &'a [CurvePoint],
    b: &'a [CurvePoint],
    size: u64,
    below: bool,
) -> Option<(&'a CurvePoint, &'a CurvePoint)> {
    let both = |p: &'a CurvePoint| Some((p, &b[b.binary_search_by_key(&p.size, |q| q.size).ok()?]));
    match below {
        true => a[..a.partition_point(|p| p.size <= size)].iter().rev().find_map(both),
        false => a[a.partition_point(|p| p.size < size)..].iter().find_map(both),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_rates_of_every_round_are_told_apart_without_an_interval() {
        let curve = |per_byte: f64| -> Vec<CurvePoint> {
            let of = |size: u64| {
                let t = 1e-6 + per_byte * size as f64;
                CurvePoint::of(size, t, (0..4).map(|i| (i, t * (1.0 + 0.1 * f64::from(i)))).collect())
            };
            [1024, 65_536, 1 << 20].map(of).to_vec()
        };
        let (fast, slow) = (curve(1e-10), curve(1e-9));
        assert_eq!(every_round_of(&fast, (1024, 1 << 20), false), Some(true), "the small one takes less");
        assert_eq!(every_round_of(&fast, (1 << 20, 1024), true), Some(true), "the large one moves more a second");
        assert_eq!(every_round_of(&fast, (1024, 1 << 20), true), Some(false));
        assert_eq!(every_round_of(&fast, (1024, 1024), false), None, "one size");
        assert_eq!(every_round_of(&fast, (2000, 500_000), false), None, "both may be near 64 KiB");
        assert_eq!(every_round_of(&fast, (1 << 21, 1024), false), None, "not measured");
        assert_eq!(moves_more((&fast, 1 << 20), (&slow, 1 << 20)), Some(true));
        assert_eq!(moves_more((&slow, 1 << 20), (&fast, 65_536)), Some(false));
        assert_eq!(moves_more((&fast, 1 << 20), (&fast, 1 << 20)), None);
    }

    #[test]
    fn rounds_that_do_not_overlap_tell_two_paths_apart_without_an_interval() {
        let curve = |least: f64, most: f64| -> Vec<CurvePoint> {
            let of = |size: u64| {
                let rounds = (0..6).map(|i| (i, least + (most - least) * f64::from(i) / 5.0)).collect();
                CurvePoint::of(size, (least + most) / 2.0, rounds)
            };
            [1, 1024].map(of).to_vec()
        };
        let (shm, tcp) = (curve(1e-6, 3.8e-6), curve(50e-6, 190e-6));
        assert_eq!([1, 64, 1024].map(|s| every_round(&shm, &tcp, s)), [Some(true); 3]);
        assert_eq!(every_round(&tcp, &shm, 64), Some(false));
        assert_eq!(every_round(&shm, &tcp, 4096), None, "beyond what was measured");
        assert_eq!(every_round(&shm, &curve(3e-6, 9e-6), 1), None, "the ranges overlap");
        let few = |n: usize| -> Vec<CurvePoint> {
            shm.iter().map(|p| CurvePoint { rounds: p.rounds[..n].to_vec(), ..p.clone() }).collect()
        };
        assert_eq!(every_round(&few(3), &tcp, 1), Some(true), "three rounds, further apart than their own states");
        assert_eq!(every_round(&few(3), &curve(4e-6, 15e-6), 1), None, "three rounds that lie near are too few");
        assert_eq!(every_round(&few(2), &tcp, 1), Some(true), "two rounds, far apart");
        assert_eq!(every_round(&few(2), &curve(2e-6, 4e-6), 1), None, "two rounds, not far apart");
        assert_eq!(every_round(&few(1), &tcp, 1), None, "one round says nothing");
    }
}
