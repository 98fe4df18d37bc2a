use model::{Compared, Comparison, Disturber, Estimate, Finding, Paired, Stretch};

use super::super::ratios::{interval, of_time, ratio};
use super::super::{Named, table};
use super::verdict;

fn named(stretches: Vec<Stretch>) -> Named {
    let one = |i: u32| Compared {
        size: 1 << i,
        first: 1e-6,
        second: 1e-6,
        ratio: Estimate { value: 1.0, low: 0.9, high: 1.1 },
        effect: 0.0,
        probability: 1.0,
        significant: false,
        by_order: false,
        first_interpolated: false,
        second_interpolated: i == 3,
    };
    let comparison = Comparison {
        sizes: (0..21).map(one).collect(),
        left_out: 2,
        unvisited: 0,
        machine: Vec::new(),
        drift: None,
        disturbed: None,
        between: None,
        few_rounds: None,
        seen: None,
        paired: None,
        whole: Estimate { value: 1.01, low: 0.97, high: 1.05 },
        throughput: None,
        stretches,
        crossovers: Vec::new(),
    };
    Named {
        first: "a".into(),
        second: "b\u{1b}[2J".into(),
        runs: (1, 1),
        pattern: measure::Pattern::PingPong,
        separate: false,
        one_cpu: (false, false),
        comparison,
        note: None,
        cpu: Vec::new(),
        differences: Vec::new(),
        limits: Vec::new(),
    }
}

fn stretch(from: u64, to: u64, ratio: f64, differs: bool) -> Stretch {
    Stretch { from, to, ratio, differs }
}

#[test]
fn a_machine_at_another_speed_is_told_and_a_hardly_other_one_is_not() {
    let mut n = named(vec![stretch(1, 1 << 20, 1.0, false)]);
    let shift = |ratio| model::Shift { what: "wake-up round trip".into(), ratio, noise: 0.01 };
    n.comparison.machine = vec![shift(1.01)];
    assert!(!verdict(&n).contains("machine"), "{}", verdict(&n));
    n.comparison.machine = vec![shift(0.5)];
    assert!(verdict(&n).contains("another speed: wake-up round trip 50.0% of the time"), "{}", verdict(&n));
}

#[test]
fn separate_runs_of_an_unknown_machine_have_no_verdict_and_the_first_line_says_why() {
    let mut n = named(vec![stretch(1, 1 << 20, 1.5, true)]);
    assert!(!verdict(&n).contains("alone"), "paths of one run: {}", verdict(&n));
    n.separate = true;
    n.comparison.whole = Estimate { value: 1.5, low: 1.45, high: 1.55 };
    let said = verdict(&n);
    let first = said.lines().next().unwrap();
    assert!(first.starts_with("No verdict: too few runs tell") && first.contains("in one run"), "{said}");
    assert!(first.contains("took 150.0% [145.0%, 155.0%] of the time of a") && !said.contains("slower"), "{said}");
    let between = |degrees, runs| Some(model::BetweenRuns { spread: 0.1, degrees, runs });
    // Two of one side and three of the other.
    n.comparison.between = between(3.0, 5);
    let said = verdict(&n);
    let known = "No verdict: too few runs tell how far separate runs of one thing lie apart (5 do).";
    assert!(said.starts_with(known) && !n.finding().is_verdict(), "{said}");
    n.comparison.between = between(4.0, 5);
    assert!(n.finding().is_verdict() && verdict(&n).contains("1.50 times slower"), "{}", verdict(&n));
}

#[test]
fn what_lies_further_apart_than_runs_of_one_thing_ever_do_has_a_verdict_without_more_runs() {
    let mut n = named(vec![stretch(1, 64, 1.2, true), stretch(128, 1 << 20, 8.0, true)]);
    n.separate = true;
    n.comparison.whole = Estimate { value: 6.0, low: 5.0, high: 7.0 };
    let said = verdict(&n);
    let first = "is 6.00 times slower: over all sizes it takes 6.0 [5.0, 7.0] times the time of a.\n";
    assert!(said.starts_with('b') && said.contains(first), "{said}");
    assert!(
        n.finding().is_verdict() && said.contains("Smaller differences, of single sizes too, have no verdict"),
        "{said}"
    );
    assert!(!n.judges(Estimate { value: 1.2, low: 1.1, high: 1.3 }));
    assert!(n.judges(Estimate { value: 0.1, low: 0.05, high: 0.2 }));
    n.comparison.whole = Estimate { value: 6.0, low: 3.9, high: 9.0 };
    assert!(!n.finding().is_verdict() && verdict(&n).starts_with("No verdict: too few runs tell"), "{}", verdict(&n));
}

