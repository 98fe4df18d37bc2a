//! What a peer may ask for. Every number that comes from the other side passes through here before anything uses it.

use std::time::Duration;

use measure::event::Plan;
use measure::flows;
use measure::{Load, TrialSpec};
use serde::{Deserialize, Serialize};
use transport::options::Form;
use transport::{Capabilities, Ends, Settings, Transport, registry};

/// Bounds on what a near side may ask of a far side.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Largest message, bytes.
    pub max_block: u64,
    /// Longest measurement, from meeting to end, seconds.
    pub max_seconds: f64,
    /// Most memory for messages, bytes.
    pub max_memory: u64,
    /// Most data connections at a time, those of loading flows among them.
    pub max_flows: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_block: 1 << 30, max_seconds: 3600.0, max_memory: 4 << 30, max_flows: flows::MOST }
    }
}

/// No path that exists moves bytes or starts iterations faster: a trial that would be too long even so is refused.
const FASTEST: f64 = 1e12;
const SHORTEST: f64 = 10e-9;

impl Limits {
    /// For a far side that the near side started itself: it belongs to the same person.
    pub(crate) fn own() -> Self {
        Self { max_block: 1 << 46, max_seconds: 1e9, max_memory: 1 << 46, max_flows: flows::MOST }
    }

    /// The longest measurement as a time, whatever number it was given as.
    pub(crate) fn time(&self) -> Duration {
        let ten_years = 3.2e8;
        Duration::from_secs_f64(if self.max_seconds >= 0.0 { self.max_seconds.min(ten_years) } else { ten_years })
    }

    /// Whether a path of so many flows with these settings, which `load` fills, may be opened; the error says why not.
    pub(crate) fn path(
        &self,
        transport: &dyn Transport,
        settings: &Settings,
        patience: f64,
        flows: u32,
        load: Option<&Load>,
    ) -> Result<(), String> {
        let name = transport.name();
        if transport.ends() != Ends::Two {
            return Err(format!("{name} needs no far side"));
        }
        within("patience", patience, 0.01, 3600.0)?;
        if !(1..=self.max_flows).contains(&flows) {
            return Err(format!("{flows} flows are asked for; 1 to {} are allowed (--max-flows)", self.max_flows));
        }
        settings.check(transport.options()).map_err(|e| format!("{name}: {e}"))?;
        let flows = match load {
            None => flows,
            Some(load) => self.load(load, flows, transport.capabilities(settings).max_block)?,
        };
        for option in transport.options().iter().filter(|o| matches!(o.form, Form::Bytes(..))) {
            let each = settings.whole(option.name).unwrap_or(0);
            at_most(&format!("{name}: {}", option.name), each, self.max_memory)?;
            let what = format!("{name}: {} of {flows} flows", option.name);
            at_most(&what, each.saturating_mul(flows.into()), self.max_memory)?;
        }
        Ok(())
    }

    /// Connections of a path of so many flows under this load, if it may be loaded so.
    fn load(&self, load: &Load, flows: u32, most: Option<u64>) -> Result<u32, String> {
        load.check()?;
        let all = flows.saturating_add(load.connections());
        if all > self.max_flows {
            return Err(format!(
                "{flows} flows and {} loading connections are asked for; {} are allowed together (--max-flows)",
                load.connections(),
                self.max_flows
            ));
        }
        at_most("a message of a loading flow", load.size, self.max_block.min(most.unwrap_or(u64::MAX)))?;
        // Each side has memory for a message of each connection.
        let memory = u128::from(load.size) * u128::from(load.connections());
        if memory > u128::from(self.max_memory) {
            return Err(format!(
                "this load needs {} of memory for messages, more than the limit of {}",
                size_text(memory),
                size_text(self.max_memory.into())
            ));
        }
        Ok(all)
    }

