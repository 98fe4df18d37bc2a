//! The client: what it sends are requests, what it receives are their responses, in the order of the requests.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::header::{CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};

use super::coming::Coming;
use super::feed::{Feed, Feeder, PIECE, feed};
use super::meaning::End;
use crate::LinkError;
use crate::sys::{RECEIVING, SENDING};

/// Requests under way at once over HTTP/2: what every server should allow (RFC 9113, 6.5.2).
pub const STREAMS: usize = 100;

/// Bytes of messages that are kept, at most, where they come while this side only sends.
const KEPT: u64 = 1 << 30;

/// How long to wait before asking once more, after a first question in vain and at most.
const PAUSE: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));

/// Who carries requests.
pub enum Sender {
    One(http1::SendRequest<Feed>),
    Two(http2::SendRequest<Feed>),
}

type Answer = Pin<Box<dyn Future<Output = hyper::Result<Response<Incoming>>> + Send>>;

/// A request under way.
enum Flight {
    /// Its response is due; whether it asks for a message.
    Due(Answer, bool),
    /// Its response is a message, of which not all may have come.
    Message(Coming),
}

/// What is known of the oldest request.
enum Front {
    None,
    Due,
    Message,
}

pub struct Near {
    sender: Sender,
    flights: VecDeque<Flight>,
    /// Messages that came while this side only sent, and one of which not all has come.
    kept: VecDeque<Vec<u8>>,
    keeping: Option<Vec<u8>>,
    /// A message that waits for the response to the one before it, and the last one of these that went.
    held: Option<Vec<u8>>,
    handed: Option<Feeder>,
    /// When to ask once more, and how long the pause before that was.
    pause: Option<(Instant, Duration)>,
    end: End,
}

impl Near {
    pub fn new(sender: Sender, end: End) -> Self {
        Self {
            sender,
            flights: VecDeque::new(),
            kept: VecDeque::new(),
            keeping: None,
            held: None,
            handed: None,
            pause: None,
            end,
        }
    }

    /// Whether another request may begin.
    fn free(&mut self, doing: &'static str) -> Result<bool, LinkError> {
        let mut context = Context::from_waker(Waker::noop());
        let (most, ready) = match &mut self.sender {
            Sender::One(sender) => (1, sender.poll_ready(&mut context)),
            Sender::Two(sender) => (STREAMS, sender.poll_ready(&mut context)),
        };
        match ready {
            Poll::Ready(Ok(())) => Ok(self.flights.len() < most),
            Poll::Ready(Err(_)) => Err(self.end.gone(doing)),
            Poll::Pending => Ok(false),
        }
    }

    fn request(&mut self, method: Method, body: Feed) {
        let asks = method == Method::GET;
        let mut request = Request::new(body);
        *request.method_mut() = method;
        if !asks {
            request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
        }
        let answer: Answer = match &mut self.sender {
            Sender::One(sender) => {
                request.headers_mut().insert(HOST, HeaderValue::from_static("pipegauge"));
                Box::pin(sender.send_request(request))
            }
            Sender::Two(sender) => {
                *request.uri_mut() = Uri::from_static("http://pipegauge/");
                Box::pin(sender.send_request(request))
            }
        };
        self.flights.push_back(Flight::Due(answer, asks));
    }

    /// What is known of the oldest request; those that were answered without a message are gone.
    fn front(&mut self) -> Result<Front, LinkError> {
        let mut context = Context::from_waker(Waker::noop());
        loop {
            let (answered, asked) = match self.flights.front_mut() {
                None => return Ok(Front::None),
                Some(Flight::Message(_)) => return Ok(Front::Message),
                Some(Flight::Due(answer, asked)) => match answer.as_mut().poll(&mut context) {
                    Poll::Pending => return Ok(Front::Due),
                    Poll::Ready(answered) => (answered, *asked),
                },
            };
            self.flights.pop_front();
            let answered = answered.map_err(|e| self.end.failed(e, RECEIVING))?;
            match answered.status() {
                StatusCode::OK => self.flights.push_front(Flight::Message(Coming::new(answered.into_body()))),
                StatusCode::NO_CONTENT if asked => {
                    let pause = self.pause.map_or(PAUSE.0, |(_, last)| (last * 2).min(PAUSE.1));
                    self.pause = Some((Instant::now() + pause, pause));
                }
                StatusCode::NO_CONTENT => {}
                other => return Err(self.end.broken(format!("it answered a request with {other}"))),
            }
        }
    }

    /// Begins a request with a message of `len` bytes.
    fn post(&mut self, len: usize) -> Feeder {
        self.pause = None;
        let (body, feeder) = feed(len, matches!(self.sender, Sender::Two(_)));
        self.request(Method::POST, body);
        feeder
    }

