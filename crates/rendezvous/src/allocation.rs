//! Ranks of a person's own launcher: `mpirun -np 2 pipegauge run openmpi`.
//!
//! Each of them starts as the same command line. Rank 0 is the command, and starts a process beside itself that is rank 0 to the MPI library; the others
//! are what is measured between. All measuring processes find the command at a socket whose name follows from the launcher's process, and stay for all
//! rounds, as a world of ranks begins once: each round has seats as one that the command's own launcher starts (`seat`), and each rank takes the
//! same one every time. The sides of `--vs` are open at once, and have seats of their own: a rank has a thread for each side.

use std::io::{self, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use transport::folder::{ENDED, Folder};
use transport::{Name, Settings};

use crate::other_end::{has_ended, is_ours};
use crate::seat;

/// What launchers tell the processes that they start: which one it is, how many there are, and how many of those are on its host. srun may set what
/// MPI's own launchers do; mpirun may run within a step of srun.
const LAUNCHERS: [Launcher; 3] = [
    Launcher {
        name: "mpirun",
        rank: "OMPI_COMM_WORLD_RANK",
        size: "OMPI_COMM_WORLD_SIZE",
        here: "OMPI_COMM_WORLD_LOCAL_SIZE",
        counts: "-np",
    },
    Launcher {
        name: "srun",
        rank: "SLURM_PROCID",
        size: "SLURM_STEP_NUM_TASKS",
        here: "SLURM_STEP_NUM_NODES",
        counts: "-n",
    },
    Launcher { name: "mpiexec", rank: "PMI_RANK", size: "PMI_SIZE", here: "MPI_LOCALNRANKS", counts: "-n" },
];
/// How long a command that is over waits for its own rank.
const ENDS: Duration = Duration::from_secs(10);
/// How often the command looks for ranks, and a rank for the command or for its seat.
pub(crate) const LOOK: Duration = Duration::from_millis(5);
/// How often the command looks whether all of them are still there, seldom enough not to disturb what is measured.
const THERE: Duration = Duration::from_millis(100);

struct Launcher {
    name: &'static str,
    rank: &'static str,
    size: &'static str,
    /// How many are on its host, or, of srun, how many hosts there are.
    here: &'static str,
    counts: &'static str,
}

/// What a launcher made of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Which of its processes this is, from 0.
    pub rank: u32,
    /// How many it started.
    pub size: u32,
    /// Whether all of them are on this host, as far as it says.
    pub here: bool,
    /// What it is called.
    pub launcher: &'static str,
    /// Its flag for their number.
    pub counts: &'static str,
    /// The variable that says which one a process is.
    variable: &'static str,
}

impl Place {
    /// As the environment `of` this process says; none where no launcher of ranks started it.
    pub fn of(of: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let number = |name: &str| of(name)?.trim().parse::<u32>().ok();
        LAUNCHERS.iter().find_map(|launcher| {
            let (rank, size) = (number(launcher.rank)?, number(launcher.size)?);
            // A step of one task is how a single command runs in an allocation of Slurm.
            let alone = launcher.name == "srun" && size < 2;
            (!alone && rank < size).then(|| Self {
                rank,
                size,
                here: number(launcher.here).is_none_or(|here| here == if launcher.name == "srun" { 1 } else { size }),
                launcher: launcher.name,
                counts: launcher.counts,
                variable: launcher.rank,
            })
        })
    }

    /// As the environment of this process says. A rank that measures, or a process that one started, is no command's.
    pub fn here() -> Option<Self> {
        if std::env::var_os(seat::PREPARE).is_some() {
            return None;
        }
        Self::of(|name| std::env::var(name).ok())
    }

    /// The seat that a rank takes: the near process, which is the last, is rank 0, and far ones follow in their order.
    pub(crate) fn seat(&self) -> usize {
        (self.rank.checked_sub(1).unwrap_or(self.size - 1)) as usize
    }

