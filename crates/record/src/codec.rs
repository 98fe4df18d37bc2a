//! How an event's line is written and read: in one place for the run file, the page that carries it and the reader.

use std::borrow::Cow;

use measure::earlier::Earlier;
use measure::event::{Event, PointEnded, Trial, Why};
use measure::trials::Place;
use measure::{Carried, Cost, FarReport, Flows, Tcp, TrialReport};
use serde::{Deserialize, Serialize};

use crate::{Point, RunFile};

/// The kinds of event of this schema.
pub(crate) const KNOWN: [&str; 10] =
    ["run", "path", "earlier", "block", "trial", "sustained", "taken", "point", "warning", "end"];
/// First bytes of the most frequent lines.
const POINT: &[u8] = br#"{"event":"point","#;
const TRIAL: &[u8] = br#"{"event":"trial","#;
const SUSTAINED: &[u8] = br#"{"event":"sustained","#;
/// Most characters of a parser's message that are repeated: it quotes what it found, however long that is.
const LONGEST: usize = 160;

/// A trial's line: its fields and those of its report side by side, written and read by these names. All but a few lines of a run
/// file are trials, and the tagged enum and the flattened report would build and take apart a tree of values twice for each: reading
/// would take twice as long. Fields that have their default value are left out.
#[derive(Serialize, Deserialize)]
struct Flat<'a> {
    #[serde(skip_deserializing)]
    event: &'static str,
    path: u32,
    #[serde(rename = "block")]
    round: u32,
    at: f64,
    size: u64,
    #[serde(default, skip_serializing_if = "unsaid")]
    response: u64,
    #[serde(default, skip_serializing_if = "unsaid")]
    burst: u64,
    #[serde(default, skip_serializing_if = "unsaid")]
    warmup: bool,
    #[serde(default, skip_serializing_if = "unsaid")]
    repeats: u64,
    #[serde(default, skip_serializing_if = "unsaid")]
    seconds: f64,
    #[serde(default, skip_serializing_if = "unsaid")]
    median: f64,
    #[serde(default, skip_serializing_if = "unsaid")]
    min: f64,
    #[serde(default, skip_serializing_if = "unsaid")]
    max: f64,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    histogram: Cow<'a, [(u64, u64)]>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pauses: Cow<'a, [(u64, u64)]>,
    #[serde(default, skip_serializing_if = "unsaid")]
    late: u64,
    #[serde(default, skip_serializing_if = "unsaid")]
    lost: u64,
    #[serde(default, skip_serializing_if = "unsaid")]
    reordered: u64,
    #[serde(default, skip_serializing_if = "unsaid")]
    duplicated: u64,
    #[serde(default, skip_serializing_if = "unsaid")]
    bounds: Option<(u64, u64)>,
    #[serde(default, skip_serializing_if = "unsaid")]
    cost: Option<Cost>,
    #[serde(default, skip_serializing_if = "unsaid")]
    flows: Cow<'a, Option<Flows>>,
    #[serde(default, skip_serializing_if = "unsaid")]
    tcp: Option<Tcp>,
    #[serde(default, skip_serializing_if = "unsaid")]
    copied: Option<(u64, u64)>,
    #[serde(default, skip_serializing_if = "unsaid")]
    load: Option<Carried>,
    #[serde(default, skip_serializing_if = "unsaid")]
    far: Cow<'a, FarReport>,
}

fn unsaid<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl<'a> Flat<'a> {
    fn of(event: &'static str, trial: &'a Trial) -> Self {
        let Trial { path, round, at, size, response, burst, warmup, ref report } = *trial;
        let TrialReport { repeats, seconds, median, min, max, late, lost, reordered, duplicated, bounds, .. } = *report;
        let TrialReport { histogram, pauses, cost, flows, tcp, copied, load, far, .. } = report;
        let [histogram, pauses] = [histogram, pauses].map(|pairs| Cow::Borrowed(&pairs[..]));
        let far = Cow::Borrowed(far);
        Self {
            event,
            path,
            round,
            at,
            size,
            response,
            burst,
            warmup,
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
            cost: *cost,
            flows: Cow::Borrowed(flows),
            tcp: *tcp,
            copied: *copied,
            load: *load,
            far,
        }
    }

    /// Without `..`: a new field that is missing here is a compile error.
    fn trial(self) -> Trial {
        let Self { path, round, at, size, response, burst, warmup, repeats, seconds, median, min, max, late, .. } =
            self;
        let Self { lost, reordered, duplicated, bounds, cost, tcp, copied, load, .. } = self;
        let (histogram, pauses, far) = (self.histogram.into_owned(), self.pauses.into_owned(), self.far.into_owned());
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
            cost,
            flows: self.flows.into_owned(),
            // A recorded trial is over; its course is not kept.
            course: None,
            tcp,
            copied,
            load,
            far,
        };
        Trial { path, round, at, size, response, burst, warmup, report }
    }
}

