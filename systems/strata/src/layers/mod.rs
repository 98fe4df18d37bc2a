//! The protocols, one file (or folder) each. A layer's doc says what it does, what its header is, which timers it has and what it requires and provides; the same
//! table, for the checker, is `stack::Kind`.

mod causal;
mod chksum;
mod com;
mod crypt;
mod fc;
mod frag;
#[cfg(test)]
mod hostile;
mod mbrship;
mod merge;
mod nak;
#[cfg(test)]
mod pair;
mod safe;
mod seq;
mod sign;
mod stable;
mod total;
mod trace;

use crate::config::Config;
use crate::member::Unbuilt;
use crate::pile::{Boxed, Pile};
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
        Kind::Mbrship | Kind::Safe | Kind::Merge | Kind::Trace => 0,
    }
}

/// The layers of a checked stack, the top first.
pub(crate) fn build(spec: &Spec, config: &Config) -> Result<Box<dyn Pile>, Unbuilt> {
    let headers: usize = spec.layers.iter().map(|&k| header(k)).sum();
    if config.datagram < headers + 64 {
        return Err(Unbuilt::Datagram { datagram: config.datagram, headers });
    }
    let mut layers: Vec<Box<dyn Boxed>> = Vec::new();
    for (at, &kind) in spec.layers.iter().enumerate() {
        let below: usize = spec.layers[at + 1..].iter().map(|&k| header(k)).sum();
        layers.push(one(kind, spec, config, below)?);
    }
    Ok(Box::new(layers))
}

fn one(kind: Kind, spec: &Spec, config: &Config, below: usize) -> Result<Box<dyn Boxed>, Unbuilt> {
    Ok(match kind {
        Kind::Com => Box::new(com::Com::new(spec, config)),
        Kind::Chksum => Box::new(chksum::Chksum),
        Kind::Sign => Box::new(sign::Sign::new(config.key.as_ref().ok_or(Unbuilt::Key(kind))?)),
        Kind::Crypt => Box::new(crypt::Crypt::new(config.key.as_ref().ok_or(Unbuilt::Key(kind))?)),
        Kind::Nak => Box::new(nak::Nak::default()),
        Kind::Frag => Box::new(frag::Frag::new(config.datagram - below - 1)),
        Kind::Mbrship => Box::new(mbrship::Mbrship::default()),
        Kind::Stable => Box::new(stable::Stable::default()),
        Kind::Causal => Box::new(causal::Causal::default()),
        Kind::Safe => Box::new(safe::Safe::default()),
        Kind::Total => Box::new(total::Total::default()),
        Kind::Seq => Box::new(seq::Seq::default()),
        Kind::Fc => Box::new(fc::Fc::default()),
        Kind::Merge => Box::new(merge::Merge::default()),
        Kind::Trace => Box::new(trace::Trace),
    })
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
