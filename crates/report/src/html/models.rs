//! The table of fitted models: figures of `table::fits`, in plain HTML.

use model::Estimate;
use units::{Bytes, Kind, Seconds, Share};

use super::sections::estimate;
use crate::svg::xml::escape;
use crate::table::startup_words;
use crate::words;
use record::Analysis;

/// A line's start-up time: what can't be told from 0 is no figure.
fn startup(e: Estimate) -> String {
    startup_words(e).map_or_else(|| estimate(e, Kind::Seconds), |words| escape(&words.replace(" us", " µs")))
}

/// Latency line, bandwidth curve and saturation point of each path, and what does not fit; nothing where nothing was fitted.
pub fn table(runs: &[&Analysis<'_>]) -> String {
    let mut rows = String::new();
    let mut notes = String::new();
    for (r, run) in runs.iter().enumerate() {
        for (index, path) in run.paths.iter().enumerate() {
            let Some(fits) = run.fits(index) else { continue };
            let name = path.opened.name();
            let name = escape(&if runs.len() > 1 { format!("{} {name}", words::letter(r)) } else { name.to_owned() });
            let cell = |e: Option<Estimate>, kind| e.map_or("-".into(), |e| estimate(e, kind));
            let all = fits.latency.all.as_ref();
            let bandwidth = fits.bandwidth.as_ref();
            let misfit = |m: Option<&model::Misfit>| {
                m.map_or("-".into(), |m| {
                    let wrong = if m.systematic { "<small>the shape is wrong</small>" } else { "" };
                    format!("{}{wrong}", escape(&Share(m.typical).to_string()))
                })
            };
            let cells = [
                cell(all.map(|l| l.per_byte), Kind::SecondsPerByte),
                all.map_or("-".into(), |l| startup(l.t0)),
                misfit(all.map(|l| &l.misfit)),
                cell(bandwidth.map(|b| b.r_max), Kind::BitsPerSecond),
                cell(bandwidth.map(|b| b.n_half), Kind::Bytes),
                misfit(bandwidth.map(|b| &b.misfit)),
                cell(fits.saturation.as_ref().map(|s| s.point), Kind::Bytes),
            ];
            let cells: String = cells.iter().map(|c| format!("<td>{c}</td>")).collect();
            rows.push_str(&format!("<tr><th scope=\"row\">{name}</th>{cells}</tr>\n"));
            for warning in &fits.warnings {
                notes.push_str(&format!("<li>{name}: {}</li>\n", escape(warning)));
            }
            for piece in &fits.latency.pieces {
                notes.push_str(&format!(
                    "<li>{name}, {} to {}: {} + {}</li>\n",
                    Bytes(piece.from),
                    Bytes(piece.to),
                    if piece.t0 > 0.0 {
                        escape(&Seconds(piece.t0).to_string()).replace(" us", " µs")
                    } else {
                        "a start-up time not resolved".into()
                    },
                    escape(&crate::table::cost(piece.per_byte))
                ));
            }
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let heads: String = ["Path", "b, per byte", "t0", "Misfit", "Rmax", "n½", "Misfit", "Saturation point"]
        .map(|head| format!("<th scope=\"col\">{head}</th>"))
        .concat();
    format!(
        "<section aria-labelledby=\"models\"><h2 id=\"models\">What models fit</h2>\n<p class=\"note\">Latency line t0 + b B and \
         bandwidth curve Rmax B / (n½ + B) over messages of B bytes; the saturation point is the size beyond which time grows \
         with size. The button Fits draws them.</p>\n{scroll}<table data-copy><thead><tr>{heads}</tr></thead>\n\
         <tbody>\n{rows}</tbody></table></div>\n<details><summary>Pieces and misfits</summary><ul class=\"note\">\n{notes}</ul>\
         </details></section>\n",
        scroll = super::sections::scroll("What models fit")
    )
}
