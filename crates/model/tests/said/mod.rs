//! What is said of two sides, as the tests count it.
#![allow(dead_code)]

use model::{Comparison, Finding};

pub trait Said {
    /// Whether the sides are said to differ, as paths of one run are.
    fn differs(&self) -> bool;
    /// The same of separate runs.
    fn differs_apart(&self) -> bool;
}

impl Said for Comparison {
    fn differs(&self) -> bool {
        self.finding(false) == Finding::Differ
    }

    fn differs_apart(&self) -> bool {
        self.finding(true) == Finding::Differ
    }
}
