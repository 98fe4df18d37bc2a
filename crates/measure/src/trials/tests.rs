use super::*;
use crate::{Carried, Cost, Course, FarReport, FlowReport, Flows, Tcp, TrialReport};

/// A trial with a value of its own in each field that is kept.
fn full(round: u32) -> Trial {
    let cost = Cost {
        iterations: 20,
        elapsed_ns: u64::MAX,
        cpu_ns: 22,
        user_ns: 23,
        system_ns: 24,
        step_ns: 25,
        voluntary: 26,
        involuntary: 127,
        cycles: 128,
        instructions: 16_384,
    };
    let far = FarReport {
        seconds: 0.5,
        bytes: 7,
        received: 8,
        lost: 9,
        reordered: 10,
        duplicated: 11,
        strangers: 37,
        corrupt: Some((1, 2)),
        spilled: Some(3),
        bounds: Some((16, 17)),
        cost: Some(Cost { elapsed_ns: 18, ..cost }),
        copied: Some((38, 39)),
        course: None,
    };
    let flow = FlowReport {
        iterations: 32.5,
        lost: 33,
        retransmits: 34,
        sent: 35.5,
        near_cost: Some(Cost { elapsed_ns: 40, ..cost }),
        far_cost: None,
    };
    let report = TrialReport {
        repeats: 1,
        seconds: 2.5,
        median: -0.0,
        min: f64::MIN_POSITIVE,
        max: f64::INFINITY,
        histogram: vec![(6, 7), (1 << 40, u64::MAX)],
        pauses: vec![(12, 13)],
        late: 8,
        lost: 9,
        reordered: 10,
        duplicated: 11,
        bounds: Some((14, 15)),
        cost: Some(cost),
        flows: Some(Flows { seconds: 35.5, span: 36.5, apart: 0.5, each: vec![flow, flow] }),
        course: None,
        tcp: Some(Tcp { retransmits: 28, rtt_us: 29, window: 30, delivery_rate: 31 }),
        copied: Some((38, 39)),
        load: Some(Carried { there: Some(35.0), back: None }),
        far,
    };
    Trial { path: 1, round, at: 3.0, size: u64::MAX, response: 5, burst: 6, warmup: true, report }
}

fn bare(at: f64) -> Trial {
    let report = TrialReport { repeats: 1000, seconds: 0.02, median: 2e-5, ..TrialReport::default() };
    Trial { path: 0, round: 1, at, size: 65_536, response: 0, burst: 0, warmup: false, report }
}

#[test]
fn every_field_comes_back_as_it_was() {
    let all = vec![full(0), bare(0.25), full(u32::MAX)];
    let mut packed: Trials = all.iter().cloned().collect();
    assert_eq!((packed.len(), packed.is_empty(), Trials::new().is_empty()), (3, false, true));
    assert_eq!(packed.iter().map(Cow::into_owned).collect::<Vec<_>>(), all);
    assert_eq!(packed.all()[..], all[..]);
    assert!(packed.all()[0].report.median.is_sign_negative());
    let places: Vec<_> = packed.places().map(|(at, place)| (at, place.trial().into_owned())).collect();
    assert_eq!(places, all.iter().map(|t| (t.at, t.clone())).collect::<Vec<_>>());
    // As structures they are the same, and stay so.
    let before = packed.clone();
    packed.plain()[1].warmup = true;
    assert_ne!(packed, before);
    packed.plain()[1].warmup = false;
    assert_eq!(packed, before);
    packed.push(bare(1.0));
    assert_eq!((packed.len(), packed.places().map(|(at, _)| at).last()), (4, Some(1.0)));
}

#[test]
fn how_a_flow_went_on_is_not_kept() {
    let mut course = bare(1.0);
    course.report.course = Some(Course { begin: 1, steps: Vec::new() });
    assert_eq!(Trials::from(vec![course]), Trials::from(vec![bare(1.0)]));
}

#[test]
fn a_plain_trial_takes_a_tenth_of_its_structure() {
    let trials = Trials::from(vec![bare(0.25)]);
    let Form::Packed { bytes, .. } = &trials.0 else { panic!("packed") };
    assert!(bytes.capacity() < size_of::<Trial>() / 8, "{} B of {}", bytes.capacity(), size_of::<Trial>());
}
