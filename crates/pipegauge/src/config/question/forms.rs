//! Which question the pieces of a text make: the first form that fits.

use anyhow::{Result, bail};
use measure::Pattern;

use super::amounts::Amount;
use super::asked::Asked;
use super::every::Each;
use super::lexicon::Topic::{self, *};
use super::lexicon::{FLOWS, JITTER, MATTER, OPTIONS, PACKETS, TRUST};
use super::sentence::{Item, Sentence};
use super::suggest::shown;
use super::verdicts::yes_or_no;
use super::{
    KNOWN, Measured, Question, Reading, at_once, bounds, every, flow_ends, offered, polite, ranked, several, shares,
    untold, versus,
};

/// Reads a question in words about these paths.
pub fn of_words(text: &str, measured: &Measured) -> Result<Reading> {
    let text = polite::without(text);
    if at_once::two_questions(text) {
        bail!(
            "'{}': two questions in one; ask one at a time, each in quotes of its own: pipegauge ask RUN 'when does 64KiB arrive?' \
             'what is the most?'",
            shown(text)
        );
    }
    if what_was_measured(text) {
        bail!(
            "'{}': the runs have: {}; pipegauge show RUN tells their sizes and rounds. Ask how fast these are: 'latency and bandwidth'",
            shown(text),
            measured.words()
        );
    }
    let sentence = Sentence::of(text, measured)?;
    if let Some(each) = several::each(&sentence) {
        return several::together(each.into_iter().map(|one| of_sentence(text, one, measured)));
    }
    of_sentence(text, sentence, measured)
}

/// Passes over the name of a collective operation where that is what the runs measured: their times are of it.
fn operations(text: &str, sentence: &mut Sentence, measured: &Measured) -> Result<()> {
    let operations = [Pattern::Barrier, Pattern::Broadcast, Pattern::Allreduce, Pattern::Allgather, Pattern::AllToAll];
    let had = |name: &str| {
        measured.patterns.iter().any(|p| *p == name || (name.is_empty() && operations.iter().any(|o| o.name() == *p)))
    };
    let longest = sentence.has(Slowest) && !sentence.has(Which);
    for item in &mut sentence.items {
        let Item::Topics(topics) = item else { continue };
        for topic in topics {
            let Operation(name) = topic else { continue };
            if !had(name) {
                let which = if name.is_empty() { "allreduce" } else { *name };
                bail!(
                    "'{}': these runs measured no such operation ({}); pipegauge run openmpi --topology group --members 4 --pattern {which} \
                     measures one over MPI, and ask answers from its run file",
                    shown(text),
                    measured.patterns.join(", ")
                );
            }
            // "slowest allreduce" is of its times, and of no path.
            *topic = if longest { HowLong } else { Filler };
        }
    }
    Ok(())
}

