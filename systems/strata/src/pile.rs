//! Layers on top of each other. A layer that handles an event borrows itself, and with it what it was entered through; the neighbours that are left it can
//! call straight through. The type of a stack's layers may be known ([`On`]) or not (a list of boxes): the layers are the same.

use crate::event::{Down, Up};
use crate::foretold::{Came, Foretold};
use crate::layer::{Cx, Layer, Near};
use crate::shared::{Event, Shared};

/// One of a layer's entries.
pub(crate) enum Call<'a> {
    Event(Event),
    Timer(u32),
    Idle,
    Took(&'a mut Came),
}

/// All layers of a member.
pub(crate) trait Pile: Send {
    fn len(&self) -> u16;
    /// Calls the layer at this place, the top being 0.
    fn enter(&mut self, at: u16, call: Call, shared: &mut Shared);
    fn backlog(&self) -> usize;
    fn held(&self) -> usize;
    /// Whether the layers from this place down can say how the next cast of this rank will begin.
    fn foretell(&self, skip: u16, from: u16, to: &mut Foretold, shared: &Shared) -> bool;
}

fn call<L: Layer, N: Near>(layer: &mut L, call: Call, cx: &mut Cx<N>) {
    match call {
        Call::Event(Event::Down(event)) => layer.down(event, cx),
        Call::Event(Event::Up(event)) => layer.up(event, cx),
        Call::Timer(token) => layer.timer(token, cx),
        Call::Idle => layer.idle(cx),
        Call::Took(came) => layer.took(came, cx),
    }
}

/// A layer whose type is not known to its neighbours.
pub(crate) trait Boxed: Send {
    fn call(&mut self, call: Call, cx: &mut Cx<Slices>);
    fn down(&mut self, event: Down, cx: &mut Cx<Slices>);
    fn up(&mut self, event: Up, cx: &mut Cx<Slices>);
    fn backlog(&self) -> usize;
    fn held(&self) -> usize;
    fn foretell(&self, from: u16, to: &mut Foretold, shared: &Shared) -> bool;
}

impl<L: Layer> Boxed for L {
    fn call(&mut self, what: Call, cx: &mut Cx<Slices>) {
        call(self, what, cx);
    }
    fn down(&mut self, event: Down, cx: &mut Cx<Slices>) {
        Layer::down(self, event, cx);
    }
    fn up(&mut self, event: Up, cx: &mut Cx<Slices>) {
        Layer::up(self, event, cx);
    }
    fn backlog(&self) -> usize {
        Layer::backlog(self)
    }
    fn held(&self) -> usize {
        Layer::held(self)
    }
    fn foretell(&self, from: u16, to: &mut Foretold, shared: &Shared) -> bool {
        Layer::foretell(self, from, to, shared)
    }
}

/// The layers above and below that are free, the top first.
pub(crate) struct Slices<'a> {
    above: &'a mut [Box<dyn Boxed>],
    below: &'a mut [Box<dyn Boxed>],
}

impl Near for Slices<'_> {
    #[inline]
    fn free_below(&self) -> bool {
        !self.below.is_empty()
    }
    #[inline]
    fn free_above(&self) -> bool {
        !self.above.is_empty()
    }
    #[inline]
    fn down(&mut self, event: Down, at: u16, shared: &mut Shared) {
        if let Some((layer, below)) = self.below.split_first_mut() {
            layer.down(event, &mut Cx { shared, at, near: Slices { above: &mut [], below } });
        }
    }
    #[inline]
    fn up(&mut self, event: Up, at: u16, shared: &mut Shared) {
        if let Some((layer, above)) = self.above.split_last_mut() {
            layer.up(event, &mut Cx { shared, at, near: Slices { above, below: &mut [] } });
        }
    }
}

impl Pile for Vec<Box<dyn Boxed>> {
    fn len(&self) -> u16 {
        Vec::len(self) as u16
    }
    fn enter(&mut self, at: u16, call: Call, shared: &mut Shared) {
        let (above, rest) = self.split_at_mut(usize::from(at));
        if let Some((layer, below)) = rest.split_first_mut() {
            layer.call(call, &mut Cx { shared, at, near: Slices { above, below } });
        }
    }
    fn backlog(&self) -> usize {
        self.iter().map(|l| l.backlog()).sum()
    }
    fn held(&self) -> usize {
        self.iter().map(|l| l.held()).sum()
    }
    fn foretell(&self, skip: u16, from: u16, to: &mut Foretold, shared: &Shared) -> bool {
        self[usize::from(skip)..].iter().rev().all(|l| l.foretell(from, to, shared))
    }
}

