/* Receiving: a tagged message, bytes of a stream, or an active message. */
#ifndef PIPEGAUGE_UCX_MESSAGES_H
#define PIPEGAUGE_UCX_MESSAGES_H

#include "arrivals.h"
#include "sending.h"

/* A receive that has begun. */
struct incoming {
    ucs_status_ptr_t request;
    /* Where a stream's library writes how much came. */
    size_t len;
};

static inline void start_tag(pipegauge_link *link, void *into, size_t len, struct incoming *in)
{
    /* With a request in any case: libucp 1.13 does not tell the length of a message that was here already without one. */
    static const ucp_request_param_t with_request = {.op_attr_mask = UCP_OP_ATTR_FLAG_NO_IMM_CMPL};
    in->request = ucp_tag_recv_nbx(link->worker, into, len, TAG, UINT64_MAX, &with_request);
}

static int finish_tag(pipegauge_link *link, size_t len, struct incoming *in, error *e)
{
    struct wait wait = {0, 0, 0};
    ucp_tag_recv_info_t info;
    ucs_status_t status;
    if (UCS_PTR_IS_ERR(in->request))
        return failed_in_ucx(e, "receiving", UCS_PTR_STATUS(in->request));
    while ((status = ucp_tag_recv_request_test(in->request, &info)) == UCS_INPROGRESS) {
        const int code = progressed(link, &wait, e);
        if (code != PIPEGAUGE_OK) {
            abandon(link, in->request);
            return code;
        }
    }
    ucp_request_free(in->request);
    return status == UCS_OK ? of_length(info.length, len, e) : failed_in_ucx(e, "receiving", status);
}

/* Takes of the bytes that ready() found; how many. */
static size_t take_held(pipegauge_link *link, char *into, size_t len)
{
    if (!link->held)
        return 0;
    const size_t left = link->held_len - link->held_used, n = left < len ? left : len;
    memcpy(into, link->held + link->held_used, n);
    link->held_used += n;
    if (n == left) {
        ucp_stream_data_release(link->endpoint, link->held);
        link->held = NULL;
    }
    return n;
}

static inline void start_stream(pipegauge_link *link, char *into, size_t len, struct incoming *in)
{
    const ucp_request_param_t whole = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_STREAM_RECV_FLAG_WAITALL};
    const size_t have = take_held(link, into, len);
    in->len = len;
    in->request = have == len ? NULL : ucp_stream_recv_nbx(link->endpoint, into + have, len - have, &in->len, &whole);
}

static inline void start_receiving(pipegauge_link *link, void *into, size_t len, struct incoming *in)
{
    if (link->wanted.op == OP_TAG)
        start_tag(link, into, len, in);
    else if (link->wanted.op == OP_STREAM)
        start_stream(link, into, len, in);
    else
        start_am(link, into, len);
}

static inline int finish_receiving(pipegauge_link *link, void *into, size_t len, struct incoming *in, error *e)
{
    if (link->wanted.op == OP_TAG)
        return finish_tag(link, len, in, e);
    if (link->wanted.op == OP_STREAM)
        return finished(link, in->request, "receiving", e);
    return finish_am(link, into, len, e);
}

static int receive_message(pipegauge_link *link, void *message, size_t len, error *e)
{
    struct incoming in = {NULL, 0};
    start_receiving(link, message, len, &in);
    return finish_receiving(link, message, len, &in, e);
}

/* Takes back a receive whose send has failed. */
static void stop_receiving(pipegauge_link *link, struct incoming *in)
{
    link->into = NULL;
    if (in->request != NULL && !UCS_PTR_IS_ERR(in->request))
        abandon(link, in->request);
}

static int exchange(pipegauge_link *link, const void *out, size_t out_len, void *into, size_t into_len, error *e)
{
    struct incoming in = {NULL, 0};
    start_receiving(link, into, into_len, &in);
    const ucs_status_ptr_t sent = start_sending(link, out, out_len);
    int code = PIPEGAUGE_OK;
    if (link->wanted.op == OP_AM) {
        /* A large one is asked for only here: the other side's send may wait for it. */
        code = finish_receiving(link, into, into_len, &in, e);
        if (code == PIPEGAUGE_OK)
            return finished(link, sent, "sending", e);
        if (sent != NULL && !UCS_PTR_IS_ERR(sent))
            abandon(link, sent);
        return code;
    }
    code = finished(link, sent, "sending", e);
    if (code == PIPEGAUGE_OK)
        return finish_receiving(link, into, into_len, &in, e);
    stop_receiving(link, &in);
    return code;
}

/* Whether a receive would find something by now. */
static int is_there(pipegauge_link *link)
{
    ucp_tag_recv_info_t info;
    if (link->wanted.op == OP_TAG)
        return ucp_tag_probe_nb(link->worker, TAG, UINT64_MAX, 0, &info) != NULL;
    if (link->wanted.op == OP_AM)
        return link->first != NULL;
    if (!link->held) {
        const ucs_status_ptr_t data = ucp_stream_recv_data_nb(link->endpoint, &link->held_len);
        link->held = UCS_PTR_IS_ERR(data) ? NULL : data;
        link->held_used = 0;
    }
    return link->held != NULL;
}

static int ready(pipegauge_link *link, double seconds, int *is, error *e)
{
    const double until = now() + seconds;
    struct wait wait = {0, 0, 0};
    (void)e;
    for (;;) {
        const int code = progressed(link, &wait, e);
        /* A receive finds that the peer is gone. */
        *is = code == PIPEGAUGE_CLOSED || is_there(link);
        if (*is || now() >= until)
            return PIPEGAUGE_OK;
        if (code == PIPEGAUGE_INTERRUPTED)
            return code;
    }
}

#endif