/// Reads a question whose pieces are known.
fn of_sentence(text: &str, mut sentence: Sentence, measured: &Measured) -> Result<Reading> {
    // "does it matter whether I use tcp or unix": the one against the other.
    if sentence.paths().len() == 2 && sentence.has(Or) && !sentence.has(WhichSize) {
        for item in &mut sentence.items {
            if *item == Item::Topics(vec![Elsewhere(MATTER)]) {
                *item = Item::Topics(vec![Versus]);
            }
        }
    }
    flows_needed(&mut sentence, measured);
    jumbo(&mut sentence);
    bounds::of_sizes(&mut sentence);
    bounds::of_times(&mut sentence);
    ranked::of(text, &mut sentence);
    untold::of(text, &sentence)?;
    let of_flows = flow_ends::of(text, &mut sentence, measured)?;
    // How much runs vary from one to the next is known of earlier runs.
    let within_a_run = |how: &str| !(sentence.has(RunToRun) && [JITTER, TRUST].contains(&how));
    if let Some(elsewhere) = sentence.items.iter().find_map(|i| match i {
        Item::Topics(t) => t.iter().find_map(|t| match t {
            Elsewhere(how) if within_a_run(how) => Some(*how),
            _ => None,
        }),
        _ => None,
    }) {
        if measured.sides && elsewhere == OPTIONS {
            bail!(
                "'{}': these are the two sides of one run: pipegauge compare {} tells whether what they differ in matters",
                shown(text),
                measured.files.iter().map(|(file, _)| shown(file)).collect::<Vec<_>>().join(" ")
            );
        }
        bail!("'{}': ask has no answer to this; {elsewhere}. It knows these:\n{KNOWN}", shown(text));
    }
    operations(text, &mut sentence, measured)?;
    at_once::of(text, &mut sentence, measured)?;
    offered::of(text, &mut sentence, measured)?;
    if sentence.has(Connections) && sentence.has(Throughput) && !sentence.any(&[HowMany, PerSecond]) {
        bail!(
            "'{}': of how many connections? Name the path ('bandwidth over tcp'); the runs have: {}; what each of several connections \
             carries tells pipegauge show RUN",
            shown(text),
            measured.words()
        );
    }
    sentence.parts();
    // Of a run with loads "idle" means the paths that nothing loaded.
    let of_loads = sentence.loads() && !measured.loaded.is_empty() && !sentence.any(&[Cpu, UnderLoad]);
    let times_loaded = sentence.items.iter().filter(|i| matches!(i, Item::Topics(t) if t.contains(&Load))).count();
    let idle = of_loads && idle(text) && times_loaded == 1;
    if of_loads && !idle {
        // "does load hurt latency", "a loaded path compared with idle"
        sentence.items.push(Item::Topics(vec![UnderLoad]));
    }
    if idle {
        sentence.items.retain(|i| !matches!(i, Item::Topics(t) if t.contains(&Load)));
    } else if sentence.loads() && !sentence.any(&[Cpu, UnderLoad]) {
        bail!(
            "'{}': a run does not tell how busy its path is; what a path takes idle and under load a run with --load tells \
             (pipegauge run tcp --load 1,2,4): ask it for the latency under load",
            shown(text)
        );
    }
    if sentence.has(Not) {
        let near = undenied(text).filter(|near| of_words(near, measured).is_ok());
        let near = near.map_or(String::new(), |near| format!(": '{}'?", shown(&near)));
        bail!("'{}': this can't follow what is left out or denied; ask for what is meant{near}", shown(text));
    }
    if sentence.has(Sockets) && sentence.paths().is_empty() {
        bail!("'{}': which sockets? Write unix sockets, tcp or udp", shown(text));
    }
    let mut asked = Asked::of(text, &mut sentence)?;
    asked.smallest = measured.smallest;
    let mut but = sentence.but();
    if idle {
        but.extend(measured.loaded.iter().cloned().map(|path| measured.shortly(path)));
    }
    // "do I lose anything with tcp instead of unix" is of what it costs.
    let lost = sentence.any(&[Loss, Lossless]) && !(sentence.any(&[Cost, Instead]) && sentence.paths().len() == 2);
    let apart = asked.told_apart();
    let own = of_flows.is_some() || asked.between_times().is_some();
    let compared = match own || lost || apart.is_some() || sentence.any(&[Cpu, UnderLoad, RunToRun]) {
        true => Vec::new(),
        false => versus::of(&asked, measured)?,
    };
    let held = asked.percentile_held()?;
    let apart = apart.filter(|_| held.is_none());
    let between = asked.between_times();
    let questions = match (of_flows, held, &between) {
        (Some(slowest), ..) => vec![Question::OfFlows { slowest, size: asked.size() }],
        (None, Some(held), _) => vec![held],
        (None, None, Some(both)) => both.to_vec(),
        (None, None, None) if compared.is_empty() => asked.questions()?,
        _ => compared,
    };
    let questions = match (&sentence.ranked, asked.smallest) {
        (Some(_), Some(smallest)) => questions.into_iter().map(|q| of_the_smallest(q, smallest)).collect(),
        _ => questions,
    };
    let ranked = |q: &Question| {
        use Question::*;
        matches!(q, Fastest(_) | Strongest | StrongestAt(_) | Control | Cheapest(_) | Safest(_))
    };
    if questions.iter().any(ranked) && between_processes(text) {
        but.extend(measured.within_one_process().into_iter().filter(|n| !sentence.paths().contains(n)));
    }
    let over = if questions.iter().any(Question::of_two_paths) { Vec::new() } else { sentence.paths() };
    if !but.is_empty() && !measured.leaves(&over, &but) {
        bail!("'{}': no path is left to ask about; the runs have: {}", shown(text), measured.words());
    }
    if sentence.has(Times)
        && !at_once::supposed(&sentence)
        && questions.iter().all(|q| !matches!(q, Question::Sizes { .. }) && !q.of_two_paths())
    {
        bail!(
            "'{}': so many times of what? Name two paths, or two sizes: 'is tcp twice as slow as unix?'",
            shown(text)
        );
    }
    asked.all_used(&questions, measured)?;
    if sentence.has(Percent)
        && !questions.iter().any(|q| {
            matches!(
                q,
                Question::Cost { .. }
                    | Question::Sizes { .. }
                    | Question::PartOf(_)
                    | Question::PartOfRate { .. }
                    | Question::StartPart(_)
                    | Question::CpuASecond { .. }
                    | Question::Lost { .. }
                    | Question::Deadline { .. }
                    | Question::PartWithin { .. }
            )
        })
    {
        bail!(
            "'{}': a share of what? Ask 'how much faster is unix than tcp?', or 'what percentage of the bandwidth does 4 KiB get?'",
            shown(text)
        );
    }
    if at_once::supposed(&sentence) && !questions.iter().any(|q| matches!(q, Question::Link { .. })) {
        bail!(
            "'{}': ask tells what was measured; of what is supposed it knows another rate only ('what would a link of 10 Gbit/s bring for \
             64KiB?'), and pipegauge scale RUN tells what another wire, CPU or memory would make of it",
            shown(text)
        );
    }
    if sentence.has(Ranked) && !questions.iter().any(ranked) {
        bail!(
            "'{}': of what is ranked ask for the first, and all are told in their order: 'which path is fastest for 64KiB?'",
            shown(text)
        );
    }
    sentence.counts_what_is_known(text)?;
    // Words that mean little by themselves carry no question that has more words beyond them.
    let unread = sentence.unread();
    let named = !sentence.paths().is_empty() || !asked.sizes.is_empty() || !asked.rates.is_empty();
    let weak = !named
        && !sentence.any(&[
            UnderLoad, RunToRun, Loss, Lossless, Throughput, Latency, RoundTrip, WhichSize, Saturation, HalfPower,
            Control, PerSecond,
        ]);
    if (weak && !unread.is_empty()) || unread.len() > 4 {
        let words: Vec<String> = unread.iter().take(5).map(|w| shown(w)).collect();
        bail!(
            "'{}': '{}' was not read, and without it too little is left. These are known:\n{KNOWN}",
            shown(text),
            words.join("', '")
        );
    }
    let mut notes = sentence.notes.clone();
    notes.extend(apart.map(str::to_owned));
    if between.is_some() {
        notes.push("told of both ends: what lies between them is asked for".to_owned());
    }
    if let ([Question::PartOf(_)], [share]) = (&questions[..], &asked.shares[..]) {
        notes.push(format!("told as the share that it is, from which {share}% or not is read off"));
    }
    if let ([Question::UnderLoad(_)], [seconds]) = (&questions[..], &asked.times[..]) {
        let limit = units::Seconds(*seconds);
        notes.push(format!("told as the times that it takes, from which {limit} or not is read off"));
    }
    if let ([Question::PartOf(_)], true) = (&questions[..], sentence.has(HalfPower)) {
        notes.push("told as the share that it is, from which half or not is read off".to_owned());
    }
    if let ([Question::Frames { size, .. }], true) = (&questions[..], asked.sizes.is_empty()) {
        notes.push(format!("no size is named: told of {}, the smallest measured", super::size_words(*size)));
    }
    if sentence.any(&[Slowest, Most]) && questions.iter().any(|q| matches!(q, Question::Safest(_))) {
        notes.push("the one that loses most is the last of those named".to_owned());
    }
    if sentence.any(&[Slowest, Most]) && questions.iter().any(|q| matches!(q, Question::Cheapest(_))) {
        notes.push("the one that costs most is the last of those named".to_owned());
    }
    if sentence.has(Slowest)
        && questions.iter().any(|q| matches!(q, Question::Fastest(_) | Question::Control | Question::Strongest))
    {
        notes.push("the slowest is the last of those named".to_owned());
    }
    if sentence.has(Ranked) {
        notes.push("all are told in their order, from which the one that is asked for is read off".to_owned());
    }
    if !unread.is_empty() {
        let words: Vec<String> = unread.iter().map(|w| format!("'{}'", shown(w))).collect();
        notes.push(format!("not read: {}", words.join(", ")));
    }
    for item in &sentence.items {
        if let Item::Topics(topics) = item {
            notes.extend(topics.iter().filter_map(|t| if let Taken(how) = t { Some((*how).to_owned()) } else { None }));
        }
    }
    if sentence.has(Sources)
        && questions.iter().any(|q| matches!(q, Question::Frames { .. } | Question::Streams { .. }))
    {
        notes.push("all of them are taken to send over the one connection, a message each time".to_owned());
    }
    // "is unix faster than tcp under 16 bytes", "more than 100 messages": a bound on the size or the number itself.
    if bounds::before(&sentence, |a| matches!(a, Amount::Size(_)))
        && questions.iter().any(|q| {
            matches!(
                q,
                Question::Cost { .. }
                    | Question::Percentile { .. }
                    | Question::PerSecond { .. }
                    | Question::StrongestAt(_)
            )
        })
    {
        notes.push("told of the size itself; pipegauge show RUN --points has those beyond".to_owned());
    }
    if bounds::before(&sentence, |a| matches!(a, Amount::Count(_)))
        && questions.iter().any(|q| matches!(q, Question::Series { .. }))
    {
        notes.push("told of the number itself, and not of more or fewer".to_owned());
    }
    let bounded = sentence.any(&[Above, Below])
        && asked.times.is_empty()
        && asked.rates.is_empty()
        && asked.per_second.is_empty();
    if bounded
        && questions
            .iter()
            .any(|q| matches!(q, Question::Arrival { .. } | Question::Throughput(_) | Question::Fastest(_)))
    {
        notes.push("told of the size itself; pipegauge show RUN --points has those beyond".to_owned());
    }
    if sentence.has(Average)
        && !questions.iter().any(|q| matches!(q, Question::Mean { .. } | Question::MeanWithin { .. }))
    {
        notes.push("no mean is kept of this: it is told of the median time".to_owned());
    }
    if sentence.alone && questions.iter().any(|q| matches!(q, Question::Most | Question::Throughput(_))) {
        notes.push("so many of a unit without a time are taken as so many a second".to_owned());
    }
    notes.dedup();
    let sustained = sentence.has(Sustained);
    let flows = |q: &Question| matches!(q, Question::Most | Question::Throughput(_) | Question::Strongest);
    let in_size = sentence.in_unit.filter(|unit| unit.span == 1.0 && questions.iter().any(sizes));
    let in_unit = sentence.in_unit.filter(|_| questions.iter().any(flows));
    let trips = sentence.any(&[RoundTrip, Requests]) && questions.iter().any(without_trips);
    let spacing = sentence.has(Spacing);
    Ok(Reading {
        questions,
        over,
        but,
        notes,
        words: true,
        sustained,
        trips,
        in_unit,
        in_size,
        in_time: sentence.in_time,
        spacing,
        ranked: sentence.ranked,
    })
}

