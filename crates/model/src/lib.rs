//! What the numbers mean: summary figures with their intervals.
