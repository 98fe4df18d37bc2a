//! The near side: reaches or starts a far side, and asks it for connections and trials.

pub(crate) mod control;
pub(crate) mod dial;
mod flows;
pub(crate) mod group;
pub(crate) mod launch;
pub(crate) mod meet;
pub(crate) mod meeting;
pub(crate) mod seats;
pub(crate) mod session;
pub(crate) mod ssh;
mod talk;
mod under;
pub(crate) mod verdict;
pub(crate) mod world;
