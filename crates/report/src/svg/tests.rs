use super::*;
use crate::curve::Series;
use crate::figure::tests::link;
use crate::overlay::{Mark, Overlay};
use resvg::usvg::roxmltree::Document;

fn picture(series: &[Series], graph: Graph) -> String {
    let text = render(&Figure::from_series(series, graph, vec!["host · 2026-11-21 · <ping-pong>".to_owned()]));
    assert!(!text.contains("NaN") && !text.contains("inf"), "a number is missing: {text}");
    text
}

/// All words in a row: a footnote's lines are texts of their own.
fn said(text: &str) -> String {
    words(text).join(" ")
}

fn words(text: &str) -> Vec<String> {
    let doc = Document::parse(text).expect("well-formed XML");
    doc.descendants().filter(|d| d.has_tag_name("text")).filter_map(|d| d.text().map(str::to_owned)).collect()
}

#[test]
fn every_graph_is_well_formed_and_labelled() {
    let series = [link("shm", 0.3e-6, 60e9, 23), link("tcp", 9e-6, 36e9, 23)];
    for graph in Graph::ALL {
        let words = words(&picture(&series, graph));
        for wanted in [graph.title(), "shm", "tcp", "host · 2026-11-21 · <ping-pong>"] {
            assert!(words.iter().any(|w| w == wanted), "{wanted:?} is missing: {words:?}");
        }
    }
    let words = words(&picture(&series, Graph::Signature));
    assert!(words.iter().any(|w| w == "10 µs") && words.iter().any(|w| w == "Throughput, Gbit/s"), "{words:?}");
}

#[test]
fn labels_of_lines_that_end_together_do_not_overlap() {
    let series: Vec<Series> = (0..10).map(|i| link(&format!("path{i}"), 1e-6, 40e9 + f64::from(i), 20)).collect();
    let text = picture(&series, Graph::Throughput);
    let doc = Document::parse(&text).expect("well-formed XML");
    let mut rows: Vec<f64> = doc
        .descendants()
        .filter(|d| d.text().is_some_and(|t| t.starts_with("path")) && d.has_tag_name("text"))
        .filter_map(|d| d.attribute("y")?.parse().ok())
        .collect();
    rows.sort_by(f64::total_cmp);
    assert_eq!(rows.len(), 10);
    assert!(rows.windows(2).all(|w| w[1] - w[0] > LABEL_GAP - 0.02), "{rows:?}");
}

#[test]
fn a_line_is_lighter_about_a_warned_point_and_the_footnote_says_so() {
    let text = picture(&[link("tcp", 9e-6, 36e9, 23)], Graph::Signature);
    let light: Vec<&str> = text.lines().filter(|l| l.starts_with("<path") && l.contains(DOUBTFUL)).collect();
    assert_eq!(light.len(), 1);
    assert_eq!(light[0].matches('L').count(), 2, "to its two neighbours: {}", light[0]);
    assert!(text.contains("Lighter: a point"));
    let mut sure = link("tcp", 9e-6, 36e9, 23);
    sure.points.iter_mut().for_each(|p| p.warned = false);
    let text = picture(&[sure], Graph::Signature);
    assert!(!text.contains(DOUBTFUL) && !text.contains("Lighter"));
}

#[test]
fn odd_runs_give_a_picture_that_says_what_is_wrong() {
    let none = picture(&[Series { points: vec![], ..link("tcp", 1e-6, 1e9, 0) }], Graph::Signature);
    assert!(words(&none).iter().any(|w| w.contains("no point was measured")));
    let one = picture(&[link("tcp", 1e-6, 1e9, 0)], Graph::Saturation);
    assert!(words(&one).join(" ").contains("One point only."));
    assert!(words(&picture(&[], Graph::Throughput)).join(" ").contains("Nothing to draw"));
}

/// Every place that is drawn, of circles and of the ends of lines, and whether it is cut off at the plot's edge. Letters stand between a
/// path's numbers.
fn drawn(text: &str) -> Vec<(f64, f64, bool)> {
    let doc = Document::parse(text).expect("well-formed XML");
    let numbers = |data: &str| -> Vec<f64> {
        let words = data.split(|c: char| c.is_ascii_alphabetic() || c == ' ' || c == ',').filter(|w| !w.is_empty());
        words.map(|w| w.parse().unwrap_or_else(|_| panic!("{w:?} in {data:?}"))).collect()
    };
    let mut places = Vec::new();
    for d in doc.descendants() {
        let cut = d.ancestors().any(|a| a.attribute("clip-path").is_some());
        let circle = d.attribute("cx").zip(d.attribute("cy")).map(|(x, y)| format!("{x} {y}"));
        let all = numbers(d.attribute("d").unwrap_or(circle.as_deref().unwrap_or("")));
        places.extend(all.chunks_exact(2).map(|p| (p[0], p[1], cut)));
    }
    places
}

