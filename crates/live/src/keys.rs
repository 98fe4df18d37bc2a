//! Keys, from the bytes that a terminal sends.

/// What a key asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// q: stop the run, or leave the last picture.
    Quit,
    /// Esc: back from help or warnings; else as q.
    Escape,
    /// Enter, space: leaves the last picture.
    Enter,
    /// g: the next graph.
    Graph,
    /// p, Tab: the next path, or all.
    Path,
    /// w: the warnings.
    Warnings,
    /// ?, h: the keys.
    Help,
    /// The point of the next smaller size.
    Left,
    /// The point of the next larger size.
    Right,
    /// Back in a text.
    Up,
    /// On in a text.
    Down,
    /// c: the point that is being measured, as it changes.
    Current,
}

/// Whether bytes end within an escape: what follows may belong to it.
pub fn unfinished(bytes: &[u8]) -> bool {
    matches!(bytes, [.., 0x1b] | [.., 0x1b, b'[' | b'O'])
}

/// The keys in what was read. Escapes that mean nothing here (other keys, a terminal's answers) are passed over whole.
pub fn keys(bytes: &[u8]) -> Vec<Key> {
    let mut keys = Vec::new();
    let mut rest = bytes;
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        keys.extend(match first {
            0x1b => match after.split_first() {
                Some((b'[' | b'O', sequence)) => {
                    // Parameters, then one final byte.
                    let end = sequence.iter().position(|b| (0x40..=0x7e).contains(b));
                    let (sequence, after) = sequence.split_at(end.map_or(sequence.len(), |e| e + 1));
                    rest = after;
                    arrow(sequence)
                }
                // Alt with a key.
                Some((other, after)) if *other != 0x1b => {
                    rest = after;
                    None
                }
                _ => Some(Key::Escape),
            },
            // Ctrl-C and Ctrl-D come as bytes where a terminal doesn't make signals of them.
            b'q' | b'Q' | 0x03 | 0x04 => Some(Key::Quit),
            b'\r' | b'\n' | b' ' => Some(Key::Enter),
            b'g' | b'G' => Some(Key::Graph),
            b'p' | b'P' | b'\t' => Some(Key::Path),
            b'w' | b'W' => Some(Key::Warnings),
            b'?' | b'h' | b'H' => Some(Key::Help),
            b'c' | b'C' => Some(Key::Current),
            _ => None,
        });
    }
    keys
}

fn arrow(sequence: &[u8]) -> Option<Key> {
    match sequence {
        b"A" => Some(Key::Up),
        b"B" => Some(Key::Down),
        b"C" => Some(Key::Right),
        b"D" => Some(Key::Left),
        b"Z" => Some(Key::Path),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escape_alone_is_a_key_and_the_start_of_another_is_not() {
        assert_eq!(keys(b"\x1b"), [Key::Escape]);
        assert_eq!(keys(b"\x1b\x1b"), [Key::Escape, Key::Escape]);
        assert_eq!(keys(b"\x1b[C\x1bOD"), [Key::Right, Key::Left]);
        assert!(unfinished(b"g\x1b") && unfinished(b"\x1b[") && !unfinished(b"\x1b[C") && !unfinished(b""));
    }

    #[test]
    fn what_means_nothing_here_is_passed_over_whole() {
        // Delete, F5, Ctrl-right, Alt-q, a mouse report's start, letters without a meaning, bytes that are no text.
        assert_eq!(keys(b"\x1b[3~\x1b[15~\x1b[1;5C\x1bqxyz\xff\x00"), []);
        assert_eq!(keys(b"\x1b[200"), [], "cut off");
        assert_eq!(keys(b"\x1b[3~g"), [Key::Graph], "what follows is read");
    }
}
