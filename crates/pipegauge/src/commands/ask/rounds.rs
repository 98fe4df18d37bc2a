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
    let apart = |(p, q): (&CurvePoint, &CurvePoint)| {
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
    };
    apart(below).filter(|first| apart(above) == Some(*first))
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
