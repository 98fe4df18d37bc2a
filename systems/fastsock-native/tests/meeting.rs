//! Two ends of a TCP connection that ask for receive posting, and those that can't have it.

use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use am::posting::Received;
use am::{Error, Options};

const LIMIT: Option<Duration> = Some(Duration::from_secs(60));

fn short() -> Options {
    let mut options = Options::default();
    options.patience = Duration::from_millis(50);
    options
}

/// Both ends of a connection: of the program that connected, and of the one that accepted.
fn connection(listens: &str) -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind(listens).unwrap();
    let connected = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (connected, listener.accept().unwrap().0)
}

/// A message of 70,000 bytes each way into a posted buffer; the TCP connection is as it was.
fn exchanges(listens: &str) {
    let (connected, accepted) = connection(listens);
    let serve = std::thread::spawn(move || {
        let mut posting = fastsock_native::accepted(&accepted, Options::default()).unwrap();
        let buffer = posting.buffer(70_000).unwrap();
        posting.post(buffer).unwrap();
        posting.send(b"posted").unwrap();
        let Some(Received::InPlace { buffer, len: 70_000 }) = posting.receive(LIMIT).unwrap() else {
            panic!("not in the buffer");
        };
        let mut bytes = vec![0; 70_000];
        posting.read(buffer, 0, &mut bytes).unwrap();
        assert!(bytes.iter().all(|&byte| byte == 9));
        accepted
    });
    let mut posting = fastsock_native::connected(&connected, Options::default()).unwrap();
    assert_eq!(posting.receive(LIMIT).unwrap(), Some(Received::Bytes(b"posted".to_vec())));
    assert!(posting.send(&[9; 70_000]).unwrap(), "it went through the ring");
    let accepted = serve.join().unwrap();
    accepted.set_nonblocking(true).unwrap();
    let mut nothing = [0];
    let peeked = accepted.peek(&mut nothing).map_err(|error| error.kind());
    assert_eq!(peeked, Err(std::io::ErrorKind::WouldBlock), "something was put on the connection");
}

#[test]
fn both_ends_send_into_posted_buffers() {
    exchanges("127.0.0.1:0");
    if TcpListener::bind("[::1]:0").is_ok() {
        exchanges("[::1]:0");
    } else {
        println!("skipped: there is no IPv6");
    }
}

#[test]
fn what_is_no_connection_within_the_host_is_refused() {
    let (_unix, other) = UnixStream::pair().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let datagrams = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    datagrams.connect("127.0.0.1:9").unwrap();
    let told = |outcome: Result<_, Error>| outcome.err().unwrap().to_string();
    let unix = told(fastsock_native::accepted(&other, short()).map(drop));
    assert!(unix.contains("a connected TCP socket"), "{unix}");
    let listening = told(fastsock_native::connected(&listener, short()).map(drop));
    assert!(listening.contains("asking for the ends of the socket"), "{listening}");
    let datagram = told(fastsock_native::connected(&datagrams, short()).map(drop));
    assert!(datagram.contains("it must be a TCP socket"), "{datagram}");
    // Two addresses, as between two hosts.
    let far = TcpListener::bind("127.0.0.2:0").unwrap();
    let near = TcpStream::connect(far.local_addr().unwrap()).unwrap();
    if near.local_addr().unwrap().ip() == far.local_addr().unwrap().ip() {
        return println!("skipped: this system connects to 127.0.0.2 from there");
    }
    let two = told(fastsock_native::connected(&near, short()).map(drop));
    assert!(two.contains("both ends must have one address") && two.contains("go on over TCP"), "{two}");
}

#[test]
fn an_end_that_does_not_come_is_waited_for_no_longer_than_the_patience() {
    let (connected, accepted) = connection("127.0.0.1:0");
    for outcome in [fastsock_native::connected(&connected, short()), fastsock_native::accepted(&accepted, short())] {
        let told = outcome.err().unwrap().to_string();
        assert!(told.contains("waiting for the other end of the connection"), "{told}");
    }
}
