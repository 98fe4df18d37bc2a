//! Checks whether what a far side reports of a trial is possible, by what was asked and what the near side saw pass. A far side may be
//! broken or hostile, and its numbers go into medians, tables and files. Pure.

use std::time::Duration;

use transport::Capabilities;

use crate::buffers::watched;
use crate::pattern::Seen;
use crate::{Cost, Course, FarReport, Flows, TrialSpec};

/// No path that exists moves bytes faster, bytes a second.
const FASTEST: f64 = 1e12;
/// Shortest time in which a receiver drops a datagram, seconds.
const DROPPED: f64 = 1e-8;
/// Shortest system call, seconds.
const CALLED: f64 = 1e-8;
/// The shortest time that a clock of nanoseconds shows, seconds, less rounding.
const NANOSECOND: f64 = 0.999e-9;
/// How far the far side's clock may run ahead of this one's, as a share, and how coarse either may be, seconds.
const DRIFT: f64 = 0.01;
const COARSE: f64 = 1e-3;
/// Most parts of a trial of which a far side reports when they arrived.
const PARTS: usize = 1024;
/// The longest time between two ticks of a kernel, nanoseconds.
const LONGEST_TICK: u64 = 20_000_000;
/// Shortest switch from one thread to another, seconds.
const SWITCHED: f64 = 1e-8;
/// Most cycles of any processor in a nanosecond, and most instructions that one completes in a cycle.
const CYCLES: u64 = 10;
const INSTRUCTIONS: u64 = 16;

/// Checks the far side's report of the trial `spec` on a link with the capabilities `can`. `elapsed` is the time on the near
/// side from before the trial was asked for until the report was here. The error says which number is impossible and what
/// could have been.
pub fn credible(far: &FarReport, spec: &TrialSpec, can: &Capabilities, elapsed: Duration) -> Result<(), String> {
    let elapsed = elapsed.as_secs_f64();
    let facts = spec.pattern.facts();
    let made = spec.repeats.saturating_add(spec.warmup);
    let sent = made.saturating_mul(facts.sends(spec));
    // Of a put, the far side looks at what was written; no message arrived.
    let seen = if facts.one_sided { made } else { sent };
    exactly("messages received", far.received, if can.reliable { sent } else { far.received.min(sent) })?;
    let Seen { lost, bytes, shortest, longest } = (facts.seen)(far, spec, elapsed);
    exactly("messages lost", far.lost, lost)?;
    let dropped = if can.reliable { 0 } else { (elapsed / DROPPED) as u64 };
    for (what, found) in [
        ("messages reordered", far.reordered),
        ("messages duplicated", far.duplicated),
        ("datagrams of others", far.strangers),
    ] {
        exactly(what, found, found.min(dropped))?;
    }
    exactly("bytes timed", far.bytes, bytes)?;
    if let Some((some, all)) = far.copied {
        // A far side that posts decides by itself into how many calls it divides what it sends.
        let most = if facts.posts && spec.far_sends() { (elapsed / CALLED) as u64 } else { 0 };
        exactly("calls of posted sends", all, all.min(most))?;
        exactly("calls that were copied", some, some.min(all))?;
    }
    let told = far.seconds == 0.0 || far.seconds >= NANOSECOND;
    if !(told && far.seconds >= shortest && far.seconds <= longest) {
        let shortest = shortest.max(0.0);
        return Err(format!("{:e} s for {} bytes, where {shortest:e} to {longest:e} s can be", far.seconds, far.bytes));
    }
    if let Some(cost) = &far.cost {
        payable(cost, spec, can, elapsed)?;
    }
    let (size, _) = (facts.messages)(spec);
    if let Some((iteration, offset)) = far.corrupt.filter(|_| !spec.check) {
        return Err(format!("a wrong byte at offset {offset} of message {iteration}, which it was not to look at"));
    }
    if let Some((iteration, offset)) = far.corrupt.filter(|(number, at)| *number >= seen || *at >= size) {
        return Err(format!("a wrong byte at offset {offset} of message {iteration}, which it was not sent"));
    }
    match far.spilled.filter(|behind| *behind >= watched(spec)) {
        Some(behind) => Err(format!(
            "that byte {behind} behind a message's memory was written, where {} bytes are looked at",
            watched(spec)
        )),
        None => Ok(()),
    }
}

