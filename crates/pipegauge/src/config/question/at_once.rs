//! What a question asks of several transfers at once, or supposes; and two questions in one.

use anyhow::{Result, bail};

use super::amounts::Amount;
use super::heard::{Heard, Item};
use super::lexicon::Topic::{self, *};
use super::names::{Measured, Named};
use super::suggest::shown;

/// Reads "with 4 connections", "in parallel": as the paths of so many flows, where the runs have such, else as what no run of one flow
/// tells.
pub fn of(text: &str, heard: &mut Heard, measured: &Measured) -> Result<()> {
    if heard.has(BothWays) {
        if measured.both.is_empty() {
            bail!(
                "'{}': in these runs messages went one way at a time, and what both directions carry at once does not follow from that: \
                 pipegauge run tcp --pattern stream --both measures it, and ask answers from its run file",
                shown(text)
            );
        }
        // All that was measured there is of both directions: nothing more is meant by the words.
        heard.items.retain(|i| !matches!(i, Item::Topics(t) if t.contains(&BothWays) || t.contains(&AtOnce)));
    }
    let counted = flows(heard);
    // One of them is what every run of one flow has.
    if let Some((at, 1)) = counted {
        heard.items.drain(at..at + 2);
        return Ok(());
    }
    if counted.is_none() && !heard.has(AtOnce) {
        return Ok(());
    }
    let named = heard.paths();
    let file = |at: usize| measured.files.get(at).map_or("", |(name, _)| name.as_str());
    let transport = |label: &str, at: usize| {
        measured.paths.iter().find(|(l, _, f)| l == label && *f == at).map_or("", |(_, transport, _)| transport)
    };
    let others = heard.items.iter().any(|i| matches!(i, Item::Amount(Amount::Count(_))));
    let meant = |(label, at, flows): &&(String, usize, u32)| {
        let number = counted.map_or(!others, |(_, n)| n == u64::from(*flows));
        number && (named.is_empty() || named.iter().any(|n| n.is(label, transport(label, *at), file(*at))))
    };
    let found: Vec<Named> = (measured.at_once.iter().filter(meant))
        .map(|(label, at, _)| Named { transport: Some(label.clone()), file: Some(file(*at).to_owned()) })
        .collect();
    if found.is_empty() {
        let number = counted.map_or(4, |(_, n)| n.clamp(2, 128));
        let path = named.iter().find_map(|n| n.transport.clone()).unwrap_or_else(|| "tcp".to_owned());
        bail!(
            "'{}': these runs sent one message at a time over one connection, and what several do at once does not follow from that: \
             pipegauge run {path} --flows {number} measures it, and ask answers from its run file",
            shown(text)
        );
    }
    // The number is that of the flows, and the paths are those that have so many.
    if let Some((at, _)) = counted {
        heard.items.drain(at..at + 2);
    }
    heard.items.retain(|i| !matches!(i, Item::Path(_)));
    heard.items.retain(|i| !matches!(i, Item::Topics(t) if t.contains(&AtOnce)));
    heard.items.extend(found.into_iter().map(Item::Path));
    Ok(())
}

/// How many connections, flows or streams work at once, and the place of their number: "with 4 connections", but not "10 connections a
/// second".
fn flows(heard: &Heard) -> Option<(usize, u64)> {
    if heard.any(&[PerSecond, HowMany]) {
        return None;
    }
    let rated = heard.items.iter().any(|i| matches!(i, Item::Amount(Amount::Rate(_))));
    let at_once = |t: &Topic| matches!(t, Connections | AtOnce) || (*t == Streams && !rated);
    heard.items.windows(2).enumerate().find_map(|(at, two)| match two {
        [Item::Amount(Amount::Count(n)), Item::Topics(t)] => t.iter().any(at_once).then_some((at, *n)),
        _ => None,
    })
}

/// Whether something is supposed of a path that is not so: "if the network were twice as fast", but not "tell me if it is" or "if I use
/// tcp".
pub fn supposed(heard: &Heard) -> bool {
    let has = |item: &Item, of: &[Topic]| matches!(item, Item::Topics(t) if t.iter().any(|t| of.contains(t)));
    heard.items.iter().enumerate().any(|(at, item)| {
        let next = heard.items[at + 1..].iter().find(|i| !has(i, &[Filler]) || has(i, &[Were]));
        has(item, &[Supposed])
            && (heard.has(Were) || next.is_some_and(|i| has(i, &[Latency, RoundTrip, Throughput, Link, HowFast, Cpu])))
    })
}

/// Whether a text holds two questions: a mark with more behind it, or "and" before a word that begins a question.
pub fn two_questions(text: &str) -> bool {
    const BEGIN: [&str; 18] = [
        "what", "what's", "whats", "how", "which", "when", "is", "are", "can", "could", "does", "do", "will", "would",
        "why", "who", "should", "did",
    ];
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty()).collect();
    let joined = words.windows(2).any(|two| matches!(two[0], "and" | "also" | "then") && BEGIN.contains(&two[1]));
    let marked = text.split('?').skip(1).any(|rest| rest.chars().any(char::is_alphanumeric));
    joined || marked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_questions_are_told_from_one_of_two_things() {
        for two in [
            "how long for 1 MB? and the p99?",
            "latency of tcp, and what is the bandwidth",
            "is it fast and can it do 1 Gbit/s",
        ] {
            assert!(two_questions(two), "{two}");
        }
        for one in [
            "latency and bandwidth of tcp??",
            "tcp and unix: which is faster?",
            "what is the most, and from which size?",
            "???",
        ] {
            assert!(!two_questions(one), "{one}");
        }
    }

    #[test]
    fn both_directions_are_asked_of_runs_that_measured_both() {
        let mut measured = Measured::default();
        measured.add("a.run.jsonl", std::iter::once(("tcp", "tcp")));
        let says = |text: &str, measured: &Measured| {
            crate::config::question::of_words(text, measured)
                .map(|r| r.says(0, measured))
                .unwrap_or_else(|e| e.to_string())
        };
        let texts =
            ["throughput in both directions", "how fast is it both ways at once", "bandwidth in each direction"];
        for text in texts {
            assert!(says(text, &measured).contains("--pattern stream --both measures it"), "{}", says(text, &measured));
        }
        measured.both_ways();
        for text in texts {
            assert_eq!(says(text, &measured), "the most throughput, over tcp", "{text}");
        }
    }

    #[test]
    fn paths_of_several_flows_answer_for_what_is_done_at_once() {
        let mut measured = Measured::default();
        measured.add("a.run.jsonl", [("tcp", "tcp"), ("tcp:flows=4", "tcp"), ("unix", "unix")].into_iter());
        measured.flows("tcp", 1);
        measured.flows("tcp:flows=4", 4);
        let says = |text: &str| {
            crate::config::question::of_words(text, &measured)
                .map(|r| r.says(0, &measured))
                .unwrap_or_else(|e| e.to_string())
        };
        for text in ["bandwidth of tcp with 4 connections", "bandwidth in parallel", "bandwidth with 4 flows"] {
            assert_eq!(says(text), "the most throughput, over tcp:flows=4 (a)", "{text}");
        }
        assert!(says("bandwidth of tcp with 8 connections").contains("pipegauge run tcp --flows 8 measures it"));
        assert!(says("bandwidth of unix in parallel").contains("pipegauge run unix --flows 4 measures it"));
    }
}
