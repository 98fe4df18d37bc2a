//! What can be set on a path, as data: each transport declares its own options, and flags, checks, lists and advice read them.

use std::fmt::Display;
use std::ops::RangeInclusive;

use units::{BitRate, Bytes, Seconds, Share};

use crate::settings::{Effective, Settings, Value};

/// One option of a transport.
#[derive(Debug, Clone, Copy)]
pub struct OptionSpec {
    /// What it is called in `NAME:option=value`.
    pub name: &'static str,
    /// The flag of `run` that sets it on every path that has it; none where only the path's own text does.
    pub flag: Option<&'static str>,
    /// What values it takes.
    pub form: Form,
    /// What holds where nobody sets it, in words.
    pub default: &'static str,
    /// What it does, in one line.
    pub help: &'static str,
    /// What took effect of it, where the system says.
    pub answers: &'static [Answer],
    /// Whether its value names what is loaded or started, or may lead messages out of this host: it is not taken from a file that a stranger may
    /// have written.
    pub steers: bool,
    /// How `explain` moves it to see whether a dip goes along; none where it can't.
    pub moved: Option<Moved>,
}

/// Where a connection says what an option brought.
#[derive(Debug, Clone, Copy)]
pub struct Answer {
    /// Which part of it, where there are several.
    pub part: &'static str,
    /// The value, in words.
    pub of: fn(&Effective) -> Option<String>,
}

/// What an option is a knob of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Knob {
    /// The socket's or pipe's buffer.
    Buffer,
    /// The largest packet or segment.
    Packet,
    /// The largest message that is sent before the receiver asks for it.
    Eager,
}

/// How an option is moved to another value.
#[derive(Debug, Clone, Copy)]
pub struct Moved {
    /// What it is a knob of.
    pub knob: Knob,
    /// What it is where nobody set it, as far as that is known without asking the system.
    pub unset: Option<u64>,
    /// What took effect, in the option's own unit.
    pub now: fn(&Effective) -> Option<u64>,
    /// Doubled where the system gives so much; else, and where this is false, halved.
    pub doubles: bool,
    /// System settings that bound it (`net.core.wmem_max`).
    pub limits: &'static [&'static str],
    /// The least that it is moved to.
    pub least: u64,
}

impl OptionSpec {
    /// Where the option of a path with these settings, of which that took effect, stands as a knob; none where it is no knob or nobody says.
    pub fn stands(&self, settings: &Settings, effective: &Effective) -> Option<u64> {
        let moved = self.moved?;
        // A module says what took effect as it would be typed.
        let told = || match self.form.read(effective.options.get(self.name)?) {
            Ok(Value::Whole(n)) => Some(n),
            _ => None,
        };
        settings.whole(self.name).or_else(|| (moved.now)(effective)).or_else(told).or(moved.unset)
    }

    /// What of these settings steers, as it is typed.
    pub fn steering<'a>(all: &'a [Self], settings: &'a Settings) -> impl Iterator<Item = String> + 'a {
        let set = all.iter().filter(|option| option.steers);
        set.filter_map(|option| Some(format!("{}={}", option.name, settings.get(option.name)?)))
    }

    /// Where `explain` moves it from `now`, which these system settings bound: twice as far where the system gives so much, else half as far;
    /// none where it is as small as it can be, or there is nowhere else to move it.
    pub fn elsewhere(&self, now: u64, limit: u64) -> Option<u64> {
        let moved = self.moved?;
        let most = match self.form {
            Form::Bytes(_, most) => most.min(limit),
            _ => limit,
        };
        let twice = now.saturating_mul(2);
        let to = if moved.doubles && twice <= most { twice } else { (now / 2).min(most) };
        (to >= moved.least && to != now).then_some(to)
    }
}

