//! What a command and the process that leads its run on another host say to each other: a line each, of which the first byte says what it is.

use host::Environment;
use measure::event::{Calibration, Plan};
use measure::{Event, Outcome};
use record::codec;
use rendezvous::{Far, FarPin};
use serde::{Deserialize, Serialize};

/// Longest line of the command's.
pub const LONGEST_TASK: usize = 64 << 20;

/// What that process is told.
#[derive(Serialize, Deserialize)]
pub struct Task {
    /// What each side of the run asks for, and where `--pin` has it run.
    pub sides: Vec<(Plan, String)>,
    /// Where the far side is.
    pub far: Place,
    /// On which CPU a far side on another host runs.
    pub far_pin: FarPin,
}

/// Where the far side is, as the near host has it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// On the near host, reached at these addresses in turn where they are not the host itself.
    Here { at: Vec<String> },
    /// Processes that the command started in turn on so many hosts, and which wait: of each its host as the near host knows it, its port and its key.
    Waiting { hosts: usize, processes: Vec<(String, u16, String)> },
    /// `pipegauge serve`.
    Listening { host: String, port: u16, key: String },
}

impl Place {
    /// As the session layer has it; an error where a key is none.
    pub fn far(self) -> Result<Far, rendezvous::KeyError> {
        Ok(match self {
            Self::Here { at } => Far::Local { program: Far::own(), at },
            Self::Waiting { hosts, processes } => {
                let read = |(host, port, key): (String, u16, String)| Ok((host, port, key.parse()?));
                Far::Waiting { hosts, processes: processes.into_iter().map(read).collect::<Result<_, _>>()? }
            }
            Self::Listening { host, port, key } => Far::Listening { host, port, key: key.parse()? },
        })
    }
}

/// What the near host is, and what it made of the plans.
#[derive(Serialize, Deserialize)]
pub struct Settled {
    pub near: Environment,
    pub calibration: Calibration,
    /// Of each side: the CPUs, and the bytes of the pool of cold memory.
    pub sides: Vec<(Option<(u32, u32)>, u64)>,
}

/// How a side ended.
#[derive(Serialize, Deserialize)]
pub struct Ended {
    pub trials: u64,
    pub unsettled: usize,
    /// What ended it early, and whether that was the other side's.
    pub error: Option<(String, bool)>,
}

impl Ended {
    /// Of an outcome there.
    pub fn of(outcome: &Outcome) -> Self {
        use measure::driver::RunError;
        let error = outcome.error.as_ref().map(|e| match e {
            RunError::OtherSide(text) => (text.clone(), true),
            e => (e.to_string(), false),
        });
        Self { trials: outcome.trials, unsettled: outcome.unsettled, error }
    }

    /// As an outcome here.
    pub fn outcome(self) -> Outcome {
        use measure::driver::RunError;
        let error = self.error.map(|(text, other)| {
            let text = units::received::clean(&text, units::received::SENTENCE);
            if other { RunError::OtherSide(text) } else { RunError::Elsewhere(text) }
        });
        Outcome { error, trials: self.trials, unsettled: self.unsettled }
    }
}

/// A line of that process.
pub enum Told {
    /// It is there.
    Beat,
    /// Something that a person should know before the run.
    Note(String),
    /// The run begins.
    Begins(Box<Settled>),
    /// It can't begin.
    Refused(String),
    /// Something happened on the side of this number.
    Event(usize, Box<Event>),
    /// The run is over.
    Over(Vec<Ended>),
}

impl Told {
    /// Appends it as a line. An error where an event holds a number that can't be written.
    pub fn write(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        let mut json = |kind: u8, value: serde_json::Result<Vec<u8>>| {
            let value = value?;
            out.push(kind);
            out.extend_from_slice(&value);
            out.push(b'\n');
            Ok(())
        };
        match self {
            Self::Beat => json(b'.', Ok(Vec::new())),
            Self::Note(text) => json(b'#', serde_json::to_vec(text)),
            Self::Begins(settled) => json(b'>', serde_json::to_vec(settled)),
            Self::Refused(text) => json(b'!', serde_json::to_vec(text)),
            Self::Over(ended) => json(b'=', serde_json::to_vec(ended)),
            Self::Event(side, event) => event_line(*side, event, out),
        }
    }

    /// What a line says, or what is wrong with it.
    pub fn read(line: &[u8]) -> Result<Self, String> {
        let (kind, rest) = line.split_first().ok_or("an empty line")?;
        let wrong = |e: serde_json::Error| units::received::clean(&e.to_string(), 200);
        Ok(match kind {
            b'.' => Self::Beat,
            b'#' => Self::Note(units::received::json(rest).map_err(wrong)?),
            b'>' => Self::Begins(Box::new(units::received::json(rest).map_err(wrong)?)),
            b'!' => Self::Refused(units::received::json(rest).map_err(wrong)?),
            b'=' => Self::Over(units::received::json(rest).map_err(wrong)?),
            b'0'..=b'9' => Self::Event(usize::from(kind - b'0'), Box::new(codec::event(rest)?)),
            _ => return Err(format!("a line that begins with byte {kind}")),
        })
    }
}

/// Appends an event of a side without a copy of it.
pub fn event_line(side: usize, event: &Event, out: &mut Vec<u8>) -> serde_json::Result<()> {
    let begun = out.len();
    out.push(b'0' + u8::try_from(side).unwrap_or(9).min(9));
    codec::write(event, out).inspect_err(|_| out.truncate(begun))
}

#[cfg(test)]
mod tests {
    use measure::event::Warning;

    use super::*;

    #[test]
    fn what_is_told_is_heard_as_it_was() {
        let end = Event::Warning(Warning { code: "x".into(), path: None, sizes: vec![1], text: "y".into() });
        let mut lines = Vec::new();
        for told in [
            Told::Beat,
            Told::Note("not \"pinned\"\n".into()),
            Told::Refused("no".into()),
            Told::Event(1, Box::new(end.clone())),
            Told::Over(vec![Ended { trials: 3, unsettled: 1, error: Some(("gone".into(), false)) }]),
        ] {
            told.write(&mut lines).unwrap();
        }
        let messages: Vec<Told> =
            lines.split(|b| *b == b'\n').filter(|l| !l.is_empty()).map(|l| Told::read(l).unwrap()).collect();
        assert!(
            matches!(&messages[..], [Told::Beat, Told::Note(note), Told::Refused(_), Told::Event(1, event), Told::Over(_)]
            if note.starts_with("not") && **event == end)
        );
        let Some(Told::Over(ended)) = messages.into_iter().next_back() else { panic!() };
        let outcome = ended.into_iter().next().unwrap().outcome();
        assert_eq!((outcome.trials, outcome.unsettled, outcome.error.unwrap().to_string()), (3, 1, "gone".to_owned()));
    }

    #[test]
    fn what_is_no_line_of_ours_is_named() {
        for line in [&b""[..], b"x", b"0", b"0{}", b"0{\"event\":\"later\"}", b"=7", b">{}", b"#\xff", b"\xff"] {
            assert!(Told::read(line).is_err(), "{line:?}");
        }
    }
}
