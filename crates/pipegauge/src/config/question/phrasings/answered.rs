//! Questions that were refused or misread until they had an answer: less than so many times, within a share of the most, between two times, sizes of what
//! is sent, and a percentile of two paths.

/// (question, how it is read).
#[rustfmt::skip]
pub const READ: &[(&str, &str)] = &[
    ("is tcp less than 2 times slower than unix", "tcp held against unix, whether less than 2 times as slow"),
    ("is tcp less than 3 times slower than unix at 1 KiB", "tcp held against unix, whether less than 3 times as slow, at 1 KiB"),
    ("is shm less than 10 times faster than unix", "shm held against unix, whether less than 10 times as fast"),
    ("is tcp at most 2 times slower than unix", "tcp held against unix, whether less than 2 times as slow"),
    ("is tcp more than 2 times slower than unix", "tcp held against unix, whether 2 times as slow"),
    ("does tcp have less than twice the latency of unix", "tcp held against unix, whether less than 2 times as slow"),
    ("does shm have less than half the latency of unix", "shm held against unix, whether 2 times as fast"),
    ("does shm have more than half the latency of unix", "shm held against unix, whether less than 2 times as fast"),
    ("is 64 KiB less than 4 times slower than 1 KiB over tcp", "time of 64 KiB held against that of 1 KiB, whether less than 4 times as slow, over tcp"),
    ("which size is within 10% of the most", "the size that reaches 90.0% of the most throughput, over all paths"),
    ("which size comes within 10% of the bandwidth over tcp", "the size that reaches 90.0% of the most throughput, over tcp"),
    ("smallest message within 5 percent of the maximum throughput of unix", "the size that reaches 95.0% of the most throughput, over unix"),
    ("is 64 KiB within 10% of the bandwidth over tcp", "which share of the most throughput messages of 64 KiB move, over tcp"),
    ("which sizes arrive between 15 us and 25 us over tcp", "the smallest message that takes longer than 15.0 us, over tcp + the largest message that arrives within 25.0 us, over tcp"),
    ("which messages take between 15 us and 25 us", "the smallest message that takes longer than 15.0 us, over all paths + the largest message that arrives within 25.0 us, over all paths"),
    ("is the latency of tcp between 15 us and 25 us at 64 B", "whether 64 B takes longer than 15.0 us, over tcp + whether 64 B arrives within 25.0 us, over tcp"),
    ("does 1 KiB take between 20 us and 10 us over unix", "whether 1 KiB takes longer than 10.0 us, over unix + whether 1 KiB arrives within 20.0 us, over unix"),
    ("how long for a jumbo frame of 9000 bytes over tcp", "arrival of 9 kB (9,000 B), over tcp"),
    ("how many jumbo frames of 9000 bytes per second over tcp", "how many messages of 9 kB (9,000 B) a second, over tcp"),
    ("what is 1 MB's share of a 60 fps frame over tcp", "whether 1 MB (1,000,000 B) arrives within 16.7 ms, over tcp"),
    ("12 megapixel photo", "arrival of 36 MB (36,000,000 B), over all paths"),
    ("12 megapixel photo over tcp", "arrival of 36 MB (36,000,000 B), over tcp"),
    ("how long for a 12 megapixel photo", "arrival of 36 MB (36,000,000 B), over all paths"),
    ("how long for a 12 MP RGBA photo over unix", "arrival of 48 MB (48,000,000 B), over unix"),
    ("can tcp do 30 fps of 2 megapixel", "whether 30 frames of 6 MB (6,000,000 B) a second can be sustained, over tcp"),
    ("time between messages of a stream over tcp", "how many messages of the smallest size a second, over tcp"),
    ("is p99 of unix better than of tcp?", "whether p99 of the times of single messages of the smallest size is shorter over unix than over tcp"),
    ("is the p99 of unix lower than that of tcp at 1 KiB", "whether p99 of the times of single messages of 1 KiB is shorter over unix than over tcp"),
    ("does unix have a worse tail than tcp", "whether p99 of the times of single messages of the smallest size is longer over unix than over tcp"),
    ("is tcp's p99.9 higher than unix's", "whether p99.9 of the times of single messages of the smallest size is longer over tcp than over unix"),
];

/// (question, a part of what is said).
pub const REFUSED: &[(&str, &str)] = &[
    ("what is 1 MB's share of a frame", "a share of which frame? Say how many come a second"),
    ("latency between 15 us and 15 us at 64 B", "whether more or less is asked for is not clear"),
    ("how long for a 99999999999999999999 megapixel photo", "has no size that can be counted"),
    ("which size is within 100% of the bandwidth", "a share of the largest throughput lies between 0 and 100%"),
];
