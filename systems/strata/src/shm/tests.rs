//! Mailboxes of one process, which meet as those of several do, and others who do as no member does.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use am::memory::Memory;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, SealFlags};

use super::meet::{self, NoWay};
use super::queue::{BATCH, BYTES, LEN, LENGTH, MOST, RING, Receiver, Sender};
use super::*;
use crate::message::Msg;
use crate::rng::Rng;
use crate::time::Time;

/// Far longer than anything takes on a busy machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(90);

pub(super) fn mailbox() -> Mailbox {
    Mailbox::open(at(0), 5).unwrap()
}

/// An address that no other process's tests use.
fn at(port: u16) -> SocketAddr {
    let [_, own @ ..] = std::process::id().to_be_bytes();
    ([10, own[0], own[1], own[2]], port).into()
}

/// What has come.
fn all(of: &mut Mailbox) -> Vec<(SocketAddr, Vec<u8>)> {
    let mut came = Vec::new();
    // The first looks at connections where it is asked to.
    of.watch();
    while of.receive(|from, bytes| came.push((from, bytes.to_vec()))).unwrap() {}
    came
}

fn send(from: &mut Mailbox, to: SocketAddr, bytes: &[u8]) {
    from.put(to, &Msg::new(bytes.to_vec()));
    from.flush();
}

/// A datagram that says which it is, of that many bytes.
fn numbered(number: u32, len: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..len).map(|at| (at as u32).wrapping_mul(31).wrapping_add(number) as u8).collect();
    let start = len.min(4);
    bytes[..start].copy_from_slice(&number.to_le_bytes()[..start]);
    bytes
}

fn readable(of: &Mailbox, most: Duration) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(of.descriptor(), PollFlags::IN)];
    let time = Timespec { tv_sec: most.as_secs() as i64, tv_nsec: most.subsec_nanos().into() };
    poll(&mut fds, Some(&time)).unwrap() > 0
}

fn notice(of: &mut Mailbox) -> String {
    of.notice(Time(u64::MAX / 2)).unwrap_or_default()
}

#[test]
fn datagrams_arrive_whole_and_in_order_also_around_the_end_of_the_ring() {
    let (mut a, mut b, mut c) = (mailbox(), mailbox(), mailbox());
    let mut rng = Rng::new(3);
    let mut bytes = 0;
    let mut number = 0;
    while bytes < 20 * RING.bytes() {
        // Few of the largest fit at once.
        let sent: Vec<_> = (0..rng.between(1, 4))
            .map(|_| {
                number += 1;
                let len = [0, 1, 1472, MOST, rng.between(0, MOST as u64) as usize][rng.below(5) as usize];
                numbered(number, len)
            })
            .collect();
        for datagram in &sent {
            bytes += datagram.len();
            let mut msg = Msg::new(datagram.get(3..).unwrap_or_default().to_vec());
            msg.push(&datagram[..datagram.len().min(3)]);
            a.put(b.address(), &msg);
            c.put(b.address(), &msg);
        }
        a.flush();
        c.flush();
        let came = all(&mut b);
        for from in [a.address(), c.address()] {
            let of: Vec<_> = came.iter().filter(|(who, _)| *who == from).map(|(_, bytes)| bytes).collect();
            assert!(of.iter().copied().eq(&sent), "{} and {}", of.len(), sent.len());
        }
    }
}

#[test]
fn what_has_no_room_is_dropped_and_what_comes_later_arrives() {
    let (mut a, mut b) = (mailbox(), mailbox());
    for round in 0..3u32 {
        for n in 0..1000 {
            send(&mut a, b.address(), &numbered(round * 1000 + n, 1000));
        }
        let came = all(&mut b);
        let fit = RING.bytes() / (1000 + LENGTH);
        assert_eq!(came.len(), fit);
        for (n, (_, bytes)) in (round * 1000..).zip(&came) {
            assert_eq!(*bytes, numbered(n, 1000));
        }
    }
    // Larger than any: dropped, and in nobody's way.
    send(&mut a, b.address(), &vec![1; MOST + 1]);
    send(&mut a, b.address(), &[2; RING.bytes() * 2]);
    send(&mut a, b.address(), &[3]);
    assert_eq!(all(&mut b), [(a.address(), vec![3])]);
}

#[test]
fn who_sleeps_is_woken_by_each_and_by_nobody_else() {
    let mut b = mailbox();
    let to = b.address();
    let (ask, asked) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let mut both = [mailbox(), mailbox()];
        while let Ok(which) = asked.recv() {
            let which: usize = which;
            send(&mut both[which], to, &[which as u8]);
        }
    });
    for n in 0..200 {
        // Nothing has come, and no word of earlier is left.
        while !b.watch() || readable(&b, Duration::ZERO) {
            assert!(all(&mut b).is_empty());
        }
        ask.send(n % 2).unwrap();
        let until = Instant::now() + PATIENCE;
        let mut came = Vec::new();
        while came.is_empty() {
            assert!(Instant::now() < until && (!b.watch() || readable(&b, PATIENCE)), "nothing wakes it, turn {n}");
            came = all(&mut b);
        }
        assert_eq!(came.len(), 1);
        assert_eq!(came[0].1, [(n % 2) as u8]);
    }
    drop(ask);
    thread.join().unwrap();
}

