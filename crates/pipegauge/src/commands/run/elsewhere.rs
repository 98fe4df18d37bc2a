//! A run whose near side is another host (`--near`): a process there measures, as this command would, and tells what happens; this side records
//! and shows it, and starts the far processes, so that only this host needs a way into both.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use measure::driver::RunError;
use measure::event::{Plan, Run};
use measure::{Event, Outcome, TrialReport};
use rendezvous::{Far, Key, Lead, SshHost, Waits, ssh_host};
use transport::{Ends, registry};

use super::Listeners;
use super::told::{Place, Settled, Task, Told};
use crate::config::RunConfig;
use crate::config::near::Near;
use crate::out;

/// Beyond the patience: that process tells that it is there once a second.
const SLACK: Duration = Duration::from_secs(5);
/// Time for meeting the far side, before which it tells that it is there likewise.
const APART: f64 = 1.0;

/// Measures the sides of a run from `near`, each with its header; `begin` makes a side's listeners once its header is whole.
pub fn measure(
    near: &Near,
    sides: Vec<(&RunConfig, Run)>,
    stop: &Arc<AtomicBool>,
    begin: &mut dyn FnMut(usize, Run) -> Result<Listeners>,
) -> Result<(Vec<Listeners>, Vec<Outcome>)> {
    let Some((first, _)) = sides.first() else { return Ok((Vec::new(), Vec::new())) };
    let plans: Vec<&Plan> = sides.iter().map(|(config, _)| &config.plan).collect();
    let (far, mut waits) = place(&first.far, &plans, stop)?;
    let told = sides.iter().map(|(config, _)| (config.plan.clone(), config.pins.clone())).collect();
    let task = serde_json::to_vec(&Task { sides: told, far, far_pin: first.far_pin })?;
    let patience = Duration::try_from_secs_f64(first.plan.patience).unwrap_or(SLACK);
    let lead = Lead::start(&near.target, &near.program, &task, patience, stop)
        .with_context(|| format!("starting the near side on {}", near.target))?;
    let patience = patience.saturating_add(SLACK);
    let mut run = Running { lead, patience, began: Instant::now(), stop, plans, target: &near.target };
    let settled = run.begins()?;
    let mut listeners = Vec::new();
    for (number, ((config, header), (pin, pool))) in sides.iter().zip(&settled.sides).enumerate() {
        let plan = Plan { pin: *pin, pool: *pool, ..header.plan.clone() };
        let header = Run { plan, near: settled.near.clone(), calibration: settled.calibration, ..header.clone() };
        match begin(number, header) {
            Ok(begun) => listeners.push(begun),
            Err(e) => {
                // One side alone compares with nothing, and holds nothing yet.
                listeners.clear();
                for (other, _) in sides.iter().take(number).filter(|(other, _)| other.output != config.output) {
                    let _ = std::fs::remove_file(&other.output);
                }
                return Err(e);
            }
        }
    }
    let mut outcomes = run.followed(&mut listeners);
    let failed = outcomes.iter_mut().find_map(|outcome| match &mut outcome.error {
        Some(RunError::Elsewhere(text)) => Some(text),
        _ => None,
    });
    // Only this side can know how processes ended that it started.
    if let (Some(text), Some(waits)) = (failed, &mut waits)
        && text.contains("the far side")
    {
        let how = waits.how_one_ended();
        if !how.is_empty() {
            text.push_str(&format!("; of the far side's process: {how}"));
        }
    }
    Ok((listeners, outcomes))
}

/// Where the far side is as the near host has it, and its processes where this side starts them.
fn place(far: &Far, plans: &[&Plan], stop: &AtomicBool) -> Result<(Place, Option<Waits>)> {
    Ok(match far {
        Far::Local { at, .. } => (Place::Here { at: at.clone() }, None),
        Far::Listening { host, port, key } => {
            (Place::Listening { host: host.clone(), port: *port, key: key.to_string() }, None)
        }
        Far::Ssh { hosts, program } => {
            let named = |host: &SshHost| host.at.clone().map_or_else(|| ssh_host(&host.target), Ok);
            let names: Vec<String> = hosts.iter().map(named).collect::<Result<_, _>>()?;
            let targets: Vec<&str> = hosts.iter().map(|host| host.target.as_str()).collect();
            let waits = Waits::start(hosts, program, plans, stop)
                .with_context(|| format!("starting the far side on {}", targets.join(" and ")))?;
            let of = |(host, port, key): (usize, u16, Key)| (names[host].clone(), port, key.to_string());
            let processes = waits.endpoints().into_iter().map(of).collect();
            (Place::Waiting { hosts: hosts.len(), processes }, Some(waits))
        }
        Far::Waiting { .. } => bail!("the far side was started for another process; this is a bug in pipegauge"),
    })
}

