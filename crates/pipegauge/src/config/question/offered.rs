//! A rate that a run offered (`--rate`): what is asked of it is asked of the path that it was offered to.

use anyhow::{Result, bail};
use units::BitRate;

use super::amounts::Amount;
use super::lexicon::Topic::*;
use super::names::{Measured, OfferedTo};
use super::rates;
use super::sentence::{Item, Sentence};
use super::suggest::shown;

/// How far two rates lie apart that are one.
const EQUAL: f64 = 1e-6;

/// Reads "latency at 5k messages/s" and "CPU use at 2 Gbit/s" as of the paths to which so much was offered.
pub fn of(text: &str, sentence: &mut Sentence, measured: &Measured) -> Result<()> {
    let timed = !sentence.percentiles().is_empty()
        || sentence.any(&[Latency, RoundTrip, Minimum, Average])
        || (sentence.has(HowLong) && !measured.offered.is_empty());
    let other = sentence.any(&[Throughput, Loss, Lossless, Can, Link, Would, HowMany, Streams, Frames, Video, Sources]);
    let cpu = sentence.has(Cpu) && !sentence.has(Cores);
    let counted = sentence.items.iter().any(|i| matches!(i, Item::Amount(Amount::Count(_))));
    let lost = rates::gets_through(text);
    if !(timed || cpu) || other || lost || (counted && !cpu) {
        return Ok(());
    }
    let rate = |item: &Item| match item {
        Item::Amount(Amount::Rate(bits)) => Some((None, Some(*bits))),
        Item::Amount(Amount::PerSecond(each)) => Some((Some(*each), None)),
        _ => None,
    };
    let Some((at, asked)) = sentence.items.iter().enumerate().find_map(|(at, item)| Some((at, rate(item)?))) else {
        return Ok(());
    };
    let same = |a: Option<f64>, b: Option<f64>| a.zip(b).is_some_and(|(a, b)| (a / b - 1.0).abs() < EQUAL);
    let named = sentence.paths();
    let meant = |to: &&OfferedTo| {
        let transport = to.path.transport.as_deref().unwrap_or("");
        let plain = transport.split(':').next().unwrap_or(transport);
        let called =
            named.is_empty() || named.iter().any(|n| [plain, transport].map(Some).contains(&n.transport.as_deref()));
        called && (same(asked.0, to.messages) || same(asked.1, to.bits))
    };
    let found: Vec<&OfferedTo> = measured.offered.iter().filter(meant).collect();
    if !found.is_empty() {
        sentence.items.remove(at);
        sentence.items.retain(|i| !matches!(i, Item::Path(_)));
        sentence.items.retain(|i| !matches!(i, Item::Topics(t) if t.contains(&PerSecond) || t.contains(&Messages)));
        sentence.items.extend(found.into_iter().map(|to| Item::Path(measured.shortly(to.path.clone()))));
        return Ok(());
    }
    if cpu {
        return Ok(());
    }
    let rate = match asked {
        (Some(each), _) if each.fract() == 0.0 => format!("{each}/s"),
        (_, Some(bits)) => BitRate(bits).to_string().replace(' ', ""),
        _ => return Ok(()),
    };
    let told = |to: &OfferedTo| match (to.messages, to.bits) {
        (Some(each), _) => format!("{each} messages a second"),
        (_, bits) => BitRate(bits.unwrap_or(0.0)).to_string(),
    };
    let had: Vec<String> = measured.offered.iter().map(told).collect();
    let had = if had.is_empty() { "these runs had none".to_owned() } else { format!("these had {}", had.join(", ")) };
    bail!(
        "'{}': what messages take at a rate tells a run that offers it (pipegauge run tcp --rate {rate}), and {had}; without a rate ask \
         'what is the latency?'",
        shown(text)
    )
}

#[cfg(test)]
mod tests {
    use super::super::of_words;
    use super::*;

    #[test]
    fn a_size_at_a_rate_is_asked_of_its_path() {
        let mut measured = Measured::default();
        measured.add("a.run.jsonl", [("tcp", "tcp")].into_iter());
        measured.offered("tcp", Some(5000.0), None);
        let says =
            |text: &str| of_words(text, &measured).map(|r| r.says(0, &measured)).unwrap_or_else(|e| e.to_string());
        assert_eq!(says("latency of 1 KiB at 5k messages/s"), "arrival of 1 KiB, over tcp");
        assert!(
            says("p99 of 1 KiB at 5000 messages per second")
                .starts_with("p99 of the times of single messages of 1 KiB")
        );
        assert!(says("latency of 1 KiB at 7000 messages per second").contains("these had 5000 messages a second"));
        let goes = "whether 5,000 messages of 1 KiB a second can be sustained, over tcp";
        assert_eq!(says("can tcp do 5000 messages of 1 KiB per second"), goes);
    }

    #[test]
    fn what_was_offered_is_asked_of_its_path() {
        let mut measured = Measured::default();
        let rates = [("udp:offered=1Gbit/s", "udp"), ("udp:offered=2Gbit/s", "udp")];
        measured.add("a.run.jsonl", rates.into_iter());
        measured.offered("udp:offered=1Gbit/s", None, Some(1e9));
        measured.offered("udp:offered=2Gbit/s", None, Some(2e9));
        let says = |text: &str, measured: &Measured| {
            of_words(text, measured).map(|r| r.says(0, measured)).unwrap_or_else(|e| e.to_string())
        };
        let cpu = "CPU time of a transfer of the smallest size, over udp:offered=2Gbit/s";
        assert_eq!(says("cpu use at 2 Gbit/s", &measured), cpu);
        assert!(says("cpu use at 3 Gbit/s", &measured).starts_with("CPU time of 3.00 Gbit/s"));
        assert!(says("latency at 3 Gbit/s", &measured).contains("these had 1.00 Gbit/s, 2.00 Gbit/s"));
        assert_eq!(says("what rate was offered", &measured), "which rate was offered, over all paths");
        let mut measured = Measured::default();
        measured.add("a.run.jsonl", [("tcp", "tcp")].into_iter());
        measured.offered("tcp", Some(5000.0), None);
        let latency = "latency: arrival of the smallest message, over tcp";
        assert_eq!(says("what is the latency at 5k messages/s", &measured), latency);
        assert!(says("p99 at 5000 messages per second", &measured).starts_with("p99 of the times"));
        assert!(says("latency at 1000 messages per second", &measured).contains("these had 5000 messages a second"));
    }
}
