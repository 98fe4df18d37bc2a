//! What `tables --json` prints.

use report::tables::{Layer, SettingsGrid, grids};
use schemars::JsonSchema;
use serde::Serialize;

/// Printed by `tables`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TablesDocument {
    /// `pipegauge-tables/1`.
    schema: &'static str,
    /// Every path of the runs, with what its rows in the tables hold.
    layers: Vec<Layer>,
    /// Transports that were measured with several socket buffers and several segment sizes.
    grids: Vec<SettingsGrid>,
}

impl TablesDocument {
    /// The paths.
    pub fn new(layers: Vec<Layer>) -> Self {
        Self { schema: "pipegauge-tables/1", grids: grids(&layers), layers }
    }
}
