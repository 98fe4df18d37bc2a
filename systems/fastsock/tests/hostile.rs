//! A peer that is no library but writes anything anywhere in the memory that it was handed. The program on the other side must not
//! crash, and must see its connection end when the peer is gone.

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use am::memory::Memory;
use common::{Built, built, served};

/// Where the connecting side says that it is ready, and where its direction's end lies.
const READY: usize = 256;
const TAIL: usize = 384 + 768;
/// Where the turns of a connection that is used again are told.
const TURN: usize = 384 + 2 * 768;
/// Bytes of the whole memory.
const LEN: usize = 4096 + 2 * 16_384 + 2 * 262_144;

fn random(state: &mut u64) -> u64 {
    // splitmix64 (Steele, Lea and Flood, 2014).
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Listens where the library of the accepting side looks. None if the connection has ended.
fn knock(stream: &TcpStream) -> Option<OwnedFd> {
    // SAFETY: plain system calls on descriptors and an address of this function's own.
    unsafe {
        let (here, there) = (stream.local_addr().ok()?, stream.peer_addr().ok()?);
        let name = format!("fastsock/6/{}/{here}/{there}", libc::geteuid());
        let socket = libc::socket(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0);
        let mut address: libc::sockaddr_un = std::mem::zeroed();
        address.sun_family = libc::AF_UNIX as libc::sa_family_t;
        for (to, from) in address.sun_path[1..].iter_mut().zip(name.bytes()) {
            *to = from.cast_signed();
        }
        let len = (2 + 1 + name.len()) as libc::socklen_t;
        assert_eq!(libc::bind(socket, (&raw const address).cast(), len), 0);
        assert_eq!(libc::listen(socket, 1), 0);
        Some(OwnedFd::from_raw_fd(socket))
    }
}

/// Takes the memory that the library hands over.
fn take(knock: &OwnedFd) -> Memory {
    take_all(knock).0
}

/// The memory, and the event descriptor of the side that accepted.
fn take_all(knock: &OwnedFd) -> (Memory, OwnedFd) {
    // SAFETY: a plain system call.
    let socket = unsafe { libc::accept(knock.as_raw_fd(), std::ptr::null_mut(), std::ptr::null_mut()) };
    assert!(socket >= 0);
    from(socket)
}

fn from(socket: i32) -> (Memory, OwnedFd) {
    // SAFETY: plain system calls; the control buffer has room for the descriptors, which are this process's own once they came.
    unsafe {
        let (mut byte, mut control) = (0_u8, [0_u64; 8]);
        let mut slice = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut slice;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&control);
        assert_eq!(libc::recvmsg(socket, &raw mut message, libc::MSG_CMSG_CLOEXEC), 1);
        libc::close(socket);
        let files = libc::CMSG_DATA(libc::CMSG_FIRSTHDR(&raw const message)).cast::<[i32; 4]>().read_unaligned();
        let [file, event, ..] = files.map(|file| OwnedFd::from_raw_fd(file));
        (Memory::attach(&file, LEN).unwrap(), event)
    }
}

/// A program under the library that echoes, a connection to it, and what the library knocked with.
fn echo(built: &Built) -> (Child, TcpStream, OwnedFd) {
    let (server, stream) = served(built, "echo", &[("FASTSOCK_AFTER", "4")]);
    let knock = knock(&stream).unwrap();
    (server, stream, knock)
}

