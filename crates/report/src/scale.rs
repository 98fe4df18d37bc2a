//! Linear and logarithmic axes: where a value lies, which values get a tick, and what the tick says.

/// The quantity on an axis; it decides which ticks are round and how they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Message size, bytes: ticks at powers of two.
    Size,
    /// Time, seconds: ticks at 1, 2, 5 of a decade.
    Time,
    /// Throughput, bits a second: ticks at 1, 2, 5 of a decade.
    Rate,
    /// A share of something: ticks at 1, 2, 5 of a decade.
    Share,
    /// Transfers a second: ticks at 1, 2, 5 of a decade.
    PerSecond,
    /// Quality improvements a second: ticks at 1, 2, 5 of a decade.
    Quips,
    /// Seconds since a run's start: linear.
    Moment,
    /// Flows that load a path: linear, whole numbers.
    Flows,
    /// Connections of a path, as [`Quantity::Flows`], from one on.
    Connections,
    /// Rate that a sender offers, bits a second: ticks at 1, 2, 5 of a decade.
    Offered,
    /// Segments under way: linear.
    Segments,
}

impl Quantity {
    /// Title of its axis, without the name of what is measured.
    pub fn title(self) -> &'static str {
        match self {
            Quantity::Size => "Message size",
            Quantity::Time => "Transfer time",
            Quantity::Rate => "Throughput",
            Quantity::Share => "Reach",
            Quantity::PerSecond => "Transfers a second",
            Quantity::Quips => "Quality improvement a second",
            Quantity::Moment => "Time since the start",
            Quantity::Flows => "Loading flows",
            Quantity::Connections => "Connections",
            Quantity::Offered => "Offered rate",
            Quantity::Segments => "Congestion window",
        }
    }

    /// Whether it is a rate: linear where the curves allow.
    pub fn is_rate(self) -> bool {
        matches!(self, Quantity::Rate | Quantity::Quips)
    }
}

/// How values are spread along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// Equal distances.
    Linear,
    /// Equal ratios.
    Log,
}

/// An axis from `low` to `high`. `low < high`, both finite; both positive where `spread` is [`Spread::Log`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// Linear or logarithmic.
    pub spread: Spread,
    /// Value at the start of the axis.
    pub low: f64,
    /// Value at its end.
    pub high: f64,
}

/// A mark on an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Where.
    pub value: f64,
    /// What it says; none for a minor tick.
    pub label: Option<String>,
}

/// Ticks of an axis, with the unit that all labels share, if they share one.
#[derive(Debug, Clone, PartialEq)]
pub struct Ticks {
    /// Marks, ascending.
    pub ticks: Vec<Tick>,
    /// Unit left out of every label because it is the same; belongs into the axis title.
    pub unit: Option<String>,
}

impl Scale {
    /// An axis that holds all finite values, with a little room. None if there is no usable value.
    ///
    /// A linear axis starts at zero. An axis on which all values are equal gets room on both sides.
    pub fn covering(spread: Spread, quantity: Quantity, values: impl Iterator<Item = f64>) -> Option<Scale> {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        // A file may hold any number. Within these bounds no product and no ratio of two overflows.
        for v in values.filter(|v| (1e-150..1e150).contains(v)) {
            low = low.min(v);
            high = high.max(v);
        }
        if low > high {
            return None;
        }
        Some(match spread {
            // A path has at least one connection.
            Spread::Linear if quantity == Quantity::Connections && low >= 1.0 && high > 1.0 => {
                Scale { spread, low: 1.0, high: 1.0 + (high - 1.0) * 1.06 }
            }
            Spread::Linear => Scale { spread, low: 0.0, high: if high > 0.0 { high * 1.06 } else { 1.0 } },
            Spread::Log if high / low < 1.02 => Scale { spread, low: low / 2.0, high: high * 2.0 },
            Spread::Log => {
                let share = if quantity == Quantity::Size { 0.015 } else { 0.04 };
                let pad = (high / low).powf(share);
                Scale { spread, low: low / pad, high: high * pad }
            }
        })
    }

    /// Where `value` lies: 0 at the start of the axis, 1 at its end, outside of that beyond. NaN has no place.
    pub fn place(&self, value: f64) -> Option<f64> {
        let at = match self.spread {
            Spread::Linear => (value - self.low) / (self.high - self.low),
            Spread::Log if value > 0.0 => (value / self.low).ln() / (self.high / self.low).ln(),
            Spread::Log => return None,
        };
        at.is_finite().then_some(at)
    }

