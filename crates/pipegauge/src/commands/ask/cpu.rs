//! What a transfer costs both sides in CPU time.

use measure::figures::cost::End;
use model::Estimate;
use model::answer::{self, Arrival, Unanswered};
use units::{BitRate, Kind, Share};

use super::asked::{Asked, figure, times};
use super::paths::unknown;
use super::reply::{cannot, needs, no, nobody, yes};
use super::times::of;
use crate::config::question::{ASecond, Unit, size_words};
use crate::document::Answered;

/// The path whose transfers cost least CPU time on both sides together, and the others.
pub fn cheapest(paths: &[&Asked<'_>], size: Option<u64>) -> Answered {
    let smallest = || paths.iter().flat_map(|p| p.curve().iter().map(|c| c.size)).min();
    let Some(size) = size.or_else(smallest) else {
        return nobody("the runs hold no path".into(), "pipegauge run memcpy shm unix tcp".into());
    };
    let (mut found, mut others) = (Vec::new(), Vec::new());
    for p in paths {
        let sides: Vec<Estimate> = End::BOTH
            .iter()
            .filter_map(|end| answer::arrival(&p.cpu(*end), size, None).ok().map(|a| a.seconds))
            .filter(|_| p.carried(size).is_ok())
            .collect();
        match sides.split_first() {
            Some((first, rest)) => {
                let both = rest.iter().fold(*first, |sum, e| sum_of(sum, *e));
                found.push((*p, both, if rest.is_empty() { "one side" } else { "both sides" }));
            }
            None => others.push((p.name.clone(), format!("this run has no CPU times of {}", size_words(size)))),
        }
    }
    found.sort_by(|a, b| a.1.value.total_cmp(&b.1.value));
    let Some((best, least, sides)) = found.first() else {
        return paths.first().map_or_else(
            || nobody("the runs hold no path".into(), "pipegauge run memcpy shm unix tcp".into()),
            |p| cannot(p, format!("no path has CPU times of {}", size_words(size)), &[size]),
        );
    };
    let mut text = format!(
        "a transfer of {} costs least, {} of CPU time on {sides}",
        size_words(size),
        figure(*least, Kind::Seconds)
    );
    for (p, e, sides) in &found[1..] {
        let sure = if e.low > least.high { "" } else { ", which is not surely more" };
        text.push_str(&format!("\n  {}: {} on {sides}{sure}", p.name, figure(*e, Kind::Seconds)));
    }
    text.push_str(&unknown(&others));
    yes(best, text, *least, "s", vec![size])
}

/// The sum of what two sides of one path take. They share the machine's level, so that both may err the same way: errors add up.
fn sum_of(a: Estimate, b: Estimate) -> Estimate {
    Estimate { value: a.value + b.value, low: a.low + b.low, high: a.high + b.high }
}

/// What so many messages, or bits, a second cost both sides: so many times the CPU time of a transfer.
pub fn a_second(p: &Asked<'_>, rate: ASecond, named: Option<u64>) -> Answered {
    // Of one size alone no other is better.
    let Some(size) = named.or(p.summary().map(|s| s.max_size)) else { return no(p, &Unanswered::Nothing, &[]) };
    if let Err(why) = p.carried(size) {
        return no(p, &why, &[size]);
    }
    let requests = matches!(rate, ASecond::Of(_, Unit::Requests));
    let trips = match if requests { p.round_trip() } else { Ok((1.0, p.time)) } {
        Ok((trips, _)) => trips,
        Err(why) => return needs(p, p.there_and_back(), &Unanswered::NoSum(why), &[size]),
    };
    let (each, what) = match rate {
        ASecond::Of(each, what) => (each, what.counted(each) + &format!(" of {} a second", size_words(size))),
        ASecond::Bits(bits) if size > 0 => {
            (bits / 8.0 / size as f64, format!("{} with messages of {}", BitRate(bits), size_words(size)))
        }
        ASecond::Bits(_) => return cannot(p, "messages without a byte move none".to_owned(), &[size]),
    };
    let cost = |end: End| {
        let found = answer::arrival(&p.cpu(end), size, None).ok()?;
        Some((end, times(found.seconds, each * trips), found))
    };
    let sides: Vec<(End, Estimate, Arrival)> = End::BOTH.into_iter().filter_map(cost).collect();
    let Some((_, first, found)) = sides.first() else { return cpu(p, Some(size)) };
    let told: Vec<String> = (sides.iter())
        .map(|(end, share, of)| {
            let of = figure(of.seconds, Kind::Seconds);
            format!("the {} side {} of a CPU ({of} a transfer)", end.name(), figure(*share, Kind::Share))
        })
        .collect();
    let mut text = format!("{what} cost {}", told.join(", "));
    if p.spins() {
        text.push_str("; but this path spins while it waits, and so each side keeps a whole CPU busy at any rate");
    }
    let most = of(p, size).map(|t| t.seconds.value * trips);
    match p.rate() {
        Some(rate) => {
            text.push_str(&format!("; of messages offered at {}, with the waiting between them", BitRate(rate)))
        }
        None if !p.scheduled() && most.is_ok_and(|seconds| seconds * each > 1.0) => {
            text.push_str("; one after another so many do not go (ask how many messages per second)");
        }
        None => {}
    }
    yes(p, text, *first, "1", found.rests_on.clone())
}

/// CPU time of a transfer of a size, or of the smallest.
pub fn cpu(p: &Asked<'_>, size: Option<u64>) -> Answered {
    if let Some(Err(why)) = size.map(|size| p.carried(size)) {
        return no(p, &why, &[]);
    }
    let Some(size) = size.or(p.curve().iter().map(|c| c.size).min()) else { return no(p, &Unanswered::Nothing, &[]) };
    let found = End::BOTH.map(|end| {
        let curve = p.cpu(end);
        (!curve.is_empty()).then(|| answer::arrival(&curve, size, None))
    });
    let told: Vec<(End, &Arrival)> = End::BOTH
        .into_iter()
        .zip(&found)
        .filter_map(|(end, found)| Some((end, found.as_ref()?.as_ref().ok()?)))
        .collect();
    let Some((_, first)) = told.first() else {
        return match found.into_iter().flatten().find_map(Result::err) {
            Some(why) => no(p, &why, &[size]),
            None => cannot(
                p,
                "this run has no CPU times: the modelled link, --check and files of earlier versions have none, nor have \
                 trials too short to read them"
                    .to_owned(),
                &[size],
            ),
        };
    };
    let side = |(end, found): &(End, &Arrival)| {
        let busy = p.busy(size, *end).map_or(String::new(), |busy| format!(", busy for {} of the time", Share(busy)));
        format!("the {} side {}{busy}", end.name(), figure(found.seconds, Kind::Seconds))
    };
    let sides: Vec<String> = told.iter().map(side).collect();
    let text = format!("a transfer of {} costs {} (CPU time)", size_words(size), sides.join(", "));
    yes(p, text, first.seconds, "s", first.rests_on.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_sides_take_errs_by_the_sum_of_their_errors() {
        let of = |value: f64, reach: f64| Estimate { value, low: value - reach, high: value + reach };
        assert_eq!(sum_of(of(10.0, 1.0), of(20.0, 2.0)), of(30.0, 3.0));
    }
}
