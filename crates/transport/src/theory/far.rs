//! The modelled far side: a reaction to what arrives, without I/O and without a clock of its own.

use super::FarRole;
use super::model::Passage;

/// What the far side saw since its role was set, after the messages it was told to skip. Times are nanoseconds on the
/// link's clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FarView {
    /// The last of the messages that it was told to skip had arrived whole; 0 when none did.
    pub skipped_ns: u64,
    /// The first byte arrived; 0 when nothing did.
    pub first_byte_ns: u64,
    /// The first message had arrived whole; 0 when none did.
    pub first_message_ns: u64,
    /// The last byte arrived; 0 when nothing did.
    pub last_byte_ns: u64,
    /// Bytes that arrived between the first and the last.
    pub bytes: u64,
    /// Messages that arrived.
    pub received: u64,
    /// Messages that did not.
    pub lost: u64,
}

/// What the far side does next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Reaction {
    /// Nothing.
    None,
    /// It would have answered, but the message never came.
    Missing,
    /// Sends `bytes` at `at`: the message that came (`echo`), or zeros.
    Send {
        /// When.
        at: f64,
        /// How many.
        bytes: u64,
        /// Whether the contents are those of the near side's message.
        echo: bool,
    },
}

/// The far side's state.
#[derive(Debug, Clone, Default)]
pub(super) struct Far {
    role: FarRole,
    seen: u64,
    skip: u64,
    view: FarView,
}

impl Far {
    /// Starts over in `role`, skipping no message.
    pub fn begin(&mut self, role: FarRole) {
        *self = Self { role, ..Self::default() };
    }

    /// Leaves the first `messages` out of the view.
    pub fn skip(&mut self, messages: u64) {
        self.skip = messages;
    }

    /// What was seen so far.
    pub fn view(&self) -> FarView {
        self.view
    }

    /// A message of `bytes` took `passage`. The far side knows messages by number, so a lost one still counts in a burst;
    /// only a burst whose last message is lost goes without its answer.
    #[inline]
    pub fn arrive(&mut self, passage: &Passage, bytes: u64) -> Reaction {
        if self.skip > 0 {
            self.skip -= 1;
            if !passage.lost {
                self.view.skipped_ns = passage.last.round() as u64;
            }
        } else if passage.lost {
            self.view.lost += 1;
        } else {
            if self.view.received == 0 {
                self.view.first_byte_ns = passage.first.round() as u64;
                self.view.first_message_ns = passage.last.round() as u64;
            }
            self.view.last_byte_ns = passage.last.round() as u64;
            self.view.bytes += bytes;
            self.view.received += 1;
        }
        let answer = |bytes, echo| {
            if passage.lost { Reaction::Missing } else { Reaction::Send { at: passage.last, bytes, echo } }
        };
        match self.role {
            FarRole::Echo => answer(bytes, true),
            FarRole::Answer { response } => answer(response, false),
            FarRole::Sink => Reaction::None,
            FarRole::Burst { count } => {
                self.seen += 1;
                if self.seen < count {
                    return Reaction::None;
                }
                self.seen = 0;
                answer(1, false)
            }
            // The far side sends on its own, at the same moment, whatever becomes of the near side's message.
            FarRole::Mirror => Reaction::Send { at: passage.begin, bytes, echo: true },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(lost: bool) -> Passage {
        Passage { begin: 10.0, sent: 20.0, first: 30.0, last: 40.0, lost }
    }

    fn far(role: FarRole) -> Far {
        let mut far = Far::default();
        far.begin(role);
        far
    }

    #[test]
    fn each_role_reacts_as_it_says() {
        let send = |at, bytes, echo| Reaction::Send { at, bytes, echo };
        assert_eq!(far(FarRole::Echo).arrive(&passage(false), 7), send(40.0, 7, true));
        assert_eq!(far(FarRole::Echo).arrive(&passage(true), 7), Reaction::Missing);
        assert_eq!(far(FarRole::Answer { response: 99 }).arrive(&passage(false), 7), send(40.0, 99, false));
        assert_eq!(far(FarRole::Sink).arrive(&passage(false), 7), Reaction::None);
        assert_eq!(far(FarRole::Mirror).arrive(&passage(true), 7), send(10.0, 7, true));
    }

    #[test]
    fn a_burst_is_answered_at_its_end_and_again_at_the_next() {
        let mut far = far(FarRole::Burst { count: 3 });
        let got: Vec<_> = (0..6).map(|i| far.arrive(&passage(i == 1 || i == 5), 7)).collect();
        let end = Reaction::Send { at: 40.0, bytes: 1, echo: false };
        let none = Reaction::None;
        assert_eq!(got, [none, none, end, none, none, Reaction::Missing]);
    }

    #[test]
    fn the_view_leaves_out_what_is_skipped_and_counts_losses() {
        let mut far = far(FarRole::Sink);
        far.skip(2);
        for i in 0..5 {
            let t = f64::from(i) * 100.0;
            far.arrive(&Passage { begin: t, sent: t, first: t + 1.0, last: t + 2.0, lost: i == 3 || i == 0 }, 10);
        }
        let want = FarView {
            skipped_ns: 102,
            first_byte_ns: 201,
            first_message_ns: 202,
            last_byte_ns: 402,
            bytes: 20,
            received: 2,
            lost: 1,
        };
        assert_eq!(far.view(), want);
        far.begin(FarRole::Sink);
        assert_eq!(far.view(), FarView::default());
    }
}
