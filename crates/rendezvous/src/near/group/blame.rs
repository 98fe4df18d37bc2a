//! Of all that several processes say after a trial failed, the cause: one that met it, not those that met its consequences. Pure.

use std::time::Duration;

use measure::{SessionError, Topology};

use crate::message::Cause;
use crate::near::verdict::Words;

/// A process of a path, by its number on its side, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    Near(usize),
    Far(usize),
}

/// What became of a process, the nearer to a cause the earlier.
#[derive(Debug)]
pub(super) enum What {
    /// Its process ended: how, where that is known (": it was killed by signal 9").
    Ended(String),
    /// It met something of its own.
    Failed(SessionError),
    /// It said nothing for so long.
    Silent(Duration),
    /// Nothing moved on its connection: of a near process the link's own error, of a far side its words.
    Stalled(SessionError),
    /// The other end closed its connection, or it was cut, in its own words.
    Closed(String),
    /// It did not say in time what became of it, which a busy machine may explain: for so long it said nothing.
    Late(Duration),
    /// It was broken off, or its half was complete.
    Consequence,
    /// Nothing: a person asked to stop.
    Stop,
}

/// What is known of one process.
#[derive(Debug)]
pub(super) struct Finding {
    pub who: Who,
    pub what: What,
}

/// The path: how its processes are joined, and how many connections it has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub topology: Topology,
    /// What each connection stands for, in words.
    pub one: &'static str,
    pub of: u32,
}

impl What {
    fn order(&self) -> u8 {
        match self {
            Self::Ended(_) => 0,
            // That nothing arrives is what a process sees of another one that is stopped.
            Self::Failed(SessionError::NothingArrives { .. }) => 3,
            Self::Failed(_) => 1,
            Self::Silent(_) => 2,
            Self::Stalled(_) => 4,
            Self::Closed(_) => 5,
            Self::Late(_) => 6,
            Self::Consequence => 7,
            Self::Stop => 8,
        }
    }

    /// What a far side's last words tell of it. `how` says how its process ended, where it is gone.
    pub(super) fn of_far(words: Words, waited: Duration, how: impl FnOnce() -> String) -> Self {
        match words {
            Words::Failed(Cause::Other | Cause::Ending, text) => Self::Failed(SessionError::Far(text)),
            Words::Failed(Cause::Stalled, text) => Self::Stalled(SessionError::Far(text)),
            Words::Failed(Cause::Closed, text) => Self::Closed(text),
            Words::Failed(Cause::Interrupted, _) | Words::Complete => Self::Consequence,
            Words::Silent => Self::Silent(waited),
            Words::Gone => Self::Ended(how()),
        }
    }
}

impl Shape {
    /// An error of the connection `number`, from 0, in words that name it.
    pub(super) fn named(self, number: usize, e: SessionError) -> SessionError {
        // The one connection of a path whose near half runs under a wrapper has no number.
        if !self.topology.has_members() {
            return e;
        }
        let number = u32::try_from(number).unwrap_or(u32::MAX).saturating_add(1);
        SessionError::Member { what: self.one, number, of: self.of, source: Box::new(e) }
    }

    /// An error of this process: one that all connections share is none's in particular.
    pub(super) fn of(self, who: Who, e: SessionError) -> SessionError {
        match who {
            Who::Near(_) if self.topology.near_processes(self.of) < self.of => e,
            Who::Near(number) => self.named(number, e),
            Who::Far(number) if self.topology.far_processes(self.of) > 1 || self.of == 1 => self.named(number, e),
            Who::Far(_) => e,
        }
    }

