//! A small slice of `make truth`, with loose bounds: that what holds goes on to hold, and that the bench itself works.

use std::collections::BTreeSet;

use truth::noise::{Demand, Noise};
use truth::world::Shape;
use truth::{
    comparing, coverage, finding, percentiles, periods, repeats, scaling, series, shapes, sides, sustained, table,
    turns,
};

/// Seed of all slices.
const SEED: u64 = 1;

#[test]
fn the_same_seed_gives_the_same_table_on_any_number_of_threads() {
    let shape = Shape::of(9, 20);
    let text = |seed, threads| table::coverage(&[coverage::row(Noise::Seconds(0.5), &shape, 4, seed, threads)], false);
    assert_eq!(text(SEED, 1), text(SEED, 3));
    assert_ne!(text(SEED, 1), text(SEED + 1, 1));
}

#[test]
fn intervals_hold_the_truth_where_rounds_are_independent() {
    for noise in [Noise::Independent, Noise::Pareto, Noise::LogNormal, Noise::Skewed, Noise::Clock(10e-6)] {
        let row = coverage::row(noise, &Shape::of(9, 40), 30, SEED, 2);
        for (name, tally) in &row.of_machine {
            let (held, given) = (tally.coverage().unwrap_or(0.0), tally.given());
            // Of 30 runs 95% hold; fewer than three quarters do by chance in one of 10,000.
            let least = if *name == "point" { 0.88 } else { 0.75 };
            assert!(held >= least, "{}: {name} held {held} of {given}", noise.name());
            assert_eq!(tally.absurd, 0, "{}: {name}", noise.name());
        }
        let point = &row.of_machine["point"];
        assert!(point.none * 10 < point.given(), "{}: points have intervals", noise.name());
        let wide = matches!(noise, Noise::LogNormal | Noise::Skewed | Noise::Clock(_));
        assert!(wide || point.width() < Some(0.1), "{}: {:?}", noise.name(), point.width());
    }
}

#[test]
fn intervals_hold_the_truth_where_rounds_are_alike_or_states_last_for_a_part_of_the_run() {
    for (noise, rounds) in
        [(Noise::Correlated(0.5), 9), (Noise::Correlated(0.5), 30), (Noise::Seconds(0.5), 9), (Noise::Rounds(3.0), 30)]
    {
        let shape = Shape::of(rounds, 20);
        assert_eq!(noise.demand(shape.rounds, shape.length), Demand::Nominal, "{}", noise.name());
        let row = coverage::row(noise, &shape, 25, SEED, 2);
        let held = |name: &str| row.of_machine[name].coverage().unwrap_or(0.0);
        let all: Vec<String> =
            row.of_machine.iter().map(|(n, t)| format!("{n} {:.2}", t.coverage().unwrap_or(0.0))).collect();
        println!("{}, {rounds} rounds: {}", noise.name(), all.join(", "));
        for name in ["point", "latency", "maximum", "t0", "b", "Rmax", "arrival", "beyond"] {
            assert!(held(name) >= 0.75, "{}, {rounds} rounds: {name} {}", noise.name(), held(name));
        }
    }
}

#[test]
fn start_up_costs_hold_and_saturation_contradicts_nothing_whatever_the_curves_shape() {
    for curve in shapes::CURVES {
        let row = shapes::row(curve, Noise::Independent, &Shape::of(9, 40), 30, SEED, 2);
        for (what, tally) in [("smallest", &row.latency), ("t0", &row.t0)] {
            assert!(tally.coverage() >= Some(0.8), "{}: {what} held {:?}", curve.0, tally.coverage());
        }
        assert_eq!(row.contradicts, 0, "{}", curve.0);
    }
}

#[test]
fn states_that_a_part_of_the_sizes_shares_count_in_its_intervals() {
    for (alike, points, latency) in [(0.5, 0.9, 0.75), (0.8, 0.8, 0.6)] {
        let row = coverage::row(Noise::Small(alike), &Shape::of(30, 40), 30, SEED, 2);
        let held = |name| row.of_machine[name].coverage().unwrap_or(0.0);
        assert!(held("point") >= points, "{alike}: points {}", held("point"));
        assert!(held("latency") >= latency, "{alike}: latency {}", held("latency"));
    }
}

