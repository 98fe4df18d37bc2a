//! On which CPUs the threads of several flows run. Pure.
//!
//! The first flow runs where a single one would. The others are spread over the CPUs that a side may use, in turns, so that a CPU has at most
//! one thread more than another.

/// CPUs of both sides' flows on one host, near and far, where the first flow keeps to `pin`: a flow's two threads on two CPUs where there are
/// two, and the pairs in turns over all that are `allowed`.
pub(crate) fn pairs(pin: (u32, u32), allowed: &[u32], flows: u32) -> (Vec<u32>, Vec<u32>) {
    let order = order(&[pin.0, pin.1], allowed);
    let at = |i: usize| order[i % order.len()];
    let flows = 0..flows as usize;
    (flows.clone().map(|k| at(2 * k)).collect(), flows.map(|k| at(2 * k + 1)).collect())
}

/// CPUs of the flows of a side that has its host for itself.
pub(crate) fn alone(cpu: u32, allowed: &[u32], flows: u32) -> Vec<u32> {
    let order = order(&[cpu], allowed);
    (0..flows as usize).map(|k| order[k % order.len()]).collect()
}

/// CPUs of the threads of `connections` that load a path of both sides on one host, near and far: in turns over those that are `allowed` and on
/// which nothing is measured, so that the load takes the path and not the CPUs; where there are none over the two that the path has.
pub(crate) fn load_pairs(pin: (u32, u32), allowed: &[u32], connections: u32) -> (Vec<u32>, Vec<u32>) {
    let others = beside(&[pin.0, pin.1], allowed);
    match others[..] {
        [] => pairs(pin, &[], connections),
        [one] => (vec![one; connections as usize], vec![one; connections as usize]),
        [first, second, ..] => pairs((first, second), &others, connections),
    }
}

/// The same of a side that has its host for itself.
pub(crate) fn load_alone(cpu: u32, allowed: &[u32], connections: u32) -> Vec<u32> {
    let others = beside(&[cpu], allowed);
    alone(others.first().copied().unwrap_or(cpu), &others, connections)
}

/// Those of `allowed` that are not `taken`.
pub(crate) fn beside(taken: &[u32], allowed: &[u32]) -> Vec<u32> {
    allowed.iter().copied().filter(|cpu| !taken.contains(cpu)).collect()
}

fn order(first: &[u32], allowed: &[u32]) -> Vec<u32> {
    let mut order = Vec::new();
    for cpu in first.iter().chain(allowed) {
        if !order.contains(cpu) {
            order.push(*cpu);
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_flow_is_where_a_single_one_would_be_and_the_others_take_turns() {
        assert_eq!(pairs((0, 1), &[0, 1], 3), (vec![0, 0, 0], vec![1, 1, 1]));
        assert_eq!(pairs((2, 3), &[0, 1, 2, 3], 3), (vec![2, 0, 2], vec![3, 1, 3]));
        assert_eq!(pairs((1, 2), &[0, 1, 2], 3), (vec![1, 0, 2], vec![2, 1, 0]));
        assert_eq!(pairs((5, 5), &[5], 2), (vec![5, 5], vec![5, 5]));
        assert_eq!(alone(3, &[1, 2, 3], 5), [3, 1, 2, 3, 1]);
        assert_eq!(alone(3, &[], 2), [3, 3], "where the system does not say which are allowed");
    }

    #[test]
    fn loading_flows_keep_off_the_cpus_that_are_measured_on_where_there_are_others() {
        assert_eq!(load_pairs((0, 1), &[0, 1], 2), (vec![0, 0], vec![1, 1]));
        assert_eq!(load_pairs((0, 1), &[0, 1, 2], 2), (vec![2, 2], vec![2, 2]));
        assert_eq!(load_pairs((0, 1), &[0, 1, 2, 3], 3), (vec![2, 2, 2], vec![3, 3, 3]));
        assert_eq!(load_pairs((0, 1), &[0, 1, 2, 3, 4], 3), (vec![2, 4, 3], vec![3, 2, 4]));
        assert_eq!(load_alone(1, &[0, 1, 2], 3), [0, 2, 0]);
        assert_eq!((load_alone(1, &[1], 2), load_alone(1, &[], 2)), (vec![1, 1], vec![1, 1]));
    }
}
