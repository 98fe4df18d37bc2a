//! Paper-quality SVG, written by hand: log axes with ticks in units, interval bands, direct labels.
//!
//! Written by hand and not with a plotting library because what makes these pictures readable is what such libraries do
//! not have: ticks at powers of two in KiB and MiB, intervals that move a point along both axes at once (a longer time is
//! also a lower throughput), and labels at the lines' ends that keep clear of each other.

mod cut;
pub mod layout;
mod over;
pub mod xml;

use record::Analysis;

use crate::figure::{Axis, Dot, Figure, Line};
use crate::graph::Graph;
use crate::scale::{Spread, Ticks};
use crate::words;
use layout::{spread, thin, width, wrap};
use xml::{Svg, Text, n};

/// Width of a picture, pixels at scale 1.
pub const WIDTH: f64 = 960.0;
/// Height of the area in which lines are drawn.
const PLOT_HEIGHT: f64 = 430.0;
/// Lines drawn with a dot at each point, if they have at most this many.
const DOTS: usize = 150;
/// Distance of direct labels, pixels.
const LABEL_GAP: f64 = 17.0;

/// Colours of lines. Okabe and Ito's colour-blind safe set, darkened where it would be faint on white.
pub const PALETTE: [&str; crate::curve::HUES] =
    ["#0072b2", "#d55e00", "#008060", "#b0479a", "#7a5c00", "#3a3a3a", "#4f9fd6", "#e08a00", "#8c1c34", "#6f9f1c"];
/// Farthest that anything is drawn beyond the area (and cut off there), in sizes of the area: the end of a wide interval may lie too many
/// pixels away for a renderer.
const AFAR: f64 = 10.0;
/// Longest name shown at a line's end.
const NAME: usize = 24;
const INK: &str = "#1a1a1a";
const SOFT: &str = "#5a5f66";
const GRID: &str = "#e3e6ea";
const FAINT: &str = "#f1f3f5";
const RULE: &str = "#9aa0a8";

const FONT: &str = "Inter, 'Helvetica Neue', Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";

/// The picture of one graph over all paths of the runs.
pub fn draw(runs: &[&Analysis<'_>], graph: Graph) -> String {
    render(&Figure::of(runs, graph))
}

/// The same, with fitted curves and saturation points.
pub fn draw_fitted(runs: &[&Analysis<'_>], graph: Graph) -> String {
    render(&Figure::with(runs, graph, true))
}

/// The picture of any figure.
pub fn render(figure: &Figure) -> String {
    let mut head = Svg::default();
    let left = 34.0;
    let mut y = 36.0;
    head.text((left, y), &figure.title, Text { size: 19.0, fill: INK, anchor: "start", strong: true });
    y += 6.0;
    for line in figure.subtitles.iter().flat_map(|s| wrap(&pretty(s), 12.5, WIDTH - 2.0 * left)) {
        y += 17.0;
        head.text((left, y), &line, Text { size: 12.5, fill: SOFT, anchor: "start", strong: false });
    }
    let top = y + 24.0;
    let mut cut = false;
    match &figure.axes {
        Some((x, y)) => cut = plot(figure, x, y, top, &mut head),
        None => head.put(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{FAINT}\"/>\n",
            n(left),
            n(top),
            n(WIDTH - 2.0 * left),
            n(PLOT_HEIGHT)
        )),
    }
    if let Some(words) = &figure.statement {
        statement(words, top, &mut head);
    }
    let foot = top + PLOT_HEIGHT + if figure.axes.is_some() { 74.0 } else { 28.0 };
    let height = footnotes(figure, cut, left, foot, &mut head);
    let mut svg = Svg::default();
    svg.put(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\" \
         font-family=\"{FONT}\">\n<title>{}</title>\n<rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>\n",
        xml::escape(&figure.title),
        w = n(WIDTH),
        h = n(height)
    ));
    svg.raw(&head.finish());
    svg.raw("</svg>\n");
    svg.finish()
}

/// The area in which lines are drawn, with the way from values to pixels.
struct Area<'a> {
    x: &'a Axis,
    y: &'a Axis,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Area<'_> {
    /// Pixels of a value pair; none where it has no place.
    fn place(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        let near = |s: f64| s.clamp(-AFAR, 1.0 + AFAR);
        let (sx, sy) = (near(self.x.scale.place(x)?), near(self.y.scale.place(y)?));
        Some((self.left + sx * (self.right - self.left), self.bottom - sy * (self.bottom - self.top)))
    }

    /// Whether a value pair lies in the plot, within a line's width.
    fn holds(&self, place: (f64, f64)) -> bool {
        let within = |at: f64, low: f64, high: f64| (low - 1.0..=high + 1.0).contains(&at);
        self.place(place).is_some_and(|(x, y)| within(x, self.left, self.right) && within(y, self.top, self.bottom))
    }
}