    /// Whether no process of rank 0 of this launcher is there, as far as may be seen.
    pub(crate) fn first_is_gone(&self) -> bool {
        let Ok(own) = launcher(self.variable, std::process::id()) else { return false };
        let first = format!("{}=0", self.variable);
        let pids =
            std::fs::read_dir("/proc").into_iter().flatten().filter_map(|e| e.ok()?.file_name().to_str()?.parse().ok());
        let may_be = |pid: u32| match says(environment(pid), |one| one == first.as_bytes()) {
            Some(first) => first && launcher(self.variable, pid).ok() == Some(own),
            // A program with capabilities of its own, say.
            None => is_below(pid, own.0),
        };
        !pids.into_iter().any(may_be)
    }

    /// Where the ranks of this launcher meet.
    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.named("ranks")
    }

    /// Where rank 0 shows that it lives.
    pub(crate) fn first(&self) -> io::Result<SocketAddr> {
        self.named("rank 0")
    }

    fn named(&self, what: &str) -> io::Result<SocketAddr> {
        let (pid, began) = launcher(self.variable, std::process::id())?;
        SocketAddr::from_abstract_name(format!("pipegauge {what} of {pid} {began}"))
    }
}

/// The nearest process above `pid` that does not have this variable itself, as shells between have it, and when it began.
fn launcher(variable: &str, mut pid: u32) -> io::Result<(u32, u64)> {
    loop {
        let parent = host::process(pid)?.parent;
        let own = format!("{variable}=");
        if parent <= 1 || !set(parent, |one| one.starts_with(own.as_bytes())) {
            return Ok((parent, host::process(parent).map_or(0, |process| process.began)));
        }
        pid = parent;
    }
}

/// Whether a process has such a variable in its environment. What may not be read belongs to somebody else.
fn set(pid: u32, is: impl Fn(&[u8]) -> bool) -> bool {
    says(environment(pid), is) == Some(true)
}

fn environment(pid: u32) -> io::Result<Vec<u8>> {
    std::fs::read(format!("/proc/{pid}/environ"))
}

/// Whether an environment has such a variable; none where it may not be read. A process that is gone has none.
fn says(environment: io::Result<Vec<u8>>, is: impl Fn(&[u8]) -> bool) -> Option<bool> {
    match environment {
        Ok(all) => Some(all.split(|b| *b == 0).any(is)),
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => None,
        Err(_) => Some(false),
    }
}

/// Whether one process is another one's, at whatever distance.
fn is_below(mut pid: u32, above: u32) -> bool {
    while let Ok(host::Process { parent, .. }) = host::process(pid)
        && parent > 0
    {
        if parent == above {
            return true;
        }
        pid = parent;
    }
    false
}

/// The ranks of the launcher that started this command, which is rank 0, for all rounds of one path.
pub(crate) struct Ranks {
    folder: Folder,
    place: Place,
    /// Connections of those that came: a rank ends with its own.
    came: Arc<Mutex<Vec<UnixStream>>>,
    /// Nobody is waited for any more.
    over: Arc<AtomicBool>,
    /// The process that is rank 0 to the library.
    own: Child,
}

impl Ranks {
    /// Starts rank 0's process, and tells all ranks of which transport they are, with which settings, and how many sides of the run have seats.
    pub(crate) fn begin(place: Place, transport: Name, settings: &Settings, sides: usize) -> io::Result<Self> {
        let folder = Folder::new().map_err(io::Error::other)?;
        let listener = UnixListener::bind_addr(&place.address()?)?;
        listener.set_nonblocking(true)?;
        let told = format!("{}\n{sides}\n{}", folder.path().display(), seat::prepare(transport, settings)?);
        let (came, over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (theirs, stop) = (Arc::clone(&came), Arc::clone(&over));
        let (size, mark) = (place.size as usize, folder.path().join(ENDED));
        let meet = move || {
            // This thread inherited the pin of the measuring one.
            host::run_on(&host::cpus_before_pinning());
            attend(listener, &told, (&theirs, size), &stop, &mark);
        };
        std::thread::Builder::new().name("ranks".into()).spawn(meet)?;
        let own = Command::new(format!("/proc/{}/exe", std::process::id()))
            .arg("ranked")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()?;
        Ok(Self { folder, place, came, over, own })
    }

    /// Where their seats are.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// How many there are.
    pub(crate) fn size(&self) -> usize {
        self.place.size as usize
    }

    /// How many of them have come, in words.
    pub(crate) fn told(&self) -> String {
        format!("{} of the {} processes of {} came", count(&self.came), self.size(), self.place.launcher)
    }
}

impl Drop for Ranks {
    /// They end once their connections do, all of them together.
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        self.came.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let until = Instant::now() + ENDS;
        while matches!(self.own.try_wait(), Ok(None)) {
            if Instant::now() > until {
                let _ = self.own.kill();
            }
            std::thread::sleep(LOOK);
        }
    }
}

