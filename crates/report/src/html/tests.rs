use super::*;
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

#[test]
fn the_page_loads_nothing() {
    let page = page(&[&small()]).replace("http://www.w3.org/2000/svg", "").replace("url(#area)", "");
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
    let (page, clean) = (page(&[&run]), page(&[&small()]));
    for mark in ["<script", "</script", "<img"] {
        assert_eq!(page.matches(mark).count(), clean.matches(mark).count(), "{mark} came in");
    }
    // What is written is what was there.
    let line = script(&page, "raw-0").trim().lines().next().expect("a header");
    let header: serde_json::Value = serde_json::from_str(line).expect("JSON");
    assert_eq!(header["near"]["hostname"], hostile);
}

#[test]
fn the_data_holds_every_point_and_no_nan() {
    let mut run = small();
    run.paths[0].points[0].figures.median = f64::NAN;
    run.paths[0].points[1].figures.high = f64::INFINITY;
    let page = page(&[&run, &small()]);
    let data: serde_json::Value = serde_json::from_str(script(&page, "data")).expect("JSON");
    assert_eq!(data["runs"].as_array().map(Vec::len), Some(2));
    assert_eq!(data["runs"][1]["paths"][3]["name"], "B tcp");
    let points = &data["runs"][0]["paths"][0]["points"];
    assert_eq!(points["size"].as_array().map(Vec::len), Some(5));
    assert!(points["median"][0].is_null() && points["high"][1].is_null() && points["median"][1].is_number());
    assert!(!page.replace(SCRIPT, "").contains("NaN"));
}

#[test]
fn the_data_holds_what_a_stream_and_datagrams_tell() {
    let mut run = small();
    let f = &mut run.paths[3].points[2].figures;
    (f.sender_throughput, f.reordering) = (Some(12.3e9), 0.015);
    f.transactions = Some(34_012.6);
    let page = page(&[&run]);
    let data: serde_json::Value = serde_json::from_str(script(&page, "data")).expect("JSON");
    let points = &data["runs"][0]["paths"][3]["points"];
    assert_eq!(points["transactions"][2], 34_012.6);
    assert_eq!((&points["sender"][2], &points["reordering"][2]), (&12.3e9.into(), &0.015.into()));
    assert!(points["sender"][1].is_null() && points["p90"][2].is_number() && points["max"][2].is_number());
}

#[test]
fn the_download_is_a_run_file() {
    let run = small();
    let page = page(&[&run]);
    let raw = script(&page, "raw-0").trim_start();
    let mut back = record::read::read_from(raw.as_bytes(), "the page").expect("a run file");
    let mut sent = run;
    for run in [&mut back, &mut sent] {
        for trial in run.paths.iter_mut().flat_map(|p| &mut p.points).flat_map(|p| &mut p.trials) {
            trial.report.histogram.clear();
        }
    }
    assert_eq!(back, sent, "all but the histograms comes back");
}

#[test]
fn figures_and_warnings_stand_in_the_page_without_its_script() {
    let page = page(&[&small()]);
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
    assert!(page(&[&run]).contains("A run without paths"));
    assert!(page(&[]).contains("A run without paths"));
}
