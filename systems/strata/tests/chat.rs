//! The chat of `examples/chat.rs`, whose input ends just after its last line.

#[allow(dead_code)]
#[path = "../examples/chat.rs"]
mod chat;

use std::time::Duration;

use strata::Config;
use strata::net::{Event, Handle, Options};

/// Far longer than anything takes on a busy machine, and shorter than silence takes to be noticed here.
const PATIENCE: Duration = Duration::from_secs(60);

fn options(contacts: Vec<std::net::SocketAddr>) -> Options {
    let config = Config { suspect: PATIENCE * 2, ..Config::default() };
    Options { contacts, config, patience: PATIENCE, ..Options::default() }
}

/// What was said last is everywhere, and the others need not suspect who left.
#[test]
fn who_ends_the_input_leaves_once_all_have_what_was_said() {
    let host = Handle::join(options(vec![])).unwrap();
    let at = host.me().addr;
    let lines: String = (0..100).map(|n| format!("{n}\n")).collect();
    let guest = std::thread::spawn(move || {
        let mut shown = Vec::new();
        let input = std::io::Cursor::new([lines.as_bytes(), b"\xff\x1b[2J"].concat());
        chat::chat("me".to_owned(), options(vec![at]), input, &mut shown).unwrap();
        String::from_utf8(shown).unwrap()
    });
    let wanted: Vec<_> = (0..100).map(|n| format!("me: {n}")).chain(["me: \u{fffd}\\u{1b}[2J".to_owned()]).collect();
    let (mut said, mut views) = (Vec::new(), Vec::new());
    while views.len() < 3 {
        match host.next_within(PATIENCE).expect("the guest comes, says all and leaves") {
            Event::Message(m) => said.push(strata::shown(&m.body).to_string()),
            Event::View(view) => views.push(view.members.len()),
            _ => {}
        }
    }
    assert_eq!((said, views), (wanted.clone(), vec![1, 2, 1]));
    let shown = guest.join().unwrap();
    let own: Vec<_> = shown.lines().filter(|l| l.starts_with("me: ")).collect();
    assert_eq!(own, wanted, "its own lines come back");
}

/// A reader of the output that has gone ends the chat with an error.
#[test]
fn an_output_that_can_not_be_written_is_told() {
    let mut full = std::io::Cursor::new([0; 10]);
    let why = chat::chat("me".to_owned(), options(vec![]), &b""[..], &mut full.get_mut()[..]).unwrap_err();
    assert!(why.downcast_ref::<std::io::Error>().is_some(), "{why}");
}
