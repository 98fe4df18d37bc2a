//! TCP and UNIX stream: plain calls on one socket.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use socket2::{Domain, SockAddr, Socket, Type};

use crate::block::Block;
use crate::{FloorError, PATIENCE, Path, Pattern, Plan};

/// A connected pair, made in one process so that no stranger can be at the other end.
pub(crate) fn pair(plan: &Plan) -> Result<(OwnedFd, OwnedFd), FloorError> {
    let path = plan.path;
    let connected = if path == Path::Tcp {
        tcp_pair(plan.congestion.as_deref())
    } else {
        Socket::pair(Domain::UNIX, Type::STREAM, None)
    };
    let (near, far) = connected.map_err(FloorError::io(format!("connecting two {} sockets", path.name())))?;
    Ok((near.into(), far.into()))
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
    let block = &mut *Block::new(plan.size);
    match plan.pattern {
        Pattern::PingPong => {
            for _ in 0..plan.warmup {
                line.send(block)?;
                line.receive(block)?;
            }
            let start = Instant::now();
            for _ in 0..plan.repeats {
                line.send(block)?;
                line.receive(block)?;
            }
            Ok(start.elapsed().as_secs_f64())
        }
        Pattern::Stream => {
            let mut start = Instant::now();
            for blocks in plan.answered() {
                start = Instant::now();
                for _ in 0..blocks {
                    line.send(block)?;
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
    let block = &mut *Block::new(plan.size);
    match plan.pattern {
        Pattern::PingPong => {
            for _ in 0..plan.warmup + plan.repeats {
                line.receive(block)?;
                line.send(block)?;
            }
        }
        Pattern::Stream => {
            for blocks in plan.answered() {
                for _ in 0..blocks {
                    line.receive(block)?;
                }
                line.send(&[1])?;
            }
        }
    }
    Ok(())
}

struct Line {
    socket: Socket,
    spin: bool,
}

impl Line {
    fn new(fd: OwnedFd, plan: &Plan) -> Result<Self, FloorError> {
        let socket = Socket::from(fd);
        let set = || {
            socket.set_nonblocking(plan.spin)?;
            socket.set_read_timeout(Some(Duration::from_secs(PATIENCE)))?;
            socket.set_write_timeout(Some(Duration::from_secs(PATIENCE)))
        };
        set().map_err(FloorError::io("setting up a socket"))?;
        Ok(Self { socket, spin: plan.spin })
    }

    fn send(&mut self, mut block: &[u8]) -> Result<(), FloorError> {
        let mut wait = Wait::default();
        while !block.is_empty() {
            match self.socket.write(block) {
                Ok(sent) => block = &block[sent..],
                Err(e) => wait.after(e, self.spin, "sending")?,
            }
        }
        Ok(())
    }

    fn receive(&mut self, mut block: &mut [u8]) -> Result<(), FloorError> {
        let mut wait = Wait::default();
        while !block.is_empty() {
            match self.socket.read(block) {
                Ok(0) => return Err(FloorError::Gone { doing: "receiving" }),
                Ok(got) => block = &mut block[got..],
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
            // A blocking socket says so when its time limit is over.
            ErrorKind::WouldBlock => Err(FloorError::Stuck { doing, seconds: PATIENCE }),
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => Err(FloorError::Gone { doing }),
            _ => Err(FloorError::io(doing)(error)),
        }
    }
}
