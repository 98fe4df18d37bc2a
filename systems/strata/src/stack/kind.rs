//! The table of layers: name, what each requires, provides and does not pass on. After table 3 of the PODC 1995 paper, which lists, for each protocol, what it
//! requires, what is inherited through it and what it provides; each layer's own file tells why.

use crate::property::{Properties, Property::*};

/// A kind of layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Adapts the network: group, sender, version.
    Com,
    /// A checksum against damage that the network lets through.
    Chksum,
    /// A keyed checksum: strangers can make no datagram that is taken.
    Sign,
    /// Encryption and replay protection under a shared key.
    Crypt,
    /// Reliable FIFO streams by negative acknowledgements.
    Nak,
    /// Fragmentation and reassembly.
    Frag,
    /// Membership with virtual synchrony.
    Mbrship,
    /// Stability of casts, told upward.
    Stable,
    /// Causal order by vector clocks.
    Causal,
    /// Safe delivery: held until stable.
    Safe,
    /// Total order by a token.
    Total,
    /// Total order by a sequencer.
    Seq,
    /// Packing, credit, back-pressure.
    Fc,
    /// Finds parted views and merges them.
    Merge,
    /// Tells what passes by.
    Trace,
    /// Delivers at once what the layers below it foretold.
    Fast,
}

impl Kind {
    /// All kinds, the lowest first.
    pub const ALL: [Kind; 16] = [
        Kind::Com,
        Kind::Chksum,
        Kind::Sign,
        Kind::Crypt,
        Kind::Nak,
        Kind::Frag,
        Kind::Mbrship,
        Kind::Stable,
        Kind::Causal,
        Kind::Safe,
        Kind::Total,
        Kind::Seq,
        Kind::Fc,
        Kind::Merge,
        Kind::Trace,
        Kind::Fast,
    ];

    /// As it is written in a stack.
    pub fn name(self) -> &'static str {
        match self {
            Self::Com => "COM",
            Self::Chksum => "CHKSUM",
            Self::Sign => "SIGN",
            Self::Crypt => "CRYPT",
            Self::Nak => "NAK",
            Self::Frag => "FRAG",
            Self::Mbrship => "MBRSHIP",
            Self::Stable => "STABLE",
            Self::Causal => "CAUSAL",
            Self::Safe => "SAFE",
            Self::Total => "TOTAL",
            Self::Seq => "SEQ",
            Self::Fc => "FC",
            Self::Merge => "MERGE",
            Self::Trace => "TRACE",
            Self::Fast => "FAST",
        }
    }

    /// From its name; ORDER is SAFE's name in Horus.
    pub fn named(text: &str) -> Option<Self> {
        if text == "ORDER" {
            return Some(Self::Safe);
        }
        Self::ALL.into_iter().find(|k| k.name() == text)
    }

    /// What must come from below.
    pub const fn requires(self) -> Properties {
        match self {
            Self::Com => Properties::of(&[BestEffort]),
            Self::Chksum | Self::Sign | Self::Crypt | Self::Nak => Properties::of(&[BestEffort, ByteOrder, Source]),
            Self::Frag | Self::Fc => Properties::of(&[FifoUnicast, FifoMulticast, ByteOrder, Source]),
            Self::Mbrship => Properties::of(&[FifoUnicast, FifoMulticast, ByteOrder, Source, Large]),
            Self::Stable | Self::Causal | Self::Total | Self::Seq => {
                Properties::of(&[FifoUnicast, FifoMulticast, SemiSynchronous, VirtuallySynchronous, ConsistentViews])
            }
            Self::Safe => Properties::of(&[VirtuallySynchronous, ConsistentViews, Stability]),
            Self::Merge => Properties::of(&[ConsistentViews]),
            Self::Trace | Self::Fast => Properties::of(&[]),
        }
    }

    /// What it adds.
    pub const fn provides(self) -> Properties {
        match self {
            Self::Com => Properties::of(&[ByteOrder, Source]),
            Self::Chksum | Self::Sign | Self::Crypt | Self::Fc | Self::Trace | Self::Fast => Properties::of(&[]),
            Self::Nak => Properties::of(&[FifoUnicast, FifoMulticast]),
            Self::Frag => Properties::of(&[Large]),
            Self::Mbrship => Properties::of(&[SemiSynchronous, VirtuallySynchronous, ConsistentViews]),
            Self::Stable => Properties::of(&[Stability]),
            Self::Causal => Properties::of(&[Causal, Timestamps]),
            Self::Safe => Properties::of(&[Safe]),
            Self::Total => Properties::of(&[Total, Causal]),
            Self::Seq => Properties::of(&[Total]),
            Self::Merge => Properties::of(&[Merge]),
        }
    }

    /// What it keeps from those above. SEQ delivers by messages of its own, whose stability nobody above sees,
    /// and what it orders by rank as a view ends may stand before its cause; FC's packs and FRAG's pieces change what is numbered.
    pub const fn withholds(self) -> Properties {
        match self {
            Self::Seq => Properties::of(&[Causal, Stability, Timestamps]),
            Self::Fc | Self::Frag => Properties::of(&[Stability, Timestamps]),
            _ => Properties::of(&[]),
        }
    }

    /// Whether it works on datagrams, below NAK, and not on the casts of a view.
    pub const fn below_nak(self) -> bool {
        matches!(self, Self::Com | Self::Chksum | Self::Sign | Self::Crypt)
    }

    /// Whether it may hold casts of that layer above it over a change of views, which would count wrongly then: what a layer writes into casts (stamps, counts, numbers, lists of ranks) holds within one
    /// view, and FRAG's pieces are joined within one. FC keeps what has no credit, TOTAL what waits for the token.
    pub const fn holds_back(self, above: Self) -> bool {
        match self {
            Self::Fc => above.by_view() || matches!(above, Self::Mbrship | Self::Safe | Self::Total),
            Self::Total => above.by_view(),
            _ => false,
        }
    }

    const fn by_view(self) -> bool {
        matches!(self, Self::Stable | Self::Causal | Self::Seq | Self::Frag)
    }

    /// Whether a stack may have several of it.
    pub const fn repeats(self) -> bool {
        matches!(self, Self::Frag | Self::Trace)
    }
}
