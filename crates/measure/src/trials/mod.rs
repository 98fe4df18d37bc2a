//! The trials of a point, packed, since a file may hold millions.

mod packed;

use std::borrow::Cow;
use std::fmt;

use self::packed::Packed;
use crate::event::Trial;

/// The trials of a point, in order. They are packed, and each is unpacked where it is read; [`Trials::plain`] turns all of them into
/// structures for good. The course of a flow ([`crate::Course`]) is not kept: a recorded trial is over.
#[derive(Clone)]
pub struct Trials(Form);

#[derive(Clone)]
enum Form {
    Packed { bytes: Vec<u8>, count: u32 },
    Plain(Vec<Trial>),
}

impl Trials {
    /// None yet.
    pub const fn new() -> Self {
        Self(Form::Packed { bytes: Vec::new(), count: 0 })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match &self.0 {
            Form::Packed { count, .. } => *count as usize,
            Form::Plain(trials) => trials.len(),
        }
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts one behind the others.
    pub fn push(&mut self, trial: Trial) {
        match &mut self.0 {
            Form::Packed { bytes, count } if *count == 0 => {
                // Most points of a file that has very many of them have one trial, for which no more room is taken than it needs.
                let mut packed = Vec::with_capacity(256);
                trial.put(&mut packed);
                (*bytes, *count) = (packed.as_slice().to_vec(), 1);
            }
            Form::Packed { bytes, count } => {
                trial.put(bytes);
                *count += 1;
            }
            Form::Plain(trials) => trials.push(trial),
        }
    }

    /// Each, in order.
    pub fn iter(&self) -> Iter<'_> {
        Iter(match &self.0 {
            Form::Packed { bytes, .. } => Left::Packed(bytes),
            Form::Plain(trials) => Left::Plain(trials.iter()),
        })
    }

    /// The moment of each and where it lies, in order: for sorting very many.
    pub fn places(&self) -> impl Iterator<Item = (f64, Place<'_>)> {
        let mut left = self.iter();
        std::iter::from_fn(move || {
            let place = Place(left.clone());
            Some((left.next()?.at, place))
        })
    }

    /// All at once.
    pub fn all(&self) -> Cow<'_, [Trial]> {
        match &self.0 {
            Form::Packed { .. } => self.iter().map(Cow::into_owned).collect(),
            Form::Plain(trials) => Cow::Borrowed(trials),
        }
    }

    /// All of them as structures, to be changed; they stay structures.
    pub fn plain(&mut self) -> &mut Vec<Trial> {
        if let Form::Packed { .. } = &self.0 {
            self.0 = Form::Plain(self.all().into_owned());
        }
        match &mut self.0 {
            Form::Plain(trials) => trials,
            Form::Packed { .. } => unreachable!("they were made plain above"),
        }
    }
}

impl Default for Trials {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for Trials {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl fmt::Debug for Trials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl FromIterator<Trial> for Trials {
    fn from_iter<T: IntoIterator<Item = Trial>>(trials: T) -> Self {
        let mut all = Self::new();
        all.extend(trials);
        all
    }
}

impl Extend<Trial> for Trials {
    fn extend<T: IntoIterator<Item = Trial>>(&mut self, trials: T) {
        trials.into_iter().for_each(|trial| self.push(trial));
    }
}

impl From<Vec<Trial>> for Trials {
    fn from(trials: Vec<Trial>) -> Self {
        trials.into_iter().collect()
    }
}

impl<'a> IntoIterator for &'a Trials {
    type Item = Cow<'a, Trial>;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// The trials of a point, one after the other.
#[derive(Clone)]
pub struct Iter<'a>(Left<'a>);

#[derive(Clone)]
enum Left<'a> {
    Packed(&'a [u8]),
    Plain(std::slice::Iter<'a, Trial>),
}

impl<'a> Iterator for Iter<'a> {
    type Item = Cow<'a, Trial>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Left::Packed([]) => None,
            Left::Packed(bytes) => Some(Cow::Owned(Trial::take(bytes))),
            Left::Plain(trials) => trials.next().map(Cow::Borrowed),
        }
    }
}

/// Where a trial lies among those of its point.
#[derive(Clone)]
pub struct Place<'a>(Iter<'a>);

impl<'a> Place<'a> {
    /// The trial.
    pub fn trial(&self) -> Cow<'a, Trial> {
        self.0.clone().next().expect("a place is one of a trial")
    }
}

impl fmt::Debug for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.trial().fmt(f)
    }
}

#[cfg(test)]
mod tests;
