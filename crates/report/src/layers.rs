//! The overhead of layers: words, a table, and a picture over size.

use measure::event::TimeKind;
use model::Overhead;
use units::{Bytes, Kind, Seconds, with_interval};

use crate::compare::more_by;
use crate::curve::{Pt, Series, clean};
use crate::figure::Figure;
use crate::graph::Graph;
use crate::table::{Flush, Grid, WIDTH};
use crate::words::plain;

/// A layer and what it adds to the one below it.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
pub struct Layer {
    /// Its name.
    pub name: String,
    /// The layer below.
    pub over: String,
    /// Overhead by size.
    pub overheads: Vec<Overhead>,
    /// The sizes at which the two surely differ, bytes, as `compare` has it.
    pub sure: Vec<u64>,
    /// Why that tells little: so few rounds, or separate runs; absent where nothing speaks against it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
}

/// One sentence a layer: what it adds at the smallest, a middle and the largest size.
pub fn words(layers: &[Layer]) -> String {
    let mut text = String::new();
    for layer in layers {
        let all = &layer.overheads;
        let mut chosen = vec![0, all.len() / 2, all.len().saturating_sub(1)];
        chosen.dedup();
        let parts: Vec<String> = chosen
            .iter()
            .filter_map(|i| all.get(*i))
            .map(|o| {
                let extra = with_interval(o.extra.value, o.extra.low, o.extra.high, Kind::Seconds);
                let sure = match layer.sure.contains(&o.size) {
                    true if o.extra.low > 0.0 || o.extra.high < 0.0 => "surely",
                    true => "surely, by rounds in turns",
                    false => "not surely different",
                };
                format!("{extra} at {} ({}, {sure})", Bytes(o.size), more_by(o.share + 1.0))
            })
            .collect();
        let doubt = layer.doubt.as_ref().map_or(String::new(), |doubt| format!(" ({doubt})"));
        text.push_str(&format!("{} adds to {}: {}{doubt}\n", layer.name, layer.over, parts.join(", ")));
    }
    plain(&text)
}

/// A share from which on percentages are hard to read.
const MANY: f64 = 10.0;

/// Every size of every layer.
pub fn table(layers: &[Layer]) -> String {
    use Flush::{Left, Right};
    let mut text = String::new();
    for layer in layers {
        let (over, name) = (plain(&layer.over), plain(&layer.name));
        let mut grid =
            Grid::new(&[("size", Right), (&over, Right), (&name, Right), ("adds [95%]", Left), ("per cent", Right)]);
        for o in &layer.overheads {
            grid.row([
                Bytes(o.size).to_string(),
                Seconds(o.below).to_string(),
                Seconds(o.above).to_string(),
                with_interval(o.extra.value, o.extra.low, o.extra.high, Kind::Seconds),
                if o.share < MANY { format!("{:+.1}%", o.share * 100.0) } else { more_by(o.share + 1.0) },
            ]);
        }
        text.push_str(&format!("\n{}", grid.fitted(WIDTH, &[4])));
    }
    text
}

/// Overhead over size, both axes logarithmic; sizes at which a layer costs nothing or less can't be drawn, and a note says how many there
/// are.
pub fn figure(layers: &[Layer], time: TimeKind, subtitles: Vec<String>) -> Figure {
    let mut notes = Vec::new();
    let series: Vec<Series> = layers
        .iter()
        .enumerate()
        .map(|(i, layer)| {
            let points: Vec<Pt> = layer.overheads.iter().filter_map(point).collect();
            let dropped = layer.overheads.len() - points.len();
            if dropped > 0 {
                notes.push(format!(
                    "{} costs no more than {} at {dropped} of {} sizes, which have no place on this axis.",
                    layer.name,
                    layer.over,
                    layer.overheads.len()
                ));
            }
            let name = format!("{} over {}", layer.name, layer.over);
            let (hue, dash) = (i % crate::curve::HUES, i / crate::curve::HUES % 3);
            let overlay = crate::overlay::Overlay::default();
            Series { name, run: 0, path: i as u32, time, hue, dash, points, dropped: 0, overlay }
        })
        .collect();
    let none = series.iter().all(|s| s.points.is_empty());
    let mut figure = Figure::from_series(&series, Graph::Overhead, subtitles);
    figure.notes.splice(0..0, notes);
    if let Some((_, y)) = &mut figure.axes {
        y.title = format!("Time added ({})", crate::words::time_label(time));
    }
    figure.statement = none.then(|| "Nothing to draw: no layer costs more than the one below it.".to_owned());
    figure
}

fn point(o: &Overhead) -> Option<Pt> {
    clean(Pt {
        size: o.size,
        seconds: o.extra.value,
        interval: Some((o.extra.low, o.extra.high)),
        min: o.extra.value,
        throughput: 1.0,
        warned: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Estimate;

    fn layer(extras: &[f64]) -> Layer {
        let one = |(i, e): (usize, &f64)| Overhead {
            size: 1 << i,
            below: 1e-6,
            above: 1e-6 + e,
            extra: Estimate { value: *e, low: e - 1e-8, high: e + 1e-8 },
            share: e / 1e-6,
        };
        let overheads = extras.iter().enumerate().map(one).collect();
        let sure = vec![4];
        Layer { name: "tcp".into(), over: "unix".into(), overheads, sure, doubt: Some("so few rounds".into()) }
    }

    #[test]
    fn a_layer_that_costs_nothing_somewhere_says_so() {
        let f = figure(&[layer(&[1e-6, 2e-6, -1e-6])], TimeKind::HalfRoundTrip, vec![]);
        assert_eq!(f.lines[0].dots.len(), 2);
        assert!(f.notes[0].contains("at 1 of 3 sizes"), "{:?}", f.notes);
        assert!(f.statement.is_none());
        let nothing = figure(&[layer(&[-1e-6])], TimeKind::HalfRoundTrip, vec![]);
        assert!(nothing.statement.is_some_and(|s| s.contains("Nothing to draw")));
    }

    #[test]
    fn the_sentence_names_both_layers_and_the_ends() {
        let said = words(&[layer(&[1e-6, 2e-6, 4e-6])]);
        assert!(
            said.starts_with("tcp adds to unix: 1.00 us") && said.contains("at 4 B (5.0 times as long, surely)"),
            "{said}"
        );
        assert!(said.contains("at 1 B (+100%, not surely different)") && said.contains("(so few rounds)"), "{said}");
    }
}