#[test]
fn an_address_is_one_members_and_free_when_it_has_gone() {
    let a = Mailbox::open(at(1), 1).unwrap();
    let e = Mailbox::open(at(1), 1).err().unwrap();
    assert_eq!(e.kind(), std::io::ErrorKind::AddrInUse);
    let other = Mailbox::open(at(2), 1).unwrap();
    assert_ne!(a.address(), other.address());
    drop(a);
    assert_eq!(Mailbox::open(at(1), 1).unwrap().address(), at(1));
}

#[test]
fn what_was_sent_before_the_sender_went_arrives_and_its_queue_goes() {
    let (mut a, mut b) = (mailbox(), mailbox());
    for n in 0..100 {
        send(&mut a, b.address(), &numbered(n, 1000));
    }
    drop(a);
    let came = all(&mut b);
    assert!(came.iter().map(|(_, bytes)| bytes.clone()).eq((0..100).map(|n| numbered(n, 1000))));
    all(&mut b);
    assert_eq!(b.queues(), (0, 0));
}

#[test]
fn a_new_life_at_an_address_is_reached_and_the_old_ones_queue_goes() {
    let mut a = mailbox();
    let mut b = Mailbox::open(at(3), 1).unwrap();
    send(&mut a, at(3), b"one");
    assert_eq!(all(&mut b).len(), 1);
    // It is awake: nobody rings.
    send(&mut a, at(3), b"two");
    drop(b);
    // To nobody.
    all(&mut a);
    assert_eq!(a.queues(), (0, 0));
    send(&mut a, at(3), b"three");
    assert_eq!(a.queues(), (0, 0));
    let mut b = Mailbox::open(at(3), 1).unwrap();
    let until = Instant::now() + PATIENCE;
    let mut came = Vec::new();
    while came.is_empty() {
        assert!(Instant::now() < until, "nothing reaches it");
        send(&mut a, at(3), b"four");
        came = all(&mut b);
    }
    assert!(came.iter().all(|(from, bytes)| *from == a.address() && bytes == b"four"), "{came:?}");
}

/// A queue whose sender writes there what it wants.
fn queue() -> (Memory, Receiver) {
    let (memory, file) = Memory::create("hostile", LEN).unwrap();
    (memory, Receiver::of(&file).unwrap())
}

#[test]
fn a_sender_that_claims_what_can_not_be_loses_its_queue_and_nothing_else() {
    let ring = RING.bytes() as u64;
    let mut scratch = vec![0; BATCH];
    let mut refused = |tail: u64, bytes: &[u8]| {
        let (memory, mut receiver) = queue();
        memory.put(BYTES, bytes);
        memory.set_word(0, tail);
        let mut came = 0;
        let outcome = receiver.take(&mut scratch, |_| came += 1);
        (outcome.is_err(), came)
    };
    // Further than the ring, or back.
    for tail in [ring + 1, ring * 2, u64::MAX, u64::MAX - ring] {
        assert_eq!(refused(tail, &[]), (true, 0), "{tail}");
    }
    // A length that is not written, that is cut, that no datagram has, and that is one too long.
    for (tail, len) in [(1, 0), (3, 0), (4, 1), (100, 97), (100, MOST as u32 + 1), (ring, u32::MAX)] {
        assert_eq!(refused(tail, &len.to_le_bytes()), (true, 0), "{tail} {len}");
    }
    assert_eq!(refused(100, &96u32.to_le_bytes()), (false, 1));
    // Empty ones, as many as there is room for.
    let empty = ring / LENGTH as u64;
    let (broken, came) = refused(ring, &[]);
    assert!(!broken && came > 0 && came <= empty);
}

#[test]
fn whatever_lies_in_a_queue_nothing_falls() {
    let mut rng = Rng::new(11);
    let mut scratch = vec![0; BATCH];
    let (mut broken, mut came) = (0, 0);
    for _ in 0..300 {
        let (memory, mut receiver) = queue();
        let mut tail = 0u64;
        for _ in 0..10 {
            let bytes: Vec<u8> =
                (0..rng.between(0, 3000)).map(|_| (rng.draw() & rng.draw() & rng.draw()) as u8).collect();
            let start = rng.below((RING.bytes() - bytes.len()) as u64) as usize;
            memory.put(BYTES + start, &bytes);
            tail = tail.wrapping_add(if rng.chance(0.1) { rng.draw() } else { rng.between(0, 5000) });
            memory.set_word(0, tail);
            let mut bytes = 0;
            match receiver.take(&mut scratch, |datagram| bytes += datagram.len() + LENGTH) {
                Ok(_) => came += bytes,
                Err(_) => {
                    broken += 1;
                    break;
                }
            }
            assert!(bytes <= BATCH);
        }
    }
    assert!(broken > 100 && came > 0, "{broken} {came}");
}

