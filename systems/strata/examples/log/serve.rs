//! The loop between input, group and file.

use std::io::{self, BufRead, Read};
use std::path::Path;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::time::Duration;

use strata::Refused;
use strata::net::{Failed, News, Options, Replica};
use strata::state::Change;

use super::entries::Entries;
use super::file::LogFile;

/// Longest line that is taken, bytes.
const LONGEST: u64 = 1 << 20;

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
        replica.leave_and_wait()?;
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
                    source: io::Error::other("it is none of this log: does the group do something else?"),
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
fn lines(mut input: impl BufRead + Send + 'static) -> Receiver<Vec<u8>> {
    let (to, lines) = sync_channel(64);
    std::thread::spawn(move || {
        while let Ok(Some(line)) = line(&mut input) {
            if to.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// The next line that is no longer than one may be; none where the input has ended.
fn line(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    loop {
        let mut line = Vec::new();
        // With its end, and no more of one that is too long.
        if input.by_ref().take(LONGEST + 1).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if line.pop_if(|end| *end == b'\n').is_some() || line.len() as u64 <= LONGEST {
            return Ok(Some(line));
        }
        input.skip_until(b'\n')?;
        eprintln!("not in the log: a line of more than {LONGEST} bytes");
    }
}
