//! Whether the times of two paths can be compared: one rule for `compare`, `layers`, `ask` and `run --vs`.

use measure::Topology;
use measure::event::{Plan, TimeKind};
use units::BitRate;

use crate::words::{plain, time_label};

/// What the times of a path are.
#[derive(Debug, Clone, PartialEq)]
pub struct Basis {
    name: String,
    pattern: &'static str,
    /// Time kind of the points.
    time: TimeKind,
    /// Time kind of a single connection: another one where several carried messages at once.
    single: TimeKind,
    flows: u32,
    topology: Topology,
    /// Bits a second that the sender was to offer.
    offered: Option<f64>,
    /// Messages a second on a schedule, whether or not answers came.
    scheduled: bool,
    /// Messages went in both directions at once.
    both: bool,
}

impl Basis {
    /// For the path of this number, called `name`, with times of the kind `time`.
    pub fn new(plan: &Plan, path: u32, name: String, time: TimeKind) -> Self {
        let single = if time == TimeKind::Spacing { plan.pattern.facts().time } else { time };
        Self {
            name,
            pattern: plan.pattern.name(),
            time,
            single,
            flows: plan.flows(path),
            topology: plan.topology(path),
            offered: plan.offered_on(path),
            scheduled: plan.rate.is_some(),
            both: plan.both,
        }
    }

    /// What the path is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The time kind in words.
    pub fn words(&self) -> String {
        let offered = self.offered.map_or(String::new(), |rate| format!(", {} offered", BitRate(rate)));
        format!("times of the kind {}{offered}", time_label(self.time))
    }

    /// The path and its time kind.
    pub fn named(&self) -> String {
        format!("{} ({})", self.name, self.words())
    }

    /// What a reader must know of the times where they can be compared; the error says why they can't, and what to do.
    pub fn against(&self, other: &Self) -> Result<Option<String>, String> {
        let (a, b) = (plain(&self.name), plain(&other.name));
        if self.offered != other.offered {
            let sent = |of: &Self| match of.offered {
                Some(rate) => format!("at {} on a schedule (--rate)", BitRate(rate)),
                None => "as fast as it could".to_owned(),
            };
            return Err(format!(
                "{a} sent {}, {b} {}: the time from one message to the next is that of the schedule and tells nothing of the paths. What \
                 arrived at each rate and what was lost stands in `pipegauge show RUN`; to compare two paths or settings, give both the same \
                 --rate, or none",
                sent(self),
                sent(other)
            ));
        }
        let several = [self, other].iter().any(|of| of.time == TimeKind::Spacing);
        if self.single != other.single
            || (several && (self.pattern != other.pattern || self.scheduled != other.scheduled))
        {
            let copies = [self, other].iter().any(|of| of.single == TimeKind::Copy);
            let todo = match () {
                () if copies => "a copy within a process is no transfer to another",
                () if self.pattern == other.pattern => "measure both alike: with --rate, or without",
                () => "measure both with the same --pattern",
            };
            return Err(format!(
                "{a} holds times of the kind {} ({}), {b} of the kind {} ({}): they can't be compared ({todo})",
                time_label(self.time),
                self.pattern,
                time_label(other.time),
                other.pattern,
            ));
        }
        if self.both != other.both {
            let (one, both) = if self.both { (other, self) } else { (self, other) };
            return Ok(Some(format!(
                "Times are from one message to the next: of {} over both directions together (--both), of {} in one. They tell how much both \
                 carry, and not how long a message is on its way.",
                plain(&both.name),
                plain(&one.name),
            )));
        }
        if self.time == other.time {
            return Ok(None);
        }
        let (one, many) = if self.time == TimeKind::Spacing { (other, self) } else { (self, other) };
        Ok(Some(format!(
            "Times are from one transfer to the next over all connections at once: of {} ({}) its {}, of {} ({}) less than a transfer takes. \
             They tell how much both carry, and not how long a message is on its way.",
            plain(&one.name),
            one.topology.counted(one.flows),
            time_label(one.time),
            plain(&many.name),
            many.topology.counted(many.flows),
        )))
    }
}

#[cfg(test)]
mod tests {
    use measure::Pattern;
    use measure::event::PathPlan;

    use super::*;

    fn basis(name: &str, pattern: Pattern, time: TimeKind, change: impl Fn(&mut PathPlan)) -> Basis {
        let mut plan = Plan { pattern, ..Plan::default() };
        change(&mut plan.paths[0]);
        Basis::new(&plan, 0, name.to_owned(), time)
    }

    #[test]
    fn one_pair_and_two_compare_by_the_spacing_of_their_transfers() {
        let pairs = |n: u32, time| {
            basis(&format!("unix:pairs={n}"), Pattern::PingPong, time, move |p| {
                (p.flows, p.topology) = (n, Topology::Pairs)
            })
        };
        let (one, two, four) =
            (pairs(1, TimeKind::HalfRoundTrip), pairs(2, TimeKind::Spacing), pairs(4, TimeKind::Spacing));
        let said = one.against(&two).unwrap().unwrap();
        assert!(said.contains("of unix:pairs=1 (1 pair) its RTT/2, of unix:pairs=2 (2 pairs) less"), "{said}");
        assert_eq!(two.against(&one).unwrap().unwrap(), said);
        assert_eq!(two.against(&four), Ok(None));
        let requests = basis("r", Pattern::Request, TimeKind::Spacing, |p| p.flows = 2);
        assert!(two.against(&requests).unwrap_err().contains("with the same --pattern"));
    }

    #[test]
    fn paths_of_several_offered_rates_are_not_compared_by_the_schedules_spacing() {
        let at = |rate: Option<f64>| basis("udp", Pattern::Stream, TimeKind::OneWay, move |p| p.offered = rate);
        assert_eq!(at(Some(1e7)).against(&at(Some(1e7))), Ok(None));
        let said = at(Some(1e7)).against(&at(Some(2e7))).unwrap_err();
        assert!(said.contains("10.0 Mbit/s on a schedule") && said.contains("pipegauge show"), "{said}");
        assert!(at(None).against(&at(Some(2e7))).unwrap_err().contains("udp sent as fast as it could"));
    }

    #[test]
    fn both_directions_beside_one_come_with_a_word() {
        let of = |name: &str, both| {
            let plan = Plan { pattern: Pattern::Stream, both, ..Plan::default() };
            Basis::new(&plan, 0, name.to_owned(), TimeKind::OneWay)
        };
        let said = of("one", false).against(&of("two", true)).unwrap().unwrap();
        assert!(said.contains("of two over both directions together (--both), of one in one"), "{said}");
        assert_eq!(of("two", true).against(&of("one", false)), Ok(Some(said)));
        assert_eq!(of("a", true).against(&of("b", true)), Ok(None));
    }

    #[test]
    fn a_copy_is_no_transfer() {
        let copy = basis("memcpy", Pattern::PingPong, TimeKind::Copy, |_| ());
        let tcp = basis("tcp", Pattern::PingPong, TimeKind::HalfRoundTrip, |_| ());
        let said = copy.against(&tcp).unwrap_err();
        assert!(said.contains("a copy within a process") && !said.contains("same --pattern"), "{said}");
    }
}
