//! Parquet: a row a trial, for data frames and query engines.

use std::borrow::Cow;
use std::io::Write;
use std::sync::Arc;

use measure::event::Trial;
use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type as SchemaType;

use super::ExportError;
use crate::RunFile;
use crate::columns::{COLUMNS, Cell, Column, Row, Type};

/// A trial beside its point. A point without trials (an import that kept none) is one row without a trial.
struct Line<'a> {
    row: &'a Row,
    trial: Option<&'a Trial>,
}

/// A trial's own columns.
type Of = fn(&Trial) -> Option<Cell>;

fn count(n: impl Into<u64>) -> Option<Cell> {
    Some(Cell::Count(n.into()))
}

fn number(v: f64) -> Option<Cell> {
    Some(Cell::Number(v))
}

/// A trial's place and report.
const TRIAL: [(&str, Type, Of); 22] = [
    ("block", Type::Count, |t| count(t.round)),
    ("at_s", Type::Number, |t| number(t.at)),
    ("response_bytes", Type::Count, |t| count(t.response)),
    ("burst", Type::Count, |t| count(t.burst)),
    ("warmup", Type::Flag, |t| Some(Cell::Flag(t.warmup))),
    ("repeats", Type::Count, |t| count(t.report.repeats)),
    ("seconds", Type::Number, |t| number(t.report.seconds)),
    ("iteration_median_s", Type::Number, |t| number(t.report.median)),
    ("iteration_min_s", Type::Number, |t| number(t.report.min)),
    ("iteration_max_s", Type::Number, |t| number(t.report.max)),
    ("late", Type::Count, |t| count(t.report.late)),
    ("lost", Type::Count, |t| count(t.report.lost)),
    ("far_seconds", Type::Number, |t| number(t.report.far.seconds)),
    ("far_bytes", Type::Count, |t| count(t.report.far.bytes)),
    ("far_received", Type::Count, |t| count(t.report.far.received)),
    ("far_lost", Type::Count, |t| count(t.report.far.lost)),
    ("far_reordered", Type::Count, |t| count(t.report.far.reordered)),
    ("near_reordered", Type::Count, |t| count(t.report.reordered)),
    ("near_duplicated", Type::Count, |t| count(t.report.duplicated)),
    ("far_duplicated", Type::Count, |t| count(t.report.far.duplicated)),
    ("bounds_low", Type::Count, |t| t.report.bounds.and_then(|b| count(b.0))),
    ("bounds_high", Type::Count, |t| t.report.bounds.and_then(|b| count(b.1))),
];

