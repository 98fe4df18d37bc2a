//! Connections between two networks of one host: fast where both sides have the library, a folder that only their user enters, and the proof that they are the two
//! ends of one connection; right everywhere.

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use common::folder::Folder;
use common::networks::{ADDRESSES, ADDRESSES_OF_6, Networks};
use common::programs::installed;
use common::{Built, built};

/// Lines there and back: many more calls than the two sides need to find each other.
const LINES: u32 = 1500;

/// What a pair of programs has.
struct Setting<'a> {
    built: &'a Built,
    networks: &'a Networks,
    addresses: [&'a str; 2],
    /// The client's. One that was used just now can't connect again.
    port: u16,
    /// Which side has the library.
    library: [bool; 2],
    folder: Option<&'a Path>,
    /// What runs the programs (setpriv).
    under: &'a [&'a str],
    word: &'a str,
    told: &'a Path,
}

impl<'a> Setting<'a> {
    /// Both sides have all.
    fn new(built: &'a Built, networks: &'a Networks, folder: &'a Path, told: &'a Path, word: &'a str) -> Self {
        let (port, folder) = (port(), Some(folder));
        Self { built, networks, addresses: ADDRESSES, port, library: [true; 2], folder, under: &[], word, told }
    }
}

impl Setting<'_> {
    fn start(&self, at: usize, more: &[&str]) -> Child {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/common/across.py");
        let mut preload = self.built.witness.display().to_string();
        if self.library[at] {
            preload += &format!(":{}", self.built.library.display());
        }
        let mut command = self.networks.command(at, "env");
        command.args(["FASTSOCK_AFTER=2", "WITNESS_PORT=7000", &format!("LD_PRELOAD={preload}")]);
        command.arg(format!("WITNESS={}", self.witness(at).display()));
        command.args(self.folder.map(|folder| format!("FASTSOCK_RENDEZVOUS={}", folder.display())));
        command.args(self.under).arg("python3").arg(script).args([["server", "client"][at]]);
        let [server, client] =
            [(self.addresses[0], 7000), (self.addresses[1], self.port)].map(|(ip, port)| format!("{ip}:{port}"));
        command.args(if at == 0 { [&server, &client] } else { [&client, &server] });
        command.args([self.word, &LINES.to_string()]).args(more);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn witness(&self, at: usize) -> PathBuf {
        self.told.join(format!("{}-{at}", self.word))
    }

    /// Begins both; they have connected once the client says how many lines came back.
    fn both(&self, more: &[&str]) -> [Child; 2] {
        let mut server = self.start(0, &[]);
        assert_eq!(line(&mut server), "listens\n", "{}", rest(server));
        [server, self.start(1, more)]
    }

    /// Whether the connection was fast on each side.
    fn fast(&self) -> [bool; 2] {
        [0, 1].map(|at| fs::read_to_string(self.witness(at)).unwrap().contains("fast"))
    }
}

fn line(child: &mut Child) -> String {
    let mut line = String::new();
    let mut one = BufReader::with_capacity(1, child.stdout.as_mut().unwrap());
    one.read_line(&mut line).unwrap();
    line
}

fn rest(mut child: Child) -> String {
    let _ = child.kill();
    let mut said = String::new();
    let _ = child.stderr.take().unwrap().read_to_string(&mut said);
    let _ = child.wait();
    said
}

/// Both end well, with all lines.
fn ended(sides: [Child; 2]) {
    for side in sides {
        let out = side.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&out.stdout).into_owned();
        assert!(said.ends_with(&format!("{LINES} lines\n")), "{said}{}", String::from_utf8_lossy(&out.stderr));
    }
}

