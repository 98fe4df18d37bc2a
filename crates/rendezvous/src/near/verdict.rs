//! Whose words a person sees when a trial fails on both sides: the side that met the cause, not the one that met its
//! consequence. Pure.

use measure::SessionError;
use transport::LinkError;

use crate::message::Cause;

/// What the far side said after this side's data connection failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Words {
    /// Its half failed too.
    Failed(Cause, String),
    /// Its half was complete.
    Complete,
    /// The control connection is gone.
    Gone,
    /// Nothing.
    Silent,
}

/// The error to show for `mine`. `how` says how the far process ended, where that is known (": killed by signal 9").
pub(crate) fn verdict(mine: SessionError, words: Words, how: impl FnOnce() -> String) -> SessionError {
    let doing = match &mine {
        SessionError::Link(LinkError::Closed { doing } | LinkError::Stalled { doing, .. }) => *doing,
        SessionError::Link(LinkError::Interrupted) | SessionError::Interrupted => "in a trial",
        // This side met something of its own: that is the cause.
        _ => return mine,
    };
    let closed = matches!(mine, SessionError::Link(LinkError::Closed { .. }));
    let stalled = matches!(mine, SessionError::Link(LinkError::Stalled { .. }));
    match words {
        Words::Failed(Cause::Other | Cause::Ending, text) => SessionError::Far(text),
        Words::Failed(Cause::Stalled, text) if !stalled => SessionError::Far(text),
        Words::Failed(Cause::Closed, _) if !stalled => SessionError::Control(format!(
            "the data connection was cut while this side was {doing}: the far side is there and did not close it"
        )),
        Words::Gone => SessionError::Control(format!("the far side ended while this side was {doing}{}", how())),
        Words::Silent => match mine {
            SessionError::Link(LinkError::Stalled { doing, waited }) => SessionError::Control(format!(
                "the far side has been silent for {:.1} s while this side was {doing}: it is stopped, overloaded or \
                 unreachable (--patience sets this limit)",
                waited.as_secs_f64()
            )),
            _ => SessionError::Control(format!("the far side says nothing more; this side was {doing}")),
        },
        Words::Complete if !stalled && !closed => SessionError::Control(
            "the far side has had all messages of the trial, but this side still waits for some: they were lost on the way"
                .into(),
        ),
        Words::Failed(..) if !stalled && !closed => SessionError::Control("the far side broke off the trial".into()),
        _ => mine,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn closed() -> SessionError {
        LinkError::Closed { doing: "receiving" }.into()
    }

    fn stalled() -> SessionError {
        LinkError::Stalled { doing: "receiving", waited: Duration::from_secs(10) }.into()
    }

    fn text(mine: SessionError, words: Words) -> String {
        verdict(mine, words, || ": killed by signal 9".into()).to_string()
    }

    #[test]
    fn a_killed_far_side_is_named() {
        let text = text(closed(), Words::Gone);
        assert!(text.contains("the far side ended") && text.contains("signal 9"), "{text}");
    }

    #[test]
    fn a_stopped_far_side_is_told_with_the_patience() {
        let text = text(stalled(), Words::Silent);
        assert!(text.contains("silent for 10.0 s") && text.contains("--patience"), "{text}");
    }

    #[test]
    fn a_cut_data_connection_is_told_from_a_dead_far_side() {
        let text = text(closed(), Words::Failed(Cause::Closed, "closed".into()));
        assert!(text.contains("data connection was cut"), "{text}");
    }

    #[test]
    fn the_cause_wins_over_its_consequence() {
        assert_eq!(text(closed(), Words::Failed(Cause::Other, "out of memory".into())), "the far side: out of memory");
        let own = SessionError::Link(LinkError::TooLarge { asked: 9, most: 8 });
        let shown = text(own, Words::Failed(Cause::Closed, "closed".into()));
        assert!(shown.contains("larger"), "{shown}");
    }

    #[test]
    fn what_nobody_asked_to_stop_is_never_called_interrupted() {
        let all = [
            Words::Complete,
            Words::Gone,
            Words::Silent,
            Words::Failed(Cause::Interrupted, "interrupted".into()),
            Words::Failed(Cause::Closed, "closed".into()),
        ];
        for words in all {
            let shown = verdict(LinkError::Interrupted.into(), words.clone(), String::new);
            assert!(matches!(shown, SessionError::Control(_)), "{words:?} became {shown:?}");
        }
    }
}
