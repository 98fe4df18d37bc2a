//! OpenMetrics text (prometheus.io, OpenMetrics 1.0): for a push to a monitoring system or node_exporter's text files.
//!
//! Written by hand: the client libraries keep labelled gauges in hash maps, and an export must come out in the same order
//! each time.

use std::io::{BufWriter, Write};

use units::Kind as Unit;

use super::ExportError;
use crate::RunFile;
use crate::columns::{COLUMNS, Cell, Row, column, rows};

/// Writes all paths as OpenMetrics text, which ends with `# EOF`. Points have the labels `path`, `transport`, `pattern`,
/// `size_bytes`, `time` and `label`; `pipegauge_run_info` says which run on which hosts. There are no timestamps: a scraper gives the
/// sample its own, and node_exporter refuses text files that have any.
pub fn openmetrics(run: &RunFile, out: &mut dyn Write) -> Result<(), ExportError> {
    let mut out = BufWriter::new(out);
    let (head, near) = (&run.run, &run.run.near);
    writeln!(out, "# TYPE pipegauge_run info\n# HELP pipegauge_run The run that the figures are from.")?;
    writeln!(
        out,
        "pipegauge_run_info{{schema=\"{}\",version=\"{}\",started=\"{}\",near=\"{}\",kernel=\"{}\",complete=\"{}\"}} 1",
        escape(&head.schema),
        escape(&head.version),
        escape(&head.started),
        escape(&near.hostname),
        escape(&near.kernel),
        run.cut.is_none()
    )?;
    for column in COLUMNS {
        let Some(name) = column.gauge else { continue };
        writeln!(out, "# TYPE {name} gauge")?;
        if let Some(unit) = unit(column.unit) {
            writeln!(out, "# UNIT {name} {unit}")?;
        }
        writeln!(out, "# HELP {name} {}", escape(column.help.trim()))?;
        // Computed again for each family: the rows of a million points would fill the memory.
        for row in rows(run) {
            if let Some(v) = column.of(&row).number() {
                let labels = labels(&row);
                // Debug prints the shortest digits that read back as the same number, with an exponent where that is shorter.
                writeln!(out, "{name}{{{labels}}} {v:?}")?;
            }
        }
    }
    writeln!(out, "# EOF")?;
    Ok(out.flush()?)
}

/// The unit in OpenMetrics, in which a family's name ends.
fn unit(unit: Option<Unit>) -> Option<&'static str> {
    match unit? {
        Unit::Seconds => Some("seconds"),
        Unit::BitsPerSecond => Some("bits_per_second"),
        Unit::Bytes => Some("bytes"),
        Unit::Share => Some("ratio"),
        Unit::SecondsPerByte | Unit::PerSecond | Unit::Quips => None,
    }
}

/// Columns that identify the point of a sample.
const LABELS: [&str; 6] = ["path", "transport", "pattern", "size_bytes", "time", "label"];

fn labels(row: &Row) -> String {
    let of = |name: &str| match column(name).map_or(Cell::Absent, |c| c.of(row)) {
        Cell::Word(word) => escape(&word),
        Cell::Count(n) => n.to_string(),
        _ => String::new(),
    };
    LABELS.map(|name| format!("{name}=\"{}\"", of(name))).join(",")
}

/// Escapes backslash, quote and line feed in label values and help texts.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use std::collections::BTreeSet;

    fn text() -> String {
        let mut out = Vec::new();
        openmetrics(&sample::file(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// The rules of the specification that this text could break: metadata before samples, families not interleaved, a
    /// unit is the name's suffix, samples belong to the family above them, no sample twice, EOF last and once.
    fn check(text: &str) -> Result<usize, String> {
        let mut families = BTreeSet::new();
        let mut family = String::new();
        let mut seen = BTreeSet::new();
        let body = text.strip_suffix("# EOF\n").ok_or("no EOF at the end")?;
        for line in body.lines() {
            if let Some(meta) = line.strip_prefix("# ") {
                let mut words = meta.splitn(3, ' ');
                let (what, name, rest) = (words.next().unwrap(), words.next().ok_or(line)?, words.next().ok_or(line)?);
                match what {
                    "TYPE" => {
                        if !families.insert(name.to_owned()) {
                            return Err(format!("family twice: {name}"));
                        }
                        family = name.to_owned();
                    }
                    "UNIT" if name == family && name.ends_with(&format!("_{rest}")) => {}
                    "HELP" if name == family => {}
                    _ => return Err(format!("out of place: {line}")),
                }
                continue;
            }
            let (series, value) = line.rsplit_once(' ').ok_or(line)?;
            let (name, labels) = series.split_once('{').ok_or(line)?;
            let wanted = if family == "pipegauge_run" { "pipegauge_run_info" } else { &family };
            if name != wanted || !labels.ends_with("\"}") {
                return Err(format!("not of {family}: {line}"));
            }
            value.parse::<f64>().map_err(|e| format!("{line}: {e}"))?;
            if !seen.insert(series.to_owned()) {
                return Err(format!("twice: {series}"));
            }
        }
        Ok(seen.len())
    }

    #[test]
    fn keeps_the_rules_of_the_format() {
        let text = text();
        // 8 points in 19 gauges, both ends of the interval of the 2 that have one, percentiles of the 4 small ones, the info.
        assert_eq!(check(&text), Ok(8 * 19 + 2 * 2 + 4 + 1), "{text}");
        assert!(check(&text.replace("# EOF\n", "")).is_err());
        assert!(
            check(&text.replacen("# UNIT pipegauge_latency_seconds seconds", "# UNIT pipegauge_trials seconds", 1))
                .is_err()
        );
    }

    #[test]
    fn names_escape_what_would_end_a_label() {
        assert!(text().contains(r#"near="test \"host\"\\one""#), "{}", text());
        assert_eq!(escape("a\nb"), "a\\nb");
    }

    #[test]
    fn a_figure_is_the_points_own() {
        let run = sample::file();
        let p = &run.paths[0].points[2];
        let line = format!(
            "pipegauge_latency_seconds{{path=\"0\",transport=\"tcp\",pattern=\"ping-pong\",size_bytes=\"1536\",time=\"half-round-trip\",label=\"tcp\"}} {:?}\n",
            p.figures.median
        );
        assert!(text().contains(&line), "{line}");
    }
}