/// Appends an event's line, its newline included. A number that JSON can't hold (NaN, infinity) is an error, and nothing is appended: it
/// would become a null, which no reader takes for a number.
pub fn write(event: &Event, out: &mut Vec<u8>) -> serde_json::Result<()> {
    match event {
        Event::Trial(trial) => line(&Flat::of("trial", trial), out),
        Event::Sustained(trial) => line(&Flat::of("sustained", trial), out),
        other => line(other, out),
    }
}

fn line(event: &impl Serialize, out: &mut Vec<u8>) -> serde_json::Result<()> {
    let start = out.len();
    let mut done = serde_json::to_writer(&mut *out, event);
    // Only lines with a null can have such a number, and few have one.
    if done.is_ok() && out[start..].windows(4).any(|w| w == b"null") {
        done = serde_json::from_slice::<Event>(&out[start..]).map(drop);
    }
    match done {
        Ok(()) => out.push(b'\n'),
        Err(_) => out.truncate(start),
    }
    done
}

/// A line of the file of a run that was read or measured.
#[derive(Debug)]
pub enum Kept<'a> {
    /// An event of a kind that has few lines.
    Event(Box<Event>),
    /// A trial.
    Trial(Place<'a>),
    /// A sustained trial.
    Sustained(&'a Trial),
    /// A point of the path of this number.
    Point(u32, &'a Point),
}

impl Kept<'_> {
    /// As [`write`].
    pub fn write(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        match self {
            Kept::Event(event) => write(event, out),
            Kept::Trial(place) => line(&Flat::of("trial", &place.trial()), out),
            Kept::Sustained(trial) => line(&Flat::of("sustained", trial), out),
            Kept::Point(path, p) => {
                let (path, size, time, figures, why) =
                    (*path, p.size, p.time, p.figures, p.why.unwrap_or(Why::Stopped));
                write(&Event::Point(PointEnded { path, size, time, figures, why }), out)
            }
        }
    }
}

/// A run as the lines of its file: header, paths, rounds, what others took of the CPUs during them, trials in order of time, points,
/// warnings, end. A point that had not ended is written as stopped.
pub fn lines(run: &RunFile) -> Vec<Kept<'_>> {
    let event = |e: Event| Kept::Event(Box::new(e));
    let mut lines = vec![event(Event::Run(run.run.clone()))];
    for path in &run.paths {
        lines.push(event(Event::Path(path.opened.clone())));
        let earlier = path.earlier.clone();
        let earlier = earlier.map(|runs| Earlier { path: path.opened.path, runs, others: path.others.clone() });
        lines.extend(earlier.map(Event::Earlier).map(event));
    }
    lines.extend(run.paths.iter().flat_map(|p| &p.rounds).map(|b| event(Event::Round(b.clone()))));
    lines.extend(run.paths.iter().flat_map(|p| &p.taken).map(|t| event(Event::Taken(t.clone()))));
    let points = run.paths.iter().flat_map(|p| &p.points);
    let short = points.flat_map(|p| p.trials.places()).map(|(at, place)| (at, Kept::Trial(place)));
    let long = run.paths.iter().flat_map(|p| &p.sustained).map(|t| (t.at, Kept::Sustained(t)));
    let mut trials: Vec<(f64, Kept<'_>)> = short.chain(long).collect();
    trials.sort_by(|a, b| a.0.total_cmp(&b.0));
    lines.extend(trials.into_iter().map(|(_, line)| line));
    lines.extend(run.paths.iter().flat_map(|path| path.points.iter().map(|p| Kept::Point(path.opened.path, p))));
    lines.extend(run.warnings.iter().map(|w| event(Event::Warning(w.clone()))));
    lines.extend(run.end.iter().map(|e| event(Event::End(e.clone()))));
    lines
}

/// A whole line that was read.
#[allow(clippy::large_enum_variant, reason = "one exists at a time; boxing each event would cost more than it saves")]
pub(crate) enum Line {
    /// An event that this version knows.
    Event(Event),
    /// Another kind of event, by name.
    Unknown(String),
}

/// The event of a line that this version wrote, or what is wrong with it.
pub fn event(line: &[u8]) -> Result<Event, String> {
    match read(line)? {
        Line::Event(event) => Ok(event),
        Line::Unknown(kind) => Err(format!("an event of another version: '{kind}'")),
    }
}

/// The fields that are read of a line that is no known event.
#[derive(Deserialize)]
pub(crate) struct Head<'a> {
    #[serde(borrow, default)]
    pub(crate) event: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) schema: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) version: Option<Cow<'a, str>>,
}

