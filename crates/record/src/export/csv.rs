//! CSV by RFC 4180: for spreadsheets and data frames.

use std::io::Write;

use super::ExportError;
use crate::RunFile;
use crate::columns::{COLUMNS, Row, rows};

/// Writes a header and a line for each point of all paths. Columns are those of [`COLUMNS`], whose names carry their units; a figure that
/// was not measured is an empty field. Lines end with CR LF, as in RFC 4180. Columns may be added at the end in later versions.
pub fn csv(run: &RunFile, out: &mut dyn Write) -> Result<(), ExportError> {
    let failed = |e: csv::Error| match e.into_kind() {
        csv::ErrorKind::Io(e) => ExportError::Write(e),
        other => ExportError::Form { form: "csv", what: format!("{other:?}") },
    };
    let mut csv = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).has_headers(false).from_writer(out);
    // Written separately, so that a run without points has a header, too.
    csv.write_record(COLUMNS.iter().map(|c| c.name)).map_err(failed)?;
    for mut row in rows(run) {
        row.label = no_formula(row.label);
        csv.serialize::<Row>(row).map_err(failed)?;
    }
    Ok(csv.flush()?)
}

/// The text for a spreadsheet that takes fields with such a beginning for a formula: behind an apostrophe, which it takes for text. Files come
/// from strangers, too.
fn no_formula(text: String) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn reads_back_as_the_same_rows() {
        let run = sample::file();
        let mut text = Vec::new();
        csv(&run, &mut text).unwrap();
        let back: Vec<Row> = ::csv::Reader::from_reader(&text[..]).deserialize().map(Result::unwrap).collect();
        let want: Vec<Row> = rows(&run).collect();
        assert_eq!(back.len(), 8);
        assert_eq!(back, want);
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.matches("\r\n").count(), 9, "each line ends with CR LF");
        assert_eq!(text.matches('\n').count(), 9);
        assert!(
            text.contains("\r\n1,unix,ping-pong,98304,half-round-trip,,"),
            "a point that has not ended has no reason"
        );
    }

    #[test]
    fn a_label_is_no_formula_of_a_spreadsheet() {
        let mut run = sample::file();
        for (label, field) in [("=cmd|1!A0", ",'=cmd|1!A0,"), ("@SUM(1)", ",'@SUM(1),"), ("a=b", ",a=b,")] {
            run.paths[0].opened.label = Some(label.to_owned());
            let mut text = Vec::new();
            csv(&run, &mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            assert!(text.contains(field) || text.contains(&field[..field.len() - 1]), "{text}");
        }
    }

    #[test]
    fn a_run_without_points_is_its_header() {
        let mut run = sample::file();
        run.paths.clear();
        let mut text = Vec::new();
        csv(&run, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.starts_with("path,transport,pattern,size_bytes,") && text.lines().count() == 1, "{text}");
    }

    #[test]
    fn a_full_disk_is_said() {
        let mut full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let said = csv(&sample::file(), &mut full).unwrap_err().to_string();
        assert!(said.contains("No space left"), "{said}");
    }
}