/// What values an option takes.
#[derive(Debug, Clone, Copy)]
pub enum Form {
    /// `on` or `off`.
    Switch,
    /// A size within bounds, bytes.
    Bytes(u64, u64),
    /// A time within bounds, seconds.
    Seconds(f64, f64),
    /// A share from 0 to 100%.
    Share,
    /// A rate above 0, bits a second.
    Rate,
    /// A whole number within bounds, of something; empty where it is a mere number.
    Whole {
        /// The least.
        least: u64,
        /// The most.
        most: u64,
        /// What it counts.
        unit: &'static str,
    },
    /// A word of letters, digits, `-` and `_`, at most so many.
    Word(usize),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A text of this sort, which the function tells from others.
    Text(&'static str, fn(&str) -> bool),
    /// A text of this sort that the function can read; its error says what is wrong with it.
    Read(&'static str, fn(&str) -> Result<(), String>),
    /// Any number of texts that the function can read.
    Many(fn(&str) -> Result<(), String>),
}

impl Form {
    /// Any whole number.
    pub const NUMBER: Form = Form::Whole { least: 0, most: u64::MAX, unit: "" };

    /// What its numbers are of; none where it takes no numbers, or mere ones.
    pub fn unit(&self) -> Option<&'static str> {
        match self {
            Form::Bytes(..) => Some("bytes"),
            Form::Seconds(..) => Some("seconds"),
            Form::Rate => Some("bits a second"),
            Form::Whole { unit, .. } => Some(*unit).filter(|unit| !unit.is_empty()),
            _ => None,
        }
    }

    /// The least and the most of its numbers, both included, in that unit; a share's lie between 0 and 1. None where there is no such bound.
    pub fn bounds(&self) -> (Option<Value>, Option<Value>) {
        let most = |most: u64| (most < u64::MAX).then_some(Value::Whole(most));
        match self {
            Form::Bytes(least, to) | Form::Whole { least, most: to, .. } => (Some(Value::Whole(*least)), most(*to)),
            Form::Seconds(low, high) => (Some(Value::Real(*low)), Some(Value::Real(*high))),
            Form::Share => (Some(Value::Real(0.0)), Some(Value::Real(1.0))),
            _ => (None, None),
        }
    }

    /// What it takes, in words.
    pub fn words(&self) -> String {
        match self {
            Form::Switch => "on or off".to_owned(),
            Form::Bytes(0 | 1, u64::MAX) => "a size".to_owned(),
            // Each bound as a plain number: a rounded one would be refused.
            Form::Bytes(least, most) => format!("{least} to {most} bytes"),
            Form::Seconds(least, most) => format!("a time of {} to {}", Seconds(*least), Seconds(*most)),
            Form::Share => "a share of 0% to 100%".to_owned(),
            Form::Rate => "a rate above 0".to_owned(),
            Form::Whole { least, most, unit } => {
                let of = if unit.is_empty() { String::new() } else { format!(" of {unit}") };
                match (*least, *most) {
                    (0, u64::MAX) => format!("a whole number{of}"),
                    (least, u64::MAX) => format!("a whole number{of}, {least} or more"),
                    (least, most) => format!("a whole number{of}, {least} to {most}"),
                }
            }
            Form::Word(most) => format!("a word of at most {most} letters, digits, - and _"),
            Form::OneOf(words) => words.join(", "),
            Form::Text(what, _) | Form::Read(what, _) => (*what).to_owned(),
            Form::Many(_) => "a text, as often as wanted".to_owned(),
        }
    }

    /// The value that `text` is, within bounds; the error says what is wrong with it.
    pub fn read(&self, text: &str) -> Result<Value, String> {
        fn of<T: std::str::FromStr<Err: Display>>(text: &str) -> Result<T, String> {
            text.parse().map_err(|e: T::Err| e.to_string())
        }
        let value = match self {
            Form::Switch => match text {
                "on" | "yes" => Value::Switch(true),
                "off" | "no" => Value::Switch(false),
                _ => return Err(self.wanted()),
            },
            Form::Bytes(..) => Value::Whole(of::<Bytes>(text)?.0),
            Form::Seconds(..) => Value::Real(of::<Seconds>(text)?.0),
            Form::Share => Value::Real(of::<Share>(text)?.0),
            Form::Rate => Value::Real(of::<BitRate>(text)?.0),
            Form::Whole { .. } => Value::Whole(text.parse().map_err(|_| self.wanted())?),
            Form::Word(_) | Form::OneOf(_) | Form::Text(..) | Form::Read(..) => Value::Text(text.to_owned()),
            Form::Many(_) => Value::Many(vec![text.to_owned()]),
        };
        self.check(&value)?;
        Ok(value)
    }

    /// Whether a value that came from elsewhere is one of this form; the error says what is.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        // Written so that a NaN is refused as well.
        let within = |range: RangeInclusive<f64>| value.real().is_some_and(|x| x.is_finite() && range.contains(&x));
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let fits = match (self, value) {
            (Form::Switch, Value::Switch(_)) => true,
            (Form::Bytes(least, most) | Form::Whole { least, most, .. }, Value::Whole(n)) => {
                (*least..=*most).contains(n)
            }
            (Form::Seconds(least, most), _) => within(*least..=*most),
            (Form::Share, _) => within(0.0..=1.0),
            (Form::Rate, _) => within(f64::MIN_POSITIVE..=f64::MAX),
            (Form::Word(most), Value::Text(t)) => !t.is_empty() && t.len() <= *most && t.chars().all(plain),
            (Form::OneOf(words), Value::Text(text)) => words.contains(&text.as_str()),
            (Form::Text(_, fits), Value::Text(text)) => fits(text),
            (Form::Read(_, read), Value::Text(text)) => return read(text),
            (Form::Many(read), Value::Many(all)) => return all.iter().try_for_each(|text| read(text)),
            _ => false,
        };
        if fits { Ok(()) } else { Err(self.wanted()) }
    }

