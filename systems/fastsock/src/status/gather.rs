//! Reads `/proc`.

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::{End, Process, Said, Status};
use crate::config::{self, Config, Source, Who};
use crate::settings;
use crate::table::{HEAD, MAGIC, NAME, ROW, ROWS, Why};

/// The connections of this user.
///
/// # Errors
/// If `/proc` can't be read.
pub fn gather() -> Result<Status, String> {
    // SAFETY: asks for a number.
    let user = unsafe { libc::geteuid() };
    let mut ends = Vec::new();
    for name in ["/proc/self/net/tcp", "/proc/self/net/tcp6"] {
        let text = match fs::read_to_string(name) {
            Ok(text) => text,
            // A kernel without IPv6 has no table of it.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && Path::new("/proc/self").exists() => continue,
            Err(error) => return Err(format!("reading the connections in {name}: {error}; is /proc mounted?")),
        };
        ends.extend(text.lines().skip(1).filter_map(connection));
    }
    let (mut status, mut owners) = (Status::default(), HashMap::new());
    let wanted: HashMap<u64, ()> = ends.iter().map(|(_, inode)| (*inode, ())).collect();
    let processes = fs::read_dir("/proc").map_err(|error| format!("listing the processes in /proc: {error}"))?;
    for entry in processes.flatten() {
        let number = entry.file_name().to_str().and_then(|name| name.parse().ok());
        let mine = entry.metadata().is_ok_and(|about| about.uid() == user);
        if let (Some(number), true) = (number, mine) {
            process(number, &entry.path(), &wanted, &mut status, &mut owners);
        }
    }
    for (end, inode) in ends {
        let owned: Option<&(usize, i32, Option<Said>)> = owners.get(&inode);
        if end.user == user || owned.is_some() {
            let (owner, said) = owned.map_or((None, None), |&(at, fd, said)| (Some((at, fd)), said));
            status.ends.push(End { owner, said, ..end });
        } else {
            // Others' ends are looked at for whose they are alone.
            status.ends.push(end);
        }
    }
    Ok(status)
}

/// One established connection of the kernel's table, and its socket's number.
fn connection(line: &str) -> Option<(End, u64)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [here, there] = [words.get(1)?, words.get(2)?].map(|word| address(word));
    let established = *words.get(3)? == "01";
    let (user, inode) = (words.get(7)?.parse().ok()?, words.get(9)?.parse().ok()?);
    let end = End { here: here?, there: there?, user, owner: None, said: None };
    established.then_some((end, inode))
}

/// As the library names it: an IPv4 address mapped into IPv6 is an IPv4 address.
fn address(word: &str) -> Option<String> {
    let (ip, port) = word.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let part = |at: usize| u32::from_str_radix(ip.get(at..at + 8)?, 16).ok().map(u32::to_ne_bytes);
    let ip = match ip.len() {
        8 => IpAddr::V4(Ipv4Addr::from(part(0)?)),
        32 => {
            let mut bytes = [0; 16];
            for (i, to) in bytes.chunks_mut(4).enumerate() {
                to.copy_from_slice(&part(8 * i)?);
            }
            IpAddr::V6(Ipv6Addr::from(bytes)).to_canonical()
        }
        _ => return None,
    };
    Some(match ip {
        IpAddr::V4(ip) => format!("{ip}:{port}"),
        IpAddr::V6(_) => SocketAddr::new(ip, port).to_string(),
    })
}

type Owners = HashMap<u64, (usize, i32, Option<Said>)>;

