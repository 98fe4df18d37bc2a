use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;

use super::*;
use crate::overlay::Mark;
use crate::sample;

fn small() -> RunFile {
    sample::run_of(&sample::MODELS, &[1, 64, 1024, 12_288, 1 << 20], 5, 7)
}

/// The text of the script element with this id.
fn script<'a>(page: &'a str, id: &str) -> &'a str {
    let start = page.find(&format!(" id=\"{id}\">")).expect("the element");
    let start = start + page[start..].find('>').expect("its end") + 1;
    &page[start..start + page[start..].find("</script>").expect("its end tag")]
}

fn decoded(text: &serde_json::Value) -> Vec<u8> {
    STANDARD.decode(text.as_str().expect("a text")).expect("base64")
}

fn floats(text: &serde_json::Value) -> Vec<f32> {
    decoded(text).chunks(4).map(|b| f32::from_le_bytes(b.try_into().expect("4 bytes"))).collect()
}

/// The first run's file, out of its parts.
fn raw(page: &str) -> String {
    let mut text = String::new();
    for part in (0..).map(|k| format!("raw-0-{k}")).take_while(|id| page.contains(&format!(" id=\"{id}\">"))) {
        let bytes = STANDARD.decode(script(page, &part)).expect("base64");
        GzDecoder::new(&bytes[..]).read_to_string(&mut text).expect("gzip");
    }
    text
}

