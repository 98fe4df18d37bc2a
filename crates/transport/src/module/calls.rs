//! Calls into modules that have not come back yet, for whoever watches over a process that measures: a module is to give up by itself once
//! its patience is over, and one that does not would hold its process for ever.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

/// What is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Call {
    Send = 1,
    Receive,
    Exchange,
    Ready,
    Flush,
    Take,
    OneSided,
    Queued,
    Collective,
    Group,
    Available,
    Capabilities,
    Listen,
    Accept,
    Connect,
    Effective,
    GiveBack,
    Close,
    Unlisten,
}

impl Call {
    /// In the words of the interface.
    fn words(code: u8) -> Option<&'static str> {
        use Call::*;
        let all = [
            (Send, "send()"),
            (Receive, "recv()"),
            (Exchange, "exchange()"),
            (Ready, "ready()"),
            (Flush, "flush()"),
            (Take, "take()"),
            (OneSided, "a call of its one-sided table"),
            (Queued, "a call of its queued table"),
            (Collective, "a call of its collective table"),
            (Group, "a call of its group table"),
            (Available, "available()"),
            (Capabilities, "capabilities()"),
            (Listen, "listen()"),
            (Accept, "accept()"),
            (Connect, "connect()"),
            (Effective, "effective()"),
            (GiveBack, "give_back()"),
            (Close, "close()"),
            (Unlisten, "unlisten()"),
        ];
        all.into_iter().find(|(call, _)| *call as u8 == code).map(|(_, words)| words)
    }
}

/// A call that has not come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pending {
    /// Tells it from every other call of this process: of a link, and its number there.
    pub call: (usize, u64),
    /// What was called: "recv()".
    pub what: &'static str,
    /// Bytes that it is to move.
    pub bytes: u64,
    /// How long it was told to wait, beside its patience.
    pub wait: Duration,
    /// It takes away what was made.
    pub ends: bool,
}

/// A call that is no step of a measurement: it comes back where this is dropped.
pub(super) struct Within(Arc<Progress>);

impl Within {
    /// It begins. `wait` is how long it may honestly wait.
    pub(super) fn of(call: Call, wait: Duration) -> Self {
        let own = Progress::of_a_link();
        own.begins(call, 0, wait);
        Self(own)
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        self.0.ends();
    }
}

/// What a link's thread is in just now. It writes three words for each call and reads none that another thread writes.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Number of the call, and in its lowest byte what is called; 0 there between calls.
    now: AtomicU64,
    bytes: AtomicU64,
    /// Nanoseconds.
    wait: AtomicU64,
}

/// Of all links of this process.
static ALL: Mutex<Vec<Weak<Progress>>> = Mutex::new(Vec::new());

impl Progress {
    /// Of a new link.
    pub(super) fn of_a_link() -> Arc<Self> {
        let own = Arc::new(Self::default());
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|other| other.strong_count() > 0);
        all.push(Arc::downgrade(&own));
        own
    }

    /// A call begins.
    #[inline]
    pub(super) fn begins(&self, call: Call, bytes: usize, wait: Duration) {
        self.bytes.store(bytes as u64, Ordering::Relaxed);
        self.wait.store(u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        // Only this thread writes it.
        let number = (self.now.load(Ordering::Relaxed) >> 8).wrapping_add(1);
        self.now.store(number << 8 | call as u64, Ordering::Release);
    }

    /// It came back.
    #[inline]
    pub(super) fn ends(&self) {
        self.now.store(self.now.load(Ordering::Relaxed) & !0xff, Ordering::Relaxed);
    }

    fn pending(&self) -> Option<Pending> {
        let now = self.now.load(Ordering::Acquire);
        let what = Call::words(now as u8)?;
        let (bytes, wait) = (self.bytes.load(Ordering::Relaxed), self.wait.load(Ordering::Relaxed));
        let link = std::ptr::from_ref(self).addr();
        let ends = [Call::GiveBack, Call::Close, Call::Unlisten].iter().any(|call| *call as u8 == now as u8);
        Some(Pending { call: (link, now >> 8), what, bytes, wait: Duration::from_nanos(wait), ends })
    }
}

/// The calls of this process that have not come back.
pub fn pending() -> Vec<Pending> {
    let all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    all.iter().filter_map(Weak::upgrade).filter_map(|link| link.pending()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_pending_until_it_comes_back_and_the_next_is_another() {
        let link = Progress::of_a_link();
        let own = || pending().into_iter().find(|p| p.call.0 == std::ptr::from_ref(&*link).addr());
        assert_eq!(own(), None);
        link.begins(Call::Receive, 7, Duration::ZERO);
        let first = own().unwrap();
        assert_eq!((first.what, first.bytes, first.wait), ("recv()", 7, Duration::ZERO));
        link.ends();
        assert_eq!(own(), None);
        link.begins(Call::Receive, 7, Duration::ZERO);
        assert_ne!(own().unwrap().call, first.call);
        let at = std::ptr::from_ref(&*link).addr();
        drop(link);
        assert!(pending().iter().all(|p| p.call.0 != at), "a link that is gone is in no call");
    }

    #[test]
    fn a_call_without_a_link_is_pending_until_it_is_left() {
        let wait = Duration::from_secs(3);
        let within = Within::of(Call::Unlisten, wait);
        let own = || pending().into_iter().filter(|p| p.what == "unlisten()").collect::<Vec<_>>();
        assert_eq!(own().iter().map(|p| p.wait).collect::<Vec<_>>(), [wait]);
        drop(within);
        assert_eq!(own(), []);
    }
}
