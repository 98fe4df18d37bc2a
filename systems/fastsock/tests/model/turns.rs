//! A connection that one side closes while the other one comes to learn of ends by the kernel only, and one of which one side begins the next turn while the other puts an end
//! to it.

use loom::sync::Arc;

use crate::sync::{AtomicU32, AtomicU64};
use crate::turns;

fn explore(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

#[test]
fn who_learns_of_ends_by_the_kernel_is_told_of_each() {
    for turn in [0, 1, turns::GONE - 1] {
        explore(move || {
            let words = Arc::new((AtomicU64::new(turn), AtomicU32::new(0)));
            let closes = {
                let words = words.clone();
                loom::thread::spawn(move || {
                    let (closed, plain) = &*words;
                    turns::end(closed, turn);
                    // Kept, or closed for good: then the kernel tells.
                    !turns::is_plain(plain)
                })
            };
            let (closed, plain) = &*words;
            assert!(turns::say_plain(plain));
            let told_by_this_side = turns::has_ended(closed, turn);
            let kept = closes.join().unwrap();
            assert!(!kept || told_by_this_side, "nobody tells of the end");
            assert!(!turns::say_plain(plain) && turns::has_ended(closed, turn));
        });
    }
}

#[test]
fn a_next_turn_begins_or_never_does() {
    explore(|| {
        let number = Arc::new(AtomicU64::new(0));
        let begins = {
            let number = number.clone();
            loom::thread::spawn(move || turns::begin(&number, 0))
        };
        let over = turns::put_end(&number, 0);
        let begun = begins.join().unwrap();
        assert_ne!(over, begun);
        assert_eq!(turns::has_begun(&number, 0), begun);
        assert_eq!(turns::put_end(&number, 0), over, "what was decided stays");
    });
}
