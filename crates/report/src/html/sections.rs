//! The parts of the page that are plain HTML: warnings, summary, environments, raw data.

use host::Environment;
use model::Estimate;
use record::RunFile;
use units::{Kind, resolved};

use crate::graph::Graph;
use crate::svg;
use crate::svg::xml::escape;
use crate::table;
use crate::words;
use record::Analysis;

/// The opening of what may be wider than the page: it scrolls by keyboard, too.
pub fn scroll(label: &str) -> String {
    format!("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\">")
}

/// How far each run may be trusted, and what a reader must know about its figures: a line for each cause, which opens to the
/// warnings whole. Nothing of a run without points and warnings.
pub fn warnings(runs: &[&RunFile]) -> String {
    let mut items = String::new();
    for (i, run) in runs.iter().enumerate() {
        let letter = if runs.len() > 1 { format!("Run {}: ", words::letter(i)) } else { String::new() };
        let mut item = |head: &str, text: &str| {
            items.push_str(&format!("<li><b>{}</b>{}</li>\n", escape(&format!("{letter}{head}")), escape(text)));
        };
        if let Some(cut) = &run.cut {
            item("The file ends short: ", cut);
        }
        if let Some(error) = run.end.as_ref().and_then(|e| e.error.as_ref()) {
            item("The run ended with an error: ", error);
        }
        let trust = table::trust(run).replace("\n  ", " ");
        if let Some(text) = trust.trim_end().strip_prefix("Trust: ") {
            items.push_str(&format!("<li class=\"trust\"><b>{}Trust:</b> {}</li>\n", escape(&letter), escape(text)));
        }
        for caution in table::cautions(run) {
            items.push_str(&cause(run, &letter, &caution));
        }
    }
    if items.is_empty() {
        return String::new();
    }
    format!(
        "<section aria-labelledby=\"warnings-title\"><h2 id=\"warnings-title\">What to know about these figures</h2>\n\
         <ul class=\"warnings\">\n{items}</ul></section>\n"
    )
}

/// A cause in a line, and its warnings whole below it at a click.
fn cause(run: &RunFile, letter: &str, caution: &table::Caution<'_>) -> String {
    let remedy = if caution.remedy.is_empty() { String::new() } else { format!(" ({})", caution.remedy) };
    let whole: String = (caution.warnings.iter())
        .map(|w| format!("<p>{}{}</p>", escape(&table::subject(run, w)), escape(&w.text)))
        .collect();
    format!(
        "<li><details><summary><b>{}{}</b>{}</summary>{whole}</details></li>\n",
        escape(letter),
        escape(&caution.what()),
        escape(&remedy)
    )
}

