//! Answers on modelled links, of which every figure is known.

use super::{exact, figure, near};
use crate::support::Scratch;

#[test]
fn answers_follow_the_model_in_words_and_as_flags() {
    let dir = Scratch::new();
    exact(&dir, "a.run.jsonl");
    let at = |bytes: f64| 10e-6 + bytes * 8e-10;
    for args in [&["--arrive", "64KiB"][..], &["when does 64 KiB arrive?"]] {
        near(figure(&dir, args), at(65_536.0));
    }
    near(figure(&dir, &["--arrive", "100000"]), at(100_000.0));
    near(figure(&dir, &["--arrive", "64MiB"]), at(67_108_864.0));
    near(figure(&dir, &["--most"]), 4_194_304.0 * 8.0 / at(4_194_304.0));
    near(figure(&dir, &["--frames", "60/s", "--of", "1MB"]), 1.0 / at(1e6));
    near(figure(&dir, &["what would a link of 1Gbit/s bring?"]), 10e-6 + 4_194_304.0 * 8e-9);
    near(figure(&dir, &["a link of 1Gbit/s for 64KiB"]), 10e-6 + 65_536.0 * 8e-9);
    near(figure(&dir, &["--control"]), at(768.0));
    near(figure(&dir, &["how long for 1 MB in chunks of 1 kB?"]), 1000.0 * at(1000.0));
    near(figure(&dir, &["1 MB in 4 parts"]), 4.0 * at(250_000.0));
    near(figure(&dir, &["how long for 1000 doubles?"]), at(8000.0));
    near(figure(&dir, &["latency of 2^16 bytes"]), at(65_536.0));
    let said = dir.run(&["ask", "a.run.jsonl", "can it sustain 60/s frames of 1MB?", "which size should I use?"]);
    assert!(said.out.contains("yes: a frame of") && said.out.contains("rests on:"), "{said}");
    assert!(said.out.contains("to sharpen it: pipegauge run theory"), "{said}");
    let said = dir.run(&["ask", "a.run.jsonl", "--frames", "10k/s", "--of", "1MB"]);
    assert!(said.out.contains("no: a frame of"), "{said}");
    // 2 x 10.15 us a round trip: an interval of half a round trip would leave it open.
    let said = dir.run(&["ask", "a.run.jsonl", "can it do 60000 requests per second of 192 bytes?"]);
    assert!(said.out.contains(": no: ") && said.out.contains("20.3 us"), "{said}");
}

#[test]
fn the_questions_people_ask_are_answered_as_the_model_has_it() {
    let dir = Scratch::new();
    exact(&dir, "a.run.jsonl");
    let at = |bytes: f64| 10e-6 + bytes * 8e-10;
    near(figure(&dir, &["how long for a 100 kB message"]), at(1e5));
    near(figure(&dir, &["when does 64 kilobytes arrive?"]), at(64e3));
    near(figure(&dir, &["how long for 1,000,000 bytes"]), at(1e6));
    near(figure(&dir, &["how long does 1 gigabyte take"]), 0.8);
    near(figure(&dir, &["fastest way to send 10 bytes"]), at(10.0));
    near(figure(&dir, &["round trip time for 1 KiB"]), 2.0 * at(1024.0));
    near(figure(&dir, &["5 messages of 1 KiB"]), 5.0 * at(1024.0));
    near(figure(&dir, &["4K video at 60 fps uncompressed"]), 1.0 / at(24_883_200.0));
    near(figure(&dir, &["how many 1 KB messages per second"]), 0.5 / at(1000.0));
    near(figure(&dir, &["how many 1 KB requests in 1 minute"]), 30.0 / at(1000.0));
    near(figure(&dir, &["what is the bandwidth"]), 4_194_304.0 * 8.0 / at(4_194_304.0));
    near(figure(&dir, &["throughput at 64 KiB"]), 65_536.0 * 8.0 / at(65_536.0));
    near(figure(&dir, &["how much data in 1 ms"]), 990e-6 / 8e-10);
    near(figure(&dir, &["what does one more byte cost"]), 8e-10);
    near(figure(&dir, &["startup cost of a message"]), 10e-6);
    // On a line the saturation point is t0 / b. Of the most at s, half is reached at s n / (s + 2 n), n being t0 / b.
    let (n, s) = (12_500.0, 4_194_304.0);
    assert!((figure(&dir, &["which message size saturates the link"]) / n - 1.0).abs() < 0.05);
    assert!((figure(&dir, &["half power point"]) / (s * n / (s + 2.0 * n)) - 1.0).abs() < 0.05);
    let share = 0.9 * s / (n + s);
    assert!((figure(&dir, &["what size gives best throughput"]) / (n * share / (1.0 - share)) - 1.0).abs() < 0.05);
    for (text, word) in [
        ("can theory do 1 Gbit/s?", "yes: at"),
        ("can theory do 11 Gbit/s?", "no: at"),
        ("does 64KiB arrive within 20 us", "no: "),
        ("does 64KiB arrive within 1 ms", "yes: "),
        ("how many connections per second", "--pattern connect"),
        ("4K video at 60 fps uncompressed", "24 bit is 24,883,200 B uncompressed, which is assumed"),
    ] {
        let said = dir.run(&["ask", "a.run.jsonl", text]);
        assert!(said.out.contains(word), "{text}: {said}");
    }
}

