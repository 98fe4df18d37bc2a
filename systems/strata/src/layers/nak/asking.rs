//! NAK's namesake: asking for what lacks, and answering.

use super::wire::{Flow, Head, Lack};
use super::{ASK, Nak};
use crate::event::{Down, To};
use crate::layer::{Cx, Near};
use crate::message::Msg;
use crate::wire::Short;

/// Ranges in one question.
const RANGES: usize = 64;
/// Messages in answer to one question.
const ANSWERS: u64 = 256;
/// Questions to the sender before others are asked, too.
const PATIENCE: u32 = 2;

impl Nak {
    /// Where something lacks that was not asked for, the question's time is set. Looks at all streams, as where a view ends.
    pub(super) fn missing(&mut self, cx: &mut Cx<impl Near>) {
        for rank in 0..self.casts.len() {
            self.look(Flow::Cast, rank, cx);
            self.look(Flow::Send, rank, cx);
        }
        self.wake_to_ask(cx);
    }

    /// As [`Nak::missing`], of one stream: in a large group most datagrams say something of few.
    pub(super) fn missing_of(&mut self, flow: Flow, rank: usize, cx: &mut Cx<impl Near>) {
        self.look(flow, rank, cx);
        self.wake_to_ask(cx);
    }

    pub(super) fn look(&mut self, flow: Flow, rank: usize, cx: &Cx<impl Near>) {
        // Frozen, the cut says what lacks; before it comes, nothing does.
        let (stream, limit) = match flow {
            Flow::Send => (&mut self.sends_in[rank], u64::MAX),
            Flow::Cast if self.frozen => (&mut self.casts[rank], self.cut.as_ref().map_or(0, |cut| cut[rank].0)),
            Flow::Cast => (&mut self.casts[rank], u64::MAX),
        };
        if stream.lacks() && stream.next() < limit {
            stream.ask.get_or_insert(cx.now + cx.config.nak_delay);
            self.asking.insert((flow, rank));
        } else {
            stream.ask = None;
            self.asking.remove(&(flow, rank));
        }
    }

    pub(super) fn wake_to_ask(&self, cx: &mut Cx<impl Near>) {
        let at = |(flow, rank): &(Flow, usize)| match flow {
            Flow::Cast => self.casts[*rank].ask,
            Flow::Send => self.sends_in[*rank].ask,
        };
        match self.asking.iter().filter_map(at).min() {
            Some(at) => cx.wake(ASK, at),
            None => cx.cancel(ASK),
        }
    }

    pub(super) fn ask(&mut self, cx: &mut Cx<impl Near>) {
        for rank in 0..self.casts.len() {
            let limit = if self.frozen { self.cut.as_ref().map_or(0, |cut| cut[rank].0) } else { u64::MAX };
            if self.casts[rank].ask.is_some_and(|at| at <= cx.now) {
                let whom = self.whom(rank, cx);
                let gaps = self.casts[rank].gaps(limit, cx.config.window, RANGES);
                self.put(whom, Lack { flow: Flow::Cast, origin: rank as u16, gaps }, cx);
                let tries = self.casts[rank].tries;
                self.casts[rank].ask = Some(cx.now + again(tries, cx));
                self.casts[rank].tries = tries + 1;
            }
            if self.sends_in[rank].ask.is_some_and(|at| at <= cx.now) {
                let gaps = self.sends_in[rank].gaps(u64::MAX, cx.config.window, RANGES);
                self.put(rank, Lack { flow: Flow::Send, origin: rank as u16, gaps }, cx);
                let tries = self.sends_in[rank].tries;
                self.sends_in[rank].ask = Some(cx.now + again(tries, cx));
                self.sends_in[rank].tries = tries + 1;
            }
        }
        self.missing(cx);
    }

    /// Who is asked: the sender, or whom the cut names; where that brought nothing, any who has more.
    fn whom(&self, rank: usize, cx: &mut Cx<impl Near>) -> usize {
        let first = self.cut.as_ref().map_or(rank, |cut| usize::from(cut[rank].1));
        let tries = self.casts[rank].tries;
        if self.listen.get(first).is_some_and(|&listens| listens)
            && first != usize::from(self.rank)
            && (tries < PATIENCE || tries.is_multiple_of(2))
        {
            return first;
        }
        let next = self.casts[rank].next();
        let others: Vec<_> = (0..self.casts.len())
            .filter(|&m| m != usize::from(self.rank) && self.listen[m] && self.matrix.has(m, rank) > next)
            .collect();
        others.get(cx.rng.below(others.len() as u64) as usize).copied().unwrap_or(first)
    }

    fn put(&self, to: usize, lack: Lack, cx: &mut Cx<impl Near>) {
        if let (false, Some(view)) = (lack.gaps.is_empty(), &self.view)
            && let Some(member) = view.members.get(to)
        {
            cx.down(Down::Packet(To::One(member.addr), Msg::new(lack.bytes(self.tag))));
        }
    }

    pub(super) fn got_nak(&mut self, source: usize, msg: Msg, cx: &mut Cx<impl Near>) -> Result<(), Short> {
        let lack = Lack::read(&msg.joined())?;
        let Some(to) = self.view.as_ref().map(|v| v.members[source].addr) else { return Ok(()) };
        let origin = usize::from(lack.origin);
        if origin >= self.casts.len() || (lack.flow == Flow::Send && lack.origin != self.rank) {
            return Ok(());
        }
        let mut left = ANSWERS;
        for &(from, end) in &lack.gaps {
            for number in from..end.min(from.saturating_add(left)) {
                left -= 1;
                let kept = match lack.flow {
                    Flow::Cast => self.casts[origin].kept(number),
                    Flow::Send => self.sends_out[source].kept(number),
                };
                let Some(mut msg) = kept.cloned() else { break };
                msg.push(&Head { flow: lack.flow, tag: self.tag, origin: lack.origin, number }.bytes());
                cx.down(Down::Packet(To::One(to), msg));
            }
        }
        Ok(())
    }
}

/// The time to the next question: doubling, with a quarter of jitter, so that many who lack the same don't ask in step.
fn again(tries: u32, cx: &mut Cx<impl Near>) -> std::time::Duration {
    let wait = (cx.config.nak_retry * (1 << tries.min(10))).min(cx.config.status);
    wait + wait.mul_f64(cx.rng.below(256) as f64 / 1024.0)
}
