//! NAME: a transport over TCP, to be turned into your own.
//!
//! It is whole: it compiles, `pipegauge module check` finds nothing wrong with it, and it measures. `pipegauge.rs` is `pipegauge.h` as Rust has
//! it; what each function owes its caller stands in the header. Replace [`Listener`] and [`Link`], which know nothing of the interface, by what
//! your transport does; the functions below them hand things over.

#[allow(dead_code)]
mod pipegauge;

use std::ffi::{c_char, c_int, c_void, CStr};
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::thread::sleep;
use std::time::{Duration, Instant};

use pipegauge::{bit, code, Capabilities, Error, Module, OptionOf, Own, Settings, Terms};

/// What went wrong: a code of the interface, and a sentence.
struct Failed(c_int, String);

type Done<T> = Result<T, Failed>;

fn failed(doing: &str) -> impl Fn(std::io::Error) -> Failed + '_ {
    move |e| match e.kind() {
        ErrorKind::BrokenPipe | ErrorKind::ConnectionReset | ErrorKind::UnexpectedEof => Failed(code::CLOSED, String::new()),
        _ => Failed(code::SYSTEM, format!("{doing}: {e}")),
    }
}

/// What bounds waits.
#[derive(Clone, Copy)]
struct Bounds {
    patience: Duration,
    stopped: *const u8,
}

/// A wait since some moment.
struct Waiting {
    since: Instant,
    rounds: u32,
    bounds: Bounds,
}

impl Bounds {
    fn waiting(self) -> Waiting {
        Waiting { since: Instant::now(), rounds: 0, bounds: self }
    }

    fn stopped(self) -> bool {
        // The flag lives as long as the listener or link that has it.
        unsafe { self.stopped.read_volatile() != 0 }
    }
}

impl Waiting {
    /// Once more nothing was there: lets others have the CPU, then sleeps. An error once patience is over or all is to stop.
    fn again(&mut self) -> Done<()> {
        self.rounds += 1;
        if self.rounds < 1000 {
            std::thread::yield_now();
            return Ok(());
        }
        if self.bounds.stopped() {
            return Err(Failed(code::INTERRUPTED, String::new()));
        }
        if self.since.elapsed() >= self.bounds.patience {
            return Err(Failed(code::STALLED, String::new()));
        }
        sleep(Duration::from_micros(100));
        Ok(())
    }
}

/// Waits for connections.
struct Listener {
    socket: TcpListener,
    nodelay: bool,
    bounds: Bounds,
}

impl Listener {
    fn at(host: IpAddr, nodelay: bool, bounds: Bounds) -> Done<Self> {
        let socket = TcpListener::bind((host, 0)).map_err(failed("listening"))?;
        socket.set_nonblocking(true).map_err(failed("listening"))?;
        Ok(Self { socket, nodelay, bounds })
    }

    fn accept(&self) -> Done<Link> {
        let mut waiting = self.bounds.waiting();
        loop {
            match self.socket.accept() {
                Ok((stream, _)) => return Link::over(stream, self.nodelay, self.bounds),
                Err(e) if e.kind() == ErrorKind::WouldBlock => waiting.again()?,
                Err(e) => return Err(failed("accepting a connection")(e)),
            }
        }
    }
}

/// One end of a connection.
struct Link {
    stream: TcpStream,
    bounds: Bounds,
}

impl Link {
    fn connect(at: SocketAddr, nodelay: bool, bounds: Bounds) -> Done<Self> {
        let stream = TcpStream::connect_timeout(&at, bounds.patience).map_err(failed("connecting"))?;
        Self::over(stream, nodelay, bounds)
    }

    fn over(stream: TcpStream, nodelay: bool, bounds: Bounds) -> Done<Self> {
        stream.set_nodelay(nodelay).map_err(failed("setting TCP_NODELAY"))?;
        stream.set_nonblocking(true).map_err(failed("setting up a connection"))?;
        Ok(Self { stream, bounds })
    }