#[test]
fn separate_runs_that_differ_over_all_sizes_and_over_no_stretch_have_no_verdict() {
    let mut n = named(vec![stretch(1, 1 << 20, 1.0, false)]);
    n.comparison.whole = Estimate { value: 1.03, low: 1.01, high: 1.05 };
    assert!(n.finding() == Finding::Differ && verdict(&n).contains("103.0%"), "paths of one run: {}", verdict(&n));
    n.separate = true;
    n.comparison.between = Some(model::BetweenRuns { spread: 0.01, degrees: 4.0, runs: 6 });
    let said = verdict(&n);
    assert!(n.finding() == Finding::WholeAlone && said.starts_with("No verdict: over all sizes b"), "{said}");
    assert!(said.contains("103.0% [101.0%, 105.0%]") && said.contains("run --vs"), "{said}");
    n.comparison.stretches[0].differs = true;
    assert!(n.finding() == Finding::Differ && !verdict(&n).contains("No verdict"), "{}", verdict(&n));
}

#[test]
fn a_limit_that_was_passed_where_no_difference_is_found_says_what_it_asks() {
    let none = named(vec![stretch(1, 1 << 20, 1.0, false)]);
    assert!(verdict(&none).contains("No difference found"), "{}", verdict(&none));
    assert!(none.beside_a_limit().contains("asks about that figure alone"));
    assert_eq!(named(vec![stretch(1, 1 << 20, 1.5, true)]).beside_a_limit(), "");
}

#[test]
fn no_difference_is_said_only_where_the_interval_holds_it_and_tells_something() {
    let mut n = named(vec![stretch(1, 1 << 20, 1.0, false)]);
    n.comparison.whole = Estimate { value: 1.028, low: 1.02, high: 1.036 };
    assert!(!verdict(&n).contains("No difference") && verdict(&n).contains("102.8%"), "{}", verdict(&n));
    n.comparison.whole = Estimate { value: 1.4, low: 0.008, high: 50.6 };
    assert!(verdict(&n).contains("No verdict: over all sizes"), "{}", verdict(&n));
    // A factor of two either way, and of sides in turns.
    for (low, high) in [(0.484, 1.919), (0.593, 2.304), (0.951, 1.44)] {
        n.comparison.whole = Estimate { value: 0.98, low, high };
        n.comparison.paired = None;
        assert!(verdict(&n).starts_with("No verdict: over all sizes"), "{}", verdict(&n));
        n.comparison.paired = Some(Paired { rounds: 26, differs: false, finds: Some(0.5), finds_at_a_size: Some(0.9) });
        let said = verdict(&n);
        assert!(
            said.starts_with("No verdict: over all sizes") && said.contains("find a difference of 50.0%"),
            "{said}"
        );
    }
    // So few rounds that the order of the sides may do it.
    n.comparison.whole = Estimate { value: 1.1, low: 1.08, high: 1.12 };
    n.comparison.paired = Some(Paired { rounds: 4, differs: false, finds: Some(1.0), finds_at_a_size: Some(1.0) });
    let said = verdict(&n);
    assert!(
        said.starts_with("No verdict: over all sizes b") && said.contains("took 110.0% [108.0%, 112.0%]"),
        "{said}"
    );
    assert!(said.contains("of so few as 4 rounds as many go one way by chance") && !n.finding().is_verdict(), "{said}");
    n.comparison.paired = None;
    n.comparison.whole = Estimate { value: 1.01, low: 0.97, high: 1.05 };
    let said = verdict(&n);
    assert!(said.contains("No difference found") && said.contains("one of 5.8% is found four times in five"), "{said}");
    // A sure difference stays one, however wide its interval.
    n.comparison.whole = Estimate { value: 2.0, low: 1.4, high: 2.8 };
    assert!(!verdict(&n).contains("No verdict"), "{}", verdict(&n));
}

