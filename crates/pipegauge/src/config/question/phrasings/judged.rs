//! Questions of a review that were answered as another one, or refused though they are plain.

/// (question, how it is read).
#[rustfmt::skip]
pub const READ: &[(&str, &str)] = &[
    // Signs in the place of words.
    ("is latency > 50 us over unix at 1 B?", "whether 1 B takes longer than 50.0 us, over unix"),
    ("is latency < 50 us over unix at 1 B?", "whether 1 B arrives within 50.0 us, over unix"),
    ("does 1 B take > 1 ms over tcp", "whether 1 B takes longer than 1.00 ms, over tcp"),
    ("is the time of 4 KiB over unix >= 1 ms", "whether 4 KiB takes longer than 1.00 ms, over unix"),
    ("is the time of 4 KiB over unix ≤ 1 ms", "whether 4 KiB arrives within 1.00 ms, over unix"),
    ("is unix throughput > 1 Mbit/s", "whether 1.00 Mbit/s can be carried, with messages of the best size, over unix"),
    ("is unix throughput <1 Mbit/s", "whether 1.00 Mbit/s is more than can be carried, with messages of the best size, over unix"),
    ("p99 of 64 B < 50us over tcp?", "whether p99 of the times of single messages of 64 B stays within 50.0 us, over tcp"),
    ("latency ≥ 20us over tcp?", "whether the smallest size takes longer than 20.0 us, over tcp"),
    ("~1KB over tcp", "arrival of 1 kB (1,000 B), over tcp"),
    ("how long for ~ 64 KiB", "arrival of 64 KiB, over all paths"),
    ("1KB,4KB over tcp", "arrival of 1 kB (1,000 B), over tcp + arrival of 4 kB (4,000 B), over tcp"),
    // So many of so many.
    ("one in a thousand messages of 64 B takes how long over tcp", "p99.9 of the times of single messages of 64 B, over tcp"),
    ("how slow is one in a hundred 64 byte messages", "p99 of the times of single messages of 64 B, over all paths"),
    ("1 in 1000 messages of 1 KiB takes how long", "p99.9 of the times of single messages of 1 KiB, over all paths"),
    ("nine out of ten messages arrive within what time", "p90 of the times of single messages of the smallest size, over all paths"),
    ("what time do 99 out of 100 messages stay below", "p99 of the times of single messages of the smallest size, over all paths"),
    ("do 99 out of 100 64 B messages arrive within 50 us over tcp", "whether p99 of the times of single messages of 64 B stays within 50.0 us, over tcp"),
    ("how many messages out of 100 arrive within 30 us", "which share of single messages of the smallest size arrives within 30.0 us, over all paths"),
    ("the slowest 1%", "p99 of the times of single messages of the smallest size, over all paths"),
    ("how long do the slowest 5% of 64 B messages take over tcp", "p95 of the times of single messages of 64 B, over tcp"),
    ("what are the odds of a 64 byte message taking more than 1 ms", "which share of single messages of 64 B takes longer than 1.00 ms, over all paths"),
    ("how likely is it that 64 B takes longer than 1 ms over tcp", "which share of single messages of 64 B takes longer than 1.00 ms, over tcp"),
    ("how often does 64 B arrive within 20 us over tcp", "which share of single messages of 64 B arrives within 20.0 us, over tcp"),
    ("how many messages of 64 B take < 50 us", "which share of single messages of 64 B arrives within 50.0 us, over all paths"),
    ("what is the worst 1% over tcp at 64 B", "p99 of the times of single messages of 64 B, over tcp"),
    ("what is the chance of losing a message", "how many messages are lost, over all paths"),
    // Another than the first.
    ("which is best after tcp and unix for 64 B", "the fastest path for 64 B, over all paths"),
    ("fastest path after unix for 1 KB", "the fastest path for 1 kB (1,000 B), over all paths"),
    ("second fastest path for 64 B", "the fastest path for 64 B, over all paths"),
    // How often, and there and back.
    ("how often can I send 1 KB over tcp", "how many messages of 1 kB (1,000 B) a second, over tcp"),
    ("how frequently can I poll with 100 byte requests", "how many requests with answers of 100 B a second, over all paths"),
    ("highest frequency for a 100 byte control loop", "how many requests with answers of 100 B a second, over all paths"),
    ("how long does 100 bytes each way take", "arrival of 100 B, there and back, over all paths"),
    ("can a 1 kHz control loop run over tcp with 100 bytes each way", "whether 1,000 requests with answers of 100 B a second can be sustained, over tcp"),
    // Sizes.
    ("should I use 64KB or 1MB messages", "time of 64 kB (64,000 B) held against that of 1 MB (1,000,000 B), over all paths"),
    ("which is better: 4 KB or 64 KB messages", "time of 4 kB (4,000 B) held against that of 64 kB (64,000 B), over all paths"),
    ("how much does latency increase from 1 KiB to 4 KiB", "time of 4 KiB held against that of 1 KiB, over all paths"),
    ("how much does bandwidth increase from 1 KiB to 64 KiB over tcp", "throughput of 64 KiB held against that of 1 KiB, over tcp"),
    ("what does it cost to add 16 bytes to 1 KB messages", "what each further 16 B costs, over all paths"),
    ("what is the cost of 1 extra KB", "what each further 1 kB (1,000 B) costs, over all paths"),
    ("is 64 KiB enough to saturate tcp", "which share of the most throughput messages of 64 KiB move, over tcp"),
    // Paths.
    ("what percentage of unix's bandwidth does tcp reach at 4 KiB", "throughput of tcp held against that of unix, at 4 KiB"),
    ("how much of the bandwidth of unix does tcp get at 4 KiB", "throughput of tcp held against that of unix, at 4 KiB"),
    ("what share does tcp get of unix's bandwidth", "throughput of tcp held against that of unix"),
    ("how much of unix's bandwidth does tcp reach", "throughput of tcp held against that of unix"),
    ("how much does tcp add to unix at 4 KiB", "tcp held against unix, at 4 KiB"),
    ("after how many bytes does tcp beat unix", "the size from which on one is faster: tcp or unix"),
    ("from how many bytes on is tcp faster than unix", "the size from which on one is faster: tcp or unix"),
    ("how big must messages be for tcp to beat unix", "the size from which on one is faster: tcp or unix"),
    ("does it matter whether I use tcp or unix", "tcp held against unix"),
    ("what would I gain from unix at 4 KiB in percent", "unix held against memcpy, at 4 KiB + unix held against pipe, at 4 KiB + unix held against shm, at 4 KiB + unix held against tcp, at 4 KiB"),
    ("how close is tcp to unix", "tcp held against unix"),
    // Shares of a rate.
    ("how much of a 10 Gbit/s link does tcp use", "which share of 10.0 Gbit/s is moved, with messages of the best size, over tcp"),
    ("how close to 40 Gbit/s does tcp get", "which share of 40.0 Gbit/s is moved, with messages of the best size, over tcp"),
    ("how close is tcp to 10 Gbit/s", "which share of 10.0 Gbit/s is moved, with messages of the best size, over tcp"),
    ("how much of 10GbE can tcp use", "which share of 10.0 Gbit/s is moved, with messages of the best size, over tcp"),
    ("what percentage of 10 Gbit/s do 64 KiB messages reach over tcp", "which share of 10.0 Gbit/s is moved, with messages of 64 KiB, over tcp"),
];

