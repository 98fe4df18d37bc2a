//! Whether a script comes out with the library as it does without.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::player::{Played, Player};
use crate::script::Step;

/// Who has the library: the server's side, the client's.
pub const WAYS: [(&str, [bool; 2]); 3] =
    [("both", [true, true]), ("server only", [true, false]), ("client only", [false, true])];

/// How long a step may take: on a machine with many programs for each CPU, some take seconds.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often both are played again before a difference counts.
const AGAIN: usize = 8;
/// How often the kernel alone is played before an answer that only the library gave counts as one that the kernel never gives.
const KERNEL_AGAIN: usize = 200;

/// What came of comparing.
#[derive(Debug)]
pub enum Verdict {
    Same,
    /// The kernel itself answers now so, now otherwise, and the library as it does.
    Varies,
    /// Different, but not again in several runs, and never over the kernel alone.
    Once(Difference),
    Different(Difference),
}

/// A step that came out otherwise.
#[derive(Clone)]
pub struct Difference {
    pub who: &'static str,
    pub at: usize,
    pub kernel: String,
    pub library: String,
    /// Of how many runs with the library.
    pub often: (usize, usize),
    /// The run.
    pub run: Played,
}

impl Difference {
    /// Whether a step of the run did not end.
    pub fn hangs(&self) -> bool {
        self.run.outcomes.last().is_some_and(|last| last == "hangs")
    }

    /// Whether it is a fault where it came once, in several runs. A machine that is busy enough keeps a step from ending, and the kernel is not asked for the like:
    /// that counts only in the longer job (`hangs_count`), which nobody runs beside other things.
    pub fn counts(&self, hangs_count: bool) -> bool {
        hangs_count || !self.hangs()
    }
}

impl fmt::Debug for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { who, at, kernel, library, often: (often, of), .. } = self;
        write!(f, "{who}, step {at}: kernel {kernel:?}, library {library:?} ({often} of {of} runs)")
    }
}

/// All that plays scripts in a thread.
pub struct Judge {
    kernel: Player,
    ways: Vec<(&'static str, Player)>,
    /// Scripts whose connection was fast on both sides, of those played with the library on both.
    pub fast: usize,
    /// Of the same, those that had a connection that was used before.
    pub again: usize,
}

impl Judge {
    /// `planted`: a mistake that the library is to make.
    pub fn new(actor: &Path, library: &Path, after: u32, planted: Option<&str>) -> Self {
        let mut variables = vec![("FASTSOCK_AFTER", after.to_string()), ("FASTSOCK_RECYCLE_AFTER", "2".to_owned())];
        variables.extend(planted.map(|name| ("FASTSOCK_PLANTED", name.to_owned())));
        let player = |with| Player::new(actor, library, with, &variables);
        Self { kernel: player([false; 2]), ways: WAYS.map(|(who, with)| (who, player(with))).into(), fast: 0, again: 0 }
    }

    /// Judges a script with the library on both sides (`way` 0) or on one.
    pub fn judge(&mut self, script: &[Step], way: usize) -> Verdict {
        let verdict = self.judge_with(script, way, PATIENCE, AGAIN);
        let (Verdict::Different(difference) | Verdict::Once(difference)) = &verdict else { return verdict };
        // Where the kernel's answer depends on time, it gives the rare one, too, if it is asked often.
        let alike = Alike::of(script);
        let played = &difference.run;
        let gives = |kernel: &[String]| alike.common(kernel, played) == played.outcomes.len();
        if !difference.hangs() && (0..KERNEL_AGAIN).any(|_| gives(&self.kernel.play(script, PATIENCE).outcomes)) {
            return Verdict::Varies;
        }
        verdict
    }

    /// Whether a script comes out differently, with the library on both sides: quickly found.
    pub fn differs(&mut self, script: &[Step]) -> bool {
        matches!(self.judge_with(script, 0, Duration::from_millis(1500), 2), Verdict::Different(_))
    }

    fn judge_with(&mut self, script: &[Step], way: usize, patience: Duration, again: usize) -> Verdict {
        let (who, player) = &mut self.ways[way];
        let alike = Alike::of(script);
        let mut kernel = vec![self.kernel.play(script, patience).outcomes];
        let first = player.play(script, patience);
        self.fast += usize::from(way == 0 && first.fast >= 2);
        self.again += usize::from(way == 0 && first.again > 0);
        if alike.common(&kernel[0], &first) == first.outcomes.len() {
            return Verdict::Same;
        }
        kernel.extend((0..again).map(|_| self.kernel.play(script, patience).outcomes));
        let same = |played: &Played| kernel.iter().any(|kernel| alike.common(kernel, played) == played.outcomes.len());
        if same(&first) {
            return Verdict::Varies;
        }
        let different = (0..again).filter(|_| !same(&player.play(script, patience))).count();
        // The kernel's run that goes the same way for longest.
        let common = |other: &Vec<String>| alike.common(other, &first);
        let (at, nearest) = kernel.iter().map(|other| (common(other), other)).max_by_key(|&(at, _)| at).unwrap();
        let said = |all: &[String]| all.get(at).cloned().unwrap_or_else(|| "nothing".to_owned());
        let difference = Difference {
            who,
            at,
            kernel: said(nearest),
            library: said(&first.outcomes),
            often: (different + 1, again + 1),
            run: first,
        };
        if different > 0 { Verdict::Different(difference) } else { Verdict::Once(difference) }
    }