/// Whether a size is what answers a question.
fn sizes(question: &Question) -> bool {
    use Question::*;
    matches!(
        question,
        Largest { .. } | LargestAt { .. } | Longer { .. } | Reaches(_) | Size | Saturation | Share(_) | HalfPower
    )
}

/// Of small messages the smallest decides which path has the lowest latency.
fn of_the_smallest(question: Question, smallest: u64) -> Question {
    match question {
        Question::Control => Question::Fastest(smallest),
        question => question,
    }
}

/// Whether a question has no form of its own for round trips.
fn without_trips(question: &Question) -> bool {
    use Question::*;
    matches!(
        question,
        Cost { flow: false, .. } | Sizes { flow: false, .. } | StartUp | PerByte(_) | Cpu(_) | Cheapest(_) | Fastest(_)
    )
}

/// Whether it is asked what a run holds, and nothing of it.
fn what_was_measured(text: &str) -> bool {
    const ASKED: [&str; 4] = ["measured", "tested", "paths", "transports"];
    #[rustfmt::skip]
    const BESIDE: [&str; 24] = [
        "what", "which", "whats", "paths", "path", "transports", "was", "were", "is", "are", "have", "been", "got", "measured", "tested", "here", "in",
        "this", "the", "run", "runs", "did", "there", "it",
    ];
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    words.len() > 2
        && ["what", "which"].contains(&words[0])
        && words.iter().any(|word| ASKED.contains(word))
        && words.iter().all(|word| BESIDE.contains(word))
}

