//! Others' bytes for a terminal. Pure.

/// What somebody cast, for a terminal, which would do what control characters say, and on one line, so that none looks like a line of the program that shows it. A tab is one.
pub fn shown(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() && c != '\t' {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_told_and_not_done() {
        assert_eq!(shown(b"a\tb\x1b[2J\r\n\xff"), "a\tb\\u{1b}[2J\\r\\n\u{fffd}");
        assert_eq!(shown("caf\u{e9}\u{9b}".as_bytes()), "caf\u{e9}\\u{9b}");
    }
}
