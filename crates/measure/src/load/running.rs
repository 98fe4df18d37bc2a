//! The loading flows of a side while they run: a thread for each.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{Builder, JoinHandle, sleep};
use std::time::{Duration, Instant};

use transport::{AnyLink, End, Link, LinkError, Room, Visit};

use super::Load;
use crate::SessionError;
use crate::workspace::Halt;

/// Memory of messages begins at a page.
const ALIGN: usize = 4096;
/// Time that the flows run for before they count as a load, so that the buffers of the path are full.
const FILLING: Duration = Duration::from_millis(50);
/// Time between two checks of flows that have yet to carry something.
const LOOK: Duration = Duration::from_millis(1);

/// One side's threads of the loading flows of a path. They end with this value at the latest.
#[derive(Debug)]
pub struct Loading {
    flows: Vec<Flow>,
    /// Ends the flows between two messages.
    stop: Arc<AtomicBool>,
    /// Ends those that wait.
    halt: Halt,
}

#[derive(Debug)]
struct Flow {
    receives: bool,
    /// Bytes that this side sent or received.
    moved: Arc<AtomicU64>,
    thread: Option<JoinHandle<Result<(), LinkError>>>,
}

/// What a flow's thread does with its link.
struct Fill {
    receives: bool,
    size: u64,
    moved: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
}

impl Visit for Fill {
    type Out = Result<(), LinkError>;

