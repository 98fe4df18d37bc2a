//! Parquet: a row a trial, for data frames and query engines.

use std::io::Write;
use std::sync::Arc;

use measure::event::Trial;
use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use super::{ExportError, Row};
use crate::RunFile;

/// A trial beside its point. A point without trials (an import that kept none) is one row without a trial.
struct Line<'a> {
    row: &'a Row,
    trial: Option<&'a Trial>,
}

enum Column {
    Count(fn(&Line) -> Option<u64>),
    Number(fn(&Line) -> Option<f64>),
    Flag(fn(&Line) -> Option<bool>),
    Text(fn(&Line) -> Option<String>),
}
use Column::{Count, Flag, Number, Text};

fn name(v: impl serde::Serialize) -> Option<String> {
    serde_json::to_value(v).ok()?.as_str().map(str::to_owned)
}

/// The columns in order: the trial's place and report, then `point_...`, its point's figures. All are optional.
const COLUMNS: [(&str, Column); 51] = [
    ("path", Count(|l| Some(l.row.path.into()))),
    ("transport", Text(|l| name(l.row.transport))),
    ("pattern", Text(|l| name(l.row.pattern))),
    ("size_bytes", Count(|l| Some(l.row.size_bytes))),
    ("time", Text(|l| name(l.row.time))),
    ("block", Count(|l| l.trial.map(|t| t.block.into()))),
    ("at_s", Number(|l| l.trial.map(|t| t.at))),
    ("response_bytes", Count(|l| l.trial.map(|t| t.response))),
    ("burst", Count(|l| l.trial.map(|t| t.burst))),
    ("warmup", Flag(|l| l.trial.map(|t| t.warmup))),
    ("repeats", Count(|l| l.trial.map(|t| t.report.repeats))),
    ("seconds", Number(|l| l.trial.map(|t| t.report.seconds))),
    ("iteration_median_s", Number(|l| l.trial.map(|t| t.report.median))),
    ("iteration_min_s", Number(|l| l.trial.map(|t| t.report.min))),
    ("iteration_max_s", Number(|l| l.trial.map(|t| t.report.max))),
    ("late", Count(|l| l.trial.map(|t| t.report.late))),
    ("lost", Count(|l| l.trial.map(|t| t.report.lost))),
    ("far_seconds", Number(|l| l.trial.map(|t| t.report.far.seconds))),
    ("far_bytes", Count(|l| l.trial.map(|t| t.report.far.bytes))),
    ("far_received", Count(|l| l.trial.map(|t| t.report.far.received))),
    ("far_lost", Count(|l| l.trial.map(|t| t.report.far.lost))),
    ("far_reordered", Count(|l| l.trial.map(|t| t.report.far.reordered))),
    ("near_reordered", Count(|l| l.trial.map(|t| t.report.reordered))),
    ("near_duplicated", Count(|l| l.trial.map(|t| t.report.duplicated))),
    ("far_duplicated", Count(|l| l.trial.map(|t| t.report.far.duplicated))),
    ("bounds_low", Count(|l| l.trial.and_then(|t| t.report.bounds).map(|b| b.0))),
    ("bounds_high", Count(|l| l.trial.and_then(|t| t.report.bounds).map(|b| b.1))),
    ("point_why", Text(|l| name(l.row.why?))),
    ("point_blocks", Count(|l| Some(l.row.blocks.into()))),
    ("point_trials", Count(|l| Some(l.row.trials.into()))),
    ("point_iterations", Count(|l| Some(l.row.iterations))),
    ("point_min_s", Number(|l| Some(l.row.min_s))),
    ("point_median_s", Number(|l| Some(l.row.median_s))),
    ("point_low_s", Number(|l| l.row.low_s)),
    ("point_high_s", Number(|l| l.row.high_s)),
    ("point_mean_s", Number(|l| Some(l.row.mean_s))),
    ("point_variance_s2", Number(|l| Some(l.row.variance_s2))),
    ("point_repeat_low_s", Number(|l| l.row.repeat_low_s)),
    ("point_repeat_high_s", Number(|l| l.row.repeat_high_s)),
    ("point_p50_s", Number(|l| l.row.p50_s)),
    ("point_p90_s", Number(|l| l.row.p90_s)),
    ("point_p99_s", Number(|l| l.row.p99_s)),
    ("point_p999_s", Number(|l| l.row.p999_s)),
    ("point_max_s", Number(|l| l.row.max_s)),
    ("point_throughput_bits_per_s", Number(|l| Some(l.row.throughput_bits_per_s))),
    ("point_sender_throughput_bits_per_s", Number(|l| l.row.sender_throughput_bits_per_s)),
    ("point_transactions_per_s", Number(|l| l.row.transactions_per_s)),
    ("point_loss_share", Number(|l| Some(l.row.loss_share))),
    ("point_reordering_share", Number(|l| Some(l.row.reordering_share))),
    ("point_quality", Number(|l| l.row.quality)),
    ("point_quips", Number(|l| l.row.quips)),
];

