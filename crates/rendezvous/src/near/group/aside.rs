//! The command leads a trial of other processes and measures nothing itself: it keeps off their CPUs meanwhile, as far as there are others.

use crate::spread;

/// This thread keeps off the CPUs of a trial until this is dropped; then it is pinned as before.
pub(super) struct Aside {
    near: u32,
}

impl Aside {
    /// From the CPUs of the path's connections, here and of far processes on this host; none where this thread is pinned to none.
    pub(super) fn from(pin: Option<(u32, u32)>, here: &[u32], there: &[Option<u32>]) -> Option<Self> {
        let (near, _) = pin?;
        let measured: Vec<u32> = here.iter().copied().chain(there.iter().copied().flatten()).collect();
        host::run_on(&free(&measured, &host::cpus_before_pinning()));
        Some(Self { near })
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        // Another path of the run may be measured on this thread next.
        let _ = host::pin_this_thread(self.near);
    }
}

/// Those that are `allowed` and not `measured` on; all that are allowed where there are no others, so that the scheduler finds the idlest.
fn free(measured: &[u32], allowed: &[u32]) -> Vec<u32> {
    let free = spread::beside(measured, allowed);
    if free.is_empty() { allowed.to_vec() } else { free }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leader_keeps_off_what_is_measured_on_where_it_can() {
        assert_eq!(free(&[0, 1, 0], &[0, 1, 2, 3]), [2, 3]);
        assert_eq!(free(&[0, 1], &[0, 1]), [0, 1], "not to the first pair's alone");
        assert_eq!(free(&[], &[0, 1]), [0, 1]);
    }

    #[test]
    fn it_is_pinned_as_before_when_the_trial_is_over() {
        std::thread::spawn(|| {
            let cpu = host::allowed_cpus()[0];
            host::pin_this_thread(cpu).unwrap();
            let before = host::cpus_before_pinning();
            let aside = Aside::from(Some((cpu, cpu)), &[cpu], &[Some(cpu)]);
            assert_eq!(host::allowed_cpus(), free(&[cpu], &before));
            drop(aside);
            assert_eq!(host::allowed_cpus(), [cpu]);
            assert!(Aside::from(None, &[], &[]).is_none());
        })
        .join()
        .unwrap();
    }
}
