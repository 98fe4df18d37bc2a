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
