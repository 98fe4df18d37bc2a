//! What is on its way back to the near side.

use std::collections::VecDeque;

/// A message on its way back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer {
    /// When its last byte arrives, nanoseconds.
    pub at: f64,
    /// Its length.
    pub bytes: u64,
    /// Whether its contents are a message of the near side's; else they are zeros.
    pub echo: bool,
}

/// Answers under way, in order, and those that will never come.
#[derive(Debug)]
pub(super) struct Answers {
    queue: VecDeque<Answer>,
    missing: u64,
    /// The bytes of all echoes in the queue, one after another, where contents are kept.
    contents: Option<VecDeque<u8>>,
}

impl Answers {
    /// Nothing under way; contents are not kept.
    pub fn new() -> Self {
        Self { queue: VecDeque::with_capacity(16), missing: 0, contents: None }
    }

    /// Keeps contents from now on, or doesn't.
    pub fn keep_contents(&mut self, keep: bool) {
        self.contents = keep.then(VecDeque::new);
    }

    /// Forgets everything under way.
    pub fn clear(&mut self) {
        self.queue.clear();
        self.missing = 0;
        if let Some(contents) = &mut self.contents {
            contents.clear();
        }
    }

    /// When the next answer arrives.
    pub fn next_at(&self) -> Option<f64> {
        self.queue.front().map(|a| a.at)
    }

    /// An answer is under way; `message` is what it echoes.
    #[inline]
    pub fn push(&mut self, answer: Answer, message: &[u8]) {
        self.queue.push_back(answer);
        if let Some(contents) = self.contents.as_mut().filter(|_| answer.echo) {
            contents.extend(message);
        }
    }

    /// An answer was lost.
    #[inline]
    pub fn miss(&mut self) {
        self.missing += 1;
    }

    /// Takes back one lost answer; false if none was lost.
    pub fn take_missing(&mut self) -> bool {
        let any = self.missing > 0;
        self.missing -= u64::from(any);
        any
    }

    /// The next answer; its contents, where they are kept, into as much of `message` as there is.
    #[inline]
    pub fn pop(&mut self, message: &mut [u8]) -> Option<Answer> {
        let answer = self.queue.pop_front()?;
        match &mut self.contents {
            Some(kept) if answer.echo => take(kept, answer.bytes as usize, message),
            Some(_) => message.fill(0),
            None => {}
        }
        Some(answer)
    }
}

/// Takes the first `len` bytes off `kept`, into as much of `message` as there is.
fn take(kept: &mut VecDeque<u8>, len: usize, message: &mut [u8]) {
    let len = len.min(kept.len());
    let wanted = len.min(message.len());
    let (a, b) = kept.as_slices();
    let from_a = wanted.min(a.len());
    message[..from_a].copy_from_slice(&a[..from_a]);
    message[from_a..wanted].copy_from_slice(&b[..wanted - from_a]);
    kept.drain(..len);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn echo(bytes: u64) -> Answer {
        Answer { at: 1.0, bytes, echo: true }
    }

    #[test]
    fn contents_stay_with_their_answers_whatever_length_is_asked_for() {
        let mut answers = Answers::new();
        answers.keep_contents(true);
        // Round after round, so that the ring of bytes wraps.
        for round in 0..100_u8 {
            answers.push(echo(5), &[round; 5]);
            answers.push(echo(3), &[round + 1; 3]);
            answers.push(Answer { echo: false, ..echo(2) }, &[]);
            let (mut long, mut short, mut zeros) = ([9; 7], [9; 2], [9; 2]);
            assert_eq!(answers.pop(&mut long).unwrap().bytes, 5);
            assert_eq!(answers.pop(&mut short).unwrap().bytes, 3);
            assert_eq!(answers.pop(&mut zeros).unwrap().bytes, 2);
            assert_eq!((long[..5].to_vec(), long[5..].to_vec()), (vec![round; 5], vec![9; 2]));
            assert_eq!((short, zeros), ([round + 1; 2], [0; 2]));
        }
        assert!(answers.pop(&mut []).is_none());
    }

    #[test]
    fn what_was_lost_is_taken_back_once_each() {
        let mut answers = Answers::new();
        answers.miss();
        answers.miss();
        assert!(answers.take_missing() && answers.take_missing() && !answers.take_missing());
        answers.miss();
        answers.push(echo(1), &[1]);
        answers.clear();
        assert!(!answers.take_missing() && answers.next_at().is_none());
    }
}
