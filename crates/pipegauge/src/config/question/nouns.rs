//! What can be counted.

/// What can be counted.
#[rustfmt::skip]
pub const NOUNS: [&str; 126] = [
    "message", "messages", "msgs", "msg", "packet", "packets", "block", "blocks", "frame", "frames", "request",
    "requests", "rpcs", "calls", "queries", "transactions", "transfers", "times", "chunks", "pings", "connections", "pair", "pairs", "process", "processes", "member", "members",
    "ranks",
    "images", "pictures", "sends", "buffers", "records", "events", "operations", "ops", "trips", "datagrams",
    "round", "handshakes", "exchanges", "connects", "writes", "reads", "rpc", "call", "query", "files", "file", "chunk",
    "image", "picture", "send", "buffer", "record", "event", "operation", "datagram", "transfer", "transaction", "page",
    "pages", "object", "objects", "row", "rows", "item", "items", "element", "elements", "piece", "pieces", "part", "parts",
    "segment", "segments", "payload", "payloads", "sample", "samples", "photo", "photos", "document", "documents", "job",
    "jobs", "task", "tasks", "update", "updates", "command", "commands", "burst", "bursts", "entry", "entries", "tuple",
    "tuples", "tile", "tiles", "batch", "batches", "flow", "flows", "threads", "thread", "clients", "client", "users", "user", "snapshots", "answers", "replies", "responses", "neighbours", "neighbors",
    "orders", "order", "trades", "trade", "quotes", "quote", "heartbeats", "heartbeat", "ticks", "tick",
];
