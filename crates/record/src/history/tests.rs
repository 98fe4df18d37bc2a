use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::process::Command;

use measure::Pattern;
use measure::earlier::EarlierRun;
use measure::topology::{MemberOpened, Role};
use tempfile::TempDir;

use super::*;
use crate::sample;

fn key() -> Key {
    Key::of(&sample::run(Pattern::PingPong), &sample::opened(0, transport::tcp::NAME))
}

fn run(day: usize) -> Kept {
    let points = (1..=200).map(|i| (i, 1.2345e-6 * i as f64));
    let run = EarlierRun::new(format!("2026-01-{day:02}T10:00:00Z"), points).unwrap();
    Kept { run, seconds: 12.0, rounds: 10 }
}

fn folder() -> (TempDir, Folder) {
    let dir = TempDir::new().unwrap();
    let folder = Folder::at(dir.path().join("a/history"));
    (dir, folder)
}

#[test]
fn a_run_that_was_kept_is_found_by_the_next() {
    let (_dir, folder) = folder();
    assert_eq!(folder.earlier(&key()).unwrap(), Found::default());
    folder.keep(&key(), run(1)).unwrap();
    folder.keep(&key(), run(2)).unwrap();
    assert_eq!(folder.earlier(&key()).unwrap().runs, [run(1), run(2)]);
    let listing = folder.list();
    assert!(listing.notes.is_empty() && listing.paths.len() == 1 && listing.paths[0].key == key());
    assert_eq!(listing.paths[0].spread().unwrap().degrees, 1.0);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(folder.path()), mode(&folder.path().join(key().file()))), (0o700, 0o600));
}

#[test]
fn each_host_that_takes_part_tells_runs_apart() {
    let of = |role: Role, hosts: &[&str]| {
        let mut path = sample::opened(0, transport::tcp::NAME);
        path.members.extend(hosts.iter().map(|host| MemberOpened {
            role,
            host: (*host).to_owned(),
            environment: Some(Box::default()),
            ..MemberOpened::default()
        }));
        Key::of(&sample::run(Pattern::PingPong), &path)
    };
    for role in [Role::Near, Role::Far] {
        let keys = [of(role, &[]), of(role, &["b"]), of(role, &["c"]), of(role, &["b", "c"])];
        assert!((0..4).all(|i| keys[..i].iter().all(|other| *other != keys[i])), "{role:?}");
    }
    assert_eq!(of(Role::Far, &["far"]), key(), "the first of its side");
    assert_ne!(of(Role::Near, &["b"]), of(Role::Far, &["b"]));
}

#[test]
fn other_paths_of_the_same_hosts_tell_how_far_runs_lie_apart() {
    let (_dir, folder) = folder();
    assert!(folder.others(&key()).is_empty());
    let of = |name: transport::Name, host: &str| {
        let mut run = sample::run(Pattern::PingPong);
        run.near.hostname = host.into();
        Key::of(&run, &sample::opened(0, name))
    };
    let here = sample::run(Pattern::PingPong).near.hostname;
    let at = |day: usize, level: f64| {
        let mut kept = run(day);
        kept.run.points.iter_mut().for_each(|(_, t)| *t *= level);
        kept
    };
    for (day, level) in [(1, 1.0), (2, 1.2), (3, 1.1)] {
        folder.keep(&key(), at(day, level)).unwrap();
        folder.keep(&of(transport::unix::NAME, &here), at(day, level)).unwrap();
        folder.keep(&of(transport::udp::NAME, "elsewhere"), at(day, level)).unwrap();
    }
    folder.keep(&of(transport::udp::NAME, &here), at(1, 1.0)).unwrap();
    let found = folder.others(&key());
    assert!(found.len() == 1 && found[0].runs == 3 && (found[0].spread - 0.0913).abs() < 0.001, "{found:?}");
}

