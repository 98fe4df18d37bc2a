//! Which question the pieces of a text make: the first form that fits.

use anyhow::{Error, Result, anyhow, bail};

use super::amounts::Amount;
use super::heard::{Heard, Item};
use super::lexicon::Topic::*;
use super::suggest::shown;
use super::{KNOWN, Measured, Question, Reading, Unit, versus};

/// Reads a question in words about these paths.
pub fn of_words(text: &str, measured: &Measured) -> Result<Reading> {
    let mut heard = Heard::of(text, measured)?;
    if let Some(elsewhere) = heard.items.iter().find_map(|i| match i {
        Item::Topics(t) => t.iter().find_map(|t| if let Elsewhere(how) = t { Some(*how) } else { None }),
        _ => None,
    }) {
        bail!("'{}': ask has no answer to this; {elsewhere}. It knows these:\n{KNOWN}", shown(text));
    }
    if heard.has(Not) {
        bail!("'{}': this can't follow what is left out or denied; ask for what is meant", shown(text));
    }
    let asked = Asked::of(text, &mut heard)?;
    let (questions, over) = match versus::of(&asked)? {
        Some(question) => (vec![question], Vec::new()),
        None => (asked.questions()?, heard.paths()),
    };
    asked.all_used(&questions)?;
    // Words that mean little by themselves carry no question that has more words beyond them.
    let unread = heard.unread();
    let named = !heard.paths().is_empty() || !asked.sizes.is_empty();
    let weak =
        !named && !heard.any(&[Throughput, Latency, RoundTrip, WhichSize, Saturation, HalfPower, Control, PerSecond]);
    if (weak && !unread.is_empty()) || unread.len() > 4 {
        let words: Vec<String> = unread.iter().take(5).map(|w| shown(w)).collect();
        bail!(
            "'{}': '{}' was not read, and without it too little is left. These are known:\n{KNOWN}",
            shown(text),
            words.join("', '")
        );
    }
    let mut notes = heard.notes.clone();
    if heard.has(Slowest)
        && questions.iter().any(|q| matches!(q, Question::Fastest(_) | Question::Control | Question::Strongest))
    {
        notes.push("the slowest is the last of those named".to_owned());
    }
    if !unread.is_empty() {
        let words: Vec<String> = unread.iter().map(|w| format!("'{}'", shown(w))).collect();
        notes.push(format!("not read: {}", words.join(", ")));
    }
    Ok(Reading { questions, over, notes, words: true })
}

/// The pieces of a question, sorted.
pub struct Asked<'a> {
    pub text: &'a str,
    pub heard: Heard,
    pub sizes: Vec<u64>,
    rates: Vec<f64>,
    times: Vec<f64>,
    per_second: Vec<f64>,
    counts: Vec<u64>,
    percentiles: Vec<u32>,
}

impl<'a> Asked<'a> {
    fn of(text: &'a str, heard: &mut Heard) -> Result<Self> {
        let mut sizes = heard.amounts(|a| if let Amount::Size(s) = a { Some(*s) } else { None });
        if let Some((size, words)) = heard.frame.size() {
            heard.notes.push(words);
            sizes.push(size);
        } else if heard.frame.pixels.is_some() {
            bail!("'{}': a frame of so many pixels has no size that can be counted", shown(text));
        }
        let mut percentiles = heard.amounts(|a| if let Amount::Percentile(p) = a { Some(*p) } else { None });
        for item in &heard.items {
            if let Item::Topics(t) = item {
                percentiles.extend(t.iter().filter_map(|t| if let Percentile(p) = t { Some(*p) } else { None }));
            }
        }
        percentiles.dedup();
        if let Some(share) = heard
            .amounts(|a| if let Amount::Bare(d) = a { d.strip_suffix('%').map(str::to_owned) } else { None })
            .first()
        {
            bail!(
                "'{}': {share}% has no place in a question; ask for the figure, or for a percentile: p99",
                shown(text)
            );
        }
        let bare = heard.amounts(|a| if let Amount::Bare(d) = a { Some(d.clone()) } else { None });
        if let Some(digits) = bare.first() {
            let digits = shown(digits);
            bail!(
                "'{}': {digits} of what? Write a unit: {digits} B, {digits} ms, {digits} fps, {digits} messages",
                shown(text)
            );
        }
        Ok(Self {
            text,
            sizes,
            rates: heard.amounts(|a| if let Amount::Rate(r) = a { Some(*r) } else { None }),
            times: heard.amounts(|a| if let Amount::Time(t) = a { Some(*t) } else { None }),
            per_second: heard.amounts(|a| if let Amount::PerSecond(n) = a { Some(*n) } else { None }),
            counts: heard.amounts(|a| if let Amount::Count(n) = a { Some(*n) } else { None }),
            percentiles,
            heard: heard.clone(),
        })
    }