#[test]
fn sizes_that_no_round_visited_have_no_ratio() {
    let mut n = named(vec![stretch(1, 1 << 20, 1.0, false)]);
    n.comparison.unvisited = 3;
    assert!(
        table(&n, true).contains("3 sizes that no round visited on both sides are left out"),
        "{}",
        table(&n, true)
    );
    n.comparison.unvisited = 0;
    n.comparison.paired = Some(Paired { rounds: 0, differs: false, finds: None, finds_at_a_size: None });
    n.comparison.few_rounds = Some(0);
    n.comparison.sizes.iter_mut().for_each(|s| s.ratio.high = f64::INFINITY);
    let (shown, said) = (table(&n, true), verdict(&n));
    assert!(!shown.contains('%') && shown.lines().nth(1).unwrap().ends_with('-'), "{shown}");
    assert!(said.starts_with("No verdict: no round visited") && !said.contains('%'), "{said}");
}

#[test]
fn sides_in_turns_are_said_to_be_compared_over_the_sizes_that_have_intervals() {
    let mut n = named(vec![stretch(1, 1 << 20, 1.0, false)]);
    n.comparison.paired = Some(Paired { rounds: 26, differs: false, finds: Some(0.05), finds_at_a_size: None });
    assert!(verdict(&n).contains("over all sizes b"), "{}", verdict(&n));
    n.comparison.sizes[20].ratio = Estimate { value: 0.2, low: 0.0, high: f64::INFINITY };
    let said = verdict(&n);
    assert!(said.contains("over the 20 of 21 sizes with an interval b"), "{said}");
    assert!(said.contains("no verdict on 1 MiB: fewer than 4 rounds measured it, at 20.0% of the time"), "{said}");
    n.comparison.sizes[19].ratio = Estimate { value: 7.99, low: 0.0, high: f64::INFINITY };
    let said = verdict(&n);
    assert!(
        said.contains("no verdict on 2 sizes between 512 KiB and 1 MiB: fewer than 4 rounds measured them")
            && said.contains("at 20.0% of the time to 8.0 times the time"),
        "{said}"
    );
}

#[test]
fn too_few_rounds_have_no_verdict_and_no_interval() {
    let mut n = named(vec![stretch(1, 1 << 20, 1.0, false)]);
    (n.comparison.few_rounds, n.comparison.whole) = (Some(1), Estimate { value: 0.993, low: 0.0, high: f64::INFINITY });
    let said = verdict(&n);
    let want = "took 99.3% of the time of a; 1 round of a side is too few for an interval";
    assert!(said.starts_with("No verdict: b") && said.contains(want) && said.contains("--budget"), "{said}");
    // What lies far beyond any noise is told, though nothing tells how sure it is.
    (n.comparison.few_rounds, n.comparison.whole.value) = (Some(2), 12.0);
    for (slower, faster, want) in [
        (21, 0, "took 12.0 times the time of a, longer in every round at all 21 sizes; 2 rounds of a side are too few"),
        (18, 2, "of a, longer in every round at 18 of 21 sizes and less in every round at 2 of 21 sizes; 2 rounds"),
        (0, 20, "of a, less in every round at 20 of 21 sizes; 2 rounds"),
        (0, 0, "of a, in some rounds longer and in others not; 2 rounds"),
    ] {
        n.comparison.seen = Some(model::EveryRound { slower, faster, sizes: 21 });
        assert!(verdict(&n).contains(want), "{}", verdict(&n));
    }
    n.comparison.seen = Some(model::EveryRound { slower: 1, faster: 0, sizes: 1 });
    let want = "of a, longer in every round at the one size that rounds of both visited; 2 rounds";
    assert!(verdict(&n).contains(want), "{}", verdict(&n));
    n.comparison.sizes.truncate(1);
    assert!(verdict(&n).contains("of a, longer in every round; 2 rounds"), "{}", verdict(&n));
    n.separate = true;
    assert!(verdict(&n).starts_with("No verdict"), "{}", verdict(&n));
}

