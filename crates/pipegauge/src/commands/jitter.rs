//! `pipegauge jitter`.

use anyhow::Result;
use record::{Analysis, PathRun};
use report::table;

use super::files;
use crate::document::{JitterDocument, JitterOf, PercentilesAt};
use crate::exit::Exit;
use crate::flags::JitterFlags;
use crate::out;

/// Says how unsteady the paths of a run are.
pub fn jitter(flags: &JitterFlags, json: bool) -> Result<Exit> {
    let mut run = files::read_messages(&flags.run)?;
    if let Some(name) = &flags.path {
        files::only(&mut run, name)?;
    }
    let run = Analysis::of(&run);
    if json {
        let paths = run.paths.iter().enumerate().map(|(index, path)| JitterOf {
            path: path.opened.name().to_owned(),
            jitter: run.jitter(index).clone(),
            percentiles: percentiles(path),
        });
        out::json(&JitterDocument::new(&flags.run, paths.collect()))?;
    } else {
        let texts = (0..run.paths.len()).map(|path| table::jitter(&run, path, flags.all));
        let text = texts.collect::<Vec<_>>().join("\n");
        out::text(&if text.is_empty() {
            "The run has no path: nothing was measured.".to_owned()
        } else {
            out::fitted(&text)
        })?;
    }
    Ok(Exit::Ok)
}

fn percentiles(path: &PathRun) -> Vec<PercentilesAt> {
    let at = |p: &record::Point| {
        p.figures.percentiles.map(|percentiles| PercentilesAt {
            size: p.size,
            iterations: p.figures.iterations,
            percentiles,
        })
    };
    path.points.iter().filter_map(at).collect()
}
