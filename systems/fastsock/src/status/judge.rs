//! Why a connection is fast or not.

use super::{End, Process, Status};
use crate::config::Off;
use crate::table::{BACK, FAST, KEPT, Why};

fn in_words(why: Why) -> Option<&'static str> {
    Some(match why {
        Why::None => return None,
        Why::Unfit => "its two ends have different addresses: those that are fast have one",
        Why::Port => "its port is switched off",
        Why::User => "its user is switched off",
        Why::Unproven => {
            "its ends have different addresses, and its process may not look at packets (CAP_NET_RAW) for the proof that they are one connection's"
        }
        Why::Room => "no descriptor or memory was left for it",
        Why::Forked => "its process forked before it was fast, and both hold it",
        Why::NoPeer => "its peer never answered",
        Why::Call => "a call that only the kernel serves was made on it",
        Why::Sets => "it is in sets of epoll in a way that can't be followed",
        Why::Busy => "another thread was in a call on it when it was to become fast",
        Why::Ring => {
            "a process that has it makes calls through a ring of the system's (io_uring), which no library sees"
        }
        Why::Memory => "the memory that connections may share is used up",
    })
}

fn off(off: Off) -> &'static str {
    match off {
        Off::Everything => "switched off",
        Off::Program => "its program is switched off",
        Off::User => "its user is switched off",
        Off::Secure => "its program runs with rights that its starter has not",
    }
}

/// "fast", "kept" or "kernel", and why it is the kernel's.
pub fn judge(status: &Status, end: &End) -> (&'static str, String) {
    let own = |end: &End| end.owner.and_then(|(at, _)| status.processes.get(at));
    match end.said.map(|said| said.state) {
        Some(FAST) => return ("fast", String::new()),
        Some(KEPT) => return ("kept", "closed by its program, to be connected again".to_owned()),
        _ => {}
    }
    ("kernel", why(status, end, own(end)).to_owned())
}

fn why(status: &Status, end: &End, process: Option<&Process>) -> &'static str {
    let Some(process) = process else { return "its process is not known" };
    if !process.library {
        return "its program has no library";
    }
    if let Some(reason) = process.config.off {
        return off(reason);
    }
    let port = |text: &str| text.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
    let is_off = |process: &Process| {
        [&end.here, &end.there].iter().any(|at| port(at).is_some_and(|port| process.config.off_ports.contains(&port)))
    };
    if is_off(process) {
        return "its port is switched off";
    }
    let Some(peer) = status.ends.iter().find(|peer| peer.here == end.there && peer.there == end.here) else {
        return "its peer is on another host, or in another container";
    };
    if peer.user != end.user {
        return "its peer is another user's";
    }
    let Some(other) = peer.owner.and_then(|(at, _)| status.processes.get(at)) else {
        return "its peer's process is not known";
    };
    if !other.library {
        return "its peer has no library";
    }
    if other.config.off.is_some() || is_off(other) {
        return "its peer is switched off";
    }
    if let (Some((mine, _)), Some((theirs, _))) = (process.table, other.table)
        && mine != theirs
    {
        return "its peer has another version of the library";
    }
    let told = |end: &End| end.said.and_then(|said| in_words(said.why));
    if let Some(told) = told(end).or_else(|| told(peer)) {
        return told;
    }
    if end.said.is_some_and(|said| said.state == BACK) {
        return "it went back to the kernel";
    }
    if end.said.is_none() {
        return "the library did not see it begin";
    }
    "too few calls so far"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::status::Said;
    use crate::table::KERNEL;

    fn process(library: bool) -> Process {
        Process {
            number: 1,
            program: "p".into(),
            command: "p".into(),
            library,
            config: Config::default(),
            table: Some((3, 0)),
        }
    }

    fn end(here: &str, there: &str, owner: usize, state: u32, why: Why) -> End {
        let said = Said { inode: 1, state, why, counters: [0; 6] };
        End { here: here.into(), there: there.into(), user: 7, owner: Some((owner, 3)), said: Some(said) }
    }

    /// A connection between two processes, as it would be told after `change`.
    fn told(change: impl FnOnce(&mut Status)) -> String {
        let (a, b) = ("127.0.0.1:1", "127.0.0.1:2");
        let ends = vec![end(a, b, 0, KERNEL, Why::None), end(b, a, 1, KERNEL, Why::None)];
        let mut status = Status { processes: vec![process(true), process(true)], ends };
        change(&mut status);
        judge(&status, &status.ends[0]).1
    }

    #[test]
    fn every_reason_is_found() {
        assert_eq!(told(|_| ()), "too few calls so far");
        assert_eq!(told(|s| s.processes[0].library = false), "its program has no library");
        assert_eq!(told(|s| s.processes[1].library = false), "its peer has no library");
        assert_eq!(told(|s| s.processes[0].config.off = Some(Off::Program)), "its program is switched off");
        assert_eq!(told(|s| s.processes[1].config.off = Some(Off::User)), "its peer is switched off");
        assert_eq!(told(|s| s.processes[0].config.off_ports = vec![2]), "its port is switched off");
        assert_eq!(told(|s| s.processes[1].config.off_ports = vec![2]), "its peer is switched off");
        assert_eq!(told(|s| s.ends[1].user = 8), "its peer is another user's");
        assert_eq!(told(|s| s.ends[1].owner = None), "its peer's process is not known");
        assert_eq!(told(|s| s.ends[1].owner = Some((99, 1))), "its peer's process is not known");
        assert_eq!(told(|s| drop(s.ends.pop())), "its peer is on another host, or in another container");
        assert_eq!(told(|s| s.processes[1].table = Some((2, 0))), "its peer has another version of the library");
        assert_eq!(told(|s| s.ends[0].said = None), "the library did not see it begin");
        assert_eq!(told(|s| s.ends[0].said.as_mut().unwrap().state = BACK), "it went back to the kernel");
        assert!(told(|s| s.ends[1].said.as_mut().unwrap().why = Why::Memory).contains("memory"));
        assert!(told(|s| s.ends[0].said.as_mut().unwrap().why = Why::Unfit).starts_with("its two ends have different"));
        assert_eq!(told(|s| s.ends[1].said.as_mut().unwrap().why = Why::Port), "its port is switched off");
        assert!(told(|s| s.ends[0].said.as_mut().unwrap().why = Why::Forked).contains("forked"));
        assert!(told(|s| s.ends[1].said.as_mut().unwrap().why = Why::Ring).contains("io_uring"));
    }

    #[test]
    fn a_fast_connection_needs_no_reason() {
        assert_eq!(told(|s| s.ends[0].said.as_mut().unwrap().state = FAST), "");
    }
}
