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

#[cfg(test)]
mod tests {
    use crate::layers::pair::member;
    use crate::{Input, Output, Time};

    /// What a lone member tells of one cast and its view.
    fn told(stack: &str) -> Vec<String> {
        let mut alone = member(stack, 1, 1, 0);
        let now = Time(1_234_567);
        alone.handle(now, Input::Cast(b"hello"[..].into()));
        alone.handle(now, Input::Idle);
        let outputs = std::iter::from_fn(|| alone.next());
        outputs.filter_map(|output| if let Output::Trace(text) = output { Some(text) } else { None }).collect()
    }

    #[test]
    fn what_passes_is_told_with_its_moment_and_its_way() {
        let count = |stack: &str, words: &[&str]| {
            told(stack).iter().filter(|text| words.iter().all(|word| text.contains(word))).count()
        };
        for (stack, layers) in [("TRACE:MBRSHIP:FRAG:NAK:COM:sim", 1), ("TRACE:MBRSHIP:TRACE:FRAG:NAK:COM:sim", 2)] {
            assert_eq!(count(stack, &["1234567 ns down", "Cast("]), layers, "{stack}: {:?}", told(stack));
            assert_eq!(count(stack, &["1234567 ns up ", "Cast("]), layers, "{stack}: {:?}", told(stack));
            assert!(count(stack, &["           0 ns", "View("]) >= layers, "{stack}: {:?}", told(stack));
        }
        assert_eq!(told("MBRSHIP:FRAG:NAK:COM:sim"), [""; 0]);
    }
}
