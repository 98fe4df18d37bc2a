//! How two sides meet: proofs, strangers, addresses, transactions.

mod pairs;

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use pairs::{LOOPBACK, Settings, all_at_once, content, meet, name, patience, proof, settings, variants};
use transport::{
    Acceptor, Address, AnyLink, Family, Link, LinkError, Name, Patience, Proof, Wait, memcpy, multicast, pipe, quic,
    registry, seqpacket, shm, strata, tcp, theory, udp, unix, unixgram, vsock,
};

fn bind(kind: Name, settings: &Settings, patience: &Patience) -> Acceptor {
    pairs::bind(kind, settings, (LOOPBACK, 0).into(), patience).unwrap()
}

fn greet(near: &mut AnyLink, far: &mut AnyLink) {
    near.send(&[5; 50]).unwrap();
    near.flush().unwrap();
    let mut message = [0; 50];
    far.recv(&mut message).unwrap();
    assert_eq!(message[4..], [5; 46]);
}

#[test]
fn one_door_serves_one_connection_after_another() {
    for (kind, settings) in variants() {
        let patience = Patience::default();
        let mut acceptor = bind(kind, &settings, &patience);
        let mut kept = Vec::new();
        for _ in 0..3 {
            let (mut near, mut far) = meet(&mut acceptor, kind, &settings, &patience);
            greet(&mut near, &mut far);
            kept.push((near, far));
        }
        // Earlier links still work beside later ones.
        for (near, far) in &mut kept {
            greet(near, far);
        }
    }
}

#[test]
fn a_wrong_proof_is_turned_away_and_the_right_one_let_in_after_it() {
    all_at_once(|kind, settings| {
        let patience = patience(20.0).0;
        let mut acceptor = bind(kind, &settings, &patience);
        // By datagrams a wrong proof gets no answer at all, so its sender waits for its own patience.
        let brief = pairs::patience(0.3).0;
        let mut wrong = pairs::dial(kind, &settings, acceptor.address(), &brief);
        let mut right = pairs::dial(kind, &settings, acceptor.address(), &patience);
        std::thread::scope(|s| {
            let far = s.spawn(|| acceptor.accept(&proof(7)));
            let refused = wrong.connect(&Proof { near: [8; 32], ..proof(7) });
            assert!(refused.is_err(), "{}: {refused:?}", name(kind, &settings));
            let mut near = right.connect(&proof(7)).unwrap();
            greet(&mut near, &mut far.join().unwrap().unwrap());
        });
    });
}

#[test]
fn a_far_side_that_is_not_ours_is_not_believed() {
    all_at_once(|kind, settings| {
        let mut acceptor = bind(kind, &settings, &patience(20.0).0);
        // By datagrams there is no answer to wait for.
        let by_datagrams = [udp::NAME, multicast::NAME, quic::NAME, strata::NAME].contains(&kind);
        let waits = patience(if by_datagrams { 0.3 } else { 60.0 }).0;
        let mut connector = pairs::dial(kind, &settings, acceptor.address(), &waits);
        std::thread::scope(|s| {
            let far = s.spawn(|| acceptor.accept(&Proof { far: [9; 32], ..proof(7) }));
            let outcome = connector.connect(&proof(7));
            let what = name(kind, &settings);
            // Anybody may send a datagram; a wrong one is not the far side's word.
            let told = match outcome {
                Err(LinkError::Io { .. }) => by_datagrams,
                Err(LinkError::Protocol(_)) => !by_datagrams,
                _ => false,
            };
            assert!(told, "{what}: {outcome:?}");
            let _ = far.join().unwrap();
        });
    });
}

#[test]
fn silent_and_chattering_strangers_hold_up_nobody() {
    let patience = patience(20.0).0;
    for kind in [tcp::NAME, unix::NAME, pipe::NAME, shm::NAME, unixgram::NAME] {
        let mut acceptor = bind(kind, &settings(), &patience);
        let address = acceptor.address();
        let knock = || -> Box<dyn Stranger> {
            match address.text().unwrap().parse::<u16>() {
                Ok(port) => Box::new(TcpStream::connect((LOOPBACK, port)).unwrap()),
                Err(_) => Box::new(UnixStream::connect(address.text().unwrap()).unwrap()),
            }
        };
        let mut strangers: Vec<_> = (0..40).map(|_| knock()).collect();
        for (i, stranger) in strangers.iter_mut().enumerate() {
            match i % 3 {
                0 => {}
                1 => stranger.write_all(&[7; 31]).unwrap(),
                _ => stranger.write_all(&[0xAA; 5000]).unwrap(),
            }
        }
        strangers.push(knock());
        let (mut near, mut far) = meet(&mut acceptor, kind, &settings(), &patience);
        greet(&mut near, &mut far);
        // One that speaks nonsense is turned away without a word.
        let mut message = [0; 1];
        assert!(matches!(strangers[2].read(&mut message), Ok(0) | Err(_)), "{kind}");
    }
}