    /// Whether this trial may be run on a path with these capabilities when `left` of the measurement's time is left; the
    /// error says why not.
    pub(crate) fn trial(&self, spec: &TrialSpec, capabilities: &Capabilities, left: Duration) -> Result<(), String> {
        fits(spec, capabilities)?;
        let facts = spec.pattern.facts();
        let (there, back) = (facts.messages)(spec);
        for (what, size) in [("a message", there), ("an answer", back)] {
            at_most(what, size, self.max_block)?;
            if let Some(most) = capabilities.max_block {
                at_most(what, size, most).map_err(|e| format!("{e} on this transport"))?;
            }
        }
        if spec.size == 0 || (facts.responds && spec.response == 0) {
            return Err("a message has at least 1 byte".into());
        }
        (facts.whole)(spec)?;
        if spec.repeats == 0 {
            return Err("a trial has at least 1 iteration".into());
        }
        if !spec.align.is_power_of_two() {
            return Err(format!("an alignment is a power of two, not {}", spec.align));
        }
        at_most("an alignment", spec.align, 1 << 30)?;
        at_most("an offset", spec.offset.0.max(spec.offset.1), 1 << 30)?;
        if let Some(rate) = spec.rate {
            within("the rate", rate, 1e-3, 1e9)?;
        }
        if let Some(offered) = spec.offered {
            within("the rate offered, bits a second,", offered, 1e-3, 1e18)?;
        }
        let memory = measure::buffers::reserved(spec) * u128::from(spec.flows);
        if memory > u128::from(self.max_memory) {
            return Err(format!(
                "this trial needs {} of memory for {}, more than the limit of {}",
                size_text(memory),
                if (facts.memory)(spec) > 0 { facts.size.words(spec.size) } else { "messages".to_owned() },
                size_text(self.max_memory.into())
            ));
        }
        let needs = shortest(spec);
        if needs > left.as_secs_f64() {
            return Err(format!(
                "this trial takes at least {needs:.1} s, but {:.1} s are left of the limit of {} s for a measurement",
                left.as_secs_f64(),
                self.max_seconds
            ));
        }
        Ok(())
    }
}

/// Whether every far side, also one that the near side starts itself, would refuse what `plan` asks of its two-ended
/// transports; the error says why. A serving side may allow less, which only it knows.
pub fn check(plan: &Plan) -> Result<(), String> {
    let limits = Limits::own();
    for path in &plan.paths {
        let Some(transport) = registry::find(path.transport).filter(|t| t.ends() == Ends::Two) else { continue };
        let connections = path.flows.saturating_mul(if plan.both { 2 } else { 1 });
        limits.path(transport, &path.settings, plan.patience, connections, path.load.as_ref())?;
        let capabilities = transport.capabilities(&path.settings);
        // The largest size that is tried; larger ones are left out.
        let size = (plan.pattern.facts().largest)(plan, &capabilities);
        let spec = TrialSpec { warmup: 0, flows: connections, ..TrialSpec::of(plan, size, 1) };
        limits.trial(&spec, &capabilities, limits.time())?;
    }
    Ok(())
}

/// Whether the transport can do the pattern at all.
fn fits(spec: &TrialSpec, capabilities: &Capabilities) -> Result<(), String> {
    let facts = spec.pattern.facts();
    if let Some(why) = (facts.refuses)(capabilities) {
        return Err(format!("this transport can't do the {} pattern: {why}", spec.pattern.name()));
    }
    if let Some(why) =
        Some(spec).filter(|s| s.reverse).and_then(|s| facts.keeps_direction(s.pattern.name(), capabilities))
    {
        return Err(why);
    }
    if let Some(why) = facts.keeps_single(spec.pattern.name(), spec.flows, capabilities) {
        return Err(why);
    }
    if let Some(why) = Some(spec).filter(|s| s.both).and_then(|s| facts.keeps_one_way(s.pattern.name(), capabilities)) {
        return Err(why);
    }
    if spec.both && (spec.reverse || spec.flows < 2 || !spec.flows.is_multiple_of(2)) {
        return Err(format!("both directions at once need as many flows each way, and not {} in all", spec.flows));
    }
    let several = spec.flows > if spec.both { 2 } else { 1 };
    // A group has one sender, whatever receives.
    if several && !capabilities.group && (spec.rate.is_some() || spec.offered.is_some()) {
        return Err("several flows send as fast as they can, and not on a schedule".to_owned());
    }
    if spec.offered.is_some() && !facts.unanswered {
        return Err(format!("the {} pattern waits for answers and offers no rate", spec.pattern.name()));
    }
    if spec.rate.is_some() && (!capabilities.poll || facts.on_schedule.is_none()) {
        return Err(format!("this transport can't send the {} pattern on a schedule (open loop)", spec.pattern.name()));
    }
    Ok(())
}

