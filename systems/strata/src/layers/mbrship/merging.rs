//! Asking others to merge, and being asked.

use super::wire::Control;
use super::{Mbrship, RETRY};
use crate::addr::{Addr, Endpoint};
use crate::layer::{Cx, Near};
use crate::view::View;

/// How often an address is asked before it is given up; MERGE, or whoever joins, may begin anew.
const TRIES: u32 = 25;
/// Addresses that are asked at once.
const MOST: usize = 64;
/// Views that wait for one attempt.
const JOINERS: usize = 256;

impl Mbrship {
    pub(super) fn want_merge(&mut self, addr: Addr, cx: &mut Cx<impl Near>) {
        if addr == cx.me.addr || self.members().iter().any(|m| m.addr == addr && !self.suspects.contains(m)) {
            return;
        }
        if self.asks.len() < MOST {
            self.asks.insert(addr, TRIES);
        }
        if self.steady() {
            cx.wake(RETRY, cx.now);
        }
    }

    /// As leader of a steady view: asks each address once.
    pub(super) fn ask_to_merge(&mut self, cx: &mut Cx<impl Near>) {
        let Some(view) = self.view.clone() else { return };
        let control = Control::MergeAsk((*view).clone());
        self.asks.retain(|_, tries| {
            *tries -= 1;
            *tries > 0
        });
        for &addr in self.asks.keys() {
            Self::to_addr(addr, &control, cx);
        }
    }

    pub(super) fn got_merge_ask(&mut self, from: Endpoint, view: View, cx: &mut Cx<impl Near>) {
        let Some(own) = self.view.clone() else { return };
        if view.id == own.id || !view.members.contains(&from) {
            return;
        }
        self.highest = self.highest.max(view.id.number);
        // Who leads another view has left this one, or never was here.
        if own.members.contains(&from) && !view.members.contains(&cx.me) {
            self.suspects.insert(from);
        }
        let acting = self.acting(cx.me);
        if acting != cx.me {
            return self.to(from, &Control::Redirect(acting), cx);
        }
        if self.steady() && self.joiners.len() < JOINERS {
            self.suspects.remove(&from);
            self.joiners.insert(from, view);
            self.consider(cx);
        }
    }

    pub(super) fn got_redirect(&mut self, from: Endpoint, leader: Endpoint, cx: &mut Cx<impl Near>) {
        if self.asks.remove(&from.addr).is_some() {
            self.want_merge(leader.addr, cx);
        }
    }
}
