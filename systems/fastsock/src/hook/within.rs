//! The handlers of signals that a thread is in, told by where the system put their contexts on the thread's stacks: a jump to a place beyond one (`jumps`) has left
//! it.

use std::cell::Cell;
use std::ops::Range;

/// Handlers, one within the other, that are known at most. One deeper is in those.
const MOST: usize = 16;

/// A handler: where its context lies, and which stack it runs on, if that is one for signals alone.
#[derive(Debug, Clone, Copy)]
pub struct Handler {
    context: usize,
    from: usize,
    to: usize,
}

impl Handler {
    /// `own`: the stack for signals that the thread had set, which a handler may run on.
    pub fn new(context: usize, own: Range<usize>) -> Self {
        let all = if own.contains(&context) { own } else { 0..usize::MAX };
        Self { context, from: all.start, to: all.end }
    }

    /// Whether it is over once the stack is at this place: stacks grow downwards.
    fn is_left(&self, at: usize) -> bool {
        at > self.context || !(self.from..self.to).contains(&at)
    }
}

/// Those of a thread.
pub struct Handlers {
    count: Cell<usize>,
    known: [Cell<Handler>; MOST],
}

impl Handlers {
    pub const fn new() -> Self {
        Self { count: Cell::new(0), known: [const { Cell::new(Handler { context: 0, from: 0, to: 0 }) }; MOST] }
    }

    /// Whether there is any.
    pub fn any(&self) -> bool {
        self.count.get() != 0
    }

    /// One begins. What [`Self::end`] takes.
    pub fn begin(&self, handler: Handler) -> usize {
        let before = self.count.get();
        if let Some(place) = self.known.get(before) {
            // Counted first: another may be entered right here, and would take the same place.
            self.count.set(before + 1);
            place.set(handler);
        }
        before
    }

    /// It ends, and with it those within that have not.
    pub fn end(&self, before: usize) {
        self.count.set(before);
    }

    /// The thread is about to go on with its stack at this place. A handler that another has interrupted is left only if that one is.
    pub fn jump(&self, at: usize) {
        let last = || self.known.get(self.count.get().checked_sub(1)?).map(Cell::get);
        while last().is_some_and(|handler| handler.is_left(at)) {
            self.count.set(self.count.get() - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No stack for signals.
    const NONE: Range<usize> = 0..0;

    #[test]
    fn a_jump_leaves_the_handlers_whose_contexts_are_below_and_no_others() {
        let handlers = Handlers::new();
        let before = handlers.begin(Handler::new(900, NONE));
        handlers.begin(Handler::new(700, NONE));
        handlers.jump(650);
        assert_eq!(handlers.count.get(), 2, "a jump within the inner one");
        handlers.jump(800);
        assert_eq!(handlers.count.get(), 1, "from the inner one to the outer one");
        handlers.jump(1000);
        assert!(!handlers.any());
        handlers.end(before);
        assert!(!handlers.any());
    }

    #[test]
    fn a_handler_that_returns_ends_those_within_it() {
        let handlers = Handlers::new();
        let before = handlers.begin(Handler::new(900, NONE));
        handlers.begin(Handler::new(700, NONE));
        handlers.end(before);
        assert!(!handlers.any());
    }

    #[test]
    fn a_stack_for_signals_is_left_wherever_it_lies() {
        for own in [100..200, 5000..5100] {
            let handlers = Handlers::new();
            handlers.begin(Handler::new(900, own.clone()));
            handlers.begin(Handler::new(own.start + 90, own.clone()));
            handlers.jump(own.start + 50);
            assert_eq!(handlers.count.get(), 2, "{own:?}: a jump within it");
            handlers.jump(800);
            assert_eq!(handlers.count.get(), 1, "{own:?}: to the handler that was interrupted");
            handlers.jump(901);
            assert!(!handlers.any(), "{own:?}");
        }
    }

    #[test]
    fn those_deeper_than_are_known_count_with_the_others() {
        let handlers = Handlers::new();
        let befores: Vec<_> = (0..MOST + 3).map(|i| handlers.begin(Handler::new(10_000 - 100 * i, NONE))).collect();
        for &before in befores.iter().rev().take(MOST + 2) {
            handlers.end(before);
            assert!(handlers.any());
        }
        handlers.end(befores[0]);
        assert!(!handlers.any());
    }
}