#[test]
fn rates_are_told_in_the_unit_that_is_asked_for() {
    let dir = Scratch::new();
    exact(&dir, "a.run.jsonl");
    let bits = 65_536.0 * 8.0 / (10e-6 + 65_536.0 * 8e-10);
    for (unit, of) in [("MB/s", 8e6), ("Mbit/s", 1e6)] {
        let text = format!("how many {unit} does theory give with 64 KiB messages");
        near(figure(&dir, &[&text]), bits);
        let said = dir.run(&["ask", "a.run.jsonl", &text]);
        let (_, rate) = said.out.split_once("; that is ").unwrap_or_else(|| panic!("{said}"));
        let (number, rest) = rate.split_once(' ').unwrap_or_else(|| panic!("{said}"));
        near(number.replace(',', "").parse().unwrap_or(f64::NAN), bits / of);
        assert!(rest.starts_with(&format!("{unit} [")), "{said}");
    }
    let said = dir.run(&["ask", "a.run.jsonl", "how many GB per hour with 64 KiB messages"]);
    assert!(said.out.contains(" GB in 3,600 s ["), "{said}");
    // 10 Gbit/s carry 400 streams of 25 Mbit/s, less what the start-up takes.
    let most = 4_194_304.0 * 8.0 / (10e-6 + 4_194_304.0 * 8e-10);
    near(figure(&dir, &["how many 25 Mbit/s streams"]), most / 25e6);
    near(figure(&dir, &["how many 1080p streams at 30 fps"]), most / (30.0 * 6_220_800.0 * 8.0));
    near(figure(&dir, &["latency of a cache line"]), 10e-6 + 64.0 * 8e-10);
    near(figure(&dir, &["minimum time"]), 10e-6);
    near(figure(&dir, &["how long for 0x1000 bytes"]), 10e-6 + 4096.0 * 8e-10);
    near(figure(&dir, &["seconds to transfer 250 mebibytes"]), 10e-6 + 262_144_000.0 * 8e-10);
}

#[test]
fn shares_of_the_most_are_those_of_the_model() {
    let dir = Scratch::new();
    exact(&dir, "a.run.jsonl");
    let rate = |bytes: f64| bytes / (10e-6 + bytes * 8e-10);
    let of = |bytes: f64| rate(bytes) / rate(4_194_304.0);
    near(figure(&dir, &["what percentage of the bandwidth does 4 KiB get"]), of(4096.0));
    near(figure(&dir, &["how full is the link at 1 KiB"]), of(1024.0));
    near(figure(&dir, &["how long for half of 8 MB"]), 10e-6 + 4e6 * 8e-10);
    near(figure(&dir, &["1 MB twice"]), 2.0 * (10e-6 + 1e6 * 8e-10));
    near(figure(&dir, &["download 700 MB over theory"]), 10e-6 + 7e8 * 8e-10);
}

#[test]
fn means_and_further_bytes_are_told_of_what_was_measured() {
    let dir = Scratch::new();
    exact(&dir, "a.run.jsonl");
    let at = |bytes: f64| 10e-6 + bytes * 8e-10;
    near(figure(&dir, &["how long does 64 bytes take on average"]), at(64.0));
    let said = dir.run(&["ask", "a.run.jsonl", "how long does 64 bytes take on average", "average time of 70 kB"]);
    assert!(said.out.contains("the mean of all its trials, interruptions included; the median is 10.1 us"), "{said}");
    let text = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(", the measured size nearest to 70 kB (70,000 B), took "), "{said}");
    assert!(text.contains("the median of 70 kB (70,000 B) is 66."), "{said}");
    let said = dir.run(&["ask", "a.run.jsonl", "average time of 20 MB"]);
    assert!(said.out.contains("which is the median: a mean is told of measured sizes only"), "{said}");
    let said = dir.run(&["ask", "a.run.jsonl", "one more kilobyte costs"]);
    assert!(said.out.contains("each further 1 kB (1,000 B) is 800 ns ["), "{said}");
}

#[test]
fn streams_of_frames_are_counted_by_the_time_of_a_frame() {
    let dir = Scratch::new();
    exact(&dir, "a.run.jsonl");
    // 19.9 ms a frame, 33.3 ms for each: one stream; and two at 24 a second.
    for (text, count) in
        [("how many 4K streams at 30 fps", "1 stream ["), ("how many 4K streams at 24 fps", "2 streams [")]
    {
        let said = dir.run(&["ask", "a.run.jsonl", text]);
        assert!(
            said.out.contains(&format!("theory: {count}")) && said.out.contains("B uncompressed, which is assumed"),
            "{said}"
        );
    }
}
