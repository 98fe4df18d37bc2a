//! A disturbance that comes back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Estimate;

/// In what a period shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// In the moments of pauses: something takes the path, or its CPU, away for a moment.
    Pauses,
    /// In how long all iterations of a trial take: something slows the path down for a while.
    Levels,
}

/// A disturbance that comes back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Periodic {
    /// Its period, seconds.
    pub period: Estimate,
    /// In what it shows.
    pub source: Source,
    /// It shows each time that the path was watched. Where it does not, the true period may be a whole multiple of this
    /// one: short, rare pauses leave only their overtones to see.
    pub each_time: bool,
    /// H of the H-test over the frequency and its overtones: its chance at one frequency is `exp(-0.4 H)`.
    pub power: f64,
}
