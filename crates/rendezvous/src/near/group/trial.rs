//! A trial on a path of several processes: all are asked, whoever answers first is read first, and what fails anywhere ends it everywhere.

use std::cell::RefMut;
use std::time::{Duration, Instant};

use measure::{SessionError, TrialReport, TrialSpec};
use transport::clock::{Clock, Monotonic};

use super::blame::{Finding, What, Who};
use super::member::{Half, Member};
use crate::MeetError;
use crate::channel::first;
use crate::moments::Ahead;
use crate::near::control::Reported;
use crate::near::meeting::Meeting;
use crate::near::talk::SLACK;
use crate::stopped::is_stopped;

/// Longest wait between two looks at what may have happened without a message.
const LOOK: Duration = Duration::from_millis(100);

/// The processes of an open path.
pub(super) struct Processes<'a> {
    pub members: &'a mut [Member],
    pub fars: Vec<RefMut<'a, Meeting>>,
    /// How long a process may be stopped.
    pub patience: Duration,
    /// Whether what is sent arrives.
    pub reliable: bool,
    /// Whether near processes have clocks of their own: they are on other hosts.
    pub clocks: bool,
    /// How far each near process's clock is ahead, as it said before the trial; empty where all have this host's.
    pub ahead: Vec<Ahead>,
}

/// When a trial ran: how long it took until all had answered, from when to when that was by this side's clock, and how far clocks of other hosts are ahead.
pub(super) struct When {
    pub elapsed: Duration,
    pub between: (u64, u64),
    /// Of each host that far processes take in turn; none where what they say of its clock can't be.
    pub ahead: Vec<Option<Ahead>>,
    /// How far the near processes' clocks are ahead; empty where they have this side's.
    pub near_ahead: Vec<Ahead>,
}

/// What came of a trial: of each near process, and of each far one.
pub(super) type Came = (Vec<TrialReport>, Vec<Reported>);

/// What has come so far.
struct Answers {
    near: Vec<Option<TrialReport>>,
    far: Vec<Option<Reported>>,
    /// Since when the answer of a far side is waited for, or those of its near processes, and when they are due at the latest.
    due: Vec<Option<(Instant, Instant)>>,
    /// Since when each look found a process stopped: near ones, then far ones.
    stopped: Vec<Option<Instant>>,
}

