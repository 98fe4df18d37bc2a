//! Files of version 1 of the run file open, and no change of the format moves a figure of them. Each `*.rows.json` is the summary and the points
//! of `export --format json` of the `*.run.jsonl` beside it, with the fields that the version had that wrote it. `RENEW=1` writes them again,
//! where an estimator was mended on purpose: they are not what that version printed since then.

use std::path::PathBuf;

use measure::event::SCHEMA;
use record::RunFile;
use serde_json::Value;
use transport::theory::Theory;
use transport::{Name, Settings};

const NAMES: [&str; 7] = ["theory", "tcp-unix", "udp", "hint", "vs.a", "vs.b", "stream"];

/// Runs of that version tell nothing of CPU time, and nothing is made up.
#[test]
fn what_older_runs_did_not_count_is_absent() {
    let mut points = 0;
    for name in NAMES {
        let run = read(name);
        for row in record::columns::rows(&run) {
            let told = [row.near_cpu_s, row.far_cpu_s, row.near_busy_share, row.near_waits, row.far_preemptions];
            assert_eq!((told, row.retransmits), ([None; 5], None), "{name}");
            points += 1;
        }
    }
    assert!(points > 0);
}

/// What has another name since then is read under its new one.
#[test]
fn older_names_are_read_as_todays() {
    let run = read("tcp-unix");
    assert!(run.paths.iter().all(|path| path.rounds.iter().any(|round| round.calibration.is_some())));
    assert!(run.end.as_ref().unwrap().cpu_interference.is_some());
    let codes: Vec<String> = NAMES.iter().flat_map(|n| read(n).warnings).map(|w| w.code).collect();
    assert!(codes.iter().any(|c| c == "cpu-interference") && !codes.iter().any(|c| c == "foreign-cpu"), "{codes:?}");
    let warning: measure::event::Warning =
        serde_json::from_str(r#"{"code":"one-block","text":"of the netpipe schedule"}"#).unwrap();
    assert_eq!(warning.code, "one-round");
    let link = &read("theory").run.plan.paths[0].settings;
    assert!(link.real("round-noise") == Some(0.01) && link.get("block-noise").is_none(), "{link:?}");
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/version-1").join(name)
}

fn read(name: &str) -> RunFile {
    let run = record::read(file(&format!("{name}.run.jsonl"))).unwrap();
    assert_eq!((run.run.schema.as_str(), run.cut.as_deref()), (SCHEMA, None), "{name}");
    run
}

/// Every field of `before` is in `now` with the same value; `now` may have gained some.
fn kept(at: &str, before: &Value, now: &Value) {
    match (before, now) {
        (Value::Object(before), Value::Object(_)) => {
            before.iter().for_each(|(name, value)| kept(&format!("{at}.{name}"), value, &now[name]));
        }
        (Value::Array(before), Value::Array(now)) => {
            assert_eq!(before.len(), now.len(), "{at}");
            before.iter().zip(now).enumerate().for_each(|(i, (before, now))| kept(&format!("{at}[{i}]"), before, now));
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!(a == b || (a / b - 1.0).abs() < 1e-12, "{at}: {a} is now {b}");
        }
        // That version wrote a throughput of 0 where sizes are no bytes; now there is none.
        (Value::Number(a), Value::Null) if at.starts_with("hint[") && at.ends_with(".throughput_bits_per_s") => {
            assert_eq!(a.as_f64(), Some(0.0), "{at}");
        }
        // It wrote a lower end of 0 for a figure without an interval, whose ends are both empty now.
        (Value::Number(a), Value::Null) if at.ends_with(".low") => assert_eq!(a.as_f64(), Some(0.0), "{at}"),
        _ => assert_eq!(before, now, "{at}"),
    }
}

/// `now` with the fields of `before` alone.
fn only(before: &Value, now: &Value) -> Value {
    match (before, now) {
        (Value::Object(before), Value::Object(_)) => {
            before.iter().map(|(name, value)| (name.clone(), only(value, &now[name]))).collect()
        }
        (Value::Array(before), Value::Array(now)) => before.iter().zip(now).map(|(b, n)| only(b, n)).collect(),
        // Told as in `kept`: there is none now.
        (Value::Number(_), Value::Null) => before.clone(),
        _ => now.clone(),
    }
}

#[test]
fn figures_are_those_that_are_kept_beside_the_files() {
    for name in NAMES {
        let mut out = Vec::new();
        record::export::json(&read(name), &mut out).unwrap();
        let now: Value = serde_json::from_slice(&out).unwrap();
        let before: Value =
            serde_json::from_slice(&std::fs::read(file(&format!("{name}.rows.json"))).unwrap()).unwrap();
        if std::env::var_os("RENEW").is_some() {
            let renewed = serde_json::to_string(&only(&before, &now["paths"])).unwrap();
            std::fs::write(file(&format!("{name}.rows.json")), renewed + "\n").unwrap();
            continue;
        }
        kept(name, &before, &now["paths"]);
        assert!(
            before
                .as_array()
                .is_some_and(|paths| !paths.is_empty() && paths.iter().all(|p| p["points"][0].is_object()))
        );
    }
}

#[test]
fn what_was_set_is_found_again_at_its_path() {
    let set = Settings::default;
    let run = read("tcp-unix");
    let tcp = set().with("sockbuf", 131_072u64).with("nodelay", false).with("mss", 1000u64);
    assert_eq!((run.run.plan.settings(0), run.run.plan.settings(1)), (&tcp, &set().with("sockbuf", 131_072u64)));
    assert_eq!(run.paths.iter().map(|p| p.opened.name()).collect::<Vec<_>>(), ["tcp", "unix"]);
    let udp = read("udp").run.plan;
    assert_eq!(udp.settings(0), &set().with("loss-timeout", 0.005));
    assert_eq!(udp.decorators.fault.map(|fault| fault.drop), Some(0.1));
    let stream = read("stream").run.plan;
    assert_eq!((stream.settings(0), stream.settings(1)), (&set(), &set().with("family", "6")));
    assert_eq!(stream.decorators.shape.map(|shape| shape.rate), Some(1e9));
    let theory = read("theory");
    let model: Theory =
        "latency=5us,rate=1Gbit/s,dip=1KiB..4KiB*5@sockbuf,noise=2%,round-noise=1%,seed=7".parse().unwrap();
    assert_eq!(Theory::of(theory.run.plan.settings(0)), model);
    assert!(theory.wire(0).is_some_and(|wire| wire.rate == 1e9));
    let sides = [read("vs.a"), read("vs.b")];
    assert_eq!(sides[1].run.plan.settings(0), &set().with("wait", "block"));
    let differs = record::differences((&sides[0], &sides[0].paths[0]), (&sides[1], &sides[1].paths[0]));
    assert!(
        differs.iter().any(|d| d.what == "settings.wait" && d.first == "absent" && d.second == "block"),
        "{differs:?}"
    );
    let hint = read("hint");
    assert_eq!(hint.run.plan.transports().collect::<Vec<_>>(), [Name::ALONE, transport::tcp::NAME]);
    assert!(hint.hint(0).is_some() && hint.hint(1).is_some());
}
