//! One path against another, and one size against another over the same path.

use anyhow::{Result, bail};

use super::amounts::{Amount, is_slow};
use super::asked::Asked;
use super::lexicon::Topic::{self, *};
use super::longer::Longer;
use super::names::{Measured, Named};
use super::sentence::{Item, Sentence};
use super::suggest::shown;
use super::{Multiple, Question};

/// The questions of two paths or sizes that the text makes: one, but where a path is held against all others.
pub fn of(asked: &Asked<'_>, measured: &Measured) -> Result<Vec<Question>> {
    if let Some(found) = of_sizes(asked) {
        return Ok(vec![found]);
    }
    match alone(asked, measured)? {
        found if found.is_empty() => Ok(of_two(asked)?.into_iter().collect()),
        found => Ok(found),
    }
}

/// "how much slower is 64 KiB than 1 KiB", "4 KiB or 16 KiB": two sizes, where nothing else is said.
fn of_sizes(asked: &Asked<'_>) -> Option<Question> {
    #[rustfmt::skip]
    const SAID: [Topic; 38] = [
        Latency, RoundTrip, HowLong, HowFast, HowMany, HowMuch, Throughput, Most, Fastest, Which, Slowest, Messages, Requests, Can, Within,
        Above, Below, Quicker, Slower, Cost, Versus, Instead, From, Data, Over, Or, And, Beats, In, Percent, Would, Supposed, Large, Times, Bound,
        WhichSize, Between, Filler,
    ];
    let h = &asked.sentence;
    let [x, y] = asked.sizes[..] else { return None };
    let multiple = match asked.longer {
        Some(Longer { times, first_faster, at: false }) => Some(Multiple { times, slow: !first_faster, less: false }),
        Some(_) => return None,
        None => multiple(asked),
    };
    let counted =
        !asked.counts.is_empty() || asked.multiples.len() > usize::from(multiple.is_some() && asked.longer.is_none());
    let numbers = [&asked.rates, &asked.times, &asked.per_second, &asked.periods, &asked.shares];
    let said = |i: &Item| match i {
        Item::Topics(t) => t.iter().all(|t| SAID.contains(t)),
        Item::Unread(_) | Item::But(_) => false,
        Item::Amount(_) | Item::Path(_) => true,
    };
    // "which path is faster for 1 KiB or 64 KiB" chooses a path.
    let paths = h.paths().len() > 1 || (h.has(Which) && h.paths().is_empty() && !chosen(asked.text));
    let against = h.any(&[Cost, Versus, Instead, Or]) || than(&h.items, sized);
    let two_times = h.has(Throughput) && h.any(&[Latency, RoundTrip, HowLong]) || h.has(Requests) && h.has(RoundTrip);
    let numbers = counted || !asked.percentiles.is_empty() || numbers.iter().any(|n| !n.is_empty());
    if numbers || paths || !against || two_times || !h.items.iter().all(said) {
        return None;
    }
    let (x, y) = if turned(&h.items, sized) { (y, x) } else { (x, y) };
    Some(Question::Sizes { x, y, flow: h.has(Throughput), multiple })
}

/// Whether a text chooses from sizes, and not from paths: "should I use 64KB or 1MB messages", "which is better: 4 KB or 64 KB".
fn chosen(text: &str) -> bool {
    let text = text.to_lowercase();
    let any = |of: &[&str]| of.iter().any(|words| text.contains(words));
    any(&["should i use", "should we use", "should i send", "should we send", "is better", "are better"])
        && !any(&["path", "transport", "which way", "method", "mechanism", "channel", " for "])
}

fn sized(item: &Item) -> bool {
    matches!(item, Item::Amount(Amount::Size(_)))
}

fn path(item: &Item) -> bool {
    matches!(item, Item::Path(_))
}

