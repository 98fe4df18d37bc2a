//! Shares: parts of a whole.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::format::{Kind, significant};
use crate::parse::{Quantity, UnitError};

/// A share of a whole, 1 being all of it. Reads `1%` and `0.01`; prints `1.0%`.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Share(pub f64);

const SHARE: Quantity = Quantity { what: "a share", forms: "1% or 0.01", limit: "between 0% and 100%" };

impl FromStr for Share {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let parts = SHARE.split(text)?;
        let number = parts.number();
        match parts.unit {
            "%" if number <= 100.0 => Ok(Share(number / 100.0)),
            "" if number < 1.0 => Ok(Share(number)),
            // A bare 1 is either one in a hundred or everything: the costlier mistake is not to ask.
            "" if number == 1.0 => Err(UnitError::Ambiguous {
                found: text.into(),
                first: "1%".into(),
                second: "100%".into(),
                difference: "a bare number is a share of 1 and must lie below it",
            }),
            "" => Err(SHARE.missing_unit(text)),
            "%" => Err(SHARE.out_of_range(text)),
            unit => Err(SHARE.unknown_unit(text, unit)),
        }
    }
}

impl fmt::Display for Share {
    /// One decimal from 1% on, below it two digits, down to what a computation's rounding leaves: `12.3%`, `1.0%`,
    /// `0.25%`, `0.0012%`, `under 0.00000001%`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.0 * 100.0;
        let text = match percent.abs() {
            p if !p.is_finite() => significant(self.0, Kind::Share),
            0.0 => "0.0%".to_owned(),
            p if p < 1e-8 => "under 0.00000001%".to_owned(),
            p if p >= 1e9 => significant(self.0, Kind::Share),
            p if p >= 0.995 => format!("{percent:.1}%"),
            p => {
                let decimals = (1.0 - p.log10().floor()).clamp(2.0, 9.0) as usize;
                format!("{percent:.decimals$}%")
            }
        };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_read_as_percent_or_fraction() {
        let cases = [("1%", 0.01), ("0.5 %", 0.005), ("100%", 1.0), ("0.01", 0.01), ("0", 0.0), (".25", 0.25)];
        for (text, share) in cases {
            assert_eq!(text.parse(), Ok(Share(share)), "{text}");
        }
    }

    #[test]
    fn a_bare_one_is_a_question() {
        let error = "1".parse::<Share>().unwrap_err().to_string();
        assert!(error.contains("1% or 100%?"), "{error}");
        assert!(matches!("5".parse::<Share>(), Err(UnitError::MissingUnit { .. })));
        for text in ["101%", "-1%", "-0.5"] {
            assert!(matches!(text.parse::<Share>(), Err(UnitError::OutOfRange { .. })), "{text}");
        }
        for text in ["", "%", "one", "1 percent", "1,5%"] {
            assert!(text.parse::<Share>().is_err(), "{text}");
        }
    }

    #[test]
    fn shares_print_one_decimal_and_small_ones_two_digits() {
        let cases = [
            (0.01, "1.0%"),
            (0.1234, "12.3%"),
            (1.0, "100.0%"),
            (0.0025, "0.25%"),
            (0.000_012, "0.0012%"),
            (-0.013, "-1.3%"),
            (0.0, "0.0%"),
            (0.00996, "1.0%"),
            (1e-10, "0.000000010%"),
            (3e-16, "under 0.00000001%"),
            (-1e-16, "under 0.00000001%"),
            (4.2e20, "4.20e22%"),
            (f64::NAN, "unknown"),
        ];
        for (share, text) in cases {
            assert_eq!(Share(share).to_string(), text);
        }
    }
}