    fn visit<L: Link>(self, end: &mut End<L>) -> Self::Out {
        let reliable = end.capabilities().reliable;
        let (link, message, _) = end.lend(&Room::of(self.size as usize, ALIGN), &Room::NONE)?;
        while !self.stop.load(Ordering::Relaxed) {
            let outcome = if self.receives { link.recv(message) } else { link.send(message) };
            match outcome {
                Ok(()) => {
                    self.moved.fetch_add(self.size, Ordering::Relaxed);
                }
                // What is lost loads the path as far as it came. At the end of a trial waits for lost messages are interrupted; that does
                // not end this flow.
                Err(LinkError::Lost | LinkError::Interrupted) if !reliable => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
}

impl Loading {
    /// Begins the flows of `load` on `links`, a connection each, on the near side or the far one, each on its CPU of `cpus` where there is
    /// one. `halt` is the flag that the links check while they wait: once raised, it ends flows that wait for the path.
    pub fn begin(
        links: Vec<AnyLink>,
        load: &Load,
        near: bool,
        cpus: &[u32],
        halt: &Halt,
    ) -> Result<Self, SessionError> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut all = Self { flows: Vec::new(), stop: Arc::clone(&stop), halt: halt.clone() };
        for (number, mut link) in (0..).zip(links) {
            let receives = load.goes_there(number) != near;
            let moved = Arc::new(AtomicU64::new(0));
            let fill = Fill { receives, size: load.size, moved: Arc::clone(&moved), stop: Arc::clone(&stop) };
            let cpu = cpus.get(number as usize).copied();
            let flow = move || {
                cpu.map_or(Ok(()), host::pin_this_thread).map_err(|e| {
                    LinkError::io("choosing the CPU of a loading flow's thread (--pin none leaves it)", e)
                })?;
                link.visit(fill)
            };
            let thread = Builder::new()
                .name(format!("load-{number}"))
                .spawn(flow)
                .map_err(|e| LinkError::io("starting a thread for a loading flow (a smaller --load needs fewer)", e))?;
            all.flows.push(Flow { receives, moved, thread: Some(thread) });
        }
        Ok(all)
    }

    /// Waits until each flow has carried something and the path's buffers had time to fill. An error where a flow ends before, nothing moves
    /// for `patience`, or the flag is raised.
    pub fn under_way(&mut self, patience: Duration) -> Result<(), SessionError> {
        let began = Instant::now();
        let mut filling: Option<Instant> = None;
        let carries = |flow: &Flow| flow.moved.load(Ordering::Relaxed) > 0;
        loop {
            self.check()?;
            self.halt.check()?;
            let waited = began.elapsed();
            if self.flows.iter().all(carries) {
                if filling.get_or_insert_with(Instant::now).elapsed() >= FILLING {
                    return Ok(());
                }
            } else if waited >= patience {
                let number = self.flows.iter().position(|flow| !carries(flow)).unwrap_or(0);
                return Err(self.of_flow(number, LinkError::Stalled { doing: "carrying its first message", waited }));
            }
            sleep(LOOK);
        }
    }

    /// Bytes that this side received so far.
    pub fn received(&self) -> u64 {
        let receivers = self.flows.iter().filter(|flow| flow.receives);
        receivers.fold(0, |all: u64, flow| all.wrapping_add(flow.moved.load(Ordering::Relaxed)))
    }

    /// An error where a flow ended by itself.
    pub fn check(&mut self) -> Result<(), SessionError> {
        let ended = |flow: &Flow| flow.thread.as_ref().is_none_or(JoinHandle::is_finished);
        let Some(number) = self.flows.iter().position(ended) else { return Ok(()) };
        let closed = || Err(LinkError::Closed { doing: "carrying messages" });
        let outcome = match self.flows[number].thread.take() {
            Some(thread) => thread.join().unwrap_or_else(|bug| std::panic::resume_unwind(bug)),
            None => closed(),
        };
        Err(self.of_flow(number, outcome.and_then(|()| closed()).err().unwrap_or(LinkError::Interrupted)))
    }

    fn of_flow(&self, number: usize, source: LinkError) -> SessionError {
        match source {
            // The other side or the end of the run ended it: no flow is to be named.
            LinkError::Interrupted => LinkError::Interrupted.into(),
            source => {
                let source = Box::new(source.into());
                SessionError::Loading { number: number as u32 + 1, of: self.flows.len() as u32, source }
            }
        }
    }

    /// Ends all flows and closes their connections. Errors are ignored: the other side may have ended first.
    pub fn end(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.halt.raise();
        for thread in self.flows.iter_mut().filter_map(|flow| flow.thread.take()) {
            let _ = thread.join();
        }
    }
}

impl Drop for Loading {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use transport::Capabilities;

    use super::*;
    use crate::Workspace;
    use crate::load::LoadDirection;

    /// One end of a path within this process, whose messages are counted and waited for.
    struct Half {
        out: Sender<usize>,
        into: Receiver<usize>,
        stop: Arc<AtomicBool>,
        /// Messages until it breaks.
        left: usize,
        reliable: bool,
    }

    impl Half {
        fn step(&mut self) -> Result<(), LinkError> {
            self.left = self.left.checked_sub(1).ok_or(LinkError::Closed { doing: "breaking as the test asked" })?;
            Ok(())
        }
    }

    impl Link for Half {
        fn capabilities(&self) -> Capabilities {
            Capabilities { reliable: self.reliable, ..Capabilities::plain() }
        }
        fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
            self.step()?;
            self.out.send(message.len()).map_err(|_| LinkError::Closed { doing: "sending" })
        }
        fn recv(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
            self.step()?;
            loop {
                match self.into.try_recv() {
                    Ok(len) if len == message.len() => return Ok(()),
                    Ok(len) => return Err(LinkError::Protocol(format!("{len} bytes"))),
                    Err(std::sync::mpsc::TryRecvError::Disconnected) => {
                        return Err(LinkError::Closed { doing: "receiving" });
                    }
                    Err(_) if self.stop.load(Ordering::Relaxed) => return Err(LinkError::Interrupted),
                    Err(_) => std::thread::yield_now(),
                }
            }
        }
        fn exchange(&mut self, _: &[u8], _: &mut [u8]) -> Result<(), LinkError> {
            Err(LinkError::Unsupported("do that"))
        }
        fn ready(&mut self, _: Duration) -> Result<bool, LinkError> {
            Ok(false)
        }
        fn close(&mut self) -> Result<(), LinkError> {
            Ok(())
        }
    }

    /// Both ends of `n` connections, whose first breaks after so many messages on the far side.
    fn pairs(n: u32, breaks: usize, reliable: bool) -> ([Vec<AnyLink>; 2], [Halt; 2]) {
        let stops = [0, 1].map(|_| Arc::new(AtomicBool::new(false)));
        let mut ends = [Vec::new(), Vec::new()];
        for number in 0..n {
            let ((a, b), (c, d)) = (channel(), channel());
            let half =
                |out, into, side: usize, left| Half { out, into, stop: Arc::clone(&stops[side]), left, reliable };
            let left = if number == 0 { breaks } else { usize::MAX };
            ends[0].push(AnyLink::boxed(Box::new(half(a, d, 0, usize::MAX))));
            ends[1].push(AnyLink::boxed(Box::new(half(c, b, 1, left))));
        }
        (ends, stops.map(|stop| Workspace::new(true).halted_by(stop).halt()))
    }

    fn load(direction: LoadDirection) -> Load {
        Load { flows: 2, direction, size: 100 }
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn flows_carry_the_ways_that_are_loaded_until_they_are_ended() {
        for (direction, there, back) in [
            (LoadDirection::Same, true, false),
            (LoadDirection::Opposite, false, true),
            (LoadDirection::Both, true, true),
        ] {
            let load = load(direction);
            let ([near, far], halts) = pairs(load.connections(), usize::MAX, true);
            let mut near = Loading::begin(near, &load, true, &[], &halts[0]).unwrap();
            let mut far = Loading::begin(far, &load, false, &[], &halts[1]).unwrap();
            far.under_way(LONG).unwrap();
            near.under_way(LONG).unwrap();
            assert_eq!((far.received() > 0, near.received() > 0), (there, back), "{direction:?}");
            assert_eq!(far.received() % 100, 0);
            near.check().unwrap();
            far.end();
            near.end();
            let (at_end, again) = (far.received(), far.received());
            assert_eq!(at_end, again, "nothing moves any more");
            assert!(near.check().is_err(), "flows that have ended load nothing");
        }
    }

    #[test]
    fn a_flow_that_ends_by_itself_is_named() {
        let load = load(LoadDirection::Same);
        let ([near, far], halts) = pairs(2, 3, true);
        let mut near = Loading::begin(near, &load, true, &[], &halts[0]).unwrap();
        let mut far = Loading::begin(far, &load, false, &[], &halts[1]).unwrap();
        let began = Instant::now();
        let e = loop {
            assert!(began.elapsed() < LONG, "nobody noticed");
            if let Err(e) = far.check() {
                break e.to_string();
            }
        };
        assert_eq!(
            e,
            "loading flow 1 of 2: the peer closed the connection while this side was breaking as the test asked"
        );
        near.end();
    }

    #[test]
    fn where_nothing_is_carried_or_the_flag_is_raised_nobody_waits_for_ever() {
        let load = load(LoadDirection::Same);
        let ([_near, far], halts) = pairs(2, usize::MAX, true);
        let mut far = Loading::begin(far, &load, false, &[], &halts[1]).unwrap();
        let e = far.under_way(Duration::from_millis(5)).unwrap_err().to_string();
        assert!(e.starts_with("loading flow 1 of 2: no progress for"), "{e}");
        halts[1].raise();
        let e = far.under_way(LONG).unwrap_err();
        assert!(matches!(e, SessionError::Link(LinkError::Interrupted)), "{e}");
    }

    #[test]
    fn on_a_path_that_loses_messages_the_end_of_a_trial_is_not_that_of_the_load() {
        let load = load(LoadDirection::Same);
        let ([near, far], halts) = pairs(2, usize::MAX, false);
        let mut far = Loading::begin(far, &load, false, &[], &halts[1]).unwrap();
        halts[1].raise();
        let mut near = Loading::begin(near, &load, true, &[], &halts[0]).unwrap();
        near.under_way(LONG).unwrap();
        let began = Instant::now();
        while far.received() == 0 {
            assert!(began.elapsed() < LONG, "it never went on");
        }
        far.check().unwrap();
        far.end();
        near.end();
    }
}
