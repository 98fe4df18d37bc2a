//! Whether this command is itself a rank that a launcher of MPI started, and what it may measure then: the launcher's ranks are those of the path, and
//! a world of ranks begins once.

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, bail};
use measure::Topology;
use measure::event::{PathPlan, Plan};
use rendezvous::{Place, Shown};
use transport::{Transport, registry};

use crate::flags::{RunFlags, of_a_kind};

/// Whether this command is one run, so that ranks that are there can be those of its path.
static ONCE: AtomicBool = AtomicBool::new(false);

/// That this command, which is rank 0, lives: until it ends.
static SHOWN: OnceLock<Option<Shown>> = OnceLock::new();

/// For `run`: a rank other than 0 of a path that has ranks is no command, and becomes one that measures; an error is why it can't. None
/// where this process is to run as a command.
pub fn of_run(flags: &RunFlags) -> Option<anyhow::Error> {
    ONCE.store(true, Ordering::Relaxed);
    let place = Place::here().filter(|place| place.here)?;
    let name = |path: &String| of_a_kind(path).split(':').next().unwrap_or_default().to_owned();
    let ranks = |name: String| registry::named(&name).is_ok_and(|t| !t.launch().is_empty());
    let of_ranks = flags.transports.iter().map(name).any(ranks);
    if of_ranks && place.rank == 0 {
        // Where another command of this rank shows it already, that is enough.
        SHOWN.get_or_init(|| Shown::at(&place).ok());
    }
    (of_ranks && place.rank > 0).then(|| {
        let e = Command::new("/proc/self/exe").arg0("pipegauge").arg("ranked").exec();
        anyhow::Error::from(e).context(format!("becoming rank {} of the path", place.rank))
    })
}

/// Refuses what can't be measured between the ranks of the launcher that started this command, where one did: `here` is what it says.
pub fn check(plan: &Plan, transport: &dyn Transport, here: Option<Place>) -> Result<()> {
    let Some(place) = here.filter(|_| !transport.launch().is_empty()) else { return Ok(()) };
    possible(plan, transport, place, ONCE.load(Ordering::Relaxed))
}

/// Refuses two sides of a run of which each rank would judge the other side's calls: a rank is one process for both.
pub fn sides(first: &Plan, second: &Plan, here: Option<Place>) -> Result<(), String> {
    let of_ranks = |path: &PathPlan| registry::find(path.transport).is_some_and(|t| !t.launch().is_empty());
    match here.filter(|_| first.paths.iter().chain(&second.paths).any(of_ranks)) {
        Some(place) => one_patience(first, second, place),
        None => Ok(()),
    }
}

fn one_patience(first: &Plan, second: &Plan, Place { launcher, .. }: Place) -> Result<(), String> {
    if first.patience == second.patience {
        return Ok(());
    }
    Err(format!(
        "{launcher} started this command, and each of its ranks serves both sides, of which the less patient would give up for the other: \
         --patience is one for both; give it outside of --vs"
    ))
}

fn possible(plan: &Plan, transport: &dyn Transport, place: Place, once: bool) -> Result<()> {
    let Place { launcher, size, counts, .. } = place;
    let name = transport.name();
    let of_ranks = |path: &usize| registry::find(plan.paths[*path].transport).is_some_and(|t| !t.launch().is_empty());
    let paths: Vec<usize> = (0..plan.paths.len()).filter(of_ranks).collect();
    let alone = format!("type the command without {launcher}: it starts its own processes");
    if !once {
        bail!("{launcher} started this command, and its processes can be the ranks of one 'pipegauge run'; {alone}");
    }
    if !place.here {
        bail!("{launcher} started processes on several hosts, and {name} is measured between those of one; {alone}");
    }
    if paths.len() > 1 {
        bail!(
            "{launcher} started this command, and its processes can be the ranks of one path, as MPI begins once in each; {} are named \
             (--members with several numbers counts as several): leave out all but one, or {alone}",
            paths.len()
        );
    }
    if !plan.near_under.is_empty() || !plan.peer_under.is_empty() {
        bail!(
            "{launcher} started this command, and what its ranks run under is its own affair (leave out --near-under and --peer-under)"
        );
    }
    let Some(path) = paths.first() else { return Ok(()) };
    let (topology, flows) = (plan.paths[*path].topology, plan.connections(*path as u32));
    let needed = topology.near_processes(flows) + topology.far_processes(flows);
    if needed != size {
        let more = members(plan.pattern.facts().collective, size, place);
        bail!(
            "{name} takes {needed} processes here, and {launcher} started {size}: {launcher} {counts} {needed}{more}"
        );
    }
    Ok(())
}

