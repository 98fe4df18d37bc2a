//! The kernel's figures of a path's TCP connections, in a sentence.

use record::{Analysis, PathRun};
use units::{BitRate, Seconds, thousands};

use super::WIDTH;
use crate::tcp::trials;
use crate::text::paragraph;

/// A line for each path with such figures; empty for a run that has none.
pub fn tcp(run: &Analysis<'_>) -> String {
    let mut text = String::new();
    run.paths.iter().filter_map(line).for_each(|line| paragraph("", &line, WIDTH, &mut text));
    text
}

/// The medians over a path's trials and their range.
pub(crate) fn line(path: &PathRun) -> Option<String> {
    let all: Vec<_> = trials(path).map(|(_, tcp)| tcp).collect();
    let told = |of: fn(&measure::Tcp) -> u64, print: fn(f64) -> String| {
        let values: Vec<f64> = all.iter().map(|tcp| of(tcp) as f64).collect();
        let [low, high] = [values.iter().copied().fold(f64::MAX, f64::min), values.iter().copied().fold(0.0, f64::max)];
        format!("{} ({} to {})", print(stats::median(&values)), print(low), print(high))
    };
    let again = all.iter().fold(0, |sum: u64, tcp| sum.saturating_add(tcp.retransmits));
    (!all.is_empty()).then(|| {
        format!(
            "{}, TCP's own figures at the end of each trial: round-trip time {}, congestion window {} segments, delivery of \
             the last burst {}; {} segments sent again.",
            path.opened.name(),
            told(|t| t.rtt_us, |us| Seconds(us * 1e-6).to_string()),
            told(|t| t.window, |n| thousands(n.round() as u64)),
            told(|t| t.delivery_rate, |bytes| BitRate(bytes * 8.0).to_string()),
            thousands(again)
        )
    })
}

#[cfg(test)]
mod tests {
    use measure::Tcp;

    use super::*;

    #[test]
    fn a_path_says_what_its_connections_told_and_others_say_nothing() {
        let mut run = crate::sample::run(1);
        assert_eq!(tcp(&Analysis::of(&run)), "");
        for (i, trial) in run.paths[3].points[0].trials.plain().iter_mut().filter(|t| !t.warmup).enumerate() {
            let i = i as u64;
            trial.report.tcp = Some(Tcp { retransmits: i, rtt_us: 40 + i, window: 10 + i, delivery_rate: 1_000_000 });
        }
        let text = tcp(&Analysis::of(&run)).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.starts_with("tcp, TCP's own figures") && text.contains("(40"), "{text}");
        assert!(text.contains("(10 to 1") && text.contains(" Mbit/s") && !text.contains("; 0 segments"), "{text}");
    }
}
