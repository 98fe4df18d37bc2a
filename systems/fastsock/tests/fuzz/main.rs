//! Random scripts of socket calls, over plain kernel TCP and with the library: bytes, errors and readiness must be the same.
//!
//! A script is made from a seed (`generate`), played by two processes and their forks (`player`, `contract/actor.c`), and judged
//! (`judge`). `make fuzz-sockets` plays a hundred thousand. `FUZZ_SEED=7 FUZZ_COUNT=1` with `make fuzz-sockets` plays one again and prints it.

#[path = "../common/mod.rs"]
mod common;
mod generate;
mod judge;
mod player;
mod script;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use common::{Built, built};
use judge::{Judge, Verdict};
use script::Step;

/// Scripts that are played at least where a time limit of 100 s ends it: two thousand took 23 s (README), so that a machine may be 29 times as slow.
const LEAST: usize = 300;
/// Calls before a connection becomes fast: few, and different ones, so that it does at different places.
const AFTER: [u32; 2] = [2, 5];

/// What came of many.
#[derive(Default)]
struct Tally {
    /// A step that did not end, once, is a failure.
    hangs_count: bool,
    played: AtomicUsize,
    fast: AtomicUsize,
    again: AtomicUsize,
    varies: AtomicUsize,
    once: AtomicUsize,
    /// Scripts that came out differently, as small as they get, and what was different.
    failures: Mutex<Vec<String>>,
}

/// Who has the library in the run of a seed: both sides mostly.
fn way(seed: u64) -> usize {
    match seed % 8 {
        6 => 1,
        7 => 2,
        _ => 0,
    }
}

/// Plays the scripts of these seeds in two threads, until `most` have failed or the time is up. Each is played by one of the threads; a single one
/// by both.
fn play(built: &Built, seeds: std::ops::Range<u64>, limit: Duration, most: usize, tally: &Tally) {
    let (begun, both) = (Instant::now(), seeds.end - seeds.start == 1);
    let next = [const { AtomicU64::new(0) }; 2];
    std::thread::scope(|scope| {
        for (thread, after) in AFTER.into_iter().enumerate() {
            let (next, seeds, begun) = (&next[if both { thread } else { 0 }], &seeds, &begun);
            scope.spawn(move || {
                let mut judge = Judge::new(&built.actor, &built.library, after, None);
                loop {
                    let seed = seeds.start + next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end || begun.elapsed() >= limit || tally.failures.lock().unwrap().len() >= most {
                        break;
                    }
                    one(&mut judge, seed, tally, after);
                    let played = tally.played.fetch_add(1, Ordering::Relaxed) + 1;
                    if played.is_multiple_of(1000) {
                        println!("{played} scripts in {:.0} s", begun.elapsed().as_secs_f64());
                    }
                }
                tally.fast.fetch_add(judge.fast, Ordering::Relaxed);
                tally.again.fetch_add(judge.again, Ordering::Relaxed);
            });
        }
    });
}

fn one(judge: &mut Judge, seed: u64, tally: &Tally, after: u32) {
    let script = generate::script(seed);
    match judge.judge(&script, way(seed)) {
        Verdict::Same => {}
        Verdict::Varies => drop(tally.varies.fetch_add(1, Ordering::Relaxed)),
        Verdict::Once(difference) => {
            tally.once.fetch_add(1, Ordering::Relaxed);
            // A fault that comes rarely is one all the same. What comes once can't be made smaller.
            let text =
                format!("// seed {seed}, FASTSOCK_AFTER={after}, once: {difference:?}\n{}", script::text(&script));
            println!("{text}");
            if difference.counts(tally.hangs_count) {
                tally.failures.lock().unwrap().push(text);
            }
        }
        Verdict::Different(difference) => {
            println!(
                "seed {seed} (FASTSOCK_AFTER={after}): {difference:?}\nstep: {:?}",
                script.get(difference.at).map(Step::to_string)
            );
            let small = judge.shrink(&script, way(seed), &difference);
            let again = judge.judge(&small, way(seed));
            let text = format!("// seed {seed}, FASTSOCK_AFTER={after}: {again:?}\n{}", script::text(&small));
            println!("{text}");
            tally.failures.lock().unwrap().push(text);
        }
    }
}