/// One that no other connection has.
fn port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(7001);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn entries(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

/// A folder of a mode, and one for what is told.
fn folders(mode: u32) -> [Folder; 2] {
    let folders = ["shared", "told"].map(|name| Folder::new(&format!("{name}{}", port())));
    fs::set_permissions(&*folders[0], fs::Permissions::from_mode(mode)).unwrap();
    folders
}

/// What the tests need; none, having said what is missing.
fn all() -> Option<(&'static Built, Networks)> {
    let built = built()?;
    if !installed("python3", "--version") {
        return None;
    }
    Some((built, Networks::make()?))
}

#[test]
fn a_connection_between_two_networks_is_fast_where_both_sides_share_a_folder_of_their_users() {
    let Some((built, networks)) = all() else { return };
    for (mode, named, library, fast) in [
        (0o700, true, [true, true], true),
        (0o700, false, [true, true], false),
        (0o755, true, [true, true], false),
        (0o700, true, [true, false], false),
        (0o700, true, [false, true], false),
    ] {
        let [folder, told] = folders(mode);
        let base = Setting::new(built, &networks, &folder, &told, "a");
        let setting = Setting { library, folder: base.folder.filter(|_| named), ..base };
        ended(setting.both(&[]));
        assert_eq!(setting.fast(), [fast; 2], "{mode:o}, named: {named}, {library:?}");
        assert_eq!(entries(&folder), 0, "{mode:o}, named: {named}, {library:?}");
    }
    let [folder, told] = folders(0o700);
    if networks.command(0, "ip").args(["-6", "address", "show", "dev", "cable"]).output().unwrap().stdout.is_empty() {
        println!("skipped: there is no IPv6");
    } else {
        let setting = Setting { addresses: ADDRESSES_OF_6, ..Setting::new(built, &networks, &folder, &told, "six") };
        ended(setting.both(&[]));
        assert_eq!(setting.fast(), [true; 2], "IPv6");
    }
    // Who may not look at packets has no proof.
    let under = ["setpriv", "--bounding-set=-net_raw"];
    if !Command::new("setpriv").args([under[1], "true"]).status().is_ok_and(|ran| ran.success()) {
        return println!("skipped: setpriv takes no capability away here");
    }
    let setting = Setting { under: &under, ..Setting::new(built, &networks, &folder, &told, "bound") };
    ended(setting.both(&[]));
    assert_eq!(setting.fast(), [false; 2], "without CAP_NET_RAW");
}

#[test]
fn two_pairs_with_the_same_addresses_and_ports_are_not_taken_for_each_other() {
    let Some((built, networks)) = all() else { return };
    let Some(alike) = Networks::make() else { return };
    let [folder, told] = folders(0o700);
    for round in 0..4 {
        let port = port();
        let words = [format!("first{round}"), format!("second{round}")];
        let settings = [(&networks, &words[0]), (&alike, &words[1])]
            .map(|(networks, word)| Setting { port, ..Setting::new(built, networks, &folder, &told, word) });
        // Both at once. A line of the other pair's ends a program with an error.
        let pairs = [settings[0].both(&[]), settings[1].both(&[])];
        pairs.into_iter().for_each(ended);
        for setting in &settings {
            let [server, client] = setting.fast();
            assert_eq!(server, client, "{}", setting.word);
        }
        assert_eq!(entries(&folder), 0);
    }
}

#[test]
fn an_offer_of_another_connection_with_the_same_addresses_and_ports_is_refused() {
    let Some((built, networks)) = all() else { return };
    let Some(alike) = Networks::make() else { return };
    let [folder, told] = folders(0o700);
    // A client that waits to be found, and whose server has no library.
    let waits = Setting { library: [false, true], ..Setting::new(built, &networks, &folder, &told, "waits") };
    let mut waiting = waits.both(&["pauses"]);
    assert_eq!((line(&mut waiting[1]).as_str(), entries(&folder)), ("pauses\n", 1));
    // A server that looks for its client, which has no library, and finds that one.
    let looks = Setting::new(built, &alike, &folder, &told, "looks");
    let looks = Setting { library: [true, false], port: waits.port, ..looks };
    let mut looking = looks.both(&["pauses"]);
    assert_eq!(line(&mut looking[1]), "pauses\n");
    // Each goes on in turn: it could take the offer, then the other could believe that it was taken.
    for pair in [&mut waiting, &mut looking] {
        pair[1].stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        assert_eq!(line(&mut pair[1]), "pauses\n");
    }
    for mut pair in [waiting, looking] {
        pair[1].stdin.take().unwrap().write_all(b"\n").unwrap();
        ended(pair);
    }
    assert_eq!((waits.fast(), looks.fast(), entries(&folder)), ([false; 2], [false; 2], 0));
}

#[test]
fn what_a_killed_process_leaves_in_the_folder_goes_with_the_next() {
    let Some((built, networks)) = all() else { return };
    let [folder, told] = folders(0o700);
    let setting = |library, word| Setting { library, ..Setting::new(built, &networks, &folder, &told, word) };
    // One whose peer has no library waits to be found.
    let [server, mut client] = setting([false, true], "left").both(&["stays"]);
    assert_eq!(line(&mut client), format!("{LINES} lines\n"));
    assert_eq!(entries(&folder), 1);
    client.kill().unwrap();
    client.wait().unwrap();
    assert_eq!(entries(&folder), 1, "a killed process removes nothing");
    drop(server.wait_with_output());
    // Another name than the next one's, so that it is the sweep that removes it.
    let left = fs::read_dir(&*folder).unwrap().next().unwrap().unwrap().path();
    fs::rename(&left, folder.join("fastsock-of-another")).unwrap();
    let next = setting([true; 2], "next");
    ended(next.both(&[]));
    assert_eq!((next.fast(), entries(&folder)), ([true; 2], 0));
}

#[test]
fn either_side_of_a_connection_between_networks_ends_when_the_other_is_killed() {
    let Some((built, networks)) = all() else { return };
    let [folder, told] = folders(0o700);
    let setting = Setting::new(built, &networks, &folder, &told, "killed");
    let [mut server, mut client] = setting.both(&["stays"]);
    assert_eq!(line(&mut client), format!("{LINES} lines\n"));
    client.kill().unwrap();
    client.wait().unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while server.try_wait().unwrap().is_none() {
        assert!(Instant::now() < until, "the server does not learn that its peer was killed");
        std::thread::sleep(Duration::from_millis(5));
    }
    ended_server(server);
    assert!(fs::read_to_string(setting.witness(0)).unwrap().contains("fast"));
    assert_eq!(entries(&folder), 0);
}

fn ended_server(server: Child) {
    let out = server.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&out.stdout), format!("{LINES} lines\n"));
}