/// One process, if it has one of the connections.
fn process(number: u32, at: &Path, wanted: &HashMap<u64, ()>, status: &mut Status, owners: &mut Owners) {
    let (mut sockets, mut table) = (Vec::new(), None);
    for entry in fs::read_dir(at.join("fd")).into_iter().flatten().flatten() {
        let Some(fd) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        let Ok(link) = fs::read_link(entry.path()) else { continue };
        let link = link.to_string_lossy();
        if let Some(inode) = link.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']')?.parse().ok()) {
            if wanted.contains_key(&inode) {
                sockets.push((inode, fd));
            }
        } else if link
            .strip_prefix("/memfd:")
            .is_some_and(|rest| rest.split(' ').next().map(str::as_bytes) == Some(NAME.to_bytes()))
        {
            table = read_table(&entry.path(), number).or(table);
        }
    }
    if sockets.is_empty() {
        return;
    }
    let place = status.processes.len();
    let (head, rows) = table.map_or((None, Vec::new()), |(version, memory, rows)| (Some((version, memory)), rows));
    for (inode, fd) in sockets {
        let said = rows.iter().find(|said| said.inode == inode as u32).copied();
        // Of several that share it the one that says something.
        let known = owners.entry(inode).or_insert((place, fd, said));
        if known.2.is_none() && said.is_some() {
            *known = (place, fd, said);
        }
    }
    let maps = fs::read(at.join("maps")).unwrap_or_default();
    let library = String::from_utf8_lossy(&maps)
        .lines()
        .any(|line| line.ends_with("/libfastsock.so") || line.ends_with("/libfastsock.so (deleted)"));
    let program = fs::read_link(at.join("exe")).ok();
    let program = program.map(|path| config::file_name(&path)).unwrap_or_default();
    let line = command_line(at);
    let config = of_process(at, &program, &line);
    status.processes.push(Process { number, program, command: command(&line), library, config, table: head });
}

/// What a process was begun with, each word with a zero behind it, as far as it is shown.
fn command_line(at: &Path) -> Vec<u8> {
    let mut line = Vec::new();
    // What could be read before an error is there all the same.
    let _ = fs::File::open(at.join("cmdline")).and_then(|file| file.take(4096).read_to_end(&mut line));
    line
}

/// The same in one line: the program's file name, and its arguments.
fn command(line: &[u8]) -> String {
    let words: Vec<_> = line.split(|&byte| byte == 0).map(String::from_utf8_lossy).collect();
    let name = config::file_name(Path::new(&*words[0]));
    // A program that writes something else there may write paths and blanks ("nginx: master process /usr/sbin/nginx").
    let name = if words[0].contains(' ') || name.is_empty() { words[0].to_string() } else { name };
    let all: Vec<&str> = std::iter::once(name.as_str()).chain(words[1..].iter().map(|word| &**word)).collect();
    all.join(" ").trim_end().to_owned()
}

/// What a process was told to do.
fn of_process(at: &Path, program: &str, line: &[u8]) -> Config {
    let text = fs::read(at.join("environ")).unwrap_or_default();
    let variables: HashMap<String, String> = text
        .split(|&byte| byte == 0)
        .filter_map(|entry| {
            let (name, value) = std::str::from_utf8(entry).ok()?.split_once('=')?;
            Some((name.to_owned(), value.to_owned()))
        })
        .collect();
    let user = fs::metadata(at).map_or(0, |about| about.uid());
    let first = String::from_utf8_lossy(line.split(|&byte| byte == 0).next().unwrap_or_default()).into_owned();
    let started = config::file_name(first.as_ref());
    of(|name| variables.get(name).cloned(), Who { program: [program.to_owned(), started], user, secure: false })
}

fn of(variable: impl Fn(&str) -> Option<String>, who: Who) -> Config {
    let mut sources = settings::texts(&config::files(&variable));
    sources.extend(config::of_environment(&variable));
    config::read(&sources, &who, &settings::account)
}

/// The settings as a program started from here would have them; or of these files alone.
pub fn here(files: &[String]) -> Config {
    // SAFETY: asks for a number.
    let who = Who { program: Default::default(), user: unsafe { libc::geteuid() }, secure: false };
    if files.is_empty() {
        return of(|name| std::env::var(name).ok(), who);
    }
    let mut sources = settings::texts(files);
    let absent = files.iter().filter(|name| !Path::new(name).exists());
    sources.extend(absent.map(|name| Source {
        name: name.clone(),
        missing: Some("there is no such file".to_owned()),
        ..Source::default()
    }));
    config::read(&sources, &who, &settings::account)
}