/// (question, what the refusal says).
#[rustfmt::skip]
pub const REFUSED: &[(&str, &str)] = &[
    ("is the latency of tcp = 50 us", "exactly so much no measurement tells"),
    ("is the latency of tcp => 50 us", "`=>` is no sign that this reads"),
    ("second fastest time of 64 B over tcp", "of what is ranked ask for the first"),
    ("time to send 1 KB and get 100 bytes back over tcp", "a request and its answer are of two sizes"),
    ("time to send 1 KB and receive 100 bytes over tcp", "a request and its answer are of two sizes"),
    ("is 64KB a good message size", "whether a size is a good one depends on what for"),
    ("is 1400 bytes the best size for tcp", "'what percentage of the bandwidth does 1.4 kB get?'"),
    ("is 64 B a good size", "'which size should I use?'"),
    ("is 64 KiB large enough", "whether a size is a good one depends on what for"),
    ("what would I gain from larger messages", "larger than which?"),
    ("how much data is 1000 messages per second of 1 KB", "follows from size and number: 8.00 Mbit/s"),
    ("should I use 4 KB messages", "whether a size is a good one depends on what for"),
    ("how much bandwidth do 1000 messages per second of 1 KB need", "follows from size and number: 8.00 Mbit/s"),
    ("does tcp get slower with size", "the time and throughput of each size"),
    ("does it matter how large messages are over tcp", "the time and throughput of each size"),
];
