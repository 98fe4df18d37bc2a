//! Active Messages between processes of one host.
//!
//! A message names a handler at its receiver and carries a few arguments and a payload; when it arrives, the handler runs and takes it
//! out of the network (von Eicken, Culler, Goldstein and Schauser, ISCA 1992). It is the layer below Fast Sockets (Rodrigues,
//! Anderson and Culler, USENIX 1997), here over lock-free rings in shared memory.
//!
//! ```
//! use am::{Endpoint, Handlers, Listener, Options};
//!
//! let listener = Listener::bind(&format!("doc-{}", std::process::id()), Options::default())?;
//! # let name = format!("doc-{}", std::process::id());
//! // Another process, in earnest: here a thread.
//! let server = std::thread::spawn(move || -> Result<(), am::Error> {
//!     let handlers = Handlers::new().on_request(0, |seen: &mut u64, message, reply| {
//!         *seen += 1;
//!         let sum = message.arguments().iter().sum();
//!         reply.send(0, &[sum], &message.payload().to_vec()).expect("a request's payload fits into a reply");
//!     });
//!     let mut endpoint = listener.accept(handlers)?;
//!     let mut seen = 0;
//!     while seen == 0 {
//!         endpoint.wait(&mut seen, None)?;
//!     }
//!     Ok(())
//! });
//!
//! let handlers = Handlers::new().on_reply(0, |answer: &mut Option<(u64, Vec<u8>)>, message| {
//!     *answer = Some((message.argument(0), message.payload().to_vec()));
//! });
//! let mut endpoint = Endpoint::connect(&name, handlers, Options::default())?;
//! let mut answer = None;
//! endpoint.request(&mut answer, 0, &[1, 2, 3], b"hello")?;
//! while answer.is_none() {
//!     endpoint.wait(&mut answer, None)?;
//! }
//! assert_eq!(answer, Some((6, b"hello".to_vec())));
//! server.join().unwrap()?;
//! # Ok::<(), am::Error>(())
//! ```
//!
//! # What holds
//!
//! - **Three sizes.** A *short* message has arguments only (eight words); a *medium* one a payload that is copied through the ring; a
//!   *bulk* one a payload that the sender writes straight into a region that the receiver registered in the shared memory.
//! - **Order.** Requests of a side arrive in their order, and so do replies. Between requests and replies there is none.
//! - **Nothing is dropped.** A full ring makes the sender wait, or says so.
//! - **No deadlock.** A request's handler may send one reply, a reply's handler nothing, and a request is handled only when there is
//!   room for its reply. Who waits for room handles what arrives.
//! - **The peer may be hostile.** What it writes into shared memory ends the connection with an error at worst: never a read or write
//!   out of bounds, never a hang beyond the patience. It must be a process of the same user all the same.
//! - **Nothing is left behind.** Memory and names have no place in the file system and go with the last process.
//!
//! # Map
//!
//! | module | job |
//! |---|---|
//! | `endpoint` | what a user calls: requests, replies, polling, regions |
//! | `handlers`, `message`, `reply`, `region` | what a handler is, gets and may do |
//! | `port` | an end without handlers: waiting, whether the peer is there |
//! | `channel` | records into a ring and out of it |
//! | `record` | what a message looks like; pure |
//! | [`posting`] | messages into buffers that the receiver posted |
//! | `region_map` | which memory is registered; pure |
//! | [`ring`] | a byte stream through shared memory; pure; what fastsock and strata's queues are made of, too |
//! | [`bell`], `futex` | sleeping without losing a wake-up |
//! | [`guard`], `wait` | whether to spin; pure, and doing it |
//! | [`memory`] | sealed shared memory |
//! | `fetch` | hints that a line of the cache will be wanted |
//! | `arena` | what lies where in it |
//! | `meet` | names, whose process the peer is, the greeting |
//! | `model` | loom's check of ring, bell and closing |

#[cfg(not(all(test, loom)))]
mod arena;
pub mod bell;
#[cfg(not(all(test, loom)))]
mod channel;
#[cfg(not(all(test, loom)))]
mod endpoint;
#[cfg(not(all(test, loom)))]
mod error;
#[cfg(not(all(test, loom)))]
mod fetch;
#[cfg(not(all(test, loom)))]
mod futex;
pub mod guard;
#[cfg(not(all(test, loom)))]
mod handlers;
#[cfg(not(all(test, loom)))]
mod meet;
#[cfg(not(all(test, loom)))]
pub mod memory;
#[cfg(not(all(test, loom)))]
mod message;
#[cfg(all(test, loom))]
mod model;
#[cfg(not(all(test, loom)))]
mod options;
#[cfg(not(all(test, loom)))]
mod port;
#[cfg(not(all(test, loom)))]
pub mod posting;
#[cfg(not(all(test, loom)))]
mod record;
#[cfg(not(all(test, loom)))]
mod region;
#[cfg(not(all(test, loom)))]
mod region_map;
#[cfg(not(all(test, loom)))]
mod reply;
pub mod ring;
mod sync;
#[cfg(not(all(test, loom)))]
mod wait;

#[cfg(not(all(test, loom)))]
pub use {
    endpoint::{BATCH, Endpoint, Listener},
    error::{Broken, Error},
    futex::Futex,
    handlers::Handlers,
    message::{Message, Payload},
    options::{Options, Wait},
    record::MAX_ARGUMENTS,
    region::{Region, RemoteRegion},
    reply::Reply,
};
