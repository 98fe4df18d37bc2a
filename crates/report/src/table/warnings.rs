//! What a reader of the figures must know, with causes and remedies.

use measure::event::Warning;
use record::RunFile;

use super::WIDTH;
use crate::text::paragraph;

/// The run's warnings, one paragraph each, with the paths and sizes they concern; an empty string if there are none.
/// How a run was cut off or failed comes first.
pub fn warnings(run: &RunFile) -> String {
    warnings_within(run, WIDTH)
}

/// [`warnings`] in lines of `width` columns, where words allow. A paragraph starts with `! `.
pub fn warnings_within(run: &RunFile, width: usize) -> String {
    let mut out = ends(run, width);
    for warning in &run.warnings {
        paragraph("! ", &format!("{}{}", subject(run, warning), warning.text), width, &mut out);
    }
    out
}

/// How a run was cut off or failed; an empty string where it was not.
pub(super) fn ends(run: &RunFile, width: usize) -> String {
    let mut out = String::new();
    let mut paragraph = |text: &str| paragraph("! ", text, width, &mut out);
    if let Some(cut) = &run.cut {
        paragraph(&format!("The file ends short: {cut}"));
    }
    if let Some(error) = run.end.as_ref().and_then(|e| e.error.as_ref()) {
        paragraph(&format!("The run ended with an error: {error}"));
    }
    out
}

/// `tcp, 8 KiB, 12 KiB: ` or nothing where the warning concerns the whole run.
pub(crate) fn subject(run: &RunFile, warning: &Warning) -> String {
    let path = warning.path.and_then(|n| run.paths.iter().find(|p| p.opened.path == n));
    let mut parts: Vec<String> = path.iter().map(|p| p.opened.name().to_owned()).collect();
    if !warning.sizes.is_empty() {
        parts.push(run.run.plan.pattern.facts().size.several(&warning.sizes, 6));
    }
    if parts.is_empty() { String::new() } else { format!("{}: ", parts.join(", ")) }
}
