//! The smallest stack that provides what is wanted: a breadth-first search upward from COM over sets of properties.

use std::collections::{BTreeSet, VecDeque};

use super::{Carrier, Kind, Spec, check};
use crate::property::Properties;

/// The stack with the fewest layers that provides all of these; of several the one whose layers stand first in the table. None where no stack does.
pub fn smallest(want: Properties, carrier: Carrier) -> Option<Spec> {
    let mut seen = BTreeSet::new();
    let mut queue = VecDeque::from([vec![Kind::Com]]);
    while let Some(upward) = queue.pop_front() {
        let layers: Vec<_> = upward.iter().rev().copied().collect();
        let spec = Spec { layers, carrier };
        let have = match check(&spec) {
            Ok(have) => have,
            // What stands below NAK is not yet a stack.
            Err(super::Unsound::Nak | super::Unsound::Lives { .. }) => Properties::default(),
            Err(_) => continue,
        };
        if have != Properties::default() && have.holds(want) {
            return Some(spec);
        }
        let used = upward.iter().fold(0u32, |bits, k| bits | 1 << *k as u8);
        if !seen.insert((have, used)) {
            continue;
        }
        for kind in Kind::ALL {
            let adds = kind == Kind::Nak || !have.holds(kind.provides());
            if adds && !upward.contains(&kind) {
                queue.push_back(upward.iter().copied().chain([kind]).collect());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::property::Property::{self, *};

    fn found(want: &[Property]) -> Option<String> {
        smallest(Properties::of(want), Carrier::Udp).map(|s| s.to_string())
    }

    #[test]
    fn wanted_properties_find_their_stack() {
        assert_eq!(found(&[FifoMulticast]).unwrap(), "NAK:COM:udp");
        assert_eq!(found(&[Total]).unwrap(), "TOTAL:MBRSHIP:FRAG:NAK:COM:udp");
        let safe = found(&[Total, Safe]).unwrap();
        assert_eq!(check(&safe.parse().unwrap()).map(|p| p.has(Safe) && p.has(Total)), Ok(true), "{safe}");
        assert_eq!(safe.matches(':').count(), 7, "{safe}");
        assert_eq!(found(&[Merge]).unwrap(), "MERGE:MBRSHIP:FRAG:NAK:COM:udp");
    }

    #[test]
    fn what_no_layer_provides_is_not_found() {
        assert_eq!(found(&[Prioritised]), None);
    }
}