/// Checks the far side's report of all flows of the trial `spec`, whose own reports are credible: none where it did not time them.
pub fn credible_flows(
    told: Option<&Flows>,
    each: &[FarReport],
    spec: &TrialSpec,
    elapsed: Duration,
) -> Result<(), String> {
    let times = each.len() > 1 && spec.pattern.facts().unanswered && !spec.reverse && !spec.both;
    let flows = match told {
        None if times => return Err("the flows of a stream without the time in which all of them ran".to_owned()),
        None => return Ok(()),
        Some(_) if !times => return Err("times of flows that it had nothing to time of".to_owned()),
        Some(flows) => flows,
    };
    exactly("flows told of", flows.each.len() as u64, each.len() as u64)?;
    // Each flow ran for the whole of the time in which all did; a clock of nanoseconds may round both.
    let shortest = each.iter().map(|flow| flow.seconds).fold(f64::INFINITY, f64::min) + NANOSECOND;
    let longest = elapsed.as_secs_f64() * (1.0 + DRIFT) + COARSE;
    let parts = [flows.seconds, flows.apart].into_iter().all(|part| part >= 0.0 && part <= flows.span);
    if !(parts && flows.seconds <= shortest && flows.span <= longest) {
        let Flows { seconds, span, .. } = flows;
        return Err(format!("flows that ran at once for {seconds:e} of {span:e} s, where {shortest:e} s can be"));
    }
    credible_common(flows, spec)?;
    let most = spec.repeats as f64 * (1.0 + 1e-9);
    match flows.each.iter().find(|flow| !(flow.iterations >= 0.0 && flow.iterations <= most)) {
        Some(flow) => Err(format!("{:e} iterations of a flow, where at most {} can be", flow.iterations, spec.repeats)),
        None => Ok(()),
    }
}

/// Checks the course of a connection that the near side needs, as its far side reports it beside `far`, which is credible: none where it
/// did not time the trial. Its moments are of a clock that this side does not know.
pub fn credible_course(course: Option<&Course>, far: &FarReport, spec: &TrialSpec) -> Result<(), String> {
    let times = spec.flows > 1 && spec.pattern.facts().unanswered && !spec.reverse;
    let course = match course {
        None if times => return Err("a stream of several without how it went on".to_owned()),
        None => return Ok(()),
        Some(_) if !times => return Err("how something went on that it had nothing to time of".to_owned()),
        Some(course) => course,
    };
    if course.steps.len() > PARTS {
        return Err(format!("{} parts of a trial, where at most {PARTS} can be", course.steps.len()));
    }
    let (mut last, mut iterations) = (course.begin, 0u64);
    for step in &course.steps {
        if step.end < last {
            return Err(format!("a part of a trial that was over {} ns before it began", last - step.end));
        }
        (last, iterations) = (step.end, iterations.saturating_add(step.iterations));
    }
    exactly("messages in the parts of a trial", iterations, far.bytes.div_ceil(spec.size.max(1)))?;
    let span = (last - course.begin) as f64 * 1e-9;
    let beside = span - far.seconds;
    // Where nothing was timed, the time in its report covers nothing.
    if beside > 2.0 * NANOSECOND || (far.bytes > 0 && beside < -2.0 * NANOSECOND) {
        return Err(format!("parts of a trial that took {span:e} s, where {:e} s can be", far.seconds));
    }
    Ok(())
}

/// Checks that a course of the far side, by this side's clock and off by at most `error` nanoseconds, lies between the moments at which the
/// trial was asked for and its report arrived (nanoseconds).
pub fn credible_moments(course: &Course, (asked, answered): (u64, u64), error: u64) -> Result<(), String> {
    let beside = error.saturating_add((COARSE * 1e9) as u64);
    let drift = (answered.saturating_sub(asked) as f64 * DRIFT) as u64;
    let (begin, end) = (course.begin, course.steps.last().map_or(course.begin, |step| step.end));
    if begin.saturating_add(beside) < asked || end > answered.saturating_add(beside).saturating_add(drift) {
        let ms = |at: u64| (at as f64 - asked as f64) * 1e-6;
        let (begin, end, most) = (ms(begin), ms(end), ms(answered));
        return Err(format!(
            "messages from {begin:.3} to {end:.3} ms after the trial was asked for, where 0 to {most:.3} ms can be"
        ));
    }
    Ok(())
}

