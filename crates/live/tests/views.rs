//! What the screen shows of a seeded run over two theoretical links: events in, cells out, no terminal and no clock.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use host::Environment;
use live::keys::Key;
use live::state::Request;
use live::{State, paint, view};
use measure::event::{Calibration, PathPlan, Plan, Run, SCHEMA, Schedule, plain};
use measure::solo::Solo;
use measure::{Event, Session};
use ratatui_core::buffer::Buffer;

const CALIBRATION: Calibration = Calibration { clock_cost_ns: 0.0, clock_step_ns: 1.0, loop_cost_ns: 0.0 };

const KINDS: [transport::Name; 2] = [transport::unix::NAME, transport::tcp::NAME];

/// What a run of two paths is asked for.
fn plan() -> Plan {
    Plan {
        paths: plain(&KINDS),
        to: 1 << 20,
        budget: 3.0,
        precision: 0.02,
        precise: true,
        align: 64,
        ..Plan::default()
    }
}

/// Every event of a run whose paths are theoretical links that go by the names of real ones.
fn events(plan: &Plan) -> Vec<Event> {
    let theories = [
        "latency=1us,rate=40Gbit/s,noise=2%,round-noise=1%,seed=3",
        "latency=9us,rate=10Gbit/s,dip=60KiB..70KiB*3,noise=6%,round-noise=3%,seed=4",
    ];
    let stop = Arc::new(AtomicBool::new(false));
    let sessions = theories.iter().take(plan.paths.len()).map(|theory| -> Box<dyn Session> {
        let settings = transport::theory::settings(theory).unwrap();
        let path = PathPlan { settings, ..transport::theory::NAME.into() };
        Box::new(Solo::new(&path, Arc::clone(&stop)).unwrap())
    });
    let header = Event::Run(Run {
        schema: SCHEMA.into(),
        version: "0.1.0".into(),
        started: "2026-01-31T10:00:00Z".into(),
        command: vec!["pipegauge".into(), "live".into()],
        plan: plan.clone(),
        near: Environment { hostname: "here".into(), ..Environment::default() },
        calibration: CALIBRATION,
        side: None,
    });
    let mut events = vec![header];
    let mut tell = |event: &Event| {
        let mut event = event.clone();
        if let Event::Path(path) = &mut event {
            path.transport = KINDS[path.path as usize];
        }
        events.push(event);
        Ok(())
    };
    let outcome = measure::run(plan, CALIBRATION, sessions.collect(), &mut tell, &stop);
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    events
}

/// The screen's state when `share` of all events have come.
fn state(share: f64) -> State {
    state_of(&plan(), share)
}

fn state_of(plan: &Plan, share: f64) -> State {
    let events = events(plan);
    let mut state = State::new("a.run.jsonl".into(), true);
    let most = (events.len() as f64 * share).round() as usize;
    for (event, n) in events.iter().take(most).zip(0..) {
        state.event(event);
        state.tick(f64::from(n) * 0.01);
    }
    state
}

fn picture(state: &State, columns: u16, rows: u16) -> Buffer {
    let mut buf = paint::sheet(columns, rows);
    view::draw(state, &mut buf, true);
    buf
}

fn text(state: &State, columns: u16, rows: u16) -> String {
    let buf = picture(state, columns, rows);
    let row = |y| -> String { (0..columns).map(|x| buf[(x, y)].symbol()).collect() };
    (0..rows).map(|y| format!("{}\n", row(y).trim_end())).collect()
}

#[test]
fn a_soak_shows_its_intervals_over_the_time() {
    let soak = Plan {
        paths: plain(&KINDS[..1]),
        schedule: Schedule::Soak,
        sizes: Some(vec![1 << 20]),
        budget: 30.0,
        every: Some(1.0),
        precise: false,
        ..plan()
    };
    let half = text(&state_of(&soak, 0.5), 80, 24);
    assert!(half.contains("Soak: transfer time over the time") && half.contains("Time since the start [s]"), "{half}");
    let mut whole = state_of(&soak, 1.0);
    let Request::Nothing = whole.key(Key::Graph) else { panic!("the next graph") };
    let whole = text(&whole, 80, 24);
    assert!(whole.contains("Soak: throughput over the time") && whole.contains("100%"), "{whole}");
    assert!(!whole.contains("asked"), "nobody asked a soak for a precision: {whole}");
}

#[test]
fn half_way_everything_has_its_place_on_80_by_24() {
    insta::assert_snapshot!(text(&state(0.6), 80, 24));
}

#[test]
fn a_larger_terminal_gets_a_larger_curve() {
    insta::assert_snapshot!(text(&state(0.6), 120, 40));
}

#[test]
fn at_the_end_warnings_stand_below_the_curve() {
    insta::assert_snapshot!(text(&state(1.0), 80, 24));
}

#[test]
fn before_anything_has_happened_it_says_so() {
    let state = State::new("a.run.jsonl".into(), false);
    insta::assert_snapshot!(text(&state, 80, 24));
}

#[test]
fn intervals_close_towards_what_was_asked_for() {
    let mut state = state(1.0);
    for _ in 0..3 {
        assert_eq!(state.key(Key::Graph), Request::Nothing);
    }
    insta::assert_snapshot!(text(&state, 80, 24));
}

