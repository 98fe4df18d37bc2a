//! `strata member`: a group on the terminal.

use std::io::{BufRead, Read, Stdout, Write};
use std::net::{SocketAddr, SocketAddrV4};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::time::Duration;

use anyhow::{Context, bail};
use strata::udp::{Event, Group, Options};
use strata::{Config, Key, Refused};

/// Flags of `strata member`.
#[derive(clap::Args)]
pub struct Flags {
    /// The group's name
    #[arg(long, default_value = "strata")]
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
    /// Silence in milliseconds after which a member is suspected
    #[arg(long, default_value_t = 1000)]
    suspect: u64,
    /// Stay when the input ends
    #[arg(long)]
    stay: bool,
}

pub fn run(flags: Flags) -> anyhow::Result<()> {
    let suspect = Duration::from_millis(flags.suspect.max(10));
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
    let mut member = Member { group, out: std::io::stdout(), failed: None };
    member.tell(&format!("member {}", member.group.me()));
    let lines = input();
    let mut pending: Option<String> = None;
    let mut ended = false;
    // Where there was input there may be more.
    let mut took = false;
    loop {
        let busy = took || pending.is_some();
        took = false;
        while let Some(event) = member.group.poll(Duration::from_millis(if busy { 0 } else { 10 }))? {
            if member.handle(event) {
                return member
                    .failed
                    .map_or(Ok(()), |e| Err(e).context("writing to the standard output; left the group"));
            }
        }
        if member.failed.is_some() && !ended {
            ended = true;
            member.group.leave();
        }
        while !ended {
            let line = match pending.take().map_or_else(|| lines.try_recv(), Ok) {
                Ok(line) => line,
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    ended = true;
                    if !flags.stay {
                        member.group.leave();
                    }
                    break;
                }
            };
            match member.group.try_cast(line.clone()) {
                Ok(()) => took = true,
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
    failed: Option<std::io::Error>,
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
    let file = std::fs::File::open(path).with_context(open)?;
    let mode = file.metadata().with_context(open)?.permissions().mode();
    if mode & 0o077 != 0 {
        bail!("others may read the key file {0}: chmod 600 {0}", path.display());
    }
    let mut bytes = Vec::new();
    file.take(4096).read_to_end(&mut bytes).with_context(open)?;
    Key::read(&bytes).with_context(open)
}

/// Lines of the input, read by a thread: reading blocks, and the group must be answered.
fn input() -> Receiver<String> {
    let (to, lines) = sync_channel(64);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if to.send(line).is_err() {
                return;
            }
        }
    });
    lines
}
