//! Parsers of single values. Units are read by crate `units` alone; here errors become what clap prints.

use std::ffi::OsStr;
use std::fmt::Display;
use std::str::FromStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};
use transport::registry;
use units::{BitRate, Bytes, Seconds, Share};

/// The text of a path, read later; completions offer the transports.
#[derive(Debug, Clone, Copy)]
pub struct PathText;

impl TypedValueParser for PathText {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(registry::all().map(|t| PossibleValue::new(t.name().as_str()).help(t.summary()))))
    }
}

/// Anything that reads itself.
pub fn parse<T: FromStr>(text: &str) -> Result<T, String>
where
    T::Err: Display,
{
    text.parse().map_err(|e: T::Err| e.to_string())
}

/// Bytes with a unit: "64KiB".
pub fn bytes(text: &str) -> Result<u64, String> {
    parse::<Bytes>(text).map(|b| b.0)
}

/// Seconds: "20s", "100ms".
pub fn seconds(text: &str) -> Result<f64, String> {
    parse::<Seconds>(text).map(|s| s.0)
}

/// How long a case of `module check` may take without progress: "30s", or as before a number of seconds.
pub fn case_patience(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<u16>().map(f64::from).or_else(|_| seconds(text))?;
    match seconds {
        given if (3.0..=600.0).contains(&given) => Ok(given),
        _ => Err(format!("'{text}' is not between 3s and 600s")),
    }
}

/// A share: "1%".
pub fn share(text: &str) -> Result<f64, String> {
    parse::<Share>(text).map(|s| s.0)
}

/// `--rate`: in whose unit the sender's schedule is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SendRate {
    /// Messages a second, each answered.
    Messages(f64),
    /// Bits a second of a stream.
    Bits(f64),
}

/// What `--rate` names: a rate, or several, each once and in the order named.
#[derive(Debug, Clone, PartialEq)]
pub struct SendRates(Vec<SendRate>);

/// Most rates that are taken, and most that a range has.
const MOST_RATES: usize = 64;

impl SendRates {
    /// One rate.
    pub fn one(rate: SendRate) -> Self {
        Self(vec![rate])
    }

    /// The rate, where there is one.
    pub fn only(&self) -> Option<SendRate> {
        if let [one] = self.0[..] { Some(one) } else { None }
    }

    /// All rates.
    pub fn all(&self) -> &[SendRate] {
        &self.0
    }
}

/// Rates of sends: one, several with commas between, or a range of bits a second.
pub fn send_rates(text: &str) -> Result<SendRates, String> {
    let mut all = Vec::new();
    for item in text.split(',') {
        let some = match item.split_once("..") {
            Some((from, to)) => within(item, end(item, from)?, end(item, to)?)?,
            None => vec![send_rate(item)?],
        };
        for rate in some {
            if !all.contains(&rate) {
                all.push(rate);
            }
        }
    }
    match all.len() {
        n if n > MOST_RATES => Err(format!("'{text}' names {n} rates; at most {MOST_RATES} are taken")),
        _ => Ok(SendRates(all)),
    }
}

/// An end of a range.
fn end(range: &str, text: &str) -> Result<f64, String> {
    match send_rate(text)? {
        SendRate::Bits(bits) => Ok(bits),
        SendRate::Messages(_) => Err(format!(
            "'{range}' is a range of messages a second, and a range is of a stream's bits a second (--pattern stream --rate \
             10Mbit/s..1Gbit/s); of messages a second give one rate (--rate 10k/s), in a run for each"
        )),
    }
}

/// The ends of a range and each 1, 2 and 5 of a decade between.
fn within(text: &str, from: f64, to: f64) -> Result<Vec<SendRate>, String> {
    if from >= to {
        return Err(format!("'{text}' is no range; write the lower rate first, for example 10Mbit/s..1Gbit/s"));
    }
    let (first, last) = (from.log10().floor() as i32, to.log10().ceil() as i32);
    let steps = (first..=last).flat_map(|e| [1.0, 2.0, 5.0].map(|m| m * 10f64.powi(e)));
    let between = steps.filter(|rate| *rate > from * 1.001 && *rate < to / 1.001);
    Ok(std::iter::once(from).chain(between).chain([to]).take(MOST_RATES + 1).map(SendRate::Bits).collect())
}

/// A rate of sends: messages a second ("10k/s") or bits a second ("100Mbit/s").
pub fn send_rate(text: &str) -> Result<SendRate, String> {
    match (as_people_write(text), text.contains(['b', 'B'])) {
        (Some(rate), _) => wire_rate(&rate).map(SendRate::Bits),
        (None, true) => wire_rate(text).map(SendRate::Bits),
        (None, false) => per_second(text).map(SendRate::Messages),
    }
}

/// A rate in bits a second that is not written as the tool prints it: 10Mbps, 10Mb/s, 10mbit, 1 gbps. A small b is a bit; a large one is a
/// byte and left alone, and so is `mb/s`, which is written for both.
fn as_people_write(text: &str) -> Option<String> {
    let text = text.trim();
    let (digits, unit) = text.split_at(text.find(|c: char| !(c.is_ascii_digit() || c == '.'))?);
    let unit = unit.trim_start();
    let prefix = unit.chars().next().filter(|c| "kKmMgGtT".contains(*c));
    let rest = prefix.map_or(unit, |c| &unit[c.len_utf8()..]);
    let known = match rest {
        "bps" | "bit" | "bits" | "bit/s" | "bits/s" | "bit/sec" | "bits/sec" => true,
        "b/s" | "b/sec" => prefix.is_none_or(|c| matches!(c, 'k' | 'M' | 'G' | 'T')),
        _ => false,
    };
    let prefix = prefix.map_or(String::new(), |c| match c.to_ascii_uppercase() {
        'K' => "k".to_owned(),
        other => other.to_string(),
    });
    (known && !digits.is_empty()).then(|| format!("{digits}{prefix}bit/s"))
}

