//! Sizes, times, rates and shares: the one place that reads and prints units.
