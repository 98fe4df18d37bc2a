//! The near side: reaches or starts a far side, and asks it for connections and trials.

pub(crate) mod control;
pub(crate) mod dial;
mod ending;
mod flows;
pub(crate) mod group;
mod launch;
pub(crate) mod meet;
pub(crate) mod meeting;
pub(crate) mod session;
mod ssh;
mod talk;
pub(crate) mod verdict;
