//! `--pin`: which CPU each side keeps to.

use anyhow::{Result, anyhow, bail};
use rendezvous::{Far, FarPin, Place};

/// `auto`, `none` or `A,B` as (near, far). Notes say when `auto` could not pin.
pub fn resolve(text: &str, far: &Far, notes: &mut Vec<String>) -> Result<Option<(u32, u32)>> {
    let allowed = host::allowed_cpus();
    match text {
        "none" => Ok(None),
        "auto" => {
            let pair = host::choose_pair(&allowed);
            // A launcher gives each of its ranks CPUs of its own: what this one has says nothing of the other's.
            if pair.is_none() && Place::here().is_none() {
                notes.push(format!(
                    "not pinned: {} usable here, and two sides on one CPU would take turns (--pin A,A insists)",
                    if allowed.len() == 1 { "only one CPU is" } else { "no pair of CPUs is" }
                ));
            }
            Ok(pair)
        }
        _ => {
            let (near, there) = numbers(text)?;
            let far_is_here = matches!(far, Far::Local { .. });
            for (side, cpu) in [("near", Some(near)), ("far", far_is_here.then_some(there))] {
                if let Some(cpu) = cpu.filter(|c| !allowed.contains(c)) {
                    bail!("--pin {text}: the {side} side can't use CPU {cpu}; this process may use {}", list(&allowed));
                }
            }
            Ok(Some((near, there)))
        }
    }
}

/// The same where near processes run on other hosts, which know their own CPUs, and this one leads: its own CPU is any beside the far side's.
pub fn leads(text: &str, far: &Far, notes: &mut Vec<String>) -> Result<Option<(u32, u32)>> {
    let Ok((_, there)) = numbers(text) else { return resolve(text, far, notes) };
    let allowed = host::allowed_cpus();
    let Some(own) = allowed.iter().find(|cpu| **cpu != there).or(allowed.first()) else { return Ok(None) };
    resolve(&format!("{own},{there}"), far, notes)
}

/// Which CPU near processes on other hosts keep to.
pub fn near(text: &str) -> FarPin {
    match numbers(text) {
        Ok((cpu, _)) => FarPin::Cpu(cpu),
        Err(_) if text == "none" => FarPin::None,
        Err(_) => FarPin::Auto,
    }
}

/// The same where another host is the near side, which knows its own CPUs and decides: what of it can be known here.
pub fn elsewhere(text: &str) -> Result<Option<(u32, u32)>> {
    if ["none", "auto"].contains(&text) { Ok(None) } else { numbers(text).map(Some) }
}

/// What a far side on another host is asked for: it knows its own CPUs, so that `auto` is its choice to make.
/// `pair` is what [`resolve`] made of the text.
pub fn far(text: &str, pair: Option<(u32, u32)>) -> FarPin {
    match (text, pair) {
        ("auto", _) => FarPin::Auto,
        (_, Some((_, cpu))) => FarPin::Cpu(cpu),
        (_, None) => FarPin::None,
    }
}

fn numbers(text: &str) -> Result<(u32, u32)> {
    text.split_once(',')
        .and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)))
        .ok_or_else(|| anyhow!("--pin {text}: write auto, none, or the CPUs of the near and the far side as A,B"))
}

fn list(cpus: &[u32]) -> String {
    let shown: Vec<String> = cpus.iter().take(16).map(u32::to_string).collect();
    let more = if cpus.len() > shown.len() { format!(" and {} more", cpus.len() - shown.len()) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here() -> Far {
        Far::Local { program: "pipegauge".into(), at: Vec::new() }
    }

    #[test]
    fn a_cpu_that_is_not_there_is_named() {
        let e = resolve("0,4000000", &here(), &mut Vec::new()).unwrap_err().to_string();
        assert!(e.contains("CPU 4000000") && e.contains("may use"), "{e}");
        // Another host may have it.
        let there = Far::Ssh { hosts: Vec::new(), program: "pipegauge".into() };
        let cpu = host::allowed_cpus()[0];
        assert_eq!(resolve(&format!("{cpu},4000000"), &there, &mut Vec::new()).unwrap(), Some((cpu, 4_000_000)));
    }

    #[test]
    fn another_host_chooses_for_itself_unless_it_is_told() {
        assert_eq!(far("auto", Some((1, 2))), FarPin::Auto);
        assert_eq!(far("auto", None), FarPin::Auto);
        assert_eq!(far("none", None), FarPin::None);
        assert_eq!(far("1,7", Some((1, 7))), FarPin::Cpu(7));
        assert_eq!(["auto", "none", "6,7"].map(near), [FarPin::Auto, FarPin::None, FarPin::Cpu(6)]);
    }

    #[test]
    fn none_is_none_and_nonsense_is_explained() {
        assert_eq!(resolve("none", &here(), &mut Vec::new()).unwrap(), None);
        for bad in ["", "1", "a,b", "1;2", "-1,2"] {
            assert!(resolve(bad, &here(), &mut Vec::new()).unwrap_err().to_string().contains("A,B"), "{bad}");
        }
    }
}
