//! Estimators and intervals: pure, no I/O, no clock, seeded.
