//! The comparison of the page's runs: the verdicts, and behind each its table.

use maud::{Markup, html};

use super::pieces::{scroll, section as part};
use crate::compare::{Named, table, verdict};
use crate::words;

/// `tcp against tcp --nodelay off`; none where nothing is compared.
pub fn title(all: &[Named]) -> Option<String> {
    let pairs: Vec<String> = all.iter().map(|c| format!("{} against {}", c.first, c.second)).collect();
    (!all.is_empty()).then(|| words::plain(&pairs.join(", ")).replace('\n', " "))
}

/// Which side is which, the verdict of each pair of paths, and the table of its sizes at a click.
pub fn section(all: &[Named]) -> Markup {
    if all.is_empty() {
        return Markup::default();
    }
    part("compared", "Compared", &html! { @for pair in all { (one(pair)) } })
}

fn one(c: &Named) -> Markup {
    html! {
        p.note {
            b { (words::letter(0)) } ": " (words::plain(&c.first)) " \u{a0} " b { (words::letter(1)) } ": " (words::plain(&c.second))
        }
        @for line in verdict(c).lines() { p { (words::plain(line)) } "\n" }
        details { summary { "Each size" } (scroll("Each size", &html! { pre { (table(c, true)) } })) }
    }
}
