//! The tasks of one connection, and who turns them: the thread that is in a call. An executor in as few lines as a connection needs.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Polls of a task in one turn, at most: one that wakes itself for ever leaves its caller time to look at its patience.
const ROUNDS: usize = 64;

/// A task's word that it can go on.
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Task {
    work: Work,
    woken: Arc<Woken>,
    waker: Waker,
}

/// Takes new tasks, from hyper's own tasks as well.
#[derive(Clone, Default)]
pub struct Spawner(Arc<Mutex<Vec<Task>>>);

impl Spawner {
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        let waker = Waker::from(Arc::clone(&woken));
        let task = Task { work: Box::pin(work), woken, waker };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(task);
    }
}

impl<F: Future<Output = ()> + Send + 'static> hyper::rt::Executor<F> for Spawner {
    fn execute(&self, work: F) {
        self.spawn(work);
    }
}

/// All tasks of a connection.
#[derive(Default)]
pub struct Tasks {
    all: Vec<Task>,
    pub spawner: Spawner,
}

impl Tasks {
    /// Whether some task can go on without the socket.
    pub fn woken(&self) -> bool {
        self.all.iter().any(|task| task.woken.0.load(Ordering::Relaxed))
            || !self.spawner.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Has every task that was woken go on until it waits.
    pub fn turn(&mut self) {
        for _ in 0..ROUNDS {
            self.all.append(&mut self.spawner.0.lock().unwrap_or_else(PoisonError::into_inner));
            let mut any = false;
            self.all.retain_mut(|Task { work, woken, waker }| {
                if !woken.0.swap(false, Ordering::Relaxed) {
                    return true;
                }
                any = true;
                work.as_mut().poll(&mut Context::from_waker(waker)).is_pending()
            });
            if !any {
                return;
            }
        }
    }

    /// Ends all.
    pub fn end(&mut self) {
        self.all.clear();
        let new = std::mem::take(&mut *self.spawner.0.lock().unwrap_or_else(PoisonError::into_inner));
        drop(new);
    }
}
