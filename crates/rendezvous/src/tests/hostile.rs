//! Far sides that know the secret and lie: their links are real, what they report is not. The near side says so; it never
//! believes them, panics or waits for ever.

use transport::Name;

use super::double::Double;
use super::whole::plan;
use super::*;
use crate::Far;
use crate::far::path::Path;
use crate::near::meet::meet;

/// What a liar changes in the report of a trial; its number travels as the trial's seed.
const LIES: [fn(&mut FarReport); 10] = [
    |_| (),
    |r| r.seconds = 1e-300,
    |r| r.seconds = 1e308,
    |r| r.bytes = u64::MAX,
    |r| r.bytes = 0,
    |r| r.received = u64::MAX,
    |r| r.received = 0,
    |r| r.lost = u64::MAX,
    |r| r.duplicated = u64::MAX,
    |r| r.spilled = Some(0),
];

/// Tells what it saw, changed by the lie whose number travels as the trial's seed.
fn liar() -> Double {
    let trial = |path: &mut Path, spec: &TrialSpec, sent: Sent<'_>| {
        let mut reports = path.trial(spec, sent)?;
        reports.iter_mut().for_each(LIES[spec.seed as usize]);
        Ok(reports)
    };
    Double { trial, ..Double::new() }
}

/// Names an address where it does not live.
struct Elsewhere;

impl Work for Elsewhere {
    fn listen(&mut self, _: Known, _: &Settings, _: SocketAddr, _: &Patience) -> Result<Address, LinkError> {
        Ok(Address::new("[2001:db8::1]:9"))
    }
    fn accept(&mut self, _: Proof) -> Result<(Effective, Capabilities), LinkError> {
        Err(LinkError::Closed { doing: "waiting" })
    }
    fn trial(&mut self, _: &TrialSpec, _: Sent<'_>) -> Result<Vec<FarReport>, SessionError> {
        Ok(vec![FarReport::default()])
    }
    fn close(&mut self) {}
}

/// Claims settings that no system has.
fn boaster() -> Double {
    let accept = |path: &mut Path, proof| {
        let (effective, capabilities) = path.accept(proof)?;
        Ok((Effective { send_buffer: Some(u64::MAX), ..effective }, capabilities))
    };
    Double { accept, ..Double::new() }
}

/// One tcp session with each far side that `work` makes.
fn session<W: Work + 'static>(work: fn() -> W, pattern: Pattern, with: impl FnOnce(&mut dyn measure::Session)) {
    session_over(transport::tcp::NAME, work, pattern, with);
}

/// One session of one flow of this transport with each far side that `work` makes.
fn session_over<W: Work + 'static>(
    transport: Name,
    work: fn() -> W,
    pattern: Pattern,
    with: impl FnOnce(&mut dyn measure::Session),
) {
    session_of(transport, work, pattern, 1, with);
}

/// One session of so many flows of this transport with each far side that `work` makes.
pub(super) fn session_of<W: Work + 'static>(
    transport: Name,
    work: fn() -> W,
    pattern: Pattern,
    flows: u32,
    with: impl FnOnce(&mut dyn measure::Session),
) {
    session_with(transport, work, pattern, |plan| plan.paths[0].flows = flows, with);
}

/// One session of a path of this transport, to whose plan `change` is made, with each far side that `work` makes.
pub(super) fn session_with<W: Work + 'static>(
    transport: Name,
    work: fn() -> W,
    pattern: Pattern,
    change: impl FnOnce(&mut Plan),
    with: impl FnOnce(&mut dyn measure::Session),
) {
    let (tell, events) = channel();
    let stop = Arc::new(AtomicBool::new(false));
    let theirs = Arc::clone(&stop);
    let options = ServeOptions { bind: Ipv4Addr::LOCALHOST.into(), port: 0, keep: true, limits: Limits::default() };
    let serving = std::thread::spawn(move || serve_with(&options, theirs, &mut |event| drop(tell.send(event)), work));
    let Ok(ServeEvent::Listening { addr, key }) = events.recv_timeout(LONG) else { panic!("not listening") };
    let far = Far::Listening { host: "127.0.0.1".into(), port: addr.port(), key };
    let mut plan = plan(&[transport], pattern);
    change(&mut plan);
    let met = meet(&far, &[&plan], FarPin::None, Arc::new(AtomicBool::new(false)));
    with(&mut *met.unwrap().remove(0).remove(0));
    stop.store(true, Ordering::Relaxed);
    let _ = serving.join();
}

