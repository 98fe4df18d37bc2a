//! A thread for each flow of a side, all of which begin together.

use std::sync::RwLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::thread::{Builder, scope};

use transport::LinkError;

use crate::SessionError;
use crate::workspace::Halt;

/// Ends the other flows where one ends without completing, whatever the reason.
struct Ends<'a>(Option<&'a Halt>);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        if let Some(halt) = self.0 {
            halt.raise();
        }
    }
}

/// Does `jobs` at once: the first on this thread, each other one on a thread of its own, on its CPU of `cpus` where there is one. None
/// begins before all are ready. Where one fails `halt` ends the others, and the error names the flow that met the cause
/// ([`near_to_the_cause`]).
pub(super) fn at_once<T, J>(jobs: Vec<J>, cpus: &[u32], halt: &Halt) -> Result<Vec<T>, SessionError>
where
    T: Send,
    J: FnOnce() -> Result<T, SessionError> + Send,
{
    let of = jobs.len() as u32;
    let gate = RwLock::new(());
    let failures = AtomicU32::new(0);
    let outcomes = scope(|scope| {
        let closed = gate.write();
        let (here, arrivals) = channel();
        let mut threads = Vec::new();
        let mut jobs = jobs.into_iter();
        let first = jobs.next();
        for (number, job) in (1..).zip(jobs) {
            let (gate, here, failures) = (&gate, here.clone(), &failures);
            let cpu = cpus.get(number).copied();
            let flow = move || {
                let placed = cpu.map_or(Ok(()), host::pin_this_thread);
                let _ = here.send(());
                drop(gate.read());
                or_end(halt, failures, || {
                    placed
                        .map_err(|e| LinkError::io("choosing the CPU of a flow's thread (--pin none leaves it)", e))?;
                    // A job reads the flag by itself: on a path that loses messages what has arrived is received first.
                    job()
                })
            };
            let spawned = Builder::new().name(format!("flow-{number}")).spawn_scoped(scope, flow);
            threads.push(spawned.map_err(|e| {
                halt.raise();
                LinkError::io("starting a thread for a flow (fewer --flows need fewer)", e)
            }));
        }
        // Each thread reports once that it is ready; one that could not be started reports nothing.
        threads.iter().filter(|thread| thread.is_ok()).for_each(|_| {
            let _ = arrivals.recv();
        });
        drop(closed);
        let mut outcomes: Vec<Result<T, Failure>> = first.map(|job| or_end(halt, &failures, job)).into_iter().collect();
        for thread in threads {
            outcomes.push(match thread {
                Ok(thread) => thread.join().unwrap_or_else(|bug| std::panic::resume_unwind(bug)),
                Err(e) => Err(Failure { order: 0, e: e.into() }),
            });
        }
        outcomes
    });
    let mut done = Vec::new();
    let mut failed: Option<(u32, Failure)> = None;
    for (number, outcome) in (1..).zip(outcomes) {
        match outcome {
            Ok(one) => done.push(one),
            Err(new) if failed.as_ref().is_none_or(|(_, known)| near_to_the_cause(&new) < near_to_the_cause(known)) => {
                failed = Some((number, new));
            }
            Err(_) => {}
        }
    }
    match failed {
        None => Ok(done),
        // All failures are consequences: no flow is to be named.
        Some((_, Failure { e, .. })) if consequence(&e) => Err(e),
        Some((number, Failure { e, .. })) => Err(SessionError::Flow { number, of, source: Box::new(e) }),
    }
}

/// Why a flow failed, and how many had failed before it.
struct Failure {
    order: u32,
    e: SessionError,
}

/// Does one job; where it fails or panics, the other flows end.
fn or_end<T>(halt: &Halt, failures: &AtomicU32, job: impl FnOnce() -> Result<T, SessionError>) -> Result<T, Failure> {
    let mut ends = Ends(Some(halt));
    let done = job().map_err(|e| Failure { order: failures.fetch_add(1, Ordering::Relaxed), e })?;
    ends.0 = None;
    Ok(done)
}

