//! Sizes in bytes.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::format::thousands;
use crate::parse::{Quantity, UnitError};

/// A size in bytes. Reads `100`, `64KiB`, `1.5 MiB`, `64kB`, `98,307 B`; prints a binary unit where that is exact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Bytes(pub u64);

const SIZE: Quantity = Quantity {
    what: "a size",
    forms: "a number of bytes, or with a unit as 64KiB, 1MiB, 1GiB (of 1024) or 64kB, 1MB, 1GB (of 1000)",
    limit: "between 0 and 2^64 - 1 bytes",
};

const BINARY: [(&str, u64); 4] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

impl FromStr for Bytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let parts = SIZE.split(text)?;
        let factor: u64 = match parts.unit {
            "" | "B" | "byte" | "bytes" => 1,
            // SI has the small k; KB is how most people write it. KiB is 1024.
            "kB" | "KB" => 1_000,
            "MB" => 1_000_000,
            "GB" => 1_000_000_000,
            "TB" => 1_000_000_000_000,
            unit => match BINARY.iter().find(|(name, _)| *name == unit) {
                Some((_, factor)) => *factor,
                None => return Err(question(text, &parts.digits, unit)),
            },
        };
        exact(&parts.digits, factor, text).map(Bytes)
    }
}

/// The error for a unit that is none: a question where two were likely meant.
fn question(text: &str, digits: &str, unit: &str) -> UnitError {
    let (binary, decimal) = match unit {
        "K" | "k" | "Kb" | "kb" => ("KiB", "kB"),
        "M" | "m" | "Mb" | "mb" | "mB" => ("MiB", "MB"),
        "G" | "g" | "Gb" | "gb" | "gB" => ("GiB", "GB"),
        "T" | "t" | "Tb" | "tb" | "tB" => ("TiB", "TB"),
        _ => return SIZE.unknown_unit(text, unit),
    };
    UnitError::Ambiguous {
        found: text.into(),
        first: format!("{digits}{binary}"),
        second: format!("{digits}{decimal}"),
        difference: "the i marks multiples of 1024; B is bytes, and sizes are never in bits",
    }
}

/// `digits` times `factor` without going through a float, so that no byte is lost.
fn exact(digits: &str, factor: u64, text: &str) -> Result<u64, UnitError> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fraction = fraction.trim_end_matches('0');
    let ten = u32::try_from(fraction.len()).ok().and_then(|places| 10u128.checked_pow(places));
    let scaled = format!("{whole}{fraction}").parse::<u128>().ok().and_then(|n| n.checked_mul(factor.into()));
    let (Some(ten), Some(scaled)) = (ten, scaled) else { return Err(SIZE.out_of_range(text)) };
    if scaled % ten != 0 {
        return Err(UnitError::Fraction { found: text.into() });
    }
    u64::try_from(scaled / ten).map_err(|_| SIZE.out_of_range(text))
}

impl fmt::Display for Bytes {
    /// The largest binary unit in which three digits (or a whole number below 1024) say it exactly; else bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text())
    }
}

impl Bytes {
    fn text(self) -> String {
        for (name, factor) in BINARY {
            if self.0 < factor {
                continue;
            }
            let whole = self.0 / factor;
            // Hundredths, exact only if nothing is left over; the number of digits then decides.
            let hundredths = u128::from(self.0) * 100;
            if hundredths % u128::from(factor) != 0 {
                continue;
            }
            let cents = (hundredths / u128::from(factor) % 100) as u64;
            match (whole, cents) {
                (0..=1023, 0) => return format!("{whole} {name}"),
                (0..=99, _) if cents.is_multiple_of(10) => return format!("{whole}.{} {name}", cents / 10),
                (0..=9, _) => return format!("{whole}.{cents:02} {name}"),
                _ => {}
            }
        }
        format!("{} B", thousands(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> u64 {
        text.parse::<Bytes>().unwrap_or_else(|e| panic!("{text}: {e}")).0
    }

    #[test]
    fn sizes_read_with_and_without_units() {
        let cases: [(&str, u64); 16] = [
            ("0", 0),
            ("100", 100),
            ("100B", 100),
            ("64KiB", 65_536),
            ("64 KiB", 65_536),
            (" 8 MiB ", 8_388_608),
            ("1MiB", 1_048_576),
            ("1.5MiB", 1_572_864),
            ("64kB", 64_000),
            ("64KB", 64_000),
            ("64 KB", 64_000),
            ("1.25MB", 1_250_000),
            ("2GiB", 2_147_483_648),
            ("1TB", 1_000_000_000_000),
            ("98,307 B", 98_307),
            ("18446744073709551615", u64::MAX),
        ];
        for (text, bytes) in cases {
            assert_eq!(read(text), bytes, "{text}");
        }
    }

    #[test]
    fn a_bare_prefix_is_a_question_and_never_a_guess() {
        let error = "64K".parse::<Bytes>().unwrap_err().to_string();
        assert!(error.contains("64KiB or 64kB?"), "{error}");
        for text in ["64k", "64Kb", "1M", "1Mb", "1g", "1G", "2T", "64kb"] {
            assert!(matches!(text.parse::<Bytes>(), Err(UnitError::Ambiguous { .. })), "{text}");
        }
    }

    #[test]
    fn bad_sizes_say_what_was_found() {
        for text in ["", "KiB", "twelve", "1,5MiB", "-1", "1.2.3", "1Mbit", "64kib", "1e6", "0x10", "nan", "1 KiB 2"] {
            let error = text.parse::<Bytes>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{text}`")), "{text}: {error}");
        }
        assert!(matches!("1.0001KiB".parse::<Bytes>(), Err(UnitError::Fraction { .. })));
        assert!(matches!("0.5".parse::<Bytes>(), Err(UnitError::Fraction { .. })));
        for text in ["18446744073709551616", "99999999999TiB", "1.00000000000000000000000000000000000000000001MiB"] {
            assert!(matches!(text.parse::<Bytes>(), Err(UnitError::OutOfRange { .. })), "{text}");
        }
    }

    #[test]
    fn sizes_print_exactly() {
        let cases: [(u64, &str); 16] = [
            (0, "0 B"),
            (1, "1 B"),
            (1000, "1,000 B"),
            (1023, "1,023 B"),
            (1024, "1 KiB"),
            (1025, "1,025 B"),
            (1280, "1.25 KiB"),
            (1536, "1.5 KiB"),
            (12_800, "12.5 KiB"),
            (65_536, "64 KiB"),
            (98_307, "98,307 B"),
            (1_047_552, "1023 KiB"),
            (1_572_864, "1.5 MiB"),
            (8_388_608, "8 MiB"),
            (8_388_611, "8,388,611 B"),
            (u64::MAX, "18,446,744,073,709,551,615 B"),
        ];
        for (bytes, text) in cases {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
        assert_eq!(format!("{:>8}", Bytes(1024)), "   1 KiB");
    }

    #[test]
    fn what_is_printed_reads_back_the_same() {
        let mut n: u64 = 1;
        for step in 0..200_000u64 {
            let bytes = if step < 100_000 { step } else { n };
            assert_eq!(read(&Bytes(bytes).to_string()), bytes);
            n = n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407) >> (step % 40);
        }
    }
}
