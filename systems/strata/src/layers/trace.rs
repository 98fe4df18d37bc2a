//! TRACE: tells each event that passes, as [`Output::Trace`]. No protocol, header or timer; requires and provides nothing.

use crate::event::{Down, Output, Up};
use crate::layer::{Cx, Layer, Near};

pub(super) struct Trace;

impl Layer for Trace {
    fn down(&mut self, event: Down, cx: &mut Cx<impl Near>) {
        cx.output(Output::Trace(format!("{:>12} ns down {event:?}", cx.now.0)));
        cx.down(event);
    }

    fn up(&mut self, event: Up, cx: &mut Cx<impl Near>) {
        cx.output(Output::Trace(format!("{:>12} ns up   {event:?}", cx.now.0)));
        cx.up(event);
    }
}
