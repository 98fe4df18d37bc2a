//! What all pages have in common: their head, with its policy and style, and their foot.

use maud::{Markup, PreEscaped, html};

const STYLE: &str = include_str!("../../assets/report.css");

/// Nothing but what is in the page may run or be shown; a browser then refuses any load.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// The head of a page.
pub fn head(title: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta http-equiv="Content-Security-Policy" content=(POLICY);
            title { (title) }
            style { (PreEscaped(STYLE)) }
        }
    }
}

/// The foot of a page.
pub fn foot() -> Markup {
    html! { footer { "Made by pipegauge. This page loads nothing from anywhere." } }
}
