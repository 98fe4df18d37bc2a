//! What a trial cost each of the processes that took part in it.

use crate::{Cost, TrialReport};

/// The report of a trial with what it cost each process: the near ones, and the far ones or, of one that has all connections, its threads.
/// Where a side has a single process, its cost is that of the side and is not repeated.
pub fn with_costs(mut report: TrialReport, near: &[Option<Cost>], far: &[Option<Cost>]) -> TrialReport {
    let Some(flows) = &mut report.flows else { return report };
    let all = flows.each.len();
    let of = |costs: &[Option<Cost>], flow: usize| costs.get(flow).copied().flatten().filter(|_| costs.len() == all);
    for (number, flow) in flows.each.iter_mut().enumerate() {
        (flow.near_cost, flow.far_cost) = (of(near, number), of(far, number));
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FlowReport, Flows};

    #[test]
    fn each_process_has_its_own_cost_and_one_that_is_alone_on_its_side_has_that_of_the_side() {
        let cost = |cpu_ns| Some(Cost { iterations: 10, cpu_ns, ..Cost::default() });
        let flows = Flows { each: vec![FlowReport::default(); 2], ..Flows::default() };
        let report = TrialReport { flows: Some(flows), ..TrialReport::default() };
        let of = |near: &[Option<Cost>], far: &[Option<Cost>]| {
            let told = with_costs(report.clone(), near, far).flows.unwrap();
            told.each.iter().map(|flow| (flow.near_cost, flow.far_cost)).collect::<Vec<_>>()
        };
        assert_eq!(of(&[cost(1), cost(2)], &[cost(3), None]), [(cost(1), cost(3)), (cost(2), None)]);
        assert_eq!(of(&[cost(1)], &[cost(3), cost(4)]), [(None, cost(3)), (None, cost(4))], "a group casts from one");
        let single = TrialReport { flows: None, ..report.clone() };
        assert_eq!(with_costs(single.clone(), &[cost(1)], &[cost(2)]), single);
    }
}