#[test]
fn the_sentence_of_trust_claims_nothing_of_states_that_last_and_what_it_claims_of_short_ones_holds() {
    let shape = Shape::of(30, 40);
    for noise in [Noise::Seconds(3.5), Noise::Seconds(5.0), Noise::Rounds(10.0)] {
        let row = coverage::row(noise, &shape, 15, SEED, 2);
        assert_eq!(row.of_this_run, row.runs, "{}", noise.name());
    }
    // What a sentence without a length says, whatever the noise: so few rounds average over nothing, and two have no interval.
    for rounds in [2, 4] {
        let row = coverage::row(Noise::Independent, &Shape::of(rounds, 20), 2, SEED, 2);
        assert_eq!(row.of_this_run, 2, "{rounds} rounds");
    }
    // Half a round is 0.2 s.
    let row = coverage::row(Noise::Seconds(0.18), &shape, 40, SEED, 2);
    let (claims, points) = (row.runs - row.of_this_run, &row.of_claiming["point"]);
    println!("{claims} of {} claim states of 0.18 s, and {:?} of their points hold", row.runs, points.coverage());
    // 90%, less a standard error of a share of so many runs.
    assert!(claims >= 15 && points.meets(Demand::Claimed), "{claims} claim, {:?}", points.coverage());
}

#[test]
fn two_runs_a_side_have_no_verdict_and_three_do_whatever_states_the_machine_has() {
    let row = sides::row(Noise::Seconds(60.0), &Shape::of(9, 20), 20, SEED, 2);
    let known: Vec<u64> = row.iter().map(|held| held.known).collect();
    assert_eq!(known, [0, 20, 20, 20]);
    // With a verdict, runs of the same hardly differ and hardly fail a limit.
    for (held, runs) in row.iter().zip(sides::RUNS).skip(1) {
        assert!(held.few_differ() && held.few_failed(), "{runs} a side: {held:?}");
    }
    // Why two a side have none: the states that so few met make their intervals miss more often than those of a verdict may.
    let missed = |held: &sides::Held| 1.0 - held.whole.coverage().unwrap_or(1.0);
    assert!(missed(&row[0]) > sides::FALSE, "{row:?}");
}

#[test]
fn one_round_of_four_that_took_ten_times_as_long_makes_no_interval_useless() {
    let row = coverage::row(Noise::WildRound, &Shape::of(4, 40), 20, SEED, 2);
    for (name, tally) in &row.of_machine {
        println!("{name}: {:?} ±{:?}, {} none", tally.coverage(), tally.width(), tally.none);
        assert!(tally.coverage() >= Some(0.75), "{name}: {:?}", tally.coverage());
        // A run in twenty has none.
        let none = tally.none * 20 <= tally.given() + tally.none;
        assert!(tally.width() < Some(0.3) && none, "{name}: {:?}, {} none", tally.width(), tally.none);
    }
}

#[test]
fn four_rounds_that_may_all_be_of_one_of_two_states_claim_little() {
    for (noise, points) in [(Noise::Seconds(0.5), 0.9), (Noise::Apart(1.0), 0.7)] {
        let row = coverage::row(noise, &Shape::of(4, 40), 30, SEED, 2);
        let tally = |name: &str| &row.of_machine[name];
        for (name, least) in [("point", points), ("latency", 0.8), ("t0", 0.8), ("b", 0.8), ("Rmax", 0.8)] {
            let held = tally(name).coverage();
            assert!(held >= Some(least), "{}: {name} held {held:?} of {}", noise.name(), tally(name).given());
        }
        // What does not move with the level is known all the same.
        assert!(tally("half power").given() >= 25, "{}", noise.name());
    }
    // Noise about one centre keeps its intervals.
    let row = coverage::row(Noise::Skewed, &Shape::of(4, 40), 20, SEED, 2);
    assert!(row.of_machine["point"].none * 10 < row.of_machine["point"].given());
}

#[test]
fn no_noise_makes_absurd_figures_of_nine_rounds() {
    let shape = Shape::of(9, 20);
    let mut seen = BTreeSet::new();
    for noise in truth::noise::ALL {
        let row = coverage::row(noise, &shape, 2, SEED, 2);
        let point = &row.of_machine["point"];
        assert_eq!(point.given() + point.none, 2 * shape.sizes.len() as u64, "{}", noise.name());
        for (name, tally) in row.of_machine.iter().chain(&row.of_run) {
            assert_eq!(tally.absurd, 0, "{}: {name}", noise.name());
        }
        seen.extend(row.of_machine.into_keys());
    }
    assert_eq!(seen, BTreeSet::from(coverage::FIGURES));
}

