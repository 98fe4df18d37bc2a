//! What the four quantities share when they read text: a number, then a unit, and the errors.

/// Why a text is not the quantity that was asked for. Each message names what was found and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// No number at the start, or a malformed one.
    #[error("`{found}` is not {what}: it must begin with a number; write {forms}")]
    NotANumber {
        /// The text.
        found: String,
        /// The quantity: "a size".
        what: &'static str,
        /// Accepted forms.
        forms: &'static str,
    },
    /// The unit can be read in two ways.
    #[error("`{found}` can be read in two ways: {first} or {second}? ({difference})")]
    Ambiguous {
        /// The text.
        found: String,
        /// One reading.
        first: String,
        /// The other.
        second: String,
        /// What sets them apart.
        difference: &'static str,
    },
    /// A number alone, where that says too little.
    #[error("`{found}` lacks a unit; {what} is written as {forms}")]
    MissingUnit {
        /// The text.
        found: String,
        /// The quantity.
        what: &'static str,
        /// Accepted forms.
        forms: &'static str,
    },
    /// A unit of something else, or of nothing.
    #[error("`{unit}` in `{found}` is not a unit of {what}; write {forms}")]
    UnknownUnit {
        /// The text.
        found: String,
        /// Its unit.
        unit: String,
        /// The quantity.
        what: &'static str,
        /// Accepted forms.
        forms: &'static str,
    },
    /// Part of a byte.
    #[error("`{found}` is not a whole number of bytes")]
    Fraction {
        /// The text.
        found: String,
    },
    /// Below or above what can be meant.
    #[error("`{found}` is out of range: {what} lies {limit}")]
    OutOfRange {
        /// The text.
        found: String,
        /// The quantity.
        what: &'static str,
        /// Between which ends.
        limit: &'static str,
    },
}

/// What is being read, for the errors.
#[derive(Clone, Copy)]
pub(crate) struct Quantity {
    pub what: &'static str,
    pub forms: &'static str,
    pub limit: &'static str,
}

/// A number as written, without separators, and the unit after it.
pub(crate) struct Parts<'a> {
    pub digits: String,
    pub unit: &'a str,
}

impl Parts<'_> {
    /// The number. Digits and one point always parse.
    pub fn number(&self) -> f64 {
        self.digits.parse().unwrap_or(f64::INFINITY)
    }
}

impl Quantity {
    /// Splits `text` into number and unit.
    pub fn split<'a>(&self, text: &'a str) -> Result<Parts<'a>, UnitError> {
        let trimmed = text.trim();
        if trimmed.starts_with('-') {
            return Err(self.out_of_range(text));
        }
        let end = trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ',')).unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(end);
        let digits = plain_digits(number).ok_or_else(|| self.not_a_number(text))?;
        Ok(Parts { digits, unit: unit.trim_start() })
    }

    pub fn not_a_number(&self, found: &str) -> UnitError {
        UnitError::NotANumber { found: found.into(), what: self.what, forms: self.forms }
    }

    pub fn missing_unit(&self, found: &str) -> UnitError {
        UnitError::MissingUnit { found: found.into(), what: self.what, forms: self.forms }
    }

    pub fn unknown_unit(&self, found: &str, unit: &str) -> UnitError {
        UnitError::UnknownUnit { found: found.into(), unit: unit.into(), what: self.what, forms: self.forms }
    }

    pub fn out_of_range(&self, found: &str) -> UnitError {
        UnitError::OutOfRange { found: found.into(), what: self.what, limit: self.limit }
    }

    /// The number times `factor`, if that can be held.
    pub fn scaled(&self, found: &str, parts: &Parts<'_>, factor: f64) -> Result<f64, UnitError> {
        let value = parts.number() * factor;
        if value.is_finite() { Ok(value) } else { Err(self.out_of_range(found)) }
    }
}

/// Takes out thousands separators, which must stand in front of groups of three digits. A decimal comma (`1,5`) is
/// refused and not read as fifteen.
fn plain_digits(number: &str) -> Option<String> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains(['.', ',']) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or("");
    if whole.contains(',') && !((1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3)) {
        return None;
    }
    let whole = whole.replace(',', "");
    let whole = if whole.is_empty() { "0" } else { &whole };
    Some(if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_stand_in_front_of_three_digits_only() {
        assert_eq!(plain_digits("98,307").as_deref(), Some("98307"));
        assert_eq!(plain_digits("1,048,576.5").as_deref(), Some("1048576.5"));
        assert_eq!(plain_digits(".5").as_deref(), Some("0.5"));
        assert_eq!(plain_digits("5.").as_deref(), Some("5"));
        for bad in ["", ".", ",", "1,5", "1,,000", ",100", "1234,567", "1.2.3", "1.2,3"] {
            assert_eq!(plain_digits(bad), None, "{bad}");
        }
    }
}
