/* Messages that are sent and received. */
#ifndef PIPEGAUGE_MPI_MESSAGES_H
#define PIPEGAUGE_MPI_MESSAGES_H

#include "blocking.h"

static int send_message(pipegauge_link *link, const void *message, size_t len, error *e)
{
    MPI_Request request;
    if (link->left)
        return PIPEGAUGE_CLOSED;
    if (link->wanted.mode == BLOCKING)
        return send_blocking(link, message, len, e);
    int code = start_sending(link, message, len, &request, e);
    return code == PIPEGAUGE_OK ? finished(link, &request, MPI_STATUS_IGNORE, "sending", e) : code;
}

static int receive_message(pipegauge_link *link, void *message, size_t len, error *e)
{
    MPI_Request request;
    MPI_Status status;
    if (link->wanted.ahead)
        return take_ahead(link, message, len, e);
    if (link->wanted.mode == BLOCKING)
        return receive_blocking(link, message, len, e);
    int code = start_receiving(link, message, len, &request, e);
    if (code == PIPEGAUGE_OK)
        code = finished(link, &request, &status, "receiving", e);
    return code == PIPEGAUGE_OK ? whole(&status, len, e) : code;
}

static int exchange(pipegauge_link *link, const void *out, size_t out_len, void *into, size_t into_len, error *e)
{
    MPI_Request sent, received = MPI_REQUEST_NULL;
    MPI_Status status;
    const int ahead = link->wanted.ahead > 0;
    if (link->wanted.mode == BLOCKING)
        return exchange_blocking(link, out, out_len, into, into_len, e);
    int code = ahead ? PIPEGAUGE_OK : start_receiving(link, into, into_len, &received, e);
    if (code != PIPEGAUGE_OK)
        return code;
    code = start_sending(link, out, out_len, &sent, e);
    if (code != PIPEGAUGE_OK) {
        give_up(&received);
        return code;
    }
    code = ahead ? await_ahead(link, e) : finished(link, &received, &status, "receiving", e);
    /* What is being sent is the caller's memory, which the library must not go on reading. */
    if (code == PIPEGAUGE_OK)
        code = finished(link, &sent, MPI_STATUS_IGNORE, "sending", e);
    else
        give_up(&sent);
    if (code != PIPEGAUGE_OK)
        return code;
    return ahead ? take_ahead(link, into, into_len, e) : whole(&status, into_len, e);
}

static int ready(pipegauge_link *link, double seconds, int *is, error *e)
{
    if (!link->wanted.ahead)
        return probed(link, link->in + DATA, seconds, is, e);
    /* A message that a posted receive has taken is there for no probe. */
    const double until = now() + seconds;
    struct ahead *ahead = &link->ahead;
    do {
        int came = ahead->here ? MPI_SUCCESS : MPI_Test(&ahead->requests[ahead->next], &ahead->here, &ahead->status);
        if (came != MPI_SUCCESS)
            return failed_in_mpi(e, "looking for a message", came);
        /* A receive finds that the peer has left. */
        *is = ahead->here || has_left(link);
        if (*is)
            return PIPEGAUGE_OK;
        if (pipegauge_stopped(link->terms))
            return PIPEGAUGE_INTERRUPTED;
        if (link->wanted.wait == YIELD)
            sched_yield();
    } while (now() < until);
    return PIPEGAUGE_OK;
}

#endif
