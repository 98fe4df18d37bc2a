//! Where text goes: its width, lines of a paragraph, and labels that keep clear of each other.

use std::collections::HashSet;

/// About how wide text is, pixels, in a sans-serif font of `size` pixels. Classes of Inter's advance widths; a viewer's
/// own font differs by a few per cent.
pub fn width(text: &str, size: f64) -> f64 {
    let em = |c: char| match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '|' | '\'' | ' ' | '!' => 0.28,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' => 0.37,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '—' => 0.90,
        'A'..='Z' => 0.69,
        _ => 0.60,
    };
    text.chars().map(em).sum::<f64>() * size
}

/// Lines of at most `limit` pixels, broken at spaces. A word that is longer stands alone.
pub fn wrap(text: &str, size: f64, limit: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), size) <= limit => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Moves label centres apart so that neighbours are at least `gap` apart and all lie within `low..=high`, as near to
/// where they want to be as that allows (least squares: crowded neighbours share their mean). Order is kept.
///
/// The caller sees to it that `(len - 1) * gap <= high - low`.
pub fn spread(wanted: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    // Pool adjacent violators on (wanted - rank * gap): (sum, count) of each pool.
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for (rank, &i) in order.iter().enumerate() {
        pools.push((wanted[i] - rank as f64 * gap, 1));
        while let [.., (s0, c0), (s1, c1)] = pools[..]
            && s0 / c0 as f64 > s1 / c1 as f64
        {
            pools.truncate(pools.len() - 2);
            pools.push((s0 + s1, c0 + c1));
        }
    }
    let top = high - gap * wanted.len().saturating_sub(1) as f64;
    let mut placed = vec![0.0; wanted.len()];
    let flat = pools.iter().flat_map(|&(sum, count)| std::iter::repeat_n(sum / count as f64, count));
    for (rank, (&i, base)) in order.iter().zip(flat).enumerate() {
        placed[i] = base.min(top).max(low) + rank as f64 * gap;
    }
    placed
}

/// Indices of the places worth drawing, in order: of neighbours in one pixel column the first, the lowest, the highest and
/// the last, so that a curve of any number of points stays small and loses no dip or spike. A curve that jumps back and
/// forth between columns and still has thousands keeps one place of each pixel. Places that are none stand alone.
pub fn thin(places: &[Option<(f64, f64)>]) -> Vec<usize> {
    let column = |i: usize| places[i].map(|(x, _)| x.floor() as i64);
    let mut kept = Vec::new();
    let mut start = 0;
    while start < places.len() {
        let end = (start + 1..places.len()).find(|&i| column(i) != column(start)).unwrap_or(places.len());
        let y = |i: &usize| places[*i].map_or(0.0, |(_, y)| y);
        let low = (start..end).min_by(|a, b| y(a).total_cmp(&y(b))).unwrap_or(start);
        let high = (start..end).max_by(|a, b| y(a).total_cmp(&y(b))).unwrap_or(start);
        kept.extend([start, low.min(high), low.max(high), end - 1]);
        start = end;
    }
    kept.dedup();
    if kept.len() > 4000 {
        let last = places.len() - 1;
        let mut seen = HashSet::new();
        kept.retain(|&i| i == last || places[i].is_none_or(|(x, y)| seen.insert((x.floor() as i64, y.floor() as i64))));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_fit_stay_and_crowded_ones_share_their_mean() {
        assert_eq!(spread(&[10.0, 50.0], 12.0, 0.0, 100.0), [10.0, 50.0]);
        assert_eq!(spread(&[50.0, 50.0], 12.0, 0.0, 100.0), [44.0, 56.0]);
        assert_eq!(spread(&[99.0, 98.0, 10.0], 12.0, 0.0, 100.0), [100.0, 88.0, 10.0]);
        assert_eq!(spread(&[-5.0, 1.0], 12.0, 0.0, 100.0), [0.0, 12.0]);
    }

    #[test]
    fn thinning_keeps_the_ends_the_dip_and_the_spike() {
        let mut places: Vec<Option<(f64, f64)>> = (0..1000).map(|i| Some((f64::from(i) / 500.0, 5.0))).collect();
        places[123] = Some((0.2, 1.0));
        places[321] = Some((0.6, 9.0));
        let kept = thin(&places);
        assert!(kept.len() <= 8 && [0, 123, 321, 499, 500, 999].iter().all(|i| kept.contains(i)), "{kept:?}");
        assert_eq!(thin(&[Some((1.0, 1.0)), None, Some((1.2, 2.0))]), [0, 1, 2]);
        assert_eq!(thin(&[]), Vec::<usize>::new());
    }

    #[test]
    fn text_wraps_at_spaces() {
        assert_eq!(wrap("aaa bbb ccc", 10.0, 45.0), ["aaa bbb", "ccc"]);
        assert_eq!(wrap("", 10.0, 45.0), Vec::<String>::new());
    }
}
