//! What is known of several connections of a path, whichever processes have them.

use std::time::Duration;

use measure::event::FlowOpened;
use measure::{FarReport, Flows, SessionError, TrialReport, TrialSpec, credible};
use transport::Capabilities;
use transport::settings::Effective;

/// The connections as a run file tells them, where there are several: of what took effect on each here and there, and on which CPUs.
pub(super) fn flows(
    effective: &[(Effective, Effective)],
    (near_cpus, far_cpus): &(Vec<u32>, Vec<Option<u32>>),
) -> Vec<FlowOpened> {
    let Some((first_near, first_far)) = effective.first().filter(|_| effective.len() > 1) else {
        return Vec::new();
    };
    // Every connection has addresses of its own.
    let bare = |its: &Effective| Effective { addresses: None, ..its.clone() };
    let other = |its: &Effective, first: &Effective| Some(bare(its)).filter(|its| *its != bare(first));
    let flow = |(i, (near, far)): (usize, &(Effective, Effective))| FlowOpened {
        near_cpu: near_cpus.get(i).copied(),
        far_cpu: far_cpus.get(i).copied().flatten(),
        near_effective: other(near, first_near),
        far_effective: other(far, first_far),
    };
    effective.iter().enumerate().map(flow).collect()
}

/// Whether the far side's reports of all flows can be true.
pub(super) fn reports_are_credible(
    far: &[FarReport],
    told: Option<&Flows>,
    flows: usize,
    spec: &TrialSpec,
    can: &Capabilities,
    elapsed: Duration,
) -> Result<(), String> {
    if far.len() != flows {
        return Err(format!("reports of {} flows, where {flows} can be", far.len()));
    }
    for report in far {
        credible::credible(report, spec, can, elapsed)?;
    }
    credible::credible_flows(told, far, spec, elapsed)
}

/// Whether the sides agree on a flow.
pub(super) fn one(near: &TrialReport, far: &FarReport, spec: &TrialSpec) -> Result<(), SessionError> {
    if let Some((iteration, offset)) = far.corrupt {
        return Err(SessionError::Corrupt { side: "the far side", size: spec.size, iteration, offset });
    }
    (spec.pattern.facts().agree)(near, far)
}