/// Checks that what flows did while all of them ran, by their courses, is no more than a path can carry.
pub fn credible_common(flows: &Flows, spec: &TrialSpec) -> Result<(), String> {
    if flows.seconds < flows.iterations() * spec.size as f64 / FASTEST {
        return Err(format!("{:e} iterations of flows in {:e} s", flows.iterations(), flows.seconds));
    }
    Ok(())
}

/// Checks the cost of a trial of `elapsed` seconds for one thread: no thread has more CPU time than passed, and none is switched more often
/// than a kernel can switch.
fn payable(cost: &Cost, spec: &TrialSpec, can: &Capabilities, elapsed: f64) -> Result<(), String> {
    // Where messages are lost, the far side does not know how many of the warm-up's were.
    let most = if can.reliable { spec.repeats } else { spec.repeats.saturating_add(spec.warmup) };
    let iterations = if can.reliable { most } else { cost.iterations.clamp(1, most) };
    exactly("iterations counted for CPU time", cost.iterations, iterations)?;
    let longest = ((elapsed * (1.0 + DRIFT) + COARSE) * 1e9) as u64;
    // The kernel divides CPU time into user and system time at ticks, so that time from before the trial may be counted: at most a tick at
    // each end.
    let divided = longest.saturating_add(2 * LONGEST_TICK);
    let cycles = longest.saturating_mul(CYCLES);
    for (what, found, most) in [
        ("ns passed", cost.elapsed_ns, longest),
        ("ns of CPU time", cost.cpu_ns, longest),
        ("ns of user and system time", cost.user_ns.saturating_add(cost.system_ns), divided),
        ("ns between two ticks", cost.step_ns, LONGEST_TICK),
        ("CPU cycles", cost.cycles, cycles),
        ("instructions", cost.instructions, cycles.saturating_mul(INSTRUCTIONS)),
        ("context switches", cost.voluntary.saturating_add(cost.involuntary), (elapsed / SWITCHED) as u64 + 1),
    ] {
        if found > most {
            return Err(format!("{found} {what}, where at most {most} can be"));
        }
    }
    Ok(())
}

fn exactly(what: &str, found: u64, can_be: u64) -> Result<(), String> {
    if found == can_be { Ok(()) } else { Err(format!("{found} {what}, where {can_be} can be")) }
}

#[cfg(test)]
mod tests {
    use transport::Semantics;

    use super::*;
    use crate::Pattern;

    const ELAPSED: Duration = Duration::from_millis(10);

    fn spec(pattern: Pattern) -> TrialSpec {
        TrialSpec { response: 10, burst: 5, warmup: 2, seed: 1, ..TrialSpec::plain(pattern, 1000, 20) }
    }

    fn lossy() -> Capabilities {
        Capabilities { reliable: false, semantics: Semantics::Message, ..Capabilities::plain() }
    }

    fn streamed() -> FarReport {
        FarReport { received: 22, bytes: 20_000, seconds: 1e-4, ..FarReport::default() }
    }

    fn said(far: &FarReport, pattern: Pattern, can: &Capabilities) -> String {
        credible(far, &spec(pattern), can, ELAPSED).expect_err("impossible")
    }

