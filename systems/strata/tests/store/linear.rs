//! Whether a history of one register is linearizable: some order of its operations, each at a moment between its call and its answer, explains all answers.
//!
//! Where no value is written twice that is decided by Gibbons and Korach's zones (*Testing shared memories*, SIAM Journal on Computing 1997). The operations of one value are its put and the gets that read it. From the
//! first answer among them to the last call they need the register for themselves, if the answer came first (a forward zone): two such may not overlap. Else all can happen at one moment between last call and
//! first answer (a backward zone), which must not lie within another value's forward zone. A store is linearizable where each key is (Herlihy and Wing, TOPLAS 1990: locality).

use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// What was written: no value twice.
    Put(String),
    /// What was read.
    Get(Option<String>),
}

/// An operation: what, when it was called, and when answered; a put without an answer may take effect at any time, or never.
#[derive(Debug, Clone)]
pub struct Op {
    pub kind: Kind,
    pub called: u64,
    pub answered: Option<u64>,
}

/// The operations of one value.
#[derive(Default)]
struct Zone<'a> {
    put: Option<&'a Op>,
    gets: Vec<&'a Op>,
}

impl Zone<'_> {
    fn ops(&self) -> Vec<Op> {
        self.put.iter().chain(&self.gets).map(|op| (*op).clone()).collect()
    }

    fn first_answer(&self) -> u64 {
        self.put.iter().chain(&self.gets).filter_map(|op| op.answered).min().unwrap_or(u64::MAX)
    }

    fn last_call(&self) -> u64 {
        self.put.iter().chain(&self.gets).map(|op| op.called).max().unwrap_or(0)
    }

    fn is_forward(&self) -> bool {
        self.first_answer() < self.last_call()
    }

    /// Both ends, the lower first.
    fn ends(&self) -> (u64, u64) {
        let (a, b) = (self.first_answer(), self.last_call());
        (a.min(b), a.max(b))
    }

    fn conflicts(&self, other: &Zone) -> bool {
        let ((from, to), (other_from, other_to)) = (self.ends(), other.ends());
        match (self.is_forward(), other.is_forward()) {
            (true, true) => from < other_to && other_from < to,
            (true, false) => from < other_from && other_to < to,
            (false, true) => other_from < from && to < other_to,
            (false, false) => false,
        }
    }
}

/// Operations of one or two values that no order explains. Moments are above 0, and no two the same.
pub fn violation(ops: &[Op]) -> Option<Vec<Op>> {
    // What was there before the first put was written before all else.
    let before = Op { kind: Kind::Get(None), called: 0, answered: Some(0) };
    let mut zones: BTreeMap<Option<&str>, Zone> = BTreeMap::new();
    zones.entry(None).or_default().put = Some(&before);
    for op in ops {
        match &op.kind {
            Kind::Put(value) => {
                let twice = zones.entry(Some(value)).or_default().put.replace(op);
                assert!(twice.is_none(), "{value} is written twice");
            }
            Kind::Get(value) => zones.entry(value.as_deref()).or_default().gets.push(op),
        }
    }
    // A put without an answer that nobody read may never have happened.
    zones.retain(|_, zone| !zone.gets.is_empty() || zone.put.is_some_and(|put| put.answered.is_some()));
    let zones: Vec<_> = zones.into_values().collect();
    for (at, zone) in zones.iter().enumerate() {
        // Read before it was written, or never written.
        if zone.put.is_none_or(|put| zone.first_answer() < put.called) {
            return Some(zone.ops());
        }
        if let Some(other) = zones[at + 1..].iter().find(|other| zone.conflicts(other)) {
            return Some([zone.ops(), other.ops()].concat());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(text: &str, called: u64, answered: impl Into<Option<u64>>) -> Op {
        Op { kind: Kind::Put(text.to_owned()), called, answered: answered.into() }
    }

    fn get(text: &str, called: u64, answered: u64) -> Op {
        let read = (text != "none").then(|| text.to_owned());
        Op { kind: Kind::Get(read), called, answered: Some(answered) }
    }

    #[test]
    fn what_overlaps_may_go_either_way_and_what_does_not_may_not() {
        assert!(violation(&[put("a", 1, 10), get("none", 2, 3), get("a", 4, 5)]).is_none());
        assert!(violation(&[put("a", 1, 10), get("a", 2, 3), get("none", 4, 5)]).is_some());
        assert!(violation(&[put("a", 1, 2), get("none", 3, 4)]).is_some());
        assert!(violation(&[get("a", 1, 2), put("a", 3, 4)]).is_some());
        assert!(violation(&[get("b", 1, 2), put("a", 3, 4)]).is_some());
        assert!(violation(&[put("a", 1, 5), put("b", 2, 6), get("a", 7, 8), get("b", 9, 10)]).is_some());
        assert!(violation(&[put("a", 1, 5), put("b", 2, 10), get("a", 7, 8), get("b", 9, 11)]).is_none());
        assert!(violation(&[put("a", 1, 2), put("b", 3, 4), get("a", 5, 6)]).is_some());
    }

    #[test]
    fn a_put_without_an_answer_takes_effect_late_or_never() {
        assert!(violation(&[put("a", 1, None), get("none", 5, 6), get("a", 7, 8)]).is_none());
        assert!(violation(&[put("a", 1, None), get("none", 5, 6)]).is_none());
        assert!(violation(&[put("a", 1, None), get("a", 5, 6), get("none", 7, 8)]).is_some());
    }

    /// The zones agree with trying all orders, over all histories of a few operations of two clients.
    #[test]
    fn zones_agree_with_all_orders() {
        let (mut linear, mut not) = (0, 0);
        let mut rng = strata::Rng::new(1);
        for _ in 0..20_000 {
            let n = rng.between(2, 6) as usize;
            let mut moments: Vec<u64> = (1..=2 * n as u64).collect();
            for at in (1..moments.len()).rev() {
                moments.swap(at, rng.below(at as u64 + 1) as usize);
            }
            let ops: Vec<_> = (0..n)
                .map(|at| {
                    let (a, b) = (moments[2 * at], moments[2 * at + 1]);
                    let (called, answered) = (a.min(b), a.max(b));
                    match rng.below(5) {
                        0 | 1 => put(&at.to_string(), called, answered),
                        2 => put(&at.to_string(), called, None),
                        _ => match rng.below(n as u64 + 1) {
                            value if value == n as u64 => get("none", called, answered),
                            value => get(&value.to_string(), called, answered),
                        },
                    }
                })
                .collect();
            let found = some_order(&ops, &mut vec![false; n], None);
            assert_eq!(found, violation(&ops).is_none(), "{ops:?}");
            if found { linear += 1 } else { not += 1 }
        }
        assert!(linear > 1000 && not > 1000, "{linear} linearizable, {not} not");
    }

    fn some_order(ops: &[Op], done: &mut Vec<bool>, value: Option<&String>) -> bool {
        if ops.iter().zip(&*done).all(|(op, done)| *done || op.answered.is_none()) {
            return true;
        }
        let first_end = ops.iter().zip(&*done).filter(|(_, d)| !**d).filter_map(|(o, _)| o.answered).min();
        for at in 0..ops.len() {
            if done[at] || first_end.is_some_and(|end| ops[at].called > end) {
                continue;
            }
            let next = match &ops[at].kind {
                Kind::Put(text) => Some(text),
                Kind::Get(read) if read.as_ref() == value => value,
                Kind::Get(_) => continue,
            };
            done[at] = true;
            let found = some_order(ops, done, next);
            done[at] = false;
            if found {
                return true;
            }
        }
        false
    }
}
