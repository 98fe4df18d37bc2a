//! Which of several paths can stand beside each other.

use measure::event::TimeKind;
use report::words::time_label;

/// Those of `paths` (name, kind of time) that hold times of one kind: the kind that most have, of equally many the first. Their indices in
/// order, and a sentence that says what was left out.
pub fn alike(paths: &[(String, TimeKind)]) -> (Vec<usize>, Option<String>) {
    let of = |time: TimeKind| (0..paths.len()).filter(|i| paths[*i].1 == time).collect::<Vec<_>>();
    let mut kept: Vec<usize> = Vec::new();
    for (_, time) in paths {
        let these = of(*time);
        if these.len() > kept.len() {
            kept = these;
        }
    }
    let Some(&first) = kept.first() else { return (kept, None) };
    let left: Vec<String> = (paths.iter().filter(|p| p.1 != paths[first].1))
        .map(|(name, time)| format!("{name} (times of the kind {})", time_label(*time)))
        .collect();
    let said = (!left.is_empty()).then(|| {
        let kind = time_label(paths[first].1);
        format!(
            "left out: {}; the others hold times of the kind {kind}, and only times of one kind compare",
            left.join(", ")
        )
    });
    (kept, said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_that_most_paths_have_is_kept_and_the_others_are_named() {
        let paths = |all: &[(&str, TimeKind)]| all.iter().map(|(n, t)| ((*n).to_owned(), *t)).collect::<Vec<_>>();
        let (kept, said) = alike(&paths(&[
            ("memcpy", TimeKind::Copy),
            ("shm", TimeKind::HalfRoundTrip),
            ("tcp", TimeKind::HalfRoundTrip),
        ]));
        assert_eq!(kept, [1, 2]);
        let said = said.unwrap();
        assert!(said.contains("memcpy (times of the kind copy)") && said.contains("RTT/2"), "{said}");
        assert_eq!(alike(&paths(&[("shm", TimeKind::OneWay), ("tcp", TimeKind::OneWay)])), (vec![0, 1], None));
        assert_eq!(
            alike(&paths(&[("memcpy", TimeKind::Copy), ("tcp", TimeKind::OneWay)])).0,
            [0],
            "the first of equals"
        );
        assert_eq!(alike(&[]), (Vec::new(), None));
    }
}
