//! How a process that was started here ended, and the last it said.

use std::io::{ErrorKind, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{ChildStderr, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How much of its standard error is kept.
const TAIL: usize = 2000;

/// The last of what a process writes to its standard error, read as it comes so that it never has to wait.
#[derive(Debug)]
pub struct LastWords {
    said: Arc<Mutex<Vec<u8>>>,
    listener: Option<JoinHandle<()>>,
}

impl LastWords {
    /// Begins to read.
    pub fn of(stderr: ChildStderr) -> Self {
        let said = Arc::new(Mutex::new(Vec::new()));
        let keep = Arc::clone(&said);
        let listener = std::thread::Builder::new().name("stderr".into()).spawn(move || tail(stderr, &keep)).ok();
        Self { said, listener }
    }

    /// What it said last, of a process that has ended or is about to.
    pub fn text(&self) -> String {
        // It may still be on its way; somebody else may hold the other end open for longer.
        let began = Instant::now();
        while self.listener.as_ref().is_some_and(|l| !l.is_finished()) && began.elapsed() < Duration::from_secs(1) {
            std::thread::sleep(Duration::from_millis(2));
        }
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        units::received::clean(String::from_utf8_lossy(&said).replace('\r', "").trim(), units::received::SENTENCE)
    }
}

/// How a process ended, in words.
pub fn in_words(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("it was killed by signal {signal}"),
        (None, Some(code)) => format!("it exited with status {code}"),
        (None, None) => "it ended".into(),
    }
}

/// Keeps the last of what comes.
fn tail(mut from: impl Read, keep: &Mutex<Vec<u8>>) {
    let mut piece = [0; 1024];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return,
            Ok(n) => {
                let mut kept = keep.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(&piece[..n]);
                let over = kept.len().saturating_sub(TAIL);
                kept.drain(..over);
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}
