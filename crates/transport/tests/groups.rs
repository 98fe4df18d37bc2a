//! The contract of a group: one body for every transport that has one, and what a group makes of strangers, over all members in one process.

mod pairs;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use pairs::{LOOPBACK, Settings, content, group, name, patience, settings, variants};
use transport::{
    AnyLink, Delivered, End, Ends, Family, Group, Link, LinkError, Name, Patience, VisitGroup, multicast, registry,
    strata,
};

struct Has;

impl transport::Visit for Has {
    type Out = bool;
    fn visit<L: Link>(self, end: &mut End<L>) -> bool {
        end.visit_group(Has).is_some()
    }
}

impl VisitGroup for Has {
    type Out = ();
    fn visit<L: Group>(self, _: &mut L) {}
}

/// Every transport that has groups, in each wait mode that can be had without privileges.
fn grouped() -> Vec<(Name, Settings)> {
    variants().into_iter().filter(|(kind, settings)| kind.capabilities().group && !settings.with.any()).collect()
}

/// A member as a group.
fn of(link: &mut AnyLink) -> &mut dyn Group {
    link.group().expect("a transport with groups gives members")
}

#[test]
fn groups_are_there_where_capabilities_say_so() {
    for (kind, settings) in variants() {
        let (mut near, mut far) = pairs::pair(kind, &settings, &Patience::default());
        let what = name(kind, &settings);
        for end in [&mut near, &mut far] {
            let can = end.capabilities().group;
            assert_eq!((end.visit(Has), end.group().is_some()), (can, can), "{what}");
        }
        assert!(!(settings.with.any() && near.capabilities().group), "{what}: a decorator would see nothing of it");
        if let (Some(near), Some(far)) = (near.group(), far.group()) {
            assert_eq!(((near.rank(), near.members()), (far.rank(), far.members())), ((0, 2), (1, 2)), "{what}");
        }
    }
    for t in registry::all().filter(|t| t.ends() == Ends::Two && !t.capabilities(&Default::default()).group) {
        let outcome = t.gather(&Default::default(), &[], &[], &Patience::default());
        assert!(matches!(outcome, Err(LinkError::Unsupported(_))), "{}", t.name());
    }
    assert!(!grouped().is_empty());
}

#[test]
fn each_member_delivers_the_casts_of_all_others_with_their_ranks_and_none_of_its_own() {
    for (kind, settings) in grouped() {
        for members in [2, 3, 9] {
            let what = format!("{} of {members}", name(kind, &settings));
            let mut links = group(kind, &settings, members, &Patience::default());
            let most = links[0].capabilities().max_block.map_or(1 << 20, |most| (most as usize).min(1 << 20));
            // Around a packet's and a page's end, and the most that a message may be.
            for (round, size) in (1..).zip([1, 2, 1456, 1457, 4096, 65_000, most - 1, most]) {
                for caster in 0..members {
                    let message = content(size, u64::from(round) * 100 + caster as u64);
                    assert_eq!(of(&mut links[caster]).cast(&message).unwrap(), round, "{what}");
                    for (rank, link) in links.iter_mut().enumerate() {
                        assert_eq!((of(link).rank(), of(link).members()), (rank as u32, members as u32), "{what}");
                        if rank == caster {
                            assert!(!link.ready(Duration::ZERO).unwrap(), "{what}: its own");
                            continue;
                        }
                        let mut came = vec![0; size];
                        let delivered = of(link).deliver(&mut came).unwrap();
                        assert_eq!(delivered, Delivered { from: caster as u32, number: round }, "{what}, {size} bytes");
                        assert!(came == message, "{what}, {size} bytes of {caster} at {rank}");
                        // An answer is for the caster alone.
                        of(link).answer(caster as u32, &came[..1]).unwrap();
                    }
                    let mut answers: Vec<u32> = (1..members)
                        .map(|_| {
                            let mut answer = [0];
                            let from = of(&mut links[caster]).answered(&mut answer).unwrap();
                            assert_eq!(answer, message[..1], "{what}");
                            from
                        })
                        .collect();
                    answers.sort_unstable();
                    let others: Vec<u32> = (0..members as u32).filter(|rank| *rank != caster as u32).collect();
                    assert_eq!(answers, others, "{what}");
                }
            }
            let counts = links.iter().map(|link| link.datagrams().unwrap_or_default());
            assert!(
                counts.into_iter().all(|c| c == Default::default()),
                "{what}: nothing lost, late, double or strange"
            );
        }
    }
}