/// Tells so many ranks that come what to do, and looks until `stop` whether all are still there: the file `mark` says once that they are not.
fn attend(
    listener: UnixListener,
    told: &str,
    (came, size): (&Mutex<Vec<UnixStream>>, usize),
    stop: &AtomicBool,
    mark: &Path,
) {
    let mut awaited = Some(listener);
    while !stop.load(Ordering::Relaxed) {
        let mut came = came.lock().unwrap_or_else(PoisonError::into_inner);
        if came.iter().any(|rank| has_ended(rank, Duration::ZERO)) {
            // Where it can't be written, seats wait for their time.
            let _ = std::fs::write(mark, "");
            return;
        }
        let pause = match awaited.as_ref().map(UnixListener::accept) {
            Some(Ok((stream, _))) => {
                came.extend(tell(stream, told));
                // A rank that comes again looks for another command, which is not here yet.
                awaited = awaited.filter(|_| came.len() < size);
                continue;
            }
            Some(Err(_)) => LOOK,
            None => THERE,
        };
        drop(came);
        std::thread::sleep(pause);
    }
}

fn count(came: &Mutex<Vec<UnixStream>>) -> usize {
    came.lock().unwrap_or_else(PoisonError::into_inner).len()
}

/// Tells one that came what to do; none where it is somebody else's, or is gone.
fn tell(mut stream: UnixStream, told: &str) -> Option<UnixStream> {
    stream.set_nonblocking(false).ok()?;
    stream.set_write_timeout(Some(ENDS)).ok()?;
    let sent = is_ours(&stream).then(|| stream.write_all(&[told.as_bytes(), &[0]].concat()))?;
    sent.ok().map(|()| stream)
}

/// Whether this process is such a rank: it keeps to the CPUs that its launcher gave it.
static PLACED: AtomicBool = AtomicBool::new(false);

/// This process is such a rank.
pub(crate) fn stays_placed() {
    PLACED.store(true, Ordering::Relaxed);
}