#[test]
fn of_many_paths_those_that_were_measured_last_tell_how_far_runs_lie_apart() {
    let (_dir, folder) = folder();
    let of = |n: usize, host: &str| {
        let mut run = sample::run(Pattern::PingPong);
        run.near.hostname = host.into();
        run.plan.sizes = Some(vec![n as u64]);
        Key::of(&run, &sample::opened(0, transport::unix::NAME))
    };
    let here = sample::run(Pattern::PingPong).near.hostname;
    let twice = |key: &Key| [1, 2].iter().for_each(|day| folder.keep(key, run(*day)).unwrap());
    let past = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    for n in 1..=64 {
        let key = of(n, "elsewhere");
        twice(&key);
        fs::File::open(folder.path().join(key.file())).unwrap().set_modified(past).unwrap();
    }
    twice(&of(1, &here));
    assert_eq!(folder.others(&key()).len(), 1);
}

#[test]
fn what_changes_figures_is_another_path_and_what_changes_effort_is_not() {
    let (near, path) = (sample::run(Pattern::PingPong), sample::opened(0, transport::tcp::NAME));
    let same = |change: &dyn Fn(&mut measure::event::Run, &mut measure::event::PathOpened)| {
        let (mut run, mut opened) = (near.clone(), path.clone());
        change(&mut run, &mut opened);
        let other = Key::of(&run, &opened);
        assert_eq!(other == key(), other.id() == key().id());
        other == key()
    };
    assert!(same(&|r, _| (r.plan.budget, r.plan.seed, r.plan.to) = (1.0, 99, 64)));
    assert!(same(&|r, _| (r.plan.precision, r.plan.sizes, r.plan.trials) = (0.5, Some(vec![1]), Some(2))));
    assert!(same(&|r, _| r.plan.precise = !r.plan.precise));
    assert!(same(&|r, _| (r.near.load, r.plan.paths) = (None, measure::event::plain(&[transport::tcp::NAME]))));
    assert!(same(&|_, p| p.near_effective.addresses = Some("another port".into())));
    assert!(!same(&|r, _| r.plan.pin = None));
    assert!(!same(&|r, _| r.plan.paths[0].settings.set("sockbuf", 4096u64)));
    assert!(!same(&|r, _| r.plan.paths[0].settings.set("nodelay", false)));
    assert!(!same(&|r, _| (r.plan.response, r.plan.burst) = (7, 8)));
    assert!(!same(&|r, _| r.plan.rate = Some(10.0)));
    assert!(!same(&|r, _| r.plan.reverse = true));
    assert!(!same(&|r, _| r.plan.both = true));
    assert!(!same(&|r, _| r.plan.paths.iter_mut().for_each(|p| p.flows = 2)));
    assert!(!same(&|r, _| r.plan.offered = Some(1e8)));
    assert!(!same(&|r, _| r.plan.paths[0].offered = Some(1e8)));
    assert!(!same(&|r, _| r.plan.check = true));
    assert!(!same(&|r, _| r.plan.cache = measure::Cache::Cold));
    assert!(!same(&|r, _| r.plan.pattern = Pattern::Stream));
    assert!(!same(&|r, _| r.plan.schedule = measure::event::Schedule::Netpipe));
    assert!(!same(&|r, _| r.near.hostname = "another".into()));
    assert!(!same(&|r, _| r.near.cpu = Some("another".into())));
    assert!(!same(&|_, p| p.far.as_mut().unwrap().hostname = "another".into()));
    assert!(!same(&|_, p| p.far = None));
    assert!(!same(&|_, p| p.transport = transport::unix::NAME));
    assert!(!same(&|_, p| p.near_effective.congestion = Some("bbr".into())));
    assert!(!Key::kept(transport::theory::NAME) && Key::kept(transport::shm::NAME));
}

#[test]
fn the_oldest_runs_and_the_oldest_files_leave() {
    let (_dir, folder) = folder();
    for day in 1..=35 {
        folder.keep(&key(), run(day)).unwrap();
    }
    let kept = folder.earlier(&key()).unwrap().runs;
    assert_eq!((kept.len(), &kept[0], &kept[29]), (EarlierRun::MOST, &run(6), &run(35)));
    // Twelve files of 1.5 MiB are more than is kept; the one that was just added stays.
    for i in 0..12 {
        let old = folder.path().join(format!("tcp-ping-pong-{i:016x}.jsonl"));
        fs::write(&old, vec![b' '; 3 << 19]).unwrap();
    }
    folder.keep(&key(), run(36)).unwrap();
    let bytes: u64 = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().metadata().unwrap().len()).sum();
    assert!(bytes <= 16 << 20, "{bytes}");
    assert_eq!(folder.earlier(&key()).unwrap().runs.last(), Some(&run(36)));
}