/// The axes and all that lies on them; returns whether something goes on beyond them.
fn plot(figure: &Figure, x: &Axis, y: &Axis, top: f64, svg: &mut Svg) -> bool {
    let names: Vec<&str> = figure.lines.iter().map(|l| &*l.name).collect();
    let names = words::shortened(&names, NAME);
    let gutter = names.iter().map(|l| width(l, 13.0)).fold(20.0, f64::max);
    let y_ticks = y.scale.ticks(y.quantity, 7);
    let labels = y_ticks.ticks.iter().filter_map(|t| t.label.as_deref());
    let left = 62.0 + labels.map(|l| width(&pretty(l), 12.0)).fold(0.0, f64::max);
    let right = WIDTH - 46.0 - gutter;
    let x_ticks = x.scale.ticks(x.quantity, ((right - left) / 85.0) as usize);
    let area = Area { x, y, left, right, top, bottom: top + PLOT_HEIGHT };
    frame(&area, &x_ticks, &y_ticks, svg);
    svg.put(format_args!(
        "<clipPath id=\"area\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>\n",
        n(left),
        n(top),
        n(right - left),
        n(PLOT_HEIGHT)
    ));
    for line in &figure.lines {
        curve(&area, line, svg);
    }
    let mut cut = false;
    for line in &figure.lines {
        cut |= cut::heads(&area, line, svg);
    }
    over::over(&area, &figure.lines, svg);
    end_labels(&area, figure, &names, svg);
    cut
}

/// Grid, ticks, labels and titles of both axes.
fn frame(a: &Area<'_>, x_ticks: &Ticks, y_ticks: &Ticks, svg: &mut Svg) {
    let grid = |major: bool| format!("stroke=\"{}\" stroke-width=\"1\"", if major { GRID } else { FAINT });
    let small = |anchor| Text { size: 12.0, fill: SOFT, anchor, strong: false };
    for pass in [false, true] {
        for tick in x_ticks.ticks.iter().filter(|t| t.label.is_some() == pass) {
            if let Some(s) = a.x.scale.place(tick.value).filter(|s| (-1e-6..=1.0 + 1e-6).contains(s)) {
                let x = a.left + s * (a.right - a.left);
                svg.line((x, a.top), (x, a.bottom), &grid(pass));
                let length = if pass { 6.0 } else { 3.0 };
                svg.line((x, a.bottom), (x, a.bottom + length), &format!("stroke=\"{RULE}\""));
                if let Some(label) = &tick.label {
                    svg.text((x, a.bottom + 21.0), &pretty(label), small("middle"));
                }
            }
        }
        for tick in y_ticks.ticks.iter().filter(|t| t.label.is_some() == pass) {
            if let Some(s) = a.y.scale.place(tick.value).filter(|s| (-1e-6..=1.0 + 1e-6).contains(s)) {
                let y = a.bottom - s * (a.bottom - a.top);
                svg.line((a.left, y), (a.right, y), &grid(pass));
                if let Some(label) = &tick.label {
                    svg.text((a.left - 9.0, y + 4.2), &pretty(label), small("end"));
                }
            }
        }
    }
    svg.line((a.left, a.bottom), (a.right, a.bottom), &format!("stroke=\"{RULE}\" stroke-width=\"1.2\""));
    svg.line((a.left, a.top), (a.left, a.bottom), &format!("stroke=\"{RULE}\" stroke-width=\"1.2\""));
    let title = Text { size: 13.0, fill: INK, anchor: "middle", strong: false };
    let words = axis_title(a.x, x_ticks);
    svg.text(((a.left + a.right) / 2.0, a.bottom + 44.0), &words, title);
    let at = (28.0, (a.top + a.bottom) / 2.0);
    svg.turned_text(at, &axis_title(a.y, y_ticks), title, Some(-90.0));
}

fn axis_title(axis: &Axis, ticks: &Ticks) -> String {
    let log = (axis.scale.spread == Spread::Log).then(|| "log scale".to_owned());
    let details: Vec<String> = ticks.unit.clone().map(|u| pretty(&u)).into_iter().chain(log).collect();
    if details.is_empty() { axis.title.clone() } else { format!("{}, {}", pretty(&axis.title), details.join(", ")) }
}