/// Version, memory and rows of a table that this process made itself.
fn read_table(path: &Path, number: u32) -> Option<(u32, u64, Vec<Said>)> {
    let mut bytes = Vec::new();
    // A copy, of no more than a table has: what is written meanwhile, or how long the file claims to be, does not matter.
    fs::File::open(path).ok()?.take((HEAD + ROW * ROWS) as u64).read_to_end(&mut bytes).ok()?;
    let word = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let long = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    if long(0)? != MAGIC || word(8)? != number {
        return None;
    }
    let row = |at: usize| {
        let mut counters = [0; 6];
        for (i, counter) in counters.iter_mut().enumerate() {
            *counter = long(at + 16 + 8 * i)?;
        }
        let said = Said { inode: word(at + 12)?, state: word(at + 4)?, why: Why::of(word(at + 8)?), counters };
        (said.state != 0).then_some(said)
    };
    let rows = (0..ROWS).filter_map(|i| row(HEAD + ROW * i)).collect();
    Some((word(12)?, long(16)?, rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Folder;

    #[test]
    fn a_line_of_the_kernels_table_is_read() {
        let line =
            "   0: 0100007F:1F90 0100007F:9C40 01 00000000:00000000 00:00000000 00000000  1000        0 12345 1 0 20 4";
        let (end, inode) = connection(line).unwrap();
        assert_eq!((end.here.as_str(), end.there.as_str()), ("127.0.0.1:8080", "127.0.0.1:40000"));
        assert_eq!((end.user, inode), (1000, 12345));
        assert_eq!(connection(&line.replace(" 01 ", " 0A ")), None);
        assert_eq!(address("00000000000000000000000001000000:0050").as_deref(), Some("[::1]:80"));
        assert_eq!(address("0000000000000000FFFF00000100007F:0050").as_deref(), Some("127.0.0.1:80"));
        for wrong in ["", ":", "0100007F", "0100007F:G", "01:1", "é00007F:1", "0100007:12"] {
            assert_eq!(address(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_command_is_a_name_and_its_arguments() {
        assert_eq!(command(b"/usr/bin/python3\0server.py\x00-p 1\0"), "python3 server.py -p 1");
        assert_eq!(
            command(b"nginx: master process /usr/sbin/nginx -c x\0\0\0"),
            "nginx: master process /usr/sbin/nginx -c x"
        );
        assert_eq!(command(b"\xff/\0a"), "\u{fffd} a");
        assert_eq!((command(b""), command(b"\0\0"), command(b"/\0")), (String::new(), String::new(), "/".to_owned()));
    }

    #[test]
    fn a_table_says_nothing_unless_it_is_whole_and_its_processes_own() {
        let folder = Folder::new("table");
        let path = folder.join("table");
        let mut bytes = vec![0_u8; HEAD + 2 * ROW];
        bytes[..8].copy_from_slice(&MAGIC.to_ne_bytes());
        bytes[8] = 77;
        bytes[12] = 3;
        bytes[HEAD + 4] = 2;
        bytes[HEAD + 8..HEAD + 12].copy_from_slice(&u32::MAX.to_ne_bytes());
        bytes[HEAD + 16] = 9;
        // The second row ends early.
        bytes[HEAD + ROW + 4] = 2;
        bytes.truncate(HEAD + 2 * ROW - 1);
        fs::write(&path, &bytes).unwrap();
        let (version, _, rows) = read_table(&path, 77).unwrap();
        assert_eq!((version, rows.len(), rows[0].why, rows[0].counters[0]), (3, 1, Why::None, 9));
        assert_eq!(read_table(&path, 78), None);
        fs::write(&path, &bytes[..12]).unwrap();
        assert_eq!(read_table(&path, 77), None);
        fs::write(&path, [0; 4096]).unwrap();
        assert_eq!(read_table(&path, 0), None);
    }
}
