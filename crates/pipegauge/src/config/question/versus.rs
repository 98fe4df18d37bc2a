//! One path against another.

use anyhow::{Result, bail};

use super::amounts::Amount;
use super::forms::Asked;
use super::lexicon::Topic::{self, *};
use super::names::{Measured, Named};
use super::sentence::{Item, Sentence};
use super::suggest::shown;
use super::{Multiple, Question};

/// The questions of two paths that the text makes: one, but where a path is held against all others.
pub fn of(asked: &Asked<'_>, measured: &Measured) -> Result<Vec<Question>> {
    match alone(asked, measured)? {
        found if found.is_empty() => Ok(of_two(asked)?.into_iter().collect()),
        found => Ok(found),
    }
}

/// "how many times faster is unix": against each other path, as none is named.
fn alone(asked: &Asked<'_>, measured: &Measured) -> Result<Vec<Question>> {
    const HOW: [&str; 5] = ["how many times", "how much", "what factor", "which factor", "how many percent"];
    let text = asked.text.to_lowercase();
    let h = &asked.sentence;
    let [x] = &h.paths()[..] else { return Ok(Vec::new()) };
    let asks = HOW.iter().any(|how| text.contains(how)) && FASTER.iter().any(|word| text.contains(word));
    let amount = |i: &Item| matches!(i, Item::Amount(a) if !matches!(a, Amount::Size(_)));
    if !asks || h.items.iter().any(amount) || h.any(&[PerByte, StartUp, HalfPower, Throughput]) {
        return Ok(Vec::new());
    }
    let others: Vec<Named> = (measured.paths.iter())
        .filter(|(label, of, file)| !x.is(label, of, measured.file(*file)))
        .map(|(label, _, file)| {
            let file = (measured.files.len() > 1).then(|| measured.file(*file).to_owned());
            Named { transport: Some(label.clone()), file }
        })
        .collect();
    if others.is_empty() {
        bail!(
            "'{}': {x} against which path? The runs have no other; measure both in one run (pipegauge run unix tcp) and ask that",
            shown(asked.text)
        );
    }
    let cost = |y| Question::Cost { x: x.clone(), y, size: asked.size(), factor: true, multiple: None };
    Ok(others.into_iter().map(cost).collect())
}

/// How much longer than the other one of two paths is asked to take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Longer {
    /// Times as long.
    pub times: f64,
    /// The path that is named first is the faster one.
    pub first_faster: bool,
    /// Asked is at which size, and not whether.
    pub at: bool,
}

/// "10% slower", "20 percent faster", of two paths: whether one is, or at which size.
pub fn longer(text: &str, sentence: &Sentence, percents: &[String]) -> Option<Longer> {
    let ([percent], 2) = (percents, sentence.paths().len()) else { return None };
    let percent = percent.parse::<f64>().ok().filter(|p| (0.0..=1000.0).contains(p))?;
    let sized = sentence.any(&[WhichSize, When, HowBig]);
    let at = sentence.items.iter().position(|i| matches!(i, Item::Amount(Amount::Bare(_))))?;
    // The word that the share belongs to stands behind it: "10% slower than"; else before it: "at which size within 10% of".
    let rest = text.to_lowercase();
    let rest = rest.split_once('%').or_else(|| rest.split_once("percent"))?.1;
    let flow = sentence.has(Throughput);
    let behind = rest.split(|c: char| !c.is_alphanumeric()).find_map(|word| match word {
        "faster" | "quicker" | "shorter" => Some(true),
        "slower" | "longer" | "worse" => Some(false),
        "less" | "lower" => Some(!flow),
        "more" | "higher" | "greater" => Some(flow),
        _ => None,
    });
    let before = || sentence.items[..at].iter().any(|i| matches!(i, Item::Topics(t) if t.contains(&Within)));
    let first_faster = behind.or_else(|| (sized && before()).then_some(false))?;
    let times = ((1.0 + percent / 100.0) * 1e6).round() / 1e6;
    Some(Longer { times, first_faster, at: sized })
}

const FASTER: [&str; 6] = ["faster", "slower", "quicker", "as fast", "as slow", "as quick"];

