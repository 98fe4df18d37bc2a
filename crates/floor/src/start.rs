//! The second process: starting it, handing it its end of the path, pinning, reaping.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};
use rustix::thread::CpuSet;

use crate::flags::{self, Asked};
use crate::{Figure, FloorError, Path, Plan, memory, socket};

/// How to start the far process: a program which, given `prefix` and then the arguments `far ...`, calls
/// [`Program::main`] with what follows the prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The executable.
    pub exe: PathBuf,
    /// Arguments before the floor's own (`["floor"]` for `pipegauge floor ...`).
    pub prefix: Vec<String>,
}

impl Program {
    /// The running executable, with this prefix.
    ///
    /// Errors: `Io` where the system does not say what is running.
    pub fn this(prefix: &[&str]) -> Result<Self, FloorError> {
        let exe = std::env::current_exe().map_err(FloorError::io("finding the path of this program"))?;
        Ok(Self { exe, prefix: prefix.iter().map(|&s| s.to_owned()).collect() })
    }

    /// The command line: `args` after the program's name and the prefix. As [`crate::main`].
    pub fn main(&self, args: &[String]) -> ExitCode {
        match self.run(args) {
            Ok(()) => ExitCode::SUCCESS,
            Err(e) => {
                eprintln!("pipegauge-floor: {e}");
                if matches!(e, FloorError::Usage(_)) { ExitCode::from(2) } else { ExitCode::FAILURE }
            }
        }
    }

    fn run(&self, args: &[String]) -> Result<(), FloorError> {
        use std::io::Write;
        let text = match flags::parse(args, &allowed())? {
            Asked::Far(plan) => return far(&plan),
            Asked::Help => flags::HELP.trim_end().to_owned(),
            Asked::Near(plan) => measure(self, &plan)?.json(),
        };
        match writeln!(std::io::stdout(), "{text}") {
            // Whoever read the output has had enough.
            Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            other => other.map_err(FloorError::io("writing the figure")),
        }
    }
}

/// Starts the far process, runs `plan` on a thread of its own (pinned, so that the caller's stays as it is), and ends both.
///
/// Errors: `Gone` when the far process ends early, `Stuck` when nothing moves for 10 s, `Io` when the system refuses (a
/// CPU that may not be used, no such program), `Usage` when the plan makes no sense.
pub fn measure(program: &Program, plan: &Plan) -> Result<Figure, FloorError> {
    if !(1..=Plan::MOST).contains(&plan.size) || plan.repeats == 0 {
        return Err(FloorError::Usage(format!("a plan needs 1 to {} bytes and at least one repeat", Plan::MOST)));
    }
    let (seconds, congestion) = std::thread::scope(|scope| {
        let near = scope.spawn(|| near(program, plan));
        near.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })?;
    Ok(Figure { plan: plan.clone(), seconds, congestion })
}

fn near(program: &Program, plan: &Plan) -> Result<(f64, Option<[String; 2]>), FloorError> {
    // The far CPU first, only to learn here whether it may be used: the far process could not say so.
    pin(plan.pin.map(|p| p.1))?;
    pin(plan.pin.map(|p| p.0))?;
    let (near_end, far_end, congestion) = match plan.path {
        Path::Shm => memory::pair(plan).map(|(near, far)| (near, far, None))?,
        Path::Tcp | Path::Unix => socket::pair(plan)?,
    };
    let (control, theirs) = UnixStream::pair().map_err(FloorError::io("making a control socket"))?;
    let _far = Far::start(program, plan, theirs.into())?;
    hand_over(&control, &far_end)?;
    // The near side must not keep the far end open: its closing is how the death of the far process shows.
    drop(far_end);
    let seconds = match plan.path {
        Path::Shm => memory::near(near_end, control.as_fd(), plan),
        Path::Tcp | Path::Unix => socket::near(near_end, plan),
    }?;
    Ok((seconds, congestion))
}

/// The far process: its end of the path comes over standard input.
fn far(plan: &Plan) -> Result<(), FloorError> {
    pin(plan.pin.map(|p| p.1))?;
    let control = rustix::stdio::stdin();
    let end = take_over(control)?;
    match plan.path {
        Path::Shm => memory::far(end, control, plan),
        Path::Tcp | Path::Unix => socket::far(end, plan),
    }
}

/// The far process; killed, if it has not ended by itself, and reaped when the measurement is over either way.
struct Far(Child);

impl Far {
    fn start(program: &Program, plan: &Plan, control: OwnedFd) -> Result<Self, FloorError> {
        let mut command = Command::new(&program.exe);
        command.args(&program.prefix).args(flags::far(plan)).stdin(Stdio::from(control)).stdout(Stdio::null());
        let child = command.spawn().map_err(FloorError::io(format!("starting {}", program.exe.display())))?;
        Ok(Self(child))
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn hand_over(control: &UnixStream, end: &OwnedFd) -> Result<(), FloorError> {
    let fds = [end.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(&fds));
    match rustix::net::sendmsg(control, &[IoSlice::new(&[1])], &mut ancillary, SendFlags::NOSIGNAL) {
        Ok(_) => Ok(()),
        Err(rustix::io::Errno::PIPE | rustix::io::Errno::CONNRESET) => {
            Err(FloorError::Gone { doing: "handing over the path" })
        }
        Err(e) => Err(FloorError::io("handing the path to the far process")(e)),
    }
}

fn take_over(control: impl AsFd) -> Result<OwnedFd, FloorError> {
    let mut byte = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    rustix::net::recvmsg(control, &mut [IoSliceMut::new(&mut byte)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)
        .map_err(FloorError::io("taking the path from standard input (far is not for people)"))?;
    let mut fds = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    });
    fds.next().ok_or(FloorError::Gone { doing: "taking over the path" })
}

fn pin(cpu: Option<u32>) -> Result<(), FloorError> {
    let Some(cpu) = cpu else { return Ok(()) };
    if cpu as usize >= CpuSet::MAX_CPU {
        return Err(FloorError::Usage(format!("--pin: there is no CPU {cpu}")));
    }
    let mut set = CpuSet::new();
    set.set(cpu as usize);
    rustix::thread::sched_setaffinity(None, &set).map_err(FloorError::io(format!("pinning to CPU {cpu}")))
}

/// CPUs that this thread may run on.
fn allowed() -> Vec<u32> {
    let Ok(set) = rustix::thread::sched_getaffinity(None) else { return Vec::new() };
    (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).map(|cpu| cpu as u32).collect()
}
