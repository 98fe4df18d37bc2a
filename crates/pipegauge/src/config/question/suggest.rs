//! The nearest known word, and text of others made fit to be shown.

/// Longest piece of a question that an error repeats, characters.
const SHOWN: usize = 80;

/// Text that somebody typed, safe for a terminal: control characters, those that turn the direction of writing and those
/// without a width become U+FFFD.
pub fn safe(text: &str) -> String {
    text.chars().map(|c| if report::words::odd(c) { '\u{fffd}' } else { c }).collect()
}

/// The same, and short enough for an error to repeat it.
pub fn shown(text: &str) -> String {
    let mut short = safe(&text.chars().take(SHOWN).collect::<String>());
    if text.chars().nth(SHOWN).is_some() {
        short.push_str("...");
    }
    short
}

/// How many letters must be changed, added, taken out or swapped with their neighbour to make one word of another (optimal
/// string alignment).
pub fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let changed = usize::from(a[i - 1] != b[j - 1]);
            let mut least = (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + changed);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

/// The nearest of `known`, of equals the first; none where there is nothing to choose from.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<(&'a str, usize)> {
    known.map(|k| (k, distance(word, &k.to_lowercase()))).min_by_key(|(_, d)| *d)
}

/// The nearest of `known`, if it is near enough to be a slip of the pen.
pub fn slip<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = match word.chars().count() {
        0..=4 => 0,
        5..=6 => 1,
        _ => 2,
    };
    // Another first letter is another word: "late" is no slip for "rate".
    let same_start = known.filter(|k| k.chars().next() == word.chars().next());
    nearest(word, same_start).filter(|(_, d)| *d <= allowed).map(|(k, _)| k)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_pen_find_their_word() {
        assert_eq!((distance("tpc", "tcp"), distance("", "abc"), distance("kitten", "sitting")), (1, 3, 3));
        let known = ["bandwidth", "latency", "tcp"];
        assert_eq!(slip("bandwith", known.into_iter()), Some("bandwidth"));
        assert_eq!(slip("latnecy", known.into_iter()), Some("latency"));
        assert_eq!(slip("laptop", known.into_iter()), None);
    }

    #[test]
    fn what_is_shown_is_short_and_harmless() {
        assert_eq!(shown("a\u{1b}[31m\u{202e}\n"), "a\u{fffd}[31m\u{fffd}\u{fffd}");
        assert_eq!(shown(&"x".repeat(30_000)).len(), SHOWN + 3);
    }
}
