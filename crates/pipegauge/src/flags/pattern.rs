//! `--pattern`.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use measure::Pattern;

/// A pattern that `run` can be asked for: one with a line of help of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PatternFlag(Pattern);

impl PatternFlag {
    /// Where nothing else is asked for.
    pub const DEFAULT: Self = Self(Pattern::PingPong);

    /// The flag of a pattern; none of one that has a command of its own.
    pub fn new(pattern: Pattern) -> Option<Self> {
        pattern.facts().help.map(|_| Self(pattern))
    }
}

impl Default for PatternFlag {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl From<PatternFlag> for Pattern {
    fn from(f: PatternFlag) -> Self {
        f.0
    }
}

impl ValueEnum for PatternFlag {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: std::sync::LazyLock<Vec<PatternFlag>> =
            std::sync::LazyLock::new(|| Pattern::ALL.iter().filter_map(|p| PatternFlag::new(*p)).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        self.0.facts().help.map(|help| PossibleValue::new(self.0.name()).help(help))
    }
}
