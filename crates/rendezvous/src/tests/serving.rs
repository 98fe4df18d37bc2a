//! What the right peer can and can't do, and how either side's end reaches the other.

use std::net::TcpListener;

use measure::event::PathPlan;

use super::*;
use crate::far::path::Path;
use crate::message::Cause;
use crate::near::verdict::Words;

#[test]
fn without_keep_the_first_measurement_is_the_last() {
    let mut served = Served::once();
    measure_once(&mut served.meet().unwrap());
    assert_eq!(served.ended(), "the near side said goodbye");
    served.outcome().unwrap();
    let e = served.meet().err().expect("nobody serves any more");
    assert!(matches!(e, MeetError::Unreachable { .. }), "{e}");
}

#[test]
fn with_keep_the_same_key_serves_again() {
    let mut served = Served::keeping();
    for _ in 0..3 {
        measure_once(&mut served.meet().unwrap());
        served.ended();
    }
    served.stop().expect("stopping between measurements loses nothing");
    let mut once = Served::once();
    assert!(matches!(once.stop(), Err(MeetError::Interrupted)), "the one measurement never came");
}

#[test]
fn limits_are_held_in_words_and_the_conversation_goes_on() {
    let served = Served::with(true, Limits { max_block: 1024, ..Limits::default() });
    let mut control = served.meet().unwrap();
    control.hello(FarPin::None, 0, false).unwrap();
    open(&mut control);
    let e = control.trial(&TrialSpec { size: 4096, ..spec(ANSWER) }).unwrap_err();
    assert!(matches!(e, MeetError::Refused(_)) && e.to_string().contains("larger than the limit"), "{e}");
    for (transport, settings, says) in [
        ("tcp", Settings::default().with("mss", 5u64), "mss=5"),
        ("tcp", Settings::default().with("colour", "red"), "no option is named 'colour'"),
        ("theory", Settings::default(), "needs no far side"),
        ("nosuch", Settings::default(), "no transport is named 'nosuch'"),
    ] {
        let e = control
            .open(transport::Name::new(transport).unwrap(), &settings, 1, Vec::new(), None)
            .map(drop)
            .unwrap_err();
        assert!(matches!(e, MeetError::Refused(_)) && e.to_string().contains(says), "{e}");
    }
    let e = control.trial(&spec(ANSWER)).unwrap_err();
    assert!(e.to_string().contains("no data connection"), "{e}");
    open(&mut control);
    assert_eq!(trial(&mut control, ANSWER).unwrap().received, 17);
}

#[test]
fn a_measurement_ends_with_its_time() {
    let mut served = Served::with(false, Limits { max_seconds: 0.3, ..Limits::default() });
    let mut control = served.meet().unwrap();
    control.hello(FarPin::None, 0, false).unwrap();
    open(&mut control);
    let e = trial(&mut control, WAIT_UNTIL_HALTED).unwrap_err();
    assert!(e.to_string().contains("0.3 s"), "{e}");
    assert!(matches!(served.outcome(), Err(MeetError::OverTime { .. })));
}

#[test]
fn a_near_side_that_dies_in_a_trial_ends_it() {
    let mut served = Served::once();
    let mut control = served.meet().unwrap();
    control.hello(FarPin::None, 0, false).unwrap();
    open(&mut control);
    control.trial(&spec(WAIT_UNTIL_HALTED)).unwrap();
    control.die();
    assert!(served.ended().contains("the near side ended the control connection"));
    assert!(matches!(served.outcome(), Err(MeetError::Gone { .. })));
}

#[test]
fn a_trial_can_be_broken_off_and_the_next_one_runs() {
    let served = Served::keeping();
    let mut control = served.meet().unwrap();
    control.hello(FarPin::None, 0, false).unwrap();
    open(&mut control);
    control.trial(&spec(WAIT_UNTIL_HALTED)).unwrap();
    assert!(matches!(control.last_words(), Words::Failed(Cause::Interrupted, _)));
    open(&mut control);
    assert_eq!(trial(&mut control, ANSWER).unwrap().received, 17);
    // Broken off too late: its answer was already complete, and the conversation is still in step.
    control.trial(&spec(ANSWER)).unwrap();
    assert_eq!(control.last_words(), Words::Complete);
    assert_eq!(trial(&mut control, ANSWER).unwrap().received, 17);
}

#[test]
fn the_far_sides_failure_comes_in_its_own_words() {
    let served = Served::keeping();
    let mut control = served.meet().unwrap();
    control.hello(FarPin::None, 0, false).unwrap();
    open(&mut control);
    let e = trial(&mut control, CUT).unwrap_err();
    assert_eq!(e.to_string(), "the far side: the peer closed the connection while this side was receiving");
    open(&mut control);
    assert_eq!(trial(&mut control, ANSWER).unwrap().received, 17);
}

#[test]
fn a_bug_on_the_far_side_ends_one_measurement_only() {
    let served = Served::keeping();
    let mut control = served.meet().unwrap();
    control.hello(FarPin::None, 0, false).unwrap();
    open(&mut control);
    assert!(matches!(trial(&mut control, PANIC), Err(MeetError::Gone { .. })));
    assert!(served.ended().contains("bug"));
    measure_once(&mut served.meet().unwrap());
}

#[test]
fn a_far_side_asked_to_stop_says_so() {
    let mut served = Served::keeping();
    let mut control = served.meet().unwrap();
    control.hello(FarPin::None, 0, false).unwrap();
    open(&mut control);
    control.trial(&spec(WAIT_UNTIL_HALTED)).unwrap();
    assert!(matches!(served.stop(), Err(MeetError::BrokenOff)));
    let e = control.done(Duration::ZERO, Duration::ZERO).map(drop).unwrap_err();
    assert!(e.to_string().contains("asked to stop"), "{e}");
    // And while nothing is going on.
    let mut served = Served::keeping();
    let mut control = served.meet().unwrap();
    control.hello(FarPin::None, 0, false).unwrap();
    assert!(matches!(served.stop(), Err(MeetError::BrokenOff)));
    assert!(control.hello(FarPin::None, 0, false).is_err());
}

