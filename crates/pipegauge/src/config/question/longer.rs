//! How much longer than another one of two is asked to take.

use super::amounts::Amount;
use super::lexicon::Topic::*;
use super::sentence::{Item, Sentence};

/// How much longer than the other one of two paths or sizes is asked to take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Longer {
    /// Times as long.
    pub times: f64,
    /// What is named first is the faster one.
    pub first_faster: bool,
    /// Asked is at which size, and not whether.
    pub at: bool,
}

/// "10% slower", "20 percent faster", of two paths or sizes: whether one is, or at which size.
pub fn longer(text: &str, sentence: &Sentence, percents: &[String]) -> Option<Longer> {
    let [percent] = percents else { return None };
    let sizes = sentence.amounts(|a| matches!(a, Amount::Size(_)).then_some(())).len();
    if sentence.paths().len() != 2 && sizes != 2 {
        return None;
    }
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
