//! A comparison as JUnit XML: each limit a test case, so that a build server shows which limit was exceeded.

use super::{Named, Outcome, verdict};
use crate::svg::xml::escape;

/// One test suite a comparison; without limits it holds one case that always passes and has the verdict. A limit that could not be judged is
/// a skipped case.
pub fn junit(all: &[Named]) -> String {
    let failed = |named: &Named| named.limits.iter().filter(|g| g.failed).count();
    let skipped = |named: &Named| named.limits.iter().filter(|g| !g.judged).count();
    let total: usize = all.iter().map(|n| n.limits.len().max(1)).sum();
    let failures: usize = all.iter().map(failed).sum();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"pipegauge compare\" tests=\"{total}\" failures=\"{failures}\">\n"
    );
    for named in all {
        let suite = escape(&format!("{} against {}", named.second, named.first));
        text.push_str(&format!(
            "  <testsuite name=\"{suite}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">\n",
            named.limits.len().max(1),
            failed(named),
            skipped(named)
        ));
        if named.limits.is_empty() {
            text.push_str(&format!("    <testcase name=\"compared\" classname=\"{suite}\"/>\n"));
        }
        for limit in &named.limits {
            let name = escape(&limit.limit);
            let element = match limit.outcome() {
                Outcome::Passed => {
                    text.push_str(&format!("    <testcase name=\"{name}\" classname=\"{suite}\"/>\n"));
                    continue;
                }
                Outcome::NotJudged => "skipped",
                Outcome::Failed => "failure",
            };
            let found = escape(&limit.found);
            text.push_str(&format!(
                "    <testcase name=\"{name}\" classname=\"{suite}\">\n      <{element} message=\"{found}\"/>\n    </testcase>\n"
            ));
        }
        text.push_str(&format!("    <system-out>{}</system-out>\n  </testsuite>\n", escape(&verdict(named))));
    }
    text.push_str("</testsuites>\n");
    text
}