    /// A smaller script that still comes out differently at such a step, by leaving steps out. What begins in a lane and its end go together.
    pub fn shrink(&mut self, script: &[Step], way: usize, found: &Difference) -> Vec<Step> {
        let (patience, until) = (Duration::from_millis(1000), Instant::now() + Duration::from_secs(60));
        let name = |script: &[Step], at: usize| script.get(at).map(|step| step.name.clone());
        let wanted = name(script, found.at);
        let mut smaller = script[..(found.at + 1).min(script.len())].to_vec();
        let mut size = smaller.len() / 2;
        while size > 0 {
            let mut from = 0;
            while from < smaller.len() && Instant::now() < until {
                let without = without(&smaller, from, size);
                match self.judge_with(&without, way, patience, 2) {
                    Verdict::Different(other)
                        if name(&without, other.at) == wanted
                            // Not something else, like bytes that the kernel holds back for a moment (Nagle).
                            && other.kernel == found.kernel =>
                    {
                        smaller = without;
                    }
                    _ => from += size,
                }
            }
            size /= 2;
        }
        smaller
    }
}

/// The script without `size` steps from one on, and without what begins or ends with them.
fn without(script: &[Step], from: usize, size: usize) -> Vec<Step> {
    let out = from..(from + size).min(script.len());
    let same = |a: &Step, b: &Step| a.side == b.side && a.process == b.process;
    let partner = |at: usize| {
        let step = &script[at];
        if step.lane > 0 {
            (at..script.len()).find(|&end| script[end].name == "join" && same(step, &script[end]))
        } else if step.name == "join" {
            (0..at).rev().find(|&begin| script[begin].lane > 0 && same(step, &script[begin]))
        } else {
            None
        }
    };
    let gone = |at: &usize| out.contains(at) || partner(*at).is_some_and(|partner| out.contains(&partner));
    (0..script.len()).filter(|at| !gone(at)).map(|at| script[at].clone()).collect()
}

/// Where two answers are as good as one.
struct Alike {
    /// Entries of sets that tell edges: one may be told again as long as it is true, but none left out.
    entries: HashSet<(usize, i64)>,
    /// Sends with a time limit of milliseconds right after the socket was filled, and their bytes. Over plain kernel TCP one made at once finds no room,
    /// and one made 50 ms later does: the peer's acknowledgement is late by so much. So all of the bytes are as good as none.
    late: HashMap<usize, i64>,
    /// Connects that do not wait. The kernel's is never done at once; one that takes a connection that was kept always is.
    begun: HashSet<usize>,
}

impl Alike {
    fn of(script: &[Step]) -> Self {
        let edge = |step: &&Step| step.name == "ectl" && step.args[3] & i64::from(libc::EPOLLET) != 0;
        let late = |(at, three): (usize, &[Step])| {
            let names = [&three[0].name, &three[1].name, &three[2].name];
            let same =
                three.iter().all(|step| step.args.first() == three[0].args.first() && step.side == three[0].side);
            let limit = three[1].args.get(1) == Some(&102) && three[1].args.get(2).is_some_and(|&limit| limit > 0);
            (names == ["fill", "set", "send"] && same && limit).then(|| (at + 2, three[2].args[1]))
        };
        Self {
            // A set that holds one is an entry of the kind, too.
            entries: script
                .iter()
                .filter(edge)
                .flat_map(|step| [(step.side, step.args[2]), (step.side, step.args[0])])
                .collect(),
            late: script.windows(3).enumerate().filter_map(late).collect(),
            begun: (0..script.len())
                .filter(|&at| script[at].name == "connect" && script[at].args.get(1).is_some_and(|&later| later != 0))
                .collect(),
        }
    }

    /// Steps that came out alike, from the first on.
    fn common(&self, kernel: &[String], played: &Played) -> usize {
        let alike = |&at: &usize| kernel.get(at).is_some_and(|kernel| self.alike(at, kernel, played));
        (0..played.outcomes.len()).take_while(alike).count()
    }

