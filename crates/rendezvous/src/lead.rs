//! A run whose near side is another host: a process there, started by ssh, leads it, and this side keeps what it tells.
//!
//! Lines go both ways over ssh's own streams, which are private and reach wherever ssh does. The process there says who it is, and is told
//! what to measure only then. What the lines mean is the command's affair: this module carries them and sees to the process's end.

use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::process::{ChildStdin, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use measure::event::Plan;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::message::{By, Speaker, Waiting};
use crate::near::launch::{How, LOGS_IN_LATE, Launched};
use crate::near::meet::SshHost;
use crate::near::{meeting, ssh};
use crate::started::{say, told};
use crate::{Key, MeetError};

/// What such a process is called.
const LEAD: &str = "the near side";
/// Longest line that is read: the largest that a run tells is far below it.
const LONGEST: usize = 64 << 20;
/// Longest wait between two looks at what may have happened without a line.
const LOOK: Duration = Duration::from_millis(100);

/// A process on another host that leads a run.
pub struct Lead {
    /// Declared, and so dropped, before the process: the process ends because this does.
    input: Option<ChildStdin>,
    process: Launched,
    /// What came and is no whole line yet, and how far it has been looked through.
    received: Vec<u8>,
    looked: usize,
    /// When it was asked to stop.
    stopping: Option<Instant>,
}

impl Lead {
    /// Starts it at `target` (`user@host` or `user@host:port`) and tells it what to do, a line, once it has said that it is of this version. A
    /// login takes as long as `patience` allows.
    pub fn start(
        target: &str,
        program: &str,
        task: &[u8],
        patience: Duration,
        stop: &AtomicBool,
    ) -> Result<Self, MeetError> {
        Self::start_with(Path::new("ssh"), target, program, task, patience, stop)
    }

    pub(crate) fn start_with(
        ssh: &Path,
        target: &str,
        program: &str,
        task: &[u8],
        patience: Duration,
        stop: &AtomicBool,
    ) -> Result<Self, MeetError> {
        let mut command = ssh::command(ssh, target, &[], program, "lead")?;
        command.stdin(Stdio::piped());
        let (process, input) = Launched::run(LEAD, command)?;
        let mut lead = Self { input, process, received: Vec::new(), looked: 0, stopping: None };
        let waiting = lead.process.answer(meeting::starts_over_ssh(patience), LOGS_IN_LATE, stop)?;
        waiting.speaker.agrees()?;
        lead.tell(task);
        Ok(lead)
    }

    /// The next line, without its end; nothing may be silent for `patience`. None where no more comes.
    pub fn line(&mut self, patience: Duration, stop: &AtomicBool) -> Result<Option<Vec<u8>>, MeetError> {
        let mut since = Instant::now();
        loop {
            if stop.load(Ordering::Relaxed) && self.stopping.is_none() {
                self.stopping = Some(Instant::now());
                self.tell(b"stop");
            }
            if self.stopping.is_some_and(|asked| asked.elapsed() >= patience) {
                // It goes on telling that it is there, and does not end.
                self.process.give_up();
                return Err(MeetError::Interrupted);
            }
            if let Some(end) = self.received[self.looked..].iter().position(|b| *b == b'\n') {
                let rest = self.received.split_off(self.looked + end + 1);
                let mut line = std::mem::replace(&mut self.received, rest);
                self.looked = 0;
                line.pop();
                return Ok(Some(line));
            }
            self.looked = self.received.len();
            if self.received.len() > LONGEST {
                return Err(MeetError::Protocol(format!("a line of more than {} MiB", LONGEST >> 20)));
            }
            if since.elapsed() >= patience {
                self.process.give_up();
                return Err(MeetError::LeadSilent { waited: since.elapsed() });
            }
            let time = Timespec { tv_sec: 0, tv_nsec: i64::from(LOOK.subsec_nanos()) };
            let stdout = self.process.stdout();
            if !poll(&mut [PollFd::new(stdout, PollFlags::IN)], Some(&time)).is_ok_and(|n| n > 0) {
                continue;
            }
            let mut piece = [0; 1 << 14];
            match stdout.read(&mut piece) {
                Ok(0) => return Ok(None),
                Ok(n) => {
                    self.received.extend_from_slice(&piece[..n]);
                    since = Instant::now();
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(source) => return Err(MeetError::Io { doing: "reading what the near side tells", source }),
            }
        }
    }

    /// How it ended, if it ends within a moment, and the last it said: ": it was killed by signal 9", or nothing.
    pub fn how_it_ended(&mut self) -> String {
        self.input = None;
        self.process.how_it_ended()
    }

    /// It is not listened to any more: its end need not be waited for.
    pub fn give_up(&mut self) {
        self.process.give_up();
    }

    fn tell(&mut self, line: &[u8]) {
        let Some(input) = &mut self.input else { return };
        // One that ended leaves a broken pipe; how it ended tells more.
        let _ = input.write_all(line).and_then(|()| input.write_all(b"\n")).and_then(|()| input.flush());
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        // Its end asks the process to end, which is waited for then.
        self.input = None;
    }
}

/// On the other host: says who is here; what to do comes over standard input, at most `most` bytes of it.
pub fn led(most: usize) -> Result<String, MeetError> {
    say(&Waiting { speaker: Speaker::here(), at: None, pin: String::new() })?;
    told(most)
}

/// Far processes on another host, which wait for whoever has their keys. They end with this.
pub struct Waits {
    processes: Vec<(Launched, usize, u16, Key)>,
}

impl Waits {
    /// Starts as many as the plans need by ssh, in turn at these hosts, under the wrapper that the first names.
    pub fn start(hosts: &[SshHost], program: &str, plans: &[&Plan], stop: &AtomicBool) -> Result<Self, MeetError> {
        Self::start_with(Path::new("ssh"), hosts, program, plans, stop)
    }

    pub(crate) fn start_with(
        ssh: &Path,
        hosts: &[SshHost],
        program: &str,
        plans: &[&Plan],
        stop: &AtomicBool,
    ) -> Result<Self, MeetError> {
        let under = plans.first().map_or(&[][..], |plan| &plan.peer_under);
        let patience = plans.first().map_or(LOOK, |plan| meeting::patience_of(plan));
        let how = How { anywhere: true, ..How::of(By::Ssh) };
        let start = |rank: usize| {
            let target = &SshHost::of(hosts, rank)?.target;
            let (process, at, key) = meeting::waits_over_ssh(ssh, target, (under, program), how, patience, stop)?;
            Ok((process, rank % hosts.len(), at.port(), key))
        };
        let most = plans.iter().map(|plan| crate::near::meet::far_processes(plan)).max().unwrap_or(1) as usize;
        Ok(Self { processes: (0..most).map(start).collect::<Result<_, MeetError>>()? })
    }

    /// Of each its host's place among the hosts, its port and its key.
    pub fn endpoints(&self) -> Vec<(usize, u16, Key)> {
        self.processes.iter().map(|(_, host, port, key)| (*host, *port, key.clone())).collect()
    }

    /// How the first of them that has ended did so: "it was killed by signal 9", or nothing.
    pub fn how_one_ended(&mut self) -> String {
        let ended = self.processes.iter_mut().map(|(process, ..)| process.how_it_ended());
        ended
            .map(|how| how.trim_start_matches([':', ';', ' ']).to_owned())
            .find(|how| !how.is_empty())
            .unwrap_or_default()
    }
}

/// The host of an ssh target, as a name or address.
pub fn ssh_host(target: &str) -> Result<String, MeetError> {
    let (login, _) = ssh::parse(target)?;
    Ok(login.rsplit_once('@').map_or(login.clone(), |(_, host)| host.to_owned()))
}
