//! What the slowest or the fastest of several flows moves.

use measure::event::FlowFigures;
use model::Estimate;
use model::answer::Unanswered;
use units::Kind;

use super::asked::{Asked, figure};
use super::reply::{cannot, no, yes};
use crate::config::question::size_words;
use crate::document::Answered;

/// Of each path with several; those of one are passed over unless there is no other.
pub fn told(of: &[&Asked<'_>], slowest: bool, size: Option<u64>) -> Vec<Answered> {
    let several: Vec<_> = of.iter().filter(|p| p.flows() > 1).collect();
    match several.is_empty() {
        true => of.iter().map(|p| cannot(p, "it had one connection".to_owned(), size.as_slice())).collect(),
        false => several.into_iter().map(|p| one(p, slowest, size)).collect(),
    }
}

fn one(p: &Asked<'_>, slowest: bool, size: Option<u64>) -> Answered {
    let Some(size) = size.or_else(|| p.summary().map(|s| s.max_size)) else { return no(p, &Unanswered::Nothing, &[]) };
    let found = p.row(size).and_then(|row| Some((row, row.flows?)));
    let Some((row, flows)) = found else {
        return no(p, &Unanswered::TooLittle("its flows were not timed at that size"), &[size]);
    };
    let e = end(&flows, slowest);
    let text = format!(
        "the {} of {} moves {} with messages of {}, of {} of all together",
        if slowest { "slowest" } else { "fastest" },
        p.topology().counted(flows.count),
        figure(e, Kind::BitsPerSecond),
        size_words(size),
        units::BitRate(row.throughput)
    );
    yes(p, text, e, "bit/s", vec![size])
}

/// The throughput of one end, with its interval where the run tells one.
fn end(flows: &FlowFigures, slowest: bool) -> Estimate {
    let (value, ends) = if slowest { (flows.slowest, flows.slowest_ends) } else { (flows.fastest, flows.fastest_ends) };
    let (low, high) = ends.unwrap_or((0.0, f64::INFINITY));
    Estimate { value, low: low.min(value), high: high.max(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_has_its_own_interval_where_there_is_one() {
        let flows =
            FlowFigures { slowest: 1.0, slowest_ends: Some((0.8, 1.1)), fastest: 3.0, ..FlowFigures::default() };
        assert_eq!(end(&flows, true), Estimate { value: 1.0, low: 0.8, high: 1.1 });
        assert_eq!(end(&flows, false), Estimate { value: 3.0, low: 0.0, high: f64::INFINITY });
    }
}
