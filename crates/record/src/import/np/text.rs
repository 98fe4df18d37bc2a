//! NetPIPE's output files: 2.x, 3.x and 5.x, distinguished by their columns.
//!
//! | version | columns |
//! |---|---|
//! | 3.x | bytes, Mbps, seconds (the shortest trial, one way); Mbps = bits / (seconds * 1024^2) |
//! | 5.x | bytes, average, smallest and largest Gbps (10^9), average microseconds |
//! | 2.x | seconds, Mbps (1024^2), bits, bytes, variance |
//!
//! Each column was rounded when it was printed. Where time and rate are both given, the time is taken from the one that
//! kept more digits: 3.7 prints one byte over shared memory as 0.00000035 s but 21.822587 Mbps.

use super::ImportError;

/// Which NetPIPE wrote a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    Two,
    Three,
    Five,
}

impl Version {
    /// Its name in messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Version::Two => "2.x",
            Version::Three => "3.x",
            Version::Five => "5.x",
        }
    }

    /// What it keeps of a point's trials, and so what is not known of them.
    pub(super) fn keeps(self) -> &'static str {
        match self {
            Version::Five => {
                "keeps the average of its trials: it stands for the median here, and the interval is not known"
            }
            _ => {
                "keeps the shortest of its trials: it stands for the median here, and neither spread nor interval is known"
            }
        }
    }
}

/// One line's figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sample {
    /// As the file counts them.
    pub(super) bytes: u64,
    /// Time one way, seconds.
    pub(super) seconds: f64,
    /// Shortest trial, seconds, where the file has it to three digits or more.
    pub(super) shortest: Option<f64>,
    /// Rate and time do not match the bytes (5.x only, where the mode may count them otherwise).
    pub(super) unlike: bool,
}

/// Line number, line and figures of each line that has some.
type Samples<'a> = Vec<(usize, &'a str, Sample)>;

/// All lines of a file, which must be of one version.
pub(super) fn parse(text: &str) -> Result<(Version, Samples<'_>), ImportError> {
    let mut version = None;
    let mut samples = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let (n, line) = (n + 1, line.trim());
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let fields = line.split_whitespace().map(Field::parse).collect::<Option<Vec<_>>>();
        let fields = fields.ok_or_else(|| fault(n, line, "columns must be plain numbers, none of them negative"))?;
        let (this, sample) = classify(&fields).map_err(|what| fault(n, line, &what))?;
        let first = *version.get_or_insert(this);
        if first != this {
            let (a, b) = (first.name(), this.name());
            return Err(fault(n, line, &format!("this line is NetPIPE {b}'s, but those before it are {a}'s")));
        }
        samples.push((n, line, sample));
    }
    Ok((version.ok_or(ImportError::Empty)?, samples))
}

/// An error at a line.
pub(super) fn fault(line: usize, found: &str, what: &str) -> ImportError {
    let mut shown: String = found.chars().take(60).flat_map(char::escape_default).collect();
    if found.chars().nth(60).is_some() {
        shown.push_str("...");
    }
    ImportError::Line { line, what: what.to_owned(), found: shown }
}

/// Which version wrote a line, and its figures. A line can't be both 2.x's and 5.x's: in the one, the third column is eight times the
/// fourth, in the other it is not above it.
fn classify(fields: &[Field]) -> Result<(Version, Sample), String> {
    match fields {
        [bytes, mbps, seconds] => Ok((Version::Three, timed(bytes, mbps, seconds)?)),
        [seconds, mbps, bits, bytes, _variance] if bits.whole.is_some() && bits.whole == bytes.times_eight() => {
            Ok((Version::Two, timed(bytes, mbps, seconds)?))
        }
        [bytes, average, low, high, us] if low.least() <= average.most() && average.least() <= high.most() => {
            Ok((Version::Five, averaged(bytes, average, low, high, us)?))
        }
        [_, _, _, _, _] => Err("5 columns that are neither NetPIPE 5.x's (bytes, then average, smallest and largest Gbps, so \
                                column 3 <= column 2 <= column 4, and microseconds) nor 2.x's (seconds, Mbps, bits, bytes, \
                                variance, so column 3 = 8 x column 4)"
            .into()),
        [_, _] => Err("2 columns are what NetPIPE's integrity mode (-i) writes: counts, no times".into()),
        other => Err(format!("{} columns; NetPIPE 3.x writes 3, 5.x and 2.x write 5", other.len())),
    }
}

