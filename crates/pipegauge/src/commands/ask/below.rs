//! Yes or no, by the interval or, where there is none, by what all rounds saw.

use model::Estimate;
use model::answer::RoundRange;
use units::{Kind, WIDEST, format::significant};

use super::reply::{apart, verdict};

/// "yes", "no" or "not surely" of a figure that must stay below a limit, and what the verdict rests on where that is no interval: begins with a
/// semicolon. Where what is kept up is `slower` than what rounds saw, that is a part of it.
pub fn below(e: Estimate, limit: f64, seen: Option<RoundRange>, slower: bool, kind: Kind) -> (&'static str, String) {
    let told = e.low > 0.0 && e.high.is_finite() && e.high <= WIDEST * e.low;
    let seen = seen.filter(|_| !told).and_then(|seen| Some((seen.below(limit)?, seen)));
    match seen {
        None => (verdict(e, limit), apart(e, limit)),
        Some((below, seen)) => {
            let end = |x: f64| significant(x, kind);
            let what = if slower { "rounds and long trials say" } else { "rounds saw" };
            let words = format!("; no interval: all {} {what} {} to {}", seen.rounds, end(seen.least), end(seen.most));
            (if below { "yes" } else { "no" }, words)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_decide_where_no_interval_does() {
        let seen = Some(RoundRange { rounds: 14, least: 9e-6, most: 14e-6 });
        let open = Estimate { value: 1e-5, low: 0.0, high: f64::INFINITY };
        let of = |e, limit, seen| below(e, limit, seen, false, Kind::Seconds);
        assert_eq!(of(open, 1e-3, seen), ("yes", "; no interval: all 14 rounds saw 9.00 us to 14.0 us".to_owned()));
        assert_eq!(of(open, 1e-6, seen).0, "no");
        assert_eq!(of(open, 2e-5, seen), ("not surely", String::new()));
        assert_eq!(of(open, 1e-3, None).0, "not surely");
        let told = Estimate { value: 1e-5, low: 9e-6, high: 1.1e-5 };
        assert_eq!(of(told, 1e-3, seen), ("yes", String::new()));
        assert_eq!(of(told, 1e-5, seen), ("not surely", String::new()));
    }
}
