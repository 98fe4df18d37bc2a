/* Active messages that came before they were asked for. */
#ifndef PIPEGAUGE_UCX_ARRIVALS_H
#define PIPEGAUGE_UCX_ARRIVALS_H

#include "calls.h"

/* Called by the library, within ucp_worker_progress(), for each active message. */
static ucs_status_t message_came(void *its, const void *header, size_t header_length, void *data, size_t len,
                                 const ucp_am_recv_param_t *param)
{
    pipegauge_link *link = its;
    const int senders = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0, held = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA) != 0;
    (void)header, (void)header_length;
    if (link->into && !senders) {
        if (len == link->into_len)
            memcpy(link->into, data, len);
        link->came = len;
        link->into = NULL;
        return UCS_OK;
    }
    struct arrival *one = malloc(sizeof *one);
    void *copy = senders || held ? data : malloc(len ? len : 1);
    if (!one || !copy) {
        /* The message is lost, and the link with it. */
        link->broken = 1;
        free(one);
        return UCS_OK;
    }
    *one = (struct arrival){NULL, copy, len, senders ? SENDERS : held ? LIBRARYS : OURS};
    if (one->of == OURS)
        memcpy(copy, data, len);
    *link->last = one;
    link->last = &one->next;
    return one->of == OURS ? UCS_OK : UCS_INPROGRESS;
}

/* Takes the first that came, which is of this length, into memory. */
static ucs_status_ptr_t take_arrival(pipegauge_link *link, void *into, size_t len)
{
    struct arrival *one = link->first;
    ucs_status_ptr_t request = NULL;
    if (!(link->first = one->next))
        link->last = &link->first;
    if (one->of == SENDERS && one->len == len) {
        request = ucp_am_recv_data_nbx(link->worker, one->data, into, len, &plain);
    } else {
        if (one->len == len)
            memcpy(into, one->data, len);
        if (one->of == OURS)
            free(one->data);
        else
            ucp_am_data_release(link->worker, one->data);
    }
    free(one);
    return request;
}

static void start_am(pipegauge_link *link, void *into, size_t len)
{
    link->came = NOTHING;
    link->into_len = len;
    /* What came before is first. */
    link->into = link->first ? NULL : into;
}

static int finish_am(pipegauge_link *link, void *into, size_t len, error *e)
{
    struct wait wait = {0, 0, 0};
    while (link->came == NOTHING && !link->first) {
        const int code = link->broken ? failed(e, PIPEGAUGE_SYSTEM, "no memory for a message that came") : progressed(link, &wait, e);
        if (code != PIPEGAUGE_OK) {
            link->into = NULL;
            return code;
        }
    }
    link->into = NULL;
    if (link->came != NOTHING)
        return of_length(link->came, len, e);
    const size_t came = link->first->len;
    const int code = finished(link, take_arrival(link, into, len), "receiving", e);
    return code == PIPEGAUGE_OK ? of_length(came, len, e) : code;
}

static void free_arrivals(pipegauge_link *link)
{
    for (struct arrival *one = link->first, *next; one; one = next) {
        next = one->next;
        if (one->of == OURS)
            free(one->data);
        else
            ucp_am_data_release(link->worker, one->data);
        free(one);
    }
}

#endif
