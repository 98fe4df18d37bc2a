//! The run as the lines of a run file, gzipped, for the page's download button. `pipegauge show` reads the file.

use std::io::Write;
use std::sync::OnceLock;

use flate2::Compression;
use flate2::write::GzEncoder;
use record::codec::{self, Kept};
use record::{RunFile, parallel};

use super::columns;

/// Lines that are compressed together: enough for a good dictionary, few enough that several CPUs have work.
const PART: usize = 10_000;

/// Most threads: each holds a part in memory.
const THREADS: usize = 8;

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
    let parts: Vec<OnceLock<String>> = chunks.iter().map(|_| OnceLock::new()).collect();
    parallel::each(chunks.len(), THREADS, |n| drop(parts[n].set(packed(chunks[n]))));
    parts.into_iter().map(|part| part.into_inner().unwrap_or_default()).collect()
}
