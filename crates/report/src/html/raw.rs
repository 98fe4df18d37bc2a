//! The run as the lines of a run file, gzipped, for the page's download button. `pipegauge show` reads the file.

use std::io::Write;
use std::num::NonZero;
use std::thread;

use flate2::Compression;
use flate2::write::GzEncoder;
use record::RunFile;
use record::codec::{self, Kept};

use super::columns;

/// Lines that are compressed together: enough for a good dictionary, few enough that several CPUs have work.
const PART: usize = 10_000;

/// zlib's level. A higher one would take twice the time to save a tenth.
const LEVEL: u32 = 3;

fn packed(lines: &[Kept<'_>]) -> String {
    let mut text = Vec::new();
    // A line that can't be written is left out whole.
    lines.iter().for_each(|line| drop(line.write(&mut text)));
    let mut gzip = GzEncoder::new(Vec::with_capacity(text.len() / 4), Compression::new(LEVEL));
    // Writing to memory can't fail.
    let _ = gzip.write_all(&text);
    columns::base64(&gzip.finish().unwrap_or_default())
}

/// The whole run file in parts, each gzipped and in base64; their texts, one after another, are the file.
pub fn parts(run: &RunFile) -> Vec<String> {
    let lines = codec::lines(run);
    let chunks: Vec<&[Kept<'_>]> = lines.chunks(PART).collect();
    let workers = thread::available_parallelism().map_or(1, NonZero::get).min(chunks.len()).clamp(1, 8);
    let mut parts = vec![String::new(); chunks.len()];
    thread::scope(|scope| {
        let share = chunks.len().div_ceil(workers).max(1);
        for (from, to) in chunks.chunks(share).zip(parts.chunks_mut(share)) {
            scope.spawn(move || from.iter().zip(to).for_each(|(lines, part)| *part = packed(lines)));
        }
    });
    parts
}
