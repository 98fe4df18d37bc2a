//! Questions of so many a second.

use anyhow::{Result, anyhow, bail};
use units::BitRate;

use super::amounts::Amount;
use super::asked::Asked;
use super::lexicon::Topic::{self, *};
use super::sentence::Item;
use super::suggest::shown;
use super::{ASecond, Question, Unit};

fn has(item: &Item, topic: Topic) -> bool {
    matches!(item, Item::Topics(t) if t.contains(&topic))
}

impl Asked<'_> {
    /// What is counted.
    pub fn what(&self) -> Unit {
        match () {
            () if self.sentence.any(&[Frames, Video]) || self.sentence.frame.pixels.is_some() => Unit::Frames,
            () if self.sentence.any(&[Requests, RoundTrip]) => Unit::Requests,
            () if self.sentence.has(Connections) && self.counted(Connections) => Unit::Connections,
            () => Unit::Messages,
        }
    }

    /// Whether a number stands before what is about this: "5000 connections per second".
    fn counted(&self, topic: Topic) -> bool {
        let number = |i: &Item| matches!(i, Item::Amount(Amount::PerSecond(_) | Amount::Count(_)));
        self.sentence.items.windows(2).any(|two| number(&two[0]) && has(&two[1], topic))
    }

    /// Whether a video is one of frames, so many a second, and no file of so many bytes: "how long for a 20 MB video".
    fn of_frames(&self) -> bool {
        let h = &self.sentence;
        h.frame.pixels.is_some() || (h.any(&[Frames, HowMany, PerSecond]) && !h.has(HowLong))
    }

    /// Whether so many are sent each time: "100 messages of 1 KB 60 times a second".
    pub fn at_a_time(&self) -> bool {
        let text = self.text.to_lowercase();
        let times = ["times a second", "times per second", "times each second", "times every second", "times/s"];
        self.counts.len() == 1 && self.per_second.len() == 1 && times.iter().any(|times| text.contains(times))
    }

    /// Questions of so many a second.
    pub fn a_second(&self, size: Option<u64>, rate: Option<f64>, time: Option<f64>) -> Option<Result<Vec<Question>>> {
        let h = &self.sentence;
        let round_trip = h.has(Requests);
        // "1 million 64 byte messages per second": the number stands apart from its period.
        let apart = self.counts.first().filter(|_| h.has(PerSecond) && self.times.is_empty());
        let apart = apart.map(|n| *n as f64 / self.periods.first().copied().unwrap_or(1.0));
        if let Some(found) = self.streams(size, rate).or_else(|| self.sources(size, rate, time)) {
            return Some(found);
        }
        if let Some(rate) = self.per_second.first().copied().or(apart) {
            if !(rate > 0.0 && rate.is_finite()) {
                return Some(Err(anyhow!("'{}': none a second; ask about a rate above 0", shown(self.text))));
            }
            if size.is_none() && h.any(&[HowBig, WhichSize]) {
                // Frames go one after another; others are what so many a second are of.
                let what = self.what();
                return Some(Ok(vec![match what {
                    Unit::Frames => Question::Largest { seconds: 1.0 / rate, round_trip: false },
                    what => Question::LargestAt { rate, what },
                }]));
            }
            // "100 messages of 1 KB 60 times a second"
            let rate = if self.at_a_time() { rate * self.counts[0] as f64 } else { rate };
            if (h.in_unit.is_some() && h.any(&[HowMany, HowMuch]))
                || (h.has(HowMuch) && h.has(Throughput))
                || (size.is_some() && asks_how_much_data(self.text))
            {
                let told = size.map_or(String::new(), |size| format!(": {}", BitRate(rate * size as f64 * 8.0)));
                return Some(Err(anyhow!(
                    "'{}': how much that is a second follows from size and number{told}; ask whether it goes: 'can it sustain 60/s frames of \
                     2MB?'",
                    shown(self.text)
                )));
            }
            if let Err(why) = if time.is_none() { self.straight(false) } else { Ok(()) } {
                return Some(Err(why));
            }
            let smallest = || self.smallest.filter(|_| self.what() != Unit::Frames);
            let size = size.or_else(smallest).ok_or_else(|| self.needs("so many a second"));
            return Some(size.map(|size| vec![Question::Frames { rate, size, what: self.what() }]));
        }
        // One every 16 ms; but "10 of 1 MB each in 16 ms" are ten.
        let every = h.each_time() && !h.any(&[HowMany, HowMuch]) && self.counts.is_empty();
        if let (Some(size), Some(time), true) = (size, time, every) {
            if let Err(why) = self.straight(true) {
                return Some(Err(why));
            }
            return Some(Ok(vec![Question::Frames { rate: 1.0 / time, size, what: self.what() }]));
        }
        if rate.is_some() || !self.counts.is_empty() || !self.percentiles.is_empty() {
            return None;
        }
        let (messages, frames) = (h.any(&[Messages, Control]), h.any(&[Frames, Video]));
        // "take at most 100 us" counts nothing.
        let most = h.has(Most) && !h.has(Bound);
        let counted = (h.any(&[HowMany, PerSecond]) || most) && (h.has(PerSecond) || time.is_some());
        let words = h.items.iter().filter(|i| !has(i, Filler)).count();
        if h.has(Connections)
            && (h.any(&[HowMany, PerSecond])
                || (size.is_none() && h.any(&[HowLong, Latency, Cost, Connections]) && words < 6))
        {
            return Some(Ok(vec![Question::PerSecond { what: Unit::Connections, size, span: time.unwrap_or(1.0) }]));
        }
        // "throughput in messages per second"
        let paced = h.has(PerSecond) && h.has(Messages) && h.has(Throughput) && h.in_unit.is_none();
        if paced && ["messages per second", "messages a second", "messages/s"].iter().any(|w| self.text.contains(w)) {
            return Some(Ok(vec![Question::PerSecond { what: self.what(), size, span: 1.0 }]));
        }
        // "how many bytes can go there and back in 100 us": as many as fit.
        if time.is_some() && h.any(&[Data, HowBig]) && h.has(RoundTrip) && !messages {
            return None;
        }
        if h.has(Spacing) {
            return Some(Ok(vec![Question::PerSecond { what: Unit::Messages, size, span: 1.0 }]));
        }
        let things = (messages || round_trip || frames) && !h.has(Throughput);
        let many = h.has(HowMany) && things && (h.has(Can) || size.is_some());
        // "how many times can I send 1 KB in 1 s", "how many 1 KB can I send in 10 ms": as many as go in that time.
        if let (Some(size), Some(seconds), true) = (size, time, sent_so_often(self.text)) {
            return Some(Ok(vec![Question::PerSecond { what: self.what(), size: Some(size), span: seconds }]));
        }
        // "1 kB: how many per second?"
        let bare =
            h.has(HowMany) && h.has(PerSecond) && size.is_some() && h.in_unit.is_none() && !h.any(&[Throughput, Data]);
        if (counted
            && (messages || round_trip || frames || h.has(RoundTrip))
            && !h.any(&[Throughput, WhichSize])
            && !(h.any(&[HowMuch, HowBig]) && h.has(PerSecond)))
            || (many && time.is_none())
            || bare
            || (h.has(Video) && size.is_some() && time.is_none() && !h.frame.is_picture() && self.of_frames())
        {
            let what = self.what();
            if what == Unit::Frames && size.is_none() {
                return Some(Err(self.needs("frames")));
            }
            return Some(Ok(vec![Question::PerSecond { what, size, span: time.unwrap_or(1.0) }]));
        }
        // "how many GB per hour": the unit of the rate says what is asked for.
        let size_asked = h.any(&[Saturation, WhichSize, HowBig, Within]);
        if h.in_unit.is_some() && h.any(&[HowMany, HowMuch]) && time.is_none() && !(h.alone && size_asked) {
            return Some(Ok(vec![size.map_or(Question::Most, Question::Throughput)]));
        }
        // "how much data per second"
        if h.has(PerSecond) && h.any(&[HowMuch, Data, HowBig]) {
            let long = self.periods.first().copied().filter(|p| *p != 1.0 && size.is_none());
            let most = size.map_or(Question::Most, Question::Throughput);
            let largest = |seconds| Question::Largest { seconds, round_trip: false };
            return Some(Ok(vec![long.map_or(most, largest)]));
        }
        None
    }

    /// Of so many things each of which sends so much: what all of them send, over the one path; or how many of them it carries. "1000 sensors
    /// sending 100 bytes each second".
    fn sources(&self, size: Option<u64>, rate: Option<f64>, time: Option<f64>) -> Option<Result<Vec<Question>>> {
        let h = &self.sentence;
        let period = self.periods.first().copied().or(time.filter(|_| h.each_time()));
        let period = period.or((h.has(PerSecond) && self.per_second.is_empty()).then_some(1.0));
        let each = self.per_second.first().copied().or(period.map(|seconds| 1.0 / seconds));
        let each = each.filter(|each| *each > 0.0 && each.is_finite());
        if !h.has(Sources) {
            return None;
        }
        if let (true, [], None, Some(each), Some(size)) = (h.any(&[HowMany, Most]), &self.counts[..], rate, each, size)
        {
            return Some(Ok(vec![Question::Streams { rate: each * size as f64 * 8.0, size: Some(size) }]));
        }
        let [count] = self.counts[..] else { return None };
        Some(match (rate, each, size) {
            (Some(rate), None, size) => {
                self.turned(false).map(|less| vec![Question::Carries { rate: rate * count as f64, size, less }])
            }
            (None, Some(each), Some(size)) => self
                .straight(false)
                .map(|()| vec![Question::Frames { rate: each * count as f64, size, what: self.what() }]),
            _ => Err(anyhow!(
                "'{}': how much does each of the {count} send? Write it: 1000 sensors sending 100 bytes each second",
                shown(self.text)
            )),
        })
    }

    /// Whether it is asked how much of what is offered arrives: "how much arrives at 10 Gbit/s", "what percentage of packets gets through at 1 Gbit/s".
    pub fn gets_through(&self) -> bool {
        let asked = self.sentence.any(&[HowMuch, HowMany, PartOf]);
        let offered = !self.rates.is_empty() || (!self.per_second.is_empty() && !self.sizes.is_empty());
        asked && offered && gets_through(self.text)
    }

    /// How many messages are lost, or up to which rate none is.
    pub fn losses(&self, size: Option<u64>, rate: Option<f64>) -> Result<Vec<Question>> {
        let h = &self.sentence;
        let rate = match (rate, self.per_second.first(), size) {
            (None, Some(each), Some(size)) => Some(each * size as f64 * 8.0),
            (None, Some(_), None) => return Err(self.needs("messages that may be lost")),
            (rate, ..) => rate,
        };
        if h.has(WhichSize) && h.any(&[Fastest, Slowest]) {
            bail!(
                "'{}': what each size lost tells pipegauge show RUN --points; ask 'which path loses least?'",
                shown(self.text)
            );
        }
        // "at which rate does it lose nothing", but "does it lose nothing" is of what was lost.
        let asks_rate = h.any(&[PerSecond, Throughput, HowFast]);
        let chosen =
            h.paths().len() != 1 && (h.any(&[Which, Fastest]) || (h.paths().len() > 1 && h.any(&[Or, Versus])));
        if chosen && rate.is_none() && !asks_rate && !h.has(Loss) && h.has(Fastest) {
            bail!(
                "'{}': the fastest, or the one that loses least? Ask one at a time: 'which path loses least?', 'which path is fastest for 64KiB?'",
                shown(self.text)
            );
        }
        Ok(vec![match rate {
            None if h.has(Lossless) && (asks_rate || !(chosen || h.has(Loss))) => Question::Lossless(size),
            None if chosen => Question::Safest(size),
            rate => Question::Lost { rate, size },
        }])
    }

    /// What so many messages, or bits, a second cost in CPU time: "CPU for 10,000 messages of 1 KB a second", "cores for 1 Gbit/s".
    pub fn cpu_a_second(&self, size: Option<u64>, rate: Option<f64>) -> Option<Result<Vec<Question>>> {
        let h = &self.sentence;
        let apart = self.counts.first().filter(|_| h.has(PerSecond) && self.times.is_empty());
        let apart = apart.map(|n| *n as f64 / self.periods.first().copied().unwrap_or(1.0));
        let each = self.per_second.first().copied().or(apart);
        if !h.has(Cpu) {
            return None;
        }
        Some(match (each, rate) {
            (None, None) if h.has(Cores) => Err(anyhow!(
                "'{}': CPUs for how much a second? Write it: 'CPU for 10,000 messages of 1 KB a second?', 'cores for 1 Gbit/s?'",
                shown(self.text)
            )),
            (Some(each), None) if each > 0.0 && each.is_finite() => match size {
                Some(_) => Ok(vec![Question::CpuASecond { rate: ASecond::Of(each, self.what()), size }]),
                None => Err(self.needs("the CPU time of messages")),
            },
            (None, Some(rate)) if rate > 0.0 => Ok(vec![Question::CpuASecond { rate: ASecond::Bits(rate), size }]),
            _ => return None,
        })
    }

    /// How many streams of so many frames, or so many bits, a second.
    fn streams(&self, size: Option<u64>, rate: Option<f64>) -> Option<Result<Vec<Question>>> {
        let h = &self.sentence;
        let calls = rate.is_some() && size.is_none() && self.text.to_lowercase().contains("calls");
        // "can it carry 10 streams of 25 Mbit/s": ten times as much.
        let several = h.has(Streams) || calls;
        if let (true, false, [count], Some(rate), None) = (several, h.has(HowMany), &self.counts[..], rate, size) {
            let all = rate * *count as f64;
            return Some(self.turned(false).map(|less| vec![Question::Carries { rate: all, size: None, less }]));
        }
        // "how many 64 kbit/s calls"
        if !((h.has(Streams) || calls) && h.any(&[HowMany, Most])) {
            return None;
        }
        let frames = self.per_second.first().copied();
        Some(match (rate, frames, size) {
            (Some(rate), None, size) if rate > 0.0 => Ok(vec![Question::Streams { rate, size }]),
            (None, Some(frames), Some(size)) if frames > 0.0 && size > 0 => {
                Ok(vec![Question::Streams { rate: frames * size as f64 * 8.0, size: Some(size) }])
            }
            _ => Err(anyhow!(
                "'{}': streams of which rate? Write it: how many 25 Mbit/s streams, how many 1080p streams at 60 fps",
                shown(self.text)
            )),
        })
    }
}

/// Whether a text speaks of what arrives of something that is sent.
pub fn gets_through(text: &str) -> bool {
    const THROUGH: [&str; 7] =
        ["arrives at", "arrive at", "gets through", "get through", "come through", "comes through", "makes it through"];
    let text = text.to_lowercase();
    THROUGH.iter().any(|words| text.contains(words))
}

/// Whether it is asked how many messages go in a time that are called nothing but their size.
fn sent_so_often(text: &str) -> bool {
    let text = text.to_lowercase();
    let behind = text.split("how many ").nth(1);
    let times = ["times can", "times could", "times may", "times do i", "times does it", "of "];
    behind.is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_digit()) || times.iter().any(|words| rest.starts_with(words))
    })
}

/// Whether it is asked how much data something is, in so many words.
fn asks_how_much_data(text: &str) -> bool {
    text.to_lowercase().contains("how much data")
}
