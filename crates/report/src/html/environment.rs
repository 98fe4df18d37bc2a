//! Both sides' machines, and what took effect on each path.

use host::Environment;
use maud::{Markup, html};
use measure::topology::Role;
use record::{PathRun, RunFile};
use units::Bytes;

use super::pieces::{letter, lines, note, row, scroll, section, table as grid, text};
use crate::table;

/// The part of the page.
pub fn environment(runs: &[&RunFile]) -> Markup {
    let body = html! {
        @for (r, run) in runs.iter().enumerate() {
            @let letter = letter("Run ", r, runs.len(), " · ");
            (opened(&letter, "Machines", &html! { div.wide.environment { (machines(run)) } }))
            (opened(&letter, "Connections", &connections(run)))
            @if let Some(table) = processes(run) { (opened(&letter, "Processes", &table)) }
        }
    };
    section("environment", "Environment", &body)
}

/// A table that opens at a click.
fn opened(letter: &str, title: &str, table: &Markup) -> Markup {
    html! { details { summary { (letter) (title) } (scroll(title, table)) } }
}

/// A column for each side.
fn machines(run: &RunFile) -> Markup {
    let mut sides = vec![("near side".to_owned(), &run.run.near)];
    for path in &run.paths {
        // Paths between the same hosts have the same far side, which is shown once.
        if let Some(far) = path.opened.far.as_ref().filter(|f| sides[1..].iter().all(|(_, e)| e != f)) {
            let one = sides.len() == 1;
            let name = path.opened.name();
            sides.push((if one { "far side".to_owned() } else { format!("far side, {name}") }, far));
        }
        sides.extend(other_far_hosts(path, &sides));
    }
    let facts: Vec<Vec<(String, String)>> = sides.iter().map(|(_, e)| facts(e)).collect();
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in facts.iter().flatten() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let value = |side: &[(String, String)], name: &str| {
        text(side.iter().find(|(n, _)| n == name).map_or("-", |(_, value)| value.as_str()))
    };
    let rows: Vec<Markup> =
        names.iter().map(|n| row(n, &facts.iter().map(|f| value(f, n)).collect::<Vec<_>>())).collect();
    let heads: Vec<&str> = ["What"].into_iter().chain(sides.iter().map(|(name, _)| name.as_str())).collect();
    grid(&heads, &rows)
}

/// Far hosts of a path beyond the first, which far processes take in turn, that have no column among `sides`: each as its first process sees it.
fn other_far_hosts<'a>(path: &'a PathRun, sides: &[(String, &Environment)]) -> Vec<(String, &'a Environment)> {
    let first = path.opened.far.as_ref().map_or("", |far| far.hostname.as_str());
    let mut found: Vec<(String, &Environment)> = Vec::new();
    // No path has more far processes; a file may.
    let far = path.opened.members.iter().filter(|one| one.role == Role::Far).take(measure::flows::MOST as usize);
    for (host, seen) in far.filter_map(|one| Some((&one.host, one.environment.as_deref()?))) {
        let name = format!("far host {host}");
        if host != first && sides.iter().chain(&found).all(|(other, _)| *other != name) {
            found.push((name, seen));
        }
    }
    found
}

fn connections(run: &RunFile) -> Markup {
    let cells = |p: &record::PathRun| {
        let effective = |e| lines(&table::effective(e));
        let (rounds, points) = (p.rounds.len().to_string(), p.points.len().to_string());
        let [near, far] = [effective(&p.opened.near_effective), effective(&p.opened.far_effective)];
        row(p.opened.name(), &[text(&rounds), text(&points), near, far])
    };
    let rows: Vec<Markup> = run.paths.iter().map(cells).collect();
    grid(&["Path", "Connections", "Points", "In effect, near side", "In effect, far side"], &rows)
}

/// The processes of paths whose near halves are processes of their own; none where there are none.
fn processes(run: &RunFile) -> Option<Markup> {
    let rows: Vec<Markup> = table::member_rows(run)
        .iter()
        .map(|cells| row(&cells[0], &cells[1..].iter().map(|cell| text(cell)).collect::<Vec<_>>()))
        .collect();
    (!rows.is_empty())
        .then(|| html! { (grid(&table::MEMBERS_HEAD, &rows)) @for line in table::member_lines(run) { (note(&line)) } })
}

/// What is known of a machine: names and values, the most important first.
fn facts(e: &Environment) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = Vec::new();
    let mut fact = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|v| !v.is_empty()) {
            out.push((name.to_owned(), value));
        }
    };
    let bytes = |n: u64| Bytes(n).to_string();
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
    for (name, value) in e.sysctls.iter().chain(&e.settings) {
        fact(name, Some(value.clone()));
    }
    for (name, value) in &e.versions {
        fact(&format!("Version of {name}"), Some(value.clone()));
    }
    out
}

#[cfg(test)]
mod tests {
    use measure::topology::MemberOpened;

    use super::*;
    use crate::sample;

    #[test]
    fn each_of_several_far_hosts_has_a_column_of_its_own() {
        let mut run = sample::run_of(&sample::MODELS[3..], &[1, 64], 3, 7);
        let path = &mut run.paths[0];
        let far = path.opened.far.clone().expect("two processes");
        let at = |host: &str, kernel: &str| Environment { hostname: host.into(), kernel: kernel.into(), ..far.clone() };
        let seen = [far.clone(), at("box", "6.1-box"), far.clone(), at("box", "6.1-box"), at("crate", "6.1-crate")];
        path.opened.members = (1..)
            .zip(&seen)
            .map(|(rank, seen)| {
                MemberOpened { role: Role::Far, rank, ..MemberOpened::default() }.seeing(Some(seen), Some(&far))
            })
            .collect();
        let page = machines(&run).into_string();
        for (what, times) in [("far host box", 1), ("far host crate", 1), ("6.1-crate", 1), ("far host", 2)] {
            assert_eq!(page.matches(what).count(), times, "{what}: {page}");
        }
    }
}