/// Of runs with several flows "how many flows do I need for 20 Gbit/s" asks which of them carry that.
fn flows_needed(sentence: &mut Sentence, measured: &Measured) {
    let rated = sentence.items.iter().any(|i| matches!(i, Item::Amount(Amount::Rate(_))));
    let needed = Item::Topics(vec![Elsewhere(FLOWS)]);
    if measured.at_once.is_empty() || !rated || !sentence.items.contains(&needed) {
        return;
    }
    sentence.items.retain(|i| !matches!(i, Item::Topics(t) if t.contains(&HowMany)));
    for item in sentence.items.iter_mut().filter(|i| **i == needed) {
        *item = Item::Topics(vec![Can]);
    }
    sentence.notes.push("told path by path, from which the fewest that carry it are read off".to_owned());
}

/// "a jumbo frame of 9000 bytes" is a message of that size, whatever packets it goes in.
fn jumbo(sentence: &mut Sentence) {
    let is = |item: &Item, topic: Topic| matches!(item, Item::Topics(t) if t.contains(&topic));
    let Some(at) = sentence.items.iter().position(|i| is(i, Elsewhere(PACKETS))) else { return };
    let next = sentence.items[at + 1..].iter().find(|i| !is(i, Filler));
    if matches!(next, Some(Item::Amount(Amount::Size(_)))) && is(&sentence.items[at + 1], Filler) {
        sentence.items[at] = Item::Topics(vec![Messages]);
        sentence.notes.push("told of a message of that size, whatever packets it went in".to_owned());
    }
}

/// Whether what is asked about lies between two processes, as a copy within one does not.
fn between_processes(text: &str) -> bool {
    let text = text.to_lowercase();
    ["between processes", "between two processes", "between programs", "to another process", "to another program"]
        .iter()
        .any(|words| text.contains(words))
}

/// "how often does 64 B arrive within 20 us", "how many messages take less than 50 us": a share, and not how many go in that time.
fn of_those_timed(text: &str, h: &Sentence) -> bool {
    let text = text.to_lowercase();
    let any = |of: &[&str]| of.iter().any(|words| text.contains(words));
    let often = any(&["how often", "how frequently"]) && !h.has(PerSecond);
    let below = any(&["take less than", "take under", "take below", "take <", "take no more than"]);
    h.has(HowMany)
        && (often || (of_mine(&text) && h.any(&[Messages, Requests])) || (below && h.any(&[Messages, Requests])))
}

