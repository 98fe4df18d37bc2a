//! What comparing the page's runs says: the verdicts, and behind each its table.

use crate::compare::{Named, table, verdict};
use crate::svg::xml::escape;
use crate::words;

/// `tcp against tcp --nodelay off`; none where nothing is compared.
pub fn title(all: &[Named]) -> Option<String> {
    let pairs: Vec<String> = all.iter().map(|c| format!("{} against {}", c.first, c.second)).collect();
    (!all.is_empty()).then(|| words::plain(&pairs.join(", ")).replace('\n', " "))
}

/// Which side is which, the verdict of each pair of paths, and the table of its sizes at a click.
pub fn section(all: &[Named]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let one = |c: &Named| {
        let (a, b) = (words::letter(0), words::letter(1));
        let said = verdict(c);
        let lines: String = said.lines().map(|line| format!("<p>{}</p>\n", escape(&words::plain(line)))).collect();
        format!(
            "<p class=\"note\"><b>{a}</b>: {} &nbsp; <b>{b}</b>: {}</p>\n{lines}\
             <details><summary>Each size</summary>{scroll}\
             <pre>{}</pre></div></details>\n",
            escape(&words::plain(&c.first)),
            escape(&words::plain(&c.second)),
            escape(&table(c)),
            scroll = super::sections::scroll("Each size")
        )
    };
    format!(
        "<section aria-labelledby=\"compared\"><h2 id=\"compared\">Compared</h2>\n{}</section>\n",
        all.iter().map(one).collect::<String>()
    )
}
