//! A cell that is measured in a laboratory: by a process of its own, between two hosts that are there for it alone.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::commands::module::apart;
use crate::config::sweep::Cell;

/// How often the process is looked after.
const LOOK: Duration = Duration::from_millis(20);
/// Most of what it says on standard error that is kept, bytes.
const MOST_SAID: u64 = 64 << 10;

/// Measures it into the file. The error is what the process said last.
pub fn measure(cell: &Cell, lab: &[String], file: &Path, stop: &AtomicBool) -> Result<()> {
    let own = std::env::current_exe().context("finding this program's own file")?;
    // Where this process is killed, nobody would wait for its run, and the next start measures beside it.
    let mut line = apart::watched();
    line.arg("lab").args(lab).arg("--").arg(&own).args(cell.words(file)?.iter().skip(1));
    // Ctrl-C reaches this process, which hands it on once.
    line.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = line.spawn().context("starting a laboratory")?;
    let said = child.stderr.take().map(|said| {
        std::thread::spawn(move || {
            let mut kept = Vec::new();
            let mut said = said;
            let read = said.by_ref().take(MOST_SAID).read_to_end(&mut kept);
            // What goes beyond is read, so that nobody waits for room, and dropped.
            let _ = read.and_then(|_| std::io::copy(&mut said, &mut std::io::sink()));
            String::from_utf8_lossy(&kept).into_owned()
        })
    });
    let code = ended(&mut child, stop)?;
    let said = said.and_then(|thread| thread.join().ok()).unwrap_or_default();
    match code {
        // 1: measured, but something fell short, which its file says.
        Some(0 | 1) if file.is_file() => Ok(()),
        _ => match said.lines().rev().find(|line| !line.trim().is_empty()) {
            Some(last) => Err(anyhow!("{}", report::words::plain(last.trim_start_matches("pipegauge: ")))),
            None => bail!(
                "the laboratory's process ended with {}",
                code.map_or("a signal".to_owned(), |code| code.to_string())
            ),
        },
    }
}

/// Waits for the end, and asks for it once this process is asked to stop.
fn ended(child: &mut Child, stop: &AtomicBool) -> Result<Option<i32>> {
    let mut asked = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        if stop.load(Ordering::Relaxed) && !std::mem::replace(&mut asked, true) {
            let _ = kill_process(Pid::from_child(child), Signal::INT);
        }
        std::thread::sleep(LOOK);
    }
}
