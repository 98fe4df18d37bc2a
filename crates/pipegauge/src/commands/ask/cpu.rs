//! What a transfer costs both sides in CPU time.

use measure::figures::cost::End;
use model::answer::{self, Arrival, Unanswered};
use units::{Kind, Share};

use super::asked::{Asked, figure};
use super::reply::{cannot, no, yes};
use crate::config::question::size_words;
use crate::document::Answered;

/// CPU time of a transfer of a size, or of the smallest.
pub fn cpu(p: &Asked<'_>, size: Option<u64>) -> Answered {
    if let Some(Err(why)) = size.map(|size| p.carried(size)) {
        return no(p, &why, &[]);
    }
    let Some(size) = size.or(p.curve.iter().map(|c| c.size).min()) else { return no(p, &Unanswered::Nothing, &[]) };
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
