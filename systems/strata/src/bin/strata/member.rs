//! `strata member`: a group on the terminal.

use std::io::{self, BufRead, Read, Stdout, Write};
use std::net::{SocketAddr, SocketAddrV4, ToSocketAddrs};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::time::Duration;

use anyhow::{Context, bail};
use strata::net::{Event, Group, Options};
use strata::stack::{Carrier, Kind, Spec, check};
use strata::{Config, Key, Refused, shown};

/// Bytes of a line of the input at most: lines wait in memory.
const LINE: usize = 1 << 20;

/// Flags of `strata member`.
#[derive(clap::Args)]
pub struct Flags {
    /// The group's name
    #[arg(long, default_value = "strata", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    group: String,
    /// The stack; the same for all members. What it ends in carries datagrams: udp, multicast, or shm between processes of one user on this host
    #[arg(long, default_value = "FC:MERGE:TOTAL:MBRSHIP:FRAG:NAK:COM:udp")]
    stack: String,
    /// This member's address; port 0 lets a free one be chosen. Over shm it is a name that others find this process by
    #[arg(long, default_value = "127.0.0.1:0")]
    bind: SocketAddr,
    /// Members to ask, by address or name and port; none: this one is the first
    #[arg(long, value_delimiter = ',')]
    contacts: Vec<String>,
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
    let spec: Spec = flags.stack.parse()?;
    check(&spec)?;
    if flags.key.is_some() && !spec.layers.iter().any(|layer| matches!(layer, Kind::Sign | Kind::Crypt)) {
        bail!(
            "the key would seal nothing, since the stack has neither SIGN nor CRYPT: add one of them above COM, or leave --key out"
        );
    }
    if !spec.layers.contains(&Kind::Mbrship) {
        bail!(
            "a stack without MBRSHIP has a fixed view, whose members a program lists (`Config::fixed`): add MBRSHIP for this command"
        );
    }
    if let (Some(at), Carrier::Udp | Carrier::Shm) = (flags.multicast, spec.carrier) {
        bail!(
            "nothing is cast to {at}, since the stack's carrier is {}: leave --multicast out, or end the stack in multicast",
            spec.carrier.name()
        );
    }
    let contacts = flags.contacts.iter().map(|c| resolved(c, flags.bind)).collect::<Result<_, _>>()?;
    let options = Options {
        stack: flags.stack,
        bind: flags.bind,
        contacts,
        multicast: flags.multicast,
        config,
        ..Options::default()
    };
    let group = Group::join(options)?;
    let mut member = Member { group, out: io::stdout(), failed: None };
    member.tell(&format!("member {}", member.group.me()));
    let lines = input();
    let mut pending: Option<Vec<u8>> = None;
    let mut why = None;
    let mut ended = false;
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
                return why.map_or(Ok(()), Err);
            }
        }
        if member.failed.is_some() && !ended {
            ended = true;
            member.group.leave();
        }
        while !ended {
            let line = match pending.take().map_or_else(|| lines.try_recv(), |line| Ok(Ok(line))) {
                Ok(Ok(line)) => line,
                Err(TryRecvError::Empty) => break,
                Ok(Err(e)) => {
                    why = Some(anyhow::Error::new(e).context("reading the standard input; left the group"));
                    ended = true;
                    member.group.leave();
                    break;
                }
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
                Err(other) => {
                    why = Some(anyhow::Error::new(other).context("casting a line of the input; left the group"));
                    ended = true;
                    member.group.leave();
                    break;
                }
            }
        }
    }
}

struct Member {
    group: Group,
    out: Stdout,
    /// Why nothing can be written any more: a full disk, a reader that has gone. Then the member leaves.
    failed: Option<io::Error>,
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
                let text = shown(&m.body);
                let mark = if m.transitional { " (transitional)" } else { "" };
                self.tell(&format!("{}{mark}: {text}", m.from));
            }
            Event::View(view) => {
                let members: Vec<_> = view.members.iter().map(ToString::to_string).collect();
                self.tell(&format!("view {} of {}: {}", view.id, members.len(), members.join(" ")));
            }
            Event::Notice(text) => complain(format_args!("strata: {text}")),
            Event::Trace(text) => complain(format_args!("{text}")),
            Event::Stable(_) => {}
            Event::Left => {
                self.tell("left");
                return true;
            }
        }
        false
    }
}

/// To the standard error; where that can't be written the member goes on.
fn complain(line: std::fmt::Arguments) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// A contact's address: of several that a name has, the first of the family that this member is bound in.
fn resolved(contact: &str, bind: SocketAddr) -> anyhow::Result<SocketAddr> {
    let what = || format!("the contact {contact:?}: write an address or a name, and a port, such as 127.0.0.1:7000");
    let found: Vec<_> = contact.to_socket_addrs().with_context(what)?.collect();
    let same = found.iter().find(|a| a.is_ipv4() == bind.is_ipv4()).copied();
    same.with_context(|| {
        let family = if bind.is_ipv4() { "IPv4" } else { "IPv6" };
        format!("the contact {contact:?} has the addresses {found:?}, and this member is bound to {bind}: name one of {family}, or --bind to another")
    })
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
        let mut from = io::stdin().lock();
        while let Some(line) = line(&mut from, LINE).transpose() {
            let failed = line.is_err();
            if to.send(line).is_err() || failed {
                return;
            }
        }
    });
    lines
}

/// The next line without its end; none at the end of the input.
fn line(from: &mut impl BufRead, most: usize) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    from.take(most as u64 + 1).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() > most {
        return Err(io::Error::other(format!(
            "a line has more than {most} bytes, which is the most: cast it in parts"
        )));
    }
    Ok(Some(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_up_to_a_length() {
        let mut from = &b"one\n\n1234\nlast"[..];
        let lines: Vec<_> = std::iter::from_fn(|| line(&mut from, 4).unwrap()).collect();
        assert_eq!(lines, [&b"one"[..], b"", b"1234", b"last"]);
        for long in ["12345\n", "12345", "123456789"] {
            assert!(line(&mut long.as_bytes(), 4).unwrap_err().to_string().contains("more than 4 bytes"));
        }
    }
}