    /// About `about` labelled ticks (never more than a few above), with minor ones between where the spread is
    /// logarithmic.
    pub fn ticks(&self, quantity: Quantity, about: usize) -> Ticks {
        let about = about.max(2);
        let (major, minor) = match (self.spread, quantity) {
            (Spread::Linear, Quantity::Size) => (self.binary_steps(about), Vec::new()),
            (Spread::Linear, Quantity::Flows | Quantity::Connections) => (self.whole_steps(about), Vec::new()),
            (Spread::Linear, _) => (self.round_steps(about), Vec::new()),
            (Spread::Log, Quantity::Size) => self.octaves(about),
            (Spread::Log, _) => self.decades(about),
        };
        let mut labels: Vec<String> = major.iter().map(|&v| label(quantity, v)).collect();
        let unit = shared_unit(&labels);
        if let Some(unit) = &unit {
            for l in &mut labels {
                if let Some(number) = l.strip_suffix(unit.as_str()) {
                    *l = number.trim_end().to_owned();
                }
            }
        }
        let mut ticks: Vec<Tick> =
            major.iter().zip(labels).map(|(&value, label)| Tick { value, label: Some(label) }).collect();
        let is_major = |v: f64| major.iter().any(|&m| (m / v - 1.0).abs() < 1e-9);
        ticks.extend(minor.into_iter().filter(|&v| !is_major(v)).map(|value| Tick { value, label: None }));
        ticks.sort_by(|a, b| a.value.total_cmp(&b.value));
        Ticks { ticks, unit }
    }

    fn holds(&self, v: f64) -> bool {
        let slack = (self.high - self.low) * 1e-9;
        v >= self.low - slack && v <= self.high + slack
    }

    /// Steps of 1, 2, 2.5 or 5 times a power of ten.
    fn round_steps(&self, about: usize) -> Vec<f64> {
        let raw = (self.high - self.low) / about as f64;
        let power = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= raw * 0.999);
        self.multiples(step.unwrap_or(10.0 * power))
    }

    /// Steps of a power of two bytes: sizes of a small range, such as 58 KiB, 60 KiB, 62 KiB.
    fn binary_steps(&self, about: usize) -> Vec<f64> {
        let raw = ((self.high - self.low) / about as f64).max(1.0);
        self.multiples(2f64.powf(raw.log2().ceil()))
    }

    /// Round steps of one or more: counts are whole numbers.
    fn whole_steps(&self, about: usize) -> Vec<f64> {
        let steps = self.round_steps(about);
        let mut steps = if steps.iter().all(|v| v.fract() == 0.0) { steps } else { self.multiples(1.0) };
        // Where the axis begins at one connection, with which the others are compared, so do its marks.
        if self.low == 1.0 && steps.first().is_some_and(|first| *first > 1.0) {
            steps.insert(0, 1.0);
        }
        steps
    }

    fn multiples(&self, step: f64) -> Vec<f64> {
        let (first, last) = ((self.low / step).ceil(), (self.high / step).floor());
        let count = (last - first).clamp(0.0, 100.0) as usize;
        (0..=count).map(|i| (first + i as f64) * step).filter(|&v| self.holds(v)).collect()
    }

    /// Powers of two, labelled each first, second, fourth, fifth, tenth and so on.
    fn octaves(&self, about: usize) -> (Vec<f64>, Vec<f64>) {
        let (first, last) = (self.low.log2().ceil() as i64, self.high.log2().floor() as i64);
        if last - first < 2 {
            return (self.binary_steps(about), Vec::new());
        }
        let at = |step: i64| (first..=last).filter(move |e| e % step == 0);
        let steps = [1, 2, 4, 5, 10, 20, 40, 100];
        let step = steps.into_iter().find(|&s| at(s).count() <= about).unwrap_or(200);
        (at(step).map(|e| 2f64.powi(e as i32)).collect(), at(1).map(|e| 2f64.powi(e as i32)).collect())
    }

    /// Powers of ten, with 2 and 5 between them where there is room.
    fn decades(&self, about: usize) -> (Vec<f64>, Vec<f64>) {
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let of = |multiples: &[u32], step: i32| -> Vec<f64> {
            let exponents = (first..=last).filter(|e| e % step == 0);
            let values = exponents.flat_map(|e| multiples.iter().map(move |&m| decimal(m, e)));
            values.filter(|&v| self.holds(v)).collect()
        };
        let labelled = [1, 2, 3, 6, 12, 24, 50, 100, 200].map(|step| of(&[1], step));
        let choices = std::iter::once(of(&[1, 2, 5], 1)).chain(labelled);
        let major = choices.into_iter().find(|v| v.len() <= about).unwrap_or_default();
        if major.len() < 2 {
            return (self.round_steps(about), Vec::new());
        }
        // Beyond a dozen decades minor marks would run into each other.
        let minor = if last - first <= 12 { of(&[1, 2, 3, 4, 5, 6, 7, 8, 9], 1) } else { Vec::new() };
        (major, minor)
    }
}

/// `m` times ten to the `e`, as exact as a decimal literal.
fn decimal(m: u32, e: i32) -> f64 {
    let m = f64::from(m);
    if e < 0 { m / 10f64.powi(-e) } else { m * 10f64.powi(e) }
}