/// "how many times faster is unix", "which path is faster than unix": against each other path, as none is named.
fn alone(asked: &Asked<'_>, measured: &Measured) -> Result<Vec<Question>> {
    let h = &asked.sentence;
    let asks = asks_how_much(asked.text);
    if asks
        && h.paths().is_empty()
        && h.items.iter().filter(|i| matches!(i, Item::Amount(_))).all(sized)
        && asked.sizes.len() == 1
    {
        bail!(
            "'{}': than what? Ask 'how much slower is 64 KiB than 1 KiB?', or 'how much faster is shm than tcp at 4 KiB?'",
            shown(asked.text)
        );
    }
    let [x] = &h.paths()[..] else { return Ok(Vec::new()) };
    if from_which_size(asked) {
        return match &other_paths(measured, x)[..] {
            [y] => Ok(vec![Question::Overtaken { x: x.clone(), y: y.clone() }]),
            _ => bail!(
                "'{}': better than which path? Name both: 'from which size on is unix faster than tcp?'; the runs have: {}",
                shown(asked.text),
                measured.words()
            ),
        };
    }
    let which = h.has(Which) && !h.any(&[WhichSize, Overtake, Or, Instead]) && judged_against(&h.items);
    if which && h.has(Throughput) {
        bail!("'{}': ask what each path moves: 'which path moves the most?'", shown(asked.text));
    }
    let amount = |i: &Item| matches!(i, Item::Amount(a) if !matches!(a, Amount::Size(_)));
    // "tcp compared to the others"
    let text = asked.text.to_lowercase();
    let others = h.has(Versus) || h.has(Instead);
    let others = others && ["the others", "other paths", "all others", "the rest"].iter().any(|of| text.contains(of));
    // "what would I gain from unix": over each other path.
    let gained = h.has(From) && h.has(Cost) && ["gain", "benefit"].iter().any(|of| text.contains(of));
    let others = others || gained;
    let (asks, which) = (asks || others, which && !others);
    if !(asks || which) || h.items.iter().any(amount) || h.any(&[PerByte, StartUp, HalfPower, Throughput]) {
        return Ok(Vec::new());
    }
    let others = other_paths(measured, x);
    if others.is_empty() {
        bail!(
            "'{}': {x} against which path? The runs have no other; measure both in one run (pipegauge run unix tcp) and ask that",
            shown(asked.text)
        );
    }
    let cost = |other| {
        let (x, y) = if which { (other, x.clone()) } else { (x.clone(), other) };
        Question::Cost { x, y, size: asked.size(), factor: true, flow: false, multiple: None }
    };
    Ok(others.into_iter().map(cost).collect())
}

/// The other paths of the runs.
fn other_paths(measured: &Measured, x: &Named) -> Vec<Named> {
    (measured.paths.iter())
        .filter(|(label, of, file)| !x.is(label, of, measured.file(*file)))
        .map(|(label, _, file)| {
            let file = (measured.files.len() > 1).then(|| measured.file(*file).to_owned());
            Named { transport: Some(label.clone()), file }
        })
        .collect()
}

/// Whether it is asked from which size on the one path is better, or until which, without the path that it is held against: "from what size is unix
/// better".
fn from_which_size(asked: &Asked<'_>) -> bool {
    const ON: [&str; 7] = ["from", "after", "until", "till", "beyond", "above", "below"];
    const BETTER: [&str; 8] = ["better", "faster", "quicker", "wins", "win", "worth", "pay", "pays"];
    let text = asked.text.to_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    let sized = words
        .windows(3)
        .any(|w| ON.contains(&w[0]) && ["what", "which"].contains(&w[1]) && ["size", "sizes"].contains(&w[2]));
    let amounts = asked.sentence.items.iter().any(|i| matches!(i, Item::Amount(_)));
    sized && !amounts && words.iter().any(|word| BETTER.contains(word)) && !asked.sentence.has(Throughput)
}

/// Whether the one path is what others are held against: "which is faster than unix".
fn judged_against(items: &[Item]) -> bool {
    let at = items.iter().position(path).unwrap_or(0);
    let has = |i: &Item, of: &[Topic]| matches!(i, Item::Topics(t) if t.iter().any(|t| of.contains(t)));
    items[..at].iter().rev().find(|i| !has(i, &[Filler])).is_some_and(|i| has(i, &[Versus, Quicker, Slower, Beats]))
}