#[test]
fn what_cannot_be_sent_is_refused_and_a_member_that_is_gone_is_no_hang() {
    for (kind, settings) in grouped() {
        let what = name(kind, &settings);
        let settings = settings.with("loss-timeout", 0.1);
        // What may be lost is so by then; where all arrives it is the patience that ends.
        let limit = if kind.capabilities().reliable { 1.0 } else { 60.0 };
        let mut links = group(kind, &settings, 3, &patience(limit).0);
        let most = links[0].capabilities().max_block.unwrap() as usize;
        let outcome = of(&mut links[0]).cast(&vec![0; most + 1]);
        assert!(matches!(outcome, Err(LinkError::TooLarge { .. })), "{what}: {outcome:?}");
        // Itself, and members that there are not.
        for to in [0, 3, u32::MAX] {
            let outcome = of(&mut links[0]).answer(to, &[1]);
            assert!(matches!(outcome, Err(LinkError::Unsupported(_))), "{what}: {outcome:?}");
        }
        links.truncate(2);
        // Where all arrives, whoever looks first sees that a member is gone.
        let reliable = kind.capabilities().reliable;
        let outcome = of(&mut links[0]).cast(&[1; 100]).and_then(|_| of(&mut links[1]).deliver(&mut [0; 100]));
        assert!(reliable || outcome.is_ok(), "{what}: {outcome:?}");
        let outcome = outcome.and_then(|_| of(&mut links[0]).answered(&mut [0; 1]));
        let ends = match outcome {
            Err(LinkError::Lost) => !reliable,
            Err(LinkError::Stalled { .. } | LinkError::Closed { .. }) => reliable,
            _ => false,
        };
        assert!(ends, "{what}: {outcome:?}");
        links[0].close().unwrap();
        let outcome = (of(&mut links[0]).cast(&[1]), of(&mut links[0]).deliver(&mut [0]));
        assert!(
            matches!(outcome, (Err(LinkError::Closed { .. }), Err(LinkError::Closed { .. }))),
            "{what}: {outcome:?}"
        );
    }
}

/// The IP versions of which this host carries groups.
fn versions() -> impl Iterator<Item = Family> {
    [Family::V4, Family::V6].into_iter().filter(|family| *family == Family::V4 || pairs::groups_over_v6())
}

#[test]
fn two_groups_at_one_address_and_port_are_two() {
    for (family, address) in versions().zip(["239.192.80.73", "ff11::5048"]) {
        let settings = settings().with("port", "40772").with("address", address).with("loss-timeout", 0.05);
        let mut one = group(multicast::NAME, &settings, 3, &Patience::default());
        let mut other = group(multicast::NAME, &settings, 2, &Patience::default());
        of(&mut one[0]).cast(&[1; 50]).unwrap();
        of(&mut other[1]).cast(&[2; 50]).unwrap();
        let mut came = [0; 50];
        for link in &mut one[1..] {
            assert_eq!(of(link).deliver(&mut came).unwrap(), Delivered { from: 0, number: 1 }, "{family:?}");
            assert_eq!(came, [1; 50]);
            assert!(matches!(of(link).deliver(&mut came), Err(LinkError::Lost)));
            // The sender's filter knows only its own rank: another group's cast of another rank gets as far as here.
            assert_eq!(link.datagrams().unwrap().strangers, u64::from(link.group().unwrap().rank() != 1));
        }
        assert_eq!(of(&mut other[0]).deliver(&mut came).unwrap().from, 1);
        assert_eq!(came, [2; 50]);
    }
}

/// Where the members of a group are, as its near member says.
fn place(link: &AnyLink) -> SocketAddr {
    let said = link.effective().addresses.unwrap();
    said.split(' ').next().unwrap().parse().unwrap()
}

/// The index of the interface of a group of IPv6 that stays within it.
fn interface(at: SocketAddr) -> u32 {
    let SocketAddr::V6(at) = at else { return 0 };
    at.scope_id()
}

/// A socket that sends to the group at `at` by its interface, and goes no further.
fn stranger(at: SocketAddr) -> UdpSocket {
    let any: IpAddr = if at.is_ipv6() { Ipv6Addr::UNSPECIFIED.into() } else { LOOPBACK };
    let socket = UdpSocket::bind((any, 0)).unwrap();
    let options = socket2::SockRef::from(&socket);
    if at.is_ipv6() {
        options.set_multicast_if_v6(interface(at)).unwrap();
        options.set_multicast_hops_v6(0).unwrap();
    } else {
        options.set_multicast_if_v4(&Ipv4Addr::LOCALHOST).unwrap();
        options.set_multicast_ttl_v4(0).unwrap();
    }
    socket
}

