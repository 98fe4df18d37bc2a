//! What a file is that is no run file, so that the message can name what would read it.

use crate::codec::short;

/// What a file that is no run file looks like, from its first bytes.
pub(super) fn looks(start: &[u8]) -> String {
    let text = String::from_utf8_lossy(&start[..start.len().min(200)]);
    let first = text.lines().next().unwrap_or_default().trim();
    let numbers = first.split_whitespace().filter(|w| w.parse::<f64>().is_ok()).count();
    match start {
        [0x1f, 0x8b, ..] => "it is compressed with gzip; unpack it first".into(),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "it is compressed with zstd; unpack it first".into(),
        [0xfd, b'7', b'z', b'X', b'Z', ..] => "it is compressed with xz; unpack it first".into(),
        [b'P', b'A', b'R', b'1', ..] => "it is a Parquet file; name the run file it came from".into(),
        [0x89, b'P', b'N', b'G', ..] => "it is a PNG picture; name the run file it came from".into(),
        [b'<', ..] => "it is HTML, SVG or XML; name the run file it came from".into(),
        _ if text.starts_with("path,transport,") => {
            "it is an export (CSV); show, plot and export read the run file it came from".into()
        }
        _ if text.starts_with("# TYPE pipegauge") => {
            "it is an export (OpenMetrics); show, plot and export read the run file it came from".into()
        }
        _ if (numbers == 3 || numbers == 5) && first.split_whitespace().count() == numbers => {
            "it looks like NetPIPE's output; `pipegauge import` reads that".into()
        }
        _ if start.iter().take(200).any(|b| *b < 9) || std::str::from_utf8(&start[..start.len().min(64)]).is_err() => {
            "it is binary data".into()
        }
        _ => format!("it is text that begins with '{}'; a run file begins with {{\"event\":\"run\"", short(first)),
    }
}