    #[test]
    fn what_far_sides_report_is_believed() {
        let plain = Capabilities::plain();
        assert_eq!(credible(&streamed(), &spec(Pattern::Stream), &plain, ELAPSED), Ok(()));
        for (pattern, received) in [(Pattern::PingPong, 22), (Pattern::Burst, 110), (Pattern::Bidirectional, 22)] {
            let far = FarReport { received, ..FarReport::default() };
            assert_eq!(credible(&far, &spec(pattern), &plain, ELAPSED), Ok(()), "{pattern:?}");
        }
        // Lost: all, all but one beyond the warm-up, a few; nothing is timed of the first two.
        for (received, bytes, seconds) in [(0, 0, 0.0), (2, 0, 0.0), (3, 1000, 1e-7), (18, 16_000, 9e-3)] {
            let far =
                FarReport { received, lost: 22 - received, bytes, seconds, duplicated: 2, ..FarReport::default() };
            assert_eq!(credible(&far, &spec(Pattern::Stream), &lossy(), ELAPSED), Ok(()), "{received}");
        }
        // A coarse clock that told no time at all.
        let coarse = FarReport { seconds: 0.0, ..streamed() };
        assert_eq!(credible(&coarse, &spec(Pattern::Stream), &plain, ELAPSED), Ok(()));
    }

    #[test]
    fn where_the_far_side_takes_no_part_no_message_came_and_only_contents_are_seen() {
        let can = Capabilities { one_sided: true, ..Capabilities::plain() };
        let spec = TrialSpec { check: true, ..spec(Pattern::Put) };
        let said = |far: FarReport| credible(&far, &spec, &can, ELAPSED);
        assert_eq!(said(FarReport::default()), Ok(()));
        assert_eq!(said(FarReport { corrupt: Some((21, 999)), ..FarReport::default() }), Ok(()));
        for far in [
            FarReport { received: 22, ..FarReport::default() },
            FarReport { seconds: 1e-3, bytes: 1000, ..FarReport::default() },
            FarReport { corrupt: Some((22, 0)), ..FarReport::default() },
            FarReport { corrupt: Some((0, 1000)), ..FarReport::default() },
        ] {
            assert!(said(far.clone()).is_err(), "{far:?}");
        }
    }

    #[test]
    fn times_beyond_what_passed_here_or_below_any_path_are_not() {
        for seconds in [1e-300, 5e-324, 1e-10, 0.5, 1e308, f64::INFINITY, f64::NAN, -1.0] {
            let e = said(&FarReport { seconds, ..streamed() }, Pattern::Stream, &Capabilities::plain());
            assert!(e.contains("can be"), "{seconds}: {e}");
        }
        let large = TrialSpec { size: 1 << 40, ..spec(Pattern::Stream) };
        let far = FarReport { bytes: 20 * (1 << 40), seconds: 1e-3, ..streamed() };
        assert!(credible(&far, &large, &Capabilities::plain(), ELAPSED).is_err(), "22 TB in a millisecond");
        // Only a stream is timed by its receiver.
        let far = FarReport { received: 22, seconds: 1e-4, ..FarReport::default() };
        assert!(said(&far, Pattern::PingPong, &Capabilities::plain()).contains("1e-4"), "{far:?}");
    }

    #[test]
    fn counts_and_bytes_are_those_of_what_was_asked() {
        let plain = Capabilities::plain();
        for false_one in [0, 21, 23, u64::MAX] {
            assert!(
                said(&FarReport { received: false_one, ..streamed() }, Pattern::Stream, &plain).contains("received")
            );
        }
        for false_one in [0, 19_999, 20_001, u64::MAX] {
            assert!(said(&FarReport { bytes: false_one, ..streamed() }, Pattern::Stream, &plain).contains("bytes"));
            let far = FarReport { received: 20, lost: 2, bytes: false_one, seconds: 1e-4, ..FarReport::default() };
            assert!(said(&far, Pattern::Stream, &lossy()).contains("bytes"));
        }
        let lossless = FarReport { received: 22, ..FarReport::default() };
        assert!(said(&FarReport { lost: 1, ..lossless.clone() }, Pattern::PingPong, &plain).contains("lost"));
        for can in [&plain, &lossy()] {
            for far in [
                FarReport { reordered: u64::MAX, ..lossless.clone() },
                FarReport { duplicated: u64::MAX, ..lossless.clone() },
                FarReport { received: u64::MAX, ..lossless.clone() },
            ] {
                assert!(said(&far, Pattern::PingPong, can).contains("can be"), "{far:?}");
            }
        }
    }

