//! Segment sizes down, socket buffers across: `seeds/001`, table 1, whose segments follow from the MTU.

use std::collections::BTreeMap;

use measure::Pattern;
use model::Estimate;
use units::{Bytes, Kind};

use super::Layer;
use crate::sheet::Table;
use crate::table::{Flush, estimate};
use crate::words::time_label;

/// What a setting was: asked for, or the system's own, bytes. Orders by size, what was asked for before what was not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema)]
pub struct Setting {
    /// What was asked for; none where the system chose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<u64>,
    /// What took effect, where the system says (Linux doubles a socket buffer; a segment loses the bytes of its options).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effective: Option<u64>,
}

impl Setting {
    fn key(self) -> (u64, bool) {
        (self.asked.or(self.effective).unwrap_or(0), self.asked.is_none())
    }

    fn text(self) -> String {
        match (self.asked, self.effective) {
            (Some(bytes), _) => Bytes(bytes).to_string(),
            (None, Some(bytes)) => format!("the system's ({})", Bytes(bytes)),
            (None, None) => "the system's".to_owned(),
        }
    }
}

/// A transport that was measured with several socket buffers and several segment sizes.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
pub struct SettingsGrid {
    /// Transport.
    pub transport: &'static str,
    /// How it was measured.
    pub pattern: Pattern,
    /// Its cells, by segment, then by buffer.
    pub cells: Vec<Cell>,
}

/// A pair of settings.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
pub struct Cell {
    /// Segment size.
    pub segment: Setting,
    /// Socket buffer.
    pub buffer: Setting,
    /// Highest throughput, bits a second.
    pub max_throughput: Estimate,
    /// Size at which it is reached, bytes.
    pub max_size: u64,
    /// Time of the smallest message, seconds.
    pub latency: Estimate,
    /// Which time that is, in words.
    pub time: &'static str,
    /// Runs of the same settings, of which this is the first.
    pub runs: usize,
}

/// A grid for each transport and pattern that was measured with more than one buffer and more than one segment.
pub fn grids(layers: &[Layer]) -> Vec<SettingsGrid> {
    let mut seen: Vec<(&str, Pattern)> = Vec::new();
    for l in layers.iter().filter(|l| l.carries && l.segment.key().0 > 0 && l.buffer.key().0 > 0) {
        if !seen.contains(&(l.transport, l.pattern)) {
            seen.push((l.transport, l.pattern));
        }
    }
    let all = seen.into_iter().map(|(transport, pattern)| {
        let mut cells: BTreeMap<_, Cell> = BTreeMap::new();
        for l in layers.iter().filter(|l| l.carries && (l.transport, l.pattern) == (transport, pattern)) {
            let new = || Cell {
                segment: l.segment,
                buffer: l.buffer,
                max_throughput: l.summary.max_throughput,
                max_size: l.summary.max_size,
                latency: l.summary.latency,
                time: time_label(l.time),
                runs: 0,
            };
            cells.entry((l.segment.key(), l.buffer.key())).or_insert_with(new).runs += 1;
        }
        SettingsGrid { transport, pattern, cells: cells.into_values().collect() }
    });
    all.filter(|g| g.segments().len() > 1 && g.buffers().len() > 1).collect()
}

impl SettingsGrid {
    fn distinct(&self, of: impl Fn(&Cell) -> Setting) -> Vec<Setting> {
        let all: BTreeMap<_, Setting> = self.cells.iter().map(|c| (of(c).key(), of(c))).collect();
        all.into_values().collect()
    }

    fn segments(&self) -> Vec<Setting> {
        self.distinct(|c| c.segment)
    }

    fn buffers(&self) -> Vec<Setting> {
        self.distinct(|c| c.buffer)
    }

    fn cell(&self, segment: Setting, buffer: Setting) -> Option<&Cell> {
        self.cells.iter().find(|c| (c.segment.key(), c.buffer.key()) == (segment.key(), buffer.key()))
    }

    /// The grid as a table: throughput and latency of each buffer side by side.
    pub(super) fn table(&self) -> Table {
        use Flush::{Left, Right};
        let (segments, buffers) = (self.segments(), self.buffers());
        let mut head = vec![("segment".to_owned(), Left)];
        for buffer in &buffers {
            head.push((format!("buffer {}", buffer.text()), Right));
            head.push(("latency".to_owned(), Right));
        }
        let rows = segments.iter().map(|segment| {
            let cells = buffers.iter().flat_map(|buffer| match self.cell(*segment, *buffer) {
                Some(c) => [estimate(c.max_throughput, Kind::BitsPerSecond), estimate(c.latency, Kind::Seconds)],
                None => ["-".to_owned(), "-".to_owned()],
            });
            std::iter::once(segment.text()).chain(cells).collect()
        });
        let rows = rows.collect();
        let mut notes = Vec::new();
        let more: usize = self.cells.iter().map(|c| c.runs - 1).sum();
        if more > 0 {
            notes.push(format!("Runs of settings that an earlier one has, left out: {more}."));
        }
        let time = self.cells.first().map_or("", |c| c.time);
        let title = format!(
            "Highest throughput and latency ({time}) of {} ({}): segment sizes down, socket buffers across",
            self.transport,
            self.pattern.name()
        );
        // A buffer's two columns are read together.
        Table { title, head, rows, notes, together: vec![2; buffers.len()], ..Table::default() }
    }
}
