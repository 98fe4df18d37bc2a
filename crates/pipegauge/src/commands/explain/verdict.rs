//! What follows from what became of a break.

use model::{Break, Fact, Fate, counterpart, fate, suspects};
use record::PathRun;
use report::table;

use super::moves::Move;
use super::{Shown, Tests};
use crate::document::{Explained, Planned, Tested};

/// Whether a break shows in a curve measured again as before.
pub fn seen_again(found: &Break, control: &Shown) -> bool {
    matches!(became(found, control, control), Fate::Same | Fate::Changed { .. })
}

fn became(found: &Break, control: &Shown, after: &Shown) -> Fate {
    fate(found, &control.breaks, &after.breaks, &after.curve)
}

/// The break as a curve measured without a knob shows it: a knob's measurement and that one are alike but for the knob, and the first run may have
/// been longer or met other states.
fn shown(found: &Break, without: &Shown) -> Break {
    counterpart(found, &without.breaks).unwrap_or_else(|| found.clone())
}

/// Whether some knob seems to make a difference to a break.
pub fn differs(found: &Break, control: &Shown, moved: &[(Move, Result<Shown, String>)]) -> bool {
    let as_it_is = shown(found, control);
    let made = |after: &Shown| became(&as_it_is, control, after).differs();
    seen_again(found, control) && moved.iter().any(|(_, after)| after.as_ref().is_ok_and(made))
}

/// What became of a break once a knob was moved, by the measurements without it before and after. What differs from one of them alone differs by
/// what passed meanwhile.
fn with_knob(found: &Break, (control, once_more): (&Shown, Option<&Shown>), after: &Shown) -> Fate {
    let fate = became(&shown(found, control), control, after);
    match once_more.filter(|later| fate.differs() && seen_again(found, later)) {
        Some(later) if !became(&shown(found, later), later, after).differs() => Fate::Hidden,
        _ => fate,
    }
}

/// A break with its suspects, what became of it, and what follows.
pub fn judged(measured: &PathRun, found: Break, facts: &[Fact], tests: &Tests) -> Explained {
    let again = tests.control.as_ref().map(|control| became(&found, control, control));
    let once_more = tests.once_more.as_ref();
    let mut tested = Vec::new();
    if let Some(control) = tests.control.as_ref().filter(|c| seen_again(&found, c)) {
        for (to, after) in &tests.moved {
            tested.push(Tested {
                knob: to.knob,
                change: to.change.clone(),
                fate: after.as_ref().ok().map(|after| with_knob(&found, (control, once_more), after)),
                error: after.as_ref().err().cloned(),
            });
        }
    }
    let blamed = tests.control.as_ref().is_some_and(|control| differs(&found, control, &tests.moved));
    let once_more = once_more.filter(|_| blamed).map(|later| became(&found, later, later));
    let verdict = verdict(again.as_ref(), &tested, once_more.as_ref());
    Explained {
        path: measured.opened.name().to_owned(),
        suspects: suspects(&found, facts),
        found,
        again,
        planned: tests.planned.iter().map(|to| Planned { knob: to.knob, change: to.change.clone() }).collect(),
        tested,
        once_more,
        fixed: tests.fixed.clone(),
        verdict,
    }
}

fn verdict(again: Option<&Fate>, tested: &[Tested], once_more: Option<&Fate>) -> String {
    match again {
        None => return "nothing was measured for it".to_owned(),
        Some(Fate::Same | Fate::Changed { .. }) => {}
        Some(Fate::Hidden) => {
            return "it can't be told: measured again, noise would have hidden it; try when the machine is quiet, or with a \
                    longer --budget"
                .to_owned();
        }
        Some(_) => {
            return "it did not show again when the path was measured as before: it came from a passing state of the \
                    machine, not from the path"
                .to_owned();
        }
    }
    if once_more.is_some_and(|fate| !matches!(fate, Fate::Same | Fate::Changed { .. })) {
        return "it can't be told: it did not show when the path was measured once more as before, so that it may come and go by itself; try when \
                the machine is quiet, or with a longer --budget"
            .to_owned();
    }
    let behind: Vec<&str> =
        tested.iter().filter(|t| t.fate.as_ref().is_some_and(Fate::differs)).map(|t| words_of(t.knob)).collect();
    match behind.as_slice() {
        [] if tested.iter().any(|t| t.fate == Some(Fate::Hidden)) => {
            "it can't be told: noise would have hidden it in some of the measurements; a longer --budget sharpens them"
                .to_owned()
        }
        [] if tested.iter().any(|t| t.fate.is_none()) => {
            "none of what could be measured changes it; what could not is left".to_owned()
        }
        [] if tested.is_empty() => "nothing on this path can be moved: the path itself is left".to_owned(),
        [] => "none of what was moved changes it: the path itself is left (its protocol, its device or the far side)"
            .to_owned(),
        [one] => format!("{one} is behind it"),
        [most @ .., last] => format!("{} and {last} are behind it", most.join(", ")),
    }
}

fn words_of(knob: model::Knob) -> &'static str {
    match knob {
        model::Knob::SocketBuffer => "the socket buffer",
        model::Knob::Mtu => "the MTU",
        model::Knob::PageAlignment => "page alignment",
        model::Knob::CacheSize => "the cache",
        model::Knob::EagerLimit => "the eager limit",
    }
}

fn name_of(knob: model::Knob) -> &'static str {
    words_of(knob).trim_start_matches("the ")
}