/// One who listens at the group receives all that is cast, and can send it again.
fn listener(at: SocketAddr) -> UdpSocket {
    let domain = if at.is_ipv6() { socket2::Domain::IPV6 } else { socket2::Domain::IPV4 };
    let listener = socket2::Socket::new(domain, socket2::Type::DGRAM, None).unwrap();
    listener.set_reuse_address(true).unwrap();
    listener.bind(&at.into()).unwrap();
    match at.ip() {
        IpAddr::V4(group) => listener.join_multicast_v4(&group, &Ipv4Addr::LOCALHOST).unwrap(),
        IpAddr::V6(group) => listener.join_multicast_v6(&group, interface(at)).unwrap(),
    }
    listener.into()
}

#[test]
fn garbage_and_copies_of_casts_are_counted_and_never_delivered() {
    for family in versions() {
        let settings = settings().with("loss-timeout", 0.05).with("family", family);
        let mut links = group(multicast::NAME, &settings, 2, &Patience::default());
        let at = place(&links[0]);
        assert_eq!(at.is_ipv6(), family == Family::V6);
        let listener = listener(at);
        of(&mut links[0]).cast(&[3; 100]).unwrap();
        let mut received = [0; 200];
        let len = listener.recv(&mut received).unwrap();
        assert_eq!(len, 100 + multicast::HEADER_BYTES);
        assert_eq!(received[multicast::HEADER_BYTES..len], [3; 100]);
        let socket = stranger(at);
        for garbage in [&[][..], &[7; 1], &[0; 16], &[0; 116], &[0xFF; 65_000]] {
            socket.send_to(garbage, at).unwrap();
        }
        let mut forged = received;
        forged[0] = forged[0].wrapping_add(1);
        socket.send_to(&forged[..len], at).unwrap();
        for _ in 0..3 {
            socket.send_to(&received[..len], at).unwrap();
        }
        // The far member joined with a key of its own measurement: a cast of an earlier one is a stranger's.
        let port = at.port().to_string();
        let mut later = group(multicast::NAME, &settings.clone().with("port", port.as_str()), 2, &Patience::default());
        socket.send_to(&received[..len], at).unwrap();
        assert!(matches!(of(&mut later[1]).deliver(&mut [0; 100]), Err(LinkError::Lost)));
        assert_eq!(later[1].datagrams().unwrap().strangers, 1);
        let mut came = [0; 100];
        assert_eq!(of(&mut links[1]).deliver(&mut came).unwrap(), Delivered { from: 0, number: 1 });
        assert!(matches!(of(&mut links[1]).deliver(&mut came), Err(LinkError::Lost)));
        let counts = links[1].datagrams().unwrap();
        assert_eq!(
            (counts.strangers, counts.duplicated, counts.lost),
            (10, 0, 0),
            "{family:?} {counts:?}: copies don't come from the member's own address"
        );
        // Nor is anything of it taken for a message that is there.
        socket.send_to(&[9; 116], at).unwrap();
        assert!(!links[1].ready(Duration::ZERO).unwrap());
        assert_eq!(links[1].datagrams().unwrap().strangers, 11);
    }
}

#[test]
fn what_cannot_carry_a_group_is_refused_with_the_remedy() {
    let t = multicast::NAME.transport().unwrap();
    for (option, value, says) in [
        ("address", "10.0.0.1", "224.0.0.0 to 239.255.255.255"),
        ("address", "ff00::1", "of IPv6 with a scope from 1 on"),
        ("address", "fe80::1", "of IPv6 with a scope from 1 on"),
        ("address", "here", "224.0.0.0 to 239.255.255.255"),
        ("port", "0", "1 to 65535"),
        ("ttl", "256", "0 to 255"),
        ("interface", "a/b", "an interface's name"),
    ] {
        let e = transport::Settings::default().read(t.options(), option, value).unwrap_err().to_string();
        assert!(e.contains(says), "{option}={value}: {e}");
    }
    let refused = |set: Settings| {
        pairs::bind(multicast::NAME, &set, (LOOPBACK, 0).into(), &Patience::default()).err().unwrap().to_string()
    };
    let e = refused(settings().with("interface", "nosuch0"));
    assert!(e.contains("interface 'nosuch0'") && e.contains("'ip link'"), "{e}");
    for (address, family, says) in [
        ("239.192.80.71", Family::V6, "it is of IPv4, and IPv6 was asked for"),
        ("ff02::5047", Family::V4, "it is of IPv6, and IPv4 was asked for"),
    ] {
        let e = refused(settings().with("address", address).with("family", family));
        assert!(e.contains(address) && e.contains(says) && e.contains("multicast:address="), "{e}");
    }
    let stays =
        |option: &str, value: &str| t.capabilities(&transport::Settings::default().with(option, value)).local_only;
    assert!(stays("ttl", "0") && stays("interface", "eth0") && stays("ttl", "1"));
    let out = transport::Settings::default().with("interface", "eth0").with("ttl", "1");
    assert!(!t.capabilities(&out).local_only);
}

