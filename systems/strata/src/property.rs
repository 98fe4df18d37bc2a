//! What a stack promises: the properties P1 to P16 of Horus (van Renesse, Birman, Friedman, Hayden and Karr, *A framework for protocol composition in
//! Horus*, PODC 1995, section 6 and table 4), as a set.

use std::fmt;

/// One property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Property {
    /// P1: a datagram arrives, or not.
    BestEffort = 1,
    /// P2: urgent messages overtake others. No layer here provides it.
    Prioritised,
    /// P3: what one member sends to another arrives once and in order, while both are in the view.
    FifoUnicast,
    /// P4: what a member casts arrives once and in order at each member of the view.
    FifoMulticast,
    /// P5: no cast arrives before one that its sender had delivered or cast before it.
    Causal,
    /// P6: casts arrive in one order at all members of the view.
    Total,
    /// P7: a cast is delivered when all members of the view have it.
    Safe,
    /// P8: members that move together to the next view have the same casts in this one, senders' own included.
    SemiSynchronous,
    /// P9: P8, and each cast is delivered in the view that it was sent in.
    VirtuallySynchronous,
    /// P10: members of another byte order understand each other.
    ByteOrder,
    /// P11: a message says who sent it.
    Source,
    /// P12: messages may be larger than a datagram.
    Large,
    /// P13: messages carry causal timestamps.
    Timestamps,
    /// P14: members learn which casts all members have.
    Stability,
    /// P15: members that move together have the same views.
    ConsistentViews,
    /// P16: views that a partition parted find each other again.
    Merge,
}

/// All of them, in order.
pub const ALL: [Property; 16] = {
    use Property::*;
    [
        BestEffort,
        Prioritised,
        FifoUnicast,
        FifoMulticast,
        Causal,
        Total,
        Safe,
        SemiSynchronous,
        VirtuallySynchronous,
        ByteOrder,
        Source,
        Large,
        Timestamps,
        Stability,
        ConsistentViews,
        Merge,
    ]
};

impl Property {
    /// The word that a person writes for it: `strata stack --want total,safe`.
    pub fn word(self) -> &'static str {
        match self {
            Self::BestEffort => "best-effort",
            Self::Prioritised => "prioritised",
            Self::FifoUnicast => "fifo-unicast",
            Self::FifoMulticast => "fifo",
            Self::Causal => "causal",
            Self::Total => "total",
            Self::Safe => "safe",
            Self::SemiSynchronous => "semi-synchronous",
            Self::VirtuallySynchronous => "virtually-synchronous",
            Self::ByteOrder => "byte-order",
            Self::Source => "source",
            Self::Large => "large",
            Self::Timestamps => "timestamps",
            Self::Stability => "stability",
            Self::ConsistentViews => "views",
            Self::Merge => "merge",
        }
    }

    /// From its word or its number (`total`, `P6`).
    pub fn named(text: &str) -> Option<Self> {
        ALL.into_iter().find(|p| p.word() == text || format!("p{}", *p as u8) == text.to_ascii_lowercase())
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "P{} ({})", *self as u8, self.word())
    }
}

/// A set of properties.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Properties(u32);

impl Properties {
    /// The set of these.
    pub const fn of(list: &[Property]) -> Self {
        let mut bits = 0;
        let mut at = 0;
        while at < list.len() {
            bits |= 1 << list[at] as u8;
            at += 1;
        }
        Self(bits)
    }
    /// Those of either.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    /// Those that the other has not.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
    /// Whether all of the other are here.
    pub const fn holds(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
    /// Whether this one is here.
    pub const fn has(self, one: Property) -> bool {
        self.0 >> one as u8 & 1 == 1
    }
    /// What becomes of casts in a view without a majority. No property holds them back: a `Replica` says which views are primary, and its application acts on that.
    pub const fn in_a_minority(self) -> &'static str {
        use Property::{ConsistentViews, Safe, Total};
        match (self.has(ConsistentViews), self.has(Total), self.has(Safe)) {
            (false, ..) => "there are no views: casts are delivered wherever they arrive",
            (true, true, true) => {
                "casts are delivered on; a Replica tells whether a view is primary, of which there is one line: let what only a majority may do wait for that"
            }
            (true, true, false) => {
                "casts are delivered on; a Replica tells whether a view is primary, but two may be at once: add SAFE:STABLE for one line of them"
            }
            (true, false, _) => {
                "casts are delivered on; that a Replica tells one line of primary views takes P6 (total) and P7 (safe)"
            }
        }
    }
    /// Each, in order.
    pub fn iter(self) -> impl Iterator<Item = Property> {
        ALL.into_iter().filter(move |p| self.has(*p))
    }
}

impl fmt::Debug for Properties {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (at, p) in self.iter().enumerate() {
            write!(f, "{}P{}", if at > 0 { "," } else { "" }, p as u8)?;
        }
        Ok(())
    }
}
