//! MPI, which is no transport but what several are of.

use std::borrow::Cow;

use transport::registry;

/// `mpi:openmpi,mode=synchronous` is `openmpi:mode=synchronous`. What is built in is no MPI: its text stays,
/// and names nothing.
pub fn of_a_kind(text: &str) -> Cow<'_, str> {
    let Some(rest) = text.strip_prefix("mpi:").filter(|_| registry::named("mpi").is_err()) else { return text.into() };
    let (name, options) = rest.split_once(',').map_or((rest, None), |(name, options)| (name, Some(options)));
    if name.is_empty() || name.contains(['=', ':']) || registry::named(name).is_ok_and(|t| t.source().is_none()) {
        return text.into();
    }
    options.map_or(name.into(), |options| format!("{name}:{options}").into())
}