/// Rows of one row group: bounds the memory that a column takes while it is encoded.
const GROUP: usize = 1 << 16;

pub(super) fn parquet(run: &RunFile, out: &mut dyn Write) -> Result<(), ExportError> {
    let bytes = encode(run).map_err(|e| ExportError::Form { form: "parquet", what: e.to_string() })?;
    out.write_all(&bytes)?;
    Ok(out.flush()?)
}

fn encode(run: &RunFile) -> Result<Vec<u8>, ParquetError> {
    let fields = COLUMNS.iter().map(|(name, column)| field(name, column)).collect::<Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder("trial").with_fields(fields).build()?);
    let header = serde_json::to_string(&run.run).map_err(|e| ParquetError::External(Box::new(e)))?;
    let properties = WriterProperties::builder()
        .set_key_value_metadata(Some(vec![KeyValue::new("pipegauge.run".to_owned(), header)]))
        .set_created_by(concat!("pipegauge ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    let rows: Vec<_> =
        run.paths.iter().flat_map(|path| path.points.iter().map(move |p| (Row::new(run, path, p), p))).collect();
    let lines: Vec<Line> = rows
        .iter()
        .flat_map(|(row, point)| {
            let alone = point.trials.is_empty().then_some(Line { row, trial: None });
            point.trials.iter().map(move |t| Line { row, trial: Some(t) }).chain(alone)
        })
        .collect();
    for lines in lines.chunks(GROUP) {
        let mut group = file.next_row_group()?;
        for (_, column) in &COLUMNS {
            match column {
                // Parquet stores unsigned numbers in its signed type; the column's annotation says which they are.
                Count(of) => put::<Int64Type>(&mut group, lines.iter().map(|l| of(l).map(|v| v as i64)))?,
                Number(of) => put::<DoubleType>(&mut group, lines.iter().map(of))?,
                Flag(of) => put::<BoolType>(&mut group, lines.iter().map(of))?,
                Text(of) => {
                    put::<ByteArrayType>(
                        &mut group,
                        lines.iter().map(|l| of(l).map(|s| ByteArray::from(s.into_bytes()))),
                    )?;
                }
            }
        }
        group.close()?;
    }
    file.into_inner()
}

fn field(name: &str, column: &Column) -> Result<Arc<Type>, ParquetError> {
    let (physical, converted) = match column {
        Count(_) => (Physical::INT64, ConvertedType::UINT_64),
        Number(_) => (Physical::DOUBLE, ConvertedType::NONE),
        Flag(_) => (Physical::BOOLEAN, ConvertedType::NONE),
        Text(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
    };
    let field = Type::primitive_type_builder(name, physical).with_converted_type(converted);
    Ok(Arc::new(field.with_repetition(Repetition::OPTIONAL).build()?))
}

/// Writes the group's next column: the values that are there, and for each row whether it has one.
fn put<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
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
        let at = |name: &str| COLUMNS.iter().position(|(n, _)| *n == name).unwrap();
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
                    assert_eq!(row.get_string(at("transport")).unwrap(), path.opened.name());
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
