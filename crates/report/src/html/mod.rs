//! One page that needs nothing else: it opens from disk, loads nothing from anywhere, and carries the run's data.
//!
//! Figures, warnings and environments are plain HTML written here, so that the page says what matters without its script
//! too. The script (built from `web/`) draws the linked graphs and the table of points from the data in the page.

mod columns;
mod compared;
mod data;
mod fitted;
mod models;
mod raw;
mod sections;
mod trials;

use record::{Analysis, RunFile};

use crate::compare::Named;
use crate::curve::Series;
use crate::graph::Graph;
use crate::svg::{self, xml::escape};
use crate::words;

const SCRIPT: &str = include_str!("../../assets/report.js");
const STYLE: &str = include_str!("../../assets/report.css");

/// Nothing but what is in the page may run or be shown; a browser then refuses any load.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// The page for one or several runs.
///
/// Names, texts and paths from the run files are untrusted: they are escaped wherever they stand.
pub fn page(runs: &[&Analysis<'_>]) -> String {
    of(runs, &crate::curve::series(runs), &[])
}

/// The page for the two sides of one run and what comparing them says (`compared`, a comparison for each path), as [`page`].
pub fn versus(runs: &[&Analysis<'_>], compared: &[Named]) -> String {
    of(runs, &crate::curve::series(runs), compared)
}

/// The page of these runs, their curves, which are those of [`crate::curve::series`] but for what is drawn over them, and
/// comparisons of their paths, if any.
pub fn of(runs: &[&Analysis<'_>], series: &[Series], compared: &[Named]) -> String {
    Analysis::work_out(runs);
    let files: Vec<&RunFile> = runs.iter().map(|run| run.run()).collect();
    let raw: Vec<Vec<String>> = runs.iter().map(|run| raw::parts(run)).collect();
    let parts: Vec<usize> = raw.iter().map(Vec::len).collect();
    let title = compared::title(compared).unwrap_or_else(|| title(&files));
    let mut out = String::with_capacity(1 << 16);
    let mut put = |piece: &str| out.push_str(piece);
    put("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    put("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    put(&format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n"));
    put(&format!("<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n", escape(&title)));
    put("<a class=\"skip\" href=\"#summary\">Skip to the figures</a>\n");
    put(&format!("<header><div><h1>{}</h1>\n", escape(&title)));
    for (i, run) in runs.iter().enumerate() {
        let letter = if runs.len() > 1 { format!("<b>{}</b>: ", words::letter(i)) } else { String::new() };
        put(&format!("<p class=\"sub\">{letter}{}</p>\n", escape(&words::run_line(run))));
    }
    put("</div><div id=\"theme\"></div></header>\n<main>\n");
    // What a run at several rates is made for comes first.
    put(&sections::rates(runs));
    put("<h2 class=\"aside\">Graphs</h2>\n");
    let picture = svg::draw(runs, Graph::most_telling(&files));
    let soak = files.iter().any(|run| run.run.plan.soaks());
    if soak {
        // The script draws curves over sizes, of which a soak has none; it adds each interval and its messages' times.
        put(&format!(
            "<div class=\"picture\">{picture}</div>\n<div hidden><div id=\"tools\"></div></div>\n<div id=\"graphs\"></div>\n"
        ));
    } else {
        put(&format!("<div id=\"tools\"></div>\n<div id=\"graphs\"><noscript>{picture}</noscript></div>\n"));
    }
    put(&compared::section(compared));
    put(&sections::load(runs));
    put(&if soak { sections::soak(runs) } else { sections::summary(runs) });
    put(&sections::warnings(&files));
    put("<h2 class=\"aside\">More graphs</h2>\n<div id=\"more\"></div>\n");
    put(&sections::cpu(runs));
    if !soak {
        put(&models::table(runs));
    }
    put("<section aria-labelledby=\"points-title\" id=\"points\"><h2 id=\"points-title\">Points</h2>");
    put(
        "<noscript><p>The table of points needs the page's script; <code>pipegauge show RUN</code> prints it.</p></noscript>",
    );
    put("</section>\n");
    put(&sections::environment(&files));
    put(&sections::raw(&files));
    put("</main>\n<footer>Made by pipegauge. This page loads nothing from anywhere.</footer>\n");
    put("<script type=\"application/json\" id=\"data\">");
    put(&script_safe(&data::json(runs, series, &parts)));
    put("</script>\n");
    for (i, parts) in raw.iter().enumerate() {
        for (k, part) in parts.iter().enumerate() {
            put(&format!("<script type=\"application/gzip\" id=\"raw-{i}-{k}\">{part}</script>\n"));
        }
    }
    put(&format!("<script>\n{SCRIPT}</script>\n</body>\n</html>\n"));
    out
}

/// `How memcpy, shm and tcp perform on bench-1`.
fn title(runs: &[&RunFile]) -> String {
    let mut names: Vec<&str> = Vec::new();
    let mut hosts: Vec<String> = Vec::new();
    for run in runs {
        for path in &run.paths {
            let name = path.opened.name();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let host = words::hosts(run);
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    let list = match names.as_slice() {
        [] => return "A run without paths".to_owned(),
        [one] => format!("{one} performs"),
        [most @ .., last] => format!("{} and {last} perform", most.join(", ")),
    };
    match hosts.as_slice() {
        [host] => format!("How {list} on {host}"),
        _ => format!("How {list}"),
    }
}

/// JSON that can stand inside a script element: no character of it can end the element or open a comment. In JSON these
/// characters occur in strings only, where an escape means the same.
fn script_safe(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + 64);
    for c in json.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests;
