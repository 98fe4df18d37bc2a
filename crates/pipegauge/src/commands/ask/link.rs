//! What a link of another rate would bring, by the scaling model.

use model::Estimate;
use model::answer::{self, AtRate, Unanswered};
use model::scale::{Unscaled, Wire};
use units::{BitRate, Kind, Seconds};

use super::offering::typed;
use super::reply::{no, yes};
use super::{Asked, figure, wires};
use crate::config::question::size_words;
use crate::document::Answered;

pub fn link(p: &Asked<'_>, rate: f64, size: Option<u64>) -> Answered {
    let size = size.or(p.curve().iter().map(|c| c.size).max()).unwrap_or(0);
    match at_rate(p, size, rate) {
        Err(why) => {
            let known = !matches!(p.wire, Ok(None));
            let answer = no(p, &why, if by_line(&why) { &[] } else { std::slice::from_ref(&size) });
            match needs_wire(&why, known) {
                true => Answered {
                    text: format!(
                        "{}; with the rate of the wire that was measured over (--rate) it takes no line",
                        answer.text
                    ),
                    sharpen: with_wire(p, rate, size),
                    ..answer
                },
                false => answer,
            }
        }
        Ok((found, from)) => {
            let least = "start-up cost as fitted, bytes at that rate";
            let how = match (from, found.most) {
                (Some(from), _) => format!(
                    "would take about {} ({}): {least} instead of {}, what else they cost as it was",
                    figure(found.seconds, Kind::Seconds),
                    p.time,
                    BitRate(from.rate)
                ),
                (None, most) => format!(
                    "would take at least {} ({}): {least}{}",
                    lower(found.seconds),
                    p.time,
                    most.map_or(String::new(), |most| format!(
                        "; at most {}: with all that a byte costs now on top, if none of that is a wire's (--rate says the \
                         rate that was measured at)",
                        figure(most, Kind::Seconds)
                    ))
                ),
            };
            let text = format!("over a link of {} a message of {} {how}", BitRate(rate), size_words(size));
            yes(p, text, found.seconds, "s", vec![found.sizes.0, found.sizes.1])
        }
    }
}

/// The least that it would take, as fitted, and what is surely so: its upper end is that of the most.
fn lower(e: Estimate) -> String {
    let least = match e.low > 0.0 {
        true => format!("surely {}", Seconds(e.low)),
        false => "no interval".to_owned(),
    };
    format!("{} ({least})", Seconds(e.value))
}

/// Whether more sizes help, as what lacks is a line over them.
fn by_line(why: &Unanswered) -> bool {
    matches!(why, Unanswered::Unscaled(Unscaled::TooFew(_) | Unscaled::NoLine(_)) | Unanswered::Misfit(_))
}

/// Whether only the rate of the wire that was measured over helps: with it a size needs no line over all of them.
fn needs_wire(why: &Unanswered, known: bool) -> bool {
    matches!(why, Unanswered::Misfit(_)) && !known
}

/// The same question with the wire that was measured over.
fn with_wire(p: &Asked<'_>, rate: f64, size: u64) -> String {
    let link = format!("pipegauge ask {} --rate RATE", p.file);
    match p.curve().iter().all(|c| c.size <= size) {
        true => format!("{link} --link {}", typed(rate)),
        false => format!("{link} 'what would a link of {} bring for {size} B?'", typed(rate)),
    }
}

fn at_rate(p: &Asked<'_>, size: u64, rate: f64) -> Result<(AtRate, Option<Wire>), Unanswered> {
    wires::sums_up(p.kind).map_err(Unanswered::NoSum)?;
    let from = p.wire.clone()?;
    let to = from.map_or(Wire::new(rate, 1.0, 0.0), |w| Wire::new(rate, w.framing, w.header)?.with_packet(w.packet))?;
    Ok((answer::at_rate(p.curve(), size, from, to, p.seed)?, from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_offered_is_what_lacks() {
        let misfit = Unanswered::Misfit("one line lies by 37%".to_owned());
        let few = Unanswered::Unscaled(Unscaled::TooFew(1));
        assert_eq!(
            [needs_wire(&misfit, false), needs_wire(&misfit, true), needs_wire(&few, false)],
            [true, false, false]
        );
        assert!(by_line(&few) && by_line(&misfit) && !by_line(&Unanswered::Nothing));
    }
}
