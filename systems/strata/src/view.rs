//! Views: who is in the group, in order of age.

use std::fmt;

use crate::addr::Endpoint;
use crate::wire::{Reader, Short, Writer};

/// A view's name: the number of the attempt that made it, and who led that. Ordered by number, then by leader. No leader uses a number twice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ViewId {
    /// Higher than that of any view which its members had before.
    pub number: u64,
    /// Who made it.
    pub leader: Endpoint,
}

impl ViewId {
    /// 64 bits that stand for the name in headers (FNV-1a, then a mixing step). Two views of one group have the same with a chance of 2^-64.
    pub fn tag(&self) -> u64 {
        let mut to = Writer::new();
        self.write(&mut to);
        hash(&to.0)
    }

    /// Writes it as a count and an endpoint.
    pub fn write(&self, to: &mut Writer) {
        to.count(self.number);
        self.leader.write(to);
    }

    /// # Errors
    /// [`Short`], also for a number that no group comes to: members count on from the highest they heard.
    pub fn read(from: &mut Reader) -> Result<Self, Short> {
        let number = from.count()?;
        if number >> 62 != 0 {
            return Err(Short);
        }
        Ok(Self { number, leader: Endpoint::read(from)? })
    }
}

impl fmt::Display for ViewId {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}@{}", self.number, self.leader)
    }
}

impl fmt::Debug for ViewId {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// FNV-1a over bytes, finished with the mixer of SplitMix64: stable over versions and machines, no secret.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mut h = bytes.iter().fold(0xcbf2_9ce4_8422_2325u64, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    h = (h ^ (h >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    h = (h ^ (h >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    h ^ (h >> 31)
}

/// A view: its name and its members, the oldest first. A member's place is its rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// Its name.
    pub id: ViewId,
    /// The oldest first.
    pub members: Vec<Endpoint>,
}

impl View {
    /// The place of a member.
    pub fn rank(&self, of: &Endpoint) -> Option<u16> {
        self.members.iter().position(|m| m == of).map(|at| at as u16)
    }

    /// Writes name and members.
    pub fn write(&self, to: &mut Writer) {
        self.id.write(to);
        write_endpoints(&self.members, to);
    }

    /// # Errors
    /// [`Short`], also for a view of more than [`MEMBERS`].
    pub fn read(from: &mut Reader) -> Result<Self, Short> {
        Ok(Self { id: ViewId::read(from)?, members: read_endpoints(from)? })
    }
}

/// The largest view: a list of endpoints must fit into one datagram of 64 KB, also over IPv6.
pub const MEMBERS: usize = 2048;

/// A list with its length in front.
pub fn write_endpoints(list: &[Endpoint], to: &mut Writer) {
    to.count(list.len() as u64);
    for endpoint in list {
        endpoint.write(to);
    }
}

/// # Errors
/// [`Short`], also for more than [`MEMBERS`].
pub fn read_endpoints(from: &mut Reader) -> Result<Vec<Endpoint>, Short> {
    let n = from.length(15)?;
    if n > MEMBERS {
        return Err(Short);
    }
    (0..n).map(|_| Endpoint::read(from)).collect()
}
