//! Questions of engineers, students and operators, written down before the grammar was looked at again: several processes, negations, deadlines, rates
//! and losses, sloppy words.

/// (question, how it is read).
#[rustfmt::skip]
pub const READ: &[(&str, &str)] = &[
    ("how fast is 64 KB", "arrival of 64 kB (64,000 B), over all paths"),
    ("whats the latency of 1 byte", "arrival of 1 B, over all paths"),
    ("how long to send 1 gigabyte", "arrival of 1 GB (1,000,000,000 B), over all paths"),
    ("how much slower is tcp than unix at 64 KiB", "tcp held against unix, at 64 KiB"),
    ("how many times faster is unix", "unix held against memcpy + unix held against pipe + unix held against shm + unix held against tcp"),
    ("how much slower is shm at 64 bytes", "shm held against memcpy, at 64 B + shm held against pipe, at 64 B + shm held against unix, at 64 B + shm held against tcp, at 64 B"),
    ("can I send 10000 messages of 1 KiB per second", "whether 10,000 messages of 1 KiB a second can be sustained, over all paths"),
    ("will a 1 MiB message arrive within 1 ms", "whether 1 MiB arrives within 1.00 ms, over all paths"),
    ("is 10 us enough for 1 KiB", "whether 1 KiB arrives within 10.0 us, over all paths"),
    ("how big a message can i send in 50 microseconds", "the largest message that arrives within 50.0 us, over all paths"),
    ("how long do 99% of messages of 1 KiB take at most", "p99 of the times of single messages of 1 KiB, over all paths"),
    ("what's the median rtt", "median of the times of single messages of the smallest size, there and back, over all paths"),
    ("max throughput pls", "the most throughput, over all paths"),
    ("send 5 files of 10 MB each, how long", "arrival of the last of 5 messages of 10 MB (10,000,000 B), one after another, over all paths"),
    ("how many times slower is it under load", "latency under load of the smallest size, over all paths"),
    ("how long for 10^6 bytes", "arrival of 1 MB (1,000,000 B), over all paths"),
    ("is it better to send one 10 kB message or ten 1 kB messages", "arrival of the last of 10 messages of 1 kB (1,000 B), one after another, over all paths"),
    ("bandwidth with 1 pair", "the most throughput, over all paths"),
    ("how much is lost at 1 Gbit/s", "how many messages are lost where 1.00 Gbit/s are offered, over all paths"),
    ("how much is lost at 10 Mbit/s", "how many messages are lost where 10.0 Mbit/s are offered, over all paths"),
    ("what is the highest rate without loss", "the highest rate without loss, over all paths"),
    ("does 5 Mbps arrive without loss", "how many messages are lost where 5.00 Mbit/s are offered, over all paths"),
    ("at which rate do losses begin", "the highest rate without loss, over all paths"),
];

/// (question, what the refusal says).
#[rustfmt::skip]
pub const REFUSED: &[(&str, &str)] = &[
    ("how long does a 4 KiB messge take", "was 'message' meant?"),
    ("what's the bandwith", "was 'bandwidth' meant?"),
    ("how much latency with 4 processes in parallel", "each path of these runs had one connection"),
    ("how much latency with 4 processes in parallel over unix", "pipegauge run unix --pairs 4 measures it"),
    ("what is the throughput with 2 pairs at 64 KiB", "--pairs 2 measures it"),
    ("total message rate with 2 processes at 64 bytes", "--pairs 2 measures it"),
    ("do 2 pairs carry twice as much as 1 pair", "--pairs 2 measures it"),
    ("how long for 64 KiB with 4 connections", "--flows 4 measures it"),
    ("which direction is slower", "pipegauge run PATH --pattern stream --both measures it"),
    ("which direction is faster", "pipegauge run PATH --pattern stream --both measures it"),
    ("what direction is the slowest", "pipegauge run PATH --pattern stream --both measures it"),
    ("is put faster than get", "pipegauge compare PUT.run.jsonl GET.run.jsonl holds two such runs against each other"),
    ("which is faster, put or get", "pipegauge compare PUT.run.jsonl GET.run.jsonl"),
    ("put vs get", "pipegauge compare PUT.run.jsonl GET.run.jsonl"),
    ("is a stream faster than ping-pong", "pipegauge compare PUT.run.jsonl GET.run.jsonl"),
    ("what arrives at 20 Mbit/s", "what of that rate?"),
    ("how large a message in 10 years", "no unit that this knows"),
    ("what is the jitter", "pipegauge jitter RUN tells"),
    ("why is tcp slow at 64 KiB", "pipegauge explain RUN"),
];
