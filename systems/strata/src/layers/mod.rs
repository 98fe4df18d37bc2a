//! The protocols, one file (or folder) each. A layer's doc says what it does, what its header is, which timers it has and what it requires and provides; the same
//! table, for the checker, is `stack::Kind`.

mod absent;
mod causal;
mod chksum;
mod com;
mod crypt;
pub(crate) mod fast;
pub(crate) mod fc;
mod frag;
#[cfg(test)]
mod hostile;
mod mbrship;
mod merge;
mod nak;
#[cfg(test)]
pub(crate) mod pair;
mod refusals;
mod safe;
mod senders;
mod seq;
mod sign;
mod stable;
mod total;
mod trace;
#[cfg(test)]
mod vain;

use crate::config::Config;
use crate::layer::Layer;
use crate::member::Unbuilt;
use crate::pile::{Below, Boxed, Busy, On, Pile};
use crate::stack::{Kind, Spec};

/// Bytes that a layer's header adds to a cast; CAUSAL's grows with the group and counts as that of three members.
pub fn header(kind: Kind) -> usize {
    match kind {
        Kind::Com => com::HEADER,
        Kind::Nak => nak::HEADER,
        Kind::Frag | Kind::Stable | Kind::Seq | Kind::Fc => 1,
        Kind::Chksum => chksum::HEADER,
        Kind::Sign => sign::HEADER,
        Kind::Crypt => crypt::HEADER,
        Kind::Total => total::HEADER,
        Kind::Causal => 4,
        Kind::Mbrship | Kind::Safe | Kind::Merge | Kind::Trace | Kind::Fast => 0,
    }
}

/// The layers of a checked stack: of known types where the stack is a common one, so that calls between them are direct, else boxed.
pub(crate) fn build(spec: &Spec, config: &Config) -> Result<Box<dyn Pile>, Unbuilt> {
    // FAST stands beside the others: datagrams come to it first.
    let spec = &Spec { layers: spec.layers.iter().copied().filter(|&k| k != Kind::Fast).collect(), ..*spec };
    let headers: usize = spec.layers.iter().map(|&k| header(k)).sum();
    if config.datagram < headers + 64 {
        return Err(Unbuilt::Datagram { datagram: config.datagram, headers });
    }
    type Views = On<mbrship::Mbrship, On<frag::Frag, On<nak::Nak, On<com::Com, Busy>>>>;
    type Ordered = On<total::Total, Views>;
    type Merging = On<merge::Merge, Ordered>;
    let typed = [
        typed::<On<fc::Fc, Merging>>,
        typed::<On<fc::Fc, Ordered>>,
        typed::<Merging>,
        typed::<Ordered>,
        typed::<On<merge::Merge, Views>>,
        typed::<Views>,
    ];
    if !config.boxed
        && let Some(pile) = typed.iter().find_map(|make| make(spec, config))
    {
        return pile;
    }
    let mut layers: Vec<Box<dyn Boxed>> = Vec::new();
    for (at, &kind) in spec.layers.iter().enumerate() {
        layers.push(one(kind, &Site { spec, config, at })?);
    }
    Ok(Box::new(layers))
}

/// Where a layer is made.
struct Site<'a> {
    spec: &'a Spec,
    config: &'a Config,
    at: usize,
}

impl Site<'_> {
    /// Bytes of the headers of all layers below.
    fn below(&self) -> usize {
        self.spec.layers[self.at + 1..].iter().map(|&k| header(k)).sum()
    }

    fn key(&self) -> Result<&crate::Key, Unbuilt> {
        self.config.key.as_ref().ok_or(Unbuilt::Key(self.spec.layers[self.at]))
    }
}

/// Layers of known types.
trait Typed: Below + Sized {
    fn kinds() -> Vec<Kind>;
    fn make(spec: &Spec, config: &Config, at: usize) -> Result<Self, Unbuilt>;
}

impl Typed for Busy {
    fn kinds() -> Vec<Kind> {
        Vec::new()
    }
    fn make(_: &Spec, _: &Config, _: usize) -> Result<Self, Unbuilt> {
        Ok(Busy)
    }
}

impl<L: Make, B: Typed> Typed for On<L, B> {
    fn kinds() -> Vec<Kind> {
        std::iter::once(L::KIND).chain(B::kinds()).collect()
    }
    fn make(spec: &Spec, config: &Config, at: usize) -> Result<Self, Unbuilt> {
        Ok(On(L::make(&Site { spec, config, at })?, B::make(spec, config, at + 1)?))
    }
}

/// These layers, where the stack has just them.
fn typed<P: Typed + Pile + 'static>(spec: &Spec, config: &Config) -> Option<Result<Box<dyn Pile>, Unbuilt>> {
    (P::kinds() == spec.layers).then(|| Ok(Box::new(P::make(spec, config, 0)?) as Box<dyn Pile>))
}

/// How a layer is made.
trait Make: Layer + Sized + 'static {
    const KIND: Kind;
    fn make(site: &Site) -> Result<Self, Unbuilt>;
}

macro_rules! make {
    ($($kind:ident: $layer:ty = |$site:ident| $made:expr;)*) => {
        $(impl Make for $layer {
            const KIND: Kind = Kind::$kind;
            fn make($site: &Site) -> Result<Self, Unbuilt> {
                Ok($made)
            }
        })*

        fn one(kind: Kind, site: &Site) -> Result<Box<dyn Boxed>, Unbuilt> {
            match kind {
                Kind::Fast => unreachable!("FAST stands beside the others"),
                $(Kind::$kind => Ok(Box::new(<$layer>::make(site)?)),)*
            }
        }
    };
}

make! {
    Com: com::Com = |site| com::Com::new(site.spec, site.config);
    Chksum: chksum::Chksum = |_site| chksum::Chksum;
    Sign: sign::Sign = |site| sign::Sign::new(site.key()?);
    Crypt: crypt::Crypt = |site| crypt::Crypt::new(site.key()?);
    Nak: nak::Nak = |_site| nak::Nak::default();
    Frag: frag::Frag = |site| frag::Frag::new(site.config.datagram - site.below() - 1);
    Mbrship: mbrship::Mbrship = |_site| mbrship::Mbrship::default();
    Stable: stable::Stable = |_site| stable::Stable::default();
    Causal: causal::Causal = |_site| causal::Causal::default();
    Safe: safe::Safe = |_site| safe::Safe::default();
    Total: total::Total = |_site| total::Total::default();
    Seq: seq::Seq = |_site| seq::Seq::default();
    Fc: fc::Fc = |_site| fc::Fc::default();
    Merge: merge::Merge = |_site| merge::Merge::default();
    Trace: trace::Trace = |_site| trace::Trace;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_fit() {
        let all: usize = Kind::ALL.into_iter().filter(|&k| k != Kind::Seq && k != Kind::Sign).map(header).sum();
        assert!(
            all <= crate::HEADROOM,
            "the headers of all layers take {all} bytes, and a message has room for {}",
            crate::HEADROOM
        );
    }
}