/// The event of a line, or what is wrong with it.
pub(crate) fn read(text: &[u8]) -> Result<Line, String> {
    if let Some(event) = frequent(text) {
        return Ok(Line::Event(event));
    }
    let wrong = match units::received::json(text) {
        Ok(event) => return Ok(Line::Event(event)),
        Err(e) => e,
    };
    match serde_json::from_slice::<Head>(text) {
        Ok(Head { event: Some(kind), .. }) if !KNOWN.contains(&kind.as_ref()) => Ok(Line::Unknown(short(&kind))),
        Ok(Head { event: Some(kind), .. }) => {
            Err(format!("a '{}' event that can't be read: {}", short(&kind), cut(wrong.to_string())))
        }
        Ok(_) => Err("JSON without an 'event' field".into()),
        Err(e) => Err(format!("not a JSON object: {}", cut(e.to_string()))),
    }
}

/// The trial or point of a line that begins as this program writes it. None for any other line, and for one that can't be read: the
/// general reader says what is wrong with it.
fn frequent(text: &[u8]) -> Option<Event> {
    let event = match () {
        () if text.starts_with(TRIAL) => Event::Trial,
        () if text.starts_with(SUSTAINED) => Event::Sustained,
        // There is no string in it but names of variants.
        () if text.starts_with(POINT) => return serde_json::from_slice(text).ok().map(Event::Point),
        () => return None,
    };
    serde_json::from_slice::<Flat>(text).ok().map(|flat| event(flat.trial()))
}

/// Text from a file, safe and short enough for one line of a terminal.
pub(crate) fn short(text: &str) -> String {
    let mut out: String = text.chars().take(40).flat_map(char::escape_default).collect();
    if text.chars().nth(40).is_some() {
        out.push_str("...");
    }
    out
}

/// A message, cut at [`LONGEST`] characters.
fn cut(mut message: String) -> String {
    if let Some((end, _)) = message.char_indices().nth(LONGEST) {
        message.truncate(end);
        message.push_str("...");
    }
    message
}

#[cfg(test)]
mod tests {
    use host::MachineCalibration;
    use measure::FlowReport;
    use measure::event::{HostCalibration, RoundOpened};
    use measure::topology::{MemberOpened, Role};

    use super::*;
    use crate::sample;

    /// Without its name a kind of event of this version that can't be read would pass as one of a later version.
    #[test]
    fn every_kind_of_event_is_known_by_its_name_and_no_other_is() {
        let schema = crate::schema();
        let kinds = schema["oneOf"].as_array().unwrap();
        let mut named: Vec<&str> = kinds.iter().map(|k| k["properties"]["event"]["const"].as_str().unwrap()).collect();
        let mut known = KNOWN.to_vec();
        named.sort_unstable();
        known.sort_unstable();
        assert_eq!(known, named);
    }

    /// A trial with a value of its own in each field.
    fn full() -> Trial {
        let cost = Cost {
            iterations: 20,
            elapsed_ns: 21,
            cpu_ns: 22,
            user_ns: 23,
            system_ns: 24,
            step_ns: 25,
            voluntary: 26,
            involuntary: 27,
            cycles: 28,
            instructions: 29,
        };
        let far = FarReport {
            seconds: 0.5,
            bytes: 7,
            received: 8,
            lost: 9,
            reordered: 10,
            duplicated: 11,
            strangers: 37,
            corrupt: Some((1, 2)),
            spilled: Some(42),
            bounds: Some((16, 17)),
            cost: Some(Cost { elapsed_ns: 18, voluntary: 19, ..cost }),
            course: None,
            copied: Some((40, 41)),
        };
        let flow = FlowReport {
            iterations: 32.5,
            lost: 33,
            retransmits: 34,
            sent: 35.5,
            near_cost: Some(cost),
            far_cost: None,
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
            cost: Some(cost),
            flows: Some(Flows { seconds: 35.5, span: 36.5, apart: 0.5, each: vec![flow, flow] }),
            course: None,
            tcp: Some(Tcp { retransmits: 28, rtt_us: 29, window: 30, delivery_rate: 31 }),
            copied: Some((38, 39)),
            load: Some(Carried { there: Some(35.0), back: Some(36.0) }),
            far,
        };
        Trial { path: 1, round: 2, at: 3.0, size: 4, response: 5, burst: 6, warmup: true, report }
    }