#[test]
fn noise_on_a_flat_curve_is_not_drawn_as_a_shape() {
    // Messages so small that all take the same time, but for noise.
    let mut state = State::new(String::new(), true);
    for event in events(&plan()) {
        match &event {
            Event::Trial(t) if t.path != 1 || t.size > 512 => {}
            Event::Point(p) if p.path != 1 || p.size > 512 => {}
            event => state.event(event),
        }
    }
    state.key(Key::Graph);
    state.key(Key::Graph);
    let columns = |picture: &str| -> std::collections::BTreeSet<usize> {
        let rows = picture.lines().skip(4).take_while(|l| !l.contains('└'));
        let dots = rows.flat_map(|l| l.chars().enumerate().filter(|(_, c)| ('\u{2801}'..='\u{28ff}').contains(c)));
        dots.map(|(x, _)| x).collect()
    };
    let picture = text(&state, 80, 24);
    let columns = columns(&picture);
    assert!(!columns.is_empty() && columns.len() < 35, "{picture}");
}

#[test]
fn one_path_can_be_looked_at_and_its_points_one_by_one() {
    let mut state = state(0.6);
    state.key(Key::Path);
    state.key(Key::Path);
    state.tick(100.0);
    let chosen = text(&state, 80, 24);
    assert!(chosen.contains("─ tcp, ") && chosen.contains("next path"), "{chosen}");
    let title = |state: &State| text(state, 80, 24).lines().find(|l| l.starts_with('─')).unwrap().to_owned();
    let before = title(&state);
    state.key(Key::Right);
    let after = title(&state);
    assert!(after.contains("(kept)") && after != before, "{before}\n{after}");
    state.tick(200.0);
    assert_eq!(title(&state), after, "what a key chose stays");
    state.key(Key::Left);
    state.key(Key::Current);
    state.tick(201.0);
    assert!(!title(&state).contains("(kept)"));
    state.key(Key::Path);
    assert!(text(&state, 80, 24).contains("one path"), "all again");
}

#[test]
fn help_and_warnings_take_the_whole_middle_and_go_away() {
    let mut state = state(1.0);
    let curve = text(&state, 80, 24);
    state.key(Key::Help);
    insta::assert_snapshot!(text(&state, 80, 24));
    state.key(Key::Warnings);
    let warnings = text(&state, 80, 24);
    assert!(warnings.contains("! ") && !warnings.contains("Ctrl-Z"), "{warnings}");
    assert_eq!(state.key(Key::Escape), Request::Nothing, "back first");
    assert_eq!(text(&state, 80, 24), curve);
    assert_eq!(state.key(Key::Escape), Request::Leave);
}

#[test]
fn a_key_asks_to_stop_while_it_goes_on_and_to_leave_when_it_has_ended() {
    let mut state = state(0.5);
    assert_eq!(state.key(Key::Enter), Request::Nothing);
    assert_eq!(state.key(Key::Quit), Request::Stop);
    state.stopping();
    assert!(text(&state, 80, 24).contains("stopping: what was measured is kept"));
    let mut ended = self::state(1.0);
    assert_eq!(ended.key(Key::Quit), Request::Leave);
    assert_eq!(ended.key(Key::Enter), Request::Leave);
}

#[test]
fn every_size_of_terminal_gets_something_and_none_a_panic() {
    let states = [State::new(String::new(), true), state(0.1), state(0.6), state(1.0)];
    for columns in [0, 1, 5, 20, 39, 40, 60, 71, 72, 80, 133, 300] {
        for rows in [0, 1, 2, 5, 6, 10, 21, 22, 24, 50, 120] {
            for state in &states {
                picture(state, columns, rows);
                let mut state = state.clone();
                state.key(Key::Warnings);
                picture(&state, columns, rows);
            }
        }
    }
    insta::assert_snapshot!("tiny", text(&states[2], 20, 5));
    insta::assert_snapshot!("small", text(&states[2], 50, 14));
}

#[test]
fn without_colour_letters_tell_the_lines_apart() {
    let state = state(0.6);
    let mut buf = paint::sheet(80, 24);
    view::draw(&state, &mut buf, false);
    // 30 to 37 and 90 to 97 in what sets the style.
    let coloured = |buf: &Buffer| {
        let codes = String::from_utf8(paint::paint(None, buf)).unwrap();
        let styles = codes.split('\x1b').filter_map(|c| c.strip_prefix('[')?.split_once('m').map(|(style, _)| style));
        let styles: Vec<&str> = styles.filter(|s| s.chars().all(|c| c.is_ascii_digit() || c == ';')).collect();
        styles.iter().any(|s| s.contains(";3") || s.contains(";9"))
    };
    assert!(!coloured(&buf));
    assert!(coloured(&picture(&state, 80, 24)));
    let cells: String = buf.content.iter().map(|c| c.symbol()).collect();
    assert!(cells.contains("a unix") && cells.contains("b tcp"), "{cells}");
    assert!(!text(&state, 80, 24).contains("a unix"));
}