    /// Sends and receives at once; either may be empty.
    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Done<()> {
        let (mut sent, mut received) = (0, 0);
        let mut waiting = self.bounds.waiting();
        while sent < out.len() || received < into.len() {
            let mut moved = 0;
            if sent < out.len() {
                match self.stream.write(&out[sent..]) {
                    Ok(n) => (sent, moved) = (sent + n, moved + n),
                    Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                    Err(e) => return Err(failed("sending")(e)),
                }
            }
            if received < into.len() {
                match self.stream.read(&mut into[received..]) {
                    Ok(0) => return Err(Failed(code::CLOSED, String::new())),
                    Ok(n) => (received, moved) = (received + n, moved + n),
                    Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                    Err(e) => return Err(failed("receiving")(e)),
                }
            }
            if moved > 0 {
                waiting = self.bounds.waiting();
            } else {
                waiting.again()?;
            }
        }
        Ok(())
    }

    fn ready(&self, wait: Duration) -> Done<bool> {
        let since = Instant::now();
        let mut waiting = self.bounds.waiting();
        loop {
            match self.stream.peek(&mut [0]) {
                Ok(_) => return Ok(true),
                Err(e) if e.kind() == ErrorKind::WouldBlock && since.elapsed() >= wait => return Ok(false),
                Err(e) if e.kind() == ErrorKind::WouldBlock => match waiting.again() {
                    // It waits as long as it was told, whatever the patience.
                    Err(Failed(code::STALLED, _)) => waiting = self.bounds.waiting(),
                    other => other?,
                },
                Err(e) => return Err(failed("waiting for a message")(e)),
            }
        }
    }
}

// ---- What pipegauge calls ----

/// Writes down what went wrong; its code.
unsafe fn code_of(done: Done<()>, error: *mut Error) -> c_int {
    let Err(Failed(code, words)) = done else { return code::OK };
    let text = &mut (*error).text;
    let len = words.len().min(text.len() - 1);
    text[..len].copy_from_slice(&words.as_bytes()[..len]);
    text[len] = 0;
    code
}

unsafe fn text<'a>(from: *const c_char) -> &'a str {
    CStr::from_ptr(from).to_str().unwrap_or("")
}

unsafe fn bounds(terms: *const Terms) -> Bounds {
    Bounds { patience: Duration::from_secs_f64((*terms).patience), stopped: (*terms).stopped }
}

unsafe fn nodelay(settings: *const Settings) -> bool {
    let all = (0..(*settings).count).map(|i| &*(*settings).all.add(i));
    all.filter(|one| text(one.name) == "nodelay").all(|one| one.whole != 0)
}

fn host(of: &str) -> Done<IpAddr> {
    of.parse().map_err(|e| Failed(code::PROTOCOL, format!("reading the address '{of}': {e}")))
}

unsafe extern "C" fn capabilities(_: *const Settings, out: *mut Capabilities, _: *mut Error) -> c_int {
    (*out).bits = bit::ORDERED | bit::RELIABLE | bit::DUPLEX | bit::POLL;
    code::OK
}

unsafe extern "C" fn listen(s: *const Settings, at: *const c_char, t: *const Terms, out: *mut Own, e: *mut Error) -> c_int {
    let listener = host(text(at)).and_then(|at| Listener::at(at, nodelay(s), bounds(t)));
    code_of(listener.map(|l| *out = Box::into_raw(Box::new(l)).cast()), e)
}

unsafe extern "C" fn address(listener: Own, out: *mut c_char, room: usize, e: *mut Error) -> c_int {
    let listener = &*listener.cast::<Listener>();
    let told = listener.socket.local_addr().map_err(failed("asking for the port")).map(|at| {
        let port = at.port().to_string();
        let len = port.len().min(room - 1);
        std::ptr::copy_nonoverlapping(port.as_ptr(), out.cast(), len);
        *out.add(len) = 0;
    });
    code_of(told, e)
}

unsafe extern "C" fn accept(listener: Own, out: *mut Own, e: *mut Error) -> c_int {
    let listener = &*listener.cast::<Listener>();
    code_of(listener.accept().map(|link| *out = Box::into_raw(Box::new(link)).cast()), e)
}

unsafe extern "C" fn unlisten(listener: Own) {
    drop(Box::from_raw(listener.cast::<Listener>()));
}

unsafe extern "C" fn connect(
    s: *const Settings,
    port: *const c_char,
    at: *const c_char,
    t: *const Terms,
    out: *mut Own,
    e: *mut Error,
) -> c_int {
    let port = text(port).parse().map_err(|e| Failed(code::PROTOCOL, format!("reading the port: {e}")));
    let link = port.and_then(|port| Link::connect(SocketAddr::new(host(text(at))?, port), nodelay(s), bounds(t)));
    code_of(link.map(|link| *out = Box::into_raw(Box::new(link)).cast()), e)
}