/// Style of a line on both sides of a point that has a warning.
const DOUBTFUL: &str = " stroke-opacity=\"0.5\"";

/// A line's dots in pieces that are doubtful, on both sides of a point with a warning, and such that are not; neighbours share a dot.
fn parted(dots: &[Dot]) -> impl Iterator<Item = (bool, &[Dot])> {
    let doubtful = |pair: &[Dot]| pair.iter().any(|d| d.warned);
    let mut at = 0;
    std::iter::from_fn(move || {
        let kind = doubtful(dots.get(at..at + 2)?);
        let pairs = dots[at..].windows(2).take_while(|pair| doubtful(pair) == kind).count();
        let piece = &dots[at..=at + pairs];
        at += pairs;
        Some((kind, piece))
    })
}

/// One line: band of its interval, minimum, median, dots.
fn curve(a: &Area<'_>, line: &Line, svg: &mut Svg) {
    let colour = PALETTE[line.hue % PALETTE.len()];
    let dash = ["", " stroke-dasharray=\"8 4\"", " stroke-dasharray=\"2 4\""][line.dash.min(2)];
    let places: Vec<_> = line.dots.iter().map(|d| a.place(d.mid)).collect();
    let dots: Vec<Dot> = thin(&places).into_iter().map(|i| line.dots[i]).collect();
    svg.put(format_args!("<g aria-label=\"{}\">\n", xml::escape(&line.name)));
    svg.path(&band(a, &dots), &format!("fill=\"{colour}\" fill-opacity=\"0.16\" clip-path=\"url(#area)\""));
    // A lone point has no neighbour for a band: its interval is a bar.
    if let [Dot { interval: Some((low, high)), .. }] = dots.as_slice() {
        let bar = polyline(a, [*low, *high].into_iter());
        let look = "stroke-width=\"5\" stroke-opacity=\"0.3\" clip-path=\"url(#area)\"";
        svg.path(&bar, &format!("stroke=\"{colour}\" {look}"));
    }
    let joined = "fill=\"none\" stroke-linejoin=\"round\" stroke-linecap=\"round\"";
    let minimum = polyline(a, dots.iter().map(|d| d.min));
    // The axes hold medians and resolved intervals: a trial may lie outside of them.
    let thin = "stroke-width=\"0.8\" stroke-opacity=\"0.6\" clip-path=\"url(#area)\"";
    svg.path(&minimum, &format!("{joined} stroke=\"{colour}\" {thin}"));
    // The axis leaves out implausible values: such a median can't be drawn, and its line would cross the text.
    let dots: Vec<Dot> = dots.into_iter().filter(|d| a.holds(d.mid)).collect();
    // All of one width: a thinner line would make the others look like marked ones.
    for (doubtful, opacity) in [(true, DOUBTFUL), (false, "")] {
        let pieces = parted(&dots).filter(|p| p.0 == doubtful);
        let median: String = pieces.map(|p| polyline(a, p.1.iter().map(|d| d.mid))).collect();
        svg.path(&median, &format!("{joined} stroke=\"{colour}\" stroke-width=\"2\"{opacity}{dash}"));
    }
    for dot in dots.iter().filter(|_| line.dots.len() <= DOTS) {
        let Some((x, y)) = a.place(dot.mid) else { continue };
        let opacity = if dot.warned { " fill-opacity=\"0.5\"" } else { "" };
        svg.put(format_args!("<circle cx=\"{}\" cy=\"{}\" r=\"2.3\" fill=\"{colour}\"{opacity}/>\n", n(x), n(y)));
    }
    svg.raw("</g>\n");
}

fn polyline(a: &Area<'_>, places: impl Iterator<Item = (f64, f64)>) -> String {
    let mut data = String::new();
    for (x, y) in places.filter_map(|p| a.place(p)) {
        data.push_str(if data.is_empty() { "M" } else { "L" });
        data.push_str(&format!("{} {}", n(x), n(y)));
    }
    // A single place is drawn by its dot; a path of one move draws nothing.
    if data.contains('L') { data } else { String::new() }
}

