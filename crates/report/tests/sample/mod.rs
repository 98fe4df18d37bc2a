//! Made-up runs for tests and the sample page: modelled curves with noise from a seed. No figure here was measured.

use std::collections::BTreeMap;

use host::{Environment, Interface};
use measure::event::{
    Calibration, End, Figures, PathOpened, Percentiles, Plan, RoundOpened, Run, SCHEMA, TimeKind, Trial, Warning, Why,
};
use measure::figures::cost::{End as Side, costs};
use measure::{Cost, TrialReport};
use record::{Costs, PathRun, Point, RunFile};
use transport::Name;
use transport::settings::Effective;

/// A modelled path: latency in seconds, rate in bits a second, size beyond which the rate falls, and to what share.
pub struct Model {
    pub kind: Name,
    pub latency: f64,
    pub rate: f64,
    pub cache: u64,
    pub beyond: f64,
}

/// The four paths of a first run.
pub const MODELS: [Model; 4] = [
    Model { kind: transport::memcpy::NAME, latency: 12e-9, rate: 92e9, cache: 1 << 20, beyond: 0.62 },
    Model { kind: transport::shm::NAME, latency: 0.14e-6, rate: 66e9, cache: 1 << 20, beyond: 0.7 },
    Model { kind: transport::unix::NAME, latency: 6.1e-6, rate: 34e9, cache: 1 << 18, beyond: 0.85 },
    Model { kind: transport::tcp::NAME, latency: 9.3e-6, rate: 39e9, cache: 1 << 19, beyond: 0.8 },
];

/// A generator of numbers in -1..1, the same for the same seed.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// A run of the four paths, sizes as in the paper's schedule.
pub fn run(seed: u64) -> RunFile {
    run_of(&MODELS, &sizes(), 5, seed)
}

