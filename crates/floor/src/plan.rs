//! What to time, and what came of it.

/// The path to time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Path {
    /// TCP over loopback, `TCP_NODELAY` set.
    Tcp,
    /// A UNIX stream socket.
    Unix,
    /// Shared memory: always spins.
    Shm,
}

/// What to do on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// A message there and the same size back, one at a time.
    PingPong,
    /// Messages one after another; one byte back after the last.
    Stream,
}

impl Path {
    /// Every path.
    pub const ALL: [Path; 3] = [Path::Tcp, Path::Unix, Path::Shm];

    /// The name on the command line and in the output.
    pub fn name(self) -> &'static str {
        match self {
            Path::Tcp => "tcp",
            Path::Unix => "unix",
            Path::Shm => "shm",
        }
    }
}

impl Pattern {
    /// Both patterns.
    pub const ALL: [Pattern; 2] = [Pattern::PingPong, Pattern::Stream];

    /// The name on the command line and in the output.
    pub fn name(self) -> &'static str {
        match self {
            Pattern::PingPong => "pingpong",
            Pattern::Stream => "stream",
        }
    }
}

/// One measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The path.
    pub path: Path,
    /// The pattern.
    pub pattern: Pattern,
    /// Message size, bytes; at least 1, at most [`Plan::MOST`].
    pub size: usize,
    /// Timed iterations: round trips, or messages; at least 1.
    pub repeats: u64,
    /// Iterations before the clock starts.
    pub warmup: u64,
    /// Ask again and again instead of sleeping in the kernel (non-blocking sockets). Shared memory always does.
    pub spin: bool,
    /// CPUs of the near and the far process; none leaves both to the scheduler.
    pub pin: Option<(u32, u32)>,
    /// TCP's congestion control by name; none takes the system's.
    pub congestion: Option<String>,
}

impl Plan {
    /// Largest message, bytes: 1 GiB.
    pub const MOST: usize = 1 << 30;

    /// A plan with a number of repeats that takes some tenths of a second, blocking, not pinned.
    pub fn new(path: Path, pattern: Pattern, size: usize) -> Self {
        let (most, bytes) = match pattern {
            Pattern::PingPong => (20_000, 256 << 20),
            Pattern::Stream => (1_000_000, 512 << 20),
        };
        let repeats = (bytes / size.max(1) as u64).clamp(10, most);
        Self {
            path,
            pattern,
            size,
            repeats,
            warmup: repeats / 10,
            spin: path == Path::Shm,
            pin: None,
            congestion: None,
        }
    }

    /// Round trips of a ping-pong before the clock starts: one at least, so that the start of the far process is not timed.
    pub(crate) fn trips_before(&self) -> u64 {
        self.warmup.max(1)
    }

    /// Messages of a stream before each answer. The timed ones are the last; the warm-up comes in pieces of at most as many, each answered, the rest
    /// first: a socket that has carried one long stream carries the next messages in another way than after bursts. Without
    /// a warm-up a piece of none comes first, since the far process must be there when the clock starts.
    pub(crate) fn answered(&self) -> impl Iterator<Item = u64> {
        let (whole, rest) = (self.warmup / self.repeats.max(1), self.warmup % self.repeats.max(1));
        (rest > 0 || whole == 0).then_some(rest).into_iter().chain((0..=whole).map(|_| self.repeats))
    }
}

/// What came of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What was timed.
    pub plan: Plan,
    /// Seconds for all timed iterations, on the near process's clock. In a stream, from the first send to the arrival of
    /// the byte that says that the last message was received.
    pub seconds: f64,
    /// What congestion control the system says that the two sockets have, the near one first; none of other paths than TCP.
    pub congestion: Option<[String; 2]>,
}

impl Figure {
    /// Seconds for one iteration: a whole round trip in a ping-pong, a message in a stream.
    pub fn seconds_per_iteration(&self) -> f64 {
        self.seconds / self.plan.repeats as f64
    }

