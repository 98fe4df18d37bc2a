//! Infinite ends of intervals in JSON, which has no infinity: they are written as `null` and read back as infinity.
//!
//! Use on a field as `#[serde(with = "units::unbounded")]` and `#[schemars(with = "Option<f64>")]`. Without it,
//! serde_json writes an infinite `f64` as `null` and then cannot read its own output.

use serde::{Deserialize, Deserializer, Serializer};

/// Writes a finite value as a number, everything else as nothing (`null`).
pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() { serializer.serialize_some(value) } else { serializer.serialize_none() }
}

/// Reads a number, or nothing as infinity.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
}

/// The lower end of an interval of times or rates: 0, which none of them can be, is written as `null`, and read back as 0.
pub mod low {
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes what bounds a positive figure from below, or nothing (`null`).
    pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if value.is_finite() && *value > 0.0 { serializer.serialize_some(value) } else { serializer.serialize_none() }
    }

    /// Reads a number, or nothing as 0.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(0.0))
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct End {
        #[serde(with = "super")]
        high: f64,
    }

    #[test]
    fn an_open_end_survives_a_run_file() {
        for (end, json) in [(End { high: f64::INFINITY }, r#"{"high":null}"#), (End { high: 0.5 }, r#"{"high":0.5}"#)] {
            assert_eq!(serde_json::to_string(&end).unwrap(), json);
            assert_eq!(serde_json::from_str::<End>(json).unwrap(), end);
        }
    }
}
