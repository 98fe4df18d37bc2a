//! What can be moved on a path to see whether a break goes along: each knob as flags of `run`.

use measure::Cache;
use measure::event::Plan;
use model::Knob;
use record::PathRun;
use transport::{OptionSpec, Settings, registry};
use units::Bytes;

use crate::flags::RunFlags;

/// Bytes after a page at which unaligned blocks begin: a cache line, so that nothing but the page changes.
const OFF_PAGE: u64 = 64;

/// The page, bytes.
const PAGE: u64 = 4096;

/// A knob and where it is moved to.
#[derive(Debug, Clone, PartialEq)]
pub struct Move {
    /// Which.
    pub knob: Knob,
    /// From what to what, in words.
    pub change: String,
    to: To,
}

#[derive(Debug, Clone, PartialEq)]
enum To {
    Option { name: &'static str, bytes: u64 },
    Place { align: u64, offset: u64 },
    Cache(Cache),
}

impl Move {
    /// The flags of a run with the knob moved.
    pub fn apply(&self, flags: &mut RunFlags) {
        match self.to {
            To::Option { name, bytes } => flags.replayed.iter_mut().for_each(|path| path.settings.set(name, bytes)),
            To::Place { align, offset } => (flags.align, flags.offset) = (Some(align), Some((offset, offset))),
            To::Cache(cache) => flags.cache = Some(cache),
        }
    }
}

/// What can be moved on this path, and why the other knobs can't.
pub fn moves(
    plan: &Plan,
    path: &PathRun,
    sysctls: &std::collections::BTreeMap<String, String>,
) -> (Vec<Move>, Vec<String>) {
    let real = !path.opened.capabilities.virtual_time;
    let (settings, transport) = (plan.settings(path.opened.path), registry::find(path.opened.transport));
    let placed = transport.is_none_or(|t| t.feels_places(settings));
    let option = |of, moved: fn(u64, u64) -> String, none| {
        let has = |o: &&OptionSpec| o.moved.is_some_and(|moved| moved.knob == of);
        let option = transport.and_then(|t| t.options().iter().find(has).filter(|o| t.listens_to(settings, o.name)));
        option.map_or(Err(none), |option| resized(option, settings, path, sysctls, moved))
    };
    let (mut moves, mut fixed) = (Vec::new(), Vec::new());
    for knob in Knob::ALL {
        let found = match knob {
            Knob::SocketBuffer => option(
                transport::options::Knob::Buffer,
                |to, now| format!("buffers of {} instead of {}", Bytes(to), Bytes(now)),
                "no socket, so no socket buffer",
            ),
            Knob::Mtu => option(
                transport::options::Knob::Packet,
                |to, now| format!("segments of {} instead of {}", Bytes(to), Bytes(now)),
                "its packets have no size that can be set here",
            ),
            Knob::PageAlignment if placed => Ok(place(plan)),
            Knob::CacheSize if real => Ok(cache(plan)),
            Knob::PageAlignment | Knob::CacheSize => Err("a modelled path touches no memory"),
            Knob::EagerLimit => Err("this transport has no limit up to which it sends without asking"),
        };
        match found {
            Ok((change, to)) => moves.push(Move { knob, change, to }),
            Err(why) => fixed.push(format!("{}: {why}", knob.name())),
        }
    }
    (moves, fixed)
}

/// An option of bytes at another value: twice as many where the system gives so much, else half.
fn resized(
    option: &'static OptionSpec,
    settings: &Settings,
    path: &PathRun,
    sysctls: &std::collections::BTreeMap<String, String>,
    words: fn(u64, u64) -> String,
) -> Result<(String, To), &'static str> {
    let moved = option.moved.ok_or("it can't be moved")?;
    let now = settings.whole(option.name).or_else(|| (moved.now)(&path.opened.near_effective)).or(moved.unset);
    let now = now.ok_or("the run does not say how large it was")?;
    let limit =
        moved.limits.iter().filter_map(|name| sysctls.get(*name)?.trim().parse().ok()).min().unwrap_or(u64::MAX);
    let to = if moved.doubles && now.saturating_mul(2) <= limit { now * 2 } else { (now / 2).min(limit) };
    if to < moved.least {
        return Err("it is as small as it can be");
    }
    Ok((words(to, now), To::Option { name: option.name, bytes: to }))
}

fn place(plan: &Plan) -> (String, To) {
    let at_pages = plan.offset == (0, 0) && plan.align >= PAGE;
    if at_pages {
        let to = To::Place { align: PAGE, offset: OFF_PAGE };
        (format!("messages {OFF_PAGE} bytes after a page instead of at it"), to)
    } else {
        ("messages at a page instead of beside it".to_owned(), To::Place { align: PAGE, offset: 0 })
    }
}

fn cache(plan: &Plan) -> (String, To) {
    match plan.cache {
        Cache::Warm => ("messages from memory instead of a cache".to_owned(), To::Cache(Cache::Cold)),
        Cache::Cold => ("messages from a cache instead of memory".to_owned(), To::Cache(Cache::Warm)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use transport::settings::Effective;

    fn path(kind: transport::Name, near_effective: Effective) -> PathRun {
        let opened = measure::event::PathOpened {
            path: 0,
            transport: kind,
            label: None,
            capabilities: kind.capabilities(),
            far: None,
            near_effective,
            far_effective: Effective::default(),
            flows: Vec::new(),
            members: Vec::new(),
            load: None,
        };
        PathRun::new(opened)
    }

    fn sockbuf(bytes: u64) -> To {
        To::Option { name: "sockbuf", bytes }
    }

    #[test]
    fn each_knob_moves_to_another_place() {
        let effective = Effective { send_buffer: Some(131_072), mss: Some(1448), ..Effective::default() };
        let (moves, fixed) = moves(&Plan::default(), &path(transport::tcp::NAME, effective), &BTreeMap::new());
        let to: Vec<&To> = moves.iter().map(|m| &m.to).collect();
        assert_eq!(
            to,
            [
                &sockbuf(131_072),
                &To::Option { name: "mss", bytes: 724 },
                &To::Place { align: 4096, offset: 64 },
                &To::Cache(Cache::Cold)
            ]
        );
        assert_eq!(fixed.len(), 1, "{fixed:?}");
    }

    #[test]
    fn buffers_shrink_where_the_kernel_gives_no_more() {
        let effective = Effective { send_buffer: Some(425_984), ..Effective::default() };
        let limits = BTreeMap::from([("net.core.wmem_max".to_owned(), "212992".to_owned())]);
        let (moves, _) = moves(&Plan::default(), &path(transport::unix::NAME, effective), &limits);
        assert_eq!(moves[0].to, sockbuf(106_496));
    }

    #[test]
    fn a_plain_model_has_nothing_to_move() {
        let (moves, fixed) =
            moves(&Plan::default(), &path(transport::theory::NAME, Effective::default()), &BTreeMap::new());
        assert!(moves.is_empty());
        assert_eq!(fixed.len(), Knob::ALL.len(), "{fixed:?}");
    }
}