    fn alike(&self, at: usize, kernel: &str, played: &Played) -> bool {
        let library = &played.outcomes[at];
        if kernel == library {
            return true;
        }
        if let Some(bytes) = self.late.get(&at) {
            let both = [format!("-1 {}", libc::EAGAIN), format!("{bytes} 0")];
            return [kernel, library].iter().all(|said| both.iter().any(|one| one == said));
        }
        if self.begun.contains(&at) {
            let begun = format!("-1 {} ", libc::EINPROGRESS);
            return kernel.strip_prefix(&begun).is_some_and(|rest| library.strip_prefix("0 0 ") == Some(rest));
        }
        let Some((_, truth)) = played.true_then.iter().find(|(step, _)| *step == at) else { return false };
        let (Some(kernel), Some(library), Some(truth)) = (events(kernel, 2), events(library, 2), events(truth, 0))
        else {
            return false;
        };
        let edge = |word: i64| self.entries.iter().any(|&(_, edge)| edge == word);
        let more = |(word, bits): (&i64, &i64)| {
            let extra = bits & !kernel.get(word).unwrap_or(&0);
            extra == 0 || edge(*word) && extra & !truth.get(word).unwrap_or(&0) == 0
        };
        kernel.iter().all(|(word, bits)| library.get(word).is_some_and(|all| bits & !all == 0))
            && library.iter().all(more)
    }
}

/// The events of an outcome, by word, after as many other numbers. None if it is a failure. What is told of one in two parts is told.
fn events(text: &str, skip: usize) -> Option<HashMap<i64, i64>> {
    let event = |text: &str| {
        let (word, bits) = text.split_once(':')?;
        Some((word.parse().ok()?, i64::from_str_radix(bits, 16).ok()?))
    };
    let mut all = HashMap::new();
    for part in text.split_whitespace().skip(skip) {
        let (word, bits) = event(part)?;
        *all.entry(word).or_insert(0) |= bits;
    }
    Some(all)
}

#[test]
fn a_send_after_filling_may_find_room_or_none_and_nothing_else() {
    let script =
        crate::script::parse("S0 fill #0 1\nS0 set 1 102 15\nS0 send #0 1 100 0 0\nS0 send #0 1 100 0 0\n").unwrap();
    let alike = Alike::of(&script);
    let common = |kernel: [&str; 4], library: [&str; 4]| {
        let run = Played { outcomes: library.map(str::to_owned).into(), true_then: Vec::new(), fast: 0, again: 0 };
        alike.common(&kernel.map(str::to_owned), &run)
    };
    let (none, all) = ("-1 11", "100 0");
    assert_eq!(common([none, "0 0", none, none], [none, "0 0", all, none]), 4);
    assert_eq!(common([none, "0 0", all, none], [none, "0 0", none, none]), 4);
    assert_eq!(common([none, "0 0", none, none], [none, "0 0", none, all]), 3, "only the first");
    assert_eq!(common([none, "0 0", none, none], [none, "0 0", "50 0", none]), 2, "only all");
    assert_eq!(common([none, "0 0", none, none], [none, "0 0", "-1 32", none]), 2, "only that error");
}

#[test]
fn a_connect_that_does_not_wait_may_be_done_at_once() {
    let script = crate::script::parse("C0 connect 1 1\nC0 connect 2 0\n").unwrap();
    let alike = Alike::of(&script);
    let common = |kernel: [&str; 2], library: [&str; 2]| {
        let run = Played { outcomes: library.map(str::to_owned).into(), true_then: Vec::new(), fast: 0, again: 0 };
        alike.common(&kernel.map(str::to_owned), &run)
    };
    assert_eq!(common(["-1 115 fd 4", "0 0 fd 5"], ["0 0 fd 4", "0 0 fd 5"]), 2);
    assert_eq!(common(["-1 115 fd 4", "0 0 fd 5"], ["0 0 fd 6", "0 0 fd 5"]), 0, "the same descriptor");
    assert_eq!(common(["-1 115 fd 4", "0 0 fd 5"], ["-1 111 fd 4", "0 0 fd 5"]), 0, "no other error");
    assert_eq!(common(["-1 115 fd 4", "-1 115 fd 5"], ["-1 115 fd 4", "0 0 fd 5"]), 1, "one that waits is done");
}

#[test]
fn a_step_that_did_not_end_once_counts_in_the_longer_job_alone() {
    let difference = |last: &str| Difference {
        who: "both",
        at: 1,
        kernel: "0 0".to_owned(),
        library: last.to_owned(),
        often: (1, 9),
        run: Played { outcomes: vec!["0 0".to_owned(), last.to_owned()], true_then: Vec::new(), fast: 0, again: 0 },
    };
    assert!(difference("hangs").counts(true) && !difference("hangs").counts(false));
    assert!(difference("-1 11").counts(true) && difference("-1 11").counts(false));
}