    /// The size that was named, if one was.
    pub fn size(&self) -> Option<u64> {
        self.sizes.first().copied()
    }

    fn needs(&self, what: &str) -> Error {
        anyhow!("'{}': {what} of which size? Write it with a unit: 64KiB", shown(self.text))
    }

    fn questions(&self) -> Result<Vec<Question>> {
        let h = &self.heard;
        let (size, rate, time) = (self.size(), self.rates.first().copied(), self.times.first().copied());
        let round_trip = h.any(&[RoundTrip, Requests]);
        if h.has(HalfPower) {
            return Ok(vec![Question::HalfPower]);
        }
        if h.has(PerByte) {
            return Ok(vec![Question::PerByte]);
        }
        if h.has(Compressed) && rate.is_none() {
            bail!(
                "'{}': compressed video has no size of its own; ask about its bit rate: can it carry 25 Mbit/s?",
                shown(self.text)
            );
        }
        if let Some(thousandths) = self.percentiles.first().copied().filter(|_| !h.has(Fastest)) {
            return Ok(vec![Question::Percentile { thousandths, size, round_trip }]);
        }
        if let Some(questions) = self.a_second(size, rate, time) {
            return questions;
        }
        if let Some(count) = self.counts.first().copied() {
            let size = size.ok_or_else(|| self.needs("messages"))?;
            return match time {
                // So many in a time: so many a second.
                Some(time) => Ok(vec![Question::Frames { rate: count as f64 / time, size, what: self.what() }]),
                None => Ok(vec![Question::Series { count, size, round_trip }]),
            };
        }
        if let Some(rate) = rate {
            if rate <= 0.0 {
                bail!("'{}': a rate of nothing; ask about one above 0", shown(self.text));
            }
            let link = h.has(Link) && (h.any(&[Would, HowLong, HowFast]) || !h.any(&[Can, Within, Saturation]));
            return Ok(vec![match link || h.has(Would) {
                true => Question::Link { rate, size },
                false if h.any(&[Can, Within, Throughput, Saturation, Compressed]) => Question::Carries { rate, size },
                false => bail!(
                    "'{}': what of that rate? Ask 'can it do 1 Gbit/s?', or 'what would a link of 1 Gbit/s bring?'",
                    shown(self.text)
                ),
            }]);
        }
        if let Some(time) = time {
            return match size {
                Some(size) if h.any(&[Can, Within, HowLong, Latency]) || h.items.len() > 2 => {
                    Ok(vec![Question::Deadline { size: Some(size), seconds: time, round_trip }])
                }
                None if h.any(&[HowBig, HowMuch, HowMany, WhichSize, Data]) && !h.has(Latency) => {
                    Ok(vec![Question::Largest(time)])
                }
                None if h.has(Can) && !h.any(&[Latency, RoundTrip, HowLong]) => Ok(vec![Question::Largest(time)]),
                None if h.any(&[Latency, RoundTrip, HowLong]) => {
                    Ok(vec![Question::Deadline { size: None, seconds: time, round_trip }])
                }
                _ => bail!(
                    "'{}': what of that time? Ask 'does 64KiB arrive within 20 us?', or 'how much data in 1 ms?'",
                    shown(self.text)
                ),
            };
        }
        self.without_numbers(size, round_trip)
    }

    /// What is counted.
    fn what(&self) -> Unit {
        match () {
            () if self.heard.any(&[Frames, Video]) || self.heard.frame.pixels.is_some() => Unit::Frames,
            () if self.heard.any(&[Requests, RoundTrip]) => Unit::Requests,
            () => Unit::Messages,
        }
    }