    #[test]
    fn a_far_side_that_sends_has_its_own_bounds() {
        let plain = Capabilities::plain();
        let spec = TrialSpec { reverse: true, ..spec(Pattern::Stream) };
        let sent = FarReport { bytes: 20_000, seconds: 1e-4, ..FarReport::default() };
        assert_eq!(credible(&sent, &spec, &plain, ELAPSED), Ok(()));
        assert_eq!(credible(&sent, &spec, &lossy(), ELAPSED), Ok(()), "what was lost on the way was sent");
        for lie in [
            FarReport { bytes: 19_999, ..sent.clone() },
            FarReport { bytes: u64::MAX, ..sent.clone() },
            FarReport { received: 22, ..sent.clone() },
            FarReport { lost: 1, ..sent.clone() },
            FarReport { seconds: 1e-10, ..sent.clone() },
            FarReport { seconds: 0.5, ..sent.clone() },
            FarReport { corrupt: Some((0, 0)), ..sent.clone() },
        ] {
            assert!(credible(&lie, &spec, &plain, ELAPSED).is_err(), "{lie:?}");
        }
        let quick = TrialSpec { offered: Some(4e8), ..spec.clone() };
        assert_eq!(credible(&sent, &quick, &plain, ELAPSED), Ok(()), "0.4 ms lie within a coarse clock's step");
        let slow = TrialSpec { offered: Some(2e7), ..spec.clone() };
        assert!(credible(&sent, &slow, &plain, ELAPSED).is_err(), "0.1 ms for what takes 8");
        assert_eq!(credible(&FarReport { seconds: 8e-3, ..sent.clone() }, &slow, &plain, ELAPSED), Ok(()));
        let posts = TrialSpec { pattern: Pattern::Post, ..spec.clone() };
        for (copied, can_be) in
            [((0, 0), true), ((22, 22), true), ((3, 40), true), ((2, 1), false), ((0, 1 << 39), false)]
        {
            let far = FarReport { copied: Some(copied), ..sent.clone() };
            assert_eq!(credible(&far, &posts, &plain, ELAPSED).is_ok(), can_be, "{copied:?}");
            assert!(
                copied.1 == 0 || credible(&far, &spec, &plain, ELAPSED).is_err(),
                "a stream's sends are not posted"
            );
        }
        let burst = TrialSpec { pattern: Pattern::Burst, ..spec };
        let asked = FarReport { received: 22, ..FarReport::default() };
        assert_eq!(credible(&asked, &burst, &plain, ELAPSED), Ok(()), "a request a burst");
        assert!(credible(&FarReport { received: 110, ..asked }, &burst, &plain, ELAPSED).is_err());
    }

    #[test]
    fn what_is_told_of_flows_fits_what_is_told_of_each() {
        use crate::FlowReport;
        let spec = TrialSpec { flows: 2, ..spec(Pattern::Stream) };
        let each = [streamed(), FarReport { seconds: 2e-4, ..streamed() }];
        let flow = |iterations| FlowReport { iterations, ..FlowReport::default() };
        let fair = Flows { seconds: 1e-4, span: 3e-4, apart: 1e-4, each: vec![flow(20.0), flow(9.5)] };
        let said = |told: Option<&Flows>, spec: &TrialSpec| credible_flows(told, &each, spec, ELAPSED);
        assert_eq!(said(Some(&fair), &spec), Ok(()));
        assert!(said(None, &spec).is_err(), "nothing of what only it can tell");
        let trips = TrialSpec { pattern: Pattern::PingPong, ..spec.clone() };
        assert_eq!(said(None, &trips), Ok(()));
        assert!(said(Some(&fair), &trips).is_err(), "the near side times those");
        for lie in [
            Flows { seconds: 1.1e-4, ..fair.clone() },
            Flows { seconds: f64::NAN, ..fair.clone() },
            Flows { seconds: 1e-300, ..fair.clone() },
            Flows { seconds: 0.0, ..fair.clone() },
            Flows { seconds: -1.0, ..fair.clone() },
            Flows { span: 1.0, ..fair.clone() },
            Flows { span: 5e-5, ..fair.clone() },
            Flows { apart: 1e-3, ..fair.clone() },
            Flows { apart: f64::NAN, ..fair.clone() },
            Flows { each: vec![flow(20.0)], ..fair.clone() },
            Flows { each: vec![flow(20.1), flow(1.0)], ..fair.clone() },
            Flows { each: vec![flow(-1.0), flow(1.0)], ..fair.clone() },
            Flows { each: vec![flow(f64::INFINITY), flow(f64::NAN)], ..fair.clone() },
        ] {
            assert!(said(Some(&lie), &spec).is_err(), "{lie:?}");
        }
    }