/// Whether this process is a rank of a person's own launcher, which said on which CPUs it runs.
pub(crate) fn is_placed() -> bool {
    PLACED.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(set: &[(&str, &str)]) -> Option<Place> {
        Place::of(|name| set.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn a_launcher_says_which_rank_this_is() {
        let mpirun =
            [("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "3"), ("OMPI_COMM_WORLD_LOCAL_SIZE", "3")];
        let place = of(&mpirun).unwrap();
        assert_eq!((place.rank, place.size, place.here, place.launcher), (1, 3, true, "mpirun"));
        let spread = of(&[("PMI_RANK", "0"), ("PMI_SIZE", "4"), ("MPI_LOCALNRANKS", "2")]).unwrap();
        assert_eq!((spread.rank, spread.here, spread.launcher), (0, false, "mpiexec"));
        let srun = [("SLURM_PROCID", "1"), ("SLURM_STEP_NUM_TASKS", "2"), ("PMI_RANK", "1"), ("PMI_SIZE", "2")];
        assert_eq!(of(&srun).unwrap().launcher, "srun");
        let nodes = |n| of(&[&srun[..], &[("SLURM_STEP_NUM_NODES", n)]].concat()).unwrap().here;
        assert_eq!((nodes("1"), nodes("2")), (true, false));
        // A batch script is a step of one task, in which mpirun may start more.
        let alone = [("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "1")];
        assert_eq!(of(&alone), None);
        assert_eq!(of(&[&alone[..], &mpirun].concat()).unwrap().launcher, "mpirun");
        for wrong in [
            &[("PMI_RANK", "2"), ("PMI_SIZE", "2")][..],
            &[("PMI_RANK", "x"), ("PMI_SIZE", "2")],
            &[("PMI_SIZE", "2")],
            &[],
        ] {
            assert_eq!(of(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn ranks_are_told_what_to_do_and_the_end_of_one_is_marked() {
        let folder = Folder::new().unwrap();
        let mark = folder.path().join(ENDED);
        let at = SocketAddr::from_abstract_name(format!("pipegauge test of ranks {}", std::process::id())).unwrap();
        let listener = UnixListener::bind_addr(&at).unwrap();
        listener.set_nonblocking(true).unwrap();
        let (came, stop) = (Mutex::new(Vec::new()), AtomicBool::new(false));
        std::thread::scope(|s| {
            s.spawn(|| attend(listener, "measure", (&came, 2), &stop, &mark));
            let mut ranks = [0, 1].map(|_| UnixStream::connect_addr(&at).unwrap());
            for rank in &mut ranks {
                let mut told = [0; 8];
                io::Read::read_exact(rank, &mut told).unwrap();
                assert_eq!(&told, b"measure\0");
            }
            while UnixStream::connect_addr(&at).is_ok() {
                std::thread::sleep(LOOK);
            }
            assert_eq!((count(&came), mark.exists()), (2, false));
            drop(ranks);
            while !mark.exists() {
                std::thread::sleep(LOOK);
            }
            stop.store(true, Ordering::Relaxed);
        });
        // One ends before the other comes.
        std::fs::remove_file(&mark).unwrap();
        let (stays, ended) = UnixStream::pair().unwrap();
        drop(ended);
        let listener = UnixListener::bind_addr(&at).unwrap();
        listener.set_nonblocking(true).unwrap();
        attend(listener, "measure", (&Mutex::new(vec![stays]), 2), &AtomicBool::new(false), &mark);
        assert!(mark.exists());
    }

    #[test]
    fn each_rank_has_a_seat_of_its_own_and_the_near_process_is_rank_0() {
        let seat = |rank| Place { rank, ..of(&[("PMI_RANK", "0"), ("PMI_SIZE", "3")]).unwrap() }.seat();
        assert_eq!([0, 1, 2].map(seat), [2, 0, 1]);
    }

    #[test]
    fn an_environment_that_may_not_be_read_is_no_sign_of_an_end() {
        let is = |one: &[u8]| one == b"PMI_RANK=0";
        assert_eq!(says(Ok(b"HOME=/\0PMI_RANK=0\0".to_vec()), is), Some(true));
        assert_eq!(says(Ok(b"PMI_RANK=01\0".to_vec()), is), Some(false));
        let refused = |errno: rustix::io::Errno| says(Err(errno.into()), is);
        assert_eq!(refused(rustix::io::Errno::ACCESS), None);
        assert_eq!(refused(rustix::io::Errno::PERM), None);
        assert_eq!(refused(rustix::io::Errno::NOENT), Some(false), "it is gone");
        assert_eq!(refused(rustix::io::Errno::SRCH), Some(false), "it is gone");
    }

    #[test]
    fn the_launcher_is_the_first_process_above_without_the_variable() {
        let own = std::process::id();
        let (parent, began) = launcher("PIPEGAUGE_NO_SUCH_VARIABLE", own).unwrap();
        assert_eq!((Some(parent), began > 0), (Some(host::process(own).unwrap().parent), true));
        // A shell that has it stands between.
        let mut shell = Command::new("sh")
            .args(["-c", "sleep 60 & echo $!; wait"])
            .env("PIPEGAUGE_TEST_RANK", "1")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut text = String::new();
        io::BufRead::read_line(&mut io::BufReader::new(shell.stdout.take().unwrap()), &mut text).unwrap();
        let below: u32 = text.trim().parse().unwrap();
        assert_eq!(launcher("PIPEGAUGE_TEST_RANK", below).unwrap().0, own);
        assert!(is_below(below, own) && is_below(shell.id(), own) && !is_below(own, below));
        for pid in [below, shell.id()] {
            let pid = rustix::process::Pid::from_raw(pid as i32).unwrap();
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        shell.wait().unwrap();
    }
}