/// A layer on others, all of known types.
pub(crate) struct On<L, B>(pub L, pub B);

/// Neighbours that are busy, or none.
pub(crate) struct Busy;

/// Layers below one, the nearest first.
pub(crate) trait Below: Send {
    /// Whether there are any.
    const FREE: bool;
    fn len(&self) -> u16;
    fn down(&mut self, event: Down, at: u16, shared: &mut Shared);
    /// Calls the layer so many places further down.
    fn enter<A: Above>(&mut self, steps: u16, call: Call, at: u16, above: A, shared: &mut Shared);
    fn backlog(&self) -> usize;
    fn held(&self) -> usize;
    /// As [`Pile::foretell`].
    fn foretell(&self, skip: u16, from: u16, to: &mut Foretold, shared: &Shared) -> bool;
}

/// Layers above one, the nearest first.
pub(crate) trait Above {
    /// Whether there are any.
    const FREE: bool;
    fn up(&mut self, event: Up, at: u16, shared: &mut Shared);
}

struct Between<'a, A, B> {
    above: &'a mut A,
    below: &'a mut B,
}

struct Under<'a, L, A> {
    layer: &'a mut L,
    above: A,
}

impl<A: Above, B: Below> Near for Between<'_, A, B> {
    #[inline]
    fn free_below(&self) -> bool {
        B::FREE
    }
    #[inline]
    fn free_above(&self) -> bool {
        A::FREE
    }
    #[inline]
    fn down(&mut self, event: Down, at: u16, shared: &mut Shared) {
        self.below.down(event, at, shared);
    }
    #[inline]
    fn up(&mut self, event: Up, at: u16, shared: &mut Shared) {
        self.above.up(event, at, shared);
    }
}

impl<L: Layer, B: Below> Below for On<L, B> {
    const FREE: bool = true;
    fn len(&self) -> u16 {
        1 + self.1.len()
    }
    #[inline]
    fn down(&mut self, event: Down, at: u16, shared: &mut Shared) {
        let near = Between { above: &mut Busy, below: &mut self.1 };
        self.0.down(event, &mut Cx { shared, at, near });
    }
    fn enter<A: Above>(&mut self, steps: u16, what: Call, at: u16, mut above: A, shared: &mut Shared) {
        if let Some(steps) = steps.checked_sub(1) {
            return self.1.enter(steps, what, at, Under { layer: &mut self.0, above }, shared);
        }
        let near = Between { above: &mut above, below: &mut self.1 };
        call(&mut self.0, what, &mut Cx { shared, at, near });
    }
    fn backlog(&self) -> usize {
        self.0.backlog() + self.1.backlog()
    }
    fn held(&self) -> usize {
        self.0.held() + self.1.held()
    }
    fn foretell(&self, skip: u16, from: u16, to: &mut Foretold, shared: &Shared) -> bool {
        self.1.foretell(skip.saturating_sub(1), from, to, shared) && (skip > 0 || self.0.foretell(from, to, shared))
    }
}

impl Below for Busy {
    const FREE: bool = false;
    fn len(&self) -> u16 {
        0
    }
    fn down(&mut self, _: Down, _: u16, _: &mut Shared) {}
    fn enter<A: Above>(&mut self, _: u16, _: Call, _: u16, _: A, _: &mut Shared) {}
    fn backlog(&self) -> usize {
        0
    }
    fn held(&self) -> usize {
        0
    }
    fn foretell(&self, _: u16, _: u16, _: &mut Foretold, _: &Shared) -> bool {
        true
    }
}

impl Above for Busy {
    const FREE: bool = false;
    fn up(&mut self, _: Up, _: u16, _: &mut Shared) {}
}

impl<L: Layer, A: Above> Above for Under<'_, L, A> {
    const FREE: bool = true;
    #[inline]
    fn up(&mut self, event: Up, at: u16, shared: &mut Shared) {
        let near = Between { above: &mut self.above, below: &mut Busy };
        self.layer.up(event, &mut Cx { shared, at, near });
    }
}

impl<L: Layer, B: Below> Pile for On<L, B> {
    fn len(&self) -> u16 {
        Below::len(self)
    }
    fn enter(&mut self, at: u16, call: Call, shared: &mut Shared) {
        Below::enter(self, at, call, at, Busy, shared);
    }
    fn backlog(&self) -> usize {
        Below::backlog(self)
    }
    fn held(&self) -> usize {
        Below::held(self)
    }
    fn foretell(&self, skip: u16, from: u16, to: &mut Foretold, shared: &Shared) -> bool {
        Below::foretell(self, skip, from, to, shared)
    }
}
