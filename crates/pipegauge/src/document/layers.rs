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
    /// Paths that are no layer here, with the reason; absent where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<String>,
}

impl LayersDocument {
    /// The layers, and what is none.
    pub fn new(layers: Vec<Layer>, left_out: Option<String>) -> Self {
        Self { schema: "pipegauge-layers/1", layers, left_out }
    }
}
