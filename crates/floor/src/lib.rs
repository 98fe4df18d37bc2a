//! The floor: a bare ping-pong and stream, no statistics, to hold the tool against.
