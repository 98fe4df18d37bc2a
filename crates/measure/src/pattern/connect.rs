//! Connect: connect, request, response, close for each transaction.

use transport::clock::{Clock, Monotonic};
use transport::theory::FarRole;
use transport::{Acceptor, End, Link, LinkError, Proof};

use super::facts::{answered, one_process};
use super::{Anew, Answered, Facts, Timed};
use crate::content::{self, Writer};
use crate::event::TimeKind;
use crate::far::Check;
use crate::meter::Meter;
use crate::near::sampled;
use crate::samples::Samples;
use crate::workspace::Halt;
use crate::{FarReport, SessionError, TrialReport, TrialSpec, Workspace};

const HELP: &str = "Connect, request, response, close for each transaction";
const KEPT: LinkError = LinkError::Unsupported("run transactions on a kept connection");

pub(super) const FACTS: Facts = Facts {
    refuses: |can| {
        one_process(can).or((!can.connects).then_some("a connection of its own for each transaction can't be had over it (pipegauge list NAME says 'connect pattern' of what has that)"))
    },
    anew: Some(Anew {
        near: |connector, proof, spec, halt| {
            transact(&Monotonic, spec, halt, |request, response| connector.transaction(proof, request, response))
        },
        far: accepting,
    }),
    flows: false,
    responds: true,
    rates: |_| Some(1),
    messages: |spec| (spec.size, spec.response),
    modelled: |link, spec, _, workspace| {
        let (clock, halt) = (link.clock(), workspace.halt());
        let report = transact(&clock, spec, &halt, |request, response| link.transaction(request, response))?;
        Ok(report.with_far(answered(link)))
    },
    bytes: |trial, _| trial.size + trial.response,
    startup: Some("transactions"),
    ..Facts::new(Some(HELP), TimeKind::Transaction, |spec| FarRole::Answer { response: spec.response })
};

pub(super) fn near<L: Link, C: Clock>(_: &mut End<L>, _: &C, _: &TrialSpec, _: &mut Workspace) -> Timed {
    Err(KEPT.into())
}

pub(super) fn far<L: Link>(_: &mut End<L>, _: &TrialSpec, _: &mut Workspace) -> Answered {
    Err(KEPT.into())
}

/// The transactions of a trial, each by a call of `transaction`, against any clock.
fn transact<C: Clock>(
    clock: &C,
    spec: &TrialSpec,
    halt: &Halt,
    mut transaction: impl FnMut(&[u8], &mut [u8]) -> Result<(), LinkError>,
) -> Timed {
    let mut request = vec![0; spec.size as usize];
    let mut response = vec![0; spec.response as usize];
    let mut samples = Samples::new(spec.repeats, 1);
    let (mut total, mut repeats, mut lost, mut wrong) = (0, 0, 0, None);
    let mut meter = Meter::new(clock, spec);
    for i in 0..spec.warmup + spec.repeats {
        halt.check()?;
        if i == spec.warmup {
            meter.begin();
        }
        if spec.check {
            content::fill(&mut request, spec.seed, i, Writer::Near);
        }
        let begin = clock.now();
        let outcome = transaction(&request, &mut response);
        let took = clock.now() - begin;
        let counts = i >= spec.warmup;
        match outcome {
            Err(LinkError::Lost) => {
                lost += u64::from(counts);
                continue;
            }
            outcome => outcome?,
        }
        if counts {
            samples.push(took, 1);
            total += took;
            repeats += 1;
        }
        if spec.check && wrong.is_none() {
            wrong = content::first_wrong(&response, spec.seed, i, Writer::Far, 0).map(|at| (i, at));
        }
    }
    meter.end(spec.repeats);
    SessionError::contents("the near side", spec.response, wrong, None)?;
    Ok(TrialReport { lost, cost: meter.cost(), ..sampled(samples, repeats, total) })
}

fn accepting(acceptor: &mut Acceptor, proof: &Proof, spec: &TrialSpec, halt: &Halt) -> Answered {
    let mut request = vec![0; spec.size as usize];
    let mut response = vec![0; spec.response as usize];
    let mut check = Check::new(spec, true);
    let mut report = FarReport::default();
    let mut meter = Meter::new(&Monotonic, spec);
    for i in 0..spec.warmup + spec.repeats {
        halt.check()?;
        if i == spec.warmup {
            meter.begin();
        }
        check.fill(&mut response, i);
        acceptor.transaction(proof, &mut request, &response)?;
        check.verify(&request, i);
        report.received += 1;
    }
    meter.end(spec.repeats);
    Ok(FarReport { corrupt: check.wrong, cost: meter.cost(), ..report })
}