/// Bits per NetPIPE's 2.x and 3.x "Mbps".
const MEGA: f64 = 1024.0 * 1024.0;

/// A line of 2.x or 3.x: rate and time must match the bytes.
fn timed(bytes: &Field, mbps: &Field, seconds: &Field) -> Result<Sample, String> {
    let count = bytes.positive()?;
    let bits = count as f64 * 8.0;
    let unit = mbps.scaled(MEGA);
    if unit.value <= 0.0 {
        return Err("the rate is 0".into());
    }
    let (least, most) = (bits / unit.most(), if unit.least() > 0.0 { bits / unit.least() } else { f64::INFINITY });
    // A millionth covers files that were written from single precision.
    if least > seconds.most() * (1.0 + 1e-6) || most < seconds.least() * (1.0 - 1e-6) {
        return Err(format!(
            "{} Mbps don't belong to {count} bytes in {} s: Mbps is bits / (seconds * 1024^2) there, which gives {:.6}",
            mbps.value,
            seconds.value,
            bits / (seconds.value * MEGA)
        ));
    }
    let time = finer(seconds, bits, &unit);
    if !(time > 0.0 && time.is_finite()) {
        return Err("its time is out of range".into());
    }
    Ok(Sample { bytes: count, seconds: time, shortest: None, unlike: false })
}

/// A line of 5.x.
fn averaged(bytes: &Field, average: &Field, low: &Field, high: &Field, us: &Field) -> Result<Sample, String> {
    let count = bytes.positive()?;
    let bits = count as f64 * 8.0;
    let seconds = us.scaled(1e-6);
    let gbps = |f: &Field| f.scaled(1e9);
    if seconds.value <= 0.0 {
        return Err("its time is 0".into());
    }
    let by_rate = bits / gbps(average).value;
    let agrees = (seconds.least()..=seconds.most()).contains(&by_rate);
    let within = bits / seconds.most() <= gbps(high).most() && bits / seconds.least() >= gbps(low).least();
    let time = if agrees { finer(&seconds, bits, &gbps(average)) } else { seconds.value };
    // Gbps have three decimals: below 0.5 the largest rate is known no better than to 0.1%.
    let shortest = (agrees && high.half / high.value <= 1e-3).then(|| bits / gbps(high).value);
    Ok(Sample { bytes: count, seconds: time, shortest, unlike: !within })
}

/// The time that was printed, or that of the rate where it kept more digits.
fn finer(seconds: &Field, bits: f64, rate: &Field) -> f64 {
    // Written so that a time that was rounded to 0 is not used.
    if rate.half * seconds.value < seconds.half * rate.value { bits / rate.value } else { seconds.value }
}

/// A number as it was printed.
#[derive(Debug, Clone, Copy)]
struct Field {
    value: f64,
    /// Half a unit of its last digit: the largest rounding error.
    half: f64,
    /// Its value, where it was printed as a whole number.
    whole: Option<u64>,
}

impl Field {
    /// All lines of a file, which one version must have written.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        // What f64 would take too, but no printf of a measurement prints: inf, nan, +, -.
        if !mantissa.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
            return None;
        }
        let value = text.parse::<f64>().ok().filter(|v| v.is_finite())?;
        let decimals = mantissa.split_once('.').map_or(0, |(_, d)| d.len());
        let exponent = exponent.parse::<i32>().ok()?.checked_sub(decimals.try_into().ok()?)?;
        Some(Self { value, half: 0.5 * 10f64.powi(exponent), whole: text.parse().ok() })
    }

    fn scaled(self, by: f64) -> Self {
        Self { value: self.value * by, half: self.half * by, whole: None }
    }

    fn least(&self) -> f64 {
        self.value - self.half
    }

    fn most(&self) -> f64 {
        self.value + self.half
    }

    fn times_eight(&self) -> Option<u64> {
        self.whole?.checked_mul(8)
    }

    fn positive(&self) -> Result<u64, String> {
        self.whole.filter(|n| *n > 0).ok_or_else(|| "the bytes must be a whole number above 0".to_owned())
    }
}
