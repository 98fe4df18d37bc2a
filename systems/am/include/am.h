/* am.h: Active Messages between two processes of one host.
 *
 * A message names a handler at its receiver and carries a few arguments and a payload; when it arrives, the handler runs. Requests may be
 * answered by one reply, from their handler; replies may not be answered. What holds of order, flow control and trust is in the
 * README of systems/am. Link with libam_c.so or libam_c.a (the package am-c).
 *
 * Functions that can fail return 0, or a negative enum am_code, or a null pointer, and write a sentence into `error` (which may be null).
 * An endpoint is used by one thread at a time, and not from within its own handlers, but for am_reply() and am_copy().
 */
#ifndef AM_H
#define AM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum am_code {
    /* The peer closed its end. */
    AM_CLOSED = -1,
    /* The peer's process ended without closing. */
    AM_DIED = -2,
    /* The peer took nothing for the whole of the patience. */
    AM_STALLED = -3,
    /* The peer broke the protocol; the connection is closed. */
    AM_PROTOCOL = -4,
    /* What was asked for can't be: too large, too many, outside, no room, a null pointer. */
    AM_REFUSED = -5,
    /* The system refused, or the other process is none that this one talks to. */
    AM_SYSTEM = -6,
    /* am_reply() was called twice for a request. */
    AM_ANSWERED = -7
};

/* How to wait. */
enum am_wait {
    /* Spins briefly where that has paid of late, then sleeps. */
    AM_GUARDED = 0,
    AM_SLEEP = 1,
    /* Never sleeps. */
    AM_SPIN = 2
};

struct am_error {
    char text[256];
};

/* 0 in any member stands for its default. Sizes count at the listener. */
struct am_options {
    /* Bytes of each of the four rings: a power of two from 4096; a medium message carries a quarter. Default 256 KiB. */
    size_t ring_bytes;
    /* Bytes of each side's area for regions: a multiple of 4096. Default 1 MiB. */
    size_t region_bytes;
    enum am_wait wait;
    /* Milliseconds. Default 30000. */
    uint32_t patience_ms;
};

struct am_listener;
struct am_endpoint;
/* The right to answer a request once, for as long as its handler runs. */
struct am_answer;
/* A payload, for as long as its handler runs. */
struct am_payload;

/* A message as its handler sees it. */
struct am_message {
    const uint64_t *arguments;
    size_t argument_count;
    const struct am_payload *payload;
    size_t payload_len;
};

typedef void (*am_on_request)(void *user, const struct am_message *message, struct am_answer *answer);
typedef void (*am_on_reply)(void *user, const struct am_message *message);

/* A handler: `run` is called with `user`. A null `run` ends a table. */
struct am_request_handler {
    uint16_t number;
    am_on_request run;
    void *user;
};
struct am_reply_handler {
    uint16_t number;
    am_on_reply run;
    void *user;
};

/* `options` may be null. */
struct am_listener *am_listen(const char *name, const struct am_options *options, struct am_error *error);
void am_listener_free(struct am_listener *listener);

/* Waits for a process that connects. Either table may be null. */
struct am_endpoint *am_accept(struct am_listener *listener, const struct am_request_handler *requests,
                              const struct am_reply_handler *replies, struct am_error *error);
struct am_endpoint *am_connect(const char *name, const struct am_request_handler *requests,
                               const struct am_reply_handler *replies, const struct am_options *options,
                               struct am_error *error);
/* Closes the connection. */
void am_endpoint_free(struct am_endpoint *endpoint);

/* Most bytes of a payload that goes through the ring. */
size_t am_medium(const struct am_endpoint *endpoint);

/* Sends a request; while there is no room, handles what arrives and waits. */
int am_request(struct am_endpoint *endpoint, uint16_t handler, const uint64_t *arguments, size_t argument_count,
               const void *payload, size_t len, struct am_error *error);
/* Writes `len` bytes at `at` of the peer's region that `token` names, then sends a request that says so. */
int am_put(struct am_endpoint *endpoint, uint64_t token, size_t at, const void *bytes, size_t len, uint16_t handler,
           const uint64_t *arguments, size_t argument_count, struct am_error *error);

/* Handles what has arrived; returns how many messages. */
int am_poll(struct am_endpoint *endpoint, struct am_error *error);
/* The same, but waits for at most `limit_ms` milliseconds (less than 0: for ever) until there is something. 0: nothing came. */
int am_wait_for(struct am_endpoint *endpoint, int limit_ms, struct am_error *error);

/* Answers the request whose handler runs. */
int am_reply(struct am_answer *answer, uint16_t handler, const uint64_t *arguments, size_t argument_count,
             const void *payload, size_t len, struct am_error *error);
/* Copies at most `len` bytes of a payload; returns how many. */
size_t am_copy(const struct am_payload *payload, void *into, size_t len);

/* Registers `len` bytes for the peer to put into. `token` is what the peer passes to am_put(); the return value is where the bytes
 * are in this process. The peer can write there at any time. */
void *am_register(struct am_endpoint *endpoint, size_t len, uint64_t *token, struct am_error *error);
/* Gives a region back; the peer must not put into it any more. 0, or AM_REFUSED if it is not registered. */
int am_release(struct am_endpoint *endpoint, uint64_t token);

/* Receive posting: a connection of its own kind, for messages. The receiver posts buffers, and the sender writes the next messages there,
 * in the order in which they were posted: one copy. A message that finds none, or none large enough, goes through the ring: two. */
struct am_posting;

/* A message. In a posted buffer (`token` says in which; it is not posted any more), where the peer could still write if it broke the
 * rules; or, where `in_place` is 0, in memory that is this side's until the next am_receive(). */
struct am_received {
    const void *bytes;
    size_t len;
    uint64_t token;
    int in_place;
};

/* Bytes that a side has copied. */
struct am_copied {
    uint64_t into_posted;
    uint64_t into_ring;
    uint64_t out_of_ring;
};

/* The listener is am_listen()'s. */
struct am_posting *am_posting_accept(struct am_listener *listener, struct am_error *error);
struct am_posting *am_posting_connect(const char *name, const struct am_options *options, struct am_error *error);
/* Closes the connection. */
void am_posting_free(struct am_posting *posting);

/* A buffer of `len` bytes, of `region_bytes` in all; where it is in this process, and the `token` that names it. */
void *am_posting_buffer(struct am_posting *posting, size_t len, uint64_t *token, struct am_error *error);
/* Gives one back that is not posted. */
int am_posting_release(struct am_posting *posting, uint64_t token);
/* Posts a buffer that is not posted. */
int am_post(struct am_posting *posting, uint64_t token, struct am_error *error);
/* Sends a message: 1 if it went into a posted buffer, 0 if through the ring. */
int am_send(struct am_posting *posting, const void *bytes, size_t len, struct am_error *error);
/* The next message: 1; 0 if none comes within `limit_ms` milliseconds (less than 0: for ever). */
int am_receive(struct am_posting *posting, int limit_ms, struct am_received *received, struct am_error *error);
void am_posting_copied(const struct am_posting *posting, struct am_copied *copied);

#ifdef __cplusplus
}
#endif
#endif