/// Seconds that the trial can't be shorter than.
fn shortest(spec: &TrialSpec) -> f64 {
    let facts = spec.pattern.facts();
    let iterations = spec.repeats as f64 + spec.warmup as f64;
    let (there, back) = (facts.messages)(spec);
    let messages = facts.many(spec) as f64;
    // The messages of a burst go one way, and a single one the other.
    let (many, one) = if spec.reverse { (back, there) } else { (there, back) };
    let bytes = many as f64 * messages + one as f64;
    let on_path = (bytes / FASTEST).max(SHORTEST * messages);
    iterations * on_path.max((facts.least_work)(spec)).max(spec.gap().unwrap_or(0.0))
}

fn at_most(what: &str, found: u64, most: u64) -> Result<(), String> {
    if found <= most {
        return Ok(());
    }
    Err(format!("{what} of {} is larger than the limit of {}", size_text(found.into()), size_text(most.into())))
}

fn within(what: &str, found: f64, least: f64, most: f64) -> Result<(), String> {
    // Written so that a NaN is refused as well.
    if found >= least && found <= most {
        Ok(())
    } else {
        Err(format!("{what} is {found}; {least} to {most} is allowed"))
    }
}

fn size_text(bytes: u128) -> String {
    units::Bytes(u64::try_from(bytes).unwrap_or(u64::MAX)).to_string()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use measure::{Cache, Pattern};
    use proptest::prelude::*;
    use transport::Value;

    pub(crate) fn capable() -> Capabilities {
        Capabilities { max_block: Some(1 << 31), connects: true, local_only: false, ..Capabilities::plain() }
    }

    fn spec() -> TrialSpec {
        TrialSpec { burst: 1, warmup: 10, seed: 1, ..TrialSpec::plain(Pattern::PingPong, 1024, 100) }
    }

    const HOUR: Duration = Duration::from_secs(3600);

    fn refused(change: impl FnOnce(&mut TrialSpec)) -> String {
        let mut spec = spec();
        change(&mut spec);
        Limits::default().trial(&spec, &capable(), HOUR).expect_err("should be refused")
    }

    #[test]
    fn an_ordinary_trial_is_allowed() {
        Limits::default().trial(&spec(), &capable(), HOUR).unwrap();
    }

    #[test]
    fn each_excess_is_refused_in_words() {
        assert!(refused(|s| s.size = (1 << 30) + 1).contains("larger than the limit"));
        assert!(refused(|s| s.size = u64::MAX).contains("larger than the limit"));
        assert!(refused(|s| s.size = 0).contains("at least 1 byte"));
        assert!(refused(|s| s.repeats = 0).contains("at least 1 iteration"));
        assert!(refused(|s| s.repeats = u64::MAX).contains("takes at least"));
        assert!(refused(|s| s.warmup = u64::MAX).contains("takes at least"));
        assert!(refused(|s| s.align = 3).contains("power of two"));
        assert!(refused(|s| s.align = 0).contains("power of two"));
        assert!(refused(|s| s.align = 1 << 40).contains("alignment"));
        assert!(refused(|s| s.offset = (0, u64::MAX)).contains("offset"));
        assert!(refused(|s| s.rate = Some(f64::NAN)).contains("rate"));
        assert!(refused(|s| s.rate = Some(-1.0)).contains("rate"));
        assert!(refused(|s| (s.rate, s.repeats) = (Some(0.01), 1000)).contains("takes at least"));
        let stream = |s: &mut TrialSpec, offered| (s.pattern, s.offered) = (Pattern::Stream, Some(offered));
        for bits in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
            assert!(refused(|s| stream(s, bits)).contains("the rate offered"), "{bits}");
        }
        assert!(refused(|s| stream(s, 100.0)).contains("takes at least"), "82 s a message");
        assert!(refused(|s| s.offered = Some(1e6)).contains("offers no rate"));
        assert!(refused(|s| s.reverse = true).contains("no direction"));
        assert!(refused(|s| (s.pattern, s.size) = (Pattern::Hint, u64::MAX)).contains("subintervals, more"));
        assert!(refused(|s| (s.pattern, s.size) = (Pattern::Hint, 3)).contains("starts from 4"));
        assert!(
            refused(|s| (s.pattern, s.size, s.repeats) = (Pattern::Hint, 1 << 20, 1 << 30)).contains("takes at least")
        );
        assert!(refused(|s| (s.cache, s.pool) = (Cache::Cold, u64::MAX)).contains("memory"));
        assert!(refused(|s| (s.pattern, s.burst) = (Pattern::Burst, 0)).contains("burst"));
        assert!(refused(|s| (s.pattern, s.response) = (Pattern::Request, u64::MAX)).contains("answer"));
        assert!(refused(|s| (s.pattern, s.response) = (Pattern::Connect, 0)).contains("at least 1 byte"));
        assert!(
            refused(|s| (s.pattern, s.burst, s.repeats) = (Pattern::Burst, u64::MAX, 1)).contains("takes at least")
        );
    }

    #[test]
    fn memory_is_counted_as_it_is_reserved() {
        let limits = Limits { max_memory: 200 << 20, ..Limits::default() };
        let refused = |spec: TrialSpec| limits.trial(&spec, &capable(), HOUR).unwrap_err();
        // A cold walk has two places at least in each of the two directions.
        assert!(refused(TrialSpec { cache: Cache::Cold, size: 64 << 20, ..spec() }).contains("memory"));
        // A place is as large as its alignment.
        assert!(refused(TrialSpec { cache: Cache::Cold, size: 1, align: 64 << 20, ..spec() }).contains("memory"));
        limits.trial(&TrialSpec { cache: Cache::Cold, size: 32 << 20, ..spec() }, &capable(), HOUR).unwrap();
        limits.trial(&TrialSpec { size: 64 << 20, ..spec() }, &capable(), HOUR).unwrap();
        // A subinterval of HINT takes 96 bytes, whatever the largest message is.
        let hint = |size| TrialSpec { pattern: Pattern::Hint, size, ..spec() };
        assert!(refused(hint((200 << 20) / 96)).contains("subintervals, more"));
        let small = Capabilities { max_block: Some(16), ..capable() };
        limits.trial(&hint((199 << 20) / 96), &small, HOUR).unwrap();
    }

    #[test]
    fn what_a_transport_cannot_do_is_refused() {
        let with = |pattern, rate, change: fn(&mut Capabilities)| {
            let mut capabilities = capable();
            change(&mut capabilities);
            Limits::default()
                .trial(&TrialSpec { pattern, rate, response: 1, ..spec() }, &capabilities, HOUR)
                .unwrap_err()
        };
        assert!(with(Pattern::Connect, None, |c| c.connects = false).contains("pattern"));
        assert!(with(Pattern::Bidirectional, None, |c| c.duplex = false).contains("pattern"));
        assert!(with(Pattern::Hint, None, |c| c.reliable = false).contains("pattern"));
        assert!(with(Pattern::PingPong, Some(10.0), |c| c.poll = false).contains("schedule"));
        assert!(with(Pattern::PingPong, None, |c| c.max_block = Some(10)).contains("this transport"));
    }

    #[test]
    fn settings_are_checked() {
        let (tcp, udp) = (&transport::tcp::TRANSPORT, &transport::udp::TRANSPORT);
        let refused = |to: &dyn Transport, option, value: Value| {
            Limits::default().path(to, &Settings::default().with(option, value), 10.0, 1, None).unwrap_err()
        };
        Limits::default().path(tcp, &Settings::default(), 10.0, 1, None).unwrap();
        for patience in [f64::INFINITY, f64::NAN, -1.0] {
            let e = Limits::default().path(tcp, &Settings::default(), patience, 1, None).unwrap_err();
            assert!(e.contains("patience"), "{e}");
        }
        assert!(refused(udp, "loss-timeout", 0.0.into()).contains("loss-timeout"));
        assert!(refused(tcp, "loss-timeout", 0.2.into()).contains("no option is named 'loss-timeout'"));
        assert!(refused(tcp, "sockbuf", u64::MAX.into()).contains("sockbuf"));
        assert!(refused(tcp, "sockbuf", "x".into()).contains("sockbuf"));
        assert!(refused(tcp, "mss", 40_000u64.into()).contains("88 to 32767"));
        assert!(refused(tcp, "congestion", "../../etc".into()).contains("congestion"));
        assert!(refused(tcp, "\u{1b}[2J", true.into()).chars().all(|c| !c.is_control()));
        let small = Limits { max_memory: 4096, ..Limits::default() };
        assert!(
            small
                .path(tcp, &Settings::default().with("sockbuf", 8192u64), 10.0, 1, None)
                .unwrap_err()
                .contains("limit")
        );
        let e = Limits::default().path(&transport::theory::TRANSPORT, &Settings::default(), 10.0, 1, None).unwrap_err();
        assert!(e.contains("no far side"), "{e}");
    }

    #[test]
    fn flows_are_few_and_have_the_memory_of_one_limit() {
        let tcp = &transport::tcp::TRANSPORT;
        let said = |flows, sockbuf: u64, limits: Limits| {
            limits.path(tcp, &Settings::default().with("sockbuf", sockbuf), 10.0, flows, None).unwrap_err()
        };
        for wrong in [0, 129, u32::MAX] {
            assert!(said(wrong, 4096, Limits::default()).contains("1 to 128"), "{wrong}");
        }
        assert!(said(5, 4096, Limits { max_flows: 4, ..Limits::default() }).contains("1 to 4"));
        let small = Limits { max_memory: 100 << 20, ..Limits::default() };
        assert!(said(8, 20 << 20, small).contains("sockbuf of 8 flows"));
        small.path(tcp, &Settings::default().with("sockbuf", 20u64 << 20), 10.0, 4, None).unwrap();
        let trial = |flows| TrialSpec { flows, size: 8 << 20, ..spec() };
        small.trial(&trial(4), &capable(), HOUR).unwrap();
        assert!(small.trial(&trial(8), &capable(), HOUR).unwrap_err().contains("limit of 100 MiB"));
        assert!(refused(|s| (s.flows, s.pattern) = (2, Pattern::Connect)).contains("--flows is for"));
        assert!(refused(|s| (s.flows, s.rate) = (2, Some(5.0))).contains("schedule"));
        assert!(refused(|s| (s.both, s.flows) = (true, 2)).contains("--both is for"));
        let both = |flows, reverse| {
            move |s: &mut TrialSpec| (s.both, s.reverse, s.flows, s.pattern) = (true, reverse, flows, Pattern::Stream)
        };
        for (flows, reverse) in [(1, false), (3, false), (2, true)] {
            assert!(refused(both(flows, reverse)).contains("as many flows each way"), "{flows} {reverse}");
        }
        assert!(refused(|s| s.flows = 0).contains("at least 1 flow"));
    }

    #[test]
    fn a_load_has_the_connections_messages_and_memory_of_one_limit() {
        use measure::LoadDirection::{Both, Same};
        let load = |flows, direction, size| Load { flows, direction, size };
        let of = |load: &Load, limits: Limits| {
            limits.path(&transport::tcp::TRANSPORT, &Settings::default(), 10.0, 1, Some(load))
        };
        let (all, few) = (Limits::default(), Limits { max_flows: 4, ..Limits::default() });
        of(&load(3, Same, 1 << 20), few).unwrap();
        for (wrong, limits, says) in [
            (load(0, Same, 1), all, "at least 1 loading flow"),
            (load(u32::MAX, Both, 1), all, "at most 127 connections"),
            (load(3, Both, 1), few, "1 flows and 6 loading connections"),
            (load(2, Both, 1), few, "4 are allowed together"),
            (load(1, Same, 0), all, "at least 1 byte"),
            (load(1, Same, u64::MAX), all, "larger than the limit of 1 GiB"),
            (load(64, Same, 1 << 30), all, "this load needs 64 GiB"),
        ] {
            let e = of(&wrong, limits).unwrap_err();
            assert!(e.contains(says), "{wrong:?}: {e}");
        }
        let e = all.path(&transport::udp::TRANSPORT, &Settings::default(), 10.0, 1, Some(&load(1, Same, 128 << 10)));
        assert!(e.unwrap_err().contains("a message of a loading flow of 128 KiB is larger"));
    }

    proptest! {
        #[test]
        fn no_numbers_make_it_panic(size: u64, response: u64, burst: u64, repeats: u64, warmup: u64, align: u64,
                                    offset: (u64, u64), pool: u64, rate: Option<f64>, cold: bool,
                                    offered: Option<f64>, reverse: bool, both: bool, flows: u32,
                                    pattern in 0..Pattern::ALL.len()) {
            let pattern = Pattern::ALL[pattern];
            let cache = if cold { Cache::Cold } else { Cache::Warm };
            let spec = TrialSpec { pattern, size, response, burst, repeats, warmup, align, offset, pool, rate, cache, offered, reverse, both, flows, ..spec() };
            let _ = Limits::default().trial(&spec, &capable(), HOUR);
            let _ = Limits::own().trial(&spec, &capable(), HOUR);
        }
    }
}
