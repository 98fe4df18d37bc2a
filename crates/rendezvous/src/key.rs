//! The key that `serve` prints and a person carries to the near side.

use std::fmt;
use std::str::FromStr;

use data_encoding::BASE32_NOPAD;

use crate::secret::{Secret, sha256};

/// First letters of every key; the digit is the key format's version.
const PREFIX: &str = "pg1";
/// Bytes of checksum behind pin and secret: a mistyped key is told from a wrong one.
const CHECK: usize = 4;

/// What the near side needs to know the far side and be known by it: the SHA-256 of the far side's certificate and a
/// one-time secret of 32 bytes. Prints as one word of lower-case letters and digits; `Debug` shows neither.
#[derive(Clone)]
pub struct Key {
    pub(crate) pin: [u8; 32],
    pub(crate) secret: Secret,
}

/// A word that is not a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Does not begin like a key.
    #[error(
        "this is not a pipegauge key (a key begins with '{PREFIX}'): copy the word that 'pipegauge serve' prints behind --key"
    )]
    NotAKey,
    /// Too short or too long.
    #[error("the key has {found} letters but should have {expected}: a part was not copied, or too much was")]
    Length {
        /// Letters found.
        found: usize,
        /// Letters of a whole key.
        expected: usize,
    },
    /// A letter that no key has.
    #[error("the key has a letter that no key has, at place {place}: a key is made of a-z and 2-7")]
    Letter {
        /// Place, counted from 1.
        place: usize,
    },
    /// The checksum is wrong.
    #[error("the key has a letter that was mistyped (its checksum is wrong): copy it again")]
    Checksum,
}

fn checksum(body: &[u8]) -> [u8; CHECK] {
    let digest = sha256(body);
    std::array::from_fn(|i| digest[i])
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut body = Vec::with_capacity(64 + CHECK);
        body.extend_from_slice(&self.pin);
        body.extend_from_slice(self.secret.bytes());
        let check = checksum(&body);
        body.extend_from_slice(&check);
        write!(f, "{PREFIX}{}", BASE32_NOPAD.encode(&body).to_ascii_lowercase())
    }
}

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(word: &str) -> Result<Self, KeyError> {
        let word = word.trim().to_ascii_lowercase();
        let letters = word.strip_prefix(PREFIX).ok_or(KeyError::NotAKey)?;
        let expected = BASE32_NOPAD.encode_len(64 + CHECK);
        if let Some(at) = letters.find(|c: char| !matches!(c, 'a'..='z' | '2'..='7')) {
            return Err(KeyError::Letter { place: PREFIX.len() + letters[..at].chars().count() + 1 });
        }
        if letters.len() != expected {
            return Err(KeyError::Length { found: PREFIX.len() + letters.len(), expected: PREFIX.len() + expected });
        }
        let body = BASE32_NOPAD.decode(letters.to_ascii_uppercase().as_bytes()).map_err(|_| KeyError::Checksum)?;
        let (pin, rest) = body.split_first_chunk::<32>().ok_or(KeyError::Checksum)?;
        let (secret, check) = rest.split_first_chunk::<32>().ok_or(KeyError::Checksum)?;
        if check != checksum(&body[..64]) {
            return Err(KeyError::Checksum);
        }
        Ok(Self { pin: *pin, secret: Secret::of(*secret) })
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key() -> Key {
        Key { pin: [0xab; 32], secret: Secret::of(std::array::from_fn(|i| i as u8)) }
    }

    #[test]
    fn debug_shows_nothing_of_the_secret() {
        assert_eq!(format!("{:?}", key()), "Key(..)");
    }

    #[test]
    fn is_one_word_that_no_shell_touches() {
        let word = key().to_string();
        assert!(word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()), "{word}");
    }

    #[test]
    fn upper_case_and_blanks_around_it_are_forgiven() {
        let word = format!(" {}\n", key().to_string().to_ascii_uppercase());
        assert_eq!(word.parse::<Key>().unwrap().to_string(), key().to_string());
    }

    #[test]
    fn bad_keys_say_what_is_wrong() {
        let good = key().to_string();
        assert_eq!("hello".parse::<Key>().unwrap_err(), KeyError::NotAKey);
        assert_eq!("".parse::<Key>().unwrap_err(), KeyError::NotAKey);
        assert!(matches!(good[..60].parse::<Key>().unwrap_err(), KeyError::Length { found: 60, .. }));
        assert!(matches!(format!("{good}a").parse::<Key>().unwrap_err(), KeyError::Length { .. }));
        let mut odd = good.clone();
        odd.replace_range(10..11, "1");
        assert_eq!(odd.parse::<Key>().unwrap_err(), KeyError::Letter { place: 11 });
        let mut typo = good.clone();
        let other = if &good[20..21] == "b" { "c" } else { "b" };
        typo.replace_range(20..21, other);
        assert_eq!(typo.parse::<Key>().unwrap_err(), KeyError::Checksum);
    }

    proptest! {
        #[test]
        fn every_key_survives_being_printed_and_read(pin: [u8; 32], secret: [u8; 32]) {
            let key = Key { pin, secret: Secret::of(secret) };
            let back: Key = key.to_string().parse().unwrap();
            prop_assert_eq!(back.pin, pin);
            prop_assert_eq!(back.secret.bytes(), &secret);
        }

        #[test]
        fn no_word_makes_the_reader_panic(word in ".{0,200}") {
            let _ = word.parse::<Key>();
            let _ = format!("pg1{word}").parse::<Key>();
        }
    }
}
