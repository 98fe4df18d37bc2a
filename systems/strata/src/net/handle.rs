//! Members with a thread of their own, for whoever wants to block.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;

use super::failed::Failed;
use super::group::{Event, Group};
use super::options::Options;
use super::replica::{News, Replica};
use super::thread::Threaded;
use crate::addr::Endpoint;
use crate::member::Refused;
use crate::state::Change;

/// A member that answers the group by itself. Dropping it ends the member as a crash would; [`Handle::leave`] is the clean way, or [`Handle::close`] where another thread takes the events.
pub struct Handle(Threaded<Group>);

impl Handle {
    /// As [`Group::join`], with a thread.
    ///
    /// # Errors
    /// [`Failed`].
    pub fn join(options: Options) -> Result<Self, Failed> {
        Threaded::join(options).map(Self)
    }

    /// Who this is.
    pub fn me(&self) -> Endpoint {
        self.0.me()
    }

    /// Casts; waits while the group is behind, and while more than a thousand events wait to be taken with [`Handle::next`]: take them in another thread, or use [`Handle::try_cast`].
    ///
    /// # Errors
    /// [`Refused::Gone`] after the member has left or failed, [`Refused::Large`].
    pub fn cast(&self, body: impl Into<Bytes>) -> Result<(), Refused> {
        self.0.cast(body.into())
    }

    /// Sends to one member; waits as [`Handle::cast`].
    ///
    /// # Errors
    /// As [`Handle::cast`].
    pub fn send(&self, to: Endpoint, body: impl Into<Bytes>) -> Result<(), Refused> {
        self.0.send(to, body.into())
    }

    /// Casts, unless the group is behind.
    ///
    /// # Errors
    /// As [`Handle::cast`], and [`Refused::WouldBlock`], with the bytes of casts that wait already.
    pub fn try_cast(&self, body: impl Into<Bytes>) -> Result<(), Refused> {
        self.0.try_cast(body.into())
    }

    /// The next event; none after [`Event::Left`].
    pub fn next(&self) -> Option<Event> {
        self.0.next()
    }

    /// The next event, if one comes in time.
    pub fn next_within(&self, most: Duration) -> Option<Event> {
        self.0.next_within(most)
    }

    /// Begins to leave, when all that was cast here before has been taken by the group, or after `Config::drain`; no cast is taken any more. Go on to take events until [`Event::Left`], which comes as [`Handle::leave`] says.
    pub fn close(&self) {
        self.0.close();
    }

    /// Leaves, and waits until the others have all that was cast here, or for `Config::drain` (twice, where casts still wait for the group then) and a view change; what is delivered meanwhile is returned, with an [`Event::Notice`] of how many casts may be lost.
    ///
    /// # Errors
    /// What ended the member before.
    pub fn leave(self) -> Result<Vec<Event>, Failed> {
        self.0.leave()
    }
}

/// A [`Replica`] that answers the group by itself. Its holder takes news in a loop, and gives the state when it is asked:
///
/// ```no_run
/// use strata::net::{News, Options, ReplicaHandle};
/// use strata::state::Change;
///
/// // The state is all that was ever cast. Who names no contacts begins it.
/// let contacts = vec!["127.0.0.1:40213".parse()?];
/// let replica = ReplicaHandle::join(Options { contacts, ..Options::default() })?;
/// let mut state = Vec::new();
/// std::thread::scope(|scope| {
///     // In a thread of its own, since a cast waits for others, and these perhaps for the state.
///     scope.spawn(|| replica.cast("hello"));
///     while let Some(news) = replica.next() {
///         match news {
///             News::State(Change::Message(m)) => state.extend_from_slice(&m.body),
///             News::State(Change::Wanted) => _ = replica.give(state.clone()),
///             News::State(Change::State(given)) => state = given.to_vec(),
///             News::State(Change::View { view, primary }) => println!("{} members, primary: {primary}", view.members.len()),
///             _ => {}
///         }
///     }
/// });
/// // What ended it, where it did not leave.
/// replica.leave_and_wait()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Dropping it ends the member as a crash would, with a vote that the others still count.
pub struct ReplicaHandle {
    thread: Threaded<Replica>,
    /// [`Change::Wanted`] was taken, and not yet answered.
    asked: AtomicBool,
}

