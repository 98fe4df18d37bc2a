//! A point of a curve as it is drawn.

/// One point of a curve. All figures are finite and positive: points that are not are left out and counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pt {
    /// Message size, bytes (HINT: subintervals).
    pub size: u64,
    /// Median time of one transfer, seconds.
    pub seconds: f64,
    /// Its 95% interval, seconds, lower end first; none where an end is open or the point has too few rounds for one.
    pub interval: Option<(f64, f64)>,
    /// Shortest trial, seconds a transfer.
    pub min: f64,
    /// Bits a second that the median stands for (HINT: QUIPS).
    pub throughput: f64,
    /// A warning of the run names this point.
    pub warned: bool,
}

impl Pt {
    /// Throughput that this point would have at another time a transfer.
    ///
    /// The bits of one transfer are `throughput * seconds`, whatever the pattern counts as a transfer.
    pub fn throughput_at(&self, seconds: f64) -> f64 {
        self.throughput * self.seconds / seconds
    }
}

/// The point with every figure usable, or nothing where its median or throughput isn't a positive number. An interval
/// with an open or missing end is none; a minimum that is missing falls back to the median.
pub fn clean(p: Pt) -> Option<Pt> {
    let positive = |v: f64| v.is_finite() && v > 0.0;
    if !positive(p.seconds) || !positive(p.throughput) || p.size == 0 {
        return None;
    }
    let interval = p.interval.filter(|&(low, high)| positive(low) && positive(high) && low <= high);
    let min = if positive(p.min) { p.min } else { p.seconds };
    Some(Pt { interval, min, ..p })
}
