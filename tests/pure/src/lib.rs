//! Figures that `units`, `stats`, `workload` and `model` make of data known beforehand, so that a module of them for WebAssembly holds
//! those crates, and shows that they reckon there as they do here. `check.mjs` tells what is tested.

use std::slice::from_ref;

use model::{Comparison, CurvePoint, Fits, Quips, Side, Summary, answer, overheads};
use workload::hint::{Kernel, Precision, Team};

/// Every figure with its name, in a fixed order.
pub fn figures() -> Vec<(&'static str, f64)> {
    let (plain, slower) = (curve(1e-5, 1e-9), curve(1.3e-5, 1e-9));
    let mut all = Vec::new();
    if let Some(s) = Summary::of(&plain, 1) {
        all.extend([("latency", s.latency.low), ("maximum", s.max_throughput.high)]);
        all.extend(s.per_byte.map(|e| ("small slope", e.value)));
        all.extend(s.half_power.map(|e| ("half power", e.high)));
        all.extend(answer::size_to_use(&plain, 7).ok().map(|found| ("size to use", found.size.value)));
    }
    if let Some(f) = Fits::of(&plain, 2) {
        all.extend(f.latency.all.map(|l| ("t0", l.t0.low)));
        all.extend(f.bandwidth.map(|b| ("Rmax", b.r_max.high)));
        all.extend(f.saturation.map(|s| ("saturation", s.point.value)));
    }
    if let Some(c) = Comparison::of(Side::of(from_ref(&plain)), Side::of(from_ref(&slower))) {
        all.extend([("ratio", c.whole.high), ("stretches", c.stretches.len() as f64)]);
    }
    all.extend(overheads(&plain, &slower).first().map(|o| ("layer", o.extra.high)));
    all.extend(answer::arrival(&plain, 5000, None).ok().map(|a| ("arrival", a.seconds.value)));
    let pairs: Vec<(f64, f64)> = plain.iter().zip(&slower).map(|(a, b)| (a.seconds, b.seconds)).collect();
    all.push(("bootstrap", stats::bootstrap_ratio(&pairs, 200, 3).1.low));
    let mut histogram = stats::Histogram::new();
    (1..500).for_each(|n| histogram.record(n * n));
    all.push(("p99", histogram.quantile(0.99) as f64));
    all.extend(Quips::of(&plain, 4).map(|q| ("Net QUIPS", q.net.low)));
    let mut kernel = Kernel::new(Precision::DOUBLE);
    if kernel.reserve(1000).is_ok() {
        let sums = kernel.run(Team::of_two(1), 1000);
        all.extend([("sl", sums.low), ("sh", sums.high)]);
    }
    all.extend("64KiB".parse::<units::Bytes>().ok().map(|b| ("64 KiB", b.0 as f64)));
    all.push(("written", units::Seconds(1.5e-6).to_string().len() as f64));
    all.extend(broken::figures());
    all
}

/// `t0 + b B` over 60 sizes in ten rounds, with noise that repeats after 97 steps.
fn curve(t0: f64, b: f64) -> Vec<CurvePoint> {
    let mut step = 0;
    let mut noisy = |seconds: f64| {
        step = (step + 31) % 97;
        seconds * (1.0 + 0.01 * (f64::from(step) / 96.0 - 0.5))
    };
    (0..60)
        .map(|i| (1.3f64.powi(i)) as u64 + i as u64)
        .map(|size| {
            let rounds: Vec<(u32, f64)> = (0..10).map(|n| (n, noisy(t0 + b * size as f64))).collect();
            let seconds = stats::median(&rounds.iter().map(|b| b.1).collect::<Vec<_>>());
            CurvePoint { size, seconds, rounds, throughput: size as f64 * 8.0 / seconds, interval: None, rounding: 0.0 }
        })
        .collect()
}

/// How many figures there are.
#[unsafe(no_mangle)]
pub extern "C" fn count() -> u32 {
    figures().len() as u32
}

/// The figure of this number; NaN beyond the last.
#[unsafe(no_mangle)]
pub extern "C" fn figure(number: u32) -> f64 {
    figures().get(number as usize).map_or(f64::NAN, |f| f.1)
}

/// What the test must find; nothing without a feature.
mod broken {
    pub fn figures() -> Vec<(&'static str, f64)> {
        vec![
            #[cfg(feature = "clock")]
            ("clock", std::time::Instant::now().elapsed().as_secs_f64()),
            #[cfg(feature = "print")]
            ("print", said()),
            #[cfg(feature = "files")]
            ("files", std::fs::read("a file").map_or(0.0, |bytes| bytes.len() as f64)),
            #[cfg(feature = "chance")]
            ("chance", std::collections::HashMap::from([(1, 2.0), (3, 4.0)]).into_values().next().unwrap_or(0.0)),
            #[cfg(feature = "import")]
            ("import", now()),
        ]
    }

    #[cfg(feature = "print")]
    fn said() -> f64 {
        println!("a line");
        0.0
    }

    #[cfg(feature = "import")]
    #[cfg_attr(target_arch = "wasm32", link(wasm_import_module = "host"))]
    unsafe extern "C" {
        safe fn now() -> f64;
    }
}
