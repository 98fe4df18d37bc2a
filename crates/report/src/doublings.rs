//! Rows of a table that has too many sizes to show all.

/// Those about a factor of two apart, the first and the last included; `size` ascends.
pub(crate) fn apart<'a, T>(all: impl IntoIterator<Item = &'a T>, size: impl Fn(&T) -> u64) -> Vec<&'a T> {
    let (mut kept, mut next, mut last) = (Vec::new(), 0, None);
    for one in all {
        last = Some(one);
        if size(one) >= next {
            kept.push(one);
            next = 1 << (size(one).max(1).ilog2() + 1).min(63);
        }
    }
    kept.extend(last.filter(|last| kept.last().is_some_and(|kept| size(kept) != size(last))));
    kept
}
