//! What can be moved on a path to see whether a break goes along: each knob as flags of `run`.

use measure::Cache;
use measure::event::Plan;
use model::Knob;
use record::PathRun;
use transport::Kind;
use transport::theory::Mover;
use units::Bytes;

use crate::flags::{CacheFlag, RunFlags};

/// Bytes after a page at which unaligned blocks begin: a cache line, so that nothing but the page changes.
const OFF_PAGE: u64 = 64;

/// The page, bytes.
const PAGE: u64 = 4096;

/// The smallest segment that every IPv4 host takes (RFC 9293, 3.7.1).
const SMALLEST_MSS: u64 = 536;

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
    Sockbuf(u64),
    Mss(u64),
    Place { align: u64, offset: u64 },
    Cache(CacheFlag),
}

impl Move {
    /// The flags of a run with the knob moved.
    pub fn apply(&self, flags: &mut RunFlags) {
        match self.to {
            To::Sockbuf(bytes) => flags.sockbuf = Some(bytes),
            To::Mss(bytes) => flags.mss = Some(bytes),
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
    let kind = path.opened.transport;
    let theory = |mover| kind == Kind::Theory && plan.settings.theory.listens_to(mover);
    let real = !path.opened.capabilities.virtual_time;
    let (mut moves, mut fixed) = (Vec::new(), Vec::new());
    for knob in Knob::ALL {
        let found = match knob {
            Knob::SocketBuffer => match kind {
                Kind::Pipe | Kind::Unix | Kind::Seqpacket | Kind::Tcp | Kind::Udp => sockbuf(plan, path, sysctls),
                _ if theory(Mover::Sockbuf) => sockbuf(plan, path, sysctls),
                _ => Err("no socket, so no socket buffer"),
            },
            Knob::Mtu if kind == Kind::Tcp => mss(plan, path),
            Knob::Mtu => Err("its packets have no size that can be set here"),
            Knob::PageAlignment if real || theory(Mover::Align) => Ok(place(plan)),
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

/// Twice the buffer, or half of it where the kernel gives no more.
fn sockbuf(
    plan: &Plan,
    path: &PathRun,
    sysctls: &std::collections::BTreeMap<String, String>,
) -> Result<(String, To), &'static str> {
    let kind = path.opened.transport;
    // Linux reports twice what a socket was asked for; a pipe and the model report what they were asked for.
    let doubled = !matches!(kind, Kind::Pipe | Kind::Theory);
    let effective = path.opened.near_effective.send_buffer.map(|b| if doubled { b / 2 } else { b });
    let modelled = (kind == Kind::Theory).then_some(64 << 10);
    let now =
        plan.settings.sockbuf.or(effective).or(modelled).ok_or("the run does not say how large its buffers were")?;
    let limit = ["net.core.wmem_max", "net.core.rmem_max"]
        .iter()
        .filter_map(|name| sysctls.get(*name)?.trim().parse().ok())
        .min()
        .filter(|_| doubled)
        .unwrap_or(u64::MAX);
    let to = if now.saturating_mul(2) <= limit { now * 2 } else { (now / 2).min(limit) };
    Ok((format!("buffers of {} instead of {}", Bytes(to), Bytes(now)), To::Sockbuf(to)))
}

fn mss(plan: &Plan, path: &PathRun) -> Result<(String, To), &'static str> {
    let now = plan.settings.mss.or(path.opened.near_effective.mss).map(u64::from);
    let now = now.ok_or("the run does not say how large its segments were")?;
    match now / 2 {
        half if half >= SMALLEST_MSS => {
            Ok((format!("segments of {} instead of {}", Bytes(half), Bytes(now)), To::Mss(half)))
        }
        _ => Err("its segments are as small as they can be"),
    }
}

fn place(plan: &Plan) -> (String, To) {
    let at_pages = plan.offset == (0, 0) && plan.align >= PAGE;
    if at_pages {
        let to = To::Place { align: PAGE, offset: OFF_PAGE };
        (format!("blocks {OFF_PAGE} bytes after a page instead of at it"), to)
    } else {
        ("blocks at a page instead of beside it".to_owned(), To::Place { align: PAGE, offset: 0 })
    }
}

fn cache(plan: &Plan) -> (String, To) {
    match plan.cache {
        Cache::Warm => ("blocks from memory instead of a cache".to_owned(), To::Cache(CacheFlag::Cold)),
        Cache::Cold => ("blocks from a cache instead of memory".to_owned(), To::Cache(CacheFlag::Warm)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use transport::settings::Effective;

    fn path(kind: Kind, near_effective: Effective) -> PathRun {
        let opened = measure::event::PathOpened {
            path: 0,
            transport: kind,
            capabilities: kind.capabilities(),
            far: None,
            near_effective,
            far_effective: Effective::default(),
        };
        PathRun::new(opened)
    }

    #[test]
    fn each_knob_moves_to_another_place() {
        let effective = Effective { send_buffer: Some(131_072), mss: Some(1448), ..Effective::default() };
        let (moves, fixed) = moves(&Plan::default(), &path(Kind::Tcp, effective), &BTreeMap::new());
        let to: Vec<&To> = moves.iter().map(|m| &m.to).collect();
        assert_eq!(
            to,
            [&To::Sockbuf(131_072), &To::Mss(724), &To::Place { align: 4096, offset: 64 }, &To::Cache(CacheFlag::Cold)]
        );
        assert_eq!(fixed.len(), 1, "{fixed:?}");
    }

    #[test]
    fn buffers_shrink_where_the_kernel_gives_no_more() {
        let effective = Effective { send_buffer: Some(425_984), ..Effective::default() };
        let limits = BTreeMap::from([("net.core.wmem_max".to_owned(), "212992".to_owned())]);
        let (moves, _) = moves(&Plan::default(), &path(Kind::Unix, effective), &limits);
        assert_eq!(moves[0].to, To::Sockbuf(106_496));
    }

    #[test]
    fn a_plain_model_has_nothing_to_move() {
        let (moves, fixed) = moves(&Plan::default(), &path(Kind::Theory, Effective::default()), &BTreeMap::new());
        assert!(moves.is_empty());
        assert_eq!(fixed.len(), Knob::ALL.len(), "{fixed:?}");
    }
}