#[test]
fn extreme_values_stay_inside_the_picture() {
    for outlier in [1e308, 1e-308, 5e-324, f64::INFINITY] {
        for graph in crate::Graph::EVERY {
            let mut series = link("odd", 1e-9, 1e15, 60);
            series.points[3].interval = Some((1e-9, 1e9));
            series.points[5].interval = None;
            series.points[4].throughput = 1e-300;
            series.points[7].seconds = outlier;
            series.points[8].throughput = outlier;
            series.points[9].interval = Some((5e-324, outlier));
            series.points[10].min = outlier;
            let text = picture(&[series], graph);
            let height: f64 =
                Document::parse(&text).unwrap().root_element().attribute("height").unwrap().parse().unwrap();
            let places = drawn(&text);
            assert!(places.len() > 20, "{graph:?}, {outlier:e}: {} places", places.len());
            for (x, y, cut) in places {
                let inside = (0.0..=WIDTH).contains(&x) && (0.0..=height).contains(&y);
                assert!(inside || (cut && x.abs().max(y.abs()) < 1e6), "{graph:?}, {outlier:e}: {x}, {y}");
            }
            assert!(text.len() < 200_000, "{graph:?}, {outlier:e}: {} bytes", text.len());
        }
    }
}

#[test]
fn every_graph_draws_its_points_where_its_axes_say() {
    // A share of messages lost is no time of a link; `rates.rs` tests where it lies.
    for graph in crate::Graph::EVERY.into_iter().filter(|graph| *graph != crate::Graph::Loss) {
        let figure = Figure::from_series(&[link("tcp", 9e-6, 36e9, 23)], graph, vec![]);
        let (x, y) = figure.axes.clone().expect("axes");
        let text = render(&figure);
        let doc = Document::parse(&text).unwrap();
        let number = |d: &resvg::usvg::roxmltree::Node, name| d.attribute(name)?.parse::<f64>().ok();
        let circles: Vec<(f64, f64)> =
            doc.descendants().filter_map(|d| Some((number(&d, "cx")?, number(&d, "cy")?))).collect();
        // The plot: what lines are cut off at.
        let edge = doc.descendants().find(|d| d.has_tag_name("clipPath")).unwrap().first_element_child().unwrap();
        let of = |name| number(&edge, name).unwrap();
        let (left, top, width) = (of("x"), of("y"), of("width"));
        // From shares of an axis to the picture's own units: upwards is down.
        let at = |d: &crate::figure::Dot| {
            let (share_x, share_y) = (x.scale.place(d.mid.0).unwrap(), y.scale.place(d.mid.1).unwrap());
            (left + share_x * width, top + (1.0 - share_y) * PLOT_HEIGHT)
        };
        let wanted: Vec<(f64, f64)> = figure.lines[0].dots.iter().map(at).collect();
        let near = |a: &(f64, f64), b: &(f64, f64)| (a.0 - b.0).abs() < 0.1 && (a.1 - b.1).abs() < 0.1;
        // Dots that would lie upon each other are drawn once.
        assert!(circles.len() >= 5, "{graph:?}: {circles:?}");
        for circle in &circles {
            assert!(wanted.iter().any(|w| near(circle, w)), "{graph:?}: {circle:?} is none of {wanted:?}");
        }
        for end in [&wanted[0], &wanted[23]] {
            assert!(circles.iter().any(|c| near(c, end)), "{graph:?}: {end:?} is missing");
        }
    }
}

#[test]
fn names_are_escaped() {
    let text = picture(&[link("</text><script>", 1e-6, 1e9, 4)], Graph::Signature);
    assert!(!text.contains("<script>"));
    Document::parse(&text).expect("well-formed XML");
}

