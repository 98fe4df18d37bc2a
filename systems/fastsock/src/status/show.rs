//! Status for people, and for programs.

use std::fmt::Write;

use super::judge::judge;
use super::{End, Status};
use crate::config::plain;
use crate::table::COUNTERS;

/// Signs of a name, and of a line of anything else, that the table shows at most.
const NAME: usize = 32;
const LINE: usize = 300;

/// Ends that belong to a process of this user's.
fn own(status: &Status) -> impl Iterator<Item = (&End, usize, i32)> {
    status
        .ends
        .iter()
        .filter_map(|end| end.owner.map(|(at, fd)| (end, at, fd)))
        .filter(|(_, at, _)| *at < status.processes.len())
}

/// A table.
pub fn text(status: &Status) -> String {
    let head =
        ["PROCESS", "PROGRAM", "COMMAND", "FD", "HERE", "THERE", "PATH", "SENT", "RECEIVED", "WAITS", "SLEEPS", "WHY"];
    let mut rows = vec![head.map(str::to_owned)];
    for (end, at, fd) in own(status) {
        let process = &status.processes[at];
        let (state, why) = judge(status, end);
        let counters = end.said.filter(|_| state != "kernel" || end.said.is_some_and(|said| said.counters != [0; 6]));
        let counted = |messages: usize, bytes: usize| {
            counters.map_or("-".to_owned(), |said| format!("{} ({} B)", said.counters[messages], said.counters[bytes]))
        };
        let single = |at: usize| counters.map_or("-".to_owned(), |said| said.counters[at].to_string());
        rows.push([
            process.number.to_string(),
            plain(&process.program, NAME),
            plain(&process.command, NAME),
            fd.to_string(),
            end.here.clone(),
            end.there.clone(),
            state.to_owned(),
            counted(0, 1),
            counted(2, 3),
            single(4),
            single(5),
            why,
        ]);
    }
    let mut out = String::new();
    if rows.len() == 1 {
        out += "No process of this user has a TCP connection.\n";
    } else {
        let widths: Vec<usize> =
            (0..head.len()).map(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0)).collect();
        for row in &rows {
            let line: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
            let _ = writeln!(out, "{}", line.join("  ").trim_end());
        }
    }
    for process in status.processes.iter().filter(|process| process.library) {
        for wrong in &process.config.wrong {
            let _ =
                writeln!(out, "process {}: a setting is wrong and left out: {}", process.number, plain(wrong, LINE));
        }
    }
    out
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            c if c.is_control() => _ = write!(out, "\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out + "\""
}

/// JSON: an object with the processes and the connections.
pub fn json(status: &Status) -> String {
    let processes: Vec<String> = status
        .processes
        .iter()
        .map(|process| {
            let wrong: Vec<String> = process.config.wrong.iter().map(|wrong| quoted(wrong)).collect();
            let (version, memory) =
                process.table.map_or(("null".to_owned(), 0), |(version, memory)| (version.to_string(), memory));
            format!(
                "{{\"process\":{},\"program\":{},\"command\":{},\"library\":{},\"version\":{version},\"off\":{},\"memory_bytes\":{memory},\"memory_limit_bytes\":{},\"wrong\":[{}]}}",
                process.number,
                quoted(&process.program),
                quoted(&process.command),
                process.library,
                process.config.off.is_some(),
                process.config.memory,
                wrong.join(",")
            )
        })
        .collect();
    let connections: Vec<String> = own(status)
        .map(|(end, at, fd)| {
            let (state, why) = judge(status, end);
            let counters = end.said.map_or([0; 6], |said| said.counters);
            let counters: Vec<String> =
                COUNTERS.iter().zip(counters).map(|(name, count)| format!("\"{name}\":{count}")).collect();
            format!(
                "{{\"process\":{},\"descriptor\":{fd},\"here\":{},\"there\":{},\"path\":\"{state}\",\"why\":{},{}}}",
                status.processes[at].number,
                quoted(&end.here),
                quoted(&end.there),
                if why.is_empty() { "null".to_owned() } else { quoted(&why) },
                counters.join(",")
            )
        })
        .collect();
    format!("{{\"processes\":[{}],\"connections\":[{}]}}\n", processes.join(","), connections.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::status::Process;

    #[test]
    fn names_that_would_steer_a_terminal_or_end_a_string_do_not() {
        let program = "a\u{1b}[2J\"\\\n".to_owned();
        let config = Config { wrong: vec!["x\n\"".to_owned()], ..Config::default() };
        let command = format!("python3 \u{202e}{}\u{9b}2J", "x".repeat(99));
        let process = Process { number: 5, program, command, library: true, config, table: None };
        let end = End { here: "1".into(), there: "2".into(), user: 0, owner: Some((0, 4)), said: None };
        let beyond = End { owner: Some((7, 1)), ..end.clone() };
        let status = Status { processes: vec![process], ends: vec![end, beyond] };
        let shown = text(&status);
        assert!(!shown.contains(['\u{1b}', '\u{9b}', '\u{202e}']) && shown.lines().count() == 3, "{shown:?}");
        assert!(shown.contains(" python3 \\u{202e}xxx") && shown.contains("xxx...  4 "), "{shown}");
        assert!(json(&status).contains(r#""program":"a\u001b[2J\"\\\u000a""#), "{}", json(&status));
        assert_eq!(text(&Status::default()).lines().count(), 1);
        assert_eq!(json(&Status::default()), "{\"processes\":[],\"connections\":[]}\n");
    }
}
