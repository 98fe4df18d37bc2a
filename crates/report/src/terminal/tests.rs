use super::*;
use crate::curve::{Pt, Series};
use crate::figure::tests::link;

fn two() -> Vec<Series> {
    vec![link("shm", 0.3e-6, 60e9, 23), link("tcp", 9e-6, 36e9, 23)]
}

fn figure(series: &[Series], graph: Graph) -> Figure {
    Figure::from_series(series, graph, vec![])
}

#[test]
fn a_signature_graph_looks_as_it_did() {
    let text = render(&figure(&two(), Graph::Signature), 76, 18, false);
    insta::assert_snapshot!(text);
}

#[test]
fn a_throughput_graph_with_logarithmic_axis_looks_as_it_did() {
    let series = [link("shm", 0.3e-6, 60e9, 23), link("udp", 9e-6, 1e9, 16)];
    insta::assert_snapshot!(render(&figure(&series, Graph::Throughput), 76, 18, false));
}

#[test]
fn it_fits_any_size_and_writes_no_colour_unless_asked() {
    for graph in Graph::ALL {
        for (width, height) in [(36, 9), (40, 12), (80, 24), (200, 60)] {
            let text = render(&figure(&two(), graph), width, height, false);
            assert!(!text.contains('\x1b'));
            assert_eq!(text.lines().count(), height, "{graph:?} {width}x{height}");
            for line in text.lines() {
                assert!(line.chars().count() <= width, "{graph:?} {width}x{height}: {line:?}");
            }
        }
    }
    assert!(render(&figure(&two(), Graph::Signature), 80, 24, true).contains("\x1b[36m"));
}

#[test]
fn the_names_stand_at_the_lines_ends_even_where_lines_meet() {
    let series: Vec<Series> = (0..6).map(|i| link(&format!("path{i}"), 1e-6, 40e9, 20)).collect();
    let text = render(&figure(&series, Graph::Throughput), 80, 20, false);
    for i in 0..6 {
        assert!(text.contains(&format!("path{i}")), "{text}");
    }
}

#[test]
fn too_small_no_points_and_one_point_are_said_in_words() {
    assert!(render(&figure(&two(), Graph::Signature), 20, 5, false).starts_with("The terminal is too"));
    let none = [Series { points: vec![], ..link("tcp", 1e-6, 1e9, 0) }];
    assert!(render(&figure(&none, Graph::Signature), 80, 24, false).contains("no point was measured"));
    let one = [link("tcp", 1e-6, 1e9, 0)];
    let text = render(&figure(&one, Graph::Signature), 80, 24, false);
    assert!(text.contains("One point only. tcp: 1 B takes 1.01 us (RTT/2)"), "{text}");
    assert_eq!(text.lines().count(), 24);
    let long = [link("a path whose name is long enough for two lines", 1e-6, 1e9, 0)];
    let text = render(&figure(&long, Graph::Signature), 80, 24, false);
    assert!(text.lines().last().is_some_and(|line| line.ends_with("bit/s.")), "nothing is cut: {text}");
    assert_eq!(text.lines().count(), 24);
}

#[test]
fn equal_points_still_have_a_place() {
    let p = Pt { size: 64, seconds: 1e-6, interval: None, min: 1e-6, throughput: 5e8, warned: false };
    let series = [Series { points: vec![p, p, p], ..link("tcp", 1e-6, 1e9, 0) }];
    let text = render(&figure(&series, Graph::Signature), 80, 24, false);
    assert!(text.contains("All points are equal."), "{text}");
    assert!(text.contains("a tcp"));
}

#[test]
fn letters_of_few_points_stand_on_the_points() {
    let mut line = link("p50", 1e-6, 40e9, 3);
    line.points.iter_mut().zip([1, 2, 5, 9]).for_each(|(p, n)| p.size = n);
    let text = render(&figure(&[line], Graph::Load), 80, 20, false);
    let plot: String =
        text.lines().skip(1).take(16).map(|l| l.split_once(['\u{2502}', '\u{2524}']).map_or("", |p| p.1)).collect();
    assert_eq!(plot.matches('a').count(), 4 + 1, "four points and the name: {text}");
}

#[test]
fn a_narrow_terminal_keeps_the_unit_of_a_graph() {
    let text = render(&figure(&two(), Graph::Signature), 50, 20, false);
    assert_eq!(text.lines().next(), Some("Signature graph [Gbit/s]"));
}
