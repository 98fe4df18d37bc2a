//! Two sides of one run, over the theoretical link: nothing here depends on the machine.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use measure::driver::{RunError, Side, run_sides};
use measure::event::{Calibration, Plan};
use measure::solo::Solo;
use measure::{Event, Outcome, Session};

fn plan(theory: &str) -> Plan {
    let mut plan =
        Plan { paths: measure::event::plain(&[transport::theory::NAME]), budget: 4.0, to: 1 << 20, ..Plan::default() };
    plan.paths[0].settings = transport::theory::settings(theory).unwrap();
    plan
}

/// What each side told, in the order of time over both; `fails` ends a side's listener after so many events.
fn told(plans: [&Plan; 2], fails: [usize; 2]) -> (Vec<(usize, Event)>, Vec<Outcome>) {
    let all = RefCell::new(Vec::new());
    let stop = Arc::new(AtomicBool::new(false));
    let session = |plan: &Plan| -> Vec<Box<dyn Session>> {
        vec![Box::new(Solo::new(&plan.paths[0], Arc::clone(&stop)).unwrap())]
    };
    let tell = |side: usize, event: &Event| {
        let mut all = all.borrow_mut();
        if all.iter().filter(|(s, _)| *s == side).count() >= fails[side] {
            return Err(std::io::Error::other("the disk is full"));
        }
        all.push((side, event.clone()));
        Ok(())
    };
    let (mut a, mut b) = (|e: &Event| tell(0, e), |e: &Event| tell(1, e));
    let sides = vec![
        Side { plan: plans[0], sessions: session(plans[0]), tell: &mut a },
        Side { plan: plans[1], sessions: session(plans[1]), tell: &mut b },
    ];
    let calibration = Calibration { clock_cost_ns: 0.0, clock_step_ns: 1.0, loop_cost_ns: 0.0 };
    let outcomes = run_sides(sides, calibration, &stop);
    (all.into_inner(), outcomes)
}

/// Sizes of the trials that count, in order, of each round of a side.
fn visits(told: &[(usize, Event)], side: usize) -> Vec<(u32, Vec<u64>)> {
    let trials = told.iter().filter_map(|(s, e)| match e {
        Event::Trial(t) if *s == side && !t.warmup => Some((t.round, t.size)),
        _ => None,
    });
    let all: Vec<(u32, u64)> = trials.collect();
    all.chunk_by(|a, b| a.0 == b.0).map(|c| (c[0].0, c.iter().map(|t| t.1).collect())).collect()
}

#[test]
fn both_sides_visit_the_same_sizes_in_the_same_order_round_by_round() {
    let (told, outcomes) = told(
        [&plan("latency=10us,rate=10Gbit/s,noise=2%,seed=1"), &plan("latency=12us,rate=2Gbit/s,noise=2%,seed=2")],
        [usize::MAX; 2],
    );
    assert!(outcomes.iter().all(|o| o.error.is_none() && o.trials > 100), "{outcomes:?}");
    let (a, b) = (visits(&told, 0), visits(&told, 1));
    assert!(a.len() >= 8, "{} rounds", a.len());
    for ((round, first), (other, second)) in a.iter().zip(&b) {
        assert_eq!(round, other);
        // A round whose time ran out leaves out what comes last.
        let common = first.len().min(second.len());
        assert!(common > 0, "round {round}: {common}");
        assert_eq!(first[..common], second[..common], "round {round}");
    }
    assert!(a.len().abs_diff(b.len()) <= 1, "{} and {} rounds", a.len(), b.len());
    assert!(told.iter().filter(|(_, e)| matches!(e, Event::End(_))).count() == 2);
}

#[test]
fn which_sides_turn_comes_first_is_left_to_chance_and_no_round_follows_before_both_had_theirs() {
    let (told, _) =
        told([&plan("latency=10us,noise=2%,seed=1"), &plan("latency=10us,noise=2%,seed=2")], [usize::MAX; 2]);
    let opened = told.iter().filter_map(|(s, e)| match e {
        Event::Round(b) if b.round > 0 => Some((*s, b.round)),
        _ => None,
    });
    let turns: Vec<(usize, u32)> = opened.collect();
    let first: Vec<usize> = turns.chunks(2).map(|pair| pair[0].0).collect();
    assert!(turns.chunks(2).all(|p| p.len() == 2 && p[0].1 == p[1].1 && p[0].0 != p[1].0), "{turns:?}");
    assert!(first.contains(&0) && first.contains(&1), "{first:?}");
}

#[test]
fn what_ends_one_side_ends_both_and_loses_nothing() {
    let plans = [&plan("latency=10us,noise=2%,seed=1"), &plan("latency=10us,noise=2%,seed=2")];
    let (told, outcomes) = told(plans, [usize::MAX, 400]);
    assert!(matches!(outcomes[1].error, Some(RunError::Tell(_))), "{outcomes:?}");
    let Some(RunError::OtherSide(why)) = &outcomes[0].error else { panic!("{outcomes:?}") };
    assert!(why.contains("the disk is full"), "{why}");
    let last = told.iter().rev().find(|(s, _)| *s == 0).map(|(_, e)| e);
    let Some(Event::End(end)) = last else { panic!("the first side has its end: {last:?}") };
    assert!(end.error.as_deref().is_some_and(|e| e.contains("other side")), "{end:?}");
    let points = told.iter().filter(|(s, e)| *s == 0 && matches!(e, Event::Point(_))).count();
    assert!(points > 20, "{points} points of the first side");
}
