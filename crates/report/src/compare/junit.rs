//! A comparison as JUnit XML: each gate a test case, so that a build server shows which limit was passed.

use super::{Named, verdict};
use crate::svg::xml::escape;

/// One test suite a comparison; without gates it holds one case that always passes and says the verdict.
pub fn junit(all: &[Named]) -> String {
    let failed = |named: &Named| named.gates.iter().filter(|g| g.failed).count();
    let total: usize = all.iter().map(|n| n.gates.len().max(1)).sum();
    let failures: usize = all.iter().map(failed).sum();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"pipegauge compare\" tests=\"{total}\" failures=\"{failures}\">\n"
    );
    for named in all {
        let suite = escape(&format!("{} against {}", named.second, named.first));
        text.push_str(&format!(
            "  <testsuite name=\"{suite}\" tests=\"{}\" failures=\"{}\">\n",
            named.gates.len().max(1),
            failed(named)
        ));
        if named.gates.is_empty() {
            text.push_str(&format!("    <testcase name=\"compared\" classname=\"{suite}\"/>\n"));
        }
        for gate in &named.gates {
            let name = escape(&gate.limit);
            if gate.failed {
                let found = escape(&gate.found);
                text.push_str(&format!(
                    "    <testcase name=\"{name}\" classname=\"{suite}\">\n      <failure message=\"{found}\"/>\n    </testcase>\n"
                ));
            } else {
                text.push_str(&format!("    <testcase name=\"{name}\" classname=\"{suite}\"/>\n"));
            }
        }
        text.push_str(&format!("    <system-out>{}</system-out>\n  </testsuite>\n", escape(&verdict(named))));
    }
    text.push_str("</testsuites>\n");
    text
}
