//! The largest throughput, without the luck of the largest.
//!
//! On a plateau of thirty sizes, the highest of thirty noisy medians lies one and a half standard errors above every
//! one of them, and so does its interval: neither would be confirmed by a second run. Choosing the size with one half
//! of the blocks and reading the throughput from the other half is free of that.

use rand::Rng;
use rand::seq::SliceRandom;
use stats::{mean, median};

use crate::Estimate;
use crate::curve::{Curve, Point};
use crate::shape::Place;

/// Random halvings of the blocks. Each block is read in half of them.
const HALVINGS: usize = 64;

/// Index of the highest point; of equals, the smallest.
fn highest(curve: &Curve) -> Option<usize> {
    let of = |i: usize| curve.points[i].throughput(curve.points[i].seconds);
    (0..curve.points.len()).rev().max_by(|a, b| of(*a).total_cmp(&of(*b)))
}

/// The maximum as the blocks tell it.
#[derive(Default)]
pub(crate) struct HeldOut {
    /// For each block, (its index, its mean throughput at the places which halves of the other blocks chose as the
    /// highest), bits a second. Blocks that visited none of these are left out.
    pub blocks: Vec<(usize, f64)>,
    /// Which place each halving chose: an index into the places.
    pub chosen: Vec<usize>,
}

/// Reads the maximum of each block where others chose it. Nothing with fewer than two blocks.
pub(crate) fn held_out(curve: &Curve, places: &[Place], rng: &mut impl Rng) -> HeldOut {
    let table = table(curve, places);
    let mut order: Vec<usize> = (0..curve.blocks).collect();
    let (mut read, mut all) = (vec![Vec::new(); curve.blocks], Vec::new());
    if curve.blocks < 2 {
        return HeldOut::default();
    }
    for _ in 0..HALVINGS {
        order.shuffle(rng);
        let (choosers, readers) = order.split_at(curve.blocks / 2);
        if let Some((place, row)) = chosen(&table, choosers) {
            readers.iter().for_each(|block| read[*block].extend(row[*block]));
            all.push(*place);
        }
    }
    let read = read.iter().enumerate().filter(|(_, values)| !values.is_empty());
    HeldOut { blocks: read.map(|(block, values)| (block, mean(values))).collect(), chosen: all }
}

/// The place in which the median of the `choosers` is highest.
fn chosen<'a>(table: &'a [(usize, Row)], choosers: &[usize]) -> Option<&'a (usize, Row)> {
    let level = |row: &Row| {
        let seen: Vec<f64> = choosers.iter().filter_map(|block| row[*block]).collect();
        (!seen.is_empty()).then(|| median(&seen))
    };
    table.iter().filter_map(|row| Some((level(&row.1)?, row))).max_by(|a, b| a.0.total_cmp(&b.0)).map(|best| best.1)
}

/// Throughput of each block at one place.
type Row = Vec<Option<f64>>;

/// The places with their indices, without those that few blocks visited: the median of one lucky block would be the choice of
/// all halves.
fn table(curve: &Curve, places: &[Place]) -> Vec<(usize, Row)> {
    let rows: Vec<Row> = places
        .iter()
        .map(|place| {
            let mut seen = vec![Vec::new(); curve.blocks];
            for point in &curve.points[place.points.0..place.points.1] {
                for (block, seconds) in curve.at_level(point) {
                    seen[block].push(point.throughput(seconds));
                }
            }
            seen.iter().map(|values| (!values.is_empty()).then(|| median(values))).collect()
        })
        .collect();
    let visits = |row: &Row| row.iter().flatten().count();
    let most = rows.iter().map(visits).max().unwrap_or(0);
    rows.into_iter().enumerate().filter(|(_, row)| visits(row) >= most.div_ceil(2)).collect()
}

/// The point that stands for the maximum: of those whose interval holds what the held-out blocks read, the one that lies
/// nearest to it; the highest where there is none, or nothing was held out. What a reader finds in its row is what the
/// summary says.
/// Its index.
pub(crate) fn top(curve: &Curve, held_out: &HeldOut) -> Option<usize> {
    let values: Vec<f64> = held_out.blocks.iter().map(|(_, v)| *v).collect();
    let highest = highest(curve);
    if values.len() < 2 {
        return highest;
    }
    let maximum = median(&values);
    let off = |i: &usize| {
        let p = &curve.points[*i];
        (p.throughput(p.seconds) / maximum).ln().abs()
    };
    let holds = |i: &usize| {
        let t = throughput(&curve.points[*i]);
        t.high.is_finite() && t.low <= maximum && maximum <= t.high
    };
    (0..curve.points.len()).filter(holds).min_by(|a, b| off(a).total_cmp(&off(b))).or(highest)
}

/// A point's throughput with the interval of its time.
pub(crate) fn throughput(point: &Point) -> Estimate {
    let e = point.estimate;
    if e.high.is_finite() && e.low > 0.0 {
        Estimate::new(point.throughput(e.value), point.throughput(e.high), point.throughput(e.low))
    } else {
        Estimate::unbounded(point.throughput(e.value))
    }
}