/// A value in its unit, without superfluous digits: `10 Gbit/s`, `2.5 us`, `64 KiB`.
pub fn label(quantity: Quantity, value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let kind = match quantity {
        Quantity::Size => units::Kind::Bytes,
        Quantity::Time => units::Kind::Seconds,
        Quantity::Rate | Quantity::Offered => units::Kind::BitsPerSecond,
        Quantity::Share => units::Kind::Share,
        Quantity::PerSecond => units::Kind::PerSecond,
        Quantity::Quips => units::Kind::Quips,
        // All moments are in seconds, so that two on one axis can be compared.
        Quantity::Moment => return format!("{} s", (value * 1e6).round() / 1e6),
        Quantity::Flows | Quantity::Connections => return value.to_string(),
        Quantity::Segments => return format!("{} segments", (value * 1e3).round() / 1e3),
    };
    units::short(value, kind)
}

/// The unit that every label but "0" ends in, with its space. At least two must have it.
fn shared_unit(labels: &[String]) -> Option<String> {
    let mut units = labels.iter().filter(|l| *l != "0").map(|l| l.split_once(' ').map(|(_, unit)| unit));
    let first = units.next()??;
    let mut others = units.peekable();
    others.peek()?;
    others.all(|u| u == Some(first)).then(|| first.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(t: &Ticks) -> Vec<&str> {
        t.ticks.iter().filter_map(|t| t.label.as_deref()).collect()
    }

    #[test]
    fn no_number_makes_an_axis_without_end() {
        for outlier in [f64::MAX, 5e-324, f64::INFINITY, f64::NAN, -1.0, 0.0, 1e149, 1e-149] {
            for (spread, quantity) in [
                (Spread::Linear, Quantity::Size),
                (Spread::Linear, Quantity::Time),
                (Spread::Log, Quantity::Size),
                (Spread::Log, Quantity::Time),
            ] {
                let scale = Scale::covering(spread, quantity, [1.0, outlier, 2.0].into_iter()).unwrap();
                assert!(scale.low.is_finite() && scale.high.is_finite());
                assert!(scale.ticks(quantity, 8).ticks.len() < 2000, "{outlier}");
            }
        }
    }

    #[test]
    fn sizes_are_labelled_at_powers_of_two() {
        let s = Scale { spread: Spread::Log, low: 1.0, high: 8.0 * 1024.0 * 1024.0 };
        let t = s.ticks(Quantity::Size, 8);
        assert_eq!(labels(&t), ["1 B", "16 B", "256 B", "4 KiB", "64 KiB", "1 MiB"]);
        assert_eq!(t.ticks.len(), 24, "a minor tick at each power of two");
    }

    #[test]
    fn a_small_size_range_gets_binary_steps() {
        let s = Scale { spread: Spread::Log, low: 59_000.0, high: 72_000.0 };
        let t = s.ticks(Quantity::Size, 6);
        assert_eq!(labels(&t), ["60", "64", "68"]);
        assert_eq!(t.unit.as_deref(), Some("KiB"));
    }

    #[test]
    fn times_over_decades_carry_their_units() {
        let s = Scale { spread: Spread::Log, low: 2e-7, high: 2e-3 };
        assert_eq!(labels(&s.ticks(Quantity::Time, 6)), ["1 us", "10 us", "100 us", "1 ms"]);
    }

    #[test]
    fn one_decade_gets_one_two_five() {
        let s = Scale { spread: Spread::Log, low: 0.9e-6, high: 11e-6 };
        let t = s.ticks(Quantity::Time, 6);
        assert_eq!(labels(&t), ["1", "2", "5", "10"]);
        assert_eq!(t.unit.as_deref(), Some("us"));
    }

    #[test]
    fn a_shared_unit_moves_to_the_title() {
        let s = Scale { spread: Spread::Linear, low: 0.0, high: 38e9 };
        let t = s.ticks(Quantity::Rate, 5);
        assert_eq!(labels(&t), ["0", "10", "20", "30"]);
        assert_eq!(t.unit.as_deref(), Some("Gbit/s"));
    }

    #[test]
    fn equal_values_and_no_values() {
        let one = Scale::covering(Spread::Log, Quantity::Time, [3.0].into_iter()).expect("a scale");
        assert!(one.low < 3.0 && one.high > 3.0);
        assert_eq!(one.place(3.0).map(|p| (p * 1e9).round() / 1e9), Some(0.5));
        assert_eq!(Scale::covering(Spread::Log, Quantity::Time, [f64::NAN, -1.0, 0.0].into_iter()), None);
    }

    #[test]
    fn a_value_without_place_has_none() {
        let s = Scale { spread: Spread::Log, low: 1.0, high: 10.0 };
        assert_eq!(s.place(0.0), None);
        assert_eq!(s.place(f64::NAN), None);
    }

    #[test]
    fn ticks_never_flood_an_axis() {
        for (low, high) in [(1e-9, 1e9), (1.0, 1.0000001), (1e300, 1e305), (1e-300, 1.0)] {
            for spread in [Spread::Linear, Spread::Log] {
                for q in [Quantity::Size, Quantity::Time, Quantity::Rate] {
                    let t = Scale { spread, low, high }.ticks(q, 6);
                    assert!(labels(&t).len() <= 12, "{low} {high} {spread:?} {q:?}: {}", labels(&t).len());
                    assert!(t.ticks.iter().all(|t| t.value.is_finite()));
                }
            }
        }
    }
}