/// The figures that stand for each curve.
pub fn summary(runs: &[&Analysis<'_>]) -> String {
    let mut rows = String::new();
    for (r, run) in runs.iter().enumerate() {
        for (i, path) in run.paths.iter().enumerate() {
            let name = path.opened.name();
            let name = if runs.len() > 1 { format!("{} {name}", words::letter(r)) } else { name.to_owned() };
            rows.push_str(&format!("<tr><th scope=\"row\">{}</th>", escape(&name)));
            match run.summary(i) {
                None => rows.push_str("<td colspan=\"6\">too few points for these figures</td>"),
                Some(s) => {
                    let time = path.points.first().map_or("-", |p| words::time_label(p.time));
                    let at = units::Bytes(s.max_size).to_string();
                    let rising =
                        if s.still_rising == Some(true) { "<small>still rising at the end</small>" } else { "" };
                    let latency = if s.latency_size > 1 {
                        format!("<small>of {}</small>", units::Bytes(s.latency_size))
                    } else {
                        String::new()
                    };
                    // At an offered rate a message takes what the rate leaves it.
                    let paced = run.run.plan.offered_on(path.opened.path).is_some();
                    let own = |cell: String| if paced { "-".to_owned() } else { cell };
                    // A schedule says nothing of how much the path carries.
                    let moved = |cell: String| if run.carries() { cell } else { "-".to_owned() };
                    for cell in [
                        time.to_owned(),
                        own(estimate(s.latency, Kind::Seconds) + &latency),
                        own(s.per_byte.map_or("-".into(), |e| estimate(e, Kind::SecondsPerByte))),
                        moved(estimate(s.max_throughput, Kind::BitsPerSecond)),
                        moved(at + rising),
                        moved(s.half_power.map_or("-".into(), |e| estimate(e, Kind::Bytes))),
                    ] {
                        rows.push_str(&format!("<td>{cell}</td>"));
                    }
                }
            }
            rows.push_str("</tr>\n");
        }
    }
    format!(
        "<section aria-labelledby=\"summary\"><h2 id=\"summary\" tabindex=\"-1\">Summary</h2>\n{scroll}\
         <table data-copy><thead><tr><th scope=\"col\">Path</th><th scope=\"col\">Time is</th><th scope=\"col\">Latency</th>\
         <th scope=\"col\">Per byte, below 1 KiB</th><th scope=\"col\">Max throughput</th><th scope=\"col\">At size</th>\
         <th scope=\"col\">Half-power size</th></tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n\
         <p class=\"note\">In brackets: 95% intervals. Half-power size: the size from which on half of the maximum \
         throughput is reached.</p>\n{}</section>\n",
        runs.iter().enumerate().map(|(r, run)| machine(run, r, runs.len())).collect::<String>(),
        scroll = scroll("Summary")
    )
}

/// What the intervals of soaks say, as `show` prints it.
pub fn soak(runs: &[&Analysis<'_>]) -> String {
    let texts = runs.iter().enumerate().map(|(r, run)| {
        let letter = if runs.len() > 1 { format!("Run {}\n\n", words::letter(r)) } else { String::new() };
        format!(
            "{scroll}<pre>{}</pre></div>\n",
            escape(&format!("{letter}{}", table::soak(run))),
            scroll = scroll("Intervals")
        )
    });
    format!(
        "<section aria-labelledby=\"summary\"><h2 id=\"summary\" tabindex=\"-1\">Summary</h2>\n{}</section>\n",
        texts.collect::<String>()
    )
}

/// What the paths take idle and under load: the graph of all runs and the tables of each, as `show` prints them. Nothing of runs that load
/// no path.
pub fn load(runs: &[&Analysis<'_>]) -> String {
    let files: Vec<&RunFile> = runs.iter().map(|r| r.run()).collect();
    if Graph::of_runs(&files, Some(Graph::Load)).is_err() {
        return String::new();
    }
    tables(runs, "load", "Latency under load", Graph::Load, table::load)
}

/// What came of the rates that were offered, as [`load`]. Nothing of runs that offer no several rates.
pub fn rates(runs: &[&Analysis<'_>]) -> String {
    let files: Vec<&RunFile> = runs.iter().map(|r| r.run()).collect();
    if Graph::of_runs(&files, Some(Graph::Loss)).is_err() {
        return String::new();
    }
    tables(runs, "loss", "Loss over the offered rate", Graph::Loss, table::rates)
}

/// A graph of all runs and the tables of each, as `show` prints them.
fn tables(runs: &[&Analysis<'_>], id: &str, title: &str, graph: Graph, table: fn(&Analysis<'_>) -> String) -> String {
    let texts = runs.iter().enumerate().map(|(r, run)| {
        let letter = if runs.len() > 1 { format!("Run {}\n\n", words::letter(r)) } else { String::new() };
        format!("<div class=\"scroll\"><pre>{}</pre></div>\n", escape(&format!("{letter}{}", table(run))))
    });
    format!(
        "<section aria-labelledby=\"{id}\"><h2 id=\"{id}\">{title}</h2>\n<div class=\"picture\">{}</div>\n{}</section>\n",
        svg::draw(runs, graph),
        texts.collect::<String>()
    )
}

/// What the paths cost both sides in CPU time: the graph and the table of each run. Nothing of runs that don't tell it.
pub fn cpu(runs: &[&Analysis<'_>]) -> String {
    let files: Vec<&RunFile> = runs.iter().map(|r| r.run()).collect();
    if Graph::of_runs(&files, Some(Graph::Cpu)).is_err() {
        return String::new();
    }
    let head: String = table::CPU_HEAD.iter().map(|title| format!("<th scope=\"col\">{title}</th>")).collect();
    let cell = |text: &String| format!("<td>{}</td>", escape(text).replace('\n', "<br>"));
    let (mut rows, mut cycles) = (String::new(), String::new());
    for (r, run) in runs.iter().enumerate() {
        let letter = if runs.len() > 1 { format!("{} ", words::letter(r)) } else { String::new() };
        for [name, cells @ ..] in table::cpu_rows(run) {
            let cells: String = cells.iter().map(cell).collect();
            rows.push_str(&format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", escape(&format!("{letter}{name}"))));
        }
        let line = |line: String| format!("\n<p class=\"note\">{}</p>", escape(&format!("{letter}{line}")));
        cycles.extend(table::cpu_cycles(run).into_iter().chain(run.paths.iter().filter_map(table::tcp_line)).map(line));
    }
    format!(
        "<section aria-labelledby=\"cpu\"><h2 id=\"cpu\">What it costs</h2>\n{scroll}<table data-copy><thead>\
         <tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n<p class=\"note\">{}</p>{cycles}</section>\n",
        table::READ_CPU,
        scroll = scroll("What it costs")
    )
}

/// What the rounds of each path saw of the machine and what it keeps up; where a repeat falls, or that it is not known.
fn machine(run: &RunFile, index: usize, of: usize) -> String {
    let letter = if of > 1 { format!("Run {}: ", words::letter(index)) } else { String::new() };
    let lines: String = (0..run.paths.len()).map(|path| table::machine_of(run, path)).collect();
    let states = table::state_lines(run);
    let all = states.iter().map(String::as_str).chain(lines.lines());
    all.map(|line| format!("<p class=\"note\">{letter}{}</p>\n", escape(line))).collect()
}

/// A figure with its interval under it.
pub(super) fn estimate(e: Estimate, kind: Kind) -> String {
    let text = escape(&resolved(e.value, e.low, e.high, kind).replace(" us", " µs"));
    if let Some(value) = text.strip_suffix(" (no interval)") {
        return format!("{value}<small>(no interval)</small>");
    }
    match (text.split_once(" ["), text.split_once(": ")) {
        (Some((value, ends)), _) => format!("{value}<small>[{ends}</small>"),
        (None, Some((what, ends))) => format!("{what}<small>{ends}</small>"),
        (None, None) => text,
    }
}

/// Both sides' machines, and what took effect on each path.
pub fn environment(runs: &[&RunFile]) -> String {
    let mut out = "<section aria-labelledby=\"environment\"><h2 id=\"environment\">Environment</h2>\n".to_owned();
    for (r, run) in runs.iter().enumerate() {
        let letter = if runs.len() > 1 { format!("Run {} · ", words::letter(r)) } else { String::new() };
        let mut sides = vec![("near side".to_owned(), &run.run.near)];
        for path in &run.paths {
            // Paths between the same hosts have the same far side, told once.
            if let Some(far) = path.opened.far.as_ref().filter(|f| sides[1..].iter().all(|(_, e)| e != f)) {
                let one = sides.len() == 1;
                let name = path.opened.name();
                sides.push((if one { "far side".to_owned() } else { format!("far side, {name}") }, far));
            }
        }
        let facts: Vec<Vec<(String, String)>> = sides.iter().map(|(_, e)| facts(e)).collect();
        let mut names: Vec<&String> = Vec::new();
        for (name, _) in facts.iter().flatten() {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let cell = |side: &[(String, String)], name: &str| {
            let value = side.iter().find(|(n, _)| n == name).map_or("-", |(_, v)| v.as_str());
            format!("<td>{}</td>", escape(value))
        };
        let rows: String = names
            .iter()
            .map(|n| {
                let cells: String = facts.iter().map(|f| cell(f, n)).collect();
                format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", escape(n))
            })
            .collect();
        let heads: String = sides.iter().map(|(n, _)| format!("<th scope=\"col\">{}</th>", escape(n))).collect();
        out.push_str(&format!(
            "<details><summary>{letter}Machines</summary>{scroll}<table class=\"wide environment\" data-copy>\
             <thead><tr><th scope=\"col\">What</th>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table></div></details>\n",scroll = scroll("Machines")));
        out.push_str(&paths(run, &letter));
    }
    out.push_str("</section>\n");
    out
}

fn paths(run: &RunFile, letter: &str) -> String {
    let rows: String = run
        .paths
        .iter()
        .map(|p| {
            let effective = |e| escape(&table::effective(e)).replace('\n', "<br>");
            format!(
                "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                escape(p.opened.name()),
                p.blocks.len(),
                p.points.len(),
                effective(&p.opened.near_effective),
                effective(&p.opened.far_effective)
            )
        })
        .collect();
    format!(
        "<details><summary>{letter}Connections</summary>{scroll}<table data-copy><thead><tr><th scope=\"col\">Path\
         </th><th scope=\"col\">Connections</th><th scope=\"col\">Points</th><th scope=\"col\">In effect, near side</th>\
         <th scope=\"col\">In effect, far side</th></tr></thead>\n<tbody>\n{rows}</tbody></table></div></details>\n",
        scroll = scroll("Connections")
    )
}

/// What is known of a machine: names and values in the order in which a reader looks for them.
fn facts(e: &Environment) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = Vec::new();
    let mut fact = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|v| !v.is_empty()) {
            out.push((name.to_owned(), value));
        }
    };
    let bytes = |n: u64| units::Bytes(n).to_string();
    fact("Host", Some(e.hostname.clone()));
    fact("CPU", e.cpu.clone());
    fact("Pinned to CPU", e.pinned.map(|c| c.to_string()));
    fact("CPUs allowed", Some(e.cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")));
    fact("Last-level cache", e.last_level_cache.map(bytes));
    fact("Memory", e.memory.map(bytes));
    fact("Governor", e.governor.clone());
    fact("Clock source", e.clock_source.clone());
    fact("Hypervisor", e.hypervisor.clone());
    fact("Kernel", Some(e.kernel.clone()));
    fact("System", e.os.clone());
    fact("Load at the start", e.load.map(|(a, b, c)| format!("{a:.2}, {b:.2}, {c:.2}")));
    for i in &e.interfaces {
        let speed = i.speed.map(|s| format!("{s} Mbit/s"));
        let parts = [Some(format!("MTU {}", i.mtu)), i.driver.clone(), speed, Some(i.state.clone())];
        let parts: Vec<String> = parts.into_iter().flatten().filter(|p| !p.is_empty()).collect();
        fact(&format!("Interface {}", i.name), Some(parts.join(", ")));
    }
    for (name, value) in &e.sysctls {
        fact(name, Some(value.clone()));
    }
    for (name, value) in &e.versions {
        fact(&format!("Version of {name}"), Some(value.clone()));
    }
    out
}

/// How it was made, and the data to take away.
pub fn raw(runs: &[&RunFile]) -> String {
    let mut out = "<section aria-labelledby=\"raw\"><h2 id=\"raw\">Raw data</h2>\n".to_owned();
    for run in runs {
        let c = &run.run.calibration;
        let ns = |v: f64| units::Seconds(v * 1e-9).to_string();
        out.push_str(&format!(
            "<p><code>{}</code> <span class=\"note\">pipegauge {}; seed {}; reading the clock costs {}, the empty loop {} \
             (never subtracted)</span></p>\n",
            escape(&run.run.command.join(" ")),
            escape(&run.run.version),
            run.run.plan.seed,
            ns(c.clock_cost_ns),
            ns(c.loop_cost_ns)
        ));
    }
    out.push_str(
        "<p class=\"note\">The whole run file, with every trial and every histogram, packed in this page: pipegauge reads it \
         again (show, plot, compare, export).</p>\n<div class=\"tools\" id=\"downloads\"></div></section>\n",
    );
    out
}
