//! Converts a header of version 1 of the run file to this version. There a plan had one list of transports and one set of settings for all
//! of them; here each path has its own.

use measure::event::SCHEMA;
use serde_json::{Map, Value, json};
use transport::settings::todays;

/// The schema that is converted.
pub(super) const BEFORE: &str = "pipegauge-run/1";

/// Options that version 1 set on all paths, their names here, and the transports that have them.
const OPTIONS: [(&str, &str, &[&str]); 7] = [
    ("sockbuf", "sockbuf", &["pipe", "unix", "seqpacket", "tcp", "udp", "theory"]),
    ("wait", "wait", &["pipe", "shm", "unix", "seqpacket", "tcp", "udp"]),
    ("nodelay", "nodelay", &["tcp"]),
    ("mss", "mss", &["tcp"]),
    ("congestion", "congestion", &["tcp"]),
    ("family", "family", &["tcp", "udp"]),
    ("loss_timeout", "loss-timeout", &["udp", "theory"]),
];

/// Changes a header of version 1. What is not as in version 1 stays as it is, so that reading it gives the error.
pub(super) fn header(line: &mut Value) {
    line["schema"] = SCHEMA.into();
    let Some(plan) = line.get_mut("plan").and_then(Value::as_object_mut) else { return };
    let Some(Value::Array(transports)) = plan.remove("transports") else { return };
    let settings = match plan.remove("settings") {
        Some(Value::Object(settings)) => settings,
        _ => Map::new(),
    };
    let paths: Vec<Value> = transports
        .into_iter()
        .map(|name| json!({ "settings": options(&name, &settings), "transport": name }))
        .collect();
    plan.insert("paths".to_owned(), paths.into());
    plan.insert("patience".to_owned(), settings.get("patience").cloned().unwrap_or(json!(10.0)));
    let around = ["fault", "shape"].into_iter().filter_map(|name| Some((name, settings.get(name)?.clone())));
    plan.insert("decorators".to_owned(), around.map(|(name, value)| (name.to_owned(), value)).collect());
}

/// The settings of this transport; those that were left to the system are not set.
fn options(transport: &Value, settings: &Map<String, Value>) -> Value {
    let name = transport.as_str().unwrap_or_default();
    let mut set = Map::new();
    for (before, option, whose) in OPTIONS {
        let value = settings.get(before).filter(|v| !v.is_null());
        // Version 1 recorded these two even where nobody had set them.
        let unset = [("nodelay", json!(true)), ("loss_timeout", json!(0.2))];
        if let Some(value) = value.filter(|v| whose.contains(&name) && !unset.contains(&(before, (*v).clone()))) {
            set.insert(option.to_owned(), value.clone());
        }
    }
    if let Some(model) = settings.get("theory").and_then(Value::as_object).filter(|_| name == "theory") {
        for (parameter, value) in model {
            match (parameter.as_str(), value) {
                ("dips", Value::Array(dips)) if dips.is_empty() => {}
                ("dips", Value::Array(dips)) => drop(set.insert("dip".to_owned(), dips.iter().map(dip).collect())),
                _ => {
                    let option = parameter.replace('_', "-");
                    set.insert(todays(name, &option).to_owned(), value.clone());
                }
            }
        }
    }
    set.into()
}

/// A modelled dip as the text of its option.
fn dip(dip: &Value) -> Value {
    let mover = dip["moved_by"].as_str().map_or(String::new(), |mover| format!("@{mover}"));
    format!("{}..{}*{}{mover}", dip["from"], dip["to"], dip["factor"]).into()
}

#[cfg(test)]
mod tests {
    use measure::Event;
    use transport::Settings;
    use transport::theory::Theory;

    use super::*;
    use crate::sample;

    /// A header of this version as version 1 wrote it, with these transports and settings.
    fn before(transports: &Value, settings: &Value) -> Value {
        let mut line = serde_json::to_value(Event::Run(sample::run(measure::Pattern::PingPong))).unwrap();
        line["schema"] = BEFORE.into();
        let plan = line["plan"].as_object_mut().unwrap();
        for gone in ["paths", "patience", "decorators"] {
            plan.remove(gone);
        }
        plan.insert("transports".into(), transports.clone());
        plan.insert("settings".into(), settings.clone());
        line
    }

    fn upgraded(transports: &Value, settings: &Value) -> measure::event::Plan {
        let mut line = before(transports, settings);
        header(&mut line);
        let Ok(Event::Run(run)) = serde_json::from_value(line) else { panic!("not a header") };
        assert_eq!(run.schema, SCHEMA);
        run.plan
    }

    #[test]
    fn each_path_gets_what_its_transport_listens_to() {
        let plan = upgraded(
            &json!(["memcpy", "tcp", "udp", "shm", "theory"]),
            &json!({
                "wait": "spin", "sockbuf": 65_536, "nodelay": false, "mss": 1000, "congestion": "reno", "family": "6",
                "patience": 3.0, "loss_timeout": 0.5, "fault": {"drop": 0.1}, "shape": null,
                "theory": {"latency": 1e-5, "rate": 1e9, "packet": 1448, "header": 66, "noise": 0.02, "block_noise": 0.03, "loss": 0.0,
                    "seed": 7, "dips": [{"from": 61_440, "to": 71_680, "factor": 5.0, "moved_by": "sockbuf"}]}
            }),
        );
        let of = |path| plan.settings(path).clone();
        let none = Settings::default;
        assert_eq!(of(0), none());
        let ip = none().with("wait", "spin").with("sockbuf", 65_536u64).with("family", "6");
        let tcp = ip.clone().with("nodelay", false).with("mss", 1000u64).with("congestion", "reno");
        assert_eq!((of(1), of(2)), (tcp, ip.with("loss-timeout", 0.5)));
        assert_eq!(of(3), none().with("wait", "spin"));
        let model: Theory =
            "latency=10us,rate=1Gbit/s,dip=60KiB..70KiB*5@sockbuf,noise=2%,round-noise=3%,seed=7".parse().unwrap();
        assert_eq!(Theory::of(&of(4)), model);
        assert_eq!((plan.patience, plan.decorators.fault.unwrap().drop, plan.decorators.shape), (3.0, 0.1, None));
        for (path, transport) in plan.paths.iter().zip(["memcpy", "tcp", "udp", "shm", "theory"]) {
            assert_eq!(path.name(), transport);
            let specs = path.transport.transport().unwrap().options();
            assert_eq!(path.settings.check(specs), Ok(()), "{transport}");
        }
    }

    #[test]
    fn what_nobody_set_is_not_set() {
        let plain = json!({"wait": null, "sockbuf": null, "nodelay": true, "mss": null, "congestion": null, "family": null,
            "patience": 10.0, "loss_timeout": 0.2, "fault": null, "shape": null});
        let plan = upgraded(&json!(["tcp", "udp", "alone"]), &plain);
        assert!(plan.paths.iter().all(|p| p.settings.is_empty()), "{:?}", plan.paths);
        assert!(!plan.decorators.any() && plan.patience == 10.0);
    }

    #[test]
    fn what_version_one_never_wrote_is_no_header() {
        for (transports, settings) in [(json!("tcp"), json!({})), (json!([7]), json!({})), (json!(["A B"]), json!(3))] {
            let mut line = before(&transports, &settings);
            header(&mut line);
            assert!(serde_json::from_value::<Event>(line).is_err(), "{transports}");
        }
    }
}
