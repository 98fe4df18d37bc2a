//! Which wire a path was measured over: what flags say, else what the run knows. For `scale` and `ask --link`.

use measure::event::TimeKind;
use model::scale::{Unscaled, Wire};
use record::RunFile;
use report::words::time_label;

use crate::flags::WireFlags;

/// The wire of a path; none where neither flags nor the run know its rate.
pub fn of(run: &RunFile, path: usize, flags: &WireFlags) -> Result<Option<Wire>, Unscaled> {
    let known = run.wire(path);
    let Some(rate) = flags.rate.or(known.map(|w| w.rate)) else { return Ok(None) };
    with(rate, flags, known).map(Some)
}

/// A wire of `rate` bits a second, framed as the flags say, else as `known` is, else not at all.
pub fn with(rate: f64, flags: &WireFlags, known: Option<Wire>) -> Result<Wire, Unscaled> {
    let (framing, header, packet) = known.map_or((1.0, 0.0, None), |w| (w.framing, w.header, w.packet));
    Wire::new(rate, flags.framing.unwrap_or(framing), flags.header.map_or(header, |h| h as f64))?
        .with_packet(flags.packet.or(packet))
}

/// A sum of costs makes a path's time only where one message has the path to itself; otherwise, why not.
pub fn sums_up(time: Option<TimeKind>) -> Result<(), String> {
    match time {
        Some(TimeKind::HalfRoundTrip | TimeKind::Copy) => Ok(()),
        None => Err("nothing was measured on it".to_owned()),
        Some(TimeKind::OneWay) => {
            Err("its messages overlap on their way, so that the slowest stage counts and not the sum \
                                       of all: measure round trips (--pattern ping-pong)"
                .to_owned())
        }
        Some(other) => Err(format!(
            "its times are those of the kind {}, and the model is of one message's way (RTT/2): measure round trips \
             (--pattern ping-pong, without --rate)",
            time_label(other)
        )),
    }
}
