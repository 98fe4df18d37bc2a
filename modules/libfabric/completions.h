/* Transfers: they are begun, and are done once the completion queue says so. */
#ifndef PIPEGAUGE_LIBFABRIC_COMPLETIONS_H
#define PIPEGAUGE_LIBFABRIC_COMPLETIONS_H

#include "link.h"
#include "progress.h"

static void complete(void *context, int came, size_t len, fi_addr_t from)
{
    struct operation *one = context;
    if (!one)
        return;
    one->done = 1;
    one->came = came;
    one->len = len;
    one->from = from;
}

/* Reads what the library has completed, which lets it move messages, too: how many, or an error. */
static inline ssize_t reap(pipegauge_link *link)
{
    struct fi_cq_msg_entry entries[EVENTS];
    fi_addr_t from[EVENTS];
    ssize_t n = fi_cq_readfrom(link->queue, entries, EVENTS, from);
    if (n == -FI_EAGAIN)
        return 0;
    if (n == -FI_EAVAIL) {
        struct fi_cq_err_entry wrong = {0};
        n = fi_cq_readerr(link->queue, &wrong, 0);
        if (n == 1)
            complete(wrong.op_context, wrong.err, wrong.len, FI_ADDR_NOTAVAIL);
        return n == -FI_EAGAIN ? 0 : n;
    }
    for (ssize_t i = 0; i < n; i++)
        complete(entries[i].op_context, 0, entries[i].len, from[i]);
    return n;
}

/* Lets the library move what it can; what ends the wait, or PIPEGAUGE_OK. */
static inline int progressed(pipegauge_link *link, struct wait *wait, error *e)
{
    const ssize_t n = reap(link);
    return n < 0 ? failed_in_fabric(e, "reading the completion queue", n) : called(&link->peer, wait, n > 0);
}

/* Takes back a transfer that nobody waits for any more. The memory is the caller's again, so that one that can't be ended ends the link. */
static void abandon(pipegauge_link *link, struct operation *one)
{
    fi_cancel(&link->endpoint->fid, one);
    for (int i = 0; i < 1000 && !one->done; i++)
        reap(link);
    link->broken |= !one->done;
}

/* Waits for a transfer that has begun. */
static int finished(pipegauge_link *link, struct operation *one, const char *doing, error *e)
{
    struct wait wait = {0, 0, 0};
    while (!one->done) {
        const int code = progressed(link, &wait, e);
        if (code != PIPEGAUGE_OK) {
            abandon(link, one);
            return code;
        }
    }
    return one->came == 0 ? PIPEGAUGE_OK : failed_in_fabric(e, doing, one->came);
}

/* Begins a transfer with a call that the library may refuse for now: what came of it is PIPEGAUGE_OK once it is begun. */
#define BEGIN(link, one, doing, call, e)                                         \
    ({                                                                           \
        struct wait wait_ = {0, 0, 0};                                           \
        int code_ = (link)->broken ? PIPEGAUGE_CLOSED : PIPEGAUGE_OK;            \
        ssize_t came_ = -FI_EAGAIN;                                              \
        (one)->done = 0;                                                         \
        while (code_ == PIPEGAUGE_OK && (came_ = (call)) == -FI_EAGAIN)          \
            code_ = progressed(link, &wait_, e);                                 \
        if (code_ == PIPEGAUGE_OK && came_ != 0)                                 \
            code_ = failed_in_fabric(e, doing, came_);                           \
        code_;                                                                   \
    })

static inline int start_sending(pipegauge_link *link, struct operation *one, const void *message, size_t len, error *e)
{
    if (link->wanted.op == OP_TAGGED)
        return BEGIN(link, one, "sending", fi_tsend(link->endpoint, message, len, NULL, link->to, TAG, one), e);
    return BEGIN(link, one, "sending", fi_send(link->endpoint, message, len, NULL, link->to, one), e);
}

static inline int start_receiving(pipegauge_link *link, void *into, size_t len, error *e)
{
    struct operation *one = &link->receiving;
    if (link->wanted.op == OP_TAGGED)
        return BEGIN(link, one, "receiving", fi_trecv(link->endpoint, into, len, NULL, link->to, TAG, 0, one), e);
    return BEGIN(link, one, "receiving", fi_recv(link->endpoint, into, len, NULL, FI_ADDR_UNSPEC, one), e);
}

#endif