/// A break's explanation as text.
pub fn words(e: &Explained) -> String {
    let mut text = format!("{}: {}\n", e.path, table::found_words(&e.found));
    let near: Vec<String> = e.suspects.iter().filter(|s| s.near()).map(table::suspect).collect();
    if !near.is_empty() {
        text.push_str(&format!("  near it: {}\n", near.join(", ")));
    }
    if let Some(again) = &e.again {
        text.push_str(&format!("  measured again: it {}\n", table::fate(again)));
    }
    for to in &e.planned {
        text.push_str(&format!("  would be moved: {}, {}\n", name_of(to.knob), to.change));
    }
    for t in &e.tested {
        let became = match (&t.fate, &t.error) {
            (Some(fate), _) => format!("it {}", table::fate(fate)),
            (None, error) => format!("not measured: {}", error.as_deref().unwrap_or("unknown why")),
        };
        text.push_str(&format!("  {}, {}: {became}\n", name_of(t.knob), t.change));
    }
    if let Some(later) = &e.once_more {
        text.push_str(&format!("  measured once more: it {}\n", table::fate(later)));
    }
    if !e.tested.is_empty() || e.again.is_none() {
        for why in &e.fixed {
            text.push_str(&format!("  not moved: {why}\n"));
        }
    }
    text.push_str(&format!("  so: {}\n", e.verdict));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Breaks, Dip, Edge, Estimate, Knob, Sight};
    use transport::settings::Effective;

    fn tested(knob: Knob, fate: Fate) -> Tested {
        Tested { knob, change: "there instead of here".into(), fate: Some(fate), error: None }
    }

    #[test]
    fn the_verdict_names_what_makes_a_difference() {
        let same = Some(&Fate::Same);
        let moved = [tested(Knob::SocketBuffer, Fate::Gone), tested(Knob::Mtu, Fate::Same)];
        assert_eq!(verdict(same, &moved, None), "the socket buffer is behind it");
        let both = [tested(Knob::SocketBuffer, Fate::Gone), tested(Knob::PageAlignment, Fate::Gone)];
        assert_eq!(verdict(same, &both, None), "the socket buffer and page alignment are behind it");
        assert!(verdict(same, &[tested(Knob::Mtu, Fate::Same)], None).contains("none of what was moved"));
        let failed = Tested { fate: None, error: Some("no".into()), ..tested(Knob::Mtu, Fate::Same) };
        assert!(verdict(same, &[failed], None).contains("what could not is left"));
        assert!(verdict(same, &[tested(Knob::Mtu, Fate::Hidden)], None).contains("can't be told"));
        assert!(verdict(same, &[], None).contains("nothing on this path can be moved"));
        assert!(verdict(Some(&Fate::Gone), &moved, None).contains("passing state"));
        assert!(verdict(None, &[], None).contains("nothing was measured"));
        // Between two measurements without a knob, of which one does not show the break, nothing is told of the knob.
        assert_eq!(verdict(same, &moved, same), "the socket buffer is behind it");
        assert!(verdict(same, &moved, Some(&Fate::Gone)).contains("come and go by itself"));
    }

    /// A curve with one dip of this depth, found however deep it is.
    fn dipping(factor: f64) -> Shown {
        let (from, to) = (Edge { below: 59_990, above: 60_000 }, Edge { below: 69_990, above: 70_000 });
        let factor = Estimate { value: factor, low: factor * 0.95, high: factor * 1.05 };
        let sight = Some(Sight { decades: 0.05, share: 0.05, from: 1, to: 1 << 20 });
        let breaks =
            Breaks { dips: vec![Dip { from, to, factor }], steps: vec![], sensitivity: 0.05, sight, step_share: None };
        Shown { breaks, curve: Vec::new() }
    }

    #[test]
    fn a_knob_that_leaves_the_break_as_it_was_measured_again_is_not_behind_it() {
        let effective = Effective { send_buffer: Some(131_072), ..Effective::default() };
        let opened = measure::event::PathOpened {
            path: 0,
            transport: transport::tcp::NAME,
            label: None,
            capabilities: transport::tcp::NAME.capabilities(),
            far: None,
            near_effective: effective,
            far_effective: Effective::default(),
            flows: Vec::new(),
            members: Vec::new(),
            load: None,
        };
        let path = PathRun::new(opened);
        let (moves, _) = super::super::moves::moves(&measure::event::Plan::default(), &path, &Default::default());
        let told = |moved: f64, later: Option<f64>| {
            let tests = Tests {
                control: Some(dipping(1.3)),
                moved: moves.iter().map(|to| (to.clone(), Ok(dipping(moved)))).collect(),
                once_more: later.map(dipping),
                ..Tests::default()
            };
            judged(&path, dipping(2.0).breaks.all().remove(0), &[], &tests)
        };
        // The first run's was deeper: that is so whatever is moved.
        let same = told(1.3, None);
        assert!(matches!(same.again, Some(Fate::Changed { .. })), "{:?}", same.again);
        assert!(same.tested.len() > 2 && same.tested.iter().all(|t| t.fate == Some(Fate::Same)), "{:?}", same.tested);
        assert!(same.verdict.contains("none of what was moved"), "{}", same.verdict);
        // As deep as it was at first is another depth than that without the knob, as long as that stays what it is.
        assert!(told(2.0, Some(1.3)).verdict.ends_with("are behind it"));
        let passed = told(2.0, Some(2.0));
        assert!(passed.tested.iter().all(|t| t.fate == Some(Fate::Hidden)), "{:?}", passed.tested);
        assert!(passed.verdict.contains("can't be told"), "{}", passed.verdict);
    }
}