impl ReplicaHandle {
    /// As [`Replica::join`], with a thread.
    ///
    /// # Errors
    /// [`Failed`].
    pub fn join(options: Options) -> Result<Self, Failed> {
        Ok(Self { thread: Threaded::join(options)?, asked: AtomicBool::new(false) })
    }

    /// Who this is.
    pub fn me(&self) -> Endpoint {
        self.thread.me()
    }

    /// Casts; waits while the group is behind, while a member of the view is still to receive the state and this one has cast `Config::backlog` bytes meanwhile, and while more than a thousand news wait to be taken: take
    /// them, and give the state, in another thread, or use [`ReplicaHandle::try_cast`].
    ///
    /// # Errors
    /// [`Refused::Gone`] after the member has begun to leave, has left or failed, [`Refused::Large`].
    pub fn cast(&self, body: impl Into<Bytes>) -> Result<(), Refused> {
        self.thread.cast(body.into())
    }

    /// Sends to one member; waits as [`ReplicaHandle::cast`].
    ///
    /// # Errors
    /// As [`ReplicaHandle::cast`].
    pub fn send(&self, to: Endpoint, body: impl Into<Bytes>) -> Result<(), Refused> {
        self.thread.send(to, body.into())
    }

    /// Casts, unless it would wait as [`ReplicaHandle::cast`] does.
    ///
    /// # Errors
    /// As [`ReplicaHandle::cast`], and [`Refused::WouldBlock`], with the bytes of casts that wait already.
    pub fn try_cast(&self, body: impl Into<Bytes>) -> Result<(), Refused> {
        self.thread.try_cast(body.into())
    }

    /// The next of what happens; none after [`News::Left`]. Of the state nothing comes between [`Change::Wanted`] and [`ReplicaHandle::give`].
    pub fn next(&self) -> Option<News> {
        self.thread.next().inspect(|news| self.seen(news))
    }

    /// The next of what happens, if it comes in time.
    pub fn next_within(&self, most: Duration) -> Option<News> {
        self.thread.next_within(most).inspect(|news| self.seen(news))
    }

    fn seen(&self, news: &News) {
        if matches!(news, News::State(Change::Wanted)) {
            self.asked.store(true, Ordering::Release);
        }
    }

    /// Answers the [`Change::Wanted`] that was taken last. False where it was answered before, or this member has gone; who wanted the state may have gone, too.
    pub fn give(&self, state: impl Into<Bytes>) -> bool {
        let state = state.into();
        self.asked.swap(false, Ordering::AcqRel) && self.thread.aside(|replica| _ = replica.give(state))
    }

    /// Begins to leave, when all that was cast here before has been taken by the group, or after `Config::drain`; then as [`Replica::leave`]. Go on to take news, and to give the state, until [`News::Left`].
    pub fn leave(&self) {
        self.thread.close();
    }