/// One connection with malice; what became of the program.
fn attack(built: &Built, seed: u64) -> std::process::ExitStatus {
    let (mut server, mut stream, knock) = echo(built);
    let mut state = seed;
    let exchange = |stream: &mut TcpStream, byte: u8| {
        let mut back = [0];
        stream.write_all(&[byte]).and_then(|()| stream.read_exact(&mut back))
    };
    // The beginning of the warm-up; the library offers its memory meanwhile.
    (0..16).for_each(|byte| exchange(&mut stream, byte).unwrap());
    let memory = take(&knock);
    memory.set_word(READY, 1);
    for round in 0..2000 {
        let word = random(&mut state);
        match random(&mut state) % 8 {
            0..3 => memory.set_word(TAIL, memory.word(TAIL).wrapping_add(word % 280_000)),
            3 => memory.set_word(8 * (word % 512) as usize, random(&mut state) >> (word % 64)),
            // Each word of its own: two small ones lie side by side (`phase` and `back`).
            4 => {
                let small: &AtomicU32 = memory.object(384 + 768 + 4 * (word % 192) as usize);
                small.store((random(&mut state) % 4) as u32, Ordering::Relaxed);
            }
            _ => memory.set_word(4096 + 8 * (word % 65_536) as usize, random(&mut state)),
        }
        if round % 100 == 0 {
            let _ = stream.set_nonblocking(true).and_then(|()| stream.write_all(&[round as u8]));
            std::thread::sleep(Duration::from_micros(word % 300));
        }
    }
    drop((stream, memory));
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(status) = server.try_wait().unwrap() {
            return status;
        }
        if Instant::now() >= until {
            server.kill().unwrap();
            server.wait().unwrap();
            panic!("seed {seed}: the program hangs although its peer is gone");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_peer_that_writes_anything_anywhere_ends_the_connection_at_worst() {
    let Some(built) = built() else { return };
    let mut failed = 0;
    for seed in 0..60 {
        let status = attack(built, seed);
        // The contract program ends with 1 when it gets what it did not expect.
        assert!(status.code().is_some(), "seed {seed}: {status}");
        failed += i32::from(status.code() == Some(1));
    }
    assert!(failed > 30, "the malice does not reach the program: {failed} of 60");
}

/// A client that is no library, whose connections the server's library lends it again and again, and that writes anything where the turns
/// are told. Whether it was lent any; what became of the server.
fn attack_turns(built: &Built, seed: u64) -> (usize, Option<std::process::ExitStatus>) {
    let (mut server, mut main) = served(built, "again_polled", &[]);
    let mut byte = [0];
    for i in 0..64 {
        main.write_all(&[i]).unwrap();
        main.read_exact(&mut byte).unwrap();
    }
    let mut address = [0; 16];
    main.read_exact(&mut address).unwrap();
    let door = u16::from_be_bytes([address[2], address[3]]);
    let (mut lent, mut state) = (Vec::new(), seed);
    for _ in 0..100 {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", door)) else { break };
        stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let Some(knock) = knock(&stream) else { break };
        // What is sent is the first byte of the server's pattern.
        if stream.write_all(&[0]).is_err() {
            break;
        }
        // The answer, or the library's offer before it.
        let mut asks =
            [stream.as_raw_fd(), knock.as_raw_fd()].map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
        // SAFETY: two entries.
        unsafe { libc::poll(asks.as_mut_ptr(), 2, 10_000) };
        if asks[1].revents != 0 {
            let memory = take(&knock);
            memory.set_word(READY, 1);
            lent.push((stream, memory));
        } else {
            let _ = stream.read(&mut byte);
        }
        for (_, memory) in &lent {
            for _ in 0..8 {
                let word = random(&mut state);
                let small = [0, 1, 2, 3, u64::MAX][(word % 5) as usize];
                match word >> 32 & 7 {
                    0..4 => memory.set_word(TURN + 8 * (word >> 40 & 3) as usize, small),
                    4 => memory.set_word(TURN + 32, word & 1),
                    5 => memory.set_word(384 + 8 * (word >> 40 & 127) as usize, small),
                    6 => memory.set_word(256 + 8 * (word >> 40 & 3) as usize, small),
                    _ => memory.set_word(8 * (word >> 40 & 511) as usize, word),
                }
            }
        }
    }
    let status = server.try_wait().unwrap();
    let many = lent.len();
    drop((main, lent));
    let _ = server.kill();
    server.wait().unwrap();
    (many, status)
}

#[test]
fn a_client_that_lies_about_turns_does_not_bring_the_server_down() {
    let Some(built) = built() else { return };
    let mut lent = 0;
    for seed in 0..20 {
        let (many, status) = attack_turns(built, seed);
        // The contract program ends with 1 when it gets what it did not expect.
        assert!(status.is_none_or(|status| status.code().is_some()), "seed {seed}: {status:?}");
        lent += many;
    }
    assert!(lent > 20, "the malice does not reach the server: {lent} connections were lent");
}

/// How often a process has slept on its connections, by what it says itself.
fn sleeps(process: u32) -> u64 {
    let said = Command::new(env!("CARGO_BIN_EXE_fastsock")).args(["status", "--json"]).output().unwrap();
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    let own = text.split(&format!("{{\"process\":{process},\"descriptor\"")).nth(1).unwrap_or_else(|| panic!("{text}"));
    let digits = own.split("\"sleeps\":").nth(1).unwrap().split(|c: char| !c.is_ascii_digit()).next();
    digits.unwrap().parse().unwrap()
}

#[test]
fn an_event_that_comes_to_nothing_wakes_once() {
    let Some(built) = built() else { return };
    let (mut server, mut stream, knock) = echo(built);
    for byte in 0..16 {
        stream.write_all(&[byte]).unwrap();
        stream.read_exact(&mut [0]).unwrap();
    }
    let (memory, event) = take_all(&knock);
    memory.set_word(READY, 1);
    // The server becomes active, answers through the ring, and waits for more.
    stream.write_all(&[16, 17, 18]).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    let before = sleeps(server.id());
    let one = 1_u64;
    // SAFETY: eight bytes.
    assert_eq!(unsafe { libc::write(event.as_raw_fd(), (&raw const one).cast(), 8) }, 8);
    std::thread::sleep(Duration::from_millis(200));
    let after = sleeps(server.id());
    drop((stream, memory));
    server.wait().unwrap();
    assert!(before > 0 && after > before, "the server does not wait in the library: {before} sleeps, then {after}");
    assert!(after - before < 10, "{} sleeps for one event", after - before);
}