impl Processes<'_> {
    /// When a trial ran that was asked for at these two clocks' `asked` and `began`, and how the clocks of so many far hosts compare with this one's.
    pub(super) fn when(&self, asked: Instant, began: u64, hosts: usize) -> When {
        let of_host = |host| {
            let ahead = self.fars.iter().skip(host).step_by(hosts.max(1)).map(|far| Some(far.control.ahead()));
            ahead.reduce(|all, one| all?.and(one?)).flatten()
        };
        let ahead = (0..hosts.max(1)).map(of_host).collect();
        When { elapsed: asked.elapsed(), between: (began, Monotonic.now()), ahead, near_ahead: self.ahead.clone() }
    }

    /// Whether these two are connected: a side that is one process is to all of the other.
    fn joins(&self, near: usize, far: usize) -> bool {
        self.fars.len() == 1 || self.members.len() == 1 || near == far
    }

    /// The trial as the connection `number` of several has it; in a group all receive the same.
    fn its(&self, spec: &TrialSpec, number: usize) -> TrialSpec {
        if self.members.len() == 1 { spec.clone() } else { spec.flow(number as u32) }
    }

    /// Whether all near processes of a far one have reported.
    fn over(&self, answers: &Answers, far: usize) -> bool {
        answers.near.iter().enumerate().all(|(i, report)| report.is_some() || !self.joins(i, far))
    }

    /// Runs a trial whose half each process knows by its number. The error is what is known of the processes when it failed.
    pub(super) fn run(&mut self, spec: &TrialSpec) -> Result<Came, Vec<Finding>> {
        let began = Instant::now();
        let mut answers = Answers {
            near: self.members.iter().map(|_| None).collect(),
            far: self.fars.iter().map(|_| None).collect(),
            due: vec![None; self.fars.len()],
            stopped: vec![None; self.members.len() + self.fars.len()],
        };
        let outcome = self.ask(spec).and_then(|()| self.gather(spec, began, &mut answers));
        match outcome {
            Ok(()) => Ok((answers.near.into_iter().flatten().collect(), answers.far.into_iter().flatten().collect())),
            Err(finding) => Err(self.read_out(finding, &answers, began)),
        }
    }

    /// Asks the far sides, then the near ones, so that nothing moves before somebody takes it.
    fn ask(&mut self, spec: &TrialSpec) -> Result<(), Finding> {
        let alone = self.fars.len() == 1;
        self.ahead.clear();
        for (i, member) in self.members.iter_mut().enumerate().filter(|_| self.clocks) {
            self.ahead.push(member.ahead().map_err(|what| Finding { who: Who::Near(i), what })?);
        }
        for i in 0..self.fars.len() {
            // One that has all connections knows by itself which contents each has.
            let its = if alone { spec.clone() } else { self.its(spec, i) };
            self.far(i, |far| far.control.trial(&its))?;
        }
        let halves: Vec<TrialSpec> = (0..self.members.len()).map(|i| self.its(spec, i)).collect();
        for ((i, member), its) in self.members.iter_mut().enumerate().zip(&halves) {
            member.run(its).map_err(|what| Finding { who: Who::Near(i), what })?;
        }
        if !spec.far_sends() {
            return Ok(());
        }
        for (i, member) in self.members.iter_mut().enumerate().filter(|(i, _)| spec.flow(*i as u32).far_sends()) {
            let what = match member.half() {
                Ok(Half::Waits) => continue,
                Ok(Half::Ran(_)) => What::Failed(SessionError::Control("it received before anything was sent".into())),
                Err(what) => what,
            };
            return Err(Finding { who: Who::Near(i), what });
        }
        let drain = self.reliable.then(|| (spec.pattern.facts().drain)(spec));
        let mut sends = (0..self.fars.len()).filter(|i| spec.flow(*i as u32).far_sends());
        sends.try_for_each(|i| self.far(i, |far| far.control.go(drain)))
    }

    /// Does something with a far side; what its failure tells.
    fn far<T>(&mut self, number: usize, what: impl FnOnce(&mut Meeting) -> Result<T, MeetError>) -> Result<T, Finding> {
        let far = &mut self.fars[number];
        what(far).map_err(|e| Finding { who: Who::Far(number), what: of_control(e, far) })
    }

    /// Reads all that is said of the trial.
    fn gather(&mut self, spec: &TrialSpec, began: Instant, answers: &mut Answers) -> Result<(), Finding> {
        let drain = (spec.pattern.facts().drain)(spec);
        while answers.near.iter().any(Option::is_none) || answers.far.iter().any(Option::is_none) {
            match self.next(answers) {
                None => self.nobody(answers)?,
                Some(who @ Who::Near(i)) => {
                    let half = self.members[i].half().map_err(|what| Finding { who, what })?;
                    let Half::Ran(report) = half else {
                        let what = What::Failed(SessionError::Control("it is ready a second time".into()));
                        return Err(Finding { who, what });
                    };
                    answers.near[i] = Some(*report);
                    for far in 0..self.fars.len() {
                        if !self.joins(i, far) || !self.over(answers, far) || answers.far[far].is_some() {
                            continue;
                        }
                        if !self.reliable && !spec.flow(far as u32).far_sends() {
                            self.far(far, |far| far.control.enough())?;
                        }
                        let leeway = self.fars[far].control.leeway() + began.elapsed() + drain;
                        answers.due[far] = Some((Instant::now(), Instant::now() + leeway));
                    }
                }
                Some(Who::Far(i)) => {
                    let half = self.far(i, |far| far.control.half())?;
                    let failed =
                        |words| Finding { who: Who::Far(i), what: What::of_far(words, began.elapsed(), String::new) };
                    answers.far[i] = Some(half.map_err(failed)?);
                    let due = Instant::now() + self.fars[i].control.leeway() + drain;
                    answers.due[i] = Some((Instant::now(), due));
                    if !self.reliable && spec.flow(i as u32).far_sends() {
                        // Else a receiver would take the end of its patience for the end of the stream.
                        let waits = |k: &usize| answers.near[*k].is_none() && self.joins(*k, i);
                        let waiting: Vec<usize> = (0..self.members.len()).filter(waits).collect();
                        waiting.into_iter().for_each(|k| self.members[k].enough());
                    }
                }
            }
        }
        Ok(())
    }

    /// Who has something to say; none where nobody had for a while.
    fn next(&mut self, answers: &Answers) -> Option<Who> {
        let mut who = Vec::new();
        let mut channels = Vec::new();
        for (i, member) in self.members.iter_mut().enumerate().filter(|(i, _)| answers.near[*i].is_none()) {
            who.push(Who::Near(i));
            channels.push(member.channel());
        }
        for (i, far) in self.fars.iter_mut().enumerate().filter(|(i, _)| answers.far[*i].is_none()) {
            who.push(Who::Far(i));
            channels.push(far.control.channel());
        }
        first(&mut channels, LOOK).map(|i| who[i])
    }

    /// What nobody says: that a person asked to stop, that an answer is overdue, that a process is stopped. An answer is due once another one has
    /// come. Where none comes nothing is late, as a trial may take any time: each process's own watch (`hung::Calls`) sees that nothing moves in it,
    /// and ends it, which is then read here.
    fn nobody(&mut self, answers: &mut Answers) -> Result<(), Finding> {
        if self.fars.iter().any(|far| far.control.stopped()) {
            return Err(Finding { who: Who::Far(0), what: What::Stop });
        }
        let overdue = |due: &Option<(Instant, Instant)>| due.filter(|(_, due)| Instant::now() >= *due);
        for (far, since) in (0..self.fars.len()).filter_map(|far| Some((far, overdue(&answers.due[far])?.0))) {
            let what = What::Silent(since.elapsed());
            let late = (0..self.members.len()).find(|i| answers.near[*i].is_none() && self.joins(*i, far));
            match (late, &answers.far[far]) {
                (Some(late), _) => return Err(Finding { who: Who::Near(late), what }),
                (None, None) => return Err(Finding { who: Who::Far(far), what }),
                (None, Some(_)) => {}
            }
        }
        let fars = self.fars.iter().map(|far| far.launched.as_ref().map(|far| far.pid()));
        let pids: Vec<Option<u32>> = self.members.iter().map(|member| Some(member.pid())).chain(fars).collect();
        for (i, (pid, since)) in pids.iter().zip(&mut answers.stopped).enumerate() {
            *since = since.or(Some(Instant::now())).filter(|_| pid.is_some_and(is_stopped));
            if let Some(waited) = since.map(|since| since.elapsed()).filter(|waited| *waited > self.patience) {
                let far = i.checked_sub(self.members.len());
                let who = far.map_or(Who::Near(i), Who::Far);
                return Err(Finding { who, what: What::Silent(waited) });
            }
        }
        Ok(())
    }

    /// Whether silence is a process's own: it is stopped, or has had its patience for an answer.
    fn silence(&self, what: What, pid: Option<u32>, began: Instant) -> What {
        let waited = began.elapsed();
        match what {
            What::Silent(_) if pid.is_some_and(is_stopped) || waited >= self.patience + SLACK => What::Silent(waited),
            What::Silent(_) => What::Late(waited),
            what => what,
        }
    }

    /// Breaks off what all others do, and reads what they still say.
    fn read_out(&mut self, found: Finding, answers: &Answers, began: Instant) -> Vec<Finding> {
        let busy = |who: Who| match who {
            // It has said what it has to say; nobody has where a person asked to stop.
            _ if who == found.who && !matches!(found.what, What::Stop) => false,
            Who::Near(i) => answers.near[i].is_none(),
            Who::Far(i) => answers.far[i].is_none(),
        };
        let near: Vec<usize> = (0..self.members.len()).filter(|i| busy(Who::Near(*i))).collect();
        let far: Vec<usize> = (0..self.fars.len()).filter(|i| busy(Who::Far(*i))).collect();
        near.iter().for_each(|i| self.members[*i].cancel());
        far.iter().for_each(|i| self.fars[*i].control.cancel());
        let asked = Instant::now();
        let deadline = asked + SLACK;
        let mut findings = vec![found];
        for i in near {
            let what = self.members[i].read_out(deadline);
            let what = self.silence(what, Some(self.members[i].pid()), began);
            findings.push(Finding { who: Who::Near(i), what });
        }
        for i in far {
            let words = self.fars[i].control.read_out(deadline);
            let far = &mut self.fars[i];
            let what = What::of_far(words, SLACK, || far.how());
            let pid = far.launched.as_ref().map(|far| far.pid());
            findings.push(Finding { who: Who::Far(i), what: self.silence(what, pid, began) });
        }
        // Its silence went on while the others were answers out.
        if let What::Silent(waited) = &mut findings[0].what {
            *waited += asked.elapsed();
        }
        findings
    }
}

/// What an error of a control connection tells of its far side.
fn of_control(e: MeetError, far: &mut Meeting) -> What {
    match e {
        MeetError::Gone { .. } => What::Ended(far.how()),
        MeetError::Silent { waited, .. } | MeetError::Patience { waited, .. } => What::Silent(waited),
        MeetError::Interrupted => What::Consequence,
        MeetError::Far(text) => What::Failed(SessionError::Far(text)),
        e => What::Failed(SessionError::Control(e.to_string())),
    }
}
