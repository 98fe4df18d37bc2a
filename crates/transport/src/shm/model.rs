//! Loom goes through the interleavings of ring and bell that the memory model allows (up to three preemptions, which
//! catches every fence and ordering here when it is weakened, but for a load that would sink below the store that frees what it reads; without a bound the sleeping models don't end).
//!
//! `RUSTFLAGS="--cfg loom" cargo test --release -p pipegauge-transport --lib shm::model`

use loom::cell::UnsafeCell;
use loom::sync::{Arc, Condvar, Mutex};

use super::bell::{Bell, Futex};
use super::place::{DATA, Piece};
use super::ring::{Consumer, Lane, Producer, Turn};
use super::slot::INLINE;
use super::sync::{AtomicU32, Ordering};

/// The kernel's futex: comparing and going to sleep are one step for whoever wakes. It has no time limit here, so that a
/// lost wake-up is a deadlock, which loom reports.
struct Model {
    queue: Mutex<()>,
    woken: Condvar,
}

impl Futex for Model {
    fn wait(&self, word: &AtomicU32, value: u32) {
        let queue = self.queue.lock().unwrap();
        if word.load(Ordering::Relaxed) == value {
            drop(self.woken.wait(queue).unwrap());
        }
    }
    fn wake(&self, _word: &AtomicU32) {
        let _queue = self.queue.lock().unwrap();
        self.woken.notify_all();
    }
}

/// Both directions and both bells, with data rings whose every line loom watches for races.
struct Shared {
    lanes: [Lane; 2],
    data: [[UnsafeCell<u8>; DATA / 64]; 2],
    bells: [Bell; 2],
    futexes: [Model; 2],
}

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Spin,
    Sleep,
}

/// One side. Messages have at most one piece, and every byte of a message is its tag.
struct End {
    shared: Arc<Shared>,
    me: usize,
    mode: Mode,
    tx: Producer,
    rx: Consumer,
    turn: Turn,
}

impl End {
    fn pair(mode: Mode) -> [End; 2] {
        let shared = Arc::new(Shared {
            lanes: [Lane::new(), Lane::new()],
            data: std::array::from_fn(|_| std::array::from_fn(|_| UnsafeCell::new(0))),
            bells: [Bell::new(), Bell::new()],
            futexes: std::array::from_fn(|_| Model { queue: Mutex::new(()), woken: Condvar::new() }),
        });
        let end = |me| End {
            shared: shared.clone(),
            me,
            mode,
            tx: Producer::new(),
            rx: Consumer::new(),
            turn: Turn::default(),
        };
        [0, 1].map(end)
    }

    fn pause(&self, news: impl FnOnce() -> bool) {
        match self.mode {
            Mode::Spin => loom::thread::yield_now(),
            Mode::Sleep => self.shared.bells[self.me].sleep(&self.shared.futexes[self.me], news),
        }
    }

    fn tell_peer(&self) {
        if self.mode == Mode::Sleep {
            let peer = 1 - self.me;
            self.shared.bells[peer].ring(&self.shared.futexes[peer]);
        }
    }

    fn settle(&mut self) {
        self.turn.settle(&mut self.rx, &mut self.tx);
    }

    fn send(&mut self, len: usize, tag: u8) {
        let shared = self.shared.clone();
        let lane = &shared.lanes[self.me];
        if len <= INLINE && self.turn.taken() {
            self.turn.reply(lane, &[tag; INLINE][..len]);
            self.tell_peer();
            return self.settle();
        }
        self.settle();
        let piece = loop {
            match self.tx.reserve(lane, len).unwrap() {
                Some(piece) => break piece,
                None => self.pause(|| self.tx.news(lane)),
            }
        };
        if let Piece::Data { at, .. } = piece {
            // SAFETY: loom checks that no one else touches the cell meanwhile; that is the test.
            shared.data[self.me][at / 64].with_mut(|byte| unsafe { *byte = tag });
        }
        self.tx.publish(lane, len, piece, &[tag; INLINE][..len.min(INLINE)], self.rx.seen());
        self.tell_peer();
    }

