//! `pipegauge echo`: gives back what it gets. The far end of a path that is a program (`exec:`).

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result};

use crate::exit::{Exit, no_json};
use crate::flags::EchoFlags;
use crate::{out, signals};

/// Bytes that are taken at once.
const PIECE: usize = 256 << 10;
/// Connections that are served at once; more wait.
const MOST: usize = 256;

/// Echoes standard input, or whoever connects.
pub fn echo(flags: &EchoFlags, json: bool) -> Result<Exit> {
    no_json(json, "echo")?;
    let Some(place) = &flags.listen else {
        // Nobody behind standard output is the usual end.
        return match back(
            std::io::stdin().lock(),
            std::fs::File::from(std::os::fd::AsFd::as_fd(&std::io::stdout()).try_clone_to_owned()?),
        ) {
            Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(e).context("echoing standard input"),
            _ => Ok(Exit::Ok),
        };
    };
    let failed = || format!("listening at {place}");
    if place.contains('/') {
        let listener = bound(place).with_context(failed)?;
        removed_at_the_end(place).with_context(failed)?;
        out::text(&format!("listening at {place}\n"))?;
        serve(|| listener.accept().map(|(stream, _)| stream), |stream| Ok((stream.try_clone()?, stream)))
    } else {
        let listener = TcpListener::bind(place).with_context(failed)?;
        out::text(&format!("listening at {}\n", listener.local_addr().with_context(failed)?))?;
        let both = |stream: TcpStream| {
            stream.set_nodelay(true)?;
            Ok((stream.try_clone()?, stream))
        };
        serve(|| listener.accept().map(|(stream, _)| stream), both)
    }
}

/// A listener at this path, also where one that was killed left its socket.
fn bound(place: &str) -> std::io::Result<UnixListener> {
    UnixListener::bind(place).or_else(|e| {
        let left = || UnixStream::connect(place).is_err_and(|e| e.kind() == ErrorKind::ConnectionRefused);
        let socket = std::fs::symlink_metadata(place).is_ok_and(|of| of.file_type().is_socket());
        if e.kind() != ErrorKind::AddrInUse || !socket || !left() {
            return Err(e);
        }
        std::fs::remove_file(place)?;
        UnixListener::bind(place)
    })
}

/// Leaves no socket behind where a signal ends this process, unless another has taken its place.
fn removed_at_the_end(place: &str) -> std::io::Result<()> {
    let which = |place: &str| std::fs::symlink_metadata(place).map(|of| (of.dev(), of.ino()));
    let (own, place) = (which(place)?, place.to_owned());
    signals::before_the_end(move || {
        if which(&place).is_ok_and(|there| there == own) {
            let _ = std::fs::remove_file(&place);
        }
    })
}

/// Serves connections, each on a thread of its own, until this process is ended.
fn serve<S, R: Read + Send + 'static, W: Write + Send + 'static>(
    accept: impl Fn() -> std::io::Result<S>,
    both: impl Fn(S) -> std::io::Result<(R, W)>,
) -> Result<Exit> {
    let served = Arc::new(AtomicUsize::new(0));
    loop {
        let (reader, writer) = match accept().and_then(&both) {
            Ok(both) => both,
            Err(e) => {
                // One that is gone again, or no descriptor is left: the next may be luckier.
                out::tell(&format!("a connection failed: {e}"));
                std::thread::sleep(std::time::Duration::from_millis(50));
                continue;
            }
        };
        while served.load(Ordering::Relaxed) >= MOST {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        served.fetch_add(1, Ordering::Relaxed);
        let count = Arc::clone(&served);
        std::thread::spawn(move || {
            // Its end is the peer's to say.
            let _ = back(reader, writer);
            count.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

/// Gives back what comes, as it comes, until its end.
fn back(mut from: impl Read, mut to: impl Write) -> std::io::Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return to.flush(),
            Ok(n) => to.write_all(&piece[..n])?,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}