#[test]
fn a_silent_far_side_is_given_up_with_the_patience_named() {
    use crate::channel::Channel;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let identity = crate::tls::Identity::fresh().unwrap();
    let key = Key { pin: identity.pin, secret: crate::secret::Secret::of([1; 32]) };
    let gate = crate::far::gate::Gate::new(key.secret.clone(), false);
    let silent = std::thread::spawn(move || {
        let stop = Arc::new(AtomicBool::new(false));
        let mut channel = Channel::far(listener.accept().unwrap().0, &identity, stop).unwrap();
        gate.admit(&mut channel, &|| true, Duration::from_secs(20)).unwrap();
        while channel.recv::<crate::message::Ask>(Instant::now() + LONG, "saying nothing").is_ok() {}
    });
    let stop = Arc::new(AtomicBool::new(false));
    let proved = dial(&[at], "the test", "look at the test", &key, &stop).unwrap();
    let settings = Settings::default().with("loss-timeout", 0.01);
    let quick = PathPlan { settings, ..transport::udp::NAME.into() };
    let impatient = Plan { patience: 0.1, paths: vec![quick], ..Plan::default() };
    let mut control = Control::over(proved, &impatient, &stop).unwrap();
    let text = control.hello(FarPin::None, 0, false).unwrap_err().to_string();
    assert!(text.contains("silent for") && text.contains("--patience"), "{text}");
    let text = control.hello(FarPin::None, 0, false).unwrap_err().to_string();
    assert!(text.contains("of no use"), "what broke once is not asked again: {text}");
    drop(control);
    silent.join().unwrap();
}

#[test]
fn a_connection_number_is_never_used_twice() {
    let mut served = Served::once();
    let mut control = served.meet().unwrap();
    control.hello(FarPin::None, 0, false).unwrap();
    open(&mut control);
    control.repeat_number();
    assert!(control.open(transport::tcp::NAME, &Settings::default(), 1, Vec::new(), None).is_err());
    assert!(matches!(served.outcome(), Err(MeetError::Protocol(_))));
}

#[test]
fn closing_an_older_connection_leaves_the_newer_one() {
    let served = Served::keeping();
    let mut control = served.meet().unwrap();
    control.hello(FarPin::None, 0, false).unwrap();
    let first = open(&mut control);
    let second = open(&mut control);
    control.close(first);
    assert_eq!(trial(&mut control, ANSWER).unwrap().received, 17);
    control.close(second);
    assert!(matches!(trial(&mut control, ANSWER), Err(MeetError::Refused(_))));
}

#[test]
fn the_far_side_tells_what_others_took_of_its_cpu() {
    let served = Served::keeping();
    let mut control = served.meet().unwrap();
    let Some(cpu) = host::allowed_cpus().first().copied() else { return println!("skipped: no CPU is named here") };
    control.hello(FarPin::Cpu(cpu), 0, false).unwrap();
    open(&mut control);
    assert_eq!(trial(&mut control, ANSWER).unwrap().received, 17);
    // A share needs some ticks of the system's clock to pass; how many is not what is tested.
    let began = Instant::now();
    let taken = loop {
        if let Some(taken) = control.taken().unwrap() {
            break taken;
        }
        assert!(began.elapsed() < LONG, "a pinned side can tell");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(taken.is_sane(), "{taken:?}");
    assert_eq!(trial(&mut control, ANSWER).unwrap().received, 17, "the conversation is still in step");
}

#[test]
fn a_port_in_use_is_named_with_what_to_do() {
    let holder = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = holder.local_addr().unwrap().port();
    let options = ServeOptions { bind: Ipv4Addr::LOCALHOST.into(), port, keep: false, limits: Limits::default() };
    let e = serve_with(&options, Arc::new(AtomicBool::new(false)), &mut |_| (), Path::new).unwrap_err().to_string();
    assert!(e.contains(&port.to_string()) && e.contains("in use") && e.contains("choose another"), "{e}");
    let elsewhere = ServeOptions { bind: "192.0.2.1".parse().unwrap(), port: 0, ..options };
    let e = serve_with(&elsewhere, Arc::new(AtomicBool::new(false)), &mut |_| (), Path::new).unwrap_err().to_string();
    assert!(e.contains("192.0.2.1"), "{e}");
}

#[test]
fn the_far_side_is_pinned_as_wished_and_says_all_that_it_may_use() {
    let served = Served::keeping();
    let allowed = host::allowed_cpus();
    let last = *allowed.last().unwrap();
    let far_pins = [
        (FarPin::None, None),
        (FarPin::Cpu(last), Some(last)),
        (FarPin::Auto, host::choose_pair(&allowed).map(|(_, cpu)| cpu)),
    ];
    for (far_pin, expected) in far_pins {
        let (environment, pinned) = served.meet().unwrap().hello(far_pin, 0, true).unwrap();
        assert_eq!(pinned, expected, "{far_pin:?}");
        let environment = environment.expect("asked for");
        assert_eq!((&environment.cpus, environment.pinned), (&allowed, expected), "{far_pin:?}");
        // Until this one's end was seen, the next one would be told "busy".
        served.ended();
    }
    let refused = served.meet().unwrap().hello(FarPin::Cpu(4_000), 0, false).unwrap_err().to_string();
    assert!(refused.contains("CPU 4000") && refused.contains("--pin"), "{refused}");
}
