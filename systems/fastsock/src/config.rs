//! What can be set: in `/etc/fastsock.conf`, in `fastsock/config` of the user's configuration folder, and in the environment, read in this
//! order. What is switched off anywhere is off; of anything else the last word counts. Pure: whoever calls has read the texts.
//!
//! A preloaded library has nobody to complain to, so a line that is wrong is left out and kept, for `fastsock check` and `fastsock status`.

use std::path::PathBuf;

/// One text and where it comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Source {
    pub name: String,
    pub text: String,
    /// Why there is no text, though there should be.
    pub missing: Option<String>,
}

/// Whose settings they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Who {
    /// File name of the program, and of what it was started as: a link has another.
    pub program: [String; 2],
    /// Effective user.
    pub user: u32,
    /// It runs with more rights than its starter has.
    pub secure: bool,
}

/// The file name at the end of a path, as a text; empty if there is none.
pub fn file_name(path: &std::path::Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Why nothing of a process becomes fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Off {
    Everything,
    Program,
    User,
    Secure,
}

/// How a call waits before it sleeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// It does not.
    Sleep,
    /// It always spins for the whole budget.
    Blind,
    /// It spins where that has paid of late and the peer is on another CPU.
    Guarded,
    /// The same, but it yields as it spins, and sleeps once that has given the CPU to somebody else.
    Yielding,
    /// As guarded, but it yields to a peer on its own CPU before it sleeps, where that has let the peer run and nobody else.
    Handing,
    /// Both of these.
    Polite,
}

/// What was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Nothing becomes fast.
    pub off: Option<Off>,
    /// Connections that end at one of these stay with the kernel.
    pub off_ports: Vec<u16>,
    /// While a process has one of these as its effective user, nothing becomes fast.
    pub off_users: Vec<u32>,
    /// Calls that move data before a connection may become fast.
    pub after: u32,
    /// How calls wait: all but the default are there to be measured.
    pub wait: Policy,
    /// Connections that both sides have closed may be used again.
    pub again: bool,
    /// Connections to one address after which some look for their peer at once.
    pub again_after: u32,
    /// The folder in which sides in different networks find each other.
    pub rendezvous: Option<PathBuf>,
    /// Bytes that the connections of a process, and of a user, may share with their peers.
    pub memory: u64,
    pub memory_of_user: u64,
    /// What is wrong, each with its place.
    pub wrong: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            off: None,
            off_ports: Vec::new(),
            off_users: Vec::new(),
            // What that costs is then less than a twentieth of what the connection has cost already.
            after: 1024,
            wait: Policy::Polite,
            again: true,
            again_after: 32,
            rendezvous: None,
            memory: 256 << 20,
            memory_of_user: 1 << 30,
            wrong: Vec::new(),
        }
    }
}

/// The variables of the environment, and the lines that they stand for.
pub const VARIABLES: [(&str, &str); 12] = [
    ("FASTSOCK", ""),
    ("FASTSOCK_OFF_PROGRAMS", "off program"),
    ("FASTSOCK_OFF_PORTS", "off port"),
    ("FASTSOCK_OFF_USERS", "off user"),
    ("FASTSOCK_AFTER", "after"),
    ("FASTSOCK_WAIT", "wait"),
    ("FASTSOCK_RECYCLE", "recycle"),
    ("FASTSOCK_RECYCLE_AFTER", "recycle-after"),
    ("FASTSOCK_RENDEZVOUS", "rendezvous"),
    ("FASTSOCK_MEMORY", "memory"),
    ("FASTSOCK_MEMORY_USER", "memory-user"),
    ("FASTSOCK_CONFIG", ""),
];

/// The environment as texts of one line each.
pub fn of_environment(variable: impl Fn(&str) -> Option<String>) -> Vec<Source> {
    let line = |(name, line): (&str, &str)| {
        let value = variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())?;
        let text = match (name, value.as_str()) {
            ("FASTSOCK_CONFIG", _) | ("FASTSOCK", "on" | "1") => return None,
            ("FASTSOCK", "0") => "off".to_owned(),
            ("FASTSOCK", other) => other.to_owned(),
            _ => format!("{line} {value}"),
        };
        Some(Source { name: name.to_owned(), text, missing: None })
    };
    VARIABLES.into_iter().filter_map(line).collect()
}

