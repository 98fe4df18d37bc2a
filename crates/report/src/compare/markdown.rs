//! A comparison as Markdown, for a build's summary page or a comment on a change.

use std::fmt::Write;

use super::ratios::interval;
use super::sizes::{about, ratio_of, time};
use super::{Named, Outcome, verdict};
use crate::words::plain;

/// Most sizes of the table: a summary is for reading, not for looking up.
const ROWS: usize = 24;

/// Verdicts, limits, a table of sizes spread over the range, and what differs in the circumstances.
pub fn markdown(all: &[Named]) -> String {
    let mut text = String::from("## pipegauge compare\n");
    for named in all {
        let c = &named.comparison;
        let _ = writeln!(
            text,
            "\n### {} against {}\n\n{}\n",
            cell(&named.second),
            cell(&named.first),
            cell(&verdict(named))
        );
        for limit in &named.limits {
            let mark = match limit.outcome() {
                Outcome::Passed => "passed",
                Outcome::Failed => "**failed**",
                Outcome::NotJudged => "**not judged**",
            };
            let _ = writeln!(text, "- `{}`: {mark}: {}", limit.limit, cell(&limit.found));
        }
        let _ = writeln!(
            text,
            "\n| {} | {} | {} | {} \\[95%\\] | significant |",
            named.sizes(),
            cell(&named.first),
            cell(&named.second),
            ratio_of(c)
        );
        text.push_str("|---:|---:|---:|---:|---|\n");
        let step = c.sizes.len().div_ceil(ROWS).max(1);
        for s in c.sizes.iter().step_by(step) {
            let mark = if s.significant { "yes" } else { "" };
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {mark} |",
                named.size(s.size),
                time(s.first, s.first_interpolated),
                time(s.second, s.second_interpolated),
                if c.paired.is_some_and(|p| p.rounds == 0) { "-".to_owned() } else { cell(&interval(s.ratio)) }
            );
        }
        if step > 1 {
            let _ = writeln!(text, "\nEvery {step}th of {} sizes.", c.sizes.len());
        }
        let about = about(c);
        if !about.is_empty() {
            let _ = writeln!(text, "\n{}", about.trim_end());
        }
        if !named.differences.is_empty() {
            text.push_str("\nDifferent circumstances:\n\n");
            for d in &named.differences {
                let _ = writeln!(text, "- {}: {} / {}", cell(&d.words()), cell(&d.first), cell(&d.second));
            }
        }
    }
    text
}

/// Text from a file, as a cell: no line ends, no column ends, no markup.
fn cell(text: &str) -> String {
    let mut out = String::new();
    for c in plain(text).chars() {
        match c {
            '\n' => out.push(' '),
            '|' | '<' | '>' | '`' | '*' | '_' | '[' | ']' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_from_files_stays_text() {
        assert_eq!(cell("a|b\n<script>"), "a\\|b \\<script\\>");
    }
}
