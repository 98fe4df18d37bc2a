//! Room for what waits for a member's thread.

use std::sync::{Arc, Condvar, Mutex};

use crate::member::Refused;

/// Bytes of the orders that wait for the thread: at most so many, but for one that is larger and alone. Who waits for room is let in by the order of coming, so that a large message is not overtaken by small ones for ever.
pub(super) struct Room {
    most: usize,
    /// None when the thread has ended.
    used: Mutex<Option<Used>>,
    freed: Condvar,
}

#[derive(Default)]
struct Used {
    bytes: usize,
    /// How many have come to wait, and how many of them were let in.
    came: u64,
    entered: u64,
    closed: bool,
}

/// What a message takes. None is without a byte, so that where none is taken there is no message.
fn taken(len: usize) -> usize {
    len.max(1)
}

impl Room {
    pub(super) fn new(most: usize) -> Self {
        Self { most, used: Mutex::new(Some(Used::default())), freed: Condvar::new() }
    }

    /// Room for so many bytes is taken; where there is none, or others wait for it, and `wait` is not set, how many are in use.
    pub(super) fn take(&self, len: usize, wait: bool) -> Result<(), Refused> {
        let len = taken(len);
        let mut used = self.used.lock().map_err(|_| Refused::Gone)?;
        let mut place = None;
        loop {
            let Some(now) = used.as_mut().filter(|now| !now.closed) else { return Err(Refused::Gone) };
            let first = place.map_or(now.came == now.entered, |place| place == now.entered);
            if first && (now.bytes == 0 || now.bytes.saturating_add(len) <= self.most) {
                now.bytes += len;
                now.entered += u64::from(place.is_some());
                // There may be room for the next one, too.
                self.freed.notify_all();
                return Ok(());
            }
            if !wait {
                return Err(Refused::WouldBlock { backlog: now.bytes });
            }
            if place.is_none() {
                place = Some(now.came);
                now.came += 1;
            }
            used = self.freed.wait(used).map_err(|_| Refused::Gone)?;
        }
    }

    pub(super) fn in_use(&self) -> usize {
        self.with(|now| now.bytes).unwrap_or(0)
    }

    pub(super) fn free(&self, len: usize) {
        self.with(|now| now.bytes -= taken(len).min(now.bytes));
        self.freed.notify_all();
    }

    /// Nobody is let in from now on, and who waits is told so.
    pub(super) fn close(&self) {
        self.with(|now| now.closed = true);
        self.freed.notify_all();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.with(|now| now.closed).unwrap_or(true)
    }

    fn with<T>(&self, does: impl FnOnce(&mut Used) -> T) -> Option<T> {
        self.used.lock().ok()?.as_mut().map(does)
    }
}

/// The thread's hold on the room: whoever waits for it is told that the thread has ended, however it did.
pub(super) struct Taking(pub(super) Arc<Room>);

impl Drop for Taking {
    fn drop(&mut self) {
        if let Ok(mut used) = self.0.used.lock() {
            *used = None;
        }
        self.0.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_for_the_thread_is_bounded_in_bytes() {
        let room = Room::new(100);
        assert_eq!(room.take(150, true), Ok(()), "one that is larger passes alone");
        assert_eq!(room.take(1, false), Err(Refused::WouldBlock { backlog: 150 }));
        room.free(150);
        assert_eq!(room.take(60, false), Ok(()));
        assert_eq!(room.take(41, false), Err(Refused::WouldBlock { backlog: 60 }));
        assert_eq!(room.take(40, false), Ok(()));
    }

    #[test]
    fn who_waits_for_room_is_told_when_the_thread_ends() {
        let room = Arc::new(Room::new(100));
        assert_eq!(room.take(100, true), Ok(()));
        let taking = Taking(room.clone());
        let waits = std::thread::spawn(move || room.take(1, true));
        drop(taking);
        assert_eq!(waits.join().unwrap(), Err(Refused::Gone));
    }

    #[test]
    fn who_waits_for_room_is_told_when_it_is_closed_and_what_is_in_stays() {
        let room = Arc::new(Room::new(100));
        assert_eq!(room.take(100, true), Ok(()));
        let waits = {
            let room = room.clone();
            std::thread::spawn(move || room.take(1, true))
        };
        room.close();
        assert_eq!(waits.join().unwrap(), Err(Refused::Gone));
        assert_eq!(room.take(0, false), Err(Refused::Gone));
        assert_eq!(room.in_use(), 100);
    }

    #[test]
    fn a_message_without_a_byte_takes_room_until_it_is_carried_out() {
        let room = Room::new(100);
        assert_eq!(room.take(0, false), Ok(()));
        assert!(room.in_use() > 0);
        room.free(0);
        assert_eq!(room.in_use(), 0);
    }

    #[test]
    fn a_large_message_that_waits_is_not_overtaken_by_small_ones() {
        let room = Arc::new(Room::new(100));
        assert_eq!(room.take(60, false), Ok(()));
        let large = {
            let room = room.clone();
            std::thread::spawn(move || room.take(90, true))
        };
        // It waits from then on, and whatever comes is behind it.
        while room.take(1, false).is_ok() {
            room.free(1);
            std::thread::yield_now();
        }
        assert_eq!(room.take(40, false), Err(Refused::WouldBlock { backlog: 60 }));
        let small = {
            let room = room.clone();
            std::thread::spawn(move || room.take(40, true))
        };
        while room.with(|now| now.came) < Some(2) {
            std::thread::yield_now();
        }
        room.free(60);
        assert_eq!(large.join().unwrap(), Ok(()));
        assert!(!small.is_finished() && room.in_use() == 90);
        room.free(90);
        assert_eq!(small.join().unwrap(), Ok(()));
    }
}
