/* Making a link, and ending it. */
#ifndef PIPEGAUGE_UCX_OPEN_H
#define PIPEGAUGE_UCX_OPEN_H

#include "context.h"
#include "effective.h"
#include "listening.h"

/* Both sides send each other a message, and one so large that UCX asks for it before it is sent. What it does once for each protocol needs calls of both sides, and a
 * side that has received its message makes none: a first message of more than a few bytes would wait for it. */
static int first_messages(pipegauge_link *link, error *e)
{
    const size_t len = 128 << 10;
    char *both = calloc(2, len);
    if (!both)
        return failed(e, PIPEGAUGE_SYSTEM, "no memory for a first message");
    int code = exchange(link, both, 1, both + len, 1, e);
    if (code == PIPEGAUGE_OK)
        code = exchange(link, both, len, both + len, len, e);
    free(both);
    return code;
}

/* Waits until the library has connected both endpoints, on both sides. */
static int wire_up(pipegauge_link *link, error *e)
{
    size_t len;
    int code = first_messages(link, e);
    if (code == PIPEGAUGE_OK)
        code = finished(link, ucp_ep_flush_nbx(link->endpoint, &plain), "connecting", e);
    link->in_memory = is_in_memory(link);
    if (code == PIPEGAUGE_OK)
        code = tell(link->peer.fd, WIRED, NULL, 0, link->peer.terms, e);
    if (code == PIPEGAUGE_OK)
        code = wait_to_hear(link, e);
    return code == PIPEGAUGE_OK ? hear(link->peer.fd, WIRED, NULL, 0, &len, link->peer.terms, e) : code;
}

/* Tells the peer the worker's address, hears the peer's, and makes the endpoint. */
static int join(pipegauge_link *link, error *e)
{
    ucp_address_t *mine = NULL;
    char theirs[MOST_TOLD];
    size_t len = 0;
    ucs_status_t status = ucp_worker_get_address(link->worker, &mine, &len);
    if (status != UCS_OK)
        return failed_in_ucx(e, "asking for the worker's address", status);
    int code = tell(link->peer.fd, WORKER, mine, len, link->peer.terms, e);
    ucp_worker_release_address(link->worker, mine);
    if (code == PIPEGAUGE_OK)
        code = hear(link->peer.fd, WORKER, theirs, sizeof theirs, &len, link->peer.terms, e);
    if (code != PIPEGAUGE_OK)
        return code;
    const ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = (const ucp_address_t *)theirs};
    status = ucp_ep_create(link->worker, &params, &link->endpoint);
    if (status == UCS_OK)
        return wire_up(link, e);
    snprintf(e->text, sizeof e->text, "connecting over the transports '%s': %s (both sides need one in common: ucx_info -d)",
             transports[link->wanted.tls], ucs_status_string(status));
    return PIPEGAUGE_SYSTEM;
}

/* Lets what was sent leave, for a moment: the peer may be stopped, or the caller in haste. */
static void let_leave(pipegauge_link *link)
{
    const ucs_status_ptr_t behind = start_behind(link);
    const double until = now() + 5 * LATE;
    if (behind == NULL || UCS_PTR_IS_ERR(behind))
        return;
    while (ucp_request_check_status(behind) == UCS_INPROGRESS && now() < until && !peer_ended(link->peer.fd))
        ucp_worker_progress(link->worker);
    ucp_request_free(behind);
}

/* Ends what was posted and is not done. */
static void end_post(void *one)
{
    if (one != NULL && !UCS_PTR_IS_ERR(one))
        ucp_request_free(one);
}

static void close_endpoint(pipegauge_link *link)
{
    if (link->held)
        ucp_stream_data_release(link->endpoint, link->held);
    if (link->key)
        ucp_rkey_destroy(link->key);
    /* The worker ends the endpoint: ucp_ep_close_nbx() would wait for calls of the peer, which makes none while it does something else. */
    if (!link->broken && !link->in_memory && link->peer.gone_since == 0)
        let_leave(link);
}

static void close_link(pipegauge_link *link)
{
    if (!link)
        return;
    if (link->worker) {
        free_arrivals(link);
        if (link->endpoint)
            close_endpoint(link);
        end_posts(&link->posts, end_post);
        if (link->memory)
            ucp_mem_unmap(link->context, link->memory);
    }
    pthread_mutex_lock(&guard);
    if (link->worker)
        ucp_worker_destroy(link->worker);
    if (link->context)
        ucp_cleanup(link->context);
    pthread_mutex_unlock(&guard);
    close(link->peer.fd);
    free(link);
}

/* A link over a meeting's connection, which it takes over. */
static int link_over(int fd, int accepted, struct wanted wanted, const terms *terms, pipegauge_link **out, error *e)
{
    (void)accepted;
    pipegauge_link *link = calloc(1, sizeof *link);
    if (!link) {
        close(fd);
        return failed(e, PIPEGAUGE_SYSTEM, "no memory for a link");
    }
    link->peer = (struct peer){fd, terms, 0};
    link->wanted = wanted;
    link->last = &link->first;
    int code = open_context(link, e);
    if (code == PIPEGAUGE_OK)
        code = open_worker(link, e);
    if (code == PIPEGAUGE_OK)
        code = join(link, e);
    if (code == PIPEGAUGE_OK)
        *out = link;
    else
        close_link(link);
    return code;
}

#endif
