//! Writing SVG text: escaping, short numbers, elements.

use std::fmt::Write;

/// SVG text under construction.
#[derive(Debug, Default)]
pub struct Svg(String);

/// How a piece of text is set.
#[derive(Debug, Clone, Copy)]
pub struct Text {
    /// Size, pixels.
    pub size: f64,
    /// Fill, as SVG names it.
    pub fill: &'static str,
    /// `start`, `middle` or `end`.
    pub anchor: &'static str,
    /// Semi-bold.
    pub strong: bool,
}

impl Svg {
    /// Adds text as it is.
    pub fn raw(&mut self, text: &str) {
        self.0.push_str(text);
    }

    /// Adds formatted text; numbers go through [`n`], words through [`escape`].
    pub fn put(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a String does not fail.
        let _ = self.0.write_fmt(text);
    }

    /// A straight line.
    pub fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), style: &str) {
        self.put(format_args!(r#"<line x1="{}" y1="{}" x2="{}" y2="{}" {style}/>"#, n(x1), n(y1), n(x2), n(y2)));
        self.raw("\n");
    }

    /// Text at a place, its baseline at `y`.
    pub fn text(&mut self, (x, y): (f64, f64), words: &str, t: Text) {
        self.turned_text((x, y), words, t, None);
    }

    /// Text turned by degrees about its place.
    pub fn turned_text(&mut self, (x, y): (f64, f64), words: &str, t: Text, turn: Option<f64>) {
        let weight = if t.strong {
            r#" font-family="'Inter SemiBold', Inter, 'Helvetica Neue', Arial, sans-serif" font-weight="600""#
        } else {
            ""
        };
        let turn = turn.map(|d| format!(r#" transform="rotate({} {} {})""#, n(d), n(x), n(y))).unwrap_or_default();
        self.put(format_args!(
            r#"<text x="{}" y="{}" font-size="{}" fill="{}" text-anchor="{}"{weight}{turn}>{}</text>"#,
            n(x),
            n(y),
            n(t.size),
            t.fill,
            t.anchor,
            escape(words)
        ));
        self.raw("\n");
    }

    /// A path from ready-made path data; nothing if the data is empty.
    pub fn path(&mut self, data: &str, style: &str) {
        if !data.is_empty() {
            self.put(format_args!("<path d=\"{data}\" {style}/>\n"));
        }
    }

    /// The text.
    pub fn finish(self) -> String {
        self.0
    }
}

/// A coordinate with at most two decimals. A value that is no number becomes 0: callers leave such points out, and a
/// picture must never say NaN.
pub fn n(v: f64) -> String {
    if !v.is_finite() {
        return "0".to_owned();
    }
    let text = format!("{v:.2}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" || short.is_empty() { "0".to_owned() } else { short.to_owned() }
}

/// Text safe inside an element or a quoted attribute of XML and HTML.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // XML 1.0 has no place for most control characters, not even escaped.
            c if c.is_control() && !matches!(c, '\n' | '\t') => out.push('\u{fffd}'),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_never_nan() {
        assert_eq!(
            [n(1.0), n(1.255), n(-0.001), n(f64::NAN), n(10.0), n(f64::INFINITY)],
            ["1", "1.25", "0", "0", "10", "0"]
        );
    }

    #[test]
    fn words_can_not_leave_their_element() {
        assert_eq!(escape("a<b>&\"'\u{1}"), "a&lt;b&gt;&amp;&quot;&#39;\u{fffd}");
    }
}