/// Order of failures, the cause first: an error of the flow itself, then that its peer closed it (a far side closes all flows once one has
/// failed), then that it was ended; of the same kind the first.
fn near_to_the_cause(failure: &Failure) -> (u8, u32) {
    let kind = match failure.e.root() {
        e if consequence(e) => 2,
        SessionError::Link(LinkError::Closed { .. }) => 1,
        _ => 0,
    };
    (kind, failure.order)
}

fn consequence(e: &SessionError) -> bool {
    matches!(e.root(), SessionError::Interrupted | SessionError::Link(LinkError::Interrupted))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::Workspace;

    fn halt() -> Halt {
        Workspace::new(true).halted_by(Arc::default()).halt()
    }

    type Job<'a, T> = Box<dyn FnOnce() -> Result<T, SessionError> + Send + 'a>;

    #[test]
    fn all_are_under_way_at_once_and_answer_in_their_order() {
        let under_way = AtomicUsize::new(0);
        let jobs: Vec<Job<'_, usize>> = (0..8usize)
            .map(|n| {
                let under_way = &under_way;
                Box::new(move || {
                    under_way.fetch_add(1, Ordering::SeqCst);
                    // Comes to an end only if all others run meanwhile.
                    while under_way.load(Ordering::SeqCst) < 8 {
                        std::thread::yield_now();
                    }
                    Ok(n)
                }) as Job<'_, usize>
            })
            .collect();
        assert_eq!(at_once(jobs, &[], &halt()).unwrap(), (0..8).collect::<Vec<_>>());
    }

    #[test]
    fn one_that_fails_ends_the_others_and_is_named() {
        let halt = halt();
        let jobs: Vec<Job<'_, ()>> = (0..3)
            .map(|n| {
                let halt = halt.clone();
                Box::new(move || {
                    if n == 1 {
                        return Err(LinkError::Closed { doing: "sending" }.into());
                    }
                    // Waits for ever, but for the flag.
                    loop {
                        halt.check()?;
                        std::thread::yield_now();
                    }
                }) as Job<'_, ()>
            })
            .collect();
        let e = at_once(jobs, &[], &halt).unwrap_err().to_string();
        assert_eq!(e, "flow 2 of 3: the peer closed the connection while this side was sending");
    }

    #[test]
    fn of_flows_whose_peers_closed_them_the_first_is_named_and_one_that_met_something_of_its_own_before_them() {
        let closed = || Err::<(), _>(SessionError::from(LinkError::Closed { doing: "receiving" }));
        // The others wait until the third has failed.
        let told = |own: bool| {
            let halt = halt();
            let jobs: Vec<Job<'_, ()>> = (0..3)
                .map(|n| {
                    let halt = halt.clone();
                    Box::new(move || {
                        while n != 2 && halt.check().is_ok() {
                            std::thread::yield_now();
                        }
                        if own && n == 1 { Err(LinkError::Cut { message: 7 }.into()) } else { closed() }
                    }) as Job<'_, ()>
                })
                .collect();
            at_once(jobs, &[], &halt).unwrap_err().to_string()
        };
        assert!(told(true).starts_with("flow 2 of 3: the data connection was cut at message 7"));
        let text = told(false);
        assert!(text.starts_with("flow 3 of 3: the peer closed"), "{text}");
    }

    /// A far side may be told that the near one is done before its threads run: what came is there all the same.
    #[test]
    fn a_flag_that_was_up_before_leaves_each_flow_to_look_for_itself() {
        let halt = halt();
        halt.raise();
        let jobs: Vec<_> = (0..3).map(|n| move || Ok(n)).collect();
        assert_eq!(at_once(jobs, &[], &halt).unwrap(), [0, 1, 2]);
    }

    #[test]
    fn where_all_were_ended_none_is_named() {
        let halt = halt();
        halt.raise();
        let jobs: Vec<_> = (0..3).map(|_| || halt.check().map_err(SessionError::from)).collect();
        assert_eq!(at_once(jobs, &[], &halt).unwrap_err().to_string(), "interrupted");
    }
}
