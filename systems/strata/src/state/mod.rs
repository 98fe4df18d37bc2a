//! State transfer: who joins is given the group's state as it was at the start of a view, then all messages of that view.
//!
//! [`Transfer`] is a state machine above a [`crate::Member`], without I/O or clock: it is told views and deliveries, and says what to cast, to send, and to tell the application.
//!
//! Protocol. With each view every member casts a *hello*: the token of its state, if it has one, what it knows of primary views, and whether it is about to leave. Messages wait until all hellos of the view are there.
//! A token names a state: it is mixed with each view that the state has passed through, and by virtual synchrony members that move on together have passed the same messages, so equal tokens are equal states (where the
//! stack orders messages; else the application's operations must commute). Where tokens differ, as after a partition, one wins: that of the latest primary view, then of the largest view. Those with the winner's
//! token go on; each of the others is sent a snapshot made before the view's first message, in pieces, with a window, by one of them. Meanwhile its messages wait; what its application is told then is the view, the
//! state, the messages. When the view ends before that, all begins anew in the next, with whoever has the state there: so a sender that dies is replaced. A member whose state lost keeps it until the other has arrived.
//! A view that ends before all hellos came is told with `primary` unset, and its messages as transitional.
//!
//! What is cast while somebody waits for the state waits with it there. So that this has a bound, each member casts no more than so many bytes ([`Transfer::refuses`]) in a view before all of it have said that they have the state.
//!
//! A view is *primary* where it has more than half of those who had the state in the last primary view, or half with the oldest of them (dynamic-linear voting: Jajodia and Mutchler, ACM TODS 1990). A view whose hellos came only as it ended may have been primary
//! for others: until one is again for certain, a primary view has a majority of it, too (Yeger-Lotem, Keidar and Dolev, PODC 1997). Who received the state votes from then on, by a cast that says so; who leaves votes no more, likewise: else those who stay would need a majority that counts it. It says so in each view until all members of one have been told for certain and have answered that, and leaves then. Where that is told as a view ends, it counts only if no more than one left so,
//! since two may not know of each other. That there is at most one
//! line of primary views rests on SAFE and a total order; without SAFE two views may be primary at once, of whose states one is lost when they merge.

mod brake;
mod hello;
mod pieces;
mod transfer;
mod voting;

pub use transfer::{Change, Say, Transfer};
