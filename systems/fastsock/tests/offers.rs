//! Whoever accepted a connection offers memory for it to the library on the other side: memory that could be taken away again, what is none, or by another user. The
//! program must go on over TCP with all its bytes; what is offered rightly is taken.

mod common;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::{Command, Stdio};

use am::memory::Memory;
use common::{Built, built, served};

/// Where the connecting side says that it is ready, and where the turns of a connection that is used again are told.
const READY: usize = 256;
const TURN: usize = 384 + 2 * 768;
/// Bytes of the memory, and of what is there from the beginning.
const LEN: usize = 4096 + 2 * 16_384 + 2 * 262_144;
const FIRST: usize = 4096 + 2 * 16_384;
/// "fastsock" in ASCII, the first word of it.
const MARK: u64 = u64::from_le_bytes(*b"fastsock");
const VERSION: u8 = 6;

/// What is said, and the descriptors that come with it.
struct Offer {
    says: Vec<u8>,
    files: Vec<OwnedFd>,
    memory: Memory,
}

fn event() -> OwnedFd {
    // SAFETY: a new descriptor.
    unsafe { OwnedFd::from_raw_fd(libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK)) }
}

/// As the library makes it, for a connection that is not used again.
fn right() -> Offer {
    let (memory, file) = Memory::create_partly("fastsock", LEN, FIRST).unwrap();
    memory.set_word(0, MARK);
    memory.set_word(TURN, u64::MAX);
    Offer { says: vec![VERSION], files: vec![file, event(), event(), event()], memory }
}

/// A file in memory that is not sealed, or not as long.
fn unsealed(len: usize, seals: i32) -> OwnedFd {
    // SAFETY: a new descriptor, and calls on it.
    unsafe {
        let file =
            OwnedFd::from_raw_fd(libc::memfd_create(c"fastsock".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING));
        assert_eq!(libc::ftruncate(file.as_raw_fd(), len as i64), 0);
        assert_eq!(libc::pwrite(file.as_raw_fd(), MARK.to_le_bytes().as_ptr().cast(), 8, 0), 8);
        assert_eq!(libc::pwrite(file.as_raw_fd(), [0xff_u8; 8].as_ptr().cast(), 8, TURN as i64), 8);
        assert_eq!(libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals), 0);
        file
    }
}

/// Something that is neither memory nor an event descriptor.
fn other() -> OwnedFd {
    std::fs::File::open("/dev/null").unwrap().into()
}

/// Runs `call` on a thread of its own that acts as this user: the system's credentials are those of a thread.
fn acting_as<R: Send>(user: u32, call: impl FnOnce() -> R + Send) -> R {
    let act = |user: u32| {
        // SAFETY: three numbers; the C library's call of this name would ask it of all threads.
        assert_eq!(unsafe { libc::syscall(libc::SYS_setresuid, u32::MAX, user, u32::MAX) }, 0, "becoming {user}");
    };
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            act(user);
            call()
        });
        thread.join().unwrap()
    })
}

fn user() -> u32 {
    // SAFETY: asks for a number.
    unsafe { libc::geteuid() }
}

/// A socket of the kind by which sides meet, and the name of a connection as `user` has it.
fn meeting(stream: &TcpStream, user: u32) -> (OwnedFd, libc::sockaddr_un, libc::socklen_t) {
    let name = format!("fastsock/{VERSION}/{user}/{}/{}", stream.peer_addr().unwrap(), stream.local_addr().unwrap());
    // SAFETY: a new descriptor; integers only, for which zero is a value.
    let (socket, mut address) = unsafe {
        let socket = libc::socket(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0);
        (OwnedFd::from_raw_fd(socket), std::mem::zeroed::<libc::sockaddr_un>())
    };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    for (to, from) in address.sun_path[1..].iter_mut().zip(name.bytes()) {
        *to = from.cast_signed();
    }
    (socket, address, (2 + 1 + name.len()) as libc::socklen_t)
}

/// Makes the offer to the library that listens for this connection. False if nobody does.
fn make(stream: &TcpStream, victim: u32, offer: &Offer) -> bool {
    let (socket, address, len) = meeting(stream, victim);
    let files: Vec<i32> = offer.files.iter().map(AsRawFd::as_raw_fd).collect();
    // SAFETY: an address of this length; the message points to what lives until the call returns, and its control buffer has room for the descriptors.
    unsafe {
        if libc::connect(socket.as_raw_fd(), (&raw const address).cast(), len) != 0 {
            return false;
        }
        let mut control = [0_u64; 16];
        let mut slice = libc::iovec { iov_base: offer.says.as_ptr().cast_mut().cast(), iov_len: offer.says.len() };
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut slice;
        message.msg_iovlen = 1;
        if !files.is_empty() {
            message.msg_control = control.as_mut_ptr().cast();
            message.msg_controllen = libc::CMSG_SPACE(size_of_val(&files[..]) as u32) as usize;
            let header = libc::CMSG_FIRSTHDR(&raw const message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(size_of_val(&files[..]) as u32) as usize;
            std::ptr::copy_nonoverlapping(files.as_ptr(), libc::CMSG_DATA(header).cast(), files.len());
        }
        libc::sendmsg(socket.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL) == offer.says.len() as isize
    }
}

/// A program under the library connects, and is made this offer while it talks. Whether it took it; it must have got all its bytes.
fn taken(built: &Built, what: &str, offer: &Offer, by: u32) -> bool {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut client = Command::new(&built.program)
        .args(["client", "held", &listener.local_addr().unwrap().port().to_string()])
        .env("LD_PRELOAD", &built.library)
        .env("FASTSOCK_AFTER", "4")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut stream, mut byte) = (listener.accept().unwrap().0, [0]);
    let mut offered = false;
    for turn in 0..64 {
        stream.read_exact(&mut byte).unwrap();
        assert_eq!(byte, [turn], "{what}");
        if turn == 16 {
            let victim = user();
            offered = if by == victim {
                make(&stream, victim, offer)
            } else {
                acting_as(by, || make(&stream, victim, offer))
            };
            // What the library may have mapped by then is gone, where nothing keeps it: who reads there is killed.
            let cut = offer.files.first().map_or(-1, AsRawFd::as_raw_fd);
            // SAFETY: a number; refused where it is sealed.
            unsafe { libc::ftruncate(cut, 0) };
        }
        stream.write_all(&byte).unwrap();
    }
    assert!(offered, "{what}: nobody listens for this connection");
    drop(client.stdin.take());
    stream.read_exact(&mut byte).unwrap();
    let ended = client.wait_with_output().unwrap();
    assert!(ended.status.success(), "{what}: {}", ended.status);
    assert_eq!((byte, &ended.stdout[..], &ended.stderr[..]), ([b's'], &b"let go\n"[..], &b"kernel\n"[..]), "{what}");
    offer.memory.word(READY) != 0
}

