//! MBRSHIP's control messages. They go as single datagrams at best effort; whoever waits for an answer repeats.

use crate::addr::Endpoint;
use crate::message::Msg;
use crate::view::{View, ViewId, read_endpoints, write_endpoints};
use crate::wire::{Reader, Short, Writer};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Control {
    /// The leader of this attempt at a view asks these to stop.
    Flush(ViewId, Vec<Endpoint>),
    /// Stopped: of which view, at which rank there, with how many casts of each stream delivered.
    Report(ViewId, ViewId, u16, Vec<u64>),
    /// Deliver this many of each stream; who has them, by rank.
    Cut(ViewId, Vec<(u64, u16)>),
    /// Delivered.
    Reached(ViewId),
    /// This is the view; its name is that of the attempt.
    Install(View),
    /// That attempt is over: a higher one goes on.
    Refuse(ViewId, ViewId),
    /// The leader of this view asks to merge it into the receiver's.
    MergeAsk(View),
    /// Ask this one, who leads here.
    Redirect(Endpoint),
    /// In this view, these were not heard of for too long.
    Suspect(ViewId, Vec<Endpoint>),
    /// In this view, the sender wants to leave.
    Leave(ViewId),
    /// In this view, the sender waits in vain: a new one is to begin.
    Renew(ViewId),
}

impl Control {
    pub(super) fn message(&self) -> Msg {
        let mut to = Writer::new();
        match self {
            Self::Flush(attempt, who) => {
                to.u8(1);
                attempt.write(&mut to);
                write_endpoints(who, &mut to);
            }
            Self::Report(attempt, view, rank, counts) => {
                to.u8(2);
                attempt.write(&mut to);
                view.write(&mut to);
                to.u16(*rank);
                to.counts(counts);
            }
            Self::Cut(attempt, targets) => {
                to.u8(3);
                attempt.write(&mut to);
                to.count(targets.len() as u64);
                for &(count, holder) in targets {
                    to.count(count);
                    to.u16(holder);
                }
            }
            Self::Reached(attempt) => {
                to.u8(4);
                attempt.write(&mut to);
            }
            Self::Install(view) => {
                to.u8(5);
                view.write(&mut to);
            }
            Self::Refuse(attempt, higher) => {
                to.u8(6);
                attempt.write(&mut to);
                higher.write(&mut to);
            }
            Self::MergeAsk(view) => {
                to.u8(7);
                view.write(&mut to);
            }
            Self::Redirect(leader) => {
                to.u8(8);
                leader.write(&mut to);
            }
            Self::Suspect(view, who) => {
                to.u8(9);
                view.write(&mut to);
                write_endpoints(who, &mut to);
            }
            Self::Leave(view) => {
                to.u8(10);
                view.write(&mut to);
            }
            Self::Renew(view) => {
                to.u8(11);
                view.write(&mut to);
            }
        }
        Msg::new(to.0)
    }

    pub(super) fn read(bytes: &[u8]) -> Result<Self, Short> {
        let from = &mut Reader(bytes);
        Ok(match from.u8()? {
            1 => Self::Flush(ViewId::read(from)?, read_endpoints(from)?),
            2 => Self::Report(ViewId::read(from)?, ViewId::read(from)?, from.u16()?, from.counts()?),
            3 => {
                let attempt = ViewId::read(from)?;
                let n = from.length(3)?;
                let mut targets = Vec::with_capacity(n);
                for _ in 0..n {
                    let (count, holder) = (from.count()?, from.u16()?);
                    // There is a target for each rank.
                    if usize::from(holder) >= n {
                        return Err(Short);
                    }
                    targets.push((count, holder));
                }
                Self::Cut(attempt, targets)
            }
            4 => Self::Reached(ViewId::read(from)?),
            5 => Self::Install(View::read(from)?),
            6 => Self::Refuse(ViewId::read(from)?, ViewId::read(from)?),
            7 => Self::MergeAsk(View::read(from)?),
            8 => Self::Redirect(Endpoint::read(from)?),
            9 => Self::Suspect(ViewId::read(from)?, read_endpoints(from)?),
            10 => Self::Leave(ViewId::read(from)?),
            11 => Self::Renew(ViewId::read(from)?),
            _ => return Err(Short),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_comes_back_and_none_cut_short_does() {
        let a = Endpoint { addr: "10.0.0.1:7".parse().unwrap(), born: 3 };
        let b = Endpoint { addr: "[fe80::1]:9".parse().unwrap(), born: u64::MAX };
        let id = ViewId { number: 300, leader: b };
        let view = View { id, members: vec![a, b] };
        for control in [
            Control::Flush(id, vec![a, b]),
            Control::Report(id, id, 2, vec![0, 500]),
            Control::Cut(id, vec![(9, 1), (1 << 50, 0)]),
            Control::Reached(id),
            Control::Install(view.clone()),
            Control::Refuse(id, ViewId { number: 1, leader: a }),
            Control::MergeAsk(view),
            Control::Redirect(a),
            Control::Suspect(id, vec![b]),
            Control::Leave(id),
            Control::Renew(id),
        ] {
            let bytes = control.message().joined();
            assert_eq!(Control::read(&bytes), Ok(control));
            for cut in 0..bytes.len() {
                assert!(Control::read(&bytes[..cut]).is_err());
            }
        }
        let stranger = Control::Cut(id, vec![(9, 1), (9, 2)]);
        assert_eq!(Control::read(&stranger.message().joined()), Err(Short), "a holder that is no rank");
    }
}
