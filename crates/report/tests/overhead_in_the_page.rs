//! The page computes overhead itself, because its reader chooses the base. `web/test/overhead.json` holds times with their
//! intervals and what comes of them; its other half is `web/test/overhead.test.ts`.
//!
//! `UPDATE_OVERHEAD=1 cargo test -p pipegauge-report --test overhead_in_the_page` writes what the model says.

use model::CurvePoint;
use serde_json::{Value, json};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/test/overhead.json");

fn point(side: &Value) -> CurvePoint {
    let rounds: Vec<f64> =
        side["blocks"].as_array().expect("blocks").iter().map(|b| b.as_f64().expect("a time")).collect();
    CurvePoint {
        size: side["size"].as_u64().expect("a size"),
        seconds: stats::median(&rounds),
        rounds: (0..).zip(rounds).collect(),
        throughput: 1.0,
        interval: None,
        rounding: 0.0,
    }
}

/// The interval that stands in the page for a point.
fn interval(p: &CurvePoint) -> stats::Interval {
    stats::median_interval(&p.rounds.iter().map(|b| b.1).collect::<Vec<_>>(), 0.95)
}

/// A point with that interval.
fn told(side: &Value) -> CurvePoint {
    let p = point(side);
    CurvePoint { interval: Some(interval(&p)), ..p }
}

/// As the page has it: median and interval, an open end as null.
fn side(side: &Value) -> Value {
    let p = point(side);
    let i = interval(&p);
    let ends = i.high.is_finite().then_some((i.low, i.high));
    json!({ "size": p.size, "blocks": side["blocks"], "seconds": p.seconds, "interval": ends })
}

#[test]
fn the_table_that_the_page_is_tested_with_is_what_the_model_says() {
    let text = std::fs::read_to_string(FILE).expect("the table");
    let table: Value = serde_json::from_str(&text).expect("JSON");
    let told: Vec<Value> = table
        .as_array()
        .expect("cases")
        .iter()
        .map(|case| {
            let found = model::overheads(&[told(&case["below"])], &[told(&case["above"])]);
            let o = found.first().expect("one size in common");
            let closed = o.extra.low.is_finite() && o.extra.high.is_finite();
            let ends = closed.then_some((o.extra.low, o.extra.high));
            json!({ "below": side(&case["below"]), "above": side(&case["above"]),
                    "extra": o.extra.value, "interval": ends, "share": o.share })
        })
        .collect();
    if std::env::var_os("UPDATE_OVERHEAD").is_some() {
        let lines: Vec<String> = told.iter().map(|case| format!("  {case}")).collect();
        std::fs::write(FILE, format!("[\n{}\n]\n", lines.join(",\n"))).expect("written");
        return;
    }
    assert_eq!(table.as_array(), Some(&told), "run it with UPDATE_OVERHEAD=1 and look at the difference");
}
