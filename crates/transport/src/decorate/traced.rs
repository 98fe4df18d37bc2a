//! [`Traced`]: one JSON line an operation.

use std::borrow::Cow;
use std::io::{self, Write};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::{Clock, Monotonic};
use crate::{Asked, Buffer, Link, LinkError};

/// One line of a trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceLine<'a> {
    /// Nanoseconds since the trace began, at the operation's start.
    pub at_ns: u64,
    /// `buffer`, `send`, `recv`, `exchange`, `ready`, `flush` or `close`.
    #[serde(borrow)]
    pub op: Cow<'a, str>,
    /// Bytes sent, received or reserved; for an exchange, those sent.
    pub bytes: u64,
    /// Bytes received in an exchange.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub into: Option<u64>,
    /// Nanoseconds that the operation took.
    pub took_ns: u64,
    /// `ok`, `not ready`, or what went wrong.
    #[serde(borrow)]
    pub result: Cow<'a, str>,
}

/// A link that writes down what is done with it. The line is written after the operation and outside its time, but
/// between operations it costs what formatting and writing cost: give it a `BufWriter`, and don't believe figures taken
/// under trace.
///
/// A trace that can't be written is an error of the operation that should have been in it. `flush` and `close` hand the
/// lines on to where they go.
#[derive(Debug)]
pub struct Traced<L, W: Write, C = Monotonic> {
    inner: L,
    into: W,
    clock: C,
    start: u64,
}

impl<L: Link, W: Write + Send> Traced<L, W> {
    /// Traces `inner` into `into`, timed by the monotonic clock.
    pub fn new(inner: L, into: W) -> Self {
        Self::with_clock(inner, into, Monotonic)
    }
}

impl<L: Link, W: Write + Send, C: Clock> Traced<L, W, C> {
    /// Traces `inner` into `into`, timed by `clock`.
    pub fn with_clock(inner: L, into: W, clock: C) -> Self {
        let start = clock.now();
        Self { inner, into, clock, start }
    }

    fn traced<T>(
        &mut self,
        op: &'static str,
        (bytes, into): (usize, Option<usize>),
        act: impl FnOnce(&mut L) -> Result<T, LinkError>,
        word: impl FnOnce(&T) -> &'static str,
    ) -> Result<T, LinkError> {
        let begin = self.clock.now();
        let outcome = act(&mut self.inner);
        let end = self.clock.now();
        let line = TraceLine {
            at_ns: begin - self.start,
            op: op.into(),
            bytes: bytes as u64,
            into: into.map(|n| n as u64),
            took_ns: end - begin,
            result: match &outcome {
                Ok(value) => word(value).into(),
                Err(e) => e.to_string().into(),
            },
        };
        let written = self.write(&line);
        // The link's own error says more than the trace's.
        let value = outcome?;
        written.map_err(|e| LinkError::io("writing the trace", e))?;
        Ok(value)
    }

    fn write(&mut self, line: &TraceLine<'_>) -> io::Result<()> {
        serde_json::to_writer(&mut self.into, line)?;
        self.into.write_all(b"\n")?;
        if matches!(&*line.op, "flush" | "close") { self.into.flush() } else { Ok(()) }
    }
}

fn ok<T>(_: &T) -> &'static str {
    "ok"
}

impl<L: Link, W: Write + Send, C: Clock> Link for Traced<L, W, C> {
    left_to_inner!();

    fn buffer(&mut self, asked: &Asked) -> Result<Buffer, LinkError> {
        self.traced("buffer", (asked.room().reserve, None), |l| l.buffer(asked), ok)
    }
    fn send(&mut self, message: &[u8]) -> Result<(), LinkError> {
        self.traced("send", (message.len(), None), |l| l.send(message), ok)
    }
    fn recv(&mut self, message: &mut [u8]) -> Result<(), LinkError> {
        self.traced("recv", (message.len(), None), |l| l.recv(message), ok)
    }
    fn exchange(&mut self, out: &[u8], into: &mut [u8]) -> Result<(), LinkError> {
        self.traced("exchange", (out.len(), Some(into.len())), |l| l.exchange(out, into), ok)
    }
    fn ready(&mut self, wait: Duration) -> Result<bool, LinkError> {
        self.traced("ready", (0, None), |l| l.ready(wait), |ready| if *ready { "ok" } else { "not ready" })
    }
    fn flush(&mut self) -> Result<(), LinkError> {
        self.traced("flush", (0, None), L::flush, ok)
    }
    fn close(&mut self) -> Result<(), LinkError> {
        self.traced("close", (0, None), L::close, ok)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Notebook;
    use super::*;
    use crate::theory::{FarRole, Theory, TheoryLink};

    #[test]
    fn each_operation_is_one_line_with_its_time_on_the_clock() {
        // One byte a nanosecond, no headers, one microsecond.
        let theory = Theory { latency: 1e-6, rate: 8e9, header: 0, ..Theory::default() };
        let mut link = TheoryLink::new(&theory, 0.5);
        let clock = link.clock();
        clock.advance(77);
        let mut out = Vec::new();
        link.set_role(FarRole::Echo);
        let mut traced = Traced::with_clock(link, &mut out, clock);
        let mut into = [0; 1000];
        traced.send(&[0; 1000]).unwrap();
        traced.recv(&mut into).unwrap();
        traced.ready(Duration::from_nanos(100)).unwrap();
        traced.exchange(&[0; 1000], &mut into).unwrap();
        traced.recv(&mut into).unwrap_err();
        traced.close().unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<TraceLine> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        let short: Vec<_> = lines.iter().map(|l| (l.at_ns, &*l.op, l.bytes, l.into, l.took_ns)).collect();
        assert_eq!(
            short,
            [
                (0, "send", 1000, None, 1000),
                (1000, "recv", 1000, None, 3000),
                (4000, "ready", 0, None, 100),
                (4100, "exchange", 1000, Some(1000), 4000),
                (8100, "recv", 1000, None, 500_000_000),
                (500_008_100, "close", 0, None, 0),
            ]
        );
        let results: Vec<_> = lines.iter().map(|l| &*l.result).collect();
        assert_eq!(results[..4], ["ok", "ok", "not ready", "ok"]);
        assert!(results[4].starts_with("no progress for 0.5 s while receiving"), "{}", results[4]);
        assert!(text.starts_with("{\"at_ns\":0,\"op\":\"send\",\"bytes\":1000,\"took_ns\":1000,\"result\":\"ok\"}\n"));
    }

    #[test]
    fn a_trace_that_cannot_be_written_is_said() {
        let mut small = [0; 20];
        let mut traced = Traced::new(Notebook::default(), &mut small[..]);
        let said = traced.send(&[1]).unwrap_err().to_string();
        assert!(said.starts_with("writing the trace: "), "{said}");
        assert_eq!(traced.inner.sent, [[1]], "the message went out all the same");
    }
}