/// The files that are read.
pub fn files(variable: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let given = |name: &str| variable(name).filter(|value| !value.is_empty());
    if let Some(only) = given("FASTSOCK_CONFIG") {
        return vec![only];
    }
    let home = given("XDG_CONFIG_HOME").or_else(|| given("HOME").map(|home| format!("{home}/.config")));
    std::iter::once("/etc/fastsock.conf".to_owned()).chain(home.map(|home| format!("{home}/fastsock/config"))).collect()
}

/// The number of a user in a text of the form of passwd(5).
pub fn account(text: &str, name: &str) -> Option<u32> {
    let line = text.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|fields| fields[0] == name)?;
    line.get(2)?.parse().ok()
}

/// Reads them all. `account` tells the number of a user that is named.
pub fn read(sources: &[Source], who: &Who, account: &dyn Fn(&str) -> Option<u32>) -> Config {
    let mut config = Config { off: who.secure.then_some(Off::Secure), ..Config::default() };
    for source in sources {
        config.wrong.extend(source.missing.iter().map(|why| shown(&format!("{}: {why}", source.name))));
        for (number, line) in source.text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            if let Err(why) = one(&mut config, line, who, account) {
                config.wrong.push(shown(&format!("{}:{}: '{line}': {why}", source.name, number + 1)));
            }
        }
    }
    config
}

/// A message with what somebody else wrote in it, as a terminal may get it.
fn shown(text: &str) -> String {
    plain(text, 240)
}

/// A text of somebody else's, as a terminal may get it: so many of its signs at most, and nothing in it that is no plain one.
pub fn plain(text: &str, most: usize) -> String {
    let plain = |c: char| c == ' ' || !(c.is_control() || c.is_whitespace() || c.escape_debug().len() > 2);
    let mut out: String = text
        .chars()
        .take(most)
        .flat_map(|c| if plain(c) { vec![c] } else { c.escape_default().collect::<Vec<char>>() })
        .collect();
    if text.chars().nth(most).is_some() {
        out.push_str("...");
    }
    out
}

type Account<'a> = &'a dyn Fn(&str) -> Option<u32>;

fn one(config: &mut Config, line: &str, who: &Who, account: Account<'_>) -> Result<(), String> {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    match word {
        "off" if rest.is_empty() => config.off = config.off.or(Some(Off::Everything)),
        "off" => return off(config, rest, who, account),
        "after" => config.after = count(rest)?,
        "wait" => {
            config.wait = match rest {
                "sleep" => Policy::Sleep,
                "blind" => Policy::Blind,
                "guarded" => Policy::Guarded,
                "yielding" => Policy::Yielding,
                "handing" => Policy::Handing,
                "polite" => Policy::Polite,
                _ => return Err("'wait' is followed by sleep, blind, guarded, yielding, handing or polite".to_owned()),
            }
        }
        "recycle-after" => config.again_after = count(rest)?,
        "recycle" => {
            config.again = match rest {
                "on" | "1" => true,
                "off" | "0" => false,
                _ => return Err("'recycle' is followed by 'on' or 'off'".to_owned()),
            }
        }
        "rendezvous" => config.rendezvous = folder(rest)?,
        "memory" => config.memory = bytes(rest)?,
        "memory-user" => config.memory_of_user = bytes(rest)?,
        _ => {
            return Err(
                "a line begins with off, after, wait, recycle, recycle-after, rendezvous, memory or memory-user"
                    .to_owned(),
            );
        }
    }
    Ok(())
}