    /// Payload bits a second in one direction. A ping-pong moves one message each way in a round trip, so its rate is
    /// the message over half of the round-trip time.
    pub fn bits_per_second(&self) -> f64 {
        let messages = if self.plan.pattern == Pattern::PingPong { 2.0 } else { 1.0 };
        self.plan.size as f64 * 8.0 * messages / self.seconds_per_iteration()
    }

    /// One line of JSON. Every time is labelled: `"rtt": true` where an iteration is a round trip, and then also half of
    /// it by that name.
    pub fn json(&self) -> String {
        let Plan { path, pattern, size, repeats, warmup, spin, pin, congestion: _ } = &self.plan;
        let rtt = *pattern == Pattern::PingPong;
        let pinned = pin.map_or("null".to_owned(), |(near, far)| format!("[{near},{far}]"));
        let congestion =
            self.congestion.as_ref().map_or("null".to_owned(), |[near, far]| format!(r#"["{near}","{far}"]"#));
        let half = if rtt {
            format!(r#","half_rtt_seconds":{:e}"#, self.seconds_per_iteration() / 2.0)
        } else {
            String::new()
        };
        format!(
            r#"{{"path":"{}","pattern":"{}","size":{size},"repeats":{repeats},"warmup":{warmup},"spin":{spin},"pinned":{pinned},"congestion":{congestion},"seconds":{:e},"seconds_per_iteration":{:e},"rtt":{rtt}{half},"bits_per_second":{:e}}}"#,
            path.name(),
            pattern.name(),
            self.seconds,
            self.seconds_per_iteration(),
            self.bits_per_second(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_warmed_up_in_pieces_of_what_is_timed() {
        let plan = |warmup, repeats| Plan { warmup, repeats, ..Plan::new(Path::Tcp, Pattern::Stream, 1) };
        for (warmup, repeats, pieces) in
            [(0, 5, vec![0, 5]), (4, 5, vec![4, 5]), (10, 5, vec![5; 3]), (11, 5, vec![1, 5, 5, 5])]
        {
            assert_eq!(plan(warmup, repeats).answered().collect::<Vec<_>>(), pieces);
        }
    }

    #[test]
    fn a_ping_pong_counts_both_ways_and_a_stream_one() {
        let mut figure = Figure { plan: Plan::new(Path::Tcp, Pattern::PingPong, 1000), seconds: 2.0, congestion: None };
        figure.plan.repeats = 4;
        assert_eq!(figure.seconds_per_iteration(), 0.5);
        assert_eq!(figure.bits_per_second(), 32_000.0);
        figure.plan.pattern = Pattern::Stream;
        assert_eq!(figure.bits_per_second(), 16_000.0);
    }

    #[test]
    fn json_labels_every_time() {
        let mut figure = Figure { plan: Plan::new(Path::Shm, Pattern::PingPong, 8), seconds: 0.5, congestion: None };
        (figure.plan.repeats, figure.plan.pin) = (100, Some((0, 1)));
        let value: serde_json::Value = serde_json::from_str(&figure.json()).unwrap();
        assert_eq!(value["rtt"], true);
        assert_eq!(value["seconds_per_iteration"], 0.005);
        assert_eq!(value["half_rtt_seconds"], 0.0025);
        assert_eq!(value["pinned"], serde_json::json!([0, 1]));
        figure.plan.pattern = Pattern::Stream;
        figure.plan.pin = None;
        let value: serde_json::Value = serde_json::from_str(&figure.json()).unwrap();
        assert_eq!(value["rtt"], false);
        assert!(value.get("half_rtt_seconds").is_none());
        assert!(value["pinned"].is_null());
    }

    #[test]
    fn default_repeats_are_bounded() {
        for size in [0, 1, 64, 1 << 20, Plan::MOST] {
            for pattern in Pattern::ALL {
                let plan = Plan::new(Path::Unix, pattern, size);
                assert!((10..=1_000_000).contains(&plan.repeats));
            }
        }
    }
}