trait Stranger: Read + Write {}
impl<T: Read + Write> Stranger for T {}

#[test]
fn nobody_comes_and_a_stop_ends_the_wait() {
    all_at_once(|kind, settings| {
        let mut acceptor = bind(kind, &settings, &patience(0.15).0);
        let outcome = acceptor.accept(&proof(7));
        assert!(matches!(outcome, Err(LinkError::Stalled { .. })), "{}: {outcome:?}", name(kind, &settings));
        let (patience, stop) = patience(60.0);
        let mut acceptor = bind(kind, &settings, &patience);
        stop.store(true, Ordering::Relaxed);
        let outcome = acceptor.accept(&proof(7));
        assert!(matches!(outcome, Err(LinkError::Interrupted)), "{}: {outcome:?}", name(kind, &settings));
    });
}

#[test]
fn nobody_at_the_address_is_an_error_that_names_it() {
    all_at_once(|kind, settings| {
        let patience = patience(0.3).0;
        let address = bind(kind, &settings, &patience).address();
        let named = address.text().unwrap().to_owned();
        let e = pairs::dial(kind, &settings, address, &patience).connect(&proof(7)).unwrap_err();
        assert!(matches!(e, LinkError::Io { .. }), "{}: {e:?}", name(kind, &settings));
        assert!(e.to_string().contains(&named), "{e}");
    });
}

#[test]
fn an_address_of_another_sort_is_refused() {
    let patience = Patience::default();
    for (kind, _) in variants() {
        let a_port = kind.capabilities().group || kind == vsock::NAME || pairs::over_ip().any(|k| k == kind);
        let other = if a_port { "/nowhere" } else { "9" };
        let e = pairs::try_dial(kind, &settings(), Address::new(other), &patience).err().unwrap();
        assert!(matches!(e, LinkError::Protocol(_)) && e.to_string().contains(other), "{e}");
    }
}

#[test]
fn what_a_kind_cannot_do_is_said_before_anything_is_opened() {
    let patience = Patience::default();
    for kind in [memcpy::NAME, theory::NAME] {
        assert!(matches!(
            pairs::bind(kind, &settings(), (LOOPBACK, 0).into(), &patience),
            Err(LinkError::Unsupported(_))
        ));
    }
    let busy = settings().with("wait", Wait::BusyPoll);
    for kind in [pipe::NAME, shm::NAME, unix::NAME, seqpacket::NAME, unixgram::NAME] {
        assert!(
            matches!(pairs::bind(kind, &busy, (LOOPBACK, 0).into(), &patience), Err(LinkError::Unsupported(_))),
            "{kind}"
        );
    }
    for t in registry::all().filter(|t| !pairs::OPTIONAL.contains(&t.name())) {
        t.availability().unwrap_or_else(|e| panic!("{}: {e}", t.name()));
        t.reaches_itself().unwrap_or_else(|e| panic!("{}: {e}", t.name()));
    }
}

#[test]
fn the_ip_version_follows_the_flag_where_the_address_has_both() {
    let patience = Patience::default();
    let six = settings().with("family", Family::V6);
    let four = settings().with("family", Family::V4);
    for kind in pairs::over_ip() {
        let six_here = IpAddr::V6(Ipv6Addr::LOCALHOST);
        for (at, settings, ip) in [
            (LOOPBACK, &six, six_here),
            (six_here, &four, LOOPBACK),
            (Ipv4Addr::LOCALHOST.to_ipv6_mapped().into(), &four, LOOPBACK),
            (six_here, &six, six_here),
        ] {
            let mut acceptor = pairs::bind(kind, settings, (at, 0).into(), &patience).unwrap();
            let mut connector =
                kind.transport().unwrap().dial(&settings.set, &acceptor.address(), (at, 0).into(), &patience).unwrap();
            std::thread::scope(|s| {
                let far = s.spawn(|| acceptor.accept(&proof(7)).unwrap());
                let near = connector.connect(&proof(7)).unwrap();
                let there = near.effective().addresses.unwrap();
                assert!(there.contains(&SocketAddr::new(ip, 0).to_string().replace(":0", ":")), "{there}");
                far.join().unwrap();
            });
        }
        let e = pairs::bind(kind, &six, (Ipv4Addr::new(192, 0, 2, 1), 0).into(), &patience).err().unwrap();
        assert!(e.to_string().contains("IPv6 was asked for"), "{e}");
        let e = pairs::bind(kind, &four, (Ipv4Addr::new(192, 0, 2, 1), 0).into(), &patience).err().unwrap();
        assert!(e.to_string().contains("192.0.2.1"), "{e}");
    }
}

