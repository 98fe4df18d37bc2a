//! NetPIPE's output as a run.

mod text;

use std::collections::BTreeMap;

use host::Environment;
use measure::event::{
    Calibration, End, PathOpened, Plan, PointEnded, RoundOpened, Run, SCHEMA, Schedule, Trial, Warning, Why,
};
use measure::pattern::NetPipe;
use measure::{Cache, Event, Pattern, figures};
use transport::Name;
use transport::decorate::Decorators;
use transport::settings::Effective;

use self::text::{Sample, Version, fault, parse};

/// Why a file can't be imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// No line of figures is in it.
    #[error("there is no line of figures in it: NetPIPE ended before its first point, or wrote to another file (-o)")]
    Empty,
    /// A line is not as NetPIPE writes it.
    #[error("line {line}: {what}; it reads '{found}'")]
    Line {
        /// Line, from 1.
        line: usize,
        /// What is wrong, and what was expected.
        what: String,
        /// The line, shortened.
        found: String,
    },
    /// The file can't come from the mode that was named.
    #[error("NetPIPE {version} output can't be imported as the pattern {pattern:?}: {why}")]
    Pattern {
        /// Version that wrote the file.
        version: &'static str,
        /// Pattern named.
        pattern: Pattern,
        /// Why not.
        why: String,
    },
}

/// What NetPIPE's output doesn't contain and the caller may know.
#[derive(Debug, Clone, Default)]
pub struct Source {
    /// Transport that was measured; tcp (NetPIPE's first module) where not known, and the run carries a warning.
    pub transport: Option<Name>,
    /// [`Pattern::PingPong`] where not known; [`Pattern::Stream`] (`-s`) and [`Pattern::Bidirectional`] (`-2`) otherwise.
    pub pattern: Option<Pattern>,
    /// Name of the file, for the run's command.
    pub name: Option<String>,
    /// When it was measured, RFC 3339, UTC.
    pub started: Option<String>,
}

/// NetPIPE's output as the events of a run, where nothing else is known of it ([`np_from`] takes what is).
pub fn np(text: &str) -> Result<Vec<Event>, ImportError> {
    np_from(text, &Source::default())
}

/// NetPIPE's output as the events of a run: a header whose command is `import`, one path, a trial of one iteration for each line, a point
/// for each size, and a warning that says what the file does not contain. Fields of the plan that NetPIPE doesn't record are 0, 1 or none;
/// times within the run are 0.
pub fn np_from(text: &str, source: &Source) -> Result<Vec<Event>, ImportError> {
    let (version, samples) = parse(text)?;
    let pattern = source.pattern.unwrap_or(Pattern::PingPong);
    let refuse = |why| ImportError::Pattern { version: version.name(), pattern, why };
    let mode = pattern.facts().netpipe.ok_or_else(|| {
        refuse(format!("NetPIPE has no such mode; it has {}", Pattern::those(|facts| facts.netpipe.is_some())))
    })?;
    if version != Version::Three && !mode.in_five {
        return Err(refuse("what its bytes count in that mode is not documented".to_owned()));
    }
    let kind = source.transport.unwrap_or(transport::tcp::NAME);
    let mut points = BTreeMap::<u64, (Vec<Trial>, Option<f64>)>::new();
    let mut trials = Vec::new();
    for (line, found, sample) in &samples {
        let trial = trial(*sample, &mode).ok_or_else(|| {
            fault(*line, found, "an odd number of bytes, but bidirectional mode counts each message twice")
        })?;
        let (of, shortest) = points.entry(trial.size).or_default();
        *shortest = [*shortest, sample.shortest].into_iter().flatten().reduce(f64::min);
        of.push(trial.clone());
        trials.push(trial);
    }
    let sizes: Vec<u64> = points.keys().copied().collect();
    let plan = plan(kind, pattern, &sizes);
    let mut command = vec!["import".to_owned()];
    command.extend(source.name.clone());
    let mut events = vec![
        Event::Run(Run {
            schema: SCHEMA.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            started: source.started.clone().unwrap_or_default(),
            command,
            plan: plan.clone(),
            near: Environment::default(),
            calibration: Calibration::default(),
            side: None,
        }),
        Event::Path(PathOpened {
            path: 0,
            transport: kind,
            label: None,
            capabilities: kind.capabilities(),
            far: None,
            near_effective: Effective::default(),
            far_effective: Effective::default(),
            flows: Vec::new(),
            members: Vec::new(),
            load: None,
        }),
        Event::Round(RoundOpened {
            path: 0,
            round: ROUND,
            at: 0.0,
            planned: trials.len().try_into().unwrap_or(u32::MAX),
            ..RoundOpened::default()
        }),
    ];
    events.extend(trials.into_iter().map(Event::Trial));
    let time = figures::time_kind(&plan, kind, 1);
    for (size, (trials, shortest)) in points {
        let all: Vec<&Trial> = trials.iter().collect();
        let Some(mut figures) = figures::figures(&plan, kind, &all, &figures::Common::default()) else {
            continue;
        };
        figures.min = shortest.map_or(figures.min, |s| s.min(figures.min));
        events.push(Event::Point(PointEnded { path: 0, size, time, figures, why: Why::Trials }));
    }
    events.push(Event::Warning(about(version, kind, source, samples.iter().any(|(_, _, s)| s.unlike))));
    events.push(Event::End(End { at: 0.0, error: None, cpu_interference: None, taken: None }));
    Ok(events)
}

/// Round 0 is a run's survey; an import has none.
const ROUND: u32 = 1;

fn trial(sample: Sample, mode: &NetPipe) -> Option<Trial> {
    let Sample { bytes, seconds, .. } = sample;
    let size = bytes.is_multiple_of(mode.counts).then_some(bytes / mode.counts)?;
    let report = (mode.report)(bytes, seconds);
    Some(Trial { path: 0, round: ROUND, at: 0.0, size, response: 0, burst: 0, warmup: false, report })
}

fn plan(kind: Name, pattern: Pattern, sizes: &[u64]) -> Plan {
    Plan {
        paths: measure::event::plain(&[kind]),
        pattern,
        reverse: false,
        both: false,
        schedule: Schedule::Netpipe,
        from: sizes.first().copied().unwrap_or_default(),
        to: sizes.last().copied().unwrap_or_default(),
        step: None,
        sizes: Some(sizes.to_vec()),
        perturb: 0,
        trials: Some(1),
        repeats: Some(1),
        precision: 0.0,
        precise: false,
        budget: 0.0,
        every: None,
        response: 0,
        burst: 0,
        rate: None,
        offered: None,
        check: false,
        align: 1,
        offset: (0, 0),
        cache: Cache::Warm,
        pool: 0,
        memory: None,
        reconnect: false,
        pin: None,
        seed: 0,
        patience: 0.0,
        decorators: Decorators::default(),
        near_under: Vec::new(),
        peer_under: Vec::new(),
        peer_under_more: Vec::new(),
    }
}

fn about(version: Version, kind: Name, source: &Source, unlike: bool) -> Warning {
    let mut text = format!("imported from NetPIPE {} output, which {}", version.name(), version.keeps());
    if source.transport.is_none() {
        text += &format!("; it doesn't say which transport was measured, and {kind} was assumed");
    }
    if source.pattern.is_none() {
        text += "; it doesn't say in which mode either, and ping-pong was assumed";
    }
    if unlike {
        text += "; its rates are not those of its bytes and times (another mode?), and the times were taken";
    }
    Warning { code: "imported".into(), path: Some(0), sizes: Vec::new(), text }
}

#[cfg(test)]
mod tests;
