//! What each life of each member did and saw.

use std::sync::Arc;

use crate::addr::Endpoint;
use crate::view::{View, ViewId};

/// A message of a run: whose, and which of its casts (or sends), from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id {
    /// Which life.
    pub life: u32,
    /// Which of its messages of that kind.
    pub number: u32,
}

/// One thing that happened to a life.
#[derive(Debug, Clone)]
pub enum Entry {
    /// It cast.
    Cast(Id),
    /// It sent to that life.
    Send(Id, u32),
    /// It was given a message.
    Deliver {
        /// Which; none where the bytes are nobody's.
        id: Option<Id>,
        /// Who it is said to be from.
        from: Endpoint,
        /// A cast or a send.
        cast: bool,
        /// As the stack says.
        transitional: bool,
    },
    /// It was told a view.
    View(Arc<View>),
}

/// One life of one member, from its start to its crash or the run's end.
#[derive(Debug, Clone)]
pub struct Life {
    /// Who.
    pub me: Endpoint,
    /// In order.
    pub entries: Vec<Entry>,
    /// It crashed.
    pub crashed: bool,
    /// It left.
    pub left: bool,
    /// Own casts, those of state transfer too, of which it said as it left that they may be lost.
    pub undelivered: u64,
    /// With state transfer: its state after each view and message that it was told.
    pub points: Vec<Point>,
    /// The messages that its state is made of.
    pub state: Vec<Id>,
    /// What is wrong with its state.
    pub wrong: Option<String>,
}

/// The state of a life at one point.
#[derive(Debug, Clone)]
pub struct Point {
    /// In which view.
    pub view: ViewId,
    /// Whether it was told as primary.
    pub primary: bool,
    /// The state's token.
    pub token: u64,
    /// Messages of this view that were told.
    pub index: usize,
    /// None of them transitional.
    pub firm: bool,
    /// Of the state.
    pub digest: u64,
    /// The message that led here.
    pub told: Option<Id>,
}

impl Life {
    /// Casts and sends that it was given.
    pub fn deliveries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|e| matches!(e, Entry::Deliver { .. }))
    }

    /// Views that it was told.
    pub fn views(&self) -> impl Iterator<Item = &Arc<View>> {
        self.entries.iter().filter_map(|e| match e {
            Entry::View(view) => Some(view),
            _ => None,
        })
    }

    /// What it was given in each view, in order.
    pub fn by_view(&self) -> Vec<InView> {
        let mut list: Vec<InView> = Vec::new();
        for entry in &self.entries {
            match entry {
                Entry::View(view) => list.push(InView { view: view.clone(), casts: Vec::new(), sends: Vec::new() }),
                Entry::Deliver { id: Some(id), cast, transitional, .. } => {
                    if let Some(last) = list.last_mut() {
                        if *cast { last.casts.push((*id, *transitional)) } else { last.sends.push(*id) }
                    }
                }
                _ => {}
            }
        }
        list
    }
}

/// What a life was given in one view.
pub struct InView {
    /// Which.
    pub view: Arc<View>,
    /// In order; whether transitional.
    pub casts: Vec<(Id, bool)>,
    /// In order.
    pub sends: Vec<Id>,
}

/// All lives.
#[derive(Debug, Clone, Default)]
pub struct Journal {
    /// In the order in which they began.
    pub lives: Vec<Life>,
}