#[test]
fn local_kinds_meet_in_a_directory_of_their_owner_that_goes_away() {
    for kind in [pipe::NAME, shm::NAME, unix::NAME, seqpacket::NAME, unixgram::NAME] {
        let acceptor = bind(kind, &settings(), &Patience::default());
        let address = acceptor.address();
        let directory = Path::new(address.text().unwrap()).parent().unwrap().to_owned();
        assert_eq!(directory.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        drop(acceptor);
        assert!(!Path::exists(&directory), "{kind}");
    }
}

#[test]
fn transactions_carry_request_and_response() {
    for (kind, settings) in variants().into_iter().filter(|(k, s)| k.capabilities().connects && !s.with.any()) {
        let patience = Patience::default();
        let mut acceptor = bind(kind, &settings, &patience);
        let mut connector = pairs::dial(kind, &settings, acceptor.address(), &patience);
        let pairs = [(1, 1), (100, 20_000), (1 << 20, 3), (5, 4 << 20), (1, 0), (0, 1)];
        std::thread::scope(|s| {
            s.spawn(|| {
                for (request, response) in pairs {
                    let mut got = vec![0; request];
                    let done = acceptor.transaction(&proof(7), &mut got, &content(response, 2));
                    done.unwrap_or_else(|e| {
                        panic!("{}, {request} and {response} B: {e}", pairs::name(kind, &settings))
                    });
                    assert!(got == content(request, 1), "{kind} {request}");
                }
            });
            for (request, response) in pairs {
                let mut got = vec![0; response];
                let done = connector.transaction(&proof(7), &content(request, 1), &mut got);
                done.unwrap_or_else(|e| panic!("{}, {request} and {response} B: {e}", pairs::name(kind, &settings)));
                assert!(got == content(response, 2), "{kind} {response}");
            }
        });
    }
}

#[test]
fn a_transaction_needs_the_proof_and_a_kind_that_connects() {
    let brief = patience(5.0).0;
    let mut acceptor = bind(tcp::NAME, &settings(), &brief);
    let mut connector = pairs::dial(tcp::NAME, &settings(), acceptor.address(), &brief);
    std::thread::scope(|s| {
        let far = s.spawn(|| acceptor.transaction(&proof(7), &mut [0; 4], &[1; 4]));
        assert!(connector.transaction(&proof(8), &[0; 4], &mut [0; 4]).is_err());
        connector.transaction(&proof(7), &[0; 4], &mut [0; 4]).unwrap();
        far.join().unwrap().unwrap();
    });
    for kind in [pipe::NAME, shm::NAME, seqpacket::NAME, unixgram::NAME, udp::NAME, multicast::NAME] {
        let mut acceptor = bind(kind, &settings(), &brief);
        let mut connector = pairs::dial(kind, &settings(), acceptor.address(), &brief);
        let far = acceptor.transaction(&proof(7), &mut [0; 4], &[1; 4]);
        let near = connector.transaction(&proof(7), &[0; 4], &mut [1; 4]);
        assert!(matches!(far, Err(LinkError::Unsupported(_))), "{kind}: {far:?}");
        assert!(matches!(near, Err(LinkError::Unsupported(_))), "{kind}: {near:?}");
    }
}

#[test]
fn a_transaction_with_a_silent_peer_ends() {
    let brief = patience(0.3).0;
    let acceptor = bind(tcp::NAME, &settings(), &brief);
    let mut connector = pairs::dial(tcp::NAME, &settings(), acceptor.address(), &brief);
    let near = connector.transaction(&proof(7), &[0; 4], &mut [0; 4]);
    assert!(matches!(near, Err(LinkError::Stalled { .. })), "{near:?}");
    // A fresh door: at the first one a whole request still waits.
    let mut acceptor = bind(tcp::NAME, &settings(), &brief);
    let port: u16 = acceptor.address().text().unwrap().parse().unwrap();
    let mut shy = TcpStream::connect((LOOPBACK, port)).unwrap();
    shy.write_all(&[7; 32]).unwrap();
    let far = acceptor.transaction(&proof(7), &mut [0; 4], &[1; 4]);
    assert!(matches!(far, Err(LinkError::Stalled { .. })), "{far:?}");
}

#[test]
fn a_large_request_to_a_peer_that_does_not_read_ends() {
    for kind in [unix::NAME, tcp::NAME] {
        for wait in [Wait::Block, Wait::Spin] {
            let settings = settings().with("wait", wait);
            let acceptor = bind(kind, &settings, &Patience::default());
            let mut connector = pairs::dial(kind, &settings, acceptor.address(), &patience(0.3).0);
            let (tell, told) = std::sync::mpsc::channel();
            // Not joined: a call that waits for ever would take the test with it.
            std::thread::spawn(move || tell.send(connector.transaction(&proof(7), &vec![0; 64 << 20], &mut [0; 4])));
            let outcome = told.recv_timeout(Duration::from_secs(60)).expect("the wait must end");
            assert!(matches!(outcome, Err(LinkError::Stalled { .. })), "{kind} {wait:?}: {outcome:?}");
        }
    }
}

#[test]
fn what_took_effect_is_reported_by_both_ends() {
    for (kind, settings) in variants() {
        let settings = settings.with("sockbuf", 128u64 << 10);
        let patience = Patience::default();
        let has = kind.transport().unwrap().options().iter().any(|option| option.name == "sockbuf");
        let (near, far) = meet(&mut bind(kind, &settings, &patience), kind, &settings, &patience);
        for effective in [near.effective(), far.effective()] {
            assert_eq!(effective.wait, settings.set.wait().or(kind.capabilities().waits.first().copied()), "{kind}");
            match kind {
                _ if !has => {}
                // A pipe has what was asked for; Linux doubles a socket's buffers.
                pipe::NAME => assert_eq!(effective.send_buffer, Some(128 << 10)),
                vsock::NAME => assert_eq!(effective.receive_buffer, Some(128 << 10)),
                _ => assert_eq!((effective.send_buffer, effective.receive_buffer), (Some(256 << 10), Some(256 << 10))),
            }
        }
        assert_eq!(near.datagrams().is_some(), pairs::lossy(kind, &settings), "{}", name(kind, &settings));
    }
    // More than the system allows is cut to that, and reported so.
    let huge = settings().with("sockbuf", 1u64 << 31);
    let (near, _far) = pairs::pair(tcp::NAME, &huge, &Patience::default());
    assert!(near.effective().send_buffer.unwrap() < 1 << 31);
}

#[test]
fn busy_polling_carries_messages_where_it_may_be_had() {
    let settings = settings().with("wait", Wait::BusyPoll);
    for kind in [tcp::NAME, udp::NAME, multicast::NAME] {
        let patience = patience(5.0).0;
        let mut acceptor = bind(kind, &settings, &patience);
        let mut connector = pairs::dial(kind, &settings, acceptor.address(), &patience);
        let (near, far) = std::thread::scope(|s| {
            let far = s.spawn(|| acceptor.accept(&proof(7)));
            (connector.connect(&proof(7)), far.join().unwrap())
        });
        let (mut near, mut far) = match (near, far) {
            (Ok(near), Ok(far)) => (near, far),
            // It takes a privilege, and a kernel that can.
            (Err(e @ LinkError::Io { .. }), _) | (_, Err(e @ LinkError::Io { .. })) => {
                assert!(e.to_string().contains("SO_BUSY_POLL"), "{kind}: {e}");
                println!("not run: busy polling over {kind}: {e}");
                continue;
            }
            other => panic!("{kind}: {other:?}"),
        };
        for link in [&near, &far] {
            assert_eq!(link.effective().wait, Some(Wait::BusyPoll), "{kind}");
        }
        greet(&mut near, &mut far);
        greet(&mut far, &mut near);
    }
}

#[test]
fn a_wait_that_lasts_through_a_pause_goes_on() {
    // Longer than one look, shorter than the patience.
    all_at_once(|kind, settings| {
        let patience = Patience::default();
        let (mut near, mut far) = meet(&mut bind(kind, &settings, &patience), kind, &settings, &patience);
        std::thread::scope(|s| {
            s.spawn(|| {
                std::thread::sleep(Duration::from_millis(250));
                far.send(&content(500, 3)).unwrap();
                far.flush().unwrap();
            });
            let mut message = [0; 500];
            near.recv(&mut message).unwrap();
            assert_eq!(message[4..], content(500, 3)[4..], "{}", name(kind, &settings));
        });
    });
}