#[test]
fn a_hundred_thousand_points_give_a_small_picture() {
    let first = link("tcp", 9e-6, 36e9, 0).points[0];
    let points = (1..=100_000u64).map(|size| {
        let seconds = 9e-6 + size as f64 * (2.0 + (size % 7) as f64 * 0.01) * 1e-10;
        crate::curve::Pt {
            size,
            seconds,
            throughput: size as f64 * 8.0 / seconds,
            min: seconds,
            warned: false,
            ..first
        }
    });
    let series = Series { points: points.collect(), ..link("tcp", 9e-6, 36e9, 0) };
    for graph in Graph::ALL {
        let text = picture(std::slice::from_ref(&series), graph);
        assert!(text.len() < 1_000_000, "{graph:?}: {} bytes", text.len());
    }
}

#[test]
fn dips_fits_and_the_saturation_point_are_drawn_with_their_words() {
    let mut series = link("tcp", 9e-6, 36e9, 23);
    let points = series.points.clone();
    let mark = |kind, from, to, label: &str| Mark { kind, from, to, label: label.into() };
    series.overlay = Overlay {
        marks: vec![
            mark("dip", 1 << 10, 1 << 12, "dip, 2x <the> time"),
            mark("step", 1 << 20, 1 << 20, "step"),
            mark("dip", 3, 3, "nowhere"),
        ],
        fitted: vec![points.clone()],
        knee: Some(points[15]),
    };
    for graph in Graph::ALL {
        let svg = picture(std::slice::from_ref(&series), graph);
        assert!(svg.contains("dip, 2x &lt;the&gt; time") && svg.contains(">step<"), "labels, escaped");
        assert!(!svg.contains("nowhere"), "a mark without a point of its own has no place");
        assert!(svg.contains("stroke-dasharray=\"1.5 3\"") && svg.contains("saturation: 32 KiB"));
        assert!(
            said(&svg).contains("Dotted: fitted model") && said(&svg).contains("pale stretch: a dip"),
            "the footnote explains them"
        );
        assert!(said(&svg).contains("Ring: a step.") && !svg.contains("NaN"));
    }
    let none = said(&picture(&[link("tcp", 9e-6, 36e9, 23)], Graph::Signature));
    assert!(!none.contains("a dip") && !none.contains("a step"));
    series.overlay = Overlay { marks: vec![mark("step", 1 << 20, 1 << 20, "step")], ..Overlay::default() };
    let step = said(&picture(std::slice::from_ref(&series), Graph::Throughput));
    assert!(step.contains("Ring: a step.") && !step.contains("a dip"), "what the picture has, and nothing else");
    series.overlay.marks = vec![mark("dip", 1 << 20, 1 << 20, "dip")];
    let dip = said(&picture(&[series], Graph::Throughput));
    assert!(dip.contains("a dip.") && !dip.contains("a step"), "a dip of one size is one");
}

#[test]
fn axes_hold_medians_and_resolved_intervals_and_what_leaves_them_is_cut_with_a_mark() {
    for graph in Graph::ALL {
        let calm = link("tcp", 9e-6, 36e9, 23);
        let axes = |s: &Series| Figure::from_series(std::slice::from_ref(s), graph, vec![]).axes.unwrap();
        let mut odd = calm.clone();
        // A mean that was interrupted, and an interval that says nothing.
        odd.points.iter_mut().for_each(|p| p.min = p.seconds * 1.9);
        odd.points[20].interval = Some((odd.points[20].seconds / 2.0, odd.points[20].seconds * 20.0));
        odd.points[20].min = odd.points[20].seconds / 1.9;
        assert_eq!(axes(&odd), axes(&calm), "{graph:?}");
        let text = picture(&[odd], graph);
        assert!(text.contains("class=\"beyond\"") && said(&text).contains("Arrowhead at the frame"), "{graph:?}");
        let text = picture(&[calm], graph);
        assert!(!text.contains("class=\"beyond\"") && !text.contains("Arrowhead"), "{graph:?}");
        let clip = text.split("<clipPath").nth(1).unwrap();
        assert!(clip.contains(&format!("height=\"{}\"", n(PLOT_HEIGHT))), "cut off at the frame: {clip}");
    }
}

#[test]
fn labels_of_marks_keep_off_the_curves() {
    let mut series = [link("a", 9e-6, 36e9, 23), link("b", 7e-6, 30e9, 23), link("c", 11e-6, 33e9, 23)];
    for s in &mut series {
        let label = "step, 1.30x the time: 4 KiB".to_owned();
        s.overlay.marks = vec![Mark { kind: "step", from: 1 << 12, to: 1 << 12, label }];
    }
    let figure = Figure::from_series(&series, Graph::Throughput, vec![]);
    let text = render(&figure);
    let circles: Vec<(f64, f64)> = drawn(&text).into_iter().map(|(x, y, _)| (x, y)).collect();
    let labels: Vec<_> = boxes(&text).into_iter().filter(|(words, _)| words.starts_with("step,")).collect();
    assert_eq!(labels.len(), 3);
    for (words, [left, top, right, bottom]) in &labels {
        let under = circles.iter().filter(|(x, y)| (*left..=*right).contains(x) && (*top..=*bottom).contains(y));
        assert_eq!(under.count(), 0, "{words} at {left}, {top}");
    }
}