#[test]
fn single_sizes_that_differ_are_named_where_all_together_tell_nothing() {
    let mut n = named(vec![stretch(1, 1 << 20, 1.0, false)]);
    n.comparison.paired = Some(Paired { rounds: 9, differs: false, finds: Some(25.0), finds_at_a_size: Some(0.2) });
    for (i, value) in [(4, 3.17), (9, 6.63)] {
        let size = &mut n.comparison.sizes[i];
        (size.ratio, size.significant) = (Estimate { value, low: value * 0.9, high: value * 1.2 }, true);
    }
    let said = verdict(&n);
    assert!(said.starts_with("No verdict on all sizes together: over all sizes b"), "{said}");
    assert!(said.contains("Single sizes differ: 512 B (6.63 times slower), 16 B (3.17 times slower)."), "{said}");
    assert!(said.contains("find a difference of 26.0 times over all sizes"), "{said}");
}

#[test]
fn of_many_sizes_one_in_each_doubling_is_shown_unless_all_are_asked_for() {
    let mut n = named(vec![stretch(1, 1 << 20, 1.0, false)]);
    let one = n.comparison.sizes[0];
    let size = |i: u64| Compared { size: 1000 + 100 * i, significant: i % 2 == 1, ..one };
    n.comparison.sizes = (0..40).map(size).collect();
    let (few, all) = (table(&n, false), table(&n, true));
    // 1,000, 1,100, 2,100, 4,100 and 4,900 B.
    assert!(few.contains("Left out, to fit: 35 of 40 sizes, 16 of them marked *"), "{few}");
    assert!(few.contains("4,900 B") && !few.contains("1,200 B"), "{few}");
    assert!(!all.contains("Left out") && all.contains("1,200 B"), "{all}");
}

#[test]
fn where_no_size_has_an_interval_the_table_shows_times_and_ratios_alone() {
    let mut n = named(vec![stretch(1, 1 << 20, 1.0, false)]);
    assert!(
        table(&n, true).contains("ratio of times [95%]") && table(&n, true).contains("Holm"),
        "{}",
        table(&n, true)
    );
    n.comparison.sizes[1].ratio.high = f64::INFINITY;
    assert!(table(&n, true).contains("100.0% (no interval)"), "{}", table(&n, true));
    n.comparison.sizes.iter_mut().for_each(|s| s.ratio.high = f64::INFINITY);
    let shown = table(&n, true);
    assert!(shown.lines().next().is_some_and(|head| head.ends_with("ratio of times")), "{shown}");
    assert!(shown.lines().nth(1).is_some_and(|row| row.ends_with("100.0%")), "{shown}");
    assert!(!shown.contains("no interval") && !shown.contains("Holm"), "{shown}");
    let turns = Paired { rounds: 2, differs: false, finds: None, finds_at_a_size: None };
    (n.comparison.few_rounds, n.comparison.paired) = (Some(2), Some(turns));
    n.comparison.whole.high = f64::INFINITY;
    let said = verdict(&n);
    let want = "took 101.0% of the time of a; 2 rounds of each side are too few for an interval";
    assert!(said.contains(want) && !said.contains("no interval"), "{said}");
    n.comparison.few_rounds = None;
    n.comparison.seen = Some(model::EveryRound { slower: 21, faster: 0, sizes: 21 });
    let said = verdict(&n);
    assert!(said.contains("longer in every round at all 21 sizes; it changed too slowly over 2 rounds"), "{said}");
}

#[test]
fn two_processes_on_one_cpu_are_named_as_a_cause_where_only_one_side_has_them() {
    let mut n = named(vec![stretch(1, 1 << 20, 9.0, true)]);
    for (one_cpu, want) in [((false, true), "processes of b\u{fffd}[2J were"), ((true, false), "processes of a were")] {
        n.one_cpu = one_cpu;
        let said = verdict(&n);
        assert!(
            said.starts_with("b\u{fffd}[2J is 9.00 times slower") && said.contains(want),
            "the verdict stands: {said}"
        );
    }
    for alike in [(false, false), (true, true)] {
        n.one_cpu = alike;
        assert!(!verdict(&n).contains("one CPU"), "{}", verdict(&n));
    }
}