#[test]
fn runs_of_one_thing_do_not_differ_and_runs_of_two_do() {
    for noise in [Noise::Independent, Noise::Pareto] {
        let row = comparing::row(noise, &Shape::of(9, 40), 12, SEED, 2);
        for (side, runs) in row.verdicts.iter().zip(comparing::SIDES) {
            assert!(side[0].differ <= 1, "{}: {runs:?}: {side:?}", noise.name());
            // Of a run a side nothing tells how far runs lie apart; of three earlier runs it is known less well than of three a side.
            let least = match runs {
                (1, 0) => 0,
                (_, 0) => 10,
                _ => 6,
            };
            assert!(side[3].differ >= least, "{}: {runs:?}: {side:?}", noise.name());
            assert!(runs != (1, 0) || side.iter().all(|said| said.none == 12), "{}: {side:?}", noise.name());
        }
    }
}

#[test]
fn sides_of_one_thing_in_turns_do_not_differ_whatever_states_the_machine_has() {
    for rounds in [9, 30] {
        let (mut differ, mut pairs, mut promised) = (0, 0, (0, 0));
        for noise in [Noise::Independent, Noise::Seconds(0.5), Noise::Rounds(3.0), Noise::Correlated(0.5)] {
            let row = turns::row(noise, false, &Shape::of(rounds, 40), 15, SEED, 2);
            println!("{}, {rounds} rounds: {:?}", noise.name(), row.said);
            assert!(
                row.said.iter().all(|said| said.faster <= 1 && said.bounded == row.runs),
                "{}: {:?}",
                noise.name(),
                row.said
            );
            let found = row.said.last().map_or(0, |said| said.slower);
            assert!(
                noise != Noise::Independent || found * 10 >= row.runs * 8,
                "{found} of {} found: {:?}",
                row.runs,
                row.said
            );
            let (given, kept) = row.promised;
            println!(
                "{kept} of {given} as said; sizes {:?}, {:?}",
                row.sizes.coverage(),
                row.of_machine.as_ref().map(|all| all.each_ref().map(|t| t.coverage()))
            );
            promised = (promised.0 + given, promised.1 + kept);
            assert!(row.sizes.coverage() >= Some(0.88), "{}: {:?}", noise.name(), row.sizes.coverage());
            for tally in row.of_machine.iter().flatten() {
                assert!(tally.given() > 0 && tally.coverage() >= Some(0.7), "{}: {:?}", noise.name(), tally.coverage());
            }
            (differ, pairs) = (differ + row.said[0].differ(), pairs + row.runs);
        }
        assert!(differ * 20 <= 2 * pairs, "{rounds} rounds: {differ} of {pairs} pairs of the same");
        // Four times in five is said; of so few pairs two in three are asked for.
        let (given, kept) = promised;
        assert!(given >= 30 && kept * 3 >= given * 2, "{rounds} rounds: {kept} of {given} are found as said");
    }
}

#[test]
fn sizes_with_levels_of_their_own_in_each_run_are_held_by_the_intervals_of_several_runs_a_side() {
    for noise in [Noise::Runs(0.05), Noise::Runs(0.08)] {
        for (held, runs) in sides::row(noise, &Shape::of(9, 40), 20, SEED, 2).iter().zip(sides::RUNS) {
            let found = held.sizes.coverage().unwrap_or(0.0);
            println!("{}, {runs} a side: {found:.3}, {} failed, {} differ", noise.name(), held.failed, held.differ);
            // The level of a run is one of 20 here, and moves all its sizes.
            assert!((0.92..=0.995).contains(&found), "{}, {runs} a side: {found}", noise.name());
            assert!(held.failed <= 2 && held.differ <= 1, "{}, {runs} a side: {held:?}", noise.name());
        }
    }
}

#[test]
fn sides_in_series_do_not_differ_by_what_the_machine_drifts_from_run_to_run() {
    for change in [series::Change::Drift(0.03), series::Change::Sine(0.1)] {
        let said = series::row(change, &Shape::of(9, 40), 20, SEED, 2);
        assert!(series::met(&said, 20), "{}: {said:?}", change.name());
        let found: Vec<u64> = said.iter().map(|of| of[2]).collect();
        assert!(found.iter().all(|n| *n >= 12), "{}: a factor of 1.3 is found in {found:?} of 20", change.name());
    }
}

#[test]
fn states_that_each_size_of_each_side_has_of_its_own_are_no_difference_in_turns() {
    for rounds in [9, 30] {
        let row = turns::row(Noise::Sizes(0.8), false, &Shape::of(rounds, 40), 40, SEED, 2);
        println!("{rounds} rounds: {:?}", row.said[0]);
        // Of 40, 5% and a standard error.
        assert!(row.said[0].bounded == row.runs && row.few_differ(), "{rounds} rounds: {:?}", row.said[0]);
    }
}