    /// Questions of so many a second.
    fn a_second(&self, size: Option<u64>, rate: Option<f64>, time: Option<f64>) -> Option<Result<Vec<Question>>> {
        let h = &self.heard;
        let round_trip = h.has(Requests);
        // "1 million 64 byte messages per second": the number stands apart from its period.
        let apart = self.counts.first().filter(|_| h.has(PerSecond)).map(|n| *n as f64);
        if let Some(rate) = self.per_second.first().copied().or(apart) {
            if !(rate > 0.0 && rate.is_finite()) {
                return Some(Err(anyhow!("'{}': none a second; ask about a rate above 0", shown(self.text))));
            }
            let size = size.ok_or_else(|| self.needs("so many a second"));
            return Some(size.map(|size| vec![Question::Frames { rate, size, what: self.what() }]));
        }
        // One every 16 ms.
        if let (Some(size), Some(time), true) = (size, time, h.has(Every) && !h.has(HowMany)) {
            return Some(Ok(vec![Question::Frames { rate: 1.0 / time, size, what: self.what() }]));
        }
        if rate.is_some() || !self.counts.is_empty() || self.percentiles.first().is_some() {
            return None;
        }
        let (messages, frames) = (h.has(Messages), h.any(&[Frames, Video]));
        let counted = h.any(&[HowMany, PerSecond, Most]) && (h.has(PerSecond) || time.is_some());
        if h.has(Connections) && h.any(&[HowMany, PerSecond]) {
            return Some(Ok(vec![Question::PerSecond { what: Unit::Connections, size, span: time.unwrap_or(1.0) }]));
        }
        let many = h.has(HowMany) && (messages || round_trip || frames) && (h.has(Can) || size.is_some());
        if (counted
            && (messages || round_trip || frames || h.has(RoundTrip))
            && !h.has(Throughput)
            && !h.has(WhichSize))
            || (many && time.is_none())
            || (h.has(Video) && size.is_some() && time.is_none())
        {
            let what = self.what();
            if what == Unit::Frames && size.is_none() {
                return Some(Err(self.needs("frames")));
            }
            return Some(Ok(vec![Question::PerSecond { what, size, span: time.unwrap_or(1.0) }]));
        }
        // "how much data per second"
        if h.has(PerSecond) && h.any(&[HowMuch, Data, HowBig]) {
            return Some(Ok(vec![size.map_or(Question::Most, Question::Throughput)]));
        }
        None
    }

    /// Questions without a rate, a time or a count.
    fn without_numbers(&self, size: Option<u64>, round_trip: bool) -> Result<Vec<Question>> {
        let h = &self.heard;
        let flow = h.has(Throughput);
        let time = h.any(&[Latency, RoundTrip]);
        let several =
            h.has(Versus) && (h.paths().is_empty() || h.paths().len() > 2) || h.paths().len() > 1 && h.has(Or);
        // "the fastest way", "which path", but not "the fastest that tcp can".
        let which = h.any(&[Which]) && !h.any(&[WhichSize]) || several;
        if h.has(Frames) && size.is_none() && !h.has(WhichSize) {
            bail!(
                "'{}': frames of which size, and how many a second? Write for example: 60/s frames of 2MB",
                shown(self.text)
            );
        }
        let full = h.has(HowBig) && h.any(&[Throughput, Most, Link, Saturation]) && !h.any(&[HowLong, Within]);
        if (h.has(Saturation) || full) && size.is_none() {
            return Ok(vec![Question::Saturation]);
        }
        if h.has(WhichSize) && size.is_none() && !(h.has(Latency) && !h.has(Fastest)) {
            return Ok(vec![Question::Size]);
        }
        if (h.any(&[Fastest, Slowest]) && h.paths().len() != 1 && !(h.has(Data) && h.has(PerSecond))) || which {
            let quality = h.any(&[Fastest, Slowest, HowFast, Most]) || which;
            if quality {
                return Ok(match size {
                    Some(size) => vec![Question::Fastest(size)],
                    None if flow && !time => vec![Question::Strongest],
                    None if time && !flow => vec![Question::Control],
                    None if h.any(&[Control, HowLong]) && !flow => vec![Question::Control],
                    None if h.has(Most) && !time => vec![Question::Strongest],
                    None if h.has(Saturation) => vec![Question::Saturation],
                    None => vec![Question::Control, Question::Strongest],
                });
            }
        }
        if h.has(StartUp) {
            return Ok(vec![Question::StartUp]);
        }
        if let Some(size) = size {
            return match () {
                () if flow && time => Ok(vec![Question::Arrival { size, round_trip }, Question::Throughput(size)]),
                () if flow => Ok(vec![Question::Throughput(size)]),
                () if time || h.any(&[HowLong, HowFast, Fastest, Slowest]) => {
                    Ok(vec![Question::Arrival { size, round_trip }])
                }
                () if h.any(&[Cost, HowMuch]) => Ok(vec![Question::Arrival { size, round_trip }]),
                // "1 MB over tcp", "send 1 MB": its arrival is what a size is asked about.
                () if h.unread().is_empty() && h.items.len() > 1 => Ok(vec![Question::Arrival { size, round_trip }]),
                () => Err(self.unknown()),
            };
        }
        match () {
            () if h.has(Control) => Ok(vec![Question::Control]),
            () if flow && time => Ok(vec![Question::Latency { round_trip }, Question::Most]),
            () if flow => Ok(vec![Question::Most]),
            () if time => Ok(vec![Question::Latency { round_trip }]),
            () if h.has(HowBig) => {
                bail!("'{}': the largest in which time? Write for example: how much data in 1 ms?", shown(self.text))
            }
            () if h.has(HowFast) => Ok(vec![Question::Latency { round_trip }, Question::Most]),
            () if h.has(Most) => Ok(vec![Question::Most]),
            () if h.any(&[Cost]) && h.any(&[Messages]) => Ok(vec![Question::StartUp]),
            () if h.any(&[Cost]) => {
                bail!("'{}': which path over which? Write: what does tcp cost over unix?", shown(self.text))
            }
            () if h.any(&[HowLong]) => Err(self.needs("the arrival of a block")),
            () if h.any(&[Fastest]) && !h.paths().is_empty() => {
                Ok(vec![Question::Latency { round_trip }, Question::Most])
            }
            () => Err(self.unknown()),
        }
    }

