//! Programs as measurements: what a program computes and how it is scored, without input, output or clock. The driver
//! (`measure`) runs and times them over a path.
//!
//! | module | job |
//! |---|---|
//! | [`hint`] | HINT, by which the 1996 paper confirmed what its graphs said (`seeds/004`, section 3 and appendix A) |

pub mod hint;