    #[test]
    fn how_a_stream_went_on_fits_what_is_told_of_it() {
        use crate::flows::Step;
        let spec = TrialSpec { flows: 2, ..spec(Pattern::Stream) };
        let far = streamed();
        let step = |end, iterations| Step { end, iterations, took: 0 };
        let fair = Course { begin: 7_000, steps: vec![step(50_000, 5), step(107_000, 15)] };
        assert_eq!(credible_course(Some(&fair), &far, &spec), Ok(()));
        assert!(credible_course(None, &far, &spec).is_err(), "nothing of what only it can tell");
        let trips = TrialSpec { pattern: Pattern::PingPong, ..spec.clone() };
        assert_eq!(credible_course(None, &far, &trips), Ok(()));
        assert!(credible_course(Some(&fair), &far, &trips).is_err(), "the near side times those");
        let nothing = FarReport { bytes: 0, seconds: 0.0, ..streamed() };
        assert_eq!(credible_course(Some(&Course { begin: 3, steps: Vec::new() }), &nothing, &spec), Ok(()));
        let only_one = FarReport { seconds: 7e-8, ..nothing };
        assert_eq!(credible_course(Some(&Course { begin: 3, steps: Vec::new() }), &only_one, &spec), Ok(()));
        for lie in [
            Course { begin: 10_000, ..fair.clone() },
            Course { begin: 60_000, ..fair.clone() },
            Course { begin: 0, ..fair.clone() },
            Course { begin: u64::MAX, ..fair.clone() },
            Course { begin: 7_000, steps: vec![step(50_000, 5), step(107_000, 16)] },
            Course { begin: 7_000, steps: vec![step(50_000, u64::MAX), step(107_000, u64::MAX)] },
            Course { begin: 7_000, steps: vec![step(50_000, 5), step(u64::MAX, 15)] },
            Course { begin: 7_000, steps: vec![step(60_000, 5), step(50_000, 0), step(107_000, 15)] },
            Course { begin: 7_000, steps: Vec::new() },
            Course { begin: 7_000, steps: vec![step(107_000, 0); 5000] },
        ] {
            assert!(credible_course(Some(&lie), &far, &spec).is_err(), "{lie:?}");
        }
    }

    #[test]
    fn moments_by_this_sides_clock_lie_within_the_trial() {
        let course = |begin: u64, end: u64| {
            let steps = vec![crate::flows::Step { end, iterations: 1, took: 0 }];
            Course { begin, steps }
        };
        let (asked, answered, error) = (1_000_000_000, 1_100_000_000, 50_000);
        let said = |begin, end| credible_moments(&course(begin, end), (asked, answered), error);
        assert_eq!(said(1_010_000_000, 1_090_000_000), Ok(()));
        assert_eq!(said(asked - error, answered + error), Ok(()), "as far off as the clocks may be compared wrongly");
        for (begin, end) in [(0, 1_050_000_000), (1_010_000_000, u64::MAX), (2_000_000_000, 2_050_000_000), (0, 0)] {
            assert!(said(begin, end).is_err(), "{begin} to {end}");
        }
        let nothing = Course { begin: u64::MAX, steps: Vec::new() };
        assert!(credible_moments(&nothing, (asked, answered), error).is_err());
    }

