//! A trial's line, read straight into its fields. All but a few lines of a run file are trials, and reading them through the
//! tagged enum and the flattened report builds and takes apart a tree of values twice: it takes twice as long.

use measure::event::Trial;
use measure::{FarReport, TrialReport};
use serde::Deserialize;

/// How this program writes a trial's line.
const START: &[u8] = br#"{"event":"trial","#;

/// The fields of [`Trial`] and of the report within it, side by side as they stand in the line.
#[derive(Deserialize)]
struct Flat {
    path: u32,
    block: u32,
    at: f64,
    size: u64,
    #[serde(default)]
    response: u64,
    #[serde(default)]
    burst: u64,
    #[serde(default)]
    warmup: bool,
    #[serde(default)]
    repeats: u64,
    #[serde(default)]
    seconds: f64,
    #[serde(default)]
    median: f64,
    #[serde(default)]
    min: f64,
    #[serde(default)]
    max: f64,
    #[serde(default)]
    histogram: Vec<(u64, u64)>,
    #[serde(default)]
    pauses: Vec<(u64, u64)>,
    #[serde(default)]
    late: u64,
    #[serde(default)]
    lost: u64,
    #[serde(default)]
    reordered: u64,
    #[serde(default)]
    duplicated: u64,
    #[serde(default)]
    bounds: Option<(u64, u64)>,
    #[serde(default)]
    far: FarReport,
}

/// The trial of a line that begins as this program writes it. None for any other line, and for one that can't be read: the
/// general reader says what is wrong with it.
pub(super) fn trial(text: &[u8]) -> Option<Trial> {
    if !text.starts_with(START) {
        return None;
    }
    let f: Flat = serde_json::from_slice(text).ok()?;
    let Flat { repeats, seconds, median, min, max, histogram, pauses, late, lost, reordered, duplicated, .. } = f;
    let Flat { bounds, far, .. } = f;
    let report = TrialReport {
        repeats,
        seconds,
        median,
        min,
        max,
        histogram,
        pauses,
        late,
        lost,
        reordered,
        duplicated,
        bounds,
        far,
    };
    let Flat { path, block, at, size, response, burst, warmup, .. } = f;
    Some(Trial { path, block, at, size, response, burst, warmup, report })
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::Event;

    #[test]
    fn both_readers_read_the_same() {
        let mut trials = 0;
        for event in crate::sample::events() {
            let line = serde_json::to_vec(&event).unwrap();
            match event {
                Event::Trial(t) => {
                    assert_eq!(trial(&line), Some(t));
                    trials += 1;
                }
                _ => assert_eq!(trial(&line), None),
            }
        }
        assert!(trials > 10);
    }

    #[test]
    fn every_field_is_read() {
        let far = FarReport {
            seconds: 0.5,
            bytes: 7,
            received: 8,
            lost: 9,
            reordered: 10,
            duplicated: 11,
            corrupt: Some((1, 2)),
            bounds: Some((16, 17)),
        };
        let report = TrialReport {
            repeats: 1,
            seconds: 2.5,
            median: 3.5,
            min: 4.5,
            max: 5.5,
            histogram: vec![(6, 7)],
            pauses: vec![(12, 13)],
            late: 8,
            lost: 9,
            reordered: 10,
            duplicated: 11,
            bounds: Some((14, 15)),
            far,
        };
        let t = Trial { path: 1, block: 2, at: 3.0, size: 4, response: 5, burst: 6, warmup: true, report };
        assert_eq!(trial(&serde_json::to_vec(&Event::Trial(t.clone())).unwrap()), Some(t));
    }

    #[test]
    fn what_can_t_be_read_is_left_to_the_general_reader() {
        assert_eq!(trial(br#"{"event":"trial","path":0}"#), None);
        assert_eq!(trial(br#"{"path":0,"event":"trial"}"#), None);
        assert_eq!(trial(br#"{"event":"trial","path":0,"block":1,"at":0.0,"size""#), None);
    }
}
