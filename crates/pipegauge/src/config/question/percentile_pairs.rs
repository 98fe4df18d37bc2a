//! One percentile of two paths, where a yes or a no is asked for: "is p99 of unix better than that of tcp".

use anyhow::{Result, bail};

use super::Question;
use super::asked::Asked;
use super::lexicon::Topic::*;
use super::suggest::shown;
use super::verdicts::yes_or_no;

/// Words for the path whose messages are there sooner.
#[rustfmt::skip]
const SHORTER: [&str; 10] =
    ["better", "lower", "faster", "quicker", "shorter", "less", "smaller", "below", "under", "beat"];

/// Words for the other one.
const LONGER: [&str; 8] = ["worse", "higher", "slower", "longer", "greater", "more", "larger", "above"];

impl Asked<'_> {
    /// The question, where one path is held against another in a percentile; none where no such is asked.
    pub fn percentile_held(&self) -> Result<Option<Question>> {
        let h = &self.sentence;
        let ([thousandths], [x, y]) = (&self.percentiles[..], &h.paths()[..]) else { return Ok(None) };
        if self.told_apart().is_none() || !yes_or_no(self.text) || h.has(Or) {
            return Ok(None);
        }
        let lower = self.text.to_lowercase();
        let any = |of: &[&str]| lower.split(|c: char| !c.is_alphanumeric()).any(|word| of.contains(&word));
        let longer = match (any(&SHORTER), any(&LONGER)) {
            (true, false) => false,
            (false, true) => true,
            (true, true) => bail!(
                "'{}': both longer and shorter are asked for; ask for one: 'is p99 of {x} shorter than of {y}?'",
                shown(self.text)
            ),
            (false, false) => return Ok(None),
        };
        let (thousandths, size, round_trip) = (*thousandths, self.size(), h.has(RoundTrip));
        let (x, y) = (x.clone(), y.clone());
        Ok(Some(Question::PercentileHeld { thousandths, x, y, size, round_trip, longer }))
    }
}
