//! A carrier between members of one host and user: datagrams through shared memory, without a call of the kernel as long as the receiver is awake.
//!
//! Each pair of members has a queue in each direction, made by its sender as it has the first datagram: a ring of bytes (`am::ring`), in a file without a name that nobody can shrink. An address is the
//! name of a socket in the abstract namespace: it belongs to one process of this network namespace, as a UDP port does, and is free at once however that process ends; nothing has a place in the file system. A sender
//! connects there and hands the file over; the connection stays open. Its hang-up says that the other end has gone, and a byte through it wakes a receiver that sleeps.
//!
//! What the kernel says of the process at the other end is its user: members talk to no other user's. A process of the same user may be hostile all the same: what it writes into a queue, or at an address, costs datagrams
//! at worst, and its queue.
//!
//! As over UDP, datagrams may be lost: where a queue is full, or nobody is there.
//!
//! | file | job |
//! |---|---|
//! | `meet` | addresses, whose process the other is, the greeting |
//! | `queue` | datagrams into a ring and out of it |
//! | `mailbox` | all queues of a member, and waiting for all of them |

mod mailbox;
mod meet;
mod queue;
#[cfg(test)]
mod replays;
#[cfg(test)]
mod tests;

pub(crate) use mailbox::Mailbox;
