//! Near members on other hosts: ssh starts them there when they are first needed, in turns over the hosts, and they stay for all rounds of a run, as
//! far processes on another host do.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use super::member::Member;
use crate::message::FarPin;

/// Hosts of near members other than this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nears {
    /// `user@host` or `user@host:port` of each.
    pub targets: Vec<String>,
    /// The program there.
    pub program: String,
    /// Which CPU the first member of each host keeps to; the others are beside it.
    pub pin: FarPin,
}

impl Nears {
    /// The host of the member `number`, from 0, of a path, by its place among the hosts, and the member's number there.
    pub(crate) fn place(&self, number: usize) -> (usize, u32) {
        let hosts = self.targets.len().max(1);
        (number % hosts, u32::try_from(number / hosts).unwrap_or(u32::MAX))
    }
}

/// The members of a run on other hosts.
#[derive(Clone)]
pub(crate) struct Elsewhere {
    pub(super) nears: Rc<Nears>,
    pub(super) ssh: PathBuf,
    /// Those that no path has just now, with the place of their host.
    idle: Rc<RefCell<Vec<(usize, Member)>>>,
}

impl Elsewhere {
    pub(crate) fn new(nears: Nears, ssh: PathBuf) -> Self {
        Self { nears: Rc::new(nears), ssh, idle: Rc::default() }
    }

    /// One of this host that waits to be used, if there is any.
    pub(super) fn take(&self, host: usize) -> Option<Member> {
        let mut idle = self.idle.borrow_mut();
        let at = idle.iter().position(|(of, _)| *of == host)?;
        Some(idle.remove(at).1)
    }

    /// Keeps the members of a path, in their order, for the next one. One whose conversation broke ends.
    pub(super) fn keep(&self, members: Vec<Member>) {
        let placed = members.into_iter().enumerate().map(|(number, member)| (self.nears.place(number).0, member));
        self.idle.borrow_mut().extend(placed.filter(|(_, member)| member.is_well()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_spread_over_the_hosts_in_turns() {
        let nears = Nears { targets: vec!["a".into(), "b".into()], program: String::new(), pin: FarPin::None };
        assert_eq!([0, 1, 2, 3, 4].map(|n| nears.place(n)), [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2)]);
    }
}
