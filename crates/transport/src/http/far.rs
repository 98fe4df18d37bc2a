//! The server: what it receives are requests, and it answers each with a message of its own or with none.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use hyper::body::Incoming;
use hyper::service::Service;
use hyper::{Method, Request, Response, StatusCode};

use super::coming::Coming;
use super::feed::{Feed, Feeder, PIECE, feed};
use super::meaning::End;
use crate::LinkError;
use crate::sys::{RECEIVING, SENDING};

/// Requests that may wait for this side: more than a near side ever has under way.
const MANY: usize = 1000;

/// A request that was read, or its head.
struct Asked {
    body: Coming,
    /// It is a message; else it asks for one.
    message: bool,
    /// None once it was answered.
    answer: Option<Answer>,
}

#[derive(Default)]
struct Slot {
    response: Option<Response<Feed>>,
    waker: Option<Waker>,
}

/// Where the response of a request goes.
struct Answer(Arc<Mutex<Slot>>);

/// A response that is due, for the protocol.
pub struct Due(Arc<Mutex<Slot>>);

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Answer {
    fn with(self, response: Response<Feed>) {
        let mut slot = locked(&self.0);
        slot.response = Some(response);
        if let Some(waker) = slot.waker.take() {
            waker.wake();
        }
    }

    fn without_a_message(self) {
        let mut response = Response::new(Feed::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        self.with(response);
    }
}

impl Future for Due {
    type Output = Result<Response<Feed>, Infallible>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut slot = locked(&self.0);
        match slot.response.take() {
            Some(response) => Poll::Ready(Ok(response)),
            None => {
                slot.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// Where requests arrive.
#[derive(Clone, Default)]
pub struct Desk(Arc<Mutex<VecDeque<Asked>>>);

impl Service<Request<Incoming>> for Desk {
    type Response = Response<Feed>;
    type Error = Infallible;
    type Future = Due;

    fn call(&self, request: Request<Incoming>) -> Due {
        let slot = Arc::<Mutex<Slot>>::default();
        let answer = Answer(Arc::clone(&slot));
        let message = request.method() == Method::POST;
        let mut arrived = locked(&self.0);
        if arrived.len() < MANY && (message || request.method() == Method::GET) {
            arrived.push_back(Asked { body: Coming::new(request.into_body()), message, answer: Some(answer) });
        } else {
            let mut refusal = Response::new(Feed::empty());
            *refusal.status_mut() =
                if message { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::METHOD_NOT_ALLOWED };
            answer.with(refusal);
        }
        Due(slot)
    }
}

pub struct Far {
    desk: Desk,
    waiting: VecDeque<Asked>,
    /// Requests that were received and not answered.
    received: VecDeque<Answer>,
    /// A message that nobody has asked for yet.
    held: Option<Vec<u8>>,
    /// The last one of these that went.
    handed: Option<Feeder>,
    last_apart: bool,
    end: End,
}

impl Far {
    pub fn new(desk: Desk, last_apart: bool, end: End) -> Self {
        Self { desk, waiting: VecDeque::new(), received: VecDeque::new(), held: None, handed: None, last_apart, end }
    }

    /// The oldest request that is not answered.
    fn answer(&mut self) -> Option<Answer> {
        self.received.pop_front().or_else(|| self.waiting.iter_mut().find_map(|asked| asked.answer.take()))
    }

    fn answer_with(&mut self, len: usize) -> Option<Feeder> {
        let answer = self.answer()?;
        let (body, feeder) = feed(len, self.last_apart);
        answer.with(Response::new(body));
        Some(feeder)
    }

    /// Looks at what has arrived, and hands over the message that is held where somebody asks.
    pub fn look(&mut self) {
        self.waiting.append(&mut locked(&self.desk.0));
        let Some(held) = self.held.take() else { return };
        match self.answer_with(held.len()) {
            Some(mut feeder) => {
                feeder.give(&held);
                self.handed = Some(feeder);
            }
            None => self.held = Some(held),
        }
    }

    /// Whether something that was held did not go.
    pub fn owes(&self) -> bool {
        self.held.is_some() || self.handed.as_ref().is_some_and(|feeder| !feeder.over())
    }

    /// Lets the near side go on: what was received has no message for an answer.
    pub fn release(&mut self) {
        self.look();
        self.received.drain(..).for_each(Answer::without_a_message);
    }

    /// Begins to send a message where somebody asks for one.
    pub fn begin(&mut self, len: usize) -> Result<Option<Feeder>, LinkError> {
        self.look();
        if self.end.over() {
            return Err(self.end.gone(SENDING));
        }
        Ok(if self.held.is_some() { None } else { self.answer_with(len) })
    }

    /// Holds a small message, as a socket's buffer would, until somebody asks; whether it does.
    pub fn hold(&mut self, message: &[u8]) -> bool {
        let holds = self.held.is_none() && message.len() <= PIECE;
        if holds {
            self.held = Some(message.to_vec());
        }
        holds
    }

    /// The oldest message that is to be received, if one is here. Whoever only asked is told that there is none.
    fn front(&mut self) -> Option<&mut Asked> {
        self.look();
        while self.waiting.front().is_some_and(|asked| !asked.message) {
            if let Some(answer) = self.waiting.pop_front().and_then(|asked| asked.answer) {
                answer.without_a_message();
            }
        }
        self.waiting.front_mut()
    }

    /// Fills `into` as far as something has come.
    pub fn take(&mut self, into: &mut [u8], got: &mut usize) -> Result<usize, LinkError> {
        let end = self.end.clone();
        let Some(asked) = self.front() else {
            return if end.over() { Err(end.gone(RECEIVING)) } else { Ok(0) };
        };
        let n = asked.body.take(into, got, &end)?;
        if *got == into.len() {
            let answer = self.waiting.pop_front().and_then(|asked| asked.answer);
            self.received.extend(answer);
        }
        Ok(n)
    }

    /// Whether a receive would find something, be it the end.
    pub fn ready(&mut self) -> bool {
        self.release();
        self.front().is_some() || self.end.over()
    }
}
