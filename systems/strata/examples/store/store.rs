//! A replica: its data, its requests, and the loop that answers them.
//!
//! Every request, reads too, is cast in one order that is safe: whoever is told it knows that all members of the view have it. It is answered where it came in, when it is told there in a
//! primary view. As the view ends, what is not known to be safe is answered with `unknown`: it may or may not have been done. A replica outside of a primary view answers `no:` and why: nothing was done. Control characters
//! that others put are shown escaped.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::time::Duration;

use strata::net::{Failed, News, Options, Replica};
use strata::state::Change;
use strata::wire::{Reader, Short, Writer};
use strata::{Delivery, Refused, shown};

pub const STACK: &str = "FC:MERGE:TOTAL:SAFE:STABLE:MBRSHIP:FRAG:NAK:COM:udp";

/// How to join as a replica.
pub fn options() -> Options {
    Options { stack: STACK.to_owned(), ..Options::default() }
}

/// How reads are answered.
#[derive(Clone, Copy, PartialEq, Eq)]
#[allow(dead_code)]
pub enum Reads {
    /// In the order of all requests.
    Ordered,
    /// Wrongly: at once, from what this replica has, where others' puts arrive one too late. Shows that the test's checker finds it.
    Stale,
}

/// The data, and whether this replica may answer.
#[derive(Default)]
struct Store {
    data: BTreeMap<String, String>,
    primary: bool,
}

impl Store {
    fn state(&self) -> Vec<u8> {
        let mut to = Writer::new();
        to.count(self.data.len() as u64);
        for text in self.data.iter().flat_map(|(key, value)| [key, value]) {
            to.count(text.len() as u64);
            to.bytes(text.as_bytes());
        }
        to.0
    }

    fn read(&mut self, state: &[u8]) -> Result<(), Short> {
        let from = &mut Reader(state);
        let n = from.length(2)?;
        let mut text = || {
            let len = from.length(1)?;
            Ok(String::from_utf8_lossy(from.take(len)?).into_owned())
        };
        self.data = (0..n).map(|_| Ok((text()?, text()?))).collect::<Result<_, Short>>()?;
        Ok(())
    }

    /// Does what a request says, and what the answer is.
    fn apply(&mut self, request: &str) -> String {
        let words: Vec<_> = request.splitn(4, ' ').collect();
        match words[..] {
            [name, "put", key, value] => {
                self.data.insert(key.to_owned(), value.to_owned());
                format!("{name} ok")
            }
            [name, "get", key] => {
                self.data.get(key).map_or(format!("{name} none"), |value| format!("{name} is {value}"))
            }
            [name, ..] => format!("{name} bad: a request is NAME put KEY VALUE or NAME get KEY"),
            [] => String::new(),
        }
    }

    /// A request that was told here; its answer, if it came in here.
    fn told(&mut self, message: &Delivery, own: bool) -> Option<String> {
        let request = String::from_utf8_lossy(&message.body).into_owned();
        let answer = self.apply(&request);
        let certain = self.primary && !message.transitional;
        let name = request.split(' ').next().unwrap_or_default();
        own.then(|| if certain { shown(answer.as_bytes()) } else { format!("{name} unknown") })
    }
}

/// Answers requests until the input ends, then leaves.
///
/// # Errors
/// As [`Replica::join`], and where answers can't be written or the group's state is none of a store: then this replica has left the group.
pub fn serve(
    options: Options,
    reads: Reads,
    input: impl BufRead + Send + 'static,
    output: impl Write,
) -> Result<(), Failed> {
    let mut replica = Replica::join(options)?;
    let served = answer(&mut replica, reads, input, output);
    if served.is_err() {
        replica.leave_and_wait()?;
    }
    served
}

fn answer(
    replica: &mut Replica,
    reads: Reads,
    input: impl BufRead + Send + 'static,
    mut output: impl Write,
) -> Result<(), Failed> {
    let io = |source| Failed::Io { what: "writing an answer, so that this replica left the group".to_owned(), source };
    let me = replica.me();
    let mut store = Store::default();
    let requests = lines(input);
    let mut waiting: Option<String> = None;
    let mut ended = false;
    let mut late = None;
    writeln!(output, "replica {me}").map_err(io)?;
    loop {
        while !ended {
            let request = match waiting.take().map_or_else(|| requests.try_recv(), Ok) {
                Ok(request) => request,
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    ended = true;
                    replica.leave();
                    break;
                }
            };
            let name = request.split(' ').next().unwrap_or_default();
            if reads == Reads::Stale && request.contains(" get ") {
                writeln!(output, "{}", shown(store.apply(&request).as_bytes())).map_err(io)?;
            } else if let Some(why) = refusal(store.primary, replica.is_current()) {
                writeln!(output, "{name} no: {why}").map_err(io)?;
            } else if let Err(refused) = replica.try_cast(request.clone()) {
                if matches!(refused, Refused::WouldBlock { .. }) {
                    waiting = Some(request);
                    break;
                }
                writeln!(output, "{name} no: {refused}").map_err(io)?;
            }
        }
        replica.flush();
        while let Some(news) = replica.poll(Duration::from_millis(1))? {
            match news {
                News::State(Change::View { view, primary }) => {
                    store.primary = primary;
                    let members: Vec<_> = view.members.iter().map(ToString::to_string).collect();
                    let kind = if primary { "primary" } else { "minor" };
                    writeln!(output, "view {kind} of {}: {}", members.len(), members.join(" ")).map_err(io)?;
                }
                News::State(Change::Wanted) => {
                    replica.give(store.state());
                }
                News::State(Change::State(state)) => {
                    if store.read(&state).is_err() {
                        let what = "reading the group's state".to_owned();
                        let source = io::Error::other("it is none of this store: does the group do something else?");
                        return Err(Failed::Io { what, source });
                    }
                    writeln!(output, "state of {} keys", store.data.len()).map_err(io)?;
                }
                News::State(Change::Message(message)) if reads == Reads::Stale && message.from != me => {
                    if let Some(before) = late.replace(message) {
                        store.told(&before, false);
                    }
                }
                News::State(Change::Message(message)) => {
                    if let Some(answer) = store.told(&message, message.from == me) {
                        writeln!(output, "{answer}").map_err(io)?;
                    }
                }
                News::State(Change::Counted) => writeln!(output, "counts").map_err(io)?,
                News::State(Change::Orphaned) => eprintln!("nobody here has the data: begin anew, without contacts"),
                News::Notice(text) => eprintln!("{text}"),
                News::Trace(_) => {}
                News::Left => return Ok(()),
            }
            output.flush().map_err(io)?;
        }
    }
}

/// Why a replica does nothing of what it is asked.
fn refusal(primary: bool, current: bool) -> Option<&'static str> {
    match (primary, current) {
        (true, true) => None,
        (true, false) => Some("this replica has not received the data yet; ask again"),
        (false, _) => Some(
            "this replica's view is no majority of the group, and another one may decide otherwise meanwhile; ask again once it says 'view primary', or ask a replica there",
        ),
    }
}

/// Lines, read by a thread: reading blocks, and the group must be answered.
fn lines(input: impl BufRead + Send + 'static) -> Receiver<String> {
    let (to, lines) = sync_channel(64);
    std::thread::spawn(move || {
        for line in input.lines().map_while(Result::ok) {
            if to.send(line).is_err() {
                return;
            }
        }
    });
    lines
}
