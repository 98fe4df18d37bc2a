//! The paths that are compared: each runs one kind of work between two processes for a while and says what it came to.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Instant;

use am::memory::Memory;
use am::ring::{Capacity, Lane, Reader, Writer};
use am::{Endpoint, Handlers, Options, RemoteRegion, Wait};

/// What is measured.
#[derive(Clone, Copy)]
pub enum Work {
    /// One byte there and back: microseconds.
    RoundTrip,
    /// Messages of a size, one way: gigabytes a second.
    Stream(usize),
}

impl Work {
    pub fn name(self) -> String {
        match self {
            Self::RoundTrip => "round trip 1 B, us".to_owned(),
            Self::Stream(size) if size < 1024 => format!("stream {size} B, GB/s"),
            Self::Stream(size) if size < 1 << 20 => format!("stream {} KiB, GB/s", size >> 10),
            Self::Stream(size) => format!("stream {} MiB, GB/s", size >> 20),
        }
    }
}

/// A path.
pub struct Path {
    pub name: &'static str,
    pub run: fn(Work, f64) -> f64,
}

/// All of them.
pub const PATHS: [Path; 6] = [
    Path { name: "bare ring", run: bare },
    Path { name: "am spin", run: |work, window| active(work, window, Wait::Spin) },
    Path { name: "am guarded", run: |work, window| active(work, window, Wait::default()) },
    Path { name: "am sleep", run: |work, window| active(work, window, Wait::Sleep) },
    Path { name: "AF_UNIX", run: unix },
    Path { name: "TCP", run: tcp },
];

/// Runs `far` in a process of its own while `near` runs here.
fn beside<T>(far: impl FnOnce(), near: impl FnOnce() -> T) -> T {
    let pin = std::env::var_os("PIN").is_some();
    let pin_to = |cpu: usize| {
        if pin {
            let mut set = rustix::thread::CpuSet::new();
            set.set(cpu);
            rustix::thread::sched_setaffinity(None, &set).expect("the CPU exists");
        }
    };
    // Before the fork: a child that starts on a CPU on which this side spins would wait for its turn.
    pin_to(1);
    // SAFETY: this program has one thread; the child runs `far` and ends.
    match unsafe { libc::fork() } {
        -1 => panic!("fork: {}", std::io::Error::last_os_error()),
        0 => {
            // SAFETY: a plain system call: the child ends with its parent.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
            far();
            // SAFETY: ends the process.
            unsafe { libc::_exit(0) }
        }
        pid => {
            pin_to(0);
            let found = near();
            // SAFETY: waits for the child that was just started.
            unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
            found
        }
    }
}

/// Repeats a step for the window; microseconds a step. The clock is read every `chunk` steps.
fn timed(window: f64, chunk: u64, mut step: impl FnMut()) -> f64 {
    (0..chunk).for_each(|_| step());
    let begun = Instant::now();
    let mut steps = 0;
    loop {
        (0..chunk).for_each(|_| step());
        steps += chunk;
        let elapsed = begun.elapsed().as_secs_f64();
        if elapsed >= window {
            return elapsed * 1e6 / steps as f64;
        }
    }
}

/// Sends to stream before the clock is read: half a megabyte or so.
fn chunk(size: usize) -> u64 {
    ((512 << 10) / size).max(1) as u64
}

/// What the time for a step comes to.
fn figure(work: Work, micros: f64) -> f64 {
    match work {
        Work::RoundTrip => micros,
        Work::Stream(size) => size as f64 / micros / 1e3,
    }
}

/// One end of two bare rings: bytes, no records, no waiting but spinning.
struct Bare {
    memory: Memory,
    me: usize,
    writer: Writer,
    reader: Reader,
}

const RING: Capacity = Capacity::new(256 << 10).expect("a power of two");

impl Bare {
    fn lane(&self, sender: usize) -> &Lane {
        self.memory.object(sender * 256)
    }

    fn start(sender: usize) -> usize {
        4096 + sender * RING.bytes()
    }

    fn send(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let lane: &Lane = self.memory.object(self.me * 256);
            let room = self.writer.room(lane, bytes.len().min(RING.bytes() / 4)).expect("both sides are this program");
            if room == 0 {
                std::hint::spin_loop();
                continue;
            }
            let (now, later) = bytes.split_at(room.min(bytes.len()).min(RING.bytes() / 4));
            self.memory.put_span(Self::start(self.me), self.writer.place(0, now.len()), now);
            self.writer.publish(lane, now.len());
            bytes = later;
        }
    }

    fn receive(&mut self, mut into: &mut [u8]) {
        let peer = 1 - self.me;
        while !into.is_empty() {
            let lane: &Lane = self.memory.object(peer * 256);
            let there = self.reader.ready(lane, into.len().min(RING.bytes() / 4)).expect("both sides are this program");
            if there == 0 {
                std::hint::spin_loop();
                continue;
            }
            let (now, later) = into.split_at_mut(there.min(into.len()).min(RING.bytes() / 4));
            self.memory.get_span(Self::start(peer), self.reader.place(0, now.len()), now);
            self.reader.consume(now.len());
            self.reader.tell(lane, RING.bytes() / 4);
            into = later;
        }
    }
}

fn bare(work: Work, window: f64) -> f64 {
    let len = 4096 + 2 * RING.bytes();
    let (memory, file) = Memory::create("bare", len).expect("memory");
    let (writer, reader) = (Writer::new(RING, 0), Reader::new(RING, 0));
    let far = Bare { memory: Memory::attach(&file, len).expect("memory"), me: 1, writer, reader };
    let near = Bare { memory, me: 0, writer, reader };
    assert!(std::ptr::eq(near.lane(0), near.lane(0)));
    converse(work, window, far, near, Bare::send, Bare::receive)
}