/// Where a column's values come from.
#[derive(Clone, Copy)]
enum Source {
    Point(&'static Column),
    Trial(Of),
}

impl Source {
    fn cell(self, line: &Line) -> Cell {
        match self {
            Source::Point(column) => column.of(line.row),
            Source::Trial(of) => line.trial.and_then(of).unwrap_or(Cell::Absent),
        }
    }
}

/// Columns that identify a trial; the point's other columns follow the trial's own.
const PLACE: usize = 5;

/// The columns in order: those that identify the trial, its own, then those of its point, `point_...`.
fn columns() -> Vec<(String, Type, Source)> {
    let (place, point) = COLUMNS.split_at(PLACE);
    let place = place.iter().map(|c| (c.name.to_owned(), c.kind, Source::Point(c)));
    let trial = TRIAL.iter().map(|(name, kind, of)| ((*name).to_owned(), *kind, Source::Trial(*of)));
    let point = point.iter().map(|c| (format!("point_{}", c.name), c.kind, Source::Point(c)));
    place.chain(trial).chain(point).collect()
}

/// Rows of one row group: bounds the memory that a column takes while it is encoded.
const GROUP: usize = 1 << 16;

pub(super) fn parquet(run: &RunFile, out: &mut (dyn Write + Send)) -> Result<(), ExportError> {
    encode(run, &mut *out).map_err(|e| ExportError::Form { form: "parquet", what: e.to_string() })?;
    Ok(out.flush()?)
}

fn encode(run: &RunFile, out: &mut (dyn Write + Send)) -> Result<(), ParquetError> {
    let columns = columns();
    let fields = columns.iter().map(|(name, kind, _)| field(name, *kind)).collect::<Result<Vec<_>, _>>()?;
    let schema = Arc::new(SchemaType::group_type_builder("trial").with_fields(fields).build()?);
    let header = serde_json::to_string(&run.run).map_err(|e| ParquetError::External(Box::new(e)))?;
    let properties = WriterProperties::builder()
        .set_key_value_metadata(Some(vec![KeyValue::new("pipegauge.run".to_owned(), header)]))
        .set_created_by(concat!("pipegauge ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let mut file = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
    let mut points = run.paths.iter().flat_map(|path| path.points.iter().map(move |p| (path, p))).peekable();
    while points.peek().is_some() {
        // A group at a time, so that memory holds the rows of one group only.
        let mut group: Vec<(Row, Cow<'_, [Trial]>)> = Vec::new();
        let mut rows = 0;
        while let Some((path, point)) = points.next_if(|_| rows < GROUP) {
            rows += point.trials.len().max(1);
            group.push((Row::of(run, path, point), point.trials.all()));
        }
        let lines: Vec<Line> = group
            .iter()
            .flat_map(|(row, trials)| {
                let alone = trials.is_empty().then_some(Line { row, trial: None });
                trials.iter().map(move |t| Line { row, trial: Some(t) }).chain(alone)
            })
            .collect();
        let mut group = file.next_row_group()?;
        for (_, kind, from) in &columns {
            let cells = lines.iter().map(|line| from.cell(line));
            match kind {
                // Parquet stores unsigned numbers in its signed type; the column's annotation says which they are.
                Type::Count => put::<Int64Type, _>(&mut group, cells.map(|c| c.count().map(|n| n as i64)))?,
                Type::Number => put::<DoubleType, _>(&mut group, cells.map(|c| c.number()))?,
                Type::Flag => put::<BoolType, _>(&mut group, cells.map(|c| c.flag()))?,
                Type::Word => {
                    put::<ByteArrayType, _>(
                        &mut group,
                        cells.map(|c| c.word().map(|w| ByteArray::from(w.into_bytes()))),
                    )?;
                }
            }
        }
        group.close()?;
    }
    file.close().map(drop)
}

fn field(name: &str, kind: Type) -> Result<Arc<SchemaType>, ParquetError> {
    let (physical, converted) = match kind {
        Type::Count => (Physical::INT64, ConvertedType::UINT_64),
        Type::Number => (Physical::DOUBLE, ConvertedType::NONE),
        Type::Flag => (Physical::BOOLEAN, ConvertedType::NONE),
        Type::Word => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
    };
    let field = SchemaType::primitive_type_builder(name, physical).with_converted_type(converted);
    Ok(Arc::new(field.with_repetition(Repetition::OPTIONAL).build()?))
}

/// Writes the group's next column: the values that are there, and for each row whether it has one.
fn put<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let mut present = Vec::new();
    let mut defined = Vec::new();
    for value in values {
        defined.push(i16::from(value.is_some()));
        present.extend(value);
    }
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("more columns than the schema has".into()));
    };
    column.typed::<T>().write_batch(&present, Some(&defined), None)?;
    column.close()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    #[test]
    fn each_trial_is_a_row_with_its_points_figures() {
        let run = sample::file();
        let mut file = tempfile::tempfile().unwrap();
        super::parquet(&run, &mut file).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let at = |name: &str| columns().iter().position(|(n, ..)| n == name).unwrap();
        let mut rows = reader.get_row_iter(None).unwrap();
        let mut count = 0;
        for path in &run.paths {
            for point in &path.points {
                for trial in &point.trials {
                    let row = rows.next().unwrap().unwrap();
                    assert_eq!(row.get_ulong(at("size_bytes")).unwrap(), point.size);
                    assert_eq!(row.get_double(at("seconds")).unwrap(), trial.report.seconds);
                    assert_eq!(row.get_bool(at("warmup")).unwrap(), trial.warmup);
                    assert_eq!(row.get_double(at("point_median_s")).unwrap(), point.figures.median);
                    assert_eq!(row.get_string(at("transport")).unwrap(), path.opened.transport.as_str());
                    assert_eq!(row.get_string(at("point_label")).unwrap(), path.opened.name());
                    count += 1;
                }
            }
        }
        assert!(rows.next().is_none() && count > 20);
        let meta = reader.metadata().file_metadata().key_value_metadata().unwrap();
        let header: measure::event::Run = serde_json::from_str(meta[0].value.as_ref().unwrap()).unwrap();
        assert_eq!(header, run.run);
    }
}
