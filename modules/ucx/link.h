/* A UCX link. */
#ifndef PIPEGAUGE_UCX_LINK_H
#define PIPEGAUGE_UCX_LINK_H

#include "meeting.h"
#include "posts.h"
#include "wanted.h"

#include <ucp/api/ucp.h>

/* What both sides tell each other over the meeting's connection. */
enum { WORKER = 1, WIRED, EXPOSED, LEFT };
/* The only tag, and the active messages: those of op=am, and one behind others that nobody receives (flush()). */
enum { TAG = 1, MESSAGE = 0, BEHIND = 1 };

/* An active message that came before it was asked for. */
struct arrival {
    struct arrival *next;
    void *data;
    size_t len;
    /* Who has its content: the sender still (rendezvous), the library, or this module. */
    enum { SENDERS, LIBRARYS, OURS } of;
};

/* A message of this length is none: nothing came yet. */
#define NOTHING SIZE_MAX

struct pipegauge_link {
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h endpoint;
    struct peer peer;
    struct wanted wanted;
    /* A message was given up half-way: nothing more is finished on this link. */
    int broken;
    /* Its messages go through memory alone: what is sent is there at once. */
    int in_memory;

    /* Active messages: those that came, and the memory that waits for the next. */
    struct arrival *first, **last;
    void *into;
    size_t into_len, came;
    /* A stream's bytes that ready() took from the library. */
    char *held;
    size_t held_len, held_used;

    /* What was posted: requests; NULL is one that was done at once. */
    struct posts posts;

    /* What this side exposes, and what it reaches of the peer's. */
    ucp_mem_h memory;
    char *exposed;
    size_t exposed_len;
    ucp_rkey_h key;
    uint64_t reached;
};

/* What a status means, with what was done where it is no loss of the peer. */
static int failed_in_ucx(error *e, const char *doing, ucs_status_t status)
{
    failed_with(e, doing, ucs_status_string(status));
    switch (status) {
    case UCS_ERR_CONNECTION_RESET:
    case UCS_ERR_ENDPOINT_TIMEOUT:
    case UCS_ERR_NOT_CONNECTED:
        return PIPEGAUGE_CLOSED;
    case UCS_ERR_MESSAGE_TRUNCATED:
        return failed(e, PIPEGAUGE_PROTOCOL, "a longer message came than the one that was expected");
    default:
        return PIPEGAUGE_SYSTEM;
    }
}

#endif