/// A group of strata over this stack.
fn stacked(stack: &str, members: usize) -> Option<Vec<AnyLink>> {
    let t = strata::NAME.transport().unwrap();
    pairs::here(t).then(|| group(strata::NAME, &settings().with("stack", stack), members, &Patience::default()))
}

#[test]
fn every_sort_of_stack_carries_a_group_sealed_or_over_multicast_or_with_layers_repeated() {
    for stack in [
        "MBRSHIP:FRAG:NAK:COM:udp",
        "TOTAL:MBRSHIP:FRAG:NAK:COM:multicast",
        "FC:SEQ:MBRSHIP:FRAG*10:NAK:CRYPT:COM:udp",
        "SAFE:STABLE:CAUSAL:MBRSHIP:FRAG:NAK:SIGN:CHKSUM:COM:udp",
        "TOTAL:MBRSHIP:FRAG:NAK:COM:shm",
        "FC:FAST:SEQ:MBRSHIP:FRAG:NAK:CRYPT:COM:shm",
    ] {
        let Some(mut links) = stacked(stack, 3) else { return };
        for number in 1..=200 {
            for (caster, link) in links.iter_mut().enumerate() {
                assert_eq!(of(link).cast(&[caster as u8; 2000]).unwrap(), number, "{stack}");
            }
        }
        for (rank, link) in links.iter_mut().enumerate() {
            let mut next = [1; 3];
            for _ in 0..400 {
                let mut came = [9; 2000];
                let Delivered { from, number } = of(link).deliver(&mut came).unwrap();
                assert_ne!(from as usize, rank, "{stack}: its own");
                assert_eq!((number, came), (next[from as usize], [from as u8; 2000]), "{stack}");
                next[from as usize] += 1;
            }
            assert_eq!(link.effective().options["stack"], stack);
        }
    }
}

#[test]
fn a_stack_that_does_not_hold_is_refused_in_the_words_of_strata() {
    let t = strata::NAME.transport().unwrap();
    if !pairs::here(t) {
        return;
    }
    for (stack, says) in [
        ("TOTAL:FRAG:NAK:COM:udp", "TOTAL needs P8 (semi-synchronous), which nothing below it provides: add MBRSHIP"),
        ("TOTALLY:MBRSHIP:FRAG:NAK:COM:udp", "has a layer \"TOTALLY\""),
        ("MBRSHIP:FRAG:NAK:COM", "must end with what carries datagrams"),
        ("MBRSHIP:FRAG:NAK:COM:sim", "write udp, multicast or shm"),
        ("FRAG:NAK:COM:udp", "add MBRSHIP"),
        ("MBRSHIP:FRAG*99:NAK:COM:udp", "from 1 to 64"),
    ] {
        let e = transport::Settings::default().read(t.options(), "stack", stack).unwrap_err().to_string();
        assert!(e.contains(says) && e.contains("stack"), "{stack}: {e}");
    }
}

#[test]
fn what_one_member_misses_it_gets_while_the_others_are_done_and_use_their_links_no_more() {
    // More than a socket's buffer, or a queue, holds: some of it is lost, and the caster is asked for it again.
    for carrier in ["udp", "shm"] {
        let Some(mut links) = stacked(&format!("MBRSHIP:FRAG:NAK:COM:{carrier}"), 3) else { return };
        for _ in 0..2000 {
            of(&mut links[0]).cast(&[5; 1400]).unwrap();
        }
        for link in &mut links[1..] {
            for number in 1..=2000 {
                assert_eq!(of(link).deliver(&mut [0; 1400]).unwrap(), Delivered { from: 0, number }, "{carrier}");
            }
        }
    }
}

#[test]
fn a_stack_over_shared_memory_stays_on_its_host_and_says_so() {
    let t = strata::NAME.transport().unwrap();
    let stack = |stack: &str| transport::Settings::default().with("stack", stack);
    let (near, far) = (stack("MBRSHIP:FRAG:NAK:COM:shm"), stack("MBRSHIP:FRAG:NAK:COM:udp"));
    if pairs::here(t) {
        assert!(t.capabilities(&near).local_only && !t.capabilities(&far).local_only);
        assert!(!t.listens_to(&near, "bind") && t.listens_to(&far, "bind"));
        let Some(links) = stacked("MBRSHIP:FRAG:NAK:COM:shm", 2) else { return };
        for link in links {
            assert!(link.capabilities().local_only);
            assert!(link.effective().addresses.is_some_and(|at| at.ends_with(", in shared memory")));
        }
    }
}
