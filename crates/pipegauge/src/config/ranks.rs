//! Whether this command is itself a rank that a launcher of MPI started: each of them would start ranks of its own, which launchers refuse.

use anyhow::{Result, bail};
use transport::Transport;

/// What launchers tell the processes that they start, with the launcher; each holds how many there are. srun may set what MPI's own launchers
/// do, too, so it comes first.
const TOLD: [(&str, &str); 3] =
    [("SLURM_STEP_NUM_TASKS", "srun"), ("OMPI_COMM_WORLD_SIZE", "mpirun"), ("PMI_SIZE", "mpiexec")];

/// Refuses a transport that is started by a launcher of its own within another launcher's processes. `env` is the environment.
pub fn check(transport: &dyn Transport, env: impl Fn(&str) -> Option<String>) -> Result<()> {
    if transport.launch().is_empty() {
        return Ok(());
    }
    let told = TOLD.iter().find_map(|(name, launcher)| Some((name, launcher, env(name)?.trim().parse::<u32>().ok()?)));
    // A job step of one task is how a single command runs in an allocation.
    let Some((name, launcher, count)) = told.filter(|(_, launcher, count)| **launcher != "srun" || *count > 1) else {
        return Ok(());
    };
    let here = transport.name();
    bail!(
        "{here} starts its own processes, and {launcher} started this command, with {count} in all ({name}): each would start a run of its own; \
         type the command alone, without {launcher}: pipegauge run {here}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A transport of ranks.
    struct Ranks(Vec<String>);

    impl Transport for Ranks {
        fn name(&self) -> transport::Name {
            transport::tcp::NAME
        }
        fn summary(&self) -> &'static str {
            "ranks"
        }
        fn spoken(&self) -> &'static [&'static str] {
            &["ranks"]
        }
        fn capabilities(&self, _: &transport::Settings) -> transport::Capabilities {
            transport::Capabilities::plain()
        }
        fn options(&self) -> &'static [transport::OptionSpec] {
            &[]
        }
        fn launch(&self) -> &'static [String] {
            self.0.clone().leak()
        }
    }

    #[test]
    fn a_rank_starts_no_ranks_and_says_what_to_type() {
        let said = |words: &[&str], set: &[(&str, &str)]| {
            let of = |name: &str| set.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned());
            let ranks = Ranks(words.iter().map(|word| (*word).to_owned()).collect());
            check(&ranks, of).err().map(|e| e.to_string()).unwrap_or_default()
        };
        let launch = ["mpirun", "-np", "{n}"];
        for (set, launcher) in [
            (("OMPI_COMM_WORLD_SIZE", "2"), "mpirun"),
            (("OMPI_COMM_WORLD_SIZE", "1"), "mpirun"),
            (("PMI_SIZE", "2"), "mpiexec"),
            (("SLURM_STEP_NUM_TASKS", "2"), "srun"),
        ] {
            let why = said(&launch, &[set]);
            assert!(why.contains(launcher) && why.contains("pipegauge run tcp"), "{set:?}: {why}");
            assert_eq!(said(&[], &[set]), "", "what needs no launcher runs in any process");
        }
        // An allocation in which nothing was launched yet, or one command alone.
        assert_eq!(said(&launch, &[("SLURM_NPROCS", "2"), ("SLURM_STEP_NUM_TASKS", "1")]), "");
        assert_eq!(said(&launch, &[]), "");
    }
}
