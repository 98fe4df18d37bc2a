//! What few blocks drawn again make of a variance.

/// How much larger the variance of a median comes out when few blocks are drawn again than it is: exact to 4% for normal
/// noise and three blocks or more (a simulation of 3,000 times 300 draws).
pub(crate) fn inflation(blocks: usize) -> f64 {
    let few = if blocks % 2 == 1 { 0.28 } else { 0.20 };
    1.0 + few * (12.0 / blocks.max(1) as f64).min(1.0).sqrt()
}
