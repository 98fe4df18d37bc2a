//! TCP and UNIX stream: plain calls on one socket.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use socket2::{Domain, SockAddr, Socket, Type};

use crate::message::Message;
use crate::watch::Watch;
use crate::{FloorError, PATIENCE, Path, Pattern, Plan};

const LIMIT: Duration = Duration::from_secs(PATIENCE);

/// The ends of a connected pair, made in one process so that no stranger can be at the other end; and what congestion control the system says
/// that they have, the near one first.
pub(crate) fn pair(plan: &Plan) -> Result<(OwnedFd, OwnedFd, Option<[String; 2]>), FloorError> {
    let path = plan.path;
    let connected = if path == Path::Tcp {
        tcp_pair(plan.congestion.as_deref())
    } else {
        Socket::pair(Domain::UNIX, Type::STREAM, None)
    };
    let (near, far) = connected.map_err(FloorError::io(format!("connecting two {} sockets", path.name())))?;
    let said = if path == Path::Tcp { Some([congestion(&near)?, congestion(&far)?]) } else { None };
    Ok((near.into(), far.into(), said))
}

/// The name of a socket's congestion control.
fn congestion(socket: &Socket) -> Result<String, FloorError> {
    let name = socket.tcp_congestion().map_err(FloorError::io("asking for a congestion control"))?;
    Ok(String::from_utf8_lossy(name.split(|b| *b == 0).next().unwrap_or_default()).into_owned())
}

fn tcp_pair(congestion: Option<&str>) -> io::Result<(Socket, Socket)> {
    let socket = || {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        if let Some(name) = congestion {
            let refused = |e: io::Error| {
                let there = "/proc/sys/net/ipv4/tcp_available_congestion_control has those that are";
                io::Error::new(e.kind(), format!("congestion control '{name}' can't be had ({there}): {e}"))
            };
            socket.set_tcp_congestion(name.as_bytes()).map_err(refused)?;
        }
        Ok::<_, io::Error>(socket)
    };
    let listener = socket()?;
    listener.bind(&SockAddr::from(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)))?;
    listener.listen(8)?;
    let near = socket()?;
    near.connect(&listener.local_addr()?)?;
    let mine = near.local_addr()?.as_socket();
    loop {
        let (far, from) = listener.accept()?;
        if from.as_socket() == mine {
            near.set_tcp_nodelay(true)?;
            far.set_tcp_nodelay(true)?;
            return Ok((near, far));
        }
    }
}

/// The near side: sends, and looks at the clock. Seconds for the timed iterations.
pub(crate) fn near(fd: OwnedFd, plan: &Plan) -> Result<f64, FloorError> {
    let mut line = Line::new(fd, plan)?;
    let message = &mut *Message::new(plan.size);
    match plan.pattern {
        Pattern::PingPong => {
            for _ in 0..plan.trips_before() {
                line.send(message)?;
                line.receive(message)?;
            }
            let start = Instant::now();
            for _ in 0..plan.repeats {
                line.send(message)?;
                line.receive(message)?;
            }
            Ok(start.elapsed().as_secs_f64())
        }
        Pattern::Stream => {
            let mut start = Instant::now();
            for messages in plan.answered() {
                start = Instant::now();
                for _ in 0..messages {
                    line.send(message)?;
                }
                line.receive(&mut [0])?;
            }
            Ok(start.elapsed().as_secs_f64())
        }
    }
}

/// The far side: echoes, or receives and says when it has everything.
pub(crate) fn far(fd: OwnedFd, plan: &Plan) -> Result<(), FloorError> {
    let mut line = Line::new(fd, plan)?;
    let message = &mut *Message::new(plan.size);
    match plan.pattern {
        Pattern::PingPong => {
            for _ in 0..plan.trips_before() + plan.repeats {
                line.receive(message)?;
                line.send(message)?;
            }
        }
        Pattern::Stream => {
            for messages in plan.answered() {
                for _ in 0..messages {
                    line.receive(message)?;
                }
                line.send(&[1])?;
            }
        }
    }
    Ok(())
}

