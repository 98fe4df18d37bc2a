//! What can be moved on a path to see whether a break goes along: each knob as flags of `run`.

use measure::Cache;
use measure::event::Plan;
use model::Knob;
use record::PathRun;
use transport::{OptionSpec, Settings, registry};
use units::Bytes;

use crate::flags::RunFlags;

/// Bytes after a page at which unaligned messages begin: a cache line, so that nothing but the page changes.
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
            Knob::EagerLimit => option(
                transport::options::Knob::Eager,
                |to, now| format!("a limit of {} instead of {}", Bytes(to), Bytes(now)),
                "this transport has no limit up to which it sends without asking",
            ),
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
    let now = option.stands(settings, &path.opened.near_effective).ok_or("the run does not say how large it was")?;
    let limit =
        moved.limits.iter().filter_map(|name| sysctls.get(*name)?.trim().parse().ok()).min().unwrap_or(u64::MAX);
    let to = option.elsewhere(now, limit).ok_or("it is as small as it can be")?;
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

    /// A module with a knob of each sort, as another process would describe it.
    fn module() -> transport::Name {
        use transport::module::{Description, Module};
        let option = |name: &str, knob: i32, default: &str| {
            serde_json::json!({"name": name, "help": "it", "by_default": default, "form": 1, "knob": knob, "least": 256, "most": 1 << 20,
                "low": 0.0, "high": 0.0, "words": []})
        };
        let told = serde_json::json!({
            "name": "layer", "version": "1", "summary": "a layer", "spoken": [], "launch": [], "unavailable": null,
            "options": [option("buffer", 1, "the system's"), option("frame", 2, "9000"), option("eager-limit", 3, "4KiB")],
            "capabilities": transport::Capabilities::plain(),
        });
        let told: Description = serde_json::from_value(told).unwrap();
        let found =
            Module::described(std::path::Path::new("layer.so"), &told, |_, _| Err("it is described".to_owned()))
                .unwrap();
        static FOUND: std::sync::OnceLock<&'static Module> = std::sync::OnceLock::new();
        let _ = FOUND.set(found);
        let lookup = |name: &str| {
            (name == "layer").then(|| FOUND.get().map(|m| *m as &dyn transport::Transport).ok_or_else(String::new))
        };
        registry::modules_by(lookup, Vec::new);
        registry::named("layer").unwrap().name()
    }

    #[test]
    fn knobs_of_a_module_are_named_for_what_they_are_and_move_from_where_they_stand() {
        let said = |options: &[(&str, &str)]| Effective {
            options: options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            ..Effective::default()
        };
        let all = |effective| {
            let (moves, fixed) = moves(&Plan::default(), &path(module(), effective), &BTreeMap::new());
            let knobs = [Knob::SocketBuffer, Knob::Mtu, Knob::EagerLimit];
            let moves = moves.into_iter().filter(|m| knobs.contains(&m.knob));
            (moves.map(|m| format!("{} {}", m.knob.name(), m.change)).collect::<Vec<_>>(), fixed)
        };
        let (moves, fixed) = all(said(&[("buffer", "65536"), ("eager-limit", "64KiB")]));
        assert_eq!(
            moves,
            [
                "socket-buffer buffers of 32 KiB instead of 64 KiB",
                "mtu segments of 4,500 B instead of 9,000 B",
                "eager-limit a limit of 128 KiB instead of 64 KiB"
            ]
        );
        assert!(fixed.is_empty(), "{fixed:?}");
        let (moves, fixed) = all(said(&[]));
        assert!(
            moves.iter().any(|m| m.contains("8 KiB instead of 4 KiB")),
            "what holds where nobody sets it: {moves:?}"
        );
        assert_eq!(fixed, ["socket-buffer: the run does not say how large it was"]);
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