    fn receive(&mut self, len: usize, tag: u8) {
        let shared = self.shared.clone();
        let lane = &shared.lanes[1 - self.me];
        self.settle();
        let mut got = [0; INLINE];
        assert!(self.turn.expect(&self.rx, &self.tx, len.min(INLINE)));
        let (slot, number) = self.turn.awaits(lane);
        if len <= INLINE
            && slot.there(number)
            && let Some(told) = self.turn.take(lane, &mut got[..len])
        {
            assert_eq!(got[..len], [tag; INLINE][..len]);
            if told {
                self.tell_peer();
            }
            return;
        }
        let said = loop {
            match self.rx.look(lane) {
                Some(said) => break said,
                None => self.pause(|| self.rx.look(lane).is_some()),
            }
        };
        assert_eq!(said.left, len as u32);
        let piece = self.rx.piece(said, len);
        match piece {
            Piece::Slot(_) => {
                self.rx.read(lane, &mut got[..len]);
                assert_eq!(got[..len], [tag; INLINE][..len]);
            }
            Piece::Data { at, .. } => {
                // SAFETY: as in `send`.
                shared.data[1 - self.me][at / 64].with(|byte| assert_eq!(unsafe { *byte }, tag));
            }
        }
        let told = self.rx.release(lane, piece, said);
        self.tx.acknowledge(said.seen).unwrap();
        if told {
            self.tell_peer();
        }
    }
}

/// What the near side does; the far side does the opposite.
#[derive(Clone, Copy)]
enum Step {
    Send(usize),
    Receive(usize),
}
use Step::{Receive, Send};

fn play(end: &mut End, plan: &[Step], near: bool) {
    for (step, tag) in plan.iter().zip(1..) {
        match (*step, near) {
            (Send(len), true) | (Receive(len), false) => end.send(len, tag),
            (Send(len), false) | (Receive(len), true) => end.receive(len, tag),
        }
    }
}

fn check(plan: &'static [Step], mode: Mode) {
    check_bounded(plan, mode, 3);
}

fn check_bounded(plan: &'static [Step], mode: Mode, preemptions: usize) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(move || {
        let [mut near, mut far] = End::pair(mode);
        let other = loom::thread::spawn(move || play(&mut far, plan, false));
        play(&mut near, plan, true);
        other.join().unwrap();
    });
}

#[test]
fn small_messages_arrive_whole_and_in_order() {
    check(&[Send(1), Send(INLINE), Send(3), Send(4)], Mode::Spin);
}

#[test]
fn the_data_ring_is_never_written_while_it_is_read() {
    check(&[Send(64), Send(64), Send(64), Send(64)], Mode::Spin);
}

#[test]
fn small_and_large_messages_mix() {
    check(&[Send(64), Send(1), Send(64), Send(2)], Mode::Spin);
}

#[test]
fn no_wake_up_is_lost_between_small_messages() {
    check(&[Send(1), Send(2), Send(3), Send(4)], Mode::Sleep);
}

#[test]
fn no_wake_up_is_lost_when_the_data_ring_fills() {
    check(&[Send(64), Send(64), Send(64), Send(64)], Mode::Sleep);
}

/// Going back to the start of lane and ring while the other side still is where it was.
const CONVERSATION: &[Step] = &[Send(64), Receive(1), Send(64), Receive(1), Send(64), Send(64), Receive(64), Send(64)];

#[test]
fn a_conversation_that_goes_back_to_the_start_frees_before_it_writes() {
    check(CONVERSATION, Mode::Spin);
}

#[test]
fn no_wake_up_is_lost_in_a_conversation() {
    check_bounded(&[Send(64), Receive(1), Send(64), Receive(1), Send(1)], Mode::Sleep, 2);
}

/// Small messages of which some are answers, and go the short way, and some are not.
const SHORT: &[Step] = &[Send(1), Receive(2), Send(3), Send(4), Receive(1), Send(2)];

#[test]
fn answers_and_other_small_messages_mix() {
    check(SHORT, Mode::Spin);
}

#[test]
fn no_wake_up_is_lost_between_answers() {
    check_bounded(SHORT, Mode::Sleep, 2);
}

/// An answer that skips slots, and messages behind it that need them. What frees them comes after its bytes were read.
const BEHIND: &[Step] = &[Send(1), Receive(1), Send(2), Send(3), Send(4)];

#[test]
fn skipped_slots_are_not_written_while_their_answer_is_read() {
    check(BEHIND, Mode::Spin);
}

#[test]
fn no_wake_up_is_lost_behind_an_answer_that_skips_slots() {
    check_bounded(BEHIND, Mode::Sleep, 2);
}
