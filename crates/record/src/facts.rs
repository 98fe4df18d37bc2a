//! The constants of a run's paths that may be behind a dip or a step.

use model::{Fact, Knob};
use transport::{options, registry};

use crate::RunFile;

/// The page, bytes. (Where it is larger, this is still the smallest step that memory comes in.)
const PAGE: u64 = 4096;

impl RunFile {
    /// The constants of the path at this index that have a size in bytes; none beyond the paths.
    pub fn facts(&self, path: usize) -> Vec<Fact> {
        let Some(path) = self.paths.get(path) else { return Vec::new() };
        let opened = &path.opened;
        let mut facts = Vec::new();
        let mut add = |knob, what: &str, bytes: Option<u64>| {
            facts.extend(bytes.filter(|b| *b > 0).map(|bytes| Fact { knob, what: what.to_owned(), bytes }));
        };
        let settings = self.run.plan.settings(opened.path);
        if let Some(line) = registry::find(opened.transport).and_then(|t| t.line(settings)) {
            add(Knob::SocketBuffer, "socket buffer", Some(line.buffer));
            add(Knob::Mtu, "packet of the model", Some(line.packet));
        }
        // Constants that a transport declares and that nothing else tells.
        let transport = registry::find(opened.transport);
        let modelled = transport.is_some_and(|t| t.line(settings).is_some());
        let (near, far) = (&opened.near_effective, &opened.far_effective);
        for option in transport.map_or(&[][..], |t| t.options()) {
            let stands = option.stands(settings, &opened.near_effective);
            match option.moved.map(|moved| moved.knob) {
                Some(options::Knob::Buffer) if !modelled && near.send_buffer.is_none() => {
                    add(Knob::SocketBuffer, option.name, stands)
                }
                Some(options::Knob::Packet) if !modelled && near.mss.is_none() => add(Knob::Mtu, option.name, stands),
                Some(options::Knob::Eager) => add(Knob::EagerLimit, "eager limit", stands),
                _ => {}
            }
        }
        let (sender, receiver, mss) = match self.run.plan.reverse {
            false => (("send buffer", near.send_buffer), ("far side's receive buffer", far.receive_buffer), near.mss),
            true => (("far side's send buffer", far.send_buffer), ("receive buffer", near.receive_buffer), far.mss),
        };
        for (what, bytes) in [sender, receiver] {
            add(Knob::SocketBuffer, what, bytes);
        }
        add(Knob::Mtu, "largest TCP segment", mss.map(u64::from));
        if !opened.capabilities.virtual_time {
            add(Knob::PageAlignment, "page", Some(PAGE));
            add(Knob::CacheSize, "last-level cache", self.run.near.last_level_cache);
        }
        facts
    }
}

#[cfg(test)]
mod tests {
    use transport::settings::Effective;

    use super::*;
    use crate::sample;

    #[test]
    fn what_the_system_said_of_a_path_is_known() {
        let mut run = sample::file();
        run.paths[0].opened.near_effective.send_buffer = Some(131_072);
        run.paths[0].opened.near_effective.mss = Some(1448);
        run.run.near.last_level_cache = Some(32 << 20);
        let facts = run.facts(0);
        let of = |knob| facts.iter().filter(|f| f.knob == knob).map(|f| f.bytes).collect::<Vec<_>>();
        assert_eq!(of(Knob::SocketBuffer), [131_072]);
        assert_eq!((of(Knob::Mtu), of(Knob::PageAlignment)), (vec![1448], vec![4096]));
        assert_eq!(of(Knob::CacheSize), [32 << 20]);
        run.run.plan.reverse = true;
        run.paths[0].opened.far_effective.send_buffer = Some(7777);
        let buffers = run.facts(0).into_iter().filter(|f| f.knob == Knob::SocketBuffer).map(|f| f.bytes);
        assert_eq!(buffers.collect::<Vec<_>>(), [7777], "of the side that sends");
        assert!(of(Knob::EagerLimit).is_empty(), "nothing invents a limit");
        assert!(run.facts(9).is_empty());
        // What one chunk carries of SCTP, which no socket tells.
        let mut run = sample::file();
        run.paths[0].opened.transport = transport::sctp::NAME;
        run.paths[0].opened.near_effective =
            Effective { options: [("chunk".to_owned(), "8000".to_owned())].into(), ..Effective::default() };
        let chunk = run.facts(0).into_iter().find(|f| f.knob == Knob::Mtu);
        assert_eq!(chunk.map(|f| (f.what, f.bytes)), Some(("chunk".to_owned(), 8000)));
    }
}