    fn wanted(&self) -> String {
        match self {
            Form::Bytes(least, u64::MAX) => format!("it is a size of at least {least} bytes"),
            Form::Bytes(..) => format!("{} are valid", self.words()),
            Form::Share => "a share lies between 0% and 100%".to_owned(),
            Form::Rate => format!("{} is wanted, such as 10Gbit/s", self.words()),
            Form::Whole { least: 0, most: u64::MAX, .. } => format!("{} is wanted, such as 100", self.words()),
            Form::Whole { .. } => format!("{} is wanted", self.words()),
            Form::Seconds(..) | Form::Word(_) | Form::Text(..) | Form::Read(..) => {
                format!("{} is wanted", self.words())
            }
            Form::OneOf(_) => format!("it is one of {}", self.words()),
            Form::Switch | Form::Many(_) => format!("it is {}", self.words()),
        }
    }

    /// A value as `NAME:option=value` takes it.
    pub fn text(&self, value: &Value) -> String {
        match (self, value) {
            (Form::Bytes(..), Value::Whole(n)) => exact(*n),
            (Form::Seconds(..), Value::Real(x)) => scaled(*x, &[(1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")]),
            (Form::Rate, Value::Real(x)) => {
                scaled(*x, &[(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")])
            }
            (Form::Share, Value::Real(x)) => format!("{}%", (x * 1e10).round() / 1e8),
            _ => value.to_string(),
        }
    }
}

/// A size as it is typed, to the byte.
fn exact(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.iter().find(|(shift, _)| bytes >= 1 << shift && bytes.trailing_zeros() >= *shift) {
        Some((shift, unit)) => format!("{}{unit}", bytes >> shift),
        None => format!("{bytes}"),
    }
}

/// A quantity in the largest of these units that it fills, to six decimals of it.
fn scaled(x: f64, units: &[(f64, &str)]) -> String {
    let (unit, name) = units.iter().find(|(unit, _)| x >= *unit).or(units.last()).copied().unwrap_or((1.0, ""));
    format!("{}{name}", (x / unit * 1e6).round() / 1e6)
}

fn words<T: Display>(value: Option<T>) -> Option<String> {
    value.map(|v| v.to_string())
}

/// How the other side is waited for: `modes` are those that the transport knows, its default first.
pub const fn wait(modes: &'static [&'static str], default: &'static str) -> OptionSpec {
    OptionSpec {
        name: "wait",
        flag: Some("--wait"),
        form: Form::OneOf(modes),
        default,
        help: "how a side waits for the other",
        answers: &[Answer { part: "", of: |e| words(e.wait) }],
        steers: false,
        moved: None,
    }
}

/// What sockets are asked for by `SO_SNDBUF` and `SO_RCVBUF`. Linux reports twice what was asked.
pub const SOCKBUF: OptionSpec = OptionSpec {
    name: "sockbuf",
    flag: Some("--sockbuf"),
    form: Form::Bytes(1, 1 << 31),
    default: "the system's",
    help: "send and receive buffer asked of the kernel",
    answers: &[
        Answer { part: " (send)", of: |e| words(e.send_buffer) },
        Answer { part: " (receive)", of: |e| words(e.receive_buffer) },
    ],
    steers: false,
    moved: Some(Moved {
        knob: Knob::Buffer,
        unset: None,
        now: |e| e.send_buffer.map(|bytes| bytes / 2),
        doubles: true,
        limits: &["net.core.wmem_max", "net.core.rmem_max"],
        least: 1,
    }),
};

/// IPv4 or IPv6.
pub const FAMILY: OptionSpec = OptionSpec {
    name: "family",
    flag: Some("-4, -6"),
    form: Form::OneOf(&["4", "6"]),
    default: "what the address gives",
    help: "IP version",
    answers: &[],
    steers: false,
    moved: None,
};

/// When a datagram counts as lost.
pub const LOSS_TIMEOUT: OptionSpec = OptionSpec {
    name: "loss-timeout",
    flag: Some("--loss-timeout"),
    form: Form::Seconds(1e-4, 3600.0),
    default: "200ms",
    help: "time without an answer after which a datagram counts as lost",
    answers: &[],
    steers: false,
    moved: None,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_within_bounds_and_printed_as_they_are_typed() {
        for (form, text) in [
            (SOCKBUF.form, "64KiB"),
            (SOCKBUF.form, "1MiB"),
            (SOCKBUF.form, "20001"),
            (LOSS_TIMEOUT.form, "200ms"),
            (Form::Share, "1%"),
            (Form::Rate, "10Gbit/s"),
            (Form::NUMBER, "7"),
            (Form::Whole { least: 1, most: 0xFFFF, unit: "messages" }, "65535"),
            (Form::Word(15), "bbr"),
            (FAMILY.form, "6"),
            (Form::Switch, "off"),
        ] {
            let value = form.read(text).unwrap();
            assert_eq!(form.text(&value), text);
            assert_eq!(form.check(&value), Ok(()));
        }
    }

    #[test]
    fn a_knob_stands_where_it_was_set_or_where_the_other_side_of_the_option_says() {
        let limit = OptionSpec {
            name: "limit",
            form: Form::Bytes(256, 1 << 20),
            steers: false,
            moved: Some(Moved { now: |_| None, unset: Some(4096), limits: &[], least: 256, ..SOCKBUF.moved.unwrap() }),
            ..SOCKBUF
        };
        let said =
            |text: &str| Effective { options: [("limit".to_owned(), text.to_owned())].into(), ..Effective::default() };
        let set = Settings::new().with("limit", 8192u64);
        for (settings, effective, stands) in [
            (&set, said("65536"), 8192),
            (&Settings::new(), said("65536"), 65_536),
            (&Settings::new(), said("64KiB"), 65_536),
            (&Settings::new(), said("as large as it likes"), 4096),
            (&Settings::new(), Effective::default(), 4096),
        ] {
            assert_eq!(limit.stands(settings, &effective), Some(stands), "{settings:?} {effective:?}");
        }
        assert_eq!(limit.elsewhere(4096, u64::MAX), Some(8192));
        assert_eq!(limit.elsewhere(1 << 20, u64::MAX), Some(1 << 19), "within its bounds");
        assert_eq!(limit.elsewhere(4096, 5000), Some(2048), "within the system's");
        assert_eq!(limit.elsewhere(256, 256), None);
        let any = OptionSpec { moved: Some(Moved { least: 0, ..limit.moved.unwrap() }), form: Form::NUMBER, ..limit };
        assert_eq!([0, u64::MAX].map(|now| any.elsewhere(now, u64::MAX)), [None, None], "it would stay where it is");
    }

    #[test]
    fn what_is_out_of_bounds_or_of_another_sort_is_refused_with_what_fits() {
        for (form, text, says) in [
            (SOCKBUF.form, "0", "1 to 2147483648 bytes are valid"),
            (SOCKBUF.form, "4GiB", "bytes are valid"),
            (LOSS_TIMEOUT.form, "0s", "a time of"),
            (LOSS_TIMEOUT.form, "2h", "is wanted"),
            (Form::Share, "120%", "0% and 100%"),
            (Form::Rate, "0bit/s", "a rate above 0"),
            (Form::Word(15), "../../etc", "a word of at most 15"),
            (FAMILY.form, "5", "it is one of 4, 6"),
            (Form::Switch, "maybe", "it is on or off"),
            (Form::NUMBER, "x", "such as 100"),
            (Form::Whole { least: 1, most: 8, unit: "messages" }, "0", "a whole number of messages, 1 to 8 is wanted"),
            (Form::Whole { least: 1, most: u64::MAX, unit: "" }, "0", "a whole number, 1 or more"),
        ] {
            let said = form.read(text).unwrap_err();
            assert!(said.contains(says), "{text}: {said}");
        }
        for value in [Value::Real(f64::NAN), Value::Real(f64::INFINITY), Value::Real(-1.0), Value::Text("1s".into())] {
            assert!(LOSS_TIMEOUT.form.check(&value).is_err(), "{value:?}");
        }
        assert!(SOCKBUF.form.check(&Value::Whole(u64::MAX)).is_err());
    }
}