    /// The error for what makes no question, with the known form that has most words in common with it.
    fn unknown(&self) -> Error {
        let words =
            |t: &str| t.to_lowercase().split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect::<Vec<_>>();
        let mine = words(self.text);
        let mut forms: Vec<&str> =
            KNOWN.lines().flat_map(|l| l.split("  ")).map(str::trim).filter(|f| f.ends_with('?')).collect();
        forms.reverse();
        let common = |form: &&str| words(form).iter().filter(|w| w.len() > 2 && mine.contains(w)).count();
        // Of equals the first.
        let near = forms.into_iter().max_by_key(common).unwrap_or("when does 64KiB arrive?");
        anyhow!(
            "'{}' is no question that this knows, and no run file. The nearest that it knows: '{near}'. It knows these, in words \
             or as flags:\n{KNOWN}",
            shown(self.text)
        )
    }

    /// Fails where a number has no place in the question that was read.
    pub fn all_used(&self, questions: &[Question]) -> Result<()> {
        let first = &questions[0];
        let one = |have: usize, used: bool| have > usize::from(used);
        let sized = matches!(
            first,
            Question::Arrival { .. }
                | Question::Series { .. }
                | Question::Fastest(_)
                | Question::Throughput(_)
                | Question::Frames { .. }
                | Question::Percentile { .. }
                | Question::Deadline { .. }
                | Question::Carries { .. }
                | Question::PerSecond { .. }
                | Question::Cost { .. }
                | Question::Link { .. }
        );
        let timed = matches!(
            first,
            Question::Deadline { .. } | Question::Largest(_) | Question::Frames { .. } | Question::PerSecond { .. }
        );
        let left = match () {
            () if one(self.sizes.len(), sized) => "a size",
            () if one(self.rates.len(), matches!(first, Question::Link { .. } | Question::Carries { .. })) => "a rate",
            () if one(self.times.len(), timed) => "a time",
            () if one(self.per_second.len(), matches!(first, Question::Frames { .. })) => "a number a second",
            () if one(self.counts.len(), matches!(first, Question::Series { .. } | Question::Frames { .. })) => {
                "a number"
            }
            () if one(self.percentiles.len(), matches!(first, Question::Percentile { .. })) => "a percentile",
            () => return Ok(()),
        };
        bail!(
            "'{}' is read as {}, and {left} in it has no place there; ask about one thing at a time",
            shown(self.text),
            first
        )
    }
}