#[test]
fn ten_paths_have_ten_colours_and_more_have_dashes() {
    let run = crate::sample::crowd(12);
    let drawn = crate::curve::series(&[&Analysis::of(&run)]);
    let mut looks: Vec<(usize, usize)> = drawn.iter().map(|s| (s.hue, s.dash)).collect();
    assert!(
        looks[..10].iter().all(|look| look.1 == 0)
            && looks[..10].iter().map(|l| PALETTE[l.0]).collect::<std::collections::HashSet<_>>().len() == 10
    );
    looks.sort_unstable();
    looks.dedup();
    assert_eq!(looks.len(), 12);
}

#[test]
fn an_interval_without_bounds_leaves_the_picture_and_not_the_medians() {
    let mut series = link("tcp", 9e-6, 36e9, 23);
    let outlier = (series.points[5].seconds * 1e-12, series.points[5].seconds * 1e12);
    let calm = Figure::from_series(std::slice::from_ref(&series), Graph::Saturation, vec![]).axes;
    series.points[5].interval = Some(outlier);
    let axes = Figure::from_series(&[series], Graph::Saturation, vec![]).axes;
    let reach = |axes: &Option<(crate::figure::Axis, crate::figure::Axis)>| {
        axes.as_ref().map(|a| a.0.scale.high / a.0.scale.low)
    };
    assert!(reach(&axes).unwrap() <= reach(&calm).unwrap() * 8.0, "{axes:?}");
}

/// Words of a picture with their boxes: left, top, right, bottom.
fn boxes(text: &str) -> Vec<(String, [f64; 4])> {
    let doc = Document::parse(text).expect("well-formed XML");
    let mut out = Vec::new();
    for d in doc.descendants().filter(|d| d.has_tag_name("text")) {
        let number = |name| d.attribute(name).and_then(|v: &str| v.parse::<f64>().ok());
        let (Some(words), Some(x), Some(y), Some(size)) = (d.text(), number("x"), number("y"), number("font-size"))
        else {
            continue;
        };
        let wide = width(words, size);
        let left = match d.attribute("text-anchor") {
            Some("middle") => x - wide / 2.0,
            Some("end") => x - wide,
            _ => x,
        };
        let [high, low] = [size * 0.75, size * 0.22];
        // A title that is turned runs upwards from its middle.
        let corners = match d.attribute("transform") {
            Some(_) => [x - high, y - wide / 2.0, x + low, y + wide / 2.0],
            None => [left, y - high, left + wide, y + low],
        };
        out.push((words.to_owned(), corners));
    }
    out
}

#[test]
fn no_words_of_a_picture_lie_over_others_or_leave_it() {
    for paths in [1, 3, 6, 12] {
        let run = crate::sample::crowd(paths);
        let run = Analysis::of(&run);
        for graph in [Graph::Signature, Graph::Throughput, Graph::Saturation, Graph::Latency, Graph::MessageRate] {
            for text in [draw(&[&run], graph), draw_fitted(&[&run], graph)] {
                let all = boxes(&text);
                assert!(all.len() > 12 + paths, "{graph:?}: {} texts", all.len());
                let height: f64 =
                    Document::parse(&text).unwrap().root_element().attribute("height").unwrap().parse().unwrap();
                for (i, (words, [left, top, right, bottom])) in all.iter().enumerate() {
                    let inside = *left >= 0.0 && *top >= 0.0 && *right <= WIDTH && *bottom <= height;
                    assert!(
                        inside,
                        "{paths} paths, {graph:?}: {words:?} leaves the picture at {left}, {top}, {right}, {bottom}"
                    );
                    for (other, b) in &all[..i] {
                        let apart = *left >= b[2] || b[0] >= *right || *top >= b[3] || b[1] >= *bottom;
                        assert!(apart, "{paths} paths, {graph:?}: {words:?} lies over {other:?}");
                    }
                }
            }
        }
    }
}
