//! Whether a stack is well-formed: "for each layer, all its required properties are guaranteed by the stack underneath it" (PODC 1995, section 6).

use super::{Kind, Spec};
use crate::property::{Properties, Property};

/// Why a stack would not keep what its layers promise.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unsound {
    /// A layer stands on too little.
    #[error("{} needs {property}, which nothing below it provides: {}", layer.name(), advice(*property))]
    Needs {
        /// Which layer.
        layer: Kind,
        /// What it lacks.
        property: Property,
    },
    /// COM is missing, or is not the lowest.
    #[error("a stack stands on one COM, the last layer before the carrier, as in NAK:COM:udp")]
    Com,
    /// There is no NAK.
    #[error("a stack needs one NAK above COM: all other layers build on its streams")]
    Nak,
    /// A layer of datagrams above NAK, or one of casts below.
    #[error("{} works on {}: put it {} NAK", layer.name(), if layer.below_nak() { "datagrams" } else { "casts of a view" },
        if layer.below_nak() { "between COM and" } else { "above" })]
    Place {
        /// Which layer.
        layer: Kind,
    },
    /// A layer that may keep casts until the next view, below one that counts or joins those of one view.
    #[error("{0} holds casts over a change of views, and {1} {2} those of one view: put {0} above it", holder.name(), layer.name(), if *layer == Kind::Frag { "joins" } else { "counts" })]
    Held {
        /// Which holds them.
        holder: Kind,
        /// Which layer.
        layer: Kind,
    },
    /// SIGN or CRYPT without lives that differ.
    #[error("{} must know what an earlier life of a member said, and only MBRSHIP tells lives apart: add MBRSHIP", layer.name())]
    Lives {
        /// Which layer.
        layer: Kind,
    },
    /// A layer twice.
    #[error("{} stands in the stack twice: only FRAG and TRACE may", layer.name())]
    Twice {
        /// Which layer.
        layer: Kind,
    },
}

fn advice(property: Property) -> String {
    let by: Vec<_> =
        Kind::ALL.into_iter().filter(|k| k.provides().has(property)).map(|k| format!("add {}", k.name())).collect();
    if by.is_empty() { "no layer here does".to_owned() } else { by.join(", or ") }
}

/// What a stack provides.
///
/// # Errors
/// The lowest fault.
pub fn check(spec: &Spec) -> Result<Properties, Unsound> {
    if spec.layers.last() != Some(&Kind::Com) {
        return Err(Unsound::Com);
    }
    let nak = spec.layers.iter().rposition(|&k| k == Kind::Nak).ok_or(Unsound::Nak)?;
    let mut have = Properties::of(&[Property::BestEffort]);
    for (at, &layer) in spec.layers.iter().enumerate().rev() {
        if !layer.repeats() && spec.layers[at + 1..].contains(&layer) {
            return Err(if layer == Kind::Com { Unsound::Com } else { Unsound::Twice { layer } });
        }
        if layer != Kind::Nak && layer.below_nak() != (at > nak) {
            return Err(Unsound::Place { layer });
        }
        let holder = spec.layers[at + 1..].iter().copied().find(|k| k.holds_back(layer));
        // A fixed view does not change.
        if let (Some(holder), true) = (holder, spec.layers.contains(&Kind::Mbrship)) {
            return Err(Unsound::Held { holder, layer });
        }
        if let Some(property) = layer.requires().without(have).iter().next() {
            return Err(Unsound::Needs { layer, property });
        }
        have = have.without(layer.withholds()).with(layer.provides());
    }
    let keyed = spec.layers.iter().copied().find(|k| matches!(k, Kind::Sign | Kind::Crypt));
    if let (Some(layer), false) = (keyed, spec.layers.contains(&Kind::Mbrship)) {
        return Err(Unsound::Lives { layer });
    }
    Ok(have)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::property::Property::*;

    fn checked(stack: &str) -> Result<Properties, String> {
        check(&stack.parse().map_err(|e: super::super::Malformed| e.to_string())?).map_err(|e| e.to_string())
    }

    #[test]
    fn the_papers_stack_provides_what_the_paper_says() {
        let have = checked("TOTAL:MBRSHIP:FRAG:NAK:COM:udp").unwrap();
        let paper = [
            FifoUnicast,
            FifoMulticast,
            Total,
            SemiSynchronous,
            VirtuallySynchronous,
            ByteOrder,
            Source,
            Large,
            ConsistentViews,
        ];
        assert!(have.holds(Properties::of(&paper)), "{have:?}");
    }

    #[test]
    fn what_lacks_is_named_with_the_layer_to_add() {
        assert_eq!(
            checked("TOTAL:FRAG:NAK:COM:udp").unwrap_err(),
            "TOTAL needs P8 (semi-synchronous), which nothing below it provides: add MBRSHIP"
        );
        assert!(checked("MBRSHIP:NAK:COM:udp").unwrap_err().contains("add FRAG"));
        assert!(checked("SAFE:MBRSHIP:FRAG:NAK:COM:udp").unwrap_err().contains("add STABLE"));
        // The order of SEQ is not in the messages whose stability STABLE tells.
        assert!(checked("SAFE:SEQ:STABLE:MBRSHIP:FRAG:NAK:COM:udp").unwrap_err().contains("P14"));
        assert!(checked("SEQ:SAFE:STABLE:MBRSHIP:FRAG:NAK:COM:udp").is_ok());
    }

    #[test]
    fn places_and_repeats_are_checked() {
        assert!(checked("CRYPT:NAK:COM:udp").unwrap_err().contains("between COM and NAK"));
        assert!(checked("TOTAL:FC:MBRSHIP:FRAG:NAK:COM:udp").unwrap_err().contains("put FC above"));
        // What TOTAL holds until the next view must not be counted, or joined, by views above it.
        for above in ["CAUSAL", "STABLE", "SEQ", "FRAG"] {
            let text = checked(&format!("MERGE:{above}:TOTAL:MBRSHIP:FRAG:NAK:COM:udp")).unwrap_err();
            assert!(text.starts_with(&format!("TOTAL holds casts over a change of views, and {above} ")), "{text}");
        }
        assert!(checked("FRAG:FC:MBRSHIP:FRAG:NAK:COM:udp").unwrap_err().contains("put FC above"));
        assert!(checked("FRAG:FC:FRAG:NAK:COM:udp").is_ok());
        // The numbers of pieces are not those of messages.
        assert!(checked("SAFE:FRAG:STABLE:MBRSHIP:FRAG:NAK:COM:udp").unwrap_err().contains("P14"));
        assert!(checked("FRAG:SAFE:STABLE:MBRSHIP:FRAG:NAK:COM:udp").is_ok());
        for keyed in ["SIGN", "CRYPT"] {
            let text = checked(&format!("NAK:{keyed}:COM:udp")).unwrap_err();
            assert!(text.starts_with(keyed) && text.contains("add MBRSHIP"), "{text}");
        }
        assert!(checked("FRAG*10:NAK:COM:udp").is_ok());
        assert!(checked("TRACE*64:TRACE*64:NAK:COM:udp").unwrap_err().contains("130 layers: write at most 128"));
        assert!(checked("NAK*2:COM:udp").unwrap_err().contains("twice"));
        assert!(checked("FRAG:NAK:udp").unwrap_err().contains("COM"));
        assert!(checked("FRAG:NAK:COM").unwrap_err().contains("must end with"));
        assert!(checked("FRAG*0:NAK:COM:udp").unwrap_err().contains("FRAG*10"));
        assert!(checked("TOTALLY:NAK:COM:udp").unwrap_err().contains("TOTALLY"));
    }
}
