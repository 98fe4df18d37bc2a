//! Limits on other figures than the median, round trips, wholes in parts, and a frame's time.

use super::{exact, figure, near};
use crate::support::Scratch;

/// A byte of these 10 Gbit/s takes 0.8 ns, and the start 10 us.
#[test]
fn a_round_trip_that_is_asked_about_is_none_halved() {
    let dir = Scratch::new();
    exact(&dir, "a.run.jsonl");
    near(figure(&dir, &["largest message with a round trip below 100 us"]), 50_000.0);
    near(figure(&dir, &["largest message within 100 us"]), 112_500.0);
    near(figure(&dir, &["smallest message whose round trip takes more than 100 us"]), 50_000.0);
    // And so many a second are round trips, too, which the answer to one size says.
    near(figure(&dir, &["how big may messages be at 10000 per second"]), 50_000.0);
    near(figure(&dir, &["how many KB per request can I have at 10000 requests per second"]), 50_000.0);
    for (text, words) in [
        ("how big may messages be at 10000 per second", "messages of up to 48.8 KiB"),
        ("startup cost of a round trip", "a whole one takes twice as long"),
        ("can it do 10000 messages of 40 KB per second", "theory: yes: a message of 40 kB"),
    ] {
        let said = dir.run(&["ask", "a.run.jsonl", text]);
        assert!(said.out.contains(words), "{text}: {said}");
    }
}

#[test]
fn a_whole_in_so_many_messages_is_none_of_each() {
    let dir = Scratch::new();
    exact(&dir, "a.run.jsonl");
    for text in ["1000 messages with 1 MB in total", "1000 messages totalling 1 MB", "1 MB split over 1000 messages"] {
        near(figure(&dir, &[text]), 1000.0 * 10.8e-6);
    }
    near(figure(&dir, &["how long for one point five megabytes"]), 10e-6 + 1.5e6 * 0.8e-9);
    near(figure(&dir, &["how long for a pair of 1 KB messages"]), 2.0 * 10.8e-6);
    dir.run(&["ask", "a.run.jsonl", "how long for 1000 messages of 1 MB in total"]).refuses(&["in two ways"]);
}

#[test]
fn what_is_sent_in_a_frames_time_is_no_frame() {
    let dir = Scratch::new();
    exact(&dir, "a.run.jsonl");
    near(figure(&dir, &["how many requests per frame at 60 fps of 1 KB"]), 1.0 / 60.0 / 21.6e-6);
    near(figure(&dir, &["what can I send within one frame at 1000 fps"]), (1e-3 - 10e-6) / 0.8e-9);
    let said = dir.run(&["ask", "a.run.jsonl", "can I do 5 round trips of 64 bytes in a 60 fps frame"]);
    assert!(said.out.contains("whether 300 requests") && said.out.contains("theory: yes"), "{said}");
}

#[test]
fn a_limit_on_the_mean_is_none_on_the_median() {
    let dir = Scratch::new();
    exact(&dir, "a.run.jsonl");
    for (text, words) in [
        ("is the mean time of 64 KiB below 50 us", "theory: no: 64 KiB took 62.4 us"),
        ("is the mean time of 64 KiB above 50 us", "theory: yes: 64 KiB took 62.4 us"),
        ("on average, does 64 KiB arrive within 80 us", "theory: yes: 64 KiB took 62.4 us"),
    ] {
        let said = dir.run(&["ask", "a.run.jsonl", text]);
        assert!(said.out.contains(words), "{text}: {said}");
    }
}

/// What no machine is too busy for: that messages are on their way for more than a nanosecond, and for less than an hour.
#[test]
fn some_of_the_messages_are_told_from_all_and_from_most() {
    let dir = Scratch::new();
    dir.measure("a.run.jsonl", &["tcp"]);
    for (text, word) in [
        ("did any 64 B message arrive within 1 hour", "tcp: yes"),
        ("is the fastest 64 B message under 1 hour", "tcp: yes"),
        ("did any 64 B message arrive within 1 ns", "tcp: not surely"),
        ("do all 64 B messages take longer than 1 hour", "tcp: no"),
        ("do some 64 B messages take longer than 1 ns", "tcp: yes"),
        ("is the longest round trip of 64 B below 1 ns", "tcp: no"),
        ("do most 64 B messages arrive within 1 hour", "tcp: yes"),
        ("do half of 64 B messages take longer than 1 ns", "tcp: yes"),
    ] {
        let said = dir.run(&["ask", "a.run.jsonl", text]);
        assert!(said.out.contains(word), "{text}: {said}");
    }
    dir.run(&["ask", "a.run.jsonl", "do many 64 B messages take longer than 1 ms"]).refuses(&["'many' is no number"]);
    dir.run(&["ask", "a.run.jsonl", "what paths were measured"]).refuses(&["the runs have: tcp"]);
}
