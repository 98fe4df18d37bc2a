//! Figures with their intervals, axis labels, and numbers with separators.

/// What a bare number stands for, where it does not travel as a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Seconds.
    Seconds,
    /// Bits a second.
    BitsPerSecond,
    /// Bytes.
    Bytes,
    /// Share of 1.
    Share,
    /// Seconds a byte.
    SecondsPerByte,
    /// Messages, transactions or connections a second.
    PerSecond,
    /// Quality improvements a second (HINT).
    Quips,
}

impl Kind {
    /// Units and their factors, ascending.
    fn scale(self) -> &'static [(&'static str, f64)] {
        match self {
            Kind::Seconds => &[("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0)],
            Kind::BitsPerSecond => {
                &[("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9), ("Tbit/s", 1e12)]
            }
            Kind::Bytes => &[
                ("B", 1.0),
                ("KiB", 1024.0),
                ("MiB", 1_048_576.0),
                ("GiB", 1_073_741_824.0),
                ("TiB", 1_099_511_627_776.0),
            ],
            Kind::Share => &[("%", 0.01)],
            Kind::SecondsPerByte => &[("ps/B", 1e-12), ("ns/B", 1e-9), ("us/B", 1e-6), ("ms/B", 1e-3)],
            Kind::Quips => &[("QUIPS", 1.0), ("kQUIPS", 1e3), ("MQUIPS", 1e6), ("GQUIPS", 1e9)],
            Kind::PerSecond => &[("/s", 1.0), ("k/s", 1e3), ("M/s", 1e6), ("G/s", 1e9)],
        }
    }

    /// The unit in which `value` reads best, after rounding: 999.96 us is 1.00 ms. Zero is in the unit that has no
    /// prefix.
    fn unit_for(self, value: f64) -> (&'static str, f64) {
        let scale = self.scale();
        if value == 0.0 {
            return scale.iter().copied().find(|(_, factor)| *factor == 1.0).unwrap_or(scale[0]);
        }
        let mut best = scale[0];
        for window in scale.windows(2) {
            let (rounded, _) = round_to_digits(value.abs() / window[0].1);
            if rounded * window[0].1 < window[1].1 * (1.0 - 1e-9) {
                break;
            }
            best = window[1];
        }
        best
    }
}

/// `value` with three significant digits and its unit: "9.23 us", "37.2 Gbit/s", "1.44 KiB"; with an exponent where its
/// units end: "1.00e-291 ns". An infinite value is "inf", a NaN "unknown".
pub fn significant(value: f64, kind: Kind) -> String {
    if let Some(word) = not_finite(value) {
        return word;
    }
    let (unit, factor) = kind.unit_for(value);
    if extreme(value / factor) {
        return join(&exponent(value / factor), unit);
    }
    let (rounded, decimals) = round_to_digits(value / factor);
    join(&grouped(rounded, decimals), unit)
}

/// As [`significant`], without trailing zeros, for axis labels: "1 KiB", "10 us", "2.5 us", "1 Gbit/s".
pub fn short(value: f64, kind: Kind) -> String {
    if let Some(word) = not_finite(value) {
        return word;
    }
    let (unit, factor) = kind.unit_for(value);
    if extreme(value / factor) {
        let text = exponent(value / factor);
        let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
        return join(&format!("{}e{power}", digits.trim_end_matches('0').trim_end_matches('.')), unit);
    }
    let (rounded, decimals) = round_to_digits(value / factor);
    let number = grouped(rounded, decimals);
    let number = if decimals > 0 { number.trim_end_matches('0').trim_end_matches('.') } else { &number };
    join(number, unit)
}

/// Numbers below and from which digits before or behind the point tell a reader nothing.
const LEAST: f64 = 1e-6;
const MOST: f64 = 1e9;

/// Most decimals of the ends about 0, which has none of its own.
const ZERO: usize = 9;

/// Most decimals of an end, enough for the least number that is written without an exponent.
const MOST_DECIMALS: usize = 12;

/// Ends of a positive figure's interval that lie further apart than this ratio tell a reader nothing: none is given.
pub const WIDEST: f64 = 1e3;

/// Ends that lie further apart than this ratio do not give a figure's first digit: it is not resolved, and the ends are all that is
/// known.
pub const RESOLVED: f64 = 10.0;

/// Width of a share's interval from which on an end at 0 or a ratio of [`RESOLVED`] counts: the bound of a small share is worth telling.
const WIDE_SHARE: f64 = 0.5;

/// A figure of a model and its interval, as [`with_interval`], but without false digits: where a positive figure's ends lie more than
/// [`RESOLVED`] times apart, "not resolved: between 19.0 us and 7.10 ms" ("not resolved" alone from [`WIDEST`] on), or where nothing keeps
/// it from 0, "not resolved: at most 7.10 ms".
/// A cost ([`Kind::SecondsPerByte`]) can't be negative: where its interval reaches 0, or the figure lies below it, its upper end is all
/// that is told, or where that is none either, nothing.
pub fn resolved(value: f64, low: f64, high: f64, kind: Kind) -> String {
    if kind == Kind::SecondsPerByte && (low <= 0.0 || value < 0.0) && low < high {
        return match high {
            h if h > 0.0 && h.is_finite() => at_most(h, kind),
            _ if value > 0.0 => with_interval(value, low, high, kind),
            _ => "not resolved".to_owned(),
        };
    }
    if value > 0.0 && low > 0.0 && high.is_finite() && high > WIDEST * low {
        return "not resolved".to_owned();
    }
    let positive = value > 0.0 && low >= 0.0 && high.is_finite();
    if !positive || high <= RESOLVED * low || (kind == Kind::Share && high - low < WIDE_SHARE) {
        return with_interval(value, low, high, kind);
    }
    match low {
        0.0 => at_most(high, kind),
        _ => format!("not resolved: between {} and {}", significant(low, kind), significant(high, kind)),
    }
}

/// What an upper bound alone tells of a figure that can't be told from 0.
pub fn at_most(high: f64, kind: Kind) -> String {
    format!("not resolved: at most {}", significant(high, kind))
}

/// A figure and its interval in one unit: "9.23 us [8.9, 9.6]". The ends carry the digits that the interval's width
/// gives them, at most those of the value unless that is 0, and are rounded outwards: the text never claims a narrower
/// interval than was computed. An end that is not 0 never reads 0: it gets the digits that it takes to say so. Where
/// nothing bounds an end, or the ends lie more than a thousandfold apart, it says that there is none.
pub fn with_interval(value: f64, low: f64, high: f64, kind: Kind) -> String {
    if let Some(word) = not_finite(value) {
        return word;
    }
    if !low.is_finite() || !high.is_finite() || (low > 0.0 && high / low > WIDEST) {
        return significant(value, kind) + " (no interval)";
    }
    // Ends about 0 are in the unit in which they read best.
    let (unit, factor) = kind.unit_for(if value == 0.0 { low.abs().max(high.abs()) } else { value });
    if extreme(value / factor) || (low.abs().max(high.abs()) / factor) >= MOST {
        let end = |end: f64, up: bool| exponent(outward_digits(end / factor, up));
        return join(&exponent(value / factor), unit) + &format!(" [{}, {}]", end(low, false), end(high, true));
    }
    let (rounded, decimals) = round_to_digits(value / factor);
    let half_width = (high - low) / factor / 2.0;
    let ends = if half_width.is_finite() && half_width > 0.0 {
        let most = if value == 0.0 { ZERO } else { decimals };
        (-half_width.log10().floor()).clamp(0.0, most as f64) as usize
    } else if half_width == 0.0 {
        decimals
    } else {
        decimals.min(1)
    };
    let end = |end: f64, up: bool| not_finite(end).unwrap_or_else(|| end_text(end / factor, ends, up));
    join(&grouped(rounded, decimals), unit) + &format!(" [{}, {}]", end(low, false), end(high, true))
}

/// A figure whose rounds give no interval, with the range that they span: "9.23 us (-, 2 rounds: 8.90 us to 9.60 us)".
pub fn spanned(value: f64, rounds: u32, low: f64, high: f64, kind: Kind) -> String {
    let value = significant(value, kind);
    match rounds {
        1 => format!("{value} (-, 1 round)"),
        n => format!("{value} (-, {n} rounds: {} to {})", significant(low, kind), significant(high, kind)),
    }
}

/// How many times one figure is another, with three digits: "1.43", "12.4", "1,000,000".
pub fn times(ratio: f64) -> String {
    if let Some(word) = not_finite(ratio) {
        return word;
    }
    if extreme(ratio) {
        return exponent(ratio);
    }
    let (rounded, decimals) = round_to_digits(ratio);
    // From 1,000 on the digits behind the third are zeros.
    let ten = 10f64.powf(rounded.abs().max(1.0).log10().floor() - 2.0);
    grouped(if ten > 1.0 { (rounded / ten).round() * ten } else { rounded }, decimals)
}

/// So many of something whose plural takes an s: "1 cell", "1,024 cells".
pub fn counted(n: u64, what: &str) -> String {
    format!("{} {what}{}", thousands(n), if n == 1 { "" } else { "s" })
}

/// An integer with a comma in front of every three digits: "98,307".
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn not_finite(value: f64) -> Option<String> {
    match value {
        v if v.is_nan() => Some("unknown".to_owned()),
        f64::INFINITY => Some("inf".to_owned()),
        f64::NEG_INFINITY => Some("-inf".to_owned()),
        _ => None,
    }
}

fn join(number: &str, unit: &str) -> String {
    if unit == "%" { format!("{number}%") } else { format!("{number} {unit}") }
}

/// Whether a number in its unit is written with an exponent.
fn extreme(x: f64) -> bool {
    x != 0.0 && !(LEAST..MOST).contains(&x.abs())
}

/// Three significant digits and a power of ten.
fn exponent(x: f64) -> String {
    not_finite(x).unwrap_or_else(|| if x == 0.0 { "0".to_owned() } else { format!("{x:.2e}") })
}

/// Rounds an interval's end away from the value to three significant digits.
fn outward_digits(x: f64, up: bool) -> f64 {
    let ten = 10f64.powf(x.abs().log10().floor());
    let rounded = outward(x / ten, 2, up) * ten;
    if rounded.is_finite() { rounded } else { x }
}

/// `x` rounded to three significant digits (to a whole number from 1000 on), and the decimals that show them.
fn round_to_digits(x: f64) -> (f64, usize) {
    if x == 0.0 {
        return (0.0, 0);
    }
    let decimals = |x: f64| (2.0 - x.abs().log10().floor()).clamp(0.0, 12.0) as usize;
    let at = |d: usize| {
        let ten = 10f64.powi(d as i32);
        let scaled = (x * ten).round() / ten;
        // A value too large to scale has no digits behind its point to round.
        if scaled.is_finite() { scaled } else { x }
    };
    let rounded = at(decimals(x));
    // Rounding may have carried into one more digit (9.996 -> 10.0), which then needs a decimal less.
    if rounded == 0.0 { (rounded, decimals(x)) } else { (rounded, decimals(rounded)) }
}

/// Rounds an interval's end away from the value. A hair's breadth of tolerance keeps 9.60 from becoming 9.61 for the
/// sake of the last bit of a float.
fn outward(x: f64, decimals: usize, up: bool) -> f64 {
    let ten = 10f64.powi(decimals as i32);
    let scaled = x * ten;
    let slack = scaled.abs() * 1e-12 + 1e-9;
    (if up { (scaled - slack).ceil() } else { (scaled + slack).floor() }) / ten
}

/// An interval's end, rounded outwards to `decimals`, or to as many more as keep an end apart from 0 where rounding
/// would reach it: an interval that reaches 0 says more than its width.
fn end_text(x: f64, decimals: usize, up: bool) -> String {
    if extreme(x) {
        return exponent(outward_digits(x, up));
    }
    let decimals = (decimals..=MOST_DECIMALS).find(|d| x == 0.0 || outward(x, *d, up) != 0.0).unwrap_or(decimals);
    grouped(outward(x, decimals, up), decimals)
}

/// Fixed decimals, with separators in the whole part.
fn grouped(x: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", x.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let whole = whole.parse::<u64>().map_or_else(|_| whole.to_owned(), thousands);
    let sign = if x < 0.0 { "-" } else { "" };
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_something_is_no_plural() {
        assert_eq!([0, 1, 2, 4096].map(|n| counted(n, "cell")), ["0 cells", "1 cell", "2 cells", "4,096 cells"]);
    }

    #[test]
    fn a_figure_and_its_interval_share_one_unit() {
        let cases = [
            ((9.23e-6, 8.91e-6, 9.58e-6), Kind::Seconds, "9.23 us [8.9, 9.6]"),
            ((9.23e-6, 9.21e-6, 9.25e-6), Kind::Seconds, "9.23 us [9.21, 9.25]"),
            ((999e-6, 990e-6, 1010e-6), Kind::Seconds, "999 us [990, 1,010]"),
            ((37.2e9, 35.1e9, 38.6e9), Kind::BitsPerSecond, "37.2 Gbit/s [35, 39]"),
            ((1474.56, 1331.2, 1638.4), Kind::Bytes, "1.44 KiB [1.3, 1.6]"),
            ((0.124e-9, 0.11e-9, 0.14e-9), Kind::SecondsPerByte, "124 ps/B [110, 140]"),
            ((0.0123, 0.011, 0.014), Kind::Share, "1.23% [1.1, 1.4]"),
            ((31.4e6, 30.1e6, 32.6e6), Kind::Quips, "31.4 MQUIPS [30, 33]"),
            ((105_000.0, 98_000.0, 111_000.0), Kind::PerSecond, "105 k/s [98, 111]"),
            ((2.0, 2.0, 2.0), Kind::Seconds, "2.00 s [2.00, 2.00]"),
            ((2.0, 0.0, f64::INFINITY), Kind::Seconds, "2.00 s (no interval)"),
            ((-0.013, -0.09, 0.03), Kind::Share, "-1.30% [-9, 3]"),
            ((0.0, 0.0, 3.84e-6), Kind::Share, "0% [0.0000, 0.0004]"),
            ((0.0, 0.0, 0.0), Kind::Share, "0% [0, 0]"),
            ((1e-300, 1e-300, 2e-300), Kind::Seconds, "1.00e-291 ns [1.00e-291, 2.00e-291]"),
            ((5e17, 5e17, 5e17), Kind::Seconds, "5.00e17 s [5.00e17, 5.00e17]"),
            ((5e17, 4.996e17, 5.001e17), Kind::Seconds, "5.00e17 s [4.99e17, 5.01e17]"),
            ((5e8, -1e7, 2e9), Kind::Seconds, "5.00e8 s [-1.00e7, 2.00e9]"),
            ((0.4e-6, 0.03e-6, 1.2e-6), Kind::Seconds, "400 ns [30, 1,200]"),
            ((4e-6, 0.03e-6, 12e-6), Kind::Seconds, "4.00 us [0.03, 12]"),
            ((-4e-6, -12e-6, -0.03e-6), Kind::Seconds, "-4.00 us [-12, -0.03]"),
        ];
        for ((value, low, high), kind, text) in cases {
            assert_eq!(with_interval(value, low, high, kind), text);
        }
        assert_eq!(with_interval(f64::NAN, 0.0, 1.0, Kind::Seconds), "unknown");
    }

    #[test]
    fn a_printed_interval_is_never_narrower_than_the_computed_one() {
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        for _ in 0..20_000 {
            let value = 1.0 + next() * 8.9;
            let (low, high) = (value * (1.0 - next() * 0.3), value * (1.0 + next() * 0.3));
            let text = with_interval(value, low, high, Kind::Seconds);
            let inside = text.split_once('[').unwrap().1.trim_end_matches(']');
            let (a, b) = inside.split_once(", ").unwrap();
            let (a, b): (f64, f64) = (a.parse().unwrap(), b.parse().unwrap());
            assert!(a <= low + 1e-8 && b >= high - 1e-8, "{text} for [{low}, {high}]");
        }
    }

    #[test]
    fn an_end_that_is_not_zero_never_reads_zero() {
        for step in 0..3000 {
            let low = 1e-9 * 10f64.powf(f64::from(step) / 1000.0);
            for high in [2.0 * low, 30.0 * low, 999.0 * low] {
                for value in [low, (low * high).sqrt(), high] {
                    for kind in [Kind::Seconds, Kind::Share, Kind::BitsPerSecond] {
                        let text = with_interval(value, low, high, kind);
                        let printed = text.split_once('[').unwrap().1.split_once(',').unwrap().0;
                        assert!(printed.parse::<f64>().unwrap() > 0.0, "{text} for [{low}, {high}]");
                    }
                }
            }
        }
        assert_eq!(with_interval(0.001, 0.0, 0.002, Kind::Seconds), "1.00 ms [0, 2]");
    }

    #[test]
    fn a_figure_whose_ends_lie_over_ten_times_apart_is_not_resolved() {
        let cases = [
            ((248.4e-6, 19e-6, 7.042e-3), Kind::Seconds, "not resolved: between 19.0 us and 7.04 ms"),
            ((20.0, 0.0, 248.4), Kind::Bytes, "not resolved: at most 248 B"),
            ((0.3, 0.0, 1.0), Kind::Share, "not resolved: at most 100%"),
            ((0.002, 0.0001, 0.02), Kind::Share, "0.200% [0.01, 2.0]"),
            ((2e-6, 1e-6, 9e-6), Kind::Seconds, "2.00 us [1, 9]"),
            ((2e-6, -1e-6, 10e-6), Kind::Seconds, "2.00 us [-1, 10]"),
            ((0.0, 0.0, 3.84e-6), Kind::Share, "0% [0.0000, 0.0004]"),
            ((2.0, 1e-3, 9.0), Kind::Seconds, "not resolved"),
            ((2.0, 0.0, f64::INFINITY), Kind::Seconds, "2.00 s (no interval)"),
            ((-19.1e-12, -3.098e-9, 3.06e-9), Kind::SecondsPerByte, "not resolved: at most 3.06 ns/B"),
            ((875e-12, -1.975e-9, 3.631e-9), Kind::SecondsPerByte, "not resolved: at most 3.63 ns/B"),
            ((875e-12, 0.1e-9, 0.9e-9), Kind::SecondsPerByte, "875 ps/B [100, 900]"),
            ((-4.32e-9, f64::NEG_INFINITY, f64::INFINITY), Kind::SecondsPerByte, "not resolved"),
            ((-4.32e-9, -5e-9, -4e-9), Kind::SecondsPerByte, "not resolved"),
            ((4.32e-9, f64::NEG_INFINITY, f64::INFINITY), Kind::SecondsPerByte, "4.32 ns/B (no interval)"),
            ((0.0, 0.0, 0.0), Kind::SecondsPerByte, "0 ps/B [0, 0]"),
        ];
        for ((value, low, high), kind, text) in cases {
            assert_eq!(resolved(value, low, high, kind), text);
        }
    }

    #[test]
    fn axis_labels_are_short() {
        let cases = [
            (1024.0, Kind::Bytes, "1 KiB"),
            (1.0, Kind::Bytes, "1 B"),
            (100.0, Kind::Bytes, "100 B"),
            (8_388_608.0, Kind::Bytes, "8 MiB"),
            (1023.7, Kind::Bytes, "1 KiB"),
            (10e-6, Kind::Seconds, "10 us"),
            (2.5e-6, Kind::Seconds, "2.5 us"),
            (100e-6, Kind::Seconds, "100 us"),
            (1e9, Kind::BitsPerSecond, "1 Gbit/s"),
            (0.0, Kind::BitsPerSecond, "0 bit/s"),
            (0.0, Kind::Seconds, "0 s"),
            (0.5, Kind::Share, "50%"),
            (2e6, Kind::PerSecond, "2 M/s"),
            (10_000.0, Kind::Seconds, "10,000 s"),
            (f64::NAN, Kind::Seconds, "unknown"),
        ];
        for (value, kind, text) in cases {
            assert_eq!(short(value, kind), text);
        }
    }

    #[test]
    fn powers_of_ten_do_not_slip_a_digit() {
        for exponent in -9..=3 {
            let value = 10f64.powi(exponent);
            let text = significant(value, Kind::Seconds);
            let digits: String = text.chars().filter(char::is_ascii_digit).collect();
            assert!(digits.starts_with('1') && digits[1..].chars().all(|c| c == '0'), "{text}");
        }
    }

    #[test]
    fn extreme_numbers_print_without_panic() {
        for value in [f64::MIN_POSITIVE, f64::MAX, -f64::MAX, 1e-300, 1e300, f64::INFINITY, f64::NEG_INFINITY] {
            for kind in [Kind::Seconds, Kind::Bytes, Kind::BitsPerSecond, Kind::Share, Kind::SecondsPerByte] {
                assert!(!significant(value, kind).is_empty());
                assert!(!short(value, kind).is_empty());
                assert!(!with_interval(value, -value, value, kind).is_empty());
            }
        }
    }

    #[test]
    fn numbers_beyond_their_units_have_an_exponent() {
        let cases = [
            (1e-300, Kind::Seconds, "1.00e-291 ns", "1e-291 ns"),
            (-2.5e-16, Kind::Seconds, "-2.50e-7 ns", "-2.5e-7 ns"),
            (1e-15, Kind::Seconds, "0.00000100 ns", "0.000001 ns"),
            (1e18, Kind::Seconds, "1.00e18 s", "1e18 s"),
            (8e301, Kind::BitsPerSecond, "8.00e289 Tbit/s", "8e289 Tbit/s"),
            (999_999_999.0, Kind::Seconds, "999,999,999 s", "999,999,999 s"),
            (1e-12, Kind::Share, "1.00e-10%", "1e-10%"),
        ];
        for (value, kind, text, label) in cases {
            assert_eq!(significant(value, kind), text);
            assert_eq!(short(value, kind), label);
        }
    }

    #[test]
    fn ratios_have_three_digits_and_ends_about_0_their_own_unit() {
        for (ratio, text) in [
            (1.234, "1.23"),
            (12.34, "12.3"),
            (999.6, "1,000"),
            (1_004_560.7, "1,000,000"),
            (9.5e4, "95,000"),
            (1e12, "1.00e12"),
        ] {
            assert_eq!(times(ratio), text);
        }
        assert_eq!(with_interval(0.0, -6e-6, 6e-6, Kind::Seconds), "0 us [-6, 6]");
        assert_eq!(with_interval(0.0, -7.08e-9, 7.08e-9, Kind::Seconds), "0 ns [-8, 8]");
        assert_eq!(with_interval(0.0, 0.0, 0.0, Kind::Seconds), "0 s [0, 0]");
    }

    #[test]
    fn separators_stand_before_every_three_digits() {
        for (n, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (98_307, "98,307"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(n), text);
        }
    }
}
