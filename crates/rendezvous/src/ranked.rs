//! `pipegauge ranked`, the hidden command: a rank of a person's own launcher that measures, in all rounds of all sides of a run.

use std::io::{self, Read};
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use transport::Settings;

use crate::MeetError;
use crate::allocation::{LOOK, Place, stays_placed};
use crate::first::{First, Life};
use crate::other_end::{has_ended, is_ours};
use crate::seat::{self, Taken};
use crate::started::Lent;

/// How long a rank waits for a command that it does not see.
const COMES: Duration = Duration::from_secs(120);
/// Most bytes of what a rank is told.
const LONGEST: u64 = 64 << 10;

/// A rank that measures: its conversation with the command, and the path that it is of.
pub struct Ranked {
    command: UnixStream,
    folder: PathBuf,
    place: Place,
    /// How many sides of the run have seats.
    sides: usize,
    /// The transport.
    pub name: String,
    /// Its settings.
    pub settings: Settings,
}

impl Ranked {
    /// Finds the command, and hears what it measures; none where rank 0 ended before.
    ///
    /// # Errors
    /// There is no command in time, or it says nothing that is understood.
    pub fn find(place: Place) -> io::Result<Option<Self>> {
        let mut first = First::at(place.first()?);
        let look = || first.look(|| place.first_is_gone());
        let Some(mut command) = meet(&place.address()?, COMES, place.launcher, look)? else { return Ok(None) };
        let mut told = Vec::new();
        let mut byte = [0];
        while command.read(&mut byte)? > 0 && byte[0] != 0 && (told.len() as u64) < LONGEST {
            told.push(byte[0]);
        }
        let strange = || io::Error::other("rank 0 says nothing that is understood (all ranks run one version)");
        let told = String::from_utf8(told).map_err(|_| strange())?;
        let mut lines = told.splitn(3, '\n');
        let mut line = || lines.next().ok_or_else(strange);
        let (folder, sides, path) = (line()?, line()?.parse().map_err(|_| strange())?, line()?);
        let (name, settings) = seat::read(path)?;
        Ok(Some(Self { command, folder: folder.into(), place, sides, name, settings }))
    }

    /// Takes its seats of each round and does what it is told there, until the command is over. What ended a round is told where that is read, and
    /// `tell` hears it: the next one may go well.
    ///
    /// # Errors
    /// A seat can't be taken.
    pub fn serve(&self, stop: &Arc<AtomicBool>, tell: impl Fn(&MeetError) + Sync) -> io::Result<()> {
        stays_placed();
        let nothing = std::fs::File::options().read(true).write(true).open("/dev/null")?;
        rustix::stdio::dup2_stdin(&nothing)?;
        rustix::stdio::dup2_stdout(&nothing)?;
        std::thread::scope(|s| {
            let side = |side| self.serve_side(side, stop, &tell);
            let others: Vec<_> = (1..self.sides).map(|number| s.spawn(move || side(number))).collect();
            let first = side(0);
            let ended = |other: std::thread::ScopedJoinHandle<'_, io::Result<()>>| {
                other.join().unwrap_or_else(|_| Err(io::Error::other("a side of the run ended badly")))
            };
            others.into_iter().map(ended).fold(first, Result::and)
        })
    }

    /// The same for one side of the run.
    fn serve_side(&self, side: usize, stop: &Arc<AtomicBool>, tell: &(dyn Fn(&MeetError) + Sync)) -> io::Result<()> {
        let number = side * self.place.size as usize + self.place.seat();
        while let Some(taken) = self.next(number)? {
            let Taken { seat, hidden, streams: [input, output, error] } = taken;
            // What a library says as it dies belongs to the round, where there is one at a time.
            let alone = self.sides == 1;
            if alone {
                rustix::stdio::dup2_stderr(&error)?;
            }
            let lent = Lent { input, output, error: Arc::new(error) };
            let does = if hidden == "peer" { crate::peer::lent } else { crate::member::lent };
            if let Err(e) = does(lent, Arc::clone(stop)) {
                tell(&e);
            }
            if alone {
                // Nobody is to find this process behind what the seat lent it.
                rustix::stdio::dup2_stderr(std::fs::File::options().write(true).open("/dev/null")?)?;
            }
            drop(seat);
        }
        Ok(())
    }

    /// The next seat of this number; none once the command is over.
    fn next(&self, number: usize) -> io::Result<Option<Taken>> {
        loop {
            if let Some(taken) = seat::take(&self.folder, number)? {
                return Ok(Some(taken));
            }
            // It says nothing more: what there is to read is its end.
            if has_ended(&self.command, LOOK) {
                return Ok(None);
            }
        }
    }
}

/// The connection to the command, which begins to measure when the other paths let it; none where `look` finds that rank 0 ended.
fn meet(
    address: &SocketAddr,
    comes: Duration,
    launcher: &str,
    mut look: impl FnMut() -> Life,
) -> io::Result<Option<UnixStream>> {
    loop {
        let e = match UnixStream::connect_addr(address) {
            Ok(command) if is_ours(&command) => return Ok(Some(command)),
            Ok(_) => {
                return Err(io::Error::other("another user's process stands where the command of rank 0 is to be"));
            }
            Err(e) => e,
        };
        match look() {
            Life::Ended => return Ok(None),
            Life::Unseen(time) if time > comes => {
                let why = format!(
                    "rank 0 of {launcher} did not begin to measure, and was not seen for {} s: {e} (all ranks run the same command line, in one network \
                     namespace of one host)",
                    comes.as_secs()
                );
                return Err(io::Error::other(why));
            }
            Life::Lives | Life::Unseen(_) => std::thread::sleep(LOOK),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_rank_waits_for_as_long_as_rank_0_lives_and_no_longer() {
        let name = format!("pipegauge test of ranks that wait {}", std::process::id());
        let at = SocketAddr::from_abstract_name(name).unwrap();
        let comes = Duration::from_millis(1);
        let (mut looks, mut listener) = (0, None);
        let lives = || {
            looks += 1;
            if looks == 20 {
                listener = Some(UnixListener::bind_addr(&at).unwrap());
            }
            Life::Lives
        };
        assert!(meet(&at, comes, "mpirun", lives).unwrap().is_some());
        drop(listener);
        assert!(meet(&at, comes, "mpirun", || Life::Ended).unwrap().is_none());
        let e = meet(&at, comes, "mpirun", || Life::Unseen(comes * 2)).unwrap_err().to_string();
        assert!(e.contains("rank 0 of mpirun did not begin"), "{e}");
    }
}