fn off(config: &mut Config, rest: &str, who: &Who, account: Account<'_>) -> Result<(), String> {
    let (kind, list) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let items: Vec<&str> = list.split(',').map(str::trim).filter(|item| !item.is_empty()).collect();
    if items.is_empty() {
        return Err(format!("'off' stands alone, or before program, port or user and a list; here '{rest}' follows"));
    }
    match kind {
        "program" => {
            if who.program.iter().any(|name| !name.is_empty() && items.contains(&name.as_str())) {
                config.off = config.off.or(Some(Off::Program));
            }
        }
        // Those that are right are off all the same: off is the safe side.
        "port" => {
            for item in &items {
                config.off_ports.extend(item.parse::<u16>().ok().filter(|&port| port != 0));
            }
            if let Some(item) = items.iter().find(|item| item.parse::<u16>().is_ok_and(|port| port != 0).eq(&false)) {
                return Err(format!("a port is a number from 1 to 65535, '{item}' is not"));
            }
        }
        "user" => {
            let number = |item: &str| item.parse::<u32>().ok().or_else(|| account(item));
            config.off_users.extend(items.iter().filter_map(|item| number(item)));
            if config.off_users.contains(&who.user) {
                config.off = config.off.or(Some(Off::User));
            }
            if let Some(item) = items.iter().find(|item| number(item).is_none()) {
                return Err(format!(
                    "a user is a number, or a name of /etc/passwd ('id -u NAME' tells the numbers of others), '{item}' is neither"
                ));
            }
        }
        _ => return Err(format!("program, port or user follows 'off', not '{kind}'")),
    }
    Ok(())
}

fn count(text: &str) -> Result<u32, String> {
    text.parse().ok().filter(|&count| count != 0).ok_or_else(|| format!("a number from 1 on follows, not '{text}'"))
}

/// Bytes of a folder's path: the names of sockets in it have 108 at most.
const PATH: usize = 64;

/// A folder's path, or none.
fn folder(text: &str) -> Result<Option<PathBuf>, String> {
    match text {
        "off" => Ok(None),
        _ if text.starts_with('/') && text.len() <= PATH => Ok(Some(text.into())),
        _ => Err(format!(
            "'rendezvous' is followed by 'off' or by a folder's path that begins with / and has {PATH} bytes at most"
        )),
    }
}

