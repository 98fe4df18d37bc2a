//! What happens in a group, in C's form.

use std::ffi::c_int;

use strata::View;
use strata::net::{Event, News};
use strata::state::Change;

use crate::convert::StrataMember;

/// `struct strata_event`.
#[repr(C)]
pub struct StrataEvent {
    kind: c_int,
    from: StrataMember,
    cast: c_int,
    transitional: c_int,
    bytes: *const u8,
    len: usize,
    members: *const StrataMember,
    member_count: usize,
    view: u64,
    primary: c_int,
}

/// What an event points to.
#[derive(Default)]
pub struct Told {
    bytes: Vec<u8>,
    members: Vec<StrataMember>,
}

impl Told {
    fn event(&mut self, kind: c_int, bytes: Vec<u8>) -> StrataEvent {
        self.bytes = bytes;
        StrataEvent {
            kind,
            from: StrataMember::NONE,
            cast: 0,
            transitional: 0,
            bytes: self.bytes.as_ptr(),
            len: self.bytes.len(),
            members: std::ptr::null(),
            member_count: 0,
            view: 0,
            primary: 0,
        }
    }

    fn view(&mut self, view: &View, primary: bool) -> StrataEvent {
        self.members = view.members.iter().map(|m| (*m).into()).collect();
        StrataEvent {
            members: self.members.as_ptr(),
            member_count: self.members.len(),
            view: view.id.number,
            primary: primary.into(),
            ..self.event(2, Vec::new())
        }
    }

    fn message(&mut self, message: &strata::Delivery) -> StrataEvent {
        StrataEvent {
            from: message.from.into(),
            cast: message.cast.into(),
            transitional: message.transitional.into(),
            ..self.event(1, message.body.to_vec())
        }
    }

    /// Of a group; none for what C is not told.
    pub fn of_event(&mut self, event: &Event) -> Option<StrataEvent> {
        Some(match event {
            Event::Message(message) => self.message(message),
            Event::View(view) => self.view(view, false),
            Event::Notice(text) => self.event(3, text.clone().into_bytes()),
            Event::Left => self.event(4, Vec::new()),
            Event::Stable(_) | Event::Trace(_) => return None,
        })
    }

    /// Of a group with a state; none for what C is not told.
    pub fn of_news(&mut self, news: &News) -> Option<StrataEvent> {
        Some(match news {
            News::State(Change::Message(message)) => self.message(message),
            News::State(Change::View { view, primary }) => self.view(view, *primary),
            News::State(Change::Wanted) => self.event(5, Vec::new()),
            News::State(Change::State(state)) => self.event(6, state.to_vec()),
            News::State(Change::Counted) => self.event(7, Vec::new()),
            News::State(Change::Orphaned) => self.event(8, Vec::new()),
            News::Notice(text) => self.event(3, text.clone().into_bytes()),
            News::Left => self.event(4, Vec::new()),
            News::Trace(_) => return None,
        })
    }
}
