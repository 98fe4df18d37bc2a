//! Layers on top of each other. A layer that handles an event borrows itself, and with it what it was entered through; the neighbours that are left it can
//! call straight through. A cast rises or sinks past layers that do no more than their header ([`Layer::passes_up`], [`Layer::passes_down`]) without an event for each. The type of a stack's layers may be known ([`On`]) or not (a list of boxes): the layers are the same.

use crate::event::{Cast, Down, Up};
use crate::foretold::{Came, Foretold};
use crate::layer::{Cx, Layer, Near};
use crate::message::Msg;
use crate::shared::{Event, Shared};
use crate::stalls::Waits;

/// One of a layer's entries.
pub(crate) enum Call<'a> {
    Event(Event),
    Timer(u32),
    Idle,
    Took(&'a Came<'a>),
}

/// All layers of a member.
pub(crate) trait Pile: Send {
    fn len(&self) -> u16;
    /// Calls the layer at this place, the top being 0.
    fn enter(&mut self, at: u16, call: Call, shared: &mut Shared);
    fn backlog(&self) -> usize;
    fn held(&self) -> usize;
    /// What all layers hold back.
    fn waits(&self, to: &mut Waits, shared: &Shared);
    /// Asks the layer at this place, as [`Layer::foretell`].
    fn foretell(&self, at: u16, from: u16, to: &mut Foretold, shared: &Shared) -> bool;
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
    fn passes_down(&self, msg: &mut Msg, shared: &Shared) -> bool;
    fn passes_up(&self, cast: &mut Cast, shared: &Shared) -> bool;
    fn backlog(&self) -> usize;
    fn held(&self) -> usize;
    fn waits(&self, to: &mut Waits, shared: &Shared);
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
    fn passes_down(&self, msg: &mut Msg, shared: &Shared) -> bool {
        Layer::passes_down(self, msg, shared)
    }
    fn passes_up(&self, cast: &mut Cast, shared: &Shared) -> bool {
        Layer::passes_up(self, cast, shared)
    }
    fn backlog(&self) -> usize {
        Layer::backlog(self)
    }
    fn held(&self) -> usize {
        Layer::held(self)
    }
    fn waits(&self, to: &mut Waits, shared: &Shared) {
        Layer::waits(self, to, shared);
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

/// Where an event comes to that passed layers.
enum Comes {
    /// Into the layer there.
    Into(usize),
    /// In front of a layer for which events wait: the event waits behind those.
    Waits(usize),
    /// Out above the top.
    Out,
}

/// The way of an event down from the first of these layers, whose place is `place`.
#[inline]
fn sinks(layers: &[Box<dyn Boxed>], place: u16, event: &mut Down, shared: &Shared) -> Comes {
    let mut at = 0;
    while let Down::Cast(msg) = event
        && layers.get(at).is_some_and(|layer| layer.passes_down(msg, shared))
    {
        at += 1;
        if at == layers.len() || !shared.queue.none_down(place + at as u16) {
            return Comes::Waits(at);
        }
    }
    Comes::Into(at)
}

/// The way of an event up from the last of these layers, of which the first is the top.
#[inline]
fn rises(layers: &[Box<dyn Boxed>], event: &mut Up, shared: &Shared) -> Comes {
    let mut at = layers.len() - 1;
    while let Up::Cast(cast) = event
        && layers[at].passes_up(cast, shared)
    {
        match at.checked_sub(1) {
            None => return Comes::Out,
            Some(next) if !shared.queue.none_up(next as u16) => return Comes::Waits(next),
            Some(next) => at = next,
        }
    }
    Comes::Into(at)
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
    fn down(&mut self, mut event: Down, at: u16, shared: &mut Shared) {
        match sinks(self.below, at, &mut event, shared) {
            Comes::Into(steps) => {
                if let Some((layer, below)) = self.below[steps..].split_first_mut() {
                    let at = at + steps as u16;
                    layer.down(event, &mut Cx { shared, at, near: Slices { above: &mut [], below } });
                }
            }
            Comes::Waits(steps) => shared.queue.push(at + steps as u16, Event::Down(event)),
            Comes::Out => {}
        }
    }
    #[inline]
    fn up(&mut self, mut event: Up, _: u16, shared: &mut Shared) {
        match rises(self.above, &mut event, shared) {
            Comes::Into(at) => {
                if let Some((layer, above)) = self.above[..=at].split_last_mut() {
                    layer.up(event, &mut Cx { shared, at: at as u16, near: Slices { above, below: &mut [] } });
                }
            }
            Comes::Waits(at) => shared.queue.push(at as u16, Event::Up(event)),
            Comes::Out => shared.top(event),
        }
    }
}

impl Pile for Vec<Box<dyn Boxed>> {
    fn len(&self) -> u16 {
        Vec::len(self) as u16
    }
    fn enter(&mut self, at: u16, mut call: Call, shared: &mut Shared) {
        let (above, rest) = self.split_at_mut(usize::from(at));
        let Some((layer, below)) = rest.split_first_mut() else { return };
        let passes = match &mut call {
            Call::Event(Event::Down(Down::Cast(msg))) => layer.passes_down(msg, shared),
            Call::Event(Event::Up(Up::Cast(cast))) => layer.passes_up(cast, shared),
            _ => false,
        };
        let mut cx = Cx { shared, at, near: Slices { above, below } };
        match call {
            Call::Event(Event::Down(event)) if passes => cx.down(event),
            Call::Event(Event::Up(event)) if passes => cx.up(event),
            call => layer.call(call, &mut cx),
        }
    }
    fn backlog(&self) -> usize {
        self.iter().map(|l| l.backlog()).sum()
    }
    fn held(&self) -> usize {
        self.iter().map(|l| l.held()).sum()
    }
    fn waits(&self, to: &mut Waits, shared: &Shared) {
        self.iter().zip(0..).for_each(|(layer, at)| layer.waits(to.of(at), shared));
    }
    fn foretell(&self, at: u16, from: u16, to: &mut Foretold, shared: &Shared) -> bool {
        self.get(usize::from(at)).is_some_and(|layer| layer.foretell(from, to, shared))
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
    /// What the layers from here down hold back, the first of which is at this place.
    fn waits(&self, at: u16, to: &mut Waits, shared: &Shared);
    /// Asks the layer so many places further down, as [`Layer::foretell`].
    fn foretell(&self, steps: u16, from: u16, to: &mut Foretold, shared: &Shared) -> bool;
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
    fn down(&mut self, mut event: Down, at: u16, shared: &mut Shared) {
        let passes = if let Down::Cast(msg) = &mut event { self.0.passes_down(msg, shared) } else { false };
        let near = Between { above: &mut Busy, below: &mut self.1 };
        let mut cx = Cx { shared, at, near };
        if passes { cx.down(event) } else { self.0.down(event, &mut cx) }
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
    fn waits(&self, at: u16, to: &mut Waits, shared: &Shared) {
        self.0.waits(to.of(at), shared);
        self.1.waits(at + 1, to, shared);
    }
    fn foretell(&self, steps: u16, from: u16, to: &mut Foretold, shared: &Shared) -> bool {
        match steps.checked_sub(1) {
            Some(steps) => self.1.foretell(steps, from, to, shared),
            None => self.0.foretell(from, to, shared),
        }
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
    fn waits(&self, _: u16, _: &mut Waits, _: &Shared) {}
    fn foretell(&self, _: u16, _: u16, _: &mut Foretold, _: &Shared) -> bool {
        false
    }
}

impl Above for Busy {
    const FREE: bool = false;
    fn up(&mut self, _: Up, _: u16, _: &mut Shared) {}
}

impl<L: Layer, A: Above> Above for Under<'_, L, A> {
    const FREE: bool = true;
    #[inline]
    fn up(&mut self, mut event: Up, at: u16, shared: &mut Shared) {
        let passes = if let Up::Cast(cast) = &mut event { self.layer.passes_up(cast, shared) } else { false };
        let near = Between { above: &mut self.above, below: &mut Busy };
        let mut cx = Cx { shared, at, near };
        if passes { cx.up(event) } else { self.layer.up(event, &mut cx) }
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
    fn waits(&self, to: &mut Waits, shared: &Shared) {
        Below::waits(self, 0, to, shared);
    }
    fn foretell(&self, at: u16, from: u16, to: &mut Foretold, shared: &Shared) -> bool {
        Below::foretell(self, at, from, to, shared)
    }
}