    #[test]
    fn a_thread_has_no_more_cpu_time_than_passed_here() {
        let plain = Capabilities::plain();
        let fair = Cost {
            iterations: 20,
            elapsed_ns: 9_000_000,
            cpu_ns: 9_000_000,
            user_ns: 4_000_000,
            system_ns: 8_000_000,
            step_ns: 4_000_000,
            voluntary: 40,
            involuntary: 1,
            cycles: 27_000_000,
            instructions: 54_000_000,
        };
        let far = |cost| FarReport { received: 22, cost: Some(cost), ..FarReport::default() };
        assert_eq!(credible(&far(fair), &spec(Pattern::PingPong), &plain, ELAPSED), Ok(()));
        for wrong in [
            Cost { iterations: 0, ..fair },
            Cost { iterations: 21, ..fair },
            Cost { iterations: u64::MAX, ..fair },
            Cost { elapsed_ns: 12_000_000, ..fair },
            Cost { cpu_ns: 12_000_000, ..fair },
            Cost { cpu_ns: u64::MAX, ..fair },
            Cost { user_ns: u64::MAX, system_ns: u64::MAX, ..fair },
            Cost { system_ns: 60_000_000, ..fair },
            Cost { step_ns: u64::MAX, ..fair },
            Cost { voluntary: u64::MAX, involuntary: u64::MAX, ..fair },
            Cost { cycles: 300_000_000, ..fair },
            Cost { instructions: u64::MAX, ..fair },
        ] {
            assert!(said(&far(wrong), Pattern::PingPong, &plain).contains("can be"), "{wrong:?}");
        }
        let lost = FarReport { received: 5, ..far(Cost { iterations: 5, ..fair }) };
        let lost = FarReport { lost: 0, ..lost };
        assert_eq!(credible(&lost, &spec(Pattern::PingPong), &lossy(), ELAPSED), Ok(()));
    }

    /// Numbers that no count can be don't even read as a report.
    #[test]
    fn what_is_no_number_of_nanoseconds_is_no_report() {
        let of = |cpu: &str| serde_json::from_str::<FarReport>(&format!("{{\"cost\":{{\"cpu_ns\":{cpu}}}}}"));
        assert!(of("12").is_ok_and(|far| far.cost.is_some_and(|c| c.cpu_ns == 12)));
        for wrong in ["1e308", "-1", "NaN", "null", "0.5", "18446744073709551616", "\"12\""] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_wrong_byte_lies_in_what_was_sent_and_looked_at() {
        let far = |corrupt| FarReport { received: 22, corrupt, ..FarReport::default() };
        let plain = Capabilities::plain();
        assert!(said(&far(Some((3, 5))), Pattern::PingPong, &plain).contains("wrong byte"));
        let checked = TrialSpec { check: true, ..spec(Pattern::PingPong) };
        assert_eq!(credible(&far(Some((3, 5))), &checked, &plain, ELAPSED), Ok(()));
        for false_one in [(22, 5), (3, 1000), (u64::MAX, u64::MAX)] {
            assert!(credible(&far(Some(false_one)), &checked, &plain, ELAPSED).is_err(), "{false_one:?}");
        }
    }

    #[test]
    fn a_byte_behind_a_message_lies_in_what_is_looked_at() {
        let plain = Capabilities::plain();
        let warm = TrialSpec { check: true, flows: 2, ..spec(Pattern::PingPong) };
        let cold = TrialSpec { cache: crate::Cache::Cold, align: 4096, ..warm.clone() };
        for spec in [warm.clone(), cold.clone()] {
            // Of what all members give to all, too: a member's memory is as many messages long as there are members.
            for pattern in [Pattern::PingPong, Pattern::Allgather, Pattern::AllToAll] {
                let spec = TrialSpec { pattern, ..spec.clone() };
                let far = |spilled| FarReport { received: 22, spilled, ..FarReport::default() };
                for behind in [0, watched(&spec) - 1] {
                    assert_eq!(credible(&far(Some(behind)), &spec, &plain, ELAPSED), Ok(()), "{pattern:?} {behind}");
                }
                for lie in [watched(&spec), u64::MAX] {
                    assert!(credible(&far(Some(lie)), &spec, &plain, ELAPSED).is_err(), "{pattern:?} {lie}");
                }
                let unchecked = TrialSpec { check: false, ..spec };
                let e = credible(&far(Some(0)), &unchecked, &plain, ELAPSED).unwrap_err();
                assert!(e.contains("byte 0 behind") && e.contains("0 bytes are looked at"), "{e}");
            }
        }
        assert!(watched(&cold) > 4096 && watched(&warm) < 4096, "gaps of a pool keep the alignment");
    }
}
