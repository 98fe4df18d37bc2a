//! Numbers to bytes and back, every length checked. Fixed numbers are little-endian; counts are LEB128 varints.

/// A header or a list that ends before it should, or says what can't be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the datagram ends before its header does, or the header says what can't be: it is dropped")]
pub struct Short;

/// Appends to a buffer.
#[derive(Debug, Default)]
pub struct Writer(pub Vec<u8>);

impl Writer {
    /// An empty one.
    pub fn new() -> Self {
        Self(Vec::with_capacity(64))
    }
    /// One byte.
    pub fn u8(&mut self, n: u8) {
        self.0.push(n);
    }
    /// Two bytes.
    pub fn u16(&mut self, n: u16) {
        self.bytes(&n.to_le_bytes());
    }
    /// Four bytes.
    pub fn u32(&mut self, n: u32) {
        self.bytes(&n.to_le_bytes());
    }
    /// Eight bytes.
    pub fn u64(&mut self, n: u64) {
        self.bytes(&n.to_le_bytes());
    }
    /// One to ten bytes.
    pub fn count(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }
    /// As they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
    /// A list of counts with its length in front.
    pub fn counts(&mut self, list: &[u64]) {
        self.count(list.len() as u64);
        for &n in list {
            self.count(n);
        }
    }
}

/// Reads from the front of a slice.
#[derive(Debug)]
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// The next `n` bytes.
    ///
    /// # Errors
    /// [`Short`] where fewer are left. So do all that follow.
    pub fn take(&mut self, n: usize) -> Result<&'a [u8], Short> {
        if self.0.len() < n {
            return Err(Short);
        }
        let (head, rest) = self.0.split_at(n);
        self.0 = rest;
        Ok(head)
    }
    /// `N` bytes.
    ///
    /// # Errors
    /// [`Short`].
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Short> {
        self.take(N)?.try_into().map_err(|_| Short)
    }
    /// # Errors
    /// [`Short`].
    pub fn u8(&mut self) -> Result<u8, Short> {
        Ok(self.array::<1>()?[0])
    }
    /// # Errors
    /// [`Short`].
    pub fn u16(&mut self) -> Result<u16, Short> {
        Ok(u16::from_le_bytes(self.array()?))
    }
    /// # Errors
    /// [`Short`].
    pub fn u32(&mut self) -> Result<u32, Short> {
        Ok(u32::from_le_bytes(self.array()?))
    }
    /// # Errors
    /// [`Short`].
    pub fn u64(&mut self) -> Result<u64, Short> {
        Ok(u64::from_le_bytes(self.array()?))
    }
    /// # Errors
    /// [`Short`], also where a varint is longer than 64 bits.
    pub fn count(&mut self) -> Result<u64, Short> {
        let mut n = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            let part = u64::from(byte & 0x7f);
            if shift == 63 && part > 1 {
                return Err(Short);
            }
            n |= part << shift;
            if byte & 0x80 == 0 {
                return Ok(n);
            }
        }
        Err(Short)
    }
    /// A length that must be followed by at least `each` bytes for each of its items, so that no small datagram reserves much memory.
    ///
    /// # Errors
    /// [`Short`].
    pub fn length(&mut self, each: usize) -> Result<usize, Short> {
        let n = usize::try_from(self.count()?).map_err(|_| Short)?;
        if n.checked_mul(each.max(1)).is_none_or(|all| all > self.0.len()) {
            return Err(Short);
        }
        Ok(n)
    }
    /// A list of counts.
    ///
    /// # Errors
    /// [`Short`].
    pub fn counts(&mut self) -> Result<Vec<u64>, Short> {
        let n = self.length(1)?;
        (0..n).map(|_| self.count()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_come_back_and_longer_than_64_bits_is_refused() {
        for n in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let mut to = Writer::new();
            to.count(n);
            assert_eq!(Reader(&to.0).count(), Ok(n));
        }
        assert_eq!(Reader(&[0xff; 10]).count(), Err(Short));
        assert_eq!(Reader(&[0x80]).count(), Err(Short));
    }

    #[test]
    fn a_length_beyond_what_is_there_is_refused() {
        let mut to = Writer::new();
        to.count(1 << 40);
        to.bytes(&[0; 8]);
        assert_eq!(Reader(&to.0).counts(), Err(Short));
        assert_eq!(Reader(&to.0).length(8), Err(Short));
    }
}