#[test]
fn a_deep_dip_is_found_and_a_bend_is_no_break() {
    let shape = Shape::of(9, 155);
    let found = finding::dips(Noise::Independent, &shape, (0.1, 1.5), 10, SEED, 2);
    assert!(found.found >= 9 && found.strays <= 1, "{found:?}");
    for bent in [false, true] {
        assert!(finding::strays(Noise::Independent, &shape, bent, 10, SEED, 2) <= 1, "bent: {bent}");
    }
}

#[test]
fn a_handshake_from_a_size_on_is_a_step_there_and_nothing_else() {
    let found = finding::steps(Noise::Independent, &Shape::of(9, 155), finding::HEIGHTS[1], 15, SEED, 2);
    println!("{found:?}");
    assert!(found.planted == 15 && found.found >= 13 && found.precise(), "{found:?}");
    assert!(found.depth.coverage() >= Some(0.75), "{found:?}");
}

#[test]
fn frequent_stops_are_found_with_their_period() {
    let row = periods::row(Noise::LogNormal, &Shape::of(9, 40), 4, SEED, 2);
    assert_eq!((row.stops[1].found, row.stops[1].others, row.strays), (4, 0, 0), "{row:?}");
}

#[test]
fn a_median_tells_of_single_transfers_and_a_mean_of_sustained_ones() {
    let (median, mean) = truth::sustained::ratios(0.4, 2, SEED, 2);
    assert!((median - 1.0).abs() < 0.03 && (1.85..2.15).contains(&mean), "{median} {mean}");
}

#[test]
fn a_further_run_falls_where_earlier_ones_foretell_and_without_them_nothing_is_foretold() {
    let row = repeats::row(Noise::Seconds(60.0), &Shape::of(9, 20), 20, SEED, 2);
    for tallies in &row.held {
        assert_eq!(tallies[0].given(), 0);
        for (tally, known) in tallies.iter().zip(repeats::EARLIER).skip(1) {
            assert!(tally.coverage() > Some(0.85), "{known} earlier: {:?}", tally.coverage());
        }
    }
}

#[test]
fn percentiles_hold_whether_the_iterations_of_a_trial_are_alike_or_not() {
    for (noise, rounds) in [
        (Noise::Independent, 9),
        (Noise::Pareto, 30),
        (Noise::Correlated(0.5), 30),
        (Noise::Seconds(0.5), 9),
        (Noise::Rare(0.5), 9),
        (Noise::Clock(10e-6), 9),
    ] {
        let row = percentiles::row(noise, &Shape::of(rounds, 20), 12, SEED, 2);
        for (all, which) in row.held.iter().zip(["alike", "apart"]) {
            for (tally, share) in all.iter().zip(percentiles::SHARES) {
                let [open, wrong] = tally.open;
                let claims = tally.given() + open + wrong;
                let held = (tally.held + open) as f64 / claims as f64;
                println!(
                    "{}, {rounds} rounds, {which}, {share}: {held:.3} of {claims}, {open} open, {} none",
                    noise.name(),
                    tally.none
                );
                assert!(held >= 0.88 && tally.absurd == 0, "{}, {which}, {share}: {tally:?}", noise.name());
            }
        }
    }
}

#[test]
fn sustained_ratios_and_gaps_a_byte_hold() {
    // Under a quota two long trials may agree by luck on how many of its periods they met: where they are cut off counts.
    for noise in [Noise::Independent, Noise::Skewed, Noise::Quota] {
        let tally = sustained::kept_up(noise, &Shape::of(9, 20), 20, SEED, 2);
        println!("{}: {:?} of {}, +-{:?}", noise.name(), tally.coverage(), tally.given(), tally.width());
        assert!(tally.coverage() >= Some(0.85) && tally.given() >= 50, "{}: {tally:?}", noise.name());
    }
    let row = coverage::row(Noise::Independent, &Shape::of(9, 40), 30, SEED, 2);
    for name in ["G", "scaled t0", "scaled b"] {
        assert!(row.of_machine[name].coverage() >= Some(0.75), "{name}: {:?}", row.of_machine[name]);
    }
}

#[test]
fn a_measurement_over_another_wire_lies_within_what_scale_foretold() {
    let tally = scaling::row(Noise::Independent, &Shape::of(9, 40), 15, SEED, 2);
    println!("{:?} of {}, +-{:?}", tally.coverage(), tally.given(), tally.width());
    assert!(tally.coverage() >= Some(0.85) && tally.width() < Some(0.2), "{tally:?}");
}