    /// A path with a process that has all that one can have.
    fn with_a_member() -> measure::event::PathOpened {
        let opened = sample::opened(0, transport::tcp::NAME);
        let member = MemberOpened {
            role: Role::Far,
            rank: 2,
            host: "box".into(),
            cpus: vec![1, 3],
            environment: opened.far.clone().map(Box::new),
            capabilities: Some(Box::new(sample::capabilities())),
        };
        measure::event::PathOpened { members: vec![member], ..opened }
    }

    /// A round for which three machines were calibrated.
    fn over_two_far_hosts() -> RoundOpened {
        let reading = |wake| MachineCalibration { wake, line: (wake > 2e-5).then_some(1e-7), copy: 1e-6 };
        RoundOpened {
            round: 3,
            calibration: Some(reading(1e-5)),
            far_calibration: Some(reading(2e-5)),
            other_far_calibrations: vec![HostCalibration { rank: 2, calibration: reading(3e-5) }],
            ..RoundOpened::default()
        }
    }

    /// What older versions wrote, and what they read of today's: the first far host's alone, by the same name.
    #[test]
    fn a_round_keeps_the_first_far_hosts_calibration_under_its_old_name() {
        let round = over_two_far_hosts();
        let mut text = serde_json::to_value(&round).unwrap();
        assert_eq!(text["far_calibration"]["wake"], 2e-5);
        assert_eq!(
            (&text["other_far_calibrations"][0]["rank"], &text["other_far_calibrations"][0]["wake"]),
            (&2.into(), &3e-5.into())
        );
        text.as_object_mut().unwrap().remove("other_far_calibrations");
        let older: RoundOpened = serde_json::from_value(text).unwrap();
        assert_eq!(older, RoundOpened { other_far_calibrations: Vec::new(), ..round.clone() });
        assert_eq!(
            [1, 2, 3].map(|rank| round.far_calibration_of(rank).map(|c| c.wake)),
            [Some(2e-5), Some(3e-5), None]
        );
    }

    /// Both ways of writing (all fields, and those with something to say) and both of reading give the same.
    #[test]
    fn every_event_reads_back_as_it_was_from_either_way_of_writing() {
        let mut events = sample::events();
        events.extend([Event::Trial(full()), Event::Sustained(full()), Event::Path(with_a_member())]);
        events.push(Event::Round(over_two_far_hosts()));
        for event in events {
            let whole = serde_json::to_vec(&event).unwrap();
            let mut lean = Vec::new();
            write(&event, &mut lean).unwrap();
            for text in [&whole, &lean] {
                assert_eq!(serde_json::from_slice::<Event>(text).unwrap(), event);
                assert!(matches!(read(text), Ok(Line::Event(e)) if e == event));
            }
            let many = matches!(event, Event::Trial(_) | Event::Sustained(_) | Event::Point(_));
            assert_eq!(frequent(&lean).is_some(), many);
            assert!(lean.len() <= whole.len() + 1);
        }
    }

    #[test]
    fn a_run_is_the_lines_of_its_file() {
        let mut run = sample::file();
        run.paths[0].sustained.push(Trial { path: 0, ..full() });
        let mut text = Vec::new();
        lines(&run).iter().for_each(|line| line.write(&mut text).unwrap());
        let mut back = crate::read::read_from(&text[..], "back").unwrap();
        // A point that had not ended was written as stopped.
        for (path, was) in back.paths.iter_mut().zip(&run.paths) {
            path.points
                .iter_mut()
                .zip(&was.points)
                .filter(|(_, was)| was.why.is_none())
                .for_each(|(p, _)| p.why = None);
        }
        assert_eq!(back, run);
    }

    #[test]
    fn what_can_t_be_read_is_left_to_the_general_reader() {
        assert!(frequent(br#"{"event":"trial","path":0}"#).is_none());
        assert!(frequent(br#"{"path":0,"event":"trial"}"#).is_none());
        assert!(frequent(br#"{"event":"trial","path":0,"block":1,"at":0.0,"size""#).is_none());
    }
}
