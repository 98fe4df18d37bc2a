//! The curves of the loss graph: the share of messages lost, over the offered rate.

use record::Analysis;
use record::rates::AtRate;

use crate::curve::{self, HUES, Pt, Series};
use crate::overlay::Overlay;
use crate::words;

/// A curve for each group of paths that differ only in the offered rate, of the smallest size. The rate takes the place of the size, and
/// the share plus one that of the time: neither may be 0, and a share of 0 is common.
pub(crate) fn series(runs: &[&Analysis<'_>]) -> Vec<Series> {
    let mut out = Vec::new();
    for (r, run) in runs.iter().enumerate() {
        let letter = if runs.len() > 1 { format!("{} ", words::letter(r)) } else { String::new() };
        let mut drawn: Vec<usize> = Vec::new();
        for group in run.over_rates() {
            if drawn.contains(&group.path) {
                continue;
            }
            drawn.push(group.path);
            let opened = &run.paths[group.path].opened;
            let time = measure::event::TimeKind::OneWay;
            let points: Vec<Pt> = group.rows.iter().filter_map(point).collect();
            let name = format!("{letter}{}", words::plain(&words::without_rate(opened)));
            let (hue, dash) = (out.len() % HUES, out.len() / HUES % 3);
            let (path, overlay) = (opened.path, Overlay::default());
            out.push(Series { name, run: r, path, time, hue, dash, points, dropped: 0, overlay });
        }
    }
    out
}

/// The share that a point stands for.
pub(crate) fn share(p: &Pt) -> f64 {
    p.seconds - 1.0
}

/// None where nothing came to count.
fn point(row: &AtRate) -> Option<Pt> {
    let loss = Some(row.loss).filter(|_| row.messages > 0)?;
    curve::clean(Pt {
        size: row.offered.round() as u64,
        seconds: loss.value + 1.0,
        interval: loss.high.is_finite().then_some((loss.low + 1.0, loss.high + 1.0)),
        min: loss.value + 1.0,
        // This graph does not show throughput.
        throughput: 1.0,
        warned: !row.kept(),
    })
}

#[cfg(test)]
mod tests {
    use record::Analysis;

    use crate::{Figure, Graph, sample, table};

    #[test]
    fn lost_messages_lie_over_the_offered_rate_and_none_lost_at_zero() {
        let run = sample::offered(&[(2e8, 0), (1e8, 0), (4e8, 250)]);
        let analysis = Analysis::of(&run);
        let figure = Figure::of(&[&analysis], Graph::Loss);
        let places: Vec<(f64, f64)> = figure.lines[0].dots.iter().map(|d| d.mid).collect();
        assert_eq!(places.iter().map(|p| p.0).collect::<Vec<_>>(), [1e8, 2e8, 4e8]);
        assert_eq!((places[0].1, places[1].1), (0.0, 0.0));
        assert!((places[2].1 - 0.25).abs() < 1e-9);
        let (x, y) = figure.axes.unwrap();
        assert_eq!((x.title.as_str(), y.title.as_str(), y.scale.low), ("Offered rate", "Share of messages lost", 0.0));
        assert_eq!(Graph::of_runs(&[&run], None), Ok(Graph::Loss));
        let plain = sample::run(1);
        assert!(
            Graph::of_runs(&[&plain], Some(Graph::Loss))
                .is_err_and(|why| why.contains("run udp --pattern stream --rate"))
        );
        assert!(table::rates(&Analysis::of(&plain)).is_empty());
    }

    #[test]
    fn a_run_that_lost_nothing_says_so_instead_of_an_empty_picture() {
        let run = sample::offered(&[(1e8, 0), (2e8, 0)]);
        let figure = Figure::of(&[&Analysis::of(&run)], Graph::Loss);
        assert!(figure.statement.unwrap().contains("No message was lost"));
    }

    #[test]
    fn the_table_names_the_highest_rate_without_loss() {
        let text = |rates: &[(f64, u64)]| {
            let run = sample::offered(rates);
            table::rates(&Analysis::of(&run)).split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let text_of = text(&[(1e8, 0), (2e8, 0), (4e8, 250)]);
        assert!(
            text_of.contains(
                "No message was lost up to 200 Mbit/s (0 of 7,000 there). At 400 Mbit/s 1,750 of 7,000 messages were lost (25.0%)."
            ),
            "{text_of}"
        );
        let none = text(&[(1e8, 0), (2e8, 0)]);
        assert!(none.contains("No message was lost at any of these rates, up to 200 Mbit/s"), "{none}");
        let all = text(&[(1e8, 10), (2e8, 0)]);
        assert!(all.contains("No rate without loss is known. At 100 Mbit/s 70 of 7,000 messages were"), "{all}");
    }

    #[test]
    fn what_was_sent_less_what_was_lost_is_what_arrived() {
        let run = sample::offered(&[(1e8, 0), (4e8, 250)]);
        // The rounds' median of what the receiver timed is another figure.
        let rows = &Analysis::of(&run).over_rates()[0].rows;
        for row in rows {
            let (sent, arrived) = (row.sent.unwrap(), row.arrived.unwrap());
            assert!((sent * (1.0 - row.loss.value) - arrived.value).abs() < 1e-6 * sent, "{row:?}");
        }
        let (arrived, loss) = (rows[1].arrived.unwrap(), rows[1].loss);
        // The sender's rate moves from round to round by more than the losses do.
        assert!(arrived.low < 4e8 * (1.0 - loss.high) && arrived.low > 2e8 && arrived.high < 4e8, "{arrived:?}");
        let text = table::rates(&Analysis::of(&run));
        assert!(text.lines().any(|l| l.contains("400 Mbit/s  400 Mbit/s  300 Mbit/s")), "{text}");
    }

    #[test]
    fn a_rate_that_was_not_reached_or_of_which_nothing_came_is_no_rate_without_loss() {
        let mut run = sample::offered(&[(1e8, 0), (1e9, 0), (2e9, 5)]);
        run.paths[1].points[0].figures.sender_throughput = Some(3e8);
        let text =
            |run: &record::RunFile| table::rates(&Analysis::of(run)).split_whitespace().collect::<Vec<_>>().join(" ");
        let slow = text(&run);
        assert!(slow.contains("No message was lost up to 100 Mbit/s"), "{slow}");
        assert!(slow.contains("At 1.00 Gbit/s, of which the sender reached 300 Mbit/s, none was, either"), "{slow}");
        run.paths[2].points[0]
            .trials
            .plain()
            .iter_mut()
            .for_each(|t| (t.report.far.lost, t.report.far.received) = (0, 1000));
        let figure = Figure::of(&[&Analysis::of(&run)], Graph::Loss);
        assert!(figure.statement.unwrap().contains("up to 2.00 Gbit/s offered"));
        // What only the survey saw is nothing.
        run.paths[2].points[0].trials.plain().iter_mut().for_each(|t| t.warmup = true);
        run.paths[1].points[0].figures.sender_throughput = Some(1e9);
        let silent = text(&run);
        assert!(
            silent.contains("No message was lost up to 1.00 Gbit/s")
                && silent.contains("At 2.00 Gbit/s too few messages came"),
            "{silent}"
        );
        run.paths[0].points.clear();
        let silent = text(&run);
        assert!(silent.contains("No rate without loss is known. At 100 Mbit/s too few"), "{silent}");
    }
}
