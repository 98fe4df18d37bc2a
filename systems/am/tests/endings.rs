//! How connections end, and what may not connect at all. Each far side makes its own socket, so that no other test's process holds a copy.

mod common;

use std::sync::mpsc::channel;
use std::time::Duration;

use am::{Broken, Endpoint, Error, Handlers, Listener, Options, RemoteRegion};
use common::{Child, fork, name, small};
use rustix::net::{AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType};

/// Far longer than anything here takes.
const LONG: Option<Duration> = Some(Duration::from_secs(120));

/// A process that connects by name and runs `far` on its end; this side's end of the connection.
fn linked<S, F>(
    options: Options,
    near: Handlers<S>,
    far_handlers: Handlers<F>,
    far: impl FnOnce(Endpoint<F>),
) -> (Endpoint<S>, Child) {
    let name = name();
    let listener = Listener::bind(&name, options).unwrap();
    let child = fork(|| far(Endpoint::connect(&name, far_handlers, options).unwrap()));
    (listener.accept(near).unwrap(), child)
}

fn forever() {
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

#[test]
fn a_peer_killed_while_this_side_waits_is_noticed() {
    let (mut endpoint, mut child) = linked(small(), Handlers::<()>::new(), Handlers::<()>::new(), |_end| forever());
    let (tell, told) = channel();
    let waiter = std::thread::spawn(move || {
        tell.send(()).unwrap();
        endpoint.wait(&mut (), LONG)
    });
    told.recv().unwrap();
    std::thread::sleep(Duration::from_millis(20));
    child.kill();
    let found = waiter.join().unwrap();
    assert!(matches!(found, Err(Error::Died { .. })), "{found:?}");
}

#[test]
fn a_peer_killed_while_this_side_waits_for_room_is_noticed() {
    let (mut endpoint, mut child) = linked(small(), Handlers::<()>::new(), Handlers::<()>::new(), |_end| forever());
    while endpoint.try_request(0, &[], &[0; 500]).unwrap() {}
    child.kill();
    let found = endpoint.request(&mut (), 0, &[], &[0; 500]);
    assert!(matches!(found, Err(Error::Died { .. })), "{found:?}");
}

#[test]
fn a_peer_killed_is_noticed_by_who_only_polls() {
    let (mut endpoint, mut child) = linked(small(), Handlers::<()>::new(), Handlers::<()>::new(), |_end| forever());
    child.kill();
    let mut polls = 0_u64;
    let found = loop {
        match endpoint.poll(&mut ()) {
            Ok(_) => polls += 1,
            Err(found) => break found,
        }
        assert!(polls < 100_000, "a dead peer goes unnoticed");
    };
    assert!(matches!(found, Error::Died { .. }), "{found:?}");
}

#[test]
fn what_a_peer_sent_before_it_was_killed_is_taken_first() {
    let far = |mut end: Endpoint<()>| {
        for number in 0..3 {
            end.request(&mut (), 0, &[number], &[]).unwrap();
        }
        // SAFETY: ends this process at once, as a crash would.
        unsafe { libc::raise(libc::SIGKILL) };
    };
    let near = Handlers::new().on_request(0, |seen: &mut Vec<u64>, message, _| seen.push(message.argument(0)));
    let (mut endpoint, mut child) = linked(small(), near, Handlers::new(), far);
    child.wait();
    let mut seen = Vec::new();
    let end = loop {
        if let Err(end) = endpoint.wait(&mut seen, LONG) {
            break end;
        }
    };
    assert_eq!(seen, [0, 1, 2]);
    assert!(matches!(end, Error::Died { .. }), "{end}");
}

#[test]
fn a_listener_killed_leaves_its_name_free_and_its_peer_told() {
    let name = name();
    let (ready, mut set) = std::io::pipe().unwrap();
    let mut child = fork(|| {
        let listener = Listener::bind(&name, small()).unwrap();
        std::io::Write::write_all(&mut set, b"r").unwrap();
        let _end = listener.accept(Handlers::<()>::new()).unwrap();
        forever();
    });
    std::io::Read::read_exact(&mut &ready, &mut [0]).unwrap();
    assert!(matches!(Listener::bind(&name, small()), Err(Error::NameTaken { .. })));
    let mut endpoint = Endpoint::connect(&name, Handlers::<()>::new(), small()).unwrap();
    child.kill();
    let found = endpoint.wait(&mut (), LONG);
    assert!(matches!(found, Err(Error::Died { .. })), "{found:?}");
    assert!(matches!(Endpoint::connect(&name, Handlers::<()>::new(), small()), Err(Error::NobodyListens { .. })));
    Listener::bind(&name, small()).unwrap();
}

#[test]
fn a_close_is_told_after_all_that_was_sent() {
    let far = |mut end: Endpoint<()>| {
        for number in 0..3 {
            end.request(&mut (), 0, &[number], &[]).unwrap();
        }
    };
    let near = Handlers::new().on_request(0, |seen: &mut u64, _, _| *seen += 1);
    let (mut endpoint, mut child) = linked(small(), near, Handlers::new(), far);
    assert!(child.wait());
    let mut seen = 0;
    assert_eq!(endpoint.wait(&mut seen, LONG).unwrap(), 3);
    assert_eq!(seen, 3);
    assert!(matches!(endpoint.wait(&mut seen, LONG), Err(Error::Closed { .. })));
}

#[test]
fn a_peer_that_never_polls_exhausts_the_patience_and_no_more() {
    let mut options = small();
    options.patience = Duration::from_millis(100);
    let (mut endpoint, _child) = linked(options, Handlers::<()>::new(), Handlers::<()>::new(), |_end| forever());
    let found = loop {
        if let Err(found) = endpoint.request(&mut (), 0, &[], &[0; 1000]) {
            break found;
        }
    };
    assert!(matches!(found, Error::Stalled { .. }), "{found:?}");
    assert_eq!(endpoint.wait(&mut (), Some(Duration::from_millis(10))).unwrap(), 0, "the connection still stands");
}

#[test]
fn a_peer_that_only_sends_exhausts_the_patience_too() {
    let mut options = small();
    options.patience = Duration::from_millis(200);
    // Takes nothing: it polls never, and sends whenever there is room.
    let far = |mut end: Endpoint<()>| {
        while end.try_request(0, &[], &[0; 100]).is_ok() {
            std::thread::yield_now();
        }
    };
    let near = Handlers::new().on_request(0, |seen: &mut u64, _, _| *seen += 1);
    let (mut endpoint, _child) = linked(options, near, Handlers::<()>::new(), far);
    let mut seen = 0;
    let found = loop {
        if let Err(found) = endpoint.request(&mut seen, 0, &[], &[0; 1000]) {
            break found;
        }
    };
    assert!(matches!(found, Error::Stalled { .. }), "{found:?}");
    assert!(seen > 0, "it sent all the while");
}

/// What the near side finds after the far side did `far`, and what the far side is told then (it exits with 1 if it is not `Closed`).
fn breach(far: impl FnOnce(&mut Endpoint<()>)) -> Broken {
    let (mut endpoint, mut child) = linked(small(), Handlers::<()>::new(), Handlers::<()>::new(), |mut end| {
        far(&mut end);
        let found = end.wait(&mut (), LONG);
        assert!(matches!(found, Err(Error::Closed { .. })), "{found:?}");
    });
    let broken = match endpoint.wait(&mut (), LONG) {
        Err(Error::Protocol(broken)) => broken,
        other => panic!("{other:?}"),
    };
    assert!(matches!(endpoint.request(&mut (), 0, &[], &[]), Err(Error::Protocol(again)) if again == broken));
    assert!(matches!(endpoint.poll(&mut ()), Err(Error::Protocol(again)) if again == broken));
    assert!(child.wait(), "the far side was not told");
    broken
}

#[test]
fn a_request_that_nobody_handles_closes_the_connection() {
    let broken = breach(|end| end.request(&mut (), 7, &[], &[]).unwrap());
    assert_eq!(broken, Broken::Handler { kind: "request", handler: 7 });
}

#[test]
fn a_put_into_memory_that_is_not_registered_closes_the_connection() {
    let nowhere = RemoteRegion::from_token(64 << 32 | 128);
    let broken = breach(|end| end.put(&mut (), nowhere, 8, &[1; 16], 0, &[]).unwrap());
    assert_eq!(broken, Broken::Region { region: 64, at: 8, len: 16 });
}

#[test]
fn what_can_not_be_sent_is_refused_and_the_connection_stands() {
    let near = Handlers::new().on_reply(0, |seen: &mut u64, _| *seen += 1);
    let far = Handlers::new().on_request(0, |(), _, reply| reply.send(0, &[], &[]).unwrap());
    let (mut endpoint, _child) = linked(small(), near, far, |mut end| while end.wait(&mut (), LONG).is_ok() {});
    let mut seen = 0;
    let medium = endpoint.medium();
    assert!(matches!(endpoint.request(&mut seen, 0, &[0; 9], &[]), Err(Error::TooManyArguments { given: 9, most: 8 })));
    assert!(matches!(endpoint.request(&mut seen, 0, &[], &vec![0; medium + 1]), Err(Error::TooLarge { .. })));
    assert!(matches!(endpoint.register(2 << 20), Err(Error::NoRoom { .. })));
    endpoint.request(&mut seen, 0, &[0; 8], &vec![0; medium]).unwrap();
    assert_eq!(endpoint.wait(&mut seen, LONG).unwrap(), 1);
}

#[test]
fn a_handler_that_panics_has_taken_its_message() {
    let near = Handlers::new().on_request(0, |seen: &mut Vec<u64>, message, _| {
        seen.push(message.argument(0));
        assert_ne!(message.argument(0), 1, "this panic is part of the test");
    });
    let far = |mut end: Endpoint<()>| {
        (0..3).for_each(|number| end.request(&mut (), 0, &[number], &[]).unwrap());
        assert!(end.wait(&mut (), LONG).is_err());
    };
    let (mut endpoint, mut child) = linked(small(), near, Handlers::new(), far);
    let mut seen = Vec::new();
    let mut panics = 0;
    while seen.len() < 3 {
        let run = std::panic::AssertUnwindSafe(|| endpoint.wait(&mut seen, LONG).map(drop));
        panics += u32::from(std::panic::catch_unwind(run).is_err());
    }
    assert_eq!((seen, panics), (vec![0, 1, 2], 1));
    drop(endpoint);
    assert!(child.wait());
}

#[test]
fn a_process_of_another_user_is_refused_by_both_sides() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can start a process of another user");
        return;
    }
    let name = name();
    let listener = Listener::bind(&name, small()).unwrap();
    let mut child = fork(|| {
        // SAFETY: plain system calls that change this process's user.
        assert_eq!(unsafe { libc::setuid(65_534) }, 0);
        let found = Endpoint::connect(&name, Handlers::<()>::new(), small()).map(drop);
        assert!(matches!(found, Err(Error::OtherUser { theirs: 0, ours: 65_534, .. })), "{found:?}");
    });
    let found = listener.accept(Handlers::<()>::new()).map(drop);
    assert!(matches!(found, Err(Error::OtherUser { theirs: 65_534, ours: 0, .. })), "{found:?}");
    assert!(child.wait());
}

#[test]
fn a_process_that_greets_wrongly_or_not_at_all_is_refused_and_the_next_one_served() {
    let mut options = small();
    options.patience = Duration::from_millis(100);
    let name = name();
    let listener = Listener::bind(&name, options).unwrap();
    let address = SocketAddrUnix::new_abstract_name(format!("pipegauge-am/{name}").as_bytes()).unwrap();
    let dial = || {
        let socket =
            rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap();
        rustix::net::connect(&socket, &address).unwrap();
        socket
    };
    let silent = dial();
    assert!(matches!(listener.accept(Handlers::<()>::new()), Err(Error::Io { .. })));
    drop(silent);
    for greeting in [&b""[..], b"hello", &[0xff; 32], &[0; 4096]] {
        let socket = dial();
        rustix::net::send(&socket, greeting, SendFlags::NOSIGNAL).unwrap();
        let found = listener.accept(Handlers::<()>::new()).map(drop);
        assert!(matches!(found, Err(Error::Greeting { .. })), "{found:?}");
    }
    let mut child = fork(|| drop(Endpoint::connect(&name, Handlers::<()>::new(), small()).unwrap()));
    listener.accept(Handlers::<()>::new()).unwrap();
    assert!(child.wait());
}