/// "how many of my messages": a share of them.
fn of_mine(text: &str) -> bool {
    const OF: [&str; 6] = ["of my ", "of the ", "of our ", "of these ", "of those ", "of all "];
    let text = text.to_lowercase();
    OF.iter().any(|of| text.contains(&format!("how many {of}")))
}

/// "how much of tcp", "what percent of tcp": of what the one path that is named carries.
fn of_a_path(h: &Sentence) -> bool {
    let is = |item: &Item, of: &[Topic]| matches!(item, Item::Topics(t) if t.iter().any(|t| of.contains(t)));
    let three = |w: &[Item]| {
        is(&w[0], &[HowMuch, PartOf]) && w[1] == Item::Topics(vec![Filler]) && matches!(w[2], Item::Path(_))
    };
    h.paths().len() == 1 && h.items.windows(3).any(three) && !h.any(&[HowLong, Latency, Cost, Versus, Cpu])
}

/// "10 answers of 1 KiB": of what comes back.
fn answers(text: &str) -> bool {
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split(' ').collect();
    let counted = |two: &[&str]| {
        two[0].ends_with(|c: char| c.is_ascii_digit()) && ["answers", "replies", "responses"].contains(&two[1])
    };
    words.windows(2).any(counted)
}

/// The question without the words that deny; none where no such word stands by itself.
fn undenied(text: &str) -> Option<String> {
    let of = |word: &str| match word.to_lowercase().as_str() {
        "not" | "never" => None,
        "cannot" | "can't" => Some("can".to_owned()),
        "won't" => Some("will".to_owned()),
        lower => Some(lower.strip_suffix("n't").map_or(word.to_owned(), str::to_owned)),
    };
    let words = || text.split_whitespace();
    let near: Vec<String> = words().filter_map(of).collect();
    (!near.iter().eq(words())).then(|| near.join(" "))
}

/// Whether a text speaks of a path that nothing loads.
fn idle(text: &str) -> bool {
    text.to_lowercase().split(|c: char| !c.is_alphanumeric()).any(|word| matches!(word, "idle" | "idling"))
}

/// Bytes of the unit of size that a question about further bytes names: a kilobyte, else one byte.
fn further(text: &str) -> u64 {
    use units::words::{Read, Unit, unit};
    let bytes = |word: &str| match unit(word)? {
        Read::Plainly(Unit::Size(u)) | Read::Usually(Unit::Size(u), _) => format!("1{u}").parse::<units::Bytes>().ok(),
        _ => None,
    };
    text.split(|c: char| !c.is_alphanumeric()).filter_map(bytes).map(|b| b.0).max().unwrap_or(1)
}