/// Whether it is asked how much faster or slower something is.
fn asks_how_much(text: &str) -> bool {
    const HOW: [&str; 5] = ["how many times", "how much", "what factor", "which factor", "how many percent"];
    let text = text.to_lowercase();
    HOW.iter().any(|how| text.contains(how)) && FASTER.iter().any(|word| text.contains(word))
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
        let multiple = Some(Multiple { times, slow: !first_faster, less: false });
        let (x, y, size) = (x.clone(), y.clone(), asked.size());
        return Ok(Some(Question::Cost { x, y, size, factor: true, flow: of_flow(h), multiple }));
    }
    if let Some(found) = share_of_another(asked) {
        return Ok(Some(found));
    }
    let against = h.any(&[Cost, Versus, Instead]) || (bare && paths.len() == 2) || than(&h.items, path);
    // "is tcp's latency lower than unix's"
    let amounts = h.items.iter().any(|i| matches!(i, Item::Amount(a) if !matches!(a, Amount::Size(_))));
    let at: Vec<usize> = (0..h.items.len()).filter(|i| path(&h.items[*i])).collect();
    let amid = at.first().zip(at.last()).map_or(&[][..], |(first, last)| &h.items[*first..*last]);
    let more = |i: &Item| matches!(i, Item::Topics(t) if t.iter().any(|t| matches!(t, Above | Below)));
    let against = against || (paths.len() == 2 && amid.iter().any(more) && !amounts && !h.has(Bound));
    // "faster over unix or tcp" chooses; "slower than" compares.
    if !against || (h.has(Which) && h.has(Or) && !h.has(Versus)) {
        return Ok(None);
    }
    match &paths[..] {
        [x, y] => {
            let (x, y) = if turned(&h.items, path) { (y, x) } else { (x, y) };
            let multiple = multiple(asked);
            // "at what size is shm 3 times faster than tcp"
            if let Some(Multiple { times, slow, .. }) =
                multiple.filter(|_| h.any(&[WhichSize, When]) && asked.size().is_none())
            {
                let (slow, fast) = if slow { (x, y) } else { (y, x) };
                return Ok(Some(Question::Nearly { slow: slow.clone(), fast: fast.clone(), times }));
            }
            // "from which size on is unix faster than tcp", "when does unix beat tcp"
            // "at which size is unix as fast as tcp"
            let alike = h.has(WhichSize) && h.has(Versus);
            let crossed =
                h.has(Overtake) || alike || (h.any(&[When, WhichSize]) && h.any(&[Quicker, Slower, Beats, Fastest]));
            // "after how many bytes does tcp beat unix", "how big must messages be for tcp to beat unix"
            let bytes = (h.has(HowMany) && h.has(Data)) || (h.has(HowBig) && h.any(&[Messages, Data]));
            let crossed = crossed || (bytes && h.any(&[Quicker, Slower, Beats]));
            // "from which size on should I take unix instead of tcp", "when should I switch", "the largest for which unix is faster"
            let switched = h.has(Instead) && h.any(&[When, WhichSize]) && !h.has(Throughput);
            let crossed = crossed || switched || (h.has(HowBig) && h.any(&[Quicker, Slower, Beats, Fastest]));
            if crossed && asked.size().is_none() && asked.times.is_empty() {
                return Ok(Some(Question::Overtaken { x: x.clone(), y: y.clone() }));
            }
            let factor = factor(asked.text) || multiple.is_some();
            let (x, y, size) = (x.clone(), y.clone(), asked.size());
            Ok(Some(Question::Cost { x, y, size, factor, flow: of_flow(h) || moves(asked.text), multiple }))
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

/// "what percentage of unix's bandwidth does tcp reach": of what the other path moves, and not of a path's own most.
fn share_of_another(asked: &Asked<'_>) -> Option<Question> {
    let h = &asked.sentence;
    let [first, second] = &h.paths()[..] else { return None };
    let sizes = h.items.iter().filter(|i| matches!(i, Item::Amount(_))).all(sized) && asked.sizes.len() < 2;
    let text = asked.text.to_lowercase();
    // "how close is tcp to unix" holds the one against the other, whatever is told of them.
    let close = text.contains("how close") || text.contains("how near");
    let shared = h.has(PartOf) || (h.has(HowMuch) && text.contains("how much of "));
    if !shared || !(of_flow(h) || close) || !sizes || (h.any(&[And, Or]) && !close) {
        return None;
    }
    // The other one stands right behind "of", or behind "of the bandwidth of".
    let at = |of: &dyn Fn(&Item) -> bool| h.items.iter().position(of);
    let (share, named) =
        (at(&|i| matches!(i, Item::Topics(t) if t.contains(&PartOf) || t.contains(&HowMuch)))?, at(&path)?);
    let joint = |i: &Item| matches!(i, Item::Topics(t) if t.iter().any(|t| matches!(t, Filler | Throughput | Most)));
    let behind = !close && share < named && h.items[share + 1..named].iter().all(joint) && named > share + 1;
    let (x, y) = if behind { (second, first) } else { (first, second) };
    Some(Question::Cost {
        x: x.clone(),
        y: y.clone(),
        size: asked.size(),
        factor: true,
        flow: of_flow(h),
        multiple: None,
    })
}

/// How many times as fast or slow the one is asked to be: "twice as fast as", "10 times slower than", "less than 3 times slower".
fn multiple(asked: &Asked<'_>) -> Option<Multiple> {
    let text = asked.text.to_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    let found = match asked.multiples[..] {
        [found] => Some(found),
        [] => {
            // "twice the bandwidth of", "is the bandwidth twice as high"
            let more = of_flow(&asked.sentence);
            let twice = words.windows(3).find_map(|w| match w {
                ["twice", "as", "high" | "much"] | ["twice", "the", "bandwidth" | "throughput"] if more => Some(false),
                ["twice", "as", way] => is_slow(way),
                _ => None,
            });
            twice.map(|slow| Multiple { times: 2.0, slow, less: false })
        }
        _ => None,
    };
    let bound = [Below, Above].map(|topic| asked.sentence.has(topic));
    // Less than half the time is more than twice as fast.
    let turned = words.contains(&"half");
    match bound {
        [true, true] => None,
        [less, more] => found.map(|m| Multiple { less: if turned { more } else { less }, ..m }),
    }
}

/// "less latency as tcp", "faster as tcp": what many say for "than", between two of what is compared.
fn than(items: &[Item], compared: impl Fn(&Item) -> bool) -> bool {
    let both: Vec<usize> = (0..items.len()).filter(|i| compared(&items[*i])).collect();
    let [first, second] = both[..] else { return false };
    let has = |i: &Item, topic: Topic| matches!(i, Item::Topics(t) if t.contains(&topic));
    let as_than = second > 0 && has(&items[second - 1], In);
    as_than && items[first..second].iter().any(|i| has(i, Fastest))
}

/// Whether what two paths move is asked for, and not what they take.
fn of_flow(h: &Sentence) -> bool {
    h.has(Throughput) && !h.any(&[Latency, RoundTrip, HowLong])
}

/// "how much more does unix move than tcp": of what both move, though no throughput is named.
fn moves(text: &str) -> bool {
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
    let any = |of: &[&str]| words.iter().any(|word| of.contains(word));
    any(&["move", "moves", "carry", "carries"]) && any(&["more", "less", "most"])
}

/// Whether a factor is asked for.
fn factor(text: &str) -> bool {
    const WORDS: [&str; 11] = [
        "faster",
        "slower",
        "quicker",
        "factor",
        "ratio",
        "speedup",
        "slowdown",
        "twice",
        "half",
        "percent",
        "percentage",
    ];
    let text = text.to_lowercase();
    text.contains("many times") || text.split(|c: char| !c.is_alphanumeric()).any(|word| WORDS.contains(&word))
}

/// Whether what is named first is what the other is held against: "instead of tcp, unix".
fn turned(items: &[Item], compared: impl Fn(&Item) -> bool) -> bool {
    let first = items.iter().position(compared).unwrap_or(0);
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