#[test]
fn the_page_loads_nothing() {
    let page = page(&[&Analysis::of(&small())]).replace("http://www.w3.org/2000/svg", "").replace("url(#", "");
    for load in ["http:", "https:", "//cdn", "<link", "<img", "src=", "@import", "url(", "fetch(", "XMLHttpRequest"] {
        assert!(!page.contains(load), "{load} is in the page");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn hostile_names_and_texts_stay_text() {
    let mut run = small();
    let hostile = "</script><script>alert(1)</script><!--\u{2028}&\"'<img onerror=x>";
    run.run.near.hostname = hostile.into();
    run.run.command = vec![hostile.into()];
    run.run.started = hostile.into();
    run.warnings[0].text = hostile.into();
    run.warnings[0].code = hostile.into();
    run.cut = Some(hostile.into());
    run.run.near.sysctls.insert(hostile.into(), hostile.into());
    run.paths[3].opened.near_effective.congestion = Some(hostile.into());
    let (page, clean) = (page(&[&Analysis::of(&run)]), page(&[&Analysis::of(&small())]));
    for mark in ["<script", "</script", "<img"] {
        assert_eq!(page.matches(mark).count(), clean.matches(mark).count(), "{mark} came in");
    }
    // What is written is what was there.
    let lines = raw(&page);
    let header: serde_json::Value = serde_json::from_str(lines.lines().next().expect("a header")).expect("JSON");
    assert_eq!(header["near"]["hostname"], hostile);
}

#[test]
fn the_data_holds_every_point_and_no_nan() {
    let mut run = small();
    run.paths[0].points[0].figures.median = f64::NAN;
    let f = &mut run.paths[0].points[1].figures;
    (f.high, f.seen_low, f.seen_high) = (f64::INFINITY, f.median / 2.0, f.median * 2.0);
    let page = page(&[&Analysis::of(&run), &Analysis::of(&small())]);
    let data: serde_json::Value = serde_json::from_str(script(&page, "data")).expect("JSON");
    assert_eq!(data["runs"].as_array().map(Vec::len), Some(2));
    assert_eq!(data["runs"][1]["paths"][3]["name"], "B tcp");
    let points = &data["runs"][0]["paths"][0]["points"];
    let size = decoded(&points["size"]);
    let size: Vec<f64> = size.chunks(8).map(|b| f64::from_le_bytes(b.try_into().expect("8 bytes"))).collect();
    assert_eq!(size, [1.0, 64.0, 1024.0, 12_288.0, 1_048_576.0]);
    let (median, high) = (floats(&points["figures"]["median_s"]), floats(&points["figures"]["high_s"]));
    assert!(median[0].is_nan() && high[1].is_nan() && !median[1].is_nan() && median.len() == 5);
    assert!(!page.replace(SCRIPT, "").contains("NaN"));
    // What rounds without an interval span, and nothing of those with one.
    let seen = floats(&points["figures"]["seen_low_s"]);
    assert!(seen[0].is_nan() && seen[1] == median[1] / 2.0 && seen[2..].iter().all(|v| v.is_nan()), "{seen:?}");
    let heads = data["columns"].as_array().expect("columns");
    let median = heads.iter().find(|head| head["name"] == "median_s").expect("the median");
    assert_eq!(median["seen"], serde_json::json!(["seen_low_s", "seen_high_s"]));
}

#[test]
fn the_data_holds_what_a_stream_and_datagrams_tell() {
    let mut run = small();
    let f = &mut run.paths[3].points[2].figures;
    (f.sender_throughput, f.reordering) = (Some(12.3e9), 0.015);
    f.transactions = Some(34_012.6);
    let page = page(&[&Analysis::of(&run)]);
    let data: serde_json::Value = serde_json::from_str(script(&page, "data")).expect("JSON");
    let points = &data["runs"][0]["paths"][3]["points"];
    assert_eq!(floats(&points["figures"]["transactions_per_s"])[2], 34_012.6);
    assert_eq!(
        (
            floats(&points["figures"]["sender_throughput_bits_per_s"])[2],
            floats(&points["figures"]["reordering_share"])[2]
        ),
        (12.3e9, 0.015)
    );
    assert!(floats(&points["figures"]["sender_throughput_bits_per_s"])[1].is_nan(), "only one point has it");
    assert!(floats(&points["figures"]["p90_s"])[2] > 0.0 && floats(&points["figures"]["max_s"])[2] > 0.0);
    assert_eq!(data["runs"][0]["paths"][0]["points"]["figures"]["p50_s"], "", "memcpy has no percentiles");
}

#[test]
fn the_download_is_the_whole_run_file() {
    let run = small();
    // What is read works its figures out from the trials; the sample's were made up.
    let back = read(&run);
    assert_eq!(trials(&back), trials(&run), "histograms too");
    assert_eq!(read(&back), back);
}

#[test]
fn a_large_run_comes_back_whole_from_its_parts() {
    let sizes: Vec<u64> = (1..=4000).collect();
    let run = sample::run_of(&sample::MODELS[2..], &sizes, 2, 7);
    let page = page(&[&Analysis::of(&run)]);
    assert!(page.contains("id=\"raw-0-2\""), "24,000 lines are three parts");
    let back = read(&run);
    assert!(trials(&back) == trials(&run));
    assert!(read(&back) == back);
}

/// The run that comes back from its page.
fn read(run: &RunFile) -> RunFile {
    record::read::read_from(raw(&page(&[&Analysis::of(run)])).as_bytes(), "the page").expect("a run file")
}

fn trials(run: &RunFile) -> Vec<&measure::Trials> {
    run.paths.iter().flat_map(|p| &p.points).map(|p| &p.trials).collect()
}

#[test]
fn every_trial_and_every_histogram_is_in_the_page() {
    let run = small();
    let page = page(&[&Analysis::of(&run)]);
    let data: serde_json::Value = serde_json::from_str(script(&page, "data")).expect("JSON");
    let path = &data["runs"][0]["paths"][3];
    let counts: Vec<u32> = decoded(&path["trials"]["count"])
        .chunks(4)
        .map(|b| u32::from_le_bytes(b.try_into().expect("4 bytes")))
        .collect();
    assert_eq!(counts, [5; 5]);
    let seconds = floats(&path["trials"]["seconds"]);
    let sent = run.paths[3].points.iter().flat_map(|p| &p.trials).map(|t| (t.report.median / 2.0) as f32);
    assert!(seconds.iter().copied().eq(sent), "half of a round trip each");
    // The first point: four counted trials of five (one warmed up) timed single iterations; a round trip is two transfers.
    assert_eq!(decoded(&path["histograms"])[..2], [4, 2]);
}

#[test]
fn marks_and_models_are_in_the_page() {
    let run = sample::run(7);
    let run = Analysis::of(&run);
    let mark = Mark { kind: "dip", from: 48_000, to: 70_000, label: "dip </script> of 23%".into() };
    let mut series = crate::curve::series(&[&run]);
    series.iter_mut().for_each(|s| s.overlay.marks.clear());
    series[2].overlay.marks.push(mark.clone());
    let page = of(&[&run], &series, &[]);
    let data: serde_json::Value = serde_json::from_str(script(&page, "data")).expect("JSON");
    let paths = &data["runs"][0]["paths"];
    assert_eq!(paths[2]["marks"], serde_json::to_value([&mark]).expect("JSON"));
    assert_eq!(paths[1]["marks"], serde_json::json!([]));
    let fits = run.fits(2).expect("models");
    let bandwidth = fits.bandwidth.as_ref().expect("a curve");
    assert_eq!(paths[2]["models"]["bandwidth"]["r_max"], bandwidth.r_max.value);
    assert_eq!(paths[2]["models"]["saturation"]["point"], fits.saturation.as_ref().expect("a knee").point.value);
    let lines = paths[2]["models"]["lines"].as_array().expect("lines");
    assert_eq!(lines.len(), fits.latency.pieces.len().max(1));
    assert!(page.contains("What models fit") && page.contains("Saturation point"));
}

#[test]
fn figures_and_warnings_stand_in_the_page_without_its_script() {
    let page = page(&[&Analysis::of(&small())]);
    let body = &page[..page.find(" id=\"data\"").expect("the data")];
    for wanted in
        ["How memcpy, shm, unix and tcp perform on bench-1", "RTT/2", "differ by 34%", "cubic", "<noscript><svg"]
    {
        assert!(body.contains(wanted), "{wanted} is missing");
    }
}

#[test]
fn a_run_without_paths_still_gives_a_page() {
    let run = sample::run_of(&[], &[], 0, 1);
    assert!(page(&[&Analysis::of(&run)]).contains("A run without paths"));
    assert!(page(&[]).contains("A run without paths"));
}

#[test]
fn the_page_of_several_rates_has_one_name_and_a_table_of_rates() {
    let rates: Vec<(f64, u64)> = (1..=7).map(|n| (1e7 * f64::from(n), 0)).collect();
    let run = sample::offered(&rates);
    let page = page(&[&Analysis::of(&run)]);
    let title = page.split("<h1>").nth(1).and_then(|rest| rest.split("</h1>").next()).unwrap();
    assert!(title.contains(" performs at 7 offered rates on ") && !title.contains("offered="), "{title}");
    let section = |id: &str| {
        page.split(&format!("<h2 id=\"{id}\"")).nth(1).and_then(|rest| rest.split("</section>").next()).unwrap()
    };
    assert!(!section("summary").contains("<table"), "a table of dashes");
    let loss = section("loss");
    assert!(loss.contains("<table data-copy>") && !loss.contains("<pre>"), "figures in a table");
    assert_eq!(loss.matches("<tr>").count(), 1 + rates.len());
    assert!(page.contains("<details><summary>Rounds and earlier runs of each path"));
}
