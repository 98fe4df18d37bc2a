//! What a file of many points costs: memory that is held at once, counted by the allocator, so that no machine's speed has a part in it.

#[path = "sample/mod.rs"]
#[allow(dead_code, reason = "the module has more samples than these")]
mod sample;

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

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