/// Iterations a second: "10k/s", "2000", "1M".
pub fn per_second(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix("/s").unwrap_or(text).trim_end();
    let (digits, factor) = match number.chars().last() {
        Some('k') => (&number[..number.len() - 1], 1e3),
        Some('M') => (&number[..number.len() - 1], 1e6),
        _ => (number, 1.0),
    };
    match digits.trim().parse::<f64>() {
        Ok(rate) if rate.is_finite() && rate > 0.0 => Ok(rate * factor),
        _ => Err(format!(
            "'{text}' is not a rate; write messages a second (10k/s, 2000/s) or for a stream bits a second (100Mbit/s)"
        )),
    }
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switch(pub bool);

/// "on" or "off".
pub fn switch(text: &str) -> Result<Switch, String> {
    match text {
        "on" => Ok(Switch(true)),
        "off" => Ok(Switch(false)),
        _ => Err(format!("'{text}' is neither on nor off")),
    }
}

/// How many processes a path joins: the near ones, of a group all of them.
pub fn members(text: &str) -> Result<u32, String> {
    let most = measure::flows::MOST;
    let count = text.parse().ok().filter(|count| (1..=most + 1).contains(count));
    count.ok_or_else(|| {
        format!(
            "a path has 1 to {most} members, and a group 2 to {} (where a launcher such as mpirun starts this command, have it start no more)",
            most + 1
        )
    })
}

/// A rate of a wire: "155Mbit/s".
pub fn wire_rate(text: &str) -> Result<f64, String> {
    match parse::<BitRate>(text)?.0 {
        rate if rate.is_finite() && rate > 0.0 => Ok(rate),
        _ => Err(format!("'{text}' carries nothing; write a rate above 0, for example 155Mbit/s")),
    }
}

/// Bytes on the wire for each byte: "53/48", "1.104", or what comes on top: "10.4%".
pub fn framing(text: &str) -> Result<f64, String> {
    let number = |t: &str| t.trim().parse::<f64>().ok();
    let found = match (text.split_once('/'), text.strip_suffix('%')) {
        (Some((wire, message)), _) => number(wire).zip(number(message)).map(|(w, b)| w / b),
        (_, Some(more)) => number(more).map(|more| 1.0 + more / 100.0),
        _ => number(text),
    };
    let says =
        "is no framing; write what the wire carries for each byte, for example 53/48, or what comes on top: 10.4%";
    found.filter(|f| (1.0..=1000.0).contains(f)).ok_or_else(|| format!("'{text}' {says}"))
}

/// How many times as fast: "2". Beyond a million it is a slip of the pen.
pub fn factor(text: &str) -> Result<f64, String> {
    let found = text.trim().parse::<f64>().ok().filter(|f| (1e-6..=1e6).contains(f));
    found.ok_or_else(|| format!("'{text}' is no factor; write a number above 0, for example 2 for twice as fast"))
}

/// Two sizes: "0,64".
pub fn offsets(text: &str) -> Result<(u64, u64), String> {
    let (near, far) = text
        .split_once(',')
        .ok_or_else(|| format!("'{text}' is not two offsets; write sender,receiver, for example 0,64"))?;
    Ok((bytes(near)?, bytes(far)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_iterations() {
        assert_eq!(per_second("10k/s"), Ok(10_000.0));
        assert_eq!(per_second("1.5M"), Ok(1_500_000.0));
        assert_eq!(per_second("2000/s"), Ok(2000.0));
        for bad in ["", "0", "-1", "k/s", "fast", "inf", "1é"] {
            assert!(per_second(bad).unwrap_err().contains("10k/s"), "{bad}");
        }
    }

    #[test]
    fn members_are_as_many_as_a_path_joins() {
        assert_eq!((members("1"), members("129")), (Ok(1), Ok(129)));
        for bad in ["0", "130", "-1", "x", ""] {
            let e = members(bad).unwrap_err();
            assert!(e.contains("1 to 128 members, and a group 2 to 129") && e.contains("mpirun"), "{bad}: {e}");
        }
    }

    #[test]
    fn wires_and_factors_are_above_nothing() {
        assert_eq!((wire_rate("155Mbit/s"), factor("0.5")), (Ok(155e6), Ok(0.5)));
        for (text, want) in [("53/48", 53.0 / 48.0), ("1.5", 1.5), ("50%", 1.5), ("0%", 1.0), (" 6 / 5 ", 1.2)] {
            assert_eq!(framing(text), Ok(want), "{text}");
        }
        for bad in ["0", "-1", "NaN", "inf", "48/53", "53/0", "0/0", "-1%", "1e300", "x", "", "1/x", "%"] {
            assert!(framing(bad).unwrap_err().contains("53/48"), "{bad}");
        }
        for bad in ["0", "-1", "NaN", "inf", "1e300", "1e-300", "x", ""] {
            assert!(factor(bad).unwrap_err().contains("above 0"), "{bad}");
        }
        assert!(wire_rate("0bit/s").unwrap_err().contains("above 0") && wire_rate("-1Gbit/s").is_err());
    }

    #[test]
    fn offsets_are_a_pair() {
        assert_eq!(offsets("0,64"), Ok((0, 64)));
        assert!(offsets("64").unwrap_err().contains("0,64"));
    }
}
