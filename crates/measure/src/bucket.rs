//! Warnings of streams and curves that show for a short time what a path does not carry for long: buffers that were full when a receiver's
//! clock started, and shapers whose token bucket lets what it has saved up pass at once. Pure.

use std::net::SocketAddr;

use units::{BitRate, Bytes};

use crate::event::{Figures, Plan, Trial, Warning};
use crate::figures::{OUT_OF_A_BUFFER, counted, out_of_a_buffer, times_as_sent};
use crate::sustained::Sustained;
use crate::warned::{Judged, warning};

/// Code of the warning whose sizes may show the saved-up tokens of a bucket, and not what the path carries: [`in_long_trials`] tells whether
/// they do.
pub const BUCKET: &str = "bucket";

/// Factor by which a smaller size must carry more than the largest, beyond its error.
const ABOVE: f64 = 1.25;
/// Rounds below which a size is no evidence by itself, and the number of such sizes that are evidence together.
const FEWEST: u32 = 2;
const TOGETHER: usize = 3;

/// Whether a connection between these two ends ("A to B", and of some transports what it runs over behind a comma) leaves the host: what stays
/// on it has no shaper.
pub(crate) fn leaves_the_host(addresses: Option<&str>) -> bool {
    let ends = |text: &str| -> Option<(SocketAddr, SocketAddr)> {
        let (near, far) = text.split_once(" to ")?;
        let far = far.split_once(',').map_or(far, |(far, _)| far);
        Some((near.parse().ok()?, far.parse().ok()?))
    };
    let apart = |(near, far): (SocketAddr, SocketAddr)| near.ip() != far.ip() && !far.ip().is_loopback();
    addresses.and_then(ends).is_some_and(apart)
}

/// Messages that the receiver of a stream found in a buffer and read far faster than they were sent: they count at the sender's rate
/// ([`crate::figures::typical`]).
pub(crate) fn drained(plan: &Plan, points: &[Judged<'_>]) -> Option<Warning> {
    if !plan.pattern.facts().unanswered {
        return None;
    }
    let faster = |p: &Judged<'_>| {
        let trials: Vec<&Trial> = p.trials.iter().collect();
        let counted = counted(&trials);
        if !counted.iter().any(|t| out_of_a_buffer(plan, t)) {
            return None;
        }
        let times: Vec<f64> = counted.into_iter().filter_map(times_as_sent).collect();
        (!times.is_empty()).then(|| stats::median(&times))
    };
    let found: Vec<(u64, f64)> = points
        .iter()
        .filter_map(|p| Some((p.size, faster(p)?)))
        .filter(|(_, times)| *times > OUT_OF_A_BUFFER)
        .collect();
    let (size, times) = found.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let text = format!(
        "at {} of {} sizes the receiver found messages in a buffer when its clock started and read them faster than they were sent (at {}: {:.1} \
         times as fast); they count at the sender's rate (longer trials, --repeats, show what the path carries)",
        found.len(),
        points.len(),
        Bytes(size),
        times,
    );
    Some(warning("drained", found.into_iter().map(|(size, _)| size).collect(), text))
}

/// Whether a bucket shows in long trials of the sizes that carry more in short ones than the largest size, which has the throughput `kept`:
/// a bucket lets them fall to that rate, and caches that larger messages do not fit into leave them as fast as they are. None where no long
/// trial tells: where there is none of these sizes, where those of other sizes take longer, too, or where a boosted clock explains them.
pub fn in_long_trials(plan: &Plan, kept_up: &[Sustained], above: impl Fn(u64) -> bool, kept: f64) -> Option<bool> {
    // While an answer is under way, the bucket fills again.
    let most = ABOVE * kept * if plan.pattern.facts().unanswered { 1.0 } else { 2.0 };
    let slower = |s: &Sustained| s.ratio > 1.0 && s.differs();
    let (of_them, others): (Vec<_>, Vec<_>) = kept_up.iter().partition(|s| above(s.size));
    if others.into_iter().any(slower) {
        return None;
    }
    let falls = |s: &&Sustained| slower(s) && s.throughput <= most && s.boosted().is_none();
    let stays = |s: &&Sustained| s.high.is_finite() && s.throughput * s.ratio / s.high > most;
    match (of_them.iter().any(falls), of_them.iter().any(stays)) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}

