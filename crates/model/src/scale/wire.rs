//! The time that a wire takes, and the target that a path is scaled to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Unscaled;

/// A wire: what it carries a second, and what it carries besides the messages' own bytes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Wire {
    /// Bits a second.
    pub rate: f64,
    /// Bytes on the wire for each byte of a message: 53/48 for ATM cells, where no packet says it by its header.
    pub framing: f64,
    /// Header of each packet, bytes on the wire.
    pub header: f64,
    /// The most that a packet carries of a message, bytes; none where a message of any size is one packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<u64>,
}

impl Wire {
    /// A wire of `rate` bits a second that carries `framing` bytes for each byte and `header` bytes for each message, which is
    /// one packet.
    pub fn new(rate: f64, framing: f64, header: f64) -> Result<Self, Unscaled> {
        if !(rate.is_finite() && rate > 0.0) {
            return Err(Unscaled::Rate(rate));
        }
        if !(framing.is_finite() && framing >= 1.0 && header.is_finite() && header >= 0.0) {
            return Err(Unscaled::Framing { framing, header });
        }
        Ok(Self { rate, framing, header, packet: None })
    }

    /// The same wire with packets of at most `packet` bytes of a message, a header each; none leaves a message in one packet.
    pub fn with_packet(self, packet: Option<u64>) -> Result<Self, Unscaled> {
        match packet {
            Some(0) => Err(Unscaled::Packet),
            packet => Ok(Self { packet, ..self }),
        }
    }

    /// Packets of a message of `size` bytes: `ceil(size / packet)`, and one for a message of none.
    pub fn packets(&self, size: f64) -> f64 {
        self.packet.map_or(1.0, |packet| (size / packet as f64).ceil().max(1.0))
    }

    /// Seconds for which a message of `size` bytes occupies the wire, with a header for each of its packets.
    pub fn seconds(&self, size: f64) -> f64 {
        (size * self.framing + self.packets(size) * self.header) * 8.0 / self.rate
    }

    /// Seconds for each byte of a long message, its share of the packets' headers included.
    pub fn per_byte(&self) -> f64 {
        let header = self.packet.map_or(0.0, |packet| self.header / packet as f64);
        (self.framing + header) * 8.0 / self.rate
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_goes_with_each_packet_and_an_empty_message_is_one() {
        // One byte a nanosecond.
        let one = Wire::new(8e9, 1.0, 50.0).unwrap();
        let wire = one.with_packet(Some(1000)).unwrap();
        for (size, packets, ns) in [(0.0, 1.0, 50.0), (1.0, 1.0, 51.0), (1000.0, 1.0, 1050.0), (1001.0, 2.0, 1101.0)] {
            assert_eq!(wire.packets(size), packets);
            assert!((wire.seconds(size) * 1e9 - ns).abs() < 1e-6, "{size}");
        }
        assert!((wire.seconds(10_000.0) * 1e9 - 10_500.0).abs() < 1e-6 && (wire.per_byte() * 1e9 - 1.05).abs() < 1e-9);
        assert!((one.seconds(10_000.0) * 1e9 - 10_050.0).abs() < 1e-6 && (one.per_byte() * 1e9 - 1.0).abs() < 1e-9);
        assert_eq!(one.with_packet(Some(0)), Err(Unscaled::Packet));
    }
}
