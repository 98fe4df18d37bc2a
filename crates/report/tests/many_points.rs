//! What a file of many points costs: memory that is held at once, counted by the allocator, so that no machine's speed has a part in it; and how CPU
//! time grows with the number of points, by a ratio of two sizes, so that it hardly has one.

#[path = "sample/mod.rs"]
#[allow(dead_code, reason = "the module has more samples than these")]
mod sample;

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use record::{Analysis, RunFile, codec, export};
use report::{Graph, table, terminal};

/// The system's allocator, with what is held and the most that was.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all is handed to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(held, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Held by the test that runs: the allocator and the CPU time are of the whole process.
static ALONE: Mutex<()> = Mutex::new(());

/// What something gives, and the most bytes that it held beyond what was held before.
fn held<T>(of: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let found = of();
    (found, MOST.load(Ordering::Relaxed) - before)
}

/// A file of so many points of a trial each.
fn file(points: u64) -> Vec<u8> {
    let mut run = sample::run_of(&sample::MODELS[3..], &(1..=points).collect::<Vec<_>>(), 1, 7);
    run.paths[0].points.iter_mut().flat_map(|p| p.trials.plain()).for_each(|t| {
        t.warmup = false;
        t.report.histogram.clear();
    });
    let mut text = Vec::new();
    codec::lines(&run).iter().for_each(|line| line.write(&mut text).expect("numbers"));
    text
}

/// A writer that counts lines and keeps nothing.
#[derive(Default)]
struct Lines(usize);

impl Write for Lines {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        self.0 += data.iter().filter(|b| **b == b'\n').count();
        Ok(data.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn read(text: &[u8]) -> RunFile {
    record::read::read_from(text, "many").expect("a run file")
}

#[test]
fn memory_grows_with_the_points_of_a_file_and_not_with_what_is_printed_of_them() {
    const POINTS: usize = 20_000;
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (small, large) = (file(POINTS as u64), file(2 * POINTS as u64));
    let (_, once) = held(|| read(&small));
    let (run, twice) = held(|| read(&large));
    assert!(once / POINTS < 1300, "{} B a point", once / POINTS);
    assert!(twice < once * 22 / 10, "{once} B of {POINTS} points, {twice} B of twice as many");

    let run = Analysis::of(&run);
    let mut lines = Lines::default();
    let (_, csv) = held(|| export::csv(&run, &mut lines).expect("written"));
    assert!(lines.0 == 1 + 2 * POINTS && csv < 1 << 20, "{} lines, {csv} B", lines.0);
    let mut lines = Lines::default();
    let (_, all) = held(|| table::points(&run, 0, true, &mut lines).expect("written"));
    assert!(lines.0 > 2 * POINTS && all < (1 << 20) + 16 * 2 * POINTS, "{} lines, {all} B", lines.0);
    let mut lines = Lines::default();
    let (_, few) = held(|| table::points(&run, 0, false, &mut lines).expect("written"));
    assert!(lines.0 < 30 && few < 1 << 20, "{} lines, {few} B", lines.0);

    // All that `show` makes of it: a curve, models of a thousand of its sizes, a picture.
    let (_, made) = held(|| {
        Analysis::work_out(&[&run]);
        terminal::graph(&run, Graph::Signature, 100, 22, false)
    });
    assert!(made / (2 * POINTS) < 1000, "{} B a point", made / (2 * POINTS));
}

/// CPU time that this process has used, user and system, in ticks of the kernel (`/proc/self/stat`, proc(5)).
fn ticks() -> u64 {
    let text = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    // The name in parentheses may hold anything.
    let after: Vec<&str> = text[text.rfind(')').expect("a name")..].split_whitespace().collect();
    after[12].parse::<u64>().expect("a number") + after[13].parse::<u64>().expect("a number")
}

/// What `show` makes of a file of so many points, and a table of all of them.
fn shown(text: &[u8]) {
    let run = read(text);
    let run = Analysis::of(&run);
    Analysis::work_out(&[&run]);
    let picture = terminal::graph(&run, Graph::Signature, 100, 22, false);
    assert!(!picture.is_empty());
    let mut lines = Lines::default();
    table::points(&run, 0, true, &mut lines).expect("written");
    assert!(lines.0 > 1000);
}

/// Of eight times the points, a way that is linear takes eight times the CPU time, and one that is quadratic 64 times.
#[test]
fn time_grows_with_the_points_of_a_file_and_not_with_their_square() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (small, large) = (file(5_000), file(40_000));
    let spent = |text: &[u8], times: u32| {
        let before = ticks();
        (0..times).for_each(|_| shown(text));
        (ticks() - before) as f64 / f64::from(times)
    };
    // Several times, so that a tick is little of it.
    let (few, many) = (spent(&small, 4), spent(&large, 1));
    assert!(many < 24.0 * few.max(1.0), "{few} ticks of 5,000 points, {many} of 40,000");
}