#[test]
fn runs_that_end_at_once_all_leave_their_entry() {
    let (_dir, folder) = folder();
    std::thread::scope(|scope| {
        for day in 1..=8 {
            let folder = &folder;
            scope.spawn(move || folder.keep(&key(), run(day)).unwrap());
        }
    });
    assert_eq!(folder.earlier(&key()).unwrap().runs.len(), 8);
}

#[test]
fn damaged_entries_are_left_out_and_a_killed_writer_leaves_the_file_as_it_was() {
    let (_dir, folder) = folder();
    folder.keep(&key(), run(1)).unwrap();
    let path = folder.path().join(key().file());
    let mut text = fs::read_to_string(&path).unwrap();
    let nested = "[".repeat(100_000);
    let bad = run(2);
    let mut far = bad.clone();
    far.run.started = "\u{1b}]0;owned\u{7}".into();
    for line in ["not JSON", "{}", &nested, r#"{"started":"x","seconds":1e999,"rounds":-1,"points":[[1,1e-6]]}"#] {
        text.push_str(&format!("{line}\n"));
    }
    text.push_str(&format!("{}\n", serde_json::to_string(&far).unwrap()));
    text.push_str(&format!("{}\n", serde_json::to_string(&bad).unwrap()));
    let mut text = text.into_bytes();
    text.extend(b"{\"started\":\"\xff\xfe\"}\n");
    text.extend(br#"{"started":"2026-01-03T"#);
    fs::write(&path, &text).unwrap();
    fs::write(path.with_extension("part"), "half of a file").unwrap();
    let found = folder.earlier(&key()).unwrap();
    assert_eq!((found.runs.len(), found.damaged), (2, 7));
    let said = folder.damage(&key(), &found).unwrap();
    assert!(said.starts_with(path.to_str().unwrap()) && said.contains("7 lines are no runs"), "{said}");
    assert_eq!(folder.list().notes, [said]);
    // Copies of a run are no evidence of how runs differ.
    let mut copied = text.clone();
    copied.push(b'\n');
    for _ in 0..20 {
        copied.extend(format!("{}\n", serde_json::to_string(&bad).unwrap()).into_bytes());
    }
    fs::write(&path, &copied).unwrap();
    assert_eq!(folder.earlier(&key()).unwrap().runs.len(), 2);
    fs::write(&path, &text).unwrap();
    folder.keep(&key(), run(4)).unwrap();
    let healed = folder.earlier(&key()).unwrap();
    assert_eq!((healed.runs.len(), healed.damaged), (3, 0));
    assert!(!path.with_extension("part").exists());
}

#[test]
fn whatever_lies_in_the_place_of_a_file_neither_holds_nor_is_replaced() {
    let (dir, folder) = folder();
    folder.keep(&key(), run(1)).unwrap();
    let path = folder.path().join(key().file());
    let refused = |word: &str| {
        for said in [folder.earlier(&key()).unwrap_err(), folder.keep(&key(), run(2)).unwrap_err()] {
            assert!(said.to_string().contains(word), "{word}: {said}");
        }
        assert_eq!(folder.list().notes.len(), 1, "{word}");
    };
    fs::remove_file(&path).unwrap();
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    refused("no regular file");
    assert!(fs::symlink_metadata(&path).unwrap().file_type().is_fifo());
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    refused("no regular file");
    fs::remove_dir(&path).unwrap();
    symlink(dir.path().join("elsewhere"), &path).unwrap();
    refused("no regular file");
    fs::remove_file(&path).unwrap();
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    refused("larger than 2 MiB");
    fs::write(&path, r#"{"schema":"pipegauge-history-file/2","key":7}"#).unwrap();
    refused("later version");
    fs::write(&path, r#"{"schema":"pipegauge-history-file/2","key":{}}"#).unwrap();
    refused("later version");
    fs::write(&path, "{\"schema\":\"pipegauge-history-file/1\",\"key\":7}").unwrap();
    refused("no history of the path");
    fs::write(&path, b"\xff\xfe{\"schema\":").unwrap();
    refused("no history of the path");
    fs::write(&path, "").unwrap();
    refused("no history of the path");
    fs::write(&path, vec![b'['; 1 << 20]).unwrap();
    refused("no history of the path");
    fs::remove_file(&path).unwrap();
    let lock = folder.path().join("lock");
    fs::remove_file(&lock).unwrap();
    assert!(Command::new("mkfifo").arg(&lock).status().unwrap().success());
    assert!(folder.keep(&key(), run(2)).unwrap_err().to_string().contains("lock is no regular file"));
}

#[test]
fn a_lock_that_is_held_is_waited_for_a_moment_only() {
    let (_dir, folder) = folder();
    folder.keep(&key(), run(1)).unwrap();
    let held = open::lock(&folder.path().join("lock")).unwrap();
    assert!(matches!(folder.keep(&key(), run(2)), Err(HistoryError::Locked(_))));
    // A run that adds to a path while it is forgotten would bring back what was to go.
    assert!(matches!(folder.clear(), Err(HistoryError::Locked(_))));
    let listed = folder.list().paths;
    assert!(matches!(folder.remove(&listed), Err(HistoryError::Locked(_))));
    assert_eq!(folder.earlier(&key()).unwrap().runs, [run(1)], "nothing is gone");
    drop(held);
    folder.keep(&key(), run(2)).unwrap();
    assert_eq!(folder.clear().unwrap(), 1);
}

#[test]
fn a_listing_tells_of_the_first_odd_files_and_counts_the_others() {
    let (_dir, folder) = folder();
    folder.keep(&key(), run(1)).unwrap();
    for i in 0..100 {
        fs::write(folder.path().join(format!("tcp-ping-pong-{i:016x}.jsonl")), "damaged").unwrap();
    }
    let notes = folder.list().notes;
    assert_eq!(notes.len(), 21, "{notes:?}");
    assert!(notes[20].contains("and 80 more such files"), "{}", notes[20]);
}

#[test]
fn what_is_said_of_damaged_lines_counts_the_good_ones() {
    let (_dir, folder) = folder();
    let said = |good: usize, damaged: usize| {
        let found = Found { runs: (1..=good).map(run).collect(), damaged };
        folder.damage(&key(), &found)
    };
    assert_eq!(said(3, 0), None, "nothing is wrong");
    let none = said(0, 1).unwrap();
    assert!(none.contains("1 line is no run and is left out") && !none.contains("good"), "{none}");
    let one = said(1, 2).unwrap();
    assert!(one.contains("2 lines are no runs and are left out") && one.contains("the good one is used, and"), "{one}");
    let two = said(2, 1).unwrap();
    assert!(two.contains("the 2 good ones are used, and"), "{two}");
}

#[test]
fn a_folder_that_somebody_filled_is_read_in_part_and_left_in_part_and_cleared_whole() {
    let (_dir, folder) = folder();
    folder.keep(&key(), run(1)).unwrap();
    let whole = fs::read(folder.path().join(key().file())).unwrap();
    // 350 files of 128 KiB are 44 MiB.
    let mut padded = whole.clone();
    padded.resize(1 << 17, b'\n');
    for i in 0..350 {
        fs::write(folder.path().join(format!("tcp-ping-pong-{i:016x}.jsonl")), &padded).unwrap();
    }
    let part = folder.path().join("unix-ping-pong-0123456789abcdef.part");
    fs::write(&part, "a killed run's").unwrap();
    let listing = folder.list();
    assert!((257..=258).contains(&listing.paths.len()), "{}", listing.paths.len());
    // A folder that is none is said to be none.
    let file = Folder::at(folder.path().join("lock"));
    assert!(file.list().notes[0].contains("reading the folder"), "{:?}", file.list().notes);
    let [note] = listing.notes.as_slice() else { panic!("{:?}", listing.notes) };
    assert!(note.contains("more files") && note.contains("at most 16 MiB together"), "{note}");
    folder.keep(&key(), run(2)).unwrap();
    let left = fs::read_dir(folder.path()).unwrap().count();
    // As many as 16 MiB take beside the path's own file and the youngest, and the lock; files of one moment may leave in any order.
    assert!((127 + 2..=127 + 3).contains(&left), "{left}");
    for i in 0..10_000 {
        fs::write(folder.path().join(format!("shm-ping-pong-{i:016x}.jsonl")), "").unwrap();
    }
    folder.clear().unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "only the lock");
}

#[test]
fn no_run_waits_for_a_full_folder_to_empty() {
    let (_dir, folder) = folder();
    folder.keep(&key(), run(1)).unwrap();
    for i in 0..400 {
        let file = fs::File::create(folder.path().join(format!("tcp-ping-pong-{i:016x}.jsonl"))).unwrap();
        file.set_len(1 << 30).unwrap();
    }
    folder.keep(&key(), run(2)).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 402 - 256);
    assert_eq!(folder.earlier(&key()).unwrap().runs, [run(1), run(2)]);
}

#[test]
fn clearing_takes_our_files_and_nothing_else() {
    let (_dir, folder) = folder();
    assert_eq!((folder.clear().unwrap(), folder.list().paths.len()), (0, 0), "no folder is an empty one");
    folder.keep(&key(), run(1)).unwrap();
    let unix = Key::of(&sample::run(Pattern::PingPong), &sample::opened(0, transport::unix::NAME));
    folder.keep(&unix, run(1)).unwrap();
    fs::write(folder.path().join("notes.jsonl"), "mine").unwrap();
    fs::write(folder.path().join("tcp-ping-pong-0123456789abcdef.jsonl"), "damaged").unwrap();
    let tcp: Vec<Listed> = folder.list().paths.into_iter().filter(|p| p.key == key()).collect();
    assert_eq!(folder.remove(&tcp).unwrap(), 1);
    assert_eq!(folder.list().paths.len(), 1);
    assert_eq!(folder.clear().unwrap(), 2);
    assert_eq!(fs::read_to_string(folder.path().join("notes.jsonl")).unwrap(), "mine");
    let no_folder = Folder::at(folder.path().join("notes.jsonl"));
    assert!(no_folder.clear().unwrap_err().to_string().starts_with("reading the folder "));
}

#[test]
fn a_file_that_is_damaged_as_a_whole_is_set_aside_and_what_is_set_aside_is_bounded() {
    let (_dir, folder) = folder();
    folder.keep(&key(), run(1)).unwrap();
    let path = folder.path().join(key().file());
    assert_eq!(folder.set_aside(&key()).unwrap(), None, "it is whole");
    for damage in ["garbage", "other garbage"] {
        fs::write(&path, damage).unwrap();
        let aside = folder.set_aside(&key()).unwrap().expect("it is damaged");
        assert_eq!((fs::read_to_string(&aside).unwrap().as_str(), path.exists()), (damage, false));
        folder.keep(&key(), run(2)).unwrap();
        assert_eq!(folder.earlier(&key()).unwrap().runs, [run(2)]);
    }
    assert!(folder.list().notes.is_empty());
    let later = r#"{"schema":"pipegauge-history-file/2","key":7}"#;
    fs::write(&path, later).unwrap();
    assert_eq!(folder.set_aside(&key()).unwrap(), None);
    assert_eq!(fs::read_to_string(&path).unwrap(), later);
    // A damaged file leaves before any good one, however large it is and whenever it was written.
    fs::remove_file(&path).unwrap();
    folder.keep(&key(), run(3)).unwrap();
    let other = folder.path().join(format!("tcp-ping-pong-{:016x}", 7)).with_extension("damaged");
    fs::File::create(&other).unwrap().set_len(1 << 40).unwrap();
    folder.keep(&key(), run(4)).unwrap();
    assert!(!other.exists());
    assert_eq!(folder.earlier(&key()).unwrap().runs, [run(3), run(4)]);
    fs::write(&other, "garbage").unwrap();
    assert_eq!(folder.clear().unwrap(), 1);
    assert!(!other.exists());
}
