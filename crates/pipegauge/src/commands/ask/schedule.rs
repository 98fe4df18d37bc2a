//! What a run on a schedule (`--rate`) tells of rates: whether what was offered went. How much more the path carries is not known.

use measure::event::TimeKind;
use model::answer::Unanswered;
use units::{BitRate, Kind, format::significant};

use super::asked::{Asked, Offered};
use super::reply::{alone, cannot, no, unscheduled, yes};
use crate::config::question::size_words;
use crate::document::Answered;

/// Share of an offered rate that may be missing where it counts as kept, as in the warning of the run.
const MISSED: f64 = 0.05;

/// No answer about throughput, of a run that sent on a schedule.
pub fn no_throughput(p: &Asked<'_>) -> Answered {
    let why = "messages were sent on a schedule (--rate), which says nothing of how much the path carries".to_owned();
    unscheduled(p, why, &[])
}

/// Whether `asked` messages of a size go a second; none asks how many do, which a schedule does not tell.
pub fn messages(p: &Asked<'_>, size: Option<u64>, asked: Option<f64>) -> Answered {
    told(p, size.or(p.summary().map(|s| s.latency_size)), asked, |_, x| significant(x, Kind::PerSecond))
}

/// Whether `asked` bits go a second, or how many do. Only a stream offers bits.
pub fn bits(p: &Asked<'_>, size: Option<u64>, asked: Option<f64>) -> Answered {
    if p.kind != Some(TimeKind::OneWay) {
        return no_throughput(p);
    }
    let size = size.or(p.curve().iter().map(|c| c.size).max());
    let per_second = asked.zip(size).map(|(bits, size)| bits / (size.max(1) as f64 * 8.0));
    told(p, size, per_second, |size, x| BitRate(x * size as f64 * 8.0).to_string())
}

/// Which rate a schedule offered, and how much of it went.
pub fn rate(p: &Asked<'_>) -> Answered {
    let sizes = || p.curve().iter().map(|c| c.size);
    let rows: Vec<(u64, Offered)> = sizes().filter_map(|size| Some((size, p.offered(size)?))).collect();
    let Some((first, offered)) = rows.first().copied().filter(|_| p.scheduled()) else {
        let why =
            "no rate was offered: messages were sent as fast as the path takes them (--rate offers one)".to_owned();
        return cannot(p, why, &[]);
    };
    let bits = p.kind == Some(TimeKind::OneWay);
    let words = |size: u64, x: f64| match bits {
        true => BitRate(x * size as f64 * 8.0).to_string(),
        false => significant(x, Kind::PerSecond),
    };
    let one = |(size, of): &(u64, Offered)| {
        let lost = if of.came < of.sent { format!(", {} arrived", words(*size, of.came)) } else { String::new() };
        let (wanted, sent) = (words(*size, of.wanted), words(*size, of.sent));
        format!("with messages of {} {wanted} were offered, and {sent} went{lost}", size_words(*size))
    };
    let told: Vec<String> = rows.iter().map(one).collect();
    let scale = if bits { first as f64 * 8.0 } else { 1.0 };
    let unit = if bits { "bit/s" } else { "1/s" };
    yes(p, told.join("; "), alone(offered.wanted * scale), unit, vec![first])
}

fn told(p: &Asked<'_>, size: Option<u64>, asked: Option<f64>, words: impl Fn(u64, f64) -> String) -> Answered {
    let Some(size) = size else { return no(p, &Unanswered::Nothing, &[]) };
    let Some(offered) = p.offered(size) else {
        let why = format!("a schedule (--rate) tells of the sizes measured only, and {} is none", size_words(size));
        return cannot(p, why, &[size]);
    };
    let rate = |x: f64| words(size, x);
    let lost = match offered.came < offered.sent {
        true => format!(", of which {} arrived: the others were lost", rate(offered.came)),
        false => String::new(),
    };
    let went = format!(
        "with messages of {} a schedule (--rate) offered {}, and {} went{lost}",
        size_words(size),
        rate(offered.wanted),
        rate(offered.sent)
    );
    match asked.and_then(|asked| verdict(offered, asked)) {
        Some(word) => {
            let more = if word == "yes" { "; whether more would go was not measured" } else { "" };
            yes(p, format!("{word}: {went}{more}"), alone(offered.came), "1/s", vec![size])
        }
        None => {
            unscheduled(p, format!("{went}; whether more would go was not measured: measure without --rate"), &[size])
        }
    }
}

/// Whether so many came: none where no more was offered than what came.
fn verdict(offered: Offered, asked: f64) -> Option<&'static str> {
    let kept = offered.came >= (1.0 - MISSED) * offered.wanted;
    match () {
        () if asked <= if kept { offered.wanted } else { offered.came } => Some("yes"),
        () if !kept => Some("no"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_tells_of_what_it_offered_only() {
        let lossy = Offered { wanted: 1000.0, sent: 1000.0, came: 300.0 };
        assert_eq!(
            [200.0, 600.0].map(|asked| verdict(lossy, asked)),
            [Some("yes"), Some("no")],
            "what was lost did not come"
        );
        let kept = Offered { wanted: 1000.0, sent: 990.0, came: 990.0 };
        assert_eq!([500.0, 1000.0, 1001.0].map(|n| verdict(kept, n)), [Some("yes"), Some("yes"), None]);
        let missed = Offered { wanted: 1000.0, sent: 400.0, came: 400.0 };
        assert_eq!([400.0, 600.0, 2000.0].map(|n| verdict(missed, n)), [Some("yes"), Some("no"), Some("no")]);
    }
}
