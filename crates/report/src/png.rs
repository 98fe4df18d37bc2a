//! The SVG picture as pixels, drawn by resvg with a font that is part of the program: the same picture on a machine
//! without any font.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};

use crate::ReportError;

/// Most pixels in a picture: 64 million, a quarter of a gibibyte.
const LIMIT: u64 = 64 << 20;

/// Draws SVG text at `scale` (1: as many pixels as the SVG says; 2: for dense screens) and returns a PNG file.
///
/// The font knows the characters of western European languages; others (a host name in another script) are drawn as
/// empty boxes, while the SVG file itself shows them.
///
/// # Errors
/// Text that is no SVG, and a scale that gives no pixels or far too many.
pub fn render(svg: &str, scale: f32) -> Result<Vec<u8>, ReportError> {
    let mut fonts = Database::new();
    fonts.load_font_data(include_bytes!("../assets/inter-regular.ttf").to_vec());
    fonts.load_font_data(include_bytes!("../assets/inter-semibold.ttf").to_vec());
    fonts.set_sans_serif_family("Inter");
    let options = Options { font_family: "Inter".to_owned(), fontdb: Arc::new(fonts), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|e| ReportError::Svg(e.to_string()))?;
    // A scale that is no number gives 0, which is refused below.
    let pixels = |length: f32| (length * scale).ceil() as u64;
    let (width, height) = (pixels(tree.size().width()), pixels(tree.size().height()));
    let refused = ReportError::Size { width, height };
    if width.saturating_mul(height) > LIMIT {
        return Err(refused);
    }
    let mut pixmap = Pixmap::new(width as u32, height as u32).ok_or(refused)?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|e| ReportError::Png(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Graph;
    use crate::figure::{Figure, tests::link};

    fn svg() -> String {
        let mut series = [link("shm", 0.3e-6, 60e9, 23), link("tcp", 9e-6, 36e9, 23)];
        series[1].hue = 1;
        crate::svg::render(&Figure::from_series(&series, Graph::Signature, vec!["host".to_owned()]))
    }

    fn colours(png: &[u8]) -> std::collections::HashSet<[u8; 4]> {
        let map = Pixmap::decode_png(png).expect("a PNG");
        map.pixels().iter().map(|p| [p.red(), p.green(), p.blue(), p.alpha()]).collect()
    }

    #[test]
    fn the_picture_has_the_size_asked_and_is_not_blank() {
        let svg = svg();
        let one = Pixmap::decode_png(&render(&svg, 1.0).expect("drawn")).expect("a PNG");
        let two = Pixmap::decode_png(&render(&svg, 2.0).expect("drawn")).expect("a PNG");
        assert_eq!(one.width(), 960);
        assert_eq!((two.width(), two.height()), (one.width() * 2, one.height() * 2));
        let seen = colours(&render(&svg, 1.0).expect("drawn"));
        assert!(seen.contains(&[0, 0x72, 0xb2, 255]) && seen.contains(&[0xd5, 0x5e, 0, 255]), "both lines are drawn");
    }

    #[test]
    fn text_is_drawn_with_the_embedded_font() {
        let page =
            |inner: &str| format!("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"90\" height=\"30\">{inner}</svg>");
        for family in ["Inter", "'Inter SemiBold'", "'No Such Font', sans-serif"] {
            let text = page(&format!("<text x=\"5\" y=\"20\" font-family=\"{family}\" fill=\"#000\">64 KiB µ</text>"));
            assert!(colours(&render(&text, 1.0).expect("drawn")).len() > 3, "nothing was drawn in {family}");
        }
        assert_eq!(colours(&render(&page(""), 1.0).expect("drawn")).len(), 1);
    }

    #[test]
    fn an_interval_of_any_width_is_drawn() {
        for factor in (0..40).map(|e| 10f64.powi(e)) {
            for graph in [Graph::Signature, Graph::Quips] {
                let mut wide = link("tcp", 9e-6, 36e9, 8);
                wide.points[4].interval = Some((9e-6 / factor, 9e-6 * factor));
                let svg = crate::svg::render(&Figure::from_series(&[wide], graph, vec![]));
                render(&svg, 0.5).unwrap_or_else(|e| panic!("{factor}: {e}"));
            }
        }
    }

    #[test]
    fn what_is_no_picture_is_refused() {
        assert!(matches!(render("no svg", 1.0), Err(ReportError::Svg(_))));
        assert!(matches!(render(&svg(), 0.0), Err(ReportError::Size { .. })));
        assert!(matches!(render(&svg(), f32::NAN), Err(ReportError::Size { .. })));
        assert!(matches!(render(&svg(), -1.0), Err(ReportError::Size { .. })));
        assert!(matches!(render(&svg(), 1e6), Err(ReportError::Size { .. })));
    }
}