/// Bytes: a number, alone or with KiB, MiB or GiB.
fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let unit = match text[digits..].trim() {
        "" => Some(1),
        "KiB" => Some(1_u64 << 10),
        "MiB" => Some(1 << 20),
        "GiB" => Some(1 << 30),
        _ => None,
    };
    let number: Option<u64> = text[..digits].parse().ok();
    number
        .zip(unit)
        .and_then(|(number, unit)| number.checked_mul(unit))
        .ok_or_else(|| format!("a number of bytes follows, such as 4096, 64 MiB or 1 GiB, not '{text}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn who() -> Who {
        Who { program: ["server".to_owned(), "link".to_owned()], user: 7, secure: false }
    }

    fn named(name: &str) -> Option<u32> {
        account("root:x:0:0::/root:/bin/sh\nseven:x:7:7::/:\n:x:\nbroken\n", name)
    }

    fn config(text: &str) -> Config {
        read(&[Source { name: "file".to_owned(), text: text.to_owned(), missing: None }], &who(), &named)
    }

    #[test]
    fn every_setting_is_read_and_comments_are_not() {
        let read = config(
            "# all\n\nafter 5 # calls\nwait sleep\nrecycle off\nrecycle-after 9\nrendezvous /run/fast\nmemory 3 MiB\nmemory-user 2GiB\noff port 80,443\n",
        );
        let expected = Config {
            after: 5,
            wait: Policy::Sleep,
            again: false,
            again_after: 9,
            rendezvous: Some("/run/fast".into()),
            memory: 3 << 20,
            memory_of_user: 2 << 30,
            off_ports: vec![80, 443],
            ..Config::default()
        };
        assert_eq!(read, expected);
    }

    #[test]
    fn what_is_told_of_a_line_is_short_and_plain() {
        let long = format!("wait \u{1b}[2J\u{202e}{}", "x".repeat(30_000));
        let wrong = config(&long).wrong.remove(0);
        assert!(wrong.len() < 300 && wrong.ends_with("..."), "{wrong}");
        assert!(wrong.starts_with("file:1: 'wait \\u{1b}[2J\\u{202e}xx"), "{wrong}");
    }

    #[test]
    fn each_switch_is_for_whom_it_names() {
        assert_eq!(config("off").off, Some(Off::Everything));
        assert_eq!(config("off program other, server").off, Some(Off::Program));
        assert_eq!(config("off program link").off, Some(Off::Program));
        assert_eq!(config("off program other").off, None);
        assert_eq!(config("off user 6,7").off, Some(Off::User));
        assert_eq!(config("off user 6").off, None);
        assert_eq!(config("off user root, seven").off, Some(Off::User));
        assert_eq!((config("off user root").off, config("off user root, 9").off_users), (None, vec![0, 9]));
        assert_eq!(read(&[], &Who { secure: true, ..who() }, &named).off, Some(Off::Secure));
    }

    #[test]
    fn a_wrong_line_is_told_with_its_place_and_the_others_count() {
        let read = config(
            "after\nafter many\nof\noff ports 80\noff port 80,x\noff user nobody, broken\nmemory 3 MB\nrecycle\nafter 6",
        );
        assert_eq!((read.after, read.off, &read.off_ports[..]), (6, None, &[80][..]));
        assert_eq!(read.wrong.len(), 8, "{:#?}", read.wrong);
        assert!(read.wrong[4].starts_with("file:5: 'off port 80,x': a port is a number"), "{}", read.wrong[4]);
        assert!(read.wrong[6].contains("64 MiB"));
        assert_eq!(config("memory 99999999999999999999").wrong.len(), 1);
        for text in ["rendezvous", "rendezvous here", &format!("rendezvous /{}", "x".repeat(64))] {
            assert!(config(text).wrong.len() == 1 && config(text).rendezvous.is_none(), "{text}");
        }
        assert_eq!(config("rendezvous /a b\nrendezvous off").rendezvous, None);
        assert_eq!(config("memory 18446744073709551615 GiB").wrong.len(), 1);
    }

    #[test]
    fn the_environment_has_the_last_word_but_off_stays_off() {
        let of = |name: &str| match name {
            "FASTSOCK" => Some("on".to_owned()),
            "FASTSOCK_AFTER" => Some("8".to_owned()),
            "FASTSOCK_OFF_PORTS" => Some("x".to_owned()),
            _ => None,
        };
        let mut sources = vec![Source { name: "file".to_owned(), text: "off\nafter 3".to_owned(), missing: None }];
        sources.extend(of_environment(of));
        let read = read(&sources, &who(), &named);
        assert_eq!((read.off, read.after), (Some(Off::Everything), 8));
        assert!(read.wrong[0].starts_with("FASTSOCK_OFF_PORTS:1:"), "{:?}", read.wrong);
        assert_eq!(config("").wrong, Vec::<String>::new());
    }

    #[test]
    fn files_are_the_systems_and_the_users_or_the_one_that_is_named() {
        let home = |name: &str| (name == "HOME").then(|| "/home/x".to_owned());
        assert_eq!(files(home), ["/etc/fastsock.conf", "/home/x/.config/fastsock/config"]);
        let xdg = |name: &str| (name == "XDG_CONFIG_HOME").then(|| "/c".to_owned());
        assert_eq!(files(xdg), ["/etc/fastsock.conf", "/c/fastsock/config"]);
        assert_eq!(files(|name| (name == "FASTSOCK_CONFIG").then(|| "/one".to_owned())), ["/one"]);
    }

    #[test]
    fn any_text_is_read_without_a_panic() {
        for seed in 0..2000_u64 {
            let mut state = seed;
            let text: String = (0..40)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    ["off", " ", "\n", "port", ",", "9", "user", "é", "#", "memory", "KiB", "after"]
                        [(state >> 33) as usize % 12]
                })
                .collect();
            config(&text);
        }
    }
}
