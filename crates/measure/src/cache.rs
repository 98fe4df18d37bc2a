//! Whether messages come from warm memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether messages come from memory that was just used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Cache {
    /// The same buffer each time.
    Warm,
    /// Walks a pool larger than the last-level cache.
    Cold,
}
