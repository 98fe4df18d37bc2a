//! `pipegauge export`.

use std::io::Write;

use anyhow::{Result, bail};
use record::export::{self, ExportError};

use super::files;
use crate::document::ExportDocument;
use crate::exit::Exit;
use crate::flags::{ExportFlags, ExportFormat};
use crate::out;

/// Writes a run file in another format.
pub fn export(flags: &ExportFlags, json: bool) -> Result<Exit> {
    files::not_an_input(flags.output.as_deref(), std::slice::from_ref(&flags.run))?;
    // A gauge is one value, so that OpenMetrics has the figures of all intervals of a soak; the others have a row for each.
    let mut run = match flags.format {
        ExportFormat::Csv | ExportFormat::Json | ExportFormat::Parquet => files::read_rows(&flags.run)?,
        ExportFormat::Np | ExportFormat::Openmetrics => files::read(&flags.run)?,
    };
    if flags.format == ExportFormat::Np && run.run.plan.soaks() {
        bail!(
            "{} is a soak, and NetPIPE's files have a line for each size: export it as csv or json",
            flags.run.display()
        );
    }
    if let Some(name) = flags.path.as_ref().filter(|_| flags.format != ExportFormat::Np) {
        files::only(&mut run, name)?;
    }
    let path = if flags.format == ExportFormat::Np { files::one_path(&run, flags.path.as_deref())? } else { 0 };
    let write = |out: &mut (dyn Write + Send)| match flags.format {
        ExportFormat::Np => export::np(&run, path, out),
        ExportFormat::Csv => export::csv(&run, out),
        ExportFormat::Json => export::json(&run, out),
        ExportFormat::Openmetrics => export::openmetrics(&run, out),
        ExportFormat::Parquet => export::parquet(&run, out),
    };
    let format = clap::ValueEnum::to_possible_value(&flags.format).map(|v| v.get_name().to_owned()).unwrap_or_default();
    if let Some(file) = &flags.output {
        let bytes = files::write_with(file, |out| Ok(write(out)?))?;
        if json {
            out::json(&ExportDocument::written(format, file, bytes))?;
        } else {
            out::text(&format!("{}", file.display()))?;
        }
        return Ok(Exit::Ok);
    }
    if !json && flags.format != ExportFormat::Json {
        let mut failed = None;
        out::through(|out| match write(out) {
            Err(ExportError::Write(e)) => Err(e),
            other => {
                failed = other.err();
                Ok(())
            }
        })?;
        return failed.map_or(Ok(Exit::Ok), |e| Err(e.into()));
    }
    let mut contents = Vec::new();
    write(&mut contents)?;
    match String::from_utf8(contents) {
        Ok(text) if json => out::json(&ExportDocument::inline(format, text))?,
        Ok(text) => out::text(&out::escaped(text))?,
        Err(_) => bail!("--json can't hold {format} itself; write it to a file with -o"),
    }
    Ok(Exit::Ok)
}
