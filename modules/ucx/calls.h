/* Operations of a link that have begun: waiting for them, and taking them back. */
#ifndef PIPEGAUGE_UCX_CALLS_H
#define PIPEGAUGE_UCX_CALLS_H

#include "link.h"
#include "progress.h"

/* Lets the library move what it can; what ends the wait, or PIPEGAUGE_OK. On a broken link it would move what is somebody else's memory by now. */
static inline int progressed(pipegauge_link *link, struct wait *wait, error *e)
{
    (void)e;
    return link->broken ? PIPEGAUGE_CLOSED : called(&link->peer, wait, ucp_worker_progress(link->worker) != 0);
}

/* Takes back an operation that nobody waits for any more. The memory is the caller's again, so that one that can't be ended ends the link. */
static void abandon(pipegauge_link *link, void *request)
{
    ucp_request_cancel(link->worker, request);
    for (int i = 0; i < 1000 && !link->broken && ucp_request_check_status(request) == UCS_INPROGRESS; i++)
        ucp_worker_progress(link->worker);
    if (ucp_request_check_status(request) == UCS_INPROGRESS)
        link->broken = 1;
    ucp_request_free(request);
}

/* Waits for an operation and frees it. */
static int finished(pipegauge_link *link, ucs_status_ptr_t request, const char *doing, error *e)
{
    if (request == NULL)
        return PIPEGAUGE_OK;
    if (UCS_PTR_IS_ERR(request))
        return failed_in_ucx(e, doing, UCS_PTR_STATUS(request));
    struct wait wait = {0, 0, 0};
    ucs_status_t status;
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        const int code = progressed(link, &wait, e);
        if (code != PIPEGAUGE_OK) {
            abandon(link, request);
            return code;
        }
    }
    ucp_request_free(request);
    return status == UCS_OK ? PIPEGAUGE_OK : failed_in_ucx(e, doing, status);
}

static const ucp_request_param_t plain;

#endif
