//! Times in seconds.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::format::{Kind, significant};
use crate::parse::{Quantity, UnitError};

/// A time in seconds. Reads `20s`, `100ms`, `5us`, `80ns`, `2min`, `1h`; prints three digits: `9.23 us`, `12.4 s`.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Seconds(pub f64);

const TIME: Quantity =
    Quantity { what: "a time", forms: "20s, 100ms, 5us, 80ns, 2min or 1h", limit: "between 0 and 1e308 s" };

impl FromStr for Seconds {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let parts = TIME.split(text)?;
        let number = parts.number();
        // Divided where the factor would be a fraction: 100 / 1000 is the float nearest to a tenth, 100 * 0.001 is not
        // always.
        let seconds = match parts.unit {
            "s" => number,
            "ms" => number / 1e3,
            "us" | "\u{b5}s" | "\u{3bc}s" => number / 1e6,
            "ns" => number / 1e9,
            "min" => number * 60.0,
            "h" => number * 3600.0,
            "" => return Err(TIME.missing_unit(text)),
            "m" => {
                return Err(UnitError::Ambiguous {
                    found: text.into(),
                    first: format!("{}min", parts.digits),
                    second: format!("{}ms", parts.digits),
                    difference: "minutes or thousandths of a second",
                });
            }
            unit => return Err(TIME.unknown_unit(text, unit)),
        };
        if seconds.is_finite() { Ok(Seconds(seconds)) } else { Err(TIME.out_of_range(text)) }
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&significant(self.0, Kind::Seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_with_their_unit() {
        let cases = [
            ("20s", 20.0),
            ("100ms", 0.1),
            ("5us", 5e-6),
            ("5 \u{b5}s", 5e-6),
            ("5\u{3bc}s", 5e-6),
            ("80ns", 80e-9),
            ("2min", 120.0),
            ("1.5h", 5400.0),
            ("0s", 0.0),
        ];
        for (text, seconds) in cases {
            assert_eq!(text.parse(), Ok(Seconds(seconds)), "{text}");
        }
    }

    #[test]
    fn a_time_without_unit_or_with_an_unclear_one_is_refused() {
        let error = "20".parse::<Seconds>().unwrap_err().to_string();
        assert!(error.contains("`20` lacks a unit") && error.contains("20s"), "{error}");
        let error = "2m".parse::<Seconds>().unwrap_err().to_string();
        assert!(error.contains("2min or 2ms?"), "{error}");
        for text in ["", "s", "2 years", "-1s", "1.2.3s", "inf s", "NaN"] {
            assert!(text.parse::<Seconds>().is_err(), "{text}");
        }
    }

    #[test]
    fn times_print_three_digits() {
        let cases = [
            (9.23e-6, "9.23 us"),
            (1.2e-3, "1.20 ms"),
            (12.4, "12.4 s"),
            (126e-9, "126 ns"),
            (0.126e-9, "0.126 ns"),
            (999.96e-6, "1.00 ms"),
            (999.4e-6, "999 us"),
            (9.996e-6, "10.0 us"),
            (5400.0, "5,400 s"),
            (0.0, "0 s"),
            (-3.5e-6, "-3.50 us"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "unknown"),
        ];
        for (seconds, text) in cases {
            assert_eq!(Seconds(seconds).to_string(), text);
        }
    }
}
