//! `strata member`: a group on the terminal.

use std::io::{self, BufRead, Read, Stdout, Write};
use std::net::{SocketAddr, SocketAddrV4};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use strata::udp::{Event, Group, Options};
use strata::{Config, Key, Refused};

/// How long own casts may be under way after the input has ended until that is told.
const PATIENCE: Duration = Duration::from_secs(5);

/// Flags of `strata member`.
#[derive(clap::Args)]
pub struct Flags {
    /// The group's name
    #[arg(long, default_value = "strata", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    group: String,
    /// The stack; the same for all members
    #[arg(long, default_value = "FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:udp")]
    stack: String,
    /// This member's address; port 0 lets the kernel choose
    #[arg(long, default_value = "127.0.0.1:0")]
    bind: SocketAddr,
    /// Members to ask; none: this one is the first
    #[arg(long, value_delimiter = ',')]
    contacts: Vec<SocketAddr>,
    /// Where casts go, for stacks over multicast, such as 239.1.2.3:7000
    #[arg(long)]
    multicast: Option<SocketAddrV4>,
    /// A file with the key of SIGN and CRYPT: 32 bytes or 64 hexadecimal digits, for nobody else to read
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Silence in milliseconds after which a member is suspected; at least 10
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(10..))]
    suspect: u64,
    /// Stay when the input ends
    #[arg(long)]
    stay: bool,
}

pub fn run(flags: Flags) -> anyhow::Result<()> {
    let suspect = Duration::from_millis(flags.suspect);
    let key = flags.key.as_deref().map(key).transpose()?;
    let config =
        Config { key, group: flags.group, suspect, status: suspect / 10, flush: suspect / 2, ..Config::default() };
    let options = Options {
        stack: flags.stack,
        bind: flags.bind,
        contacts: flags.contacts,
        multicast: flags.multicast,
        config,
        ..Options::default()
    };
    let group = Group::join(options)?;
    let mut member = Member { group, out: io::stdout(), failed: None, under_way: 0 };
    member.tell(&format!("member {}", member.group.me()));
    let lines = input();
    let mut pending: Option<Vec<u8>> = None;
    let mut unreadable = None;
    let mut ended = false;
    // Since when the input is over, while its casts are still under way.
    let mut leaving: Option<Instant> = None;
    let mut told = false;
    // Where there was input there may be more.
    let mut took = false;
    loop {
        let busy = took || pending.is_some();
        took = false;
        while let Some(event) = member.group.poll(Duration::from_millis(if busy { 0 } else { 10 }))? {
            if member.handle(event) {
                if let Some(e) = member.failed {
                    return Err(e).context("writing to the standard output; left the group");
                }
                return unreadable
                    .map_or(Ok(()), |e: io::Error| Err(e).context("reading the standard input; left the group"));
            }
        }
        if member.failed.is_some() && !ended {
            ended = true;
            member.group.leave();
        }
        if leaving.is_some_and(|_| member.under_way == 0) {
            leaving = None;
            member.group.leave();
        }
        if leaving.is_some_and(|since| since.elapsed() > PATIENCE) && !told {
            told = true;
            eprintln!(
                "strata: the input has ended, and {} of its casts are not delivered yet; the member leaves when they are (interrupt it to \
                 leave without)",
                member.under_way
            );
        }
        while !ended {
            let line = match pending.take().map_or_else(|| lines.try_recv(), |line| Ok(Ok(line))) {
                Ok(Ok(line)) => line,
                Err(TryRecvError::Empty) => break,
                Ok(Err(e)) => {
                    (unreadable, ended, leaving) = (Some(e), true, Some(Instant::now()));
                    break;
                }
                Err(TryRecvError::Disconnected) => {
                    ended = true;
                    leaving = (!flags.stay).then(Instant::now);
                    break;
                }
            };
            match member.group.try_cast(line.clone()) {
                Ok(()) => {
                    took = true;
                    member.under_way += 1;
                }
                Err(Refused::WouldBlock { .. }) => {
                    pending = Some(line);
                    break;
                }
                Err(other) => return Err(other.into()),
            }
        }
    }
}

struct Member {
    group: Group,
    out: Stdout,
    /// Why nothing can be written any more: a full disk, a reader that has gone. Then the member leaves.
    failed: Option<io::Error>,
    /// Own casts that were not delivered here yet: who leaves before that takes them along.
    under_way: usize,
}

impl Member {
    fn tell(&mut self, line: &str) {
        if self.failed.is_none()
            && let Err(e) = writeln!(self.out, "{line}").and_then(|()| self.out.flush())
        {
            self.failed = Some(e);
        }
    }

    /// Tells what happened. Whether that was the end.
    fn handle(&mut self, event: Event) -> bool {
        match event {
            Event::Message(m) => {
                if m.from == self.group.me() {
                    self.under_way = self.under_way.saturating_sub(1);
                }
                let text = String::from_utf8_lossy(&m.body);
                let mark = if m.transitional { " (transitional)" } else { "" };
                self.tell(&format!("{}{mark}: {text}", m.from));
            }
            Event::View(view) => {
                let members: Vec<_> = view.members.iter().map(ToString::to_string).collect();
                self.tell(&format!("view {} of {}: {}", view.id, members.len(), members.join(" ")));
            }
            Event::Notice(text) => eprintln!("strata: {text}"),
            Event::Trace(text) => eprintln!("{text}"),
            Event::Stable(_) => {}
            Event::Left => {
                self.tell("left");
                return true;
            }
        }
        false
    }
}

fn key(path: &Path) -> anyhow::Result<Key> {
    let open = || format!("the key file {}", path.display());
    // A pipe would be waited for.
    if !std::fs::metadata(path).with_context(open)?.is_file() {
        bail!("the key file {} is no regular file", path.display());
    }
    let file = std::fs::File::open(path).with_context(open)?;
    let mode = file.metadata().with_context(open)?.permissions().mode();
    if mode & 0o077 != 0 {
        bail!("others may read the key file {0}: chmod 600 {0}", path.display());
    }
    let mut bytes = Vec::new();
    file.take(4096).read_to_end(&mut bytes).with_context(open)?;
    Key::read(&bytes).with_context(open)
}

/// Lines of the input, whatever bytes they have, read by a thread: reading blocks, and the group must be answered. An error ends them.
fn input() -> Receiver<io::Result<Vec<u8>>> {
    let (to, lines) = sync_channel(64);
    std::thread::spawn(move || {
        for line in io::stdin().lock().split(b'\n') {
            let failed = line.is_err();
            if to.send(line).is_err() || failed {
                return;
            }
        }
    });
    lines
}