/// Plays them and says what came of it; fails if any came out differently, or too few were played. `hangs_count`: also if one did not end, once.
fn run(seeds: std::ops::Range<u64>, limit: Duration, most: usize, hangs_count: bool) {
    let Some(built) = built() else { return };
    let asked = (seeds.end - seeds.start) as usize;
    let (tally, begun) = (Tally { hangs_count, ..Tally::default() }, Instant::now());
    play(built, seeds, limit, most, &tally);
    let Tally { played, fast, again, varies, once, failures, .. } = tally;
    let (played, fast, again) = (played.into_inner(), fast.into_inner(), again.into_inner());
    let failures = failures.into_inner().unwrap();
    println!(
        "{played} of {asked} scripts in {:.0} s: {fast} with a fast connection, {again} with one that was used again, {} that the kernel itself answers differently, {} different once, {} different",
        begun.elapsed().as_secs_f64(),
        varies.into_inner(),
        once.into_inner(),
        failures.len()
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    if played < asked {
        println!(
            "skipped: {} of {asked} scripts, as {limit:?} were over; at least {LEAST} are required",
            asked - played
        );
        assert!(begun.elapsed() >= limit, "only {played} of {asked} scripts were played, and the time was not up");
        assert!(
            played >= LEAST,
            "only {played} of {asked} scripts were played in {limit:?}, where {LEAST} are required"
        );
    }
    assert!(played < 100 || fast > played / 3, "only {fast} of {played} scripts had a fast connection");
    assert!(played < 100 || again > played / 10, "only {again} of {played} scripts used a connection again");
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn two_thousand_scripts_come_out_as_over_the_kernel() {
    // A busy machine plays fewer in that time, but not too few, and says how many.
    run(0..2000, Duration::from_secs(100), 3, false);
}

#[test]
#[ignore = "the longer job: make fuzz-sockets"]
fn as_many_scripts_as_asked_for_come_out_as_over_the_kernel() {
    let first = number("FUZZ_SEED", 1_000_000);
    let count = number("FUZZ_COUNT", 100_000);
    if count == 1 {
        print!("{}", script::text(&generate::script(first)));
    }
    run(first..first + count, Duration::MAX, number("FUZZ_STOP", 3) as usize, true);
}

#[test]
#[ignore = "shows what the kernel does: cargo test -p fastsock --test fuzz -- --ignored --nocapture kernel_has_room"]
fn when_the_kernel_has_room_again_after_filling() {
    let Some(built) = built() else { return };
    let mut player = player::Player::new(&built.actor, &built.library, [false; 2], &[]);
    for nap in (0..=250).step_by(10) {
        let text = format!(
            "S0 listen 0\nC0 connect 1 0\nS0 accept 0 1 0\nS0 set 1 0 1\nC0 set 1 0 1\nC0@1 ping #0 1 30\nS0 pong #0 1 30\nC0 join 1\n\
             S0 fill #0 1\nS0 nap {}\nS0 set 1 102 15\nS0 send #0 1 100 0 0\n",
            nap * 1000
        );
        let script = script::parse(&text).unwrap();
        let said: Vec<_> = (0..5).filter_map(|_| player.play(&script, Duration::from_secs(4)).outcomes.pop()).collect();
        println!("{nap} ms after filling: {said:?}");
        assert!(said.iter().all(|said| said == "100 0" || *said == format!("-1 {}", libc::EAGAIN)), "{said:?}");
    }
}

/// The scripts that are kept, by name.
fn replays() -> Vec<(String, Vec<Step>)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/replays");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 15, "{files:?}");
    let read = |file: &std::path::PathBuf| script::parse(&std::fs::read_to_string(file).unwrap()).unwrap();
    files.iter().map(|file| (file.display().to_string(), read(file))).collect()
}

/// Scripts that came out differently once, small, each with what was wrong.
#[test]
fn what_was_found_once_is_right_now() {
    let Some(built) = built() else { return };
    let replays = replays();
    let mut wrong = Vec::new();
    for after in AFTER {
        let mut judge = Judge::new(&built.actor, &built.library, after, None);
        for (name, script) in &replays {
            for way in 0..judge::WAYS.len() {
                let (difference, counts) = match judge.judge(script, way) {
                    Verdict::Different(difference) => (difference, true),
                    Verdict::Once(difference) => {
                        let counts = difference.counts(false);
                        (difference, counts)
                    }
                    Verdict::Same | Verdict::Varies => continue,
                };
                let text = format!("{name}, FASTSOCK_AFTER={after}: {difference:?}");
                println!("{text}");
                if counts {
                    wrong.push(text);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Mistakes that the library can be told to make (`src/planted.rs`).
const PLANTED: &[&str] = &[
    "a look takes",
    "all is a part",
    "one byte off",
    "a part lost",
    "a ring not counted",
    "a copy not followed",
    "flags remembered",
    "a page of one's own",
    "a file past the ring",
    "no reset",
    "once is twice",
    "an edge not armed",
    "left behind",
    "no time limit",
    "deaf to signals",
    "always room",
    "a poll without the ring",
    "an end not told",
    "kept with bytes unread",
    "two take themselves for one",
    "not sent again",
    "taken without a word",
];

/// Random scripts that each mistake is tried on before the kept ones are; how many mistakes those are to find by themselves; and how many of them the same library is
/// tried on where it is told of no mistake: it must come out as the kernel, or it would be broken otherwise, and show nothing.
const RANDOM: u64 = 200;
const BY_RANDOM: usize = 10;

#[test]
fn every_planted_mistake_is_found_and_none_where_none_is_planted() {
    let Some(built) = built() else { return };
    let (library, next, replays) = (common::planted(), AtomicUsize::new(0), replays());
    let (missed, by_random, wrong) = (Mutex::new(Vec::new()), AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        let (missed, by_random, wrong, next, library, replays) =
            (&missed, &by_random, &wrong, &next, &library, &replays);
        for thread in 0..AFTER.len() as u64 {
            scope.spawn(move || {
                let mut control = Judge::new(&built.actor, library, AFTER[0], None);
                for seed in (0..RANDOM).filter(|seed| seed % AFTER.len() as u64 == thread) {
                    let script = generate::script(seed);
                    // On a busy machine a step may take longer than is waited for where a mistake is looked for.
                    if control.differs(&script) && matches!(control.judge(&script, 0), Verdict::Different(_)) {
                        wrong.lock().unwrap().push(seed);
                    }
                }
                while let Some(name) = PLANTED.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut judge = Judge::new(&built.actor, library, AFTER[0], Some(name));
                    if let Some(seed) = (0..RANDOM).find(|&seed| judge.differs(&generate::script(seed))) {
                        by_random.fetch_add(1, Ordering::Relaxed);
                        println!("{name}: found by script {seed}");
                    } else if let Some((file, _)) = replays.iter().find(|(_, script)| judge.differs(script)) {
                        println!("{name}: found by {file}");
                    } else if let Some(seed) = (RANDOM..1500).find(|&seed| judge.differs(&generate::script(seed))) {
                        println!("{name}: found by script {seed}");
                    } else {
                        missed.lock().unwrap().push(name);
                    }
                }
            });
        }
    });
    let (missed, wrong) = (missed.into_inner().unwrap(), wrong.into_inner().unwrap());
    assert!(wrong.is_empty(), "scripts come out differently without a mistake: {wrong:?}");
    assert!(missed.is_empty(), "not found by 1500 scripts: {missed:?}");
    let by_random = by_random.into_inner();
    println!(
        "{by_random} of {} mistakes are found by {RANDOM} random scripts, the others by what is kept",
        PLANTED.len()
    );
    assert!(
        by_random >= BY_RANDOM,
        "{RANDOM} random scripts find {by_random} mistakes, where they are to find {BY_RANDOM}"
    );
}

#[test]
fn a_script_is_its_text() {
    for seed in 0..200 {
        let made = generate::script(seed);
        assert_eq!(script::parse(&script::text(&made)).unwrap(), made, "seed {seed}");
        assert_eq!(generate::script(seed), made, "a seed makes one script");
    }
}

#[test]
#[ignore = "asks the kernel alone"]
fn no_script_hangs_over_the_kernel() {
    let Some(built) = built() else { return };
    let mut player = player::Player::new(&built.actor, &built.library, [false; 2], &[]);
    let mut hangs = |seed: &u64| {
        let played = player.play(&generate::script(*seed), Duration::from_millis(2500));
        let hangs = played.outcomes.last().is_some_and(|last| last == "hangs");
        if hangs {
            let script = generate::script(*seed);
            println!("seed {seed}, step {}: {}", played.outcomes.len(), script::text(&script[..played.outcomes.len()]));
        }
        hangs
    };
    let first = number("FUZZ_SEED", 0);
    let hanging: Vec<u64> = (first..first + number("FUZZ_COUNT", 2000)).filter(|seed| hangs(seed)).collect();
    assert!(hanging.is_empty(), "{hanging:?}");
}
