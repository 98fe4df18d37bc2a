//! The table of handlers: what runs when a message arrives.

use crate::message::Message;
use crate::reply::Reply;

type OnRequest<S> = Box<dyn FnMut(&mut S, Message<'_>, Reply<'_>) + Send>;
type OnReply<S> = Box<dyn FnMut(&mut S, Message<'_>) + Send>;

/// The handlers of a side, by number. `S` is the state that each is given: the one passed to the call in which it runs.
///
/// A handler runs to its end within a call of this side (`poll`, `wait`, or a send that has to wait), so it should be short: it
/// takes the message out of the network, as von Eicken et al. put it. It can't send requests or wait; a request's handler may send one
/// reply, a reply's handler none. That is the rule that keeps two sides from waiting for each other for ever.
pub struct Handlers<S> {
    pub(crate) requests: Vec<Option<OnRequest<S>>>,
    pub(crate) replies: Vec<Option<OnReply<S>>>,
}

impl<S> Default for Handlers<S> {
    fn default() -> Self {
        Self { requests: Vec::new(), replies: Vec::new() }
    }
}

impl<S> std::fmt::Debug for Handlers<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let count = |handlers: usize| format!("up to {handlers}");
        f.debug_struct("Handlers")
            .field("requests", &count(self.requests.len()))
            .field("replies", &count(self.replies.len()))
            .finish()
    }
}

impl<S> Handlers<S> {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what runs when a request arrives that names this number.
    #[must_use]
    pub fn on_request(
        mut self,
        number: u16,
        handler: impl FnMut(&mut S, Message<'_>, Reply<'_>) + Send + 'static,
    ) -> Self {
        set(&mut self.requests, number, Box::new(handler));
        self
    }

    /// Sets what runs when a reply arrives that names this number.
    #[must_use]
    pub fn on_reply(mut self, number: u16, handler: impl FnMut(&mut S, Message<'_>) + Send + 'static) -> Self {
        set(&mut self.replies, number, Box::new(handler));
        self
    }
}

fn set<T>(table: &mut Vec<Option<T>>, number: u16, handler: T) {
    let number = usize::from(number);
    if table.len() <= number {
        table.resize_with(number + 1, || None);
    }
    table[number] = Some(handler);
}