    /// The cause among `findings`, which are in the order in which they were made.
    pub(super) fn cause(self, mut findings: Vec<Finding>) -> SessionError {
        // A far side that has all connections knows which one ended first; the near processes see only that theirs did.
        let knows = |f: &Finding| matches!(f.who, Who::Far(_)) && self.topology.far_processes(self.of) == 1;
        findings.sort_by_key(|f| (f.what.order(), !knows(f)));
        let Some(Finding { who, what }) = findings.into_iter().next() else {
            return SessionError::Control("the trial ended, and nobody says why".to_owned());
        };
        let side = if matches!(who, Who::Near(_)) { "the near process" } else { "the far side" };
        let e = match (what, who) {
            (What::Ended(how), _) => SessionError::Control(format!("{side} ended{how}")),
            (What::Failed(e) | What::Stalled(e), _) => e,
            (What::Silent(waited) | What::Late(waited), _) => SessionError::Control(format!(
                "{side} has been silent for {:.1} s: it is stopped, overloaded or unreachable (--patience sets this limit)",
                waited.as_secs_f64()
            )),
            (What::Closed(text), _) => SessionError::Control(format!(
                "the data connection was cut, while the processes at both ends are there ({side}: {text})"
            )),
            (What::Stop, _) => return SessionError::Interrupted,
            (What::Consequence, _) => SessionError::Control("the trial was broken off, and nobody says why".to_owned()),
        };
        self.of(who, e)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(topology: Topology, findings: Vec<(Who, What)>) -> String {
        let findings = findings.into_iter().map(|(who, what)| Finding { who, what }).collect();
        Shape { topology, one: topology.one(), of: 3 }.cause(findings).to_string()
    }

    fn closed() -> What {
        What::Closed("the peer closed the connection while this side was receiving".into())
    }

    fn stall() -> transport::LinkError {
        transport::LinkError::Stalled { doing: "receiving", waited: Duration::from_secs(1) }
    }

    fn stalled() -> What {
        What::Stalled(SessionError::Far(stall().to_string()))
    }

    #[test]
    fn a_process_that_ended_is_told_and_not_what_others_saw_of_it() {
        let killed = || What::Ended(": it was killed by signal 9; it said: oh".into());
        let text = said(
            Topology::FanIn,
            vec![(Who::Far(0), closed()), (Who::Near(0), closed()), (Who::Near(1), killed()), (Who::Near(2), closed())],
        );
        assert_eq!(text, "member 2 of 3: the near process ended: it was killed by signal 9; it said: oh");
        let text = said(Topology::Pairs, vec![(Who::Near(2), closed()), (Who::Far(2), killed())]);
        assert!(text.starts_with("pair 3 of 3: the far side ended: it was killed by signal 9"), "{text}");
        let text = said(Topology::Group, vec![(Who::Far(1), What::Consequence), (Who::Near(0), killed())]);
        assert!(text.starts_with("the near process ended"), "one casts to all members: {text}");
        let text = said(Topology::FanOut, vec![(Who::Near(0), closed()), (Who::Far(0), killed())]);
        assert!(text.starts_with("the far side ended: it was killed"), "all members have that far side: {text}");
    }

    #[test]
    fn a_stopped_process_is_told_and_not_the_stall_that_it_makes() {
        let silent = || What::Silent(Duration::from_secs(2));
        let text = said(Topology::Pairs, vec![(Who::Far(1), stalled()), (Who::Near(1), silent())]);
        assert!(text.contains("pair 2 of 3: the near process has been silent for 2.0 s"), "{text}");
        assert!(text.contains("--patience"), "{text}");
        let lost = What::Failed(SessionError::NothingArrives { in_a_row: 10 });
        let text = said(Topology::Group, vec![(Who::Near(0), lost), (Who::Far(1), silent())]);
        assert!(text.contains("receiving member 2 of 3: the far side has been silent"), "{text}");
        let text = said(Topology::Pairs, vec![(Who::Far(1), stalled()), (Who::Near(1), What::Consequence)]);
        assert!(text.contains("pair 2 of 3: the far side: no progress"), "{text}");
    }

    #[test]
    fn what_a_process_met_of_its_own_wins_over_stalls_and_closed_connections() {
        let own = What::Failed(SessionError::NothingArrives { in_a_row: 10 });
        let e = Shape { topology: Topology::Pairs, one: "pair", of: 3 }.cause(vec![
            Finding { who: Who::Far(0), what: closed() },
            Finding { who: Who::Near(2), what: own },
            Finding { who: Who::Far(1), what: stalled() },
        ]);
        assert!(matches!(e.root(), SessionError::NothingArrives { in_a_row: 10 }), "{e}");
        assert!(e.to_string().starts_with("pair 3 of 3: 10 datagrams"), "{e}");
    }

    #[test]
    fn a_stall_keeps_its_kind_and_says_whose_it_is() {
        let told = crate::member::message::Met::of(&stall().into());
        let crate::member::message::Met::Stalled { doing, seconds } = told else { panic!("{told:?}") };
        let e = crate::member::message::stalled(&doing, seconds).into();
        let e = Shape { topology: Topology::Pairs, one: "pair", of: 3 }
            .cause(vec![Finding { who: Who::Near(1), what: What::Stalled(e) }]);
        let link = matches!(e.root(), SessionError::Link(transport::LinkError::Stalled { doing: "receiving", waited }) if waited.as_secs() == 1);
        assert!(link && e.to_string().starts_with("pair 2 of 3: no progress for 1.0 s while receiving"), "{e:?}");
    }

    #[test]
    fn of_cut_connections_the_far_side_that_has_them_all_knows_the_first() {
        let first = || What::Closed("flow 2 of 3: the peer closed the connection".into());
        let text = said(Topology::FanIn, vec![(Who::Near(0), closed()), (Who::Far(0), first())]);
        assert!(text.contains("was cut") && text.contains("flow 2 of 3"), "{text}");
        // A pair's connection is its own: whoever said so first is of the pair whose connection was cut.
        let text = said(Topology::Pairs, vec![(Who::Near(1), closed()), (Who::Far(0), What::Consequence)]);
        assert!(text.starts_with("pair 2 of 3: the data connection was cut"), "{text}");
    }

    #[test]
    fn one_that_is_only_late_with_its_words_is_no_cause_where_there_is_another() {
        let late = || What::Late(Duration::from_millis(1600));
        let text = said(Topology::Pairs, vec![(Who::Near(1), closed()), (Who::Far(0), late())]);
        assert!(text.starts_with("pair 2 of 3: the data connection was cut"), "{text}");
        let text = said(Topology::Pairs, vec![(Who::Near(1), What::Consequence), (Who::Far(0), late())]);
        assert!(text.starts_with("pair 1 of 3: the far side has been silent for 1.6 s"), "{text}");
    }

    #[test]
    fn there_is_always_something_to_say() {
        assert!(!said(Topology::Pairs, Vec::new()).is_empty());
        assert!(said(Topology::FanIn, vec![(Who::Near(0), What::Consequence)]).contains("broken off"));
    }
}
