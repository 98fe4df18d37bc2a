//! STABLE: which casts all members have.
//!
//! Protocol: each member counts the casts of each sender that came up (or that the application acknowledged, where `app_acks` is set), and casts the counts, its row of the stability matrix,
//! soon after they changed. The least of a column is stable; where it grew, `Stable` goes up with the whole vector. At a view's end all restarts: those who move on
//! have the same casts. Header: 1 byte, a cast or a report. Timers: REPORT. Requires P3, P4, P8, P9, P15; provides P14.

use std::sync::Arc;

use crate::event::{Cast, Down, Up};
use crate::layer::{Cx, Layer, Near};
use crate::message::Msg;
use crate::mutant::Mutant;
use crate::wire::{Reader, Writer};

const DATA: u8 = 1;
const REPORT_KIND: u8 = 2;
const REPORT: u32 = 0;

#[derive(Default)]
pub(super) struct Stable {
    rank: usize,
    /// How many casts of each sender came up.
    came: Vec<u64>,
    /// A row for each member.
    rows: Vec<Vec<u64>>,
    stable: Arc<Vec<u64>>,
    reported: Vec<u64>,
    blocked: bool,
}

impl Stable {
    fn row(&mut self, of: usize, row: Vec<u64>, cx: &mut Cx<impl Near>) {
        for (have, said) in self.rows[of].iter_mut().zip(row) {
            *have = said.max(*have);
        }
        let least = |column: usize| self.rows.iter().map(|r| r[column]).min().unwrap_or(0);
        let eager = |column: usize| self.rows.iter().map(|r| r[column]).max().unwrap_or(0);
        let stable: Vec<_> =
            (0..self.came.len()).map(|c| if cx.mutant(Mutant::StableEager) { eager(c) } else { least(c) }).collect();
        if stable != *self.stable {
            self.stable = Arc::new(stable);
            cx.up(Up::Stable(self.stable.clone()));
        }
    }

    fn own(&mut self, row: Vec<u64>, cx: &mut Cx<impl Near>) {
        self.row(self.rank, row, cx);
        if self.rows.len() > 1 && !self.blocked && !cx.awaits(REPORT) {
            cx.wake(REPORT, cx.now + cx.config.nak_delay * (self.rows.len() as u32).div_ceil(8));
        }
    }

    fn report(&mut self, cx: &mut Cx<impl Near>) {
        if self.blocked || self.rows[self.rank] == self.reported {
            return;
        }
        self.reported = self.rows[self.rank].clone();
        let mut to = Writer::new();
        to.u8(REPORT_KIND);
        to.counts(&self.reported);
        cx.down(Down::Cast(Msg::new(to.0)));
    }
}

impl Layer for Stable {
    fn down(&mut self, event: Down, cx: &mut Cx<impl Near>) {
        match event {
            Down::Cast(mut msg) => {
                msg.push(&[DATA]);
                cx.down(Down::Cast(msg));
            }
            Down::Ack(rank, upto) if cx.config.app_acks => {
                let mut row = self.rows[self.rank].clone();
                // Nobody can be done with what has not come.
                if let Some(&came) = self.came.get(usize::from(rank)) {
                    row[usize::from(rank)] = upto.min(came);
                    self.own(row, cx);
                }
            }
            other => cx.down(other),
        }
    }

    fn up(&mut self, event: Up, cx: &mut Cx<impl Near>) {
        match event {
            Up::Cast(mut cast) => {
                let Ok([kind]) = cast.msg.pop() else { return };
                let from = usize::from(cast.from);
                if kind == REPORT_KIND {
                    let said = Reader(&cast.msg.joined()).counts();
                    if let (Ok(row), true) = (said, from != self.rank)
                        && row.len() == self.came.len()
                    {
                        self.row(from, row, cx);
                    }
                    return;
                }
                let number = self.came[from];
                self.came[from] += 1;
                cx.up(Up::Cast(Cast { number, ..cast }));
                if !cx.config.app_acks {
                    let row = self.came.clone();
                    self.own(row, cx);
                }
            }
            Up::View(view) => {
                let n = view.members.len();
                self.rank = usize::from(view.rank(&cx.me).unwrap_or(0));
                self.came = vec![0; n];
                self.rows = vec![vec![0; n]; n];
                self.stable = Arc::new(vec![0; n]);
                self.reported = vec![0; n];
                self.blocked = false;
                cx.cancel(REPORT);
                cx.up(Up::View(view));
            }
            Up::Block => {
                self.blocked = true;
                cx.cancel(REPORT);
                cx.up(Up::Block);
            }
            other => cx.up(other),
        }
    }

    fn timer(&mut self, _: u32, cx: &mut Cx<impl Near>) {
        self.report(cx);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::layers::pair::Pair;
    use crate::{Config, Endpoint, Input, Member, Output, Time};

    fn member(port: u16) -> Member {
        let config = Config { app_acks: true, ..Config::default() };
        let me = Endpoint { addr: ([10, 0, 0, 1], port).into(), born: u64::from(port) };
        let mut member = Member::new(&"STABLE:MBRSHIP:FRAG:NAK:COM:sim".parse().unwrap(), config, me, 1).unwrap();
        member.start(Time(0));
        member
    }

    /// An application takes its time: it acknowledges what came in the view before when the next is there, with a cast of its own.
    #[test]
    fn what_is_acknowledged_of_an_earlier_view_counts_for_none_of_this_one() {
        let mut group = Pair::new(vec![member(1), member(2)]);
        group.join();
        let [a, b] = [0, 1].map(|at| group.members[at].me());
        let views = [true, false].map(|both| {
            if !both {
                group.members[0].handle(Time(group.now), Input::Suspect(b));
                group.run(100);
            }
            let view = group.members[0].view().unwrap();
            assert_eq!(view.members.len(), 1 + usize::from(both));
            let id = view.id;
            group.members[0].handle(Time(group.now), Input::Cast(vec![1].into()));
            group.take(0, &mut Vec::new());
            id
        });
        let mut stable = |view| {
            group.members[0].handle(Time(group.now), Input::Ack(view, a, 1));
            let outputs = std::iter::from_fn(|| group.members[0].next());
            outputs.filter(|o| matches!(o, Output::Stable(counts) if *counts == Arc::new(vec![1]))).count()
        };
        assert_eq!(views.map(&mut stable), [0, 1]);
    }
}
