//! The words of a text as a shell has them, for flags that hold a command line. No shell takes part.

/// The words of a line as a shell has them: apart by blanks, but for quotes and backslashes. None where a quote never ends.
pub fn split(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        end if end == c => break,
                        '\\' if c == '"' => word.push(chars.next()?),
                        other => word.push(other),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next()?),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_splits_them() {
        let of = |line: &str| split(line).map(|words| words.join("|"));
        assert_eq!(of(" --sockbuf  256KiB\n").as_deref(), Some("--sockbuf|256KiB"));
        assert_eq!(of("--theory 'a=1, b=2' x\\ y").as_deref(), Some("--theory|a=1, b=2|x y"));
        assert_eq!(of(r#"a"b 'c"d '' "\"""#).as_deref(), Some("ab 'cd||\""));
        assert_eq!(of("  ").as_deref(), Some(""));
        for open in ["'x", "\"x", "x\\", "\"x\\\""] {
            assert_eq!(of(open), None, "{open}");
        }
    }
}
