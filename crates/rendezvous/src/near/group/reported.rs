//! What the processes of a path said of themselves when they were first met, and the processes as a run file tells them.

use host::{Environment, Root};
use measure::topology::{MemberOpened, Role};
use transport::Capabilities;
use transport::settings::Effective;

use super::GroupSession;
use super::member::Stands;
use super::open::Open;

/// What processes see of their hosts, by their numbers, and what their connections can do.
#[derive(Default)]
pub(super) struct Reported {
    /// Near processes.
    pub near: Vec<Environment>,
    /// Far ones.
    pub far: Vec<Environment>,
    /// Of each open connection, here and there.
    pub can: (Vec<Capabilities>, Vec<Capabilities>),
}

impl Reported {
    /// Notes what the next near process says of its connection; what took effect on it.
    pub(super) fn near(&mut self, stands: Stands) -> Effective {
        self.near.extend(stands.environment);
        self.can.0.push(stands.capabilities);
        stands.effective
    }
}

impl GroupSession {
    /// The processes as a run file tells them.
    pub(super) fn members(&self, open: &Open) -> Vec<MemberOpened> {
        // What the run file has as the near side's.
        let here = Environment::of(&Root::system(), host::cpus_before_pinning(), None);
        let other = |can: Option<&Capabilities>| can.filter(|can| **can != self.capabilities).cloned().map(Box::new);
        let near = (0..open.members.len()).map(|i| {
            let cpus = open.cpus.0.get(i).copied().into_iter().collect();
            let capabilities = other(self.reported.can.0.get(i));
            let one =
                MemberOpened { role: Role::Near, rank: i as u32 + 1, cpus, capabilities, ..MemberOpened::default() };
            one.seeing(self.reported.near.get(i), Some(&here))
        });
        let each = (open.effective.len() / open.fars.len().max(1)).max(1);
        let far = open.cpus.1.chunks(each).enumerate().map(|(i, cpus)| {
            let cpus = cpus.iter().copied().flatten().collect();
            let capabilities = other(self.reported.can.1.get(i * each));
            let one =
                MemberOpened { role: Role::Far, rank: i as u32 + 1, cpus, capabilities, ..MemberOpened::default() };
            one.seeing(self.reported.far.get(i), self.reported.far.first())
        });
        near.chain(far).collect()
    }

    /// CPUs that the first process of each side may run on, where both are of this host.
    pub(super) fn kept_to(&self, open: &Open) -> (Vec<u32>, Vec<u32>) {
        if self.elsewhere.is_some() {
            // CPUs of another host have the same numbers.
            return Default::default();
        }
        let found = |cpu: Option<u32>, seen: Option<&Environment>| match cpu {
            Some(cpu) => vec![cpu],
            None => seen.map_or_else(Vec::new, |seen| seen.cpus.clone()),
        };
        (
            found(open.cpus.0.first().copied(), self.reported.near.first()),
            found(open.cpus.1.first().copied().flatten(), self.reported.far.first()),
        )
    }
}