#[test]
fn a_disturbed_side_gets_no_verdict() {
    let mut n = named(vec![stretch(1, 1 << 20, 2.0, false)]);
    n.comparison.disturbed =
        Some(model::Disturbed { by: Disturber::Programs, first: 0.013, second: 1.1, undecided: true });
    let said = verdict(&n);
    assert!(
        said.starts_with("No verdict: other programs took 1% of a CPU while a was measured, and 110% while"),
        "{said}"
    );
    n.comparison.disturbed =
        Some(model::Disturbed { by: Disturber::Hypervisor, first: 0.0, second: 0.95, undecided: true });
    let said = verdict(&n);
    assert!(said.contains("the hypervisor kept (steal) 0% of a CPU") && !said.contains("programs"), "{said}");
    let quota = model::Disturbed { by: Disturber::Quota, first: 0.0, second: 0.4, undecided: true };
    n.comparison.disturbed = Some(quota);
    let said = verdict(&n);
    assert!(said.contains("a CPU quota kept from the measurement 0% of a CPU while a"), "{said}");
    // Throttled time is summed over CPUs: it can be more than the time that passed.
    n.comparison.disturbed = Some(model::Disturbed { undecided: false, second: 1.5, ..quota });
    assert!(verdict(&n).contains("0% of a CPU on the first side and 150% on the second"), "{}", verdict(&n));
}

#[test]
fn the_verdict_is_one_that_can_be_repeated() {
    let said = verdict(&named(vec![stretch(1, 32_768, 1.0, false), stretch(65_536, 1 << 20, 1.0 / 1.8, true)]));
    assert!(said.contains("is 1.80 times faster from 64 KiB up, not sure to differ below (against a)."), "{said}");
    let mut n = named(vec![stretch(1, 1 << 20, 1.05, true)]);
    n.comparison.sizes.iter_mut().for_each(|s| (s.significant, s.ratio.value) = (true, 1.05));
    assert!(verdict(&n).contains("is 5.0% slower at all sizes (against a)."), "{}", verdict(&n));
    n.comparison.sizes[7].significant = false;
    assert!(verdict(&n).contains("is 5.0% slower at 20 of 21 sizes (against a)."), "{}", verdict(&n));
    n.comparison.stretches = vec![stretch(1, 1, 1.05, true), stretch(2, 1 << 20, 1.0, false)];
    assert!(verdict(&n).contains("is 5.0% slower at 1 B, not sure to differ above"), "{}", verdict(&n));
    let said = verdict(&named(vec![stretch(1, 1 << 20, 1.0, false)]));
    assert!(
        said.contains("No difference found between a and b\u{fffd}[2J: over all sizes ")
            && said.contains(" takes 101.0% [97.0%, 105.0%] of the time"),
        "{said}"
    );
}

#[test]
fn a_large_ratio_is_a_number_of_times_and_a_small_one_keeps_its_digits() {
    let mut n = named(vec![stretch(1, 1 << 20, 20_013.46, true)]);
    n.comparison.whole = Estimate { value: 20_013.46, low: 19_000.0, high: 21_000.0 };
    n.comparison.sizes.iter_mut().for_each(|s| {
        (s.significant, s.ratio) = (true, Estimate { value: 205.0, low: 198.2, high: 212.0 });
    });
    let (said, shown) = (verdict(&n), table(&n, true));
    assert!(!said.contains("2001346") && !shown.contains("20500"), "{said}\n{shown}");
    assert!(shown.contains("205 [198, 212] times"), "{shown}");
    assert_eq!(of_time(20_013.46, &interval(n.comparison.whole)), "20,013 [19,000, 21,000] times the time");
    assert_eq!(ratio(0.000_049_97), "0.0050%");
}

