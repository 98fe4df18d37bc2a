//! Any stack that is well-formed, drawn from a seed: also those that nobody thought of must keep what the checker says they promise.

use crate::rng::Rng;
use crate::stack::{Carrier, Kind, Spec, check};

/// Most layers that are drawn above those that each stack has.
const MOST: u64 = 9;
/// How many are tried.
const TRIES: usize = 60;

pub(super) fn any(rng: &mut Rng) -> Spec {
    let carrier = if rng.chance(0.2) { Carrier::Multicast } else { Carrier::Sim };
    let mut upward = vec![Kind::Com];
    let views = rng.chance(0.9);
    for kind in [Kind::Chksum, Kind::Sign, Kind::Crypt] {
        if rng.chance(0.15) && (views || kind == Kind::Chksum) {
            upward.push(kind);
        }
    }
    upward.push(Kind::Nak);
    if views {
        upward.extend([Kind::Frag, Kind::Mbrship]);
    }
    // All that stand above NAK, of which each stack has MBRSHIP once at most.
    let above: Vec<_> =
        Kind::ALL.into_iter().skip_while(|k| *k != Kind::Nak).skip(1).filter(|k| *k != Kind::Mbrship).collect();
    let nak = upward.iter().position(|k| *k == Kind::Nak).unwrap_or(0);
    let most = upward.len() as u64 + rng.below(MOST + 1);
    let mut spec = of(&upward, carrier);
    // Anywhere above NAK and not on top only: what a layer needs may be drawn before or after what it goes below.
    for _ in 0..TRIES {
        let kind = above[rng.below(above.len() as u64) as usize];
        let place = rng.between(nak as u64 + 1, upward.len() as u64) as usize;
        if upward.len() as u64 == most {
            break;
        }
        upward.insert(place, kind);
        let higher = of(&upward, carrier);
        if check(&higher).is_ok() {
            spec = higher;
        } else {
            upward.remove(place);
        }
    }
    spec
}

fn of(upward: &[Kind], carrier: Carrier) -> Spec {
    Spec { layers: upward.iter().rev().copied().collect(), carrier }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn drawn_stacks_are_well_formed_and_differ_and_have_each_layer() {
        let stacks: Vec<_> = (0..300).map(|seed| any(&mut Rng::new(seed))).collect();
        assert!(stacks.iter().all(|s| check(s).is_ok()));
        let names: BTreeSet<_> = stacks.iter().map(ToString::to_string).collect();
        assert!(names.len() > 200, "{} stacks", names.len());
        for kind in Kind::ALL {
            assert!(stacks.iter().any(|s| s.layers.contains(&kind)), "no stack has {}", kind.name());
        }
    }

    /// Whatever order of two layers the checker accepts in some small stack is drawn.
    #[test]
    fn each_order_of_two_layers_that_is_well_formed_is_drawn() {
        use Kind::{Causal, Com, Fast, Fc, Frag, Mbrship, Merge, Nak, Safe, Seq, Stable, Total, Trace};
        let kinds = [Frag, Mbrship, Stable, Causal, Safe, Total, Seq, Fc, Merge, Trace, Fast];
        let pairs = |layers: &[Kind]| {
            let above = layers.iter().enumerate().flat_map(|(at, a)| layers[at + 1..].iter().map(move |b| (*a, *b)));
            above.filter(|(a, b)| kinds.contains(a) && kinds.contains(b)).collect::<BTreeSet<_>>()
        };
        let mut possible = BTreeSet::new();
        for a in kinds {
            for b in kinds {
                for c in kinds {
                    for layers in [
                        vec![a, b, c, Mbrship, Frag, Nak, Com],
                        vec![a, b, Mbrship, c, Frag, Nak, Com],
                        vec![a, Mbrship, b, Frag, c, Nak, Com],
                    ] {
                        if check(&Spec { layers: layers.clone(), carrier: Carrier::Sim }).is_ok() {
                            possible.extend(pairs(&layers));
                        }
                    }
                }
            }
        }
        assert!(possible.len() > 80, "{}", possible.len());
        let drawn: BTreeSet<_> =
            (0..2000).flat_map(|seed| pairs(&any(&mut Rng::new(seed ^ 0x57ac_c000)).layers)).collect();
        let never: Vec<_> = possible.difference(&drawn).map(|(a, b)| format!("{}:{}", a.name(), b.name())).collect();
        assert!(never.is_empty(), "never drawn: {never:?}");
    }
}
