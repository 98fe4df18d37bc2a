//! What HINT takes beside what every measurement takes.

/// What HINT computes, and how far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HintWork {
    /// Without a path, by one process.
    pub alone: bool,
    /// Most subintervals of a process.
    pub to: Option<u64>,
    /// Most memory of a process, bytes.
    pub memory: u64,
}