/// Smaller sizes that have more throughput than the largest, beyond the error, on a path that leaves the host: what a token bucket does, as far
/// as long trials (`kept_up`) do not show that these sizes keep that up.
pub(crate) fn token_bucket(plan: &Plan, points: &[Judged<'_>], kept_up: &[Sustained], leaves: bool) -> Option<Warning> {
    let facts = plan.pattern.facts();
    if !leaves || facts.score.is_some() || plan.scheduled() {
        return None;
    }
    // By the slowest round of one and the fastest of the other, so that no interval is needed.
    let at = |f: &Figures, seconds: f64| f.throughput * f.median / seconds;
    // Lost messages cost throughput without a shaper.
    let mut whole: Vec<&Judged<'_>> = points.iter().filter(|p| p.figures.loss == 0.0).collect();
    whole.sort_by_key(|p| std::cmp::Reverse(p.size));
    points.iter().max_by_key(|p| p.size).filter(|largest| whole.first().is_some_and(|p| p.size == largest.size))?;
    // A slow link leaves its largest sizes one round each, which may have met a pause: then several of them are evidence together.
    let largest = if whole[0].figures.rounds >= FEWEST { &whole[..1] } else { whole.get(..TOGETHER)? };
    let fastest = |p: &&Judged<'_>| at(&p.figures, p.figures.seen_low);
    let last = largest.iter().max_by(|a, b| fastest(a).total_cmp(&fastest(b)))?;
    let kept = fastest(last);
    // A pause makes no round faster, but a single round may be off by more than several.
    let surely = |p: &Judged<'_>| if p.figures.rounds >= FEWEST { ABOVE } else { ABOVE * ABOVE };
    let above = whole.iter().copied().filter(|p| at(&p.figures, p.figures.seen_high) > surely(p) * kept);
    let above: Vec<&Judged<'_>> = above.collect();
    let most = above.iter().max_by(|a, b| a.figures.throughput.total_cmp(&b.figures.throughput))?;
    let sped_up = |size: u64| above.iter().any(|p| p.size == size);
    let (sure, evidence) = match in_long_trials(plan, kept_up, sped_up, last.figures.throughput) {
        Some(false) => return None,
        Some(true) => ("likely", ": long trials of the smaller sizes fall to that, too"),
        None => (
            "maybe",
            "; caches that large messages do not fit into would do the same, and no long trial tells which it is (a longer --budget has such trials)",
        ),
    };
    let answered = match facts.unanswered {
        true => "",
        false => ", and fills again while an answer is under way, so that a ping-pong may show twice its rate for good",
    };
    let text = format!(
        "throughput is {} at {} and {} at {}: {sure} a token bucket on the way (a shaper such as tc tbf, a provider's limit), which lets what it saved \
         up pass at once{answered}{evidence}; where it is one, the path carries for long no more than the largest sizes have",
        BitRate(most.figures.throughput),
        Bytes(most.size),
        BitRate(last.figures.throughput),
        Bytes(last.size),
    );
    Some(warning(BUCKET, above.iter().rev().map(|p| p.size).collect(), text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{self, Common, figures};
    use crate::{FarReport, FlowReport, Flows, Pattern, TrialReport};

    /// A trial of ten messages that took so many seconds each to send and to receive; an answered one has its median.
    fn trial(size: u64, sent: f64, received: f64) -> Trial {
        let far = FarReport { seconds: 10.0 * received, bytes: 10 * size, received: 11, ..FarReport::default() };
        let report = match received {
            0.0 => TrialReport { repeats: 10, seconds: 10.0 * sent, median: sent, ..TrialReport::default() },
            _ => TrialReport { repeats: 10, seconds: 10.0 * sent, far, ..TrialReport::default() },
        };
        Trial { path: 0, round: 1, at: 0.0, size, response: 0, burst: 0, warmup: false, report }
    }

    fn judged<'a>(plan: &Plan, trials: &'a [Trial]) -> Vec<Judged<'a>> {
        let each = trials.iter().map(std::slice::from_ref);
        each.map(|trials| {
            let figures = figures(plan, transport::tcp::NAME, &[&trials[0]], &Common::default()).unwrap();
            Judged { size: trials[0].size, figures: Figures { rounds: 4, ..figures }, trials, ended: None }
        })
        .collect()
    }

    #[test]
    fn what_was_read_out_of_a_buffer_is_told_of() {
        let plan = Plan { pattern: Pattern::Stream, ..Plan::default() };
        let trials = [trial(1024, 8e-5, 8.2e-5), trial(65_536, 5e-3, 1e-4)];
        let points = judged(&plan, &trials);
        let warned = drained(&plan, &points).unwrap();
        assert!(
            warned.code == "drained" && warned.sizes == [65_536] && warned.text.contains("50.0 times"),
            "{warned:?}"
        );
        assert!((points[1].figures.throughput / (65_536.0 * 8.0 / 5e-3) - 1.0).abs() < 1e-9);
        assert_eq!(drained(&plan, &points[..1]), None);
        assert_eq!(drained(&Plan::default(), &points), None, "nothing is received there");
    }

    /// Two flows that did half a million iterations a second each, whose senders handed over so many a second each.
    fn of_two(size: u64, sent: f64) -> Trial {
        let flow = FlowReport { iterations: 500.0, sent, ..FlowReport::default() };
        let flows = Some(Flows { seconds: 1e-3, span: 1.2e-3, apart: 1e-5, each: vec![flow; 2] });
        let far = FarReport { seconds: 1e-3, bytes: 1000 * size, received: 1000, ..FarReport::default() };
        let report = TrialReport { repeats: 1000, seconds: 1e-3, far, flows, ..TrialReport::default() };
        Trial { report, ..trial(size, 1.0, 1.0) }
    }

    #[test]
    fn several_flows_that_were_read_out_of_buffers_count_at_their_senders_rate() {
        let plan = Plan { pattern: Pattern::Stream, ..Plan::default() };
        let rate = |plan: &Plan, sent: f64| judged(plan, &[of_two(1000, sent)])[0].figures.throughput / 8000.0;
        let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
        near(rate(&plan, 5e4), 1e5);
        near(rate(&plan, 2e5), 1e6);
        near(rate(&plan, 0.0), 1e6);
        near(rate(&Plan { reverse: true, ..plan.clone() }, 5e4), 1e6);
        // Under a shape that both sides were told, whoever sends.
        let decorators = transport::decorate::Decorators {
            shape: Some(transport::decorate::Shape::default()),
            ..Default::default()
        };
        for (reverse, both) in [(true, false), (false, true)] {
            near(rate(&Plan { reverse, both, decorators: decorators.clone(), ..plan.clone() }, 4e5), 8e5);
        }
        let trials = [of_two(1000, 5e4), of_two(2000, 2e5)];
        let warned = drained(&plan, &judged(&plan, &trials)).unwrap();
        assert!(warned.sizes == [1000] && warned.text.contains("10.0 times"), "{warned:?}");
    }

    #[test]
    fn what_was_read_out_of_a_buffer_says_nothing_of_how_long_the_next_takes() {
        let plan = Plan { pattern: Pattern::Stream, ..Plan::default() };
        assert!((figures::took(&plan, &trial(65_536, 5e-3, 1e-4)) - 5e-3).abs() < 1e-12);
        assert!((figures::took(&plan, &trial(65_536, 5e-3, 4.9e-3)) - 4.9e-3).abs() < 1e-12);
    }

    /// Each way carries 100 Mbit/s behind a bucket of 128 KiB, and round trips of small messages never empty it.
    #[test]
    fn a_curve_that_falls_to_its_largest_size_on_a_network_tells_of_a_bucket() {
        let plan = Plan::default();
        let each = |size: u64, bits: f64| trial(size, 2.0 * size as f64 * 8.0 / bits, 0.0);
        let shaped = [each(64, 4e7), each(4096, 1.63e9), each(18_132, 1.89e8), each(1 << 20, 1.01e8)];
        let points = judged(&plan, &shaped);
        let warned = token_bucket(&plan, &points, &[], true).unwrap();
        assert!(warned.code == "bucket" && warned.sizes == [4096, 18_132], "{warned:?}");
        for words in ["1.63 Gbit/s at 4 KiB", "101 Mbit/s at 1 MiB", "token bucket", "twice its rate"] {
            assert!(warned.text.contains(words), "{words}: {warned:?}");
        }
        let once = |fewest: usize| {
            let more = [each(2 << 20, 9.8e7), each(3 << 20, 9.7e7)];
            let mut trials = shaped.to_vec();
            trials.extend(more.into_iter().take(fewest));
            let mut points = judged(&plan, &trials);
            points.iter_mut().filter(|p| p.size >= 1 << 20).for_each(|p| p.figures.rounds = 1);
            token_bucket(&plan, &points, &[], true).map(|w| w.sizes)
        };
        assert_eq!(once(2), Some(vec![4096, 18_132]), "three sizes say together what a look at one can't");
        assert_eq!(once(0), None);
        assert_eq!(token_bucket(&plan, &points, &[], false), None, "nobody shapes what stays on the host");
        let risen = [each(64, 4e7), each(4096, 9e7), each(65_536, 1.2e8), each(1 << 20, 1e8)];
        assert_eq!(token_bucket(&plan, &judged(&plan, &risen), &[], true), None, "a fifth is no bucket");
        let mut lossy = judged(&plan, &shaped);
        lossy.last_mut().unwrap().figures.loss = 0.5;
        assert_eq!(token_bucket(&plan, &lossy, &[], true), None, "lost messages cost throughput without a shaper");
        let mut seen_once = judged(&plan, &shaped);
        seen_once.last_mut().unwrap().figures.rounds = 1;
        assert_eq!(token_bucket(&plan, &seen_once, &[], true), None, "one look may have met a pause");
    }

    /// Long trials of a size that read `throughput` bits a second and take `ratio` times as long as short ones.
    fn long(size: u64, throughput: f64, ratio: f64) -> Sustained {
        Sustained {
            size,
            trials: 2,
            lasted: 0.4,
            shortest: 0.35,
            seconds: size as f64 * 8.0 / throughput,
            throughput,
            ratio,
            low: ratio / 1.05,
            high: ratio * 1.05,
            short_mean: 1.0,
            clock: None,
        }
    }

    #[test]
    fn only_long_trials_tell_a_bucket_from_caches_that_large_messages_do_not_fit_into() {
        let plan = Plan { pattern: Pattern::Stream, ..Plan::default() };
        let told = |kept_up: &[Sustained]| in_long_trials(&plan, kept_up, |size| size == 4096, 1e8);
        let same = long(1, 1e6, 1.0);
        assert_eq!(told(&[]), None);
        assert_eq!(told(&[same.clone(), long(4096, 1.02e8, 16.0)]), Some(true));
        assert_eq!(told(&[same.clone(), long(4096, 1.63e9, 1.0)]), Some(false), "it stays as fast");
        assert_eq!(told(&[same.clone(), long(1 << 20, 1e8, 1.0)]), None, "of no such size");
        assert_eq!(told(&[long(1, 5e5, 2.0), long(4096, 1.1e8, 2.0)]), None, "a quota makes all take longer");
        let boosted = Sustained { clock: Some((4e9, 3e9)), ..long(4096, 1.1e8, 1.3) };
        assert_eq!(told(&[same.clone(), boosted]), None);
        let answered = Plan::default();
        let twice = [same.clone(), long(4096, 1.9e8, 8.0)];
        assert_eq!(in_long_trials(&answered, &twice, |size| size == 4096, 1e8), Some(true), "filled while answered");
        let each = |size: u64, bits: f64| trial(size, 2.0 * size as f64 * 8.0 / bits, 0.0);
        let trials = [each(64, 4e7), each(4096, 1.63e9), each(1 << 20, 1.01e8)];
        let points = judged(&answered, &trials);
        let warned = |kept_up: &[Sustained]| token_bucket(&answered, &points, kept_up, true).map(|w| w.text);
        assert_eq!(warned(&[same.clone(), long(4096, 1.63e9, 1.0)]), None);
        assert!(warned(&[]).unwrap().contains("caches that large messages do not fit into would do the same"));
        let shown = warned(&twice).unwrap();
        assert!(
            shown.contains("likely a token bucket on the way")
                && shown.contains("long trials of the smaller sizes fall to that, too")
                && !shown.contains("caches"),
            "{shown}"
        );
    }

    #[test]
    fn a_path_leaves_the_host_where_its_ends_have_two_addresses() {
        assert!(leaves_the_host(Some("10.77.0.1:34000 to 10.77.0.2:5000")));
        assert!(leaves_the_host(Some("[fd77::1]:34000 to [fd77::2]:5000")));
        assert!(leaves_the_host(Some("10.77.0.1:34000 to 10.77.0.2:5000, MPTCP with 1 subflow")));
        for here in ["127.0.0.1:1 to 127.0.0.1:2", "10.0.0.5:1 to 10.0.0.5:2", "[::1]:1 to [::1]:2", "nowhere"] {
            assert!(!leaves_the_host(Some(here)), "{here}");
        }
        assert!(!leaves_the_host(None));
    }
}