/// A run that goes on there.
struct Running<'a> {
    lead: Lead,
    patience: Duration,
    began: Instant,
    stop: &'a AtomicBool,
    plans: Vec<&'a Plan>,
    target: &'a str,
}

impl Running<'_> {
    /// Waits until it begins.
    fn begins(&mut self) -> Result<Settled> {
        loop {
            match self.next().map_err(|why| anyhow!(why))? {
                Told::Beat => {}
                Told::Note(note) => out::tell(&format!("note: {}", units::received::clean(&note, 500))),
                Told::Refused(why) => {
                    bail!(
                        "the near side on {}: {}",
                        self.target,
                        units::received::clean(&why, units::received::SENTENCE)
                    )
                }
                Told::Begins(settled) if settled.sides.len() == self.plans.len() => return Ok(*settled),
                _ => bail!("{}", self.broke("it tells of a run before it begins")),
            }
        }
    }

    /// Hands what happens to the listeners of each side; how each ended.
    fn followed(&mut self, listeners: &mut [Listeners]) -> Vec<Outcome> {
        let error = loop {
            match self.next() {
                Ok(Told::Beat | Told::Note(_)) => {}
                Ok(Told::Event(side, event)) => {
                    if let Err(why) = self.can_be(side, &event) {
                        break RunError::Elsewhere(self.broke(&why));
                    }
                    if let Some(Err(e)) = listeners.get_mut(side).map(|listener| listener.take_event(&event)) {
                        break RunError::Tell(e);
                    }
                }
                Ok(Told::Over(ended)) if ended.len() == self.plans.len() => {
                    return ended.into_iter().map(|side| side.outcome()).collect();
                }
                Ok(_) => break RunError::Elsewhere(self.broke("it ends a run of other sides, or begins one again")),
                Err(why) => break RunError::Elsewhere(why),
            }
        };
        self.lead.give_up();
        let mut error = Some(error);
        let outcome = |_| Outcome { error: error.take(), ..Outcome::default() };
        self.plans.iter().map(outcome).collect()
    }

    /// What it says next; the error is what became of it.
    fn next(&mut self) -> Result<Told, String> {
        let line = self.lead.line(self.patience, self.stop);
        let line = line.map_err(|e| format!("the near side on {}: {e}", self.target))?;
        let Some(line) = line else {
            return Err(format!("the near side on {} ended{}", self.target, self.lead.how_it_ended()));
        };
        Told::read(&line).map_err(|why| self.broke(&why))
    }

    fn broke(&self, why: &str) -> String {
        format!("the near side on {} reports what can't be: {why}", self.target)
    }

    /// Whether something can have happened: its paths are those of the plan, and no trial took longer than what has passed here.
    fn can_be(&self, side: usize, event: &Event) -> Result<(), String> {
        let plan = self.plans.get(side).ok_or_else(|| format!("a side {side}"))?;
        let path = match event {
            Event::Run(_) | Event::Earlier(_) => return Err("a run within a run, or one before it".to_owned()),
            Event::Path(opened) => opened.path,
            Event::Round(round) => round.path,
            Event::Trial(trial) | Event::Sustained(trial) => trial.path,
            Event::Taken(taken) => taken.path,
            Event::Point(point) => point.path,
            Event::Warning(warning) => warning.path.unwrap_or(0),
            Event::End(_) => 0,
        };
        let Some(asked) = plan.paths.get(path as usize) else { return Err(format!("a path {path}")) };
        if let Event::Path(opened) = event
            && opened.transport != asked.transport
        {
            return Err(format!("{} where {} was asked for", opened.transport, asked.transport));
        }
        let real = registry::find(asked.transport).is_none_or(|t| t.ends() != Ends::Modelled);
        match event {
            Event::Trial(trial) | Event::Sustained(trial) if real => self.passed(&trial.report),
            _ => Ok(()),
        }
    }

    fn passed(&self, report: &TrialReport) -> Result<(), String> {
        let most = self.began.elapsed().as_secs_f64() + APART;
        if !report.sound() || report.seconds > most || report.max > most {
            return Err(format!("a trial of {:e} s, {:.1} s after the run began", report.seconds, most - APART));
        }
        Ok(())
    }
}
