//! The page's script writes figures itself. It must write them as the rest of the program does: both are checked against
//! one table (the script by `web/test/units.test.ts`).

use serde_json::Value;
use units::{BitRate, Bytes, Kind, Seconds, short, spanned, with_interval};

#[test]
fn figures_read_as_in_the_table_that_the_script_is_checked_against() {
    let table: Value = serde_json::from_str(include_str!("../../../web/test/units.json")).expect("JSON");
    let rows = |name: &str| table[name].as_array().cloned().expect("rows");
    let number = |row: &Value, i: usize| row[i].as_f64().expect("a number");
    for row in rows("seconds") {
        assert_eq!(Seconds(number(&row, 0)).to_string(), row[1]);
        assert_eq!(short(number(&row, 0), Kind::Seconds), row[2]);
    }
    for row in rows("bitsPerSecond") {
        assert_eq!(BitRate(number(&row, 0)).to_string(), row[1]);
        assert_eq!(short(number(&row, 0), Kind::BitsPerSecond), row[2]);
    }
    for row in rows("bytes") {
        assert_eq!(Bytes(number(&row, 0) as u64).to_string(), row[1]);
    }
    for row in rows("interval") {
        // JSON has no infinity: an end that nothing bounds is null.
        let end = |i: usize, open: f64| row[i].as_f64().unwrap_or(open);
        let text = with_interval(number(&row, 0), end(1, f64::NEG_INFINITY), end(2, f64::INFINITY), Kind::Seconds);
        assert_eq!(text, row[3]);
    }
    for row in rows("spanned") {
        let rounds = number(&row, 1) as u32;
        assert_eq!(spanned(number(&row, 0), rounds, number(&row, 2), number(&row, 3), Kind::Seconds), row[4]);
    }
}
