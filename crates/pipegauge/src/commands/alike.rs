//! Which of several paths can stand beside each other.

use report::compare::Basis;

/// Those of `paths` whose times `same` takes for one kind, two and more at a time, the largest group first: their indices in order. And a
/// sentence that says what is in none of them; none where nothing is left out, or where no two are alike.
pub fn alike(paths: &[Basis], same: impl Fn(&Basis, &Basis) -> bool) -> (Vec<Vec<usize>>, Option<String>) {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for i in 0..paths.len() {
        match groups.iter_mut().find(|group| same(&paths[group[0]], &paths[i])) {
            Some(group) => group.push(i),
            None => groups.push(vec![i]),
        }
    }
    let (mut kept, single): (Vec<_>, Vec<_>) = groups.into_iter().partition(|group| group.len() > 1);
    // Of equally many the first.
    kept.sort_by_key(|group| std::cmp::Reverse(group.len()));
    let left: Vec<String> = single.iter().map(|group| paths[group[0]].named()).collect();
    let said = (!left.is_empty() && !kept.is_empty()).then(|| {
        let others: Vec<String> = kept.iter().map(|group| paths[group[0]].words()).collect();
        format!(
            "left out: {}; the others hold {}, and only times of one kind compare",
            left.join(", "),
            others.join(" and ")
        )
    });
    (kept, said)
}

#[cfg(test)]
mod tests {
    use measure::event::{Plan, TimeKind};

    use super::*;

    fn basis(name: &str, time: TimeKind, offered: Option<f64>) -> Basis {
        let mut plan = Plan::default();
        plan.paths[0].offered = offered;
        Basis::new(&plan, 0, name.to_owned(), time)
    }

    fn of(paths: &[(&str, TimeKind, Option<f64>)]) -> (Vec<Vec<usize>>, Option<String>) {
        let paths: Vec<Basis> = paths.iter().map(|(name, time, offered)| basis(name, *time, *offered)).collect();
        alike(&paths, |a, b| a.against(b).is_ok())
    }

    #[test]
    fn groups_of_one_kind_are_kept_and_the_others_are_named() {
        let (kept, said) = of(&[
            ("memcpy", TimeKind::Copy, None),
            ("shm", TimeKind::HalfRoundTrip, None),
            ("tcp", TimeKind::HalfRoundTrip, None),
        ]);
        assert_eq!(kept, [[1, 2]]);
        let said = said.unwrap();
        assert!(said.contains("memcpy (times of the kind copy)") && said.contains("RTT/2"), "{said}");
        assert_eq!(of(&[("shm", TimeKind::OneWay, None), ("tcp", TimeKind::OneWay, None)]), (vec![vec![0, 1]], None));
        assert_eq!(of(&[("memcpy", TimeKind::Copy, None), ("tcp", TimeKind::OneWay, None)]), (Vec::new(), None));
        assert_eq!(of(&[]), (Vec::new(), None));
    }

    #[test]
    fn paths_of_one_offered_rate_are_a_group() {
        let at = |name, rate: f64| (name, TimeKind::OneWay, Some(rate));
        let (kept, said) = of(&[at("a", 1e6), at("a2", 2e6), at("b", 1e6), at("b2", 2e6), at("c", 3e6)]);
        assert_eq!(kept, [[0, 2], [1, 3]]);
        let said = said.unwrap();
        assert!(said.contains("left out: c (times of the kind one way, 3.00 Mbit/s offered)"), "{said}");
    }
}