#[test]
fn one_factor_of_all_sizes_is_said_first_and_a_stretch_speaks_for_no_other_size() {
    let mut n =
        named(vec![stretch(1, 128, 1.0, false), stretch(256, 1024, 1.041, true), stretch(2048, 1 << 20, 1.0, false)]);
    n.comparison.whole = Estimate { value: 1.03, low: 1.012, high: 1.048 };
    let said = verdict(&n);
    let first = said.lines().next().unwrap();
    assert!(
        first.contains("is 3.0% slower: over all sizes it takes 103.0% [101.2%, 104.8%] of the time of a"),
        "{said}"
    );
    assert!(first.ends_with("the intervals of 21 of 21 sizes hold that factor."), "{said}");
    assert!(
        said.contains("\nTaken by themselves, only these sizes are sure to differ: 4.1% slower from 256 B to 1 KiB."),
        "{said}"
    );
    assert!(said.contains("That the others do not, it does not say") && !said.contains("not sure to differ"), "{said}");
    // The same of sides in turns.
    n.comparison.paired = Some(Paired { rounds: 30, differs: true, finds: Some(0.012), finds_at_a_size: None });
    assert!(verdict(&n).contains("\nTaken by themselves") && !verdict(&n).contains("\nIt is"), "{}", verdict(&n));
    // Sizes that hold another factor, and stretches that go the other way, are no one factor.
    n.comparison.paired = None;
    let one = n.clone();
    n.comparison.sizes[..3].iter_mut().for_each(|s| s.ratio = Estimate { value: 1.8, low: 1.7, high: 1.9 });
    let said = verdict(&n);
    assert!(
        said.contains("is 4.1% slower from 256 B") && said.contains("Over all sizes together it takes 103.0%"),
        "{said}"
    );
    let mut n = one;
    n.comparison.stretches[0] = stretch(1, 128, 0.9, true);
    assert!(verdict(&n).contains("faster up to 128 B"), "{}", verdict(&n));
}

#[test]
fn a_reader_can_tell_what_a_ratio_is_of_and_whose_p_is_printed() {
    let mut n = named(vec![stretch(1, 1 << 20, 1.0, false)]);
    n.comparison.sizes[1].ratio = Estimate { value: 1.2, low: 0.0, high: f64::INFINITY };
    let shown = table(&n, true);
    assert!(
        shown.contains("ratio of times [95%]") && shown.contains("p: of such a difference at any of the sizes"),
        "{shown}"
    );
    let row = shown.lines().nth(2).unwrap();
    assert!(row.contains("(no interval)") && row.trim_end().ends_with('-'), "{row}");
    n.comparison.paired = Some(Paired { rounds: 30, differs: false, finds: None, finds_at_a_size: None });
    let shown = table(&n, true);
    assert!(shown.contains("ratio in turns [95%]") && shown.contains("divide to another ratio"), "{shown}");
}

#[test]
fn sides_in_turns_have_the_whole_curve_first_and_no_difference_says_what_would_have_been_seen() {
    let mut n = named(vec![stretch(1, 1 << 20, 1.0, false)]);
    let turns = Paired { rounds: 30, differs: false, finds: Some(0.012), finds_at_a_size: Some(0.045) };
    n.comparison.paired = Some(turns);
    let said = verdict(&n);
    assert!(
        said.contains("No difference found between a and b\u{fffd}[2J: over all sizes ")
            && said.contains(" takes 101.0% [97.0%, 105.0%] of the time"),
        "{said}"
    );
    assert!(said.contains("30 rounds in turns find a difference of 1.2% over all sizes, and of 4.5% at a"), "{said}");
    n.comparison.paired = Some(Paired { differs: true, ..turns });
    n.comparison.whole = Estimate { value: 1.1, low: 1.08, high: 1.12 };
    let said = verdict(&n);
    assert!(
        said.contains("is 10.0% slower: over all sizes it takes 110.0% [108.0%, 112.0%] of the time of a,"),
        "{said}"
    );
    assert!(said.contains("\nNo stretch of sizes is sure to differ by itself.\n"), "{said}");
    assert!(said.ends_with("Both took turns, and 30 rounds of each were compared in pairs."), "{said}");
    n.comparison.stretches = vec![stretch(1, 64, 1.0, false), stretch(128, 1 << 20, 1.3, true)];
    n.comparison.sizes.iter_mut().for_each(|s| s.ratio = Estimate { value: 1.3, low: 1.25, high: 1.35 });
    assert!(verdict(&n).contains("\nIt is"), "{}", verdict(&n));
    n.comparison.sizes.iter_mut().for_each(|s| s.ratio = Estimate { value: 1.1, low: 0.0, high: f64::INFINITY });
    let said = verdict(&n);
    assert!(said.starts_with("No verdict: ") && said.contains("none of the 21 sizes was visited"), "{said}");
    n.comparison.paired = Some(Paired { rounds: 3, differs: false, finds: None, finds_at_a_size: None });
    let said = verdict(&n);
    assert!(said.starts_with("No verdict: ") && said.contains("3 rounds") && said.contains("--budget"), "{said}");
}