/// The area that intervals sweep between neighbouring points that both have one. Four-cornered pieces, each turned the same way round, so
/// that pieces that overlap where a curve turns back don't cut holes into each other.
fn band(a: &Area<'_>, dots: &[Dot]) -> String {
    let ends: Vec<_> =
        dots.iter().map(|d| d.interval.and_then(|(low, high)| Some((a.place(low)?, a.place(high)?)))).collect();
    let mut data = String::new();
    for pair in ends.windows(2) {
        let [Some(first), Some(second)] = pair else { continue };
        let mut corners = [first.0, second.0, second.1, first.1];
        let area: f64 =
            (0..4).map(|k| corners[k].0 * corners[(k + 1) % 4].1 - corners[(k + 1) % 4].0 * corners[k].1).sum();
        if area < 0.0 {
            corners.reverse();
        }
        for (k, (x, y)) in corners.into_iter().enumerate() {
            data.push_str(if k == 0 { "M" } else { "L" });
            data.push_str(&format!("{} {}", n(x), n(y)));
        }
        data.push('Z');
    }
    data
}

/// Names beside the lines' ends, moved apart where they would touch, each tied to its line by a thin rule.
fn end_labels(a: &Area<'_>, figure: &Figure, names: &[String], svg: &mut Svg) {
    let room = ((a.bottom - a.top) / LABEL_GAP) as usize + 1;
    let ends: Vec<(usize, (f64, f64))> = figure
        .lines
        .iter()
        .enumerate()
        .filter_map(|(i, l)| Some((i, a.place(l.dots.last()?.mid)?)))
        .take(room)
        .collect();
    let wanted: Vec<f64> = ends.iter().map(|(_, (_, y))| *y).collect();
    let placed = spread(&wanted, LABEL_GAP, a.top + 4.0, a.bottom - 4.0);
    for ((i, (x, y)), label_y) in ends.into_iter().zip(placed) {
        let colour = PALETTE[figure.lines[i].hue % PALETTE.len()];
        let start = a.right + 14.0;
        let thin =
            format!("stroke=\"{colour}\" stroke-width=\"0.9\" stroke-opacity=\"0.55\" stroke-dasharray=\"1.5 2.5\"");
        svg.line((x + 5.0, y), (start - 4.0, label_y), &thin);
        svg.put(format_args!(
            "<text x=\"{}\" y=\"{}\" font-size=\"13\" fill=\"{colour}\" font-weight=\"600\" \
             font-family=\"'Inter SemiBold', {FONT}\">{}</text>\n",
            n(start),
            n(label_y + 4.5),
            xml::escape(&names[i])
        ));
    }
}

fn statement(words: &str, top: f64, svg: &mut Svg) {
    let lines = wrap(&pretty(words), 15.0, WIDTH * 0.62);
    let first = top + PLOT_HEIGHT / 2.0 - 10.0 * lines.len() as f64 + if lines.len() == 1 { -30.0 } else { 0.0 };
    for (i, line) in lines.iter().enumerate() {
        let at = (WIDTH / 2.0 - 20.0, first + 22.0 * i as f64);
        svg.text(at, line, Text { size: 15.0, fill: INK, anchor: "middle", strong: true });
    }
}

/// How to read the picture, and notes on what is not in it. Returns the height of the whole picture.
fn footnotes(figure: &Figure, cut: bool, left: f64, mut y: f64, svg: &mut Svg) -> f64 {
    let mut paragraphs = figure.notes.clone();
    if figure.axes.is_some() {
        let warned = figure.lines.iter().any(|l| l.dots.iter().any(|d| d.warned));
        let lighter = if warned { " Lighter: a point there has a warning." } else { "" };
        let fitted = figure.lines.iter().any(|l| !l.fitted.is_empty());
        let fits = if fitted { " Dotted: fitted model; diamond: saturation point." } else { "" };
        let marked = |dip| figure.lines.iter().flat_map(|l| &l.marks).any(|m| m.dip == dip && !m.places.is_empty());
        let dips = if marked(true) { " Wide pale stretch: a dip." } else { "" };
        let steps = if marked(false) { " Ring: a step." } else { "" };
        let beyond = if cut { cut::WORDS } else { "" };
        let marks = figure.graph.line();
        paragraphs.push(format!("{} {marks}{beyond}{lighter}{dips}{steps}{fits}", figure.graph.how_to_read()));
    }
    for paragraph in paragraphs {
        for line in wrap(&pretty(&paragraph), 11.5, WIDTH - 2.0 * left) {
            svg.text((left, y), &line, Text { size: 11.5, fill: SOFT, anchor: "start", strong: false });
            y += 16.0;
        }
    }
    y + 6.0
}

/// Micro sign for pictures; the rest of the program writes plain ASCII.
fn pretty(text: &str) -> String {
    if text == "us" { "µs".to_owned() } else { text.replace(" us", " µs") }
}

#[cfg(test)]
mod tests;
