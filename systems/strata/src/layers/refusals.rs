//! What COM, SIGN and CRYPT do with a datagram that is not for this member: a notice here, and an answer without contents, from which its sender sees likewise what differs. Both are rare whatever comes, an
//! answer is never longer than what it answers, and none is answered itself. What a stranger sent to all is answered by the oldest of the view alone.

use std::time::Duration;

use crate::addr::Endpoint;
use crate::event::Output;
use crate::layer::{Cx, Near};
use crate::time::Time;

const NOTICES: Duration = Duration::from_secs(10);
/// Seldom enough to cost nothing, and so often that of several who ask, each a few times a second, all are answered.
const ANSWERS: Duration = Duration::from_millis(100);

#[derive(Default)]
pub(super) struct Refusals {
    noticed: Option<Time>,
    answered: Option<Time>,
}

impl Refusals {
    pub(super) fn notice(&mut self, from: Endpoint, what: &str, cx: &mut Cx<impl Near>) {
        if self.noticed.is_none_or(|at| cx.now.since(at) >= NOTICES) {
            self.noticed = Some(cx.now);
            cx.output(Output::Notice(format!("a datagram from {} {what}: it is dropped", from.addr)));
        }
    }

    /// Whether this one is answered; `empty` where it has no contents.
    pub(super) fn answers(&mut self, empty: bool, cx: &Cx<impl Near>) -> bool {
        let others = cx.to_all && cx.view.as_ref().is_some_and(|v| v.members[0] != cx.me);
        let answers = !(empty || others) && self.answered.is_none_or(|at| cx.now.since(at) >= ANSWERS);
        if answers {
            self.answered = Some(cx.now);
        }
        answers
    }
}

#[cfg(test)]
mod tests {
    use crate::layers::pair::Pair;
    use crate::{Addr, Config, Endpoint, Input, Key, Member, Output, Time};

    const SECONDS: u64 = 25;

    fn member(port: u16, group: &str, stack: &str, key: u8) -> Member {
        let at = Addr::from(([10, 0, 0, 1], port));
        let config = Config { group: group.to_owned(), key: Some(Key([key; 32])), ..Config::default() };
        let mut member =
            Member::new(&stack.parse().unwrap(), config, Endpoint { addr: at, born: port.into() }, port.into())
                .unwrap();
        member.start(Time(0));
        member
    }

    /// Both are told what differs, now and then, and who is asked says little to who asks all the time.
    fn told(host: Member, stranger: Member, what: &str) {
        told_over(Pair::new(vec![host, stranger]), what);
    }

    fn told_over(mut both: Pair, what: &str) {
        let (at, from) = (both.members[0].me().addr, both.members[1].me().addr);
        for _ in 0..SECONDS * 10 {
            let now = Time(both.now);
            both.members[1].handle(now, Input::Merge(at));
            both.run(100);
        }
        assert_eq!((both.size(0), both.size(1)), (1, 1));
        for (notices, other) in both.notices.iter().zip([from, at]) {
            let named = |n: &String| n.contains(what) && n.contains(&other.to_string());
            assert!(!notices.is_empty() && notices.iter().all(named), "{what:?} is not in {notices:?}");
            assert!(notices.len() <= 3, "in {SECONDS} s: {notices:?}");
        }
        let answers: Vec<_> = both.said.iter().filter(|(to, by, _)| (*to, *by) == (from, at)).collect();
        assert!(!answers.is_empty() && answers.len() <= SECONDS as usize * 10 + 1, "{} answers", answers.len());
        let asked = both.said.iter().filter(|(to, by, _)| (*to, *by) == (at, from)).map(|(_, _, b)| b.len()).min();
        assert!(answers.iter().all(|(_, _, bytes)| Some(bytes.len()) <= asked), "{asked:?}: {answers:?}");
    }

    #[test]
    fn who_is_not_let_in_is_told_why_and_so_is_who_was_asked() {
        let plain = "MBRSHIP:FRAG:NAK:COM:sim";
        let other = "another group, stack or carrier";
        told(member(1, "a", plain, 1), member(2, "b", plain, 1), other);
        told(member(1, "a", plain, 1), member(2, "a", "TOTAL:MBRSHIP:FRAG:NAK:COM:sim", 1), other);
        for layer in ["SIGN", "CRYPT"] {
            let stack = format!("MBRSHIP:FRAG:NAK:{layer}:COM:sim");
            told(member(1, "a", &stack, 1), member(2, "a", &stack, 2), "not this member's key");
        }
    }

    /// Each finds the other's datagrams of the next version: what the other would find of this one's is the same, with two numbers exchanged.
    #[test]
    fn a_member_of_another_version_is_not_let_in_and_both_are_told() {
        use super::super::com::VERSION;
        let (plain, signed) = ("MBRSHIP:FRAG:NAK:COM:sim", "MBRSHIP:FRAG:NAK:SIGN:COM:sim");
        for stack in [plain, signed] {
            let mut both = Pair::new(vec![member(1, "a", stack, 1), member(2, "a", stack, 1)]);
            both.altered = |bytes| [&bytes[..2], &[VERSION + 1], &bytes[3..]].concat().into();
            let (theirs, ours) = (VERSION + 1, VERSION);
            told_over(
                both,
                &format!("is of version {theirs} of strata's headers, and this is {ours}: use one version"),
            );
        }
    }

    /// How many answers each of a view of three gives to a datagram of a stranger, and who the oldest is.
    fn answers(stack: &str, other: &str, came: fn(Addr, bytes::Bytes) -> Input) -> (Vec<usize>, usize) {
        let mut group = Pair::new((1..4).map(|port| member(port, "a", stack, 1)).collect());
        group.join();
        assert_eq!(group.size(0), 3);
        let mut stranger = member(9, other, stack, 2);
        let from = stranger.me().addr;
        stranger.handle(Time(0), Input::Merge(group.members[0].me().addr));
        stranger.handle(Time(0), Input::Timer);
        let asks = std::iter::from_fn(|| stranger.next()).find_map(|output| match output {
            Output::Transmit(_, msg) => Some(msg.joined()),
            _ => None,
        });
        let asks = asks.unwrap();
        let mut answered = Vec::new();
        for at in 0..3 {
            let mut said = Vec::new();
            group.members[at].handle(Time(group.now), came(from, asks.clone()));
            group.take(at, &mut said);
            answered.push(said.iter().filter(|(to, ..)| *to == from).count());
        }
        let oldest = group.members[0].view().unwrap().members[0];
        (answered, group.members.iter().position(|m| m.me() == oldest).unwrap())
    }

    #[test]
    fn what_a_stranger_sends_to_all_the_oldest_answers_alone() {
        for (layer, other) in [("", "b"), ("SIGN:", "a"), ("CRYPT:", "a")] {
            let stack = format!("MBRSHIP:FRAG:NAK:{layer}COM:multicast");
            let (answered, oldest) = answers(&stack, other, Input::Multicast);
            assert!((0..3).all(|at| answered[at] == usize::from(at == oldest)), "{stack}: {answered:?}, of {oldest}");
            assert_eq!(answers(&stack, other, Input::Datagram).0, [1; 3], "who is asked answers");
        }
    }
}
