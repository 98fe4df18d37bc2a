//! The secret that members of a group share.

/// 32 bytes. Printed as nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(pub [u8; 32]);

/// What is no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a key is 32 bytes, or 64 hexadecimal digits, and this has {0} bytes: make one with `head -c 32 /dev/urandom > key`"
)]
pub struct NoKey(usize);

impl Key {
    /// From what a key file holds: 32 bytes, or 64 hexadecimal digits and perhaps the end of a line.
    ///
    /// # Errors
    /// [`NoKey`].
    pub fn read(bytes: &[u8]) -> Result<Self, NoKey> {
        if let Ok(key) = bytes.try_into() {
            return Ok(Self(key));
        }
        let text = bytes.trim_ascii_end();
        let digits: Option<Vec<_>> = text.iter().map(|&b| char::from(b).to_digit(16)).collect();
        match digits {
            Some(digits) if digits.len() == 64 => {
                let mut key = [0; 32];
                for (to, pair) in key.iter_mut().zip(digits.chunks(2)) {
                    *to = (pair[0] * 16 + pair[1]) as u8;
                }
                Ok(Self(key))
            }
            _ => Err(NoKey(bytes.len())),
        }
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("Key(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_digits_are_keys_and_nothing_else_is() {
        assert_eq!(Key::read(&[9; 32]), Ok(Key([9; 32])));
        assert_eq!(Key::read(format!("{}\n", "0a".repeat(32)).as_bytes()), Ok(Key([10; 32])));
        assert_eq!(Key::read(b"secret"), Err(NoKey(6)));
        assert_eq!(format!("{:?}", Key([9; 32])), "Key(..)");
    }
}