#[test]
fn what_was_not_measured_is_marked() {
    let text = table(&named(vec![]), true);
    let marked: Vec<&str> = text.lines().filter(|l| l.contains('~') && !l.starts_with('~')).collect();
    assert_eq!(marked.len(), 1, "{text}");
    assert!(marked[0].trim_start().starts_with("8 B  1.00 us"), "{text}");
    assert!(text.contains("(1 of 21 sizes)") && text.contains("2 sizes that only one side has"), "{text}");
}

#[test]
fn names_from_files_make_no_escapes() {
    let named = named(vec![stretch(1, 1 << 20, 1.05, true)]);
    assert!(!verdict(&named).contains('\u{1b}') && !table(&named, true).contains('\u{1b}'));
}

#[test]
fn words_begin_with_no_verdict_exactly_where_there_is_none() {
    let estimate = |value, low, high| Estimate { value, low, high };
    let with = |change: &dyn Fn(&mut Named)| {
        let mut n = named(vec![stretch(1, 1 << 20, 1.0, false)]);
        change(&mut n);
        n
    };
    let slower = |n: &mut Named| n.comparison.whole = estimate(1.2, 1.1, 1.3);
    let far_slower = |n: &mut Named| {
        n.separate = true;
        n.comparison.whole = estimate(10.0, 9.0, 11.0);
    };
    let open = |n: &mut Named| {
        n.comparison.sizes.iter_mut().for_each(|s| s.ratio = estimate(1.0, 0.0, f64::INFINITY));
    };
    let turns = |n: &mut Named| {
        let paired = Paired { rounds: 9, differs: false, finds: Some(0.01), finds_at_a_size: Some(0.02) };
        n.comparison.paired = Some(paired);
    };
    let whole_alone = |n: &mut Named| {
        n.separate = true;
        n.comparison.between = Some(model::BetweenRuns { spread: 0.01, degrees: 8.0, runs: 10 });
    };
    let by = model::Disturbed { by: Disturber::Programs, first: 0.0, second: 1.0, undecided: true };
    let all = [
        (Finding::NoDifference, with(&|_| ())),
        (Finding::Differ, with(&slower)),
        (Finding::Differ, with(&far_slower)),
        (Finding::Disturbed, with(&|n| n.comparison.disturbed = Some(by))),
        (Finding::FewRounds, with(&|n| n.comparison.few_rounds = Some(3))),
        (Finding::FewRuns, with(&|n| n.separate = true)),
        (Finding::NoInterval, with(&open)),
        // Ten times as long over all sizes, and not one of them with an interval.
        (Finding::NoInterval, with(&|n| (far_slower(n), open(n)).0)),
        (Finding::WholeAlone, with(&|n| (slower(n), whole_alone(n)).0)),
        (Finding::Vague, with(&|n| n.comparison.whole = estimate(1.0, 0.5, 2.0))),
        (Finding::RoundsByChance, with(&|n| (slower(n), turns(n)).0)),
        (Finding::SingleSizes, with(&|n| (turns(n), n.comparison.sizes[3].significant = true).0)),
        (Finding::NoInterval, with(&|n| (turns(n), open(n)).0)),
    ];
    for (finding, n) in all {
        assert_eq!(n.finding(), finding);
        let said = verdict(&n);
        assert_eq!(said.starts_with("No verdict"), !finding.is_verdict(), "{finding:?}: {said}");
    }
}
