//! The words of questions and what they are about. A word that is in no row here, and is no number, unit or path, is
//! unread, and the reader is told so.

use super::suggest::slip;

/// What a word or phrase is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// The time of a message.
    Latency,
    /// There and back.
    RoundTrip,
    /// "How long", "when", "time".
    HowLong,
    /// "How fast".
    HowFast,
    /// "Speed": of small messages their time, of others what they move.
    Speed,
    /// "How many".
    HowMany,
    /// "How much".
    HowMuch,
    /// "How big".
    HowBig,
    /// Bits a second.
    Throughput,
    /// The largest.
    Most,
    /// The first of all paths.
    Fastest,
    /// "Which path".
    Which,
    /// The last of all paths.
    Slowest,
    /// The size to use.
    WhichSize,
    /// The smallest size of which something holds.
    SmallestSize,
    /// A range comes next: "between 1 KiB and 4 KiB".
    Between,
    /// The rate that was offered.
    Offered,
    /// The saturation point.
    Saturation,
    /// The half-power point.
    HalfPower,
    /// What a byte costs.
    PerByte,
    /// What so many more bytes cost, which come next.
    Further,
    /// What a message costs before its first byte.
    StartUp,
    /// Small messages.
    Control,
    /// Frames.
    Frames,
    /// Requests and their answers.
    Requests,
    /// Messages.
    Messages,
    /// Connections.
    Connections,
    /// Pairs of processes that carry messages at once.
    Pairs,
    /// Processes that carry messages at once.
    Processes,
    /// So many a second, without a number.
    PerSecond,
    /// Whether something can be.
    Can,
    /// At least so fast, at most so long.
    Within,
    /// More than an amount.
    Above,
    /// Its amount may stand before it or behind it: "20 us at most", "20 us or less".
    Bound,
    /// Less than an amount.
    Below,
    /// Faster: less of a time, more of a rate.
    Quicker,
    /// Slower: more of a time, less of a rate.
    Slower,
    /// Turns a yes into a no: "fail to".
    Fails,
    /// What a path keeps up, and not for a moment only.
    Sustained,
    /// The paths that come next are left out.
    Excluding,
    /// Streams, of which a path carries so many.
    Streams,
    /// What was seen.
    Seen,
    /// The least of the times.
    Minimum,
    /// One each period.
    Every,
    /// What one path costs over another.
    Cost,
    /// One path against another.
    Versus,
    /// A path that another would take the place of comes next.
    Instead,
    /// "from", which begins a way or names what another takes the place of.
    From,
    /// A link.
    Link,
    /// What would be.
    Would,
    /// A percentile, thousandths of a percent.
    Percentile(u32),
    /// Messages that hold data.
    Data,
    /// A path comes next.
    Over,
    /// Video.
    Video,
    /// Compressed video.
    Compressed,
    /// Sound, which is sent in packets of any size.
    Audio,
    /// "or".
    Or,
    /// "and".
    And,
    /// Turns the meaning round, which nothing here follows.
    Not,
    /// What a path does while other flows fill it.
    UnderLoad,
    /// How busy a path or a machine is, which no run tells.
    Load,
    /// CPU time.
    Cpu,
    /// CPUs, of which so much a second needs so many.
    Cores,
    /// So many times what comes next.
    Times,
    /// Which share of something.
    PartOf,
    /// Sockets, without a word of which.
    Sockets,
    /// A mean is asked for.
    Average,
    /// The size from which on another path is faster.
    Overtake,
    /// "when", "where": of two paths the size from which on one is faster.
    When,
    /// One path does better than another.
    Beats,
    /// Several transfers at once.
    AtOnce,
    /// "at once": several transfers, or one of all of the data.
    InOneGo,
    /// Messages that go both ways at once.
    BothWays,
    /// One of both directions is asked for.
    Direction,
    /// One direction, and not both.
    OneWay,
    /// Large messages, without their size.
    Large,
    /// What holds the parts of a whole comes next: "100 MB in chunks of 64 KiB".
    In,
    /// What all messages hold together: "1000 messages totalling 1 MB".
    Total,
    /// Many messages as one.
    Batch,
    /// A difference is asked for as a share.
    Percent,
    /// What is not so, and is supposed to be.
    Supposed,
    /// "were", "had".
    Were,
    /// A bound that is asked for: up to which, at most how many.
    Taken(&'static str),
    /// How far whole runs lie apart.
    RunToRun,
    /// Messages that never arrive.
    Loss,
    /// The highest rate at which none is lost.
    Lossless,
    /// Things that each send on their own: sensors, devices.
    Sources,
    /// What another command tells.
    Elsewhere(&'static str),
    /// An operation of all members of a group, by its pattern's name; empty where none is named.
    Operation(&'static str),
    /// Another than the first of what is ranked: "second fastest", "fastest after unix".
    Ranked,
    /// From one message to the next.
    Spacing,
    /// Nothing that decides.
    Filler,
}

/// Longest phrase, words.
pub const LONGEST: usize = 4;

use Topic::*;

/// What tells how unsteady a path is within a run, and how sure its figures are.
pub const JITTER: &str = "pipegauge jitter RUN tells how unsteady a path is";
pub const OPTIONS: &str = "options are set when a path is measured: pipegauge list tcp tells them, and pipegauge run tcp 'tcp:OPTION=VALUE' measures both";
pub const TRUST: &str = "each answer has its 95% interval in brackets, and pipegauge show RUN closes with Trust: how well its points are known, \
                         and how far a repeat may lie";

/// What tells what larger packets bring.
pub const PACKETS: &str = "the size of packets is set where a path is measured (ip link set dev NAME mtu 9000): pipegauge compare RUN RUN holds a run before \
                           against one after; of a message of that size ask 'how long for 9000 bytes?'";

/// What tells how several flows share what they carry.
pub const SHARED: &str = "pipegauge show RUN tells the slowest and the fastest of several flows, and their fairness";

/// What several numbers of flows carry.
pub const FLOWS: &str =
    "what several numbers of flows carry tells a run with them (pipegauge run tcp --pattern stream --flows 1,2,4)";

/// What tells how times and throughput change over the sizes.
pub const MATTER: &str = "the time and throughput of each size tells pipegauge show RUN --points, and the cost of a further byte 'what does one more \
                          byte cost?'";

/// What tells which path to choose.
pub const CHOICE: &str = "ask which path is the fastest ('which path is fastest for 64KiB?'), or hold one against another ('is shm faster than tcp?')";

/// How many times a second something can be.
#[rustfmt::skip]
const OFTEN: &[&str] = &[
    "how often can", "how often could", "how often may", "how frequently can", "how frequently could", "how frequently may", "highest frequency",
    "maximum frequency", "max frequency", "what frequency", "which frequency"
];

#[rustfmt::skip]
const CORES: &[&str] = &[
    "cores", "how many cores", "how many cpus", "of a core", "of one core", "of a cpu", "of one cpu", "percent of a core",
    "percent of a cpu", "percentage of a core", "percentage of a cpu", "one core", "a core", "one cpu", "single core", "per core", "per cpu"
];

/// What is said of one that is at least as good.
const NOT_BEHIND: &[&str] = &["no slower than", "not slower than", "no worse than", "not worse than"];
const NOT_AHEAD: &[&str] =
    &["no faster than", "not faster than", "no better than", "not better than", "not quicker than"];

/// What is said of a message and its answer.
#[rustfmt::skip]
const ANSWERED: &[&str] = &[
    "turnaround", "turnaround time", "turn around time", "answer time", "answer times", "answering time", "time to answer", "question and answer", "for an answer", "for the answer", "for its answer",
    "until the answer", "until an answer", "get the answer", "get an answer", "get its answer", "have the answer", "have an answer", "including the answer",
    "including its answer", "including answer", "with the answer", "with an answer", "go and come back", "come back", "comes back"
];

/// What is said of a path that a message comes back over.
#[rustfmt::skip]
const ANSWERS: &[&str] = &[
    "must answer", "should answer", "has to answer", "must be answered", "answered", "must reply", "has to reply", "should reply", "must respond", "has to respond", "should respond", "replies"
];

/// What is said of a path whose rate is supposed to be another.
#[rustfmt::skip]
const SUPPOSED: &[&str] = &[
    "drops to", "drop to", "dropped to", "rate drops to", "bandwidth drops to", "throughput drops to", "falls to", "fall to", "fell to", "goes down to", "go down to", "went down to", "slows to",
    "slows down to", "reduced to", "throttled to", "throttled at", "if limited to", "were limited to", "is limited to", "capped at", "capped to", "cap of", "a cap of", "limit of",
    "negotiated", "negotiates", "negotiate", "only get", "only gets", "only got", "get only", "gets only", "left with"
];

/// What is said of paths that are left out.
#[rustfmt::skip]
const UNUSED: &[&str] = &[
    "don't use", "do not use", "dont use", "not using", "not use", "can't use", "cannot use", "can not use", "won't use", "not over", "not via", "avoid",
    "avoiding", "don't want", "do not want", "dont want"
];

/// What is said of a path that moves twice as much.
const TWICE_AS_MUCH: &[&str] = &["twice the bandwidth of", "twice the throughput of", "twice as high", "twice as much"];

/// What is said of an amount that is more than a path does.
const TOO_MUCH: &[&str] = &["too much for", "too many for", "too high for", "too fast for", "too much", "too high"];

/// What is said of a path that loses no message.
#[rustfmt::skip]
const LOSES_NONE: &[&str] = &[
    "loses nothing", "lose nothing", "losing nothing", "drops nothing", "drop nothing", "loses no", "lose no", "losing no", "drops no", "drop no",
    "dropping no", "loses none", "lose none", "drops none", "drop none", "not lose", "not lose any", "not drop", "not drop any", "never lose",
    "never loses", "never drop", "never drops", "doesn't lose", "doesn't drop", "don't lose", "don't drop", "does not lose", "does not drop",
    "do not lose", "do not drop", "nothing is lost", "nothing gets lost", "none is lost", "no losses"
];

#[rustfmt::skip]
const TOPICS: &[(Topic, &[&str])] = &[
    (Latency, &[
        "latency", "latencies", "lat", "delay", "delays", "lag", "response time", "response times",
        "reaction time", "delivery time", "transfer time", "transit time", "arrival time",
        "travel time", "rtt/2", "half rtt", "half the rtt", "half round trip", "half a round trip", "half the round trip"
    ]),
    (RoundTrip, &["and receive", "and get", "and get back", "then receive", "then get"]),
    (And, &["and receive", "and get", "and get back", "then receive", "then get"]),
    (RoundTrip, &[
        "round trip", "roundtrip", "round trips", "rtt", "ping", "ping time", "ping times", "there and back", "rtts", "round trip time", "ping pong",
        "response time", "response times", "and back", "back and forth", "reply", "response", "answer to come back",
        "echo", "minimum rtt", "min rtt", "minimum round trip", "minimum round trip time"
    ]),
    (RoundTrip, ANSWERED),
    (RoundTrip, ANSWERS),
    (Latency, ANSWERED),
    (When, &["when", "where", "at what point", "at which point", "from what point", "from which point"]),
    (Overtake, &[
        "overtake", "overtakes", "overtaken", "cross", "crosses", "crossing", "crossover", "cross over", "crosses over", "crossing point",
        "crossover point", "break even", "break even point", "catch up", "catches up", "catch up with", "catches up with", "intersect"
    ]),
    (Beats, &[
        "prefer", "preferable", "prefer to", "beat", "beats", "outperform", "outperforms", "win against", "wins against", "cheaper than", "worth", "worth it", "pay off", "pays off",
        "slow as", "slower"
    ]),
    (Average, &["average", "averaged", "mean", "avg", "on average", "in the mean", "average of", "mean of"]),
    (InOneGo, &["at once", "all at once"]),
    (AtOnce, &[
        "at the same time", "in parallel", "parallel", "parallelly", "simultaneous", "simultaneously", "concurrent",
        "concurrently", "flow", "flows", "threads", "thread", "clients", "client", "users", "user", "several connections", "multiple connections",
        "many connections", "more connections", "side by side", "neighbours", "neighbors"
    ]),
    (Pairs, &["pair", "pairs", "process pair", "process pairs", "pair of processes", "pairs of processes"]),
    (Processes, &["process", "processes", "members", "member", "ranks", "rank", "senders"]),
    (BothWays, &[
        "both directions", "in both directions", "both directions at once", "both ways", "each direction", "in each direction", "full duplex",
        "which direction", "what direction", "which of the directions", "bidirectional", "bidirectionally", "bi directional", "two way", "two ways",
        "duplex", "both directions together", "both ways together"
    ]),
    (OneWay, &["one way", "one direction", "in one direction", "single direction", "half duplex", "simplex", "unidirectional"]),
    (Large, &["large", "big", "huge", "bulk", "larger", "bigger"]),
    (In, &[
        "in", "into", "as", "cut into", "split into", "divided into", "split over", "split across", "split among", "divided over", "divided among",
        "spread over", "spread across", "distributed over", "made of", "made up of", "consisting of"
    ]),
    (Total, &["totalling", "totaling", "totals", "add up to", "adds up to", "adding up to", "sum up to", "sums up to", "a total of", "total size of", "total of"]),
    (Filler, &["totalling", "totaling", "totals", "add up to", "adds up to", "adding up to", "sum up to", "sums up to", "a total of", "total size of", "total of"]),
    (Percent, &["percent faster", "percent slower", "percent difference"]),
    (Versus, &["percent faster", "percent slower", "percent difference"]),
    (PartOf, &["percent overhead", "overhead percent", "overhead percentage", "percentage overhead"]),
    (StartUp, &["percent overhead", "overhead percent", "overhead percentage", "percentage overhead"]),
    (Percent, &["in percent", "in per cent", "as a percentage", "as percentage", "how many percent"]),
    (Direction, &["which direction", "what direction", "which of the directions"]),
    (Supposed, &["if", "what if", "suppose", "supposing", "imagine", "assuming", "assume"]),
    (Were, &["were", "had", "was"]),
    (Taken("a web page is taken as one message: what its server and a browser do besides is no part of that"), &[
        "web page", "webpage", "web pages", "webpages", "website", "web site", "web", "page load"
    ]),
    (HowLong, &[
        "how long", "how soon", "when", "arrive", "arrives", "arrived", "arrival", "delivered", "duration", "time", "times", "takes",
        "take", "taken", "how quickly", "how quick", "long", "need", "needs", "last", "lasts", "wait", "waiting",
        "eta", "how many seconds", "how many milliseconds", "how many ms", "how many microseconds", "how many us",
        "how many nanoseconds", "how many ns", "how many minutes", "how many hours", "seconds", "minutes", "hours",
        "milliseconds", "microseconds", "nanoseconds"
    ]),
    (HowFast, &[
        "how fast", "speed", "performance", "fast is", "how good", "how well", "how slow", "figures", "how does",
        "how is", "how are", "how do", "perform", "performs", "fast"
    ]),
    (Speed, &["speed", "speeds", "top speed", "what speed", "which speed"]),
    (HowFast, &["speeds", "what speed", "which speed"]),
    (HowMany, &["how many", "number of", "how often", "how frequently", "what number of"]),
    (HowMany, OFTEN),
    (PerSecond, OFTEN),
    (HowMuch, &["how much"]),
    (HowBig, &[
        "how big", "how large", "largest", "biggest", "largest message", "largest block", "biggest message",
        "biggest block", "largest size", "biggest size", "how much data", "how much can", "what size fits",
        "max size", "maximum size", "max message size", "maximum message size", "max frame size", "largest frame",
        "biggest frame", "how large a", "how big a", "max message", "max msg", "maximum message", "maximum msg", "maximal message", "max packet", "maximum packet",
        "max block", "maximum block", "max packet size", "maximum packet size", "max block size", "maximum block size", "max msg size", "maximum payload", "max payload", "largest payload", "biggest payload"
    ]),
    (Throughput, &[
        "bandwidth", "bandwidths", "throughput", "throughputs", "data rate", "transfer rate", "transfer speed",
        "data rates", "capacity", "goodput", "bit rate", "bitrate", "transfer rates", "sustained rate", "thruput",
        "bw", "throuput", "throuputs", "througput", "troughput", "thrpt", "tput", "throughout rate", "how efficient", "efficient", "efficiency",
        "rate at", "rate has", "rate arrived", "rate arrives", "arrived rate", "rate received", "received rate", "receive rate"
    ]),
    (Most, &[
        "most", "maximum", "max", "peak", "highest", "greatest", "top", "limit", "ceiling", "at most", "maximal",
        "upper limit", "full", "fully", "fullest", "top speed"
    ]),
    (Fastest, &[
        "fastest", "quickest", "best", "winner", "wins", "win", "lowest", "shortest", "faster", "quicker", "better",
        "smallest", "least", "optimal", "ideal", "lower", "shorter", "higher", "optimum", "minimal", "minimum",
        "min", "beats all", "cheapest", "less"
    ]),
    (Which, &[
        "which path", "whichever", "which transport", "which one", "what path", "what transport", "which way", "which ipc",
        "which mechanism", "which", "which of", "which method", "which channel", "what way", "what should i use",
        "should i use", "what is the way", "way to send", "path", "transport", "way", "should i pick",
        "should i choose", "anything", "any path", "worst path", "worst transport", "worst way", "ranking", "rank", "recommend", "recommended", "choose", "pick"
    ]),
    (HowLong, &["longest round", "slowest round", "shortest round", "fastest round", "quickest round", "longest wait", "slowest cast", "longest cast"]),
    (Slowest, &["longest round", "slowest round", "longest wait", "slowest cast", "longest cast"]),
    (Slowest, &["slowest", "longest", "worst path", "worst transport", "worst way", "has the highest latency", "with the highest latency", "has highest latency"]),
    (Latency, &["has the highest latency", "with the highest latency", "has highest latency"]),
    (Overtake, &["stop being faster", "stops being faster", "lose its lead", "loses its lead"]),
    (Versus, &["lose its lead", "loses its lead"]),
    (Cost, &["add over", "adds over", "add to", "adds to"]),
    (Over, &["add over", "adds over", "add to", "adds to"]),
    (WhichSize, &[
        "which size", "what size", "which message size", "what message size", "which block size", "what block size",
        "size should", "best size", "optimal size", "ideal size", "good size", "best message size",
        "best block size", "optimal message size", "optimal block size", "sweet spot", "what buffer size",
        "which buffer size", "buffer size", "which packet size", "what packet size", "what chunk size",
        "which chunk size", "chunk size", "size to use", "block size", "message size", "packet size",
        "how big should", "how large should", "recommended size", "size is best", "size gives", "which sizes", "message length", "what message length", "which message length", "what length", "which length", "block length",
        "what sizes", "right size", "should i use larger", "should i use bigger", "should i use smaller", "should i send larger", "should i send bigger", "use larger messages", "use bigger messages", "use smaller messages", "size"
    ]),
    (Filler, &["the others", "others", "all others", "all the others", "other paths", "all other paths", "the rest"]),
    (SmallestSize, &[
        "smallest message", "the smallest message", "smallest message size", "smallest block", "smallest packet", "smallest payload",
        "smallest transfer", "minimum message size", "minimum message", "minimal message", "minimum size", "minimal size", "min size", "how small", "min message size", "min message", "min msg size", "min packet size", "minimum packet size",
        "minimal message size", "minimum block size", "min block size", "minimum packet", "min packet",
        "least size", "smallest size", "the smallest size"
    ]),
    (Between, &["between"]),
    (Spacing, &[
        "time between messages", "gap between messages", "interval between messages", "spacing of messages", "time between two messages",
        "gap between two", "between one message and", "one message to the", "time between sends", "interval of messages", "interval between", "intervals between", "spacing between"
    ]),
    (Offered, &["offered", "rate was offered", "was offered", "offered rate", "offered rates"]),
    (Saturation, &[
        "saturate", "saturates", "saturated", "saturation", "saturation point", "saturating", "knee", "plateau",
        "plateaus", "levels off", "level off", "flattens", "flatten", "fill the link", "fills the link",
        "fill the pipe", "fills", "full speed", "peak throughput reached", "stops growing", "stop growing",
        "stops rising", "max out", "maxes out", "maxed out", "stop mattering", "stops mattering", "start mattering", "starts mattering", "start to matter",
        "starts to matter", "begin to matter", "begins to matter"
    ]),
    (HalfPower, &[
        "n1/2", "n 1/2", "half power", "half power point", "n half", "n_half", "n_1/2", "half the bandwidth",
        "half of the bandwidth", "half the throughput", "half of the throughput", "half of the maximum",
        "half the maximum", "half the peak", "half of the peak", "half bandwidth", "half performance",
        "half performance length", "half of the most", "half the most", "half its maximum", "half of its maximum",
        "half max", "half speed", "half its bandwidth", "half of its bandwidth", "half its throughput", "half of its throughput", "half its speed", "half its peak", "bandwidth bound", "latency bound", "throughput bound", "bandwidth limited", "latency limited", "throughput limited",
        "bandwidth dominated", "latency dominated"
    ]),
    (PerByte, &[
        "one more byte", "per byte", "each byte", "extra byte", "another byte", "additional byte", "byte cost",
        "byte costs", "a byte cost", "expensive is a byte", "cheap is a byte", "cost per byte", "cost of a byte", "cost of one byte", "byte add", "byte adds",
        "further byte", "single byte cost", "every byte", "every extra byte", "each extra byte",
        "each further byte", "each additional byte", "cost per megabyte", "cost per kilobyte", "cost per gigabyte",
        "cost per mb", "cost per kb", "cost per gb", "cost per mib", "cost per kib", "cost per gib", "time per byte",
        "time per megabyte", "time per mb", "cost of a megabyte", "costs per megabyte", "price per megabyte", "marginal", "inverse bandwidth", "reciprocal bandwidth", "inverse throughput"
    ]),
    (StartUp, &[
        "startup", "start up", "fixed cost", "fixed costs", "fixed overhead", "per message", "t0", "setup cost",
        "per message overhead", "startup cost", "start up cost", "start up time", "startup time", "per packet",
        "each message", "constant cost", "base cost"
    ]),
    (Control, &[
        "control message", "control messages", "small message", "small messages", "short messages", "short message",
        "tiny messages", "tiny message", "control", "small packets", "small blocks", "little messages",
        "small packet", "small block", "small transfers", "tiny packets", "small ones", "small requests", "small"
    ]),
    (Frames, &["frame", "frames", "fps", "frame rate", "framerate", "pictures", "images", "picture", "image", "jpeg", "jpegs", "photo", "photos", "screenshot", "screenshots"]),
    (Requests, &[
        "request", "requests", "remote procedure call", "remote procedure calls", "rpc", "rpcs", "rps", "qps", "queries", "query", "transactions", "transaction",
        "tps", "calls", "call", "request rate", "round trips", "ping pongs", "requests/sec", "requests/s", "rpc/s", "rpcs/s", "calls/s", "queries/s", "transactions/s", "pings",
        "request/response", "exchanges", "control loop", "control loops"
    ]),
    (Messages, &[
        "message", "messages", "packet", "packets", "block", "blocks", "msgs", "msg", "mps", "pps", "message rate",
        "packet rate", "messages/s", "msg/s", "msgs/s", "messages/sec", "transfers", "sends", "iops", "operations", "ops", "ops/s",
        "events", "chunks", "chunk", "buffers", "records", "files", "pages", "page", "objects", "object", "rows", "row",
        "items", "item", "elements", "element", "pieces", "piece", "parts", "part", "segments", "segment", "samples",
        "sample", "photos", "photo", "documents", "document", "jobs", "job", "tasks", "task", "updates", "update", "commands",
        "command", "bursts", "burst", "entries", "entry", "tuples", "tuple", "tiles", "tile", "batches", "batch", "record",
        "event", "buffer", "operation", "reads", "writes", "mp4", "mkv", "avi", "mov", "iso", "zip", "tarball", "archive", "pdf", "mp3", "wav", "clip", "clips", "dump", "backup", "blob", "blobs", "json", "csv", "protobuf", "protobufs", "attachment", "orders", "order", "trades", "trade", "ticks", "tick", "quotes", "quote", "heartbeats", "heartbeat"
    ]),
    (Connections, &[
        "connection", "connections", "connects", "handshakes", "handshake", "connect", "connection setup", "connection setup time", "connect time", "connection time", "connection rate",
        "connecting"
    ]),
    (PerSecond, &[
        "per second", "a second", "each second", "every second", "per sec", "/s", "/sec", "a sec", "/second",
        "message rate", "packet rate", "fps", "frame rate", "framerate", "rps", "qps", "tps", "mps", "pps", "iops",
        "request rate", "connection rate", "rate", "rates", "messages/sec", "requests/sec", "setup rate", "messages/s", "msg/s", "msgs/s", "requests/s", "rpc/s", "rpcs/s", "calls/s", "queries/s", "transactions/s", "ops/s",
        "hz", "hertz"
    ]),
    (Can, &[
        "can", "could", "possible", "enough", "keep up", "keeps up", "sustain", "sustains", "sustainable", "handle",
        "handles", "carry", "carries", "support", "supports", "reach", "reaches", "reached", "achieve", "achieves", "fit",
        "fits", "able", "manage", "manages", "cope", "feasible", "achievable", "attainable", "doable", "capable", "realistic", "suffice", "suffices",
        "sufficient", "provide", "provides", "fill", "fulfil", "meet", "meets", "saturate", "saturates", "max out",
        "keep pace", "faster than", "at least", "deliver", "delivers", "is there room", "do", "does", "will",
        "sustained", "hit", "fast enough", "quick enough", "gives me", "give me", "gets me"
    ]),
    (Within, &[
        "within", "in under", "under", "below", "at least", "less than", "no more than", "faster than", "more than",
        "in less than", "above", "over than", "slower than", "at most", "up to", "exceed", "exceeds", "beyond",
        "in time", "deadline", "deadlines", "time limit", "by", "longer than", "greater than", "higher than", "bigger than", "larger than", "lower than",
        "shorter than", "smaller than", "quicker than", "fail", "fails", "failing", "fall short", "falls short",
        "fall short of", "falls short of", "short of", "miss", "misses", "too slow", "too long", "no less than",
        "no longer than", "no slower than", "no faster than", "not more than", "not less than", 
        "better than", "worse than", "insufficient", "not enough", "impossible", "infeasible",
        "not possible", "unable", "unable to", "incapable", "incapable of", "out of reach", "beyond reach", "unreachable",
        "unattainable", "unachievable", "unrealistic", "unfeasible", "unsustainable", "in more than", "in at most", "take over", "takes over",
        "at minimum", "at a minimum", "no higher than", "no lower than", "late", "later than", "arrive after", "arrives after", "come after", "comes after"
    ]),
    (Within, &[
        "or more", "and more", "or longer", "or above", "or higher", "or greater", "or less", "or below", "or under",
        "or fewer", "or lower", "or shorter", "or faster", "or quicker", "or better", "or slower", "or worse", "fewer than", "in fewer than",
        "too short", "too little", "too tight"
    ]),
    (Above, &[
        "at least", "more than", "above", "over than", "exceed", "exceeds", "beyond", "longer than", "greater than",
        "higher than", "bigger than", "larger than", "no less than", "not less than", "too long", "in more than",
        "take over", "takes over", "at minimum", "at a minimum", "no lower than", "or more", "and more", "or longer",
        "or above", "or higher", "or greater", "later than", "arrive after", "arrives after", "come after", "comes after"
    ]),
    (Below, &[
        "within", "in under", "under", "below", "less than", "no more than", "in less than", "at most", "in at most",
        "lower than", "shorter than", "smaller than", "no longer than", "not more than", "in time", "no higher than",
        "or less", "or below", "or under", "or fewer", "or lower", "or shorter", "fewer than", "in fewer than"
    ]),
    (Quicker, &["faster than", "quicker than", "better than", "no slower than", "or faster", "or quicker", "or better"]),
    (Slower, &["slower than", "worse than", "no faster than", "too slow", "or slower", "or worse"]),
    (Bound, &[
        "at least", "at most", "in at most", "at minimum", "at a minimum", "in time", "or more", "and more", "or longer",
        "or above", "or higher", "or greater", "or less", "or below", "or under", "or fewer", "or lower", "or shorter",
        "or faster", "or quicker", "or better", "or slower", "or worse", "too slow", "too long", "in under",
        "in less than", "in more than"
    ]),
    (Fails, &[
        "fail", "fails", "failing", "fall short", "falls short", "fall short of", "falls short of", "short of", "miss",
        "misses", "insufficient", "not enough", "impossible", "infeasible", "not possible", "unable", "unable to", "incapable",
        "incapable of", "out of reach", "beyond reach", "unreachable", "unattainable", "unachievable", "unrealistic",
        "unfeasible", "unsustainable", "late", "too short", "too little", "too tight"
    ]),
    (Sustained, &[
        "sustain", "sustains", "sustained", "sustainable", "sustainably", "keep up", "keeps up", "kept up",
        "keep pace", "sustained rate", "steady state", "continuous", "continuously", "in the long run", "indefinitely",
        "over time", "long term", "keep it up", "keep this up"
    ]),
    (Excluding, &[
        "except", "except for", "excluding", "without", "apart from", "aside from", "other than", "besides", "but",
        "but not", "save", "save for", "non", "ignoring", "leaving out", "leave out", "barring", "not counting",
        "with the exception of", "other paths than", "other transports than", "anything but", "all but",
        "everything but", "excepting", "that isn't", "which isn't", "that aren't", "that is not", "exclude", "excludes", "omitting"
    ]),
    (Excluding, UNUSED),
    (Not, UNUSED),
    (Streams, &["streams", "cameras", "feeds", "videos", "voice calls", "phone calls", "video calls"]),
    (Seen, &["seen", "saw", "you saw", "observed", "ever seen", "measured"]),
    (Minimum, &[
        "minimum time", "min time", "shortest time", "shortest transfer", "least time", "fastest time", "quickest time", "best time", "minimum transfer time",
        "minimum of the times", "minimum of", "min of", "best case", "best case latency", "minimum latency", "min latency", "minimum delay",
        "latency minimum", "minimum of the latency", "latency min", "shortest one way time", "fastest one way time", "quickest one way time",
        "best one way time", "minimum one way time", "shortest way", "shortest round", "fastest round", "quickest round",
        "minimum rtt", "min rtt", "minimum round trip", "minimum round trip time"
    ]),
    (Minimum, &["at best", "at the best", "at the very best", "in the best case"]),
    (Percentile(100_000), &["at worst", "at the worst", "at the very worst"]),
    (Every, &["every", "each"]),
    (Cost, &[
        "cost", "costs", "costing", "overhead", "overheads", "expensive", "penalty", "price", "worth", "worth it",
        "worthwhile", "lose", "loses", "gain", "gains", "benefit", "benefits", "advantage", "pay", "pays", "tax",
        "speedup", "speed up", "improvement", "saving", "savings", "save", "saves", "extra", "additional",
        "worth using", "pay off", "win over", "drawback", "slowdown", "lose anything", "loses anything"
    ]),
    (Versus, &[
        "vs", "versus", "vs.", "compared", "compare", "compares", "comparison", "than", "against", "difference",
        "differ", "differs", "differences", "prefer", "preferable", "prefer to", "beat", "beats", "outperform", "outperforms", "faster than",
        "slower than", "better than", "worse than", "between", "slower", "worse", "longer", "relative", "as fast as", "ratio",
        "by what factor", "what factor", "factor", "slow as", "slow", "overtaken", "crossing", "cross over", "crosses over", "crossing point", "crossover point",
        "break even point", "catch up", "catches up", "catch up with", "catches up with", "intersect", "wins against", "crosses",
        "overtake", "overtakes", "cross", "crossover", "break even", "lead", "win against", "quicker than",
        "cheaper than", "as good as", "cheaper", "longer than", "as long as", "as slow as", "shorter than", "twice as", "twice that of", "half that of", "equally", "equally fast", "equally slow",
        "half as", "half the time", "half the time of", "half the latency of", "twice the time of", "twice the latency of"
    ]),
    (Instead, &[
        "instead of", "rather than", "compared to", "compared with", "relative to", "in place of", "replacement for", "substitute for", "alternative to", "replace",
        "replacing", "switching from", "switch from", "moving from", "move from", "migrate from", "migrating from",
        "changing from", "change from", "going from", "go from", "upgrade from"
    ]),
    (Would, SUPPOSED),
    (From, &["from"]),
    (Link, &[
        "link", "line", "wire", "network", "nic", "card", "cable", "lan", "interface", "ethernet", "gbe", "uplink"
    ]),
    (Would, &["would", "if", "bring", "brings", "upgrade", "what if", "suppose", "imagine", "were", "had"]),
    (Percentile(50_000), &["median", "typical", "typically", "p50"]),
    (Percentile(99_000), &["tail", "tail latency", "tail latencies", "p99"]),
    (Percentile(100_000), &[
        "worst case", "worst", "how bad", "slowest case", "maximum latency", "max latency", "longest latency",
        "highest latency", "worst latency", "peak latency", "maximum delay", "max delay", "max time", "maximum time", "longest time", "maximum of the time",
        "maximum of the times", "max of the time", "longest of the times"
    ]),
    (Data, &["data", "bytes", "byte", "kilobytes", "megabytes", "gigabytes"]),
    (Over, &["over", "via", "through", "using", "across", "use"]),
    (Video, &[
        "video", "videos", "uncompressed", "raw video", "display", "screen", "monitor", "camera", "resolution",
        "pixels", "pixel", "footage", "movie", "stream video", "desktop", "uncompressed video"
    ]),
    (Compressed, &[
        "compressed", "h264", "h265", "hevc", "av1", "mpeg", "mjpeg", "netflix", "youtube", "vp9"
    ]),
    (Audio, &["audio", "sound", "voice", "voip", "stereo", "speech", "music"]),
    (Or, &["or", "oder"]),
    (And, &["and", "plus", "&", "+", "as well as"]),
    (Not, &[
        "not", "except", "except for", "excluding", "without", "apart from", "aside from", "other than", "besides",
        "never", "nor", "neither", "unless", "ignoring", "but not", "minus", "negative", "no", "non", "cannot", "excluded", "omitted", "left out",
        "exceeded", "too many", "too low", "that isn't", "which isn't", "that aren't", "that is not",
        "leaving out", "leave out", "barring", "not counting", "with the exception of", "other paths than",
        "other transports than", "anything but", "all but", "everything but", "excepting", "exclude", "excludes",
        "omitting", "save for", "cant", "wont", "dont", "doesnt", "didnt", "isnt", "arent", "wasnt", "werent", "couldnt",
        "wouldnt", "shouldnt", "hasnt", "havent", "hadnt", "none", "nobody", "nothing", "nowhere", "hardly", "barely", "scarcely",
        "rarely", "seldom", "lack", "lacks", "lacking", "refuse", "refuses", "rather not"
    ]),
    (UnderLoad, &[
        "under load", "under a load", "under full load", "under heavy load", "when loaded", "while loaded", "if loaded", "loaded latency",
        "load latency", "working latency", "with load", "with a load", "bufferbloat", "buffer bloat", "idle and loaded", "idle and under load",
        "while the link is", "while the line is", "while the network is", "while the path is", "while saturated", "while downloading", "while uploading", "while streaming", "during a download",
        "during downloads", "during an upload", "during uploads", "during a transfer", "during a bulk transfer", "during a backup",
        "under cross traffic", "with cross traffic", "under background traffic", "with background traffic"
    ]),
    (Load, &[
        "load", "loads", "loaded", "utilisation", "utilization", "utilised", "utilized", "busy", "contention", "contended",
        "congestion", "congested", "overloaded", "overload", "background traffic", "cross traffic", "idle", "idling", "how loaded", "how busy"
    ]),
    (Cpu, &[
        "cpu", "cpus", "cpu time", "cpu times", "cpu cost", "cpu costs", "cpu load", "cpu usage", "cpu use", "cpu overhead",
        "cpu utilisation", "cpu utilization", "cpu seconds", "cycles", "cycle", "instructions", "clock cycles", "cpu cycles", "processor", "processor time", "cpu busy"
    ]),
    (PartOf, &[
        "what %", "which %", "how many %", "what % of", "percent of the time", "what percentage", "what percent", "what share", "what fraction", "what proportion", "which percentage", "which share",
        "which fraction", "how full", "how close", "how near", "odds", "chance", "chances", "probability", "likelihood", "how likely", "how probable", "how much of the", "how efficient", "efficient", "efficiency"
    ]),
    (Sockets, &["socket", "sockets"]),
    (Filler, &["or not", "how far do", "group", "round", "download", "downloads", "downloading", "downloaded", "upload", "uploads", "uploading", "uploaded", "fetch", "fetching"]),
    (Elsewhere(JITTER), &[
        "jitter", "jittery", "unsteady", "unstable", "instability", "variance", "variation", "outliers", "outlier", "stable", "stability",
        "deviation", "consistent", "spread", "drift", "noise", "noisy", "standard deviation", "vary", "varies", "variable", "variability",
        "fluctuate", "fluctuates", "fluctuation", "fluctuations", "steady"
    ]),
    (Elsewhere(TRUST), &[
        "how sure", "sure", "certain", "certainty", "uncertain", "uncertainty", "trust", "trustworthy", "believe", "believable", "accurate", "accuracy",
        "how precise", "confident", "confidence", "confidence interval", "confidence intervals", "error bar", "error bars", "margin of error",
        "run reliable", "this run reliable", "these runs reliable", "runs reliable", "reliable run", "measurement reliable", "measurements reliable", "result reliable", "results reliable", "figures reliable", "numbers reliable", "data reliable",
        "how reliable are these", "reliable are these", "reliable are these numbers", "reliable are those", "reliable are the numbers", "reliable are the figures", "reliable are your", "reliable is this run",
        "reliable is this measurement", "reliable is this result", "reliable is the measurement",
        "reliable measurement", "reliable measurements", "reliable results", "reliable are the results", "reliable are these results", "statistics",
        "how many samples", "sample size", "how many rounds", "how many trials", "run long enough", "measured long enough"
    ]),
    (Batch, &[
        "should i batch", "should we batch", "batch small", "batching", "aggregate", "aggregating", "aggregation", "coalesce", "coalescing", "bundle", "bundling",
        "combine messages", "merge messages"
    ]),
    (Elsewhere(MATTER), &[
        "slower with size", "faster with size", "longer with size", "increase with size", "increases with size", "rise with size", "rises with size",
        "bigger better", "larger better", "bigger faster", "larger faster", "smaller better", "smaller faster", "grow with", "grows with", "grow", "grows", "growth", "depend on", "depends on", "depend", "depends", "matter", "matters", "as a function of", "scale with", "scales with"
    ]),
    (Operation("allreduce"), &["allreduce", "all reduce", "allreduces"]),
    (Operation("all-to-all"), &["alltoall", "all to all"]),
    (Operation("allgather"), &["allgather", "all gather"]),
    (Operation("broadcast"), &["bcast", "broadcast", "broadcasts"]),
    (Operation("barrier"), &["barrier", "barriers"]),
    (Operation(""), &["collective", "collectives", "collective operation", "collective operations"]),
    (Elsewhere("a run times messages between two, of several connections at once (--flows, --pairs), or in a group, and of collective operations barrier, broadcast, allreduce, allgather and all-to-all"), &[
        "gather", "scatter", "halo", "reduce scatter", "stencil"
    ]),
    (Cpu, CORES),
    (Cores, CORES),
    (Filler, &["core to core"]),
    (Cpu, &["cpu percent", "cpu percentage", "percent cpu", "percent of cpu", "cpu share", "cpu needed"]),
    (Times, &[
        "twice as", "twice that of", "half that of", "half as", "half the time", "half the time of", "half the latency of",
        "twice the time of", "twice the latency of"
    ]),
    (Throughput, &["twice the bandwidth of", "twice the throughput of"]),
    (Times, TWICE_AS_MUCH),
    (Versus, TWICE_AS_MUCH),
    (Versus, &["higher than that of", "greater than that of", "more than that of", "larger than that of", "lower than that of", "less than that of", "divided by", "ratio of", "held against", "one is faster"]),
    (Overtake, &["one is faster"]),
    (Within, NOT_BEHIND),
    (Quicker, NOT_BEHIND),
    (Versus, NOT_BEHIND),
    (Within, NOT_AHEAD),
    (Slower, NOT_AHEAD),
    (Versus, NOT_AHEAD),
    (Percent, &["how much percent"]),
    (Within, &["more than can be"]),
    (Can, &["more than can be"]),
    (Fails, &["more than can be"]),
    (Within, TOO_MUCH),
    (Fails, TOO_MUCH),
    (RunToRun, &["runs lie apart"]),
    (Can, &["can be carried", "be carried", "carried"]),
    (StartUp, &["before its first byte", "before the first byte"]),
    (Filler, &["whether", "path by path", "the smallest message", "smallest message", "the smallest size", "smallest size", "of the smallest size"]),
    (Loss, &["guarantees delivery", "guarantee delivery", "guaranteed delivery", "delivers everything", "delivers all", "deliver all", "rely on"]),
    (Loss, LOSES_NONE),
    (Lossless, LOSES_NONE),
    (Loss, &[
        "loses less", "lose less", "loses least", "lose least", "loses the least", "lose the least", "loses fewest", "loses the fewest",
        "loses fewer", "loses most", "lose most", "loses the most", "lose the most", "loses more", "lose more", "loss free", "lossless"
    ]),
    (Fastest, &["loses less", "lose less", "loses least", "lose least", "loses the least", "lose the least", "loses fewest", "loses the fewest", "loses fewer", "fewest", "fewer"]),
    (Slowest, &["loses most", "lose most", "loses the most", "lose the most", "loses more", "lose more"]),
    (RunToRun, &[
        "run to run", "from run to run", "between runs", "from one run to", "one run to the", "across runs", "runs apart", "runs differ", "runs vary", "repeatable",
        "repeatability", "reproducible", "reproducibility", "next run", "another run", "second run", "a repeat", "repeat it", "if i repeat", "whole runs",
        "different runs", "several runs"
    ]),
    (Loss, &[
        "loss", "lost", "losses", "lose packets", "loses packets", "losing packets", "dropped", "drops", "packet loss", "lossy", "reliable", "drop",
        "loses messages", "lose messages", "losing messages", "messages does lose", "lose anything", "loses anything", "lose data",
        "loses data", "losing data", "lose datagrams", "loses datagrams", "loss rate", "drop rate", "get lost", "gets lost", "go missing", "goes missing",
        "go lost", "packets lost", "messages lost", "losing a message", "lose a message", "losing one", "losing a packet", "lose a packet"
    ]),
    (Lossless, &[
        "without loss", "without losses", "without any loss", "without losing", "without losing any", "without packet loss", "without drops", "without any drops", "without packet drops", "lossless", "losslessly",
        "loss free", "zero loss", "no loss", "no packet loss", "with no loss", "no losses", "before losses", "before it drops", "before packets drop",
        "before loss begins", "losses begin", "loss begin", "loss begins", "loss start", "losses start", "loss starts", "start losing", "starts losing",
        "start to lose", "starts to lose", "begin to lose", "begins to lose", "drops begin", "start dropping", "starts dropping"
    ]),
    (Sources, &[
        "sensors", "sensor", "devices", "device", "cameras", "feeds", "publishers", "publisher", "producers", "producer", "meters", "probes", "sources",
        "robots", "drones", "vehicles"
    ]),
    (Elsewhere("pipegauge show RUN tells what was lost and reordered, at each rate of a run with several (run udp --pattern stream --rate 10Mbit/s..1Gbit/s)"), &[
        "reordered", "reordering", "out of order"
    ]),
    (Elsewhere("patterns are measured in runs of their own, and pipegauge compare PUT.run.jsonl GET.run.jsonl holds two such runs against each other"), &[
        "put faster than get", "get faster than put", "put slower than get", "get slower than put", "a put faster", "a get faster", "put or get", "get or put",
        "put vs get", "get vs put", "put versus get", "get versus put", "put than get", "get than put", "faster than get", "faster than put",
        "slower than get", "slower than put", "than a get", "than a put", "stream or ping pong", "ping pong or stream", "faster than ping pong",
        "slower than ping pong", "stream vs ping pong", "put over get", "get over put"
    ]),
    (Elsewhere("pipegauge explain RUN moves one knob at a time and tells what is behind a dip"), &[
        "why", "explain", "reason", "because"
    ]),
    (Elsewhere("the second line of pipegauge show RUN says what other programs took of the CPUs meanwhile, and pipegauge doctor what runs now"), &[
        "machine busy", "machine idle", "machine quiet", "host busy", "other programs", "other processes", "was it quiet", "noisy neighbour", "noisy neighbor"
    ]),
    (Elsewhere("pipegauge show RUN names the sizes at which a curve dips or steps, and pipegauge explain RUN moves one knob at a time and tells what is behind a dip"), &[
        "dip", "dips", "throughput drop", "throughput drops", "bandwidth drop", "bandwidth drops", "rate drop", "rate drops", "performance drop",
        "performance drops", "drop in throughput", "drop in bandwidth", "drops in throughput", "drops in bandwidth", "drop in performance", "step in", "chasm", "cliff", "anomaly", "anomalies", "have a step", "is there a step", "a step in", "where is the step", "any steps", "there steps", "steps in", "have steps", "have a bend", "a bend", "kink", "kinks", "jump", "jumps", "suddenly", "all of a sudden", "abruptly", "collapse", "collapses", "eager", "rendezvous",
        "eager limit", "eager threshold", "which sizes are slow", "what sizes are slow", "sizes are slow", "slow sizes", "sizes slow", "slowest sizes", "bad sizes", "worst sizes"
    ]),
    (Elsewhere("the least that a path moves is what its smallest message moves: ask for a size ('throughput of 64 bytes'), or which path is slowest for one ('which path is slowest for 64KiB?')"), &[
        "lowest throughput", "lowest bandwidth", "minimum throughput", "minimum bandwidth", "min throughput", "min bandwidth", "least throughput", "least bandwidth",
        "smallest throughput", "smallest bandwidth", "worst throughput", "worst bandwidth", "minimal throughput", "minimal bandwidth", "poorest throughput"
    ]),
    (Elsewhere("what a path takes while something else keeps the CPUs busy tells a run that was made meanwhile, and pipegauge compare holds it against this one"), &[
        "cpu is busy", "cpus are busy", "busy cpu", "busy cpus", "busy machine", "busy processor", "processor is busy", "loaded cpu", "loaded machine",
        "cpu is loaded", "machine is loaded", "cpu is idle", "idle cpu"
    ]),
    (Elsewhere("times are told in seconds: the frequency of a clock changes, and so no run tells cycles"), &[
        "in cycles", "in clock cycles", "in cpu cycles", "in instructions", "in clock ticks", "in ticks"
    ]),
    (Elsewhere("pipegauge scale RUN tells what another wire, CPU or memory would make of it"), &[
        "faster cpu", "faster cpus", "better cpu", "quicker cpu", "new cpu", "second cpu", "faster processor", "better processor", "new processor", "faster clock",
        "faster memory", "faster ram", "faster nic", "better nic", "faster network card", "faster switch", "better hardware", "faster hardware", "newer hardware"
    ]),
    (Elsewhere(OPTIONS), &[
        "nodelay", "no delay", "tcp_nodelay", "cork", "nagle", "sockbuf", "sndbuf", "rcvbuf", "zerocopy", "busy polling", "socket buffer", "socket buffers", "send buffer", "receive buffer",
        "larger buffer", "larger buffers", "bigger buffer", "bigger buffers", "smaller buffer", "smaller buffers", "small buffer", "small buffers",
        "buffer matter", "buffers matter"
    ]),
    (Elsewhere("the first of several messages takes what one alone does: ask 'how long for 1 KiB?', and of all 'how long for 10 messages of 1 KiB?'"), &[
        "first of", "the first of", "first message of", "first packet of", "second of", "third of"
    ]),
    (Elsewhere("no run tells how many messages are on their way at once; ask how many go a second: 'how many 1 KB messages per second?'"), &[
        "messages in flight", "are in flight", "packets in flight", "is in flight", "outstanding", "in the air", "bytes in flight", "data in flight"
    ]),
    (Elsewhere("ask tells figures of runs, and no meaning of words: ask for the figure itself ('what is the bandwidth?')"), &[
        "does bandwidth mean", "does latency mean", "does throughput mean", "does rtt mean", "does jitter mean", "does n1/2 mean", "does p99 mean", "does saturation mean",
        "is meant by", "meant by", "you mean by", "definition of", "meaning of"
    ]),
    (Elsewhere("what else takes time beside a transfer was not measured: ask for the transfer alone ('how long for 1 KiB?')"), &[
        "of processing", "processing time", "of processing time", "of compute", "of computation", "think time", "of thinking", "of work per"
    ]),
    (Elsewhere("they are asked for one at a time: 'shortest time of 64 bytes', 'mean of 64 bytes', 'longest time of 64 bytes'"), &[
        "min/avg/max", "min/mean/max", "min/max", "min/max/avg", "min/median/max", "avg/min/max", "min avg max", "min max", "min and max", "max and min", "min/avg", "avg/max", "minimum and maximum",
        "maximum and minimum", "minimum and the maximum", "best and worst", "best and worst case"
    ]),
    (Elsewhere(SHARED), &[
        "fair", "fairness", "fairly", "unfair", "slowest flow", "fastest flow", "slowest connection", "fastest connection", "slowest pair", "each flow", "each connection",
        "per flow", "per connection"
    ]),
    (Elsewhere(FLOWS), &[
        "scale with flows", "scale with connections", "scale with threads", "scale with pairs", "scale with clients", "scales with flows",
        "scales with connections", "scale over flows", "connections to saturate", "connections to fill", "flows to saturate", "flows to fill", "streams to saturate", "streams to fill",
        "connections do i need", "connections do we need", "connections are needed", "connections should i use", "flows do i need", "flows do we need",
        "flows are needed", "flows should i use", "streams do i need", "streams do we need"
    ]),
    (Elsewhere("pipegauge show RUN tells on which machine and with which settings it was measured, and --json all that is known of it"), &[
        "which machine", "what machine", "which computer", "which host", "which kernel", "what kernel", "kernel version", "what cpu was", "which cpu was",
        "what cpu is", "which cpu is", "what cpu model", "which cpu model", "cpu model", "what processor", "which processor", "when was it measured",
        "when was this measured", "how many cpus has"
    ]),
    (Elsewhere("pipegauge loggp RUN... tells these parameters"), &["loggp", "logp", "gap"]),
    (Elsewhere("it is a product of two answers: ask for the latency and the bandwidth"), &[
        "bandwidth delay product", "delay bandwidth product", "bdp"
    ]),
    (Elsewhere("pipegauge compare RUN RUN holds runs against each other"), &[
        "regression", "regressed", "since yesterday", "yesterday", "changed since", "improved"
    ]),
    (Elsewhere("pipegauge show RUN tells what was noticed while it was measured, and --warnings all of it"), &[
        "go wrong", "goes wrong", "went wrong", "anything wrong", "wrong", "warning", "warnings", "errors", "problem", "problems", "failures", "valid"
    ]),
    (Elsewhere(CHOICE), &[
        "best choice", "right choice", "good choice", "best option", "right option", "good option"
    ]),
    (Elsewhere("no run measures this"), &[
        "how much memory does", "memory usage", "memory use", "memory footprint", "energy", "watts", "dollars", "dollar", "euro", "euros", "money", "temperature", "weather",
        "gpu", "disk", "disks", "ssd", "encryption", "security", "secure", "tomorrow"
    ]),
    (Elsewhere(PACKETS), &[
        "jumbo", "jumbo frame", "jumbo frames", "jumboframes", "mtu"
    ]),
    (Filler, &["@", "in theory", "theoretically", "theoretical"]),
    (Filler, &[
        "a bit", "one way", "one at a time", "one another", "one after another", "a time", "at a time", "the time",
        "one after the other", "in a row", "in total", "in all", "at all", "so far",
        "to load", "load a", "load an", "load the", "loading a", "loading an", "tell me if", "know if", "check if", "see if", "say if", "wonder if",
        "find out if", "in one go", "always", "sometimes", "occasionally", "invariably", "guarantees", "every single", "generally", "overall", "into", "stay", "stays", "fit into", "normally", "exact",
        "as fast", "this run", "these runs", "my run", "the run", "the runs", "of all", "all paths", "this path",
        "each path", "every path", "each of", "this machine", "this computer", "my machine", "my computer",
        "this host", "same host", "one process", "another process", "two processes", "between processes",
        "between two processes", "to another process", "the other side", "far side", "the far end", "other end",
        "i need", "i want", "make sure", "to be sure", "be sure that", "nothing but", "none but", "do i need", "worth of", "size of", "sized", "the size of", "there is", "there are",
        "out of", "a lot", "right now", "figure", "promise", "promised", "guarantee", "guaranteed", "assure"
    ]),
    (Filler, &[
        "a", "an", "the", "of", "for", "to", "in", "on", "at", "is", "are", "was", "be", "been", "am", "it", "its",
        "i", "me", "my", "we", "us", "our", "you", "your", "one", "that", "this", "these", "those", "there", "here",
        "what", "what're", "whats", "how", "who", "with", "did", "done", "get", "gets", "got", "have", "has",
        "having", "give", "gives", "given", "tell", "show", "say", "says", "please", "send", "sends", "sending",
        "sent", "transfer", "transferring", "transferred", "transmit", "transmitting", "transmitted", "move",
        "moves", "moving", "moved", "receive", "received", "pass", "passing", "push", "pushing", "pull", "ship",
        "shipping", "copy", "copying", "exchange", "write", "read", "stream", "streaming", "streamed", "go", "goes",
        "going", "come", "comes", "get through", "travel", "should", "shall", "may", "might", "must", "want",
        "like", "about", "around", "roughly", "approximately", "approx", "exactly", "really", "actually", "just",
        "only", "even", "also", "any", "some", "all", "both", "much", "many", "more", "too", "very", "as", "so",
        "then", "now", "per", "ok", "okay", "hi", "hello", "hey", "thanks", "file", "payload", "payloads", "body",
        "sizes", "big", "large", "huge", "value", "amount", "rate of", "needed", "add", "adds", "added", "new", "serve", "serves", "happen", "happens", "sec", "scale", "scales", "help", "helps", "sustainably", "happening", "each way", "measure", "get from", "back",
        "up", "down", "out", "off", "same", "when using", "used", "uses", "expect", "expected", "estimate",
        "estimated", "know", "think", "see", "find", "using a", "today", "actual", "real", "between a", "single",
        "each other", "other", "another", "program", "programs", "app", "application",
        "local", "locally", "localhost", "loopback", "host", "hosts", "side", "sides", "paths", "transports",
        "ipc", "messaging", "channel", "required", "require", "requires", "make", "makes",
        "making", "got to", "let",
        "traffic", "together", "vector", "vectors", "matrix", "array", "arrays", "trouble", "effort", "significant", "significantly", "noticeably", "let's", "lets", "i'm", "i'd", "i've", "im", "you're", "we're", "it'd", "there'd", "what'd", "how'd",
        "if i", "their", "them", "they", "he", "she", "him", "her", "ever", "yet", "still", "well", "quite", "bit",
        "possibly", "maybe", "terms", "case", "cases", "work", "works", "live", "start", "starts", "begin",
        "begins", "point", "whole", "entire", "good", "great", "nice", "become", "becomes", "total", "raw", "plain",
        "simple", "simply", "total time", "usual", "usually", "currently", "current", "available", "question",
        "ask", "asking", "answer", "answers", "quick", "help", "complete", "completed", "finish", "finished",
        "fully", "successive", "sequential", "consecutive", "running", "run", "runs", "running at", "set",
        "likely", "sort", "poll", "polling", "taking", "needing", "kind", "hardware", "numbers", "number", "result", "results",
        "where", "but", "until", "before", "after", "become faster", "once"
    ]),
];

/// Everything that the phrase is about; nothing for a phrase that is not known.
pub fn topics(phrase: &str) -> Vec<Topic> {
    TOPICS.iter().filter(|(_, words)| words.contains(&phrase)).map(|(topic, _)| *topic).collect()
}

/// A word of the table that this one is likely a slip of the pen for.
pub fn meant(word: &str) -> Option<&'static str> {
    let decisive = TOPICS.iter().filter(|(topic, _)| !matches!(topic, Filler | Large | Elsewhere(_)));
    let words = decisive.flat_map(|(_, words)| words.iter().copied()).filter(|w| !w.contains(' '));
    slip(word, words.chain(super::spoken::spoken().flat_map(|(_, names)| names.iter().copied())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_found_and_no_longer_than_is_looked_for() {
        assert_eq!(topics("bandwidth"), [Throughput]);
        assert!(topics("fps").contains(&Frames) && topics("fps").contains(&PerSecond));
        assert_eq!(topics("swallow"), []);
        assert_eq!(meant("bandwith"), Some("bandwidth"));
        for (_, words) in TOPICS {
            assert!(words.iter().all(|w| w.split(' ').count() <= LONGEST && *w == w.to_lowercase()));
        }
    }
}