fn of_two(asked: &Asked<'_>) -> Result<Option<Question>> {
    let h = &asked.sentence;
    let paths = h.paths();
    // "tcp over unix", "tcp/unix": nothing else is said.
    let bare = h.items.iter().all(|i| match i {
        Item::Topics(t) => t.iter().any(|t| matches!(t, Over | And | Filler)),
        Item::Path(_) => true,
        _ => false,
    });
    if let ([x, y], Some(Longer { times, first_faster, at })) = (&paths[..], asked.longer) {
        let (slow, fast) = if first_faster { (y, x) } else { (x, y) };
        if at && asked.size().is_none() {
            return Ok(Some(Question::Nearly { slow: slow.clone(), fast: fast.clone(), times }));
        }
        let multiple = Some(Multiple { times, slow: !first_faster });
        return Ok(Some(Question::Cost { x: x.clone(), y: y.clone(), size: asked.size(), factor: true, multiple }));
    }
    let against = h.any(&[Cost, Versus, Instead]) || (bare && paths.len() == 2) || than(&h.items);
    // "faster over unix or tcp" chooses; "slower than" compares.
    if !against || (h.has(Which) && h.has(Or) && !h.has(Versus)) {
        return Ok(None);
    }
    match &paths[..] {
        [x, y] => {
            let (x, y) = if turned(&h.items) { (y, x) } else { (x, y) };
            let multiple = multiple(asked);
            // "at what size is shm 3 times faster than tcp"
            if let Some(Multiple { times, slow }) = multiple.filter(|_| h.has(WhichSize) && asked.size().is_none()) {
                let (slow, fast) = if slow { (x, y) } else { (y, x) };
                return Ok(Some(Question::Nearly { slow: slow.clone(), fast: fast.clone(), times }));
            }
            // "from which size on is unix faster than tcp", "when does unix beat tcp"
            let crossed = h.has(Overtake) || (h.any(&[When, WhichSize]) && h.any(&[Quicker, Slower, Beats, Fastest]));
            if crossed && asked.size().is_none() && asked.times.is_empty() {
                return Ok(Some(Question::Overtaken { x: x.clone(), y: y.clone() }));
            }
            let factor = factor(asked.text) || multiple.is_some();
            Ok(Some(Question::Cost { x: x.clone(), y: y.clone(), size: asked.size(), factor, multiple }))
        }
        [] | [_] => {
            // "which path beats the others", "faster than 1 Gbit/s", "what does it cost to send 1 KB" hold no path against another.
            let one = paths.len() == 1 && h.any(&[Versus, Cost]) && h.any(&[Over, Instead, Versus]);
            let amount = h.items.iter().any(|i| matches!(i, Item::Amount(_)));
            if one && !amount && !h.any(&[PerByte, StartUp, HalfPower, Latency, Throughput, Which, Messages]) {
                bail!("'{}': {} against which path? Write: what does tcp cost over unix?", shown(asked.text), paths[0]);
            }
            Ok(None)
        }
        // Of three or more the order is told.
        _ => Ok(None),
    }
}

/// How many times as fast or slow the one is asked to be: "twice as fast as", "10 times slower than".
fn multiple(asked: &Asked<'_>) -> Option<Multiple> {
    const SLOW: [&str; 4] = ["slow", "slower", "long", "longer"];
    const FAST: [&str; 4] = ["fast", "faster", "quick", "quicker"];
    let text = asked.text.to_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    let at = words.iter().position(|w| matches!(*w, "twice" | "times"))?;
    let how = *words.get(at + 1 + usize::from(words.get(at + 1) == Some(&"as")))?;
    let times = match &asked.counts[..] {
        [count] => *count as f64,
        [] if words[at] == "twice" => 2.0,
        _ => return None,
    };
    (SLOW.contains(&how) || FAST.contains(&how)).then(|| Multiple { times, slow: SLOW.contains(&how) })
}

/// "less latency as tcp", "faster as tcp": what many say for "than", between two paths.
fn than(items: &[Item]) -> bool {
    let paths: Vec<usize> = (0..items.len()).filter(|i| matches!(items[*i], Item::Path(_))).collect();
    let [first, second] = paths[..] else { return false };
    let has = |i: &Item, topic: Topic| matches!(i, Item::Topics(t) if t.contains(&topic));
    let as_than = second > 0 && has(&items[second - 1], In);
    as_than && items[first..second].iter().any(|i| has(i, Fastest))
}

/// Whether a factor is asked for.
fn factor(text: &str) -> bool {
    const WORDS: [&str; 8] = ["faster", "slower", "quicker", "factor", "speedup", "slowdown", "twice", "half"];
    let text = text.to_lowercase();
    text.contains("many times") || text.split(|c: char| !c.is_alphanumeric()).any(|word| WORDS.contains(&word))
}

/// Whether the path that is named first is the one that the other is held against: "instead of tcp, unix".
fn turned(items: &[Item]) -> bool {
    let first = items.iter().position(|i| matches!(i, Item::Path(_))).unwrap_or(0);
    let before = items[..first].iter().rev().find_map(|i| match i {
        Item::Topics(t) if t.contains(&Topic::Filler) && !t.contains(&Instead) => None,
        // "how much faster than tcp is shm"
        Item::Topics(t) => Some(t.iter().any(|t| matches!(t, Instead | From | Quicker | Slower))),
        _ => Some(false),
    });
    before == Some(true)
}

#[cfg(test)]
mod tests {
    use super::factor;

    #[test]
    fn a_factor_is_asked_for_by_its_words_alone() {
        for text in [
            "how much faster is unix than tcp",
            "By what factor does shm beat tcp?",
            "how many times as fast is shm as tcp",
        ] {
            assert!(factor(text), "{text}");
        }
        for text in
            ["what does tcp cost over unix", "is unix worth it over tcp", "tcp vs unix", "how long does tcp take"]
        {
            assert!(!factor(text), "{text}");
        }
    }
}
