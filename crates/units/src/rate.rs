//! Rates in bits a second.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::format::{Kind, significant};
use crate::parse::{Quantity, UnitError};

/// A rate in bits a second. Reads `10Gbit/s`, `100Mbit/s`, `1GB/s` and `1GiB/s` (bytes, times eight); prints
/// `37.2 Gbit/s`.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct BitRate(pub f64);

const RATE: Quantity = Quantity {
    what: "a rate",
    forms: "10Gbit/s, 100Mbit/s, 64kbit/s, 9600bit/s, or in bytes 1GB/s, 1MB/s, 1GiB/s, 1MiB/s",
    limit: "between 0 and 1e308 bit/s",
};

impl FromStr for BitRate {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let parts = RATE.split(text)?;
        if parts.unit.is_empty() {
            return Err(RATE.missing_unit(text));
        }
        let factor = factor(parts.unit).ok_or_else(|| question(text, &parts.digits, parts.unit))?;
        RATE.scaled(text, &parts, factor).map(BitRate)
    }
}

/// Bits a second of one `unit`.
fn factor(unit: &str) -> Option<f64> {
    let amount = unit.strip_suffix("/s")?;
    let (prefix, bits) = match amount.strip_suffix("bit") {
        Some(prefix) => (prefix, 1.0),
        None => (amount.strip_suffix('B')?, 8.0),
    };
    let multiple = match prefix {
        "" => 1.0,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "Ki" => 1024.0,
        "Mi" => 1_048_576.0,
        "Gi" => 1_073_741_824.0,
        "Ti" => 1_099_511_627_776.0,
        _ => return None,
    };
    Some(bits * multiple)
}

/// The error for a unit that is none. `Gbps` and `Gb/s` are asked about: tools print both for bits and for bytes, and
/// NetPIPE's "Mbps" even counts 1024 squared.
fn question(text: &str, digits: &str, unit: &str) -> UnitError {
    let prefix = match unit.chars().next() {
        Some('k' | 'K') => "k",
        Some('m' | 'M') => "M",
        Some('g' | 'G') => "G",
        Some('t' | 'T') => "T",
        Some('b' | 'B') => "",
        _ => return RATE.unknown_unit(text, unit),
    };
    let lower = unit.to_ascii_lowercase();
    let rest = lower.strip_prefix(&prefix.to_ascii_lowercase()).unwrap_or(&lower);
    if !matches!(rest, "" | "b" | "bps" | "b/s" | "ps" | "/s" | "bit") {
        return RATE.unknown_unit(text, unit);
    }
    UnitError::Ambiguous {
        found: text.into(),
        first: format!("{digits}{prefix}bit/s"),
        second: format!("{digits}{prefix}B/s"),
        difference: "a byte is eight bits",
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&significant(self.0, Kind::BitsPerSecond))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_count_eight_bits_and_binary_prefixes_1024() {
        let cases = [
            ("10Gbit/s", 10e9),
            ("10 Gbit/s", 10e9),
            ("100Mbit/s", 100e6),
            ("64kbit/s", 64e3),
            ("9600bit/s", 9600.0),
            ("1GB/s", 8e9),
            ("1.5MB/s", 12e6),
            ("1MiB/s", 8.0 * 1_048_576.0),
            ("1Gibit/s", 1_073_741_824.0),
            ("2B/s", 16.0),
        ];
        for (text, bits) in cases {
            assert_eq!(text.parse(), Ok(BitRate(bits)), "{text}");
        }
    }

    #[test]
    fn bits_or_bytes_is_asked_where_the_unit_leaves_it_open() {
        let error = "10Gbps".parse::<BitRate>().unwrap_err().to_string();
        assert!(error.contains("10Gbit/s or 10GB/s?"), "{error}");
        for text in ["10G", "10Gb/s", "10gbps", "5MBps", "5m", "1k/s", "9600bps", "10Gbit"] {
            assert!(matches!(text.parse::<BitRate>(), Err(UnitError::Ambiguous { .. })), "{text}");
        }
        assert!(matches!("10".parse::<BitRate>(), Err(UnitError::MissingUnit { .. })));
        for text in ["10s", "10 miles/s", "10Gbit/min", "10KiB", "10kg"] {
            assert!(matches!(text.parse::<BitRate>(), Err(UnitError::UnknownUnit { .. })), "{text}");
        }
        assert!(matches!("-1Gbit/s".parse::<BitRate>(), Err(UnitError::OutOfRange { .. })));
        let endless = format!("{}Gbit/s", "9".repeat(400));
        assert!(matches!(endless.parse::<BitRate>(), Err(UnitError::OutOfRange { .. })));
    }

    #[test]
    fn rates_print_three_digits_in_bits() {
        let cases = [
            (37.2e9, "37.2 Gbit/s"),
            (999.6e6, "1.00 Gbit/s"),
            (0.0, "0 bit/s"),
            (8.0, "8.00 bit/s"),
            (1.5e15, "1,500 Tbit/s"),
            (f64::NAN, "unknown"),
        ];
        for (bits, text) in cases {
            assert_eq!(BitRate(bits).to_string(), text);
        }
    }
}