/// Powers of two and their neighbours at three bytes' distance, and the middles between them, to 8 MiB.
pub fn sizes() -> Vec<u64> {
    let mut sizes: Vec<u64> = (0..=23u32)
        .flat_map(|e| [1u64 << e, (1u64 << e) * 3 / 2])
        .flat_map(|s| [s.saturating_sub(3), s, s + 3])
        .filter(|&s| s > 0 && s <= (8 << 20) + 3)
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// A run of any modelled paths.
pub fn run_of(models: &[Model], sizes: &[u64], rounds: u32, seed: u64) -> RunFile {
    let mut noise = Noise(seed);
    let paths: Vec<PathRun> =
        models.iter().enumerate().map(|(i, m)| path(i as u32, m, sizes, rounds, &mut noise)).collect();
    let warned: Vec<u64> = sizes.iter().copied().filter(|s| (9_000..14_000).contains(s)).collect();
    let last = models.len().saturating_sub(1) as u32;
    RunFile {
        run: header(&models.iter().map(|m| m.kind).collect::<Vec<_>>(), seed),
        warnings: vec![
            Warning {
                code: "noisy".into(),
                path: Some(last),
                sizes: warned,
                text:
                    "the messages differ by 34%: other processes used the pinned CPUs; measure again when the machine is \
                       quiet, or pin to CPUs that nobody uses (--pin)"
                        .into(),
            },
            Warning {
                code: "closed-loop".into(),
                path: None,
                sizes: vec![],
                text:
                    "ping-pong sends only after an answer, so pauses of the far side are seen once each; use --rate to \
                       see what a caller on a schedule would wait"
                        .into(),
            },
        ],
        end: Some(End { at: 41.8, error: None, cpu_interference: Some(0.013), taken: None }),
        cut: None,
        paths,
    }
}

fn header(transports: &[Name], seed: u64) -> Run {
    Run {
        schema: SCHEMA.into(),
        version: "0.1.0".into(),
        started: "2026-11-21T21:10:33Z".into(),
        command: ["pipegauge", "run", "memcpy", "shm", "unix", "tcp"].map(str::to_owned).to_vec(),
        plan: Plan { paths: measure::event::plain(transports), pin: Some((0, 1)), seed, ..Plan::default() },
        near: environment(0),
        calibration: Calibration { clock_cost_ns: 23.1, clock_step_ns: 1.0, loop_cost_ns: 1.4 },
        side: None,
    }
}

fn environment(cpu: u32) -> Environment {
    Environment {
        hostname: "bench-1".into(),
        kernel: "Linux 6.18.0".into(),
        os: Some("Debian GNU/Linux 12 (bookworm)".into()),
        cpu: Some("Example CPU at 2.50GHz".into()),
        cpus: vec![0, 1],
        last_level_cache: Some(32 << 20),
        governor: Some("performance".into()),
        clock_source: Some("tsc".into()),
        hypervisor: Some("kvm".into()),
        memory: Some(24 << 30),
        interfaces: vec![Interface { name: "lo".into(), mtu: 65536, state: "up".into(), ..Interface::default() }],
        sysctls: BTreeMap::from([
            ("net.core.rmem_max".to_owned(), "212992".to_owned()),
            ("net.ipv4.tcp_congestion_control".to_owned(), "cubic".to_owned()),
        ]),
        settings: BTreeMap::new(),
        versions: BTreeMap::from([("pipegauge".to_owned(), "0.1.0".to_owned())]),
        load: Some((0.12, 0.2, 0.18)),
        pinned: Some(cpu),
    }
}

fn path(number: u32, m: &Model, sizes: &[u64], rounds: u32, noise: &mut Noise) -> PathRun {
    let two = m.kind != transport::memcpy::NAME;
    let effective = Effective {
        send_buffer: two.then_some(2_626_560),
        receive_buffer: two.then_some(131_072),
        congestion: (m.kind == transport::tcp::NAME).then(|| "cubic".to_owned()),
        nodelay: (m.kind == transport::tcp::NAME).then_some(true),
        ..Effective::default()
    };
    PathRun {
        earlier: None,
        others: Vec::new(),
        opened: PathOpened {
            path: number,
            transport: m.kind,
            label: None,
            capabilities: m.kind.capabilities(),
            far: two.then(|| environment(1)),
            near_effective: effective.clone(),
            far_effective: effective,
            flows: Vec::new(),
            members: Vec::new(),
            load: None,
        },
        taken: Vec::new(),
        rounds: (0..rounds)
            .map(|b| RoundOpened {
                path: number,
                round: b,
                at: f64::from(b) * 2.1,
                planned: 12,
                ..RoundOpened::default()
            })
            .collect(),
        points: sizes.iter().map(|&s| point(number, m, s, rounds, noise)).collect(),
        sustained: Vec::new(),
        worst: Vec::new(),
        common: measure::figures::Common::default(),
    }
}

fn seconds(m: &Model, size: u64) -> f64 {
    let fast = size.min(m.cache) as f64;
    let slow = size.saturating_sub(m.cache) as f64;
    m.latency + 8.0 * (fast + slow / m.beyond) / m.rate
}

/// Times of single iterations about a median: most near it, a tail of slow ones.
fn histogram(median: f64, repeats: u64) -> Vec<(u64, u64)> {
    const SHAPE: [(f64, f64); 9] = [
        (0.95, 0.06),
        (0.97, 0.17),
        (0.99, 0.24),
        (1.0, 0.22),
        (1.02, 0.16),
        (1.05, 0.09),
        (1.3, 0.05),
        (1.8, 0.009),
        (2.8, 0.001),
    ];
    let mut left = repeats;
    let mut pairs: Vec<(u64, u64)> = Vec::new();
    for (factor, share) in SHAPE {
        let count = ((repeats as f64 * share).round() as u64).min(left);
        left -= count;
        pairs.push(((median * factor * 1e9) as u64, count));
    }
    pairs[3].1 += left;
    pairs.retain(|(_, count)| *count > 0);
    pairs.dedup_by(|b, a| (a.0 == b.0).then(|| a.1 += b.1).is_some());
    pairs
}

fn point(number: u32, m: &Model, size: u64, rounds: u32, noise: &mut Noise) -> Point {
    let median = seconds(m, size) * (1.0 + 0.012 * noise.next());
    let half = 0.008 + 0.02 * noise.next().abs();
    let time = if m.kind == transport::memcpy::NAME { TimeKind::Copy } else { TimeKind::HalfRoundTrip };
    let two = m.kind != transport::memcpy::NAME;
    let trial = |round: u32, noise: &mut Noise| {
        let one = median * (1.0 + half * noise.next());
        let repeats = (0.02 / one).clamp(3.0, 1e5) as u64;
        let report = TrialReport {
            repeats,
            seconds: one * 2.0 * repeats as f64,
            histogram: if two { histogram(one * 2.0, repeats) } else { Vec::new() },
            median: one * 2.0,
            ..TrialReport::default()
        };
        let at = f64::from(round) * 2.1 + 0.01;
        Trial { path: number, round, at, size, response: 0, burst: 0, warmup: round == 0, report }
    };
    let trials: Vec<Trial> = (0..rounds).map(|b| trial(b, noise)).collect();
    let spread = median * half;
    Point {
        size,
        figures: Figures {
            rounds,
            trials: rounds,
            iterations: trials.iter().map(|t| t.report.repeats).sum(),
            min: median * (1.0 - 1.9 * half),
            median,
            mean: median * 1.01,
            variance: spread * spread,
            low: median - spread,
            high: median + spread * 1.2,
            repeat_low: None,
            repeat_high: None,
            percentiles: (m.kind != transport::memcpy::NAME).then_some(Percentiles {
                p50: median,
                p90: Some(median * 1.08),
                p99: Some(median * 1.6),
                p999: Some(median * 2.4),
                max: median * 14.0,
            }),
            throughput: size as f64 * 8.0 / median,
            ..Figures::default()
        },
        costs: Costs::NONE,
        ways: None,
        trials: trials.into(),
        time,
        why: Some(if half < 0.02 { Why::Precision } else { Why::Budget }),
    }
}

/// The run with what its trials cost both sides: 400 ns and 3 in 10 of its time there, as much on the far side of paths that have one.
pub fn costly(mut run: RunFile) -> RunFile {
    let plan = run.run.plan.clone();
    for path in &mut run.paths {
        for trial in path.points.iter_mut().flat_map(|p| p.trials.plain()) {
            let report = &mut trial.report;
            let cpu_ns = (0.3 * report.seconds * 1e9) as u64 + 400 * report.repeats;
            let cost = Cost {
                iterations: report.repeats,
                elapsed_ns: (report.seconds * 1e9) as u64 + 400 * report.repeats,
                cpu_ns,
                user_ns: cpu_ns / 4,
                system_ns: cpu_ns - cpu_ns / 4,
                step_ns: 4_000,
                voluntary: report.repeats,
                involuntary: 1,
                cycles: 3 * cpu_ns,
                instructions: 4 * cpu_ns,
            };
            report.cost = Some(cost);
            report.far.cost = path.opened.capabilities.two_ended.then_some(cost);
        }
        let trials = path.points.iter().map(|p| p.trials.all());
        let [near, far] = Side::BOTH.map(|end| costs(&plan, path.opened.transport, end, trials.clone()));
        let costs: Vec<Costs> = near.zip(far).map(|(near, far)| Costs::new(near, far)).collect();
        path.points.iter_mut().zip(costs).for_each(|(p, costs)| p.costs = costs);
    }
    run
}

/// A run of one path, idle and under each of these numbers of loading flows, which slow it down as if by so many paths of [`MODELS`].
#[allow(dead_code, reason = "not every test program draws it")]
pub fn loaded(flows: &[u32], cpus: (u32, u32)) -> RunFile {
    use measure::event::{LoadFigures, LoadOpened, PathPlan};
    use measure::{Carried, Load, LoadDirection};
    let first = MODELS.last().expect("there are models");
    let all: Vec<Model> = (0..=flows.len()).map(|_| Model { ..*first }).collect();
    let mut run = run_of(&all, &[64], 8, 7);
    let reports = |path: &mut PathRun, change: &dyn Fn(&mut TrialReport)| {
        path.points.iter_mut().flat_map(|p| p.trials.plain()).for_each(|t| change(&mut t.report));
    };
    for (i, flows) in flows.iter().enumerate() {
        let load = Load { flows: *flows, direction: LoadDirection::Same, size: 128 << 10 };
        run.run.plan.paths[i + 1] = PathPlan { load: Some(load), ..run.run.plan.paths[0].clone() };
        let path = &mut run.paths[i + 1];
        path.opened.label = Some(format!("{}:load={flows}", path.opened.transport));
        path.opened.load = Some(LoadOpened { near_cpus: vec![cpus.0], far_cpus: vec![cpus.1] });
        for point in &mut path.points {
            let slower = 1.0 + f64::from(*flows);
            let f = &mut point.figures;
            f.load = Some(LoadFigures { there: Some(9e9), back: None });
            (f.median, f.low, f.high) = (f.median * slower, f.low * slower, f.high * slower);
        }
        reports(path, &|report| {
            let slower = 1.0 + f64::from(*flows);
            report.load = Some(Carried { there: Some(9e9 / 8.0), back: None });
            (report.median, report.seconds) = (report.median * slower, report.seconds * slower);
            report.histogram.iter_mut().for_each(|(ns, _)| *ns = (*ns as f64 * slower) as u64);
        });
    }
    let longest = |report: &mut TrialReport| {
        report.max = report.histogram.iter().map(|(ns, _)| *ns as f64 * 1e-9).fold(0.0, f64::max);
    };
    run.paths.iter_mut().for_each(|path| reports(path, &longest));
    run
}

/// A stream at each of these offered rates, of whose 1,000 messages a round so many did not come.
#[allow(dead_code, reason = "not every test program draws it")]
pub fn offered(rates: &[(f64, u64)]) -> RunFile {
    use measure::event::PathPlan;
    let model = MODELS.last().expect("there are models");
    let all: Vec<Model> = rates.iter().map(|_| Model { ..*model }).collect();
    let mut run = run_of(&all, &[1448], 8, 7);
    run.run.plan.pattern = measure::Pattern::Stream;
    for (i, (rate, lost)) in rates.iter().enumerate() {
        run.run.plan.paths[i] = PathPlan { offered: Some(*rate), ..run.run.plan.paths[0].clone() };
        let path = &mut run.paths[i];
        path.opened.label =
            Some(format!("{}:offered={}", path.opened.transport, units::short(*rate, units::Kind::BitsPerSecond)));
        for point in &mut path.points {
            point.time = TimeKind::OneWay;
            point.figures.sender_throughput = Some(*rate);
            for (n, trial) in point.trials.plain().iter_mut().enumerate() {
                // Rounds differ in what they lose.
                let lost = if *lost > 0 { lost + n as u64 % 3 - 1 } else { 0 };
                (trial.report.far.lost, trial.report.far.received) = (lost, 1000 - lost);
            }
        }
    }
    run
}

/// A stream over each of these numbers of flows, of which each carries as much as any other.
#[allow(dead_code, reason = "not every test program draws it")]
pub fn flows(numbers: &[u32], sizes: &[u64]) -> RunFile {
    use measure::event::PathPlan;
    let model = MODELS.last().expect("there are models");
    let rate = |flows: &u32| Model { rate: model.rate * f64::from(*flows), ..*model };
    let all: Vec<Model> = numbers.iter().map(rate).collect();
    let mut run = run_of(&all, sizes, 8, 7);
    run.run.plan.pattern = measure::Pattern::Stream;
    for (i, flows) in numbers.iter().enumerate() {
        run.run.plan.paths[i] = PathPlan { flows: *flows, ..run.run.plan.paths[0].clone() };
        run.paths[i].opened.label = (*flows > 1).then(|| format!("{}:flows={flows}", run.paths[i].opened.transport));
        run.paths[i].points.iter_mut().for_each(|point| point.time = TimeKind::OneWay);
    }
    run
}

/// A run of so many paths with long names that end near each other.
#[allow(dead_code, reason = "not every test program draws it")]
pub fn crowd(paths: usize) -> RunFile {
    let model = MODELS.last().expect("there are models");
    let faster = |i: usize| 1.0 + 0.03 * i as f64;
    let all: Vec<Model> = (0..paths)
        .map(|i| Model { latency: model.latency * faster(i), rate: model.rate / faster(i), ..*model })
        .collect();
    let mut run = run_of(&all, &sizes(), 8, 7);
    for (i, path) in run.paths.iter_mut().enumerate() {
        path.opened.label = Some(format!("tcp:sockbuf={}", units::Bytes(1 << (10 + i)).to_string().replace(' ', "")));
    }
    run
}
