//! Units as people write them in a sentence: `kilobytes`, `K`, `megabits per second`, `Gbps`, `msec`.
//!
//! A word is led back to the unit that [`crate::Bytes`], [`crate::BitRate`] and [`crate::Seconds`] read, so that they alone
//! turn a number and its unit into a figure. Words are read more freely than flags, because whoever uses this repeats to the
//! reader how it was read: a word that could have been meant otherwise comes with the words that say so.

/// What a word behind a number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes, in the unit that [`crate::Bytes`] reads: `B`, `kB`, `KiB`, ...
    Size(&'static str),
    /// Bits, in the unit that [`crate::BitRate`] reads with `/s` behind it: `bit`, `kbit`, `Mbit`, ...
    Bits(&'static str),
    /// Bits or bytes a second, in the unit that [`crate::BitRate`] reads.
    Rate(&'static str),
    /// A time, in the unit that [`crate::Seconds`] reads.
    Time(&'static str),
    /// A prefix alone, decimal: the size that it makes in bytes, the rate in bits, and its power of ten.
    Prefix {
        /// `kB`.
        size: &'static str,
        /// `kbit/s`.
        rate: &'static str,
        /// 3.
        power: u32,
    },
}

/// How a word was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    /// It has one meaning.
    Plainly(Unit),
    /// It has more than one, this is the usual one, and the words tell the reader so.
    Usually(Unit, &'static str),
    /// It has two meanings and neither is usual: what to write for each.
    Either(&'static str, &'static str),
}

/// Names that are close to hand, for a writer whose unit is none.
pub const NAMES: [&str; 30] = [
    "bytes",
    "kilobytes",
    "megabytes",
    "gigabytes",
    "terabytes",
    "kibibytes",
    "mebibytes",
    "gibibytes",
    "B",
    "kB",
    "MB",
    "GB",
    "KiB",
    "MiB",
    "GiB",
    "bits",
    "Mbit/s",
    "Gbit/s",
    "MB/s",
    "megabits",
    "gigabits",
    "seconds",
    "milliseconds",
    "microseconds",
    "nanoseconds",
    "ms",
    "us",
    "ns",
    "minutes",
    "hours",
];

/// A row: letter, names of the decimal prefix, names of the binary one.
struct Prefix {
    letter: &'static str,
    decimal: &'static str,
    binary: &'static str,
    size: [&'static str; 2],
    bits: [&'static str; 2],
    bit_rate: [&'static str; 2],
    byte_rate: [&'static str; 2],
    power: u32,
}

const PREFIXES: [Prefix; 4] = [
    Prefix {
        letter: "k",
        decimal: "kilo",
        binary: "kibi",
        size: ["kB", "KiB"],
        bits: ["kbit", "Kibit"],
        bit_rate: ["kbit/s", "Kibit/s"],
        byte_rate: ["kB/s", "KiB/s"],
        power: 3,
    },
    Prefix {
        letter: "m",
        decimal: "mega",
        binary: "mebi",
        size: ["MB", "MiB"],
        bits: ["Mbit", "Mibit"],
        bit_rate: ["Mbit/s", "Mibit/s"],
        byte_rate: ["MB/s", "MiB/s"],
        power: 6,
    },
    Prefix {
        letter: "g",
        decimal: "giga",
        binary: "gibi",
        size: ["GB", "GiB"],
        bits: ["Gbit", "Gibit"],
        bit_rate: ["Gbit/s", "Gibit/s"],
        byte_rate: ["GB/s", "GiB/s"],
        power: 9,
    },
    Prefix {
        letter: "t",
        decimal: "tera",
        binary: "tebi",
        size: ["TB", "TiB"],
        bits: ["Tbit", "Tibit"],
        bit_rate: ["Tbit/s", "Tibit/s"],
        byte_rate: ["TB/s", "TiB/s"],
        power: 12,
    },
];

const DECIMAL: &str = "K, M, G and T are read as powers of 1000; KiB, MiB, GiB and TiB are those of 1024";
const LOWER: &str = "a small b behind a size is read as bytes";
const BITS: &str = "b in a rate is read as bits; B is bytes";

/// Reads one word as a unit; none where it is no unit. `kbytes` and `k bytes` written together are the same.
pub fn unit(word: &str) -> Option<Read> {
    let lower = word.to_lowercase();
    if let Some(time) = time(&lower) {
        return Some(Read::Plainly(Unit::Time(time)));
    }
    for end in ["/sec", "/second", "/s", "ps"] {
        if let Some(amount) = lower.strip_suffix(end)
            && let Some(read) = word.get(..amount.len()).and_then(|amount| rate(amount, end == "ps"))
        {
            return Some(read);
        }
    }
    amount(word, &lower)
}

fn time(lower: &str) -> Option<&'static str> {
    Some(match lower {
        "s" | "sec" | "secs" | "second" | "seconds" => "s",
        "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" | "millis" => "ms",
        "us" | "\u{b5}s" | "\u{3bc}s" | "usec" | "usecs" | "microsecond" | "microseconds" | "micros" => "us",
        "ns" | "nsec" | "nsecs" | "nanosecond" | "nanoseconds" | "nanos" => "ns",
        "min" | "mins" | "minute" | "minutes" => "min",
        "h" | "hr" | "hrs" | "hour" | "hours" => "h",
        _ => return None,
    })
}

/// Bits or bytes, or a prefix alone.
fn amount(word: &str, lower: &str) -> Option<Read> {
    match lower {
        "byte" | "bytes" | "octet" | "octets" => return Some(Read::Plainly(Unit::Size("B"))),
        "bit" | "bits" => return Some(Read::Plainly(Unit::Bits("bit"))),
        "b" if word == "B" => return Some(Read::Plainly(Unit::Size("B"))),
        "b" => return Some(Read::Usually(Unit::Size("B"), LOWER)),
        "m" if word == "m" => return Some(Read::Either("1MB for a million bytes", "1ms or 1min for a time")),
        _ => {}
    }
    PREFIXES.iter().find_map(|p| {
        let prefix = Unit::Prefix { size: p.size[0], rate: p.bit_rate[0], power: p.power };
        let short = match p.letter {
            "m" => ["meg", "megs"],
            "g" => ["gig", "gigs"],
            _ => ["", ""],
        };
        if lower == p.letter || (!lower.is_empty() && short.contains(&lower)) || lower == p.decimal {
            return Some(Read::Usually(prefix, DECIMAL));
        }
        let long = |name: &str| lower.strip_prefix(name).filter(|rest| !rest.is_empty());
        let (rest, binary) = match (long(p.decimal), long(p.binary)) {
            (Some(rest), _) => (rest, 0),
            (_, Some(rest)) => (rest, 1),
            _ => {
                let rest = lower.strip_prefix(p.letter)?;
                rest.strip_prefix('i').map_or((rest, 0), |rest| (rest, 1))
            }
        };
        let size = Unit::Size(p.size[binary]);
        match rest {
            "byte" | "bytes" => Some(Read::Plainly(size)),
            "bit" | "bits" => Some(Read::Plainly(Unit::Bits(p.bits[binary]))),
            "b" if word.ends_with('B') && (binary == 1 || word == p.size[0]) => Some(Read::Plainly(size)),
            "b" if word.ends_with('B') => Some(Read::Usually(size, DECIMAL)),
            // All in small letters is how people type megabytes in a hurry; Mb is how others write megabits.
            "b" if word == lower => Some(Read::Usually(size, LOWER)),
            "b" => Some(Read::Either(p.size[binary], p.bits[binary])),
            _ => None,
        }
    })
}

/// `amount` a second. `joined` is the form in which bits are usual whatever the letters' case: `mbps`.
fn rate(amount: &str, joined: bool) -> Option<Read> {
    let lower = amount.to_lowercase();
    let found = |unit: Unit| match unit {
        Unit::Size("B") => Some("B/s"),
        Unit::Bits("bit") => Some("bit/s"),
        Unit::Size(s) => PREFIXES.iter().find_map(|p| Some(p.byte_rate[p.size.iter().position(|x| *x == s)?])),
        Unit::Bits(s) => PREFIXES.iter().find_map(|p| Some(p.bit_rate[p.bits.iter().position(|x| *x == s)?])),
        _ => None,
    };
    // Seconds and prefixes alone have no rate here: 10k/s is ten thousand of something.
    if lower.ends_with("bit") || lower.ends_with("bits") || lower.ends_with("byte") || lower.ends_with("bytes") {
        return match self::amount(amount, &lower)? {
            Read::Plainly(unit) => found(unit).map(|r| Read::Plainly(Unit::Rate(r))),
            _ => None,
        };
    }
    let prefix = lower.strip_suffix('b')?;
    let (bits, bytes) = match prefix {
        "" => ("bit/s", "B/s"),
        _ => PREFIXES.iter().find_map(|p| {
            let binary = usize::from(prefix.ends_with('i'));
            (prefix.strip_suffix('i').unwrap_or(prefix) == p.letter)
                .then_some((p.bit_rate[binary], p.byte_rate[binary]))
        })?,
    };
    Some(match amount.ends_with('B') {
        true => Read::Plainly(Unit::Rate(bytes)),
        // "mb/s" is written of both; "mbps" and "Mb/s" of bits.
        false if !joined && amount == lower && !prefix.is_empty() => Read::Either(bits, bytes),
        false => Read::Usually(Unit::Rate(bits), BITS),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BitRate, Bytes, Seconds};

    #[test]
    fn every_unit_of_a_word_is_one_that_the_quantities_read() {
        for p in &PREFIXES {
            for name in [p.decimal, p.binary] {
                for (end, what) in [("byte", 0), ("bytes", 0), ("bit", 1), ("bits", 1)] {
                    match unit(&format!("{name}{end}")) {
                        Some(Read::Plainly(Unit::Size(s))) if what == 0 => {
                            assert!(format!("1{s}").parse::<Bytes>().is_ok())
                        }
                        Some(Read::Plainly(Unit::Bits(s))) if what == 1 => {
                            assert!(format!("1{s}/s").parse::<BitRate>().is_ok())
                        }
                        other => panic!("{name}{end}: {other:?}"),
                    }
                }
            }
            for rate in p.bit_rate.iter().chain(&p.byte_rate) {
                assert!(format!("1{rate}").parse::<BitRate>().is_ok(), "{rate}");
            }
        }
        for word in ["s", "sec", "msecs", "usec", "\u{b5}s", "nanoseconds", "minutes", "hrs"] {
            let Some(Read::Plainly(Unit::Time(t))) = unit(word) else { panic!("{word}") };
            assert!(format!("1{t}").parse::<Seconds>().is_ok(), "{word}");
        }
    }

    #[test]
    fn words_lead_to_their_unit() {
        for (word, want) in [
            ("kilobytes", Unit::Size("kB")),
            ("Kibibyte", Unit::Size("KiB")),
            ("kB", Unit::Size("kB")),
            ("KiB", Unit::Size("KiB")),
            ("kbytes", Unit::Size("kB")),
            ("B", Unit::Size("B")),
            ("megabits", Unit::Bits("Mbit")),
            ("Gbit", Unit::Bits("Gbit")),
            ("Gbit/s", Unit::Rate("Gbit/s")),
            ("GB/s", Unit::Rate("GB/s")),
            ("MiB/s", Unit::Rate("MiB/s")),
            ("MBps", Unit::Rate("MB/s")),
            ("bit/s", Unit::Rate("bit/s")),
        ] {
            assert_eq!(unit(word), Some(Read::Plainly(want)), "{word}");
        }
    }

    #[test]
    fn words_of_two_meanings_are_said_or_asked_about() {
        for (word, want) in [
            ("KB", Unit::Size("kB")),
            ("kb", Unit::Size("kB")),
            ("mb", Unit::Size("MB")),
            ("K", Unit::Prefix { size: "kB", rate: "kbit/s", power: 3 }),
            ("gigs", Unit::Prefix { size: "GB", rate: "Gbit/s", power: 9 }),
            ("Gbps", Unit::Rate("Gbit/s")),
            ("mbps", Unit::Rate("Mbit/s")),
            ("Mb/s", Unit::Rate("Mbit/s")),
        ] {
            assert!(matches!(unit(word), Some(Read::Usually(u, _)) if u == want), "{word}: {:?}", unit(word));
        }
        for word in ["Mb", "Gb", "mb/s", "m"] {
            assert!(matches!(unit(word), Some(Read::Either(..))), "{word}: {:?}", unit(word));
        }
        for word in ["", "foobytes", "parsecs", "ps", "/s", "k/s", "kilo-", "xB", "iB", "\u{1f600}", "mbit/min"] {
            assert_eq!(unit(word), None, "{word}");
        }
    }
}
