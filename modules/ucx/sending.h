/* Sending and posting. */
#ifndef PIPEGAUGE_UCX_SENDING_H
#define PIPEGAUGE_UCX_SENDING_H

#include "calls.h"

static ucs_status_ptr_t start_behind(pipegauge_link *link)
{
    static const char nothing;
    return ucp_am_send_nbx(link->endpoint, BEHIND, NULL, 0, &nothing, 1, &plain);
}

static inline ucs_status_ptr_t start_sending(pipegauge_link *link, const void *message, size_t len)
{
    switch (link->wanted.op) {
    case OP_TAG:
        return ucp_tag_send_nbx(link->endpoint, message, len, TAG, &plain);
    case OP_STREAM:
        return ucp_stream_send_nbx(link->endpoint, message, len, &plain);
    default:
        return ucp_am_send_nbx(link->endpoint, MESSAGE, NULL, 0, message, len, &plain);
    }
}

static int send_message(pipegauge_link *link, const void *message, size_t len, error *e)
{
    return finished(link, start_sending(link, message, len), "sending", e);
}

/* A send is done once the library has the message, of which it may have the last kilobytes still. ucp_ep_flush_nbx() waits for calls of the
 * peer, which makes none once it has all that it waits for. So a message follows that nobody receives: the library takes it when all before
 * it has left. */
static int flush(pipegauge_link *link, error *e)
{
    return link->in_memory ? PIPEGAUGE_OK : finished(link, start_behind(link), "flushing", e);
}

static int post(pipegauge_link *link, const void *message, size_t len, error *e)
{
    const int code = room_for_post(&link->posts, e);
    if (code != PIPEGAUGE_OK)
        return code;
    const ucs_status_ptr_t request = start_sending(link, message, len);
    if (UCS_PTR_IS_ERR(request))
        return failed_in_ucx(e, "posting", UCS_PTR_STATUS(request));
    add_post(&link->posts, request);
    return PIPEGAUGE_OK;
}

static int count_done(pipegauge_link *link, error *e)
{
    while (link->posts.done < link->posts.begun) {
        const ucs_status_ptr_t one = oldest_post(&link->posts);
        const ucs_status_t status = one == NULL ? UCS_OK : ucp_request_check_status(one);
        if (status == UCS_INPROGRESS)
            break;
        if (one != NULL)
            ucp_request_free(one);
        link->posts.done++;
        if (status != UCS_OK)
            return failed_in_ucx(e, "sending what was posted", status);
    }
    return PIPEGAUGE_OK;
}

#endif
