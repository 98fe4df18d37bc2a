//! Questions of a newcomer with run files of many kinds, who was answered something else than was asked.

/// (question, how it is read).
#[rustfmt::skip]
pub const READ: &[(&str, &str)] = &[
    // Of every single message; the median tells nothing of that.
    ("do all 64 B messages arrive within 50 us over tcp", "whether the worst case of the times of single messages of 64 B stays within 50.0 us, over tcp"),
    ("does it ever take longer than 1 ms", "whether the worst case of the times of single messages of the smallest size exceeds 1.00 ms, over all paths"),
    ("does a 64 B message over tcp ever take longer than 1 ms", "whether the worst case of the times of single messages of 64 B exceeds 1.00 ms, over tcp"),
    ("is any message slower than 50 us", "whether the worst case of the times of single messages of the smallest size exceeds 50.0 us, over all paths"),
    ("does every 1 KiB message arrive within 50 us", "whether the worst case of the times of single messages of 1 KiB stays within 50.0 us, over all paths"),
    ("is tcp always faster than 50 us at 64 B", "whether the worst case of the times of single messages of 64 B stays within 50.0 us, over tcp"),
    ("is 64 B guaranteed to arrive within 50 us over unix", "whether the worst case of the times of single messages of 64 B stays within 50.0 us, over unix"),
    ("does 64 B take at most 50 us over tcp", "whether 64 B arrives within 50.0 us, over tcp"),
    ("does 64 B sometimes take longer than 50 us over tcp", "whether the worst case of the times of single messages of 64 B exceeds 50.0 us, over tcp"),
    ("do all round trips of 64 B take at most 100 us over tcp", "whether the worst case of the times of single messages of 64 B stays within 100 us, there and back, over tcp"),
    ("can I be sure that 64 B arrives within 50 us over tcp", "whether the worst case of the times of single messages of 64 B stays within 50.0 us, over tcp"),
    // The share of single messages, and not whether the median is in time.
    ("how many messages of 64 KiB are slower than 40 us over tcp", "which share of single messages of 64 KiB takes longer than 40.0 us, over tcp"),
    ("what percentage of 4 KiB messages is slower than 25 us", "which share of single messages of 4 KiB takes longer than 25.0 us, over all paths"),
    // The speed of a size is its time or what it moves: both are told.
    ("what speed do I get with 16k blocks on tcp", "arrival of 16 kB (16,000 B), over tcp + throughput with messages of 16 kB (16,000 B), over tcp"),
    ("top speed with 1 MB messages", "throughput with messages of 1 MB (1,000,000 B), over all paths"),
    ("how fast is 1 MB over tcp", "arrival of 1 MB (1,000,000 B), over tcp"),
    // The size at which bytes begin to cost as much as the start.
    ("when is tcp bandwidth bound instead of latency bound", "the size that reaches half of the most throughput (n1/2), over tcp"),
    ("from which size on is unix bandwidth-bound", "the size that reaches half of the most throughput (n1/2), over unix"),
    ("how many 1 MB images a day", "how many frames of 1 MB (1,000,000 B) in 86,400 s, over all paths"),
    ("how many 1 MB images in a day over tcp", "how many frames of 1 MB (1,000,000 B) in 86,400 s, over tcp"),
    ("how many 1 KB messages an hour over tcp", "how many messages of 1 kB (1,000 B) in 3,600 s, over tcp"),
    ("how long does 1 MB take over tcp", "arrival of 1 MB (1,000,000 B), over tcp"),
    ("does 1 MB take over 1 ms over tcp", "whether 1 MB (1,000,000 B) takes longer than 1.00 ms, over tcp"),
    ("do all paths deliver 64 B within 50 us", "whether 64 B arrives within 50.0 us, over all paths"),
];
