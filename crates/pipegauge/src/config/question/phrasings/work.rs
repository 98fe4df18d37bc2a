//! What people want of their work: backups, games, trading, databases, days and weeks.

/// (question, how it is read).
#[rustfmt::skip]
pub const READ: &[(&str, &str)] = &[
    ("how many GB per day over unix", "the most throughput, over unix"),
    ("how many terabytes a week over tcp", "the most throughput, over tcp"),
    ("how much data can I send in a day over tcp", "the largest message that arrives within 86,400 s, over tcp"),
    ("can I back up 500 GB over tcp in an hour", "whether 500 GB (500,000,000,000 B) arrives within 3,600 s, over tcp"),
    ("can I back up 500 GB over tcp in a day", "whether 500 GB (500,000,000,000 B) arrives within 86,400 s, over tcp"),
    ("how long does a 2 TB backup take over tcp", "arrival of 2 TB (2,000,000,000,000 B), over tcp"),
    ("will my game state of 1200 bytes at 60 Hz get through over tcp", "whether 60 messages of 1.2 kB (1,200 B) a second can be sustained, over tcp"),
    ("20,000 orders a second of 150 bytes over unix, possible?", "whether 20,000 messages of 150 B a second can be sustained, over unix"),
    ("can a trading order of 128 bytes get there in 20 us over unix", "whether 128 B arrives within 20.0 us, over unix"),
    ("tick to trade under 50 microseconds with 256 bytes over tcp", "whether 256 B arrives within 50.0 us, over tcp"),
    ("what's the latency of an RPC with a 512 byte body over tcp", "arrival of 512 B, there and back, over tcp"),
    ("database replication with 16 KiB pages, how many pages a second over tcp", "how many messages of 16 KiB a second, over tcp"),
    ("how long to replicate 10 GB of database over unix", "arrival of 10 GB (10,000,000,000 B), over unix"),
    ("heartbeat every 10 ms of 50 bytes over tcp, fine?", "whether 100 messages of 50 B a second can be sustained, over tcp"),
    ("how long until I have 10 answers of 1 KiB over tcp", "arrival of the last of 10 messages of 1 KiB, one after another, there and back, over tcp"),
    ("at what size does unix reach half its bandwidth", "the size that reaches half of the most throughput (n1/2), over unix"),
    ("how much more does unix move than tcp at 64 KiB", "throughput of unix held against that of tcp, at 64 KiB"),
    ("how many voice calls of 64 kbit/s fit over tcp", "how many streams of 64.0 kbit/s can be carried, over tcp"),
    ("should I use larger messages over tcp", "the size to use, over tcp"),
    ("video conference with 25 fps of 100 kB over unix", "whether 25 frames of 100 kB (100,000 B) a second can be sustained, over unix"),
    ("sensor with 12 bytes at 1 kHz over tcp", "whether 1,000 messages of 12 B a second can be sustained, over tcp"),
    ("thruput of unix with 4 KiB", "throughput with messages of 4 KiB, over unix"),
    ("is tcp slower then unix at 1 KiB", "tcp held against unix, at 1 KiB"),
    ("is it worth moving from tcp to unix sockets", "unix held against tcp"),
    ("a million messages of 100 bytes over unix, how long", "arrival of the last of 1,000,000 messages of 100 B, one after another, over unix"),
    ("upload 3 gigabytes over tcp", "arrival of 3 GB (3,000,000,000 B), over tcp"),
    ("how many of the 64 B messages take longer than 1 ms over tcp", "which share of single messages of 64 B takes longer than 1.00 ms, over tcp"),
    ("half a megabyte over tcp", "arrival of 500 kB (500,000 B), over tcp"),
];

/// (question, what the refusal says).
#[rustfmt::skip]
pub const REFUSED: &[(&str, &str)] = &[
    ("is this run reliable", "closes with Trust"),
    ("how long for 1.000.000 bytes over tcp", "commas part groups of three"),
    ("how long for 1 000 000 bytes over tcp", "write `1,000` for groups of three"),
];
