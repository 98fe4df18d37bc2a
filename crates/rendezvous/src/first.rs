//! Rank 0 of a person's own launcher, as the other ranks see it while they wait: it measures other paths first for as long as it likes, or ends early.
//!
//! It holds a socket for as long as it lives, and each other rank a connection to that, which ends with it. Who may read whose environment does not matter
//! then, and nothing is searched for. Only where no such socket is to be had (rank 0 was not started yet, is another program, or ended before it
//! was seen) the processes of this host are looked at.

use std::io;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::{Duration, Instant};

use crate::allocation::Place;
use crate::other_end::{has_ended, is_ours};

/// How long rank 0 may not have been started yet, and how often processes are looked at.
const STARTS: Duration = Duration::from_secs(10);
const AGAIN: Duration = Duration::from_secs(1);

/// Shows the other ranks that this process, which is rank 0, lives, until it is dropped.
pub struct Shown(#[expect(dead_code, reason = "it ends with this")] UnixListener);

impl Shown {
    /// From now on.
    ///
    /// # Errors
    /// The socket can't be had: another command of this rank has it.
    pub fn at(place: &Place) -> io::Result<Self> {
        UnixListener::bind_addr(&place.first()?).map(Self)
    }
}

/// What is known of rank 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    Lives,
    /// Nobody saw it for so long.
    Unseen(Duration),
    Ended,
}

/// Looks at rank 0.
pub(crate) struct First {
    at: SocketAddr,
    held: Option<UnixStream>,
    /// When it was seen last, or when this began, and whether it was.
    since: Instant,
    seen: bool,
    looked: Option<Instant>,
}

impl First {
    pub(crate) fn at(at: SocketAddr) -> Self {
        Self { at, held: None, since: Instant::now(), seen: false, looked: None }
    }

    /// Whether it lives; `is_gone` looks for its processes.
    pub(crate) fn look(&mut self, is_gone: impl FnOnce() -> bool) -> Life {
        if self.held.take_if(|held| has_ended(held, Duration::ZERO)).is_some() {
            self.looked = None;
        }
        if self.held.is_none() {
            self.held = UnixStream::connect_addr(&self.at).ok().filter(is_ours);
        }
        if self.held.is_some() {
            (self.since, self.seen) = (Instant::now(), true);
            return Life::Lives;
        }
        let unseen = self.since.elapsed();
        let due = self.looked.is_none_or(|looked| looked.elapsed() > AGAIN);
        if due && (self.seen || unseen > STARTS) {
            self.looked = Some(Instant::now());
            // A script may start one command after the other.
            if is_gone() {
                return Life::Ended;
            }
        }
        Life::Unseen(unseen)
    }
}

#[cfg(test)]
mod tests {
    use std::os::linux::net::SocketAddrExt;

    use super::*;

    fn named(name: &str) -> SocketAddr {
        SocketAddr::from_abstract_name(format!("pipegauge test {name} of {}", std::process::id())).unwrap()
    }

    #[test]
    fn rank_0_lives_for_as_long_as_it_shows_so_and_no_process_is_looked_at() {
        let shown = UnixListener::bind_addr(&named("lives")).unwrap();
        let mut first = First::at(named("lives"));
        for _ in 0..3 {
            assert_eq!(first.look(|| panic!("it shows that it lives")), Life::Lives);
            first.since -= Duration::from_secs(600);
        }
        drop(shown);
        assert_eq!(first.look(|| true), Life::Ended);
    }

    #[test]
    fn rank_0_that_shows_nothing_has_ended_where_no_process_can_be_it() {
        let mut first = First::at(named("shows nothing"));
        let unseen = first.look(|| panic!("it may not have been started yet"));
        assert!(matches!(unseen, Life::Unseen(short) if short < STARTS), "{unseen:?}");
        first.since -= STARTS;
        let unseen = first.look(|| false);
        assert!(matches!(unseen, Life::Unseen(long) if long > STARTS), "{unseen:?}");
        assert!(matches!(first.look(|| panic!("just looked")), Life::Unseen(_)));
        first.looked = None;
        assert_eq!(first.look(|| true), Life::Ended);
    }

    #[test]
    fn another_command_of_rank_0_may_follow() {
        let shown = UnixListener::bind_addr(&named("follows")).unwrap();
        let mut first = First::at(named("follows"));
        assert_eq!(first.look(|| false), Life::Lives);
        drop(shown);
        assert!(matches!(first.look(|| false), Life::Unseen(_)));
        let _shown = UnixListener::bind_addr(&named("follows")).unwrap();
        assert_eq!(first.look(|| true), Life::Lives);
    }
}