#[test]
fn what_is_offered_wrongly_is_not_taken_and_what_is_offered_rightly_is() {
    let Some(built) = built() else { return };
    let all = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    let with = |change: &dyn Fn(&mut Offer)| {
        let mut offer = right();
        change(&mut offer);
        offer
    };
    // The same memory with other files, so that what it would say is seen.
    let file = |file: OwnedFd| {
        let memory = right().memory;
        Offer { says: vec![VERSION], files: vec![file, event(), event(), event()], memory }
    };
    for (what, offer) in [
        ("no seals", file(unsealed(LEN, 0))),
        ("it can be made shorter", file(unsealed(LEN, libc::F_SEAL_GROW))),
        ("too short", file(unsealed(LEN / 2, all))),
        ("empty", file(unsealed(0, all))),
        ("no memory", file(other())),
        ("no mark", with(&|offer| offer.memory.set_word(0, 0))),
        ("no event of its own", with(&|offer| offer.files[2] = other())),
        ("no event of the peer's", with(&|offer| offer.files[1] = other())),
        ("no door", with(&|offer| offer.files[3] = other())),
        ("a descriptor too few", with(&|offer| drop(offer.files.pop()))),
        ("no descriptors", with(&|offer| offer.files.clear())),
        ("another version", with(&|offer| offer.says[0] += 1)),
        ("more words than are known", with(&|offer| offer.says.push(0))),
        ("numbers of a connection that has none", with(&|offer| offer.says.extend([7; 8]))),
    ] {
        assert!(!taken(built, what, &offer, user()), "taken: {what}");
    }
    assert!(taken(built, "right", &right(), user()));
    // Of more than are asked for the kernel brings those that are.
    assert!(taken(built, "a descriptor too many", &with(&|offer| offer.files.push(event())), user()));
}

#[test]
fn what_another_user_offers_is_not_taken() {
    let Some(built) = built() else { return };
    if user() != 0 {
        println!("skipped: only root acts as another user");
        return;
    }
    assert!(!taken(built, "by another user", &right(), 65534));
}

#[test]
fn nothing_is_offered_to_another_user() {
    let Some(built) = built() else { return };
    if user() != 0 {
        println!("skipped: only root acts as another user");
        return;
    }
    for (by, expected) in [(0, true), (65534, false)] {
        let (mut server, mut stream) = served(built, "held", &[("FASTSOCK_AFTER", "4")]);
        let mut byte = [0];
        // Who connected listens, under a name that tells the server's user.
        let (socket, mut address, len) = meeting(&stream, 0);
        let name = format!("fastsock/{VERSION}/0/{}/{}", stream.local_addr().unwrap(), stream.peer_addr().unwrap());
        for (to, from) in address.sun_path[1..].iter_mut().zip(name.bytes()) {
            *to = from.cast_signed();
        }
        acting_as(by, || {
            // SAFETY: an address of this length.
            unsafe {
                assert_eq!(libc::bind(socket.as_raw_fd(), (&raw const address).cast(), len), 0);
                assert_eq!(libc::listen(socket.as_raw_fd(), 1), 0);
            }
        });
        for turn in 0..64 {
            stream.write_all(&[turn]).unwrap();
            stream.read_exact(&mut byte).unwrap();
            assert_eq!(byte, [turn]);
        }
        stream.write_all(b"s").unwrap();
        assert!(server.wait().unwrap().success());
        // An offer would be waiting there: one that came, and what it brought.
        let mut message = [0_u8; 16];
        // SAFETY: room for as many bytes as are asked for.
        let offered = unsafe {
            let made =
                libc::accept4(socket.as_raw_fd(), std::ptr::null_mut(), std::ptr::null_mut(), libc::SOCK_NONBLOCK);
            let got =
                if made >= 0 { libc::recv(made, message.as_mut_ptr().cast(), 16, libc::MSG_DONTWAIT) } else { -1 };
            libc::close(made);
            got > 0
        };
        assert_eq!(offered, expected, "to user {by}");
    }
}