/// The same conversation over anything that sends and receives bytes: a first byte of 1 ends it.
fn converse<T>(
    work: Work,
    window: f64,
    mut far: T,
    mut near: T,
    send: impl Fn(&mut T, &[u8]),
    receive: impl Fn(&mut T, &mut [u8]),
) -> f64 {
    let size = match work {
        Work::RoundTrip => 1,
        Work::Stream(size) => size,
    };
    let answers = matches!(work, Work::RoundTrip);
    beside(
        || {
            let mut message = vec![0; size];
            while message[0] == 0 {
                receive(&mut far, &mut message);
                if answers || message[0] == 1 {
                    send(&mut far, &message[..1]);
                }
            }
        },
        || {
            let (mut message, mut answer) = (vec![0; size], [0]);
            let micros = timed(window, if answers { 64 } else { chunk(size) }, || {
                send(&mut near, &message);
                if answers {
                    receive(&mut near, &mut answer);
                }
            });
            message[0] = 1;
            send(&mut near, &message);
            receive(&mut near, &mut answer);
            figure(work, micros)
        },
    )
}

fn sockets<T: Read + Write>(work: Work, window: f64, far: T, near: T) -> f64 {
    let send = |to: &mut T, bytes: &[u8]| to.write_all(bytes).expect("the other side reads");
    let receive = |from: &mut T, bytes: &mut [u8]| from.read_exact(bytes).expect("the other side sends");
    converse(work, window, far, near, send, receive)
}

fn unix(work: Work, window: f64) -> f64 {
    let (far, near) = UnixStream::pair().expect("sockets");
    sockets(work, window, far, near)
}

fn tcp(work: Work, window: f64) -> f64 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let near = TcpStream::connect(listener.local_addr().expect("bound")).expect("it listens");
    let (far, _) = listener.accept().expect("it connected");
    for socket in [&far, &near] {
        socket.set_nodelay(true).expect("TCP");
    }
    sockets(work, window, far, near)
}

/// What the near side's handlers know.
#[derive(Default)]
struct State {
    answers: u64,
    region: Option<RemoteRegion>,
}

/// What the far side's handlers know: a buffer that payloads are copied to, its region, and whether to go on.
struct Far {
    into: Vec<u8>,
    token: u64,
    over: bool,
}

/// Streams of up to 64 KiB are medium messages; larger ones are put into two halves of a region in turn.
fn active(work: Work, window: f64, wait: Wait) -> f64 {
    let (far, near) = rustix::net::socketpair(
        rustix::net::AddressFamily::UNIX,
        rustix::net::SocketType::SEQPACKET,
        rustix::net::SocketFlags::CLOEXEC,
        None,
    )
    .expect("sockets");
    let mut options = Options::default();
    options.wait = wait;
    options.region_bytes = 2 << 20;
    beside(|| active_far(far, &options), || figure(work, active_near(near, &options, work, window)))
}

fn active_far(socket: OwnedFd, options: &Options) {
    let handlers = Handlers::new()
        .on_request(0, |far: &mut Far, message, reply| {
            let mut byte = [0];
            message.payload().copy_to(&mut byte);
            far.over = message.argument(0) == 1;
            reply.send(0, &[far.token], &byte).expect("it fits");
        })
        .on_request(1, |far: &mut Far, message, _| {
            message.payload().copy_to(&mut far.into);
        })
        .on_request(2, |far: &mut Far, message, reply| {
            message.payload().copy_to(&mut far.into);
            reply.send(0, &[far.token], &[]).expect("it fits");
        });
    let mut endpoint = Endpoint::follow(socket, handlers, options).expect("the other side leads");
    let token = endpoint.register(2 << 20).expect("the area is that large").token();
    let mut far = Far { into: vec![0; 1 << 20], token, over: false };
    while !far.over {
        endpoint.wait(&mut far, None).expect("the other side is there");
    }
}

fn active_near(socket: OwnedFd, options: &Options, work: Work, window: f64) -> f64 {
    let handlers = Handlers::new().on_reply(0, |state: &mut State, message| {
        state.answers += 1;
        state.region = Some(RemoteRegion::from_token(message.argument(0)));
    });
    let mut endpoint = Endpoint::lead(socket, handlers, options).expect("the other side follows");
    let (mut state, mut asked) = (State::default(), 0);
    let ask = |endpoint: &mut Endpoint<State>, state: &mut State, asked: &mut u64, over: u64, ahead: u64| {
        endpoint.request(state, 0, &[over], &[0]).expect("the other side is there");
        *asked += 1;
        while state.answers + ahead < *asked {
            endpoint.wait(state, None).expect("the other side is there");
        }
    };
    ask(&mut endpoint, &mut state, &mut asked, 0, 0);
    let micros = match work {
        Work::RoundTrip => timed(window, 64, || ask(&mut endpoint, &mut state, &mut asked, 0, 0)),
        Work::Stream(size) if size <= 64 << 10 => {
            let message = vec![0; size];
            timed(window, chunk(size), || endpoint.request(&mut state, 1, &[], &message).expect("it fits"))
        }
        Work::Stream(size) => {
            let message = vec![0; size];
            let region = state.region.expect("the answer told it");
            timed(window, 1, || {
                // A half is free again once the message before the last was answered.
                while state.answers + 2 <= asked {
                    endpoint.wait(&mut state, None).expect("the other side is there");
                }
                let at = asked as usize % 2 * size;
                endpoint.put(&mut state, region, at, &message, 2, &[]).expect("it lies within");
                asked += 1;
            })
        }
    };
    while state.answers < asked {
        endpoint.wait(&mut state, None).expect("the other side is there");
    }
    ask(&mut endpoint, &mut state, &mut asked, 1, 0);
    micros
}
