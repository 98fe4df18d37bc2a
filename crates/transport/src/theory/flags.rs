//! Reading `key=value,key=value`: the compact form in which models, faults and shapes are typed.

use std::fmt::Display;
use std::str::FromStr;

use crate::settings::todays;

/// What is wrong with a `key=value,...` text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlagError {
    /// Nothing was given.
    #[error("{what} needs at least one of: {keys} (for example {example})")]
    Empty {
        /// What was being read ("the theoretical link").
        what: &'static str,
        /// The keys it knows.
        keys: String,
        /// A text that works.
        example: &'static str,
    },
    /// An item is not of the form key=value.
    #[error("'{item}' is not of the form key=value; {what} takes, separated by commas: {keys} (for example {example})")]
    NoValue {
        /// What was being read.
        what: &'static str,
        /// The item as typed.
        item: String,
        /// The keys it knows.
        keys: String,
        /// A text that works.
        example: &'static str,
    },
    /// No such key.
    #[error("{what} has no '{key}'; it takes: {keys} (for example {example})")]
    Unknown {
        /// What was being read.
        what: &'static str,
        /// The key as typed.
        key: String,
        /// The keys it knows.
        keys: String,
        /// A text that works.
        example: &'static str,
    },
    /// A key that may stand once stands twice.
    #[error("'{key}' is given twice; give it once")]
    Twice {
        /// The key.
        key: String,
    },
    /// A value can't be read or lies out of range.
    #[error("{key}={value}: {why}")]
    Bad {
        /// The key.
        key: String,
        /// The value as typed.
        value: String,
        /// What is wrong, and the form or range that is right.
        why: String,
    },
}

impl FlagError {
    /// A [`FlagError::Bad`].
    pub(crate) fn bad(key: &str, value: impl Display, why: impl Display) -> Self {
        Self::Bad { key: key.to_owned(), value: value.to_string(), why: why.to_string() }
    }
}

/// What a text may hold.
pub(crate) struct Grammar {
    /// What is being read, for messages.
    pub what: &'static str,
    /// Keys that may stand once.
    pub once: &'static [&'static str],
    /// Keys that may stand more than once.
    pub many: &'static [&'static str],
    /// A text that works.
    pub example: &'static str,
}

impl Grammar {
    /// The pairs of `text` in order, every key known, none but the repeatable ones twice.
    pub fn pairs<'a>(&self, text: &'a str) -> Result<Vec<(&'a str, &'a str)>, FlagError> {
        let (what, example) = (self.what, self.example);
        if text.trim().is_empty() {
            return Err(FlagError::Empty { what, keys: self.keys(), example });
        }
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for item in text.split(',') {
            let Some((key, value)) = item.split_once('=') else {
                return Err(FlagError::NoValue { what, item: item.trim().to_owned(), keys: self.keys(), example });
            };
            let (key, value) = (todays("theory", key.trim()), value.trim());
            if !self.once.contains(&key) && !self.many.contains(&key) {
                return Err(FlagError::Unknown { what, key: key.to_owned(), keys: self.keys(), example });
            }
            if self.once.contains(&key) && pairs.iter().any(|(k, _)| *k == key) {
                return Err(FlagError::Twice { key: key.to_owned() });
            }
            pairs.push((key, value));
        }
        Ok(pairs)
    }

    fn keys(&self) -> String {
        self.once.iter().chain(self.many).copied().collect::<Vec<_>>().join(", ")
    }
}

/// Reads one value.
pub(crate) fn read<T: FromStr<Err: Display>>(key: &str, value: &str) -> Result<T, FlagError> {
    value.parse().map_err(|e| FlagError::bad(key, value, e))
}

/// Reads a whole number.
pub(crate) fn whole(key: &str, value: &str) -> Result<u64, FlagError> {
    value.parse().map_err(|_| FlagError::bad(key, value, "a whole number is wanted, such as 100"))
}

/// Reads a share and checks that it lies between 0 and 100%.
pub(crate) fn share(key: &str, value: &str) -> Result<f64, FlagError> {
    let units::Share(share) = read(key, value)?;
    if (0.0..=1.0).contains(&share) {
        Ok(share)
    } else {
        Err(FlagError::bad(key, value, "a share lies between 0% and 100%"))
    }
}

/// Reads a time and checks that it is neither negative nor endless.
pub(crate) fn seconds(key: &str, value: &str) -> Result<f64, FlagError> {
    let units::Seconds(seconds) = read(key, value)?;
    if seconds.is_finite() && seconds >= 0.0 {
        Ok(seconds)
    } else {
        Err(FlagError::bad(key, value, "a time of 0 or more is wanted, such as 10us"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRAMMAR: Grammar = Grammar { what: "a soup", once: &["salt", "water"], many: &["herb"], example: "salt=1" };

    #[test]
    fn pairs_keep_their_order_and_spaces_are_dropped() {
        let pairs = GRAMMAR.pairs("water=2, herb=a ,herb=b,salt=1").unwrap();
        assert_eq!(pairs, [("water", "2"), ("herb", "a"), ("herb", "b"), ("salt", "1")]);
    }

    #[test]
    fn every_error_says_what_was_found_and_what_fits() {
        let said = |text: &str| GRAMMAR.pairs(text).unwrap_err().to_string();
        assert_eq!(said(" "), "a soup needs at least one of: salt, water, herb (for example salt=1)");
        assert_eq!(
            said("salt"),
            "'salt' is not of the form key=value; a soup takes, separated by commas: salt, water, herb \
             (for example salt=1)"
        );
        assert_eq!(said("pepper=1"), "a soup has no 'pepper'; it takes: salt, water, herb (for example salt=1)");
        assert_eq!(said("salt=1,water=1,salt=2"), "'salt' is given twice; give it once");
        assert_eq!(whole("cut", "ten").unwrap_err().to_string(), "cut=ten: a whole number is wanted, such as 100");
        assert!(share("loss", "120%").unwrap_err().to_string().starts_with("loss=120%: "));
        assert!(seconds("latency", "-1s").unwrap_err().to_string().starts_with("latency=-1s: "));
    }
}
