//! Connect: connect, request, response, close for each transaction.

use transport::clock::{Clock, Monotonic};
use transport::theory::{FarRole, TheoryLink};
use transport::{Acceptor, Capabilities, Connector, Link, LinkError, Proof};

use super::facts::{answered, one_process};
use super::{Facts, Halves};
use crate::buffers::Halt;
use crate::content::{self, Writer};
use crate::event::{TimeKind, Trial};
use crate::far::Check;
use crate::near::sampled;
use crate::samples::Samples;
use crate::{Buffers, FarReport, SessionError, TrialReport, TrialSpec};

/// A connection for each transaction.
pub(super) struct Connect;

/// Transactions of whatever makes them, against any clock.
fn transact<C: Clock>(
    clock: &C,
    spec: &TrialSpec,
    halt: &Halt,
    mut transaction: impl FnMut(&[u8], &mut [u8]) -> Result<(), LinkError>,
) -> Result<TrialReport, SessionError> {
    let mut request = vec![0; spec.size as usize];
    let mut response = vec![0; spec.response as usize];
    let mut samples = Samples::new(spec.repeats, 1);
    let (mut total, mut repeats, mut lost, mut wrong) = (0, 0, 0, None);
    for i in 0..spec.warmup + spec.repeats {
        halt.check()?;
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
    if let Some((iteration, offset)) = wrong {
        return Err(SessionError::Corrupt { side: "the near side", size: spec.response, iteration, offset });
    }
    Ok(TrialReport { lost, ..sampled(samples, repeats, total) })
}

/// The loops of a kept connection, which there is none of.
impl Halves for Connect {
    fn near<L: Link, C: Clock>(
        &self,
        _: &mut L,
        _: &C,
        _: &TrialSpec,
        _: &mut Buffers,
    ) -> Result<TrialReport, SessionError> {
        Err(LinkError::Unsupported("run transactions on a kept connection").into())
    }

    fn far<L: Link>(&self, _: &mut L, _: &TrialSpec, _: &mut Buffers) -> Result<FarReport, SessionError> {
        Err(LinkError::Unsupported("run transactions on a kept connection").into())
    }
}

impl Facts for Connect {
    fn help(&self) -> Option<&'static str> {
        Some("Connect, request, response, close for each transaction")
    }

    fn time(&self, _: bool) -> TimeKind {
        TimeKind::Transaction
    }

    fn role(&self, spec: &TrialSpec) -> FarRole {
        FarRole::Answer { response: spec.response }
    }

    fn refuses(&self, can: &Capabilities) -> Option<&'static str> {
        one_process(can).or((!can.connects).then_some("it has no connections to make and close"))
    }

    fn keeps_connection(&self) -> bool {
        false
    }

    fn responds(&self) -> bool {
        true
    }

    fn blocks(&self, spec: &TrialSpec) -> (u64, u64) {
        (spec.size, spec.response)
    }

    fn connecting(
        &self,
        connector: &mut Connector,
        proof: &Proof,
        spec: &TrialSpec,
        halt: &Halt,
    ) -> Result<TrialReport, SessionError> {
        transact(&Monotonic, spec, halt, |request, response| connector.transaction(proof, request, response))
    }

    fn accepting(
        &self,
        acceptor: &mut Acceptor,
        proof: &Proof,
        spec: &TrialSpec,
        halt: &Halt,
    ) -> Result<FarReport, SessionError> {
        let mut request = vec![0; spec.size as usize];
        let mut response = vec![0; spec.response as usize];
        let mut check = Check::new(spec, true);
        let mut report = FarReport::default();
        for i in 0..spec.warmup + spec.repeats {
            halt.check()?;
            check.fill(&mut response, i);
            acceptor.transaction(proof, &mut request, &response)?;
            check.verify(&request, i);
            report.received += 1;
        }
        Ok(FarReport { corrupt: check.wrong, ..report })
    }

    fn modelled(
        &self,
        link: &mut TheoryLink,
        spec: &TrialSpec,
        _: f64,
        buffers: &mut Buffers,
    ) -> Result<TrialReport, SessionError> {
        let clock = link.clock();
        let report = transact(&clock, spec, &buffers.halt(), |request, response| link.transaction(request, response))?;
        Ok(report.with_far(answered(link)))
    }

    fn bytes(&self, trial: &Trial, _: bool) -> u64 {
        trial.size + trial.response
    }

    fn startup(&self) -> Option<&'static str> {
        Some("transactions")
    }
}
