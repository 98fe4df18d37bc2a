//! A throughput in the unit that a question asks for.

use model::Estimate;
use units::format::significant;
use units::{Kind, Seconds};

use super::asked::{figure, inverse};
use super::surest::resolved;
use crate::config::question::InUnit;
use crate::document::Answered;

/// Adds the answer's rate in that unit; nothing where it is no rate.
pub fn tell(answer: &mut Answered, wanted: &InUnit) {
    let Some(e) = answer.figure.filter(|_| answer.unit == Some("bit/s")) else { return };
    let of = |bits: f64| number(bits / wanted.bits);
    let unit = name(wanted);
    if told_in(e, &unit) {
        return;
    }
    let told = match e.low > 0.0 && e.high.is_finite() {
        true if !resolved(e) => format!("between {} and {} {unit} (not resolved)", of(e.low), of(e.high)),
        true => format!("{} {unit} [{}, {}]", of(e.value), of(e.low), of(e.high)),
        false => format!("{} {unit} (no interval)", of(e.value)),
    };
    answer.text.push_str(&format!("; that is {told}"));
}

/// Whether a throughput is told in a unit anyway.
fn told_in(e: Estimate, unit: &str) -> bool {
    let unit = format!(" {unit}");
    let ends = if resolved(e) || e.low <= 0.0 || !e.high.is_finite() { [e.value; 2] } else { [e.low, e.high] };
    ends.iter().all(|bits| significant(*bits, Kind::BitsPerSecond).ends_with(&unit))
}

/// Adds the answer's size in the unit that is asked for; nothing where it is no size, or none that has two ends.
pub fn tell_size(answer: &mut Answered, wanted: &InUnit) {
    let Some(e) = answer.figure.filter(|_| answer.unit == Some("B")) else { return };
    if e.low > 0.0 && e.high.is_finite() {
        answer.text.push_str(&of_size(e, wanted).replacen(',', ";", 1));
    }
}

/// A size in the unit that is asked for, and the comma before it: ", that is 125 MB [124, 126]".
pub fn of_size(e: Estimate, wanted: &InUnit) -> String {
    let of = |bytes: f64| number(bytes * 8.0 / wanted.bits);
    let unit = wanted.unit.trim_end_matches("/s");
    let ends = if e.low > 0.0 && e.high.is_finite() {
        format!("[{}, {}]", of(e.low), of(e.high))
    } else {
        "(no interval)".to_owned()
    };
    format!(", that is {} {unit} {ends}", of(e.value))
}

/// Adds the answer's time in the unit that is asked for; nothing where it is no time, or is told in that unit anyway.
pub fn tell_time(answer: &mut Answered, unit: &str) {
    let Some(e) = answer.figure.filter(|_| answer.unit == Some("s")) else { return };
    let Ok(scale) = format!("1{unit}").parse::<Seconds>().map(|s| s.0) else { return };
    if significant(e.value, Kind::Seconds).ends_with(&format!(" {unit}")) {
        return;
    }
    let of = |seconds: f64| number(seconds / scale);
    // A time that is saved is one below zero.
    let (e, less) = match e.value < 0.0 {
        true => (Estimate { value: -e.value, low: -e.high, high: -e.low }, " less"),
        false => (e, ""),
    };
    let told = match e.low > 0.0 && e.high.is_finite() {
        true if !resolved(e) => format!("between {} and {} {unit}{less} (not resolved)", of(e.low), of(e.high)),
        true => format!("{} {unit}{less} [{}, {}]", of(e.value), of(e.low), of(e.high)),
        false => format!("{} {unit}{less} (no interval)", of(e.value)),
    };
    answer.text.push_str(&format!("; that is {told}"));
}

/// Adds how long it is from one to the next of an answer of so many a second, which says the same.
pub fn tell_spacing(answer: &mut Answered) {
    let Some(e) = answer.figure.filter(|e| answer.unit == Some("1/s") && e.value > 0.0) else { return };
    let time = figure(inverse(e, 1.0), Kind::Seconds);
    answer.text.push_str(&format!("; from one to the next it is {time}"));
}

/// "MB/s", "GB in 3,600 s".
fn name(wanted: &InUnit) -> String {
    match () {
        () if wanted.unit.ends_with("/s") => wanted.unit.to_owned(),
        () if wanted.span == 1.0 => format!("{}/s", wanted.unit),
        () => format!("{} in {}", wanted.unit, Seconds(wanted.span)),
    }
}

/// Below this a number is told with an exponent: a nanosecond in seconds is told without.
const LEAST: f64 = 1e-9;

/// Three digits, four of a large number.
fn number(x: f64) -> String {
    if !x.is_finite() || x >= 1e15 {
        return format!("{x:.2e}");
    }
    match x {
        x if x >= 1e4 => {
            let scale = 10f64.powf(x.log10().floor() - 3.0);
            units::thousands(((x / scale).round() * scale).round() as u64)
        }
        x if x >= 100.0 => units::thousands(x.round() as u64),
        x if x >= 10.0 => format!("{x:.1}"),
        x if x >= 1.0 => format!("{x:.2}"),
        x if x >= LEAST => format!("{x:.*}", (2.0 - x.log10().floor()) as usize),
        x => format!("{x:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_is_saved_is_told_in_its_unit() {
        let figure = Estimate { value: -902e-6, low: -903e-6, high: -901e-6 };
        let mut answer = Answered {
            figure: Some(figure),
            unit: Some("s"),
            ..crate::commands::ask::reply::nobody("902 us less".to_owned(), String::new())
        };
        tell_time(&mut answer, "ms");
        assert!(answer.text.ends_with("; that is 0.902 ms less [0.901, 0.903]"), "{}", answer.text);
    }

    #[test]
    fn a_rate_is_told_in_its_unit() {
        for (x, want) in [
            (2470.6, "2,471"),
            (4_367_126_614.0, "4,367,000,000"),
            (12_346.0, "12,350"),
            (123.4, "123"),
            (12.34, "12.3"),
            (1.234, "1.23"),
            (0.1234, "0.123"),
            (0.00663, "0.00663"),
            (0.000_038, "0.0000380"),
            (1.5e-12, "1.50e-12"),
        ] {
            assert_eq!(number(x), want);
        }
        let e = |value, low, high| Estimate { value, low, high };
        let told = |e, units: [&str; 3]| units.map(|unit| told_in(e, unit));
        let units = ["Gbit/s", "Mbit/s", "MB/s"];
        assert_eq!(told(e(40.8e9, 35.2e9, 43.2e9), units), [true, false, false]);
        assert_eq!(told(e(40.8e6, 35.2e6, 43.2e6), units), [false, true, false]);
        assert_eq!(told(e(40.8e9, 0.2e9, 43.2e9), units), [false, false, false], "ends of two units");
        let megabytes = InUnit { unit: "MB", span: 1.0, bits: 8e6 };
        assert_eq!(of_size(e(124.8e6, 124.0e6, 125.0e6), &megabytes), ", that is 125 MB [124, 125]");
        let unit = |unit, span| name(&InUnit { unit, span, bits: 8e6 });
        assert_eq!([unit("MB/s", 1.0), unit("B", 1.0), unit("GB", 3600.0)], ["MB/s", "B/s", "GB in 3,600 s"]);
    }
}
