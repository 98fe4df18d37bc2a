//! What can be set.

use std::time::Duration;

use crate::arena::Sizes;
use crate::error::Error;
use crate::guard::BUDGET;
use crate::ring::Capacity;

/// How a side waits for its peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wait {
    /// Spins for at most this long where that has paid of late and the peer was last seen on another CPU ([`crate::guard`]), then
    /// sleeps. The default, with 20 us.
    Guarded(Duration),
    /// Sleeps at once.
    Sleep,
    /// Never sleeps: it looks, and now and then yields. For who owns the CPU that it runs on.
    Spin,
}

impl Default for Wait {
    fn default() -> Self {
        Self::Guarded(BUDGET)
    }
}

/// Options of one side. Sizes count at the listener, which makes the memory; the other side learns them.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Options {
    /// Bytes of each of the four rings: a power of two from 4 KiB to 64 MiB. A medium message carries at most a quarter of it.
    pub ring_bytes: usize,
    /// Bytes of each side's area for regions: a multiple of 4096, at most 1 GiB. May be 0.
    pub region_bytes: usize,
    /// How to wait.
    pub wait: Wait,
    /// How long a call waits for a peer that takes nothing before it fails.
    pub patience: Duration,
}

impl Default for Options {
    fn default() -> Self {
        let (ring_bytes, region_bytes) = (256 << 10, 1 << 20);
        Self { ring_bytes, region_bytes, wait: Wait::default(), patience: Duration::from_secs(30) }
    }
}

impl Options {
    /// The sizes, once they are known to be good.
    pub(crate) fn sizes(&self) -> Result<Sizes, Error> {
        sizes(self.ring_bytes as u64, self.region_bytes as u64)
    }
}

/// Sizes that were asked for, by this side's caller or by the peer.
pub(crate) fn sizes(ring_bytes: u64, region_bytes: u64) -> Result<Sizes, Error> {
    let ring = usize::try_from(ring_bytes).ok().filter(|bytes| (4096..=64 << 20).contains(bytes));
    let ring = ring.and_then(Capacity::new).ok_or(Error::Option {
        option: "ring_bytes",
        value: ring_bytes.to_string(),
        rule: "it must be a power of two from 4096 to 67108864",
    })?;
    if !region_bytes.is_multiple_of(4096) || region_bytes > 1 << 30 {
        let rule = "it must be a multiple of 4096, at most 1073741824";
        return Err(Error::Option { option: "region_bytes", value: region_bytes.to_string(), rule });
    }
    Ok(Sizes { ring, region: region_bytes as u32 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_can_not_be_are_named() {
        for (ring, region, what) in [
            (0, 0, Some("ring_bytes")),
            (2048, 0, Some("ring_bytes")),
            (4097, 0, Some("ring_bytes")),
            (u64::MAX, 0, Some("ring_bytes")),
            (1 << 27, 0, Some("ring_bytes")),
            (4096, 1, Some("region_bytes")),
            (4096, (1 << 30) + 4096, Some("region_bytes")),
            (4096, 0, None),
            (64 << 20, 1 << 30, None),
        ] {
            let found = match sizes(ring, region) {
                Ok(_) => None,
                Err(Error::Option { option, .. }) => Some(option),
                Err(other) => panic!("{other}"),
            };
            assert_eq!(found, what, "{ring} {region}");
        }
        assert!(Options::default().sizes().is_ok());
    }
}