unsafe fn slices<'a>(out: *const c_void, out_len: usize, into: *mut c_void, into_len: usize) -> (&'a [u8], &'a mut [u8]) {
    let out = if out_len == 0 { &[][..] } else { std::slice::from_raw_parts(out.cast(), out_len) };
    let into = if into_len == 0 { &mut [][..] } else { std::slice::from_raw_parts_mut(into.cast(), into_len) };
    (out, into)
}

unsafe extern "C" fn exchange(
    link: Own,
    out: *const c_void,
    out_len: usize,
    into: *mut c_void,
    into_len: usize,
    e: *mut Error,
) -> c_int {
    let (out, into) = slices(out, out_len, into, into_len);
    code_of((*link.cast::<Link>()).exchange(out, into), e)
}

unsafe extern "C" fn send(link: Own, message: *const c_void, len: usize, e: *mut Error) -> c_int {
    exchange(link, message, len, std::ptr::null_mut(), 0, e)
}

unsafe extern "C" fn recv(link: Own, message: *mut c_void, len: usize, e: *mut Error) -> c_int {
    exchange(link, std::ptr::null(), 0, message, len, e)
}

unsafe extern "C" fn ready(link: Own, seconds: f64, is: *mut c_int, e: *mut Error) -> c_int {
    let found = (*link.cast::<Link>()).ready(Duration::from_secs_f64(seconds.clamp(0.0, 1e9)));
    code_of(found.map(|found| *is = c_int::from(found)), e)
}

unsafe extern "C" fn effective(link: Own, option: *const c_char, out: *mut c_char, room: usize, _: *mut Error) -> c_int {
    let on = (*link.cast::<Link>()).stream.nodelay().ok().filter(|_| text(option) == "nodelay");
    let words = on.map_or("", |on| if on { "on" } else { "off" });
    let len = words.len().min(room - 1);
    std::ptr::copy_nonoverlapping(words.as_ptr(), out.cast(), len);
    *out.add(len) = 0;
    code::OK
}

unsafe extern "C" fn close(link: Own) {
    drop(Box::from_raw(link.cast::<Link>()));
}

/// Constant data that holds pointers to other constant data.
struct Fixed<T>(T);
// Nobody writes to it.
unsafe impl<T> Sync for Fixed<T> {}

static OPTIONS: Fixed<[OptionOf; 1]> = Fixed([OptionOf {
    size: size_of::<OptionOf>(),
    name: c"nodelay".as_ptr(),
    help: c"send small segments at once".as_ptr(),
    by_default: c"on".as_ptr(),
    form: 0,
    knob: 0,
    least: 0,
    most: 0,
    low: 0.0,
    high: 0.0,
    words: std::ptr::null(),
    unit: std::ptr::null(),
}]);

static MODULE: Fixed<Module> = Fixed(Module {
    size: size_of::<Module>(),
    abi: pipegauge::ABI,
    name: c"NAME".as_ptr(),
    version: c"0.1.0".as_ptr(),
    summary: c"TCP, as the module in Rust that a new one begins with".as_ptr(),
    spoken: std::ptr::null(),
    option_count: 1,
    options: OPTIONS.0.as_ptr(),
    available: None,
    capabilities: Some(capabilities),
    listen: Some(listen),
    address: Some(address),
    accept: Some(accept),
    unlisten: Some(unlisten),
    connect: Some(connect),
    send: Some(send),
    recv: Some(recv),
    exchange: Some(exchange),
    ready: Some(ready),
    flush: None,
    effective: Some(effective),
    close: Some(close),
    take: None,
    give_back: None,
    one_sided: std::ptr::null(),
    queued: std::ptr::null(),
    launch: std::ptr::null(),
    prepare: None,
    collective: std::ptr::null(),
    group: std::ptr::null(),
});

/// The entry point.
#[no_mangle]
pub extern "C" fn pipegauge_module(abi: u32) -> *const Module {
    if abi == pipegauge::ABI { &MODULE.0 } else { std::ptr::null() }
}