#[test]
fn reports_that_cannot_be_are_refused() {
    for lie in 0..LIES.len() {
        session(liar, Pattern::Stream, |session| {
            session.open(0).unwrap();
            let outcome = session.trial(&TrialSpec { pattern: Pattern::Stream, ..spec(lie as u64) });
            match outcome {
                Ok(report) => {
                    assert_eq!(lie, 0, "believed: {report:?}");
                    assert_eq!((report.far.received, report.far.bytes), (17, 16 * 64));
                }
                Err(e) => {
                    let text = e.to_string();
                    assert!(lie > 0 && text.contains("reports what can't be"), "lie {lie}: {text}");
                    assert!(session.trial(&spec(0)).is_err(), "nothing more is believed");
                }
            }
        });
    }
}

/// A stream whose far side sends, with the lie of this number.
fn sent(lie: usize) -> TrialSpec {
    TrialSpec { pattern: Pattern::Stream, reverse: true, ..spec(lie as u64) }
}

#[test]
fn what_a_far_side_says_that_it_sent_is_held_against_what_was_asked() {
    for lie in 0..LIES.len() {
        session(liar, Pattern::Stream, |session| {
            session.open(0).unwrap();
            match session.trial(&sent(lie)) {
                // That it received nothing is true.
                Ok(report) => {
                    assert!(lie == 0 || lie == 6, "believed: {report:?}");
                    assert_eq!((report.far.received, report.far.bytes), (17, 16 * 64));
                }
                Err(e) => {
                    let text = e.to_string();
                    assert!(lie > 0 && text.contains("reports what can't be"), "lie {lie}: {text}");
                    assert!(session.trial(&sent(0)).is_err(), "nothing more is believed");
                }
            }
        });
    }
}

/// Of messages asked for: as many, more, fewer.
const ASKED: u64 = 0;
const MORE: u64 = 1;
const FEWER: u64 = 2;

/// Sends as many messages more or fewer than it was asked for as the trial's seed says, and reports what it was asked for.
fn counts() -> Double {
    let trial = |path: &mut Path, spec: &TrialSpec, sent: Sent<'_>| {
        let repeats = match spec.seed {
            MORE => spec.repeats + 100,
            FEWER => spec.repeats - 10,
            _ => spec.repeats,
        };
        let mut reports = path.trial(&TrialSpec { repeats, ..spec.clone() }, sent)?;
        reports.iter_mut().for_each(|report| (report.bytes, report.cost) = (spec.repeats * spec.size, None));
        Ok(reports)
    };
    Double { trial, ..Double::new() }
}

#[test]
fn messages_that_come_before_the_receiver_is_ready_are_noticed() {
    session(counts, Pattern::Stream, |session| {
        session.open(0).unwrap();
        session.trial(&sent(ASKED as usize)).unwrap();
        session.trial(&sent(MORE as usize)).unwrap();
        let text = session.trial(&sent(ASKED as usize)).unwrap_err().to_string();
        assert!(text.contains("before this side was ready"), "{text}");
    });
}

#[test]
fn a_stream_that_ends_early_is_an_error_or_a_loss_and_never_waited_for() {
    session(counts, Pattern::Stream, |session| {
        session.open(0).unwrap();
        let text = session.trial(&sent(FEWER as usize)).unwrap_err().to_string();
        assert!(text.contains("still waits for some"), "{text}");
    });
    session_over(transport::udp::NAME, counts, Pattern::Stream, |session| {
        session.open(0).unwrap();
        let report = session.trial(&sent(FEWER as usize)).unwrap();
        assert_eq!((report.far.received, report.far.lost), (7, 10));
    });
}

#[test]
fn a_data_address_of_another_host_is_not_connected_to() {
    session(
        || Elsewhere,
        Pattern::PingPong,
        |session| {
            let text = session.open(0).unwrap_err().to_string();
            assert!(text.contains("2001:db8::1") && text.contains("127.0.0.1"), "{text}");
        },
    );
}

#[test]
fn settings_that_no_system_has_are_refused() {
    session(boaster, Pattern::PingPong, |session| {
        let text = session.open(0).unwrap_err().to_string();
        assert!(text.contains("settings that no system has"), "{text}");
    });
}
