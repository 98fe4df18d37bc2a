//! The loop between input, group and file.

use std::io::BufRead;
use std::path::Path;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::time::{Duration, Instant};

use strata::Refused;
use strata::state::Change;
use strata::udp::{Failed, News, Options, Replica};

use super::entries::Entries;
use super::file::LogFile;

/// How long a member that can't go on waits for the others to let it go: longer than twice `Config::drain`, after which it goes in any case.
const PATIENCE: Duration = Duration::from_secs(12);

/// Keeps the log until the input has ended and what it gave is in the log.
///
/// # Errors
/// As [`Replica::join`], and where the log can't be written or read: then this member has left the group.
pub fn serve(options: Options, path: &Path, input: impl BufRead + Send + 'static) -> Result<(), Failed> {
    // Before the group counts on this member.
    let mut log = LogFile::open(path)?;
    let mut replica = Replica::join(options)?;
    let mut entries = Entries::new(replica.me());
    let kept = keep(&mut replica, &mut log, &mut entries, &lines(input));
    if kept.is_err() {
        if entries.waiting() > 0 {
            eprintln!("{} lines from here may not be in the group's log", entries.waiting());
        }
        replica.leave();
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until && !matches!(replica.poll(Duration::from_millis(10))?, Some(News::Left)) {}
    }
    kept
}

fn keep(
    replica: &mut Replica,
    log: &mut LogFile,
    entries: &mut Entries,
    lines: &Receiver<Vec<u8>>,
) -> Result<(), Failed> {
    eprintln!("member {}", replica.me());
    let (mut ended, mut leaving) = (false, false);
    loop {
        while replica.is_current() {
            if let Some(entry) = entries.next() {
                match replica.try_cast(entry) {
                    Ok(()) => entries.was_cast(),
                    Err(Refused::WouldBlock { .. }) => break,
                    Err(refused) => {
                        eprintln!("not in the log: {refused}");
                        entries.drop_next();
                    }
                }
            } else if entries.wants() && !ended {
                match lines.try_recv() {
                    Ok(line) => entries.line(line),
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => ended = true,
                }
            } else {
                break;
            }
        }
        if ended && entries.waiting() == 0 && !leaving {
            leaving = true;
            replica.leave();
        }
        replica.flush();
        while let Some(news) = replica.poll(Duration::from_millis(1))? {
            match news {
                News::State(Change::View { view, primary }) => {
                    let members = view.members.len();
                    if primary {
                        eprintln!("{members} members");
                    } else {
                        eprintln!("{members} members, which are no majority: lines wait until there is one");
                    }
                    entries.view(primary);
                }
                News::State(Change::Wanted) => {
                    replica.give(entries.give(log.all()?));
                }
                News::State(Change::State(state)) => entries.state(&state).map_err(|_| Failed::Io {
                    what: "reading the group's log, so that this member left the group".to_owned(),
                    source: std::io::Error::other("it is none of this log: does the group do something else?"),
                })?,
                News::State(Change::Message(m)) => entries.message(m.from, &m.body, !m.transitional),
                News::State(Change::Counted) | News::Trace(_) => {}
                News::State(Change::Orphaned) => eprintln!("nobody here has the log: begin anew, without contacts"),
                News::Notice(text) => eprintln!("{text}"),
                News::Left => return Ok(()),
            }
        }
        if let Some(write) = entries.due() {
            log.write(write)?;
        }
    }
}

/// Lines, read by a thread: reading blocks, and the group must be answered.
fn lines(input: impl BufRead + Send + 'static) -> Receiver<Vec<u8>> {
    let (to, lines) = sync_channel(64);
    std::thread::spawn(move || {
        for line in input.split(b'\n').map_while(Result::ok) {
            if to.send(line).is_err() {
                return;
            }
        }
    });
    lines
}
