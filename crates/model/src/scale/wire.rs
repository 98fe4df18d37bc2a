//! What a wire costs, and what is asked of a scaled path.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Unscaled;

/// A wire: what it carries a second, and what it carries besides the blocks' own bytes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Wire {
    /// Bits a second.
    pub rate: f64,
    /// Bytes on the wire for each byte of a block: 53/48 for ATM cells.
    pub framing: f64,
    /// Bytes on the wire for each block besides.
    pub header: f64,
}

impl Wire {
    /// A wire of `rate` bits a second that carries `framing` bytes for each byte and `header` bytes for each block.
    pub fn new(rate: f64, framing: f64, header: f64) -> Result<Self, Unscaled> {
        if !(rate.is_finite() && rate > 0.0) {
            return Err(Unscaled::Rate(rate));
        }
        if !(framing.is_finite() && framing >= 1.0 && header.is_finite() && header >= 0.0) {
            return Err(Unscaled::Framing { framing, header });
        }
        Ok(Self { rate, framing, header })
    }

    /// Seconds for each byte of a block.
    pub fn per_byte(&self) -> f64 {
        self.framing * 8.0 / self.rate
    }

    /// Seconds for each block besides.
    pub fn per_block(&self) -> f64 {
        self.header * 8.0 / self.rate
    }
}

/// What changes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// The wire that was measured over, and the one asked about; none where no wire is part of the path.
    pub wires: Option<(Wire, Wire)>,
    /// How many times as fast the CPU is: start-up costs go by it.
    pub cpu: f64,
    /// How many times as fast memory is: what bytes cost beyond the wire goes by it.
    pub memory: f64,
}

impl Target {
    /// Another wire, and nothing else.
    pub fn wire(from: Wire, to: Wire) -> Self {
        Self { wires: Some((from, to)), cpu: 1.0, memory: 1.0 }
    }

    /// Whether both factors are numbers above 0.
    pub(super) fn check(&self) -> Result<(), Unscaled> {
        for (what, factor) in [("CPU", self.cpu), ("memory", self.memory)] {
            if !(factor.is_finite() && factor > 0.0) {
                return Err(Unscaled::Factor { what, factor });
            }
        }
        Ok(())
    }
}