impl Asked<'_> {
    fn questions(&self) -> Result<Vec<Question>> {
        let h = &self.sentence;
        let (size, rate, time) = (self.size(), self.rates.first().copied(), self.time());
        let round_trip = h.any(&[RoundTrip, Requests]);
        if h.has(RunToRun) {
            return Ok(vec![Question::RunToRun(size)]);
        }
        if h.any(&[Loss, Lossless]) || self.gets_through() {
            return self.losses(size, rate);
        }
        if let Some(found) = self.cpu_a_second(size, rate) {
            return found;
        }
        if h.has(Cpu) && h.any(&[PerByte, Throughput, PartOf]) {
            bail!(
                "'{}': ask tells the CPU time of a transfer; pipegauge show RUN tells that of a byte",
                shown(self.text)
            );
        }
        if h.has(UnderLoad) {
            if h.has(Cpu) {
                bail!(
                    "'{}': ask tells the latency under load; pipegauge show RUN tells the CPU time of a transfer idle and under load",
                    shown(self.text)
                );
            }
            if h.any(&[Throughput, PerByte, PartOf, PerSecond]) {
                bail!(
                    "'{}': ask tells the latency under load; pipegauge show RUN tells what the load carried",
                    shown(self.text)
                );
            }
            // "how bad is bufferbloat" asks for no maximum.
            let asked = |p: &u32| ![50_000, 99_000].contains(p) && !self.text.to_lowercase().contains("how bad");
            if self.percentiles.iter().any(asked) || h.has(Minimum) {
                bail!(
                    "'{}': of the latency under load ask tells the median and the 99th percentile ('latency under load of 64 B'); pipegauge \
                     show RUN tells the others",
                    shown(self.text)
                );
            }
            return Ok(vec![Question::UnderLoad(size)]);
        }
        if h.has(Cpu) {
            let chosen = h.any(&[Which, Fastest, Slowest, Most]) && h.paths().len() != 1;
            return Ok(vec![if chosen { Question::Cheapest(size) } else { Question::Cpu(size) }]);
        }
        // "does 4 KiB come within 10% of the most"
        if let ([_], Some(size), true) = (&self.shares[..], size, yes_or_no(self.text)) {
            return Ok(vec![Question::PartOf(size)]);
        }
        if let Some(share) = self.shares.first().copied() {
            if self.of_the_most_itself() {
                bail!(
                    "'{}': {share}% of the most follows from the most: ask 'what is the bandwidth?', or for the size that reaches so much: 'which \
                     size reaches {share}% of the bandwidth?'",
                    shown(self.text)
                );
            }
            return Ok(vec![if share == 50.0 { Question::HalfPower } else { Question::Share(share / 100.0) }]);
        }
        // "do 4 KB messages reach half the bandwidth"
        if let Some(size) = size.filter(|_| h.has(HalfPower) && yes_or_no(self.text)) {
            return Ok(vec![Question::PartOf(size)]);
        }
        if h.has(HalfPower) {
            return Ok(vec![Question::HalfPower]);
        }
        self.answerable()?;
        // "what share of the time of 4 KiB is start-up"
        if h.has(PartOf) && h.any(&[StartUp, Cost]) && time.is_none() && rate.is_none() && h.paths().len() < 2 {
            let size = size.ok_or_else(|| self.needs("the share of the time before a message's first byte"))?;
            return Ok(vec![Question::StartPart(size)]);
        }
        if let Some(question) = self.part_of_a_time(size, time, round_trip)? {
            return Ok(vec![question]);
        }
        // "how many messages take longer than 50 us", "what percentage takes more than 1 ms"
        if let Some(seconds) = time.filter(|_| h.any(&[HowMany, PartOf, Percent]) && self.per_second.is_empty())
            && self.counts.is_empty()
            && self.percentiles.is_empty()
            && rate.is_none()
            && !h.any(&[Data, UnderLoad])
            && (!h.has(Bound) || of_mine(self.text))
            && (h.any(&[PartOf, Percent]) || h.direction(true) == Ok(Some(true)) || of_those_timed(self.text, h))
        {
            return Ok(vec![Question::PartWithin { size, seconds, round_trip, longer: self.turned(true)? }]);
        }
        // "what percentage of the bandwidth does 4 KiB get", but not "what percentage arrives within 20 us".
        // "how close to 40 Gbit/s does tcp get", "how much of 10GbE can tcp use"
        let is = |item: &Item, topic: Topic| matches!(item, Item::Topics(t) if t.contains(&topic));
        let amount = h.items.iter().position(|i| matches!(i, Item::Amount(Amount::Rate(_)))).unwrap_or(0);
        let joint = h.items[..amount].iter().rev().take_while(|i| is(i, Filler)).count();
        let of_rate = joint > 0 && joint < amount && is(&h.items[amount - joint - 1], HowMuch);
        if let Some(rate) = rate.filter(|rate| *rate > 0.0 && (h.has(PartOf) || of_rate) && time.is_none()) {
            return Ok(vec![Question::PartOfRate { rate, size }]);
        }
        // "how much of tcp can I use with 1 KB"
        if let Some(size) = size.filter(|_| time.is_none() && rate.is_none() && of_a_path(h)) {
            return Ok(vec![Question::PartOf(size)]);
        }
        if h.has(PartOf) && h.has(Frames) && time.is_none() && size.is_some() && !h.any(&[Throughput, Most, Link]) {
            bail!(
                "'{}': a share of which frame? Say how many come a second: 'what share of a 60 fps frame does 1 MB take?'",
                shown(self.text)
            );
        }
        if h.has(PartOf) && time.is_none() && !(h.has(WhichSize) && size.is_none()) {
            if rate.is_some() || !h.any(&[Throughput, Most, Link, Saturation]) {
                bail!("'{}': a share of what? Ask: what percentage of the bandwidth does 4 KiB get?", shown(self.text));
            }
            let size = size.ok_or_else(|| self.needs("the share of the bandwidth that messages get"))?;
            return Ok(vec![Question::PartOf(size)]);
        }
        // "what does each further 64 KiB cost"
        if let Some(size) = size.filter(|_| h.has(Further)) {
            return Ok(vec![Question::PerByte(size)]);
        }
        if h.has(PerByte) {
            return Ok(vec![Question::PerByte(further(self.text))]);
        }
        if h.has(Compressed) && rate.is_none() {
            bail!(
                "'{}': compressed video has no size of its own; ask about its bit rate: can it carry 25 Mbit/s?",
                shown(self.text)
            );
        }
        if h.has(Audio) && rate.is_none() {
            bail!(
                "'{}': sound is sent in packets of any size; ask about its bit rate: can it carry 1.5 Mbit/s? Or about its packets: can it \
                 sustain 50/s messages of 200 B?",
                shown(self.text)
            );
        }
        if let Some(question) = self.limited(size, time, round_trip)? {
            return Ok(vec![question]);
        }
        if h.has(Minimum)
            || self.shortest(size)
            || (h.has(Seen) && h.has(Fastest) && !h.any(&[Which, Throughput, WhichSize]))
        {
            return Ok(vec![Question::Minimum { size, round_trip }]);
        }
        if let Some(word) = time.and_then(|_| every::vague(self.text)) {
            bail!(
                "'{}': '{word}' is no number; ask which share it is: 'how many messages of 64 B take longer than 1 ms?'",
                shown(self.text)
            );
        }
        if let ([thousandths], Some(seconds), true) = (&self.percentiles[..], time, self.counts.is_empty())
            && rate.is_none()
            && !h.has(Throughput)
        {
            let longer = self.turned(true)?;
            // So many that take longer are the slowest of them.
            let slow = longer && every::of_messages(self.text) && !h.notes.iter().any(|note| note == shares::SLOWEST);
            let thousandths = if slow { 100_000 - *thousandths } else { *thousandths };
            return Ok(vec![Question::PercentileWithin { thousandths, size, seconds, round_trip, longer }]);
        }
        if let Some(question) = self.longest_or_mean(size, time, round_trip) {
            return Ok(vec![question]);
        }
        // A throughput is that of a median time.
        let flow = h.has(Throughput) && !h.any(&[Latency, RoundTrip, HowLong]);
        if flow && !self.percentiles.is_empty() && !h.any(&[Which, Fastest]) {
            if self.percentiles[..] != [50_000] {
                bail!(
                    "'{}': a throughput is that of the median time; ask for the bandwidth, or for a percentile of times: p99 of 64 bytes",
                    shown(self.text)
                );
            }
            return Ok(vec![size.map_or(Question::Most, Question::Throughput)]);
        }
        if !self.percentiles.is_empty() && h.has(Throughput) && h.has(And) {
            bail!(
                "'{}': a percentile and a throughput are two questions; ask one at a time, each in quotes of its own",
                shown(self.text)
            );
        }
        if h.has(WhichSize) && !self.percentiles.is_empty() && size.is_none() {
            bail!(
                "'{}': the percentiles of each size tells pipegauge show RUN --points; ask 'p99 of 64 bytes'",
                shown(self.text)
            );
        }
        if h.has(Offered) && rate.is_none() && self.per_second.is_empty() && size.is_none() && time.is_none() {
            return Ok(vec![Question::Offered]);
        }
        // "how long does a request take"
        if h.has(Requests) && h.has(HowLong) && !h.any(&[HowMany, PerSecond]) && size.is_none() && time.is_none() {
            return Ok(vec![Question::Latency { round_trip: true }]);
        }
        let apart = self.told_apart().is_some();
        if let Some(thousandths) = self.percentiles.first().copied().filter(|_| apart || !h.has(Fastest)) {
            return Ok(vec![Question::Percentile { thousandths, size, round_trip }]);
        }
        let many = h.any(&[PerSecond, HowMany]) && h.has(Messages) && !h.has(Throughput);
        if many && h.has(Large) && !h.has(Control) && size.is_none() && time.is_none() && self.per_second.is_empty() {
            return Err(self.needs("the number of large messages"));
        }
        if let Some(questions) = self.a_second(size, rate, time) {
            return questions;
        }
        if let Some(count) = self.counts.first().copied() {
            let size = size.ok_or_else(|| self.needs("messages"))?;
            return match time {
                // So many in a time: so many a second.
                Some(time) => {
                    self.straight(true)?;
                    Ok(vec![Question::Frames { rate: count as f64 / time, size, what: self.what() }])
                }
                None => Ok(vec![Question::Series { count, size, round_trip: round_trip || answers(self.text) }]),
            };
        }
        if let Some(rate) = rate {
            if rate <= 0.0 {
                bail!("'{}': a rate of nothing; ask about one above 0", shown(self.text));
            }
            if h.has(HowMany) {
                bail!(
                    "'{}': how many a second over a path that was not measured is not reckoned; ask when one arrives: \
                     'what would a link of {} bring for 1 KB?'",
                    shown(self.text),
                    units::BitRate(rate)
                );
            }
            // "the smallest message that gets 1 Gbit/s", "what size do I need for 10 Gbit/s"
            let sized = size.is_none() && h.any(&[SmallestSize, WhichSize, HowBig]) && !h.any(&[Link, Would]);
            if sized && !yes_or_no(self.text) && !h.any(&[Fastest, Compressed]) {
                if self.turned(false)? {
                    bail!(
                        "'{}': ask from which size on a rate is reached: 'which size reaches {}?'",
                        shown(self.text),
                        units::BitRate(rate)
                    );
                }
                return Ok(vec![Question::Reaches(rate)]);
            }
            let link = h.has(Link) && (h.any(&[Would, HowLong, HowFast]) || !h.any(&[Can, Within, Saturation]));
            // "10 Gbps on shm with 1500 byte packets": a rate over a path asks whether it goes.
            let over = size.is_some() || !h.paths().is_empty();
            let carried = over || h.any(&[Can, Within, Throughput, Saturation, Compressed, WhichSize, HowBig]);
            return Ok(vec![match link || h.has(Would) {
                true => Question::Link { rate, size },
                false if carried => Question::Carries { rate, size, less: self.turned(false)? },
                false => bail!(
                    "'{}': what of that rate? Ask 'can it do 1 Gbit/s?', or 'what would a link of 1 Gbit/s bring?'",
                    shown(self.text)
                ),
            }]);
        }
        if let Some(time) = time {
            // "the smallest message that takes longer than 50 us"
            let sized = size.is_none() && h.any(&[SmallestSize, WhichSize]) && !yes_or_no(self.text);
            if sized && self.turned(true)? {
                return Ok(vec![Question::Longer { seconds: time, round_trip }]);
            }
            return match size {
                Some(size) if h.any(&[Can, Within, HowLong, Latency]) || h.items.len() > 2 => {
                    self.deadline(Some(size), time, round_trip)
                }
                None if h.any(&[HowBig, HowMuch, HowMany, WhichSize, Data])
                    && (!h.has(Latency) || h.asks_for_the_largest()) =>
                {
                    // "how many bytes until it takes longer than 10 ms": the largest that does not.
                    if !self.text.to_lowercase().contains(" until ") {
                        self.straight(true)?;
                    }
                    Ok(vec![Question::Largest { seconds: time, round_trip }])
                }
                None if h.has(Can) && !h.any(&[Latency, RoundTrip, HowLong, Above, Quicker, Slower, Fails]) => {
                    Ok(vec![Question::Largest { seconds: time, round_trip }])
                }
                None if h.any(&[Latency, RoundTrip, HowLong, Quicker, Slower])
                    || (h.has(Which) && h.any(&[Within, Below])) =>
                {
                    self.deadline(None, time, round_trip)
                }
                _ => bail!(
                    "'{}': what of that time? Ask 'does 64KiB arrive within 20 us?', or 'how much data in 1 ms?'",
                    shown(self.text)
                ),
            };
        }
        // "12 megapixel photo": nothing else is said of it.
        let named = |i: &Item| matches!(i, Item::Topics(t) if t.iter().any(|t| matches!(t, Filler | Frames | Messages | Video)));
        if let Some(size) = size.filter(|_| h.frame.is_picture() && h.items.iter().all(named)) {
            return Ok(vec![Question::Arrival { size, round_trip }]);
        }
        self.without_numbers(size, round_trip)
    }

    /// Whether a message is there in time, or each single one of them where the words speak of that.
    fn deadline(&self, size: Option<u64>, seconds: f64, round_trip: bool) -> Result<Vec<Question>> {
        let longer = self.turned(true)?;
        // Every one is in time if the longest is, and one of them takes longer if it does; the shortest tells the other two.
        let thousandths = match (every::of_each(self.text), self.ends()) {
            (_, Some(end)) => Some(end),
            (Some(Each::All), None) => Some(if longer { 0 } else { 100_000 }),
            (Some(Each::Any), None) => Some(if longer { 100_000 } else { 0 }),
            (None, None) => None,
        };
        Ok(vec![match thousandths {
            Some(thousandths) => Question::PercentileWithin { thousandths, size, seconds, round_trip, longer },
            None => Question::Deadline { size, seconds, round_trip, longer },
        }])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(text: &str, measured: &Measured) -> String {
        of_words(text, measured).map(|r| r.says(0, measured)).unwrap_or_else(|e| e.to_string())
    }

    #[test]
    fn an_operation_is_asked_of_runs_that_measured_it() {
        let mut measured = Measured::default();
        measured.add("a.run.jsonl", std::iter::once(("star", "star")));
        measured.pattern("allreduce");
        let asked = "how long does an allreduce of 1 KiB take";
        assert!(says(asked, &measured).starts_with("arrival of 1 KiB"), "{}", says(asked, &measured));
        let barrier = says("how long does a barrier take", &measured);
        assert!(barrier.contains("--pattern barrier") && barrier.contains("(allreduce)"), "{barrier}");
    }

    #[test]
    fn a_transport_that_is_known_of_the_run_alone_is_named_as_any() {
        let mut measured = Measured::default();
        let paths = [("elsewhere-mpi:eager=4KiB", "elsewhere-mpi"), ("odd", "odd"), ("shm", "shm")];
        measured.add("a.run.jsonl", paths.into_iter());
        for (text, said) in [
            ("latency over odd", "latency: arrival of the smallest message, over odd"),
            ("latency of Odd?", "latency: arrival of the smallest message, over odd"),
        ] {
            assert_eq!(says(text, &measured), said);
        }
        let over = says("overhead of odd over shm at 64 bytes", &measured);
        assert!(over.contains("odd") && over.contains("shm") && !over.contains("not read"), "{over}");
    }
}