/// How a path comes to have as many processes as the launcher started, where it can: what else there is to type.
fn members(collective: bool, size: u32, Place { launcher, counts, .. }: Place) -> String {
    let (least, most) = Topology::Group.bounds();
    match collective {
        true if (least..=most).contains(&size) => format!(", or --topology group --members {size}"),
        true if size > most => format!(
            ", or {launcher} {counts} {most} with --topology group --members {most}, as a path has at most {most} members"
        ),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A transport of ranks.
    struct Ranks(bool);

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
            if self.0 { vec!["mpirun".to_owned()].leak() } else { &[] }
        }
    }

    fn place(of: &[(&str, &str)]) -> Option<Place> {
        Place::of(|name| of.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn what_needs_no_launcher_runs_in_any_process_and_what_measures_again_is_told_to_run_alone() {
        let two = place(&[("PMI_RANK", "0"), ("PMI_SIZE", "2")]);
        let plan = Plan { paths: vec![PathPlan::from(transport::tcp::NAME)], ..Plan::default() };
        assert!(check(&plan, &Ranks(true), None).is_ok() && check(&plan, &Ranks(false), two).is_ok());
        let said = |place: Place, once| possible(&plan, &Ranks(true), place, once).err().map(|e| e.to_string());
        assert!(said(two.unwrap(), false).unwrap().contains("without mpiexec"));
        assert_eq!(said(two.unwrap(), true), None);
        let spread =
            [("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "2"), ("OMPI_COMM_WORLD_LOCAL_SIZE", "1")];
        assert!(said(place(&spread).unwrap(), true).unwrap().contains("several hosts"));
        let wrapped = Plan { near_under: vec!["nice".to_owned()], ..plan.clone() };
        let e = possible(&wrapped, &Ranks(true), two.unwrap(), true).unwrap_err().to_string();
        assert!(e.contains("--near-under"), "{e}");
    }

    #[test]
    fn two_sides_that_share_ranks_have_one_patience() {
        let two = place(&[("PMI_RANK", "0"), ("PMI_SIZE", "2")]).unwrap();
        let plan = Plan { paths: vec![PathPlan::from(transport::tcp::NAME)], ..Plan::default() };
        let other = Plan { patience: plan.patience * 2.0, ..plan.clone() };
        assert_eq!(one_patience(&plan, &plan, two), Ok(()));
        let e = one_patience(&plan, &other, two).unwrap_err();
        assert!(e.contains("mpiexec") && e.contains("give it outside of --vs"), "{e}");
        assert_eq!(sides(&plan, &other, Some(two)), Ok(()), "no ranks are measured between");
    }

    #[test]
    fn what_to_type_fits_the_number_that_was_started_and_the_most_that_a_path_has() {
        let two = place(&[("PMI_RANK", "0"), ("PMI_SIZE", "2")]).unwrap();
        for (collective, size, says) in [
            (true, 5, ", or --topology group --members 5"),
            (true, 129, ", or --topology group --members 129"),
            (true, 130, ", or mpiexec -n 129 with --topology group --members 129, as a path has at most 129 members"),
            (true, 1, ""),
            (false, 5, ""),
        ] {
            assert_eq!(members(collective, size, two), says);
        }
    }

    #[test]
    fn processes_of_a_path_are_counted() {
        for (topology, flows, needed) in [(Topology::Flows, 1, 2), (Topology::Group, 2, 3), (Topology::Pairs, 2, 4)] {
            assert_eq!(topology.near_processes(flows) + topology.far_processes(flows), needed, "{topology:?}");
        }
    }
}
