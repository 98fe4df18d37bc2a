//! `pipegauge export`.

use anyhow::{Result, bail};
use record::export;

use super::files;
use crate::document::ExportDocument;
use crate::exit::Exit;
use crate::flags::{ExportFlags, ExportFormat};
use crate::out;

/// Writes a run file in another format.
pub fn export(flags: &ExportFlags, json: bool) -> Result<Exit> {
    files::not_an_input(flags.output.as_deref(), std::slice::from_ref(&flags.run))?;
    let mut run = files::read(&flags.run)?;
    if let Some(name) = flags.path.as_ref().filter(|_| flags.format != ExportFormat::Np) {
        files::only(&mut run, name)?;
    }
    let mut contents = Vec::new();
    match flags.format {
        ExportFormat::Np => export::np(&run, files::one_path(&run, flags.path.as_deref())?, &mut contents),
        ExportFormat::Csv => export::csv(&run, &mut contents),
        ExportFormat::Json => export::json(&run, &mut contents),
        ExportFormat::Openmetrics => export::openmetrics(&run, &mut contents),
        ExportFormat::Parquet => export::parquet(&run, &mut contents),
    }?;
    let format = clap::ValueEnum::to_possible_value(&flags.format).map(|v| v.get_name().to_owned()).unwrap_or_default();
    match (&flags.output, json) {
        (Some(file), _) => {
            files::write(file, &contents)?;
            if json {
                out::json(&ExportDocument::written(format, file, contents.len() as u64))?;
            } else {
                out::text(&format!("{}", file.display()))?;
            }
        }
        (None, false) if matches!(flags.format, ExportFormat::Json) => {
            out::text(&out::escaped(String::from_utf8(contents)?))?;
        }
        (None, false) => out::bytes(&contents)?,
        (None, true) => match String::from_utf8(contents) {
            Ok(text) => out::json(&ExportDocument::inline(format, text))?,
            Err(_) => bail!("--json can't hold {format} itself; write it to a file with -o"),
        },
    }
    Ok(Exit::Ok)
}