    /// Sends the message that is held where it may; whether none is held.
    fn hand_over(&mut self, doing: &'static str) -> Result<bool, LinkError> {
        let Some(held) = self.held.take() else { return Ok(true) };
        self.front()?;
        if !self.free(doing)? {
            self.held = Some(held);
            return Ok(false);
        }
        let mut feeder = self.post(held.len());
        feeder.give(&held);
        self.handed = Some(feeder);
        Ok(true)
    }

    /// The same while no call looks: what is wrong is told by the next one.
    pub fn look(&mut self) {
        let _ = self.hand_over(SENDING);
    }

    /// Whether something that was held did not go.
    pub fn owes(&self) -> bool {
        self.held.is_some() || self.handed.as_ref().is_some_and(|feeder| !feeder.over())
    }

    /// Begins to send a message where it may; what comes meanwhile is kept where nobody else takes it.
    pub fn begin(&mut self, len: usize, keep: bool) -> Result<Option<Feeder>, LinkError> {
        while let Front::Message = self.front()? {
            if !keep || self.free(SENDING)? || !self.keep()? {
                break;
            }
        }
        let may = self.hand_over(SENDING)? && self.free(SENDING)?;
        Ok(may.then(|| self.post(len)))
    }

    /// Holds a small message, as a socket's buffer would, until the one before it is answered; whether it does.
    pub fn hold(&mut self, message: &[u8]) -> bool {
        let holds = self.held.is_none() && message.len() <= PIECE;
        if holds {
            self.held = Some(message.to_vec());
        }
        holds
    }

    /// Keeps what has come of the oldest request's message; whether that was all.
    fn keep(&mut self) -> Result<bool, LinkError> {
        let Some(Flight::Message(coming)) = self.flights.front_mut() else { return Ok(false) };
        let have: u64 = self.kept.iter().map(|kept| kept.len() as u64).sum();
        let due = coming.len().filter(|len| have.saturating_add(*len) <= KEPT).ok_or_else(|| {
            self.end.broken(format!(
                "responses of more than {KEPT} bytes together, or of unknown length, came while this side was sending"
            ))
        })?;
        let mut kept = self.keeping.take().unwrap_or_default();
        coming.keep(&mut kept, &self.end)?;
        if kept.len() as u64 != due {
            self.keeping = Some(kept);
            return Ok(false);
        }
        self.flights.pop_front();
        self.kept.push_back(kept);
        Ok(true)
    }

    /// Fills `into` as far as something has come; asks for it, where it may and no request is under way.
    pub fn take(&mut self, into: &mut [u8], got: &mut usize, ask: bool) -> Result<usize, LinkError> {
        while self.keeping.is_some() {
            if !self.keep()? {
                return Ok(0);
            }
        }
        if let Some(kept) = self.kept.pop_front() {
            if kept.len() != into.len() {
                let (came, due) = (kept.len(), into.len());
                return Err(self.end.broken(format!("a message of {came} bytes came where one of {due} bytes is due")));
            }
            into.copy_from_slice(&kept);
            *got = into.len();
            return Ok(*got);
        }
        let ask = self.hand_over(RECEIVING)? && ask;
        match self.front()? {
            Front::Due => Ok(0),
            Front::None if ask => self.ask().map(|()| 0),
            Front::None => Ok(0),
            Front::Message => {
                self.pause = None;
                let Some(Flight::Message(coming)) = self.flights.front_mut() else { return Ok(0) };
                let n = coming.take(into, got, &self.end)?;
                if *got == into.len() {
                    self.flights.pop_front();
                }
                Ok(n)
            }
        }
    }

    /// Asks for a message, unless it was asked for in vain a moment ago.
    fn ask(&mut self) -> Result<(), LinkError> {
        if self.pause_left().is_zero() && self.free(RECEIVING)? {
            self.request(Method::GET, Feed::empty());
        }
        Ok(())
    }

    fn pause_left(&self) -> Duration {
        self.pause.map_or(Duration::ZERO, |(until, _)| until.saturating_duration_since(Instant::now()))
    }

    /// How long to wait at most before looking again.
    pub fn timer(&self, most: Duration) -> Duration {
        match self.pause_left() {
            left if left.is_zero() => most,
            left => most.min(left),
        }
    }

    /// Whether a receive would find something, be it the end.
    pub fn ready(&mut self) -> bool {
        if !self.kept.is_empty() {
            return true;
        }
        self.look();
        match self.front() {
            Ok(Front::Message) | Err(_) => true,
            Ok(Front::Due) => false,
            Ok(Front::None) if self.held.is_some() => false,
            Ok(Front::None) => self.ask().is_err(),
        }
    }
}