#[test]
fn a_receiver_that_claims_what_can_not_be_loses_its_queue_and_is_given_another() {
    for head in [RING.bytes() as u64, 2 * RING.bytes() as u64, u64::MAX] {
        let (mut sender, _file) = Sender::new().unwrap();
        // The line of how far it was read.
        sender.memory().set_word(128, head);
        // It is looked at when no more room is known.
        let broken = (0..1000).find_map(|_| {
            let outcome = sender.put(&[], &[0; 1000]);
            sender.tell();
            outcome.err()
        });
        assert!(broken.is_some(), "{head}");
    }
    let (mut a, mut b) = (mailbox(), mailbox());
    send(&mut a, b.address(), b"one");
    a.spoil(b.address());
    for _ in 0..1000 {
        send(&mut a, b.address(), &[7; 1000]);
    }
    assert!(notice(&mut a).contains("is given up"));
    let came = all(&mut b);
    assert!(came.len() > 1 && came[1..].iter().all(|(_, bytes)| *bytes == [7; 1000]));
}

/// A file as a queue's that is not sealed, and so could shrink under its receiver's feet.
fn unsealed(len: usize) -> OwnedFd {
    let file = rustix::fs::memfd_create("open", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
    rustix::fs::ftruncate(&file, len as u64).unwrap();
    file
}

#[test]
fn who_does_not_greet_as_a_member_is_refused_and_the_others_are_heard() {
    let (mut a, mut b) = (mailbox(), mailbox());
    let to = b.address();
    send(&mut a, to, b"one");
    assert_eq!(all(&mut b).len(), 1);
    // Another file than a queue's.
    let sealed = unsealed(LEN - 1);
    rustix::fs::fcntl_add_seals(&sealed, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL).unwrap();
    let (pipe, _other) = rustix::pipe::pipe().unwrap();
    for (file, says) in [(unsealed(LEN), "can still change size"), (sealed, "instead of"), (pipe, "not shared memory")]
    {
        let socket = meet::connect(to).unwrap();
        meet::greet(&socket, at(9), &file).unwrap();
        assert!(all(&mut b).is_empty());
        let text = notice(&mut b);
        assert!(text.contains(says) && text.contains("refused"), "{text}");
        // Its connection ends.
        assert!(!meet::woken(&socket));
        b.forget_notices();
    }
    // Words, and none.
    for words in [&b"hello"[..], &[0; 32], &[0xff; 100]] {
        let socket = meet::connect(to).unwrap();
        rustix::io::write(&socket, words).unwrap();
        assert!(all(&mut b).is_empty());
        assert!(notice(&mut b).contains("does not greet"), "{words:?}");
        b.forget_notices();
    }
    let silent: Vec<_> = (0..100).map(|_| meet::connect(to).unwrap()).collect();
    assert!(all(&mut b).is_empty());
    drop(silent);
    assert!(all(&mut b).is_empty());
    assert_eq!(b.queues(), (0, 1));
    send(&mut a, to, b"two");
    assert_eq!(all(&mut b), [(a.address(), b"two".to_vec())]);
}

/// `python3` as another user, which does this with the name of an address. None where that can't be.
fn as_nobody(does: &str, at: SocketAddr) -> Option<Child> {
    let name = format!("\\0strata/{}/{at}", rustix::process::geteuid().as_raw());
    let script = format!(
        "import socket, sys\ns = socket.socket(socket.AF_UNIX)\nn = '{name}'\n{does}\nprint('done', flush=True)\nsys.stdin.read()"
    );
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65534", "--clear-groups", "python3", "-c", &script]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut done = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.as_mut()?), &mut done).ok()?;
    if done == "done\n" {
        return Some(child);
    }
    child.wait().ok()?;
    None
}

fn ended(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn another_users_processes_are_no_members() {
    let mut a = mailbox();
    let Some(squats) = as_nobody("s.bind(n)\ns.listen()", at(77)) else {
        println!("skipped: no process of another user can be started here (setpriv, python3, root)");
        return;
    };
    assert!(matches!(meet::connect(at(77)), Err(NoWay::OtherUser { theirs: 65534, .. })));
    send(&mut a, at(77), b"secret");
    let text = notice(&mut a);
    assert!(text.contains("user 65534") && text.contains("choose another"), "{text}");
    ended(squats);
    a.forget_notices();
    let knocks = as_nobody("s.connect(n)", a.address()).unwrap();
    assert!(all(&mut a).is_empty());
    let text = notice(&mut a);
    assert!(text.contains("another user") && text.contains("refused"), "{text}");
    assert_eq!(a.queues(), (0, 0));
    ended(knocks);
}
