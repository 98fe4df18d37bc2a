//! Both ends of the control layer against each other, over real loopback sockets, without data connections: a stand-in
//! does the far side's work.

mod both;
mod double;
mod ends;
mod flows;
mod groups;
mod hostile;
mod load;
mod members;
mod serving;
mod strangers;
mod whole;

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use measure::event::Plan;
use measure::flows::Sent;
use measure::{FarReport, Pattern, SessionError, TrialSpec};
use transport::settings::Effective;
use transport::{Address, Capabilities, LinkError, Patience, Proof, Settings, Transport};

type Known = &'static dyn Transport;

use crate::far::Work;
use crate::far::serve::bind;
use crate::far::serving::{Serving, attend_all};
use crate::near::control::Control;
use crate::near::dial::{GREETING, dial, greet};
use crate::secret::Secret;
use crate::tls::Identity;
use crate::{FarPin, Key, Limits, MeetError, ServeEvent, ServeOptions};

/// No test's outcome depends on this: it only ends one that would hang.
const LONG: Duration = Duration::from_secs(20);

/// What the stand-in does with a trial; travels as the trial's seed.
const ANSWER: u64 = 0;
const WAIT_UNTIL_HALTED: u64 = 1;
const PANIC: u64 = 2;
const CUT: u64 = 3;

struct StandIn {
    patience: Option<Patience>,
}

impl Work for StandIn {
    fn listen(&mut self, _: Known, _: &Settings, _: SocketAddr, patience: &Patience) -> Result<Address, LinkError> {
        self.patience = Some(patience.clone());
        Ok(Address::new("9"))
    }

    fn accept(&mut self, _proof: Proof) -> Result<(Effective, Capabilities), LinkError> {
        Ok((Effective { send_buffer: Some(4096), ..Effective::default() }, crate::limits::tests::capable()))
    }

    fn accept_loading(&mut self, _proof: Proof) -> Result<(), LinkError> {
        Ok(())
    }

    fn trial(&mut self, spec: &TrialSpec, _: Sent<'_>) -> Result<Vec<FarReport>, SessionError> {
        match spec.seed {
            WAIT_UNTIL_HALTED => {
                let (patience, began) = (self.patience.clone().expect("it listens"), Instant::now());
                while !patience.stopped() {
                    assert!(began.elapsed() < LONG, "nobody broke this trial off");
                    std::thread::sleep(Duration::from_millis(2));
                }
                Err(LinkError::Interrupted.into())
            }
            PANIC => panic!("as the test asked"),
            CUT => Err(LinkError::Closed { doing: "receiving" }.into()),
            _ => Ok(vec![FarReport { received: spec.repeats, ..FarReport::default() }]),
        }
    }

    fn close(&mut self) {
        self.patience = None;
    }
}

/// Whether two processes of this host meet over a transport.
fn here(transport: &'static dyn transport::Transport) -> bool {
    transport.availability().and_then(|()| transport.reaches_itself()).is_ok()
}

fn spec(seed: u64) -> TrialSpec {
    TrialSpec { burst: 1, seed, ..TrialSpec::plain(Pattern::PingPong, 64, 17) }
}

/// A `serve` on a thread.
struct Served {
    at: SocketAddr,
    key: Key,
    events: Receiver<ServeEvent>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), MeetError>>>,
}

impl Served {
    fn with(keep: bool, limits: Limits) -> Self {
        let (tell, events) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&stop);
        let options = ServeOptions { bind: Ipv4Addr::LOCALHOST.into(), port: 0, keep, limits };
        let thread = std::thread::spawn(move || {
            serve_with(&options, theirs, &mut |e| drop(tell.send(e)), || StandIn { patience: None })
        });
        let Ok(ServeEvent::Listening { addr, key }) = events.recv_timeout(LONG) else { panic!("not listening") };
        Self { at: addr, key, events, stop, thread: Some(thread) }
    }

    fn keeping() -> Self {
        Self::with(true, Limits::default())
    }

    fn once() -> Self {
        Self::with(false, Limits::default())
    }

    fn tcp(&self) -> TcpStream {
        TcpStream::connect(self.at).expect("it listens")
    }

    /// Meets it as the right peer does.
    fn meet(&self) -> Result<Control, MeetError> {
        self.meet_patiently(10.0)
    }

    fn meet_patiently(&self, patience: f64) -> Result<Control, MeetError> {
        let stop = Arc::new(AtomicBool::new(false));
        let proved = dial(&[self.at], "the test", "look at the test", &self.key, &stop)?;
        Control::over(proved, &Plan { patience, ..Plan::default() }, &stop)
    }

    /// One try with `key`, without trying again.
    fn try_with(&self, key: &Key) -> Result<(), MeetError> {
        greet(self.tcp(), key, GREETING, &Arc::new(AtomicBool::new(false))).map(drop)
    }

    fn next(&self) -> ServeEvent {
        self.events.recv_timeout(LONG).expect("serve says something")
    }

    /// The end of the measurement in progress, past whatever else is told.
    fn ended(&self) -> String {
        loop {
            if let ServeEvent::Ended { how, .. } = self.next() {
                return how;
            }
        }
    }

    /// Why the next one was refused.
    fn refused(&self) -> String {
        loop {
            if let ServeEvent::Refused { why, .. } = self.next() {
                return why;
            }
        }
    }

    fn outcome(&mut self) -> Result<(), MeetError> {
        self.thread.take().expect("asked once").join().expect("serve does not panic")
    }

    fn stop(&mut self) -> Result<(), MeetError> {
        self.stop.store(true, Ordering::Relaxed);
        self.outcome()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A whole measurement: hello, a path, a trial.
fn measure_once(control: &mut Control) {
    control.hello(FarPin::None, 0, false).unwrap();
    open(control);
    assert_eq!(trial(control, ANSWER).unwrap().received, 17);
}

fn open(control: &mut Control) -> u64 {
    let (number, address, _) = control.open(transport::tcp::NAME, &Settings::default(), 1, Vec::new(), None).unwrap();
    assert_eq!(address, Address::new("9"));
    assert_eq!(control.opened(1, None).unwrap().0[0].effective.send_buffer, Some(4096));
    number
}

fn trial(control: &mut Control, seed: u64) -> Result<FarReport, MeetError> {
    control.trial(&spec(seed))?;
    Ok(control.done(Duration::ZERO, Duration::ZERO)?.reports.remove(0))
}

/// What `serve` does, within this process.
pub(crate) fn serve_with<W: Work + 'static>(
    options: &ServeOptions,
    stop: Arc<AtomicBool>,
    announce: &mut dyn FnMut(ServeEvent),
    work: fn() -> W,
) -> Result<(), MeetError> {
    let socket = bind(SocketAddr::new(options.bind, options.port))?;
    let addr = socket.local_addr().map_err(MeetError::io("asking for the address that is listened at"))?;
    let identity = Identity::fresh()?;
    let secret = Secret::fresh()?;
    announce(ServeEvent::Listening { addr, key: Key { pin: identity.pin, secret: secret.clone() } });
    let serving = Serving { socket, identity, secret, keep: options.keep, limits: options.limits };
    attend_all(serving, None, stop, announce, work)
}