struct Line {
    /// Ends a receive that lasts too long; none where the socket is asked again and again.
    watch: Option<Watch>,
    socket: Socket,
    spin: bool,
}

impl Line {
    fn new(fd: OwnedFd, plan: &Plan) -> Result<Self, FloorError> {
        let socket = Socket::from(fd);
        let set = || {
            socket.set_nonblocking(plan.spin)?;
            socket.set_write_timeout(Some(LIMIT))
        };
        set().map_err(FloorError::io("setting up a socket"))?;
        let watch = if plan.spin { None } else { Some(Watch::over(&socket, LIMIT)?) };
        Ok(Self { watch, socket, spin: plan.spin })
    }

    #[inline(always)]
    fn read(&mut self, message: &mut [u8]) -> io::Result<usize> {
        match &self.watch {
            Some(watch) => watch.during(|| (&self.socket).read(message)),
            None => self.socket.read(message),
        }
    }

    fn send(&mut self, mut message: &[u8]) -> Result<(), FloorError> {
        let mut wait = Wait::default();
        while !message.is_empty() {
            match self.socket.write(message) {
                Ok(sent) => message = &message[sent..],
                Err(e) => wait.after(e, self.spin, "sending")?,
            }
        }
        Ok(())
    }

    fn receive(&mut self, mut message: &mut [u8]) -> Result<(), FloorError> {
        let mut wait = Wait::default();
        while !message.is_empty() {
            match self.read(message) {
                Ok(0) if self.watch.as_ref().is_some_and(Watch::ended) => {
                    return Err(FloorError::Stuck { doing: "receiving", seconds: PATIENCE });
                }
                Ok(0) => return Err(FloorError::Gone { doing: "receiving" }),
                Ok(got) => message = &mut message[got..],
                Err(e) => wait.after(e, self.spin, "receiving")?,
            }
        }
        Ok(())
    }
}

/// Calls of a spinning socket between two looks at the clock.
const CALLS: u32 = 4096;

#[derive(Default)]
struct Wait {
    calls: u32,
    since: Option<Instant>,
}

impl Wait {
    /// Whether a call that failed is to be made again.
    fn after(&mut self, error: io::Error, spin: bool, doing: &'static str) -> Result<(), FloorError> {
        match error.kind() {
            ErrorKind::Interrupted => Ok(()),
            ErrorKind::WouldBlock if spin => {
                self.calls += 1;
                if self.calls.is_multiple_of(CALLS) {
                    // Where both processes share a CPU, the other one can run now.
                    rustix::thread::sched_yield();
                    if self.since.get_or_insert_with(Instant::now).elapsed().as_secs() >= PATIENCE {
                        return Err(FloorError::Stuck { doing, seconds: PATIENCE });
                    }
                }
                Ok(())
            }
            // A blocking socket says so when the time limit of its sends is over.
            ErrorKind::WouldBlock => Err(FloorError::Stuck { doing, seconds: PATIENCE }),
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => Err(FloorError::Gone { doing }),
            _ => Err(FloorError::io(doing)(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receives_have_no_time_limit_of_the_sockets_own_and_end_all_the_same() {
        for path in [Path::Tcp, Path::Unix] {
            let (near, far, _) = pair(&Plan::new(path, Pattern::PingPong, 8)).unwrap();
            let mut line = Line::new(near, &Plan::new(path, Pattern::PingPong, 8)).unwrap();
            assert_eq!(line.socket.read_timeout().unwrap(), None, "its timer would be timed");
            // The other side says nothing.
            assert!(line.watch.is_some(), "a receive that blocks is watched");
            line.watch = Some(Watch::over(&line.socket, Duration::from_millis(50)).unwrap());
            let error = line.receive(&mut [0; 8]).unwrap_err();
            assert!(matches!(error, FloorError::Stuck { doing: "receiving", .. }), "{error}");
            drop(far);
        }
    }
}
