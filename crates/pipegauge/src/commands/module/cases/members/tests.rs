//! A group that lives in this process, and lets casts of two senders come in the order that suits the check least.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use transport::Capabilities;

use super::*;

const MEMBERS: usize = 3;
/// The member that runs ahead, and the one that a cast of the third reaches late.
const AHEAD: usize = 0;
const BEHIND: usize = 1;

type Queue = VecDeque<(u32, Vec<u8>)>;

/// What is under way.
#[derive(Default)]
struct Under {
    /// Casts, by receiver and sender, each with its number; answers, by receiver, each with its sender.
    casts: [[Queue; MEMBERS]; MEMBERS],
    answers: [Queue; MEMBERS],
    /// Whether the member that runs ahead waits for answers.
    waits: bool,
    failed: bool,
}

impl Under {
    /// The sender of the next cast for this member. Of two senders either may be first: the member behind hears the third one only when the one ahead has
    /// cast nothing more and waits.
    fn next(&self, to: usize) -> Option<usize> {
        let from = (0..MEMBERS).find(|from| !self.casts[to][*from].is_empty())?;
        (to != BEHIND || from == AHEAD || self.waits).then_some(from)
    }
}

struct Here {
    rank: usize,
    casts: u32,
    shared: Arc<(Mutex<Under>, Condvar)>,
}

impl Here {
    fn under(&self) -> MutexGuard<'_, Under> {
        self.shared.0.lock().unwrap()
    }

    /// Changes what is under way.
    fn change(&self, change: impl FnOnce(&mut Under)) {
        change(&mut self.under());
        self.shared.1.notify_all();
    }

    /// Waits until there is something.
    fn until<T>(&self, mut look: impl FnMut(&mut Under) -> Option<T>) -> Result<T, LinkError> {
        let mut found = None;
        let goes_on = |under: &mut Under| {
            found = look(under);
            found.is_none() && !under.failed
        };
        let waited = self.shared.1.wait_timeout_while(self.under(), Duration::from_secs(60), goes_on).unwrap();
        drop(waited);
        self.shared.1.notify_all();
        found.ok_or(LinkError::Interrupted)
    }
}

/// Puts what came where it was asked for.
fn placed(came: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
    if came.len() != into.len() {
        return Err(LinkError::Protocol(format!(
            "a message of {} bytes came, and {} were due",
            came.len(),
            into.len()
        )));
    }
    into.copy_from_slice(came);
    Ok(())
}

impl Link for Here {
    fn capabilities(&self) -> Capabilities {
        Capabilities { group: true, ..Capabilities::plain() }
    }
    fn send(&mut self, _: &[u8]) -> Result<(), LinkError> {
        Err(LinkError::Unsupported("send"))
    }
    fn recv(&mut self, _: &mut [u8]) -> Result<(), LinkError> {
        Err(LinkError::Unsupported("receive"))
    }
    fn exchange(&mut self, _: &[u8], _: &mut [u8]) -> Result<(), LinkError> {
        Err(LinkError::Unsupported("exchange"))
    }
    fn ready(&mut self, _: Duration) -> Result<bool, LinkError> {
        Ok(false)
    }
    fn close(&mut self) -> Result<(), LinkError> {
        Ok(())
    }
}

impl Group for Here {
    fn members(&self) -> u32 {
        MEMBERS as u32
    }
    fn rank(&self) -> u32 {
        self.rank as u32
    }
    fn cast(&mut self, message: &[u8]) -> Result<u32, LinkError> {
        self.casts += 1;
        self.change(|under| {
            for to in (0..MEMBERS).filter(|to| *to != self.rank) {
                under.casts[to][self.rank].push_back((self.casts, message.to_vec()));
            }
        });
        Ok(self.casts)
    }
    fn deliver(&mut self, message: &mut [u8]) -> Result<Delivered, LinkError> {
        let to = self.rank;
        let (from, (number, came)) = self.until(|under| {
            let from = under.next(to)?;
            Some((from, under.casts[to][from].pop_front()?))
        })?;
        placed(&came, message)?;
        Ok(Delivered { from: from as u32, number })
    }
    fn answer(&mut self, to: u32, message: &[u8]) -> Result<(), LinkError> {
        self.change(|under| under.answers[to as usize].push_back((self.rank as u32, message.to_vec())));
        Ok(())
    }
    fn answered(&mut self, message: &mut [u8]) -> Result<u32, LinkError> {
        let to = self.rank;
        let wait = |waits| {
            if to == AHEAD {
                self.change(|under| under.waits = waits);
            }
        };
        wait(true);
        let came = self.until(|under| under.answers[to].pop_front());
        wait(false);
        let (from, came) = came?;
        placed(&came, message)?;
        Ok(from)
    }
}

/// What comes of the check of such a group, by rank.
fn checked() -> Vec<Result<Vec<u32>>> {
    let shared = Arc::new((Mutex::default(), Condvar::new()));
    std::thread::scope(|s| {
        let parts = (0..MEMBERS).map(|rank| {
            let mut here = Here { rank, casts: 0, shared: Arc::clone(&shared) };
            s.spawn(move || {
                let done = member(&mut here, (rank as u64, MEMBERS), usize::MAX);
                here.change(|under| under.failed |= done.is_err());
                done
            })
        });
        let parts: Vec<_> = parts.collect();
        parts.into_iter().map(|part| part.join().unwrap()).collect()
    })
}

/// A member has all of one size and casts the next one, of which a slower one hears before it has all of this one: the order of each sender is kept.
#[test]
fn a_group_that_keeps_the_order_of_each_sender_is_right_however_far_one_runs_ahead_of_another() {
    for (rank, done) in checked().into_iter().enumerate() {
        assert_eq!(done.unwrap_or_else(|e| panic!("member {rank}: {e:#}")), Vec::<u32>::new(), "{rank}");
    }
}
