//! What `layers --json` prints.

use report::layers::Layer;
use schemars::JsonSchema;
use serde::Serialize;

/// Printed by `layers`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LayersDocument {
    /// `pipegauge-layers/1`.
    schema: &'static str,
    /// The layers but the lowest, each with what it adds to the one below it.
    layers: Vec<Layer>,
}

impl LayersDocument {
    /// The layers.
    pub fn new(layers: Vec<Layer>) -> Self {
        Self { schema: "pipegauge-layers/1", layers }
    }
}