    /// As [`ReplicaHandle::leave`], and waits until it has left; what is told meanwhile is returned. Nobody is given the state, so that what comes after a [`Change::Wanted`] is not told: a member that may be the only one with the
    /// state should leave by [`ReplicaHandle::leave`].
    ///
    /// # Errors
    /// What ended the member before.
    pub fn leave_and_wait(self) -> Result<Vec<News>, Failed> {
        self.thread.leave()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    const PATIENCE: Duration = Duration::from_secs(60);

    fn options(message: usize) -> Options {
        let config = Config { message, ..Config::default() };
        Options { config, ..Options::default() }
    }

    #[test]
    fn a_message_that_is_too_large_is_refused_as_it_is_cast_and_the_next_arrives() {
        let alone = Handle::join(options(1000)).unwrap();
        let large = Err(Refused::Large { len: 1001, most: 1000 });
        assert_eq!(alone.cast(vec![1; 1001]), large);
        assert_eq!(alone.try_cast(vec![1; 1001]), large);
        assert_eq!(alone.send(alone.me(), vec![1; 1001]), large);
        assert_eq!(alone.cast(vec![2; 1000]), Ok(()));
        let came = std::iter::from_fn(|| alone.next()).find_map(|e| match e {
            Event::Message(m) => Some(m.body.len()),
            _ => None,
        });
        assert_eq!(came, Some(1000));
    }

    /// A replica's messages have a byte more.
    #[test]
    fn the_largest_message_of_a_replica_arrives_and_a_larger_one_is_refused_as_it_is_cast() {
        let alone = ReplicaHandle::join(options(1000)).unwrap();
        let large = Err(Refused::Large { len: 1000, most: 999 });
        assert_eq!(alone.cast(vec![1; 1000]), large);
        assert_eq!(alone.try_cast(vec![1; 1000]), large);
        assert_eq!(alone.send(alone.me(), vec![1; 1000]), large);
        assert_eq!(alone.cast(vec![2; 999]), Ok(()));
        let came = std::iter::from_fn(|| alone.next()).find_map(|news| match news {
            News::State(Change::Message(m)) => Some(m.body.len()),
            _ => None,
        });
        assert_eq!(came, Some(999));
    }

    /// As many as are taken while the holder takes no news, so that no order is taken either, until there is room for neither.
    fn filled(mut cast: impl FnMut() -> Result<(), Refused>) -> usize {
        let (mut taken, mut refused) = (0, 0);
        while refused < 300 {
            match cast() {
                Ok(()) => (taken, refused) = (taken + 1, 0),
                Err(Refused::WouldBlock { .. }) => {
                    refused += 1;
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(other) => panic!("{other}"),
            }
        }
        taken
    }

    fn within_patience<T: Send + 'static>(does: impl FnOnce() -> T + Send + 'static) -> T {
        let (to, done) = std::sync::mpsc::channel();
        std::thread::spawn(move || to.send(does()));
        done.recv_timeout(PATIENCE).expect("it ends")
    }

    /// All that was taken is cast before it leaves.
    #[test]
    fn a_member_leaves_whose_orders_and_events_are_full() {
        let alone = Handle::join(options(1000)).unwrap();
        let cast = filled(|| alone.try_cast(vec![1; 10]));
        let rest = within_patience(|| alone.leave()).unwrap();
        let casts = rest.iter().filter(|e| matches!(e, Event::Message(_))).count();
        assert_eq!(casts, cast);
        assert!(matches!(rest.last(), Some(Event::Left)));
    }

    #[test]
    fn a_replica_leaves_whose_orders_and_news_are_full() {
        let alone = ReplicaHandle::join(options(1000)).unwrap();
        let cast = filled(|| alone.try_cast(vec![1; 10]));
        let rest = within_patience(|| alone.leave_and_wait()).unwrap();
        let casts = rest.iter().filter(|news| matches!(news, News::State(Change::Message(_)))).count();
        assert_eq!(casts, cast);
        assert!(matches!(rest.last(), Some(News::Left)));
    }

    #[test]
    fn a_member_that_closes_is_told_what_it_cast_before_and_that_it_has_left() {
        let alone = Handle::join(options(1000)).unwrap();
        for n in 0..100u8 {
            alone.cast(vec![n]).unwrap();
        }
        alone.close();
        assert_eq!(alone.cast("late"), Err(Refused::Gone));
        let (mut told, mut left) = (Vec::new(), false);
        while let Some(event) = alone.next_within(PATIENCE) {
            match event {
                Event::Message(m) => told.push(m.body[0]),
                Event::Left => left = true,
                _ => {}
            }
        }
        assert!(left);
        assert_eq!(told, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn who_has_begun_to_leave_casts_no_more_and_is_told_what_it_cast_before() {
        let alone = ReplicaHandle::join(options(1000)).unwrap();
        for n in 0..100u8 {
            alone.cast(vec![n]).unwrap();
        }
        alone.leave();
        assert_eq!(alone.cast("late"), Err(Refused::Gone));
        assert_eq!(alone.try_cast("late"), Err(Refused::Gone));
        let mut told = Vec::new();
        while let Some(news) = alone.next_within(PATIENCE) {
            match news {
                News::State(Change::Message(m)) => told.push(m.body[0]),
                News::Left => break,
                _ => {}
            }
        }
        assert_eq!(told, (0..100).collect::<Vec<_>>());
        assert!(alone.next().is_none(), "nothing comes after that");
        assert!(alone.leave_and_wait().unwrap().is_empty());
    }

    #[test]
    fn a_state_that_nobody_wants_is_not_taken() {
        let alone = ReplicaHandle::join(options(1000)).unwrap();
        assert!(!alone.give("state"));
    }

    #[test]
    fn the_thread_of_a_dropped_replica_ends_also_where_it_waits_for_room_among_the_news() {
        let alone = ReplicaHandle::join(options(1000)).unwrap();
        filled(|| alone.try_cast(vec![1; 10]));
        within_patience(|| drop(alone));
    }
}
